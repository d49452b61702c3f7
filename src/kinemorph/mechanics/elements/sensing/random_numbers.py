"""Random numbers inside a compiled step: L'Ecuyer's MRG32k3a, whose state is six whole numbers, exact as doubles.

    x_n = (1403580 x_{n-2} -  810728 x_{n-3}) mod M1        y_n = (527612 y_{n-1} - 1370589 y_{n-3}) mod M2
    z_n = (x_n - y_n) mod M1,   and M1 in place of 0        u_n = z_n / (M1 + 1), in (0, 1)

P. L'Ecuyer, Good parameters and implementations for combined multiple recursive random number generators, Operations
Research 47 (1999). All products stay below 2^53, so every backend gives the same numbers to the last bit. Its period is
2^191, so that streams that start at hashed states do not overlap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import sha256

from kinemorph.algebra.scalar import S, cos, floor, less, less_equal, log, sin, sqrt, where
from kinemorph.mechanics.elements.law import Slot

M1, M2 = 4294967087.0, 4294944443.0
X2, X3 = 1403580.0, 810728.0
Y1, Y3 = 527612.0, 1370589.0
SIZE = 6  # length of a state


def stream(name: str, seed: int) -> tuple[float, ...]:
    """The initial state, shape (6,), of the random numbers of a name and a seed: the same in every process."""
    digest = sha256(f"{seed}/{name}".encode()).digest()
    words = [int.from_bytes(digest[4 * k : 4 * k + 4], "little") for k in range(SIZE)]
    return tuple(1.0 + word % int((M1 if k < 3 else M2) - 1.0) for k, word in enumerate(words))


def slots(name: str, seed: int) -> tuple[Slot, ...]:
    """The memory slots of an element for the state of its random numbers, by the element's name and seed."""
    return tuple(Slot(f"random{k + 1}", "", start) for k, start in enumerate(stream(name, seed)))


def uniform(state: Sequence[S]) -> tuple[S, tuple[S, ...]]:
    """(a random number, uniform in (0, 1), the state after it)."""
    x3, x2, x1, y3, y2, y1 = state
    x = _rest(X2 * x2 - X3 * x3, M1)
    y = _rest(Y1 * y1 - Y3 * y3, M2)
    z = where(less_equal(x, y), x - y + M1, x - y)
    return z * (1.0 / (M1 + 1.0)), (x2, x1, x, y2, y1, y)


def normals(state: Sequence[S], count: int) -> tuple[list[S], tuple[S, ...]]:
    """(`count` normal random numbers with mean 0 and deviation 1, the state after them), by Box and Muller."""
    found: list[S] = []
    after = tuple(state)
    while len(found) < count:
        radius, after = uniform(after)
        angle, after = uniform(after)
        length, turn = sqrt(-2.0 * log(radius)), 2.0 * math.pi * angle
        found += [length * cos(turn), length * sin(turn)]
    return found[:count], after


def _rest(x: S, m: float) -> S:
    """x mod m, also where the quotient x / m is rounded up to a whole number."""
    x = x - m * floor(x / m)
    x = where(less(x, 0.0), x + m, x)
    return where(less(x, m), x, x - m)
