"""Where the rim of a wheel is deepest in the ground.

The rim is a circle around the center C with the axle a and the radius r. A point of it is c = C + r e, with the unit
vector e normal to a; t = a x e points along the rim. With the ground's normal n at the point nearest to c, the rim is
deepest where  n . t = 0.

Plane        e = -(n - (n.a) a) / |n - (n.a) a|, in closed form
terrain      Newton's method on the nearest point (x, y) of z = f(x, y) and on the angle of e along the rim at once,

                 (x - c_x) + (f - c_z) f_x = 0,   (y - c_y) + (f - c_z) f_y = 0,   (-f_x, -f_y, 1) . t = 0

             with a fixed number of steps, so that it stays an expression

At the deepest point the height of the rim over the ground changes at the speed of this point of the wheel along n,
so that tires conserve energy on hills too. Where the ground bends up more sharply than the rim, the rim touches in
several points, of which this is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.linear import applied
from kinemorph.algebra.scalar import S, absolute, div, less, maximum, minimum, sqrt, where
from kinemorph.algebra.turns import Vec3
from kinemorph.algebra.vectors import add, cross, dot, scale, sub
from kinemorph.mechanics.elements.contact.grounds import Meeting, curvatures, spline_grid, surface
from kinemorph.mechanics.elements.law import plain
from kinemorph.model.elements.contact.grounds import HeightFunction, HeightMap, Plane
from kinemorph.model.parameter import evaluate_all
from kinemorph.vocabulary.grid_surfaces import STEEP, Bicubic

STEPS = 6  # of Newton's method
FLAT = 1e-9  # least sine of the angle between a wheel and the ground; a wheel that lies flat has no lowest point
TURN = 0.5  # [rad], the longest step along the rim
FOUND = 1e-3  # relative to the radius of the rim: the largest error of a deepest point that is accepted

Relief = Callable[[S, S], Sequence[S]]  # (x, y) [m] -> f, f_x, f_y, f_xx, f_xy, f_yy of the terrain z = f(x, y)


class RimMeeting(NamedTuple):
    """The deepest point of a rim, in world axes."""

    way: Vec3  # from the center to this point; of length 1
    height: S  # of this point above the ground [m], below 0 inside it
    normal: Vec3  # of the ground there; of length 1


def rim_meeting(
    ground: Any, center: Sequence[S], axle: Sequence[S], radius: S, value: Callable[[Any], Any] = evaluate_all
) -> RimMeeting:
    """The deepest point of a rim of `radius` [m] around `center` [m] with the unit vector `axle`, in world axes.

    `value` looks up parameters in the ground's data.
    """
    if isinstance(ground, Plane):
        normal = surface(ground, value)(center).normal
        way = lowest(axle, normal)
        return RimMeeting(way, surface(ground, value)(add(center, scale(radius, way))).height, normal)
    return _on_terrain(_RELIEFS[type(ground)](ground), center, axle, radius)


def lowest(axle: Sequence[S], normal: Sequence[S]) -> Vec3:
    """The unit vector from the center of a rim to its lowest point above a plane with this normal."""
    across = cross(axle, normal)
    size = div(1.0, sqrt(maximum(dot(across, across), FLAT * FLAT)))
    return plain(cross(axle, scale(size, across)))


def _function(ground: HeightFunction) -> Relief:
    return lambda x, y: curvatures(ground.height, x, y)


def _map(ground: HeightMap) -> Relief:
    lookup = Bicubic(spline_grid(ground)[0], 2)
    return lambda x, y: applied(lookup, [x, y])


_RELIEFS: dict[type, Callable[[Any], Relief]] = {HeightFunction: _function, HeightMap: _map}


def _on_terrain(relief: Relief, center: Sequence[S], axle: Sequence[S], radius: S) -> RimMeeting:
    """The deepest point of a rim on terrain.

    Where Newton's method has not converged, the ground is the plane that touches the terrain right below the center.
    """
    below = relief(center[0], center[1])
    flat = _tangent_plane((center[0], center[1]), below, center)
    first = lowest(axle, flat.normal)
    way, foot = first, (center[0] + radius * first[0], center[1] + radius * first[1])
    for _ in range(STEPS):
        way, foot = _newton_step(relief(*foot), center, axle, radius, way, foot)
    found, point = relief(*foot), add(center, scale(radius, way))
    error = sum((absolute(x) for x in _errors(found, point, foot)), absolute(radius * _steepness(found, axle, way)))
    good = less(error, FOUND * radius)
    there = _tangent_plane(foot, found, point)
    x, y, z = (where(good, one, other) for one, other in zip(way, first, strict=True))
    nx, ny, nz = (where(good, one, other) for one, other in zip(there.normal, flat.normal, strict=True))
    over = flat.height + radius * dot(flat.normal, first)
    return RimMeeting((x, y, z), where(good, there.height, over), (nx, ny, nz))


def _newton_step(
    found: Sequence[S], center: Sequence[S], axle: Sequence[S], radius: S, way: Vec3, foot: tuple[S, S]
) -> tuple[Vec3, tuple[S, S]]:
    """The direction `way` to the deepest point and the nearest point of the terrain, `foot`, after one step."""
    f, fx, fy, fxx, fxy, fyy = found
    t, point = cross(axle, way), add(center, scale(radius, way))
    gap = f - point[2]
    e1, e2 = _errors(found, point, foot)
    e3 = _steepness(found, axle, way)
    # the derivatives of the three equations by x, by y and by the angle, as columns
    a = (1.0 + fx * fx + gap * fxx, fx * fy + gap * fxy, -(fxx * t[0] + fxy * t[1]))
    b = (fx * fy + gap * fxy, 1.0 + fy * fy + gap * fyy, -(fxy * t[0] + fyy * t[1]))
    c = (-radius * (t[0] + t[2] * fx), -radius * (t[1] + t[2] * fy), fx * way[0] + fy * way[1] - way[2])
    bc = cross(b, c)
    share = div(-1.0, maximum(dot(a, bc), STEEP))
    e = (e1, e2, e3)
    dx, dy, turn = share * dot(e, bc), share * dot(a, cross(e, c)), share * dot(a, cross(b, e))
    dx, dy, turn = _within(dx, radius), _within(dy, radius), _within(turn, TURN)
    onward = scale(div(1.0, sqrt(1.0 + turn * turn)), add(way, scale(turn, t)))
    return plain(onward), (foot[0] + dx, foot[1] + dy)


def _within(x: S, most: S) -> S:
    return minimum(maximum(x, -most), most)


def _errors(found: Sequence[S], point: Sequence[S], foot: Sequence[S]) -> tuple[S, S]:
    """The errors [m] of `foot` as the nearest point of the terrain to a point.

    `found` are the height of the terrain at the foot and its derivatives.
    """
    f, fx, fy, *_ = found
    gap = f - point[2]
    return foot[0] - point[0] + gap * fx, foot[1] - point[1] + gap * fy


def _steepness(found: Sequence[S], axle: Sequence[S], way: Vec3) -> S:
    """The slope of the height over the ground along the rim, in parts of the length of (-f_x, -f_y, 1)."""
    t = cross(axle, way)
    return t[2] - found[1] * t[0] - found[2] * t[1]


def _tangent_plane(foot: Sequence[S], found: Sequence[S], point: Sequence[S]) -> Meeting:
    """The height of a point over the plane that touches the terrain at `foot`, and the normal of this plane."""
    f, fx, fy, *_ = found
    size = div(1.0, sqrt(1.0 + fx * fx + fy * fy))
    n = (-fx * size, -fy * size, size)
    return Meeting(dot(n, sub(point, (foot[0], foot[1], f))), n)
