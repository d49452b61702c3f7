"""The equations of motion by d'Alembert's principle, from the position matrices of the bodies alone.

Verlinden, Habumuremyi and Kouroussis (EasyDyn), equations 6 to 13. A body i has the pose T_0G(q, t): the axes R and the
position e of its center of mass G. Everything else follows by derivatives along the motion:

    v = de/dt,    a = d2e/dt2,    omega from (dR/dt) R^T = [omega x],    omegad = d omega/dt               (11-13)
    d_j = dv/d(v_j),    theta_j = d omega/d(v_j)               partial velocities                           (7, 8)
    M_jk = sum over i of  m d_j . d_k + theta_j . I theta_k                                                 (9)
    tau_j = sum over i of  d_j . (m (a - g) - f) + theta_j . (I omegad + omega x I omega - n)               (6)

with the force f and the moment n about G of outside wrenches, and the inertia I about G. Derivatives are dual numbers;
no joint axis, no recursion and no merged inertia is used, so that this formulation checks all others. Velocities are
those of the state: driven joints need nothing more than their positions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kinemorph.algebra.dual import Direction
from kinemorph.algebra.groups import Pose, compose
from kinemorph.algebra.scalar import S
from kinemorph.algebra.vectors import (
    Mat,
    Vec,
    add,
    cross,
    dot,
    matmul,
    matvec,
    matvec_transposed,
    scale,
    sub,
    transpose,
)
from kinemorph.mechanics.recursions.kinematics import configuration_rate, link_poses
from kinemorph.mechanics.recursions.newton_euler import Wrench
from kinemorph.mechanics.trees.tree import WORLD, MassiveBody, Tree


class BodyMotion(NamedTuple):
    """The motion of a body in world axes: the pose of its frame at the center of mass G, and its derivatives."""

    T0G: Pose
    v: Vec  # velocity of G [m/s]
    omega: Vec  # angular velocity [rad/s]
    a: Vec  # acceleration of G [m/s^2]
    omegad: Vec  # angular acceleration [rad/s^2]


class Partial(NamedTuple):
    """The partial velocities of one body along one velocity: d of its center of mass, theta of its rotation."""

    d: Vec
    theta: Vec


def body_motions(tree: Tree, q: Sequence[S], v: Sequence[S], a: Sequence[S]) -> list[BodyMotion]:
    """The motion of every body of `tree.bodies` at the state (q, v) and its accelerations `a` (nv,)."""
    space = tree.of_state
    rates = configuration_rate(space, q, v)
    second, first = Direction(), Direction()
    moving = second.all_moved(q, rates)
    twice = first.all_moved(moving, configuration_rate(space, moving, second.all_moved(v, a)))
    time = 0.0 if tree.driving is None else tree.driving.lookup.get("t", 0.0)
    poses = positions(tree.at_time(first.moved(second.moved(time))), twice)
    return [_motion(pose, first, second) for pose in poses]


def partial_velocities(tree: Tree, q: Sequence[S]) -> list[list[Partial]]:
    """For every velocity of the state, the partial velocities of every body of `tree.bodies`, in world axes."""
    second, first = Direction(), Direction()
    found = []
    for k in range(tree.of_state.nv):
        motions = [_motion(pose, first, second) for pose in positions(tree, _along(tree, q, k, first))]
        found.append([Partial(motion.v, motion.omega) for motion in motions])
    return found


def _along(tree: Tree, q: Sequence[S], k: int, first: Direction) -> list[S]:
    """The configuration q as dual numbers along the motion at unit velocity k; coordinates at rest stay as they are."""
    space = tree.of_state
    rates = configuration_rate(space, q, [float(j == k) for j in range(space.nv)])
    return first.all_moved(q, rates)


def positions(tree: Tree, q: Sequence[S]) -> list[Pose]:
    """The pose T_0G of every body of `tree.bodies` at q: its axes, and its center of mass in the world."""
    every = tree.all_joints(q).q
    poses = link_poses(tree, every)
    return [body.pose if body.link == WORLD else compose(poses[body.link], body.pose) for body in tree.bodies]


def _motion(pose: Pose, first: Direction, second: Direction) -> BodyMotion:
    """The motion of a body from its pose, whose entries are dual numbers along the motion: `second` inside `first`."""
    R, dR = ([part(row) for row in pose.R] for part in (first.values, first.tangents))
    v = first.tangents(pose.p)
    turning = matmul(dR, transpose(R))  # (dR/dt) R^T
    omega = (turning[2][1], turning[0][2], turning[1][0])
    now = Pose(tuple(tuple(second.values(row)) for row in R), tuple(second.values(first.values(pose.p))))
    return BodyMotion(
        now,
        tuple(second.values(v)),
        tuple(second.values(omega)),
        tuple(second.tangents(v)),
        tuple(second.tangents(omega)),
    )


# ── dynamics ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def inverse_dynamics(
    tree: Tree, q: Sequence[S], v: Sequence[S], a: Sequence[S], wrenches: Mapping[int, Wrench] | None = None
) -> list[S]:
    """Generalized forces (nv,) that give the accelerations `a` at (q, v), under outside wrenches on links."""
    needs = []
    motions = body_motions(tree, q, v, a)
    for body, motion in zip(tree.bodies, motions, strict=True):
        turned = inertia_in(motion.T0G.R, body)
        force = scale(body.mass, sub(motion.a, tree.gravity))
        spin = cross(motion.omega, matvec(turned, motion.omega))
        needs.append((force, add(matvec(turned, motion.omegad), spin)))
    partials = partial_velocities(tree, q)
    tau: list[S] = [
        _sum(dot(part.d, force) + dot(part.theta, moment) for part, (force, moment) in zip(row, needs, strict=True))
        for row in partials
    ]
    for index, (force, moment) in (wrenches or {}).items():
        tau = list(sub(tau, _of_wrench(tree, q, index, force, moment)))
    return _with_rotors(tree, q, v, a, tau)


def mass_matrix(tree: Tree, q: Sequence[S]) -> list[list[S]]:
    """The mass matrix M(q), shape (nv, nv)."""
    partials = partial_velocities(tree, q)
    inertias = [inertia_in(pose.R, body) for pose, body in zip(positions(tree, q), tree.bodies, strict=True)]
    heavy = [
        [
            (scale(body.mass, part.d), matvec(inertia, part.theta))
            for part, body, inertia in zip(row, tree.bodies, inertias, strict=True)
        ]
        for row in partials
    ]
    M = [
        [_sum(dot(p.d, f) + dot(p.theta, n) for p, (f, n) in zip(row, column, strict=True)) for column in heavy]
        for row in partials
    ]
    for k, column in enumerate(_rotor_masses(tree, q)):
        for j, x in enumerate(column):
            M[j][k] = M[j][k] + x
    return M


def inertia_in(R: Mat, body: MassiveBody) -> Mat:
    """The inertia of a body about its center of mass in world axes, R I R^T, where R are the axes of the body."""
    return matmul(matmul(R, body.inertia), transpose(R))


def _of_wrench(tree: Tree, q: Sequence[S], index: int, force: Vec, moment: Vec) -> list[S]:
    """The generalized forces (nv,) of a wrench on a link, given in its axes and about its origin."""
    second, first = Direction(), Direction()
    found: list[S] = []
    for k in range(tree.of_state.nv):
        every = tree.all_joints(_along(tree, q, k, first)).q
        motion = _motion(link_poses(tree, every)[index], first, second)
        R = motion.T0G.R
        found.append(dot(matvec_transposed(R, motion.v), force) + dot(matvec_transposed(R, motion.omega), moment))
    return found


# ── armatures ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _rotor_masses(tree: Tree, q: Sequence[S]) -> list[list[S]]:
    """The columns (nv,) that armatures add to the mass matrix: armature * rate_j * rate_k of their joint's rate."""
    n = tree.of_state.nv
    rows = _rotor_rates(tree, q)
    return [[_sum(rotor * row[j] * row[k] for rotor, row in rows) for j in range(n)] for k in range(n)]


def _with_rotors(tree: Tree, q: Sequence[S], v: Sequence[S], a: Sequence[S], tau: list[S]) -> list[S]:
    """The sum (nv,) of the generalized forces `tau` and the forces that accelerate the armatures (rotor inertias)."""
    rotors = _rotors(tree)
    if not rotors:
        return tau
    every = tree.all_joints(q, v).accelerations(a)
    for (rotor, row), index in zip(_rotor_rates(tree, q), rotors, strict=True):
        tau = [x + rotor * every[index] * rate for x, rate in zip(tau, row, strict=True)]
    return tau


def _rotor_rates(tree: Tree, q: Sequence[S]) -> list[tuple[S, list[S]]]:
    """(armature, rates (nv,) of its velocity along the velocities of the state) of all armatures."""
    n = tree.of_state.nv
    slopes = tree.all_joints(q).F if _rotors(tree) else []
    return [
        (rotor, [float(j == k) for j in range(n)] if k < n else [slopes[k - n].get(j, 0.0) for j in range(n)])
        for k, rotor in _rotors(tree).items()
    ]


def _rotors(tree: Tree) -> dict[int, S]:
    """The armatures that are not structurally zero, by velocity index of all joints."""
    every = {link.v + k: rotor for link in tree.links for k, rotor in enumerate(link.armature)}
    return {k: rotor for k, rotor in every.items() if not (rotor.__class__ is float and rotor == 0.0)}


def _sum(terms: Iterable[S]) -> S:
    total: S = 0.0
    for term in terms:
        total = total + term
    return total
