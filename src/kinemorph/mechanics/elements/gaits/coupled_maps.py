"""The law of coupled maps: the maps make a step at each tick of a clock, and the joints move smoothly between ticks.

The memory is the time of the last tick and, for each joint, the numbers of one piece of its path. For half-cosines
these are x(n) and x(n+1). For splines they are the four coefficients c(n-1) ... c(n+2) of the uniform cubic B-splines
of this piece, and the numbers from which the next coefficients follow. A spline goes through all x where
(c(n-1) + 4 c(n) + c(n+1)) / 6 = x(n); with z = sqrt(3) - 2,

    c(n) = sqrt(3) sum over k of z^|k| x(n+k)

M. Unser, A. Aldroubi & M. Eden, B-spline signal processing, IEEE Transactions on Signal Processing 41 (1993). The past
part of the sum is one number that is stored, p(n) = x(n) + z p(n-1). The future part is known, since the maps are
computed AHEAD steps before the gait reaches them; the neglected part is below 1e-7. Whatever the coefficients,
accelerations of a cubic B-spline are continuous.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

from kinemorph.algebra.scalar import S, cos, less, maximum, minimum, sin, where
from kinemorph.algebra.vectors import total
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.control.channels import Wish, each
from kinemorph.mechanics.elements.gaits.gait_law import GaitLaw
from kinemorph.mechanics.elements.gaits.map_steps import coupled_step, map_problems, random_start
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Clock, Slot
from kinemorph.model.elements.control.wiring import below
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot
from kinemorph.words import counted

Z = math.sqrt(3.0) - 2.0
AHEAD = 12  # the number of steps by which the maps are ahead of a spline
LATE = 1e-6  # share of a step: later than this after the end of a step, the path does not move


class CoupledMapsLaw(GaitLaw):
    """Joint paths through the values of coupled maps, which make a step at each tick of a clock."""

    timed = False
    fields = ("r", "epsilon", "amplitude", "offset")

    def problems(self, element: Any, robot: Robot) -> list[str]:
        found = super().problems(element, robot)
        count = _count(element)
        if element.start and len(element.start) != count:
            given = counted(len(element.start), "number")
            problem = f"start has {given}; expected {count}, one for each joint, or none"
            found.append(wrong(element.name, problem, f"Give {counted(count, 'number')}.", "start"))
        return found + map_problems(partial(wrong, element.name), element.map, element.r, element.epsilon)

    def clocks(self, element: Any) -> tuple[Clock, ...]:
        return (Clock(element.every, element.every),)  # the first piece exists when a run begins

    def begins_with(self, element: Any) -> Any:
        return element.start, element.r, element.epsilon

    def memory(self, element: Any) -> tuple[Slot, ...]:
        found = [Slot("since", "s")]
        for name, numbers in zip(element.joints or ("",), zip(*_begun(element), strict=True), strict=True):
            words = _WORDS[element.interpolation]
            found += [Slot(below(name, word), "", x) for word, x in zip(words, numbers, strict=True)]
        return tuple(found)

    def sample(self, element: Any, view: ElementView, clock: int) -> Sequence[S]:
        kept = self._kept(element, view)
        newest = _stepped(
            element, [numbers[-1] for numbers in kept], view.value(element.r), view.value(element.epsilon)
        )
        moved = _moved if element.interpolation == "spline" else _exchanged
        return [view.t, *(x for numbers, new in zip(kept, newest, strict=True) for x in moved(numbers, new))]

    def path(self, element: Any, view: ElementView, k: int) -> Wish:
        _, _, amplitude, offset = self.one(element, view, k)
        numbers, since, T = self._kept(element, view)[k], view.m[0], element.every
        s = minimum(maximum((view.t - since) / T, 0.0), 1.0)
        x, rate, change = (_spline if element.interpolation == "spline" else _half_cosine)(numbers, s)
        # in a run that begins between two ticks, the path does not move until the next tick
        goes = less(view.t - since, T * (1.0 + LATE))
        q = offset + amplitude * (2.0 * x - 1.0)
        v, a = ((2.0 / T) * amplitude * where(goes, rate, 0.0), (2.0 / T**2) * amplitude * where(goes, change, 0.0))
        return self.ramped(element, view, k, Wish(q, v, a), offset)

    def _kept(self, element: Any, view: ElementView) -> list[Sequence[S]]:
        """The memory of each joint: the numbers of its piece of path."""
        size = len(_WORDS[element.interpolation])
        return [view.m[1 + k * size : 1 + (k + 1) * size] for k in range(_count(element))]


# ── steps ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _count(element: Any) -> int:
    return max(len(element.joints), 1)


def _stepped(element: Any, x: Sequence[S], r: Sequence[S], epsilon: Sequence[S]) -> list[S]:
    n = _count(element)
    return coupled_step(element.map, element.coupling, x, each(r, n), each(epsilon, n))


@lru_cache(maxsize=32)
def _begun(element: Any) -> tuple[tuple[float, ...], ...]:
    """The initial memory, after `settle` steps of the maps: one row per quantity that is kept, one column per joint."""
    r, epsilon = ([float(evaluate(x)) for x in values] for values in (element.r, element.epsilon))
    x: Sequence[float] = [float(evaluate(x)) for x in element.start] or random_start(element.seed, _count(element))
    for _ in range(element.settle):
        x = _stepped(element, x, r, epsilon)
    rows: list[tuple[float, ...]] = [tuple(x)]
    for _ in range(1 if element.interpolation == "half-cosine" else AHEAD + 2):
        rows.append(tuple(_stepped(element, rows[-1], r, epsilon)))
    if element.interpolation == "half-cosine":
        return tuple(rows)
    columns = []
    for orbit in zip(*rows, strict=True):
        past = orbit[0] / (1.0 - Z)  # as if x had always had this value
        numbers: Sequence[float] = [0.0, 0.0, 0.0, _coefficient(past, (orbit[0], *orbit[:AHEAD])), past, *orbit[:AHEAD]]
        for new in orbit[AHEAD:]:
            numbers = _moved(numbers, new)
        columns.append(numbers)
    return tuple(zip(*columns, strict=True))


# ── pieces of path ────────────────────────────────────────────────────────────────────────────────────────────────────

_WORDS = {
    "half-cosine": ("x", "next"),
    "spline": ("c1", "c2", "c3", "c4", "past", *(f"ahead{k + 1}" for k in range(AHEAD))),
}  # names of the numbers of each joint; the newest x is last


def _exchanged(numbers: Sequence[S], new: S) -> list[S]:
    return [numbers[1], new]


def _half_cosine(numbers: Sequence[S], s: S) -> tuple[S, S, S]:
    """(x, dx/ds, d2x/ds2) on a half-cosine, s going from 0 to 1 over one step of the maps."""
    first, second = numbers
    half, turn = 0.5 * (second - first), math.pi * s
    return first + half * (1.0 - cos(turn)), math.pi * half * sin(turn), math.pi**2 * half * cos(turn)


def _moved(numbers: Sequence[S], new: S) -> list[S]:
    """The numbers of a spline one step later, where `new` is the newest x of the maps."""
    _, *kept = numbers[:4]
    x, *ahead = [*numbers[5:], new]
    past = x + Z * numbers[4]
    return [*kept, _coefficient(past, (x, *ahead)), past, *ahead]


def _coefficient(past: S, orbit: Sequence[S]) -> S:
    """The coefficient c(n) of a B-spline through the values x of a map, from past = p(n) and orbit = (x(n), x(n+1),
    ...).

    p(n) is the stored sum over the values up to x(n); see the docstring of this file.
    """
    return math.sqrt(3.0) * (past + total(Z**k * x for k, x in enumerate(orbit) if k))


def _spline(numbers: Sequence[S], s: S) -> tuple[S, S, S]:
    """(x, dx/ds, d2x/ds2) on a cubic B-spline, s going from 0 to 1 over one step of the maps."""
    a, b, c, d = numbers[:4]
    rest = 1.0 - s
    x = rest * rest * rest * a + (4.0 - 6.0 * s * s + 3.0 * s * s * s) * b
    x = x + (4.0 - 6.0 * rest * rest + 3.0 * rest * rest * rest) * c + s * s * s * d
    rate = -rest * rest * a + s * (3.0 * s - 4.0) * b - rest * (3.0 * rest - 4.0) * c + s * s * d
    change = rest * a + (3.0 * s - 2.0) * b + (3.0 * rest - 2.0) * c + s * d
    return (1.0 / 6.0) * x, 0.5 * rate, change
