"""Runs as plain data, which `--json` prints and `run_tables` shows as tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kinemorph.display import series
from kinemorph.display.tables.summaries import Data
from kinemorph.mechanics.elements.law import law_of
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.inactive import inactive_data
from kinemorph.model.system import System
from kinemorph.plants.loop_methods import Partitioning, Projection
from kinemorph.simulation.integrators.methods import DEFAULT, alias_rows, method_rows
from kinemorph.simulation.results.stops import NAMED, PASSED, begun_beyond, stopped_joints
from kinemorph.simulation.results.trajectory import Event, Trajectory
from kinemorph.words import counted, listed

STILL = 1e-14  # smaller motions [rad or m] are rounding, as are kinetic energies below this fraction of the potential
OPEN = 1e-6  # a larger loop error at the initial state gives a warning [m or rad]


def run_summary(trajectory: Trajectory) -> Data:
    """A run as data: outcome, settings, steps and time, systems, events, energy drift, loop error, last state."""
    outcome, statistics = trajectory.outcome, trajectory.statistics
    plant = trajectory.segments[-1].plant
    last = trajectory.segments[-1]
    return {
        "name": trajectory.name,
        "outcome": {"kind": outcome.kind, "t": _number(outcome.t), "message": outcome.message, "ok": outcome.ok},
        "start": _number(trajectory.t[0]),
        "end": _number(trajectory.t[-1]),
        "samples": len(trajectory.t),
        "settings": {name: _number(value) for name, value in trajectory.settings.items()},
        "method": statistics.method,
        "steps": statistics.accepted,
        "rejected": statistics.rejected,
        "seconds": statistics.seconds,
        "compile_seconds": statistics.compile_seconds,
        "preparation_seconds": statistics.preparation_seconds,
        "check_seconds": statistics.check_seconds,
        "systems": [_stretch(part) for part in trajectory.stretches],
        "events": [_event(event) for event in trajectory.events],
        "energy": _energy(trajectory),
        "loop_error": _largest(trajectory, "loop_error"),
        "final": {
            group: [
                {"name": column.name, "unit": column.unit, "value": _number(value)}
                for column, value in zip(getattr(plant, group), getattr(last, group)[-1], strict=True)
            ]
            for group in ("q", "v", "x")
        },
    }


def _stretch(part: Trajectory) -> Data:
    """A stretch of a run (a part in which the system stays the same) as data: its system, first and last time."""
    plant, t = part.segments[0].plant, part.t
    ends = (_number(t[0]), _number(t[-1])) if len(t) else (None, None)
    return {"name": plant.name, "start": ends[0], "end": ends[1], "dof": plant.nv, "states": plant.nx}


def _event(event: Event) -> Data:
    """An event as data; with its note and numbers if it has any."""
    data: Data = {"t": event.t, "name": event.name, "kind": event.kind}
    data |= {"note": event.note} if event.note else {}
    numbers = [{**number._asdict(), "value": _number(number.value)} for number in event.numbers]
    return data | ({"numbers": numbers, "told": event.told} if numbers else {})


def _number(value: object) -> object:
    """The value for JSON: a number as a float, None for one that is not finite, anything else unchanged."""
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        return float(value) if math.isfinite(value) else None
    return value


def _largest(trajectory: Trajectory, name: str) -> float | None:
    """The largest finite magnitude of a column; None where the run has no such column or no finite value."""
    if name not in trajectory.columns:
        return None
    values = np.abs(series.values(trajectory, name))
    finite = values[np.isfinite(values)]
    return float(finite.max()) if len(finite) else None


def _energy(trajectory: Trajectory) -> Data | None:
    """The energy drift of a run [J], the largest kinetic energy [J], and their ratio, as data; None without energies.

    Energy that an impact or a docking dissipates is no drift: the balance is compared between such events only. The
    ratio is None where the kinetic energy is only rounding of the potential energy, as for a mechanism at rest.
    """
    drift, kinetic = _drift(trajectory), _largest(trajectory, "energy.kinetic")
    if drift is None or kinetic is None:
        return None
    rounding = STILL * (_largest(trajectory, "energy.potential") or 0.0)
    return {"drift": drift, "largest_kinetic": kinetic, "relative": drift / kinetic if kinetic > rounding else None}


def _drift(trajectory: Trajectory) -> float | None:
    """The largest change of the energy balance within a segment of a run [J]; None where the run has no balance."""
    if "energy.balance" not in trajectory.columns:
        return None
    balance = series.values(trajectory, "energy.balance")
    rows = np.cumsum([len(segment.t) for segment in trajectory.segments])[:-1]
    known = [part[np.isfinite(part)] for part in np.split(balance, rows)]
    return max((float(np.abs(part - part[0]).max()) for part in known if len(part)), default=None)


def cautions(trajectory: Trajectory) -> list[str]:
    """Warnings about a run: open loops at its initial state, energy drift, no motion at all."""
    found = []
    if "loop_error" in trajectory.columns:
        first = float(series.values(trajectory, "loop_error")[0])
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
            values = series.values(trajectory, f"q.{name}")
            if np.any((values < joint.lower[k] - PASSED) | (values > joint.upper[k] + PASSED)):
                passed.append(name)
    first = trajectory.segments[0]
    begun = begun_beyond(first.plant, first.q[0])
    told = [begun] if begun else []
    return told + ([f"{listed(passed, NAMED)} passed the limits, because no stops are active"] if passed else [])


def column_figures(trajectory: Trajectory, wanted: Sequence[str] = ()) -> list[Data]:
    """Chosen columns as data: the first, last, smallest and largest value, and the times of the last two [s].

    `wanted` selects columns as in `series.chosen`. In a run whose system changes, only samples with the column count.
    """
    rows = []
    for column in series.chosen(trajectory, wanted):
        having = np.concatenate([np.full(len(part), column.name in part) for part in trajectory.stretches])
        t, values = trajectory.t[having], series.values(trajectory, column.name)[having]
        if not len(values):
            continue
        row: Data = {"name": column.name, "unit": column.unit, "first": _number(values[0]), "last": _number(values[-1])}
        if np.isfinite(values).any():
            low, high = int(np.nanargmin(values)), int(np.nanargmax(values))
            row |= {"smallest": _number(values[low]), "smallest_at": float(t[low])}
            row |= {"largest": _number(values[high]), "largest_at": float(t[high])}
        rows.append(row)
    return rows


def method_summary() -> Data:
    """All integration methods, and the names of other software for them, as data."""
    return {
        "default": DEFAULT,
        "methods": [row._asdict() for row in method_rows()],
        "aliases": [{"name": name, "method": method, "why": why} for name, method, why in alias_rows()],
    }
