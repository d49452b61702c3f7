"""Sample instants of a run: when memory is sampled next, and doing it.

Ticks are absolute, phase + k period, so that neither step size nor the start of a run moves them. At one instant clocks
run in the order of their first elements, and elements of one clock in theirs; each sees what those before it wrote. The
march does compiled ones by itself and comes back for Python functions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.codegen.compile import build
from kinemorph.codegen.function import CompiledFunction
from kinemorph.plants.programs import Plant, Stage, Tick

Array = npt.NDArray[np.float64]
NEAR = 1e-9  # of a period: a time as near to a tick is at it
ROUNDING = 2e-15  # relative: machine code may fuse phase + k period, and differ from Python in the last digit


class ControllerFailure(Exception):
    """A Python function gave nothing that can be used; the message is a sentence for the run's outcome."""


def first_tick(tick: Tick, t: float, *, passed: bool = False) -> float:
    """The number k of the first tick at t or later; after t where those at t have passed."""
    k = (t - tick.phase) / tick.period
    near = round(k)
    if abs(k - near) < NEAR:
        return max(float(near + passed), 0.0)
    return max(float(math.ceil(k)), 0.0)


def aligned(times: Array, ticks: Sequence[Tick]) -> Array:
    """Sample times with those that are a tick but for rounding at the tick, but for the first and the last."""
    found = times.copy()
    for tick in ticks:
        near = tick.phase + np.round((found - tick.phase) / tick.period) * tick.period
        same = np.abs(near - found) <= 4.0 * np.spacing(np.abs(found))
        same[[0, -1]] = False
        found[same] = near[same]
    return found


class Clockwork:
    """Does the ticks of a plant."""

    def __init__(self, plant: Plant) -> None:
        self.plant = plant
        self._compiled: dict[Stage, CompiledFunction] = {}

    def first(self, t: float, *, passed: bool = False) -> Array:
        """The numbers of the next ticks, one per clock."""
        return np.array([first_tick(tick, t, passed=passed) for tick in self.plant.ticks])

    def next_time(self, numbers: Array) -> float:
        """The earliest of them [s]."""
        times = [tick.phase + k * tick.period for tick, k in zip(self.plant.ticks, numbers, strict=True)]
        return min(times, default=math.inf)

    def run(self, numbers: Array, inputs: Sequence[Any]) -> Array:
        """New memory after all ticks that are due; `numbers` are moved on. `inputs` are those of `rate`."""
        t, base, s, m, u, p = inputs
        for k, tick in enumerate(self.plant.ticks):
            if t + ROUNDING * abs(t) >= tick.phase + numbers[k] * tick.period:
                for stage in tick.stages:
                    m = self.sampled(stage, (t, base, s, m, u, p))
                numbers[k] += 1.0
        return np.array(m, dtype=float)

    def sampled(self, stage: Stage, inputs: Sequence[Any]) -> Array:
        """New memory after one stage; inputs may be a batch where it is compiled."""
        if not stage.python:
            if stage not in self._compiled:
                self._compiled[stage] = build(self.plant.sampling(stage.samplers))
            found: Array = self._compiled[stage](*inputs)
            return found
        assert self.plant.laws.jumps is not None
        t, *others = (float(inputs[0]), *(np.asarray(group).tolist() for group in inputs[1:]))
        return np.array(self.plant.laws.jumps.sample(stage.samplers, t, *others), dtype=float)
