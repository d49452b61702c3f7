"""The functions of one LLVM module: each program, block and helper is defined once, at the first request for it.

All of them work on values of the LLVM module's type. Long programs without loops are in a second part, on which LLVM's
passes do not run: the passes would take a third of the compile time and improve nothing, since the graph is already
simplified.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kinemorph.codegen.backends.llvm.chunks import Chunks, output_refs
from kinemorph.codegen.backends.llvm.engine import BORDER, MATRICES, pointer, pointers_to, vector_bits
from kinemorph.codegen.backends.llvm.loop_programs import NOTES, LoopWriter
from kinemorph.codegen.backends.llvm.math import Real, library
from kinemorph.codegen.backends.llvm.memory import MEMORY
from kinemorph.codegen.backends.llvm.sincos import rotations, sincos_of_many
from kinemorph.codegen.backends.llvm.strides import Runs
from kinemorph.codegen.backends.llvm.views import Callee
from kinemorph.codegen.graphs.fused import fused
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.schedule import plan
from kinemorph.codegen.loops.block_routines import routine
from kinemorph.codegen.loops.loop_program import LoopProgram, loop_depth
from kinemorph.vocabulary.blocks import Block
from kinemorph.vocabulary.frozen_array import FrozenArray

# copies values in the lanes of a mask
BLEND = """define internal void @blend(ptr %to, ptr %from, {c} %mask, i64 %count) {inline} nounwind {{
start:
  br label %next
next:
  %k = phi i64 [ 0, %start ], [ %k1, %next ]
  %to.at = getelementptr inbounds {t}, ptr %to, i64 %k
  %from.at = getelementptr inbounds {t}, ptr %from, i64 %k
  %old = load {t}, ptr %to.at
  %new = load {t}, ptr %from.at
  %kept = select {c} %mask, {t} %new, {t} %old
  store {t} %kept, ptr %to.at
  %k1 = add i64 %k, 1
  %more = icmp slt i64 %k1, %count
  br i1 %more, label %next, label %done
done:
  ret void
}}"""


LONG, LONG_CALLED = 5_000, 800  # most ops of a program on which passes run: the main one, and one that it calls


@dataclass
class _Part:
    """A part of an LLVM module: definitions, and the ops and types that they use."""

    code: list[str] = field(default_factory=list)
    ops: dict[Real, set[str]] = field(default_factory=dict)
    rotation_types: set[Real] = field(default_factory=set)
    many: set[Real] = field(default_factory=set)  # types with a sincos on arrays of angles

    def text(self, helpers: Iterable[str] = ()) -> str:
        """The LLVM IR of the part, with `helpers` and everything that it uses, so that it can be parsed alone."""
        many = [sincos_of_many(real) for real in sorted(self.many, key=lambda real: real.lanes)]
        parts = [library(self.ops), rotations(self.rotation_types), *many, *helpers, *self.code, MEMORY, NOTES]
        parts.append("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        parts.append("declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)")
        return "\n".join(parts)


class Module:
    """Collects the definitions of an LLVM module whose values have the type `real`."""

    def __init__(self, real: Real) -> None:
        self.real = real
        self.worked, self.plain = _Part(), _Part()  # with and without LLVM's passes
        self.widest = vector_bits() // real.bits
        self.callees: dict[tuple[object, ...], Callee] = {}
        self.helpers: dict[str, str] = {}
        self.turned: Counter[Runs] = Counter()  # conversions of runs, and how often each is used
        self.numbers: list[FrozenArray] = []  # arrays that the code refers to
        self.kept: list[object] = []  # keeps the programs alive whose ids are keys of `callees`

    def main(self, program: Program | LoopProgram, outputs: Sequence[Sequence[int]] | None = None) -> None:
        """Defines `void @main(outs, ins)`, which runs a program.

        For a Program, `outputs` are the references to store, and `@main.constants(outs)` stores the constants.
        """
        if isinstance(program, LoopProgram):
            self._define_loops("main", program, masked=False)
        else:
            refs = output_refs(program) if outputs is None else outputs
            self._define(self._chunks("main", program, refs, constants_apart=True), program)

    def called(
        self,
        program: Program | LoopProgram,
        *,
        masked: bool,
        inner: bool = False,
        real: Real | None = None,
        shared: frozenset[int] = frozenset(),
    ) -> Callee:
        """The function of a program that another one calls; see `Functions.called` in `views`.

        Only loop programs take a mask of active lanes.
        """
        if isinstance(program, Program) and program.for_one is not None and (real or self.real).lanes == 1:
            program = program.for_one
        masked = masked and isinstance(program, LoopProgram)
        key = (id(program), masked, inner, real, shared)
        if key not in self.callees:
            self.kept.append(program)
            name = f"program.{len(self.callees)}"
            if isinstance(program, LoopProgram):
                self.callees[key] = Callee(name, overlapping=False, masked=masked)
                self._define_loops(name, program, masked=masked)
            else:
                refs = output_refs(program)
                chunks = self._chunks(name, program, refs, constants_apart=False, inner=inner, real=real, shared=shared)
                self.callees[key] = Callee(name, overlapping=chunks.in_order)
                self._define(chunks, program)
        return self.callees[key]

    def helper(self, name: str) -> str:
        """The name of a small function for values of the LLVM module's type, which is defined at the first request.

        There is one such function, `blend`: it selects values lane by lane with a mask.
        """
        if name not in self.helpers:
            self.helpers[name] = {"blend": self._blend}[name]()
        return name

    def pointer_to(self, numbers: FrozenArray) -> str:
        """The name of the global variable that points to an array of numbers, which is defined once."""
        self.numbers.append(numbers)
        return pointer(numbers)

    def turning(self, runs: Runs) -> str:
        """The name of the function that converts numbers in memory to SIMD vectors or back, as `runs` describes."""
        self.turned[runs] += 1
        return runs.name

    def text(self, *others: str) -> str:
        """The LLVM IR of all requested definitions, followed by `others`."""
        turning = [runs.definition(uses) for runs, uses in self.turned.items()]
        helpers = [pointers_to(self.numbers), *self.helpers.values(), *turning]
        worked = "\n".join([self.worked.text(helpers), *others])
        return BORDER.join([worked, self.plain.text()] if self.plain.code else [worked])

    def _chunks(
        self,
        name: str,
        program: Program,
        refs: Sequence[Sequence[int]],
        *,
        constants_apart: bool,
        inner: bool = False,
        real: Real | None = None,
        shared: frozenset[int] = frozenset(),
    ) -> Chunks:
        long = program.ops > (LONG if name == "main" else LONG_CALLED)
        program = fused(program)
        linkage = "hidden" if long and not program.blocks else "internal"  # blocks are loops, which need passes
        steps, block = plan(program), self._block
        return Chunks(
            name,
            program,
            steps,
            real or self.real,
            refs,
            block,
            constants_apart=constants_apart,
            linkage=linkage,
            inner=inner,
            shared=shared,
        )

    def _define(self, chunks: Chunks, program: Program) -> None:
        """Adds the definitions of a Program to the part that it belongs to."""
        part = self.plain if chunks.linkage == "hidden" else self.worked
        definitions = chunks.definitions()  # this may define blocks, which come first
        part.code += definitions
        part.rotation_types |= chunks.rotation_types
        part.ops.setdefault(chunks.real, set()).update(chunks.ops)
        if chunks.real.lanes > 1 and chunks.real in chunks.rotation_types:
            part.many.add(chunks.real)
        if part is self.plain:
            self.worked.code += chunks.declarations()

    def _define_loops(self, name: str, program: LoopProgram, *, masked: bool) -> None:
        """Adds the definition of a loop program."""
        definition = LoopWriter(name, program, self.real, self, masked=masked).definition()
        self.worked.code.append(MATRICES + definition if loop_depth(program.body) > 2 else definition)

    def _block(self, block: Block) -> str:
        """The name of the function that computes a block, an operation on arrays such as solving linear equations."""
        return self.called(routine(block, in_lanes=self.real.lanes > 1), masked=False).name

    def _blend(self) -> str:
        return BLEND.format(t=self.real.text, c=self.real.truth, inline="alwaysinline")
