"""The interface of every stepper: a plant at one state, which can be advanced.

There are two kinds: `stepper.Stepper` for our own methods, and `foreign.stepper.ForeignStepper` for the methods of
other libraries. A run (`running.execution`) uses the members of `PlantStepper` only.
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import ModelWarning, StepError, users_level
from kinemorph.frozen import kept_in
from kinemorph.plants.initial_values import SUPPLIED
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import Model, counts_work_of_inputs
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.simulation.integrators.method import CHANGED, Method
from kinemorph.simulation.march.guards import Guard, Watch
from kinemorph.simulation.march.layout import Status
from kinemorph.simulation.stepping.domains import DomainWatch
from kinemorph.simulation.stepping.failures import explained, runs_away
from kinemorph.simulation.stepping.gimbal_lock import GimbalWatch
from kinemorph.simulation.stepping.initial_state import closed_start, entered_memory, stated
from kinemorph.simulation.stepping.sample_clocks import Clockwork
from kinemorph.simulation.stepping.step_options import MIN_STEP, StepOptions, step_options

ROWS = 256  # samples in one call
SLICE = 0.12  # [s] of wall-clock time that one slice of a call should take: progress is reported after each
# statuses after which the stepper can be advanced further
GOING_ON = (
    *(Status.GOING, Status.BUDGET, Status.TICK, Status.EVENT, Status.LOGGED),
    *(Status.ENOUGH, Status.STOPPED, Status.REST),
)
JUMPED = 1.0  # the argument of `refresh` where the state has jumped: nothing of the last step is used again


class State(NamedTuple):
    """The state of a stepper: time [s], q (nq,), v (nv,) and x (nx,)."""

    t: float
    q: Array
    v: Array
    x: Array


class Marched(NamedTuple):
    """The result of one call of the march: a row [q, v, x, m] for each time that was reached, and why it returned."""

    times: Array  # (n,)
    rows: Array  # (n, nq + nv + nx + nm)
    status: Status
    fired: tuple[int, ...]  # indices of guards, where the status is EVENT
    jumps: Array | None = None  # the log of jumps that were carried out, see `march`; None where there are none
    paused: bool = False  # whether only a slice of the call is done: the next call has to continue it


class ForeignMethod(NamedTuple):
    """A method of another library: only its name is known here."""

    name: str


class PlantStepper(ABC):
    """A plant at one state, which can be advanced. See `simulate` for the options."""

    method: Method | ForeignMethod
    fixed: bool  # whether all steps have one size
    watch: Watch | None  # the guards; None where there are none
    h: float  # size of the next step [s]
    m: Array  # memory of elements from now on, shape (nm,)
    u: Array  # inputs from now on, shape (nu,)
    p: Array  # parameters, shape (np,)
    sliced: bool = False  # whether calls return after about `SLICE` seconds, with `Marched.paused`
    end: float = math.inf  # [s], the end of a run that another one may continue; see `Stepper.kept`
    most_jumps: float = math.inf  # after so many jumps that the march has carried out, it returns with Status.ENOUGH

    def __init__(
        self,
        model: Model,
        *,
        method: str | Method | None = None,
        step: float | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        max_step: float = math.inf,
        min_step: float = MIN_STEP,
        guards: Sequence[Guard] = (),
        rows: int = ROWS,
        t: float = 0.0,
        q: Any = None,
        v: Any = None,
        x: Any = None,
        u: Any = None,
        p: Any = None,
        m: Any = None,
    ) -> None:
        """A stepper at an initial state, which stops at all events of guards.

        Elements whose memory is given in `m` do not sample at the time `t` again.
        """
        plant = as_plant(model)
        guards = [replace(one, stop=True) if isinstance(one, Guard) and not one.reset else one for one in guards]
        self._set_up(plant, step_options(plant, method, step, rtol, atol, max_step, min_step), guards, rows)
        self.begin(t, q, v, x, u=u, p=p, m=m)

    @classmethod
    def made(
        cls,
        plant: Plant,
        options: StepOptions,
        guards: Sequence[Guard] = (),
        rows: int = ROWS,
        *,
        compiled: bool = False,
    ) -> Self:
        """A stepper without a state: call `begin` to give it one. With `compiled`, resets of guards are compiled."""
        stepper = cls.__new__(cls)
        stepper._set_up(plant, options, guards, rows, compiled)
        return stepper

    def _set_up(
        self, plant: Plant, options: StepOptions, guards: Sequence[Guard], rows: int, compiled: bool = False
    ) -> None:
        self.plant, self.options, self.rows, self.compiled = plant, options, rows, compiled
        self.calls = 0  # calls of compiled code
        self.clockwork = Clockwork(plant)
        self.domains = kept_in(plant, "watch of domains", lambda: DomainWatch(plant))
        self.gimbals = kept_in(plant, "watch of gimbals", lambda: GimbalWatch(plant))
        self._zero: Array | float = 0.0  # distances from zero of the guards that have just changed their sign
        self._due: Array | float = 0.0  # sides of the guards that are about to change their sign
        self._begun = -math.inf  # the time [s] at which the state was set, or has jumped
        self._prepare(guards)

    # ── what each kind defines ────────────────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def _prepare(self, guards: Sequence[Guard]) -> None:
        """Compiles the programs that the method needs; sets `method`, `fixed` (step size) and `watch` (guards)."""

    @property
    @abstractmethod
    def t(self) -> float:
        """The present time [s]."""

    @property
    @abstractmethod
    def state(self) -> State:
        """The present state (t, q, v, x)."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[Any, ...]:
        """The inputs (t, base, s, m, u, p) of `Plant.rate` at the present state; see `plants.instant.LocalInstant`."""

    @property
    @abstractmethod
    def counts(self) -> tuple[int, int]:
        """The numbers of accepted and of rejected steps so far."""

    @property
    @abstractmethod
    def next_tick(self) -> float:
        """The time [s] beyond which a run may not advance before it has called `tick`."""

    @abstractmethod
    def _at(self, name: str) -> Array:
        """A writable array by name: "clock", the number of each clock's next tick; "sides" and "floors" of guards."""

    @abstractmethod
    def _store(self, t: float | None, q: Array, v: Array, x: Array) -> None:
        """Writes a state; with t None, the time stays the same."""

    @abstractmethod
    def _change(self, fresh: float) -> None:
        """Tells the method not to use rates that it carried over from the last step; `fresh` is CHANGED or JUMPED."""

    @abstractmethod
    def through(self, times: Array, stop: float) -> Marched:
        """Advances through the first of `times` [s], as many as fit into one call; no step goes beyond `stop` [s].

        Where `sliced` is set, a call that takes long returns early, with `Marched.paused`; the next call has to pass
        the times that are left, and the same `stop`. Slices change no result: steps and samples are the same.
        """

    @abstractmethod
    def step(self) -> State:
        """Takes one step; returns the state at its end. Raises StepError where it fails or the motion diverges."""

    # ── what both kinds share ─────────────────────────────────────────────────────────────────────────────────────

    def begin(
        self,
        t: float = 0.0,
        q: Any = None,
        v: Any = None,
        x: Any = None,
        *,
        u: Any = None,
        p: Any = None,
        m: Any = None,
        close: bool = False,
        tick: bool = True,
    ) -> None:
        """Sets the initial state; values that are not given are the plant's defaults.

        Where q or v is given, here or by name in the model, or with `close`, the state is brought onto the constraints:
        named values are kept, the others follow. With tick=False, elements that sample at t wait for a call of `tick`.
        """
        self.clockwork.end()  # a new run: functions in C start again
        self.u, self.p, self.m = (self.plant.initial(*pair) for pair in (("u", u), ("p", p), ("m", m)))
        self._store(t, *(self.plant.initial(group, given) for group, given in zip("qvx", (q, v, x), strict=True)))
        self.m = self._opened(entered_memory(self.plant, m, self.inputs))
        if close or any(stated(self.plant, *pair) is not None for pair in (("q", q), ("v", v))):
            self.close(q, v, m, enters=True)
        self._at("clock")[:] = self.clockwork.first(t, self.plant.named("m", m))
        if tick:
            self.tick()
        self.refresh(JUMPED)

    def place(self, t: float | None = None, q: Any = None, v: Any = None, x: Any = None) -> None:
        """Sets another state; values that are not given stay the same."""
        pairs = zip("qvx", (q, v, x), self._stored()[1:], strict=True)
        self._store(t, *(kept if given is None else self.plant.initial(group, given) for group, given, kept in pairs))
        if t is not None:
            self._at("clock")[:] = self.clockwork.first(t)
            self.tick()
        self.refresh(JUMPED)

    def close(self, q: Any = None, v: Any = None, m: Any = None, *, enters: bool = False) -> None:
        """Brings the state onto the constraints; values that the user gave by name in `q` or `v` are kept.

        With `enters`, a run begins here: points are held where they are then, unless `m` gives their memory.
        """
        now = self._stored()
        state = (*now[1:], self.m, self.u, self.p)
        found = closed_start(self.plant, now.t, state, (q, v, m), enters=enters)
        if found.note:
            warnings.warn(found.note, ModelWarning, stacklevel=users_level())
        self._store(None, found.q, found.v, now.x)
        self.m = self._opened(found.m)
        self.refresh(JUMPED)

    def _opened(self, m: Array) -> Array:
        """The memory (nm,) with open rigid contacts, where the method takes them into account by itself."""
        if not getattr(self.method, "opens_contacts", False):
            return m
        opened = m.copy()
        opened[list(self.plant.contact_modes)] = 0.0
        return opened

    @property
    def due(self) -> bool:
        """Whether elements have to sample now."""
        return bool(self.plant.ticks) and self.t >= self.clockwork.next_time(self._at("clock"))

    def tick(self) -> bool:
        """Lets the elements sample that are due now; returns whether there were any.

        Raises ControllerError where a sampled value is not finite.
        """
        if not self.due:
            return False
        self._remember(self.clockwork.run(self._at("clock"), self.inputs))
        self._change(CHANGED)
        return True

    def _stored(self) -> State:
        """The present state as the method has it, before it is brought onto the constraints exactly."""
        return self.state

    def _remember(self, m: Array) -> None:
        """Sets the memory after elements have sampled."""
        self.m = m

    def refresh(self, fresh: float = CHANGED) -> None:
        """Has to be called after memory, inputs or parameters have changed, so that the next step uses no rates of the
        last.

        `fresh` is JUMPED where the state has changed too: then the next step uses nothing of the last one.
        """
        self._change(fresh)
        if fresh == JUMPED:
            self._begun = self.t
        if self.watch:
            self._at("sides")[:] = self.watch.sides(*self.inputs, zero=self._zero, due=self._due)
            self._at("floors")[:] = 0.0

    def side(self, guard: int) -> float:
        """The sign of a guard's value, +1 or -1; 0 where the value is zero and stays zero."""
        return float(self._at("sides")[guard])

    def push(self, u: Any) -> None:
        """Sets the inputs u that act from now on, in order or by name.

        Where elements store energy that depends on their inputs, as pulls do, the change of the stored energy is work
        that is done from outside: it is added to the energy supplied, if the plant records that.
        """
        if self.watch and self.t > self._begun:  # an event that is about to happen is not lost
            self._due = self.watch.due((), self._at("sides"), *self.inputs)
        before = self._stored_energy()
        self.u = self.plant.initial("u", u)
        work = self._stored_energy() - before
        if work != 0.0:
            _, q, v, x = self._stored()
            x = x.copy()
            x[self.plant.index("x", SUPPLIED)] += work
            self._store(None, q, v, x)
        self.refresh()

    def _stored_energy(self) -> float:
        """The energy [J] that elements store now; 0 where it does not depend on inputs, or is not recorded."""
        if not counts_work_of_inputs(self.plant):
            return 0.0
        return float(self.plant.compiled("stored")(*self.inputs)[0])

    def advance(self, until: float) -> State:
        """Advances to a time [s], or to the first event before it; returns the state there.

        Raises StepError where a step fails or the motion diverges; the stepper is then at the last state before that.
        """
        until = float(self.clockwork.snapped(np.array([until], dtype=float))[0])
        while self.t < until:
            stop = min(until, self.next_tick)
            status = self.through(np.array([stop]), stop).status
            if status is Status.TICK or self.next_tick < math.inf:
                self.tick()
            self._check(status)
            if status in (Status.EVENT, Status.STOPPED, Status.ENOUGH, Status.REST):
                break
        return self.state

    def _check(self, status: Status) -> None:
        """Raises StepError where the march has failed, as `status` says, or where the motion diverges."""
        if status not in GOING_ON:
            raise StepError(explained(self, status))
        state = self._stored()
        reason = runs_away(self.plant, (*state[:3], self.p), self.h if self.fixed else None)
        if reason is not None:
            raise StepError(reason)

    def cross(self, fired: tuple[int, ...]) -> None:
        """Gives the guards `fired`, which caused an event, their new sign, even if their rates have the old sign.

        In a stiff system, the rate at this instant may have either sign.
        """
        self._zero = self._due = 0.0
        if self.watch and fired:
            self._zero = self.watch.zero_at(fired, *self.inputs)
            self._due = self.watch.due(fired, self._at("sides"), *self.inputs)
            others = -self._at("sides")[list(fired)]
            self.refresh()
            self._at("sides")[list(fired)] = others
