"""Switches: elements that change their memory where one of their guards falls through zero, in single runs and batches.

The positions and velocities stay the same; an event records what has changed.
"""

from __future__ import annotations

import math

from kinemorph.algebra.arrays import Array
from kinemorph.simulation.march.guards import RESOLUTION
from kinemorph.simulation.results.event import Event
from kinemorph.simulation.stepping.plant_stepper import PlantStepper

MOST_SWITCHES = 100  # switches of elements at one instant


class Switches:
    """The switches of one run: counts how many of them happen at one instant, to find those that never stop."""

    def __init__(self) -> None:
        self._together, self._last = 0, -math.inf

    def carry_out(self, stepper: PlantStepper, switch: int) -> tuple[Event, str | None]:
        """Lets an element change its memory now; returns the event, and a message if elements switch without end.

        `switch` is the index of the guard that fell through zero, among those of the elements.
        """
        assert stepper.watch is not None
        t, before = stepper.state.t, state_groups(stepper)
        m, x = stepper.watch.switched(switch, *stepper.inputs)
        stepper.m = m
        stepper.place(None, x=x)
        name = stepper.watch.switches[switch]
        event = Event(t, name, "switch", before, state_groups(stepper))
        self._together = self._together + 1 if t - self._last < RESOLUTION else 0
        self._last = t
        if self._together < MOST_SWITCHES:
            return event, None
        return event, (
            f"At t = {t:.9g} s '{name}' switches back and forth without end. Simulate with a fixed step, such as "
            "step=1e-3, or use another law."
        )


def state_groups(stepper: PlantStepper) -> dict[str, Array]:
    """The present q, v, x and m of a stepper, by name."""
    _, q, v, x = stepper.state
    return {"q": q, "v": v, "x": x, "m": stepper.m.copy()}
