"""Methods of other libraries behind the same call: SciPy's and SUNDIALS', around the compiled rate.

`OutsideStepper` is a Stepper to `simulate`: it advances, samples and stops at events in the same way. These methods
know of no manifold, so they are given y = [q, v, x] and its rate (plants: `flow`), with the exact Jacobian where they
take one; quaternions are made unit again where a state is read. `engines` are what libraries have to offer.

Nor do they know of constraints: their steps drift from these as far as their errors go. What is read is brought back,
at samples, at events and at the end; and where a step has gone too far the method begins anew from where it ought to
be. The rate itself is that on the constraints, so a drift changes little else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import MissingExtraError, UnsupportedError
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.loop_methods import Multipliers, Projection
from kinemorph.plants.plant import Plant
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.simulation.foreign.constraints import Keeping
from kinemorph.simulation.foreign.engines import UNBOUNDED, CvodeEngine, Engine, Equations, Problem, ScipyEngine
from kinemorph.simulation.foreign.ida import IdaEngine
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.integrators.methods import OUTSIDE
from kinemorph.simulation.march.crossings import PIECES
from kinemorph.simulation.march.guards import Guard, Watch
from kinemorph.simulation.march.layout import Status
from kinemorph.simulation.stepping.initial_state import closed_start
from kinemorph.simulation.stepping.sample_clocks import Clockwork
from kinemorph.simulation.stepping.stepper import SMALLEST, Marched, State, Stepper, check_numbers
from kinemorph.words import did_you_mean

MOST_STEPS = 2000  # in one call: `simulate` looks up at least this often
DRIFT = 10.0  # of the relative tolerance: how far steps may lead from constraints before the method begins anew on them


def sundials_engine(name: str, problem: Problem) -> Engine:
    """A solver of SUNDIALS by its name."""
    return IdaEngine(name, problem) if name == "ida" else CvodeEngine(name, problem)


class Library(NamedTuple):
    """Where methods come from: how to begin with one, the module that is needed, its package and our extra for it."""

    engine: Callable[[str, Problem], Engine]
    module: str
    package: str
    extra: str = ""


LIBRARIES = {
    "scipy": Library(ScipyEngine, "scipy", "scipy"),
    "sundials": Library(sundials_engine, "sksundae", "scikit-sundae", "stiff"),
}


def stepper_for(method: str | Method) -> Callable[..., Stepper | OutsideStepper]:
    """What advances a plant by this method: names with a colon are those of other libraries."""
    return OutsideStepper if isinstance(method, str) and ":" in method else Stepper


class Named(NamedTuple):
    """A method of which only the name is known here."""

    name: str


class OutsideStepper:
    """Advances a plant by the method of another library. See `Stepper`, whose ways it has."""

    def __init__(
        self,
        model: Plant | Dynamics | System | Robot,
        *,
        method: str,
        step: float | None = None,
        rtol: float = 1e-8,
        atol: float = 1e-10,
        largest: float = math.inf,
        smallest: float = SMALLEST,
        guards: Sequence[Guard] = (),
        t: float = 0.0,
        q: Any = None,
        v: Any = None,
        x: Any = None,
        u: Any = None,
        p: Any = None,
        m: Any = None,
        begun: bool = True,
    ) -> None:
        self.library, self.kind = _library(method)
        if step is not None:
            raise UnsupportedError(
                f"method '{method}' chooses its own steps, and step={step} is given. Leave it out; largest= is a bound."
            )
        check_numbers(rtol=rtol, atol=atol, largest=largest, smallest=smallest)
        self.plant, self.method, self.fixed = as_plant(model), Named(method), False
        self.limits = np.array([rtol, atol, smallest, min(largest, UNBOUNDED), MOST_STEPS])
        if self.kind == "ida" and not isinstance(self.plant.loops, Projection | Multipliers):
            raise UnsupportedError(
                f"loops is {type(self.plant.loops).__name__}, and method '{method}' keeps constraints in its own way. "
                "Leave out loops, or choose another method."
            )
        if self.plant.settling(located=True):
            raise UnsupportedError(
                f"'{self.plant.name}' has elements that remember every step, and steps of method '{method}' are not "
                "ours. Use method='dop853', or one with a step."
            )
        self.watch = Watch(self.plant, guards, located=True) if guards or self.plant.guards else None
        self.rows = 256  # samples in one call
        self.calls = self.accepted = 0
        self.h = 0.0
        self.m, self.u, self.p = (self.plant.initial(group, given) for group, given in (("m", m), ("u", u), ("p", p)))
        self.clockwork = Clockwork(self.plant)
        self._clock, self._known, self._begun = self.clockwork.first(t), self.plant.named("m", m), begun
        self._flow = build(self.plant.flow)
        self._place = build(self.plant.place)
        self._constraints = Keeping(self.plant)
        self._guards = build(self.watch.program) if self.watch else None
        self._ways = np.array(self.watch.marched.directions if self.watch else ())
        self._sides = np.zeros(len(self._ways))
        self._zero: Array | float = 0.0  # of the guards that have just changed their sign
        self._due: Array | float = 0.0  # sides of those that are about to
        self._engine: Engine | None = None
        self._anew = True  # whether the method has to begin anew: something has changed
        self._stop = math.inf
        self._t, self._y = t, np.zeros(self.plant.nq + self.plant.nv + self.plant.nx)
        self._old = t  # where the last step began
        self._placed = False
        self.place(t, q, v, x)

    # ── the state ─────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def state(self) -> State:
        """(t, q, v, x) now."""
        return State(self._t, *self._split(self._row(self._t, self._y)))

    @property
    def counts(self) -> tuple[int, int]:
        """(accepted steps so far, 0): libraries do not tell what they reject."""
        return self.accepted, 0

    def _split(self, y: Array) -> tuple[Array, Array, Array]:
        a, b = self.plant.nq, self.plant.nq + self.plant.nv
        return y[:a].copy(), y[a:b].copy(), y[b:].copy()

    def _row(self, t: float, y: Array) -> Array:
        """[q, v, x] on the constraints and with quaternions of length 1."""
        base, s = self._local(y)
        s = self._constraints.held(t, base, s, self._numbers).s
        q = np.zeros(self.plant.nq)
        self._place.raw(q, np.ascontiguousarray(base), s)
        return np.concatenate([q, s[self.plant.nv :]])

    @property
    def _numbers(self) -> tuple[Array, Array, Array]:
        return self.m, self.u, self.p

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The inputs of `rate` now."""
        return self._t, *self._local(self._y), self.m, self.u, self.p

    def _local(self, y: Array) -> tuple[Array, Array]:
        """(base, s) of y."""
        return y[: self.plant.nq], np.concatenate([np.zeros(self.plant.nv), y[self.plant.nq :]])

    def place(self, t: float | None = None, q: Any = None, v: Any = None, x: Any = None) -> None:
        """Puts the plant at a state; what is left out stays (at the beginning: is the plant's start)."""
        kept, first = self._split(self._y), not self._placed
        parts = [
            old if given is None and self._placed else self.plant.initial(group, given)
            for group, given, old in zip("qvx", (q, v, x), kept, strict=True)
        ]
        parts[1][list(self.plant.locked)] = 0.0
        self._y = np.concatenate(parts)
        self._placed = True
        if t is not None:
            self._t = float(t)
        if first and (q is not None or v is not None):
            self.close(q, v)
        if t is not None:
            self._clock, self._known = self.clockwork.first(self._t, self._known), ()
            if self._begun:
                self.tick()
            self._begun = True
        self.refresh()

    def close(self, q: Any = None, v: Any = None) -> None:
        """Brings the state onto the constraints; `q` and `v` are what was given, of which names are kept."""
        now = self._split(self._y)
        self._y = np.concatenate([*closed_start(self.plant, self._t, now, (q, v, self._numbers)), now[2]])
        self.refresh()

    @property
    def next_tick(self) -> float:
        """The time beyond which a run may not ask it to go before it has called `tick` [s]."""
        return self.clockwork.next_time(self._clock)

    @property
    def due(self) -> bool:
        """Whether elements have to sample now."""
        return self._t >= self.next_tick

    def tick(self) -> bool:
        """Lets elements sample whose instant this is; says whether there were any. Raises ControllerError where one of
        them cannot.
        """
        if not self.due:
            return False
        self.m = self.clockwork.run(self._clock, self.inputs)
        self._anew = True
        return True

    def refresh(self) -> None:
        """To be called when m, u or p were changed: the method begins anew."""
        self._anew = True
        if self.watch:
            self._sides = self.watch.sides(*self.inputs, zero=self._zero, due=self._due)

    def side(self, guard: int) -> float:
        """On which side of zero a guard stands, +1 or -1; 0 where it is zero and stays there."""
        return float(self._sides[guard])

    def push(self, u: Any) -> None:
        """Sets the inputs from now on."""
        self.u = self.plant.initial("u", u)
        self.refresh()

    # ── advancing ─────────────────────────────────────────────────────────────────────────────────────────────────

    def step(self) -> State:
        """One step."""
        self._take(min(self.next_tick, 1e300))
        self.tick()
        return self.state

    def advance(self, until: float) -> State:
        """To a time; shorter where an event stops it."""
        until = float(self.clockwork.snapped(np.array([until], dtype=float))[0])
        while self._t < until:
            stop = min(until, self.next_tick)
            status = self.through(np.array([stop]), stop).status
            self.tick()
            if status not in (Status.BUDGET, Status.GOING):
                break
        return self.state

    def through(self, times: Array, stop: float) -> Marched:
        """Rows at the first of `times` that fit one call; no step goes beyond `stop`."""
        rows: list[Array] = []
        fired: tuple[int, ...] = ()
        status, most = Status.GOING, self.accepted + MOST_STEPS
        for target in times[: self.rows]:
            while self._t < target and status is Status.GOING:
                status, fired = self._take(stop)
                if status is Status.GOING and self.accepted >= most:
                    status = Status.BUDGET
            if self._t < target:
                break
            y = self._y if target == self._t or self._engine is None else self._engine.at(target)
            rows.append(np.concatenate([self._row(target, y), self.m]))
        width = len(self._y) + len(self.m)
        self._zero = self._due = 0.0
        if self.watch and fired:
            self._zero = self.watch.zero_at(fired, *self.inputs)
            self._due = self.watch.due(fired, self._sides, *self.inputs)
            others = -self._sides[list(fired)]
            self.refresh()
            self._sides[list(fired)] = others
        return Marched(times[: len(rows)], np.array(rows).reshape(len(rows), width), status, fired)

    def _take(self, stop: float) -> tuple[Status, tuple[int, ...]]:
        """One step and a look at the guards along it."""
        if self._choose_dependent():
            return Status.LOST, ()
        if self._engine is None or self._anew or stop != self._stop:
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
        """Where some velocities are to follow from the others: which. Says whether those that were named do not."""
        if self.plant.dependence is None:
            return False
        chosen = self._constraints.chosen(self._t, *self._local(self._y), self._numbers)
        if chosen is None:
            return True
        if not np.array_equal(chosen, self.m):
            self.m, self._anew = chosen, True
        return False

    def _keep(self) -> Status:
        """Looks how far the last step has led from the constraints; where it is too far the next one begins on them."""
        found = self._constraints.held(self._t, *self._local(self._y), self._numbers)
        if not found.kept:
            return Status.UNSOLVED
        if found.drift > DRIFT * self.limits[0]:
            self._y, self._stop = self._row(self._t, self._y), math.nan
        return Status.GOING

    def _begin(self, stop: float) -> None:
        first = self.h if self._engine is not None and not self._anew and self.h > 0.0 else None
        rtol, atol, _, largest, _ = map(float, self.limits)
        equations = Equations(self.plant, self._numbers, self._rate, self._jacobian, self._looked)
        problem = Problem(equations, self._t, self._y, stop, first, rtol, atol, largest)
        self._engine, self._stop, self._anew = self.library.engine(self.kind, problem), stop, False

    @cached_property
    def _slope(self) -> CompiledFunction:
        return build(jacobian(self.plant.flow, "out", "y"))

    def _looked(self) -> None:
        self.calls += 1

    def _rate(self, t: float, y: Array) -> Array:
        out = np.zeros(len(self._y))
        self._flow.raw(out, np.array(float(t)), np.ascontiguousarray(y, dtype=float), self.m, self.u, self.p)
        self._looked()
        return out

    def _jacobian(self, t: float, y: Array) -> Array:
        out = np.zeros((len(self._y), len(self._y)))
        self._slope.raw(out, np.array(float(t)), np.ascontiguousarray(y, dtype=float), self.m, self.u, self.p)
        self._looked()
        return out

    # ── events ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _look_along(self) -> tuple[Status, tuple[int, ...]]:
        """Looks at the guards along the last step; at the first change of sign, goes back there and stops."""
        low, end, at_end = self._old, self._t, self._y
        for piece in range(1, PIECES + 1):
            high = end if piece == PIECES else self._old + (end - self._old) * (piece / PIECES)
            values = self._guard_values(high, at_end if piece == PIECES else None)
            if not self._crossed(values).any():
                self._sides = np.where(values == 0.0, self._sides, np.sign(values))
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
            self._t, self._anew = high, True
            return Status.EVENT, tuple(map(int, np.flatnonzero(crossed)))
        return Status.GOING, ()

    def _guard_values(self, t: float, y: Array | None = None) -> Array:
        assert self._guards is not None and self._engine is not None
        y = self._engine.at(t) if y is None else y
        values = np.zeros(len(self._ways))
        base, s = self._local(np.asarray(y, dtype=float))
        s = self._constraints.held(t, base, s, self._numbers).s
        self._guards.raw(values, np.array(t), np.ascontiguousarray(base), s, self.m, self.u, self.p)
        return values

    def _crossed(self, values: Array) -> npt.NDArray[np.bool_]:
        found: npt.NDArray[np.bool_] = (
            (values * self._sides <= 0.0) & (self._sides != 0.0) & (self._ways * self._sides <= 0.0)
        )
        return found


def _library(method: str) -> tuple[Library, str]:
    """The library of a method, and the method's name in it."""
    if method not in OUTSIDE:
        listed = ", ".join(OUTSIDE)
        raise UnsupportedError(f"there is no method '{method}'.{did_you_mean(method, OUTSIDE)} Of others: {listed}.")
    prefix, kind = method.split(":", 1)
    library = LIBRARIES[prefix]
    try:
        __import__(library.module)
    except ImportError:
        raise MissingExtraError(library.package, library.extra) from None
    return library, kind
