"""Inverse dynamics: the recursive Newton-Euler algorithm (RNEA).

Luh, Walker & Paul (1980) on the frames of Park, Bobrow & Ploen (1995); equations 22-28 of the MODUROB paper, corrected
as in docs/errata.md, with a sum over the children of each link. Linear accelerations are classical accelerations of the
link's origin (not spatial accelerations), so linear velocities are never needed. Gravity enters as an upward
acceleration of the world.

Per link, with angular velocity w, angular acceleration al, acceleration a of the origin, all in the link's own frame:

    U = [al x] + [w x][w x]                 acceleration of the point r is a + U r
    force  = m a + U h                      moment = h x a + vee(U Sigma - (U Sigma)^T)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kinemorph.algebra.groups import move_wrench
from kinemorph.algebra.inertia_blocks import Axis
from kinemorph.algebra.scalar import S
from kinemorph.algebra.turns import Mat3, Vec3
from kinemorph.mechanics.trees.motions import ZERO3, Move
from kinemorph.mechanics.trees.tree import WORLD, Link, Tree

Wrench = tuple[Vec3, Vec3]  # (force [N], moment about the link's origin [N m]), in the link's frame


class Flow(NamedTuple):
    """The motion of a link in its own frame: angular velocity w [rad/s], angular acceleration al [rad/s^2],
    acceleration a of the origin minus gravity [m/s^2], and U = [al x] + [w x][w x] by rows.
    """

    w: Vec3
    al: Vec3
    a: Vec3
    U: Mat3
    squares: Vec3  # wx^2, wy^2, wz^2


def inverse_dynamics(
    tree: Tree, q: Sequence[S], v: Sequence[S], a: Sequence[S], wrenches: Mapping[int, Wrench] | None = None
) -> list[S]:
    """Generalized forces, shape (nv,) [N m or N], that give the acceleration `a` at (q, v).

    `wrenches` are external wrenches: link index -> wrench on the link, in its frame and about its origin.
    """
    moves = tree.moves(q)
    flows = outward(tree, moves, v, a)
    loads = inward(tree, moves, flows, wrenches)
    tau: list[S] = [0.0] * tree.nv
    for link, load in zip(tree.links, loads, strict=True):
        for k, axis in enumerate(link.axes):
            tau[link.v + k] = project(axis, load) + link.armature[k] * a[link.v + k]
    return tau


def bias_forces(tree: Tree, q: Sequence[S], v: Sequence[S], wrenches: Mapping[int, Wrench] | None = None) -> list[S]:
    """Coriolis, centrifugal and gravity forces h(q, v), shape (nv,): the forces that give zero acceleration."""
    return inverse_dynamics(tree, q, v, [0.0] * tree.nv, wrenches)


def gravity_forces(tree: Tree, q: Sequence[S]) -> list[S]:
    """The generalized forces, shape (nv,) [N m or N], that keep the robot at rest against gravity."""
    still = [0.0] * tree.nv
    return inverse_dynamics(tree, q, still, still)


# ── outward: motion from root to tips ─────────────────────────────────────────────────────────────────────────────────


def outward(tree: Tree, moves: Sequence[Move], v: Sequence[S], a: Sequence[S]) -> list[Flow]:
    """The motion of every link at joint velocities v and accelerations a, computed from the root to the tips."""
    ground = ground_flow(tree)
    flows: list[Flow] = []
    for link, move in zip(tree.links, moves, strict=True):
        parent = ground if link.parent == WORLD else flows[link.parent]
        flows.append(_carried(link, move, parent, v, a))
    return flows


def ground_flow(tree: Tree) -> Flow:
    """The motion of the world: it does not turn, and it accelerates upward in place of gravity."""
    gx, gy, gz = tree.gravity
    return Flow(ZERO3, ZERO3, (-gx, -gy, -gz), (0.0,) * 9, ZERO3)


def parent_motion(move: Move, parent: Flow) -> tuple[Vec3, Vec3, Vec3]:
    """(w, al, a): angular velocity and acceleration of the parent, and acceleration of its point at move.p, in link
    axes.
    """
    return move.into(parent.w), move.into(parent.al), move.into(carried_point(parent.a, parent.U, move.p))


def _carried(link: Link, move: Move, parent: Flow, v: Sequence[S], a: Sequence[S]) -> Flow:
    """The motion of a link, from its parent's motion and its own joint velocities v and accelerations a."""
    vJ, wJ = joint_twist(link, v)
    aJ, alJ = joint_twist(link, a)
    (wx0, wy0, wz0), (alx, aly, alz), (ax, ay, az) = parent_motion(move, parent)
    wx, wy, wz = wx0 + wJ[0], wy0 + wJ[1], wz0 + wJ[2]
    # al = al_P + al_J + w x w_J
    jx, jy, jz = wJ
    al = (
        alx + wy * jz - wz * jy + alJ[0],
        aly + wz * jx - wx * jz + alJ[1],
        alz + wx * jy - wy * jx + alJ[2],
    )
    U, squares = spin_matrix((wx, wy, wz), al)
    d = move.slide
    # along z, link and parent have the same U; a sliding joint adds a_J + (w + w_P) x v_J
    ax, ay, az = ax + U[2] * d, ay + U[5] * d, az + U[8] * d
    lx, ly, lz = vJ
    sx, sy, sz = wx + wx0, wy + wy0, wz + wz0
    ax = ax + (sy * lz - sz * ly) + aJ[0]
    ay = ay + (sz * lx - sx * lz) + aJ[1]
    az = az + (sx * ly - sy * lx) + aJ[2]
    return Flow((wx, wy, wz), al, (ax, ay, az), U, squares)


def joint_twist(link: Link, rates: Sequence[S]) -> tuple[Vec3, Vec3]:
    """The (linear, angular) part of the sum of the joint's screw axes times their rates.

    `rates`, shape (nv,), are the velocities or the accelerations of all joints.
    """
    twist = [0.0] * 6
    for k, axis in enumerate(link.axes):
        for component, coefficient in axis:
            twist[component] = twist[component] + coefficient * rates[link.v + k]
    return (twist[0], twist[1], twist[2]), (twist[3], twist[4], twist[5])


def spin_matrix(w: Vec3, al: Vec3) -> tuple[Mat3, Vec3]:
    """U = [al x] + [w x][w x], shape (3, 3), by rows, and the squares of the components of w."""
    wx, wy, wz = w
    alx, aly, alz = al
    xx, yy, zz = wx * wx, wy * wy, wz * wz
    xy, xz, yz = wx * wy, wx * wz, wy * wz
    U = (-(yy + zz), xy - alz, xz + aly, xy + alz, -(xx + zz), yz - alx, xz - aly, yz + alx, -(xx + yy))
    return U, (xx, yy, zz)


def carried_point(a: Vec3, U: Mat3, p: Vec3) -> Vec3:
    """The acceleration a + U p of the point p; the term of p_z is added first, because sibling links often share it."""
    x, y, z = p
    return (
        a[0] + U[2] * z + U[0] * x + U[1] * y,
        a[1] + U[5] * z + U[3] * x + U[4] * y,
        a[2] + U[8] * z + U[6] * x + U[7] * y,
    )


# ── inward: wrenches from tips to root ────────────────────────────────────────────────────────────────────────────────


def inward(
    tree: Tree, moves: Sequence[Move], flows: Sequence[Flow], wrenches: Mapping[int, Wrench] | None
) -> list[Wrench]:
    """For every link the wrench that its joint transmits to it, about the link's origin, in its frame."""
    return carried(tree, moves, [inertial_wrench(*both) for both in zip(tree.links, flows, strict=True)], wrenches)


def carried(
    tree: Tree, moves: Sequence[Move], needed: Sequence[Wrench], wrenches: Mapping[int, Wrench] | None
) -> list[Wrench]:
    """For every link the wrench that its joint transmits to it, summed from the tips to the root.

    `needed` are the wrenches that the links need for their motion, `wrenches` the external wrenches by link.
    """
    loads = list(needed)
    for index, (force, moment) in (wrenches or {}).items():
        loads[index] = added(loads[index], (negative(force), negative(moment)))
    for index in range(len(tree.links) - 1, -1, -1):
        parent = tree.links[index].parent
        if parent != WORLD:
            loads[parent] = added(loads[parent], tree.of_all(index, moved_wrench(moves[index], loads[index])))
    return loads


def inertial_wrench(link: Link, flow: Flow) -> Wrench:
    """The wrench that gives the link's own mass its acceleration."""
    m, (hx, hy, hz), (xx, xy, xz, yy, yz, zz) = link.mass, link.h, link.sigma
    ax, ay, az = flow.a
    Uxx, Uxy, Uxz, Uyx, Uyy, Uyz, Uzx, Uzy, Uzz = flow.U
    sx, sy, sz = flow.squares
    force = (
        m * ax + Uxx * hx + Uxy * hy + Uxz * hz,
        m * ay + Uyx * hx + Uyy * hy + Uyz * hz,
        m * az + Uzx * hx + Uzy * hy + Uzz * hz,
    )
    moment = (
        (hy * az - hz * ay) + Uzx * xy - Uyx * xz + Uzy * yy - Uyz * zz + (sz - sy) * yz,
        (hz * ax - hx * az) + Uxy * yz - Uzy * xy + Uxz * zz - Uzx * xx + (sx - sz) * xz,
        (hx * ay - hy * ax) + Uyx * xx - Uxy * yy + Uyz * xz - Uxz * yz + (sy - sx) * xy,
    )
    return force, moment


def moved_wrench(move: Move, load: Wrench) -> Wrench:
    """A wrench, given in a link's frame, expressed in the frame and about the origin of its parent."""
    (fx, fy, fz), (nx, ny, nz) = load
    d = move.slide
    force = move.out((fx, fy, fz))
    nx, ny, nz = move.out((nx - d * fy, ny + d * fx, nz))
    (px, py, pz), (gx, gy, gz) = move.p, force
    return force, (nx + (py * gz - pz * gy), ny + (pz * gx - px * gz), nz + (px * gy - py * gx))


def project(axis: Axis, load: Wrench) -> S:
    """The generalized force of a wrench along a screw axis: its power at unit rate."""
    components = (*load[0], *load[1])
    total: S = 0.0
    for component, coefficient in axis:
        total = total + coefficient * components[component]
    return total


def added(one: Wrench, other: Wrench) -> Wrench:
    """The sum of two wrenches."""
    (a, b, c), (d, e, f) = one
    (u, v, w), (x, y, z) = other
    return (a + u, b + v, c + w), (d + x, e + y, f + z)


def negative(v: Vec3) -> Vec3:
    """The vector -v."""
    return (-v[0], -v[1], -v[2])


def loads_on_links(tree: Tree, frames: Sequence[str], wrenches: Sequence[Sequence[S]]) -> dict[int, Wrench]:
    """The sum of wrenches on each link: link index -> wrench in its frame, about its origin.

    Wrench k, shape (6,), acts at the frame with the name frames[k], in that frame.
    """
    loads: dict[int, Wrench] = {}
    for frame, wrench in zip(frames, wrenches, strict=True):
        at = tree.attachments[frame]
        if at.link == WORLD:
            continue
        load = move_wrench(at.pose, wrench)
        halves = (tuple(load[:3]), tuple(load[3:]))
        loads[at.link] = added(loads[at.link], halves) if at.link in loads else halves
    return loads
