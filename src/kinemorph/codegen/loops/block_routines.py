"""Block ops as loop programs: every backend that emits code computes blocks with these routines.

Each routine takes the block's arguments as one array `x` and writes its results to one array `y`, in the order that
`vocabulary.blocks` states. It follows the definition there step by step; its innermost loops run along rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.row_sums import RowSum
from kinemorph.codegen.loops.complementarity import complementarity
from kinemorph.codegen.loops.coulomb_cone import coulomb_cone
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import Affine, LoopProgram, View
from kinemorph.codegen.loops.pivoting import longest_column
from kinemorph.errors import UnsupportedError
from kinemorph.vocabulary.blocks import Block, LeastSquares, Solve, Table
from kinemorph.vocabulary.complementarity import TIE, Complementarity
from kinemorph.vocabulary.coulomb_cone import CoulombCone
from kinemorph.vocabulary.grid_surfaces import NEAR, STEPS, Bicubic, Grid, NearestPoint, cell_partials, newton_step


@lru_cache(maxsize=256)
def routine(block: Block, *, in_lanes: bool = False) -> LoopProgram:
    """The loop program that computes a block: input `x` (n_in,), output `y` (n_out,).

    `in_lanes` says that SIMD lanes have a state each, so that rows of tables do not run in them.
    """
    loop = LoopBuilder(block.label, {"x": (block.n_in,)}, {"y": (block.n_out,)})
    if in_lanes and isinstance(block, RowSum) and block.gate is not None:
        _row_by_row(block, loop)
    else:
        _WRITERS[type(block)](block, loop)
    return loop.program()


LEAST_TOLERANCE = 1e-5  # the smallest rank tolerance in float32: a hundred times its rounding error


def check_precision(program: Program | LoopProgram, precision: str) -> None:
    """Raises UnsupportedError if a program has a block whose tolerance is too small for float32."""
    if precision != "float32":
        return
    if isinstance(program, LoopProgram):
        for called in program.programs:
            check_precision(called, precision)
        return
    for block in program.blocks:
        if isinstance(block, LeastSquares) and block.tolerance < LEAST_TOLERANCE:
            raise UnsupportedError(
                f"program '{program.name}': {block.label} finds the rank with a tolerance of {block.tolerance:.0e}, "
                f"which float32 cannot resolve. Use float64, or a tolerance of {LEAST_TOLERANCE:.0e} or more."
            )
        if isinstance(block, (Complementarity, CoulombCone)):
            raise UnsupportedError(
                f"program '{program.name}': {block.label} compares ratios to {TIE:.0e}, which float32 cannot resolve. "
                "Use float64."
            )


def _minus_product(a: Any, b: Any, c: Any) -> Any:
    return a - b * c


def _plus_product(a: Any, b: Any, c: Any) -> Any:
    return a + b * c


def _solve(block: Solve, loop: LoopBuilder) -> None:
    """Writes code that solves A X = B for symmetric A: elimination on the upper triangle, then back substitution."""
    n, k = block.n, block.k
    x = loop["x"]
    X = View("y", (n, k), Affine(0))
    U = loop.buffer("U", (n, n))
    inverse, factor = loop.buffer("inverse"), loop.buffer("factor")
    for i in range(n):  # the given rows of the lower triangle are columns of the upper one
        with loop.repeat(i + 1) as r:
            loop.copy(U[r, i], x[r + i * (i + 1) // 2])
    loop.copy(loop["y"], x.part(n * (n + 1) // 2, n * k))
    with loop.repeat(n) as j:
        loop.let(inverse, lambda pivot: 1.0 / pivot, U[j, j])
        with loop.repeat(j + 1, n) as r:
            loop.let(factor, lambda a, b: a * b, U[j, r], inverse)
            with loop.repeat(r, n) as c:
                loop.let(U[r, c], _minus_product, U[r, c], factor, U[j, c])
            with loop.repeat(k) as c:
                loop.let(X[r, c], _minus_product, X[r, c], factor, X[j, c])
    with loop.repeat(n) as done:
        j = n - 1 - done
        with loop.repeat(j + 1, n) as r, loop.repeat(k) as c:
            loop.let(X[j, c], _minus_product, X[j, c], U[j, r], X[r, c])
        with loop.repeat(k) as c:
            loop.let(X[j, c], lambda a, pivot: a / pivot, X[j, c], U[j, j])


def _least_squares(block: LeastSquares, loop: LoopBuilder) -> None:
    """Writes code that finds the least-squares solution of least norm of A X = B.

    A = Q R with pivoted columns and Y = Q^T B; then R = T Z by orthogonalizing its rows, with T^-1 applied to Y; then
    X = Z^T Y.
    """
    m, n, k = block.m, block.n, block.k
    steps, tolerance = min(m, n), block.tolerance
    x, X, rank = loop["x"], View("y", (n, k), Affine(0)), loop["y"][n * k]
    A, B = loop.buffer("A", (m, n)), loop.buffer("B", (m, k))
    R, Y = loop.buffer("R", (steps, n)), loop.buffer("Y", (steps, k))
    q, along, scale = loop.buffer("q", (m,)), loop.buffer("along", (n,)), loop.buffer("scale")
    loop.copy(A, x.part(0, m * n))
    loop.copy(B, x.part(m * n, m * k))
    places = loop.constant("places", range(n))

    def zero(view: View) -> None:
        with loop.repeat(view.size) as c:
            loop.let(view[c], lambda: 0.0)

    loop.let(rank, lambda: 0.0)
    with loop.repeat(steps) as j:
        best, _ = longest_column(loop, A, places, tolerance)
        loop.let(rank, lambda r, s: r + (s > 0.0), rank, scale)
        with loop.repeat(m) as i:
            loop.let(q[i], lambda s, row: (s > 0.0).where(s * row, 0.0), scale, A[i].picked(best[1]))
        for _ in range(2):
            zero(along)
            with loop.repeat(m) as i, loop.repeat(n) as c:
                loop.let(along[c], _plus_product, along[c], q[i], A[i, c])
            with loop.repeat(m) as i, loop.repeat(n) as c:
                loop.let(A[i, c], _minus_product, A[i, c], q[i], along[c])
            with loop.repeat(n) as c:
                loop.let(R[j, c], lambda a, b: a + b, R[j, c], along[c])
        with loop.repeat(m) as i, loop.repeat(k) as c:
            loop.let(Y[j, c], _plus_product, Y[j, c], q[i], B[i, c])
        with loop.repeat(m) as i, loop.repeat(k) as c:
            loop.let(B[i, c], _minus_product, B[i, c], q[i], Y[j, c])
    with loop.repeat(steps) as j:
        for _ in range(2):
            with loop.repeat(j) as i:
                loop.let(scale, lambda: 0.0)
                with loop.repeat(n) as c:
                    loop.let(scale, _plus_product, scale, R[i, c], R[j, c])
                with loop.repeat(n) as c:
                    loop.let(R[j, c], _minus_product, R[j, c], scale, R[i, c])
                with loop.repeat(k) as c:
                    loop.let(Y[j, c], _minus_product, Y[j, c], scale, Y[i, c])
        loop.let(scale, lambda: 0.0)
        with loop.repeat(n) as c:
            loop.let(scale, lambda s, a: s + a * a, scale, R[j, c])
        loop.let(scale, lambda s: (s > 0.0).where(1.0 / s.sqrt(), 0.0), scale)
        for rows, width in ((R, n), (Y, k)):
            with loop.repeat(width) as c:
                loop.let(rows[j, c], lambda a, s: a * s, rows[j, c], scale)
    # inf or NaN in A, or a number too big to be squared, has to make the result NaN: so the result starts at zero times
    # the sum of squares. In B it reaches only its own column, since the others may be other rows of a Jacobian
    seen, nothing = loop.buffer("seen"), loop.buffer("nothing")
    with loop.repeat(m * n) as c:
        loop.let(seen, lambda s, a: s + a * a, seen, x[c])
    with loop.repeat(n * k) as c:
        loop.let(loop["y"][c], lambda s, zero: s * zero, seen, nothing)
    with loop.repeat(steps) as j, loop.repeat(n) as i, loop.repeat(k) as c:
        loop.let(X[i, c], _plus_product, X[i, c], R[j, i], Y[j, c])


def _table(block: Table, loop: LoopBuilder) -> None:
    """Writes code that evaluates a piecewise polynomial: finds the piece, then uses Horner's rule."""
    x, y = loop["x"], loop["y"]
    origins = loop.constant("origins", block.origins)
    rows = loop.constant("rows", [c for row in block.coefficients for c in row], (block.pieces, block.degree + 1))
    piece = loop.buffer("piece")
    (_even_piece if _is_even(block.breaks) else _bisected_piece)(block, loop, piece)

    def horner(x: Any, origin: Any, row: Any) -> Any:
        r = x[0] - origin
        value = row[-1]
        for c in reversed(row[:-1]):
            value = value * r + c
        return [value]

    loop.let(y, horner, x, origins.picked(piece), rows.picked(piece))


def _bisected_piece(block: Table, loop: LoopBuilder, piece: View) -> None:
    """Writes code that finds the piece by bisection; the breaks are padded with infinity to a power of two."""
    halvings = (block.pieces - 1).bit_length()
    breaks = loop.constant("breaks", [*block.breaks, *[math.inf] * (2**halvings - len(block.breaks))])
    strides = loop.constant("strides", [2.0**s for s in range(halvings - 1, -1, -1)] or [0.0])
    trial = loop.buffer("trial", (2,))  # (piece, index of the break before it)
    with loop.repeat(halvings) as s:
        loop.let(trial, lambda i, step: [i + step, i + step - 1.0], piece, strides[s])
        loop.let(
            piece,
            lambda i, new, edge, x: (edge <= x[0]).where(new[0], i),
            *(piece, trial, breaks.picked(trial[1]), loop["x"]),
        )


EVEN = 0.25  # how far breaks may be from even ones, in distances between two of them


def _is_even(breaks: Sequence[float]) -> bool:
    """Whether breaks are so nearly at equal distances that the piece of x follows from x, up to one piece."""
    if len(breaks) < 3:
        return False
    step = (breaks[-1] - breaks[0]) / (len(breaks) - 1)
    return all(abs(at - breaks[0] - k * step) < EVEN * step for k, at in enumerate(breaks))


def _even_piece(block: Table, loop: LoopBuilder, piece: View) -> None:
    """Writes code that finds the piece of a table whose breaks are at equal distances.

    The piece is at least the number of whole distances from the first break to x, less what rounding makes of it, and
    at most two more: two comparisons with the breaks decide. So a point is in the piece that bisection finds.
    """
    first, count = block.breaks[0], len(block.breaks)
    step = (block.breaks[-1] - first) / (count - 1)
    breaks = loop.constant("breaks", [*block.breaks, math.inf, math.inf])
    guess = loop.buffer("guess", (2,))  # a piece, and the next one

    def guessed(x: Any) -> list[Any]:
        whole = (x[0] - first) / step
        kept = (whole >= 0.0).where(whole.floor(), 0.0).minimum(float(count))  # 0 where x is not a number
        return [kept, kept + 1.0]

    loop.let(guess, guessed, loop["x"])
    loop.let(
        piece,
        lambda i, low, high, x: i[0] + (low <= x[0]) + (high <= x[0]),
        *(guess, breaks.picked(guess[0]), breaks.picked(guess[1]), loop["x"]),
    )


GROUP = 8  # rows that are computed together where one of them has an open gate
MOST_GROUPS = 64  # of a table; they are larger in long tables, as each has code of its own


def _row_sum(block: RowSum, loop: LoopBuilder) -> None:
    """Writes code that runs the program of a sum on every row, several at a time, and adds up what it gives.

    Rows are left out group by group, where the gates of all rows of a group are closed.
    """
    count, y = len(block.rows), loop["y"]
    x = loop["x"].part(int(block.gated), block.n_in - block.gated)
    if block.gate is None and not block.gated:
        _add_rows(block, loop, x, block.rows, "rows", begins=True)
        return
    with loop.repeat(block.n_out) as j:
        loop.let(y[j], lambda: 0.0)
    with loop.if_(loop["x"][0]) if block.gated else nullcontext():
        if block.gate is None:
            _add_rows(block, loop, x, block.rows, "rows")
            return
        rows, opened, some = _table_of(loop, "gates", block.rows), loop.buffer("open", (count,)), loop.buffer("some")
        with loop.repeat(count, apart=True) as k:
            loop.call(block.gate, [opened[k]], [x, rows[k]])
        size = GROUP * -(-count // (GROUP * MOST_GROUPS))
        for first in range(0, count, size):
            own = block.rows[first : first + size]
            loop.let(
                some, lambda *gates: sum(gate > 0.0 for gate in gates), *(opened[first + k] for k in range(len(own)))
            )
            with loop.if_(some):
                _add_rows(block, loop, x, own, f"rows_{first}")


def _row_by_row(block: RowSum, loop: LoopBuilder) -> None:
    """Writes code that adds up what the program gives on every row with an open gate, one after the other."""
    x, y = loop["x"].part(int(block.gated), block.n_in - block.gated), loop["y"]
    rows, opened, found = _table_of(loop, "rows", block.rows), loop.buffer("open"), loop.buffer("found", (block.n_out,))
    assert block.gate is not None
    with loop.repeat(block.n_out) as j:
        loop.let(y[j], lambda: 0.0)
    with (
        loop.if_(loop["x"][0]) if block.gated else nullcontext(),
        loop.repeat(len(block.rows)) as k,
    ):
        loop.call(block.gate, [opened], [x, rows[k]])
        with loop.if_(opened):
            loop.call(block.program, [found], [x, rows[k]])
            with loop.repeat(block.n_out) as j:
                loop.let(y[j], lambda total, one: total + one, y[j], found[j])


def _add_rows(
    block: RowSum, loop: LoopBuilder, x: View, own: Sequence[Sequence[float]], name: str, *, begins: bool = False
) -> None:
    """Writes code that adds the outputs of the program on these rows, one after the other, to those before.

    `name` is that of the table with these rows. Where the sum `begins` with them, the first row sets the outputs.
    """
    y, found = loop["y"], loop.scratch(f"found_{len(own)}", (len(own), block.n_out))
    rows = _table_of(loop, name, own)
    with loop.repeat(len(own), apart=True) as k:
        loop.call(block.program, [found[k]], [x, rows[k]])
    if begins:
        loop.copy(y, found[0])
    with loop.repeat(int(begins), len(own)) as k, loop.repeat(block.n_out) as j:
        loop.let(y[j], lambda total, one: total + one, y[j], found[k, j])


def _table_of(loop: LoopBuilder, name: str, rows: Sequence[Sequence[float]]) -> View:
    """A constant with these rows."""
    return loop.constant(name, [number for row in rows for number in row], (len(rows), len(rows[0])))


# ── surfaces over a grid ──────────────────────────────────────────────────────────────────────────────────────────────


def _cell_of(grid: Grid) -> Callable[[Any], list[Any]]:
    """A function of a point (x, y) that returns [node, s, t, ds/dx, dt/dy] of the grid cell that contains the point.

    `node` is the number of the cell's first node; s and t, from 0 to 1, are the distances from this node along x and y,
    divided by the spacing. A point outside the grid is moved to the edge, and the derivatives there are zero.
    """
    (dx, dy), (x0, y0), (nx, ny, _) = grid.spacing, grid.corner, grid.nodes.shape

    def side(x: Any, first: float, step: float, count: int) -> tuple[Any, Any, Any]:
        u = (x - first) / step
        kept = u.maximum(0.0).minimum(count - 1.0)
        cell = kept.floor().minimum(count - 2.0)
        return cell, kept - cell, (u >= 0.0) * (u <= count - 1.0) * (1.0 / step)

    def cell(place: Any) -> list[Any]:
        (i, s, by_x), (j, t, by_y) = side(place[0], x0, dx, nx), side(place[1], y0, dy, ny)
        return [i * float(ny) + j, s, t, by_x, by_y]

    return cell


def _corners(grid: Grid, loop: LoopBuilder, cell: View) -> tuple[View, View]:
    """Views of the grid's data at the corners of a cell: at the two nodes with the lower x, and at the other two.

    A node has 4 numbers: the height and its derivatives. `cell` views the number of the cell's first node, and more.
    """
    nx, ny, each = grid.nodes.shape
    nodes = loop.constant("nodes", grid.nodes, (nx * ny, each))
    near = View(nodes.array, (2 * each,), Affine(0), cell[0], each)
    return near, replace(near, offset=Affine(each * ny))


def _bicubic(block: Bicubic, loop: LoopBuilder) -> None:
    """Writes code for the partial derivatives at a point: finds its cell, then evaluates the polynomial of the cell."""
    cell = loop.buffer("cell", (5,))
    loop.let(cell, _cell_of(block.grid), loop["x"])

    def found(near: Any, far: Any, cell: Any) -> list[Any]:
        return cell_partials(near, far, cell[1], cell[2], cell[3:], block.order)

    loop.let(loop["y"], found, *_corners(block.grid, loop, cell), cell)


def _nearest_point(block: NearestPoint, loop: LoopBuilder) -> None:
    """Writes code that finds the point of a surface nearest to p, by Newton's method until a step is short.

    The array `state` holds [the number of steps that may follow, x, y of the point, 1 if p is low enough to search for
    it, and f, f_x, f_y: the surface's height and slopes vertically below p].
    """
    p, cell, state = loop["x"], loop.buffer("cell", (5,)), loop.buffer("state", (7,))
    near, far = _corners(block.grid, loop, cell)

    def step(found: Sequence[Any], p: Any, foot: Any, reach: Any, left: Any) -> list[Any]:
        taken = newton_step(p[:3], foot, found, reach, minimum=_least, maximum=_largest)
        done = (taken.moved <= NEAR * reach) * taken.regular
        return [(1.0 - done) * (left - 1.0), taken.x, taken.y]

    def first(near: Any, far: Any, cell: Any, p: Any) -> list[Any]:
        found = cell_partials(near, far, cell[1], cell[2], cell[3:], 2)
        searched = p[2] - p[3] <= block.top
        left, x, y = step(found, p, p[:2], abs(p[2] - found[0]), float(STEPS))
        return [searched * left, searched.where(x, p[0]), searched.where(y, p[1]), searched, *found[:3]]

    def further(near: Any, far: Any, cell: Any, p: Any, state: Any) -> list[Any]:
        found = cell_partials(near, far, cell[1], cell[2], cell[3:], 2)
        return step(found, p, state[1:3], abs(p[2] - state[4]), state[0])

    loop.let(cell, _cell_of(block.grid), p.part(0, 2))
    loop.let(state, first, near, far, cell, p)
    with loop.while_(state[0]):
        loop.let(cell, _cell_of(block.grid), state.part(1, 2))
        loop.let(state.part(0, 3), further, near, far, cell, p, state)
    loop.copy(loop["y"], state.part(1, 6))


def _least(a: Any, b: Any) -> Any:
    return a.minimum(b)


def _largest(a: Any, b: Any) -> Any:
    return a.maximum(b)


_WRITERS: dict[type[Block], Callable[[Any, LoopBuilder], None]] = {
    Solve: _solve,
    LeastSquares: _least_squares,
    Table: _table,
    RowSum: _row_sum,
    Complementarity: complementarity,
    CoulombCone: lambda block, loop: coulomb_cone(block, loop, routine),
    Bicubic: _bicubic,
    NearestPoint: _nearest_point,
}


Row = TypeVar("Row")


def of_precision(table: Mapping[str, Row], precision: str, programs: Iterable[Program | LoopProgram]) -> Row:
    """The entry of `table` for a precision; UnsupportedError if it is unknown or too low for one of the programs."""
    for program in programs:
        check_precision(program, precision)
    if precision not in table:
        known = " or ".join(f"'{name}'" for name in table)
        raise UnsupportedError(f"precision '{precision}' is unknown. Choose {known}.")
    return table[precision]
