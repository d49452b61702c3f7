"""The check of the identity by which Coriolis terms cancel in the formulation in quasicoordinates.

Nelson & Quinn (25), corrected as in docs/errata.md (E004-4, E004-6):  Phid + Phi W~^T + Chat Psi~ Q^T = 0.  The rate of
Phi is its exact derivative along the motion, by dual numbers, so that the check does not rest on equation (22).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.dual import Direction
from kinemorph.analysis.verification.sampling import Sample, WorstError
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.formulations.block_products import Pairs
from kinemorph.mechanics.formulations.quasi_matrices import eliminated, global_matrices, quasi
from kinemorph.mechanics.recursions.kinematics import configuration_rate
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree

LARGEST = 60  # dof of the largest robot that is checked, since the number of blocks grows with the square of the dof
STATES = 2  # states that are checked
REACH = 0.3  # [m] size of the random coordinates of points


def coriolis_terms_cancel(s: Sample) -> WorstError:
    """The error of the identity (25) at random points of all bodies."""
    robot = s.dynamics.robot
    if robot.nv > LARGEST:
        raise UnsupportedError(f"the robot has {robot.nv} degrees of freedom, and at most {LARGEST} are checked.")
    tree, rng = resolve(robot).at_time(0.0), np.random.default_rng(0)
    gaps, sizes = [], []
    for q, v in list(zip(s.q.tolist(), s.v.tolist(), strict=True))[:STATES]:
        every = tree.all_joints(q, v)
        gap, terms = identity_error(tree.of_joints, every.q, every.v, rng)
        gaps.append(gap)
        sizes.append(terms)
    return s.worst(np.array(gaps), np.array(sizes), floor=REACH * 1e-3, by_joint=False)


def identity_error(tree: Tree, q: Any, v: Any, rng: np.random.Generator) -> tuple[Array, Array]:
    """(left side of (25), its first term), each (3n, 3n), at a random point of each of n bodies."""
    K = quasi(tree, q, v)
    n = len(K.segments)
    points = [tuple(map(float, REACH * rng.normal(size=3))) for _ in range(n)]
    along = Direction()
    moving = along.all_moved(q, configuration_rate(tree, q, v))
    later, _ = global_matrices(quasi(tree, moving), points)
    rate = _dense({pair: [along.tangents(row) for row in part] for pair, part in later.items()}, n, n)
    Phi, out = _dense(global_matrices(K, points)[0], n, n), eliminated(K, points)
    columns = len(out.owners)
    W, Psi = (_on_diagonal([_hat(x) for x in vectors]) for vectors in (K.w, out.Psi))
    Q = _dense({(i, c): np.eye(3) for c, i in enumerate(out.owners)}, n, columns)
    return rate + Phi @ W.T + _dense(out.C_hat, n, columns) @ Psi @ Q.T, rate


def _dense(parts: Pairs | Any, rows: int, columns: int) -> Array:
    found = np.zeros((3 * rows, 3 * columns))
    for (i, j), part in parts.items():
        found[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = part
    return found


def _on_diagonal(parts: list[Array]) -> Array:
    return _dense({(i, i): part for i, part in enumerate(parts)}, len(parts), len(parts))


def _hat(x: Any) -> Array:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])
