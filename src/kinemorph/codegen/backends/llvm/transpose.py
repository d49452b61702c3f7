"""Transposition: W rows of numbers converted to one vector per entry, with one lane per row, and back.

    take.<width>   converts W rows of a port to one vector per entry
    give.<width>   converts one vector per entry back to W rows

Rows are read in tiles of W rows and W/2 columns, and written in tiles of W columns if they are long enough. Half
vectors are combined while they are loaded, which needs no shuffle; then pairs of vectors are interleaved log2(W/2)
times. A last tile that would reach past the end of the row is moved back and overlaps the one before. W rows are
written at the same time, too many for the CPU's own prefetching: so each tile prefetches memory of a later tile.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.codegen.backends.llvm.math import Real

AHEAD = 256  # [byte] distance from the memory that is written to the memory that is prefetched


def woven(
    lines: list[str], vectors: Sequence[str], real: Real, width: int, tag: str, wanted: int | None = None
) -> list[str]:
    """Writes code that transposes squares in `width` vectors with groups of `width` lanes; returns the new vectors.

    Lane i of a group in vector k goes to lane k of that group in vector i. The instructions are added to `lines`; `tag`
    makes their names unique. Only the first `wanted` vectors are returned.
    """
    t, lanes = real.text, real.lanes
    made: dict[tuple[int, int], str] = {(1, k): vector for k, vector in enumerate(vectors)}

    def vector(step: int, to: int) -> str:
        """The register of vector number `to` after squares of `step` x `step` lanes are transposed."""
        if (step, to) not in made:
            half = step // 2
            pair = vector(half, to & ~half), vector(half, to | half)
            if to & half:
                picks = [e + half if not e & half else lanes + e for e in range(lanes)]
            else:
                picks = [e if not e & half else lanes + e - half for e in range(lanes)]
            made[step, to] = "poison"
            if pair != ("poison", "poison"):
                made[step, to] = f"%woven{tag}.{step}.{to}"
                mask = ", ".join(f"i32 {pick}" for pick in picks)
                shuffled = f"shufflevector {t} {pair[0]}, {t} {pair[1]}, <{lanes} x i32> <{mask}>"
                lines.append(f"  {made[step, to]} = {shuffled}")
        return made[step, to]

    return [vector(width, to) for to in range(width if wanted is None else wanted)]


class _Turn:
    """Writes a function that transposes W rows, tile by tile; a tile has `width` columns."""

    def __init__(self, width: int, real: Real) -> None:
        self.real = real
        self.width = width
        self.part = Real(real.precision, width)  # one row of a tile
        self.lines: list[str] = []

    def rows(self, stride: str) -> None:
        """Adds lines that compute pointers %row0, %row1, ... to the W rows; rows after the last one point to it."""
        for k in range(self.real.lanes):
            self.lines.append(f"  %index{k} = call i64 @llvm.smin.i64(i64 %last, i64 {k})")
            self.lines.append(f"  %offset{k} = mul i64 %index{k}, {stride}")
            self.lines.append(f"  %row{k} = getelementptr inbounds {self.real.element}, ptr %rows, i64 %offset{k}")

    def weave(self, vectors: list[str], tag: str) -> list[str]:
        """Adds lines that transpose squares of `width` lanes; see `woven`."""
        return woven(self.lines, vectors, self.real, self.width, tag)

    def begin(self, columns: int | None = None, kept: Sequence[str] = ()) -> None:
        """Adds lines for the start of the loop over tiles of `columns` columns; %column is the first column of a tile.

        `kept` are phi instructions for values that pass from tile to tile.
        """
        self.columns = columns or self.width
        self.lines += [f"  %end = sub i64 %size, {self.columns}", "  br label %next", "next:"]
        self.lines += ["  %column = phi i64 [ 0, %0 ], [ %here, %next ]", *kept]

    def end(self) -> None:
        """Adds lines for the end of the loop over tiles; a last tile that would pass the row's end is moved back."""
        self.lines.append(f"  %beyond = add i64 %column, {self.columns}")
        self.lines.append("  %here = call i64 @llvm.smin.i64(i64 %beyond, i64 %end)")
        self.lines.append("  %more = icmp slt i64 %column, %end")
        self.lines += ["  br i1 %more, label %next, label %done", "done:"]

    def whole_rows(self) -> tuple[list[str], list[str]]:
        """Adds lines that read W columns of W vectors and transpose them; each vector is read in two halves.

        The pointers %from0, %from1, ... have to be set before. Returns the registers read, and those of the W rows.
        """
        half = self.part.text
        read, rows = [], []
        for h in range(2):
            vectors = []
            for v in range(self.width):
                pieces = [f"%half{h}.{e}" for e in (v, v + self.width)]
                for e, piece in zip((v, v + self.width), pieces, strict=True):
                    self.lines.append(f"  {piece}.at = getelementptr inbounds {half}, ptr %from{e}, i64 {h}")
                    self.lines.append(f"  {piece} = load {half}, ptr {piece}.at")
                vectors.append(_joined(self.lines, pieces, self.width, self.real, f"{h}.{v}"))
            read += vectors
            rows += self.weave(vectors, f".{h}")
        return read, rows

    def part_rows(self) -> tuple[list[str], list[str]]:
        """Adds lines that read fewer than W columns of W vectors and transpose them; see `whole_rows`."""
        t, lanes, width = self.real.text, self.real.lanes, self.width
        vectors = [f"%x{v}" for v in range(width)]
        self.lines += [f"  %x{v} = load {t}, ptr %from{v}" for v in range(width)]
        woven = self.weave(vectors, "")
        if lanes == 1:
            return vectors, woven
        for k in range(lanes):
            if width == 1:
                self.lines.append(f"  %part{k} = extractelement {t} {woven[0]}, i32 {k}")
            else:
                mask = ", ".join(f"i32 {k - k % width + e}" for e in range(width))
                pair = f"{t} {woven[k % width]}, {t} poison"
                self.lines.append(f"  %part{k} = shufflevector {pair}, <{width} x i32> <{mask}>")
        return vectors, [f"%part{k}" for k in range(lanes)]


def columns(size: int, most: int) -> int:
    """The number of columns of a tile in rows of `size` numbers: `most`, halved until it is not above `size`."""
    width = max(most, 1)
    while width > size:
        width //= 2
    return width


def take(width: int, real: Real) -> str:
    """The definition of `take.<width>(lanes, rows, size, stride, last)`, which converts W rows to `size` vectors.

    Rows are `stride` numbers apart, and `last` is the number of the last row; lanes after it repeat it.
    """
    turn = _Turn(width, real)
    lines, t = turn.lines, real.text
    turn.rows("%stride")
    turn.begin()
    vectors = []
    for v in range(width):
        pieces = []
        for k in range(v, real.lanes, width):
            lines.append(f"  %at{k} = getelementptr inbounds {real.element}, ptr %row{k}, i64 %column")
            lines.append(f"  %part{k} = load {turn.part.text}, ptr %at{k}, align {real.bits // 8}")
            pieces.append(f"%part{k}")
        vectors.append(_joined(lines, pieces, width, real, f"{v}"))
    lines.append(f"  %to = getelementptr inbounds {t}, ptr %lanes, i64 %column")
    for v, vector in enumerate(turn.weave(vectors, "")):
        lines.append(f"  %to{v} = getelementptr inbounds {t}, ptr %to, i64 {v}")
        lines.append(f"  store {t} {vector}, ptr %to{v}")
    turn.end()
    parameters = "ptr noalias writeonly %lanes, ptr noalias readonly %rows, i64 %size, i64 %stride, i64 %last"
    body = "\n".join(lines)
    return f"define internal void @take.{width}({parameters}) noinline nounwind {{\n{body}\n  ret void\n}}"


def _joined(lines: list[str], pieces: list[str], width: int, real: Real, tag: str) -> str:
    """One vector of pieces of `width` lanes, one after the other; instructions are added to `lines`."""
    if len(pieces) == 1:
        return pieces[0]
    if width == 1:
        vector = "poison"
        for k, piece in enumerate(pieces):
            lines.append(f"  %i.{tag}.{k} = insertelement {real.text} {vector}, {real.element} {piece}, i32 {k}")
            vector = f"%i.{tag}.{k}"
        return vector
    while len(pieces) > 1:
        joined = []
        for k in range(0, len(pieces), 2):
            name = f"%j.{tag}.{width}.{k}"
            kind = f"<{width} x {real.element}>"
            mask = ", ".join(f"i32 {e}" for e in range(2 * width))
            pair = f"{kind} {pieces[k]}, {kind} {pieces[k + 1]}"
            lines.append(f"  {name} = shufflevector {pair}, <{2 * width} x i32> <{mask}>")
            joined.append(name)
        pieces, width = joined, 2 * width
    return pieces[0]


def give(width: int, real: Real) -> str:
    """The definition of `give.<width>(lanes, rows, size, last, picks)`, which converts vectors to W rows.

    Entry k of the rows is from vector picks[k]; `last` is the number of the last row. It returns a vector of zeros,
    with NaN in a lane if a number of this lane is not finite.
    """
    whole = width == real.lanes > 1  # a row of a tile is a whole vector
    turn = _Turn(width // 2 if whole else width, real)
    lines, t = turn.lines, real.text
    turn.rows("%size")
    sums = min(width, 4)
    turn.begin(width, [f"  %seen{v} = phi {t} [ zeroinitializer, %0 ], [ %sum{v}, %next ]" for v in range(sums)])
    lines.append("  %pick = getelementptr inbounds i32, ptr %picks, i64 %column")
    for v in range(width):
        lines.append(f"  %pick_at{v} = getelementptr inbounds i32, ptr %pick, i64 {v}")
        lines.append(f"  %pick{v} = load i32, ptr %pick_at{v}")
        lines.append(f"  %from{v} = getelementptr inbounds {t}, ptr %lanes, i32 %pick{v}")
    read, rows = turn.whole_rows() if whole else turn.part_rows()
    seen = [f"%seen{v}" for v in range(sums)]
    for v, vector in enumerate(read):
        place = v % sums
        name = f"%sum{place}" if v + sums >= width else f"%partial{v}"
        checked = f"{t} {vector}, {t} zeroinitializer, {t} {seen[place]}"
        lines.append(f"  {name} = call {t} @llvm.fmuladd.{real.suffix}({checked})")
        seen[place] = name
    for k, row in enumerate(rows):
        lines.append(f"  %at{k} = getelementptr inbounds {real.element}, ptr %row{k}, i64 %column")
        lines.append(f"  %ahead{k} = getelementptr i8, ptr %at{k}, i64 {AHEAD}")
        lines.append(f"  call void @llvm.prefetch.p0(ptr %ahead{k}, i32 1, i32 3, i32 1)")
        lines.append(f"  store {Real(real.precision, width).text} {row}, ptr %at{k}, align {real.bits // 8}")
    turn.end()
    total = "%sum0"
    for v in range(1, sums):
        lines.append(f"  %all{v} = fadd {t} {total}, %sum{v}")
        total = f"%all{v}"
    parameters = "ptr noalias readonly %lanes, ptr noalias writeonly %rows, i64 %size, i64 %last"
    parameters += ", ptr noalias readonly %picks"
    body = "\n".join(lines)
    return f"define internal {t} @give.{width}({parameters}) noinline nounwind {{\n{body}\n  ret {t} {total}\n}}"
