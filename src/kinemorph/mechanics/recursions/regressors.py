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
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinemorph.algebra.groups import Pose
from kinemorph.algebra.scalar import S, plus, sign, times
from kinemorph.algebra.turns import Mat3, Vec3
from kinemorph.algebra.vectors import add, cross, dot, matvec_transposed, sub
from kinemorph.mechanics.recursions.kinematics import dense
from kinemorph.mechanics.recursions.newton_euler import Flow, carried_point, outward, spin_matrix
from kinemorph.mechanics.trees.motions import Move
from kinemorph.mechanics.trees.tree import WORLD, Tree

OF_BODY = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
OF_VELOCITY = ("armature", "viscous", "coulomb", "offset")
PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))  # the entries of I that are parameters


class Seen(NamedTuple):
    """The motion of a body in its own frame, as the parameters of the body feel it; see `Flow`."""

    w: Vec3
    al: Vec3
    a: Vec3
    U: Mat3


Twist = tuple[Vec3, Vec3]  # (linear, angular)


def regressor(tree: Tree, q: Sequence[S], v: Sequence[S], a: Sequence[S], bodies: Sequence[str]) -> list[list[S]]:
    """Y at (q, v, a), shape (nv, 10 bodies + 4 nv): OF_BODY for each of the bodies, then OF_VELOCITY for each velocity.

    `bodies` are names of bodies that joints move.
    """
    moves = tree.moves(q)
    flows = outward(tree, moves, v, a)
    twists = unit_twists(tree, moves)
    inertial = len(OF_BODY) * len(bodies)
    rows: list[list[S]] = [[0.0] * (inertial + len(OF_VELOCITY) * tree.nv) for _ in range(tree.nv)]
    for place, name in enumerate(bodies):
        at, first = tree.attachments[name], len(OF_BODY) * place
        seen = _seen(flows[at.link], at.pose)
        for k, twist in twists[at.link].items():
            rows[k][first : first + len(OF_BODY)] = powers(seen, _from_body(twist, at.pose))
    for k in range(tree.nv):
        first = inertial + len(OF_VELOCITY) * k
        rows[k][first : first + len(OF_VELOCITY)] = (a[k], v[k], sign(v[k]), 1.0)
    return rows


def unit_twists(tree: Tree, moves: Sequence[Move]) -> list[dict[int, Twist]]:
    """For each link the twists, in its frame and of its origin, of the unit velocities that move it, by index in v."""
    found: list[dict[int, Twist]] = []
    for link, move in zip(tree.links, moves, strict=True):
        carried = {} if link.parent == WORLD else found[link.parent]
        own = {k: _moved(move, twist) for k, twist in carried.items()}
        for k, axis in zip(link.velocities, link.axes, strict=True):
            six = dense(axis)
            own[k] = (six[:3], six[3:])
        found.append(own)
    return found


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


def _three(x: Sequence[S]) -> Vec3:
    return (x[0], x[1], x[2])
