"""A loop program that chooses linearly independent columns of a matrix, by their length, as LeastSquares does."""

from __future__ import annotations

from functools import lru_cache

from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import LoopProgram, View
from kinemorph.vocabulary.blocks import RANK_TOLERANCE


def longest_column(
    loop: LoopBuilder, A: View, places: View, tolerance: float, taken: View | None = None
) -> tuple[View, View]:
    """Writes statements that find the longest column of A (m, n).

    Returns views of two results: (squared length, column number), and 1 / length. The second is 0 if the column is
    shorter than `tolerance` times the longest column that any call found. `places` (n,) are the numbers 0, 1, ...;
    `taken` (n,) is 1 for columns that are left out.
    """
    m, n = A.shape
    squares, best = loop.scratch("squares", (n,)), loop.scratch("best", (2,))
    longest, scale = loop.scratch("longest"), loop.scratch("scale")
    with loop.repeat(n) as c:
        loop.let(squares[c], lambda: 0.0)
    with loop.repeat(m) as i, loop.repeat(n) as c:
        loop.let(squares[c], lambda s, a: s + a * a, squares[c], A[i, c])
    if taken is not None:  # rounding may leave them a small length
        with loop.repeat(n) as c:
            loop.let(squares[c], lambda s, taken: s * (1.0 - taken), squares[c], taken[c])
    loop.let(best, lambda first: [first, 0.0], squares[0])
    with loop.repeat(1, n) as c:
        loop.let(
            best,
            lambda b, s, place: [(b[0] < s).where(s, b[0]), (b[0] < s).where(place, b[1])],
            *(best, squares[c], places[c]),
        )
    loop.let(longest, lambda old, s: old.maximum(s[0].sqrt()), longest, best)
    loop.let(
        scale,
        lambda s, top: (tolerance * top < s[0].sqrt()).where(1.0 / s[0].sqrt(), 0.0),
        *(best, longest),
    )
    return best, scale


@lru_cache(maxsize=64)
def chosen_columns(m: int, n: int, tolerance: float = RANK_TOLERANCE) -> LoopProgram:
    """The loop program that chooses rank(A) columns of A (m, n) with the same span as A: `chosen` (n,) is 1 for these.

    The longest column is chosen and its direction is removed from the others; this is repeated until the longest
    remaining column is shorter than `tolerance` times the longest column of A.
    """
    loop = LoopBuilder(f"chosen columns {m}x{n}", {"A": (m, n)}, {"chosen": (n,)})
    A, q = loop.buffer("rest", (m, n)), loop.buffer("q", (m,))
    along = loop.buffer("along", (n,))
    places = loop.constant("places", range(n))
    loop.copy(A, loop["A"])
    with loop.repeat(n) as c:
        loop.let(loop["chosen"][c], lambda: 0.0)
    with loop.repeat(min(m, n)) as _:
        with loop.repeat(n) as c:
            loop.let(along[c], lambda: 0.0)
        best, scale = longest_column(loop, A, places, tolerance, loop["chosen"])
        with loop.repeat(n) as c:
            loop.let(
                loop["chosen"][c],
                lambda taken, s, b, place: taken.maximum((s > 0.0) * b[1].equals(place)),
                *(loop["chosen"][c], scale, best, places[c]),
            )
        with loop.repeat(m) as i:
            loop.let(q[i], lambda s, row: (s > 0.0).where(s * row, 0.0), scale, A[i].picked(best[1]))
        with loop.repeat(m) as i, loop.repeat(n) as c:
            loop.let(along[c], lambda s, a, b: s + a * b, along[c], q[i], A[i, c])
        with loop.repeat(m) as i, loop.repeat(n) as c:
            loop.let(A[i, c], lambda a, b, c: a - b * c, A[i, c], q[i], along[c])
    return loop.program()
