"""How motion along each axis changes the loads on the robot: the part of the derivatives whose cost is linear in the
number of links.

Singh, Russo & Wensing (2022), "Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra",
on local frames. For an axis S = [s; z] of a link, V and A the twist and the acceleration of its parent, V' the twist of
the link itself, all at the link's origin:

    psi1 = V x S        psi2 = A x S + V x psi1        mixed = psi1 + V' x S                  (a `Direction`)

Moving along S turns everything that the link carries, while the parent keeps its motion. Let f, I and B be the force,
the inertia and the velocity coupling of the link and all it carries as one body. Then the load on the link changes by

    u = I psi2 + 2 B psi1 + S x* f   per unit of q
    w = I mixed + 2 B S              per unit of v
    t = I S                          per unit of a

and P = 2 B^T S tells how the link's own forces change with axes nearer to the root (a `Response`). Three changes save
arithmetic. Velocities are measured from the link's own origin as if it moved uniformly: only P, psi1, psi2 and mixed
depend on that choice, so linear velocities are never needed; P changes by 2 c x (force of t) where the velocity of the
origin changes by c. Over mass points m at r with velocity r', the coupling B is

    B = [[0, -p^], [0, tr(G) 1 - G]],    p = sum m r',    G = sum m r' r^T

so that B x needs the angular part of x only, and P is a moment alone. And where r' = w x r + (motion relative to the
link), the first part is combined with I: u and w are the loads of one rigid body whose acceleration a + U r varies by

    da + dU r,      dU = [dal x] + [dw x][w x] + [w x][dw x]

plus 2 B of the motion relative to the link alone, which needs only the velocities of the joints that the link carries.
For u, da is the linear part of psi2 and dw the angular part of psi1; for w, da is the linear part of mixed, dw = z, and
dal is the angular part of psi1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kinemorph.algebra.groups import bracket, cobracket
from kinemorph.algebra.inertia import symmetric
from kinemorph.algebra.inertia_blocks import column, rigid_blocks
from kinemorph.algebra.scalar import S
from kinemorph.algebra.turns import Mat3, Vec3
from kinemorph.algebra.vectors import (
    Mat,
    Vec,
    add,
    cross,
    dot,
    matvec,
    minus,
    neg,
    plus,
    scale,
    times,
    transpose,
    zeros,
)
from kinemorph.mechanics.recursions.composite_bodies import composite_moments
from kinemorph.mechanics.recursions.kinematics import dense
from kinemorph.mechanics.recursions.newton_euler import (
    Flow,
    Wrench,
    ground_flow,
    inward,
    joint_twist,
    parent_motion,
    spin_matrix,
)
from kinemorph.mechanics.trees.motions import ELEMENTARY, ZERO3, Move
from kinemorph.mechanics.trees.tree import WORLD, Moments, Tree


class Direction(NamedTuple):
    """How motion along an axis moves everything that it carries: twists [linear; angular], shape (6,).

    The formulas are in the docstring of this file.
    """

    S: Vec
    psi1: Vec
    psi2: Vec
    mixed: Vec
    dal: Vec3  # change of the link's angular acceleration


class Response(NamedTuple):
    """How motion along an axis changes the load on its link: wrenches [force; moment], shape (6,), except for P."""

    t: Vec  # per unit of acceleration
    P: Vec  # a moment, shape (3,): how forces along the link's own axes change with axes nearer to the root
    u: Vec  # per unit of q
    w: Vec  # per unit of velocity
    u_inside: Vec  # u without S x* f, for the axes of the same link


_NO_DIRECTION, _NO_RESPONSE = Direction((), (), (), (), ()), Response((), (), (), (), ())


class Jump(NamedTuple):
    """The velocity [m/s] of a link's origin relative to its parent's origin, as the sum of two parts."""

    slide: Vec3  # the part of the slide and of the joint, in the link's axes
    before: Vec3  # the part before the slide, in the parent's axes


def axis_directions(tree: Tree, moves: Sequence[Move], flows: Sequence[Flow], v: Sequence[S]) -> list[Direction]:
    """The `Direction` of every axis: how motion along it moves all that it carries.

    S, psi1, psi2 and mixed are in the frame of its link; velocities are measured from the link's origin.
    """
    ground = ground_flow(tree)
    directions = [_NO_DIRECTION] * tree.nv
    for link, move, flow in zip(tree.links, moves, flows, strict=True):
        w, al, (ax, ay, az) = parent_motion(move, ground if link.parent == WORLD else flows[link.parent])
        # U of the parent; where both turn about one axis, U z is the same for parent and link
        U = flow.U if ELEMENTARY[link.kind].axial else spin_matrix(w, al)[0]
        acceleration = (ax + U[2] * move.slide, ay + U[5] * move.slide, az + U[8] * move.slide)
        sliding, turning = joint_twist(link, v)
        drift = neg(sliding)  # velocity of the parent, relative to the origin that slides away from it
        for k, axis in enumerate(link.axes):
            twist = dense(axis)
            s, z = twist[:3], twist[3:]
            psi1 = bracket((*drift, *w), twist)
            linear = add(_times(U, s), add(cross(acceleration, z), scale(2.0, cross(drift, psi1[3:]))))
            mixed = add(psi1, bracket((*ZERO3, *flow.w), twist))
            dal = add(cross(al, z), cross(psi1[3:], turning))
            directions[link.v + k] = Direction(twist, psi1, (*linear, *_times(U, z)), mixed, dal)
    return directions


def axis_responses(
    tree: Tree,
    moves: Sequence[Move],
    flows: Sequence[Flow],
    v: Sequence[S],
    directions: Sequence[Direction],
    wrenches: Mapping[int, Wrench] | None,
) -> list[Response]:
    """The `Response` of every axis: how motion along it changes the load on its link.

    t, P, u and w are in the frame of the link; velocities are measured from the link's origin.
    """
    loads = inward(tree, moves, flows, wrenches)
    composites = composite_moments(tree, moves)
    inner = inner_flux(tree, moves, v, composites)
    responses = [_NO_RESPONSE] * tree.nv
    for link, flow, load, moments, (p, G) in zip(tree.links, flows, loads, composites, inner, strict=True):
        K, w = _coupling(G), flow.w
        for k, axis in enumerate(link.axes):
            S, psi1, psi2, mixed, dal = directions[link.v + k]
            s, z, dw = S[:3], S[3:], psi1[3:]
            u_inside = add(_load(moments, psi2[:3], _varied(w, dw, dal)), _coupled(p, K, dw))
            P = add(matvec(symmetric(moments[2]), scale(2.0, cross(w, z))), matvec(transpose(K), z))
            responses[link.v + k] = Response(
                t=column(rigid_blocks(moments), axis),
                P=add(P, cross(add(scale(2.0, cross(w, moments[1])), p), s)),
                u=add(u_inside, cobracket(S, (*load[0], *load[1]))),
                w=add(_load(moments, mixed[:3], _varied(w, z, dw)), _coupled(p, K, z)),
                u_inside=u_inside,
            )
    return responses


def origin_jumps(tree: Tree, moves: Sequence[Move], flows: Sequence[Flow], v: Sequence[S]) -> list[Jump]:
    """The velocity of the origin of every link relative to the origin of its parent."""
    jumps: list[Jump] = []
    for link, move in zip(tree.links, moves, strict=True):
        if link.parent == WORLD:
            jumps.append(Jump(ZERO3, ZERO3))
            continue
        w = flows[link.parent].w
        wx, wy, _ = move.into(w)
        x, y, z = joint_twist(link, v)[0]
        jumps.append(Jump((x + wy * move.slide, y - wx * move.slide, z), cross(w, move.p)))
    return jumps


def inner_flux(
    tree: Tree, moves: Sequence[Move], v: Sequence[S], composites: Sequence[Moments]
) -> list[tuple[Vec3, Mat3]]:
    """(2 p, 2 G) of every link with all it carries: p = sum m r', G = sum m r' r^T, r and r' as seen from the link.

    The sums are over mass points m at r that move at r'.
    """
    ps = [ZERO3] * len(tree.links)
    Gs: list[Mat3] = [zeros(9)] * len(tree.links)
    for index in range(len(tree.links) - 1, -1, -1):
        link, move, (m, h, sigma) = tree.links[index], moves[index], composites[index]
        if link.parent == WORLD:
            continue
        sliding, turning = (scale(2.0, part) for part in joint_twist(link, v))
        p = add(ps[index], add(cross(turning, h), scale(m, sliding)))
        columns = [cross(turning, row) for row in symmetric(sigma)]
        spun = tuple(plus(columns[j][i], times(sliding[i], h[j])) for i in range(3) for j in range(3))
        G = _shifted(add(Gs[index], spun), p, (0.0, 0.0, move.slide))
        p, G = move.out(p), move.out_general(G)
        p, G = tree.of_all(index, (p, _shifted(G, p, move.p)))
        ps[link.parent], Gs[link.parent] = add(ps[link.parent], p), add(Gs[link.parent], G)
    return list(zip(ps, Gs, strict=True))


def _shifted(G: Mat3, p: Vec3, r: Vec3) -> Mat3:
    """G = sum m r' r^T (by rows) after every mass point has moved by r; p = sum m r', over mass points m that move at
    r'.
    """
    return tuple(plus(G[3 * i + j], times(p[i], r[j])) for i in range(3) for j in range(3))


def _coupling(G: Mat3) -> Mat:
    """The matrix tr(G) 1 - G, shape (3, 3)."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = G
    return (plus(yy, zz), *neg((xy, xz))), (*neg((yx,)), plus(xx, zz), *neg((yz,))), (*neg((zx, zy)), plus(xx, yy))


def _coupled(p: Vec3, K: Mat, w: Vec3) -> Vec:
    """The wrench 2 B x of a twist x with angular part w; B is the velocity coupling of this file's docstring.

    The arguments are doubled: `p` is 2 p and K is 2 (tr(G) 1 - G).
    """
    return (*cross(w, p), *matvec(K, w))


def _varied(w: Vec3, dw: Vec3, dal: Vec3) -> Mat3:
    """dU = [dal x] + [dw x][w x] + [w x][dw x], shape (3, 3), by rows."""
    (x, y, z), (a, b, c), (k, m, n) = w, dw, dal
    xx, yy, zz = times(a, x), times(b, y), times(c, z)
    xy, xz, yz = dot((a, b), (y, x)), dot((a, c), (z, x)), dot((b, c), (z, y))
    return (
        times(-2.0, plus(yy, zz)),
        minus(xy, n),
        plus(xz, m),
        plus(xy, n),
        times(-2.0, plus(xx, zz)),
        minus(yz, k),
        minus(xz, m),
        plus(yz, k),
        times(-2.0, plus(xx, yy)),
    )


def _load(moments: Moments, a: Vec3, U: Mat3) -> Vec:
    """The wrench [force; moment] on a rigid body whose points at r have the acceleration a + U r."""
    m, h, (xx, xy, xz, yy, yz, zz) = moments
    Uxx, Uxy, Uxz, Uyx, Uyy, Uyz, Uzx, Uzy, Uzz = U
    moment = (
        dot((Uzx, Uzy, minus(Uzz, Uyy)), (xy, yy, yz)) - dot((Uyx, Uyz), (xz, zz)),
        dot((Uxy, Uxz, minus(Uxx, Uzz)), (yz, zz, xz)) - dot((Uzx, Uzy), (xx, xy)),
        dot((Uyx, Uyz, minus(Uyy, Uxx)), (xx, xz, xy)) - dot((Uxy, Uxz), (yy, yz)),
    )
    return (*add(scale(m, a), _times(U, h)), *add(cross(h, a), moment))


def _times(U: Mat3, x: Vec3) -> Vec:
    return tuple(dot(U[3 * i : 3 * i + 3], x) for i in range(3))
