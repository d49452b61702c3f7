"""Numbers a stride apart as the lanes of vectors in LLVM, and back.

Lane k of vector e is number e of run k; runs begin a stride apart. Where all runs lie in a short stretch of memory, it
is read in pieces and every vector picked out of them; else each run is read as a row and squares are turned. Fewest
shuffles decide, since a CPU does one at a time. Lanes beyond the last run repeat it and are never written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinemorph.codegen.backends.llvm_math import Real
from kinemorph.codegen.backends.llvm_turning import woven
from kinemorph.codegen.backends.llvm_views import Views


class Strides(Views):
    """The part of a loop writer that turns runs into lanes."""

    def _lanes_of_runs(self, start: str, stride: int, size: int, real: Real, live: int) -> list[str]:
        """`size` vectors, from `live` runs of `size` numbers."""
        runs = [stride * min(lane, live - 1) for lane in range(real.lanes)]
        first, span = min(runs), max(runs) - min(runs) + size
        begins = _pieces(span, real)
        if size * max(len(begins) - 1, 1) <= _of_squares(size, real):
            pieces = [self._piece(start, first + begin, min(span, real.lanes), real) for begin in begins]
            places = [[run - first + entry for run in runs] for entry in range(size)]
            return [self._picked(pieces, [_found(place, begins, real) for place in row], real) for row in places]
        vectors: list[str] = []
        for column in range(0, size, real.lanes):
            width = min(size - column, real.lanes)
            rows = [self._piece(start, stride * lane + column, width, real) for lane in range(live)]
            rows += [rows[-1]] * (real.lanes - live)
            vectors += woven(self.lines, rows, real, real.lanes, f".{self._tag()}")[:width]
        return vectors

    def _runs_of_lanes(self, start: str, stride: int, vectors: Sequence[str], real: Real, live: int) -> None:
        """Writes the first `live` lanes of vectors as runs."""
        size, lanes = len(vectors), real.lanes
        span = size * live
        begins = _pieces(span, real)
        if stride == size and len(begins) * (min(size, lanes) - 1) <= _of_squares(size, real):
            for begin in begins:
                width = min(lanes, span)
                picks = [divmod(begin + k, size)[::-1] for k in range(width)]
                self._store_piece(start, begin, self._picked(vectors, picks, real), width, real)
            return
        for column in range(0, size, lanes):
            width = min(size - column, lanes)
            square = [*vectors[column : column + width], *["poison"] * (lanes - width)]
            rows = woven(self.lines, square, real, lanes, f".{self._tag()}")
            for lane in range(live):
                self._store_piece(start, stride * lane + column, rows[lane], width, real)

    def _picked(self, vectors: Sequence[str], picks: Sequence[tuple[int, int]], real: Real) -> str:
        """A vector of (number of a vector, its lane) for every lane, the last ones open where fewer are given."""
        used = sorted({number for number, _ in picks})
        kept = [lane if number == used[0] else None for number, lane in picks]
        made = vectors[used[0]]
        if len(used) == 1:
            same = kept == list(range(real.lanes))
            return made if same else self._shuffled(made, "poison", kept, real)
        for other in used[1:]:
            kept = [
                real.lanes + lane if number == other else place
                for (number, lane), place in zip(picks, kept, strict=True)
            ]
            made = self._shuffled(made, vectors[other], kept, real)
            kept = [None if place is None else k for k, place in enumerate(kept)]
        return made

    def _shuffled(self, one: str, other: str, picks: Sequence[int | None], real: Real) -> str:
        name = self._new("shuffled")
        padded = [*picks, *[None] * (real.lanes - len(picks))]
        listed = ", ".join(f"i32 {'poison' if pick is None else pick}" for pick in padded)
        pair = f"{real.text} {one}, {real.text} {other}"
        self._line(f"{name} = shufflevector {pair}, <{real.lanes} x i32> <{listed}>")
        return name

    def _piece(self, start: str, offset: int, width: int, real: Real) -> str:
        """`width` numbers from a place on, at the front of a vector."""
        kind = Real(real.precision, width)
        place, value = self._new("from"), self._new("piece")
        self._line(f"{place} = getelementptr inbounds {real.element}, ptr {start}, i64 {offset}")
        self._line(f"{value} = load {kind.text}, ptr {place}, align {real.bits // 8}")
        if width == real.lanes:
            return value
        wide = self._new("wide")
        if width == 1:
            self._line(f"{wide} = insertelement {real.text} poison, {real.element} {value}, i32 0")
        else:
            picks = ", ".join(f"i32 {k if k < width else 'poison'}" for k in range(real.lanes))
            pair = f"{kind.text} {value}, {kind.text} poison"
            self._line(f"{wide} = shufflevector {pair}, <{real.lanes} x i32> <{picks}>")
        return wide

    def _store_piece(self, start: str, offset: int, vector: str, width: int, real: Real) -> None:
        """Writes the first `width` numbers of a vector."""
        kind = Real(real.precision, width)
        if width < real.lanes:
            part = self._new("part")
            if width == 1:
                self._line(f"{part} = extractelement {real.text} {vector}, i32 0")
            else:
                picks = ", ".join(f"i32 {k}" for k in range(width))
                pair = f"{real.text} {vector}, {real.text} poison"
                self._line(f"{part} = shufflevector {pair}, <{width} x i32> <{picks}>")
            vector = part
        place = self._new("to")
        self._line(f"{place} = getelementptr inbounds {real.element}, ptr {start}, i64 {offset}")
        self.lines.append(f"  store {kind.text} {vector}, ptr {place}, align {real.bits // 8}")


def _pieces(span: int, real: Real) -> list[int]:
    """Where vectors begin that cover a stretch; the last one overlaps the one before."""
    return [*range(0, span - real.lanes, real.lanes), max(span - real.lanes, 0)]


def _found(place: int, begins: Sequence[int], real: Real) -> tuple[int, int]:
    """The piece that holds a place of the stretch, and the lane there."""
    number = min(place // real.lanes, len(begins) - 1)
    return number, place - begins[number]


def _of_squares(size: int, real: Real) -> int:
    """How many shuffles it takes to turn rows of `size` numbers."""
    return math.ceil(size / real.lanes) * real.lanes * (real.lanes.bit_length() - 1)
