"""Planar loops in the complex plane: one complex equation per loop, linear in the turns of the links.

A loop whose hinges are all parallel, and whose slides are perpendicular to them, moves in a plane of any orientation.
Links that keep their relative orientation are a group g (a slide does not rotate, a held hinge rotates by a known
angle). With Theta_g = exp(i angle), the turn of group g, and s_k, the travel of slide k, every loop l closes where a
sum of vectors is zero:

    sum_g C[l, g] Theta_g + sum_k D[l, k] s_k Theta_g(k) = 0,      g = 0 is the ground, Theta_0 = 1

C and D are constant: lengths, rotated by the known angles of held joints. Any complex-linear combination of such
equations has the same form (Wampler 2001, "Solving the kinematics of planar mechanisms by Dixon determinant and a
complex-plane formulation"). Loops that share a joint are one `PlanarLoops`; its ground is the link from which all its
loops start.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.mechanics.recursions.kinematics import pose_of_move
from kinemorph.mechanics.trees.tree import WORLD, Attachment, Closure, Tree

Complex = npt.NDArray[np.complex128]

PARALLEL = 1e-9  # the largest sine of the angle between axes that count as parallel
HINGES = {("point", "parallel"), ("point",), ("line", "parallel")}  # conditions of closures that are pins in the plane
SLIDES = {("line", "orientation")}
SLOTS = {("line",)}  # a pin in a slot
WELDS = {("point", "orientation")}


class FrameAtZero(NamedTuple):
    """The pose of a frame at q = 0 in the ground of the loops: rotation R (3, 3) and origin p (3,) [m]."""

    R: Array
    p: Array


class Member(NamedTuple):
    """A link of planar loops and the joint that moves it.

    `link`, `parent`   indices of the link and of its parent in the tree
    `at`               the position of the joint in the plane at q = 0 [m]
    `along`            the direction of a slide; 0 for a hinge
    `sign`             +1 where the axis of a hinge is the plane's normal, -1 where it is opposite; 0 for a slide
    `q`                the index of the joint's coordinate
    """

    link: int
    parent: int
    at: complex
    along: complex
    sign: float
    q: int


class Closing(NamedTuple):
    """The joint that closes a loop: points on its two links at q = 0, in the plane [m].

    `along` is the direction of a slide, else 0; `turn` is the constant relative turn of the links, 0 where they rotate.
    """

    parent: int
    child: int
    on_parent: complex
    on_child: complex
    along: complex
    turn: complex


class Equations(NamedTuple):
    """The equations of L loops with 1 + r groups of links and p slides: coefficients C (L, 1 + r) and D (L, p).

    Links of a group keep their relative orientation; group 0 is the ground. The equations are the sums of vectors in
    this file's docstring.

    `carriers` (p,) has the group along which each slide goes. The coordinates follow from a solution: `angles` has, for
    each free hinge, (index in q, sign, group of the link, factor, group of the parent, factor), where the turn of a
    link is its factor times the turn of its group; `travels` has (index in q, slide).
    """

    C: Complex
    D: Complex
    carriers: tuple[int, ...]
    angles: tuple[tuple[int, float, int, complex, int, complex], ...]
    travels: tuple[tuple[int, int], ...]

    @property
    def unknowns(self) -> int:
        """The number of unknowns: turns of groups of links, and travels of slides."""
        return int(self.C.shape[1]) - 1 + int(self.D.shape[1])


@dataclass(frozen=True)
class PlanarLoops:
    """Loops that share joints and move in one plane. `loops` are indices in `robot.loops`, `places` indices in q."""

    loops: tuple[int, ...]
    places: tuple[int, ...]
    members: tuple[Member, ...]
    closings: tuple[Closing, ...]
    size: float  # the longest vector [m]

    def equations(self, known: Mapping[int, float]) -> Equations | None:
        """The loop equations; `known` has the values of held coordinates, by index in q.

        It is None where closures prescribe the relative orientation of the same links twice.
        """
        group: dict[int, int] = {}
        factor: dict[int, complex] = {}
        ground = {member.parent for member in self.members} - {member.link for member in self.members}
        for link in (*ground, *(c.parent for c in self.closings), *(c.child for c in self.closings)):
            group.setdefault(link, 0), factor.setdefault(link, 1.0)
        count = 1
        for member in self.members:
            group[member.link], factor[member.link] = group[member.parent], factor[member.parent]
            if not member.along and member.q in known:
                factor[member.link] *= cmath.exp(1j * member.sign * known[member.q])
            elif not member.along:
                group[member.link], factor[member.link], count = count, 1.0, count + 1
        for closing in self.closings:
            if closing.turn and not _merged(group, factor, closing):
                return None
        used = sorted(set(group.values()) | {0})
        group = {link: used.index(g) for link, g in group.items()}
        return self._written(known, group, factor, len(used))

    def _written(
        self, known: Mapping[int, float], group: dict[int, int], factor: dict[int, complex], count: int
    ) -> Equations:
        free = [m for m in self.members if m.along and m.q not in known]
        slots = [closing for closing in self.closings if closing.along]
        carriers = [group[m.parent] for m in free] + [group[closing.parent] for closing in slots]
        slide = {m.link: k for k, m in enumerate(free)}
        rows: dict[int, tuple[Complex, Complex]] = {}
        nothing = np.zeros(count, dtype=complex), np.zeros(len(carriers), dtype=complex)
        start = {m.link: m.at for m in self.members}
        for m in self.members:  # the origin of each link as a row of coefficients
            c, d = (part.copy() for part in rows.get(m.parent, nothing))
            c[group[m.parent]] += factor[m.parent] * (m.at - start.get(m.parent, 0.0))
            if m.link in slide:
                d[slide[m.link]] += factor[m.parent] * m.along
            elif m.along:
                c[group[m.parent]] += factor[m.parent] * m.along * known[m.q]
            rows[m.link] = (c, d)
        C, D = [], []
        for closing in self.closings:
            ends = []
            for link, point in ((closing.child, closing.on_child), (closing.parent, closing.on_parent)):
                c, d = (part.copy() for part in rows.get(link, nothing))
                c[group[link]] += factor[link] * (point - start.get(link, 0.0))
                ends.append((c, d))
            c, d = ends[0][0] - ends[1][0], ends[0][1] - ends[1][1]
            if closing.along:
                d[len(free) + slots.index(closing)] -= factor[closing.parent] * closing.along
            C.append(c)
            D.append(d)
        angles = tuple(
            (m.q, m.sign, group[m.link], factor[m.link], group[m.parent], factor[m.parent])
            for m in self.members
            if not m.along and m.q not in known
        )
        travels = tuple((m.q, slide[m.link]) for m in free)
        return Equations(np.array(C), np.array(D).reshape(len(C), len(carriers)), tuple(carriers), angles, travels)


def _merged(group: dict[int, int], factor: dict[int, complex], closing: Closing) -> bool:
    """Joins the groups of two links with a constant relative turn, Theta_child = turn Theta_parent.

    Returns False, and changes nothing, where both links are already in one group.
    """
    a, b = closing.parent, closing.child
    if group[a] == group[b]:
        return False
    kept, gone = group[a], group[b]
    ratio = closing.turn * factor[a] / factor[b]  # Theta_gone = ratio Theta_kept
    if gone == 0:
        kept, gone, ratio = gone, kept, 1.0 / ratio
    for link in [link for link, g in group.items() if g == gone]:
        group[link], factor[link] = kept, ratio * factor[link]
    return True


# ── from a tree ───────────────────────────────────────────────────────────────────────────────────────────────────────


def components(tree: Tree) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """(loops, links) for each set of loops that share joints, as indices in `tree.closures` and in `tree.links`."""
    found: list[tuple[set[int], set[int]]] = []
    for index, closure in enumerate(tree.closures):
        loops, links = {index}, set(_between(tree, closure.parent.link, closure.child.link))
        for other in [part for part in found if part[1] & links]:
            found.remove(other)
            loops, links = loops | other[0], links | other[1]
        found.append((loops, links))
    return [(tuple(sorted(loops)), tuple(sorted(links))) for loops, links in sorted(found, key=lambda f: min(f[0]))]


def _between(tree: Tree, a: int, b: int) -> list[int]:
    """The indices of the links on the path between two links, without their nearest common ancestor."""
    above: list[list[int]] = []
    for link in (a, b):
        path = []
        while link != WORLD:
            path.append(link)
            link = tree.links[link].parent
        above.append(path)
    while above[0] and above[1] and above[0][-1] == above[1][-1]:
        above[0].pop(), above[1].pop()
    return above[0] + above[1]


def planar_loops(tree: Tree, loops: Sequence[int], links: Sequence[int]) -> PlanarLoops | None:
    """One set of loops as planar loops; None where it is not planar or has joints other than hinges and slides."""
    kinds = {tree.links[i].kind for i in links}
    if not kinds <= {"revolute", "prismatic"} or "revolute" not in kinds:
        return None
    places = _places(tree, links)
    hinges = [i for i in links if tree.links[i].kind == "revolute"]
    normal = places[hinges[0]].R[:, 2]
    for i in links:
        z = places[i].R[:, 2]
        if not (_parallel(z, normal) if tree.links[i].kind == "revolute" else _across(z, normal)):
            return None
    across = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    across /= np.linalg.norm(across)
    upward = np.cross(normal, across)

    def flat(vector: Array) -> complex:
        return complex(vector @ across, vector @ upward)

    members = []
    for i in links:
        link = tree.links[i]
        z = places[i].R[:, 2]
        hinge = link.kind == "revolute"
        along = 0.0 if hinge else flat(z)
        sign = float(np.sign(z @ normal)) if hinge else 0.0
        members.append(Member(i, link.parent, flat(places[i].p), along, sign, link.q))
    closings = []
    for index in loops:
        closing = _closing(tree.closures[index], places, normal, flat)
        if closing is None:
            return None
        closings.append(closing)
    points = [m.at for m in members] + [p for c in closings for p in (c.on_parent, c.on_child)]
    size = max(abs(a - b) for a in points for b in points)
    return PlanarLoops(tuple(loops), tuple(m.q for m in members), tuple(members), tuple(closings), size or 1.0)


def _places(tree: Tree, links: Sequence[int]) -> dict[int, FrameAtZero]:
    """The poses at q = 0 of links, and of the common ancestor from which they start, in that ancestor's frame."""
    zeros = [0.0] * tree.nq
    places: dict[int, FrameAtZero] = {}
    for i in links:  # parents first
        link = tree.links[i]
        base = places.setdefault(link.parent, FrameAtZero(np.eye(3), np.zeros(3)))
        pose = pose_of_move(link.move(zeros))
        R, p = np.array(pose.R, dtype=float), np.array(pose.p, dtype=float)
        places[i] = FrameAtZero(base.R @ R, base.p + base.R @ p)
    return places


def _parallel(a: Array, b: Array) -> bool:
    return bool(np.linalg.norm(np.cross(a, b)) < PARALLEL)


def _across(a: Array, b: Array) -> bool:
    return bool(abs(a @ b) < PARALLEL)


def _closing(
    closure: Closure, places: Mapping[int, FrameAtZero], normal: Array, flat: Callable[[Array], complex]
) -> Closing | None:
    """A closure in the plane; None where its kind or its axis does not allow a planar motion."""
    a, b = _seen(closure.parent, places), _seen(closure.child, places)
    z_a, z_b = a.R[:, 2], b.R[:, 2]
    ends = closure.parent.link, closure.child.link, flat(a.p), flat(b.p)
    upright = _parallel(z_a, normal) and _parallel(z_b, normal) and z_a @ z_b > 0.0
    lying = _across(z_a, normal) and _across(z_b, normal)
    conditions = closure.conditions
    if conditions == ("point",) or (conditions in HINGES and upright):
        return Closing(*ends, 0.0, 0.0)
    if conditions in SLOTS and _across(z_a, normal):
        return Closing(*ends, flat(z_a), 0.0)
    if conditions in SLIDES and lying:
        return Closing(*ends, flat(z_a), flat(z_a) / flat(z_b))
    if conditions in WELDS:
        across = a.R @ np.cross(a.R.T @ normal, np.eye(3)[int(np.argmin(np.abs(a.R.T @ normal)))])
        other = b.R @ (a.R.T @ across)
        if _across(other, normal):
            turn = flat(across) / flat(other)
            return Closing(*ends, 0.0, turn / abs(turn))
    return None


def _seen(attachment: Attachment, places: Mapping[int, FrameAtZero]) -> FrameAtZero:
    base = places.get(attachment.link, FrameAtZero(np.eye(3), np.zeros(3)))
    R, p = np.array(attachment.pose.R, dtype=float), np.array(attachment.pose.p, dtype=float)
    return FrameAtZero(base.R @ R, base.p + base.R @ p)
