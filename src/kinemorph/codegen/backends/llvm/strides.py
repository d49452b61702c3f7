"""Numbers at a fixed stride converted to the lanes of vectors in LLVM, and back: a function for each layout.

    take_runs...(vectors, runs)    lane k of vector e is number e of run k; runs begin a stride apart
    give_runs...(vectors, runs)    the reverse

A run is a sequence of consecutive numbers. If all runs are close together in memory, the memory is read in pieces and
the lanes of every vector are selected from these; else each run is read as a row, and square blocks are transposed. The
method with fewer shuffles is used, since a CPU executes one shuffle at a time. Lanes beyond the last run repeat it and
are never written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from kinemorph.codegen.backends.llvm.math import Real
from kinemorph.codegen.backends.llvm.transpose import woven

INLINED = 150  # a function is inlined if its lines, times the number of its uses, are at most this many


class Runs(NamedTuple):
    """A conversion between `live` runs of `size` numbers, `stride` apart in memory, and `size` vectors of a type.

    It is from vectors to runs if `giving`, else from runs to vectors.
    """

    giving: bool
    size: int
    stride: int
    live: int
    real: Real

    @property
    def name(self) -> str:
        """The name of the function that does the conversion."""
        way, stride = "give" if self.giving else "take", str(self.stride).replace("-", "m")
        return f"{way}_runs.{self.size}.{stride}.{self.live}.{self.real.suffix}"

    def definition(self, uses: int) -> str:
        """The LLVM function that does this conversion; it is inlined if it is short for its number of calls, `uses`."""
        lines = _Give(self).lines if self.giving else _Take(self).lines
        inlined = "alwaysinline" if uses == 1 or uses * len(lines) <= INLINED else "noinline"
        head = f"define internal void @{self.name}(ptr noalias %vectors, ptr noalias %runs) {inlined} nounwind {{"
        return "\n".join([head, *lines, "  ret void", "}"])


class _Turn:
    """Writes the lines of a function that converts runs to vectors, or vectors to runs."""

    def __init__(self, runs: Runs) -> None:
        self.runs, self.real, self.lanes = runs, runs.real, runs.real.lanes
        self.lines: list[str] = []
        # the number of shuffles if square blocks are transposed
        self.squares = math.ceil(runs.size / self.lanes) * self.lanes * (self.lanes.bit_length() - 1)

    def pieces(self, span: int) -> list[int]:
        """The starts of vectors that cover `span` consecutive numbers; the last one may overlap the one before."""
        return [*range(0, span - self.lanes, self.lanes), max(span - self.lanes, 0)]

    def picked(self, vectors: Sequence[str], picks: Sequence[tuple[int, int]]) -> str:
        """The register of a vector whose lane k is picks[k]: (number of a vector in `vectors`, lane of that vector).

        If there are fewer picks than lanes, the last lanes are undefined.
        """
        used = sorted({number for number, _ in picks})
        kept = [lane if number == used[0] else None for number, lane in picks]
        made = vectors[used[0]]
        if len(used) == 1:
            return made if kept == list(range(self.lanes)) else self.shuffled(made, "poison", kept)
        for other in used[1:]:
            kept = [
                self.lanes + lane if number == other else place
                for (number, lane), place in zip(picks, kept, strict=True)
            ]
            made = self.shuffled(made, vectors[other], kept)
            kept = [None if place is None else k for k, place in enumerate(kept)]
        return made

    def shuffled(self, one: str, other: str, picks: Sequence[int | None]) -> str:
        padded = [*picks, *[None] * (self.lanes - len(picks))]
        listed = ", ".join(f"i32 {'poison' if pick is None else pick}" for pick in padded)
        t = self.real.text
        return self.new(f"shufflevector {t} {one}, {t} {other}, <{self.lanes} x i32> <{listed}>")

    def place(self, base: str, step: str, offset: int) -> str:
        return self.new(f"getelementptr inbounds {step}, ptr {base}, i64 {offset}")

    def new(self, text: str) -> str:
        self.lines.append(f"  %x{len(self.lines)} = {text}")
        return f"%x{len(self.lines) - 1}"


class _Take(_Turn):
    """Writes the LLVM function that reads runs, sequences of consecutive numbers in memory, into SIMD vectors."""

    def __init__(self, runs: Runs) -> None:
        super().__init__(runs)
        starts = [runs.stride * min(lane, runs.live - 1) for lane in range(self.lanes)]
        first, span = min(starts), max(starts) - min(starts) + runs.size
        begins = self.pieces(span)
        if runs.size * max(len(begins) - 1, 1) <= self.squares:
            pieces = [self.piece(first + begin, min(span, self.lanes)) for begin in begins]
            for entry in range(runs.size):
                places = [start - first + entry for start in starts]
                numbers = [min(place // self.lanes, len(begins) - 1) for place in places]
                picks = [(number, place - begins[number]) for number, place in zip(numbers, places, strict=True)]
                self.store(entry, self.picked(pieces, picks))
            return
        for column in range(0, runs.size, self.lanes):
            width = min(runs.size - column, self.lanes)
            rows = [self.piece(start + column, width) for start in starts[: runs.live]]
            rows += [rows[-1]] * (self.lanes - runs.live)
            for k, vector in enumerate(woven(self.lines, rows, self.real, self.lanes, f".{column}", width)):
                self.store(column + k, vector)

    def piece(self, offset: int, width: int) -> str:
        """The register of a vector whose first lanes are the `width` numbers in memory from index `offset` on."""
        real, kind = self.real, Real(self.real.precision, width)
        at = self.place("%runs", real.element, offset)
        value = self.new(f"load {kind.text}, ptr {at}, align {real.bits // 8}")
        if width == self.lanes:
            return value
        if width == 1:
            return self.new(f"insertelement {real.text} poison, {real.element} {value}, i32 0")
        picks = ", ".join(f"i32 {k if k < width else 'poison'}" for k in range(self.lanes))
        return self.new(f"shufflevector {kind.text} {value}, {kind.text} poison, <{self.lanes} x i32> <{picks}>")

    def store(self, entry: int, vector: str) -> None:
        self.lines.append(f"  store {self.real.text} {vector}, ptr {self.place('%vectors', self.real.text, entry)}")


class _Give(_Turn):
    """Writes the LLVM function that stores SIMD vectors as runs, sequences of consecutive numbers in memory."""

    def __init__(self, runs: Runs) -> None:
        super().__init__(runs)
        real, size = self.real, runs.size
        places = [self.place("%vectors", real.text, entry) for entry in range(size)]
        vectors = [self.new(f"load {real.text}, ptr {place}") for place in places]
        span = size * runs.live
        begins = self.pieces(span)
        if runs.stride == size and len(begins) * (min(size, self.lanes) - 1) <= self.squares:
            for begin in begins:  # runs follow each other without a gap
                width = min(self.lanes, span)
                found = [divmod(begin + k, size) for k in range(width)]
                self.store(begin, self.picked(vectors, [(entry, run) for run, entry in found]), width)
            return
        for column in range(0, size, self.lanes):
            width = min(size - column, self.lanes)
            square = [*vectors[column : column + width], *["poison"] * (self.lanes - width)]
            for run, row in enumerate(woven(self.lines, square, real, self.lanes, f".{column}", runs.live)):
                self.store(runs.stride * run + column, row, width)

    def store(self, offset: int, vector: str, width: int) -> None:
        """Adds lines that store the first `width` lanes of a vector in memory, from index `offset` on."""
        real, kind = self.real, Real(self.real.precision, width)
        if width == 1:
            vector = self.new(f"extractelement {real.text} {vector}, i32 0")
        elif width < self.lanes:
            picks = ", ".join(f"i32 {k}" for k in range(width))
            pair = f"{real.text} {vector}, {real.text} poison"
            vector = self.new(f"shufflevector {pair}, <{width} x i32> <{picks}>")
        at = self.place("%runs", real.element, offset)
        self.lines.append(f"  store {kind.text} {vector}, ptr {at}, align {real.bits // 8}")
