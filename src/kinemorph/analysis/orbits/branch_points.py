"""Where orbits of a branch change: functions that are zero there, and the search for their zeros along the branch.

With the monodromy matrix M, its eigenvalues mu and the unit tangent (dY, dp) of the branch

    fold                the branch turns back:                      dp = 0
    branch point        another branch crosses:                     det [F_Y F_p; dY dp] = 0
    doubling            an orbit of twice the period branches off:  det(M + I) = 0
    Neimark-Sacker      a pair of multipliers leaves the unit circle:  product over i < j of (mu_i mu_j - 1) = 0

The product in the last line is also zero for a pair of real multipliers mu and 1/mu, which means nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Literal

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.orbits.shooting import Closure

Kind = Literal["fold", "branch point", "doubling", "Neimark-Sacker"]
CIRCLE = 1e-4  # a pair of multipliers whose product is this near to 1 is on the unit circle


def branch_tests(here: Closure, bordered: Array, tangent: Array) -> dict[Kind, float]:
    """The values of the functions at a point of a branch.

    `bordered` (N + 1, N + 1) are the derivatives of the equations by all unknowns, with the tangent as last row; both
    are in scaled unknowns.
    """
    M = here.monodromy
    mu = np.linalg.eigvals(M)
    found: dict[Kind, float] = {
        "fold": float(tangent[-1]),
        "branch point": float(np.linalg.det(bordered)),
        "doubling": float(np.linalg.det(M + np.eye(len(M)))),
    }
    if len(mu) > 1:
        found["Neimark-Sacker"] = float(np.prod([a * b - 1.0 for a, b in combinations(mu, 2)]).real)
    return found


def is_neimark_sacker(here: Closure) -> bool:
    """Whether a pair of conjugate multipliers is on the unit circle."""
    mu = np.linalg.eigvals(here.monodromy)
    a, b = min(combinations(mu, 2), key=lambda pair: abs(pair[0] * pair[1] - 1.0))
    return bool(abs(a.imag) > CIRCLE and abs(a * b - 1.0) < CIRCLE)


def zero_between(function: Callable[[float], float], low: float, high: float, values: tuple[float, float]) -> float:
    """The zero of a function between `low` and `high`, where its `values` have opposite signs (Brent's method)."""
    from scipy.optimize import brentq

    known = {low: values[0], high: values[1]}
    found: float = brentq(lambda at: known[at] if at in known else function(at), low, high, xtol=1e-15, rtol=1e-14)
    return found
