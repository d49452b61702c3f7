"""Switches: elements that change their memory where one of their guards falls through zero, and edges of an automaton,
at which the whole state may jump; in single runs and in batches. An event records what has changed.
"""

from __future__ import annotations

import math

from kinemorph.algebra.arrays import Array
from kinemorph.simulation.march.guards import RESOLUTION, Guard, Watch
from kinemorph.simulation.results.event import Event, EventKind
from kinemorph.simulation.results.event_log import LogFormat, Mark
from kinemorph.simulation.stepping.failures import allowed_errors, breach
from kinemorph.simulation.stepping.plant_stepper import PlantStepper

MOST_SWITCHES = 100  # switches of elements at one instant


class Switches:
    """The switches of one run: counts how many of them happen at one instant, to find those that never stop."""

    def __init__(self, last: float = -math.inf) -> None:
        """`last` is the time of the switch before the first one that is counted [s]."""
        self._together, self._last = 0, last

    def carry_out(self, stepper: PlantStepper, form: LogFormat, guard: int) -> tuple[Event, str | None]:
        """Lets the state change now; returns the event, and a message if the run has to end.

        `guard` is the index in the stepper's Watch of the guard of an element or of an edge that fell through zero. The
        run ends where elements switch without end, or where an edge leads to a state that breaks constraints.
        """
        watch = stepper.watch
        assert watch is not None
        switch = watch.switches[guard - len(watch.guards)]
        t, before, allowed = stepper.t, state_groups(stepper), allowed_errors(stepper)
        after = watch.switched(switch, *stepper.inputs)
        stepper.m = after.m
        broken = None
        if not watch.moves(switch):
            stepper.place(None, x=after.x)
        else:
            stepper.place(None, after.q, after.v, after.x)
            broken = breach(stepper, allowed)
        event = form.event(form.row(t, guard, (before, state_groups(stepper)), after.lost, after.impulses))
        return event, self.endless(t, event.name) or broken

    def endless(self, t: float, name: str) -> str | None:
        """Counts a switch `name` at the time t [s]; returns a message if switches at one instant do not stop."""
        self._together = self._together + 1 if t - self._last < RESOLUTION else 0
        self._last = t
        if self._together < MOST_SWITCHES:
            return None
        return endless(name, t)


def endless(name: str, t: float) -> str:
    """The message of a run that ends at t [s] because the switches `name` at one instant do not stop."""
    return (
        f"At t = {t:.9g} s '{name}' switches back and forth without end. Simulate with a fixed step, such as "
        "step=1e-3, or use another law."
    )


def log_format(watch: Watch) -> LogFormat:
    """The format of the log of a run with these guards: a mark for each of them, then for rest after those of the user.

    The guards of a Watch are those of the user, then those of elements and edges.
    """
    plant = watch.plant
    marks = [Mark(guard.name, kind_of(guard), guard.reset is not None) for guard in watch.guards]
    for switch in watch.switches:
        edge, name = watch.edge(switch), plant.guards[switch]
        if switch in plant.contact_guards:
            marks.append(Mark(name, "impact", True, impact=True))
        elif edge is None:
            marks.append(Mark(name, "switch"))
        else:
            begun = f"'{edge.target}' begins"
            marks.append(Mark(name, "stop" if edge.stop else "edge", True, begun, edge.impact != "none"))
    rests = [Mark(mark.name, "rest") for mark in marks]
    return LogFormat((*marks, *rests), (plant.nq, plant.nv, plant.nx, len(plant.m)), tuple(plant.constraint_names))


def kind_of(guard: Guard) -> EventKind:
    """The kind of the events of a guard of the user."""
    return "stop" if guard.stop else "reset" if guard.reset is not None else "crossing"


def state_groups(stepper: PlantStepper) -> dict[str, Array]:
    """The present q, v, x and m of a stepper, by name."""
    _, q, v, x = stepper.state
    return {"q": q, "v": v, "x": x, "m": stepper.m.copy()}
