"""The laws of references: paths with exact velocities and accelerations."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.dual import value_and_derivative
from kinemorph.algebra.scalar import S, cos, floor, maximum, minimum, plus, sin, sincos, times
from kinemorph.algebra.tables import lookup, through
from kinemorph.errors import ShapeError
from kinemorph.mechanics.elements.checks import one_axis, one_or_each, wrong
from kinemorph.mechanics.elements.control.channels import Wish, each
from kinemorph.mechanics.elements.control.path_curves import periodic, stepped, stretched, tabled
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import ElementLaw, Jump, Slot, register
from kinemorph.model.elements.control.references import (
    FourierSeries,
    MinimumJerk,
    Profile,
    Setpoint,
    Sinusoid,
    SplinePath,
)
from kinemorph.model.elements.control.wiring import below
from kinemorph.model.parameter import evaluate, parameters_of
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
        return found + count_problems(element, *self.fields)

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
    return count_problems(element, *(name for name in names if getattr(element, name)))


def count_problems(element: Any, *names: str) -> list[str]:
    """A problem for each field with neither one number for all joints nor one number for each joint."""
    return one_or_each(element, max(len(element.joints), 1), "of its joints", *names)


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

    def of(self, element: Setpoint) -> ElementLaw[Any]:
        return FROM_INPUTS if element.from_inputs else self

    def path(self, element: Setpoint, view: ElementView, k: int) -> Wish:
        return Wish(*self.one(element, view, k))


class InputSetpointLaw(SetpointLaw):
    """A position for each joint that is an input of the plant."""

    timed, set_by_hand = False, True

    def begins_with(self, element: Setpoint) -> Any:
        return element.values

    def inputs(self, element: Setpoint) -> tuple[Slot, ...]:
        names = element.joints or ("",)
        values: Any = element.values
        starts = (float(evaluate(value)) for value in each(values, len(names)))
        return tuple(Slot(name, f"q.{name}" if name else "", x) for name, x in zip(names, starts, strict=True))

    def path(self, element: Setpoint, view: ElementView, k: int) -> Wish:
        return Wish(view.input((element.joints or ("",))[k]))


FROM_INPUTS = InputSetpointLaw()


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


class Place(NamedTuple):
    """A place on a curve over time: its time there [s], that time's rate of change, and the rate's own [1/s]."""

    time: S
    pace: S = 1.0
    change: S = 0.0


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
        place = self.place(element, view, k)
        position, rate, second = 0.0, 0.0, 0.0
        for share, table in self.curves(element, view, k):
            slope = self.slope(element, table)
            derivatives = (table, slope, slope.derivative)
            q, v, a = (times(share, lookup(one, place.time)) for one in derivatives)
            position, rate, second = plus(position, q), plus(rate, v), plus(second, a)
        return Wish(position, rate * place.pace, second * place.pace * place.pace + rate * place.change)

    def curves(self, element: Any, view: ElementView, k: int) -> list[tuple[S, Table]]:
        """The path of joint k as a sum of curves, which is linear in its points: (factor, curve), one curve for all
        points that are plain numbers, and one for each other point.
        """
        knots = [evaluate(t) for t in element.times]
        column = [view.value(row[k]) for row in element.points]
        plain = [x if isinstance(x, float) else 0.0 for x in column]
        own = [j for j, x in enumerate(column) if not isinstance(x, float)]
        curves = [(1.0, plain), *((column[j], [float(i == j) for i in range(len(column))]) for j in own)]
        return [(share, self.table(element, knots, values)) for share, values in curves]

    def place(self, element: Any, view: ElementView, k: int) -> Place:
        """Where joint k is on its curve at this instant: at the time itself, unless the path repeats."""
        return Place(view.t)

    def slope(self, element: Any, table: Table) -> Table:
        """The rate of change of the curve `table` over time."""
        return table.derivative


def _differ(a: float, b: float) -> bool:
    """Whether the values of a path at the ends of its period differ by more than rounding."""
    return not abs(a - b) <= SAME * max(1.0, abs(a))


class SplinePathLaw(PointsLaw):
    """A spline that runs once, or repeats with a period."""

    fields = ("shift",)

    def problems(self, element: Any, robot: Robot) -> list[str]:
        return super().problems(element, robot) + optional_numbers(element, "duty")

    def jumps(self, element: SplinePath) -> Sequence[Jump]:
        if element.method == "cubic" and not element.duty:
            return ()
        what, smooth = ("velocity", False) if element.method == "linear" else ("acceleration", True)
        remedy = "Use method='cubic'" + (" and leave out `duty`." if smooth else ".")
        return (Jump(f"the {what} of its path jumps", remedy, (element.period, element.shift, element.duty), smooth),)

    def other_problems(self, element: Any) -> list[str]:
        return self._fixed_numbers(element) or self._problems_of_period(element)

    def _fixed_numbers(self, element: Any) -> list[str]:
        """A problem for Parameters where the curve can have plain numbers only."""
        fixed = {"times": element.times, "points": element.points if element.method == "monotone" else ()}
        remedies = {"times": "Make the period a Parameter.", "points": "Use method='cubic' or 'linear'."}
        return [
            wrong(
                element.name,
                f"{name} contain the parameter '{found[0].name}'; expected plain numbers, since the curve is fixed",
                remedies[name],
                name,
            )
            for name, values in fixed.items()
            if (found := parameters_of(values))
        ]

    def _problems_of_period(self, element: Any) -> list[str]:
        period, own = float(evaluate(element.period)), isinstance(element.period, float | int)
        if own and period == 0.0:
            return self._without_period(element)
        first, last = evaluate(element.times[0]), evaluate(element.times[-1])
        if period == 0.0:
            problem = f"period is nominally {period:g}; expected a time above 0 [s]"
            return [wrong(element.name, problem, "Give the Parameter such a value, or leave `period` out.", "period")]
        if own and abs(last - first - period) > 1e-9 * period:
            problem = f"period is {period:g} s and its times span {last - first:g} s; expected the same"
            remedy = "Repeat the first point one period later as the last point, or make the period a Parameter."
            return [wrong(element.name, problem, remedy, "period")]
        if any(_differ(evaluate(a), evaluate(b)) for a, b in zip(element.points[0], element.points[-1], strict=True)):
            problem = (
                f"a path with a period ends in {element.points[-1]} and begins in {element.points[0]}; "
                "expected the same"
            )
            return [wrong(element.name, problem, "Repeat the first point at the end.")]
        return self._wrong_shares(element)

    def _without_period(self, element: Any) -> list[str]:
        """A problem for each number that a path without a period does not use."""
        plain: Any = {"shift": (0.0,), "duty": (), "stance": 0.0}
        return [
            wrong(element.name, f"{name} is given, but the path has no period", "Give a period, or leave it out.", name)
            for name, value in plain.items()
            if getattr(element, name) != value
        ]

    def _wrong_shares(self, element: Any) -> list[str]:
        """A problem where `stance` or one of `duty` is not a share that the path can have; else none."""
        stance = element.stance
        if not element.duty and stance == 0.0:
            return []
        if not element.duty or not 0.0 < stance < 1.0:
            problem = f"duty has {counted(len(element.duty), 'number')} and stance is {stance:g}; expected both"
            remedy = "Give the share of the stance in the points, between 0 and 1, and that in the path."
            return [wrong(element.name, problem, remedy, "stance")]
        least = stance / (3.0 - 2.0 * stance)
        expected = f"expected at least {least:.3g} and below 1, since the stance is {stance:g} of the points"
        return [
            wrong(element.name, f"duty is {share:g}; {expected}", "Give such a share, or another stance.", "duty")
            for share in (float(evaluate(duty)) for duty in element.duty)
            if not least <= share < 1.0
        ]

    def table(self, element: SplinePath, times: Sequence[float], values: Sequence[float]) -> Table:
        repeats = evaluate(element.period) != 0.0
        if repeats:  # the last point is the first one, up to rounding
            values = [*values[:-1], values[0]]
        if repeats and element.method != "linear":
            return periodic(times, values, element.method)
        return through(times, values, kind=element.method, outside="extend" if repeats else "hold")

    def place(self, element: Any, view: ElementView, k: int) -> Place:
        plain = isinstance(element.period, float | int)
        if plain and not element.period:
            return Place(view.t)
        period, (shift,) = view.value(element.period), self.one(element, view, k)
        first, last = (evaluate(element.times[end]) for end in (0, -1))
        span = element.period if plain else last - first
        ahead = view.t - first + period * shift
        t = ahead - period * floor(ahead / period)  # since the path began to repeat
        if not element.duty:
            pace = 1.0 if plain else span / period
            return Place(first + t * pace, pace)
        duty = each(view.value(element.duty), max(len(element.joints), 1))[k]
        phase, rate, change = stretched(t / period, element.stance, duty)
        pace = span / period
        return Place(first + span * phase, rate * pace, change * pace / period)

    def slope(self, element: SplinePath, table: Table) -> Table:
        """The rate of change of the curve; at the last instant of a path that ends there, it is that of its last piece.

        A piece of a table ends just before its break, so the last break is moved by a few rounding errors of the time.
        """
        if evaluate(element.period) != 0.0:
            return table.derivative
        late = table.breaks[-1] + ROUNDING * float(np.spacing(max(abs(table.breaks[0]), abs(table.breaks[-1]))))
        return replace(table, breaks=(*table.breaks[:-1], late)).derivative


class MinimumJerkLaw(PointsLaw):
    """A path of quintic polynomials that rests at every point."""

    def path(self, element: Any, view: ElementView, k: int) -> Wish:
        knots, column = view.value(element.times), [view.value(row[k]) for row in element.points]
        if all(isinstance(x, float) for x in (*knots, *column)):
            return super().path(element, view, k)
        return differentiated(lambda t: stepped(t, knots, column, _least_jerk), view.t)

    def table(self, element: MinimumJerk, times: Sequence[float], values: Sequence[float]) -> Table:
        through(times, values)  # its checks
        t, q = np.asarray(times), np.asarray(values)
        span, way = np.diff(t), np.diff(q)
        none = np.zeros_like(way)
        rows = np.stack([q[:-1], none, none, 10 * way / span**3, -15 * way / span**4, 6 * way / span**5], axis=1)
        ends = np.zeros((2, 6))
        ends[:, 0] = q[0], q[-1]
        return tabled(times, [times[0], *times[:-1], times[-1]], np.concatenate([ends[:1], rows, ends[1:]]))


def _least_jerk(s: S) -> S:
    return s * s * s * (10.0 - s * (15.0 - 6.0 * s))


class FourierSeriesLaw(PathLaw):
    """A finite Fourier series that begins and ends at rest."""

    fields = ("offset",)

    def problems(self, element: FourierSeries, robot: Robot) -> list[str]:
        found = super().problems(element, robot)
        width, cycles = max(len(element.joints), 1), element.cycles
        if math.isfinite(cycles) and cycles != round(cycles):
            problem = f"cycles is {cycles:g}; expected a whole number of periods, or inf"
            found.append(wrong(element.name, problem, f"Give {math.ceil(cycles)}, or inf.", "cycles"))
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
        if found or not element.period > 0.0:
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
            found.append(wrong(element.name, f"law is {element.law!r}; expected a function of t", "Give one.", "law"))
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
    (position, velocity), (_, acceleration) = value_and_derivative(lambda t: value_and_derivative(law, t), t)
    return Wish(position, velocity, acceleration)


for kind, law in (
    (Setpoint, SetpointLaw()),
    (Sinusoid, SinusoidLaw()),
    (SplinePath, SplinePathLaw()),
    (MinimumJerk, MinimumJerkLaw()),
    (FourierSeries, FourierSeriesLaw()),
    (Profile, ProfileLaw()),
):
    register(kind, law)
