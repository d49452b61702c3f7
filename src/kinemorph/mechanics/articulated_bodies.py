"""Forward dynamics: the articulated-body algorithm (ABA).

Featherstone (1983; 2008, table 7.1), with one rearrangement. The accelerations and wrenches at zero joint acceleration
are found first, exactly as in inverse dynamics; what remains is linear:

    inward    I_A = I + sum of the children's,  p = bias wrench + sum of the children's
              per axis S:  U = I_A S,  D = S^T U + pivot,  u = tau - S^T p
              I_A -= U U^T / D,  p += U u / D           (a joint with several axes gives them up one by one)
    outward   x = (u - U^T b) / D,  b += S x            (b: acceleration beyond the one at zero joint acceleration)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from kinemorph.errors import ModelError
from kinemorph.mechanics.inertia_blocks import Blocks, Six, column, joined_blocks, moved_blocks, rigid_blocks
from kinemorph.mechanics.motions import ZERO3, Axis, Move, S, Vec3
from kinemorph.mechanics.newton_euler import Wrench, added, inertial_wrench, moved_wrench, negative, outward, project
from kinemorph.mechanics.tree import WORLD, Link, Tree


class Pivot(NamedTuple):
    """What one axis leaves behind for the outward pass."""

    U: Six
    inverse: S  # 1 / D
    u: S


def forward_dynamics(
    tree: Tree,
    q: Sequence[S],
    v: Sequence[S],
    tau: Sequence[S],
    wrenches: Mapping[int, Wrench] | None = None,
    *,
    added_inertia: Mapping[int, Blocks] | None = None,
    added_pivots: Mapping[int, S] | None = None,
    locked: Collection[int] = (),
) -> list[S]:
    """Accelerations, shape (nv,), under generalized forces `tau` and outside wrenches.

    `added_inertia` (link -> blocks) and `added_pivots` (velocity index -> number) enter the linear equations as mass
    would, without weight or velocity products: an implicit force f0 - D a is the wrench f0 and the inertia D.
    `locked` are velocity indices whose acceleration is 0, by whatever force that takes.
    """
    moves = tree.moves(q)
    flows = outward(tree, moves, v, [0.0] * tree.nv)
    loads = [inertial_wrench(link, flow) for link, flow in zip(tree.links, flows, strict=True)]
    for index, (force, moment) in (wrenches or {}).items():
        loads[index] = added(loads[index], (negative(force), negative(moment)))
    inertias = [rigid_blocks(link.moments) for link in tree.links]
    for index, blocks in (added_inertia or {}).items():
        inertias[index] = joined_blocks(inertias[index], blocks)
    extra = added_pivots or {}

    pivots: list[Pivot | None] = [None] * tree.nv
    for index in range(len(tree.links) - 1, -1, -1):
        link = tree.links[index]
        blocks, load = inertias[index], loads[index]
        last = link.parent == WORLD
        for k, axis in enumerate(link.axes):
            j = link.v + k
            if j in locked:
                continue
            pivot = link.armature[k] + extra.get(j, 0.0)
            U = column(blocks, axis)
            D = _along(axis, U) + pivot
            u = tau[j] - project(axis, load)
            if D.__class__ is float and D == 0.0:
                raise meets_no_inertia(link, k)
            inverse = 1.0 / D
            pivots[j] = Pivot(U, inverse, u)
            if last and k == len(link.axes) - 1:
                break  # nothing below needs the remainder
            G: Six = tuple(x * inverse for x in U)
            blocks = deflated(blocks, U, G, axis if pivot.__class__ is float and pivot == 0.0 else None)
            push = [g * u for g in G]
            if len(axis) == 1 and pivot.__class__ is float and pivot == 0.0:
                # along the axis itself the wrench is now tau by construction
                load = _with_component(load, push, axis[0][0], tau[j])
            else:
                load = added(load, ((push[0], push[1], push[2]), (push[3], push[4], push[5])))
        if not last:
            inertias[link.parent] = joined_blocks(inertias[link.parent], moved_blocks(moves[index], blocks))
            loads[link.parent] = added(loads[link.parent], moved_wrench(moves[index], load))

    a: list[S] = [0.0] * tree.nv
    extras: list[tuple[Vec3, Vec3]] = []
    for index, link in enumerate(tree.links):
        b = (ZERO3, ZERO3) if link.parent == WORLD else _carried(moves[index], *extras[link.parent])
        for k in range(len(link.axes) - 1, -1, -1):
            j = link.v + k
            row = pivots[j]
            if row is None:
                continue
            a[j] = (row.u - _dot(row.U, (*b[0], *b[1]))) * row.inverse
            b = _advanced(b, link.axes[k], a[j])
        extras.append(b)
    return a


def meets_no_inertia(link: Link, k: int) -> ModelError:
    """What is wrong where an axis of a joint moves no mass."""
    return ModelError(
        f"joint of '{link.name}' ({link.kind}) meets no inertia along its axis {k + 1}: forward dynamics "
        "would divide by zero. Give what hangs on it mass off the axis, or the joint an armature."
    )


# ── one axis ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def deflated(blocks: Blocks, U: Six, G: Six, freed: Axis | None) -> Blocks:
    """I - U G^T. Along a `freed` coordinate axis nothing is left: its row and column are structural zeros."""
    gone = freed[0][0] if freed is not None and len(freed) == 1 else -1
    Uk = tuple(0.0 if k == gone else U[k] for k in range(6))
    Gk = tuple(0.0 if k == gone else G[k] for k in range(6))
    (axx, axy, axz, ayy, ayz, azz), B, (jxx, jxy, jxz, jyy, jyz, jzz) = blocks
    x, y, z, rx, ry, rz = Uk
    gx, gy, gz, hx, hy, hz = Gk
    A = [axx - x * gx, axy - x * gy, axz - x * gz, ayy - y * gy, ayz - y * gz, azz - z * gz]
    C = [B[3 * i + j] - Uk[i] * Gk[3 + j] for i in range(3) for j in range(3)]
    J = [jxx - rx * hx, jxy - rx * hy, jxz - rx * hz, jyy - ry * hy, jyz - ry * hz, jzz - rz * hz]
    if gone >= 3:
        for k in _TOUCHING[gone - 3]:
            J[k] = 0.0
        for i in range(3):
            C[3 * i + gone - 3] = 0.0
    elif gone >= 0:
        for k in _TOUCHING[gone]:
            A[k] = 0.0
        for j in range(3):
            C[3 * gone + j] = 0.0
    return tuple(A), tuple(C), tuple(J)


_TOUCHING = ((0, 1, 2), (1, 3, 4), (2, 4, 5))  # entries of a symmetric 6-tuple in row k


def _along(axis: Axis, U: Six) -> S:
    total: S = 0.0
    for component, coefficient in axis:
        total = total + coefficient * U[component]
    return total


def _with_component(load: Wrench, push: Sequence[S], k: int, value: S) -> Wrench:
    """load + push, but component k is known to be `value`."""
    whole = [x + y if i != k else value for i, (x, y) in enumerate(zip((*load[0], *load[1]), push, strict=True))]
    return (whole[0], whole[1], whole[2]), (whole[3], whole[4], whole[5])


# ── outward ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _carried(move: Move, a: Vec3, al: Vec3) -> tuple[Vec3, Vec3]:
    """An acceleration (of the origin, angular) of the parent as the link feels it, joint at rest."""
    (x, y, z), (rx, ry, rz) = move.p, al
    bx, by, bz = move.into((a[0] + (ry * z - rz * y), a[1] + (rz * x - rx * z), a[2] + (rx * y - ry * x)))
    rx, ry, rz = move.into(al)
    d = move.slide
    return (bx + ry * d, by - rx * d, bz), (rx, ry, rz)


def _advanced(b: tuple[Vec3, Vec3], axis: Axis, x: S) -> tuple[Vec3, Vec3]:
    """b + S x."""
    whole = [*b[0], *b[1]]
    for component, coefficient in axis:
        whole[component] = whole[component] + coefficient * x
    return (whole[0], whole[1], whole[2]), (whole[3], whole[4], whole[5])


def _dot(a: Six, b: Six) -> S:
    total: S = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total
