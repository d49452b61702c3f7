"""A run: from a system and its options to a Trajectory.

`simulate` marches from one boundary to the next. Boundaries are the times at which Python has a say: inputs that are
sampled and held, callbacks, the end. Between them everything is compiled; events come back when they happen.
"""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.deriving import Dynamics
from kinemorph.errors import ControllerError, KinemorphError, ModelError, ShapeError, UnsupportedError, told
from kinemorph.model.robot import Robot
from kinemorph.model.system import Settings, System
from kinemorph.plants.instants import instants
from kinemorph.plants.laws import Law
from kinemorph.plants.loop_methods import LoopMethod
from kinemorph.plants.programs import Plant
from kinemorph.plants.robots import plant as as_plant
from kinemorph.simulation.chatter import warn_of_chatter
from kinemorph.simulation.clockwork import Clockwork
from kinemorph.simulation.events import RESOLUTION, Guard, Pace
from kinemorph.simulation.failures import Patience, explained
from kinemorph.simulation.march_memory import Status
from kinemorph.simulation.methods import usual
from kinemorph.simulation.outside import OutsideStepper, stepper_for
from kinemorph.simulation.stepper import Marched, State, Stepper, check_numbers
from kinemorph.simulation.stepping import Method
from kinemorph.simulation.storage import Checkpoints
from kinemorph.simulation.trajectory import Event, EventKind, Outcome, Segment, Statistics, Trajectory

Array = npt.NDArray[np.float64]
MOST_SWITCHES = 100  # of elements at one instant
MOST_SAMPLES = 100_000_000  # of one run; more than that is a mistake
Progress = Callable[[float, float, int], None]  # (simulated time [s], size of the next step [s], events so far)


@dataclass(frozen=True)
class Held:
    """Inputs that a Python function gives at regular times and that are held in between: u = law(t, q, v, x)."""

    law: Callable[..., Any]
    every: float | None = None  # [s]; the sample time where none is given


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
    events: Guard | Sequence[Guard] = (),
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
    `events`            guards, see `Guard`
    `callback`          called as callback(t, q, v, x), or with some of them, at regular times (`every` [s]); ends the
                        run by returning True
    `progress`          called now and then as progress(t, h, events)
    `start`             a time [s]; or a run that is gone on with, from the state at its end, for what is not given here
                        (an adaptive method finds its step size anew, so the last digits may differ from one long run)
    `save`              a file (.npz, .h5, .csv, .res) that is written at once, every few seconds and at the end, so
                        that a run that is killed leaves what it had done. A problem with it shows before the run; a
                        later one is a warning

    A run that fails is a Trajectory as well: its `outcome` says when, where and why. So does one in which a function of
    yours (a controller, `inputs`, `callback`, a reset) raises. A model or options that are wrong are exceptions.
    """
    powered = forces is not None or inputs is not None or _has_elements(model) or _has_damping(model)
    system = as_plant(model, forces=forces, locked=locked, loops=loops, account=powered)
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
    start, until = float(times[0]), float(times[-1])
    spacing = float(sample) if isinstance(sample, (int, float, np.number)) else float(times[1] - times[0])
    held = inputs if isinstance(inputs, Held) else Held(inputs) if callable(inputs) else None
    check_numbers(every=every, **{"every of Held": held.every if held else None})
    if callback is not None and not callable(callback):
        raise UnsupportedError(f"callback is {callback!r}; expected a function callback(t, q, v, x).")
    began = time.perf_counter()
    stepper = stepper_for(method)(
        system,
        method=method,
        step=step,
        rtol=rtol,
        atol=atol,
        largest=largest,
        guards=(events,) if isinstance(events, Guard) else events,
        t=start,
        q=q,
        v=v,
        x=x,
        u=None if held else inputs,
        p=p,
        m=m,
        begun=False,
    )
    if q is None and v is None:  # else it has done so
        stepper.close()
    compiled = time.perf_counter()
    options = {"method": stepper.method.name, "step": step, "rtol": rtol, "atol": atol, "until": until}

    def made(outcome: Outcome) -> Trajectory:
        seconds = time.perf_counter() - compiled
        statistics = Statistics(stepper.method.name, *stepper.counts, stepper.calls, seconds, compiled - began)
        return Trajectory(run.segments(), tuple(run.events), outcome, statistics, options)

    def so_far() -> Trajectory:
        t = stepper.state.t
        return made(Outcome("unfinished", t, f"The run had come to t = {t:.9g} s of {until:g} s when it was saved."))

    def look_up(t: float, h: float, events: int) -> None:
        if progress:
            progress(t, h, events)
        if checkpoints:
            checkpoints.note(so_far)

    run = _Run(stepper, times, until, held, (held and held.every) or spacing, callback, every or spacing)
    trajectory = made(run.carry_out(look_up if progress or checkpoints else None))
    if checkpoints:
        checkpoints.finish(trajectory)
    if step is not None and isinstance(stepper, Stepper):
        warn_of_chatter(trajectory.segments, stepper.method, float(step))
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


class _Run:
    """The state of one run while it goes on."""

    def __init__(
        self,
        stepper: Stepper | OutsideStepper,
        times: Array,
        until: float,
        held: Held | None,
        period: float,
        callback: Callable[..., Any] | None,
        every: float,
    ) -> None:
        self.stepper, self.times, self.until = stepper, times, until
        self.held = _reader(held.law, "inputs") if held else None
        self.callback = _reader(callback, "callback") if callback else None
        start = float(times[0])
        self.holding, self.calling = instants(period, start), instants(every, start)
        self.events: list[Event] = []
        self.done: list[list[Rows]] = [[]]  # by segment
        self.next = 0  # the sample time that is to come
        guards = stepper.watch.guards if stepper.watch else ()
        self.paces = [Pace(guard.shortest) for guard in guards]
        self.start = float(times[0])
        self.patience = Patience(stepper, self.start, until)
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
        held_count = called_count = 0
        while True:
            t = self.stepper.state.t
            self._tick()
            if self.held and t >= self.holding.time(held_count) - 1e-12 * max(1.0, abs(t)):
                held_count += 1
                self._hold()
            if self.next == 0:
                self.stepper.refresh()
                self._keep_now()
                self.next = 1
                if progress:
                    progress(t, self.stepper.h, 0)
            if self.callback and t >= self.calling.time(called_count) - 1e-12 * max(1.0, abs(t)):
                called_count += 1
                if _is_true(self._asked(self.callback, "the callback")):
                    return Outcome("stopped", t, "The callback ended the run.")
            if t >= self.until:
                return Outcome("finished", t)
            ends = [self.until, self.stepper.next_tick]
            if self.held:
                ends.append(self.holding.time(held_count))
            if self.callback:
                ends.append(self.calling.time(called_count))
            outcome = self._march(min(ends), progress)
            if outcome is not None:
                return outcome

    def _asked(self, function: Callable[[State], Any], what: str) -> Any:
        """What a function of the user says now; what it raises ends the run with a sentence."""
        try:
            return function(self.stepper.state)
        except Exception as error:
            raise ControllerError(f"{what} raised {told(error)}.") from error

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
        u = self._asked(self.held, "the function of the inputs")
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
