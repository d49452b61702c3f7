"""Sentences about a run: what it adds to the model, what of the model does not act, limits that were passed."""

from __future__ import annotations

import numpy as np

from kinemorph.mechanics.elements.law import law_of
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.inactive import inactive_data
from kinemorph.model.system import System
from kinemorph.plants.loop_methods import Partitioning, Projection
from kinemorph.simulation.results.stops import NAMED, PASSED, begun_beyond, stopped_joints
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.words import counted, listed

STILL = 1e-14  # smaller motions [rad or m] are rounding
OPEN = 1e-6  # a larger loop error at the initial state gives a warning [m or rad]


def cautions(trajectory: Trajectory) -> list[str]:
    """Warnings about a run: open loops at its initial state, energy drift, no motion at all."""
    found = []
    if "loop_error" in trajectory.columns:
        first = float(trajectory["loop_error"][0])
        closes = isinstance(trajectory.segments[0].plant.loops, Projection | Partitioning)  # before the run, if it can
        if first > OPEN and not closes:
            found.append(f"loops are open by {first:.3g} m or rad initially; give a closed configuration with --q")
    moved = max((float(np.ptp(q)) for part in trajectory.segments for q in part.q.T if len(q)), default=1.0)
    if trajectory.outcome.ok and moved <= STILL:
        found.append("nothing moved: the initial state is an equilibrium; give another one with --q or --v")
    return found


def acting_joints(system: System, given: System, option: str = "--no-{}") -> list[str]:
    """Sentences about the joint limits, friction and contacts that a run adds to a model, and what leaves them out.

    `system` has these elements, `given` is the model without them. `option` is how they are left out, with {} for
    limits, friction or contacts.
    """
    added = [element for element in system.elements if element not in given.elements]
    touching = [element for element in added if isinstance(element, Contact)]
    words = {"JointLimits": "limits", "JointFriction": "friction"}
    found = []
    for element in added:
        if isinstance(element, Contact):
            continue
        what = words[type(element).__name__]
        count = len(law_of(element).acts_on(element, system.robot))
        found.append(f"the {what} of {counted(count, 'joint')} ({option.format(what)} leaves them out)")
    notes = [f"the run adds to the elements of the model: {'; '.join(found)}"] if found else []
    if touching:
        made = f"{counted(len(touching), 'contact')} of {given.robot.name} from the collision shapes of its file"
        notes.append(f"{made}; {option.format('contacts')} leaves them out")
    return notes


def inactive_notes(system: System, *, driven: bool = False) -> list[str]:
    """A note on the effort limits and collision shapes of a model file that do not act in a run of the system.

    `driven` says that torques are given as inputs. Limits and friction have options, so the user knows about them.
    """
    found = inactive_data(system, driven=driven).other_sentences if system.source else []
    return [f"data of {system.source} that do not act in this run: {'; '.join(found)}"] if found else []


def beyond_limits(system: System, trajectory: Trajectory) -> list[str]:
    """Warnings about coordinates that start beyond their limits, and about those that pass limits without stops."""
    stopped, passed = stopped_joints(system.robot, system.elements), []
    for joint in system.robot.joints:
        for k, name in enumerate(joint.q_names if joint.name not in stopped else ()):
            values = trajectory[f"q.{name}"]
            if np.any((values < joint.lower[k] - PASSED) | (values > joint.upper[k] + PASSED)):
                passed.append(name)
    first = trajectory.segments[0]
    begun = begun_beyond(first.plant, first.q[0])
    told = [begun] if begun else []
    return told + ([f"{listed(passed, NAMED)} passed the limits, because no stops are active"] if passed else [])
