"""A program's operations as LLVM functions, on values of any type: plain numbers, or vectors with one lane per state.

    <name>             void <name>(outs, ins): runs the chunks, which pass values to each other in `scratch`
    <name>.0 ...       the chunks: operations in functions short enough to be compiled in linear time
    <name>.constants   writes the outputs that are constants, if they are written separately

Each function takes pointers to the outputs and the inputs. Element k of each array is a whole value, so in lanes entry
k of a port is a vector with this entry of every state. On plain numbers, sin, cos and tan whose arguments are known at
the same time are computed by one sincos in SIMD lanes; on vectors, each argument has a sincos of its own. Block ops are
calls of the functions of their routines (`loop_programs`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import groupby, islice

from kinemorph.codegen.backends.llvm.math import ROTATIONS, Real, spellings
from kinemorph.codegen.graphs.program import Program, Runnable
from kinemorph.codegen.graphs.row_sums import RowSum
from kinemorph.codegen.graphs.schedule import Plan
from kinemorph.vocabulary.blocks import Block, Item

WIDTHS = (8, 4, 2, 1)  # numbers of lanes in which sincos is emitted for plain numbers
PLAIN = ("add", "sub", "mul", "fma")  # ops that may be computed early, to have more angles in one sincos,
NEARLY = 2  # and how many of them, each depending on the one before
SMALL, INNER = 40, 600  # most ops of a called program that is inlined: anywhere, and in an innermost loop
ABREAST = 100  # the same in an innermost loop whose passes run in lanes: sums over the rows of many tables share it


def pointers(program: Runnable) -> tuple[list[str], list[str]]:
    """The names of the output and input pointers: `%out0` ..., `%in0` ..."""
    return [f"%out{k}" for k in range(len(program.outputs))], [f"%in{k}" for k in range(len(program.inputs))]


def output_refs(program: Program) -> list[tuple[int, ...]]:
    """For each output port, the references of its entries: node numbers, negative where the entry is minus the node."""
    refs = iter(program.refs)
    return [tuple(islice(refs, port.size)) for port in program.outputs]


class Chunks:
    """Writes the functions of one program.

    `outputs` are the references to store at each output pointer. With `constants_apart`, a separate function stores the
    constants among them; else, in a short program, all stores come after all loads, so that outputs may overlap inputs.
    `block_function` returns the name of the function that computes a block. `linkage` is the linkage of the functions
    that others call ("hidden" if these are in another part of the LLVM module). `inner` says that the program is called
    in an innermost loop. Input ports in `shared` are plain numbers, the same for all lanes.
    """

    def __init__(
        self,
        name: str,
        program: Program,
        steps: Plan,
        real: Real,
        outputs: Sequence[Sequence[int]],
        block_function: Callable[[Block], str],
        *,
        constants_apart: bool,
        linkage: str = "internal",
        inner: bool = False,
        shared: Collection[int] = (),
    ) -> None:
        self.name = name
        self.real = real
        self.spellings = spellings(real)
        self.nodes = program.graph.nodes
        self.ops = program.op_counts
        self.steps = steps
        self.block_function = block_function
        self.constants_apart = constants_apart
        self.linkage = linkage
        self.most_inlined = (INNER if real.lanes == 1 else ABREAST) if inner else SMALL
        self.rotation_types: set[Real] = set()  # the types for which sincos is needed
        self.places = [(f"%in{k}", entry) for k, port in enumerate(program.inputs) for entry in range(port.size)]
        self.plain = {f"%in{k}" for k in shared}
        self.stores: dict[int, list[tuple[int, str, int]]] = {}  # node -> (signed reference, pointer, entry)
        self.zeros: list[tuple[str, int, int]] = []  # (pointer, first entry, count) of consecutive zeros
        for k, refs in enumerate(outputs):
            first = 0
            for ref, equal in groupby(refs):
                count = len(list(equal))
                if ref == 0 and count > 1:
                    self.zeros.append((f"%out{k}", first, count))
                else:
                    places = self.stores.setdefault(abs(ref), [])
                    places += [(ref, f"%out{k}", entry) for entry in range(first, first + count)]
                first += count
        self.outs, self.ins = pointers(program)
        # first all loads, then all stores; in a long program, results would occupy too many registers until the end
        short = len(steps.chunks) == 1 and len(steps.chunks[0]) <= INNER
        self.in_order = short and not constants_apart and linkage == "internal"
        self.lines: list[str] = []
        self.late: list[tuple[str, str, int]] = []  # stores for the end: (value, pointer, entry)

    def definitions(self) -> list[str]:
        """The definitions of all functions; the last one calls the others."""
        made = [self._constants()] if self.constants_apart else []
        if self.in_order:
            return [*made, self._chunk(0, self.name)]
        names = [f"{self.name}.{k}" for k in range(len(self.steps.chunks))]
        made += [self._chunk(k, name) for k, name in enumerate(names)]
        passed = ", ".join(f"ptr {p}" for p in [*self.outs, *self.ins, "%scratch"])
        lines = [f"define {self.linkage} void @{self.name}({self._signature('')}) noinline nounwind {{"]
        lines.append(f"  %scratch = alloca [{max(self.steps.scratch, 1)} x {self.real.text}], align 64")
        lines += [f"  call void @{name}({passed})" for name in names]
        return [*made, "\n".join([*lines, "  ret void", "}"])]

    def declarations(self) -> list[str]:
        """Declarations of these functions for another part of the LLVM module that calls them."""
        named = [f"declare hidden void @{self.name}({', '.join(['ptr'] * len(self.outs + self.ins))}) nounwind"]
        if self.constants_apart:
            named.append(f"declare hidden void @{self.name}.constants({', '.join(['ptr'] * len(self.outs))}) nounwind")
        return named

    def _signature(self, scratch: str) -> str:
        """The parameters of a function as LLVM IR: outputs, inputs, and last the text `scratch` if it is not empty."""
        noalias = "" if self.in_order else " noalias"
        named = [f"ptr{noalias} {p}" for p in self.outs] + [f"ptr{noalias} readonly {p}" for p in self.ins]
        return ", ".join([*named, scratch] if scratch else named)

    def _begin(self) -> None:
        """Starts a new function."""
        self.lines = []
        self.late = []
        self.names: dict[int, str] = {}  # node -> register of this function that has its value
        self.minus: dict[int, str] = {}  # node -> register that has its negative value
        self.given: dict[tuple[int, ...], str] = {}  # arguments of blocks -> the array that has them
        self.arrays: list[str] = []  # their allocations

    def _constants(self) -> str:
        """The definition of the function that writes the outputs that are constants."""
        self._begin()
        self._clear_zeros()
        self._store_leaves("const")
        body = "\n".join(self.lines)
        parameters = ", ".join(f"ptr {p}" for p in self.outs)
        start = f"define {self.linkage} void @{self.name}.constants({parameters}) noinline nounwind {{"
        return f"{start}\n{body}\n  ret void\n}}"

    def _chunk(self, number: int, name: str) -> str:
        """The definition of one chunk as a function. The first chunk also writes outputs that are inputs or numbers."""
        self._begin()
        ids = self.steps.chunks[number]
        if number == 0:
            self._store_leaves("input")
            if not self.constants_apart:
                self._store_leaves("const")
        waiting = {i for i in ids if self.nodes[i][0] in ROTATIONS}
        inside = set(ids)
        for i in ids:
            op, *args = self.nodes[i]
            if isinstance(op, Block):
                self._block(i, op, args)
            elif type(op) is Item:  # its block is in this chunk
                self._read(f"%n{i}", f"%solved{args[0]}", op.index)
                self._made(i, f"%n{i}")
            elif op in ROTATIONS:
                if i in waiting:
                    waiting -= self._rotate(waiting, inside)
            elif i not in self.names:  # an angle may have been computed early
                self._op(i)
        if number == 0 and not self.constants_apart:
            self._clear_zeros()
        for value, base, entry in self.late:
            self._write(value, base, entry)
        inlined = "alwaysinline" if self.in_order and len(ids) <= self.most_inlined else "noinline"
        signature = self._signature("" if self.in_order else "ptr noalias %scratch")
        body = "\n".join([*self.arrays, *self.lines])
        return f"define internal void @{name}({signature}) {inlined} nounwind {{\n{body}\n  ret void\n}}"

    def _op(self, i: int) -> None:
        op, *args = self.nodes[i]
        self.lines.append(f"  %n{i} = {self.spellings[op].format(*map(self.value, args))}")
        self._made(i, f"%n{i}")

    def value(self, ref: int) -> str:
        """The operand for a reference: node `ref`, or minus node `-ref` if it is negative.

        Instructions that load or negate the value are added, unless the function being written has them already.
        """
        i = abs(ref)
        node = self.nodes[i]
        if node[0] == "const":
            return self.real.constant(-node[1] if ref < 0 else node[1])
        name = self.names.get(i)
        if name is None:
            base, entry = self.places[node[1]] if node[0] == "input" else ("%scratch", self.steps.slots[i])
            name = self.names[i] = f"%n{i}"
            self._read(name, base, entry)
        if ref >= 0:
            return name
        if i not in self.minus:
            self.minus[i] = f"%m{i}"
            self.lines.append(f"  %m{i} = fneg {self.real.text} {name}")
        return self.minus[i]

    def _made(self, i: int, name: str) -> None:
        """Records that register `name` has the value of node i; stores it if a chunk or output needs it."""
        self.names[i] = name
        slot = self.steps.slots.get(i)
        if slot is not None:
            self._write(name, "%scratch", slot)
        if i in self.stores:
            self._store(i)

    def _clear_zeros(self) -> None:
        """Writes consecutive zeros at once: one by one they would be most of the code of a sparse matrix."""
        for base, first, count in self.zeros:
            place = f"%z{len(self.lines)}"
            self.lines.append(f"  {place} = getelementptr inbounds {self.real.text}, ptr {base}, i64 {first}")
            length = f"i64 {count * self.real.bytes}"
            self.lines.append(f"  call void @llvm.memset.p0.i64(ptr {place}, i8 0, {length}, i1 false)")

    def _store_leaves(self, kind: str) -> None:
        for i in self.stores:
            if self.nodes[i][0] == kind:
                self._store(i)

    def _store(self, i: int) -> None:
        for ref, base, entry in self.stores[i]:
            if self.in_order:
                self.late.append((self.value(ref), base, entry))
            else:
                self._write(self.value(ref), base, entry)

    def _write(self, value: str, base: str, entry: int) -> None:
        place = f"%w{len(self.lines)}"
        self.lines.append(f"  {place} = getelementptr inbounds {self.real.text}, ptr {base}, i64 {entry}")
        self.lines.append(f"  store {self.real.text} {value}, ptr {place}")

    def _read(self, name: str, base: str, entry: int) -> None:
        if base in self.plain:
            one, t = self.real.element, self.real.text
            self.lines.append(f"  {name}.at = getelementptr inbounds {one}, ptr {base}, i64 {entry}")
            self.lines.append(f"  {name}.one = load {one}, ptr {name}.at")
            self.lines.append(f"  {name}.first = insertelement {t} poison, {one} {name}.one, i32 0")
            spread = f"<{self.real.lanes} x i32> zeroinitializer"
            self.lines.append(f"  {name} = shufflevector {t} {name}.first, {t} poison, {spread}")
            return
        self.lines.append(f"  {name}.at = getelementptr inbounds {self.real.text}, ptr {base}, i64 {entry}")
        self.lines.append(f"  {name} = load {self.real.text}, ptr {name}.at")

    # ── blocks ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _block(self, i: int, block: Block, args: Sequence[int]) -> None:
        """Writes the arguments of node i, an operation on arrays, to an array and calls its function, which fills
        another. Where the gate of the node is closed, in all lanes, the results are 0 at once.
        """
        solved, given = f"%solved{i}", self.given.get(tuple(args))
        known = given is not None  # of blocks with the same gate, so that it has been written if this is open
        if given is None:
            given = self.given[tuple(args)] = f"%given{i}"
            self._array(given, block.n_in)
        values = [] if known else list(map(self.value, args))
        self._array(solved, block.n_out)
        gated = isinstance(block, RowSum) and block.gated
        if gated:
            zeros = f"call void @llvm.memset.p0.i64(ptr {solved}, i8 0, i64 {block.n_out * self.real.bytes}, i1 false)"
            self._if_open(i, self.value(args[0]))
            self.lines += [f"closed{i}:", f"  {zeros}", f"  br label %done{i}", f"open{i}:"]
        for k, value in enumerate(values):
            self._write(value, given, k)
        self.lines.append(f"  call void @{self.block_function(block)}(ptr {solved}, ptr {given})")
        if gated:
            self.lines += [f"  br label %done{i}", f"done{i}:"]

    def _if_open(self, i: int, gate: str) -> None:
        """Writes a jump to `open` of node i where the gate is positive in one of the lanes, and else to `closed`."""
        lanes, some = self.real.lanes, f"%some{i}"
        self.lines.append(f"  {some} = fcmp ogt {self.real.text} {gate}, {self.real.constant(0.0)}")
        if lanes > 1:
            self.lines.append(f"  {some}.bits = bitcast {self.real.truth} {some} to i{lanes}")
            self.lines.append(f"  {some}.any = icmp ne i{lanes} {some}.bits, 0")
            some += ".any"
        self.lines.append(f"  br i1 {some}, label %open{i}, label %closed{i}")

    def _array(self, name: str, count: int) -> None:
        """Adds the allocation of an array of values, at the beginning of the function."""
        self.arrays.append(f"  {name} = alloca [{max(count, 1)} x {self.real.text}], align 64")

    # ── sin, cos and tan ──────────────────────────────────────────────────────────────────────────────────────────

    def _rotate(self, waiting: set[int], inside: set[int]) -> set[int]:
        """Writes code that computes all nodes of `waiting` (sin, cos, tan) whose arguments are known, or soon would be.

        Where only a few operations are missing for an argument, these are written first. `inside` are the nodes of this
        chunk. Returns the nodes that were computed.
        """
        ready = []
        for i in sorted(waiting):
            missing = self._missing(abs(self.nodes[i][1]), inside)
            if missing is not None:
                for k in missing:
                    self._op(k)
                ready.append(i)
        families: dict[int, list[int]] = {}
        for i in ready:
            families.setdefault(self.nodes[i][1], []).append(i)
        arguments = list(families)
        turn = self._sincos_in_lanes if self.real.lanes == 1 else self._sincos_of_states
        for arg, (sine, cosine) in zip(arguments, turn(arguments), strict=True):
            for i in families[arg]:
                results = {"sin": sine, "cos": cosine, "tan": f"%n{i}"}
                op = self.nodes[i][0]
                if op == "tan":
                    self.lines.append(f"  %n{i} = fdiv {self.real.text} {sine}, {cosine}")
                self._made(i, results[op])
        return set(ready)

    def _missing(self, i: int, inside: set[int], most: int = NEARLY) -> list[int] | None:
        """The nodes that still have to be computed for the value of node i, in order, with i itself last.

        None if a chain of more than `most` nodes is missing, or one whose op is not in PLAIN. `inside` are the nodes of
        this chunk.
        """
        if i in self.names or i not in inside:
            return []
        op, *args = self.nodes[i]
        if not most or op not in PLAIN:
            return None
        wanted: dict[int, None] = {}
        for arg in args:
            before = self._missing(abs(arg), inside, most - 1)
            if before is None:
                return None
            wanted.update(dict.fromkeys(before))
        return [*wanted, i]

    def _sincos_of_states(self, arguments: Sequence[int]) -> list[tuple[str, str]]:
        """Writes one call of sincos for all arguments, on vectors; returns the registers of (sine, cosine) of each.

        Arguments and results are in arrays: there are too many results for the registers anyway.
        """
        real, count = self.real, len(arguments)
        self.rotation_types.add(real)
        tag = len(self.lines)
        self.lines.append(f"  %turned{tag} = alloca [{count} x {{ {real.text}, {real.text} }}], align 64")
        inputs = [ref for ref in arguments if ref > 0 and self.nodes[ref][0] == "input"]
        places = [self.places[self.nodes[ref][1]] for ref in inputs] or [("", 0)]
        base, first = places[0]
        if (
            base and base not in self.plain and places == [(base, first + k) for k in range(count)]
        ):  # consecutive entries of an input
            self.lines.append(f"  %angles{tag} = getelementptr inbounds {real.text}, ptr {base}, i64 {first}")
        else:
            self.lines.append(f"  %angles{tag} = alloca [{count} x {real.text}], align 64")
            for k, ref in enumerate(arguments):
                self._write(self.value(ref), f"%angles{tag}", k)
        self.lines.append(f"  call void @sincos.many.{real.suffix}(ptr %angles{tag}, ptr %turned{tag}, i64 {count})")
        for k in range(2 * count):
            self._read(f"%sc{tag}.{k}", f"%turned{tag}", k)
        return [(f"%sc{tag}.{2 * k}", f"%sc{tag}.{2 * k + 1}") for k in range(count)]

    def _sincos_in_lanes(self, arguments: Sequence[int]) -> list[tuple[str, str]]:
        """Writes calls of sincos on plain numbers, up to eight in a call; returns registers (sine, cosine) of each."""
        results: list[tuple[str, str]] = []
        while len(results) < len(arguments):
            rest = arguments[len(results) :]
            width = next(width for width in WIDTHS if 2 * len(rest) > width)
            results += zip(*self._sincos(rest[:width], width), strict=True)
        return results

    def _sincos(self, group: Sequence[int], width: int) -> tuple[list[str], list[str]]:
        """Writes one call of sincos on the references of `group`, packed into `width` lanes, with zero in unused lanes.

        Returns the registers of all sines and of all cosines.
        """
        packed_type = Real(self.real.precision, width)
        self.rotation_types.add(packed_type)
        t = packed_type.text
        pair = f"{{ {t}, {t} }}"
        values = [self.value(ref) for ref in group]
        tag = len(self.lines)
        packed = values[0]
        if width > 1:
            packed = "zeroinitializer"
            for k, value in enumerate(values):
                self.lines.append(f"  %x{tag}.{k} = insertelement {t} {packed}, {self.real.text} {value}, i32 {k}")
                packed = f"%x{tag}.{k}"
        self.lines.append(f"  %both{tag} = call {pair} @sincos.{packed_type.suffix}({t} {packed})")
        results = []
        for member, name in enumerate("sc"):
            self.lines.append(f"  %{name}{tag} = extractvalue {pair} %both{tag}, {member}")
            if width == 1:
                results.append([f"%{name}{tag}"])
                continue
            names = [f"%{name}{tag}.{k}" for k in range(len(group))]
            for k, one in enumerate(names):
                self.lines.append(f"  {one} = extractelement {t} %{name}{tag}, i32 {k}")
            results.append(names)
        return results[0], results[1]
