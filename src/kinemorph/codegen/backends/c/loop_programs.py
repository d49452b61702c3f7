"""A loop program as a function of arrays in C or CUDA: for, while, if, and calls.

    for (int i0 = 1; i0 < 8; ++i0) {
        y[i0] = y[i0 - 1] * x[0];
    }

A short program is inlined where it is called; a long one is a function. The inputs of a call may overlap its outputs,
and it has to read before it writes: if the arrays are the same, inputs are first read into variables, or outputs are
first written to a temporary array.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.codegen.backends.c.abreast import Argument, lanes_of
from kinemorph.codegen.backends.c.functions import Function, Place, Statements, Unit, braced, heading, unused
from kinemorph.codegen.backends.c.spelling import Dialect, number
from kinemorph.codegen.graphs.fused import fused
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.loop_program import (
    Affine,
    Call,
    For,
    Foreign,
    If,
    LoopProgram,
    Statement,
    View,
    While,
    listed,
)
from kinemorph.codegen.loops.printing import format_affine
from kinemorph.codegen.loops.rows_in_lanes import passes_of, rows_in_lanes

SHORT = 48  # a program with at most this many operations and results is inlined where it is called
ROW = 8  # a copy of more numbers is a loop

# The start of a view that depends on data, clipped so that the view stays inside the array; a NaN counts as 0.
PICKED = """{internal} int {name}({real} k, int stride, int offset, int last)
{{
    const {real} start = ({real})offset + ({real})stride * (k == k ? k : {zero});
    return start > {zero} ? (start < ({real})last ? (int)start : last) : 0;
}}
"""


def define_loops(function: Function, program: LoopProgram, unit: Unit, before: str = "") -> list[str]:
    """The lines that define a loop program as a function; `before` are specifiers such as "static "."""
    writer = _Writer(function, program, unit)
    writer.write(program.body, "")
    dialect = unit.dialect
    lines = []
    for port, values in program.constants:
        if port.name in writer.read:
            numbers = ", ".join(number(value, dialect) for value in listed(values)) or number(0.0, dialect)
            lines.append(f"{dialect.constant} {dialect.real} {writer.names[port.name]}[] = {{{numbers}}};")
    for port in program.buffers:
        name = writer.names[port.name]
        if port.name in writer.read | writer.written:
            row, _, lanes = writer.rows.get(port.name, (port.size, 1, 1))
            lines.append(f"{dialect.real} {name}[{max(row * lanes, 1)}] = {{{number(0.0, dialect)}}};")
        if port.name in writer.written - writer.read:
            lines.append(f"(void){name}[0];")
    touched = {writer.names[name] for name in writer.read | writer.written}
    return braced(heading(function, dialect, before), [*unused(function, touched), *lines, *writer.lines])


def define_picked(name: str, dialect: Dialect) -> list[str]:
    """The lines that define the function `name`, which computes where a view starts if that depends on data.

    A view is a range of consecutive numbers of an array.
    """
    text = PICKED.format(name=name, internal=dialect.internal, real=dialect.real, zero=number(0.0, dialect))
    return text.split("\n")


class _Writer:
    """Writes the statements of one loop program."""

    def __init__(self, function: Function, program: LoopProgram, unit: Unit) -> None:
        self.unit = unit
        self.real, self.zero = unit.dialect.real, number(0.0, unit.dialect)
        ports = [*program.inputs, *program.outputs, *program.buffers, *(port for port, _ in program.constants)]
        given = function.arrays
        others = unit.names.local([port.name for port in ports[len(given) :]], beside=given)
        self.names = {port.name: name for port, name in zip(ports, [*given, *others], strict=True)}
        self.sizes = {port.name: port.size for port in ports}
        self.constants = {port.name: values for port, values in program.constants}
        self.rows = rows_in_lanes(program, self._lanes)
        self.counters: dict[str, str] = {}  # counter -> its name in the code
        self.numbered = 0
        self.read: set[str] = set()
        self.written: set[str] = set()
        self.lines: list[str] = []

    def write(self, body: Sequence[Statement], indent: str) -> None:
        """Writes statements, each line after `indent`."""
        for statement in body:
            match statement:
                case Call():
                    self._call(statement, indent, alone=len(body) == 1)
                case Foreign():
                    self.written.update(view.array for view in statement.outs)
                    self._add(self._called(statement, self.unit.foreign(statement)), indent, alone=len(body) == 1)
                case For():
                    self._count(statement, indent)
                case While():
                    self.lines.append(f"{indent}while ({self._entry(statement.condition)} > {self.zero}) {{")
                    self.write(statement.body, indent + "    ")
                    self.lines.append(f"{indent}}}")
                case If():
                    self.lines.append(f"{indent}if ({self._entry(statement.condition)} > {self.zero}) {{")
                    self.write(statement.then, indent + "    ")
                    if statement.otherwise:
                        self.lines.append(f"{indent}}} else {{")
                        self.write(statement.otherwise, indent + "    ")
                    self.lines.append(f"{indent}}}")

    def _lanes(self, loop: For) -> int:
        """The number of lanes in which the passes of a loop run; 1 if they run one after the other."""
        return lanes_of(loop, self.unit.dialect.lanes)

    def _count(self, loop: For, indent: str) -> None:
        """Writes the lines of a For loop, its body included."""
        if self._lanes(loop) > 1:
            self.lines += [indent + self._abreast(call, loop) for call in loop.body if isinstance(call, Call)]
            return
        counter = self.counters[loop.counter] = self._new("i")
        start = self._whole(loop.start)
        if isinstance(loop.stop, View):  # read once, before the loop
            stop = self._new("t")
            self.lines.append(f"{indent}const {self.real} {stop} = {self._entry(loop.stop)};")
            test = f"({self.real}){counter} < {stop}"
        else:
            test = f"{counter} < {self._whole(loop.stop)}"
        self.lines.append(f"{indent}for (int {counter} = {start}; {test}; ++{counter}) {{")
        self.write(loop.body, indent + "    ")
        self.lines.append(f"{indent}}}")

    def _abreast(self, call: Call, loop: For) -> str:
        """The call of a function that computes all passes of a loop over a program side by side."""
        ins: list[Argument] = []
        outs: list[Argument] = []
        passed: list[str] = []
        count, lanes = passes_of(loop), self._lanes(loop)
        for views, made in ((call.ins, ins), (call.outs, outs)):
            for view in views:
                stride = view.offset.coefficient(loop.counter)
                start = view.offset - Affine(0, ((loop.counter, stride),))
                in_lanes = view.array in self.rows
                table: tuple[float, ...] = ()
                if stride and view.array in self.constants and not start.terms:
                    first = start.constant
                    numbers = listed(self.constants[view.array])
                    table = tuple(x for k in range(count) for x in numbers[first + stride * k :][: view.size])
                made.append(Argument(view.size, stride, in_lanes, table))
                if not table:
                    passed.append(_pointer(self.names[view.array], self._whole(start * lanes if in_lanes else start)))
                    (self.read if views is call.ins else self.written).add(view.array)
        assert isinstance(call.program, Program)
        name = self.unit.abreast(call.program, ins, outs, count, lanes)
        return f"{name}({', '.join(passed)});"

    # ── calls ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _call(self, call: Call, indent: str, *, alone: bool) -> None:
        """Writes the lines of a call; `alone` says that it is the only statement of its body."""
        self.written.update(view.array for view in call.outs)
        program = call.program
        overlap = {view.array for view in call.ins} & {view.array for view in call.outs}
        if isinstance(program, Program) and _is_copy(program) and not overlap and program.outputs[0].size > ROW:
            lines = self._copied(call)
        elif isinstance(program, Program) and not program.blocks and program.ops + len(program.refs) <= SHORT:
            lines = self._written_out(call, program, load=bool(overlap) and len(program.refs) > 1)
        else:
            lines = self._called(call, self.unit.internal(program))
        self._add(lines, indent, alone=alone)

    def _add(self, lines: list[str], indent: str, *, alone: bool) -> None:
        """Adds the lines of a call; unless it is alone in its body, those that define variables are put in braces."""
        if not alone and any(line.startswith(("const ", f"{self.real} ")) for line in lines):  # it defines variables
            lines = ["{", *(f"    {line}" for line in lines), "}"]
        self.lines += [indent + line for line in lines]

    def _written_out(self, call: Call, program: Program, *, load: bool) -> list[str]:
        """The lines of a program inlined on views; with `load`, all inputs are read before a result is written."""
        lines: list[str] = []
        program = fused(program)
        inputs, outputs = (
            [Place(view.array, text) for view in views for text in self._entries(view, lines)]
            for views in (call.ins, call.outs)
        )
        body = Statements(program, self.unit, inputs, outputs, load=load)
        if len(program.refs) == 1 and [i for i, _ in program.steps] == list(program.refs):  # one operation, one result
            written = [f"{outputs[0].text} = {body.expression(program.refs[0])};"]
        else:
            for i, _ in program.steps:
                body.carry_out(i)
            body.store_all()
            written = body.lines
        self.read |= body.read  # inputs that no result depends on are not read
        return [*lines, *written]

    def _copied(self, call: Call) -> list[str]:
        """The lines of a loop that copies the input of a call to its output."""
        self.read.add(call.ins[0].array)
        counter = self._new("i")
        lines: list[str] = []
        target, source = (
            f"{self.names[view.array]}[{_sum(self._start(view, lines), counter)}]" for view in (*call.outs, *call.ins)
        )
        size = call.outs[0].size
        return [*lines, f"for (int {counter} = 0; {counter} < {size}; ++{counter}) {target} = {source};"]

    def _called(self, call: Call | Foreign, name: str) -> list[str]:
        """The lines of a call of the function `name`; an output in an array that is read uses a temporary array."""
        overlap = {view.array for view in call.ins} & {view.array for view in call.outs}
        self.read.update(view.array for view in call.ins)
        lines: list[str] = []
        after: list[str] = []
        passed = []
        for view in call.ins:
            passed.append(_pointer(self.names[view.array], self._start(view, lines)))
        for view in call.outs:
            start = self._start(view, lines)
            if view.array not in overlap:
                passed.append(_pointer(self.names[view.array], start))
                continue
            aside, counter = self._new("t"), self._new("i")
            passed.append(aside)
            lines.append(f"{self.real} {aside}[{max(view.size, 1)}];")
            place = f"{self.names[view.array]}[{_sum(start, counter)}]"
            after.append(f"for (int {counter} = 0; {counter} < {view.size}; ++{counter}) {place} = {aside}[{counter}];")
        return [*lines, f"{name}({', '.join(passed)});", *after]

    # ── places ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _entry(self, view: View) -> str:
        """The expression for the first number of a view, a range of consecutive numbers of an array."""
        self.read.add(view.array)
        start = self._whole(view.offset) if view.at is None else self._picked(view)
        return f"{self.names[view.array]}[{start}]"

    def _entries(self, view: View, lines: list[str]) -> list[str]:
        """The expressions for all numbers of a view, a range of consecutive numbers of an array.

        Definitions that they need are added to `lines`.
        """
        name = self.names[view.array]
        if view.at is None:
            return [f"{name}[{self._whole(view.offset + k)}]" for k in range(view.size)]
        start = self._start(view, lines)
        return [f"{name}[{_sum(start, str(k))}]" for k in range(view.size)]

    def _start(self, view: View, lines: list[str]) -> str:
        """The index in its array at which a view starts; if it depends on data, a variable for it is defined in
        `lines`.
        """
        if view.at is None:
            return self._whole(view.offset)
        name = self._new("k")
        lines.append(f"const int {name} = {self._picked(view)};")
        return name

    def _picked(self, view: View) -> str:
        """The expression for the index in its array at which a view starts, if that depends on data."""
        assert view.at is not None
        last = max(self.sizes[view.array] - view.size, 0)
        return f"{self.unit.picked()}({self._entry(view.at)}, {view.stride}, {self._whole(view.offset)}, {last})"

    def _whole(self, value: Affine) -> str:
        """The expression for a whole number that depends on loop counters."""
        terms = tuple((self.counters[counter], factor) for counter, factor in value.terms)
        return format_affine(Affine(value.constant, terms), times=" * ")

    def _new(self, letter: str) -> str:
        """A new name for a variable: the letter and a number."""
        self.numbered += 1
        return f"{letter}{self.numbered - 1}"


def _is_copy(program: Program) -> bool:
    """Whether a program has one input and one output, and only copies the input."""
    inputs = [program.graph.index.get(("input", k)) for k in range(len(program.refs))]
    return len(program.inputs) == len(program.outputs) == 1 and list(program.refs) == inputs


def _sum(start: str, more: str) -> str:
    if start == "0":
        return more
    return start if more == "0" else f"{start} + {more}"


def _pointer(name: str, start: str) -> str:
    return name if start == "0" else f"{name} + {start}"
