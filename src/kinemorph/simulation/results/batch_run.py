"""The results of many runs of one plant: every column as an array (batch, time), and each run as a Trajectory.

States are stored; all other columns are computed on request by the functions that compute them for one run
(`derived_columns`), part by part and on all CPUs, so that a column takes little more memory than its own values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.backends.threads import default_threads, in_threads
from kinemorph.errors import ModelError, ShapeError
from kinemorph.mechanics.constraints.wrench_views import WrenchPart, WrenchReference, wrench_view
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import Column
from kinemorph.sheet import Facts, Field, Sheet, Table
from kinemorph.shown import ShownBatch
from kinemorph.simulation.march.layout import Status
from kinemorph.simulation.results.columns import (
    Source,
    all_columns,
    is_group,
    requested_sources,
    sources,
    unknown_column,
)
from kinemorph.simulation.results.derived_columns import recomputer
from kinemorph.simulation.results.event_log import EventLog, Whole, cut_at_jumps
from kinemorph.simulation.results.outcome import Outcome, stopped_after, stopped_by
from kinemorph.simulation.results.segment import Segment
from kinemorph.simulation.results.trajectory import Energy, Statistics, Trajectory
from kinemorph.words import counted, did_you_mean, quoted

PART = 2**21  # [bytes] of states whose columns are computed in one call: they fit into the cache of a CPU
STORED = ("q", "v", "x", "m")
INTERRUPTED = "The batch was interrupted; its results are kept."
MOST_SHOWN = 5  # failures in the text of a batch
COUNTS = (
    *(Field("runs", "runs"), Field("samples", "samples of each")),
    *(Field("failed", "failed"), Field("unfinished", "interrupted")),
)
FAILURES = (Field("run", "run"), Field("message", "why", form="sentence"))
GOOD = (Status.GOING, Status.STOPPED, Status.ENOUGH, Status.REST)  # of runs that did not fail, at their ends
ENDED = (Status.STOPPED, Status.ENOUGH, Status.REST)  # by events


class FinalStates(NamedTuple):
    """The states at the ends of runs: t (B,) [s], q (B, nq), v (B, nv), x (B, nx), m (B, nm)."""

    t: Array
    q: Array
    v: Array
    x: Array
    m: Array


class Part(NamedTuple):
    """Some samples of a batch: a range of runs, and a range of times."""

    runs: slice
    times: slice


@dataclass(frozen=True, eq=False, repr=False)
class BatchRun(ShownBatch):
    """The results of many runs: t (n,), q (B, n, nq), v (B, n, nv), x (B, n, nx), m (B, n, nm), p (B, np), u (B, nu).

        batch["tau.knee"]           a column of all runs, shape (B, n); `columns` lists their names and units
        batch[3]                    run 3 as a Trajectory
        batch[:10], batch[batch.ok] some of the runs, as a BatchRun

    `done` (B,) is the number of samples that each run reached; values at later samples are NaN. A sample at the very
    time of a jump is the state after it. `status` (B,) is a Status, GOING for a run that reached the end; `failures`
    holds the message of every run that failed, by its index. `accepted` and `rejected` (B,) count the steps of each
    run, `statistics` those of all runs together. `ends` (B,) are the times [s] at which the runs ended, `final` the
    states there, and `numbers` (B,) the indices that the runs had in the batch that was simulated. `events` are the
    events of each run, by its index; `rests` holds the message of every run that came to rest.
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
    ends: Array
    final: FinalStates
    numbers: Whole
    statistics: Statistics
    events: EventLog
    settings: Mapping[str, Any] = field(default_factory=dict)
    rests: Mapping[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        """The number of runs."""
        return len(self.q)

    def __iter__(self) -> Iterator[Trajectory]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        stopped = np.count_nonzero(self.status == Status.INTERRUPTED)
        left = f", interrupted: {stopped} not finished" if stopped else ""
        return f"<BatchRun of '{self.name}': {counted(len(self), 'run')}, {len(self.t)} samples{failed}{left}>"

    def sheet(self) -> Sheet:
        """How many runs there are, how many of them failed or were interrupted, and why they failed."""
        stopped = int(np.count_nonzero(self.status == Status.INTERRUPTED))
        counts = (len(self), len(self.t), len(self.failures), stopped)
        why = Table("failures", FAILURES, list(self.failures.items()), "runs that failed", most=MOST_SHOWN)
        return Sheet("Batch of runs of", self.name, (Facts(list(zip(COUNTS, counts, strict=True))), why))

    @property
    def name(self) -> str:
        """The name of the system."""
        return self.plant.name

    # ── outcomes ──────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def ok(self) -> npt.NDArray[np.bool_]:
        """Which runs reached the end, an event that ends them, or rest, shape (B,)."""
        well: npt.NDArray[np.bool_] = np.isin(self.status, GOOD)
        return well

    @property
    def event_counts(self) -> Whole:
        """The number of events of each run, shape (B,)."""
        return self.events.counts

    @property
    def interrupted(self) -> bool:
        """Whether the batch was interrupted (Ctrl-C) before all runs had ended."""
        return bool((self.status == int(Status.INTERRUPTED)).any())

    @cached_property
    def outcomes(self) -> tuple[Outcome, ...]:
        """How and when each run ended."""
        return tuple(map(self._outcome, range(len(self))))

    def _outcome(self, k: int) -> Outcome:
        status, end = Status(int(self.status[k])), float(self.ends[k])
        if status is Status.GOING:
            return Outcome("finished", end)
        if status is Status.INTERRUPTED:
            return Outcome("interrupted", end, INTERRUPTED)
        if status is Status.STOPPED:
            return Outcome("stopped", end, stopped_by(self.events.last_name(k), end))
        if status is Status.ENOUGH:
            return Outcome("stopped", end, stopped_after(int(self.events.counts[k]), end))
        if status is Status.REST:
            return Outcome("rest", end, self.rests[k])
        return Outcome("failed", end, self.failures[k])

    # ── runs ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @overload
    def __getitem__(self, wanted: str) -> Array: ...
    @overload
    def __getitem__(self, wanted: int | np.integer[Any]) -> Trajectory: ...
    @overload
    def __getitem__(self, wanted: slice | Sequence[int] | npt.NDArray[Any]) -> BatchRun: ...
    def __getitem__(self, wanted: Any) -> Any:
        """A column by name, one run by its index, or some of the runs by a slice, indices or a mask.

        "q", "v", "a", "x", "u", "m", "tau" and "y" give all columns of that group, shape (B, n, width).
        """
        if isinstance(wanted, str):
            group = is_group(f"the batch of '{self.name}'", wanted, self._sources)
            return self._whole(wanted) if group else self._column(wanted)
        if isinstance(wanted, (int, np.integer)) and not isinstance(wanted, bool):
            return self._run(int(self._chosen([wanted])[0]))
        return self._some(self._chosen(wanted))

    def _chosen(self, wanted: Any) -> Whole:
        """The indices of the runs that a slice, indices or a mask mean, each from 0 to B - 1."""
        count = len(self)
        if isinstance(wanted, slice):
            return np.arange(count)[wanted]
        try:
            given = np.asarray(wanted)
        except ValueError:
            given = np.empty(0, dtype=object)
        mask = given.dtype == bool and given.shape == (count,)
        if given.ndim != 1 or not (mask or given.dtype.kind in "iu" or given.shape == (0,)):
            raise ShapeError(
                f"the batch of '{self.name}' is indexed with {wanted!r}; expected the name of a column, the index of a "
                f"run, a slice or a list of indices, or a mask of {count} truth values."
            )
        if mask:
            return np.flatnonzero(given)
        given = given.astype(np.int64)
        beyond = given[(given < -count) | (given >= count)]
        if len(beyond):
            raise ShapeError(
                f"the batch of '{self.name}' has no run {beyond[0]}; expected an index from 0 to {count - 1}, since it "
                f"has {counted(count, 'run')}."
            )
        return given % max(count, 1)

    def _run(self, k: int) -> Trajectory:
        """Run k as a Trajectory. In its statistics, the calls and the seconds are those of the whole batch."""
        n = int(self.done[k])
        rows = np.concatenate([getattr(self, group)[k, :n] for group in STORED], axis=1)
        pieces = cut_at_jumps(self.t[:n], rows, self.events.jumps(k))
        t, rows = pieces[-1]
        if self.status[k] in ENDED and (not len(t) or t[-1] < self.final.t[k]):
            last = np.concatenate([group[k] for group in self.final[1:]])
            pieces[-1] = np.append(t, self.final.t[k]), np.concatenate([rows, last[None]])
        segments = []
        for t, rows in pieces:
            q, v, x, m = np.split(rows, np.cumsum(self.events.format.sizes[:3]), axis=1)
            segments.append(Segment(self.plant, t, q, v, x, m, np.tile(self.u[k], (len(t), 1)), self.p[k]))
        cost = replace(self.statistics, accepted=int(self.accepted[k]), rejected=int(self.rejected[k]))
        return Trajectory(tuple(segments), self.events.get(k, ()), self._outcome(k), cost, self.settings)

    def _some(self, chosen: Whole) -> BatchRun:
        """The runs with the given indices as a separate batch; its `numbers` are their indices in the first batch."""
        places = range(len(chosen))
        if len(chosen) and np.array_equal(chosen, np.arange(chosen[0], chosen[0] + len(chosen))):
            chosen_or_range: Any = slice(int(chosen[0]), int(chosen[0]) + len(chosen))  # nothing is copied
        else:
            chosen_or_range = chosen
        groups = (*STORED, "p", "u", "done", "status", "accepted", "rejected", "ends", "numbers")
        taken: dict[str, Any] = {group: getattr(self, group)[chosen_or_range] for group in groups}
        accepted, rejected = int(taken["accepted"].sum()), int(taken["rejected"].sum())
        return replace(
            self,
            **taken,
            failures={k: self.failures[int(chosen[k])] for k in places if int(chosen[k]) in self.failures},
            events=self.events.some(chosen),
            final=FinalStates(*(group[chosen_or_range] for group in self.final)),
            rests={k: self.rests[int(chosen[k])] for k in places if int(chosen[k]) in self.rests},
            statistics=replace(self.statistics, accepted=accepted, rejected=rejected),
        )

    # ── columns ───────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def columns(self) -> dict[str, Column]:
        """Every column by name, with its unit; the names are those of a single run."""
        return all_columns([self._sources])

    @cached_property
    def _sources(self) -> dict[str, Source]:
        return sources(self)

    @cached_property
    def on_request(self) -> dict[str, Column]:
        """The columns that are computed where they are named, with their units; see `Trajectory.on_request`."""
        return {name: source.column for name, source in self._requested.items() if name not in self._sources}

    @cached_property
    def _requested(self) -> dict[str, Source]:
        return requested_sources(self)

    @property
    def stored(self) -> None:
        """Batches keep no computed quantities."""

    def __contains__(self, name: object) -> bool:
        return name in self._sources or name in self._requested

    def has(self, group: str) -> bool:
        """Whether a quantity is available: "tau", "energy", "account" (supplied energy), "loop_error" or "y"."""
        if group != "account":
            return self._segment(Part(slice(0, 0), slice(0, 0)))[0].has(group)
        return bool(self.done.any()) and all(
            self._segment(part)[0].has(group) for part in self._parts() if self._any(part)
        )

    def _whole(self, group: str) -> Array:
        """All columns of a group, shape (B, n, width)."""
        if group == "u":
            return np.where(self._reached[..., None], self.u[:, None, :], np.nan)
        found: Array = getattr(self, group)
        return found

    def _column(self, name: str) -> Array:
        """The column with this name, shape (B, n)."""
        source = self._sources.get(name) or self._requested.get(name)
        if source is None:
            if name.startswith("energy."):  # raises an error that says why there is no account
                _ = self.energy
            raise unknown_column(f"the batch of '{self.name}'", name, list(self.columns), self.on_request)
        if name == "energy.balance":
            total = self._computed(_mechanical_account)
            total -= total[:, :1].copy()
            return total
        group, place = source.group, source.place
        if group == "t":
            return np.broadcast_to(self.t, (len(self), len(self.t)))
        if group in STORED:
            found: Array = getattr(self, group)[..., place]
            return found
        if group == "u":
            return np.where(self._reached, self.u[:, None, place], np.nan)
        return self._computed(lambda segment: _one_column(segment.array(group), place))

    @property
    def a(self) -> Array:
        """Accelerations, shape (B, n, nv); computed at every access."""
        return self._group("a", self.plant.nv)

    @property
    def tau(self) -> Array:
        """Generalized forces [N m or N], shape (B, n, nv), see `Trajectory.tau`; computed at every access."""
        return self._group("tau", self.plant.nv if self.has("tau") else 0)

    @property
    def y(self) -> Array:
        """Outputs, shape (B, n, ny); computed at every access."""
        return self._group("y", len(self.plant.outputs))

    @property
    def momentum(self) -> Array:
        """[linear; angular about the world's origin] momentum, shape (B, n, 6) [N s, N m s]; computed at each access.

        The axes are those of the world.
        """
        return self._group("momentum", 6)

    def reactions(self, joint: str, reference: WrenchReference = "joint", part: WrenchPart = "whole") -> Array:
        """The wrench [force; moment] through a joint, shape (B, n, 6) [N, N m]; see `Trajectory.reactions`."""
        view, robot = wrench_view(reference, part, "reactions"), self.plant.robot
        known = [] if robot is None else [*robot.joint_names, *(loop.name for loop in robot.loops)]
        if joint not in known:
            names = f"expected one of {quoted(known)}.{did_you_mean(joint, known)}" if known else "it has no joints."
            raise ModelError(f"'{self.name}' has no joint '{joint}'; {names}")
        place, wrenches = known.index(joint), recomputer(self.plant).wrenches
        return self._computed(lambda segment: wrenches(segment, view)[:, place], 6)

    @property
    def loop_error(self) -> Array:
        """The largest error of loops, couplings and other constraints [m or rad], shape (B, n)."""
        return self._group("loop_error")

    @property
    def loop_rate(self) -> Array:
        """The largest rate of the errors of loops, couplings and other constraints [m/s or rad/s], shape (B, n)."""
        return self._group("loop_rate")

    @property
    def energy(self) -> Energy:
        """Kinetic, potential, supplied and dissipated energy [J] and their balance, shape (B, n) each."""
        kinetic, potential = np.moveaxis(self._group("energy", 2), -1, 0)
        supplied, dissipated = np.moveaxis(self._group("account", 2), -1, 0)
        total = kinetic + potential - supplied + dissipated
        return Energy(kinetic, potential, supplied, dissipated, total - total[:, :1])

    def _group(self, group: str, *width: int) -> Array:
        return self._computed(lambda segment: getattr(segment, group), *width)

    # ── columns that are computed, part by part ───────────────────────────────────────────────────────────────────

    def _computed(self, read: Callable[[Segment], Array], *width: int) -> Array:
        """Values at all samples, shape (B, n, *width); `read(segment)` gives the values of one segment.

        Samples that a run did not reach are NaN.
        """
        found = np.empty((len(self), len(self.t), *width))

        def compute(part: Part) -> None:
            segment, reached = self._segment(part)
            block = found[part]
            if reached is None:
                block[...] = read(segment).reshape(block.shape)
            else:
                block[...] = np.nan
                if reached.any():
                    block[reached] = read(segment)

        parts = self._parts()
        for part in parts[:1]:  # alone, since it may compile the function that the other parts use
            compute(part)
        if len(parts) > 2 and default_threads() > 1:
            in_threads(compute, parts[1:], default_threads())
        else:
            for part in parts[1:]:
                compute(part)
        return found

    def _parts(self) -> list[Part]:
        """All samples, in parts that are small enough for the cache: some whole runs, or a piece of one run."""
        plant, samples = self.plant, len(self.t)
        width = 1 + plant.nq + 2 * plant.nv + plant.nx + len(plant.m) + plant.nu + len(plant.p)
        together = max(256, PART // (8 * width))
        runs, times = max(1, together // max(samples, 1)), min(samples, together)
        return [
            Part(slice(first, min(first + runs, len(self))), slice(begin, min(begin + times, samples)))
            for first in range(0, len(self), runs)
            for begin in range(0, samples, max(times, 1))
        ]

    def _any(self, part: Part) -> bool:
        """Whether any run reached a sample of a part."""
        return bool((self.done[part.runs] > part.times.start).any())

    @cached_property
    def _reached(self) -> npt.NDArray[np.bool_]:
        """Which samples were reached, shape (B, n)."""
        reached: npt.NDArray[np.bool_] = np.arange(len(self.t)) < self.done[:, None]
        return reached

    @cached_property
    def _shared_p(self) -> bool:
        """Whether all runs have the same parameter values."""
        return bool(len(self.p)) and bool((self.p == self.p[0]).all())

    def _segment(self, part: Part) -> tuple[Segment, npt.NDArray[np.bool_] | None]:
        """The samples of a part one after the other, and which were reached, shape (runs, times); None if all were."""
        times = self.t[part.times]
        done = self.done[part.runs]
        if (done >= part.times.stop).all():
            reached = None
            count = len(done)
            states = [
                values.reshape(count * len(times), values.shape[-1])
                for values in (getattr(self, group)[part] for group in STORED)
            ]
            t, whose = np.tile(times, count), np.repeat(np.arange(count), len(times))
        else:
            reached = np.arange(part.times.start, part.times.stop) < done[:, None]
            states = [getattr(self, group)[part][reached] for group in STORED]
            whose, places = np.nonzero(reached)
            t = times[places]
        p = self.p[0] if self._shared_p else self.p[part.runs][whose]
        q, v, x, m = states
        return Segment(self.plant, t, q, v, x, m, self.u[part.runs][whose], p), reached


def _one_column(values: Array, place: int) -> Array:
    return values if values.ndim == 1 else values[:, place]


def _mechanical_account(segment: Segment) -> Array:
    """Kinetic + potential - supplied + dissipated energy [J] at every sample, shape (n,)."""
    kinetic, potential = segment.energy.T
    supplied, dissipated = segment.account.T
    total: Array = kinetic + potential - supplied + dissipated
    return total
