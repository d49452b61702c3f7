"""A run: from a system and its options to a Trajectory.

`simulate` reads what is asked for, makes a stepper and lets the run be carried out (`execution`); where modules dock on
the way, in pieces (`docked_run`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.model.robot import Robot
from kinemorph.model.system import Settings, System
from kinemorph.plants.loop_methods import LoopMethod
from kinemorph.plants.plant import Plant
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.plants.sample_instants import instants
from kinemorph.plants.user_laws import Law
from kinemorph.simulation.docking.changes import Dock, Undock, sorted_events
from kinemorph.simulation.files.storage import Checkpoints
from kinemorph.simulation.foreign.stepper import stepper_for
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.integrators.methods import usual
from kinemorph.simulation.march.guards import Guard
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.running.chatter import warn_of_chatter
from kinemorph.simulation.running.execution import Held as Held
from kinemorph.simulation.running.execution import Ledger, Progress, Regular, Run, begun
from kinemorph.simulation.stepping.sample_clocks import Clockwork
from kinemorph.simulation.stepping.stepper import Stepper, check_numbers

if TYPE_CHECKING:
    from kinemorph.simulation.running.docked_run import Reconfiguring

MOST_SAMPLES = 100_000_000  # of one run; more than that is a mistake


def simulate(
    model: Plant | Dynamics | System | Robot,
    until: float | None = None,
    *,
    q: Any = None,
    v: Any = None,
    x: Any = None,
    p: Any = None,
    m: Any = None,
    method: str | Method | None = None,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    largest: float = math.inf,
    sample: float | Sequence[float] | None = None,
    forces: Law | None = None,
    inputs: Any = None,
    locked: str | Sequence[str] = (),
    loops: str | LoopMethod | None = None,
    events: Guard | Dock | Undock | Sequence[Guard | Dock | Undock] = (),
    callback: Callable[..., Any] | None = None,
    every: float | None = None,
    progress: Progress | None = None,
    start: float | Trajectory = 0.0,
    save: str | Path | None = None,
) -> Trajectory:
    """Runs a system from `start` to `until` [s].

    `q`, `v`, `x`       the state at the start, as a sequence or by name; where nothing is given, that of the system
    `p`                 values of the parameters that the plant keeps as inputs
    `m`                 what elements remember, by name or in order, as it is after what they sample at the start
    `method`            by name (`methods.method_rows` lists them); a `step` [s] makes its steps equally long, else
                        `rtol` (1e-8) and `atol` (1e-10) decide. Where none is named it is "dop853"; where contacts
                        touch and no tolerance is given, "extrapolated_contact" with steps of 1 ms
    `sample`            time between stored states [s], or the times themselves
    `forces`            a law of generalized forces that is compiled into the step: `lambda t, q, v: [...]`
    `inputs`            u: numbers, numbers by name, or a Python function u(t, q, v, x) that is held from sample to
                        sample (`Held(function, every=0.01)` for a rate of its own); of t, q, v, x it may leave out
                        what it does not need
    `locked`            joints that do not move
    `loops`             how loops and other constraints are kept: "projection" (nothing drifts; the default),
                        "partitioning", "perturbation", "baumgarte", "multipliers", or their data; see `loop_methods`.
                        Where nothing is said, as the settings of the system say
    `events`            guards, see `Guard`; and for a system of modules what docks and undocks, see `Dock`, `Undock`
    `callback`          called as callback(t, q, v, x), or with some of them, at regular times (`every` [s]); ends the
                        run by returning True
    `progress`          called now and then as progress(t, h, events)
    `start`             a time [s]; or a run that is gone on with, from the state at its end, for what is not given here
                        (an adaptive method finds its step size anew, so the last digits may differ from one long run);
                        modules are docked as they were at its end
    `save`              a file (.npz, .h5, .csv, .res) that is written at once, every few seconds and at the end, so
                        that a run that is killed leaves what it had done. A problem with it shows before the run; a
                        later one is a warning

    A run that fails is a Trajectory as well: its `outcome` says when, where and why. So does one in which a function of
    yours (a controller, `inputs`, `callback`, a reset) raises. A model or options that are wrong are exceptions.
    """
    powered = forces is not None or inputs is not None or _has_elements(model) or _has_damping(model)
    changes, guards = sorted_events(events)
    asked: dict[str, Any] = {"forces": forces, "locked": locked, "loops": loops, "account": powered}
    pieces: Reconfiguring | None = None
    if changes or (isinstance(start, Trajectory) and _docked_otherwise(model, start)):
        from kinemorph.simulation.running.docked_run import Reconfiguring

        pieces = Reconfiguring(model, asked, changes, guards, start if isinstance(start, Trajectory) else None)
    system = pieces.plant if pieces else as_plant(model, **asked)
    method, step = usual(system, method, step, rtol is not None or atol is not None)
    rtol, atol = 1e-8 if rtol is None else rtol, 1e-10 if atol is None else atol
    settings = model.settings if isinstance(model, System) else Settings()
    checkpoints = Checkpoints(save) if save is not None else None
    if isinstance(start, Trajectory):
        end = final_state(start, system, placed=q is not None)
        q, v, x, p, m = (
            end[group] if given is None else given for group, given in zip("qvxpm", (q, v, x, p, m), strict=True)
        )
        start = float(start.t[-1])
    start = seconds("start", start)
    until = start + settings.duration if until is None else seconds("until", until)
    sample = settings.sample if sample is None else sample
    times = Clockwork(system).snapped(sample_times(start, until, sample))
    spacing = float(sample) if isinstance(sample, (int, float, np.number)) else float(times[1] - times[0])
    held = inputs if isinstance(inputs, Held) else Held(inputs) if callable(inputs) else None
    check_numbers(every=every, **{"every of Held": held.every if held else None})
    if callback is not None and not callable(callback):
        raise UnsupportedError(f"callback is {callback!r}; expected a function callback(t, q, v, x).")
    first = {"q": q, "v": v, "x": x, "p": p, "m": m, "u": None if held else inputs}
    holding = Regular(held.law, "inputs", held.every or spacing, float(times[0])) if held else None
    calling = Regular(callback, "callback", every or spacing, float(times[0])) if callback else None
    options = {"step": step, "rtol": rtol, "atol": atol}
    make = partial(stepper_for(method), method=method, largest=largest, begun=False, **options)
    ledger = Ledger({**options, "until": float(times[-1])}, progress, checkpoints)
    if pieces:
        outcome = pieces.carry_out(ledger, make, first, (holding, calling), times)
    else:
        stepper = ledger.timed(lambda: begun(make, system, guards, float(times[0]), first))
        outcome = ledger.carry_out(Run(stepper, times, holding, calling))
    trajectory = ledger.finished(outcome)
    if checkpoints:
        checkpoints.finish(trajectory)
    if step is not None and stepper_for(method) is Stepper:
        warn_of_chatter(trajectory.segments, ledger.method, float(step))
    return trajectory


def final_state(run: Trajectory, plant: Plant, *, placed: bool = False) -> dict[str, Any]:
    """The state at the end of a run, by name, for a plant that goes on with it: what both of them have.

    That is the state of the last segment: a run may have changed its system on the way. A plant with coordinates that
    went away with that is refused, where its configuration is not given otherwise (`placed`).
    """
    last, end = run.segments[-1], {}
    for group in ("q", "v", "x", "m"):
        known = {column.name for column in getattr(plant, group)}
        pairs = zip(getattr(last.plant, group), getattr(last, group)[-1], strict=True)
        end[group] = {column.name: value for column, value in pairs if column.name in known}
    if plant.nq and not end["q"]:
        raise ModelError(f"start: '{plant.name}' has no coordinate of '{last.plant.name}', which it is to go on with.")
    passed = {column.name for segment in run.segments for column in segment.plant.q}
    gone = [column.name for column in plant.q if column.name not in end["q"] and column.name in passed]
    if gone and not placed:
        raise ModelError(
            f"start: coordinate '{gone[0]}' of '{plant.name}' is in the run, but not at its end, where the system is "
            f"'{last.plant.name}' with other joints. Go on with that, as simulate(run.segments[-1].plant, start=run), "
            "or give q."
        )
    same = [column.name for column in last.plant.p] == [column.name for column in plant.p]
    return {**end, "p": last.p if same else None}


def _docked_otherwise(model: Any, run: Trajectory) -> bool:
    """Whether modules are docked otherwise at the end of a run than in a model that goes on with it."""
    last = run.segments[-1].plant
    if not isinstance(model, System) or model.assembly is None or last.assembly is None:
        return False
    before, after = ({docking.name for docking in each.dockings} for each in (model.assembly, last.assembly))
    return before != after or any(column.name.partition(".")[0] in after for column in last.p)


def _has_elements(model: Any) -> bool:
    return isinstance(model, System) and bool(model.elements)


def _has_damping(model: Any) -> bool:
    robot = model.robot if isinstance(model, (System, Dynamics)) else model
    return isinstance(robot, Robot) and any(d != 0.0 for joint in robot.joints for d in joint.damping)


def seconds(name: str, value: Any) -> float:
    """A time [s] as a float, whatever number it was given as."""
    if not isinstance(value, (int, float, np.number)) or not math.isfinite(value):
        raise UnsupportedError(f"{name} is {value!r}; expected a finite time in seconds.")
    return float(value)


def sample_times(start: float, until: float, sample: float | Sequence[float]) -> Array:
    """Ascending times from start to until, both included."""
    start, until = seconds("start", start), seconds("until", until)
    if until <= start:
        raise UnsupportedError(f"until is {until:g} s and start {start:g} s; expected a later end. Enlarge until.")
    if isinstance(sample, (int, float, np.number)):
        sample = float(sample)
        if not 0.0 < sample < math.inf:
            raise UnsupportedError(f"sample is {sample} s; expected a finite time above 0.")
        count = math.floor((until - start) / sample * (1.0 + 1e-12) + 1e-9)
        if count > MOST_SAMPLES:
            raise UnsupportedError(
                f"sample is {sample:g} s, which gives {count:.2g} samples; expected at most {MOST_SAMPLES:.0e}. "
                "Enlarge it."
            )
        times: Array = instants(sample, start).times(count + 1)
    else:
        try:
            times = np.unique(np.asarray(sample, dtype=float))
        except (TypeError, ValueError):
            raise UnsupportedError(f"sample is {sample!r}; expected a time in seconds, or a list of them.") from None
        if len(times) == 0 or times[0] < start or times[-1] > until or not np.isfinite(times).all():
            raise UnsupportedError(f"sample times must lie between start {start} s and until {until} s.")
        times = times if times[0] == start else np.concatenate([[start], times])
    if until - times[-1] > 1e-9 * (until - start):
        times = np.append(times, until)
    else:
        times[-1] = until
    return times
