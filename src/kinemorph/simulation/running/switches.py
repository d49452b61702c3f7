"""Switches: elements that change their memory where one of their guards falls through zero, and edges of an automaton,
at which the whole state may jump; in single runs and in batches. An event records what has changed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.plants.programs import Plant
from kinemorph.simulation.march.guards import RESOLUTION, Guard
from kinemorph.simulation.results.event import Event, EventKind, Quantity
from kinemorph.simulation.stepping.plant_stepper import PlantStepper

MOST_SWITCHES = 100  # switches of elements at one instant


class Switches:
    """The switches of one run: counts how many of them happen at one instant, to find those that never stop."""

    def __init__(self) -> None:
        self._together, self._last = 0, -math.inf

    def carry_out(self, stepper: PlantStepper, switch: int) -> tuple[Event, str | None]:
        """Lets the state change now; returns the event, and a message if elements switch without end.

        `switch` is the index, in the plant's guards, of the guard that fell through zero.
        """
        watch = stepper.watch
        assert watch is not None
        t, before = stepper.state.t, state_groups(stepper)
        after = watch.switched(switch, *stepper.inputs)
        stepper.m = after.m
        if not watch.moves(switch):
            stepper.place(None, x=after.x)
        else:
            stepper.place(None, after.q, after.v, after.x)
        event = event_of(stepper.plant, t, switch, before, state_groups(stepper), after.lost, after.impulses)
        return event, self.endless(t, event.name)

    def endless(self, t: float, name: str) -> str | None:
        """Counts a switch `name` at the time t [s]; returns a message if switches at one instant do not stop."""
        self._together = self._together + 1 if t - self._last < RESOLUTION else 0
        self._last = t
        if self._together < MOST_SWITCHES:
            return None
        return (
            f"At t = {t:.9g} s '{name}' switches back and forth without end. Simulate with a fixed step, such as "
            "step=1e-3, or use another law."
        )


class JumpMade(NamedTuple):
    """A jump that the march has carried out: its event, and the rows [q, v, x, m] before and after."""

    event: Event
    before: Array
    after: Array
    guard: int  # the index of the guard among all guards of the run
    side: float  # the sign of the guard afterwards; 0 where it stays at zero


def read_jumps(stepper: PlantStepper, log: Array) -> Iterator[JumpMade]:
    """The jumps in a log of the march, see `simulation.march.march`."""
    plant, watch = stepper.plant, stepper.watch
    assert watch is not None
    nc = len(plant.constraint_names)
    parts = np.cumsum([plant.nq, plant.nv, plant.nx])
    for row in log:
        before, after = np.split(row[4 + nc :], 2)
        old, new = (dict(zip("qvxm", np.split(half, parts), strict=True)) for half in (before, after))
        t, index = float(row[0]), int(row[1])
        if index < len(watch.guards):
            guard = watch.guards[index]
            event = Event(t, guard.name, kind_of(guard), old, new)
        else:
            switch = watch.switches[index - len(watch.guards)]
            event = event_of(plant, t, switch, old, new, float(row[3]), row[4 : 4 + nc])
        yield JumpMade(event, before, after, index, float(row[2]))


def kind_of(guard: Guard) -> EventKind:
    """The kind of the events of a guard of the user."""
    return "stop" if guard.stop else "reset" if guard.reset is not None else "crossing"


def event_of(
    plant: Plant,
    t: float,
    switch: int,
    before: Mapping[str, Array],
    after: Mapping[str, Array],
    lost: float,
    impulses: Array,
) -> Event:
    """The event of the guard with the index `switch` in the plant's guards: an element switched, or an edge was taken.

    `impulses` (nc,) are those of all constraints [N s or N m s]; those that are not zero become numbers of the event.
    """
    name, edges = plant.guards[switch], plant.automaton.edges if plant.automaton else ()
    if switch in plant.contact_guards:
        if not np.any(impulses):
            return Event(t, name, "switch", before, after)
        return Event(t, name, "impact", before, after, numbers=_numbers(plant, lost, impulses))
    if switch < len(plant.guards) - len(edges):
        return Event(t, name, "switch", before, after)
    edge = edges[switch - (len(plant.guards) - len(edges))]
    numbers = _numbers(plant, lost, impulses)[0 if edge.impact != "none" else 1 :]
    return Event(t, name, "stop" if edge.stop else "edge", before, after, f"'{edge.target}' begins", numbers)


def _numbers(plant: Plant, lost: float, impulses: Array) -> tuple[Quantity, ...]:
    """The energy lost [J] and the impulses that are not zero, as numbers of an event."""
    named = zip(plant.constraint_names, impulses.tolist(), strict=True)
    return (
        Quantity("energy_loss", float(lost), "J"),
        *(Quantity(f"impulse.{row}", impulse) for row, impulse in named if impulse),
    )


def state_groups(stepper: PlantStepper) -> dict[str, Array]:
    """The present q, v, x and m of a stepper, by name."""
    _, q, v, x = stepper.state
    return {"q": q, "v": v, "x": x, "m": stepper.m.copy()}
