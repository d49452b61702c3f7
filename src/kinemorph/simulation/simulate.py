"""One run: from a system and its options to a Trajectory.

`simulate` resolves the options, makes a stepper and carries out the run (`running.execution`); a run in which modules
dock or undock is carried out in pieces (`running.docked_run`).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import ModelError, OptionWarning, UnsupportedError, users_level
from kinemorph.model.robot import Robot
from kinemorph.model.system import Settings, System, start_of
from kinemorph.plants.loop_methods import LoopMethod
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import named_parameters, shared_plant
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.plants.sample_instants import instants
from kinemorph.plants.user_laws import Law
from kinemorph.simulation.docking.changes import Change, Dock, Undock, sorted_events
from kinemorph.simulation.files.storage import Checkpoints
from kinemorph.simulation.foreign.stepper import stepper_at
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.march.guards import Guard
from kinemorph.simulation.results.kept import kept_key
from kinemorph.simulation.results.trajectory import Outcome, Trajectory
from kinemorph.simulation.running.checks import warn_after, warn_before
from kinemorph.simulation.running.execution import Progress, Run
from kinemorph.simulation.running.ledger import Ledger, Watch
from kinemorph.simulation.running.phase_times import PhaseTimes
from kinemorph.simulation.stepping.chosen_start import start_values
from kinemorph.simulation.stepping.plant_stepper import PlantStepper
from kinemorph.simulation.stepping.regular_functions import HeldInputs as HeldInputs
from kinemorph.simulation.stepping.regular_functions import Regular
from kinemorph.simulation.stepping.sample_clocks import Clockwork
from kinemorph.simulation.stepping.step_options import (
    check_positive,
    longest_step,
    step_options,
    warn_of_tolerances,
)
from kinemorph.simulation.stepping.stepper import Stepper

if TYPE_CHECKING:
    from kinemorph.simulation.running.docked_run import DockedRun

MOST_SAMPLES = 100_000_000  # samples of one run; a larger number is a mistake
NUMBER = (int, float, np.number)


def simulate(
    model: Plant | Dynamics | System | Robot,
    until: float | None = None,
    *,
    time: float | None = None,
    q: Any = None,
    v: Any = None,
    x: Any = None,
    p: Any = None,
    m: Any = None,
    method: str | Method | None = None,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    max_step: float | None = None,
    output_step: float | Sequence[float] | None = None,
    forces: Law | None = None,
    inputs: Any = None,
    locked: str | Sequence[str] = (),
    loops: str | LoopMethod | None = None,
    events: Guard | Dock | Undock | Sequence[Guard | Dock | Undock] = (),
    most_events: int | None = None,
    callback: Callable[..., Any] | None = None,
    every: float | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
    start: float | str | Trajectory = 0.0,
    save: str | Path | None = None,
) -> Trajectory:
    """Simulates a robot, a system or a plant from the time `start` to the time `until` [s].

        run = simulate(robot, 5.0, q={"elbow": 0.5}, output_step=0.01)
        run.t, run.q, run["v.elbow"], run.energy, run.events, run.outcome

    `until` is a time on the clock; `time` in its place says how long the run lasts [s], also one that goes on from
    `start`. Without both, the run lasts as long as the settings of the system say.

    Initial state. Each group is a sequence in the order of the plant, or a dict of some values by name. Values that are
    not given are the defaults of the system. A value may be a text with a unit, such as "30 deg". Where there are
    constraints, named values of q and v are kept and the others follow.

    `q`, `v`        configuration [rad or m] and velocity [rad/s or m/s]
    `x`             further continuous states, such as currents
    `m`             memory of elements; those whose memory is given do not sample at the initial time again
    `p`             values of parameters: by name, or in order those that the plant keeps as inputs
    `start`         the initial time [s]; or the name of a start of the system, such as "home", whose values and inputs
                    are taken where none are given here; or a finished run to continue: values that are not given here
                    are those at its end, and modules are docked as they are there. Where model, method, options,
                    inputs and parameters are the same, it goes on with the steps of one long run: see `results.kept`

    Steps. Without a method, "dop853" is used with `rtol` and `atol`; for a system with contacts and no given tolerance
    it is "extrapolated_contact", which chooses steps by tolerances of 1e-3 and 1e-5, at most 2 ms; 100 ms
    where nothing but planes is touched and no element depends on time.

    `method`        the name of a method; `kinemorph simulate --methods` lists all of them
    `step`          makes all steps this long [s]
    `rtol`, `atol`  the relative and absolute tolerance of steps that the method chooses; 1e-8 and 1e-10
    `max_step`      the longest step that the method may choose [s]; by default that of the model's settings

    What acts on the system.

    `inputs`        the inputs u: numbers in order or by name, constant for the whole run; or a Python function of some
                    of t, q, v and x, which is called at every stored sample and held in between. For another rate,
                    give `HeldInputs(function, every=0.01)`
    `forces`        a law of generalized forces [N m or N], `lambda t, q, v: [...]`, which is compiled into the step
    `locked`        names of joints that do not move
    `loops`         how closed chains and other constraints are kept: "projection" (nothing drifts), "partitioning",
                    "perturbation", "baumgarte" or "multipliers", or an object of `kinemorph.loops`. By default the
                    settings of the system decide, else "projection"
    `events`        guards whose change of sign is an event (see `Guard`), and for a system of modules what docks and
                    undocks (see `kinemorph.modules.Dock`)
    `most_events`   ends the run after this many events: changes of sign of guards, edges of an automaton, switches of
                    elements

    Results.

    `output_step`   the time between stored samples [s], or a sequence of all sample times. By default the settings of
                    the system decide, else 0.01 s
    `callback`      a function of some of t, q, v and x that is called every `every` seconds (by default at every
                    stored sample); the run stops when it returns True
    `progress`      a function progress(t, h, events) that is called at least five times a second, with the simulated
                    time [s], the size of the next step [s] and the number of events so far
    `watch`         a function watch(part) that is called several times a second with a Trajectory of the samples and
                    events since its last call, for pictures and plots that grow while the run is computed. All parts
                    together are the samples of the run
    `save`          a file (.npz, .h5, .csv or .res) that is written at the start, every few seconds and at the end, so
                    that a run that is killed leaves its results. A file that cannot be written is an error at the
                    start, and a warning later

    A wrong model or a wrong option raises an exception. A run that fails returns a Trajectory of everything computed
    before the failure; its `outcome` says when, where and why it failed. This includes failures of your functions
    (`inputs`, `callback`, a controller, the reset of a guard) that raise or return a value that cannot be used.
    """
    phases = PhaseTimes()
    changes, guards = sorted_events(events)
    before = start if isinstance(start, Trajectory) else None
    chosen = start_of(model, start) if isinstance(start, str) else None
    if inputs is None and chosen is not None:
        inputs = chosen.numbers("u")
    powered = forces is not None or inputs is not None or exchanges_energy(model)
    asked: dict[str, Any] = {"forces": forces, "locked": locked, "loops": loops, "account": powered}
    asked["parameters"] = named_parameters(model, p)
    check_positive(most_events=most_events)
    docked = _docked_run(model, asked, changes, guards, before)
    if docked and most_events is not None:
        raise UnsupportedError(
            f"most_events is {most_events}; a run in which modules dock or undock cannot end after a number of events. "
            "Leave it out, or end the run by a Guard with stop=True."
        )
    plant = docked.plant if docked else (as_plant if guards else shared_plant)(model, **asked)
    options = step_options(plant, method, step, rtol, atol, longest_step(model, max_step, step))
    warn_of_tolerances(options, rtol, atol)
    checkpoints = Checkpoints(save) if save is not None else None
    first = {"q": q, "v": v, "x": x, "p": p, "m": m}
    if before is not None:
        end = final_state(before, plant, placed=q is not None)
        if inputs is None and plant.u and before.segments[-1].u[-1:].any():
            warnings.warn(
                f"start: the run of '{plant.name}' that is continued had inputs at its end, and none are given now, so "
                "that they are 0. Give inputs= again, or inputs=run.u[-1] for those at its end.",
                OptionWarning,
                stacklevel=users_level(),
            )
        first = {group: end[group] if given is None else given for group, given in first.items()}
    begins = before.t[-1] if before is not None else start if chosen is None else chosen.t
    times, spacing = run_times(model, plant, begins, until, output_step, time)
    regular = _regular_functions(inputs, callback, every, spacing, float(times[0]))
    first["u"] = None if regular[0] else inputs
    if chosen is not None:
        first = start_values(plant, str(start), chosen, first, float(times[0]))

    settings = {"step": options.step, "rtol": options.rtol, "atol": options.atol, "until": float(times[-1])}
    ledger = Ledger(settings, progress, checkpoints, watch, phases)
    driven = forces is not None or inputs is not None
    pieces: Pieces
    if docked:
        with phases.within("check"):
            warn_before(model, plant, None, driven=driven)
        pieces = docked.start(options, first, regular, times)
    else:
        stepper = stepper_at(plant, options, guards, float(times[0]), first)
        with phases.within("check"):
            warn_before(model, plant, stepper.state.q[None], driven=driven, stepper=stepper)
        most = math.inf if most_events is None else most_events
        given = any(value is not None for value in (q, v, x, m))
        goes_on = before is not None and not given and not any(regular) and _goes_on(before, stepper)
        if not any(regular):
            stepper.end = float(times[-1])
        pieces = OnePiece(Run(stepper, times, *regular, most_events=most, taken_up=goes_on))
    outcome, kept = _carried_out(pieces, ledger), None
    if isinstance(pieces, OnePiece) and isinstance(stepper, Stepper) and outcome.kind == "finished":
        kept = stepper.kept if stepper.end < math.inf else None
    trajectory = ledger.finished(outcome, kept)
    if checkpoints:
        checkpoints.finish(trajectory)
    with phases.within("check"):
        warn_after([trajectory], options, ledger.method)
    return replace(trajectory, statistics=ledger.statistics)


# ── pieces ────────────────────────────────────────────────────────────────────────────────────────────────────────────


class Pieces(Protocol):
    """The pieces of a run, one after the other: coordinates change between them, and within one they do not."""

    def first(self, ledger: Ledger) -> Run | Outcome:
        """The first piece; an outcome where there is none."""

    def after(self, ledger: Ledger, run: Run, outcome: Outcome) -> Run | Outcome:
        """The piece that follows a finished one, which ended with `outcome`; or the outcome of the whole run."""


class OnePiece(NamedTuple):
    """A run whose coordinates do not change; phases of an automaton and their edges are part of its march."""

    run: Run

    def first(self, ledger: Ledger) -> Run | Outcome:
        """The only piece."""
        return self.run

    def after(self, ledger: Ledger, run: Run, outcome: Outcome) -> Run | Outcome:
        """Its outcome is that of the run."""
        return outcome


def _carried_out(pieces: Pieces, ledger: Ledger) -> Outcome:
    """Carries out all pieces of a run; their results are in the ledger."""
    following = pieces.first(ledger)
    while isinstance(following, Run):
        outcome = ledger.carry_out(following)
        following.stepper.clockwork.end()
        following = pieces.after(ledger, following, outcome)
    return following


def _goes_on(run: Trajectory, stepper: PlantStepper) -> bool:
    """Lets a stepper go on with what a run has kept, where nothing has changed; returns whether it does."""
    kept, last = run.kept, run.segments[-1]
    if kept is None or not isinstance(stepper, Stepper) or kept.key != kept_key(stepper.plant, stepper.options):
        return False
    same = kept.end == last.t[-1] and np.array_equal(last.u[-1], stepper.u) and np.array_equal(last.p, stepper.p)
    return same and (kept.plain or last.plant is stepper.plant) and stepper.take_up(kept)


# ── what is run ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _docked_run(
    model: Any, asked: Mapping[str, Any], changes: Sequence[Change], guards: Sequence[Guard], before: Trajectory | None
) -> DockedRun | None:
    """A DockedRun if modules dock or undock in this run, or did so in the run `before` that it continues; else None."""
    if not changes and (before is None or not _docked_otherwise(model, before)):
        return None
    from kinemorph.simulation.running.docked_run import DockedRun

    return DockedRun(model, asked, changes, guards, before)


def _docked_otherwise(model: Any, run: Trajectory) -> bool:
    """Whether the dockings at the end of `run`, which `model` has to continue, differ from those of the model."""
    last = run.segments[-1].plant
    docked = [event for event in run.events if event.kind in ("dock", "undock")]
    if docked and last.dynamics is None:
        raise UnsupportedError(
            f"start: the run of '{run.name}' docks, and comes from a file without its model, because "
            f"{run.segments[-1].missing}; so what is docked at its end is not known. Give the system with which it "
            "began: load_trajectory(path, model=system)."
        )
    if not isinstance(model, System) or model.assembly is None or last.assembly is None:
        return False
    before, after = ({docking.name for docking in each.dockings} for each in (model.assembly, last.assembly))
    return before != after or any(column.name.partition(".")[0] in after for column in last.p)


def exchanges_energy(model: Any) -> bool:
    """Whether elements, damping or drives along the time act on a model, so that runs record the energy of these."""
    if isinstance(model, System) and model.elements:
        return True
    robot = model.robot if isinstance(model, (System, Dynamics)) else model
    if not isinstance(robot, Robot):
        return False
    return robot.is_timed or any(d != 0.0 for joint in robot.joints for d in joint.damping)


def _regular_functions(
    inputs: Any, callback: Any, every: float | None, spacing: float, start: float
) -> tuple[Regular | None, Regular | None]:
    """The user functions that are called at regular times: for held inputs, and the callback."""
    held = inputs if isinstance(inputs, HeldInputs) else HeldInputs(inputs) if callable(inputs) else None
    check_positive(every=every, **{"every of HeldInputs": held.every if held else None})
    if callback is not None and not callable(callback):
        raise UnsupportedError(f"callback is {callback!r}; expected a function callback(t, q, v, x).")
    return (
        Regular(held.law, "inputs", held.every or spacing, start) if held else None,
        Regular(callback, "callback", every or spacing, start) if callback else None,
    )


def final_state(run: Trajectory, plant: Plant, *, placed: bool = False) -> dict[str, Any]:
    """The last state of a run as the initial state of a plant: in each group, the values whose names the plant has.

    The system may change during a run; its last segment counts. Raises ModelError where the plant has coordinates that
    the run had and lost before its end, unless the user gives the configuration (`placed`).
    """
    last, end = run.segments[-1], {}
    for group in ("q", "v", "x", "m"):
        known = {column.name for column in getattr(plant, group)}
        pairs = zip(getattr(last.plant, group), getattr(last, group)[-1], strict=True)
        end[group] = {column.name: value for column, value in pairs if column.name in known}
    if plant.nq and not end["q"]:
        raise ModelError(
            f"start: '{plant.name}' has no coordinate of '{last.plant.name}', whose run it has to continue. Simulate "
            "the model of that run, or give a time as start."
        )
    passed = {column.name for segment in run.segments for column in segment.plant.q}
    gone = [column.name for column in plant.q if column.name not in end["q"] and column.name in passed]
    if gone and not placed:
        raise ModelError(
            f"start: coordinate '{gone[0]}' of '{plant.name}' is in the run, but not at its end, where the system is "
            f"'{last.plant.name}' with other joints. Continue with that system, as "
            "simulate(run.segments[-1].plant, start=run), or give q."
        )
    same = [column.name for column in last.plant.p] == [column.name for column in plant.p]
    return {**end, "p": last.p if same else None}


# ── when it is sampled ────────────────────────────────────────────────────────────────────────────────────────────────


def run_times(
    model: Any, plant: Plant, start: Any, until: Any, output_step: Any, time: Any = None
) -> tuple[Array, float]:
    """The sample times of a run [s], shape (n,), and the time between samples [s].

    The run ends at `until`, or lasts for `time` [s]. What is None is as the settings of the system say.
    """
    settings = model.settings if isinstance(model, System) else Settings()
    start = _seconds("start", start)
    if until is not None and time is not None:
        raise UnsupportedError(
            f"until is {until} and time is {time}; expected one of them. Give `until`, when the run ends, or `time`, "
            "how long it lasts."
        )
    lasts = settings.time if time is None else _seconds("time", time)
    until = start + lasts if until is None else _seconds("until", until)
    spacing = settings.sample if output_step is None else output_step
    times = Clockwork(plant).snapped(sample_times(start, until, spacing))
    return times, float(spacing) if isinstance(spacing, NUMBER) else float(times[1] - times[0])


def _seconds(name: str, value: Any) -> float:
    """A time [s] of any number type as a float; raises UnsupportedError where it is not a finite number."""
    if not isinstance(value, NUMBER) or not math.isfinite(value):
        raise UnsupportedError(f"{name} is {value!r}; expected a finite number, the time in seconds.")
    return float(value)


def sample_times(start: float, until: float, output_step: float | Sequence[float]) -> Array:
    """The sample times of a run [s], shape (n,), ascending from `start` to `until`, both included.

    `output_step` is the time between samples [s], or a sequence of sample times.
    """
    if until <= start:
        raise UnsupportedError(
            f"until is {until:g} s and start {start:g} s; expected an end after the start. Enlarge until."
        )
    if isinstance(output_step, NUMBER):
        spacing = float(output_step)
        if not 0.0 < spacing < math.inf:
            raise UnsupportedError(f"output_step is {spacing} s; expected a finite time above 0.")
        count = math.floor((until - start) / spacing * (1.0 + 1e-12) + 1e-9)
        if count > MOST_SAMPLES:
            raise UnsupportedError(
                f"output_step is {spacing:g} s, which gives {count:.2g} samples; expected at most {MOST_SAMPLES:.0e}. "
                "Enlarge output_step."
            )
        times: Array = instants(spacing, start).times(count + 1)
    else:
        try:
            times = np.unique(np.asarray(output_step, dtype=float))
        except (TypeError, ValueError):
            raise UnsupportedError(
                f"output_step is {output_step!r}; expected a time in seconds, or a list of them."
            ) from None
        if len(times) == 0 or times[0] < start or times[-1] > until or not np.isfinite(times).all():
            found = f"times from {times[0]:g} to {times[-1]:g} s" if len(times) else "no times"
            raise UnsupportedError(
                f"output_step has {found}; expected times between start = {start:g} s and until = {until:g} s."
            )
        times = times if times[0] == start else np.concatenate([[start], times])
    if until - times[-1] > 1e-9 * (until - start):
        times = np.append(times, until)
    else:
        times[-1] = until
    return times
