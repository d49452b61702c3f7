"""All checks, after a run, of whether its steps were small enough: energy, numerical damping, impacts."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.simulation.results.event import Event
from kinemorph.simulation.results.segment import Segment
from kinemorph.simulation.running.energy_check import warn_of_energy, warn_of_made_energy
from kinemorph.simulation.running.impact_check import warn_of_impacts
from kinemorph.simulation.running.step_damping import warn_of_damping


def warn_of_steps(segments: Sequence[Segment], events: Sequence[Event], step: float | None, method: object) -> bool:
    """Gives the first warning that applies to the steps of a run; returns whether there was one.

    `step` [s] is their fixed size, None where the method chooses it.
    """
    return (
        warn_of_energy(segments, events, step)
        or warn_of_made_energy(segments, events, step, method)
        or warn_of_damping(segments, method, step)
        or warn_of_impacts(segments, step)
    )
