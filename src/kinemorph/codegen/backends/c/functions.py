"""A program as a function of arrays in C or CUDA: one definition per operation, in functions of limited length.

    const double n12 = n7 * q[3];

Every value is a constant, so the compiler is free to choose registers. A long program is cut into parts as `schedule`
plans, so that the time to compile grows no faster than the program; values are passed from part to part in an array on
the stack. The parameters of a part are the arrays that it uses. A block op is a call of its routine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from kinemorph.codegen.backends.c.spelling import SPELLINGS, Dialect, Names, number, shape_text
from kinemorph.codegen.backends.identifiers import comment
from kinemorph.codegen.graphs.fused import fused
from kinemorph.codegen.graphs.graph import LEAVES
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.graphs.schedule import plan
from kinemorph.codegen.loops.loop_program import Foreign, LoopProgram
from kinemorph.vocabulary.blocks import Block, Item

SCRATCH = "scratch"


class Unit(Protocol):
    """The source file that a function is written to."""

    dialect: Dialect
    names: Names

    def internal(self, program: Program | LoopProgram | Block) -> str:
        """The name of a function of this file that computes a program or a block; it is defined before its callers."""

    def abreast(self, program: Program, ins: Sequence[Any], outs: Sequence[Any], passes: int, lanes: int) -> str:
        """The name of a function of this file that computes all passes of a loop over a program; see `abreast`."""

    def picked(self) -> str:
        """The name of the function that computes where a view (a range of an array) starts, if that depends on data.

        It is defined before its callers.
        """

    def foreign(self, call: Foreign) -> str:
        """The name of a function that is defined in another file; it is declared before its callers."""


@dataclass(frozen=True)
class Function:
    """A program with the names of its function and arrays in the source file."""

    program: Program | LoopProgram
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def arrays(self) -> tuple[str, ...]:
        """The names of all parameters: inputs, then outputs."""
        return self.inputs + self.outputs


# ── statements ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Place(NamedTuple):
    """One entry of an array: the name of the array, and the expression that reads or writes the entry."""

    array: str
    text: str


def places(names: Sequence[str], ports: Sequence[Port], form: str = "{0}[{1}]") -> list[Place]:
    """All entries of some arrays, one after the other: `q[0]`, `q[1]`, ...; `form` takes a name and an index."""
    pairs = zip(names, ports, strict=True)
    return [Place(name, form.format(name, k)) for name, port in pairs for k in range(port.size)]


class Statements:
    """Appends to `lines` the statements that evaluate operations of a program.

    `inputs` and `outputs` are the places of the program's entries, `kept` the places of values that other parts write
    or read. With `load`, an input is read into a variable where it is first used.
    """

    def __init__(
        self,
        program: Program,
        unit: Unit,
        inputs: Sequence[Place],
        outputs: Sequence[Place],
        *,
        kept: dict[int, Place] | None = None,
        load: bool = False,
    ) -> None:
        self.nodes = program.graph.nodes
        self.unit = unit
        self.dialect = unit.dialect
        self.inputs = inputs
        self.kept = kept or {}
        self.load = load
        self.stores: dict[int, list[tuple[Place, int]]] = {}  # node -> (output place, signed reference)
        for place, ref in zip(outputs, program.refs, strict=True):
            self.stores.setdefault(abs(ref), []).append((place, ref))
        self.lines: list[str] = []
        self.named = 0  # number of variables so far
        self.texts: dict[int, str] = {}  # node -> the expression for its value
        self.read: set[str] = set()  # arrays that are read
        self.touched: set[str] = set()  # arrays that are read or written

    def carry_out(self, i: int) -> None:
        """Adds statements that define a variable for node i, and store it if other parts read it."""
        op, *args = self.nodes[i]
        if isinstance(op, Block):
            self._call(i, op, args)
        elif isinstance(op, Item):
            self.texts[i] = f"{self.texts[args[0]]}[{op.index}]"
        else:
            self._define(i, self.expression(i))
        if i in self.kept:
            self._assign([(self.kept[i], i)])

    def expression(self, i: int) -> str:
        """The operation of node i as an expression of its operands."""
        op, *args = self.nodes[i]
        return SPELLINGS[op].format(*map(self.value, args), f=self.dialect.f, fma=self.dialect.fma)

    def store(self, i: int) -> None:
        """Adds statements that write the value of node i to the output entries that are equal to it."""
        self._assign(self.stores.get(i, ()))

    def store_leaves(self) -> None:
        """Adds statements that write the output entries that are inputs or constants."""
        for i in self.stores:
            if self.nodes[i][0] in LEAVES:
                self.store(i)

    def store_all(self) -> None:
        """Adds statements that write all outputs; with `load`, all values are read before the first one is written."""
        self._assign([pair for pairs in self.stores.values() for pair in pairs])

    def value(self, ref: int) -> str:
        """The expression for a signed reference as an operand."""
        i = abs(ref)
        node = self.nodes[i]
        if node[0] == "const":
            return number(-node[1] if ref < 0 else node[1], self.dialect)
        if i not in self.texts:
            array, text = self.inputs[node[1]] if node[0] == "input" else self.kept[i]
            self.read.add(array)
            self.touched.add(array)
            if self.load:
                self._define(i, text)
            else:
                self.texts[i] = text
        return self.texts[i] if ref >= 0 else f"-{self.texts[i]}"

    def _define(self, i: int, text: str) -> None:
        """Adds a statement that defines the variable of node i as the expression `text`."""
        name = self.texts[i] = f"n{self.named}"
        self.named += 1
        self.lines.append(f"const {self.dialect.real} {name} = {text};")

    def _call(self, i: int, block: Block, args: Sequence[int]) -> None:
        """Adds statements that call the routine of block node i on an array of its arguments."""
        given, name = ", ".join(map(self.value, args)), f"n{self.named}"
        self.texts[i] = name
        self.lines.append(f"const {self.dialect.real} t{self.named}[] = {{{given}}};")
        self.lines.append(f"{self.dialect.real} {name}[{block.n_out}];")
        self.lines.append(f"{self.unit.internal(block)}(t{self.named}, {name});")
        self.named += 1

    def _assign(self, pairs: Iterable[tuple[Place, int]]) -> None:
        """Adds statements that assign the values of signed references to places."""
        written = [f"{place.text} = {self.value(ref)};" for place, ref in pairs]
        self.touched.update(place.array for place, _ in pairs)
        self.lines += written


# ── functions ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def define_program(function: Function, program: Program, unit: Unit, before: str = "") -> list[str]:
    """The lines that define a program as a function, after its parts if it is long; `before` are specifiers."""
    dialect, program = unit.dialect, fused(program)
    steps = plan(program)
    inputs, outputs = places(function.inputs, program.inputs), places(function.outputs, program.outputs)
    kept = {i: Place(SCRATCH, f"{SCRATCH}[{slot}]") for i, slot in steps.slots.items()}
    bodies: list[Statements] = []
    for chunk in steps.chunks:
        body = Statements(program, unit, inputs, outputs, kept=kept)
        if not bodies:
            body.store_leaves()
        for i in chunk:
            body.carry_out(i)
            body.store(i)
        bodies.append(body)

    lines: list[str] = []
    if len(bodies) == 1:
        inside = bodies[0].lines
    else:
        inside = [f"{dialect.real} {SCRATCH}[{steps.scratch}];"] if steps.scratch else []
        for k, body in enumerate(bodies):
            part = unit.names.new(f"{function.name}_part{k}")
            read = [name for name in function.inputs if name in body.touched]
            written = [name for name in (*function.outputs, SCRATCH) if name in body.touched]
            lines += braced(f"{dialect.internal} void {part}({parameters(read, written, dialect)})", body.lines)
            inside.append(f"{part}({', '.join([*read, *written])});")
    touched = {name for body in bodies for name in body.touched}
    return [*lines, *braced(heading(function, dialect, before), [*unused(function, touched), *inside])]


def heading(function: Function, dialect: Dialect, before: str = "") -> str:
    """The line above a function's body, with the specifiers `before`, such as "static ", in front."""
    return f"{before}void {function.name}({parameters(function.inputs, function.outputs, dialect)})"


def parameters(inputs: Iterable[str], outputs: Iterable[str], dialect: Dialect, *, restrict: bool = True) -> str:
    """The parameters of a function; a prototype in a header has no `restrict`, which is not a word of C++."""
    star = f"*{dialect.restrict} " if restrict else "*"
    listed = [f"const {dialect.real} {star}{name}" for name in inputs]
    listed += [f"{dialect.real} {star}{name}" for name in outputs]
    return ", ".join(listed) or "void"


def unused(function: Function, touched: Iterable[str]) -> list[str]:
    """Lines that mark the parameters outside `touched` as unused, so that the compiler does not warn."""
    return [f"(void){name};" for name in function.arrays if name not in touched]


def braced(first: str, lines: Iterable[str]) -> list[str]:
    """The lines of a function's definition: its first line, its body in braces, and a blank line."""
    return [first, "{", *(f"    {line}" for line in lines), "}", ""]


def about(function: Function) -> list[str]:
    """The lines of the comment above a function: its program's name, op counts and arrays."""
    program = function.program
    counts = ", ".join(f"{comment(name)} {count}" for name, count in program.op_counts.items())
    top = f"{comment(program.name)}: {program.ops} operations"
    lines = [f"{top} ({counts})" if counts else top]
    width = max(map(len, function.arrays), default=0)
    for way, names, ports in (("in ", function.inputs, program.inputs), ("out", function.outputs, program.outputs)):
        for name, port in zip(names, ports, strict=True):
            renamed = "" if name == port.name else f" ('{comment(port.name)}' in the model)"
            lines.append(f"  {way}  {name:{width}}  {shape_text(port)}{renamed}")
    return lines
