"""A stepper for methods of other libraries, SciPy's and SUNDIALS', which call the compiled rate.

`ForeignStepper` has the interface of `Stepper`: it advances, samples and stops at events in the same way. These methods
know no manifolds, so they integrate y = [q, v, x] with its rate (`Plant.flow`) and, where they take one, its exact
Jacobian; quaternions are normalized where a state is read. `engines` wraps the solvers of each library.

These methods know no constraints either, so their steps drift away from them within the tolerances. A state that is
read, at a sample, at an event or at the end, is brought back onto the constraints. Where a step has drifted too far,
the method starts again from a state on the constraints. The rate is computed on the constraints, so that a drift
changes little else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.errors import MissingExtraError, UnsupportedError
from kinemorph.plants.loop_methods import Multipliers, Projection
from kinemorph.plants.programs import Plant
from kinemorph.simulation.foreign.constraints import ConstraintKeeper
from kinemorph.simulation.foreign.engines import CvodeEngine, Engine, Equations, InitialValueProblem, ScipyEngine
from kinemorph.simulation.foreign.ida import IdaEngine, Mask
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.integrators.methods import OUTSIDE
from kinemorph.simulation.march.constraints import DRIFT
from kinemorph.simulation.march.guards import Guard, Watch
from kinemorph.simulation.march.layout import PIECES, Status
from kinemorph.simulation.stepping.plant_stepper import SLICE, ForeignMethod, Marched, PlantStepper, State
from kinemorph.simulation.stepping.step_options import StepOptions
from kinemorph.simulation.stepping.stepper import Stepper
from kinemorph.words import did_you_mean

MOST_STEPS = 2000  # steps in one call: the run takes over at least this often


def sundials_engine(name: str, problem: InitialValueProblem) -> Engine:
    """The solver of SUNDIALS that has this name."""
    return IdaEngine(name, problem) if name == "ida" else CvodeEngine(name, problem)


class Library(NamedTuple):
    """A library of methods: the function that starts a solver, the name of the Python module to import, that of the
    package, and the extra of kinemorph that installs it.
    """

    engine: Callable[[str, InitialValueProblem], Engine]
    module: str
    package: str
    extra: str = ""


LIBRARIES = {
    "scipy": Library(ScipyEngine, "scipy", "scipy"),
    "sundials": Library(sundials_engine, "sksundae", "scikit-sundae", "stiff"),
}


def stepper_at(
    plant: Plant, options: StepOptions, guards: Sequence[Guard], t: float, first: Mapping[str, Any]
) -> PlantStepper:
    """A stepper at an initial state on the constraints; `first` holds q, v, x, u, p and m as the user gave them.

    Elements that sample at t have not sampled yet.
    """
    stepper = stepper_for(options.method).made(plant, options, guards)
    stepper.begin(t, **first, close=True, tick=False)
    return stepper


def stepper_for(method: str | Method) -> type[PlantStepper]:
    """The class of stepper for a method: names with a colon are methods of other libraries."""
    return ForeignStepper if isinstance(method, str) and ":" in method else Stepper


class ForeignStepper(PlantStepper):
    """A plant at one state, which is advanced by a method of another library. See `Stepper`."""

    def _prepare(self, guards: Sequence[Guard]) -> None:
        plant, method, step = self.plant, str(self.options.method), self.options.step
        self.library, self.kind = _library(method)
        if step is not None:
            raise UnsupportedError(
                f"method '{method}' chooses its own steps, and step={step} is given. Leave step= out; max_step= bounds "
                "the steps."
            )
        self.method, self.fixed = ForeignMethod(method), False
        if self.kind == "ida" and not isinstance(plant.loops, Projection | Multipliers):
            raise UnsupportedError(
                f"loops is {type(plant.loops).__name__}, and method '{method}' keeps constraints by its own equations. "
                "Leave loops= out, or choose another method."
            )
        if plant.settling(located=True):
            raise UnsupportedError(
                f"'{plant.name}' has elements that update their memory after every step, which method '{method}' "
                "cannot do. Use method='dop853', or a method with a fixed step."
            )
        self.watch = Watch(plant, guards, located=True) if guards or plant.guards else None
        self.accepted, self.h = 0, 0.0
        self._most = 0  # the number of steps at which the present call ends; 0 where none is under way
        self._flow = build(plant.flow)
        self._place = build(plant.place)
        self._constraints = ConstraintKeeper(plant)
        self._guards = build(self.watch.program) if self.watch else None
        self._directions = np.array(self.watch.marched.directions if self.watch else ())
        self._arrays = {name: np.zeros(len(self._directions)) for name in ("sides", "floors")}
        self._arrays["clock"] = np.zeros(len(plant.ticks))
        self._engine: Engine | None = None
        self._new_engine = True  # whether something has changed, so that the method has to start again
        self._stop = math.inf
        self._t, self._y = 0.0, np.zeros(plant.nq + plant.nv + plant.nx)
        self._old = 0.0  # where the last step started [s]

    # ── the state ─────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def t(self) -> float:
        return self._t

    @property
    def state(self) -> State:
        return self._state(self._row(self._t, self._y))

    @property
    def counts(self) -> tuple[int, int]:
        """(accepted steps so far, 0): libraries do not report the steps that they reject."""
        return self.accepted, 0

    def _row(self, t: float, y: Array) -> Array:
        """The sample [q, v, x] of a state y at t [s]: brought onto the constraints, with normalized quaternions."""
        base, s = self._local(y)
        s = self._constraints.corrected(t, base, s, self._numbers).s
        q = np.zeros(self.plant.nq)
        self._place.raw(q, np.ascontiguousarray(base), s)
        return np.concatenate([q, s[self.plant.nv :]])

    @property
    def _numbers(self) -> tuple[Array, Array, Array]:
        return self.m, self.u, self.p

    @property
    def inputs(self) -> tuple[Any, ...]:
        return self._t, *self._local(self._y), self.m, self.u, self.p

    def _local(self, y: Array) -> tuple[Array, Array]:
        """A state y = [q, v, x] as (base, s): the configuration q, and s = [w, v, x] with local coordinates w = 0."""
        return y[: self.plant.nq], np.concatenate([np.zeros(self.plant.nv), y[self.plant.nq :]])

    @property
    def next_tick(self) -> float:
        return self.clockwork.next_time(self._at("clock"))

    def _at(self, name: str) -> Array:
        return self._arrays[name]

    def _stored(self) -> State:
        return self._state(self._y)

    def _state(self, y: Array) -> State:
        return State(self._t, *np.split(y, [self.plant.nq, self.plant.nq + self.plant.nv]))

    def _store(self, t: float | None, q: Array, v: Array, x: Array) -> None:
        self._t = self._t if t is None else float(t)
        self._y = np.concatenate([q, v, x])
        self._y[[self.plant.nq + k for k in self.plant.locked]] = 0.0

    def _change(self, fresh: float) -> None:
        self._new_engine = True

    # ── advancing ─────────────────────────────────────────────────────────────────────────────────────────────────

    def step(self) -> State:
        status, _ = self._take(min(self.next_tick, 1e300))
        self._check(status)
        self.tick()
        return self.state

    def through(self, times: Array, stop: float) -> Marched:
        rows: list[Array] = []
        fired: tuple[int, ...] = ()
        status, began, paused = Status.GOING, perf_counter(), False
        self._most = self._most or self.accepted + MOST_STEPS
        for target in times[: self.rows]:
            while self._t < target and status is Status.GOING and not paused:
                status, fired = self._take(stop)
                if status is Status.GOING and self.accepted >= self._most:
                    status = Status.BUDGET
                paused = status is Status.GOING and self.sliced and perf_counter() - began > SLICE
            if self._t < target:
                break
            y = self._y if target == self._t or self._engine is None else self._engine.at(target)
            rows.append(np.concatenate([self._row(target, y), self.m]))
        width = len(self._y) + len(self.m)
        self.cross(fired)
        self._most = self._most if paused else 0
        return Marched(times[: len(rows)], np.array(rows).reshape(len(rows), width), status, fired, paused=paused)

    def _take(self, stop: float) -> tuple[Status, tuple[int, ...]]:
        """Takes one step, not beyond `stop` [s], and searches it for events; returns the status and fired guards."""
        if self._choose_dependent():
            return Status.LOST, ()
        if self._engine is None or self._new_engine or stop != self._stop:
            self._begin(stop)
        assert self._engine is not None
        self._old = self._t
        try:
            self._t, self._y = self._engine.step()
        except FloatingPointError:
            return Status.INFINITE, ()
        except ArithmeticError:
            return Status.STUCK, ()
        self.accepted += 1
        self.h = self._t - self._old
        if not np.isfinite(self._y).all():
            return Status.INFINITE, ()
        if self.h <= 4.0 * np.spacing(abs(self._t)) and self._t < stop:
            return Status.STUCK, ()
        status = self._keep()
        if status is not Status.GOING:
            return status, ()
        return self._look_along() if self.watch else (Status.GOING, ())

    def _choose_dependent(self) -> bool:
        """Chooses which velocities depend on the others, where the constraint method needs this choice.

        Returns True where the user named independent velocities that do not determine the others.
        """
        if self.plant.dependence is None:
            return False
        chosen = self._constraints.chosen(self._t, *self._local(self._y), self._numbers)
        if chosen is None:
            return True
        if not np.array_equal(chosen, self.m):
            self.m, self._new_engine = chosen, True
        return False

    def _keep(self) -> Status:
        """Checks how far the last step drifted from the constraints; after a large drift, the next starts on them."""
        found = self._constraints.corrected(self._t, *self._local(self._y), self._numbers)
        if not found.kept:
            return Status.UNSOLVED
        if found.drift > DRIFT * self.options.rtol:
            self._y, self._stop = self._row(self._t, self._y), math.nan
        return Status.GOING

    def _begin(self, stop: float) -> None:
        first = self.h if self._engine is not None and not self._new_engine and self.h > 0.0 else None
        equations = Equations(self.plant, self._numbers, self._rate, self._jacobian, self._count)
        problem = InitialValueProblem(equations, self._t, self._y, stop, first, self.options)
        self._engine, self._stop, self._new_engine = self.library.engine(self.kind, problem), stop, False

    @cached_property
    def _slope(self) -> CompiledFunction:
        return build(jacobian(self.plant.flow, "out", "y"))

    def _count(self) -> None:
        self.calls += 1

    def _rate(self, t: float, y: Array) -> Array:
        return self._evaluated(self._flow, t, y)

    def _jacobian(self, t: float, y: Array) -> Array:
        return self._evaluated(self._slope, t, y)

    def _evaluated(self, function: CompiledFunction, t: float, y: Array) -> Array:
        out = np.zeros(function.program.outputs[0].shape)
        function.raw(out, np.array(float(t)), np.ascontiguousarray(y, dtype=float), self.m, self.u, self.p)
        self._count()
        return out

    # ── events ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _look_along(self) -> tuple[Status, tuple[int, ...]]:
        """Searches the last step for events; returns to the time of the first one, and stops there."""
        low, end, at_end = self._old, self._t, self._y
        for piece in range(1, PIECES + 1):
            high = end if piece == PIECES else self._old + (end - self._old) * (piece / PIECES)
            values = self._guard_values(high, at_end if piece == PIECES else None)
            if not self._crossed(values).any():
                self._at("sides")[values != 0.0] = np.sign(values[values != 0.0])
                low = high
                continue
            while low < (middle := low + 0.5 * (high - low)) < high and high - low > 1e-14:
                if self._crossed(self._guard_values(middle)).any():
                    high = middle
                else:
                    low = middle
            assert self._engine is not None
            self._y = self._row(high, at_end if high == end else self._engine.at(high))
            crossed = self._crossed(self._guard_values(high, self._y))
            self._t, self._new_engine = high, True
            return Status.EVENT, tuple(map(int, np.flatnonzero(crossed)))
        return Status.GOING, ()

    def _guard_values(self, t: float, y: Array | None = None) -> Array:
        assert self._guards is not None and self._engine is not None
        y = self._engine.at(t) if y is None else y
        values = np.zeros(len(self._directions))
        base, s = self._local(np.asarray(y, dtype=float))
        s = self._constraints.corrected(t, base, s, self._numbers).s
        self._guards.raw(values, np.array(t), np.ascontiguousarray(base), s, self.m, self.u, self.p)
        return values

    def _crossed(self, values: Array) -> Mask:
        sides = self._at("sides")
        found: Mask = (values * sides <= 0.0) & (sides != 0.0) & (self._directions * sides <= 0.0)
        return found


def _library(method: str) -> tuple[Library, str]:
    """The library of a method, and the method's name in that library."""
    if method not in OUTSIDE:
        listed = ", ".join(OUTSIDE)
        raise UnsupportedError(f"there is no method '{method}'.{did_you_mean(method, OUTSIDE)} Known: {listed}.")
    prefix, kind = method.split(":", 1)
    library = LIBRARIES[prefix]
    try:
        __import__(library.module)
    except ImportError:
        raise MissingExtraError(library.package, library.extra) from None
    return library, kind
