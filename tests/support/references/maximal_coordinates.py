"""An independent solution of closed mechanisms: every body by its own six velocities, every joint by its conditions.

    M A = F + C^T lambda,      C A = gamma          Newton and Euler for each body; tree joints and loops alike

A body's velocities are [velocity of its center of mass; angular velocity] in world axes. A joint keeps points together
and dot products of vectors constant; their second derivatives are written out here by vector algebra. Nothing is taken
from the package but the data of the Robot: which body, which kind, which frames. Everything is NumPy, ranks are
judged by singular values, and joint coordinates appear at the very end, by the motion of a child seen from its parent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

WORLD = "world"
Array = np.ndarray
RANK = 1e-9  # of the largest singular value


# ── poses ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def pose(R: Any, p: Any) -> Array:
    """(4, 4) of a rotation and an origin."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def inverse(T: Array) -> Array:
    R = T[:3, :3].T
    return pose(R, -R @ T[:3, 3])


def cross(x: Array, y: Array) -> Array:
    """x cross y of two three-vectors; NumPy's own takes ten times as long for so few numbers."""
    (a, b, c), (d, e, f) = x.tolist(), y.tolist()
    return np.array([b * f - c * e, c * d - a * f, a * e - b * d])


def skew(x: Array) -> Array:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def turn(axis: Any, angle: float) -> Array:
    """Rodrigues' rotation (3, 3) about a unit axis."""
    K = skew(np.asarray(axis, dtype=float))
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)


def turn_of_quaternion(q: Any) -> Array:
    w, x = q[0], np.asarray(q[1:], dtype=float)
    return (w * w - x @ x) * np.eye(3) + 2.0 * np.outer(x, x) + 2.0 * w * skew(x)


def motion(kind: str, q: Any, axis: Any = (0, 0, 1), axis2: Any = (1, 0, 0), pitch: float = 0.0) -> Array:
    """The pose (4, 4) of the joint frame on the child in the joint frame on the parent."""
    along, still, here = np.asarray(axis, dtype=float), np.eye(3), np.zeros(3)
    match kind:
        case "fixed":
            return np.eye(4)
        case "revolute":
            return pose(turn(axis, q[0]), here)
        case "prismatic":
            return pose(still, q[0] * along)
        case "helical":
            return pose(turn(axis, q[0]), pitch * q[0] * along)
        case "cylindrical":
            return pose(turn(axis, q[0]), q[1] * along)
        case "universal":
            return pose(turn(axis, q[0]) @ turn(axis2, q[1]), here)
        case "spherical":
            return pose(turn_of_quaternion(q), here)
        case "planar":
            return pose(turn((0, 0, 1), q[2]), (q[0], q[1], 0.0))
        case "free":
            return pose(turn_of_quaternion(q[3:]), q[:3])
    raise ValueError(kind)


def motion_of(joint: Any, q: Any) -> Array:
    return motion(joint.kind, q, joint.axis, joint.axis2, float(joint.pitch))


# ── the mechanism at one configuration ────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Side:
    """One side of a joint: which body, its axes R (3, 3), the joint's origin, seen from the center of mass as `arm`."""

    body: int  # -1: the world
    R: Array
    origin: Array
    arm: Array


@dataclass(frozen=True)
class Seat:
    """Both sides of a joint, and its axes in the world: the first on the parent's side, the second on the child's."""

    joint: Any
    A: Side
    B: Side
    axis: Array
    axis2: Array


class Mechanism:
    """A robot at q (nq,): where everything is, the conditions of all joints, and their rates at velocities V (6 n,)."""

    def __init__(self, robot: Any, q: Array) -> None:
        self.robot = robot
        self.places = {body.name: k for k, body in enumerate(robot.bodies)}
        self.size = 6 * len(robot.bodies)
        self.poses = self._poses(q)
        self.joints = [self._seat(joint) for joint in robot.joints]
        self.loops = [self._seat(joint) for joint in robot.loops]

    def _poses(self, q: Array) -> dict[str, Array]:
        poses, waiting, at = {WORLD: np.eye(4)}, [], 0
        for joint in self.robot.joints:
            waiting.append((joint, q[at : at + joint.nq]))
            at += joint.nq
        while waiting:  # children may be declared before their parents
            joint, mine = waiting.pop(0)
            if joint.parent not in poses:
                waiting.append((joint, mine))
                continue
            T = poses[joint.parent] @ pose(*joint.placement) @ motion_of(joint, mine)
            poses[joint.child] = T @ inverse(pose(*joint.child_placement))
        return poses

    def _seat(self, joint: Any) -> Seat:
        A, B = self._side(joint.parent, joint.placement), self._side(joint.child, joint.child_placement)
        return Seat(joint, A, B, A.R @ np.array(joint.axis, dtype=float), B.R @ np.array(joint.axis2, dtype=float))

    def _side(self, body: str, placement: Any) -> Side:
        T = self.poses[body] @ pose(*placement)
        k = self.places.get(body, -1)
        return Side(k, T[:3, :3], T[:3, 3], T[:3, 3] - (self.centers[k] if k >= 0 else 0.0))

    @cached_property
    def centers(self) -> list[Array]:
        return [(self.poses[b.name] @ [*b.com, 1.0])[:3] for b in self.robot.bodies]

    @cached_property
    def inertias(self) -> list[Array]:
        turns = [self.poses[b.name][:3, :3] for b in self.robot.bodies]
        return [R @ np.array(b.inertia, dtype=float) @ R.T for R, b in zip(turns, self.robot.bodies, strict=True)]

    @cached_property
    def mass_matrix(self) -> Array:
        M = np.zeros((self.size, self.size))
        for k, (body, inertia) in enumerate(zip(self.robot.bodies, self.inertias, strict=True)):
            M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = float(body.mass) * np.eye(3)
            M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = inertia
        return M

    def forces(self, V: Array) -> Array:
        """Weight, and what turns the spin of a body."""
        F = np.zeros(self.size)
        for k, body in enumerate(self.robot.bodies):
            w = V[6 * k + 3 : 6 * k + 6]
            F[6 * k : 6 * k + 3] = float(body.mass) * np.array(self.robot.gravity, dtype=float)
            F[6 * k + 3 : 6 * k + 6] = -cross(w, self.inertias[k] @ w)
        return F

    # ── conditions ────────────────────────────────────────────────────────────────────────────────────────────────

    def conditions(self, seats: Iterable[Seat], V: Array | None = None) -> tuple[Array, Array]:
        """C (m, 6 n) and gamma (m,) of joints: what they allow has C A = gamma."""
        found = [row for seat in seats for row in Conditions(self, seat, V).rows()]
        return np.array([row for row, _ in found]).reshape(-1, self.size), np.array([bias for _, bias in found])

    def coordinates(self, V: Array | None = None) -> tuple[Array, Array]:
        """G (nv, 6 n) and what is to be added: v = G V and vdot = G A + bias, wherever the tree joints hold."""
        G, bias = [np.zeros((0, self.size))], [np.zeros(0)]
        for seat in self.joints:
            one, more = Conditions(self, seat, V).coordinates()
            G.append(one)
            bias.append(more)
        return np.vstack(G), np.concatenate(bias)

    def couplings(self, G: Array, bias: Array) -> tuple[Array, Array]:
        """C and gamma of joints that follow others, from rates of coordinates: v_j = multiplier v_leader."""
        ends = np.cumsum([seat.joint.nv for seat in self.joints])
        at = {seat.joint.name: end - seat.joint.nv for seat, end in zip(self.joints, ends, strict=True)}
        rows, gammas = [], []
        for coupling in self.robot.couplings:
            j, leader, ratio = at[coupling.joint], at[coupling.leader], float(coupling.multiplier)
            rows.append(G[j] - ratio * G[leader])
            gammas.append(ratio * bias[leader] - bias[j])
        return np.array(rows), np.array(gammas)

    def closed_conditions(self, V: Array | None = None) -> tuple[Array, Array]:
        """C and gamma of everything: tree joints, loops, couplings."""
        C, gamma = self.conditions([*self.joints, *self.loops], V)
        if not self.robot.couplings:
            return C, gamma
        more, bias = self.couplings(*self.coordinates(V))
        return np.vstack([C, more]), np.concatenate([gamma, bias])

    @cached_property
    def spread(self) -> Array:
        """H (6 n, nv): velocities of bodies from those of the tree joints."""
        G, _ = self.coordinates()
        C, _ = self.conditions(self.joints)
        return np.linalg.solve(np.vstack([G, C]), np.eye(self.size)[:, : len(G)])

    def moving(self, rng: np.random.Generator) -> Array:
        """Velocities v (nv,) of the tree joints in a random motion that all joints allow."""
        C, _ = self.closed_conditions()
        N = null_space(C)
        V = N @ rng.normal(size=N.shape[1])
        G, _ = self.coordinates()
        return G @ V


class Conditions:
    """The rows of one joint. Body A carries the joint's first side, B the second; d leads from A's origin to B's.

    Each condition is the row of C that it gives, (6 n,), and its gamma: minus what the second derivative has of
    velocities alone.
    """

    def __init__(self, mechanism: Mechanism, seat: Seat, V: Array | None) -> None:
        self.size, self.seat, self.A, self.B = mechanism.size, seat, seat.A, seat.B
        V = np.zeros(self.size) if V is None else V
        self.vA, self.wA = _velocity(V, seat.A)
        self.vB, self.wB = _velocity(V, seat.B)
        self.d = self.B.origin - self.A.origin
        # velocities of the two origins, each as a point of its body
        self.pA, self.pB = self.vA + cross(self.wA, self.A.arm), self.vB + cross(self.wB, self.B.arm)

    def rows(self) -> list[tuple[Array, float]]:
        seat, A, B = self.seat, self.A, self.B
        along, first, second = _across(seat.axis)
        b = B.R @ np.array(seat.joint.axis, dtype=float)  # the first axis, as the child has it
        point = [lambda x=x: self.travel(x) for x in A.R.T]
        line = [lambda x=x: self.travel(x) for x in (first, second)]
        parallel = [lambda x=x: self.angle(x, b) for x in (first, second)]
        turned = [lambda i=i, j=j: self.angle(A.R[:, i], B.R[:, j]) for i, j in ((0, 1), (1, 2), (2, 0))]
        kinds = {
            "fixed": point + turned,
            "revolute": point + parallel,
            "prismatic": line + turned,
            "helical": [*line, *parallel, lambda: self.screw(along)],
            "cylindrical": line + parallel,
            "universal": [*point, lambda: self.angle(seat.axis, seat.axis2)],
            "gimbal": point,
            "spherical": point,
            "planar": [lambda: self.travel(along), *parallel],
            "free": [],
        }
        return [condition() for condition in kinds[seat.joint.kind]]

    def travel(self, x: Array) -> tuple[Array, float]:
        """x . d is constant, for x on A."""
        on_A = (-x, cross(x, self.d) - cross(self.A.arm, x))
        on_B = (x, cross(self.B.arm, x))
        turning = cross(self.wA, x)  # dx/dt
        rest = x @ (_inward(self.wB, self.B.arm) - _inward(self.wA, self.A.arm))
        rest += cross(self.wA, turning) @ self.d + 2.0 * turning @ (self.pB - self.pA)
        return self._row(on_A, on_B), -rest

    def angle(self, x: Array, y: Array) -> tuple[Array, float]:
        """x . y is constant, for x on A and y on B."""
        n = cross(x, y)
        rate = cross(cross(self.wA, x), y) + cross(x, cross(self.wB, y))
        return self._row((_ZERO, n), (_ZERO, -n)), -(self.wA - self.wB) @ rate

    def screw(self, x: Array) -> tuple[Array, float]:
        """x . d grows by the pitch with the turn of B against A about x, for x on A."""
        row, gamma = self.travel(x)
        pitch = float(self.seat.joint.pitch)
        turned = -cross(self.wA, x) @ (self.wB - self.wA)
        return row - pitch * self._row((_ZERO, -x), (_ZERO, x)), gamma - pitch * turned

    def coordinates(self) -> tuple[Array, Array]:
        """G (nv, 6 n) and bias (nv,) of this joint: v = G V, vdot = G A + bias.

        The motion of the child's side seen from the parent, [velocity of the origin; angular velocity], is T v.
        """
        T, carriers = self._directions()
        seen = np.zeros((6, self.size))
        arm = self.B.origin - (self.A.origin - self.A.arm)  # from A's center of mass to B's side
        for k, unit in enumerate(np.eye(3)):
            seen[k] = self._row((-unit, -cross(arm, unit)), (unit, cross(self.B.arm, unit)))
            seen[3 + k] = self._row((_ZERO, -unit), (_ZERO, unit))
        rest = np.zeros(6)
        rest[:3] = _inward(self.wB, self.B.arm) - cross(self.wA, self.pB - self.vA)
        velocity = np.concatenate([self.pB - self.vA - cross(self.wA, arm), self.wB - self.wA])
        G = np.linalg.pinv(T)
        v = G @ velocity
        carried = sum(
            (np.concatenate([cross(w, t[:3]), cross(w, t[3:])]) * x for w, t, x in zip(carriers, T.T, v, strict=True)),
            start=np.zeros(6),
        )
        return G @ seen, G @ (rest - carried)

    def _directions(self) -> tuple[Array, list[Array]]:
        """T (6, nv), the direction of every velocity, and the angular velocity of the body on which it is constant."""
        joint, axis, R = self.seat.joint, self.seat.axis, self.B.R
        slides = [(x, _ZERO, self.wB) for x in R.T]
        turns = [(_ZERO, x, self.wB) for x in R.T]
        rows = {
            "fixed": [],
            "revolute": [(_ZERO, axis, self.wA)],
            "prismatic": [(axis, _ZERO, self.wA)],
            "helical": [(float(joint.pitch) * axis, axis, self.wA)],
            "cylindrical": [(_ZERO, axis, self.wA), (axis, _ZERO, self.wA)],
            "universal": [(_ZERO, axis, self.wA), (_ZERO, self.seat.axis2, self.wB)],
            "spherical": turns,
            "planar": [*slides[:2], turns[2]],
            "free": slides + turns,
        }[joint.kind]
        return np.array([[*t, *s] for t, s, _ in rows]).reshape(-1, 6).T, [w for _, _, w in rows]

    def _row(self, on_A: tuple[Array, Array], on_B: tuple[Array, Array]) -> Array:
        row = np.zeros(self.size)
        for side, (linear, angular) in ((self.A, on_A), (self.B, on_B)):
            if side.body >= 0:
                row[6 * side.body : 6 * side.body + 3] += linear
                row[6 * side.body + 3 : 6 * side.body + 6] += angular
        return row


_ZERO = np.zeros(3)


def _velocity(V: Array, side: Side) -> tuple[Array, Array]:
    """Of the center of mass, and angular; the world stands still."""
    k = 6 * side.body
    return (V[k : k + 3], V[k + 3 : k + 6]) if side.body >= 0 else (_ZERO, _ZERO)


def _inward(w: Array, arm: Array) -> Array:
    return cross(w, cross(w, arm))


def _across(axis: Array) -> tuple[Array, Array, Array]:
    """A unit axis and two directions across it."""
    first = cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    first /= np.linalg.norm(first)
    return axis, first, cross(axis, first)


# ── the solution ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Solution:
    """Accelerations (nv,), rank of loops and couplings on the tree, mobility, and what loops do where it is decided.

    `effort`: what all loops and couplings together do on the tree's velocities, (nv,) [N or N m]; `efforts` the same by
    loop, of those whose rows repeat nothing.
    `smallest` is the least singular value that counts, against the largest; `residual` how far conditions are missed.
    """

    a: Array
    rank: int
    mobility: int
    effort: Array
    efforts: dict[str, Array]
    smallest: float
    residual: float


def solve(mechanism: Mechanism, v: Array, tau: Array, locked: Sequence[int] = ()) -> Solution:
    """A mechanism that moves by v (nv,) under joint forces tau (nv,), by the velocities of all its bodies.

    `locked` are velocities, by index, that do not change.
    """
    robot, V = mechanism.robot, mechanism.spread @ v
    C, gamma = mechanism.closed_conditions(V)
    G, bias = mechanism.coordinates(V)
    C, gamma = np.vstack([C, G[list(locked)]]), np.concatenate([gamma, -bias[list(locked)]])
    rotors = np.array([float(x) for joint in robot.joints for x in joint.armature])
    M = mechanism.mass_matrix + G.T @ (rotors[:, None] * G)
    F = mechanism.forces(V) + G.T @ (tau - rotors * bias)

    # least squares on C A = gamma, then Newton and Euler along what is left free
    U, s, Wt = np.linalg.svd(C)
    rank = int((s > RANK * s[0]).sum())
    A = Wt[:rank].T @ ((U[:, :rank].T @ gamma) / s[:rank])
    N = Wt[rank:].T
    A = A + N @ np.linalg.solve(N.T @ M @ N, N.T @ (F - M @ A)) if N.size else A

    # a loop's reaction is decided where no combination of rows that says nothing has a share of its rows
    lambdas = np.linalg.lstsq(C.T, M @ A - F, rcond=RANK)[0]
    idle = np.abs(U[:, rank:]).max(axis=1, initial=0.0)
    efforts, start = {}, sum(6 - seat.joint.nv for seat in mechanism.joints)
    for seat in mechanism.loops:
        mine = slice(start, start + 6 - seat.joint.nv)
        if (idle[mine] < RANK).all():
            efforts[seat.joint.name] = mechanism.spread.T @ C[mine].T @ lambdas[mine]
        start = mine.stop
    return Solution(
        a=G @ A + bias,
        rank=rank - (mechanism.size - len(v)),
        mobility=mechanism.size - rank,
        effort=mechanism.spread.T @ (M @ A - F),
        efforts=efforts,
        smallest=float(s[rank - 1] / s[0]),
        residual=float(np.abs(C @ A - gamma).max(initial=0.0)),
    )


def null_space(C: Array) -> Array:
    _, s, Wt = np.linalg.svd(C)
    return Wt[int((s > RANK * s[0]).sum()) :].T
