"""Inverse dynamics with actuators at some joints: the actuator forces that give an acceleration.

Under constraints, the accelerations are  a = a_0 + G tau : a_0 is the acceleration without actuators, and column k of G
is the acceleration that one unit of the force of actuator k adds, along the motions that the constraints allow. Among
all tau with G tau = a - a_0, the one with the least sum of w tau^2 is chosen. Where no tau satisfies this, the error
e = a - a_0 - G tau is measured as e^T M e, so that meters and radians count alike; the smallest error that is left is
the part of `a` that the constraints or missing actuators do not allow (Gauss).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.linear import least_squares
from kinemorph.algebra.scalar import S, is_zero, minus, sqrt, times
from kinemorph.algebra.vectors import dot, matvec, sub, transpose
from kinemorph.errors import ShapeError
from kinemorph.mechanics.constraints.constrained import (
    MOST_WRITTEN,
    ConstraintRows,
    constrained_dynamics,
    shared_out,
    span_of,
    written_out,
)
from kinemorph.mechanics.derivatives.branch_factor import BranchFactor, branch_factor, gathered, spread
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.words import counted, listed


def actuation(
    tree: Tree,
    M: Sequence[Sequence[S]],
    rest: Sequence[S],
    rows: ConstraintRows,
    a: Sequence[S],
    places: Sequence[int],
    weights: Sequence[float],
) -> dict[str, Any]:
    """The actuator forces `tau` (k,) that give the acceleration a (nv,), the `residual` a - FD(tau) (nv,), and the
    `rank`.

    The rank is that of G, whose columns are the accelerations that unit actuator forces add. `M` (nv, nv) is the mass
    matrix; `rest` (nv,) are the generalized forces without actuators, -h; `rows` are the constraints; `places` are the
    indices in v of the actuators, with one weight each.
    """
    nv = len(M)
    metric = branch_factor(tree, M)
    units = [[float(k == place) for k in range(nv)] for place in places]
    written = written_out(metric.ways, rows.J) <= MOST_WRITTEN
    free, *reached = (_answers if written else _shared_answers)(metric, M, rows, [rest, *units])
    missing = sub(a, free)
    G = transpose(reached)

    def weighed(x: Sequence[S]) -> list[S]:
        """A vector (nv,) whose squared length is x^T M x, from the factors of the mass matrix, M^-1 = N D^-1 N^T."""
        y = gathered(metric, matvec(M, x))
        return [times(sqrt(pivot), one) for pivot, one in zip(metric.pivots, y, strict=True)]

    easy = [1.0 / weight**0.5 for weight in weights]
    columns = [[times(ease, x) for x in weighed(column)] for ease, column in zip(easy, reached, strict=True)]
    found, rank = least_squares(transpose(columns), [[x] for x in weighed(missing)])
    tau = [times(ease, row[0]) for ease, row in zip(easy, found, strict=True)]
    return {"tau": tau, "residual": list(sub(missing, matvec(G, tau))), "rank": rank}


def _answers(metric: BranchFactor, M: Any, rows: ConstraintRows, forces: Sequence[Sequence[S]]) -> list[list[S]]:
    """A list of accelerations (nv,): first those under forces[0] that satisfy the constraint rows; then for each other
    force the accelerations that it adds.
    """
    real = [j for j, row in enumerate(rows.J) if not all(map(is_zero, row))]
    J, wanted, weights = ([part[j] for j in real] for part in rows[:3])
    kept = ConstraintRows(J, wanted, weights, rows.opening)
    span = span_of(metric, kept)
    found = [constrained_dynamics(metric, forces[0], kept).a]
    for force in forces[1:]:
        y = gathered(metric, force)
        for u, heavy, size in zip(span.vectors, span.weighted, span.sizes, strict=True):
            along = times(size, dot(heavy, y))
            y = [minus(one, times(along, x)) for one, x in zip(y, u, strict=True)]
        found.append(spread(metric, y))
    return found


def _shared_answers(metric: BranchFactor, M: Any, rows: ConstraintRows, forces: Sequence[Sequence[S]]) -> list[list[S]]:
    """The accelerations under forces[0], then those that each other force adds, by matrix solutions in loops.

    For many constraints these take fewer operations than the unrolled solutions of `_answers`.
    """
    still = rows._replace(wanted=[0.0] * len(rows.J))
    return [shared_out(M, force, still if k else rows).a for k, force in enumerate(forces)]


def checked_weights(weights: npt.ArrayLike | None, names: Sequence[str]) -> list[float]:
    """The weights of the actuators with these names, checked: one number above 0 for each; all 1 without `weights`."""
    if weights is None:
        return [1.0] * len(names)
    values = np.array(weights, dtype=float)
    if values.shape != (len(names),) or not (np.isfinite(values).all() and (values > 0.0).all()):
        raise ShapeError(
            f"actuation: weights are {values.tolist()}; expected one finite number above 0 for each of the "
            f"{counted(len(names), 'actuator')} {listed(names)}."
        )
    return [float(x) for x in values]
