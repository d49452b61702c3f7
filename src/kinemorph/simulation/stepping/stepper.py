"""A plant that stands at one state and can be advanced: by one step, to a time, or through a list of sample times.

`simulate` is built on it; it is the way to drive a plant from a loop of your own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import UnsupportedError
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.plant import Plant
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.simulation.integrators.method import CHANGED, Method
from kinemorph.simulation.integrators.methods import method_named, usual
from kinemorph.simulation.march.compiled import compiled_march
from kinemorph.simulation.march.guards import Guard, watch_of
from kinemorph.simulation.march.layout import Layout, Status, layout
from kinemorph.simulation.stepping.initial_state import closed_start
from kinemorph.simulation.stepping.sample_clocks import Clockwork

ROWS = 256  # samples in one call of compiled code
MOST_TRIES = 20_000  # steps in one call: Python looks up at least this often
SMALLEST = 1e-12  # [s]
FIRST = 1e-4  # [s] of the first step, where nothing is said; it grows fast


class State(NamedTuple):
    """Where a stepper stands."""

    t: float
    q: Array
    v: Array
    x: Array


class Marched(NamedTuple):
    """What one advance gives: a row [q, v, x, m] for each time that was reached, and why it came back."""

    times: Array  # (n,)
    rows: Array  # (n, nq + nv + nx + nm)
    status: Status
    fired: tuple[int, ...]  # indices of guards, where the status is EVENT


class Stepper:
    """Advances a plant. See `simulate` for the options."""

    def __init__(
        self,
        model: Plant | Dynamics | System | Robot,
        *,
        method: str | Method | None = None,
        step: float | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        largest: float = math.inf,
        smallest: float = SMALLEST,
        guards: Sequence[Guard] = (),
        rows: int = ROWS,
        t: float = 0.0,
        q: Any = None,
        v: Any = None,
        x: Any = None,
        u: Any = None,
        p: Any = None,
        m: Any = None,
        begun: bool = True,
    ) -> None:
        """`m` is memory that a run goes on with: its ticks at t are done. Without `begun` others wait for `tick`."""
        self.plant = as_plant(model)
        method, step = usual(self.plant, method, step, rtol is not None or atol is not None)
        rtol, atol = 1e-8 if rtol is None else rtol, 1e-10 if atol is None else atol
        self.method = method_named(method)
        self.fixed = not self.method.adaptive or (step is not None)
        if self.fixed and step is None:
            raise UnsupportedError(
                f"method '{self.method.name}' takes steps of one size and none is given. Give step=0.001 [s], or "
                "choose a method that finds its own."
            )
        check_numbers(step=step, rtol=rtol, atol=atol, largest=largest, smallest=smallest)
        self.limits = np.array([rtol, atol, smallest, min(largest, 1e30), MOST_TRIES])
        located = bool(self.plant.guards) and self.method.adaptive and not self.fixed
        self.watch = watch_of(self.plant, guards, located=located) if guards or located else None
        marched = self.watch.marched if self.watch else None
        self.plan: Layout = layout(self.plant, self.method, marched)
        self.rows = rows
        self.run: CompiledFunction = compiled_march(
            self.plant, self.method, samples=rows, guards=marched, fixed=self.fixed
        )
        self.calls = 0
        self.u, self.p = (self.plant.initial(group, given) for group, given in (("u", u), ("p", p)))
        self.memory: Array = np.zeros(self.plan.size)
        self.clockwork = Clockwork(self.plant)
        self._remembered, self._begun = m, begun
        self._placed = False  # whether a state has been given yet
        self._put_off = not begun  # whether ticks at this instant may be due
        self._zero: Array | float = 0.0  # of the guards that have just changed their sign
        self._due: Array | float = 0.0  # sides of those that are about to
        self._at("h")[...] = step if step is not None else min(FIRST, largest)
        self.place(t, q, v, x)

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The inputs of `rate` now."""
        return float(self._at("t")), self._at("base"), self._at("s"), self.m, self.u, self.p

    @property
    def m(self) -> Array:
        """Memory from now on, shape (nm,); may be set."""
        return self._at("m_next").copy()

    @m.setter
    def m(self, values: Array) -> None:
        self._at("m_next")[:] = self._at("m")[:] = values

    def _at(self, name: str) -> Array:
        return self.plan.array(self.memory, name)

    @property
    def state(self) -> State:
        """(t, q, v, x) now."""
        nv = self.plant.nv
        s = self._at("s")
        return State(float(self._at("t")), self._at("base").copy(), s[nv : 2 * nv].copy(), s[2 * nv :].copy())

    @property
    def h(self) -> float:
        """Size of the next step [s]; may be set, and is the size of all steps where it is fixed."""
        return float(self._at("h"))

    @h.setter
    def h(self, value: float) -> None:
        check_numbers(h=value)
        self._at("h")[...] = value

    @property
    def counts(self) -> tuple[int, int]:
        """(accepted, rejected) steps so far."""
        return int(self._at("accepted")), int(self._at("rejected"))

    def place(self, t: float | None = None, q: Any = None, v: Any = None, x: Any = None) -> None:
        """Puts the plant at a state; what is left out stays (at the beginning: is the plant's start).

        At the beginning constraints are closed: coordinates and velocities that are named are kept, others follow.
        """
        now = self.state
        for group, given, kept in (("q", q, now.q), ("v", v, now.v), ("x", x, now.x)):
            values = kept if given is None and self._placed else self.plant.initial(group, given)
            self._write(group, values)
        first = not self._placed
        self._placed = True
        if t is not None:
            self._at("t")[...], self._at("t_low")[...] = t, 0.0
            known = self.plant.named("m", self._remembered) if first else ()
            if first:
                self.m = self.plant.initial("m", self._remembered)
            if first and (q is not None or v is not None):
                self.close(q, v)
            self._at("clock")[:] = self.clockwork.first(t, known)
            self._remembered = None
            if self._begun:
                self.tick()
            self._begun = True
        self.refresh(1.0)

    def close(self, q: Any = None, v: Any = None) -> None:
        """Brings the state onto the constraints; `q` and `v` are what was given, of which names are kept."""
        now = self.state
        given = (q, v, (self.m, self.u, self.p))
        closed = closed_start(self.plant, now.t, (now.q, now.v, now.x), given)
        for group, values in zip("qv", closed, strict=True):
            self._write(group, values)
        self.refresh(1.0)

    @property
    def next_tick(self) -> float:
        """The time beyond which a run may not ask it to go: none, the march knows the ticks by itself."""
        return math.inf

    @property
    def due(self) -> bool:
        """Whether elements have to sample now."""
        return bool(self.plant.ticks) and float(self._at("t")) >= self.clockwork.next_time(self._at("clock"))

    def tick(self) -> bool:
        """Lets elements sample whose instant this is; says whether there were any. Raises ControllerError where one of
        them cannot.
        """
        if not self.due:
            return False
        # memory during the last step stays: samples within it may still be wanted
        self._at("m_next")[:] = self.clockwork.run(self._at("clock"), self.inputs)
        self._change(CHANGED)
        return True

    def restart(self, t: float = 0.0, q: Any = None, v: Any = None, x: Any = None, *, first: float = FIRST) -> None:
        """Begins anew at a state, as a stepper made for it would: with a first step of its own, counts at zero."""
        for name in ("accepted", "rejected"):
            self._at(name)[...] = 0.0
        if not self.fixed:
            self._at("h")[...] = min(first, self.limits[3])
        self._placed = False  # what is left out is the plant's start, not what the last run has left
        self.place(t, q, v, x)

    def _write(self, group: str, values: Array) -> None:
        nv = self.plant.nv
        s = self._at("s")
        if group == "q":
            self._at("base")[:] = values
        elif group == "v":
            s[nv : 2 * nv] = values
            s[list(nv + k for k in self.plant.locked)] = 0.0
        else:
            s[2 * nv :] = values

    def refresh(self, fresh: float = CHANGED) -> None:
        """To be called when m, u or p were changed: no rate carried over from the last step is used; with 1, where the
        state has jumped, nothing else either.
        """
        self._change(fresh)
        if self.watch:
            self._at("sides")[:] = self.watch.sides(*self.inputs, zero=self._zero, due=self._due)

    def _change(self, fresh: float) -> None:
        self._at("fresh")[...] = max(float(self._at("fresh")), fresh)

    def side(self, guard: int) -> float:
        """On which side of zero a guard stands, +1 or -1; 0 where it is zero and stays there."""
        return float(self._at("sides")[guard])

    def push(self, u: Any) -> None:
        """Sets the inputs from now on."""
        self.u = self.plant.initial("u", u)
        self.refresh()

    def step(self) -> State:
        """One accepted step."""
        before = self._at("accepted").item()
        while self._at("accepted").item() == before:
            status = self._call(np.array([1e300]), math.inf, most=1).status
            if status is Status.TICK:
                self.tick()
            elif status not in (Status.BUDGET, Status.GOING):
                break
        return self.state

    def advance(self, until: float) -> State:
        """To a time; shorter where an event stops it."""
        until = float(self.clockwork.snapped(np.array([until], dtype=float))[0])
        while self.state.t < until:
            status = self._call(np.array([until]), until).status
            if status is Status.TICK:
                self.tick()
            elif status not in (Status.BUDGET, Status.GOING):
                break
        return self.state

    def through(self, times: Array, stop: float) -> Marched:
        """Rows at the first of `times` that fit one call; no step goes beyond `stop`."""
        return self._call(times[: self.rows], stop)

    def _call(self, times: Array, stop: float, most: int = MOST_TRIES) -> Marched:
        if self._put_off:  # an event at the very instant of a tick
            self.tick()
        padded = np.zeros(self.rows)
        padded[: len(times)] = times
        limits = self.limits.copy()
        limits[4] = most
        outs = tuple(np.empty(port.shape) for port in self.run.outputs)
        # without checks: what a step that failed has left in the memory may be infinite, and is never used
        self.run.raw(
            outs,
            *(self.memory, padded, np.array(float(len(times))), np.array(min(float(stop), 1e300)), limits),
            *(self.u, self.p),
        )
        self.calls += 1
        self.memory, rows, done, status = outs[0], outs[1], int(outs[2]), Status(int(outs[3]))
        self._put_off = status is Status.EVENT
        fired = tuple(map(int, np.flatnonzero(outs[4]))) if self.watch and status is Status.EVENT else ()
        self._zero = self._due = 0.0
        if self.watch and fired:
            self._zero = self.watch.zero_at(fired, *self.inputs)
            self._due = self.watch.due(fired, self._at("sides"), *self.inputs)
            others = self._at("sides")[list(fired)] * -1.0
            self.refresh()
            self._at("sides")[list(fired)] = others  # beyond zero now, wherever a stiff rate points at this instant
        return Marched(times[:done], rows[:done], status, fired)


def check_numbers(**given: float | None) -> None:
    """Refuses options that are not numbers above 0; None is none."""
    for name, value in given.items():
        if value is None:
            continue
        if not isinstance(value, (int, float, np.number)) or not value > 0.0:
            raise UnsupportedError(f"{name} is {value!r}; expected a number above 0.")
