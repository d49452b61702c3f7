"""Contestants that run the same problem: an `Entry` is one method of a contestant, with settings from loose to tight.

The functions below make runs for the tables of several problems. Models are made before a run; only the run is timed,
and the numbers to compare are read from its result afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.timing import Say, timed
from kinemorph.codegen.work_clock import seconds_at_work
from kinemorph.errors import MissingExtraError
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.stepping.stepper import Stepper

TOLERANCE, STEP = "tolerance {:.0e}", "step {:g} s"  # a setting in words
Run = Callable[[float], Any]  # makes a run with a setting, a tolerance or a step size


@dataclass(frozen=True)
class Entry:
    """A method of a contestant: `run(setting)` is timed, `read` takes the numbers to compare from its result.

    `says` is a format string that writes a setting in words. `ends_only` says that the result has only the last sample.
    """

    contestant: str
    method: str
    settings: tuple[float, ...]
    says: str
    run: Run
    read: Callable[[Any], Any]
    ends_only: bool = False


@dataclass(frozen=True)
class Tuned:
    """An entry with the setting that it needs to be accurate, its error with that setting, and whether it suffices."""

    entry: Entry
    setting: float
    error: float
    reached: bool


def tune(entry: Entry, wanted: Array, enough: float, longest: float, further: int = 0) -> Tuned:
    """The entry with its loosest setting whose error is at most `enough`, or else the most accurate one that was tried.

    `wanted` are the numbers of the reference; after a run of more than `longest` [s] no tighter setting is tried.
    `further` tighter settings are tried, too, and the fastest that suffices is taken: a method that chooses its steps
    may need fewer of them for a tighter tolerance.
    """
    best: Tuned | None = None
    fastest, more = np.inf, further
    for setting in entry.settings:
        took, found = timed(partial(entry.run, setting), _running)
        gap = np.abs(entry.read(found) - (wanted[-1:] if entry.ends_only else wanted)).max()
        error = float(gap) if np.isfinite(gap) else np.inf
        reached = error <= enough
        if reached and further:
            took, _ = timed(partial(entry.run, setting), _working)  # the first run may have compiled
        better = took < fastest if reached else best is None or (not best.reached and error < best.error)
        if better:
            best, fastest = Tuned(entry, setting, error, reached), took if reached else np.inf
        if took > longest or (best is not None and best.reached and more == 0):
            break
        more -= best is not None and best.reached
    assert best is not None
    return best


def _running() -> float:
    """A clock [s] that stands still while code is derived and compiled."""
    return time.perf_counter() - seconds_at_work()


def _working() -> float:
    """The CPU time of this process [s]."""
    return time.process_time()


def gathered(makers: Mapping[str, Callable[[], list[Entry]]], note: Say) -> list[Entry]:
    """The entries of all contestants that are installed; `note` receives a message about each of the others."""
    found = []
    for name, make in makers.items():
        try:
            found += make()
        except MissingExtraError as error:
            note(f"{name} is not compared: {error}")
    return found


def imported(module: str, package: str) -> Any:
    """A Python module of a peer, imported. Raises MissingExtraError if its package is not installed."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(package, "peers") from None


# ── runs ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def by_simulate(system: Plant | System, times: Array, q: Array, v: Array, method: str = "dop853", **given: Any) -> Run:
    """A function that calls `simulate` from q and v with a tolerance; it returns the trajectory at `times` [s].

    `given` are further arguments of `simulate`, such as inputs.
    """
    samples: Any = times.tolist()

    def run(tolerance: float) -> Any:
        return simulate(
            system, samples[-1], q=q, v=v, output_step=samples, method=method, rtol=tolerance, atol=tolerance, **given
        )

    return run


def by_stepper(system: Plant, times: Array, q: Array, v: Array, method: str = "dop853") -> Run:
    """A function that runs a `Stepper`, made once for each tolerance, and returns the states at the n samples.

    The states have shape (n, ...) and begin with q.
    """
    made: dict[float, Stepper] = {}

    def run(tolerance: float) -> Array:
        if tolerance not in made:
            made[tolerance] = Stepper(system, method=method, rtol=tolerance, atol=tolerance)
        made[tolerance].restart(0.0, q, v)
        return made[tolerance].through(times, float(times[-1])).rows

    return run


def by_ode(rate: Callable[[float, Array], Array], times: Array, state: Array) -> Run:
    """A function that runs SciPy's `ode` with dop853 at a tolerance and returns the states at the samples, (n, states).

    `rate(t, y)` is the rate of change of the state y, `state` the initial state.
    """
    from scipy.integrate import ode

    def run(tolerance: float) -> Array:
        code = ode(rate).set_integrator("dop853", rtol=tolerance, atol=tolerance, nsteps=10**6)
        code.set_initial_value(state, 0.0)
        return np.array([code.integrate(t) for t in times])

    return run


def by_mujoco(
    twin: Any,
    times: Array,
    q: Array,
    v: Array,
    prepare: Callable[[float], None] = lambda step: None,
    row: Callable[[Any], Array] = lambda data: data.qpos.copy(),
) -> Run:
    """A function that runs MuJoCo with a step size [s] and returns a row of each sample, by default (n, nq).

    `prepare(step)` may change the model before a run; `row(data)` are the numbers that are kept of a sample, by default
    the configuration. All steps between two samples are one call.
    """
    mujoco = imported("mujoco", "mujoco")
    spans = np.diff(times, prepend=0.0)

    def run(step: float) -> Array:
        twin.model.opt.timestep = step
        prepare(step)
        mujoco.mj_resetData(twin.model, twin.data)
        twin.place(q, v)
        rows = []
        for span in spans:
            mujoco.mj_step(twin.model, twin.data, round(span / step))
            rows.append(row(twin.data))
        return np.array(rows)

    return run


def exudyn_settings(exudyn: Any, end: float) -> Any:
    """Exudyn's settings for a run up to the time `end` [s] in one thread, without output."""
    settings = exudyn.SimulationSettings()
    settings.solution.file.write = False
    settings.parallel.numberOfThreads = 1
    settings.timeIntegration.endTime, settings.timeIntegration.verboseMode = end, 0
    return settings
