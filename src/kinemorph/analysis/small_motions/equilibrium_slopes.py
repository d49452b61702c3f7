"""How an equilibrium changes with parameters and inputs, by the implicit rule.

At an equilibrium the residual is zero, r(w, x; p, u) = 0, and so are the errors of constraints on positions, phi(w; p).
They stay zero, so that along the independent directions Y of [w, x], with the stiffness K = dr/d[w, x],

    d[w, x] = c - Y (Y^T K Y)^-1 Y^T (dr/d[p, u] + dr/dw c),      c = -J^+ dphi/dp,   J = dphi/dw

Where no force acts along a direction, the change of least norm is taken.
"""

from __future__ import annotations

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.small_motions.plant_derivatives import FLAT, Blocks, Point, Slopes


def equilibrium_slopes(slopes: Slopes, point: Point, blocks: Blocks, by_data: Array) -> Array:
    """The derivatives (ns, np + nu) of the state [w, v, x] at the equilibrium `point` by [p, u]; those of v are 0.

    `blocks` are the derivatives of the residual there, `by_data` (nv + nx, np + nu) are those by [p, u].
    """
    plant, nv, count = slopes.plant, slopes.plant.nv, by_data.shape[1]
    closing = np.zeros((nv, count))
    if plant.constraints is not None and len(plant.p):
        _, J = slopes.closure(point)
        closing[:, : len(plant.p)] = -np.linalg.pinv(J, FLAT) @ slopes.closure_by_parameters(*point.inputs)
    Y = slopes.free_directions(point)
    stiff = np.hstack([blocks.w, blocks.x])
    moved = -Y @ np.linalg.pinv(Y.T @ stiff @ Y, FLAT) @ Y.T @ (by_data + blocks.w @ closing)
    ds = np.zeros((plant.ns, count))
    ds[:nv], ds[2 * nv :] = moved[:nv] + closing, moved[nv:]
    return ds
