"""A loop program as an LLVM function, on values of any type.

    void <name>(outs, ins)             or, if it is called for some lanes only,
    void <name>(outs, ins, mask)

The entries of arrays are values, so in lanes entry k is a vector with this entry of every state; constants are plain
numbers. In lanes, states may take different branches (While, If, a For whose bound is in an array). Such a body runs
under a mask: it is skipped if no lane takes it, and results of calls are stored only in the lanes of the mask. Counters
and masks are in memory in the emitted code; LLVM moves them to registers.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.codegen.backends.llvm.chunks import pointers
from kinemorph.codegen.backends.llvm.loop_lanes import Abreast
from kinemorph.codegen.backends.llvm.math import Real
from kinemorph.codegen.backends.llvm.views import Functions
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
    filled_first,
    refuse_foreign,
)
from kinemorph.vocabulary.frozen_array import FrozenArray

FEW = 4  # a loop with fewer passes is not vectorized
ENDLESS = 1 << 40
AS_WRITTEN, MASKED = "!0", "!3"
# metadata of loops: !0 forbids vectorizing and unrolling, !3 forbids unrolling and asks for vectors with a mask
NOTES = """!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.vectorize.enable", i1 false}
!2 = !{!"llvm.loop.unroll.disable"}
!3 = distinct !{!3, !2, !4}
!4 = !{!"llvm.loop.vectorize.predicate.enable", i1 true}"""


class LoopWriter(Abreast):
    """Writes the LLVM function `name` of one loop program; with `masked` it takes a mask of active lanes."""

    def __init__(self, name: str, program: LoopProgram, real: Real, functions: Functions, *, masked: bool) -> None:
        super().__init__(name, program, real, functions)
        self.program, self.masked = program, masked
        outs, ins = pointers(program)
        for place, port in zip([*outs, *ins], [*program.outputs, *program.inputs], strict=True):
            self.arrays[port.name] = (place, port.size)
        self.constants |= {port.name for port, _ in program.constants}
        self.innermost = False  # whether the current statement is the only one in its loop
        self.ranges: dict[str, tuple[int, int]] = {}  # counter -> its smallest and largest value, if known

    def definition(self) -> str:
        """The LLVM IR of the whole function that runs the loop program, with its arrays of constants before it."""
        for port, values in self.program.constants:
            if isinstance(values, FrozenArray):
                held = f"%numbers{len(self.head)}"
                self.head.append(f"  {held} = load ptr, ptr {self.functions.pointer_to(values)}")
                self.arrays[port.name] = (held, port.size)
                continue
            place = f"@{self.name}.{len(self.globals)}"
            self.globals.append(f"{place} = internal constant {self.real.listed(values)}")
            self.arrays[port.name] = (place, port.size)
        filled = filled_first(self.program)
        for k, port in enumerate(self.program.buffers):
            place, size, kind = f"%buffer{k}", port.size, self.real
            if port.name in self.rows:
                row, passes, lanes = self.rows[port.name]
                size, kind = row * -(-passes // lanes), Real(self.real.precision, lanes)
            self.memory.add(place, size, kind)
            self.arrays[port.name] = (place, port.size)
            if port.name in self.turned and port.name not in self.rows:
                self.lines.append(self._shown(place))
            if self.masked or port.name not in filled:
                length = f"i64 {size * kind.bytes}"
                self.lines.append(f"  call void @llvm.memset.p0.i64(ptr align 64 {place}, i8 0, {length}, i1 false)")
        self._body(self.program.body, "%mask" if self.masked else None)
        outs, ins = pointers(self.program)
        named = [f"ptr noalias {p}" for p in outs] + [f"ptr noalias readonly {p}" for p in ins]
        named += [f"{self.real.truth} %mask"] if self.masked else []
        start = f"define internal void @{self.name}({', '.join(named)}) noinline nounwind {{"
        body = [*self.head, *self.memory.begin(), *self.lines, *self.memory.end()]
        return "\n".join([*self.globals, start, *body, "  ret void", "}"])

    # ── statements ────────────────────────────────────────────────────────────────────────────────────────────────

    def _body(self, body: Sequence[Statement], mask: str | None) -> None:
        """Writes statements; `mask` is the register of the mask of active lanes, or None for all."""
        for statement in body:
            match statement:
                case Call():
                    self._call(statement, mask)
                case For() if (lanes := self._lanes(statement)) > 1:
                    self._side_by_side(statement, lanes)
                case For(stop=Affine()):
                    self._count(statement, mask)
                case For():
                    self._count_to_view(statement, mask)
                case Foreign():
                    refuse_foreign(self.program, "the backend 'llvm'")
                case While():
                    self._while(statement, mask)
                case If():
                    self._if(statement, mask)

    def _call(self, call: Call, mask: str | None) -> None:
        """Writes a call of a program on views; masked or overlapping outputs go through temporary arrays."""
        if self._moves(call, mask):
            return
        callee = self.functions.called(call.program, masked=mask is not None, inner=self.innermost)
        ins = [self._materialized(view, f"in{k}") for k, view in enumerate(call.ins)]
        read = {view.array for view in call.ins}
        outs, late = [], []
        for k, view in enumerate(call.outs):
            place = self._place(view)
            if mask is not None or (view.array in read and not callee.overlapping):
                temporary = self._temporary(view.size, f"out{k}")
                late.append((place, temporary, view.size))
                place = temporary
            outs.append(place)
        passed = [f"ptr {place}" for place in [*outs, *ins]]
        passed += [f"{self.real.truth} {mask}"] if callee.masked else []
        self.lines.append(f"  call void @{callee.name}({', '.join(passed)})")
        for place, temporary, size in late:
            self._copy(place, temporary, size, mask)

    def _moves(self, call: Call, mask: str | None) -> bool:
        """Writes a copy of memory for a call whose program only copies its input; returns False for other programs."""
        program = call.program
        if isinstance(program, LoopProgram) or program.steps or len(call.ins) != 1 or len(call.outs) != 1:
            return False
        inputs = [program.graph.index[("input", k)] for k in range(call.ins[0].size)]
        if list(program.refs) != inputs:
            return False
        self._copy(self._place(call.outs[0]), self._materialized(call.ins[0], "in0"), call.outs[0].size, mask)
        return True

    def _copy(self, place: str, source: str, size: int, mask: str | None) -> None:
        """Writes a copy of `size` values, only in the lanes of the mask if there is one."""
        if not size:
            return
        if mask is not None:
            blend = self.functions.helper("blend")
            passed = f"ptr {place}, ptr {source}, {self.real.truth} {mask}, i64 {size}"
            self.lines.append(f"  call void @{blend}({passed})")
            return
        if size == 1:
            value = self._new("value")
            self.lines.append(f"  {value} = load {self.real.text}, ptr {source}")
            self.lines.append(f"  store {self.real.text} {value}, ptr {place}")
            return
        align = f"align {self.real.bytes}"
        length = f"i64 {size * self.real.bytes}"
        passed = f"ptr {align} {place}, ptr {align} {source}, {length}, i1 false"
        self.lines.append(f"  call void @llvm.memmove.p0.p0.i64({passed})")

    def _count(self, loop: For, mask: str | None) -> None:
        """Writes a For whose bounds are the same for all states."""
        assert isinstance(loop.stop, Affine)
        stop = self._affine(loop.stop)
        head, body, done = self._labels("count", "body", "counted")
        counter = self._counter(loop, head)
        self._line(f"%going{head} = icmp slt i64 {counter}, {stop}")
        self.lines.append(f"  br i1 %going{head}, label %{body}, label %{done}")
        self.lines.append(f"{body}:")
        low, high = self._range(loop.start)[0], self._range(loop.stop)[1]
        self.ranges[loop.counter] = (low, max(low, high - 1))
        self.innermost = len(loop.body) == 1 and isinstance(loop.body[0], Call)
        self._body(loop.body, mask)
        # few passes: LLVM's code for any number of passes would be several times longer
        short = self._range(loop.stop - loop.start)[1] < FEW or not self.innermost
        self._next(loop, head, counter, f", !llvm.loop {AS_WRITTEN if short else MASKED}")
        self.innermost = False
        self.lines.append(f"{done}:")

    def _range(self, value: Affine) -> tuple[int, int]:
        """(smallest, largest) value of a whole number; a counter whose bound depends on data counts as unlimited."""
        low = high = value.constant
        for counter, coefficient in value.terms:
            ends = [coefficient * end for end in self.ranges.get(counter, (-ENDLESS, ENDLESS))]
            low, high = low + min(ends), high + max(ends)
        return low, high

    def _count_to_view(self, loop: For, mask: str | None) -> None:
        """Writes a For whose bound may differ from state to state."""
        assert isinstance(loop.stop, View)
        real = self.real
        stop = self._entry(loop.stop)
        head, body, done = self._labels("count", "body", "counted")
        counter = self._counter(loop, head)
        self._line(f"%one{head} = sitofp i64 {counter} to {real.element}")
        reached = self._splat(f"%one{head}")
        below = self._new("below")
        self._line(f"{below} = fcmp olt {real.text} {reached}, {stop}")
        going = self._branch(below, mask, body, done)
        self._body(loop.body, going)
        self._next(loop, head, counter)
        self.lines.append(f"{done}:")

    def _counter(self, loop: For, head: str) -> str:
        """Writes the start of a loop: sets its counter and opens the block `head`; returns the counter's register."""
        place = f"%counter{head}"
        self.head.append(f"  {place} = alloca i64")
        self.lines.append(f"  store i64 {self._affine(loop.start)}, ptr {place}")
        self.lines += [f"  br label %{head}", f"{head}:"]
        value = f"%{loop.counter}.{head}"
        self._line(f"{value} = load i64, ptr {place}")
        self.counters[loop.counter] = value
        return value

    def _next(self, loop: For, head: str, counter: str, note: str = "") -> None:
        """Writes the end of a loop: increments its counter and branches to `head`; `note` is loop metadata."""
        self._line(f"{counter}.next = add nsw i64 {counter}, 1")
        self.lines.append(f"  store i64 {counter}.next, ptr %counter{head}")
        self.lines.append(f"  br label %{head}{note}")
        del self.counters[loop.counter]

    def _while(self, loop: While, mask: str | None) -> None:
        """Writes the code of a While loop; in SIMD lanes it runs until no lane of the mask continues."""
        head, body, done = self._labels("while", "body", "ended")
        place = f"%mask{head}"
        lanes = self.real.lanes > 1
        if lanes:
            self.head.append(f"  {place} = alloca {self.real.truth}")
            self.lines.append(f"  store {self.real.truth} {mask or 'splat (i1 true)'}, ptr {place}")
        self.lines += [f"  br label %{head}", f"{head}:"]
        before = None
        if lanes:
            before = f"%before{head}"
            self._line(f"{before} = load {self.real.truth}, ptr {place}")
        going = self._branch(self._truth(loop.condition), before, body, done)
        if lanes:
            self.lines.append(f"  store {self.real.truth} {going}, ptr {place}")
        self._body(loop.body, going)
        self.lines += [f"  br label %{head}", f"{done}:"]

    def _if(self, choice: If, mask: str | None) -> None:
        """Writes the code of an If; in SIMD lanes both branches run, each for the lanes of its mask."""
        truth = self._truth(choice.condition)
        if self.real.lanes == 1:
            then, otherwise, done = self._labels("then", "otherwise", "chosen")
            self.lines += [f"  br i1 {truth}, label %{then}, label %{otherwise}", f"{then}:"]
            self._body(choice.then, None)
            self.lines += [f"  br label %{done}", f"{otherwise}:"]
            self._body(choice.otherwise, None)
            self.lines += [f"  br label %{done}", f"{done}:"]
            return
        other = self._new("other")
        self._line(f"{other} = xor {self.real.truth} {truth}, splat (i1 true)")
        for chosen, way in ((truth, choice.then), (other, choice.otherwise)):
            if way:
                body, done = self._labels("way", "past")
                self._body(way, self._branch(chosen, mask, body, done))
                self.lines += [f"  br label %{done}", f"{done}:"]

    def _branch(self, truth: str, mask: str | None, body: str, done: str) -> str | None:
        """Writes a branch to `body` if `truth` holds in a lane of the mask, else to `done`; returns the new mask."""
        if self.real.lanes == 1:
            self.lines += [f"  br i1 {truth}, label %{body}, label %{done}", f"{body}:"]
            return None
        going, bits, some = self._new("going"), self._new("bits"), self._new("some")
        lanes = self.real.lanes
        self._line(f"{going} = and {self.real.truth} {truth}, {mask or 'splat (i1 true)'}")
        self._line(f"{bits} = bitcast {self.real.truth} {going} to i{lanes}")
        self._line(f"{some} = icmp ne i{lanes} {bits}, 0")
        self.lines += [f"  br i1 {some}, label %{body}, label %{done}", f"{body}:"]
        return going

    def _truth(self, view: View) -> str:
        """The register that says whether the number of an array that `view` refers to is positive."""
        name = self._new("truth")
        value = self._entry(view)
        self._line(f"{name} = fcmp ogt {self.real.text} {value}, zeroinitializer")
        return name
