"""The law of oscillators that are coupled by their phases. For oscillator i, phi_i is the phase [rad], w_i its own
frequency [rad/s], c_i the effect of its neighbors j, and D_ij the desired phase difference; r and b are amplitude and
offset of the joint path q.

    phi_i' = w_i + c_i,   w_i' = adapt c_i,   c_i = coupling sum_j sin(phi_j - phi_i - D_ij)
    q = b + r sin phi,    q' = b' + r' sin phi + r phi' cos phi,
    q'' = b'' + r'' sin phi + 2 r' phi' cos phi + r phi'' cos phi - r phi'^2 sin phi

phi_i'' = w_i' + c_i' follows from the states alone, so accelerations are exact without finite differences in time. In a
network where neighbors are mutual, the sum of all c_i is 0: the mean of the frequencies stays constant.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kinemorph.algebra.scalar import S, cos, is_zero, sin
from kinemorph.algebra.vectors import total
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.control.channels import Wish, each
from kinemorph.mechanics.elements.control.references import PathLaw, optional_numbers
from kinemorph.mechanics.elements.gaits.map_steps import neighbors
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Effort, Slot
from kinemorph.model.elements.control.wiring import below
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot
from kinemorph.words import counted

STATES = ("phase", "amplitude", "amplitude.rate")  # the states of each oscillator
MOVED = ("offset", "offset.rate")  # further states of a gait that begins at other positions than its offsets
LEARNED = "pulse"  # [rad/s] the oscillator's own frequency, which is a state too where frequencies adapt


def phases_of(element: Any) -> tuple[Any, ...]:
    """The desired phase [rad] of each joint."""
    count = max(len(element.joints), 1)
    return tuple(element.phases) or tuple(k * element.phase_step if k else 0.0 for k in range(count))


def wave_problems(element: Any) -> list[str]:
    """The problems of an element's phases: numbers that are not finite, and wrong counts of numbers."""
    count = max(len(element.joints), 1)
    found = []
    for name in ("phases", "start"):
        values = getattr(element, name, ())
        if values and len(values) != count:
            problem = f"{name} has {counted(len(values), 'number')}; expected {count}, one for each joint, or none"
            found.append(wrong(element.name, problem, f"Give {counted(count, 'number')}.", name))
    return found


class Rhythm(NamedTuple):
    """The states of one oscillator and their rates."""

    phase: S  # [rad]
    speed: S  # rate of the phase [rad/s]
    change: S  # rate of the speed [rad/s^2]
    amplitude: Wish
    offset: Wish
    learning: S  # rate of its own frequency [rad/s^2]


class PhaseOscillatorsLaw(PathLaw):
    """Joint paths from coupled oscillators.

    Their states are phases, and amplitudes with their rates; offsets with their rates, where the gait begins at other
    values; and frequencies, where these adapt.
    """

    timed = False
    fields = ("amplitude", "frequency", "offset")

    def problems(self, element: Any, robot: Robot) -> list[str]:
        return [*super().problems(element, robot), *wave_problems(element), *optional_numbers(element, "initial")]

    def begins_with(self, element: Any) -> Any:
        frequencies = element.frequency if _adapts(element) else ()
        return element.start or (element.phases or element.phase_step), element.initial, frequencies

    def states(self, element: Any) -> tuple[Slot, ...]:
        phases = element.start or phases_of(element)
        frequencies, begins = (each(values, len(phases)) for values in (element.frequency, element.initial or (0.0,)))
        found = []
        rows = zip(element.joints or ("",), phases, frequencies, begins, strict=True)
        for name, phase, frequency, initial in rows:
            found.append(Slot(below(name, STATES[0]), "rad", float(evaluate(phase))))
            position, rate = (f"q.{name}", f"v.{name}") if name else ("", "")  # names of signals with these units
            found += [Slot(below(name, STATES[1]), position), Slot(below(name, STATES[2]), rate)]
            if element.initial:
                found.append(Slot(below(name, MOVED[0]), position, float(evaluate(initial))))
                found.append(Slot(below(name, MOVED[1]), rate))
            if _adapts(element):
                found.append(Slot(below(name, LEARNED), "rad/s", 2.0 * math.pi * float(evaluate(frequency))))
        return tuple(found)

    def effort(self, element: Any, view: ElementView) -> Effort:
        rates: list[S] = []
        for one in self._rhythms(element, view):
            rates += [one.speed, *one.amplitude[1:]]
            rates += one.offset[1:] if element.initial else ()
            rates += [one.learning] if _adapts(element) else []
        return Effort(rates=rates)

    def path(self, element: Any, view: ElementView, k: int) -> Wish:
        phase, speed, change, (r, r_rate, r_change), (b, b_rate, b_change), _ = self._rhythms(element, view)[k]
        s, c = sin(phase), cos(phase)
        velocity = b_rate + r_rate * s + r * speed * c
        acceleration = b_change + r_change * s + 2.0 * r_rate * speed * c + r * change * c - r * speed * speed * s
        return Wish(b + r * s, velocity, acceleration)

    def _rhythms(self, element: Any, view: ElementView) -> list[Rhythm]:
        """All oscillators at this instant."""
        wanted, moved = view.value(phases_of(element)), len(MOVED) if element.initial else 0
        count, size = len(wanted), len(STATES) + moved + _adapts(element)
        own = [view.x[k * size : (k + 1) * size] for k in range(count)]
        coupling, adapt, rate = (view.value(x) for x in (element.coupling, element.adapt, element.rate))
        linked = [_linked(element.network, count, i) for i in range(count)]
        ahead = [
            [own[j][0] - own[i][0] - (wanted[j] - wanted[i]) for j in linked[i]] for i in range(count)
        ]  # phase difference to each neighbor, minus the desired phase difference
        pulls = [coupling * total(sin(angle) for angle in angles) for angles in ahead]
        numbers = [self.one(element, view, k) for k in range(count)]
        pulses = [
            states[-1] if _adapts(element) else 2.0 * math.pi * number[1]
            for states, number in zip(own, numbers, strict=True)
        ]
        speeds = [pulse + pull for pulse, pull in zip(pulses, pulls, strict=True)]
        found = []
        for i, (_, r, r_rate, *rest) in enumerate(own):
            learning = adapt * pulls[i]
            pairs = zip(linked[i], ahead[i], strict=True)
            change = learning + coupling * total(cos(angle) * (speeds[j] - speeds[i]) for j, angle in pairs)
            amplitude, _, offset = numbers[i]
            grown = _approach(amplitude, rate, r, r_rate)
            bent = _approach(offset, rate, *rest[:moved]) if moved else Wish(offset)
            found.append(Rhythm(own[i][0], speeds[i], change, grown, bent, learning))
        return found


def _approach(goal: S, rate: S, value: S, speed: S) -> Wish:
    """A number that approaches `goal`, critically damped: its value, its rate and the rate of its rate."""
    return Wish(value, speed, rate * (0.25 * rate * (goal - value) - speed))


def _adapts(element: Any) -> bool:
    """Whether the frequencies adapt, so that they are states of the element: `adapt` is a parameter or not 0."""
    return not is_zero(element.adapt)


def _linked(network: str, count: int, i: int) -> tuple[int, ...]:
    """The indices of the neighbors of oscillator i in the network, without i itself."""
    return tuple(j for j in neighbors("global" if network == "all" else network, count, i) if j != i)
