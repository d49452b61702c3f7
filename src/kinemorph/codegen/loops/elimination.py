"""Gaussian elimination of a general square matrix as loop programs, for any number of right-hand sides.

    factored(n)        A (n, n) -> LU (n, n), order (n,), regular ()     P A = L U, the largest pivot of each column
    substituted(n)     LU, order, b (n,) -> x (n,)                       x = A^-1 b

`LU` holds L below the diagonal (the diagonal of L is 1), U above it, and the reciprocals of U's diagonal on it. Row i
of P A is row order[i] of A. `regular` is 0 if a pivot is zero or not finite; then L and U must not be used.

The place that a loop program writes to cannot depend on data. To exchange rows, the pivot row is read from a place that
depends on data; then a loop over all rows compares indices and writes the other row where they are equal.
"""

from __future__ import annotations

from functools import lru_cache

from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import Affine, LoopProgram, View

HUGE = 1e300  # a pivot that is not below it counts as infinite; in float32 this bound is infinity itself


@lru_cache(maxsize=64)
def factored(n: int) -> LoopProgram:
    """The loop program that factors an n x n matrix A: P A = L U, with partial pivoting."""
    loop = LoopBuilder(f"factored {n}x{n}", {"A": (n, n)}, {"LU": (n, n), "order": (n,), "regular": ()})
    LU, order, regular = loop["LU"], loop["order"], loop["regular"]
    loop.copy(LU, loop["A"])
    loop.let(regular, lambda: 1.0)
    if not n:
        return loop.program()
    places = loop.constant("places", range(n))
    loop.copy(order, places)
    best, pivot, factor = loop.buffer("best", (2,)), loop.buffer("pivot"), loop.buffer("factor")
    moved, old = loop.buffer("moved"), loop.buffer("old", (n + 1,))
    with loop.repeat(n) as j:
        loop.let(best, lambda a, place: [abs(a), place], LU[j, j], places[j])  # (largest, its row)
        with loop.repeat(j + 1, n) as r:
            loop.let(
                best,
                lambda b, a, place: [(b[0] < abs(a)).where(abs(a), b[0]), (b[0] < abs(a)).where(place, b[1])],
                *(best, LU[r, j], places[r]),
            )
        loop.let(regular, lambda ok, b: ok * (b[0] > 0.0) * (b[0] < HUGE), regular, best)
        loop.let(moved, lambda b, place: 1.0 - b[1].equals(place), best, places[j])
        with loop.if_(moved):
            _exchange(loop, n, j, best[1], old, places)
        loop.let(pivot, lambda a: 1.0 / a, LU[j, j])
        loop.copy(LU[j, j], pivot)
        with loop.repeat(j + 1, n) as r:
            loop.let(factor, lambda a, inverse: a * inverse, LU[r, j], pivot)
            loop.copy(LU[r, j], factor)
            with loop.repeat(j + 1, n) as c:
                loop.let(LU[r, c], lambda a, f, b: a - f * b, LU[r, c], factor, LU[j, c])
    return loop.program()


def _exchange(loop: LoopBuilder, n: int, j: Affine, chosen: View, old: View, places: View) -> None:
    """Writes code that exchanges rows j and `chosen` of LU and of `order`; `old` (n + 1,) is scratch memory.

    `places` views the numbers 0, 1, ..., with which the code compares row indices.
    """
    LU, order, here = loop["LU"], loop["order"], loop.buffer("here")
    loop.copy(old.part(0, n), LU[j])
    loop.copy(old[n], order[j])
    loop.copy(LU[j], LU.picked(chosen))
    loop.copy(order[j], order.picked(chosen))
    with loop.repeat(j + 1, n) as r:
        loop.let(here, lambda place, chosen: place.equals(chosen), places[r], chosen)
        with loop.if_(here):
            loop.copy(LU[r], old.part(0, n))
            loop.copy(order[r], old[n])


@lru_cache(maxsize=64)
def substituted(n: int) -> LoopProgram:
    """The loop program that computes x = A^-1 b from the results of `factored`."""
    loop = LoopBuilder(f"substituted {n}", {"LU": (n, n), "order": (n,), "b": (n,)}, {"x": (n,)})
    LU, x = loop["LU"], loop["x"]
    with loop.repeat(n) as i:
        loop.copy(x[i], loop["b"].picked(loop["order"][i]))
        with loop.repeat(i) as c:
            loop.let(x[i], lambda s, a, b: s - a * b, x[i], LU[i, c], x[c])
    with loop.repeat(n) as done:
        i = n - 1 - done
        with loop.repeat(i + 1, n) as c:
            loop.let(x[i], lambda s, a, b: s - a * b, x[i], LU[i, c], x[c])
        loop.let(x[i], lambda s, inverse: s * inverse, x[i], LU[i, i])
    return loop.program()
