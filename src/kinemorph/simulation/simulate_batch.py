"""Many runs of one plant at once, each from its own state, with its own parameters and inputs.

All of them march in one call of machine code: several side by side in SIMD lanes, large batches on all CPUs. Every
state chooses its own steps, so that its result does not depend on the others in the batch. A state that fails keeps the
results before its failure, has a message that explains it, and does not affect the others.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import ControllerError, ShapeError, UnsupportedError
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import shared_plant
from kinemorph.plants.user_laws import Column
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.march.layout import Status
from kinemorph.simulation.results.trajectory import Statistics
from kinemorph.simulation.running.failures import explained
from kinemorph.simulation.simulate import run_times
from kinemorph.simulation.stepping.initial_state import closed_already, closed_start
from kinemorph.simulation.stepping.step_options import step_options, takes_old_names
from kinemorph.simulation.stepping.stepper import MOST_TRIES, Stepper

Whole = npt.NDArray[np.int64]
ROOM = 2**28  # [bytes] that the memory and the samples of one call may take
ROWS = (4, 32, 256)  # samples in one call: the least of these that holds all, so that few programs are compiled


@dataclass(frozen=True, eq=False)
class BatchRun:
    """The results of many runs: t (n,), q (B, n, nq), v (B, n, nv), x (B, n, nx), m (B, n, nm), p (B, np), u (B, nu).

    `done` (B,) is the number of samples that each state reached; the rows after them repeat the last one. `status` (B,)
    is a Status, GOING for a state that reached the end; `failures` holds a message for every other state, by its index.
    `accepted` and `rejected` (B,) count the steps of each state, `statistics` those of all states together.
    """

    plant: Plant
    t: Array
    q: Array
    v: Array
    x: Array
    m: Array
    p: Array
    u: Array
    done: Whole
    status: Whole
    failures: Mapping[int, str]
    accepted: Whole
    rejected: Whole
    statistics: Statistics

    @property
    def ok(self) -> npt.NDArray[np.bool_]:
        """Which states reached the end, shape (B,)."""
        well: npt.NDArray[np.bool_] = self.status == int(Status.GOING)
        return well

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return f"<BatchRun of '{self.plant.name}': {len(self.q)} states, {len(self.t)} samples{failed}>"


@takes_old_names
def simulate_batch(
    model: Plant | Dynamics | System | Robot,
    until: float | None = None,
    *,
    q: Any = None,
    v: Any = None,
    x: Any = None,
    p: Any = None,
    u: Any = None,
    m: Any = None,
    method: str | Method | None = None,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    max_step: float = math.inf,
    output_step: float | Sequence[float] | None = None,
    start: float = 0.0,
    most_steps: int | None = None,
    threads: int | None = None,
) -> BatchRun:
    """Simulates many states of a system from the time `start` to the time `until` [s].

        runs = simulate_batch(robot, 5.0, q={"elbow": np.linspace(0.0, 1.0, 1000)})
        runs.t, runs.q, runs.ok, runs.failures

    `q`, `v`, `x`, `p`, `u`     an array of shape (B, n) with a row for each state, or (n,) for values that all states
                                share; or a dict of (B,) numbers or of one number by name. A value that is not given is
                                the system's own
    `m`                         memory of elements, likewise, as it is after they have sampled at the start
    `most_steps`                the number of steps that a state may try before it fails
    `threads`                   the number of threads that share the work; by default as many as there are CPUs

    Parameters can differ between states if the plant keeps them: `plant(robot, parameters=["m1", "l1"])`. For the other
    options see `simulate`; events and Python functions are for single runs only.
    """
    plant = shared_plant(model)
    if not all(tick.compiled for tick in plant.ticks):
        raise UnsupportedError(
            f"'{plant.name}' has controllers that are Python functions, which a batch cannot call. Write them as "
            "Sampled, which is compiled, or use simulate for each state."
        )
    options = step_options(plant, method, step, rtol, atol, max_step)
    times, _ = run_times(model, plant, start, until, output_step)
    began = time.perf_counter()
    one = Stepper.made(plant, options, rows=next((rows for rows in ROWS if rows >= len(times)), ROWS[-1]))
    one.begin(times[0], tick=False)
    given = _together(plant, {"q": q, "v": v, "x": x, "p": p, "u": u, "m": m})
    _close(plant, float(times[0]), given, q, v)
    fleet = _Fleet(one, given, plant.named("m", m), times, most_steps, threads)
    compiled = time.perf_counter()
    fleet.carry_out()
    took = time.perf_counter() - compiled
    accepted, rejected = (fleet.at(name).astype(np.int64) for name in ("accepted", "rejected"))
    statistics = Statistics(
        one.method.name, int(accepted.sum()), int(rejected.sum()), fleet.calls, took, compiled - began
    )
    edges = np.cumsum([plant.nq, plant.nv, plant.nx])
    q_rows, v_rows, x_rows, m_rows = np.split(fleet.rows, edges, axis=-1)
    return BatchRun(
        *(plant, times, q_rows, v_rows, x_rows, m_rows, given["p"], given["u"]),
        *(fleet.done, fleet.status, fleet.sentences(), accepted, rejected, statistics),
    )


# ── what is given ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _together(plant: Plant, given: Mapping[str, Any]) -> dict[str, Array]:
    """The initial values of all groups by name, each of shape (B, n); `given` is what the user gave for each group."""
    read = {group: _values(plant, group, values) for group, values in given.items()}
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


def _values(plant: Plant, group: str, given: Any) -> Array:
    """The initial values of one group, shape (n,) where all states share them, else (B, n)."""
    columns: tuple[Column, ...] = getattr(plant, group)
    if isinstance(given, (list, tuple)) and len({np.shape(row) for row in given if np.ndim(row) < 2}) > 1:
        raise ShapeError(f"{group} has rows of different lengths; expected (B, {len(columns)}).")
    if isinstance(given, Mapping):
        named = {plant.index(group, name): np.asarray(values, dtype=float) for name, values in given.items()}
        lengths = {name: np.shape(values) for name, values in given.items() if np.ndim(values)}
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"'{name}' {shape}" for name, shape in lengths.items())
            raise ShapeError(f"{group}: {listed}; expected the same number of values for each name, or one value.")
        count = np.broadcast_shapes(*(values.shape for values in named.values()), ())
        values = np.array(np.broadcast_to(plant.initial(group), (*count, len(columns))))
        for k, entries in named.items():
            values[..., k] = entries
    elif given is None or np.ndim(given) < 2:
        return plant.initial(group, given)
    else:
        values = np.array(given, dtype=float)
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


def _close(plant: Plant, t: float, given: dict[str, Array], q: Any, v: Any) -> None:
    """Brings all states onto the constraints, as `simulate` does with one; named values are kept."""
    if plant.laws.constraints is None or not len(given["q"]):
        return
    given["q"], given["v"] = given["q"].copy(), given["v"].copy()
    for k in np.flatnonzero(~closed_already(plant, t, given)).tolist():
        state, others = ((given[name][k] for name in names) for names in ("qvx", "mup"))
        try:
            given["q"][k], given["v"][k] = closed_start(plant, t, tuple(state), (q, v, tuple(others)))
        except ShapeError as error:
            raise ShapeError(f"state {k} of the batch: {error}") from None


# ── the runs ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Fleet:
    """All states of a batch in progress: their memory, their samples so far and their status."""

    def __init__(
        self,
        one: Stepper,
        given: Mapping[str, Array],
        known: Sequence[str],
        times: Array,
        most: int | None,
        threads: int | None,
    ) -> None:
        self.one, self.plant, self.given, self.times = one, one.plant, given, times
        self.known = known  # names of memory that the user gave
        self.most = math.inf if most is None else float(most)
        n_row = self.plant.nq + self.plant.nv + self.plant.nx + len(self.plant.m)
        count = len(given["q"])
        self.memory = np.tile(one.memory, (count, 1))
        nv = self.plant.nv
        self.at("base")[:] = given["q"]
        s = self.at("s")
        s[:, nv : 2 * nv], s[:, 2 * nv :] = given["v"], given["x"]
        s[:, [nv + k for k in self.plant.locked]] = 0.0
        self.at("m_next")[:] = given["m"]
        self.rows = np.zeros((count, len(times), n_row))
        self.done, self.status = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self._sample_first()
        self.calls = 0
        self.together = max(64, ROOM // (8 * (2 * one.plan.size + one.rows * n_row)))  # states in one call
        self.threads = threads

    def at(self, name: str) -> Array:
        """An array in the memory of all states, shape (B, ...), to be written to."""
        return self.one.plan.array(self.memory, name)

    def _sample_first(self) -> None:
        """Lets elements of every state sample at the start."""
        if not self.plant.ticks:
            return
        before = self.at("m_next").copy()
        first = self.one.clockwork.first(float(self.times[0]), self.known)
        numbers = first.copy()
        inputs = (float(self.times[0]), self.at("base"), self.at("s"), self.at("m_next"))
        self.at("m_next")[:] = self.one.clockwork.run(numbers, (*inputs, self.given["u"], self.given["p"]))
        self.at("clock")[:] = numbers
        bad = np.flatnonzero(~np.isfinite(self.at("m_next")).all(axis=1))
        if len(bad):  # such a state has its initial sample only
            self.at("m_next")[bad], self.at("clock")[bad] = before[bad], first
            self.status[bad], self.done[bad] = Status.TICK, 1
            nv = self.plant.nv
            self.rows[bad, 0] = np.concatenate([self.at("base"), self.at("s")[:, nv:], before], axis=1)[bad]

    def carry_out(self) -> None:
        """Marches all states to their end, one group of states after the other."""
        for first in range(0, len(self.memory), self.together):
            group = np.arange(first, min(first + self.together, len(self.memory)))
            group = group[self.status[group] == Status.GOING]
            while len(group):
                self._call(group)
                open_ = (self.status[group] == Status.GOING) & (self.done[group] < len(self.times))
                group = group[open_]
        # rows that were not reached repeat the last one that was; the first row always is reached
        for k in np.flatnonzero(self.done < len(self.times)):
            self.rows[k, self.done[k] :] = self.rows[k, max(self.done[k] - 1, 0)]

    def _call(self, group: Whole) -> None:
        """Advances the states with indices `group` by one call of machine code, and stores their samples."""
        n, samples, done = len(group), self.one.rows, self.done[group]
        whole = slice(group[0], group[-1] + 1) if n == group[-1] + 1 - group[0] else group
        if (done == done[0]).all():  # the usual case: all need the same times
            wanted = self.times[done[0] : done[0] + samples]
            times, counts = np.zeros(samples), np.array(float(len(wanted)))
            times[: len(wanted)] = wanted
        else:
            at = done[:, None] + np.arange(samples)
            times = self.times[np.minimum(at, len(self.times) - 1)]
            counts = np.minimum(float(samples), len(self.times) - done).astype(float)
        limits = self.one.limits.copy()
        limits[4] = min(MOST_TRIES, self.most)
        outs = tuple(np.empty((n, *port.shape)) for port in self.one.run.outputs)
        ins = [self.memory[whole], times, counts, np.array(self.times[-1]), limits]
        self.one.run.shared(outs, *ins, self.given["u"][whole], self.given["p"][whole], threads=self.threads)
        self.calls += 1
        self.memory[whole], rows, got, status = outs[0], outs[1], outs[2].astype(np.int64), outs[3].astype(np.int64)
        for first, reached in {(int(a), int(b)) for a, b in zip(done, got, strict=True)}:
            alike = (done == first) & (got == reached)
            self.rows[group[alike], first : first + reached] = rows[alike, :reached]
        self.done[group] += got
        tries = self.at("accepted")[group] + self.at("rejected")[group]
        status[(status == Status.BUDGET) & (tries < self.most)] = Status.GOING
        self.status[group] = status

    def sentences(self) -> dict[int, str]:
        """The message of each failed state, by its index."""
        found = {}
        for k in np.flatnonzero(self.status).tolist():
            status = Status(int(self.status[k]))
            self.one.memory = self.memory[k]
            self.one.u, self.one.p = self.given["u"][k], self.given["p"][k]
            if status is Status.BUDGET:
                t = self.one.state.t
                found[k] = (
                    f"At t = {t:.9g} s the allowed number of steps, {self.most:g}, was used up. Enlarge most_steps, or "
                    "loosen the tolerances."
                )
            elif status is Status.TICK:
                found[k] = f"At t = {self.one.state.t:.9g} s {_tick_failure(self.one)}"
            else:
                found[k] = explained(self.one, status)
        return found


def _tick_failure(one: Stepper) -> str:
    """A message that says why elements of a state could not sample."""
    try:
        one.tick()
    except ControllerError as error:
        return str(error)
    raise AssertionError("a march returned at a tick that does not fail")
