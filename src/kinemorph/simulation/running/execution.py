"""Carrying out a run: from boundary to boundary until something ends it.

Boundaries are the times at which Python has a say: inputs that are sampled and held, callbacks, the end. Between them
everything is compiled; events come back when they happen. A run may be carried out in pieces, each with a plant of its
own (see `docked_run`): what is asked for at regular times is counted through all of them.
"""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import ControllerError, KinemorphError, ShapeError, UnsupportedError, told
from kinemorph.plants.plant import Plant
from kinemorph.plants.sample_instants import instants
from kinemorph.simulation.files.storage import Checkpoints
from kinemorph.simulation.foreign.stepper import OutsideStepper
from kinemorph.simulation.march.guards import RESOLUTION, Guard, Pace
from kinemorph.simulation.march.layout import Status
from kinemorph.simulation.results.trajectory import Event, EventKind, Outcome, Segment, Statistics, Trajectory
from kinemorph.simulation.running.by_name import named_state
from kinemorph.simulation.running.failures import Patience, explained
from kinemorph.simulation.stepping.stepper import Marched, State, Stepper

MOST_SWITCHES = 100  # of elements at one instant
ASKED = {"inputs": "the function of the inputs", "callback": "the callback"}
T = TypeVar("T")
Progress = Callable[[float, float, int], None]  # (simulated time [s], size of the next step [s], events so far)


@dataclass(frozen=True)
class Held:
    """Inputs that a Python function gives at regular times and that are held in between: u = law(t, q, v, x)."""

    law: Callable[..., Any]
    every: float | None = None  # [s]; the sample time where none is given


class Regular:
    """A function of the user that is asked at regular times from `start` on [s], and how often it has been."""

    def __init__(self, function: Callable[..., Any], what: str, period: float, start: float) -> None:
        self.ask, self.what = _reader(function, what), what
        self.instants, self.count = instants(period, start), 0

    @property
    def next_time(self) -> float:
        """When it is to be asked next [s]."""
        return self.instants.time(self.count)

    def due(self, t: float) -> bool:
        """Whether it is to be asked at t [s]; if so, it counts as asked."""
        if t < self.next_time - 1e-12 * max(1.0, abs(t)):
            return False
        self.count += 1
        return True


def _reader(function: Callable[..., Any], what: str) -> Callable[[State], Any]:
    """Calls a function of the user with a state: what its arguments are named after, else (t, q, v, x) in order."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # made in C: it says nothing of its arguments
        return lambda state: function(*state)
    names = list(signature.parameters)
    if names and set(names) <= set(State._fields):
        return lambda state: function(**{name: getattr(state, name) for name in names})
    try:
        signature.bind(*State._fields)
    except TypeError:
        raise UnsupportedError(
            f"{what}: the function takes ({', '.join(names)}); expected (t, q, v, x), or those of them that it needs."
        ) from None
    return lambda state: function(*state)


def _is_true(value: Any) -> bool:
    """Whether a callback has said True; NumPy's comparisons count, other values do not."""
    return isinstance(value, (bool, np.bool_)) and bool(value)


class Rows(NamedTuple):
    """Samples of one call: t (n,), rows [q, v, x, m] (n, ...), u (n, nu)."""

    t: Array
    rows: Array
    u: Array


class Run:
    """The state of one run while it goes on."""

    def __init__(
        self,
        stepper: Stepper | OutsideStepper,
        times: Array,
        held: Regular | None,
        callback: Regular | None,
        named: bool = False,
    ) -> None:
        """`times` (n,) of samples, the last of which is the end. `named`: functions read states by name, too."""
        self.stepper, self.times, self.until = stepper, times, float(times[-1])
        self.held, self.callback, self.named = held, callback, named
        self.events: list[Event] = []
        self.done: list[list[Rows]] = [[]]  # by segment
        self.next = 0  # the sample time that is to come
        guards = stepper.watch.guards if stepper.watch else ()
        self.paces = [Pace(guard.shortest) for guard in guards]
        self.patience = Patience(stepper, float(times[0]), self.until)
        self._together, self._last_switch = 0, -math.inf  # switches of elements at one instant

    def carry_out(self, progress: Progress | None) -> Outcome:
        """March from boundary to boundary until something ends the run."""
        try:
            return self._carried_out(progress)
        except ControllerError as error:
            self._keep_now()
            return Outcome("failed", self.stepper.state.t, f"At t = {self.stepper.state.t:.9g} s {error}")
        except KeyboardInterrupt:
            self._keep_now()
            return Outcome("interrupted", self.stepper.state.t, "The run was interrupted; what was computed is kept.")

    def _carried_out(self, progress: Progress | None) -> Outcome:
        while True:
            t = self.stepper.state.t
            self._tick()
            if self.held and self.held.due(t):
                self._hold()
            if self.next == 0:
                self.stepper.refresh()
                self._keep_now()
                self.next = 1
                if progress:
                    progress(t, self.stepper.h, 0)
            if self.callback and self.callback.due(t) and _is_true(self._asked(self.callback)):
                return Outcome("stopped", t, "The callback ended the run.")
            if t >= self.until:
                return Outcome("finished", t)
            ends = [regular.next_time for regular in (self.held, self.callback) if regular]
            ends += [self.until, self.stepper.next_tick]
            outcome = self._march(min(ends), progress)
            if outcome is not None:
                return outcome

    def _asked(self, regular: Regular) -> Any:
        """What a function of the user says now; what it raises ends the run with a sentence."""
        state = self.stepper.state
        try:
            return regular.ask(named_state(self.stepper.plant, state) if self.named else state)
        except Exception as error:
            raise ControllerError(f"{ASKED[regular.what]} raised {told(error)}.") from error

    def _march(self, stop: float, progress: Progress | None) -> Outcome | None:
        """To `stop`; an Outcome where the run ends before."""
        while self.stepper.state.t < stop or len(self._wanted(stop)):
            wanted = self._wanted(stop)
            whole = len(wanted) < self.stepper.rows - 1 and (len(wanted) == 0 or wanted[-1] < stop)
            marched = self._through(np.append(wanted, stop) if whole else wanted, stop, len(wanted))
            self.patience.look()
            if progress:
                progress(self.stepper.state.t, self.stepper.h, len(self.events))
            if marched.status is Status.TICK:
                self._tick()
                continue
            if marched.status not in (Status.GOING, Status.BUDGET):
                while len(behind := self._wanted(self.stepper.state.t)):  # samples that did not fit the call
                    self._through(behind, self.stepper.state.t, len(behind))
            if marched.status is Status.EVENT:
                outcome = self._happen(marched.fired)
                self._tick()  # one at this very instant comes after the event
                if outcome is not None:
                    return outcome
            elif marched.status not in (Status.GOING, Status.BUDGET):
                return Outcome("failed", self.stepper.state.t, explained(self.stepper, marched.status))
        return None

    def _wanted(self, until: float) -> Array:
        """The next sample times that fit one call, none after `until`."""
        wanted = self.times[self.next : self.next + self.stepper.rows - 1]
        return wanted[wanted <= until]

    def _through(self, times: Array, stop: float, wanted: int) -> Marched:
        """Marches through times, of which the first ones are wanted as samples."""
        marched = self.stepper.through(times, stop)
        kept = min(len(marched.times), wanted)
        self._keep(marched.times[:kept], marched.rows[:kept])
        self.next += kept
        return marched

    def _keep_now(self) -> None:
        """A row of the state as it is, unless there is one at this time."""
        t, q, v, x = self.stepper.state
        if not self.done[-1] or self.done[-1][-1].t[-1] < t:
            self._keep(np.array([t]), np.concatenate([q, v, x, self.stepper.m])[None])

    def _keep(self, times: Array, rows: Array) -> None:
        if len(times):
            self.done[-1].append(Rows(times, rows, np.tile(self.stepper.u, (len(times), 1))))

    def _hold(self) -> None:
        """Asks for new inputs; a sample at this very time shows them."""
        assert self.held is not None
        u = self._asked(self.held)
        try:
            self.stepper.push(u)
        except ShapeError as error:
            raise ControllerError(f"the function of the inputs gave what is none: {error}") from error
        if self.done[-1] and self.done[-1][-1].t[-1] == self.stepper.state.t:
            self.done[-1][-1].u[-1] = self.stepper.u

    def _tick(self) -> None:
        """Lets elements sample; a sample at this very time shows what they remember then."""
        if not self.stepper.tick():
            return
        m = self.stepper.m
        if len(m) and self.done[-1] and self.done[-1][-1].t[-1] == self.stepper.state.t:
            self.done[-1][-1].rows[-1, -len(m) :] = m

    # ── events ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _happen(self, fired: Sequence[int]) -> Outcome | None:
        """Records the events at this time, resets the state, and says whether the run ends."""
        stepper = self.stepper
        assert stepper.watch is not None
        ended: Outcome | None = None
        t = stepper.state.t
        for index in fired:
            if index >= len(stepper.watch.guards):
                if not stepper.watch.is_met(index, *stepper.inputs):  # what has left the ground does not slide
                    continue
                ended = ended or self._switch(index - len(stepper.watch.guards))
                continue
            guard = stepper.watch.guards[index]
            before = self._groups()
            if guard.reset is not None:
                self._keep_now()
                ended = ended or self._rest(index, guard, t)
                if ended is not None:
                    continue
                changed = self._reset(guard, {"t": t, "u": stepper.u, "p": stepper.p, **before})
                stepper.m = changed.pop("m", stepper.m)
                stepper.place(None, *(changed.get(group) for group in ("q", "v", "x")))
                self.done.append([])  # the state jumps: what follows is another segment
                self._keep_now()
            after = self._groups()
            kind: EventKind = "stop" if guard.stop else "reset" if guard.reset is not None else "crossing"
            self.events.append(Event(t, guard.name, kind, before, after))
            if guard.stop:
                ended = ended or Outcome("stopped", t, f"Event '{guard.name}' ended the run at t = {t:.9g} s.")
            elif guard.reset is not None and stepper.side(index) == 0.0:
                self.events.append(Event(t, guard.name, "rest", after, after))
                ended = Outcome(
                    "rest", t, f"After event '{guard.name}' at t = {t:.9g} s nothing moves away from it: rest."
                )
        if ended is not None:
            self._keep_now()
        return ended

    def _reset(self, guard: Guard, state: Mapping[str, Any]) -> dict[str, Array]:
        """What a guard's reset says; what it raises ends the run with a sentence."""
        assert self.stepper.watch is not None
        try:
            return self.stepper.watch.after(guard, state)
        except KinemorphError:  # a law of the wrong form, which was wrong from the beginning
            raise
        except Exception as error:
            raise ControllerError(f"the reset of guard '{guard.name}' raised {told(error)}.") from error

    def _switch(self, switch: int) -> Outcome | None:
        """Lets an element change its memory; the motion goes on as it was."""
        stepper = self.stepper
        assert stepper.watch is not None
        t, before = stepper.state.t, self._groups()
        m, x = stepper.watch.switched(switch, *stepper.inputs)
        stepper.m = m
        stepper.place(None, x=x)
        self.events.append(Event(t, stepper.watch.switches[switch], "switch", before, self._groups()))
        self._together = self._together + 1 if t - self._last_switch < RESOLUTION else 0
        self._last_switch = t
        if self._together < MOST_SWITCHES:
            return None
        name = stepper.watch.switches[switch]
        return Outcome(
            "failed",
            t,
            f"At t = {t:.9g} s '{name}' switches to and fro without end. Use a method with a step, or another law.",
        )

    def _rest(self, index: int, guard: Guard, t: float) -> Outcome | None:
        """The end of the run where the resets of a guard have brought it to rest."""
        end = self.paces[index].at_rest(t)
        if end is None:
            return None
        after = self._groups()
        self.events.append(Event(end, guard.name, "rest", after, after))
        return Outcome(
            "rest",
            end,
            f"Events '{guard.name}' came ever faster, the last two {self.paces[index].last:.2g} s apart: "
            f"the motion comes to rest at t = {end:.9g} s.",
        )

    def _groups(self) -> dict[str, Array]:
        _, q, v, x = self.stepper.state
        return {"q": q, "v": v, "x": x, "m": self.stepper.m.copy()}

    def segments(self) -> tuple[Segment, ...]:
        """Everything sampled so far."""
        plant = self.stepper.plant
        edges = np.cumsum([plant.nq, plant.nv, plant.nx])
        found = []
        for parts in self.done:
            t, rows, u = (np.concatenate(column) for column in zip(*parts, strict=True))
            q, v, x, m = np.split(rows, edges, axis=1)
            found.append(Segment(plant, t, q, v, x, m, u, self.stepper.p))
        return tuple(found)


# ── what pieces leave ─────────────────────────────────────────────────────────────────────────────────────────────────


def begun(make: Callable[..., Any], plant: Plant, guards: Sequence[Guard], t: float, first: Mapping[str, Any]) -> Any:
    """A stepper at its start; `make` is given the state `first`: q, v, x, u, p and m as they were asked for."""
    stepper = make(plant, guards=guards, t=t, **first)
    if first["q"] is None and first["v"] is None:  # else it has done so
        stepper.close()
    return stepper


class Ledger:
    """Everything that a run has left: segments and events of the pieces that are over, and what they cost."""

    def __init__(
        self, settings: Mapping[str, Any], progress: Progress | None = None, checkpoints: Checkpoints | None = None
    ) -> None:
        self.settings, self.progress, self.checkpoints = settings, progress, checkpoints
        self.segments: list[Segment] = []
        self.events: list[Event] = []
        self.method: Any = None
        self._steps = [0, 0, 0]  # accepted, rejected, calls
        self._began, self._compiling = time.perf_counter(), 0.0

    def timed(self, make: Callable[[], T]) -> T:
        """What is made, its time counted as that of compilation."""
        began = time.perf_counter()
        made = make()
        self._compiling += time.perf_counter() - began
        return made

    def carry_out(self, run: Run) -> Outcome:
        """Carries out one piece and keeps what it leaves."""
        self.method = run.stepper.method

        def look_up(t: float, h: float, events: int) -> None:
            if self.progress:
                self.progress(t, h, len(self.events) + events)
            if self.checkpoints:
                self.checkpoints.note(lambda: self._so_far(run))

        outcome = run.carry_out(look_up if self.progress or self.checkpoints else None)
        self.segments += run.segments()
        self.events += run.events
        self._steps = self._counted(run)
        return outcome

    def finished(self, outcome: Outcome) -> Trajectory:
        """The whole run, once all pieces are over."""
        return self._trajectory(outcome, self.segments, self.events, self._steps)

    def _counted(self, run: Run) -> list[int]:
        own = (*run.stepper.counts, run.stepper.calls)
        return [before + now for before, now in zip(self._steps, own, strict=True)]

    def _so_far(self, run: Run) -> Trajectory:
        t = run.stepper.state.t
        until = self.settings["until"]
        outcome = Outcome("unfinished", t, f"The run had come to t = {t:.9g} s of {until:g} s when it was saved.")
        return self._trajectory(
            outcome, [*self.segments, *run.segments()], [*self.events, *run.events], self._counted(run)
        )

    def _trajectory(
        self, outcome: Outcome, segments: Sequence[Segment], events: Sequence[Event], steps: Sequence[int]
    ) -> Trajectory:
        seconds = time.perf_counter() - self._began - self._compiling
        name = self.method.name
        statistics = Statistics(name, steps[0], steps[1], steps[2], seconds, self._compiling)
        return Trajectory(tuple(segments), tuple(events), outcome, statistics, {"method": name, **self.settings})
