"""Inverse dynamics with actuators at some joints: which forces there give an acceleration.

With constraints, accelerations are  a = a_0 + G tau : a_0 those without actuators, column k of G what one unit of the
force of actuator k adds, along what the constraints leave free. Of all tau with  G tau = a - a_0  the one with the
least sum of w tau^2 is wanted. Where there is none, the error e = a - a_0 - G tau is measured as e^T M e: so meters and
radians count alike, and what is left is what constraints or missing actuators forbid (Gauss).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.linear import factors, least_squares
from kinemorph.algebra.scalar import S, plus, sqrt, times
from kinemorph.algebra.vectors import matvec, sub, transpose
from kinemorph.errors import ShapeError


def actuation(
    M: Sequence[Sequence[S]],
    a: Sequence[S],
    places: Sequence[int],
    weights: Sequence[float],
    answers: Callable[..., Sequence[S]],
) -> dict[str, Any]:
    """tau (k,), the residual a - FD(tau) (nv,) and the rank of G.

    `M` (nv, nv), the mass matrix; `places` in v of the actuators; `answers(forces, moving=)` gives the accelerations of
    forces (nv,) alone, or of all that acts.
    """
    nv = len(M)
    missing = sub(a, answers([0.0] * nv, moving=True))
    reached = [answers([float(k == place) for k in range(nv)], moving=False) for place in places]
    G = transpose(reached)
    L, D = factors(M)
    size = [sqrt(x) for x in D]

    def weighed(x: Sequence[S]) -> list[S]:
        """D^1/2 L^T x, whose square is x^T M x."""
        rows = []
        for i in range(nv):
            entry = x[i]
            for j in range(i + 1, nv):
                entry = plus(entry, times(L[j][i], x[j]))
            rows.append(times(size[i], entry))
        return rows

    easy = [1.0 / weight**0.5 for weight in weights]
    columns = [[times(ease, x) for x in weighed(column)] for ease, column in zip(easy, reached, strict=True)]
    found, rank = least_squares(transpose(columns), [[x] for x in weighed(missing)])
    tau = [times(ease, row[0]) for ease, row in zip(easy, found, strict=True)]
    return {"tau": tau, "residual": list(sub(missing, matvec(G, tau))), "rank": rank}


def checked_weights(weights: npt.ArrayLike | None, names: Sequence[str]) -> list[float]:
    """One number above 0 for each actuator, by name."""
    if weights is None:
        return [1.0] * len(names)
    values = np.array(weights, dtype=float)
    if values.shape != (len(names),) or not (np.isfinite(values).all() and (values > 0.0).all()):
        raise ShapeError(
            f"actuation: weights are {values.tolist()}; expected {len(names)} finite numbers above 0, for "
            f"{', '.join(names)}."
        )
    return [float(x) for x in values]
