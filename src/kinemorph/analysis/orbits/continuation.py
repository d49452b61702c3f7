"""`continuation`: a branch of periodic orbits along a parameter, by pseudo-arclength.

The unknowns are the shooting nodes Y and the parameter, y = [Y, p]. From a point of the branch with unit tangent t a
step of length h is predicted, y + h t, and corrected by Newton's method in the plane through it,

    F(y) = 0,    t . (y - predicted) = 0

so that a branch is followed around folds. The length adapts to the number of Newton steps and to the curvature.
Lengths are measured in scaled unknowns: the parameter relative to its range, coordinates relative to their size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.orbits.branch_points import Kind, branch_tests, is_neimark_sacker, zero_between
from kinemorph.analysis.orbits.periodic_orbit import STABLE, Orbit, orbit_at
from kinemorph.analysis.orbits.return_map import Piece, ReturnMap, coordinates_table, place_of
from kinemorph.analysis.orbits.shooting import Closure, closure, parted
from kinemorph.errors import UnsupportedError
from kinemorph.sheet import Facts, Field, Note, Sheet, Table, hidden, said
from kinemorph.shown import ShownOrbits
from kinemorph.words import counted

Condition = Callable[[Orbit], float]
SMALLEST = 1e-9  # a step that is shorter than this share of the range is given up
MOST_NEWTON = 8  # Newton steps of one corrector
EASY = 3  # Newton steps up to which the next step is longer
FLAT = 1e-8  # singular values below this do not determine the tangent
SINGULAR = 1e-11  # singular values of the bordered matrix below this, relative to the largest, are zero
ROUNDING = 1e-15  # a residual that is not improved further
TURN = 0.95  # the cosine of the angle between tangents below which a step is too long
CLOSED = "The branch is closed: it returned to its first orbit."
_numbers = range  # the builtin: `range` is the range of the parameter in this file
LEAST_SIZE = 1e-2  # the scale of a coordinate that is near zero


@dataclass(frozen=True, eq=False)
class BranchPoint:
    """A special point of a branch: its kind, the orbit there, and a tangent of the branch [nodes, parameter]."""

    kind: Kind
    orbit: Orbit
    value: float  # of the parameter
    tangent: Array

    def __repr__(self) -> str:
        return f"<{self.kind} at {self.value:.10g}>"


@dataclass(frozen=True, eq=False, repr=False)
class Branch(ShownOrbits):
    """A branch of orbits along a parameter. Made by `continuation`.

    `points`        the orbits in the order of the branch, those at special points included
    `special`       folds, branch points, doublings and Neimark-Sacker points on it, in the same order
    `ends`          two sentences: why the branch ends at its first and at its last point
    """

    parameter: str
    points: tuple[Orbit, ...]
    special: tuple[BranchPoint, ...]
    ends: tuple[str, str]
    unit: str = field(default="")

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        special = f", {counted(len(self.special), 'special point')}" if self.special else ""
        return (
            f"<Branch of '{self.points[0].map.name}' along '{self.parameter}': {counted(len(self), 'orbit')}{special}>"
        )

    def sheet(self) -> Sheet:
        """The ends of the branch and its special points; `orbits_table` lists all its orbits."""
        cycle, first, last = self.points[0].map, *self.ends
        rows = [
            (one.kind, one.value, one.orbit.period, coordinates_table(cycle, one.orbit.z).data()["coordinates"])
            for one in self.special
        ]
        columns = (
            Field("kind", "kind", form="name"),
            self._value(12),
            self.points[0].period_field,
            Field("coordinates", ""),
        )
        told = said("{n} orbit along {name}.", "{n} orbits along {name}.", n=len(self), name=self.parameter)
        return Sheet(
            "Branch of",
            cycle.name,
            (
                hidden(parameter=self.parameter, unit=self.unit, ends=self.ends),
                Note(told),
                Facts(
                    [
                        (Field("", "first point", form="sentence"), first),
                        (Field("", "last point", form="sentence"), last),
                    ]
                ),
                Table("special", columns, rows, "Special points"),
            ),
        )

    def orbits_table(self) -> Table:
        """All orbits, in the order of the branch."""
        rows = [
            (value, one.period, np.abs(one.multipliers).max(initial=0.0), one.stable, one.z)
            for value, one in zip(self.values, self.points, strict=True)
        ]
        columns = (self._value(6), self.points[0].period_field, Field("largest", "largest multiplier", form=6), STABLE)
        return Table("orbits", (*columns, Field("z", "")), rows, "Orbits")

    def _value(self, digits: int) -> Field:
        return Field("value", said("{name}", name=self.parameter), self.unit, digits)

    @property
    def values(self) -> Array:
        """The values of the parameter at all points, shape (n,)."""
        return self[self.parameter]

    @property
    def stable(self) -> Array:
        """Whether the orbits are stable or, at special points, neutral, shape (n,)."""
        return np.array([orbit.stable is not False for orbit in self.points])

    def __getitem__(self, name: str) -> Array:
        """A coordinate of the section, a parameter or "period" at all points, shape (n,)."""
        return np.array([orbit[name] for orbit in self.points])

    def at(self, kind: Kind) -> tuple[BranchPoint, ...]:
        """The special points of one kind."""
        return tuple(one for one in self.special if one.kind == kind)


class Here(NamedTuple):
    """A point of the branch: unknowns y = [Y, p], their scales, and the unit tangent in scaled unknowns.

    `tests` are the values of the test functions; empty where a branch begins at a special point.
    """

    y: Array
    scale: Array
    tangent: Array
    closure: Closure
    tests: dict[Kind, float]
    orbit: Orbit


def continuation(
    orbit: Orbit,
    parameter: str,
    range: tuple[float, float],
    *,
    conditions: Mapping[str, Condition] | None = None,
    step: float = 0.01,
    max_step: float = 0.05,
    points: int = 300,
    tolerance: float = 1e-9,
    progress: Callable[[int, float], Any] | None = None,
) -> Branch:
    """The branch of orbits through a given orbit, over a range of a parameter, with its special points.

    `orbit`         an orbit that `periodic_orbit` found
    `parameter`     the name of a parameter of its map or of the robot
    `range`         (low, high): the branch ends where the parameter leaves this range
    `conditions`    functions of an orbit by name, such as the margin to a friction cone; the branch ends where one of
                    them is no longer positive
    `step`          the first step, relative to the range and to the size of the coordinates; `max_step` the longest
    `points`        the most orbits on each side of the given one
    `tolerance`     of the residual, as for `periodic_orbit`
    `progress`      a function progress(points, value of the parameter)

    Folds, branch points, doublings and Neimark-Sacker points are located as accurately as the slopes allow, usually to
    ten digits. `switch_branch` follows the branch that begins at a doubling or crosses at a branch point.
    """
    if not orbit:
        raise UnsupportedError(f"continuation: no orbit is given. {orbit.message}")
    how = Settings(dict(conditions or {}), step, max_step, points, tolerance, progress)
    follower = Follower.of(orbit, parameter, range, how)
    if not follower.range[0] <= follower.first_value <= follower.range[1]:
        raise UnsupportedError(
            f"continuation: '{parameter}' is {follower.first_value:g} at the orbit; expected a value in the range "
            f"{follower.range[0]:g} to {follower.range[1]:g}."
        )
    first = follower.begun()
    forth = follower.follow(first)
    if forth.end == CLOSED:
        return follower.branch([first.orbit, *forth.orbits], forth.special, (CLOSED, CLOSED))
    back = follower.follow(follower.tested(first._replace(tangent=-first.tangent)), reverse=True)
    return follower.branch(
        [*back.orbits[::-1], first.orbit, *forth.orbits], [*back.special[::-1], *forth.special], (back.end, forth.end)
    )


def switch_branch(
    point: BranchPoint,
    range: tuple[float, float],
    *,
    conditions: Mapping[str, Condition] | None = None,
    step: float = 0.01,
    max_step: float = 0.05,
    points: int = 300,
    tolerance: float = 1e-9,
    progress: Callable[[int, float], Any] | None = None,
) -> Branch:
    """The branch that begins at a doubling, with orbits of twice the period, or that crosses at a branch point.

    The arguments are those of `continuation`. One side of the new branch is followed: at a doubling both sides are the
    same orbits, which start one cycle later.
    """
    if point.kind not in ("doubling", "branch point"):
        raise UnsupportedError(f"switch_branch: no branch of orbits begins at a {point.kind}. Give a doubling.")
    orbit = doubled(point.orbit) if point.kind == "doubling" else point.orbit
    how = Settings(dict(conditions or {}), step, max_step, points, tolerance, progress)
    follower = Follower.of(orbit, orbit.map.varied[0], range, how)
    found = follower.follow(follower.across(point))
    if not found.orbits:
        raise UnsupportedError(f"switch_branch: the new branch could not be followed: {found.end} Use a smaller step.")
    return follower.branch(found.orbits, found.special, (f"It begins at the {point.kind}.", found.end))


def doubled(orbit: Orbit) -> Orbit:
    """The orbit, counted as one of twice the period."""
    return replace(
        orbit,
        cycles=2 * orbit.cycles,
        period=2.0 * orbit.period,
        monodromy=orbit.monodromy @ orbit.monodromy,
        nodes=orbit.nodes * 2,
        pieces=orbit.pieces * 2,
    )


@dataclass(frozen=True, eq=False)
class Settings:
    """The options of a continuation; see `continuation`."""

    conditions: Mapping[str, Condition]
    step: float
    max_step: float
    points: int
    tolerance: float
    progress: Callable[[int, float], Any] | None


class Followed(NamedTuple):
    """One side of a branch: orbits and special points in the order of the branch, and why it ends."""

    orbits: list[Orbit]
    special: list[BranchPoint]
    end: str


@dataclass(frozen=True, eq=False)
class Follower:
    """The data of one continuation."""

    map: ReturnMap
    pieces: tuple[Piece, ...]
    nodes: tuple[Array, ...]
    p: Array
    cycles: int
    place: int  # of the parameter in p
    parameter: str
    range: tuple[float, float]
    how: Settings

    @classmethod
    def of(cls, orbit: Orbit, parameter: str, range: tuple[float, float], how: Settings) -> Follower:
        """The continuation of an orbit along a parameter; its map is made again if it does not vary this parameter."""
        low, high = float(range[0]), float(range[1])
        if not (np.isfinite([low, high]).all() and low < high):
            raise UnsupportedError(
                f"continuation: the range is ({low:g}, {high:g}); expected two finite numbers, the lower one first."
            )
        cycle, pieces, values = orbit.map, orbit.pieces, orbit.parameters
        again = cycle.varied != (parameter,)
        cycle = cycle.varying([parameter]) if again else cycle
        p = np.array([values.get(column.name, cycle.p[k]) for k, column in enumerate(cycle.parameters)])
        if again:
            count = len(orbit.pieces) // orbit.cycles
            starts = orbit.nodes[::count]
            pieces = tuple(piece for start in starts for piece in cycle.split(count, start, p))
        place = place_of(cycle.parameters, parameter, "parameter")
        return cls(cycle, pieces, orbit.nodes, p, orbit.cycles, place, parameter, (low, high), how)

    @property
    def first_value(self) -> float:
        """The parameter at the given orbit."""
        return float(self.p[self.place])

    @property
    def first(self) -> Array:
        """The unknowns (N + 1,) of the given orbit."""
        return np.concatenate([*self.nodes, [self.first_value]])

    # ── points ────────────────────────────────────────────────────────────────────────────────────────────────────

    def scale(self, y: Array, before: Array | None = None) -> Array:
        """The sizes (N + 1,) of the unknowns: those of coordinates never become smaller along the branch."""
        sizes = np.abs(y[:-1])
        least = np.full(len(sizes), max(LEAST_SIZE, 0.1 * sizes.max(initial=0.0))) if before is None else before[:-1]
        return np.concatenate([np.maximum(sizes, least), [self.range[1] - self.range[0]]])

    def evaluate(self, y: Array) -> Closure:
        """The equations of the cycle at given unknowns."""
        return closure(self.pieces, parted(y[:-1], self.nodes), self.values(y))

    def values(self, y: Array) -> Array:
        """All parameters (np,) at given unknowns."""
        p = self.p.copy()
        p[self.place] = y[-1]
        return p

    @staticmethod
    def jacobian(here: Closure, scale: Array) -> Array:
        """The derivatives (N, N + 1) of the scaled equations by the scaled unknowns."""
        found: Array = np.hstack([here.by_nodes, here.by_p]) * scale / scale[:-1, None]
        return found

    def corrected(self, predicted: Array, tangent: Array, scale: Array) -> tuple[Array, Closure, int] | str:
        """(y, equations, Newton steps) of the orbit in the plane through `predicted`, or why there is none."""
        y, before = predicted.copy(), np.inf
        for count in _numbers(MOST_NEWTON + 1):
            here = self.evaluate(y)
            if here.message:
                return here.message
            F = here.F / scale[:-1]
            size = float(np.abs(F).max(initial=0.0))
            if size <= self.how.tolerance and (size <= ROUNDING or not size < 0.1 * before):
                return y, here, count
            if not size < 10.0 * before or count == MOST_NEWTON:
                return (y, here, count) if size <= self.how.tolerance else f"a residual of {size:.2g} is left."
            before = min(size, before)
            rows = np.vstack([self.jacobian(here, scale), tangent])
            right = -np.concatenate([F, [tangent @ ((y - predicted) / scale)]])
            y = y + scale * np.linalg.lstsq(rows, right, rcond=SINGULAR)[0]  # it is singular at a branch point
        return "Newton's method does not converge."

    def point(self, y: Array, here: Closure, before: Here | None, iterations: int = 0) -> Here:
        """All that is known about a point of the branch; its tangent has the direction of the point before."""
        scale = self.scale(y, None if before is None else before.scale)
        J = self.jacobian(here, scale)
        if before is None:
            t: Array = np.linalg.svd(J)[2][-1]
            t = -t if t[-1] < 0.0 else t
        else:  # J t = 0; at a branch point, where J does not determine it, the tangent of the point before is kept
            old = before.tangent * before.scale / scale
            right = np.append(np.zeros(len(J)), 1.0)
            t = np.linalg.lstsq(np.vstack([J, old / np.linalg.norm(old)]), right, rcond=FLAT)[0]
            t = t / np.linalg.norm(t)
        nodes = parted(y[:-1], self.nodes)
        orbit = orbit_at(self.map, self.pieces, nodes, self.values(y), self.cycles, here, iterations, True)
        return self.tested(Here(y, scale, t, here, {}, orbit))

    def tested(self, here: Here) -> Here:
        """The point with the values of the test functions."""
        rows = np.vstack([self.jacobian(here.closure, here.scale), here.tangent])
        return here._replace(tests=branch_tests(here.closure, rows, here.tangent))

    def begun(self) -> Here:
        """The given orbit as the first point."""
        here = self.evaluate(self.first)
        if here.message:
            raise UnsupportedError(f"continuation: the orbit cannot be computed again: {here.message}")
        return self.point(self.first, here, None)

    def across(self, point: BranchPoint) -> Here:
        """The special point as the first point of the branch that crosses there, with the tangent of that branch."""
        y, here, times = self.first, self.evaluate(self.first), len(self.nodes) // len(point.orbit.nodes)
        scale = self.scale(y)
        known = np.concatenate([*[point.tangent[:-1]] * times, point.tangent[-1:]]) / scale
        basis = np.linalg.svd(self.jacobian(here, scale))[2][-2:]
        part = basis @ known
        away = np.array([-part[1], part[0]]) @ basis
        nodes = parted(y[:-1], self.nodes)
        orbit = orbit_at(self.map, self.pieces, nodes, self.values(y), self.cycles, here, 0, True)
        return Here(y, scale, away / np.linalg.norm(away), here, {}, orbit)

    # ── steps ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def follow(self, here: Here, *, reverse: bool = False) -> Followed:
        """The branch from a point along its tangent."""
        found, how = Followed([], [], ""), self.how
        h, first = min(how.step, how.max_step), here
        for name, law in how.conditions.items():
            if float(law(here.orbit)) <= 0.0:
                return found._replace(end=f"Condition '{name}' does not hold at the first orbit.")
        while len(found.orbits) < how.points:
            there = self._stepped(here, h)
            if isinstance(there, str):
                h *= 0.5
                if h < SMALLEST:
                    return found._replace(end=f"The branch could not be followed further: {there}")
                continue
            new, iterations = there
            marks, end, last = self._between(here, new, h, reverse)
            found.special.extend(marks)
            found.orbits.extend(mark.orbit for mark in marks)
            if last is not here:
                found.orbits.append((last or new).orbit)
            if how.progress is not None:
                how.progress(len(found.orbits), float(new.y[-1]))
            if end:
                return found._replace(end=end)
            if len(found.orbits) > 5 and self._closed(here, first, h):
                return found._replace(end=CLOSED)
            here = new
            h = min(how.max_step, h * (1.6 if iterations <= EASY else 1.0 if iterations <= EASY + 2 else 0.6))
        return found._replace(end=f"{counted(how.points, 'orbit')} were found; raise `points` to follow it further.")

    @staticmethod
    def _closed(here: Here, first: Here, h: float) -> bool:
        """Whether a step of length h from here leads past the first point, in the direction of its tangent."""
        away = (first.y - here.y) / here.scale
        along = float(away @ here.tangent)
        return 0.0 < along <= h and float(np.linalg.norm(away - along * here.tangent)) < 0.1 * h

    def _stepped(self, here: Here, h: float, *, inside: bool = False) -> tuple[Here, int] | str:
        """The point after a step of length h, and its Newton steps; or why there is none."""
        got = self.corrected(here.y + h * here.scale * here.tangent, here.tangent, here.scale)
        if isinstance(got, str):
            return got
        y, equations, iterations = got
        new = self.point(y, equations, here, iterations)
        turned = new.tangent * new.scale / here.scale
        if here.tests and not inside and turned @ here.tangent < TURN * np.linalg.norm(turned) and h > 1e-6:
            return "the branch turns too sharply."
        return new, iterations

    def _at(self, here: Here, h: float) -> Here:
        """The point after a step of length h, which lies between two known points."""
        got = self._stepped(here, h, inside=True)
        if isinstance(got, str):
            raise UnsupportedError(got)
        return got[0]

    def _between(self, here: Here, new: Here, h: float, reverse: bool) -> tuple[list[BranchPoint], str, Here | None]:
        """(special points between two points of a branch, why it ends there if it does, the last point then)."""
        end, last, cut = "", None, h
        margins: dict[str, Callable[[Here], float]] = {
            f"'{self.parameter}' reaches the end {self.range[0]:g} of its range.": lambda at: at.y[-1] - self.range[0],
            f"'{self.parameter}' reaches the end {self.range[1]:g} of its range.": lambda at: self.range[1] - at.y[-1],
        }
        margins |= {
            f"Condition '{name}' no longer holds.": lambda at, law=law: float(law(at.orbit))  # type: ignore[misc]
            for name, law in self.how.conditions.items()
        }
        for why, margin in margins.items():
            if margin(last or new) > 0.0:
                continue
            if margin(here) <= 0.0:  # the branch begins at the end of the range and leaves it
                return [], why, here
            cut = zero_between(lambda s: margin(self._at(here, s)), 0.0, cut, (margin(here), margin(last or new)))  # noqa: B023
            end, last = why, self._at(here, cut)
        marks = []
        for kind, value in (last or new).tests.items():
            before = here.tests.get(kind, 0.0)
            if before * value >= 0.0:
                continue
            at, there = self._located(here, last or new, cut, kind)
            if kind != "Neimark-Sacker" or is_neimark_sacker(there.closure):
                t = there.tangent * there.scale * (-1.0 if reverse else 1.0)
                marks.append((at, BranchPoint(kind, there.orbit, float(there.y[-1]), t)))
        return [mark for _, mark in sorted(marks, key=lambda pair: pair[0])], end, last

    def _located(self, here: Here, new: Here, h: float, kind: Kind) -> tuple[float, Here]:
        """(length, point) of the step from here at which a test function is zero; `new` is the point at h.

        Where the equations are singular, at a branch point, the corrector may fail close to it. Then the point is
        interpolated between the nearest points on both sides.
        """
        known = {0.0: here, h: new}

        def value(s: float) -> float:
            known[s] = self._at(here, s)
            return known[s].tests[kind]

        try:
            at = zero_between(value, 0.0, h, (here.tests[kind], new.tests[kind]))
            return at, known[at] if at in known else self._at(here, at)
        except UnsupportedError:
            sides = [[(s, one) for s, one in known.items() if one.tests[kind] * sign > 0.0] for sign in (1.0, -1.0)]
            pairs = [(a, b) for a in sides[0] for b in sides[1]]
            (s, a), (r, b) = min(pairs, key=lambda pair: abs(pair[0][0] - pair[1][0]))
            share = a.tests[kind] / (a.tests[kind] - b.tests[kind])
            y = a.y + share * (b.y - a.y)
            return s + share * (r - s), self.point(y, self.evaluate(y), here)

    def branch(self, points: Sequence[Orbit], special: Sequence[BranchPoint], ends: tuple[str, str]) -> Branch:
        """The branch of these points."""
        return Branch(self.parameter, tuple(points), tuple(special), ends, self.map.parameters[self.place].unit)
