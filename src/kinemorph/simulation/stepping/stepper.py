"""Our own methods: a plant at one state that is advanced by compiled code.

`simulate` is built on `Stepper`. Use a Stepper to advance a plant from a loop of your own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.march.compiled import compiled_march
from kinemorph.simulation.march.guards import Guard, watch_of
from kinemorph.simulation.march.layout import HUGE, Layout, Parts, Status, layout
from kinemorph.simulation.results.kept import Kept, kept_key
from kinemorph.simulation.stepping.plant_stepper import SLICE, Marched, PlantStepper, State
from kinemorph.simulation.stepping.step_options import check_positive

MOST_TRIES = 20_000  # steps in one call: Python takes over at least this often
FIRST_TRIES, LEAST_TRIES = 200, 1  # steps in one slice of a call: in the first one, and at least
FIRST = 1e-4  # [s] the size of the first step, where no size is given; steps grow fast


class Stepper(PlantStepper):
    """A plant at one state, which can be advanced: by one step, to a time, or through a list of sample times.

    The options are those of `simulate`; `q`, `v`, `x`, `u`, `p` and `m` are the initial state at the time `t` [s].
    """

    def _prepare(self, guards: Sequence[Guard]) -> None:
        options, plant = self.options, self.plant
        self.method, self.fixed = options.chosen
        self.limits = np.array([options.rtol, options.atol, options.min_step, options.max_step, MOST_TRIES, HUGE])
        self.tries, self._left = FIRST_TRIES, MOST_TRIES  # steps of the next slice, and of all slices of this call
        self.sliced = bool(plant.contact_guards)
        opens = getattr(self.method, "opens_contacts", False)
        located = bool(plant.guards) and (not self.fixed or bool(plant.contact_guards)) and not opens
        watched = guards or located or (plant.automaton is not None and plant.automaton.edges)
        self.watch = watch_of(plant, guards, located=located, compiled=self.compiled) if watched else None
        marched = self.watch.marched if self.watch else None
        self.plan: Layout = layout(plant, self.method, marched)
        self._compile(self.method)
        self._memory: Array = np.zeros(self.plan.size)
        self._views: dict[str, Array] = {}  # of arrays in it that have been asked for
        self._at("h")[...] = min(FIRST, options.max_step) if options.step is None else options.step
        self._interrupted: Array | None = None  # the memory before the step that `end` cuts short
        self._ticks_first = True  # whether ticks at this instant may have to be done before the next call

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_views": {}}  # in a pickle they would be arrays of their own

    def _compile(self, method: Method) -> None:
        """Compiles the march; sets `run`."""
        marched = self.watch.marched if self.watch else None
        self.run = compiled_march(self.plant, method, samples=self.rows, guards=marched, fixed=self.fixed)

    @property
    def memory(self) -> Array:
        """All that the march keeps from one call to the next, see `Layout`; may be set."""
        return self._memory

    @memory.setter
    def memory(self, values: Array) -> None:
        self._memory[:] = values

    @property
    def t(self) -> float:
        return float(self._at("t"))

    @property
    def inputs(self) -> tuple[Any, ...]:
        return self.t, self._at("base"), self._at("s"), self.m, self.u, self.p

    @property
    def m(self) -> Array:
        """The memory of elements from now on, shape (nm,); may be set."""
        return self._at("m_next").copy()

    @m.setter
    def m(self, values: Array) -> None:
        self._at("m_next")[:] = self._at("m")[:] = values

    def _at(self, name: str) -> Array:
        view = self._views.get(name)
        if view is None:
            view = self._views[name] = self.plan.array(self._memory, name)
        return view

    @property
    def state(self) -> State:
        nv = self.plant.nv
        s = self._at("s")
        return State(self.t, self._at("base").copy(), s[nv : 2 * nv].copy(), s[2 * nv :].copy())

    @property
    def h(self) -> float:
        """The size of the next step [s], or of all steps where the step size is fixed; may be set."""
        return float(self._at("h"))

    @h.setter
    def h(self, value: float) -> None:
        check_positive(h=value)
        self._at("h")[...] = value

    @property
    def counts(self) -> tuple[int, int]:
        return int(self._at("accepted")), int(self._at("rejected"))

    @property
    def next_tick(self) -> float:
        """Infinity, because the march handles ticks in compiled code."""
        return math.inf

    def restart(self, t: float = 0.0, q: Any = None, v: Any = None, x: Any = None, *, first: float = FIRST) -> None:
        """Starts again from a state, as a new stepper does: with a first step of `first` [s] and counts at zero."""
        for name in ("accepted", "rejected", "events"):
            self._at(name)[...] = 0.0
        if not self.fixed:
            self._at("h")[...] = min(first, self.limits[3])
        self.begin(t, q, v, x, u=self.u, p=self.p)

    def _store(self, t: float | None, q: Array, v: Array, x: Array) -> None:
        nv, s = self.plant.nv, self._at("s")
        self._at("base")[:], s[nv : 2 * nv], s[2 * nv :] = q, v, x
        s[[nv + k for k in self.plant.locked]] = 0.0
        if t is not None:
            self._at("t")[...], self._at("t_low")[...] = t, 0.0

    def _remember(self, m: Array) -> None:
        self._at("m_next")[:] = m  # memory during the last step stays: samples within it may still be wanted

    def _change(self, fresh: float) -> None:
        self._at("fresh")[...] = max(float(self._at("fresh")), fresh)

    def step(self) -> State:
        """Advances by one accepted step, or to an event within it; returns the state there."""
        before = self._at("accepted").item()
        while self._at("accepted").item() == before:
            status = self._call(np.array([1e300]), math.inf, most=1).status
            if status is Status.TICK:
                self.tick()
            self._check(status)
            if status is Status.EVENT:
                break
        return self.state

    def through(self, times: Array, stop: float) -> Marched:
        if not self.sliced:
            return self._call(times[: self.rows], stop)
        began, tried, most = perf_counter(), sum(self.counts), min(self.tries, self._left)
        self.calls -= self._left < MOST_TRIES  # slices of one call count as one call
        marched = self._call(times[: self.rows], stop, most)
        if marched.status is Status.BUDGET:
            share = SLICE / max(perf_counter() - began, 1e-9)
            self.tries = int(min(max(most * min(share, 10.0), LEAST_TRIES), MOST_TRIES))
        self._left -= sum(self.counts) - tried
        if marched.status in (Status.BUDGET, Status.LOGGED) and self._left > 0:
            return marched._replace(paused=True)
        self._left = MOST_TRIES
        return marched

    def _call(self, times: Array, stop: float, most: int = MOST_TRIES) -> Marched:
        if self._ticks_first:  # an event at the very instant of a tick
            self.tick()
        self._at("ending")[...] = float(stop == self.end and self._interrupted is None)
        padded = np.zeros(self.rows)
        padded[: len(times)] = times
        limits = self.limits.copy()
        limits[4], limits[5] = most, min(self.most_jumps, HUGE)
        outs = tuple(np.empty(port.shape) for port in self.run.outputs)
        began = perf_counter()
        # without checks: values that a failed step has left in the memory may be infinite, and are never used
        self.run.raw(
            outs,
            *(self.memory, padded, np.array(float(len(times))), np.array(min(float(stop), 1e300)), limits),
            *(self.u, self.p),
        )
        self.run.used(perf_counter() - began)
        self.calls += 1
        self.memory, rows, done, status = outs[0], outs[1], int(outs[2]), Status(int(outs[3]))
        self._at("ending")[...] = 0.0
        self._ticks_first = status is Status.EVENT
        fired = tuple(map(int, np.flatnonzero(outs[4]))) if self.watch and status is Status.EVENT else ()
        self.cross(fired)
        jumps = outs[5][: int(outs[6])] if len(outs) > 5 else None
        if status is Status.CUT:  # the next call goes on with it
            self._interrupted, status = self.memory.copy(), Status.BUDGET
        return Marched(times[:done], rows[:done], status, fired, jumps)

    @property
    def kept(self) -> Kept | None:
        """What the run that continues this one, finished at `end`, goes on with: all that the method remembers.

        Where the end has cut a step short, it is the memory before that step, which the other run takes as a whole.
        Events that this run has found in the short step are then those of the whole step. None where Python acts there.
        """
        kept = now = self.memory.copy()
        if self._interrupted is not None:
            kept = self.memory = self._interrupted
            while self.watch and self.t < self.end:
                kept = self.memory.copy()
                if self._call(np.array([1e300]), math.inf, most=1).status not in (Status.BUDGET, Status.LOGGED):
                    return None
            self.memory = now
        arrays = Parts(self.plan, kept)
        names = self.watch.names if self.watch else ()
        return Kept(kept_key(self.plant, self.options), self.plant.recipe is not None, self.end, names, arrays)

    def take_up(self, kept: Kept) -> bool:
        """Goes on with what another stepper has kept, and returns whether it can: not with arrays of another version.

        The sides of guards that the other one did not have are found here.
        """
        own = ("accepted", "rejected", "events", "sides", "floors")
        shapes = {name: array.shape for name, array in kept.arrays.items() if name not in own}
        if shapes != {name: shape for name, shape in self.plan.shapes.items() if name not in own}:
            return False
        for name in shapes:
            self._at(name)[...] = kept.arrays[name]
        if self.watch:
            self._at("sides")[:] = self.watch.sides(*self.inputs)
            for k, name in enumerate(self.watch.names):
                for group in ("sides", "floors") if name in kept.guards else ():
                    self._at(group)[k] = kept.arrays[group][kept.guards.index(name)]
        self._begun = self.t
        return True
