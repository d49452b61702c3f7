"""Regressors: the forces of a motion are linear in masses, moments and friction,  tau = Y(q, v, a) theta.

The motion of the links does not depend on their masses. In the frame of a body whose origin has the acceleration a
(minus gravity), with angular velocity w, angular acceleration al and U = [al x] + [w x][w x], its parameters

    m [kg],   h = m c [kg m],   I = (Ixx, Ixy, Ixz, Iyy, Iyz, Izz) about its origin [kg m^2]

need the wrench  force = m a + U h,  moment = h x a + I al + w x I w.  A unit velocity of a joint that carries the body
moves it by the twist (s_v, s_w), in the body's frame; the power of the wrench along it is the force of this joint:

    m     s_v . a
    h     U^T s_v + a x s_w
    Ixx   s_w.x al.x + c.x w.x                                       c = s_w x w
    Ixy   s_w.x al.y + s_w.y al.x + c.x w.y + c.y w.x                and so on

Twists are moved outward once from link to link, so that the work is some 100 operations for each pair of a body and a
velocity that moves it. Each velocity has four more parameters: armature (times its acceleration), viscous friction
(times its velocity), Coulomb friction (times the sign of its velocity, 0 at rest) and a constant offset.

Other forms have the same columns. The momentum M v is the force of the acceleration v from rest without gravity, so
that its columns are the same powers. With the twist V_j of the link of velocity j and its axis s_j,

    tau = d/dt (P theta) + H theta,     H = powers of the momentum along -(V_j x s_j), of gravity along s_j, friction

needs no accelerations; nor does the power  tau . v = d/dt (E theta) + D theta  with the energy E theta. The wrench
through a joint is the sum over all bodies beyond it: its components are the powers along six unit twists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from kinemorph.algebra.groups import Pose, bracket, compose, move_twist_back
from kinemorph.algebra.inertia import PAIRS
from kinemorph.algebra.scalar import S, absolute, plus, sign, times
from kinemorph.algebra.turns import Mat3, Vec3
from kinemorph.algebra.vectors import Vec, add, cross, dot, matvec_transposed, neg, sub
from kinemorph.mechanics.recursions.kinematics import dense, link_poses, link_twists
from kinemorph.mechanics.recursions.newton_euler import Flow, carried_point, outward, spin_matrix
from kinemorph.mechanics.trees.motions import ZERO3, Move
from kinemorph.mechanics.trees.tree import WORLD, Link, Tree

OF_BODY = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
OF_VELOCITY = ("armature", "viscous", "coulomb", "offset")
UNITS = tuple(tuple(float(i == k) for i in range(6)) for k in range(6))


class Seen(NamedTuple):
    """The motion of a body in its own frame, as the parameters of the body feel it; see `Flow`."""

    w: Vec3
    al: Vec3
    a: Vec3
    U: Mat3


Twist = tuple[Vec3, Vec3]  # (linear, angular)
Twists = list[dict[int, Twist]]  # for each link the twists of its origin, in its frame, by the row that they belong to
Rows = list[list[S]]


def regressor(tree: Tree, q: Sequence[S], v: Sequence[S], a: Sequence[S], bodies: Sequence[str]) -> Rows:
    """Y at (q, v, a), shape (nv, 10 bodies + 4 nv): OF_BODY for each of the bodies, then OF_VELOCITY for each velocity.

    `bodies` are names of bodies that joints move.
    """
    moves = tree.moves(q)
    rows = _of_bodies(tree, bodies, outward(tree, moves, v, a), unit_twists(tree, moves), tree.nv)
    return [[*row, *_own(k, (a[k], v[k], sign(v[k]), 1.0), tree.nv)] for k, row in enumerate(rows)]


def momentum_regressor(tree: Tree, q: Sequence[S], v: Sequence[S], bodies: Sequence[str]) -> tuple[Rows, Rows]:
    """(P, H) at (q, v), each of the shape and with the columns of `regressor`:  tau = d/dt (P theta) + H theta.

    P theta = M v is the generalized momentum [N m s or N s]; H theta are the forces that do not change it.
    """
    moves, still, n = tree.moves(q), [0.0] * tree.nv, tree.nv
    units, momenta = unit_twists(tree, moves), _momenta(tree, moves, v)
    P = _of_bodies(tree, bodies, momenta, units, n)
    turned = _of_bodies(tree, bodies, momenta, _axis_rates(tree, moves, v), n)
    weights = _of_bodies(tree, bodies, outward(tree, moves, still, still), units, n)
    H = [list(add(*both)) for both in zip(turned, weights, strict=True)]
    return (
        [[*row, *_own(k, (v[k], 0.0, 0.0, 0.0), n)] for k, row in enumerate(P)],
        [[*row, *_own(k, (0.0, v[k], sign(v[k]), 1.0), n)] for k, row in enumerate(H)],
    )


def energy_regressor(tree: Tree, q: Sequence[S], v: Sequence[S], bodies: Sequence[str]) -> tuple[list[S], list[S]]:
    """(E, D) at (q, v), each with an entry for each column of `regressor`:  tau . v = d/dt (E theta) + D theta.

    E theta is the kinetic and potential energy [J], with that of armatures; D theta is the power [W] of friction and
    offsets.
    """
    moves = tree.moves(q)
    whole: Twists = [{0: twist} for twist in link_twists(tree, moves, v)]
    (kinetic,) = _of_bodies(tree, bodies, _momenta(tree, moves, v), whole, 1)
    poses, E = link_poses(tree, q), [times(0.5, x) for x in kinetic]
    for place, name in enumerate(bodies):
        at, first = tree.attachments[name], len(OF_BODY) * place
        T_WB = compose(poses[at.link], at.pose)
        lifted = neg((dot(tree.gravity, T_WB.p), *matvec_transposed(T_WB.R, tree.gravity)))
        E[first : first + 4] = add(E[first : first + 4], lifted)
    D: list[S] = [0.0] * len(E)
    for x in v:
        E += [times(0.5, times(x, x)), 0.0, 0.0, 0.0]
        D += [0.0, times(x, x), absolute(x), x]
    return E, D


def wrench_regressor(
    tree: Tree,
    q: Sequence[S],
    v: Sequence[S],
    a: Sequence[S],
    bodies: Sequence[str],
    frames: Sequence[tuple[int, Pose]],
) -> list[Rows]:
    """The wrench [force; moment] through the joint of a link, for a unit of each parameter, shape (frames, 6, columns).

    Each of `frames` is the index of a link and the pose of this link, as seen from the frame in whose axes and about
    whose origin the wrench is given. The columns are those of `regressor`; those of velocities are 0.
    """
    moves = tree.moves(q)
    own: Twists = [{} for _ in tree.links]
    for place, (link, pose) in enumerate(frames):
        for k, unit in enumerate(UNITS):
            own[link][6 * place + k] = _halves(move_twist_back(pose, unit))
    rows = _of_bodies(tree, bodies, outward(tree, moves, v, a), _carried(tree, moves, own), 6 * len(frames))
    rows = [[*row, *[0.0] * (len(OF_VELOCITY) * tree.nv)] for row in rows]
    return [rows[6 * place : 6 * place + 6] for place in range(len(frames))]


# ── columns of bodies ─────────────────────────────────────────────────────────────────────────────────────────────────


def _of_bodies(tree: Tree, bodies: Sequence[str], flows: Sequence[Flow], twists: Twists, count: int) -> Rows:
    """Rows (count, 10 bodies): the powers, along the twists of each row, of the wrenches that bodies need to move."""
    rows: Rows = [[0.0] * (len(OF_BODY) * len(bodies)) for _ in range(count)]
    for place, name in enumerate(bodies):
        at, first = tree.attachments[name], len(OF_BODY) * place
        seen = _seen(flows[at.link], at.pose)
        for k, twist in twists[at.link].items():
            rows[k][first : first + len(OF_BODY)] = powers(seen, _from_body(twist, at.pose))
    return rows


def powers(seen: Seen, twist: Twist) -> list[S]:
    """The power of the wrench that a body needs, along a twist in its frame, for a unit of each of OF_BODY."""
    (w, al, a, U), (s_v, s_w) = seen, twist
    c = cross(s_w, w)
    columns = (U[0::3], U[1::3], U[2::3])
    lever = cross(a, s_w)
    h = [plus(dot(column, s_v), arm) for column, arm in zip(columns, lever, strict=True)]
    moments = []
    for i, j in PAIRS:
        total = plus(times(s_w[i], al[j]), times(c[i], w[j]))
        if i != j:
            total = plus(total, plus(times(s_w[j], al[i]), times(c[j], w[i])))
        moments.append(total)
    return [dot(s_v, a), *h, *moments]


def _momenta(tree: Tree, moves: Sequence[Move], v: Sequence[S]) -> list[Flow]:
    """The motion of all links that start from rest with the acceleration v, without gravity: see the file's head."""
    return outward(replace(tree, gravity=ZERO3), moves, [0.0] * tree.nv, v)


def _own(k: int, values: Sequence[S], count: int) -> list[S]:
    """The columns OF_VELOCITY of `count` velocities in row k: these values for velocity k, 0 for the others."""
    size = len(OF_VELOCITY)
    return [*[0.0] * (size * k), *values, *[0.0] * (size * (count - k - 1))]


# ── twists ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def unit_twists(tree: Tree, moves: Sequence[Move]) -> Twists:
    """For each link the twists, in its frame and of its origin, of the unit velocities that move it, by index in v."""
    own = [{k: _halves(axis) for k, axis in _axes(link).items()} for link in tree.links]
    return _carried(tree, moves, own)


def _axis_rates(tree: Tree, moves: Sequence[Move], v: Sequence[S]) -> Twists:
    """The twists -(V_j x s_j) of the axis s_j of each velocity j, carried outward as those of `unit_twists` are.

    V_j is the twist of the link in which the axis is fixed.
    """
    own: Twists = []
    for link, (u, w) in zip(tree.links, link_twists(tree, moves, v), strict=True):
        own.append({k: _halves(bracket(axis, (*u, *w))) for k, axis in _axes(link).items()})
    return _carried(tree, moves, own)


def _axes(link: Link) -> dict[int, Vec]:
    """The axes of the joint of a link as twists (6,) in its frame, by index in v."""
    return {k: dense(axis) for k, axis in zip(link.velocities, link.axes, strict=True)}


def _carried(tree: Tree, moves: Sequence[Move], own: Sequence[Mapping[int, Twist]]) -> Twists:
    """For each link the twists of its origin, in its frame: its own ones, and those of all links that carry it."""
    found: Twists = []
    for link, move, new in zip(tree.links, moves, own, strict=True):
        before = {} if link.parent == WORLD else found[link.parent]
        found.append({k: _moved(move, twist) for k, twist in before.items()} | dict(new))
    return found


def _moved(move: Move, twist: Twist) -> Twist:
    """A twist of the parent, in the parent's frame, as that of the link's origin in the link's frame."""
    linear, angular = twist
    turned = move.into(angular)
    at_joint = move.into(_three(add(linear, cross(angular, move.p))))
    return _three(add(at_joint, cross(turned, (0.0, 0.0, move.slide)))), turned


def _seen(flow: Flow, pose: Pose) -> Seen:
    """The motion of a body at a fixed pose in a link, in its own frame."""
    w, al, a = (
        _three(matvec_transposed(pose.R, x)) for x in (flow.w, flow.al, carried_point(flow.a, flow.U, _three(pose.p)))
    )
    return Seen(w, al, a, spin_matrix(w, al)[0])


def _from_body(twist: Twist, pose: Pose) -> Twist:
    """A twist of a link as that of the origin of a body at a fixed pose in it, in the axes of the body."""
    linear, angular = twist
    there = sub(linear, cross(pose.p, angular))
    return _three(matvec_transposed(pose.R, there)), _three(matvec_transposed(pose.R, angular))


def _halves(six: Sequence[S]) -> Twist:
    """A twist, shape (6,), as its linear and its angular part."""
    return _three(six[:3]), _three(six[3:])


def _three(x: Sequence[S]) -> Vec3:
    return (x[0], x[1], x[2])
