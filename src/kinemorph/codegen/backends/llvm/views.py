"""The views of loop programs in LLVM: instructions that compute the address of viewed values and read them.

Plain numbers are read directly. In lanes, a constant is copied to all lanes, and a view whose start depends on data is
gathered lane by lane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from kinemorph.codegen.backends.llvm.math import Real
from kinemorph.codegen.backends.llvm.memory import Arrays
from kinemorph.codegen.backends.llvm.strides import Runs
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.loop_program import Affine, LoopProgram, View
from kinemorph.vocabulary.frozen_array import FrozenArray


@dataclass(frozen=True)
class Callee:
    """A function to call; `overlapping` says that its outputs may overlap its inputs, `masked` that it takes a mask."""

    name: str
    overlapping: bool
    masked: bool = False


class Functions(Protocol):
    """Provides the functions that a loop program calls; `Module` implements it."""

    widest: int  # the number of lanes in a register of this CPU

    def called(
        self,
        program: Program | LoopProgram,
        *,
        masked: bool,
        inner: bool,
        real: Real | None = None,
        shared: frozenset[int] = frozenset(),
    ) -> Callee:
        """The LLVM function that computes a program, generated at the first request.

        `masked` says that only some lanes are active, `inner` that the call is in an innermost loop. `real` is the type
        of its values if that is not the LLVM module's; only then `shared` has an effect: the input ports with these
        indices have one number for all lanes, and not one for each lane.
        """

    def helper(self, name: str) -> str:
        """The name of a small function for values of the LLVM module's type, such as "blend"; see `Module.helper`."""

    def pointer_to(self, numbers: FrozenArray) -> str:
        """The name of the global variable that points to an array of numbers."""

    def turning(self, runs: Runs) -> str:
        """The name of the function that converts numbers in memory to SIMD vectors or back, as `runs` describes."""


class Views:
    """The part of a loop writer that reads views of arrays. It adds instructions to `lines`."""

    def __init__(self, real: Real, functions: Functions) -> None:
        self.real, self.functions = real, functions
        self.arrays: dict[str, tuple[str, int]] = {}  # name -> (pointer, size)
        self.constants: set[str] = set()  # names of the arrays that hold plain numbers
        self.memory = Arrays(real)
        self.lines: list[str] = []
        self.counters: dict[str, str] = {}  # counter -> register that holds its value, or the value itself
        self.count = 0

    # ── places ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _place(self, view: View) -> str:
        """The pointer to the first value of a view; on vectors, the start of the view must not depend on data."""
        base, _ = self.arrays[view.array]
        start = self._affine(view.offset) if view.at is None else self._first(view)
        name = self._new("place")
        self._line(f"{name} = getelementptr inbounds {self.real.text}, ptr {base}, i64 {start}")
        return name

    def _materialized(self, view: View, tag: str) -> str:
        """A pointer to the viewed values; in lanes, constants and gathered values are first copied to an array."""
        if self.real.lanes == 1 or (view.at is None and view.array not in self.constants):
            return self._place(view)
        temporary = self._temporary(view.size, tag)
        for k, value in enumerate(self._entries(view)):
            place = self._new("to")
            self._line(f"{place} = getelementptr inbounds {self.real.text}, ptr {temporary}, i64 {k}")
            self.lines.append(f"  store {self.real.text} {value}, ptr {place}")
        return temporary

    def _entry(self, view: View) -> str:
        """The register with the one number of an array that `view` refers to."""
        return self._entries(view)[0]

    def _entries(self, view: View) -> list[str]:
        """The registers with the numbers of an array that `view` refers to."""
        real = self.real
        if real.lanes == 1 or (view.at is None and view.array not in self.constants):
            start = self._place(view)
            return [self._loaded(real.text, real.text, start, str(k)) for k in range(view.size)]
        base, _ = self.arrays[view.array]
        if view.at is None:
            start = self._new("place")
            self._line(f"{start} = getelementptr inbounds {real.element}, ptr {base}, i64 {self._affine(view.offset)}")
            return [self._splat(self._loaded(real.element, real.element, start, str(k))) for k in range(view.size)]
        return self._gathered(view, base)

    def _gathered(self, view: View, base: str) -> list[str]:
        """The registers with the values of a view whose start differs from lane to lane; `base` is its array."""
        real = self.real
        index = real.of("i64")
        first = self._first(view)
        width, lane = 1, ""
        if view.array not in self.constants:  # lane k of entry e is number e W + k
            width = real.lanes
            lane = "<" + ", ".join(f"i64 {k}" for k in range(width)) + ">"
            scaled, shifted = self._new("scaled"), self._new("shifted")
            self._line(f"{scaled} = mul {index} {first}, splat (i64 {width})")
            self._line(f"{shifted} = add {index} {scaled}, {lane}")
            first = shifted
        starts = []
        for lane_number in range(real.lanes):
            start, place = self._new("start"), self._new("place")
            self._line(f"{start} = extractelement {index} {first}, i32 {lane_number}")
            self._line(f"{place} = getelementptr inbounds {real.element}, ptr {base}, i64 {start}")
            starts.append(place)
        whole = view.size - view.size % real.lanes if width == 1 else 0
        values = [value for k in range(0, whole, real.lanes) for value in self._transposed(starts, k)]
        for k in range(whole, view.size):
            value = "poison"
            for lane_number, place in enumerate(starts):
                one, more = self._loaded(real.element, real.element, place, str(k * width)), self._new("picked")
                self._line(f"{more} = insertelement {real.text} {value}, {real.element} {one}, i32 {lane_number}")
                value = more
            values.append(value)
        return values

    def _transposed(self, starts: list[str], first: int) -> list[str]:
        """The registers with W entries of a view, from entry `first` on; W is the number of lanes.

        The view has another start in each lane: `starts` are the pointers. The W entries of a lane are read as one
        vector, and these vectors are transposed by exchanging blocks of 1, 2, 4, ...
        """
        real, W = self.real, self.real.lanes
        rows = []
        for start in starts:
            place, row = self._new("at"), self._new("row")
            self._line(f"{place} = getelementptr inbounds {real.element}, ptr {start}, i64 {first}")
            self._line(f"{row} = load {real.text}, ptr {place}, align {real.bits // 8}")
            rows.append(row)
        block = 1
        while block < W:
            turned = rows.copy()
            for i in (i for i in range(W) if not i & block):
                low = [k if not k & block else W + k - block for k in range(W)]
                high = [W + k if k & block else k + block for k in range(W)]
                for at, lanes in ((i, low), (i | block, high)):
                    turned[at] = self._new("turned")
                    mask = ", ".join(f"i32 {k}" for k in lanes)
                    pair = f"{real.text} {rows[i]}, {real.text} {rows[i | block]}"
                    self._line(f"{turned[at]} = shufflevector {pair}, <{W} x i32> <{mask}>")
            rows, block = turned, 2 * block
        return rows

    def _first(self, view: View) -> str:
        """The register with the start index of a view that depends on data, per lane, clipped to stay in the array."""
        assert view.at is not None
        real, t, c = self.real, self.real.text, self.real.truth
        _, size = self.arrays[view.array]
        at = self._entry(view.at)
        offset = self._affine(view.offset)
        tag = f".{self._tag()}"
        given = f"%offset{tag}"
        self._line(f"{given} = sitofp i64 {offset} to {real.element}")
        spread = self._splat(given)
        zero, last = real.constant(0.0), real.constant(float(size - view.size))
        index = real.of("i64")
        self._line(f"%known{tag} = fcmp ord {t} {at}, zeroinitializer")
        self._line(f"%at{tag} = select {c} %known{tag}, {t} {at}, {t} {zero}")
        self._line(f"%far{tag} = fmul {t} %at{tag}, {real.constant(float(view.stride))}")
        self._line(f"%start{tag} = fadd {t} %far{tag}, {spread}")
        self._line(f"%under{tag} = fcmp olt {t} %start{tag}, {zero}")
        self._line(f"%raised{tag} = select {c} %under{tag}, {t} {zero}, {t} %start{tag}")
        self._line(f"%over{tag} = fcmp ogt {t} %raised{tag}, {last}")
        self._line(f"%kept{tag} = select {c} %over{tag}, {t} {last}, {t} %raised{tag}")
        self._line(f"%first{tag} = fptosi {t} %kept{tag} to {index}")
        return f"%first{tag}"

    def _affine(self, value: Affine) -> str:
        """A whole number that depends on loop counters, as an operand."""
        known = {name: int(held) for name, held in self.counters.items() if held.isdecimal()}
        total = str(value.constant + sum(known.get(name, 0) * coefficient for name, coefficient in value.terms))
        for name, coefficient in value.terms:
            if name in known:
                continue
            term = self.counters[name]
            if coefficient != 1:
                scaled = self._new("times")
                self._line(f"{scaled} = mul nsw i64 {term}, {coefficient}")
                term = scaled
            if total == "0":
                total = term
                continue
            summed = self._new("sum")
            self._line(f"{summed} = add nsw i64 {term}, {total}")
            total = summed
        return total

    # ── lines ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def _tag(self) -> int:
        self.count += 1
        return self.count

    def _new(self, name: str) -> str:
        return f"%{name}.{self._tag()}"

    def _labels(self, *names: str) -> tuple[str, ...]:
        tag = self._tag()
        return tuple(f"{name}{tag}" for name in names)

    def _temporary(self, size: int, tag: str) -> str:
        """A temporary array for one call; other calls use the same array for the same `tag` and size."""
        return self.memory.add(f"%temporary.{tag}.{size}", size)

    def _loaded(self, kind: str, step: str, start: str, entry: str) -> str:
        place, value = self._new("at"), self._new("value")
        self._line(f"{place} = getelementptr inbounds {step}, ptr {start}, i64 {entry}")
        self._line(f"{value} = load {kind}, ptr {place}")
        return value

    def _splat(self, value: str) -> str:
        """The register with a number copied to every lane."""
        real = self.real
        if real.lanes == 1:
            return value
        one, all_ = self._new("first"), self._new("all")
        self._line(f"{one} = insertelement {real.text} poison, {real.element} {value}, i32 0")
        mask = f"<{real.lanes} x i32> zeroinitializer"
        self._line(f"{all_} = shufflevector {real.text} {one}, {real.text} poison, {mask}")
        return all_
