"""A batch of states in SIMD lanes: blocks of W states at a time, from arrays in which every state is a row.

    batch         n states:  i1 batch(i64 n, outs, ins, strides), whether every number written is finite
      take        converts W rows of each input to one vector per entry (`transpose`)
      main        computes the operations, on vectors
      give        converts vectors back to W rows

In a last block with fewer than W states, the unused lanes repeat the last state. So nothing outside the arrays is read
or written, and every state is computed in the same way, whatever its position.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.codegen.backends.llvm.chunks import output_refs, pointers
from kinemorph.codegen.backends.llvm.math import Real
from kinemorph.codegen.backends.llvm.memory import Arrays
from kinemorph.codegen.backends.llvm.module import Module
from kinemorph.codegen.backends.llvm.transpose import columns, give, take
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.loops.loop_program import LoopProgram


def emit_lanes(program: Program | LoopProgram, real: Real) -> str:
    """The LLVM IR that evaluates batches of `program` in lanes."""
    heading = f"; {program.name!r} in {real.lanes} lanes of {real.precision}"
    module = Module(real)
    module.worked.ops[real] = {"fma"}  # which `give` takes
    outputs = _Outputs(program, real)
    module.main(program, outputs.results)
    half = real.lanes // 2
    code = [take(width, real) for width in sorted({columns(port.size, half) for port in program.inputs if port.size})]
    parts = [*code, *outputs.functions(), _batch(program, real, outputs)]
    parts.append("declare i64 @llvm.smin.i64(i64, i64)\ndeclare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    if real.lanes > 1:
        parts.append(f"declare i1 @llvm.vector.reduce.and.v{real.lanes}i1({real.truth})")
    return f"{heading}\n{module.text(*parts)}"


class _Outputs:
    """The vectors that `main` computes for each output, and the functions that write them as rows.

    Equal entries of an output, as in a symmetric matrix, are computed once; `picks` gives the vector of each entry.
    """

    def __init__(self, program: Program | LoopProgram, real: Real) -> None:
        self.real = real
        self.sizes = [port.size for port in program.outputs]
        self.results: list[tuple[int, ...]] | None = None  # for a Program: the references to compute
        self.counts = self.sizes  # number of vectors
        self.picks: list[Sequence[int]] = [range(size) for size in self.sizes]
        if not isinstance(program, LoopProgram):  # equal entries are computed once
            refs = output_refs(program)
            self.results = [tuple(dict.fromkeys(entries)) for entries in refs]
            self.counts = [len(kept) for kept in self.results]
            places = [{ref: k for k, ref in enumerate(kept)} for kept in self.results]
            self.picks = [[place[ref] for ref in entries] for place, entries in zip(places, refs, strict=True)]
        self.widths = [columns(size, real.lanes) if size else 0 for size in self.sizes]

    def functions(self) -> list[str]:
        """LLVM IR: the functions `give`, which write vectors as rows, and for each output the table of its `picks`."""
        code = [give(width, self.real) for width in sorted({*self.widths} - {0})]
        for k, picks in enumerate(self.picks):
            listed = ", ".join(f"i32 {pick}" for pick in picks)
            code.append(f"@picks.{k} = internal constant [{len(picks)} x i32] [{listed}]")
        return code

    def given(self, k: int) -> list[str]:
        """Lines of LLVM IR that write output k of W states as rows, by a call of `give`.

        `give` returns 0 for each state, or NaN if a number is not finite; this is added to the running sum %sum of all
        outputs, which `batch` checks at the end.
        """
        t, size = self.real.text, self.sizes[k]
        if not size:
            return [f"  %sum{k + 1} = fadd {t} %sum{k}, zeroinitializer"]
        rest = f"i64 {size}, i64 %last, ptr @picks.{k}"
        return [
            f"  %out_offset{k} = mul i64 %first, {size}",
            f"  %out_here{k} = getelementptr inbounds {self.real.element}, ptr %rows.out{k}, i64 %out_offset{k}",
            f"  %zero{k} = call {t} @give.{self.widths[k]}(ptr %out{k}, ptr %out_here{k}, {rest})",
            f"  %sum{k + 1} = fadd {t} %sum{k}, %zero{k}",
        ]


def _batch(program: Program | LoopProgram, real: Real, outputs: _Outputs) -> str:
    """The definition of `batch`: a loop over blocks of W states."""
    outs, ins = pointers(program)
    t = real.text
    rows = [f"ptr %rows.{p[1:]}" for p in [*outs, *ins]]
    strides = [f"i64 %stride{k}" for k in range(len(ins))]
    lines = [f"define zeroext i1 @batch({', '.join(['i64 %n', *rows, *strides])}) noinline nounwind {{", "start:"]
    memory = Arrays(real)
    for name, count in zip([*outs, *ins], [*outputs.counts, *(port.size for port in program.inputs)], strict=True):
        memory.add(name, count)
    lines += memory.begin()
    if not isinstance(program, LoopProgram):
        lines.append(f"  call void @main.constants({', '.join(f'ptr {p}' for p in outs)})")
    lines += ["  %some = icmp sgt i64 %n, 0", "  br i1 %some, label %block, label %done", "block:"]
    lines.append("  %first = phi i64 [ 0, %start ], [ %next, %computed ]")
    lines.append(f"  %sum = phi {t} [ zeroinitializer, %start ], [ %sum{len(outs)}, %computed ]")
    lines += ["  %left = sub i64 %n, %first", "  %left1 = sub i64 %left, 1"]
    lines.append(f"  %last = call i64 @llvm.smin.i64(i64 %left1, i64 {real.lanes - 1})")
    lines.append("  %begin = icmp eq i64 %first, 0")
    for k, port in enumerate(program.inputs):
        lines += _taken(k, port, real)
    lines += ["  br label %computed", "computed:"]
    lines.append(f"  call void @main({', '.join(f'ptr {p}' for p in [*outs, *ins])})")
    lines.append(f"  %sum0 = fadd {t} %sum, zeroinitializer")
    for k in range(len(outs)):
        lines += outputs.given(k)
    lines.append(f"  %next = add i64 %first, {real.lanes}")
    lines += ["  %more = icmp slt i64 %next, %n", "  br i1 %more, label %block, label %done", "done:"]
    lines.append(f"  %total = phi {t} [ zeroinitializer, %start ], [ %sum{len(outs)}, %computed ]")
    lines.append(f"  %number = fcmp ord {t} %total, %total")
    all_of = f"call i1 @llvm.vector.reduce.and.v{real.lanes}i1({real.truth} %number)"
    lines.append(f"  %finite = {all_of if real.lanes > 1 else 'or i1 %number, false'}")
    return "\n".join([*lines, *memory.end(), "  ret i1 %finite", "}"])


def _taken(k: int, port: Port, real: Real) -> list[str]:
    """Lines that convert the rows of input k to vectors; an input with one state for all (stride 0) only once."""
    if not port.size:
        return []
    rest = f"i64 {port.size}, i64 %stride{k}, i64 %last"
    return [
        f"  %moves{k} = icmp ne i64 %stride{k}, 0",
        f"  %fresh{k} = or i1 %begin, %moves{k}",
        f"  br i1 %fresh{k}, label %take{k}, label %taken{k}",
        f"take{k}:",
        f"  %in_offset{k} = mul i64 %first, %stride{k}",
        f"  %in_here{k} = getelementptr inbounds {real.element}, ptr %rows.in{k}, i64 %in_offset{k}",
        f"  call void @take.{columns(port.size, real.lanes // 2)}(ptr %in{k}, ptr %in_here{k}, {rest})",
        f"  br label %taken{k}",
        f"taken{k}:",
    ]
