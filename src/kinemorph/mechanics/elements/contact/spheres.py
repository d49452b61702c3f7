"""Spheres and capsules: where they touch the ground or each other.

The axes of two capsules, p_a(s) and p_b(t) with s and t between 0 and 1, are nearest where

    phi(s, t) = |p_a(s) - p_b(t)|^2 + eps ((s - 1/2)^2 + (t - 1/2)^2)

is least. Without the last term the nearest points of parallel capsules would not be unique, and a small rotation would
move them from one end to the other; with it the function is strictly convex, and the points move continuously, to the
middle of the overlap. The distance is defined as the square root of the least phi. Its gradient by the bodies' motion
is (p_a - p_b)/sqrt(phi), so that the spring between the bodies conserves energy; eps is so small that it is
a distance for all other purposes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.scalar import S, div, maximum, minimum
from kinemorph.algebra.vectors import add, dot, matvec_transposed, scale, sub
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.places import Motions
from kinemorph.mechanics.steps.point_states import PointState
from kinemorph.model.parameter import evaluate_all

EVEN = 1e-6  # eps relative to the squared lengths of the axes: axes within 1e-3 rad of each other count as parallel


def axis_problems(name: str, point: Any, end: Any) -> list[str]:
    """Problems of the axis of a capsule of the element `name`: `point` and `end` [m]; without `end` it is a sphere."""
    ends = [tuple(float(x) for x in evaluate_all(place)) for place in (point, end) if place is not None]
    if len(ends) == 2 and ends[0] == ends[1]:
        problem = f"both ends of its capsule are at {ends[0]}; expected two different points"
        return [wrong(name, problem, "Leave out the end to get a sphere.")]
    return []


class Nearest(NamedTuple):
    """The nearest points of the axes of two capsules a and b, in the world."""

    a: Any  # on the axis of a [m]
    b: Any  # on the axis of b [m]
    extra: S  # phi minus the square of their distance [m^2]


def nearest(a: Sequence[Any], b: Sequence[Any]) -> Nearest:
    """The nearest points of two axes, each given by one end (a sphere) or two ends [m], in closed form."""
    if len(a) == len(b) == 1:
        return Nearest(a[0], b[0], 0.0)
    if len(a) == 1:
        spot, extra = _on(b, a[0])
        return Nearest(a[0], spot, extra)
    if len(b) == 1:
        spot, extra = _on(a, b[0])
        return Nearest(spot, b[0], extra)
    u, w, apart = sub(a[1], a[0]), sub(b[1], b[0]), sub(a[0], b[0])
    eps = EVEN * (dot(u, u) + dot(w, w))
    uu, ww, uw = dot(u, u) + eps, dot(w, w) + eps, dot(u, w)
    p, r = dot(u, apart) - 0.5 * eps, -dot(w, apart) - 0.5 * eps  # half the derivatives of phi at s = t = 0
    # the best s for unbounded t, then the best t in [0, 1] for this s, then the best s for this t
    s = _in_unit(div(uw * -r - ww * p, uu * ww - uw * uw))
    t = _in_unit(div(uw * s - r, ww))
    s = _in_unit(div(uw * t - p, uu))
    off = (s - 0.5) * (s - 0.5) + (t - 0.5) * (t - 0.5)
    return Nearest(add(a[0], scale(s, u)), add(b[0], scale(t, w)), eps * off)


def _on(axis: Sequence[Any], point: Any) -> tuple[Any, S]:
    """(the point of an axis that is nearest to `point`, 0.0). The 0.0 is the term with eps in this file's docstring."""
    u = sub(axis[1], axis[0])
    s = _in_unit(div(dot(u, sub(point, axis[0])), dot(u, u)))
    return add(axis[0], scale(s, u)), 0.0


def _in_unit(x: S) -> S:
    return minimum(maximum(x, 0.0), 1.0)


def fixed_point(motions: Motions, link: int, position: Any) -> PointState:
    """The state of the point of a link that is now at a given position in the world [m]."""
    pose = motions.pose(link)
    return motions.point(link, matvec_transposed(pose.R, sub(position, pose.p)))
