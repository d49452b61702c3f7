"""Tree -> Tree passes that make the computation cheaper and leave the physics unchanged.

reframe   A link's frame may be moved along and about its own joint axis. That freedom is used so that the step to the
          largest child becomes a screw pair (a turn about x, a shift along x), and on a tip so that its center of mass,
          or a point where forces act, lies in the xz plane. Coordinates and velocities keep their meaning; the
          attachments record the poses of the user's frames.
regroup   Mass that a joint does not feel moves to the parent. A revolute joint about z does not feel mass spread along
          z, so the mass, the first moment hz and the second moment zz go to the parent as a line of mass; likewise for
          the other kinds (table REGROUP). Mass that reaches the world is dropped. The generalized forces do not change;
          the wrenches inside the joints do, so those are computed on the tree that was not regrouped.

`reframe` needs numbers for the geometry; it returns a tree with symbolic placements unchanged. `regroup` works on
symbols too, since moments of mass enter linearly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from kinemorph.algebra.groups import Pose, compose, inverse
from kinemorph.algebra.scalar import S
from kinemorph.algebra.turns import Sym3, TurnFull, TurnZ, Vec3
from kinemorph.mechanics.trees.moments import joined_moments, shifted_moments
from kinemorph.mechanics.trees.motions import ELEMENTARY, ZERO3, ZERO_SYM
from kinemorph.mechanics.trees.tree import TINY, WORLD, Attachment, Link, Moments, Tree, snapped

PARALLEL = 1e-9  # sine of the angle below which two axes count as parallel
FAR = 4.0  # a frame moves along its axis by at most this many times the lengths of the link: farther loses digits


# ── reframe ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class Gauge(NamedTuple):
    """How a link's frame moves along its own z axis: by `angle` [rad] about it and `shift` [m] along it."""

    angle: float
    shift: float | None  # None: not decided yet, to be chosen together with the parent's frame

    def pose(self) -> Pose:
        """The pose of the new frame in the old one."""
        c, s = snapped(math.cos(self.angle)), snapped(math.sin(self.angle))
        return Pose(((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)), (0.0, 0.0, self.shift or 0.0))


def reframe(tree: Tree, points: Mapping[int, Vec3] | None = None) -> Tree:
    """The same robot with link frames that save operations; a tree with symbolic geometry is returned unchanged.

    `points` are points [m] where forces act, by link and in its frame: the x axis of a tip is turned to its point.
    """
    if not all(_is_numeric(link) for link in tree.links):
        return tree
    gauges = _wanted_gauges(tree, points or {})
    links: list[Link] = []
    for index, link in enumerate(tree.links):
        parent = Gauge(0.0, 0.0) if link.parent == WORLD else gauges[link.parent]
        placement = compose(inverse(parent.pose()), link.placement)
        step = math.hypot(*link.placement.p, link.slide, parent.shift or 0.0)  # rounding errors are relative to it
        if not ELEMENTARY[link.kind].axial:
            links.append(replace(link, placement=_clean(placement, step)))
            continue
        angle, shift = gauges[index]
        if link.parent == WORLD:  # the position of the world's frame costs nothing
            along = link.slide + (shift or 0.0)
        else:
            along = _cheapest_point(link, placement, shift, step)
        if shift is None:
            shift = along - link.slide
            gauges[index] = Gauge(angle, shift)
        placement = Pose(placement.R, _along(placement, along))
        _, h, sigma = shifted_moments(link.moments, (0.0, 0.0, -shift))
        turn = TurnZ(math.cos(angle), -math.sin(angle))
        links.append(
            replace(
                link,
                placement=_clean(placement, step),
                offset=link.offset + angle,
                slide=_dusted(link.slide + shift - along, step),
                h=turn.out(h),
                sigma=turn.out_symmetric(sigma),
            )
        )

    def seen_anew(at: Attachment) -> Attachment:
        return at if at.link == WORLD else Attachment(at.link, compose(inverse(gauges[at.link].pose()), at.pose))

    attachments = {name: seen_anew(at) for name, at in tree.attachments.items()}
    closures = tuple(replace(c, parent=seen_anew(c.parent), child=seen_anew(c.child)) for c in tree.closures)
    return replace(tree, links=tuple(links), attachments=attachments, closures=closures, bodies=())


def _wanted_gauges(tree: Tree, points: Mapping[int, Vec3]) -> list[Gauge]:
    """The best gauge of every link: for its largest child, and on a tip for its point or its center of mass."""
    gauges = [Gauge(0.0, 0.0)] * len(tree.links)
    sizes = [1] * len(tree.links)
    for index in range(len(tree.links) - 1, -1, -1):
        link = tree.links[index]
        if link.parent != WORLD:
            sizes[link.parent] += sizes[index]
        if not ELEMENTARY[link.kind].axial:
            continue
        children = tree.children[index]
        if children:
            largest = max(children, key=lambda c: (ELEMENTARY[tree.links[c].kind].axial, sizes[c]))
            gauges[index] = _held_back(link, _gauge_for_child(tree.links[largest], gauges[largest]))
        else:
            gauges[index] = _gauge_for_point(points.get(index, link.h))
    return gauges


def _gauge_for_child(child: Link, gauge: Gauge) -> Gauge:
    """The gauge of a link that puts x along the common normal of its axis and its child's, and the origin at the foot
    of this normal where that is not too far away. `gauge` is that of the child.
    """
    (px, py, pz), (ux, uy, uz) = child.placement.p, _z_axis(child.placement)
    sine = math.hypot(ux, uy)
    if not ELEMENTARY[child.kind].axial:
        return Gauge(_direction(px, py), pz)
    if sine < PARALLEL:
        angle = _direction(px, py)
        return Gauge(angle, None if gauge.shift is None else pz + uz * (child.slide + gauge.shift))
    nx, ny = -uy / sine, ux / sine  # z x u, the common normal
    reach = px * nx + py * ny
    t = ((nx * reach - px) * ux + (ny * reach - py) * uy) / (sine * sine)  # where the child's axis meets it
    if abs(t) > FAR * math.hypot(px, py, pz):
        return Gauge(_direction(px, py), pz)
    if nx < -TINY or (abs(nx) <= TINY and ny < 0.0):  # of n and -n, the one with the smaller turn
        nx, ny = -nx, -ny
    return Gauge(_direction(nx, ny), pz + uz * t)


def _held_back(link: Link, gauge: Gauge) -> Gauge:
    """The gauge, with a shift of 0 where its own shift would move the origin far away from the link's own mass."""
    if gauge.shift is None or not isinstance(link.mass, float) or link.mass == 0.0:
        return gauge
    xx, _, _, yy, _, zz = link.sigma
    spread = math.sqrt(abs(xx + yy + zz) / link.mass) if isinstance(xx + yy + zz, float) else math.inf
    return gauge if abs(gauge.shift) <= FAR * (spread + math.hypot(*link.placement.p)) else Gauge(gauge.angle, 0.0)


def _gauge_for_point(point: Vec3) -> Gauge:
    """The gauge that turns x toward a point; the shift along z is chosen later, together with the parent's frame."""
    x, y, _ = point
    if not (isinstance(x, float) and isinstance(y, float)):
        return Gauge(0.0, None)
    return Gauge(_direction(x, y), None)


def _direction(x: float, y: float) -> float:
    """The angle [rad] of the line through (0, 0) and (x, y), in (-pi/2, pi/2]; 0 where x = y = 0."""
    if abs(y) <= TINY * abs(x) or (x == 0.0 and y == 0.0):
        return 0.0
    angle = math.atan2(y, x)
    if angle > 0.5 * math.pi:
        return angle - math.pi
    return angle + math.pi if angle <= -0.5 * math.pi else angle


def _cheapest_point(link: Link, placement: Pose, shift: float | None, step: float) -> float:
    """How far [m] along the joint axis to put the joint frame, so that as many components of its position as
    possible are zero.
    """
    slide = 0.0 if shift is None else link.slide + shift
    candidates: list[float] = [slide, 0.0]
    for p, u in zip(placement.p, _z_axis(placement), strict=True):
        if 0.0 < abs(p) <= FAR * step * abs(u):
            candidates.append(-p / u)

    def cost(t: float) -> float:
        shifts: int = sum(_dusted(x, step) != 0.0 for x in _along(placement, t))
        rest: bool = shift is not None and _dusted(slide - t, step) != 0.0
        return shifts + (0.1 if link.kind != "revolute" else 1.0) * rest

    return min(candidates, key=cost)


def _along(placement: Pose, t: float) -> Vec3:
    """The point at the distance t [m] along the z axis of a placement."""
    (px, py, pz), (ux, uy, uz) = placement.p, _z_axis(placement)
    return (px + t * ux, py + t * uy, pz + t * uz)


def _z_axis(placement: Pose) -> Vec3:
    return (placement.R[0][2], placement.R[1][2], placement.R[2][2])


def _dusted(x: float, step: float) -> float:
    """The length x, or 0 where it is so small that it is a rounding error of lengths of the size `step`."""
    return x if abs(x) > 10.0 * TINY * step else 0.0


def _clean(placement: Pose, step: float) -> Pose:
    """A placement whose entries within rounding of 0 and +-1 are made exact."""
    return Pose(tuple(tuple(map(snapped, row)) for row in placement.R), tuple(_dusted(x, step) for x in placement.p))


def _is_numeric(link: Link) -> bool:
    numbers = (*(x for row in link.placement.R for x in row), *link.placement.p, link.slide, link.pitch)
    return all(isinstance(x, (float, int)) for x in numbers)


# ── regroup ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def regroup(tree: Tree) -> Tree:
    """The tree with every moment of mass that a joint does not feel moved to the parent link, towards the root."""
    links = list(tree.links)
    for index in range(len(links) - 1, -1, -1):
        link = links[index]
        rule = REGROUP.get(link.kind)
        if rule is None:
            continue
        kept, passed = rule(link)
        m, h, sigma = kept
        links[index] = replace(link, mass=m, h=h, sigma=sigma)
        if link.parent != WORLD:
            links[link.parent] = _gains(links[link.parent], passed)
    return replace(tree, links=tuple(links))


def _gains(link: Link, moments: Moments) -> Link:
    m, h, sigma = joined_moments(link.moments, moments)
    return replace(link, mass=m, h=h, sigma=sigma)


def _line_of_mass(link: Link) -> tuple[Moments, Moments]:
    """(kept, passed): the moments of mass that stay in a link, and those that can be moved to its parent.

    Mass spread along the axis of a revolute joint does not affect the joint, so it is moved.
    """
    m, (hx, hy, hz), (xx, xy, xz, yy, yz, zz) = link.mass, link.h, link.sigma
    kept: Moments = (0.0, (hx, hy, 0.0), (xx, xy, xz, yy, yz, 0.0))
    line = shifted_moments((m, (0.0, 0.0, hz), (0.0, 0.0, 0.0, 0.0, 0.0, zz)), (0.0, 0.0, link.slide))
    return kept, _placed(link, line)


def _second_moment(link: Link) -> tuple[Moments, Moments]:
    """(kept, passed): a prismatic joint keeps the orientation, so the second moment passes to the parent."""
    turned = TurnZ(*_cosine_sine(link.offset)).out_symmetric(link.sigma)
    return (link.mass, link.h, ZERO_SYM), (0.0, ZERO3, _turned(link, turned))


def _axial_second_moment(link: Link) -> tuple[Moments, Moments]:
    """(kept, passed): a joint that keeps the direction of z passes the second moment along z to the parent."""
    xx, xy, xz, yy, yz, zz = link.sigma
    return (link.mass, link.h, (xx, xy, xz, yy, yz, 0.0)), (0.0, ZERO3, _turned(link, (0.0, 0.0, 0.0, 0.0, 0.0, zz)))


def _point_mass(link: Link) -> tuple[Moments, Moments]:
    """(kept, passed): a spherical joint does not feel mass at its center, which passes to the parent."""
    return (0.0, link.h, link.sigma), _placed(link, (link.mass, ZERO3, ZERO_SYM))


REGROUP: dict[str, Callable[[Link], tuple[Moments, Moments]]] = {
    "revolute": _line_of_mass,
    "prismatic": _second_moment,
    "helical": _axial_second_moment,
    "planar": _axial_second_moment,
    "spherical": _point_mass,
}


def _placed(link: Link, moments: Moments) -> Moments:
    """Moments of mass, given in a link's joint frame, expressed in the frame of its parent."""
    m, h, sigma = moments
    R = TurnFull(link.placement.R)
    return shifted_moments((m, R.out(h), R.out_symmetric(sigma)), link.placement.p)


def _turned(link: Link, sigma: Sym3) -> Sym3:
    return TurnFull(link.placement.R).out_symmetric(sigma)


def _cosine_sine(angle: float) -> tuple[S, S]:
    return math.cos(angle), math.sin(angle)
