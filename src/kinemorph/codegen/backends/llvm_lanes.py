"""A batch of states in SIMD lanes: W states side by side, from arrays in which every state is a row.

    batch         n states:  i1 batch(i64 n, outs, ins, strides), whether every number written is finite
      take.<size> W rows of a port, turned into one vector per entry
      chunk.0 ... the operations, on vectors
      give.<size> one vector per entry, turned back into W rows

Rows are turned by tiles of W rows and W/2 columns: half vectors are put together as they are loaded, then two of them
at a time are woven log2(W/2) times. A last tile that would reach past the row moves back and overlaps the one before. A
last block with less than W states has its last state in all lanes left over; it is read and written once more, so
nothing outside the arrays is touched and every state is computed in the same way wherever it stands.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.codegen.backends.llvm_chunks import output_refs, pointers
from kinemorph.codegen.backends.llvm_math import Real
from kinemorph.codegen.backends.llvm_memory import Arrays
from kinemorph.codegen.backends.llvm_module import Module
from kinemorph.codegen.loops import LoopProgram
from kinemorph.codegen.program import Port, Program


def emit_lanes(program: Program | LoopProgram, real: Real) -> str:
    """The module that evaluates batches of `program` in lanes."""
    heading = f"; {program.name!r} in {real.lanes} lanes of {real.precision}"
    module = Module(real)
    picks: list[Sequence[int]]
    if isinstance(program, LoopProgram):
        module.main(program)
        picks = [range(port.size) for port in program.outputs]
    else:  # each number once, where a symmetric matrix has it twice
        results = [{ref: k for k, ref in enumerate(dict.fromkeys(refs))} for refs in output_refs(program)]
        module.main(program, [tuple(kept) for kept in results])
        picks = [[kept[ref] for ref in refs] for kept, refs in zip(results, output_refs(program), strict=True)]
    code = [_take(size, real) for size in sorted({port.size for port in program.inputs} - {0})]
    code += [_give(f"give.{k}", entries, real) for k, entries in enumerate(picks) if entries]
    parts = [heading, module.text(), *code, _batch(program, real, [max(entries, default=0) + 1 for entries in picks])]
    parts.append("declare i64 @llvm.smin.i64(i64, i64)")
    if real.lanes > 1:
        parts.append(f"declare i1 @llvm.vector.reduce.and.v{real.lanes}i1({real.truth})")
    return "\n".join(parts)


def _batch(program: Program | LoopProgram, real: Real, results: Sequence[int]) -> str:
    """The loop over blocks; `results` says how many vectors each output has."""
    outs, ins = pointers(program)
    t = real.text
    rows = [f"ptr %rows.{p[1:]}" for p in [*outs, *ins]]
    strides = [f"i64 %stride{k}" for k in range(len(ins))]
    lines = [f"define zeroext i1 @batch({', '.join(['i64 %n', *rows, *strides])}) noinline nounwind {{", "start:"]
    memory = Arrays(real)
    for name, count in zip([*outs, *ins], [*results, *(port.size for port in program.inputs)], strict=True):
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
    for k, port in enumerate(program.outputs):
        lines += _given(k, port, real)
    lines.append(f"  %next = add i64 %first, {real.lanes}")
    lines += ["  %more = icmp slt i64 %next, %n", "  br i1 %more, label %block, label %done", "done:"]
    lines.append(f"  %total = phi {t} [ zeroinitializer, %start ], [ %sum{len(outs)}, %computed ]")
    lines.append(f"  %number = fcmp ord {t} %total, %total")
    all_of = f"call i1 @llvm.vector.reduce.and.v{real.lanes}i1({real.truth} %number)"
    lines.append(f"  %finite = {all_of if real.lanes > 1 else 'or i1 %number, false'}")
    return "\n".join([*lines, *memory.end(), "  ret i1 %finite", "}"])


def _taken(k: int, port: Port, real: Real) -> list[str]:
    """Lines that turn an input's rows; an input with one state for all (stride 0) is turned once."""
    if not port.size:
        return []
    return [
        f"  %moves{k} = icmp ne i64 %stride{k}, 0",
        f"  %fresh{k} = or i1 %begin, %moves{k}",
        f"  br i1 %fresh{k}, label %take{k}, label %taken{k}",
        f"take{k}:",
        f"  %in_offset{k} = mul i64 %first, %stride{k}",
        f"  %in_here{k} = getelementptr inbounds {real.element}, ptr %rows.in{k}, i64 %in_offset{k}",
        f"  call void @take.{port.size}(ptr %in{k}, ptr %in_here{k}, i64 %stride{k}, i64 %last)",
        f"  br label %taken{k}",
        f"taken{k}:",
    ]


def _given(k: int, port: Port, real: Real) -> list[str]:
    """Lines that turn an output back into rows and add what `give` answers."""
    t = real.text
    if not port.size:
        return [f"  %sum{k + 1} = fadd {t} %sum{k}, zeroinitializer"]
    return [
        f"  %out_offset{k} = mul i64 %first, {port.size}",
        f"  %out_here{k} = getelementptr inbounds {real.element}, ptr %rows.out{k}, i64 %out_offset{k}",
        f"  %zero{k} = call {t} @give.{k}(ptr %out{k}, ptr %out_here{k}, i64 %last)",
        f"  %sum{k + 1} = fadd {t} %sum{k}, %zero{k}",
    ]


class _Turn:
    """Writes a function that turns W rows of `size` numbers, tile by tile."""

    def __init__(self, size: int, real: Real) -> None:
        self.real = real
        self.size = size
        self.width = max(real.lanes // 2, 1)
        while self.width > size:
            self.width //= 2
        self.part = Real(real.precision, self.width)  # one row of a tile
        self.lines: list[str] = []

    def rows(self, stride: str) -> None:
        """The pointers %row0 ... to the rows; those after the last state are that state again."""
        for k in range(self.real.lanes):
            self.lines.append(f"  %index{k} = call i64 @llvm.smin.i64(i64 %last, i64 {k})")
            self.lines.append(f"  %offset{k} = mul i64 %index{k}, {stride}")
            self.lines.append(f"  %row{k} = getelementptr inbounds {self.real.element}, ptr %rows, i64 %offset{k}")

    def weave(self, vectors: list[str], tag: str) -> list[str]:
        """Exchanges the place of a vector among the `width` vectors with the place in its groups of `width` lanes."""
        t, lanes, width = self.real.text, self.real.lanes, self.width
        step = 1
        while step < width:
            low = [e if not e & step else lanes + e - step for e in range(lanes)]
            high = [e + step if not e & step else lanes + e for e in range(lanes)]
            woven = list(vectors)
            for a in range(width):
                if a & step:
                    continue
                for to, picks in ((a, low), (a + step, high)):
                    mask = ", ".join(f"i32 {pick}" for pick in picks)
                    name = f"%woven.{tag}.{step}.{to}"
                    pair = f"{t} {vectors[a]}, {t} {vectors[a + step]}"
                    self.lines.append(f"  {name} = shufflevector {pair}, <{lanes} x i32> <{mask}>")
                    woven[to] = name
            vectors = woven
            step *= 2
        return vectors


def _take(size: int, real: Real) -> str:
    """`take.<size>(lanes, rows, stride, last)`: W rows into `size` vectors."""
    turn = _Turn(size, real)
    lines, width, part, t = turn.lines, turn.width, turn.part.text, real.text
    turn.rows("%stride")

    def tile(column: str, tag: str) -> None:
        vectors = []
        for v in range(width):
            pieces = []
            for k in range(v, real.lanes, width):
                lines.append(f"  %at.{tag}.{k} = getelementptr inbounds {real.element}, ptr %row{k}, i64 {column}")
                lines.append(f"  %part.{tag}.{k} = load {part}, ptr %at.{tag}.{k}, align {real.bits // 8}")
                pieces.append(f"%part.{tag}.{k}")
            vectors.append(_joined(lines, pieces, width, real, f"{tag}.{v}"))
        for v, vector in enumerate(turn.weave(vectors, tag)):
            lines.append(f"  %column.{tag}.{v} = add i64 {column}, {v}")
            lines.append(f"  %to.{tag}.{v} = getelementptr inbounds {t}, ptr %lanes, i64 %column.{tag}.{v}")
            lines.append(f"  store {t} {vector}, ptr %to.{tag}.{v}")

    lines += ["  br label %tiles", "tiles:", "  %column = phi i64 [ 0, %0 ], [ %next, %tiles ]"]
    tile("%column", "a")
    lines += [f"  %next = add i64 %column, {width}", f"  %more = icmp sle i64 %next, {size - width}"]
    lines += ["  br i1 %more, label %tiles, label %rest", "rest:"]
    if size % width:
        tile(str(size - width), "b")
    parameters = "ptr noalias writeonly %lanes, ptr noalias readonly %rows, i64 %stride, i64 %last"
    body = "\n".join(lines)
    return f"define internal void @take.{size}({parameters}) noinline nounwind {{\n{body}\n  ret void\n}}"


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


def _give(name: str, picks: Sequence[int], real: Real) -> str:
    """`name(lanes, rows, last)`: vectors, entry k of a row from vector picks[k], into W rows.

    Answers zero, or NaN in lanes where a number is not finite.
    """
    size = len(picks)
    turn = _Turn(size, real)
    in_order = list(picks) == list(range(size))
    table = (
        ""
        if in_order
        else f"@picks.{name} = internal constant [{size} x i64] [{', '.join(f'i64 {k}' for k in picks)}]\n"
    )
    lines, width, part, t = turn.lines, turn.width, turn.part.text, real.text
    turn.rows(str(size))

    def tile(column: str, tag: str, sums: list[str]) -> list[str]:
        vectors, looked = [], []
        for v in range(width):
            lines.append(f"  %column.{tag}.{v} = add i64 {column}, {v}")
            source = f"%column.{tag}.{v}"
            if not in_order:
                lines.append(f"  %pick_at.{tag}.{v} = getelementptr inbounds i64, ptr @picks.{name}, i64 {source}")
                source = f"%pick.{tag}.{v}"
                lines.append(f"  {source} = load i64, ptr %pick_at.{tag}.{v}")
            lines.append(f"  %from.{tag}.{v} = getelementptr inbounds {t}, ptr %lanes, i64 {source}")
            lines.append(f"  %x.{tag}.{v} = load {t}, ptr %from.{tag}.{v}")
            lines.append(f"  %zero.{tag}.{v} = fmul contract {t} %x.{tag}.{v}, zeroinitializer")
            lines.append(f"  %sum.{tag}.{v} = fadd contract {t} {sums[v]}, %zero.{tag}.{v}")
            vectors.append(f"%x.{tag}.{v}")
            looked.append(f"%sum.{tag}.{v}")
        woven = turn.weave(vectors, tag)
        for k in range(real.lanes):
            v, first = k % width, k - k % width
            piece = woven[v]
            if real.lanes > 1 and width == 1:
                lines.append(f"  %part.{tag}.{k} = extractelement {t} {piece}, i32 {k}")
                piece = f"%part.{tag}.{k}"
            elif real.lanes > 1:
                mask = ", ".join(f"i32 {first + e}" for e in range(width))
                lines.append(f"  %part.{tag}.{k} = shufflevector {t} {piece}, {t} poison, <{width} x i32> <{mask}>")
                piece = f"%part.{tag}.{k}"
            lines.append(f"  %at.{tag}.{k} = getelementptr inbounds {real.element}, ptr %row{k}, i64 {column}")
            lines.append(f"  store {part} {piece}, ptr %at.{tag}.{k}, align {real.bits // 8}")
        return looked

    lines += ["  br label %tiles", "tiles:", "  %column = phi i64 [ 0, %0 ], [ %next, %tiles ]"]
    for v in range(width):
        lines.append(f"  %seen{v} = phi {t} [ zeroinitializer, %0 ], [ %sum.a.{v}, %tiles ]")
    sums = tile("%column", "a", [f"%seen{v}" for v in range(width)])
    lines += [f"  %next = add i64 %column, {width}", f"  %more = icmp sle i64 %next, {size - width}"]
    lines += ["  br i1 %more, label %tiles, label %rest", "rest:"]
    if size % width:
        sums = tile(str(size - width), "b", sums)
    total = sums[0]
    for v in range(1, width):
        lines.append(f"  %all{v} = fadd {t} {total}, {sums[v]}")
        total = f"%all{v}"
    parameters = "ptr noalias readonly %lanes, ptr noalias writeonly %rows, i64 %last"
    body = "\n".join(lines)
    return f"{table}define internal {t} @{name}({parameters}) noinline nounwind {{\n{body}\n  ret {t} {total}\n}}"
