"""Sample instants of a run: when elements sample next, and how they do it.

The ticks of a clock are at phase + k period with k = 0, 1, ..., so that neither the step size nor the start of a run
moves them. No step goes beyond a tick: elements sample the state exactly there. At one instant

    1. events come first, with their resets
    2. then clocks, in the order of the first element that uses each; elements of one clock sample in their own order,
       and each of them sees what the elements before it wrote
    3. then the functions of the run: held inputs, the callback

and a sample stored at that instant shows the result of all of them. A run that starts at t includes the ticks at t; one
that continues another run does not, because the first run has included them. Compiled elements sample within the march;
it returns to Python for elements that are user functions in Python or C, and where a sampled value is not finite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.errors import ControllerError
from kinemorph.model.elements.control.c_functions import CController, c_controllers
from kinemorph.plants.programs import Plant
from kinemorph.plants.sample_instants import Stage
from kinemorph.simulation.c_code.process import CProcess


class Clockwork:
    """The clocks of a plant: finds the times of their ticks, and computes the memory after elements have sampled."""

    def __init__(self, plant: Plant) -> None:
        self.plant = plant
        self._c: CProcess | None = None  # the process of functions in C, from their first sample on

    def end(self) -> None:
        """Ends the process of functions in C; the next sample starts a new one, with new static variables."""
        if self._c is not None:
            self._c.end()
            self._c = None

    def _function(self, element: Any) -> Callable[..., Any]:
        """The user function of an element, as this run calls it."""
        if not isinstance(element, CController):
            function: Callable[..., Any] = element.law
            return function
        if self._c is None:
            self._c = CProcess(c_controllers(self.plant.elements))
        return self._c.functions[element.name]

    def first(self, t: float, known: Collection[str] = ()) -> Array:
        """The number k of each clock's next tick from t [s] on, shape (clocks,); the first tick has k = 0.

        A tick at t counts as done if the user gave all the memory that it writes: `known` are the names of that memory.
        """
        return np.array(
            [
                tick.instants.next(t, passed=bool(tick.writes) and set(tick.writes) <= set(known))
                for tick in self.plant.ticks
            ]
        )

    def next_time(self, numbers: Array) -> float:
        """The time of the earliest next tick [s], or infinity; `numbers` are the numbers of each clock's next tick."""
        pairs = zip(self.plant.ticks, numbers.tolist(), strict=True)
        return min((tick.instants.time(k) for tick, k in pairs), default=math.inf)

    def snapped(self, times: Array) -> Array:
        """The `times` [s], shape (n,), where each time that differs from a tick by rounding only becomes that tick."""
        for tick in self.plant.ticks:
            times = tick.instants.snapped(times)
        return times

    def run(self, numbers: Array, inputs: Sequence[Any]) -> Array:
        """The new memory (nm,) after all ticks that are due at the time t in `inputs` = (t, base, s, m, u, p).

        `plants.LocalInstant` explains the letters. `numbers`, the number of each clock's next tick, are advanced.
        Raises ControllerError where the new memory is not finite; then nothing changes.
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
        """The new memory after one stage of a tick; `inputs` may be a batch if the stage is compiled."""
        if stage.runs == "compiled":
            return _called(self.plant.compiled("sampling", stage.samplers), np.shape(inputs[3]), inputs)
        assert self.plant.laws.jumps is not None
        t, m = float(inputs[0]), np.array(inputs[3], dtype=float)
        for sampler in stage.samplers:
            read = self.plant.compiled("reading", sampler)
            values = _called(read, read.outputs[0].shape, (*inputs[:3], m, *inputs[4:]))
            function = self._function(self.plant.elements[sampler[0]])
            m = np.array(self.plant.laws.jumps.decide(sampler, function, t, values.tolist(), m.tolist()), dtype=float)
        return m


def _called(function: CompiledFunction, shape: tuple[int, ...], inputs: Sequence[Any]) -> Array:
    """The only output of a compiled function, of the given shape; it may contain values that are not finite."""
    out = np.empty(shape)
    if out.size:
        function.raw(out, *(np.asarray(values, dtype=float, order="C") for values in inputs))
    return out


def _unusable(plant: Plant, m: Array) -> str:
    """A message that names the first value in the memory m that is not finite."""
    k = int(np.flatnonzero(~np.isfinite(m))[0])
    owner = plant.m[k].name.partition(".")[0]
    return not_sampled(plant.m[k].name, owner, str(m[k]))


def not_sampled(name: str, owner: str, value: str) -> str:
    """The message where the memory `name` of an element, the `owner`, became a value that is not finite."""
    return (
        f"'{name}' became {value} when '{owner}' sampled; expected a finite number. Check the values "
        "that its law reads and divides by."
    )
