"""The curves of references over time: pieces of polynomials, steps from point to point, and stretched stances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from kinemorph.algebra.scalar import S, maximum, minimum, where
from kinemorph.algebra.tables import through
from kinemorph.vocabulary.blocks import Table


def stretched(phase: S, stance: float, duty: S) -> tuple[S, S, S]:
    """The phase in the points of a path at a phase of its period, with its first and second derivative.

    Both phases are from 0 to 1; the stance ends at the phase `duty` of the period, and at `stance` in the points.
    With the slopes  a = stance / duty  and  b = (1 - stance) / (1 - duty)  it is  a phase  in the stance, and then

        stance + (1 - stance) u + (1 - duty) (a - b) u (1 - u) (1 - 2 u),     u = (phase - duty) / (1 - duty)

    which is the cubic that has the slope a at both ends; it increases where a <= 3 b.
    """
    rest = 1.0 - duty
    a, b = stance / duty, (1.0 - stance) / rest
    late = phase - duty
    u = late / rest
    swing = stance + (1.0 - stance) * u + rest * (a - b) * u * (1.0 - u) * (1.0 - 2.0 * u)
    slope = b + (a - b) * (1.0 - 6.0 * u * (1.0 - u))
    stands = late < 0.0
    return (
        where(stands, a * phase, swing),
        where(stands, a, slope),
        where(stands, 0.0, (a - b) * (12.0 * u - 6.0) / rest),
    )


def periodic(times: Sequence[float], values: Sequence[float], method: Literal["cubic", "monotone"] = "cubic") -> Table:
    """The periodic cubic through points: its first derivative is the same at both ends; a spline's second one too.

    `method` is that of SplinePath. The slope of a monotone curve at its ends follows from the points on both sides.
    """
    from scipy.interpolate import CubicSpline, PchipInterpolator

    through(times, values)  # its checks
    if method == "cubic":
        return tabled(times[1:-1], times[:-1], CubicSpline(times, values, bc_type="periodic").c[::-1].T)
    period = times[-1] - times[0]
    around = PchipInterpolator([times[-2] - period, *times, times[1] + period], [values[-2], *values, values[1]])
    return tabled(times[1:-1], times[:-1], around.c[::-1].T[1:-1])


def stepped(t: S, times: Sequence[S], values: Sequence[S], shape: Callable[[S], S] = lambda s: s) -> S:
    """The path at time t through values at rising times, all of them scalars of any kind; it is constant outside.

    From each value to the next one it follows `shape`, a function from 0 to 1 of the share of the time that has passed.
    """
    found = values[0]
    for begin, end, before, after in zip(times, times[1:], values, values[1:], strict=False):
        share = minimum(maximum((t - begin) / (end - begin), 0.0), 1.0)
        found = found + (after - before) * shape(share)
    return found


def tabled(breaks: Sequence[float], origins: Sequence[float], rows: Any) -> Table:
    """The curve with these rows of coefficients, lowest power first, of pieces about `origins` between `breaks`."""
    return Table(tuple(map(float, breaks)), tuple(map(float, origins)), tuple(tuple(map(float, row)) for row in rows))
