"""Carrying out a run: from boundary to boundary until something ends it.

Boundaries are the times at which Python code has to run: held inputs, callbacks, the end. Between boundaries everything
is compiled, and compiled code returns at events. A run may be carried out in pieces, each with its own plant (see
`docked_run`); functions that are called at regular times keep their count through all pieces.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import ControllerError, ShapeError, told
from kinemorph.simulation.march.guards import Guard
from kinemorph.simulation.march.layout import Status
from kinemorph.simulation.results.event_log import LogFormat, cut_at_jumps
from kinemorph.simulation.results.outcome import Outcome, comes_to_rest, stays_at_zero, stopped_after, stopped_by
from kinemorph.simulation.results.trajectory import Event, Segment
from kinemorph.simulation.running.by_name import named_state
from kinemorph.simulation.running.dead_points import dead_point, has_dead_points
from kinemorph.simulation.running.patience import Patience
from kinemorph.simulation.running.switches import Switches, kind_of, log_format, state_groups
from kinemorph.simulation.stepping.failures import allowed_errors, breach, explained
from kinemorph.simulation.stepping.gimbal_lock import GimbalPath
from kinemorph.simulation.stepping.plant_stepper import Marched, PlantStepper
from kinemorph.simulation.stepping.regular_functions import Regular

MOST_PIECES = 4096  # calls of the march whose samples are kept apart
Progress = Callable[[float, float, int], None]  # (simulated time [s], size of the next step [s], events so far)


def _is_true(value: Any) -> bool:
    """Whether a callback has returned True, as a bool or as NumPy's bool; other values do not count."""
    return isinstance(value, (bool, np.bool_)) and bool(value)


class Samples(NamedTuple):
    """The samples of one call of the march: t (n,), rows [q, v, x, m] of shape (n, nq + nv + nx + nm), u (n, nu)."""

    t: Array
    rows: Array
    u: Array

    def after(self, row: int) -> Samples:
        """The samples from `row` on."""
        return Samples(*(each[row:] for each in self))

    def before(self, row: int) -> Samples:
        """The samples before `row`."""
        return Samples(*(each[:row] for each in self))


class Place(NamedTuple):
    """A place in the samples of a run: the number of the segment, of the call of the march in it, and of the row."""

    segment: int = 0
    call: int = 0
    row: int = 0


class Run:
    """One run in progress, with one plant."""

    def __init__(
        self,
        stepper: PlantStepper,
        times: Array,
        held: Regular | None,
        callback: Regular | None,
        named: bool = False,
        most_events: float = math.inf,
        taken_up: bool = False,
    ) -> None:
        """`times` (n,) are the sample times, the last is the end. With `named`, user functions read states by name.

        The run ends after `most_events` events. Where it is `taken_up`, the stepper stands before the step that the end
        of another run has cut short, and what happens before the first sample time is known from that run.
        """
        self.begun = float(times[0]) if taken_up else -math.inf  # [s], events up to this time are known
        self.stepper, self.times, self.until = stepper, times, float(times[-1])
        self.most = stepper.most_jumps = most_events
        self.held, self.callback, self.named = held, callback, named
        self.events: list[Event] = []
        self.done: list[list[Samples]] = [[]]  # by segment
        self.next = 0  # the index of the next sample time
        paced = stepper.watch.paced if stepper.watch else {}
        self.paces = {index: one.pace() for index, one in paced.items()}
        self.turned = GimbalPath(stepper.gimbals, stepper.state.q) if stepper.gimbals.gimbals else None
        stepper.sliced = not (stepper.domains.domains and has_dead_points(stepper))
        self.left: Outcome | None = None  # the failure because coordinates describe the motion no further
        self.patience = Patience(stepper, float(times[0]), self.until)
        self.switches = Switches()
        self.format = log_format(stepper.watch) if stepper.watch else None
        self.jumps: list[Array] = []  # rows of jumps that the march has carried out, beyond the samples so far
        self.ended: Outcome | None = None  # the outcome where such a jump ends the run

    def carry_out(self, progress: Progress | None) -> Outcome:
        """Marches from boundary to boundary until something ends the run, and returns its outcome."""
        try:
            return self._carried_out(progress)
        except ControllerError as error:
            self._keep_now()
            return Outcome("failed", self.stepper.t, f"At t = {self.stepper.t:.9g} s {error}")
        except KeyboardInterrupt:
            self._keep_now()
            return Outcome("interrupted", self.stepper.t, "The run was interrupted; its results are kept.")

    def _carried_out(self, progress: Progress | None) -> Outcome:
        while True:
            t = self.stepper.t
            self._tick()
            if self.held and self.held.due(t):
                self._hold()
            if self.next == 0 and self.begun == -math.inf:
                self._begin()
                if progress:
                    progress(t, self.stepper.h, 0)
            if self.callback and self.callback.due(t) and _is_true(self._called(self.callback)):
                return Outcome("stopped", t, "The callback ended the run.")
            if t >= self.until:
                return Outcome("finished", t)
            ends = [regular.next_time for regular in (self.held, self.callback) if regular]
            outcome = self._march(min(self.until, self.stepper.next_tick, *ends), progress)
            if outcome is not None:
                return outcome

    def _begin(self) -> None:
        """Stores the first sample, at the initial state."""
        self.stepper.refresh()
        self._keep_now()
        self.next = 1

    def proceed(self, until: float) -> Outcome | None:
        """Advances a run whose end is not known beforehand to a time [s], with a sample there and nothing in between.

        The first call also stores the initial state. Returns an Outcome where the run ends before that time.
        """
        try:
            self._tick()
            if self.next == 0:
                self._begin()
            self.times, self.next, self.until = np.array([self.stepper.t, until]), 1, until
            self._thin()
            self.patience.over = True  # without an end there is no share of the run that is done
            outcome: Outcome | None = None
            while outcome is None and self.stepper.t < until:
                outcome = self._march(min(until, self.stepper.next_tick), None)
                self._tick()
            return outcome
        except ControllerError as error:
            self._keep_now()
            return Outcome("failed", self.stepper.t, f"At t = {self.stepper.t:.9g} s {error}")

    def _thin(self) -> None:
        """Joins the samples of many short calls, so that a long run does not consist of many small arrays."""
        if len(self.done[-1]) >= MOST_PIECES:
            self.done[-1] = [Samples(*(np.concatenate(column) for column in zip(*self.done[-1], strict=True)))]

    def _called(self, regular: Regular) -> Any:
        """The value that a user function returns at the present state; an exception in it fails the run."""
        state = self.stepper.state
        try:
            return regular.call(named_state(self.stepper.plant, state) if self.named else state)
        except Exception as error:
            raise ControllerError(f"`{regular.what}` raised {told(error)}.") from error

    def _march(self, stop: float, progress: Progress | None) -> Outcome | None:
        """Marches to the time `stop` [s]; returns an Outcome if the run ends before it, else None."""
        while self.stepper.t < stop or len(self._wanted(stop)):
            wanted = self._wanted(stop)
            whole = len(wanted) < self.stepper.rows - 1 and (len(wanted) == 0 or wanted[-1] < stop)
            marched = self._through(np.append(wanted, stop) if whole else wanted, stop, len(wanted), progress)
            if self.left is not None:
                return self.left
            reason = self.patience.look()
            if reason is not None:
                return Outcome("failed", self.stepper.t, reason)
            if progress:
                progress(self.stepper.t, self.stepper.h, len(self.events))
            if marched.status is Status.TICK:
                self._tick()
                continue
            if marched.status not in (Status.GOING, Status.BUDGET, Status.LOGGED):
                while len(behind := self._wanted(self.stepper.t)):  # samples that did not fit into the call
                    self._through(behind, self.stepper.t, len(behind))
                t, q, *_ = self.stepper.state
                if self.turned and (locked := self.turned.passed(np.array([t]), q[None], self.stepper.p)) is not None:
                    return Outcome("failed", *locked)
            if (outcome := self._jumped(marched)) is not None:
                return outcome
            if marched.status is Status.EVENT:
                outcome = self._happen(marched.fired)
                self._tick()  # a tick at the same instant comes after the event
                if outcome is not None:
                    return outcome
            elif marched.status not in (Status.GOING, Status.BUDGET, Status.LOGGED):
                return Outcome("failed", self.stepper.t, explained(self.stepper, marched.status))
        return None

    def _jumped(self, marched: Marched) -> Outcome | None:
        """The outcome of a run that ends at one of the jumps that the march has carried out; None if it goes on."""
        t = self.stepper.t
        if self.ended is not None:
            return self.ended
        if marched.status in (Status.STOPPED, Status.ENOUGH):
            self._keep_now()
        if marched.status is Status.STOPPED:
            return Outcome("stopped", t, stopped_by(self.events[-1].name, t))
        if marched.status is Status.ENOUGH:
            return Outcome("stopped", t, stopped_after(len(self.events), t))
        return None

    def _wanted(self, until: float) -> Array:
        """The next sample times [s] that fit into one call of the march, none of them after `until`."""
        wanted = self.times[self.next : self.next + self.stepper.rows - 1]
        return wanted[wanted <= until]

    def _through(self, times: Array, stop: float, wanted: int, progress: Progress | None = None) -> Marched:
        """Marches through `times` [s] up to `stop` [s], and stores samples at the first `wanted` of the times.

        A call that takes long is carried out in slices, and `progress` is called after each of them.
        """
        marched = self._slice(times, stop, wanted)
        while marched.paused:  # also where the run has ended: its numbers of steps do not depend on slices
            if progress:
                progress(self.stepper.t, self.stepper.h, len(self.events))
            done = len(marched.times)
            times, wanted = times[done:], max(wanted - done, 0)
            marched = self._slice(times, stop, wanted)
        return marched

    def _slice(self, times: Array, stop: float, wanted: int) -> Marched:
        """Marches through the first of `times` [s] and stores samples, as `_through` does for all slices of a call."""
        marched = self.stepper.through(times, stop)
        if self.left is not None:
            return marched
        kept = min(len(marched.times), wanted)
        t, rows, jumps = marched.times[:kept], marched.rows[:kept], [] if marched.jumps is None else list(marched.jumps)
        jumps = [row for row in jumps if row[0] > self.begun]
        q, p = rows[:, : self.stepper.plant.nq], self.stepper.p
        found: list[tuple[float, str] | None] = []
        if self.stepper.domains.domains:
            found += [self.stepper.domains.left(t, q, p), dead_point(self.stepper, t, rows)]
        if self.turned:
            turns = [self.format.jumped(row) for row in jumps] if self.format else ()
            found.append(self.turned.passed(t, q, p, turns))
        left = min((one for one in found if one is not None), key=itemgetter(0), default=None)
        if left is not None:  # coordinates mean nothing at this sample
            kept = int(np.searchsorted(t, left[0])) or (0 if self.done[-1] else 1)
            self.left = Outcome("failed", *left)
        self.next += kept
        self.jumps += jumps
        self._store(marched.times[:kept], marched.rows[:kept])
        return marched

    def _store(self, times: Array, rows: Array) -> None:
        """Stores samples, and the jumps between them; a jump waits until all samples before it are there."""
        if self.ended is not None:  # beyond the end of the run nothing is kept
            return
        following = self.times[self.next] if self.next < len(self.times) else np.inf
        cuts, taken = [], True
        while self.jumps and self.jumps[0][0] <= following and self.ended is None:
            assert self.format is not None
            row = self.jumps.pop(0)
            taken = self._after_jump(row, self.format)
            cuts += [self.format.jumped(row)] if self.format.mark(row).jumps else []
            if self.ended is not None:
                early = times <= row[0]
                times, rows = times[early], rows[early]
        pieces = cut_at_jumps(times, rows, cuts) if cuts else [(times, rows)]
        for k, (t, some) in enumerate(pieces if taken else pieces[:-1]):
            if k:
                self.done.append([])  # the state jumps: another segment starts
            known = int(bool(self.done[-1]) and len(t) > 0 and self.done[-1][-1].t[-1] == t[0])
            self._keep(t[known:], some[known:])

    def _after_jump(self, row: Array, form: LogFormat) -> bool:
        """Records a jump that the march has carried out, and ends the run where it has to end there.

        Returns False where the run came to rest before the jump, so that it does not count.
        """
        watch, index, event = self.stepper.watch, int(row[1]), form.event(row)
        assert watch is not None
        self.ended = self._rest(index, event.name, event.t, event.before)
        if self.ended is not None:
            return False
        self.events.append(event)
        if row[2] == 0.0 and index in watch.paced and watch.paced[index].stays:
            self.ended = self._stays(event.name, event.t, event.after)
            return True
        endless = self.switches.endless(event.t, event.name)
        self.ended = None if endless is None else Outcome("failed", event.t, endless)
        return True

    def _keep_at(self, t: float, row: Array) -> None:
        """Stores a sample `row` at the time t [s], unless the segment has one at this time already."""
        if not self.done[-1] or self.done[-1][-1].t[-1] < t:
            self._keep(np.array([t]), row[None])

    def _keep_now(self) -> None:
        """Stores a sample of the present state, unless the segment has one at this time already."""
        t, q, v, x = self.stepper.state
        self._keep_at(t, np.concatenate([q, v, x, self.stepper.m]))

    def _begin_segment(self) -> None:
        """Starts another segment at the present state, to which the state has jumped."""
        self.done.append([])
        self._keep_now()
        if self.turned:
            self.turned.begin = np.array(self.stepper.state.q)

    def _keep(self, times: Array, rows: Array) -> None:
        if len(times):
            self.done[-1].append(Samples(times, rows, np.tile(self.stepper.u, (len(times), 1))))

    def _hold(self) -> None:
        """Calls the user function for new inputs; a sample already stored at this time gets the new inputs too."""
        assert self.held is not None
        u = self._called(self.held)
        try:
            if u is None:
                raise ShapeError(f"u is None; expected {self.stepper.plant.nu} numbers.")
            self.stepper.push(u)
        except (TypeError, ValueError) as error:
            raise ControllerError(f"`inputs` returned values that cannot be used as inputs u: {error}") from error
        self.keep_inputs()

    def keep_inputs(self) -> None:
        """A sample already stored at this time gets the present inputs, and the work that they have done."""
        if self.done[-1] and self.done[-1][-1].t[-1] == self.stepper.t:
            last, plant = self.done[-1][-1], self.stepper.plant
            last.u[-1] = self.stepper.u
            last.rows[-1, plant.nq + plant.nv : plant.nq + plant.nv + plant.nx] = self.stepper.state.x

    def _tick(self) -> None:
        """Lets elements sample, if they are due; a sample already stored at this time gets their new memory."""
        if not self.stepper.tick():
            return
        m = self.stepper.m
        if len(m) and self.done[-1] and self.done[-1][-1].t[-1] == self.stepper.t:
            self.done[-1][-1].rows[-1, -len(m) :] = m

    # ── events ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _happen(self, fired: Sequence[int]) -> Outcome | None:
        """Records the events at this time and applies the resets of guards; returns an Outcome if the run ends.

        `fired` are the indices of the guards, and after them of the elements' switches, that changed sign.
        """
        stepper = self.stepper
        assert stepper.watch is not None
        ended: Outcome | None = None
        t, count = stepper.t, len(self.events)
        for index in fired:
            if len(self.events) >= self.most:
                break
            if index >= len(stepper.watch.guards):
                if not stepper.watch.is_met(index, *stepper.inputs):  # a foot that has left the ground does not slide
                    continue
                ended = ended or self._rest(index, self._name(index), t, state_groups(stepper))
                ended = ended or self._switch(index) or self._at_zero(index)
                continue
            guard = stepper.watch.guards[index]
            before = state_groups(self.stepper)
            if guard.reset is not None:
                self._keep_now()
                ended = ended or self._rest(index, guard.name, t, before)
                if ended is not None:
                    continue
                allowed = allowed_errors(stepper)
                changed = self._reset(guard, {"t": t, "u": stepper.u, "p": stepper.p, **before})
                stepper.m = changed.pop("m", stepper.m)
                stepper.place(None, *(changed.get(group) for group in ("q", "v", "x")))
                broken = breach(stepper, allowed)
                ended = None if broken is None else Outcome("failed", t, broken)
                self._begin_segment()
            after = state_groups(self.stepper)
            self.events.append(Event(t, guard.name, kind_of(guard), before, after))
            if guard.stop:
                ended = ended or Outcome("stopped", t, stopped_by(guard.name, t))
            elif guard.reset is not None and stepper.side(index) == 0.0:
                ended = self._stays(guard.name, t, after)
        stepper.most_jumps -= len(self.events) - count
        if ended is None and len(self.events) >= self.most:
            ended = Outcome("stopped", t, stopped_after(len(self.events), t))
        if ended is not None:
            self._keep_now()
        return ended

    def _reset(self, guard: Guard, state: Mapping[str, Any]) -> dict[str, Array]:
        """The values that a guard's reset returns, by group; an unusable value or an exception fails the run."""
        assert self.stepper.watch is not None
        try:
            return self.stepper.watch.after(guard, state)
        except ShapeError as error:
            raise ControllerError(
                f"the reset of guard '{guard.name}' returned a state that cannot be used: {error}"
            ) from error
        except Exception as error:
            raise ControllerError(f"the reset of guard '{guard.name}' raised {told(error)}.") from error

    def _switch(self, guard: int) -> Outcome | None:
        """Lets an element change its memory, or takes an edge; returns an Outcome if the run ends there."""
        assert self.format is not None
        jumps = self.format.marks[guard].jumps
        if jumps:
            self._keep_now()
        event, reason = self.switches.carry_out(self.stepper, self.format, guard)
        self.events.append(event)
        if jumps:
            self._begin_segment()
        if reason is not None:
            return Outcome("failed", event.t, reason)
        return Outcome("stopped", event.t, stopped_by(event.name, event.t)) if event.kind == "stop" else None

    def _stays(self, name: str, t: float, state: Mapping[str, Array]) -> Outcome:
        """The outcome of a run that ends at the time t [s] at rest, because a guard stays at zero after its reset."""
        self.events.append(Event(t, name, "rest", state, state))
        return Outcome("rest", t, stays_at_zero(name, t))

    def _at_zero(self, index: int) -> Outcome | None:
        """The outcome of a run that is at rest because the guard of an edge stays at zero; None if it does not."""
        watch, t = self.stepper.watch, self.stepper.t
        assert watch is not None
        at_rest = index in watch.paced and watch.paced[index].stays and self.stepper.side(index) == 0.0
        return self._stays(self._name(index), t, state_groups(self.stepper)) if at_rest else None

    def _name(self, index: int) -> str:
        """The name of the events of a guard."""
        assert self.format is not None
        return self.format.marks[index].name

    def _rest(self, index: int, name: str, t: float, state: Mapping[str, Array]) -> Outcome | None:
        """The outcome of a run that comes to rest, since events of a guard come ever faster; None if it does not.

        `state` are the groups of the state before the event at the time t [s], and `name` is that of the event.
        """
        pace = self.paces.get(index)
        end = None if pace is None else pace.at_rest(t)
        if pace is None or end is None:
            return None
        self.events.append(Event(end, name, "rest", state, state))
        return Outcome("rest", end, comes_to_rest(name, end, pace.last))

    def segments(self) -> tuple[Segment, ...]:
        """All samples so far, as one Segment for each part between resets."""
        return tuple(self._segment(parts) for parts in self.done)

    def since(self, place: Place, *, all_of_it: bool = False) -> tuple[list[Segment], Place]:
        """The samples that were stored after a place, as Segments, and the place where the next ones begin.

        The last sample may still get other inputs or memory at its instant, so that it is left out without
        `all_of_it`.
        """
        found, (segment, part, row) = [], place
        for k in range(segment, len(self.done)):
            parts = self.done[k]
            open_end = k == len(self.done) - 1 and not all_of_it
            kept = [parts[part].after(row), *parts[part + 1 :]] if part < len(parts) else []
            if k == len(self.done) - 1:
                part, row = (len(parts) - 1, len(parts[-1].t) - open_end) if parts else (0, 0)
            if open_end and kept:
                kept[-1] = kept[-1].before(len(kept[-1].t) - 1)
            if any(len(samples.t) for samples in kept):
                found.append(self._segment(kept))
            if k < len(self.done) - 1:
                part = row = 0
        return found, Place(len(self.done) - 1, part, row)

    def _segment(self, parts: Sequence[Samples]) -> Segment:
        plant = self.stepper.plant
        q_end, v_end, x_end = accumulate((plant.nq, plant.nv, plant.nx))
        t, rows, u = (np.concatenate(column) for column in zip(*parts, strict=True))
        q, v, x = rows[:, :q_end], rows[:, q_end:v_end], rows[:, v_end:x_end]
        return Segment(plant, t, q, v, x, rows[:, x_end:], u, self.stepper.p)
