"""Many runs of one plant at once, each from its own state, with its own parameters and inputs.

They march together in machine code: several side by side in SIMD lanes, large batches on all CPUs. Every state chooses
its own steps, so that its result does not depend on the others in the batch. A state that fails keeps the results
before its failure, has a message that explains it, and does not affect the others. Each call of machine code takes a
fraction of a second; between two calls progress is reported, and Ctrl-C ends the batch.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from kinemorph.algebra.arrays import Array, evenly
from kinemorph.errors import ModelWarning, ShapeError, UnsupportedError, users_level
from kinemorph.plants.initial_values import check_contact_numbers, in_si
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import Model
from kinemorph.plants.user_laws import Column, completed
from kinemorph.simulation.prepared import Prepared, TimedOptions, check_simple, lists_options, prepared
from kinemorph.simulation.results.batch_run import BatchRun as BatchRun
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.running.checks import warn_after
from kinemorph.simulation.running.execution import Progress
from kinemorph.simulation.running.fleet import Fleet
from kinemorph.simulation.running.phase_times import PhaseTimes
from kinemorph.simulation.stepping.chosen_start import start_values
from kinemorph.simulation.stepping.initial_state import closed_already, closed_start, entered_memory
from kinemorph.simulation.stepping.step_options import check_positive
from kinemorph.simulation.stepping.stepper import Stepper

FEW = 3  # runs of a batch that are checked after it
ROWS = (4, 32, 256)  # samples in one call: the least of these that holds all, so that few programs are compiled


@lists_options(TimedOptions)
def simulate_batch(
    model: Model,
    until: float | None = None,
    *,
    u: Any = None,
    keep_events: bool = True,
    most_steps: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    **options: Unpack[TimedOptions],
) -> BatchRun:
    """Simulates many states of a system from the time `start` to the time `until` [s], or for the `time` [s].

        batch = simulate_batch(robot, 5.0, q={"elbow": np.linspace(0.0, 1.0, 1000)})
        batch.t, batch.q, batch["tau.elbow"], batch[3], batch.ok, batch.failures, batch.final.q

    `q`, `v`, `x`, `p`, `u`     an array of shape (B, n) with a row for each state, or (n,) for values that all states
                                share; or a dict of (B,) numbers or of one number by name. Values that are not given
                                are the defaults of the system
    `m`                         memory of elements, likewise; see `simulate`
    `start`                     the initial time [s]; or the name of a start of the system, whose values are taken where
                                none are given
    `events`                    guards whose change of sign is an event, see `Guard`; their resets are compiled, so that
                                they have to be formulas of the state
    `most_events`               ends the run of a state after this many events
    `keep_events`               False counts events and does not keep them: for huge batches, of which only the final
                                states matter
    `most_steps`                the number of steps that a state may try before it fails
    `threads`                   the number of threads that share the work; by default as many as there are CPUs
    `progress`                  a function progress(t, h, failed) that is called regularly, with the simulated time [s]
                                and the size of the next step [s], each the mean of all states, and the number of
                                states that have failed so far

    A state that fails keeps its results, and the others continue. Ctrl-C ends all runs and keeps what is done.

    Parameters that `p` names are kept in the plant, and can differ between states: p={"m1": masses}. To give them in
    order, keep them yourself: `plant(robot, parameters=["m1", "l1"])`. For the other options see `simulate`; Python
    functions that are called during the run are for single runs only.
    """
    check_simple(options, "a batch", "", "Use simulate for each state.")
    phases, run = PhaseTimes(), prepared(model, until, inputs=u, **options)
    return batch_of(run, phases, keep_events=keep_events, most_steps=most_steps, threads=threads, progress=progress)


def batch_of(
    run: Prepared,
    phases: PhaseTimes,
    *,
    keep_events: bool = True,
    most_steps: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> BatchRun:
    """`simulate_batch` for a prepared run, whose values are those of all states; `phases` counts its times."""
    plant, t = run.plant, run.t
    q, v, m = (run.given[group] for group in "qvm")
    obstacle = only_alone(plant)
    if obstacle:
        raise UnsupportedError(f"{obstacle} Write it as Sampled, which is compiled, or use simulate for each state.")
    check_positive(most_steps=most_steps)
    if progress is not None and not callable(progress):
        raise UnsupportedError(f"progress is {progress!r}; expected a function progress(t, h, failed).")
    rows = next((rows for rows in ROWS if rows >= len(run.times)), ROWS[-1])
    one = Stepper.made(plant, run.options, run.guards, rows, compiled=True)
    one.begin(t, tick=False)
    usual = dict[str, Any](dict.fromkeys("qvxpum"))
    if run.chosen is not None:
        usual = start_values(plant, run.begin, run.chosen, usual, t)
        m = usual["m"] if m is None else m
        q, v = (one if values is None else values for one, values in zip(run.named.values(), (q, v), strict=True))
    whole = _together(plant, {**{group: run.given[group] for group in "qvxpu"}, "m": m}, usual)
    _enter(plant, t, whole, m)
    _close(plant, t, whole, q, v, m)
    if len(whole["q"]):
        with phases.within("check"):
            run.check(whole["q"])
    most = (most_steps, run.most_events)
    fleet = Fleet(one, whole, plant.named("m", m), run.times, most, threads, keep_events)
    with phases.within("run"):
        fleet.carry_out(progress)
    batch = fleet.finished()
    with phases.within("check"):
        warn_after(_some_runs(batch), run.options, one.method)
    return replace(batch, statistics=phases.added_to(batch.statistics))


def only_alone(plant: Plant) -> str:
    """Why states of this plant can only be simulated one by one, as a sentence; empty where a batch can do it."""
    called = [stage for tick in plant.ticks for stage in tick.stages if stage.runs != "compiled"]
    if not called:
        return ""
    element = plant.elements[called[0].samplers[0][0]]
    return (
        f"{type(element).__name__} '{element.name}' of '{plant.name}' is a function in {called[0].runs.capitalize()}, "
        "which a batch cannot call."
    )


def _some_runs(batch: BatchRun) -> list[Trajectory]:
    """A few runs of a batch that did not fail, evenly spaced: these are checked as single runs are."""
    kept = batch.events.rows is not None
    done = np.flatnonzero(batch.ok if kept else batch.ok & (batch.event_counts == 0))
    chosen = done[evenly(len(done), FEW)]
    return [batch[int(k)] for k in chosen]


# ── what is given ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _together(plant: Plant, given: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Array]:
    """The initial values of all groups by name, each of shape (B, n).

    `given` is what the user gave for each group, `usual` the values of one state, or None for those of the plant, which
    are taken where none are given.
    """
    read = {group: _values(plant, group, values, usual[group]) for group, values in given.items()}
    counts = {group: len(values) for group, values in read.items() if values.ndim == 2 and len(values) != 1}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{group} has {count}" for group, count in counts.items())
        raise ShapeError(
            f"the initial values of the batch differ in their number of rows: {listed}. Give all of them the same "
            "number of rows, or a single row for all states."
        )
    count = next(iter(counts.values()), 1)
    return {
        group: np.ascontiguousarray(np.broadcast_to(values, (count, values.shape[-1])))
        for group, values in read.items()
    }


def _values(plant: Plant, group: str, given: Any, usual: Any = None) -> Array:
    """The initial values of one group, shape (n,) where all states share them, else (B, n).

    `usual` is that of `_together`.
    """
    columns: tuple[Column, ...] = getattr(plant, group)
    given = in_si(plant, group, given)
    if isinstance(given, (list, tuple)) and len({np.shape(row) for row in given if np.ndim(row) < 2}) > 1:
        raise ShapeError(f"{group} has rows of different lengths; expected (B, {len(columns)}).")
    if isinstance(given, Mapping):
        named = {plant.index(group, name): np.asarray(values, dtype=float) for name, values in given.items()}
        lengths = {name: np.shape(values) for name, values in given.items() if np.ndim(values)}
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"'{name}' {shape}" for name, shape in lengths.items())
            raise ShapeError(
                f"{group}: the values have the shapes {listed}; expected the same number of values for each name, or "
                "one value."
            )
        count = np.broadcast_shapes(*(values.shape for values in named.values()), ())
        values = np.array(np.broadcast_to(plant.initial(group, usual), (*count, len(columns))))
        for k, entries in named.items():
            values[..., k] = entries
    elif given is None or np.ndim(given) < 2:
        return plant.initial(group, usual if given is None else given)
    else:
        values = completed(np.array(given, dtype=float), plant.initial(group, usual), plant.optional * (group == "p"))
    if values.ndim > 2 or values.shape[-1] != len(columns):
        listed = ", ".join(column.name for column in columns) or "none"
        raise ShapeError(
            f"{group} has shape {values.shape}; expected (B, {len(columns)}), a row for each state, in this order: "
            f"{listed}."
        )
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        *state, k = bad[0].tolist()
        whose = f" of state {state[0]}" if state else ""
        raise ShapeError(
            f"{group} '{columns[k].name}'{whose} is {values[(*state, k)]}; expected a finite number. Check how it "
            "was computed."
        )
    if group == "p":
        check_contact_numbers(plant, values)
    return _finished(plant, values) if group == "q" and len(values) else values


def _finished(plant: Plant, q: Array) -> Array:
    """The configurations q, shape (nq,) or (B, nq), with normalized quaternions."""
    if q.ndim == 1 or plant.nq == plant.nv:  # no quaternions
        return plant.initial("q", q) if q.ndim == 1 else q
    with np.errstate(invalid="ignore", divide="ignore"):
        entries = plant.laws.place(list(q.T), [0.0] * plant.ns)
    found: Array = np.stack([np.broadcast_to(np.asarray(entry, dtype=float), len(q)) for entry in entries], axis=-1)
    for k in np.flatnonzero(~np.isfinite(found).all(axis=1))[:1]:
        plant.initial("q", q[k])  # raises an error that names the quaternion that is zero
    return found


def _enter(plant: Plant, t: float, given: dict[str, Array], m: Any) -> None:
    """Sets the initial memory that depends on the initial state, such as the places at which points are held."""
    if len(given["q"]):
        s = np.concatenate([np.zeros_like(given["v"]), given["v"], given["x"]], axis=1)
        given["m"] = entered_memory(plant, m, (t, given["q"], s, given["m"], given["u"], given["p"]))


def _close(plant: Plant, t: float, given: dict[str, Array], q: Any, v: Any, m: Any) -> None:
    """Brings all states onto the constraints, as `simulate` does with one; named values are kept."""
    if plant.laws.constraints is None or not len(given["q"]):
        return
    given |= {name: given[name].copy() for name in "qvm"}
    note = ""
    for k in np.flatnonzero(~closed_already(plant, t, given)).tolist():
        state = tuple(given[name][k] for name in "qvxmup")
        try:
            given["q"][k], given["v"][k], given["m"][k], found = closed_start(plant, t, state, (q, v, m), enters=True)
        except ShapeError as error:
            raise ShapeError(f"state {k} of the batch: {error}").concerning("state", str(k)) from error
        note = note or (found and f"state {k} of the batch: {found}")
    if note:
        warnings.warn(note, ModelWarning, stacklevel=users_level())
