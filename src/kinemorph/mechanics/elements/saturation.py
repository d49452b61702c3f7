"""Numbers between limits, and forces between limits as laws that a step may take at its end."""

from __future__ import annotations

import math
from typing import Any

from kinemorph.algebra.scalar import S, absolute, div, less, maximum, minimum, minus, times, where


def limited(x: S, lower: Any, upper: Any) -> S:
    """x between two limits; each may be infinite, or depend on a parameter."""
    x = x if is_open(lower) else maximum(x, lower)
    return x if is_open(upper) else minimum(x, upper)


def is_open(limit: Any) -> bool:
    """Whether a limit is infinite: no limit at all."""
    return isinstance(limit, float) and math.isinf(limit)


def saturated(u: S, lower: Any, upper: Any, pivot: S) -> tuple[S, S]:
    """(force, pivot) of a force u between limits; `pivot` is that of u without limits.

    Beyond a limit the slope is 0. A step with that slope would drive the joint beyond the limit on the other side, and
    the next step back: gains that are stiff for the step size would chatter from limit to limit. The secant from u to
    the middle of the limits is a slope with which no step goes farther than the force itself would. Where one of the
    limits is infinite, so is the middle, and the secant is the slope of u.
    """
    force = limited(u, lower, upper)
    if is_open(lower) or is_open(upper):
        return force, pivot
    half = 0.5 * (upper - lower)
    return force, times(pivot, share_within(minus(u, 0.5 * (lower + upper)), half))


def share_within(u: S, most: S) -> S:
    """The share of u that is left between -most and most: from 0 to 1."""
    there = less(0.0, absolute(u))
    return where(there, div(limited(u, -most, most), where(there, u, 1.0)), 1.0)
