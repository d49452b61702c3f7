"""All states of a batch in progress: calls of machine code that advance many states at once, and their results.

Each call takes a fraction of a second. It advances a group of states; those whose runs have not ended take part in the
next one.
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
from kinemorph.errors import ControllerError, SlowRunWarning
from kinemorph.simulation.march.layout import HUGE, Status
from kinemorph.simulation.results.batch_run import GOOD, BatchRun, FinalStates
from kinemorph.simulation.results.event_log import EventLog, Whole
from kinemorph.simulation.results.trajectory import Statistics
from kinemorph.simulation.running.batch_log import BatchLog, Ending
from kinemorph.simulation.running.execution import Progress
from kinemorph.simulation.running.patience import MANY, Patience
from kinemorph.simulation.stepping.domains import DomainWatch
from kinemorph.simulation.stepping.failures import SENSELESS, explained, runs_away
from kinemorph.simulation.stepping.gimbal_lock import GimbalPath, GimbalWatch
from kinemorph.simulation.stepping.stepper import MOST_TRIES, Stepper

ROOM = 2**28  # [bytes] that the memory and the samples of one call may take
PATIENCE = 0.4  # [s] that one call should take: progress is reported, and Ctrl-C works, as often as that
FIRST_TRIES = 16384  # steps that all states together try in the first call, whose duration is not known beforehand
GROWTH = 8.0  # from call to call the number of tries grows and falls by this factor at most
LEAST_STATES, LEAST_TRIES = 64, 16  # of one group of states in one call, where its duration allows that


class Fleet:
    """All states of a batch in progress: their memory, their samples so far and their status."""

    def __init__(
        self,
        one: Stepper,
        given: Mapping[str, Array],
        known: Sequence[str],
        times: Array,
        most: tuple[int | None, int | None],
        threads: int | None,
        keep_events: bool = True,
    ) -> None:
        """`most` are the largest numbers of steps and of events of a state, None where there is no such limit."""
        self.one, self.plant, self.given, self.times = one, one.plant, given, times
        self.known = known  # names of memory that the user gave
        self.most, self.most_events = (HUGE if number is None else float(number) for number in most)
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
        self.log = BatchLog(one.watch, count, keep=keep_events) if one.watch else None
        self.rests: dict[int, Ending] = {}  # of states that came to rest
        self.domains, self.gimbals = DomainWatch(self.plant), GimbalWatch(self.plant)
        self.begin = np.array(self.at("base"))  # the configurations from which gimbals move to their singular angles
        self.turned: dict[int, GimbalPath] = {}  # of states that have jumped
        self._reasons: dict[int, str] = {}  # messages of states that were given up
        if one.watch:
            inputs = (float(times[0]), self.at("base"), s, self.at("m_next"), given["u"], given["p"])
            self.at("sides")[:] = one.watch.sides(*inputs)
        self._watched: dict[int, Patience] = {}
        self.calls, self._slow = 0, False
        self.paces: dict[Any, float] = one.plant.kept.setdefault("batch_paces", {})  # of earlier batches
        self.pace = (one.method.name, one.fixed, threads)
        self.tries = self.paces.get(self.pace, float(FIRST_TRIES))  # of all states together in the next call
        sizes = one.plan.size + sum(math.prod(port.shape) for port in one.run.outputs)
        self.most_states = max(LEAST_STATES, ROOM // (8 * sizes))  # in one call
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
        t = np.where(self.status != Status.GOING, self.times[-1], self.at("t"))
        return float(np.mean(t)), float(np.mean(self.at("h"))), int((~np.isin(self.status, GOOD)).sum())

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
        limits[4], limits[5] = min(MOST_TRIES, max(1.0, self.tries // n)), self.most_events
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
        self.one.run.used(took)
        self.calls += 1
        self.memory[whole], rows, got, status = outs[0], outs[1], outs[2].astype(np.int64), outs[3].astype(np.int64)
        if (got == got[0]).all() and (done == done[0]).all():
            self.rows[whole, done[0] : done[0] + got[0]] = rows[:, : got[0]]
        else:
            for state, begin, count, row in zip(group.tolist(), done.tolist(), got.tolist(), rows, strict=True):
                self.rows[state, begin : begin + count] = row[:count]
        now = self._tried(group)
        status[(status == Status.BUDGET) & (now < self.most) | (status == Status.LOGGED)] = Status.GOING
        if self.plant.robot is not None:
            log = (outs[5], outs[6].astype(np.int64)) if len(outs) > 5 else None
            self._find_runaways(group, rows, done, got, status, self._find_locked(group, rows, done, got, log))
        may_end = (status != Status.GOING) | (outs[6] > 0 if len(outs) > 5 else False)  # events may be the last ones
        for k in np.flatnonzero(may_end & (status != Status.GIVEN_UP) & (got == samples)).tolist():
            got[k] += self._catch_up(int(group[k]), int(done[k] + got[k]))
        if len(outs) > 5:
            self._note_jumps(group, outs[5], outs[6].astype(np.int64), done, got, status)
        for k in np.flatnonzero((status == Status.GOING) & (now == looks)).tolist():
            status[k] = self._look_at(int(group[k]))
        self.ends[group] = np.stack([done + got, status], axis=1)
        each = took / max(1.0, float((now - tried).sum()))  # [s] for one try of one state
        self.tries = min(max(PATIENCE / each, self.tries / GROWTH), self.tries * GROWTH)

    def _find_locked(
        self, group: Whole, rows: Array, done: Whole, got: Whole, log: tuple[Array, Whole] | None
    ) -> dict[int, tuple[int, str]]:
        """Place in `group` -> (sample, message) of runs in which a gimbal has passed its singular angle.

        The arguments are as in `_find_runaways`; `log` are the rows of jumps and their numbers, as in `_note_jumps`.
        """
        if not self.gimbals.gimbals:
            return {}
        nq, locked = self.plant.nq, {}
        q, most = rows[..., :nq], int(got.max(initial=0))
        bad = self.gimbals.are_passed(q[:, :most], self.begin[group][:, None]) & (np.arange(most) < got[:, None])
        jumped = np.zeros(len(group), bool) if log is None else log[1] > 0
        jumped |= np.isin(group, list(self.turned))
        for k in np.flatnonzero(bad.any(axis=1) | jumped).tolist():
            state = int(group[k])
            path = self.turned.get(state) or GimbalPath(self.gimbals, self.begin[state])
            times, new = self.times[done[k] : done[k] + got[k]], log[0][k, : log[1][k]] if log else ()
            jumps = [self.log.format.jumped(row) for row in new] if self.log else []
            left = path.passed(times, q[k, : got[k]], self.given["p"][state], jumps)
            if left is not None:
                locked[k] = int(np.searchsorted(times, left[0])), left[1]
            if jumps:
                self.turned[state] = path
        reached = np.flatnonzero(got > 0)
        self.begin[group[reached]] = q[reached, got[reached] - 1]
        return locked

    def _find_runaways(
        self, group: Whole, rows: Array, done: Whole, got: Whole, status: Whole, locked: Mapping[int, tuple[int, str]]
    ) -> None:
        """Ends runs at the first sample in which a velocity exceeds `SENSELESS`, or a formula leaves its domain.

        Runs with a gimbal at its singular angle end as well: `locked` is what `_find_locked` returns.

        `group` (n,) are the indices of the states that the last call of machine code advanced. Each had `done` samples
        before it, and got `got` more, which are the first of its `rows` (n, samples, columns). `got` and `status` (n,)
        are changed in place for the runs that end.
        """
        speeds = slice(self.plant.nq, self.plant.nq + self.plant.nv)
        most = int(got.max(initial=0))
        bad: npt.NDArray[np.bool_] = np.any(np.abs(rows[:, :most, speeds]) > SENSELESS, axis=-1)
        if self.domains.domains:
            times = self.times[np.minimum(done[:, None] + np.arange(most), len(self.times) - 1)]
            bad |= self.domains.are_left(times, rows[:, :most, : self.plant.nq], self.given["p"][group][:, None])
        for k, (sample, _) in locked.items():
            bad[k, sample] = True
        bad &= np.arange(most) < got[:, None]
        for k in np.flatnonzero(bad.any(axis=1)).tolist():
            state, sample = int(group[k]), int(np.argmax(bad[k]))
            got[k], status[k] = sample + 1, Status.GIVEN_UP
            t = float(self.times[done[k] + sample])
            self._put_back(state, t, rows[k, sample])
            q, p = rows[k, sample, : self.plant.nq], self.given["p"][state]
            reason: str | None = locked[k][1] if k in locked and locked[k][0] == sample else None
            reason = reason or runs_away(self.plant, (t, q, rows[k, sample, speeds], p), self.one.options.step)
            if reason is None:
                left = self.domains.left(np.array([t]), q[None], p)
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

    def _catch_up(self, k: int, done: int) -> int:
        """Stores the samples of state k up to its present time that did not fit into the call; returns their number."""
        t, begun, samples = float(self.at("t")[k]), done, self.one.rows
        last = int(np.searchsorted(self.times, t, side="right"))
        while done < last:
            wanted = self.times[done : min(last, done + samples)]
            times = np.append(wanted, np.zeros(samples - len(wanted)))
            outs = tuple(np.empty(port.shape) for port in self.one.run.outputs)
            ins = (self.memory[k], times, np.array(float(len(wanted))), np.array(t), self.one.limits)
            self.one.run.raw(outs, *ins, self.given["u"][k], self.given["p"][k])
            self.memory[k], self.rows[k, done : done + len(wanted)] = outs[0], outs[1][: len(wanted)]
            done += len(wanted)
        return done - begun

    def _put_back(self, k: int, t: float, row: Array) -> None:
        """Ends the run of state k at an earlier time t [s], in the state `row` = [q, v, x, m]; drops later samples."""
        plan, memory, nq, ns = self.one.plan, self.memory[k], self.plant.nq, self.plant.ns
        plan.array(memory, "t")[...] = t
        plan.array(memory, "base")[:], plan.array(memory, "m_next")[:] = row[:nq], row[nq + ns - self.plant.nv :]
        plan.array(memory, "s")[self.plant.nv :] = row[nq : nq + ns - self.plant.nv]
        self.rows[k, np.searchsorted(self.times, t, side="right") :] = np.nan

    def _note_jumps(self, group: Whole, log: Array, logged: Whole, done: Whole, got: Whole, status: Whole) -> None:
        """Stores the jumps of a call, and ends the runs that come to rest or whose elements switch without end.

        The arguments are as in `_find_runaways`; the first `logged` (n,) rows of the `log` (n, rows, width) are jumps.
        """
        assert self.log is not None
        for k in np.flatnonzero((status == Status.GIVEN_UP) & (logged > 0)).tolist():  # its run ended earlier
            logged[k] = np.count_nonzero(log[k, : logged[k], 0] <= self.at("t")[group[k]])
        ended = {ending.run: ending for ending in self.log.add(group, log, logged)}
        for k in np.flatnonzero(np.isin(group, list(ended))).tolist() if ended else ():
            ending = ended[int(group[k])]
            status[k], got[k] = ending.status, np.searchsorted(self.times, ending.t, side="right") - done[k]
            self._put_back(ending.run, ending.t, ending.state)
            self.rows[ending.run, self.times == ending.t] = ending.state
            if ending.status is Status.REST:
                self.rests[ending.run] = ending
            else:
                self._reasons[ending.run] = ending.message

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

    def finished(self) -> BatchRun:
        """The results of all states; samples that no state reached, after an interruption, are left out."""
        count = int(self.done.max(initial=1)) if (self.status == Status.INTERRUPTED).any() else len(self.times)
        plant, options = self.plant, self.one.options
        accepted, rejected = (self.at(name).astype(np.int64) for name in ("accepted", "rejected"))
        name = self.one.method.name
        settings = {"step": options.step, "rtol": options.rtol, "atol": options.atol, "until": float(self.times[-1])}
        last = self.times[np.maximum(self.done, 1) - 1]
        ends = np.where(np.isin(self.status, (Status.GOING, Status.INTERRUPTED)), last, self.at("t"))
        for k, ending in self.rests.items():
            ends[k] = ending.end
        q, v, x, m = np.split(self.rows[:, :count], np.cumsum([plant.nq, plant.nv, plant.nx]), axis=-1)
        s, sizes = self.at("s"), (plant.nq, plant.nv, plant.nx, len(plant.m))
        final = FinalStates(
            *(self.at("t").copy(), self.at("base").copy(), s[:, plant.nv : 2 * plant.nv].copy()),
            *(s[:, 2 * plant.nv :].copy(), self.at("m_next").copy()),
        )
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
            ends=ends,
            final=final,
            numbers=np.arange(len(self.rows)),
            statistics=Statistics(name, int(accepted.sum()), int(rejected.sum()), self.calls),
            settings={"method": name, **settings},
            events=self.log.finished() if self.log else EventLog.empty(len(self.rows), sizes),
            rests={k: ending.message for k, ending in self.rests.items()},
        )

    def sentences(self) -> dict[int, str]:
        """The message of each failed state, by its index."""
        found = {}
        for k in np.flatnonzero(~np.isin(self.status, (*GOOD, Status.INTERRUPTED))).tolist():
            status, one = Status(int(self.status[k])), self._stepper_of(k)
            if status is Status.BUDGET:
                found[k] = (
                    f"At t = {one.t:.9g} s the allowed number of steps, {self.most:g}, was used up. Enlarge "
                    "most_steps, or loosen the tolerances."
                )
            elif status is Status.TICK:
                found[k] = f"At t = {one.t:.9g} s {_tick_failure(one)}"
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
