"""The laws of blades, discs and balls on a plane.

With the plane's normal n and the disc's axle a, unit vectors in the same axes, and the disc's radius r, the lowest
point of the rim is at r u from the center, and the disc heads along h; s is normal to h in the plane:

    l = |n - (n.a) a|,    u = -(n - (n.a) a) / l,    h = a x n / l,    s = ((n.a) n - a) / l

    height    n . (center - origin) - r l = 0       on positions
    forward   h . v(center + r u) = 0               on velocities of the material point that touches
    sideways  s . v(center + r u) = 0

The velocity of that point along n is the rate of the height, since the rim is lowest there. On the ground all vectors
are in the axes of the link that carries the disc, so that only one axis of the world has to be computed; on a body they
are in the axes of that body.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinemorph.algebra.groups import act
from kinemorph.algebra.scalar import S, div, maximum, sqrt
from kinemorph.algebra.turns import Vec3
from kinemorph.algebra.vectors import add, cross, dot, matvec, matvec_transposed, scale, sub
from kinemorph.mechanics.elements.constraints.guides import guide_problems
from kinemorph.mechanics.elements.constraints.row_forces import RowForces
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import plain, register
from kinemorph.mechanics.elements.relative import across, pose_from, unit, velocity_from
from kinemorph.model.elements.constraints.rolling import KnifeEdge, RollingDisc, RollingSphere
from kinemorph.model.robot import Robot

FLATTEST = 1e-12  # least sine of the angle between a disc and the plane; a disc that lies flat has no lowest point


class KnifeEdgeLaw(RowForces):
    """The constraint s . v = 0: a point with the velocity v does not slide along the direction s.

    Where a plane is given, s is projected onto it.
    """

    def problems(self, element: KnifeEdge, robot: Robot) -> list[str]:
        return guide_problems(element, robot, "side", *(["normal"] if element.normal is not None else []))

    def row_names(self, element: KnifeEdge) -> tuple[Sequence[str], Sequence[str]]:
        return (), ("",)

    def velocity_rows(self, element: KnifeEdge, view: ElementView) -> Sequence[S]:
        point, side = view.value(tuple(element.point)), unit(view, element.side)
        if element.on == "world":
            frame = view.frame(element.body)
            state = view.point(element.body, element.point)
            side, velocity = plain(frame.to_link(side)), state.velocity
            normal = None if element.normal is None else state.into(unit(view, element.normal))
        else:
            side = plain(matvec(pose_from(view, element.on, element.body).R, side))
            velocity = velocity_from(view, element.on, element.body, point)
            normal = None if element.normal is None else unit(view, element.normal)
        if normal is not None:
            side = plain(sub(side, scale(dot(side, normal), normal)))
        return [dot(side, velocity)]


class RollingLaw(RowForces):
    """The abstract base of laws of round bodies that roll on a plane."""

    directions: tuple[str, ...] = ("normal",)

    def problems(self, element: Any, robot: Robot) -> list[str]:
        return guide_problems(element, robot, *self.directions)

    def position_rows(self, element: Any, view: ElementView) -> Sequence[S]:
        if not element.touching:
            return []
        normal, origin = unit(view, element.normal), view.value(tuple(element.origin))
        if element.on == "world":
            center = view.place(element.body, element.center)
            height, seen = center.along(normal), center.into(normal)
            axes = view.frame(element.body).at.pose.R
        else:
            T = pose_from(view, element.on, element.body)
            height, seen, axes = dot(normal, act(T, view.value(tuple(element.center)))), normal, T.R
        return [height - dot(normal, origin) - self.rise(element, view, seen, axes)]

    def rise(self, element: Any, view: ElementView, normal: Vec3, axes: Any) -> S:
        """The height [m] of the center above the plane while the body touches it.

        `axes`, shape (3, 3), turns vectors in the body's axes into the axes of `normal`.
        """
        return view.value(element.radius)

    def lowest(self, element: Any, view: ElementView, normal: Vec3, axes: Any) -> tuple[Vec3, list[Vec3]]:
        """(vector from the center to the touching point [m], the unit vectors along which this point does not slip).

        `axes`, shape (3, 3), turns vectors in the body's axes into the axes of `normal`.
        """
        raise AssertionError(f"{type(self).__name__} does not define its method `lowest`. Define it.")

    def velocity_rows(self, element: Any, view: ElementView) -> Sequence[S]:
        normal, center = unit(view, element.normal), view.value(tuple(element.center))
        if element.on == "world":
            at = view.frame(element.body).at
            seen = view.instant.motions.sight.into(at.link, normal)
            way, directions = self.lowest(element, view, seen, at.pose.R)
            velocity = view.instant.motions.point(at.link, add(act(at.pose, center), way)).velocity
        else:
            T = pose_from(view, element.on, element.body)
            way, directions = self.lowest(element, view, normal, T.R)
            touching = add(center, matvec_transposed(T.R, way))
            velocity = velocity_from(view, element.on, element.body, touching)
        return [dot(direction, velocity) for direction in directions]


class RollingDiscLaw(RollingLaw):
    """A thin disc that rolls on a plane."""

    directions = ("normal", "axle")

    def row_names(self, element: RollingDisc) -> tuple[Sequence[str], Sequence[str]]:
        return ("height",) if element.touching else (), ("forward",) if element.sliding else ("forward", "sideways")

    def rise(self, element: RollingDisc, view: ElementView, normal: Vec3, axes: Any) -> S:
        return view.value(element.radius) * _slope(self._axle(element, view, axes), normal)[1]

    def lowest(self, element: RollingDisc, view: ElementView, normal: Vec3, axes: Any) -> tuple[Vec3, list[Vec3]]:
        axle = self._axle(element, view, axes)
        up, steep = _slope(axle, normal)
        share = div(1.0, steep)
        way = scale(-view.value(element.radius) * share, sub(normal, scale(up, axle)))
        forward = scale(share, cross(axle, normal))
        sideways = scale(share, sub(scale(up, normal), axle))
        return plain(way), [plain(forward)] if element.sliding else [plain(forward), plain(sideways)]

    def _axle(self, element: RollingDisc, view: ElementView, axes: Any) -> Vec3:
        return plain(matvec(axes, unit(view, element.axle)))


def _slope(axle: Vec3, normal: Vec3) -> tuple[S, S]:
    """(n . a, l): cosine and sine of the angle between the axle a and the normal n of the plane."""
    up = dot(axle, normal)
    return up, sqrt(maximum(1.0 - up * up, FLATTEST * FLATTEST))


class RollingSphereLaw(RollingLaw):
    """A ball that rolls on a plane."""

    def row_names(self, element: RollingSphere) -> tuple[Sequence[str], Sequence[str]]:
        return ("height",) if element.touching else (), ("first", "second")

    def lowest(self, element: RollingSphere, view: ElementView, normal: Vec3, axes: Any) -> tuple[Vec3, list[Vec3]]:
        directions = across(unit(view, element.normal), element.normal)  # in the axes of the ground or body below it
        if element.on == "world":
            into, link = view.instant.motions.sight.into, view.frame(element.body).at.link
            directions = into(link, directions[0]), into(link, directions[1])
        return plain(scale(-view.value(element.radius), normal)), list(directions)


register(KnifeEdge, KnifeEdgeLaw())
register(RollingDisc, RollingDiscLaw())
register(RollingSphere, RollingSphereLaw())
