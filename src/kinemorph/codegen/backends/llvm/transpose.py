"""Rows of numbers turned into vectors of one entry each, and back.

    take.<width>   W rows of a port, turned into one vector per entry
    give.<width>   one vector per entry, turned back into W rows

Rows are read by tiles of W rows and W/2 columns, and written by tiles of W columns where they are long enough: half
vectors are put together as they are loaded, which the load ports do, then two of them at a time are woven log2(W/2)
times. A last tile that would reach past the row moves back and overlaps the one before. W rows are written at once, too
many places for the CPU to foresee: so each tile asks for the memory of one further on.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.codegen.backends.llvm.math import Real

AHEAD = 256  # bytes: how far in front of what is written memory is asked for


def woven(
    lines: list[str], vectors: Sequence[str], real: Real, width: int, tag: str, wanted: int | None = None
) -> list[str]:
    """Vectors with their place among `width` of them exchanged with the place in their groups of `width` lanes.

    What that takes is added to the lines; `tag` makes its names differ from others. Only the first `wanted` are made.
    """
    t, lanes = real.text, real.lanes
    made: dict[tuple[int, int], str] = {(1, k): vector for k, vector in enumerate(vectors)}

    def vector(step: int, to: int) -> str:
        """Vector `to` once groups of `step` lanes are exchanged."""
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
    """Writes a function that turns W rows, tile by tile; a tile has `width` columns."""

    def __init__(self, width: int, real: Real) -> None:
        self.real = real
        self.width = width
        self.part = Real(real.precision, width)  # one row of a tile
        self.lines: list[str] = []

    def rows(self, stride: str) -> None:
        """The pointers %row0 ... to the rows; those after the last state are that state again."""
        for k in range(self.real.lanes):
            self.lines.append(f"  %index{k} = call i64 @llvm.smin.i64(i64 %last, i64 {k})")
            self.lines.append(f"  %offset{k} = mul i64 %index{k}, {stride}")
            self.lines.append(f"  %row{k} = getelementptr inbounds {self.real.element}, ptr %rows, i64 %offset{k}")

    def weave(self, vectors: list[str], tag: str) -> list[str]:
        """Exchanges the place of a vector among the `width` vectors with the place in its groups of `width` lanes."""
        return woven(self.lines, vectors, self.real, self.width, tag)

    def begin(self, columns: int | None = None, kept: Sequence[str] = ()) -> None:
        """The head of the loop over tiles; %column is the first of `columns`, `kept` are values it hands on."""
        self.columns = columns or self.width
        self.lines += [f"  %end = sub i64 %size, {self.columns}", "  br label %next", "next:"]
        self.lines += ["  %column = phi i64 [ 0, %0 ], [ %here, %next ]", *kept]

    def end(self) -> None:
        """The end of the loop; a last tile that would reach past the row moves back."""
        self.lines.append(f"  %beyond = add i64 %column, {self.columns}")
        self.lines.append("  %here = call i64 @llvm.smin.i64(i64 %beyond, i64 %end)")
        self.lines.append("  %more = icmp slt i64 %column, %end")
        self.lines += ["  br i1 %more, label %next, label %done", "done:"]

    def whole_rows(self) -> tuple[list[str], list[str]]:
        """Reads the W columns at %from0 ... by halves: what was read, and the W rows they make."""
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
        """Reads the few columns at %from0 ...: what was read, and the W short rows they make."""
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
    """How many columns a tile has in rows of `size` numbers."""
    width = max(most, 1)
    while width > size:
        width //= 2
    return width


def take(width: int, real: Real) -> str:
    """`take.<width>(lanes, rows, size, stride, last)`: W rows into `size` vectors."""
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
    """Equal pieces one after the other as one vector."""
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
    """`give.<width>(lanes, rows, size, last, picks)`: entry k of W rows from vector picks[k].

    Answers zeros, a NaN among them where a number is not finite.
    """
    whole = width == real.lanes > 1  # rows of tiles are vectors
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
        lines.append(f"  %zero{v} = fmul contract {t} {vector}, zeroinitializer")
        lines.append(f"  {name} = fadd contract {t} {seen[place]}, %zero{v}")
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
