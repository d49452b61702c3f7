"""Many runs of one plant at once, each from its own state, with its own parameters and inputs.

They march together in machine code: several side by side in SIMD lanes, large batches on all CPUs. Every state chooses
its own steps, so that its result does not depend on the others in the batch. A state that fails keeps the results
before its failure, has a message that explains it, and does not affect the others. Each call of machine code takes a
fraction of a second; between two calls progress is reported, and Ctrl-C ends the batch.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.work_clock import seconds_at_work
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import ControllerError, ModelWarning, ShapeError, SlowRunWarning, UnsupportedError, users_level
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import shared_plant
from kinemorph.plants.user_laws import Column
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.march.layout import Status
from kinemorph.simulation.results.batch_run import BatchRun as BatchRun
from kinemorph.simulation.results.batch_run import Whole
from kinemorph.simulation.results.event import Event
from kinemorph.simulation.results.trajectory import Statistics, Trajectory
from kinemorph.simulation.running.checks import warn_after, warn_before
from kinemorph.simulation.running.execution import Progress
from kinemorph.simulation.running.patience import MANY, Patience
from kinemorph.simulation.running.switches import Switches
from kinemorph.simulation.simulate import exchanges_energy, run_times
from kinemorph.simulation.stepping.domains import DomainWatch
from kinemorph.simulation.stepping.failures import SENSELESS, explained, runs_away
from kinemorph.simulation.stepping.initial_state import closed_already, closed_start
from kinemorph.simulation.stepping.step_options import check_positive, longest_step, step_options, takes_old_names
from kinemorph.simulation.stepping.stepper import MOST_TRIES, Stepper

ROOM = 2**28  # [bytes] that the memory and the samples of one call may take
FEW = 3  # runs of a batch that are checked after it
ROWS = (4, 32, 256)  # samples in one call: the least of these that holds all, so that few programs are compiled
PATIENCE = 0.4  # [s] that one call should take: progress is reported, and Ctrl-C works, as often as that
FIRST_TRIES = 16384  # steps that all states together try in the first call, whose duration is not known beforehand
GROWTH = 8.0  # from call to call the number of tries grows and falls by this factor at most
LEAST_STATES, LEAST_TRIES = 64, 16  # of one group of states in one call, where its duration allows that


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
    max_step: float | None = None,
    output_step: float | Sequence[float] | None = None,
    start: float = 0.0,
    most_steps: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> BatchRun:
    """Simulates many states of a system from the time `start` to the time `until` [s].

        batch = simulate_batch(robot, 5.0, q={"elbow": np.linspace(0.0, 1.0, 1000)})
        batch.t, batch.q, batch["tau.elbow"], batch[3], batch.ok, batch.failures

    `q`, `v`, `x`, `p`, `u`     an array of shape (B, n) with a row for each state, or (n,) for values that all states
                                share; or a dict of (B,) numbers or of one number by name. Values that are not given
                                are the defaults of the system
    `m`                         memory of elements, likewise; see `simulate`
    `most_steps`                the number of steps that a state may try before it fails
    `threads`                   the number of threads that share the work; by default as many as there are CPUs
    `progress`                  a function progress(t, h, failed) that is called regularly, with the simulated time [s]
                                and the size of the next step [s], each the mean of all states, and the number of
                                states that have failed so far

    A state that fails keeps its results, and the others continue. Ctrl-C ends all runs and keeps what is done.

    Parameters can differ between states if the plant keeps them: `plant(robot, parameters=["m1", "l1"])`. For the other
    options see `simulate`; guards and Python functions are for single runs only.
    """
    plant = shared_plant(model, account=u is not None or exchanges_energy(model))
    if not all(tick.compiled for tick in plant.ticks):
        raise UnsupportedError(
            f"'{plant.name}' has controllers that are Python functions, which a batch cannot call. Write them as "
            "Sampled, which is compiled, or use simulate for each state."
        )
    options = step_options(plant, method, step, rtol, atol, longest_step(model, max_step))
    check_positive(most_steps=most_steps)
    if progress is not None and not callable(progress):
        raise UnsupportedError(f"progress is {progress!r}; expected a function progress(t, h, failed).")
    times, _ = run_times(model, plant, start, until, output_step)
    began = time.perf_counter()
    one = Stepper.made(plant, options, rows=next((rows for rows in ROWS if rows >= len(times)), ROWS[-1]))
    one.begin(times[0], tick=False)
    given = _together(plant, {"q": q, "v": v, "x": x, "p": p, "u": u, "m": m})
    _close(plant, float(times[0]), given, q, v)
    for first in given["q"][:1]:
        warn_before(model, plant, first, driven=u is not None)
    fleet = _Fleet(one, given, plant.named("m", m), times, most_steps, threads)
    prepared, worked = time.perf_counter(), seconds_at_work()
    fleet.carry_out(progress)
    worked = seconds_at_work() - worked  # the code for batches is compiled at the first call
    took = time.perf_counter() - prepared - worked
    batch = fleet.finished(took, prepared - began + worked)
    warn_after(_some_runs(batch), options, one.method)
    return batch


def _some_runs(batch: BatchRun) -> list[Trajectory]:
    """A few runs of a batch that did not fail, evenly spaced: these are checked as single runs are."""
    done = np.flatnonzero(batch.ok)
    chosen = done[np.unique(np.linspace(0, len(done) - 1, min(len(done), FEW)).astype(int))]
    return [batch[int(k)] for k in chosen]


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
            raise ShapeError(
                f"{group}: the values have the shapes {listed}; expected the same number of values for each name, or "
                "one value."
            )
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
    note = ""
    for k in np.flatnonzero(~closed_already(plant, t, given)).tolist():
        state, others = ((given[name][k] for name in names) for names in ("qvx", "mup"))
        try:
            given["q"][k], given["v"][k], found = closed_start(plant, t, tuple(state), (q, v, tuple(others)))
        except ShapeError as error:
            raise ShapeError(f"state {k} of the batch: {error}") from None
        note = note or (found and f"state {k} of the batch: {found}")
    if note:
        warnings.warn(note, ModelWarning, stacklevel=users_level())


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
        self.rows = np.full((count, len(times), n_row), np.nan)  # now, since after Ctrl-C it would take too long
        self.ends = np.zeros((count, 2), np.int64)  # written at once: an interruption leaves both old, or both new
        self.done, self.status = self.ends.T  # views: samples that each state has reached, and its Status
        self._sample_first()
        self.events: dict[int, list[Event]] = {}
        self._switches: dict[int, Switches] = {}
        self.domains = DomainWatch(self.plant)
        self._reasons: dict[int, str] = {}  # messages of states that were given up
        if one.watch:
            inputs = (float(times[0]), self.at("base"), s, self.at("m_next"), given["u"], given["p"])
            self.at("sides")[:] = one.watch.sides(*inputs)
        self._watched: dict[int, Patience] = {}
        self.calls, self._slow = 0, False
        self.paces: dict[Any, float] = one.plant.kept.setdefault("batch_paces", {})  # of earlier batches
        self.pace = (one.method.name, one.fixed, threads)
        self.tries = self.paces.get(self.pace, float(FIRST_TRIES))  # of all states together in the next call
        self.most_states = max(LEAST_STATES, ROOM // (8 * (2 * one.plan.size + one.rows * n_row)))  # in one call
        self.threads = threads
        self._compile()

    def _compile(self) -> None:
        """Has the machine code for batches compiled, by a call for two states whose results are not used."""
        few, limits = slice(0, 2), self.one.limits.copy()
        limits[4] = 1.0
        outs = tuple(np.empty((len(self.memory[few]), *port.shape)) for port in self.one.run.outputs)
        numbers = (np.zeros(self.one.rows), np.array(0.0), np.array(self.times[-1]), limits)
        if len(self.memory):
            inputs = (self.memory[few], *numbers, self.given["u"][few], self.given["p"][few])
            self.one.run.shared(outs, *inputs, threads=self.threads)

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

    def carry_out(self, progress: Progress | None) -> None:
        """Advances all states to the end, one group of states after the other; Ctrl-C ends this, and keeps results."""
        try:
            if progress:
                progress(float(self.times[0]), self.one.h, int(self.status.astype(bool).sum()))
            first = 0
            while first < len(self.memory):
                count = int(max(LEAST_STATES, min(self.most_states, self.tries // LEAST_TRIES)))
                group = np.arange(first, min(first + count, len(self.memory)))
                first += count
                while len(group := group[self._open(group)]):
                    self._call(group)
                    if progress:
                        progress(*self._so_far())
        except KeyboardInterrupt:
            self.status[self._open(slice(None))] = Status.INTERRUPTED
        self.paces[self.pace] = self.tries

    def _open(self, group: Any) -> npt.NDArray[np.bool_]:
        """A mask of the states with indices `group` whose runs have not ended yet."""
        going: npt.NDArray[np.bool_] = (self.status[group] == Status.GOING) & (self.done[group] < len(self.times))
        return going

    def _so_far(self) -> tuple[float, float, int]:
        """The mean of the times that states have reached [s], of their next step sizes, and how many failed."""
        failed = self.status != Status.GOING
        t = np.where(failed, self.times[-1], self.at("t"))
        return float(np.mean(t)), float(np.mean(self.at("h"))), int(failed.sum())

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
        tried = self._tried(group)
        limits = self.one.limits.copy()
        limits[4] = min(MOST_TRIES, max(1.0, self.tries // n))
        looks = (tried // MOST_TRIES + 1.0) * MOST_TRIES
        left = np.minimum(self.most, looks) - tried  # tries until a state is looked at, whatever the pace of calls
        if (left < limits[4]).any():  # each state has its own number of tries left
            limits = np.tile(limits, (n, 1))
            limits[:, 4] = np.minimum(limits[:, 4], left)
        outs = tuple(np.empty((n, *port.shape)) for port in self.one.run.outputs)
        ins = [self.memory[whole], times, counts, np.array(self.times[-1]), limits]
        began = time.perf_counter()
        self.one.run.shared(outs, *ins, self.given["u"][whole], self.given["p"][whole], threads=self.threads)
        took = time.perf_counter() - began
        self.calls += 1
        self.memory[whole], rows, got, status = outs[0], outs[1], outs[2].astype(np.int64), outs[3].astype(np.int64)
        if (got == got[0]).all() and (done == done[0]).all():
            self.rows[whole, done[0] : done[0] + got[0]] = rows[:, : got[0]]
        else:
            for state, begin, count, row in zip(group.tolist(), done.tolist(), got.tolist(), rows, strict=True):
                self.rows[state, begin : begin + count] = row[:count]
        now = self._tried(group)
        status[(status == Status.BUDGET) & (now < self.most)] = Status.GOING
        if self.plant.robot is not None:
            self._find_runaways(group, rows, done, got, status)
        for k in np.flatnonzero((status == Status.GOING) & (now == looks)).tolist():
            status[k] = self._look_at(int(group[k]))
        for k in np.flatnonzero(status == Status.EVENT).tolist():
            status[k] = self._switch(int(group[k]), np.flatnonzero(outs[4][k]).tolist())
        self.ends[group] = np.stack([done + got, status], axis=1)
        each = took / max(1.0, float((now - tried).sum()))  # [s] for one try of one state
        self.tries = min(max(PATIENCE / each, self.tries / GROWTH), self.tries * GROWTH)

    def _find_runaways(self, group: Whole, rows: Array, done: Whole, got: Whole, status: Whole) -> None:
        """Ends runs at the first sample in which a velocity exceeds `SENSELESS`, or a formula leaves its domain.

        `group` (n,) are the indices of the states that the last call of machine code advanced. Each had `done` samples
        before it, and got `got` more, which are the first of its `rows` (n, samples, columns). `got` and `status` (n,)
        are changed in place for the runs that end.
        """
        speeds = slice(self.plant.nq, self.plant.nq + self.plant.nv)
        most = int(got.max(initial=0))
        bad = (np.abs(rows[:, :most, speeds]) > SENSELESS).any(axis=-1)
        if self.domains.domains:
            times = self.times[np.minimum(done[:, None] + np.arange(most), len(self.times) - 1)]
            bad |= self.domains.are_left(times, rows[:, :most, : self.plant.nq], self.given["p"][group][:, None])
        bad &= np.arange(most) < got[:, None]
        for k in np.flatnonzero(bad.any(axis=1)).tolist():
            state, sample = int(group[k]), int(np.argmax(bad[k]))
            got[k], status[k] = sample + 1, Status.GIVEN_UP
            self.rows[state, done[k] + sample + 1 :] = np.nan
            t = float(self.times[done[k] + sample])
            self.one.plan.array(self.memory[state], "t")[...] = t
            reason = runs_away(self.plant, t, rows[k, sample, speeds], self.one.options.step)
            if reason is None:
                left = self.domains.left(np.array([t]), rows[k, [sample], : self.plant.nq], self.given["p"][state])
                reason = left[1] if left else ""
            self._reasons[state] = reason

    def _look_at(self, k: int) -> Status:
        """The status of state k after many steps: GIVEN_UP if its motion diverges or would take too many steps."""
        watched = self._watched.setdefault(k, Patience(self.one, float(self.times[0]), float(self.times[-1])))
        self._stepper_of(k)
        with warnings.catch_warnings():
            if self._slow:  # one warning is enough
                warnings.simplefilter("ignore", SlowRunWarning)
            reason = watched.look()
        self._slow = self._slow or self._tried(np.array([k]))[0] >= MANY
        if reason is None:
            return Status.GOING
        self._reasons[k] = reason
        return Status.GIVEN_UP

    def _switch(self, k: int, fired: Sequence[int]) -> Status:
        """Lets elements of state k switch, as `running.execution` does in a single run; returns its new status.

        `fired` are the indices of the guards that have fallen through zero.
        """
        one = self._stepper_of(k)
        assert one.watch is not None
        one.cross(tuple(fired))
        ended = Status.GOING
        for switch in fired:
            if not one.watch.is_met(switch, *one.inputs):
                continue
            event, endless = self._switches.setdefault(k, Switches()).carry_out(one, switch)
            self.events.setdefault(k, []).append(event)
            if endless is not None:
                ended, self._reasons[k] = Status.GIVEN_UP, endless
        try:
            one.tick()  # a tick at the same instant comes after the event
        except ControllerError:
            ended = Status.TICK
        self.memory[k] = one.memory
        return ended

    def _stepper_of(self, k: int) -> Stepper:
        """The stepper that all states share, set to state k."""
        self.one.memory = self.memory[k].copy()
        self.one.u, self.one.p = self.given["u"][k], self.given["p"][k]
        return self.one

    def _tried(self, group: Whole) -> Array:
        """The number of steps that states have tried so far, accepted or not."""
        tried: Array = self.at("accepted")[group] + self.at("rejected")[group]
        return tried

    # ── results ───────────────────────────────────────────────────────────────────────────────────────────────────

    def finished(self, seconds: float, compile_seconds: float) -> BatchRun:
        """The results of all states; samples that no state reached, after an interruption, are left out."""
        count = int(self.done.max(initial=1)) if (self.status == Status.INTERRUPTED).any() else len(self.times)
        plant, options = self.plant, self.one.options
        accepted, rejected = (self.at(name).astype(np.int64) for name in ("accepted", "rejected"))
        name = self.one.method.name
        settings = {"step": options.step, "rtol": options.rtol, "atol": options.atol, "until": float(self.times[-1])}
        last = self.times[np.maximum(self.done, 1) - 1]
        q, v, x, m = np.split(self.rows[:, :count], np.cumsum([plant.nq, plant.nv, plant.nx]), axis=-1)
        return BatchRun(
            plant=plant,
            t=self.times[:count],
            q=q,
            v=v,
            x=x,
            m=m,
            p=self.given["p"],
            u=self.given["u"],
            done=self.done,
            status=self.status,
            failures=self.sentences(),
            accepted=accepted,
            rejected=rejected,
            ends=np.where(np.isin(self.status, (Status.GOING, Status.INTERRUPTED)), last, self.at("t")),
            numbers=np.arange(len(self.rows)),
            statistics=Statistics(name, int(accepted.sum()), int(rejected.sum()), self.calls, seconds, compile_seconds),
            settings={"method": name, **settings},
            events=self.events,
        )

    def sentences(self) -> dict[int, str]:
        """The message of each failed state, by its index."""
        found = {}
        for k in np.flatnonzero((self.status != Status.GOING) & (self.status != Status.INTERRUPTED)).tolist():
            status, one = Status(int(self.status[k])), self._stepper_of(k)
            if status is Status.BUDGET:
                found[k] = (
                    f"At t = {one.state.t:.9g} s the allowed number of steps, {self.most:g}, was used up. Enlarge "
                    "most_steps, or loosen the tolerances."
                )
            elif status is Status.TICK:
                found[k] = f"At t = {one.state.t:.9g} s {_tick_failure(one)}"
            else:
                found[k] = self._reasons[k] if status is Status.GIVEN_UP else explained(one, status)
        return found


def _tick_failure(one: Stepper) -> str:
    """A message that says why elements of a state could not sample."""
    try:
        one.tick()
    except ControllerError as error:
        return str(error)
    raise AssertionError("compiled code stopped at a sample time, but all sampled values are finite; report this bug")
