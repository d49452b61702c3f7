"""Numbers between limits, and forces between limits for implicit steps (see `mechanics.steps.implicit_forces`)."""

from __future__ import annotations

import math
from typing import Any

from kinemorph.algebra.scalar import S, absolute, div, less, maximum, minimum, minus, times, where


def limited(x: S, lower: Any, upper: Any) -> S:
    """x, limited to [lower, upper]; each limit may be infinite, or depend on a parameter."""
    x = x if is_open(lower) else maximum(x, lower)
    return x if is_open(upper) else minimum(x, upper)


def is_open(limit: Any) -> bool:
    """Whether a limit is infinite, so that it limits nothing."""
    return isinstance(limit, float) and math.isinf(limit)


def winds_up(u: S, grows: S, lower: Any, upper: Any) -> S:
    """1 where the output u is beyond a limit and its integral term, of the rate `grows`, drives it further, else 0."""
    over: S = 0.0 if is_open(upper) else less(upper, u) * less(0.0, grows)
    under: S = 0.0 if is_open(lower) else less(u, lower) * less(grows, 0.0)
    return over + under


def saturated(u: S, lower: Any, upper: Any, pivot: S) -> tuple[S, S]:
    """(force, pivot) of a force u that is limited to [lower, upper]; the argument `pivot` is that without limits.

    A pivot is the inertia -(h df/dv + h^2 df/dq) that a force at the end of a step of h [s] adds to its joint.

    Beyond a limit the derivative of the force is 0. A step with that derivative would move the joint so far that the
    force reaches the opposite limit, and the next step would move it back: a gain that is stiff for the step size would
    chatter from limit to limit. With the secant from u to the middle of the limits in place of the derivative, no step
    goes farther than the force itself would. Where one limit is infinite, the middle is infinite too, and the secant is
    the derivative of u.
    """
    force = limited(u, lower, upper)
    if is_open(lower) or is_open(upper):
        return force, pivot
    half = 0.5 * (upper - lower)
    return force, times(pivot, share_within(minus(u, 0.5 * (lower + upper)), -half, half))


def share_within(u: S, lower: Any, upper: Any) -> S:
    """The largest factor f from 0 to 1 for which f u lies in [lower, upper], an interval around 0."""
    there = less(0.0, absolute(u))
    return where(there, div(limited(u, lower, upper), where(there, u, 1.0)), 1.0)
