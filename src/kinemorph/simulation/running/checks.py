"""All checks of a run, before it and after it, for single runs and batches: a run that ends may still be wrong."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.arrays import Array
from kinemorph.errors import InactiveWarning, users_level
from kinemorph.frozen import kept_in
from kinemorph.model.elements.inactive import inactive_data
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.results.stops import joint_stops, state_feedbacks, warn_of_saturation, warn_of_stops
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.running.automaton_check import warn_of_automaton
from kinemorph.simulation.running.buried_start import sinking, warn_of_buried_start
from kinemorph.simulation.running.chatter import warn_of_chatter, warn_of_kinks
from kinemorph.simulation.running.energy_check import LOOSE, accounts, warn_of_energy, warn_of_made_energy
from kinemorph.simulation.running.ground_check import can_fall, warn_of_ground
from kinemorph.simulation.running.impact_check import warn_of_impacts
from kinemorph.simulation.running.sampled_gains import sampled_controllers, warn_of_gains
from kinemorph.simulation.running.step_damping import warn_of_damping
from kinemorph.simulation.stepping.plant_stepper import ForeignMethod, PlantStepper
from kinemorph.simulation.stepping.step_options import StepOptions
from kinemorph.words import as_sentence

_reported: set[tuple[str, str, tuple[str, ...]]] = set()  # (file, robot, sentences)


class Check(NamedTuple):
    """A check of runs: what it finds, how it warns, and which plants it concerns."""

    finds: str
    warn: Callable[..., object]  # of (plant, q, stepper) before a run; of (run, options, method) after it
    concerns: Callable[[Plant], object]  # asked once for each plant


BEFORE = (
    Check("unstable gains", lambda plant, q, _: warn_of_gains(plant, q), sampled_controllers),
    Check("a robot inside the ground", lambda plant, q, _: warn_of_buried_start(plant, q), sinking),
    Check(
        "phases and edges that cannot be meant",
        lambda plant, _, stepper: warn_of_automaton(plant, *((stepper.watch, stepper.inputs) if stepper else ())),
        lambda plant: plant.automaton,
    ),
)
AFTER = (
    Check(
        "constant steps too large for stiff forces",
        lambda run, options, method: warn_of_chatter(run.segments, method, options, failed=not run.outcome.ok),
        lambda plant: plant.laws.stiff,
    ),
    Check(
        "large errors of steps",
        lambda run, options, method: run.outcome.ok and _warn_of_steps(run, options, method),
        lambda plant: True,
    ),
    Check("falls through the ground", lambda run, *_: warn_of_ground(run.segments), can_fall),
    Check("joints beyond their stops", lambda run, *_: warn_of_stops(run), joint_stops),
    Check("feedback at its limits", lambda run, *_: warn_of_saturation(run), state_feedbacks),
)


def warn_before(
    model: Any, plant: Plant, q: Array | None, *, driven: bool, stepper: PlantStepper | None = None
) -> None:
    """Warns about what is wrong before the first step: data of the model file that do not act, and what `BEFORE` lists.

    `q` (n, nq) are the initial configurations of the runs; None where they are not known yet, and neither gains nor
    contacts are checked. `driven` says that torques or forces are given. `stepper` is at the initial state of a single
    run.
    """
    warn_of_inactive(model, driven=driven)
    for check in _concerning(plant, BEFORE):
        check.warn(plant, q, stepper)


def warn_after(runs: Sequence[Trajectory], options: StepOptions, method: Method | ForeignMethod) -> None:
    """Warns where one of the finished `runs` is wrong: each kind of warning is given once, for the first such run."""
    plants = {id(part.plant): part.plant for run in runs for part in run.segments}.values()
    concerning = {check.finds for plant in plants for check in _concerning(plant, AFTER)}
    for check in AFTER:
        if check.finds in concerning:
            any(check.warn(run, options, method) for run in runs)


def _concerning(plant: Plant, checks: Sequence[Check]) -> Sequence[Check]:
    """The checks that concern a plant, which are found once for each plant."""
    return kept_in(plant, f"checks: {checks[0].finds}", lambda: [check for check in checks if check.concerns(plant)])


def _warn_of_steps(run: Trajectory, options: StepOptions, method: Method | ForeignMethod) -> bool:
    """Gives the first warning that applies to the steps of a run; whether there was one."""
    segments, step = run.segments, options.step
    if step is None and options.rtol <= LOOSE:
        return False
    known = accounts(segments, run.events)
    if (
        warn_of_energy(known, options, method)
        or warn_of_made_energy(known, step, method)
        or warn_of_damping(segments, method, step)
        or warn_of_impacts(segments, step)
    ):
        return True
    return warn_of_kinks(segments, method, options)


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
