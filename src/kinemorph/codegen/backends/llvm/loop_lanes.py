"""Loops with independent passes (`apart`) for one state, in LLVM: several passes run at a time in SIMD lanes.

Passes are divided into blocks, with one lane per pass; unused lanes repeat the last pass and write nothing. How the
arguments of calls are stored depends on how the loop uses them:

    the same in all passes        plain numbers, which the called function copies to all lanes
    constants                     a table of vectors
    arrays of such loops only     stored as vectors from loop to loop
    other arrays                  converted to vectors and back (`strides`)
"""

from __future__ import annotations

from kinemorph.codegen.backends.llvm.math import Real
from kinemorph.codegen.backends.llvm.strides import Runs
from kinemorph.codegen.backends.llvm.views import Functions, Views
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.loop_program import Affine, Call, For, LoopProgram, View
from kinemorph.codegen.loops.rows_in_lanes import looks, passes_of, rows_in_lanes

BLOCK = "block"  # the counter of the blocks


class Abreast(Views):
    """The part of a loop writer that runs several passes of a loop at a time in SIMD lanes."""

    def __init__(self, name: str, program: LoopProgram, real: Real, functions: Functions) -> None:
        super().__init__(real, functions)
        self.name = name
        self.globals: list[str] = []
        self.head: list[str] = []  # lines at the start of the function: counters and masks
        self.values = {port.name: values for port, values in program.constants if isinstance(values, tuple)}
        self.tables: dict[tuple[str, int, int, int, int], str] = {}  # view of a constant -> its table of vectors
        # buffers that are stored as vectors -> their rows
        self.rows = rows_in_lanes(program, self._lanes)
        seen = looks(program.body, self._lanes)
        self.turned = {view.array for view, loop in seen if loop and view.offset.coefficient(loop.counter)}

    def _shown(self, place: str) -> str:
        """A line of LLVM IR that makes LLVM assume that other code uses an array, so that the array stays in memory.

        It avoids an error of LLVM 22: in arrays that no other function uses, SROA combines stores of short vectors for
        the load of a long vector in an order that uses values before they are defined.
        """
        return f'  call void asm sideeffect "", "r"(ptr {place})'

    def _lanes(self, loop: For) -> int:
        """The number of lanes in which the passes of a loop run; 1 if they run one after the other."""
        if not loop.apart or self.real.lanes > 1 or isinstance(loop.stop, View):
            return 1
        for statement in loop.body:
            if not isinstance(statement, Call) or not isinstance(statement.program, Program):
                return 1
            if statement.program.blocks or any(view.at for view in (*statement.outs, *statement.ins)):
                return 1
        return min(1 << max(passes_of(loop) - 1, 0).bit_length(), self.functions.widest)

    def _side_by_side(self, loop: For, lanes: int) -> None:
        """Writes a loop whose passes run in lanes, block by block."""
        whole, left = divmod(passes_of(loop), lanes)
        if whole > 1:
            head, body, done = self._labels("block", "passes", "passed")
            place, block = f"%counter{head}", f"%block.{head}"
            self.head.append(f"  {place} = alloca i64")
            self.lines += [f"  store i64 0, ptr {place}", f"  br label %{head}", f"{head}:"]
            self._line(f"{block} = load i64, ptr {place}")
            self._line(f"%going{head} = icmp slt i64 {block}, {whole}")
            self.lines += [f"  br i1 %going{head}, label %{body}, label %{done}", f"{body}:"]
            self._block(loop, block, lanes, lanes)
            self._line(f"{block}.next = add nsw i64 {block}, 1")
            self.lines += [f"  store i64 {block}.next, ptr {place}", f"  br label %{head}", f"{done}:"]
        elif whole:
            self._block(loop, "0", lanes, lanes)
        if left:
            self._block(loop, str(whole), lanes, left)

    def _block(self, loop: For, block: str, lanes: int, live: int) -> None:
        """Writes the passes of one block, in `lanes` lanes; only the first `live` lanes are passes of the loop."""
        self.counters[BLOCK] = block
        self.counters[loop.counter] = self._affine(Affine(0, ((BLOCK, lanes),)) + loop.start)
        for call in loop.body:
            assert isinstance(call, Call)
            self._call_abreast(call, loop, Real(self.real.precision, lanes), live)
        del self.counters[loop.counter], self.counters[BLOCK]

    def _call_abreast(self, call: Call, loop: For, real: Real, live: int) -> None:
        """Writes a call of a program on vectors; arguments not stored as vectors are converted before and after."""
        strides = [view.offset.coefficient(loop.counter) for view in call.ins]
        shared = frozenset(k for k, stride in enumerate(strides) if not stride)
        alone = len(loop.body) == 1
        callee = self.functions.called(call.program, masked=False, inner=alone, real=real, shared=shared)
        ins = []
        for k, (view, stride) in enumerate(zip(call.ins, strides, strict=True)):
            place = self._kept(view, real) or self._table(view, loop, real) if stride else self._place(view)
            if place is None:
                place = self.memory.add(f"%lanes.in{k}.{real.suffix}", view.size, real)
                self._turn(Runs(False, view.size, stride, live, real), place, view)
            ins.append(place)
        read = {view.array for view in call.ins}
        outs, late = [], []
        for k, view in enumerate(call.outs):
            kept = self._kept(view, real)
            if kept and (view.array not in read or callee.overlapping):
                outs.append(kept)
                continue
            outs.append(self.memory.add(f"%lanes.out{k}.{real.suffix}", view.size, real))
            late.append((view, outs[-1], kept))
        self.lines.append(f"  call void @{callee.name}({', '.join(f'ptr {place}' for place in [*outs, *ins])})")
        for view, place, kept in late:
            if kept:
                length = f"i64 {view.size * real.bytes}"
                self.lines.append(f"  call void @llvm.memmove.p0.p0.i64(ptr {kept}, ptr {place}, {length}, i1 false)")
            else:
                self._turn(Runs(True, view.size, view.offset.coefficient(loop.counter), live, real), place, view)

    def _turn(self, runs: Runs, vectors: str, view: View) -> None:
        """Writes a call that copies the numbers of `view` into SIMD vectors at the pointer `vectors`, or back.

        The direction and the layout are those of `runs`: from vectors to numbers if `runs.giving`.
        """
        if runs.size:
            name = self.functions.turning(runs)
            self.lines.append(f"  call void @{name}(ptr {vectors}, ptr {self._place(view)})")

    def _kept(self, view: View, real: Real) -> str | None:
        """The pointer to a view of a buffer that is stored as vectors; None for other arrays."""
        if view.array not in self.rows:
            return None
        return self._vector(self.arrays[view.array][0], self.rows[view.array][0], view.offset.constant, real)

    def _table(self, view: View, loop: For, real: Real) -> str | None:
        """The pointer to the table of vectors of a constant, which is added at the first request.

        None for other arrays, and if the view depends on counters of outer loops.
        """
        stride = view.offset.coefficient(loop.counter)
        start = view.offset - Affine(0, ((loop.counter, stride),)) + loop.start * stride
        if view.array not in self.values or start.terms:
            return None
        key = (view.array, start.constant, stride, view.size, passes_of(loop))
        if key not in self.tables:
            values, numbers = self.values[view.array], []
            for first in range(0, passes_of(loop), real.lanes):
                passes = [min(first + lane, passes_of(loop) - 1) for lane in range(real.lanes)]
                for entry in range(start.constant, start.constant + view.size):
                    numbers += [values[entry + stride * k] for k in passes]
            place = self.tables[key] = f"@{self.name}.lanes{len(self.tables)}"
            self.globals.append(f"{place} = internal constant {real.listed(numbers)}")
        return self._vector(self.tables[key], view.size, 0, real)

    def _vector(self, base: str, size: int, entry: int, real: Real) -> str:
        """The pointer to vector `entry` of the current block, in an array with `size` vectors per block."""
        at, place = self._affine(Affine(entry, ((BLOCK, size),))), self._new("place")
        self._line(f"{place} = getelementptr inbounds {real.text}, ptr {base}, i64 {at}")
        return place
