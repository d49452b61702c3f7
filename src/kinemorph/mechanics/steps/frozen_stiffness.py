"""How stiff a robot is at a state: its stiff forces linearized there, against its mass.

    M a + C v + K w = 0,      K = sum J^T (-df/dx) J + diag(-dtau/dq),      C = sum J^T (-df/dv) J + diag(-dtau/dv)

The slopes are those of the laws' own `linear`, symmetric and positive semi-definite, so this motion always decays; a
step for which it grows is too large for an explicit method. Weight and velocity products are left out: they are slow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import Pose
from kinemorph.mechanics.recursions.articulated_bodies import given_responses
from kinemorph.mechanics.recursions.composite_bodies import mass_matrix
from kinemorph.mechanics.recursions.kinematics import jacobian
from kinemorph.mechanics.recursions.newton_euler import outward
from kinemorph.mechanics.steps.implicit_forces import coordinates, present_forces, present_motion
from kinemorph.mechanics.steps.pair_forces import PairForce, PairState, pair_slope
from kinemorph.mechanics.steps.point_states import UNITS, JointForce, JointState, PointForce, Sight
from kinemorph.mechanics.trees.tree import Attachment, Tree


@dataclass(frozen=True)
class Share:
    """The contribution of one law to K and C, (nv, nv) each."""

    name: str
    K: Array
    C: Array


@dataclass(frozen=True)
class Frozen:
    """A robot's mass matrix and the shares of its stiff forces."""

    M: Array
    shares: tuple[Share, ...]

    @property
    def K(self) -> Array:
        """All stiffness, (nv, nv)."""
        return sum((share.K for share in self.shares), np.zeros_like(self.M))

    @property
    def C(self) -> Array:
        """All damping, (nv, nv)."""
        return sum((share.C for share in self.shares), np.zeros_like(self.M))

    def system(self) -> Array:
        """d/dt [w, v] = A [w, v], shape (2 nv, 2 nv)."""
        n = len(self.M)
        lower = np.linalg.solve(self.M, np.hstack([-self.K, -self.C]))
        return np.vstack([np.hstack([np.zeros((n, n)), np.eye(n)]), lower])

    def stiffest(self, rates: Array) -> str:
        """The name of the law that contributes most to a motion [w, v], real or complex."""
        w, v = np.split(rates, 2)
        work = [abs(np.vdot(v, share.K @ w + share.C @ v)) for share in self.shares]
        return self.shares[int(np.argmax(work))].name


class StiffByName(NamedTuple):
    """Stiff forces by the names of their elements."""

    points: Mapping[str, PointForce] = {}
    joints: Mapping[str, JointForce] = {}
    pairs: Mapping[str, PairForce] = {}


def frozen(tree: Tree, q: Sequence[float], v: Sequence[float], stiff: StiffByName, h: float = 1e-3) -> Frozen:
    """The robot at (q, v) with laws by name; `h` [s] is the step size of the slopes, and matters only where they are
    bounded.
    """
    _, _, states = present_forces(tree, q, v, list(stiff.points.values()), [])
    shares = []
    for (name, force), state in zip(stiff.points.items(), states, strict=True):
        J = _jacobian(tree, q, force)
        K, C = _split(lambda h, force=force, state=state: _matrix(force.law.linear(state, h)[1]), h)
        shares.append(Share(name, J.T @ K @ J, J.T @ C @ J))
    places = coordinates(tree)
    for name, (j, law) in stiff.joints.items():
        at = JointState(q[places[j]] if j in places else None, v[j])
        K, C = _split(lambda h, law=law, at=at: np.array(law.linear(at, h)[1]), h)
        unit = np.zeros((tree.nv, tree.nv))
        unit[j, j] = 1.0
        shares.append(Share(name, K * unit, C * unit))
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
    return Frozen(M, tuple(shares))


def _split(slope: Any, h: float) -> tuple[Any, Any]:
    """(stiffness, damping) from D = h C + h^2 K at two step sizes."""
    once, twice = slope(h), slope(2.0 * h)
    K = (twice - 2.0 * once) / (2.0 * h * h)
    return K, once / h - h * K


def _matrix(D: Sequence[float]) -> Array:
    xx, xy, xz, yy, yz, zz = D
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _jacobian(tree: Tree, q: Sequence[float], force: PointForce) -> Array:
    """The Jacobian of the velocity of a point in its link's axes, shape (3, nv)."""
    asked = replace(tree, attachments={"point": Attachment(force.link, Pose(UNITS, force.point))})
    return np.array(jacobian(asked, q, "point", "local")[:3], dtype=float)
