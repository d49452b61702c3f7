"""Sample instants of a run: when memory is sampled next, and doing it.

Ticks are absolute, phase + k period with k = 0, 1, ..., so that neither step size nor the start of a run moves them. No
step goes beyond one, and the state is sampled when it stands exactly there. At one instant

    1. events come first, and what they reset
    2. then clocks, in the order of the first element that goes by each, and elements of one clock in theirs; each of
       them sees what those before it wrote
    3. then functions of the run: inputs that are held, the callback

and a sample stored at that instant shows what all of them left. A run from t does the ticks at t, one that goes on with
a run does not: they are done. The march does compiled ticks by itself; it comes back for Python functions, and where a
number is not finite.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.errors import ControllerError
from kinemorph.plants.plant import Plant, Stage


class Clockwork:
    """Does the ticks of a plant."""

    def __init__(self, plant: Plant) -> None:
        self.plant = plant

    def first(self, t: float, known: Collection[str] = ()) -> Array:
        """The numbers of the next ticks, one per clock; those of memory that is `known` have passed at t."""
        return np.array(
            [
                tick.instants.next(t, passed=bool(tick.writes) and set(tick.writes) <= set(known))
                for tick in self.plant.ticks
            ]
        )

    def next_time(self, numbers: Array) -> float:
        """The earliest of them [s]."""
        pairs = zip(self.plant.ticks, numbers.tolist(), strict=True)
        return min((tick.instants.time(k) for tick, k in pairs), default=math.inf)

    def snapped(self, times: Array) -> Array:
        """Times, shape (n,), those that are ticks but for rounding moved there."""
        for tick in self.plant.ticks:
            times = tick.instants.snapped(times)
        return times

    def run(self, numbers: Array, inputs: Sequence[Any]) -> Array:
        """New memory after all ticks that are due; `numbers` are moved on. `inputs` are those of `rate`.

        Raises ControllerError where memory would not be finite, and nothing has changed.
        """
        t, base, s, m, u, p = inputs
        moved = numbers.copy()
        for k, tick in enumerate(self.plant.ticks):
            if t >= tick.instants.time(float(moved[k])):
                for stage in tick.stages:
                    m = self.sampled(stage, (t, base, s, m, u, p))
                moved[k] += 1.0
        new = np.array(m, dtype=float)
        if new.ndim == 1 and not np.isfinite(new).all():
            raise ControllerError(_unusable(self.plant, new))
        numbers[:] = moved
        return new

    def sampled(self, stage: Stage, inputs: Sequence[Any]) -> Array:
        """New memory after one stage; inputs may be a batch where it is compiled."""
        if not stage.python:
            return _called(self.plant.compiled("sampling", stage.samplers), np.shape(inputs[3]), inputs)
        assert self.plant.laws.jumps is not None
        t, m = float(inputs[0]), np.array(inputs[3], dtype=float)
        for sampler in stage.samplers:
            read = self.plant.compiled("reading", sampler)
            values = _called(read, read.outputs[0].shape, (*inputs[:3], m, *inputs[4:]))
            m = np.array(self.plant.laws.jumps.decide(sampler, t, values.tolist(), m.tolist()), dtype=float)
        return m


def _called(function: CompiledFunction, shape: tuple[int, ...], inputs: Sequence[Any]) -> Array:
    """The one output of a function, whatever numbers it holds."""
    out = np.empty(shape)
    if out.size:
        function.raw(out, *(np.asarray(values, dtype=float, order="C") for values in inputs))
    return out


def _unusable(plant: Plant, m: Array) -> str:
    """What is wrong with memory that is not finite."""
    k = int(np.flatnonzero(~np.isfinite(m))[0])
    owner = plant.m[k].name.partition(".")[0]
    return (
        f"'{plant.m[k].name}' became {m[k]} when '{owner}' sampled; expected a finite number. Look at what it reads, "
        "and at what it divides by."
    )
