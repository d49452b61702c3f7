"""The laws of references: paths with exact velocities and accelerations."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from kinemorph.algebra.dual import Dual
from kinemorph.algebra.scalar import S, cos, floor, maximum, minimum, sin, sincos
from kinemorph.algebra.tables import lookup, through
from kinemorph.errors import ShapeError
from kinemorph.mechanics.elements.checks import one_axis, positive, wrong
from kinemorph.mechanics.elements.control.channels import Wish, each
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import ElementLaw, Slot, register
from kinemorph.mechanics.recursions.kinematics import tangent_of
from kinemorph.model.elements.control.references import (
    FourierSeries,
    MinimumJerk,
    Profile,
    Setpoint,
    Sinusoid,
    SplinePath,
)
from kinemorph.model.elements.control.wiring import below
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot
from kinemorph.vocabulary.blocks import Table
from kinemorph.words import counted

AT_REST = 1e-9  # the velocity at the ends of a series is zero below this share of the sum of its terms
SAME = 1e-9  # the ends of a path with a period may differ by this share of the larger of 1 and their values
ROUNDING = 4.0  # [units in the last place] by which the last instant of a path may be missed by a sum of time steps


class PathLaw(ElementLaw[Any]):
    """The abstract base of laws of references: a path for each joint, or one path where no joints are named."""

    timed = True
    fields: tuple[str, ...] = ()  # fields with one number for all joints, or one number for each joint

    def path(self, element: Any, view: ElementView, k: int) -> Wish:
        """The desired position, velocity and acceleration of joint k at this instant."""
        raise AssertionError(f"{type(self).__name__} does not define its method `path`. Define it.")

    def problems(self, element: Any, robot: Robot) -> list[str]:
        found = [problem for joint in element.joints for problem in one_axis(element, "joints", joint, robot)]
        found += [
            wrong(element.name, f"joint '{joint}' is named {times} times; expected once", "Name it once.", "joints")
            for joint, times in Counter(element.joints).items()
            if times > 1
        ]
        return found + [problem for name in self.fields for problem in _counts(element, name)]

    def signals(self, element: Any) -> tuple[Slot, ...]:
        names = element.joints or ("",)
        return tuple(slot for name in names for slot in _slots(name))

    def publish(self, element: Any, view: ElementView) -> Mapping[str, S]:
        found: dict[str, S] = {}
        for k, name in enumerate(element.joints or ("",)):
            wish = self.path(element, view, k)
            found |= dict(zip((name, below(name, "velocity"), below(name, "acceleration")), wish, strict=True))
        return found

    def one(self, element: Any, view: ElementView, k: int) -> list[S]:
        """The numbers of joint k, in the order of `fields`."""
        count = max(len(element.joints), 1)
        return [each(view.value(getattr(element, name)), count)[k] for name in self.fields]


def optional_numbers(element: Any, *names: str) -> list[str]:
    """Problems of fields that may be empty, or else have one number for all joints or one number for each joint."""
    return [problem for name in names if getattr(element, name) for problem in _counts(element, name)]


def _counts(element: Any, name: str) -> list[str]:
    """A problem if the field `name` has neither one number for all joints nor one number for each joint; else none."""
    count, values = max(len(element.joints), 1), getattr(element, name)
    if len(values) in (1, count):
        return infinite(element, name)
    each_one = f", or {count}, one for each of its joints" if count > 1 else ""
    problem = f"{name} has {counted(len(values), 'number')}; expected 1{each_one}"
    return [wrong(element.name, problem, "Correct it.", name), *infinite(element, name)]


def infinite(element: Any, name: str) -> list[str]:
    """A problem for each number in the field `name` that is not finite."""
    given = getattr(element, name)
    return [
        wrong(element.name, f"{name} is {evaluate(value)}; expected a finite number", "Correct it.", name)
        for value in (given if isinstance(given, tuple) else (given,))
        if not math.isfinite(evaluate(value))
    ]


def _slots(name: str) -> tuple[Slot, Slot, Slot]:
    position, velocity, acceleration = (f"{letter}.{name}" if name else "" for letter in "qva")
    return (
        Slot(name, position),
        Slot(below(name, "velocity"), velocity),
        Slot(below(name, "acceleration"), acceleration),
    )


class SetpointLaw(PathLaw):
    """A constant position for each joint."""

    fields = ("values",)

    def path(self, element: Setpoint, view: ElementView, k: int) -> Wish:
        return Wish(*self.one(element, view, k))


class SinusoidLaw(PathLaw):
    """The path offset + amplitude sin(2 pi frequency t + phase) of each joint."""

    fields = ("amplitude", "frequency", "offset", "phase")

    def path(self, element: Sinusoid, view: ElementView, k: int) -> Wish:
        return swing(view.t, *self.one(element, view, k))


def swing(t: S, amplitude: S, frequency: S, offset: S, phase: S) -> Wish:
    """The path offset + amplitude sin(2 pi frequency t + phase) at time t [s], with its velocity and acceleration."""
    w = 2.0 * math.pi * frequency
    s, c = sin(w * t + phase), cos(w * t + phase)
    return Wish(offset + amplitude * s, amplitude * w * c, -amplitude * w * w * s)


class PointsLaw(PathLaw):
    """The abstract base of laws whose path goes through given points: a piecewise polynomial for each joint."""

    def table(self, element: Any, times: Sequence[float], values: Sequence[float]) -> Table:
        """The curve through the points of one joint."""
        raise AssertionError(f"{type(self).__name__} does not define its method `table`. Define it.")

    def problems(self, element: Any, robot: Robot) -> list[str]:
        found = super().problems(element, robot)
        width, times = max(len(element.joints), 1), [evaluate(t) for t in element.times]
        if len(times) != len(element.points) or len(times) < 2:
            both = f"times has {counted(len(times), 'number')} and points has {counted(len(element.points), 'row')}"
            problem = f"{both}; expected as many rows as numbers, 2 or more"
            found.append(wrong(element.name, problem, "Give a row of points for each time."))
        odd = [k for k, row in enumerate(element.points) if len(row) != width]
        if odd:
            given = counted(len(element.points[odd[0]]), "number")
            problem = f"points[{odd[0]}] has {given}; expected {width}, one for each joint"
            found.append(wrong(element.name, problem, "Correct that row.", "points"))
        found = found or self.other_problems(element)
        if found:
            return found
        try:
            for k in range(width):
                self.table(element, times, [evaluate(row[k]) for row in element.points])
        except ShapeError as error:
            problem = str(error).rstrip(".").replace("curve:", "curve of points (y) over times (x):")
            found.append(wrong(element.name, problem, "Correct its times or points.", "times"))
        return found

    def other_problems(self, element: Any) -> list[str]:
        """Problems of this kind of path only; that there are as many rows of points as times is checked before."""
        return []

    def path(self, element: Any, view: ElementView, k: int) -> Wish:
        table = self.table(element, [evaluate(t) for t in element.times], [evaluate(row[k]) for row in element.points])
        t = self.local(element, view.t)
        slope = self.slope(element, table)
        return Wish(lookup(table, t), lookup(slope, t), lookup(slope.derivative, t))

    def local(self, element: Any, t: S) -> S:
        """The time [s] at which to evaluate the curve at time t: t itself, unless the path repeats."""
        return t

    def slope(self, element: Any, table: Table) -> Table:
        """The rate of change of the curve `table` over time."""
        return table.derivative


def _differ(a: float, b: float) -> bool:
    """Whether the values of a path at the ends of its period differ by more than rounding."""
    return not abs(a - b) <= SAME * max(1.0, abs(a))


class SplinePathLaw(PointsLaw):
    """A spline that runs once, or repeats with a period."""

    def other_problems(self, element: Any) -> list[str]:
        found: list[str] = []
        if element.period == 0.0:
            return found
        first, last = evaluate(element.times[0]), evaluate(element.times[-1])
        if not 0.0 < element.period < math.inf or abs(last - first - element.period) > 1e-9 * element.period:
            problem = f"period is {element.period:g} s and its times span {last - first:g} s; expected the same"
            remedy = "Repeat the first point one period later as the last point."
            found.append(wrong(element.name, problem, remedy, "period"))
        elif any(_differ(evaluate(a), evaluate(b)) for a, b in zip(element.points[0], element.points[-1], strict=True)):
            problem = (
                f"a path with a period ends in {element.points[-1]} and begins in {element.points[0]}; "
                "expected the same"
            )
            found.append(wrong(element.name, problem, "Repeat the first point at the end."))
        return found

    def table(self, element: SplinePath, times: Sequence[float], values: Sequence[float]) -> Table:
        if element.period:  # the last point is the first one, up to rounding
            values = [*values[:-1], values[0]]
        if element.period and element.method != "linear":
            return periodic(times, values, element.method)
        return through(times, values, kind=element.method, outside="extend" if element.period else "hold")

    def local(self, element: Any, t: S) -> S:
        if not element.period:
            return t
        first = evaluate(element.times[0])
        return t - element.period * floor((t - first) / element.period)

    def slope(self, element: SplinePath, table: Table) -> Table:
        """The rate of change of the curve; at the last instant of a path that ends there, it is that of its last piece.

        A piece of a table ends just before its break, so the last break is moved by a few rounding errors of the time.
        """
        if element.period:
            return table.derivative
        late = table.breaks[-1] + ROUNDING * float(np.spacing(max(abs(table.breaks[0]), abs(table.breaks[-1]))))
        return replace(table, breaks=(*table.breaks[:-1], late)).derivative


def periodic(times: Sequence[float], values: Sequence[float], method: Literal["cubic", "monotone"] = "cubic") -> Table:
    """The periodic cubic through points: its first derivative is the same at both ends; a spline's second one too.

    `method` is that of SplinePath. The slope of a monotone curve at its ends follows from the points on both sides.
    """
    from scipy.interpolate import CubicSpline, PchipInterpolator

    through(times, values)  # its checks
    if method == "cubic":
        return _tabled(times[1:-1], times[:-1], CubicSpline(times, values, bc_type="periodic").c[::-1].T)
    period = times[-1] - times[0]
    around = PchipInterpolator([times[-2] - period, *times, times[1] + period], [values[-2], *values, values[1]])
    return _tabled(times[1:-1], times[:-1], around.c[::-1].T[1:-1])


class MinimumJerkLaw(PointsLaw):
    """A path of quintic polynomials that rests at every point."""

    def table(self, element: MinimumJerk, times: Sequence[float], values: Sequence[float]) -> Table:
        through(times, values)  # its checks
        t, q = np.asarray(times), np.asarray(values)
        span, way = np.diff(t), np.diff(q)
        none = np.zeros_like(way)
        rows = np.stack([q[:-1], none, none, 10 * way / span**3, -15 * way / span**4, 6 * way / span**5], axis=1)
        ends = np.zeros((2, 6))
        ends[:, 0] = q[0], q[-1]
        return _tabled(times, [times[0], *times[:-1], times[-1]], np.concatenate([ends[:1], rows, ends[1:]]))


def _tabled(breaks: Sequence[float], origins: Sequence[float], rows: Any) -> Table:
    return Table(tuple(map(float, breaks)), tuple(map(float, origins)), tuple(tuple(map(float, row)) for row in rows))


class FourierSeriesLaw(PathLaw):
    """A finite Fourier series that begins and ends at rest."""

    fields = ("offset",)

    def problems(self, element: FourierSeries, robot: Robot) -> list[str]:
        found = [*super().problems(element, robot), *positive(element, "period")]
        width, cycles = max(len(element.joints), 1), element.cycles
        if not cycles >= 1.0 or (math.isfinite(cycles) and cycles != round(cycles)):
            problem = f"cycles is {cycles:g}; expected a whole number of periods, 1 or more, or inf"
            found.append(wrong(element.name, problem, "Correct it.", "cycles"))
        if not element.sines or len(element.sines) != len(element.cosines):
            sines, cosines = (counted(len(rows), "row") for rows in (element.sines, element.cosines))
            problem = f"sines has {sines} and cosines {cosines}; expected one row in each for every harmonic"
            found.append(wrong(element.name, problem, "Give 0 where a coefficient is missing.", "sines"))
        for name in ("sines", "cosines"):
            rows = getattr(element, name)
            odd = [k for k, row in enumerate(rows) if len(row) != width]
            if odd:
                problem = f"{name}[{odd[0]}] has {counted(len(rows[odd[0]]), 'number')}; expected {width}"
                found.append(wrong(element.name, f"{problem}, one for each joint", "Correct that row.", name))
        if found:
            return found
        return [problem for k in range(width) for problem in self._moving_ends(element, k)]

    def _moving_ends(self, element: FourierSeries, k: int) -> list[str]:
        """A problem for the velocity and one for the acceleration of joint k at the ends, if they are not zero."""
        found = []
        of = f" of joint '{element.joints[k]}'" if element.joints else ""
        w = 2.0 * math.pi / element.period
        for name, power, what, unit in (("sines", 1, "velocity", "s"), ("cosines", 2, "acceleration", "s^2")):
            terms = [(l * w) ** power * evaluate(row[k]) for l, row in enumerate(getattr(element, name), 1)]
            if not abs(sum(terms)) <= AT_REST * sum(map(abs, terms)):
                sums = "sum of l sines_l" if power == 1 else "sum of l^2 cosines_l"
                problem = (
                    f"the {what}{of} at the ends is {(-1) ** (power - 1) * sum(terms):.4g} rad or m per {unit}; "
                    f"expected 0, which needs {sums} = 0"
                )
                found.append(wrong(element.name, problem, "FourierSeries.at_rest corrects coefficients.", name))
        return found

    def path(self, element: Any, view: ElementView, k: int) -> Wish:
        (offset,) = self.one(element, view, k)
        w = 2.0 * math.pi / element.period
        t = maximum(view.t, 0.0)
        if math.isfinite(element.cycles):
            t = minimum(t, element.period * element.cycles)
        position, velocity, acceleration = offset, 0.0, 0.0
        for l, (in_phase, ahead) in enumerate(zip(element.sines, element.cosines, strict=True), 1):
            (s, c), (b, a) = sincos(l * w * t), (view.value(row[k]) for row in (in_phase, ahead))
            position = position + b * s + a * c
            velocity = velocity + l * w * (b * c - a * s)
            acceleration = acceleration - (l * w) ** 2 * (b * s + a * c)
        return Wish(position, velocity, acceleration)


class ProfileLaw(PathLaw):
    """A user function of time; its first and second derivatives come from nested dual numbers."""

    def problems(self, element: Profile, robot: Robot) -> list[str]:
        found = super().problems(element, robot)
        if not callable(element.law):
            found.append(wrong(element.name, f"law is {element.law!r}; expected a function of t", "Correct it.", "law"))
        return found

    def path(self, element: Profile, view: ElementView, k: int) -> Wish:
        def one(t: S) -> S:
            found = element.law(t)
            values = list(found) if isinstance(found, (list, tuple, np.ndarray)) else [found]
            if len(values) != max(len(element.joints), 1):
                raise ShapeError(
                    f"element '{element.name}': its law returned {counted(len(values), 'number')}; expected "
                    f"{max(len(element.joints), 1)}, one for each joint. Correct the function."
                )
            return values[k]

        return differentiated(one, view.t)


def differentiated(law: Callable[[S], S], t: S) -> Wish:
    """The value of a function of time at t [s], with its first and second derivatives from nested dual numbers."""
    once = Dual(t, 1.0)
    twice = Dual(once, 1.0)
    value, rate = _parts(law(twice), twice.level)
    (position, velocity), (_, acceleration) = _parts(value, once.level), _parts(rate, once.level)
    return Wish(position, velocity, acceleration)


def _parts(x: S, level: int) -> tuple[S, S]:
    """(value, derivative) of x if it is a dual number of this level (levels distinguish nested ones), else (x, 0)."""
    return (x.value if isinstance(x, Dual) and x.level == level else x), tangent_of(x, level)


for kind, law in (
    (Setpoint, SetpointLaw()),
    (Sinusoid, SinusoidLaw()),
    (SplinePath, SplinePathLaw()),
    (MinimumJerk, MinimumJerkLaw()),
    (FourierSeries, FourierSeriesLaw()),
    (Profile, ProfileLaw()),
):
    register(kind, law)
