"""The linear complementarity problem as a loop program: Lemke's pivots, as in `vocabulary.complementarity`."""

from __future__ import annotations

from typing import Any

from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import Affine, View
from kinemorph.vocabulary.complementarity import LEAST_PIVOT, REFINEMENTS, TIE, Complementarity, most_pivots

LARGE = 1e38  # the ratio of a row that cannot leave the basis; fits a float32


def complementarity(block: Complementarity, loop: LoopBuilder) -> None:
    """Writes code that solves  w = A z + b,  w >= 0,  z >= 0,  z . w = 0.

    The table T has the columns [w, z, z0, right side]; `basis` holds for each of its rows the number of the column of
    the unknown that the row determines.
    """
    n = block.n
    A, b, columns, size = _scaled(block, loop)
    T, basis = loop.buffer("T", (n, 2 * n + 2)), loop.buffer("basis", (n,))
    numbers = loop.constant("numbers", range(2 * n + 1))
    going, solved, entering = loop.buffer("going"), loop.buffer("solved"), loop.buffer("entering")
    count = loop.buffer("count")
    loop.let(solved, lambda: 1.0)
    loop.let(entering, lambda: 2.0 * n)
    with loop.repeat(n) as i:
        loop.let(T[i, i], lambda: 1.0)
        loop.let(T[i, 2 * n], lambda: -1.0)
        loop.copy(T[i, 2 * n + 1], b[i])
        loop.copy(basis[i], numbers[i])
        loop.let(solved, lambda all, b: all * (b >= 0.0), solved, b[i])
        loop.let(going, lambda any, b: any.maximum(b < 0.0), going, b[i])
        with loop.repeat(n) as c:
            loop.let(T[i, c + n], lambda a: -a, A[i, c])
    with loop.while_(going):
        _pivot(loop, T, basis, numbers, entering, going, solved, count)
        loop.let(count, lambda count: count + 1.0, count)
        loop.let(going, lambda going, count: going * (count < float(most_pivots(n))), going, count)
    found = _refined(loop, A, b, T, basis, numbers)
    seen, nothing = loop.buffer("seen"), loop.buffer("nothing")
    with loop.repeat(block.n_in) as c:
        loop.let(seen, lambda s, a: s + a * a, seen, loop["x"][c])
    with loop.repeat(n) as i:  # zero times the sum of squares, divided by the status: NaN where z means nothing
        loop.let(
            loop["y"][i],
            lambda z, column, size, seen, nothing, solved: z.maximum(0.0) * column * size + seen * nothing / solved,
            *(found[i + n], columns[i], size, seen, nothing, solved),
        )
    loop.copy(loop["y"][n], solved)


def _scaled(block: Complementarity, loop: LoopBuilder) -> tuple[View, View, View, View]:
    """Writes code that scales the problem; returns views of A, b, the factors of the columns, the size of b."""
    n = block.n
    given = View("x", (n, n), Affine(0))
    A, b = loop.buffer("A", (n, n)), loop.buffer("b", (n,))
    rows, columns, size = loop.buffer("rows", (n,)), loop.buffer("columns", (n,)), loop.buffer("size")

    def largest(best: Any, entry: Any) -> Any:
        return best.maximum(abs(entry))

    def inverse(x: Any) -> Any:
        return (x > 0.0).where(1.0 / x, 1.0)

    with loop.repeat(n) as i:
        with loop.repeat(n) as c:
            loop.let(rows[i], largest, rows[i], given[i, c])
        loop.let(rows[i], inverse, rows[i])
        with loop.repeat(n) as c:
            loop.let(A[i, c], lambda a, row: a * row, given[i, c], rows[i])
            loop.let(columns[c], largest, columns[c], A[i, c])
        loop.let(b[i], lambda b, row: b * row, loop["x"][i + n * n], rows[i])
        loop.let(size, largest, size, b[i])
    loop.let(size, lambda s: (s > 0.0).where(s, 1.0), size)
    with loop.repeat(n) as c:
        loop.let(columns[c], inverse, columns[c])
    with loop.repeat(n) as i:
        loop.let(b[i], lambda b, size: b / size, b[i], size)
        with loop.repeat(n) as c:
            loop.let(A[i, c], lambda a, column: a * column, A[i, c], columns[c])
    return A, b, columns, size


def _pivot(
    loop: LoopBuilder, T: View, basis: View, numbers: View, entering: View, going: View, solved: View, count: View
) -> None:
    """Writes one pivot: lexicographic order chooses the row of the entering unknown. `going` is 0 at the end."""
    n, width = T.shape
    column, tied, row = loop.buffer("entering_column", (n,)), loop.buffer("tied", (n,)), loop.buffer("row", (2,))
    many, leaving, pivot_row = loop.buffer("many"), loop.buffer("leaving"), loop.buffer("pivot_row", (width,))
    ends, least = loop.buffer("ends"), loop.buffer("least")

    def narrow(key: Any) -> None:
        """Keeps the rows with the least ratio of the entry key(i) to the entry in the entering column."""
        loop.let(least, lambda: LARGE)
        with loop.repeat(n) as i:
            loop.let(
                least,
                lambda least, tied, entry, column: least.minimum((tied > 0.0).where(entry / column, LARGE)),
                *(least, tied[i], key(i), column[i]),
            )
        with loop.repeat(n) as i:
            loop.let(
                tied[i],
                lambda tied, least, entry, column: tied * (entry / column <= least + TIE * (1.0 + abs(least))),
                *(tied[i], least, key(i), column[i]),
            )

    with loop.repeat(n) as i:
        loop.let(
            column[i],
            lambda count, entry: (count < 0.5).where(1.0, entry),
            *(count, T[i].picked(entering)),
        )
        loop.let(tied[i], lambda column: column > LEAST_PIVOT, column[i])
    narrow(lambda i: T[i, width - 1])
    loop.let(ends, lambda: 0.0)
    with loop.repeat(n) as i:
        loop.let(ends, lambda ends, tied, at: ends.maximum(tied * at.equals(2.0 * n)), ends, tied[i], basis[i])
    loop.let(many, lambda: -1.5)
    with loop.repeat(n) as i:
        loop.let(
            tied[i],
            lambda tied, ends, at: (ends > 0.0).where(tied * at.equals(2.0 * n), tied),
            *(tied[i], ends, basis[i]),
        )
        loop.let(many, lambda many, tied: many + tied, many, tied[i])
    with loop.if_(many), loop.repeat(n) as c:
        narrow(lambda i: T[i, c])
    loop.let(row, lambda: [0.0, 0.0])  # (1 if there is one, its number)
    with loop.repeat(n) as i:
        loop.let(
            row,
            lambda row, tied, number: [row[0].maximum(tied), (tied > row[0]).where(number, row[1])],
            *(row, tied[i], numbers[i]),
        )
    loop.copy(going, row[0])
    with loop.if_(going):
        loop.copy(leaving, basis.picked(row[1]))
        loop.copy(pivot_row, T.picked(row[1]))
        loop.copy(least, pivot_row.picked(entering))
        with loop.repeat(width) as c:
            loop.let(pivot_row[c], lambda a, pivot: a / pivot, pivot_row[c], least)
        with loop.repeat(n) as i:
            loop.copy(least, T[i].picked(entering))
            loop.let(tied[i], lambda row, number: row[1].equals(number), row, numbers[i])
            with loop.repeat(width) as c:
                loop.let(
                    T[i, c],
                    lambda own, a, factor, pivot: (own > 0.0).where(pivot, a - factor * pivot),
                    *(tied[i], T[i, c], least, pivot_row[c]),
                )
            loop.let(basis[i], lambda own, old, new: (own > 0.0).where(new, old), *(tied[i], basis[i], entering))
        loop.let(solved, lambda leaving: leaving.equals(2.0 * n), leaving)
        loop.let(going, lambda solved: 1.0 - solved, solved)
        loop.let(entering, lambda old: (old < float(n)).where(old + float(n), old - float(n)), leaving)


def _refined(loop: LoopBuilder, A: View, b: View, T: View, basis: View, numbers: View) -> View:
    """Writes code that removes rounding errors; returns the view of the unknowns [w, z, z0], zero outside the basis."""
    n, width = T.shape
    x, found, rest = loop.buffer("x_basis", (n,)), loop.buffer("found", (2 * n + 1,)), loop.buffer("rest", (n,))
    with loop.repeat(n) as i:
        loop.copy(x[i], T[i, width - 1])

    def scatter() -> None:
        with loop.repeat(2 * n + 1) as k:
            loop.let(found[k], lambda: 0.0)
            with loop.repeat(n) as i:
                loop.let(
                    found[k],
                    lambda total, at, number, x: total + at.equals(number).where(x, 0.0),
                    *(found[k], basis[i], numbers[k], x[i]),
                )

    with loop.repeat(REFINEMENTS):
        scatter()
        with loop.repeat(n) as i:
            loop.let(rest[i], lambda b, w, z0: b - w + z0, b[i], found[i], found[2 * n])
            with loop.repeat(n) as c:
                loop.let(rest[i], lambda r, a, z: r + a * z, rest[i], A[i, c], found[c + n])
        with loop.repeat(n) as i, loop.repeat(n) as c:
            loop.let(x[i], lambda x, inverse, r: x + inverse * r, x[i], T[i, c], rest[c])
    scatter()
    return found
