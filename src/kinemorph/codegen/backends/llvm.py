"""The LLVM backend: a program as machine code of this computer, compiled in memory.

The module holds, from the inside out:
    chunk.0 ...   the operations, in pieces short enough to compile in linear time; values cross through `scratch`
    kernel        one state:  void kernel(double *out0, ..., const double *in0, ...)
    batch         n states:   i1 batch(i64 n, outs, ins, strides), whether every number written is finite
    raw, call     the same, called straight from Python (`llvm_entry`)

The IR is text; `SPELLINGS` says how an op is written. sin, cos and tan whose arguments are known at the same moment go
through one sincos in SIMD lanes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kinemorph.codegen.backends import Array, Kernel, Run
from kinemorph.codegen.backends.llvm_engine import Engine, load_module
from kinemorph.codegen.backends.llvm_entry import bind_entries, entries
from kinemorph.codegen.backends.llvm_math import ROTATIONS, SPELLINGS, lanes_type, library, number
from kinemorph.codegen.backends.llvm_sincos import reduce_far, sincos
from kinemorph.codegen.graph import LEAVES
from kinemorph.codegen.keys import program_key
from kinemorph.codegen.program import Program
from kinemorph.codegen.schedule import Plan, plan

LANES = (8, 4, 2, 1)  # the widths in which sincos is emitted


def llvm(program: Program) -> Kernel:
    """The kernel of `program` as machine code; its source is the LLVM IR before optimization."""

    def source() -> str:
        return emit(program, plan(program))

    engine = load_module(f"one {program_key(program)}", program.name, source)
    raw, call = bind_entries(program, engine)
    if raw is None:
        return Kernel(source, _through_ctypes(program, engine))

    def run(n: int, outs: Sequence[Array], ins: Sequence[Array]) -> bool:
        return raw(outs[0] if len(outs) == 1 else tuple(outs), *ins)

    return Kernel(source, run, raw, call)


def _through_ctypes(program: Program, engine: Engine) -> Run:
    """`run` by the module's `batch`, for an interpreter whose objects the direct entries cannot read."""
    n_outs, n_ins = len(program.outputs), len(program.inputs)
    batch = engine.function("batch", "bool", ["int64"] + ["pointer"] * (n_outs + n_ins) + ["int64"] * n_ins)
    sizes = [port.size for port in program.inputs]

    def run(n: int, outs: Sequence[Array], ins: Sequence[Array]) -> bool:
        strides = [0 if array.size == size else size for array, size in zip(ins, sizes, strict=True)]
        return bool(batch(n, *(a.ctypes.data for a in outs), *(a.ctypes.data for a in ins), *strides))

    return run


def emit(program: Program, steps: Plan) -> str:
    """The whole module as text."""
    heading = f"; {program.name!r}: {len(program.steps)} ops, {program.flops} flops, {len(steps.chunks)} chunks"
    chunks = _Chunks(program, steps)
    code = [chunks.define(number) for number in range(len(steps.chunks))]
    widths = sorted(chunks.widths)
    rotation = [reduce_far(), *map(sincos, widths)] if widths else []
    return "\n".join([heading, library(), *rotation, *code, _kernel(program, steps), _batch(program), entries(program)])


def pointers(program: Program) -> tuple[list[str], list[str]]:
    """The names of the output and input pointers: `%out0` ..., `%in0` ..."""
    return [f"%out{k}" for k in range(len(program.outputs))], [f"%in{k}" for k in range(len(program.inputs))]


class _Chunks:
    """Writes the chunks of one program."""

    def __init__(self, program: Program, steps: Plan) -> None:
        self.nodes = program.graph.nodes
        self.steps = steps
        self.widths: set[int] = set()  # lanes of sincos used so far
        self.places = [(f"%in{k}", entry) for k, port in enumerate(program.inputs) for entry in range(port.size)]
        self.stores: dict[int, list[tuple[int, str, int]]] = {}  # node -> (signed reference, pointer, entry)
        refs = iter(program.refs)
        for k, port in enumerate(program.outputs):
            for entry in range(port.size):
                ref = next(refs)
                self.stores.setdefault(abs(ref), []).append((ref, f"%out{k}", entry))
        outs, ins = pointers(program)
        noalias = [f"ptr noalias writeonly {p}" for p in outs] + [f"ptr noalias readonly {p}" for p in ins]
        self.signature = ", ".join([*noalias, "ptr noalias %scratch"])

    def define(self, number: int) -> str:
        """The definition of one chunk. The first one also stores the outputs that are inputs or constants."""
        self.lines: list[str] = []
        self.names: dict[int, str] = {}  # what is already in a register of this chunk
        self.minus: dict[int, str] = {}
        ids = self.steps.chunks[number]
        if number == 0:
            leaves = [i for i in self.stores if self.nodes[i][0] in LEAVES]
            for i in leaves:
                self._store(i)
        rotations = {i for i in ids if self.nodes[i][0] in ROTATIONS}
        inside = set(ids)
        for i in ids:
            op, *args = self.nodes[i]
            if op in ROTATIONS:
                if i in rotations:
                    rotations -= self._rotate(i, rotations, inside)
            else:
                text = SPELLINGS[op].format(*map(self.value, args))
                self.lines.append(f"  %n{i} = {text}")
                self._made(i, f"%n{i}")
        body = "\n".join(self.lines)
        return f"define internal void @chunk.{number}({self.signature}) noinline nounwind {{\n{body}\n  ret void\n}}"

    def value(self, ref: int) -> str:
        """A signed reference as an operand; loads or negates it where that has not been done in this chunk."""
        i = abs(ref)
        node = self.nodes[i]
        if node[0] == "const":
            return number(-node[1] if ref < 0 else node[1])
        name = self.names.get(i)
        if name is None:
            base, entry = self.places[node[1]] if node[0] == "input" else ("%scratch", self.steps.slots[i])
            name = self.names[i] = f"%n{i}"
            self.lines.append(f"  %p{i} = getelementptr inbounds double, ptr {base}, i64 {entry}")
            self.lines.append(f"  {name} = load double, ptr %p{i}")
        if ref >= 0:
            return name
        if i not in self.minus:
            self.minus[i] = f"%m{i}"
            self.lines.append(f"  %m{i} = fneg double {name}")
        return self.minus[i]

    def _made(self, i: int, name: str) -> None:
        """Node i is now in the register `name`: keeps it where another chunk or an output wants it."""
        self.names[i] = name
        slot = self.steps.slots.get(i)
        if slot is not None:
            self._write(name, "%scratch", slot)
        self._store(i)

    def _store(self, i: int) -> None:
        for ref, base, entry in self.stores.get(i, ()):
            self._write(self.value(ref), base, entry)

    def _write(self, value: str, base: str, entry: int) -> None:
        place = f"%w{len(self.lines)}"
        self.lines.append(f"  {place} = getelementptr inbounds double, ptr {base}, i64 {entry}")
        self.lines.append(f"  store double {value}, ptr {place}")

    def _rotate(self, first: int, waiting: set[int], inside: set[int]) -> set[int]:
        """Computes `first` and all waiting sin, cos and tan whose argument is at hand. Gives the nodes done."""

        def at_hand(i: int) -> bool:
            arg = abs(self.nodes[i][1])
            return arg in self.names or self.nodes[arg][0] in LEAVES or arg not in inside

        ready = [i for i in sorted(waiting) if at_hand(i)]
        assert first in ready, "an argument comes before its reader"
        families: dict[int, list[int]] = {}
        for i in ready:
            families.setdefault(self.nodes[i][1], []).append(i)
        arguments = list(families)
        while arguments:
            lanes = next(width for width in LANES if 2 * len(arguments) > width)
            group, arguments = arguments[:lanes], arguments[lanes:]
            sines, cosines = self._sincos(group, lanes)
            for arg, sine, cosine in zip(group, sines, cosines, strict=False):
                for i in families[arg]:
                    results = {"sin": sine, "cos": cosine, "tan": f"%n{i}"}
                    op = self.nodes[i][0]
                    if op == "tan":
                        self.lines.append(f"  %n{i} = fdiv double {sine}, {cosine}")
                    self._made(i, results[op])
        return set(ready)

    def _sincos(self, group: Sequence[int], lanes: int) -> tuple[list[str], list[str]]:
        """One call of sincos on the references of `group`; unused lanes hold zero."""
        self.widths.add(lanes)
        real = lanes_type(lanes)
        pair = f"{{ {real}, {real} }}"
        values = [self.value(ref) for ref in group]
        tag = len(self.lines)
        if lanes == 1:
            packed = values[0]
        else:
            packed = "zeroinitializer"
            for k, value in enumerate(values):
                self.lines.append(f"  %x{tag}.{k} = insertelement {real} {packed}, double {value}, i32 {k}")
                packed = f"%x{tag}.{k}"
        self.lines.append(f"  %both{tag} = call {pair} @sincos.{lanes}({real} {packed})")
        results = []
        for member, name in enumerate("sc"):
            self.lines.append(f"  %{name}{tag} = extractvalue {pair} %both{tag}, {member}")
            if lanes == 1:
                results.append([f"%{name}{tag}"])
                continue
            names = [f"%{name}{tag}.{k}" for k in range(len(group))]
            for k, one in enumerate(names):
                self.lines.append(f"  {one} = extractelement {real} %{name}{tag}, i32 {k}")
            results.append(names)
        return results[0], results[1]


def _kernel(program: Program, steps: Plan) -> str:
    """One state: the chunks in order."""
    outs, ins = pointers(program)
    named = [f"ptr noalias {p}" for p in outs] + [f"ptr noalias readonly {p}" for p in ins]
    passed = ", ".join(f"ptr {p}" for p in [*outs, *ins, "%scratch"])
    lines = [f"define void @kernel({', '.join(named)}) nounwind {{"]
    lines.append(f"  %scratch = alloca [{max(steps.scratch, 1)} x double], align 64")
    lines += [f"  call void @chunk.{k}({passed})" for k in range(len(steps.chunks))]
    return "\n".join([*lines, "  ret void", "}"])


def _batch(program: Program) -> str:
    """n states one after the other, then a look at every number written."""
    outs, ins = pointers(program)
    strides = [f"%stride{k}" for k in range(len(ins))]
    named = ", ".join([f"ptr {p}" for p in [*outs, *ins]] + [f"i64 {s}" for s in strides])
    lines = [f"define zeroext i1 @batch(i64 %n, {named}) noinline nounwind {{", "start:"]
    lines += ["  %some = icmp sgt i64 %n, 0", "  br i1 %some, label %loop, label %done", "loop:"]
    lines.append("  %k = phi i64 [ 0, %start ], [ %next, %loop ]")
    steps = [str(port.size) for port in program.outputs] + strides
    for pointer, step in zip([*outs, *ins], steps, strict=True):
        lines.append(f"  {pointer}.offset = mul i64 %k, {step}")
        lines.append(f"  {pointer}.here = getelementptr inbounds double, ptr {pointer}, i64 {pointer}.offset")
    lines.append(f"  call void @kernel({', '.join(f'ptr {p}.here' for p in [*outs, *ins])})")
    lines.append("  %next = add i64 %k, 1")
    lines.append("  %more = icmp slt i64 %next, %n")
    lines += ["  br i1 %more, label %loop, label %done", "done:", *_all_finite(program, outs)]
    return "\n".join([*lines, "  ret i1 %finite", "}"])


def _all_finite(program: Program, outs: Iterable[str]) -> list[str]:
    """Lines that leave in `%finite` whether the outputs of %n states are finite."""
    lines = []
    found = "true"
    for k, (port, out) in enumerate(zip(program.outputs, outs, strict=True)):
        lines.append(f"  %count{k} = mul i64 %n, {port.size}")
        lines.append(f"  %finite{k} = call i1 @finite(ptr {out}, i64 %count{k})")
        lines.append(f"  %all{k} = and i1 {found}, %finite{k}")
        found = f"%all{k}"
    return [*lines, f"  %finite = or i1 {found}, false"]
