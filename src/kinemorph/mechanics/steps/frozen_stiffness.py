"""How stiff a robot is at a state: its stiff forces, linearized there, together with its mass matrix.

    M a + C v + K w = 0,      K = sum J^T (-df/dx) J + diag(-dtau/dq),      C = sum J^T (-df/dv) J + diag(-dtau/dv)

w are displacements of the joints, v = dw/dt. The derivatives come from the laws' own `linear`, symmetric and positive
semi-definite, so that the exact motion always decays: a step size with which it grows is too large for an explicit
method. Weight and Coriolis forces are left out, because they change slowly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import Pose, act
from kinemorph.algebra.turns import Vec3
from kinemorph.mechanics.recursions.articulated_bodies import given_responses
from kinemorph.mechanics.recursions.composite_bodies import mass_matrix
from kinemorph.mechanics.recursions.kinematics import jacobian
from kinemorph.mechanics.recursions.newton_euler import outward
from kinemorph.mechanics.steps.implicit_forces import present_forces
from kinemorph.mechanics.steps.pair_forces import PairForce, PairState, pair_slope
from kinemorph.mechanics.steps.point_motions import coordinates, present_motion
from kinemorph.mechanics.steps.point_states import UNITS, JointForce, JointState, PointForce, Sight
from kinemorph.mechanics.trees.driven import AllJoints
from kinemorph.mechanics.trees.tree import WORLD, Attachment, Tree


@dataclass(frozen=True)
class Share:
    """The contribution of one law to the stiffness matrix K and the damping matrix C, (nv, nv) each."""

    name: str
    K: Array
    C: Array


@dataclass(frozen=True)
class Frozen:
    """A robot's mass matrix, shape (nv, nv), and the contributions of its stiff forces to stiffness and damping, at a
    state.
    """

    M: Array
    shares: tuple[Share, ...]

    @property
    def K(self) -> Array:
        """The stiffness matrix K of all laws together, (nv, nv)."""
        return sum((share.K for share in self.shares), np.zeros_like(self.M))

    @property
    def C(self) -> Array:
        """The damping matrix C of all laws together, (nv, nv)."""
        return sum((share.C for share in self.shares), np.zeros_like(self.M))

    def system(self) -> Array:
        """The matrix A of the linear motion d/dt [w, v] = A [w, v], shape (2 nv, 2 nv), of displacements w and
        velocities v.
        """
        n = len(self.M)
        lower = np.linalg.solve(self.M, np.hstack([-self.K, -self.C]))
        return np.vstack([np.hstack([np.zeros((n, n)), np.eye(n)]), lower])

    def stiffest(self, rates: Array) -> str:
        """The name of the law that does most work in a motion `rates` = [w, v], shape (2 nv,), real or complex."""
        w, v = np.split(rates, 2)
        work = [abs(np.vdot(v, share.K @ w + share.C @ v)) for share in self.shares]
        return self.shares[int(np.argmax(work))].name


class StiffByName(NamedTuple):
    """The stiff forces at points, along joints and between pairs, by the names of their elements.

    Where joints are driven, `every` has all joints at the state, and indices of joints are those of all joints.
    """

    points: Mapping[str, PointForce] = {}
    joints: Mapping[str, JointForce] = {}
    pairs: Mapping[str, PairForce] = {}
    every: AllJoints | None = None


def frozen(tree: Tree, q: Sequence[float], v: Sequence[float], stiff: StiffByName, h: float = 1e-3) -> Frozen:
    """The stiff forces of a robot, linearized at (q, v), with its mass matrix.

    `h` [s] is the step size for the derivatives of the laws; its value matters only for laws that limit them.
    """
    every = stiff.every or tree.all_joints(q, v)
    q, v = every.q, every.v
    _, _, states = present_forces(tree, q, v, list(stiff.points.values()), [])
    shares = []
    for (name, force), state in zip(stiff.points.items(), states, strict=True):
        J = _jacobian(tree, q, force.link, force.point)
        K, C = _split(lambda h, force=force, state=state: _matrix(force.law.linear(state, h)[1]), h)
        shares.append(Share(name, J.T @ K @ J, J.T @ C @ J))
    for name, along in stiff.joints.items():
        stiffness, damping = joint_slopes(tree, q, v, along, h)
        row = np.array([along.factors.get(j, 0.0) for j in range(tree.nv)])
        unit = np.outer(row, row)
        shares.append(Share(name, stiffness * unit, damping * unit))
    moves = tree.moves(q)
    sight, flows = Sight(tree, moves), outward(tree, moves, v, [0.0] * tree.nv)
    units = [given_responses(tree, moves, row) for row in np.eye(tree.nv).tolist()] if stiff.pairs else []
    for name, pair in stiff.pairs.items():
        J = np.zeros((3, tree.nv))
        for j, column in pair_slope(pair, sight, units).items():
            J[:, j] = column
        now = PairState(present_motion(tree, sight, flows, v, pair), 0.0)
        K, C = _split(lambda h, pair=pair, now=now: _matrix(pair.law.linear(now, h)[1]), h)
        shares.append(Share(name, J.T @ K @ J, J.T @ C @ J))
    M: Array = np.array(mass_matrix(tree, q), dtype=float)
    reduced = [Share(one.name, _of_state(every, one.K), _of_state(every, one.C)) for one in shares]
    return Frozen(_of_state(every, M), tuple(reduced))


def _of_state(every: AllJoints, matrix: Array) -> Array:
    """A matrix (nv, nv) of the state, from that of all joints."""
    found: Array = np.array(every.masses(matrix.tolist()), dtype=float)
    return found


def felt_mass(
    tree: Tree, q: Sequence[float], places: Sequence[tuple[str, Sequence[float]]], direction: Sequence[float]
) -> float:
    """The mass [kg] that a force along a direction n, in world axes, feels at a point of a body: 1 / (n J M^-1 J^T n).

    `places` has the body and the point in its axes [m]. With a second place, the opposite force acts there, and J is
    the Jacobian of the first relative to the second. The world has no mass that is felt.
    """
    every = tree.all_joints(q)
    tree, q = tree.of_joints, every.q
    n, sight = np.zeros(tree.nv), Sight(tree, tree.moves(q))
    for sign, (body, point) in zip((1.0, -1.0), places, strict=False):
        if body in tree.attachments and tree.attachments[body].link != WORLD:
            at = tree.attachments[body]
            x, y, z = act(at.pose, point)
            n += sign * np.array(sight.into(at.link, direction), dtype=float) @ _jacobian(tree, q, at.link, (x, y, z))
    M: Array = np.array(mass_matrix(tree, q), dtype=float)
    n, M = np.array(every.forces(n.tolist()), dtype=float), _of_state(every, M)
    yielding = float(n @ np.linalg.solve(M, n))
    return 1.0 / yielding if yielding > 0.0 else math.inf


def joint_slopes(
    tree: Tree, q: Sequence[float], v: Sequence[float], force: JointForce, h: float
) -> tuple[float, float]:
    """The stiffness [N m/rad or N/m] and the damping [N m s/rad or N s/m] of a force along a joint at (q, v).

    `h` as for `frozen`.
    """
    at = JointState(force.place(q, coordinates(tree)), force.sum_of(v))
    K, C = _split(lambda h: np.array(force.law.linear(at, h)[1]), h)
    return float(K), float(C)


def _split(slope: Any, h: float) -> tuple[Any, Any]:
    """(stiffness K, damping C) of a law, from slope(h) = h C + h^2 K at the step sizes h and 2 h [s]."""
    once, twice = slope(h), slope(2.0 * h)
    K = (twice - 2.0 * once) / (2.0 * h * h)
    return K, once / h - h * K


def _matrix(D: Sequence[float]) -> Array:
    xx, xy, xz, yy, yz, zz = D
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _jacobian(tree: Tree, q: Sequence[float], link: int, point: Vec3) -> Array:
    """The Jacobian of the velocity of a point in its link's axes, shape (3, nv)."""
    asked = replace(tree, attachments={"point": Attachment(link, Pose(UNITS, point))})
    return np.array(jacobian(asked, q, "point", "local")[:3], dtype=float)
