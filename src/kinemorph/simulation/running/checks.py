"""All checks of a run, before it and after it, for single runs and batches: a run that ends may still be wrong."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from kinemorph.algebra.arrays import Array
from kinemorph.errors import InactiveWarning, users_level
from kinemorph.frozen import kept_in
from kinemorph.model.elements.inactive import inactive_data
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.results.stops import warn_of_saturation, warn_of_stops
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.running.automaton_check import warn_of_automaton
from kinemorph.simulation.running.buried_start import warn_of_buried_start
from kinemorph.simulation.running.chatter import warn_of_chatter, warn_of_kinks
from kinemorph.simulation.running.energy_check import LOOSE, accounts, warn_of_energy, warn_of_made_energy
from kinemorph.simulation.running.ground_check import warn_of_ground
from kinemorph.simulation.running.impact_check import warn_of_impacts
from kinemorph.simulation.running.sampled_gains import warn_of_gains
from kinemorph.simulation.running.step_damping import warn_of_damping
from kinemorph.simulation.stepping.plant_stepper import ForeignMethod, PlantStepper
from kinemorph.simulation.stepping.step_options import StepOptions
from kinemorph.words import as_sentence

_reported: set[tuple[str, str, tuple[str, ...]]] = set()  # (file, robot, sentences)


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
        any(warn_of_chatter(run.segments, method, options, failed=not run.outcome.ok) for run in runs)
    if options.step is not None or options.rtol > LOOSE:
        any(_warn_of_steps(run, options, method) for run in runs if run.outcome.ok)
    any(warn_of_ground(run.segments) for run in runs)
    any(warn_of_stops(run) for run in runs)
    any(warn_of_saturation(run) for run in runs)


def _warn_of_steps(run: Trajectory, options: StepOptions, method: Method | ForeignMethod) -> bool:
    """Gives the first warning that applies to the steps of a run; whether there was one."""
    segments, step = run.segments, options.step
    known = accounts(segments, run.events)
    if (
        warn_of_energy(known, options, method)
        or warn_of_made_energy(known, step, method)
        or warn_of_damping(segments, method, step)
        or warn_of_impacts(segments, step)
    ):
        return True
    if options.step is None or isinstance(method, ForeignMethod):
        return False
    return warn_of_kinks(run.segments, method, options)


def warn_of_inactive(model: Any, *, driven: bool) -> None:
    """Warns once of data in the model file that have no effect; `driven` says that the run has inputs or forces."""
    if not isinstance(model, System) or not model.source:
        return
    looked_at: set[bool] = kept_in(model, "data that do not act were looked for", set)
    if driven in looked_at:
        return
    looked_at.add(driven)
    data = inactive_data(model, driven=driven)
    found = data.joint_sentences + data.other_sentences
    key = (model.source, model.name, tuple(found))
    if not found or key in _reported:
        return
    _reported.add(key)
    added = "limits, friction and contacts with the ground, as `kinemorph simulate` does"
    planned = f" system.run({{'time': 1.0}}) runs with {added}."
    helps = data.limits or data.friction or (data.shapes and data.grounded)
    warnings.warn(
        f"'{model.name}': some data of {model.source} do not act in this run; each is listed with its remedy. "
        f"{'. '.join(map(as_sentence, found))}.{planned if helps else ''}",
        InactiveWarning,
        stacklevel=users_level(),
    )
