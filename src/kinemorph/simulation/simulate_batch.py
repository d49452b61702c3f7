"""Many runs of one plant at once, each from its own state, with its own parameters and inputs.

All of them march in one call of machine code, several side by side in SIMD lanes and big batches on all CPUs. Every
state chooses its own steps, so its result does not depend on which others are with it. One that fails keeps what was
computed, says why, and leaves the others alone.
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
from kinemorph.model.system import Settings, System
from kinemorph.plants.plant import Plant
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.plants.user_laws import Column
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.integrators.methods import usual
from kinemorph.simulation.march.layout import Status
from kinemorph.simulation.results.trajectory import Statistics
from kinemorph.simulation.running.failures import explained
from kinemorph.simulation.simulate import sample_times
from kinemorph.simulation.stepping.initial_state import closed_already, closed_start
from kinemorph.simulation.stepping.sample_clocks import Clockwork
from kinemorph.simulation.stepping.stepper import MOST_TRIES, Stepper

Whole = npt.NDArray[np.int64]
ROOM = 2**28  # [bytes] that the memory and the samples of one call may take
ROWS = (4, 32, 256)  # samples in one call: the least of these that holds all, so that few programs are compiled


@dataclass(frozen=True, eq=False)
class BatchRun:
    """What many runs give: t (n,), q (B, n, nq), v (B, n, nv), x (B, n, nx), m (B, n, nm),
    p (B, np), u (B, nu).

    `done` (B,) says how many samples of a state were reached; the rows after them repeat the last one. `status` (B,) is
    a Status, GOING where all went well; `failures` has a sentence for every other state, by its index. `accepted` and
    `rejected` (B,) are its steps, `statistics` are those of all states together.
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
    largest: float = math.inf,
    sample: float | Sequence[float] | None = None,
    start: float = 0.0,
    most_steps: int | None = None,
    threads: int | None = None,
) -> BatchRun:
    """Runs many states of a system from `start` to `until` [s].

    `q`, `v`, `x`, `p`, `u`     an array of shape (B, n) with a row for each state, or (n,) for one that all share; or
                                by name, {"q1": (B,) numbers or one}. What is left out is the plant's start.
    `m`                         what elements remember, likewise, as it is after what they sample at the start
    `most_steps`                that a state may try before it is given up
    `threads`                   that share the work; as many as there are CPUs where nothing is said

    Parameters that differ are those that the plant keeps: `plant(robot, parameters=["m1", "l1"])`. For the other
    options see `simulate`; events and Python functions are for single runs.
    """
    plant = as_plant(model)
    if not all(tick.compiled for tick in plant.ticks):
        raise UnsupportedError(
            f"'{plant.name}' has controllers that are Python functions, which many runs at once cannot call. Write "
            "them over any scalar as Sampled, or run one by one."
        )
    method, step = usual(plant, method, step, rtol is not None or atol is not None)
    rtol, atol = 1e-8 if rtol is None else rtol, 1e-10 if atol is None else atol
    settings = model.settings if isinstance(model, System) else Settings()
    until = settings.duration if until is None else until
    times = sample_times(start, until, settings.sample if sample is None else sample)
    began = time.perf_counter()
    times = Clockwork(plant).snapped(times)
    rows = next((rows for rows in ROWS if rows >= len(times)), ROWS[-1])
    one = Stepper(
        plant, method=method, step=step, rtol=rtol, atol=atol, largest=largest, rows=rows, t=times[0], begun=False
    )
    given = _together(plant, {"q": q, "v": v, "x": x, "p": p, "u": u, "m": m})
    _close(plant, float(times[0]), given, q, v)
    known = () if m is None else tuple(m) if isinstance(m, Mapping) else tuple(column.name for column in plant.m)
    fleet = _Fleet(one, given, known, times, most_steps, threads)
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
        plant,
        times,
        q_rows,
        v_rows,
        x_rows,
        m_rows,
        given["p"],
        given["u"],
        fleet.done,
        fleet.status,
        fleet.sentences(),
        accepted,
        rejected,
        statistics,
    )


# ── what is given ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _together(plant: Plant, given: Mapping[str, Any]) -> dict[str, Array]:
    """The values of all groups, each of shape (B, n)."""
    read = {group: _values(plant, group, values) for group, values in given.items()}
    counts = {group: len(values) for group, values in read.items() if values.ndim == 2 and len(values) != 1}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{group} {count}" for group, count in counts.items())
        raise ShapeError(f"the batch has different numbers of states: {listed}. Give as many rows to each, or one.")
    count = next(iter(counts.values()), 1)
    return {
        group: np.ascontiguousarray(np.broadcast_to(values, (count, values.shape[-1])))
        for group, values in read.items()
    }


def _values(plant: Plant, group: str, given: Any) -> Array:
    """The values of one group: (n,) where all states share them, else (B, n)."""
    columns: tuple[Column, ...] = getattr(plant, group)
    if isinstance(given, (list, tuple)) and len({np.shape(row) for row in given if np.ndim(row) < 2}) > 1:
        raise ShapeError(f"{group} has rows of different lengths; expected (B, {len(columns)}).")
    if isinstance(given, Mapping):
        named = {plant.index(group, name): np.asarray(values, dtype=float) for name, values in given.items()}
        lengths = {name: np.shape(values) for name, values in given.items() if np.ndim(values)}
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"'{name}' {shape}" for name, shape in lengths.items())
            raise ShapeError(f"{group}: {listed}; expected as many numbers for each name, or one.")
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
            f"{group} has shape {values.shape}; expected (B, {len(columns)}), a row for each state in this order: "
            f"{listed}."
        )
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        *state, k = bad[0].tolist()
        whose = f" of state {state[0]}" if state else ""
        raise ShapeError(
            f"{group} '{columns[k].name}'{whose} is {values[(*state, k)]}; expected a finite number. See where it is "
            "from."
        )
    return _finished(plant, values) if group == "q" and len(values) else values


def _finished(plant: Plant, q: Array) -> Array:
    """Configurations, shape (nq,) or (B, nq), with quaternions of length 1."""
    if q.ndim == 1 or plant.nq == plant.nv:  # no quaternions
        return plant.initial("q", q) if q.ndim == 1 else q
    with np.errstate(invalid="ignore", divide="ignore"):
        entries = plant.laws.place(list(q.T), [0.0] * plant.ns)
    found: Array = np.stack([np.broadcast_to(np.asarray(entry, dtype=float), len(q)) for entry in entries], axis=-1)
    for k in np.flatnonzero(~np.isfinite(found).all(axis=1))[:1]:
        plant.initial("q", q[k])  # says which quaternion is zero
    return found


def _close(plant: Plant, t: float, given: dict[str, Array], q: Any, v: Any) -> None:
    """Brings all states onto the constraints, as `simulate` does with one; names that are given are kept."""
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
    """All states on their way."""

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
        self.known = known  # names of memory that is given
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
        """An array of the memory of all states, shape (B, ...), to be written to."""
        return self.one.plan.array(self.memory, name)

    def _sample_first(self) -> None:
        """The ticks at the start, of every state."""
        if not self.plant.ticks:
            return
        before = self.at("m_next").copy()
        first = self.one.clockwork.first(float(self.times[0]), self.known)
        numbers = first.copy()
        inputs = (float(self.times[0]), self.at("base"), self.at("s"), self.at("m_next"))
        self.at("m_next")[:] = self.one.clockwork.run(numbers, (*inputs, self.given["u"], self.given["p"]))
        self.at("clock")[:] = numbers
        bad = np.flatnonzero(~np.isfinite(self.at("m_next")).all(axis=1))
        if len(bad):  # what they begin with is all that is known of them
            self.at("m_next")[bad], self.at("clock")[bad] = before[bad], first
            self.status[bad], self.done[bad] = Status.TICK, 1
            nv = self.plant.nv
            self.rows[bad, 0] = np.concatenate([self.at("base"), self.at("s")[:, nv:], before], axis=1)[bad]

    def carry_out(self) -> None:
        """Group after group of states, call after call until all of its states have ended."""
        for first in range(0, len(self.memory), self.together):
            group = np.arange(first, min(first + self.together, len(self.memory)))
            group = group[self.status[group] == Status.GOING]
            while len(group):
                self._call(group)
                open_ = (self.status[group] == Status.GOING) & (self.done[group] < len(self.times))
                group = group[open_]
        # rows that were not reached repeat the last one that was; the first always is
        for k in np.flatnonzero(self.done < len(self.times)):
            self.rows[k, self.done[k] :] = self.rows[k, max(self.done[k] - 1, 0)]

    def _call(self, group: Whole) -> None:
        """One call of machine code for the states of a group, from where each of them stands."""
        n, samples, done = len(group), self.one.rows, self.done[group]
        whole = slice(group[0], group[-1] + 1) if n == group[-1] + 1 - group[0] else group
        if (done == done[0]).all():  # the usual case: all ask for the same times
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
        """Why each state that failed did."""
        found = {}
        for k in np.flatnonzero(self.status).tolist():
            status = Status(int(self.status[k]))
            self.one.memory = self.memory[k]
            self.one.u, self.one.p = self.given["u"][k], self.given["p"][k]
            if status is Status.BUDGET:
                t = self.one.state.t
                found[k] = (
                    f"At t = {t:.9g} s as many steps were tried as allowed, {self.most:g}. Enlarge most_steps, or "
                    "loosen the tolerances."
                )
            elif status is Status.TICK:
                found[k] = f"At t = {self.one.state.t:.9g} s {_untold(self.one)}"
            else:
                found[k] = explained(self.one, status)
        return found


def _untold(one: Stepper) -> str:
    """Why elements could not sample."""
    try:
        one.tick()
    except ControllerError as error:
        return str(error)
    raise AssertionError("a march came back at a tick that can be done")
