"""All checks of a run, before it and after it, for single runs and batches: a run that ends may still be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinemorph.algebra.arrays import Array
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.results.stops import warn_of_stops
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.running.automaton_check import warn_of_automaton
from kinemorph.simulation.running.buried_start import warn_of_buried_start
from kinemorph.simulation.running.chatter import warn_of_chatter, warn_of_kinks
from kinemorph.simulation.running.energy_check import LOOSE, warn_of_energy, warn_of_made_energy
from kinemorph.simulation.running.ground_check import warn_of_ground
from kinemorph.simulation.running.impact_check import warn_of_impacts
from kinemorph.simulation.running.inactive_check import warn_of_inactive
from kinemorph.simulation.running.sampled_gains import warn_of_gains
from kinemorph.simulation.running.step_damping import warn_of_damping
from kinemorph.simulation.stepping.plant_stepper import ForeignMethod, PlantStepper
from kinemorph.simulation.stepping.step_options import StepOptions


def warn_before(
    model: Any, plant: Plant, q: Array | None, *, driven: bool, stepper: PlantStepper | None = None
) -> None:
    """Warns about what is wrong before the first step: data of the model file that do not act, unstable gains, a robot
    inside the ground, phases and edges that cannot be meant.

    `q` (n, nq) are the initial configurations of the runs; None where they are not known yet, and neither gains nor
    contacts are checked. `driven` says that torques or forces are given. `stepper` is at the initial state of a single
    run.
    """
    warn_of_inactive(model, driven=driven)
    if q is not None:
        warn_of_gains(plant, q[0])
        warn_of_buried_start(plant, q)
    warn_of_automaton(plant, stepper.watch if stepper else None, stepper.inputs if stepper else None)


def warn_after(runs: Sequence[Trajectory], options: StepOptions, method: Method | ForeignMethod) -> None:
    """Warns where one of the finished `runs` is wrong: each kind of warning is given once, for the first such run."""
    if options.step is not None and not isinstance(method, ForeignMethod):
        any(warn_of_chatter(run.segments, method, options) for run in runs)
    if options.step is not None or options.rtol > LOOSE:
        any(_warn_of_steps(run, options, method) for run in runs if run.outcome.ok)
    any(warn_of_ground(run.segments) for run in runs)
    any(warn_of_stops(run) for run in runs)


def _warn_of_steps(run: Trajectory, options: StepOptions, method: Method | ForeignMethod) -> bool:
    """Gives the first warning that applies to the steps of a run; whether there was one."""
    segments, step = run.segments, options.step
    if (
        warn_of_energy(segments, run.events, options, method)
        or warn_of_made_energy(segments, run.events, step, method)
        or warn_of_damping(segments, method, step)
        or warn_of_impacts(segments, step)
    ):
        return True
    if options.step is None or isinstance(method, ForeignMethod):
        return False
    return warn_of_kinks(run.segments, method, options)
