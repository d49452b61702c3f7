"""The matrices of the formulation in quasicoordinates: the bodies of the paper, and Phi, C^R, D, Q, Psi and the others.

Nelson & Quinn, equations 5 to 44; see `quasicoordinates` for the symbols, and for the equations of motion that they
make up. A body of the paper is a `Segment`: the links of one joint, of which only the last one has mass.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple

from kinemorph.algebra.groups import Pose, compose
from kinemorph.algebra.inertia import Inertia, added, transformed
from kinemorph.algebra.scalar import S as Scalar
from kinemorph.algebra.scalar import is_zero
from kinemorph.algebra.vectors import (
    Mat,
    Vec,
    add,
    cross,
    diagonal,
    hat,
    identity,
    mat_add,
    mat_neg,
    matmul,
    matvec,
    matvec_transposed,
    scale,
    sub,
    transpose,
    zeros,
)
from kinemorph.mechanics.formulations.block_products import (
    Diagonal,
    Pairs,
    applied,
    dense_matrix,
)
from kinemorph.mechanics.recursions.kinematics import dense, pose_of_move
from kinemorph.mechanics.trees.tree import WORLD, Tree

ZERO: Mat = (zeros(3),) * 3


class Segment(NamedTuple):
    """A body of the paper: the links of its joint, the last of which carries its mass."""

    links: tuple[int, ...]
    parent: int  # the index of the segment that carries it, or WORLD
    slides: bool  # whether its joint moves along something
    velocities: tuple[int, ...]  # indices in v


class Quasi(NamedTuple):
    """The matrices of n segments at (q, v), by blocks: (i, j) where segment j carries segment i, or is that segment."""

    segments: tuple[Segment, ...]
    above: list[tuple[int, ...]]  # for each segment those that carry it, root first, last the segment itself
    C: Diagonal  # C_Ni, 3 x 3: turns the axes of segment i to those of the world; C^D of (31)
    C_R: Pairs  # blocks 3 x 3 of (41)
    L: list[Vec]  # the place of each joint in the axes of the segment that carries it, or in the world [m]
    L_rate: list[Vec]  # its rate in the same axes [m/s]
    masses: list[Inertia]  # of each segment in its own axes, about its joint; S_i and I*_i of (32) and (36)
    D: Diagonal  # 3 x k
    D_rate: Diagonal  # 3 x k
    E: Diagonal  # 3 x k: the rates of L at unit rates of the joint's coordinates
    turned: list[Vec]  # Dd alphad
    moved: list[Vec]  # Ed alphad
    Omega: list[Vec]  # relative angular velocities (43)
    w: list[Vec]  # absolute angular velocities (40)

    @property
    def centers(self) -> list[Vec]:
        """The center of mass of each segment, S_i of (32), in its own axes, measured from its joint [m]."""
        return [inertia.com for inertia in self.masses]


# ── segments ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def segments(tree: Tree) -> tuple[Segment, ...]:
    """The bodies of the paper, in the order of their last links.

    A link belongs to the joint of the next link if nothing is attached to it, it has no mass, both have the same
    origin, and the next link does not slide after a turn. So a cylindrical joint has a body of its own in between.
    """
    used = {at.link for at in tree.attachments.values()} | {body.link for body in tree.bodies}
    groups: dict[int, list[int]] = {}
    for i, link in enumerate(tree.links):
        joined = link.parent != WORLD and link.parent not in used and len(tree.children[link.parent]) == 1
        if joined and all(map(is_zero, link.placement.p)):
            before = groups[link.parent]
            if not _slides(tree, i) or not any(_turns(tree, k) for k in before):
                groups[i] = [*groups.pop(link.parent), i]
                continue
        groups[i] = [i]
    order = sorted(groups)
    places = {last: k for k, last in enumerate(order)}
    found = []
    for last in order:
        links = tuple(groups[last])
        velocities = tuple(k for i in links for k in tree.links[i].velocities)
        parent = tree.links[links[0]].parent
        slides = any(_slides(tree, i) for i in links)
        found.append(Segment(links, WORLD if parent == WORLD else places[parent], slides, velocities))
    return tuple(found)


def _slides(tree: Tree, index: int) -> bool:
    return any(component < 3 for axis in tree.links[index].axes for component, _ in axis)


def _turns(tree: Tree, index: int) -> bool:
    return any(component >= 3 for axis in tree.links[index].axes for component, _ in axis)


def axes_of(tree: Tree, index: int) -> Mat:
    """The axes of the user's body on a link, in the axes of the link; those of the link where it carries none."""
    link = tree.links[index]
    at = tree.attachments.get(link.name)
    return at.pose.R if at is not None and at.link == index else identity(3)


# ── matrices ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def quasi(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar] | None = None) -> Quasi:
    """The matrices at (q, v), by blocks; see `Quasi`. Without v the robot is at rest."""
    rates = [0.0] * tree.nv if v is None else v
    parts, moves = segments(tree), tree.moves(q)
    held = _inertias(tree, parts)
    above: list[tuple[int, ...]] = []
    C: list[Mat] = []
    C_R: Pairs = {}
    joints = []
    for i, part in enumerate(parts):
        parent = identity(3) if part.parent == WORLD else axes_of(tree, parts[part.parent].links[-1])
        joint = _joint(tree, part, parent, [pose_of_move(moves[k]) for k in part.links], rates)
        joints.append(joint)
        line = () if part.parent == WORLD else above[part.parent]
        above.append((*line, i))
        C.append(joint.R if part.parent == WORLD else matmul(C[part.parent], joint.R))
        C_R[i, i] = identity(3)
        for j in line:
            C_R[i, j] = transpose(joint.R) if j == part.parent else matmul(transpose(joint.R), C_R[part.parent, j])
    Omega = [joint.Omega for joint in joints]
    return Quasi(
        parts,
        above,
        tuple(C),
        C_R,
        [joint.L for joint in joints],
        [joint.L_rate for joint in joints],
        held,
        tuple(joint.D for joint in joints),
        tuple(joint.D_rate for joint in joints),
        tuple(joint.E for joint in joints),
        [joint.turned for joint in joints],
        [joint.moved for joint in joints],
        Omega,
        applied(C_R, Omega, len(parts)),
    )


class _Joint(NamedTuple):
    R: Mat  # turns the axes of the segment to those of the segment that carries it
    L: Vec
    L_rate: Vec
    D: Mat
    D_rate: Mat
    E: Mat
    turned: Vec
    moved: Vec
    Omega: Vec


def _joint(tree: Tree, part: Segment, parent: Mat, moves: Sequence[Pose], v: Sequence[Scalar]) -> _Joint:
    """The motion of one joint: the poses `moves` of its links, and the axes `parent` of the body that carries it."""
    own = axes_of(tree, part.links[-1])
    poses = [Pose(matmul(transpose(parent), moves[0].R), matvec_transposed(parent, moves[0].p))]
    for move in moves[1:]:
        poses.append(compose(poses[-1], move))
    D, E, moved = [], [], zeros(3)  # D and E are lists of columns
    spun = zeros(3)  # the angular velocity of the link relative to the parent, in the parent's axes
    for index, pose in zip(part.links, poses, strict=True):
        link, last = tree.links[index], index == part.links[-1]
        twists = [dense(axis) for axis in link.axes]
        back = own if last else matmul(matmul(transpose(pose.R), poses[-1].R), own)  # from the segment to the link
        for twist, k in zip(twists, link.velocities, strict=True):
            spun = add(spun, scale(v[k], matvec(pose.R, twist[3:])))
            D.append(matvec_transposed(back, twist[3:]))
            E.append(matvec(pose.R, twist[:3]))
        spin = matvec_transposed(pose.R, spun)  # in the axes of the link, in which the axes of its joint are constant
        for twist, k in zip(twists, link.velocities, strict=True):
            moved = add(moved, scale(v[k], matvec(pose.R, cross(spin, twist[:3]))))
    D_rate: list[Vec] = []
    after = zeros(3)  # the turns after an axis: as the segment sees it, the axis turns backward with them
    for index in reversed(part.links):
        columns = [(D[part.velocities.index(k)], v[k]) for k in tree.links[index].velocities]
        D_rate[:0] = [cross(column, after) for column, _ in columns]
        for column, rate in columns:
            after = add(after, scale(rate, column))
    rates = [v[k] for k in part.velocities]
    turning, turning_rate, sliding = (transpose(columns) if columns else ((),) * 3 for columns in (D, D_rate, E))
    R, L = matmul(poses[-1].R, own), poses[-1].p
    L_rate, turned, Omega = (matvec(matrix, rates) for matrix in (sliding, turning_rate, turning))
    return _Joint(R, L, L_rate, turning, turning_rate, sliding, turned, moved, Omega)


def _inertias(tree: Tree, parts: Sequence[Segment]) -> list[Inertia]:
    """The inertia of each segment in its own axes, measured from its joint; bodies fixed to each other are one."""
    found = []
    for part in parts:
        index = part.links[-1]
        axes = axes_of(tree, index)
        held = []
        for body in (body for body in tree.bodies if body.link == index):
            com = matvec_transposed(axes, body.pose.p)
            if axes == body.pose.R:
                held.append(Inertia(body.mass, com, body.inertia))
            else:
                turn = Pose(matmul(transpose(axes), body.pose.R), com)
                held.append(transformed(Inertia(body.mass, zeros(3), body.inertia), turn))
        found.append(reduce(added, held) if held else Inertia(0.0, zeros(3), ZERO))
    return found


def global_matrices(K: Quasi, points: Sequence[Vec]) -> tuple[Pairs, Pairs]:
    """Phi (9) and its rate (22) of one point in each segment, by blocks; `points` are in the axes of the segments."""
    Phi: Pairs = {}
    Phi_rate: Pairs = {}
    for i, line in enumerate(K.above):
        for place, j in enumerate(line):
            following = line[place + 1] if j != i else None
            arm = points[i] if following is None else K.L[following]
            drift = zeros(3) if following is None else K.L_rate[following]
            Phi[i, j] = matmul(K.C[j], mat_neg(hat(arm)))
            turned = matmul(hat(K.w[j]), hat(arm))
            Phi_rate[i, j] = mat_neg(matmul(K.C[j], mat_add(turned, hat(drift))))  # (22): E004-5
    return Phi, Phi_rate


class Eliminated(NamedTuple):
    """The matrices of the identity (25): the columns of Chat are rho of a segment, then the L of each joint on it."""

    C_hat: Pairs  # blocks 3 x 3 at (segment, column), (11)
    Psi: list[Vec]  # the rates of rho and L in the axes of their segments, (12)
    owners: list[int]  # the segment of each column: Q (19) has a unit block at (owner, column)


def eliminated(K: Quasi, points: Sequence[Vec]) -> Eliminated:
    """The matrices of the identity (25) for one point in each segment, in the axes of the segments."""
    owners: list[int] = []
    arms: list[tuple[Vec, Vec]] = []
    columns: dict[int, int] = {}  # of each joint that a segment carries
    own: list[int] = []
    for i in range(len(K.segments)):
        own.append(len(owners))
        owners.append(i)
        arms.append((points[i], zeros(3)))
        for child, part in enumerate(K.segments):
            if part.parent == i:
                columns[child] = len(owners)
                owners.append(i)
                arms.append((K.L[child], K.L_rate[child]))
    C_hat: Pairs = {}
    for i, line in enumerate(K.above):
        for j, following in pairwise(line):
            C_hat[i, columns[following]] = K.C[j]
        C_hat[i, own[i]] = K.C[i]
    Psi = [add(cross(K.w[i], arm), drift) for i, (arm, drift) in zip(owners, arms, strict=True)]
    return Eliminated(C_hat, Psi, owners)


def slide_columns(K: Quasi) -> Pairs:
    """I_v (28): for each segment and each segment that carries it and slides, how it moves with the rate of that L."""
    found: Pairs = {}
    for i, line in enumerate(K.above):
        for j in line:
            if K.segments[j].slides:
                carrier = K.segments[j].parent
                found[i, j] = identity(3) if carrier == WORLD else K.C[carrier]
    return found


def curls(K: Quasi) -> list[Vec]:
    """xi = W~ Omega + Dd alphad (50), for each segment."""
    return [add(cross(w, Omega), turned) for w, Omega, turned in zip(K.w, K.Omega, K.turned, strict=True)]


# ── dense matrices ────────────────────────────────────────────────────────────────────────────────────────────────────


def dense_matrices(tree: Tree, K: Quasi) -> dict[str, list[Any]]:
    """The matrices of the paper as dense ones; see `sizes` for their shapes.

    Phi, its rate, Psi and Q are those of the centers of mass (E004-10).
    """
    n, nv = len(K.segments), tree.nv
    Phi, Phi_rate = global_matrices(K, K.centers)
    out = eliminated(K, K.centers)
    columns = len(out.owners)
    xi = curls(K)
    wd = applied(K.C_R, xi, n)
    Gamma = [add(*both) for both in zip(applied(Phi_rate, K.w, n), applied(Phi, wd, n), strict=True)]
    I_v = slide_columns(K)
    for (i, j), turn in I_v.items():
        carrier = K.segments[j].parent
        swept = zeros(3) if carrier == WORLD else cross(K.w[carrier], K.L_rate[j])
        Gamma[i] = add(Gamma[i], matvec(turn, add(K.moved[j], swept)))
    hats = [hat(w) for w in K.w]
    carried = {(i, 3 * j): K.C[j] for i, line in enumerate(K.above) for j in line[:-1]}
    slides = {j: 3 * k for k, j in enumerate(j for j, part in enumerate(K.segments) if part.slides)}

    def square(parts: Pairs) -> list[list[Scalar]]:
        return dense_matrix({(i, 3 * j): part for (i, j), part in parts.items()}, 3 * n, 3 * n, 3)

    def on_diagonal(parts: Sequence[Mat]) -> list[list[Scalar]]:
        return dense_matrix({(i, 3 * i): part for i, part in enumerate(parts)}, 3 * len(parts), 3 * len(parts), 3)

    def of_joints(parts: Sequence[Mat]) -> list[list[Scalar]]:
        found: list[list[Scalar]] = [[0.0] * nv for _ in range(3 * n)]
        for i, (part, matrix) in enumerate(zip(K.segments, parts, strict=True)):
            for r, row in enumerate(matrix):
                for k, x in zip(part.velocities, row, strict=True):
                    found[3 * i + r][k] = x
        return found

    def stack(parts: Sequence[Vec]) -> list[Scalar]:
        return [x for part in parts for x in part]

    found: dict[str, list[Any]] = {
        "C_R": square(K.C_R),
        "C_D": on_diagonal(K.C),
        "C_bar": dense_matrix(carried, 3 * n, 3 * n, 3),
        "Phi": square(Phi),
        "Phi_rate": square(Phi_rate),
        "W": on_diagonal(hats),
        "C_hat": dense_matrix({(i, 3 * c): part for (i, c), part in out.C_hat.items()}, 3 * n, 3 * columns, 3),
        "Psi": on_diagonal([hat(psi) for psi in out.Psi]),
        "Q": dense_matrix({(i, 3 * c): identity(3) for c, i in enumerate(out.owners)}, 3 * n, 3 * columns, 3),
        "D": of_joints(K.D),
        "D_rate": of_joints(K.D_rate),
        "I": on_diagonal([inertia.moment for inertia in K.masses]),
        "m": on_diagonal([diagonal((inertia.mass,) * 3) for inertia in K.masses]),
        "xi": stack(xi),
        "Gamma": stack([sub(part, tree.gravity) for part in Gamma]),
    }
    if slides:
        parts = {(i, slides[j]): part for (i, j), part in I_v.items()}
        found["I_v"] = dense_matrix(parts, 3 * n, 3 * len(slides), 3)
        rows = of_joints(K.E)
        found["E"] = [rows[3 * j + r] for j in slides for r in range(3)]
    return found


def sizes(tree: Tree) -> dict[str, tuple[int, ...]]:
    """The shapes of `dense_matrices`: n segments, c joints on other segments, of which s slide or slide from the world.

    C_R, C_D, C_bar, Phi, Phi_rate, W, I and m are (3n, 3n), C_hat and Q (3n, 3n + 3c), Psi (3n + 3c, 3n + 3c), D and
    D_rate (3n, nv), xi and Gamma (3n,). Where s is not 0, there are also I_v (3n, 3s) and E (3s, nv).
    """
    parts = segments(tree)
    n, s = 3 * len(parts), 3 * sum(part.slides for part in parts)
    columns = n + 3 * sum(part.parent != WORLD for part in parts)
    found: dict[str, tuple[int, ...]] = dict.fromkeys(("C_R", "C_D", "C_bar", "Phi", "Phi_rate", "W"), (n, n))
    found |= {"C_hat": (n, columns), "Psi": (columns, columns), "Q": (n, columns)}
    found |= {"D": (n, tree.nv), "D_rate": (n, tree.nv), "I": (n, n), "m": (n, n), "xi": (n,), "Gamma": (n,)}
    return found | ({"I_v": (n, s), "E": (s, tree.nv)} if s else {})
