"""The readings of sensors, computed from true values, and the memory that this needs.

A sensor has channels. Each turns a true value into a reading:

    reading = step floor(clip(true + bias + walk + noise) / step)

Without `every` the reading is a function of the state. With `every`, readings are memory (see `sample_hold`, which
delays them), and so are the random walks of biases and the state of the random numbers (see `random_numbers`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from kinemorph.algebra.scalar import S, div, floor
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.control.sample_hold import clocks_of, held_slots, let_in, let_out
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Clock, ElementLaw, Slot
from kinemorph.mechanics.elements.saturation import limited
from kinemorph.mechanics.elements.sensing import random_numbers
from kinemorph.model.elements.sensing.sensors import Sensor
from kinemorph.model.robot import Robot

E = TypeVar("E", bound=Sensor)


class Channel(NamedTuple):
    """One quantity that a sensor measures. `noise` is the standard deviation of a reading, `walk` that of the random
    walk of its bias after one second; `range` bounds a reading, and `step` is its resolution.
    """

    name: str
    unit: str
    noise: float = 0.0
    bias: Any = 0.0
    walk: float = 0.0
    range: float = math.inf
    step: float = 0.0


class SensorLaw(ElementLaw[E]):
    """The abstract base of laws of sensors with several channels."""

    steady = True

    def channels(self, element: E) -> tuple[Channel, ...]:
        """The channels of the sensor."""
        raise AssertionError(f"{type(self).__name__} does not define its method `channels`. Define it.")

    def true(self, element: E, view: ElementView) -> Sequence[S]:
        """The true values of its channels."""
        raise AssertionError(f"{type(self).__name__} does not define its method `true`. Define it.")

    def problems(self, element: E, robot: Robot) -> list[str]:
        found = []
        if element.delay and element.every is None:
            problem = f"delay is {element.delay:g} s, but the sensor is not sampled; expected `every`, its sample time"
            found.append(wrong(element.name, problem, "Give `every` [s]."))
        if element.every is None and any(channel.noise or channel.walk for channel in self.channels(element)):
            problem = "it has noise, but the sensor is not sampled; expected `every`, its sample time"
            found.append(wrong(element.name, problem, "Give `every` [s].", "noise"))
        return found

    def signals(self, element: E) -> tuple[Slot, ...]:
        return tuple(Slot(channel.name, channel.unit) for channel in self.channels(element))

    def clocks(self, element: E) -> tuple[Clock, ...]:
        return clocks_of(element) if _samples(element) else ()

    def memory(self, element: E) -> tuple[Slot, ...]:
        return (*held_slots(element, self.outputs(element)), *self.own(element)) if _samples(element) else ()

    def outputs(self, element: E) -> tuple[str, ...]:
        """The names of the readings that are memory between samples."""
        return tuple(channel.name for channel in self.channels(element))

    def own(self, element: E) -> tuple[Slot, ...]:
        """The further memory of the sensor: random walks of biases, and the state of the random numbers."""
        channels = self.channels(element)
        walks = tuple(Slot(f"{channel.name}.bias", channel.unit) for channel in channels if channel.walk)
        random = any(channel.noise or channel.walk for channel in channels)
        return (*walks, *(random_numbers.slots(element.name, element.seed) if random else ()))

    def publish(self, element: E, view: ElementView) -> Mapping[str, S]:
        channels = self.channels(element)
        if element.every is not None:
            return {channel.name: value for channel, value in zip(channels, view.m, strict=False)}
        pairs = zip(channels, self.true(element, view), strict=True)
        return {channel.name: clipped(channel, view.value(channel.bias) + true) for channel, true in pairs}

    def sample(self, element: E, view: ElementView, clock: int) -> Sequence[S]:
        names = self.outputs(element)
        count = len(held_slots(element, names))
        held, own = view.m[:count], view.m[count:]
        if clock:  # the oldest sample is released
            return [*let_out(held, len(names)), *own]
        outputs, after = self.read(element, view, own)
        return [*let_in(held, outputs), *after]

    def read(self, element: E, view: ElementView, own: Sequence[S]) -> tuple[list[S], list[S]]:
        """(new readings, the `own` memory after them) at a sample instant."""
        assert element.every is not None
        channels = self.channels(element)
        walking = [channel for channel in channels if channel.walk]
        walks, state = list(own[: len(walking)]), tuple(own[len(walking) :])
        noisy = [channel for channel in channels if channel.noise]
        if state:
            drawn, state = random_numbers.normals(state, len(walking) + len(noisy))
            steps = [channel.walk * math.sqrt(element.every) for channel in walking]
            walks = [walk + step * one for walk, step, one in zip(walks, steps, drawn, strict=False)]
            noise = dict(zip(noisy, drawn[len(walking) :], strict=True))
        readings = []
        for channel, true in zip(channels, self.true(element, view), strict=True):
            value = true + view.value(channel.bias)
            if channel.walk:
                value = value + walks[walking.index(channel)]
            if channel.noise:
                value = value + channel.noise * noise[channel]
            readings.append(clipped(channel, value))
        return readings, [*walks, *state]


def _samples(element: Sensor) -> bool:
    """Whether the sensor is sampled, and its times are valid."""
    return element.every is not None and 0.0 < element.every < math.inf and 0.0 <= element.delay < math.inf


def clipped(channel: Channel, value: S) -> S:
    """A value, clipped to the channel's range and rounded down to whole steps."""
    value = limited(value, -channel.range, channel.range)
    return channel.step * floor(div(value, channel.step)) if channel.step else value


def three_channels(letter: str, unit: str, noise: float, bias: Any, walk: float, most: float) -> tuple[Channel, ...]:
    """The channels of a vector, equal along x, y and z except for their biases; `most` is their range."""
    return tuple(Channel(f"{letter}{axis}", unit, noise, bias[k], walk, most) for k, axis in enumerate("xyz"))
