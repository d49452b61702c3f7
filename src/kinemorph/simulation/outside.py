"""Methods of other libraries behind the same call: SciPy's and SUNDIALS', around the compiled rate.

`OutsideStepper` is a Stepper to `simulate`: it advances, samples and stops at events in the same way. These methods
know of no manifold, so they are given y = [q, v, x] and its rate (plants: `flow`), with the exact Jacobian where they
take one; quaternions are made unit again where a state is read. An `Engine` is what a library has to offer: one step,
and values in between.

SciPy and scikit-sundae are imported when a method of theirs is asked for.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from kinemorph.codegen.compile import build
from kinemorph.codegen.differentiate import jacobian
from kinemorph.deriving import Dynamics
from kinemorph.errors import MissingExtraError, UnsupportedError, did_you_mean
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.plants.robots import plant as as_plant
from kinemorph.simulation.clockwork import Clockwork
from kinemorph.simulation.events import Guard, Watch
from kinemorph.simulation.march_memory import Status
from kinemorph.simulation.methods import OUTSIDE
from kinemorph.simulation.stepper import SMALLEST, Marched, State, Stepper, check_numbers
from kinemorph.simulation.stepping import Method
from kinemorph.simulation.watching import PIECES

Array = npt.NDArray[np.float64]
Rate = Callable[[float, Array], Array]
MOST_STEPS = 2000  # in one call: `simulate` looks up at least this often


class Engine(Protocol):
    """A method of a library at work from one state on."""

    def step(self) -> tuple[float, Array]:
        """One step: time and state at its end. Raises ArithmeticError where there is none."""
        ...

    def at(self, t: float) -> Array:
        """The state at a time within the last step."""
        ...


class Problem(NamedTuple):
    """What an engine is given."""

    rate: Rate
    slope: Rate  # the Jacobian, (n, n)
    t: float
    y: Array
    stop: float  # no step goes beyond it
    first: float | None  # size of the first step [s]
    rtol: float
    atol: float
    largest: float


class ScipyEngine:
    """A solver of scipy.integrate."""

    def __init__(self, name: str, problem: Problem) -> None:
        from scipy import integrate

        options: dict[str, Any] = {"rtol": problem.rtol, "atol": problem.atol, "max_step": problem.largest}
        if name in ("Radau", "BDF", "LSODA"):
            options["jac"] = problem.slope
        if problem.first is not None:
            options["first_step"] = min(problem.first, problem.stop - problem.t)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tolerances below what it can do are raised to what it can
            self.solver = getattr(integrate, name)(problem.rate, problem.t, problem.y, problem.stop, **options)
        self.dense: Any = None

    def step(self) -> tuple[float, Array]:
        self.dense = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what it warns of it fails with
                message = self.solver.step()
        except ValueError as error:  # a matrix with NaN
            raise FloatingPointError(str(error)) from error
        if self.solver.status == "failed":
            raise ArithmeticError(message)
        return float(self.solver.t), np.array(self.solver.y)

    def at(self, t: float) -> Array:
        if self.dense is None:
            self.dense = self.solver.dense_output()
        found: Array = np.asarray(self.dense(t))
        return found


class SundialsEngine:
    """CVODE of SUNDIALS, by scikit-sundae."""

    def __init__(self, name: str, problem: Problem) -> None:
        from sksundae.cvode import CVODE

        def rate(t: float, y: Array, out: Array) -> None:
            out[:] = problem.rate(t, y)

        def slope(t: float, y: Array, out: Array, matrix: Array) -> None:
            matrix[:] = problem.slope(t, y)

        self.solver = CVODE(
            rate,
            method={"cvode-bdf": "BDF", "cvode-adams": "Adams"}[name],
            jacfn=slope,
            rtol=max(problem.rtol, 1e-15),
            atol=problem.atol,
            max_step=0.0 if problem.largest >= 1e30 else problem.largest,
            first_step=0.0 if problem.first is None else min(problem.first, problem.stop - problem.t),
            max_num_steps=100_000,
        )
        self.solver.init_step(problem.t, problem.y)
        self.t, self.stop = problem.t, problem.stop

    def step(self) -> tuple[float, Array]:
        for _ in range(2):  # after values in between, it first comes back to where it was
            found = self.solver.step(self.stop, method="onestep", tstop=self.stop)
            if not found.success:
                raise ArithmeticError(str(found.message))
            if not np.isfinite(found.y).all():
                raise FloatingPointError("the state is not finite")
            if found.t > self.t:
                self.t = float(found.t)
                return self.t, np.array(found.y)
        raise ArithmeticError("steps are too small to count")

    def at(self, t: float) -> Array:
        return np.array(self.solver.step(t, method="normal", tstop=self.stop).y)


class Library(NamedTuple):
    """Where methods come from: how to begin with one, the module that is needed, its package and our extra for it."""

    engine: Callable[[str, Problem], Engine]
    module: str
    package: str
    extra: str = ""


LIBRARIES = {
    "scipy": Library(ScipyEngine, "scipy", "scipy"),
    "sundials": Library(SundialsEngine, "sksundae", "scikit-sundae", "stiff"),
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
        self.limits = np.array([rtol, atol, smallest, min(largest, 1e30), MOST_STEPS])
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
        self._flow, self._slope = build(self.plant.flow), build(jacobian(self.plant.flow, "out", "y"))
        self._place = build(self.plant.place)
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
        return State(self._t, *self._split(self._row(self._y)))

    @property
    def counts(self) -> tuple[int, int]:
        """(accepted steps so far, 0): libraries do not tell what they reject."""
        return self.accepted, 0

    def _split(self, y: Array) -> tuple[Array, Array, Array]:
        a, b = self.plant.nq, self.plant.nq + self.plant.nv
        return y[:a].copy(), y[a:b].copy(), y[b:].copy()

    def _row(self, y: Array) -> Array:
        """[q, v, x] with quaternions of length 1."""
        q = np.zeros(self.plant.nq)
        self._place.raw(q, *map(np.ascontiguousarray, (y[: self.plant.nq], self._local(y)[1])))
        return np.concatenate([q, y[self.plant.nq :]])

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The inputs of `rate` now."""
        return self._t, *self._local(self._y), self.m, self.u, self.p

    def _local(self, y: Array) -> tuple[Array, Array]:
        """(base, s) of y."""
        return y[: self.plant.nq], np.concatenate([np.zeros(self.plant.nv), y[self.plant.nq :]])

    def place(self, t: float | None = None, q: Any = None, v: Any = None, x: Any = None) -> None:
        """Puts the plant at a state; what is left out stays (at the beginning: is the plant's start)."""
        now = self.state
        parts = [
            kept if given is None and self._placed else self.plant.initial(group, given)
            for group, given, kept in (("q", q, now.q), ("v", v, now.v), ("x", x, now.x))
        ]
        parts[1][list(self.plant.locked)] = 0.0
        self._y = np.concatenate(parts)
        self._placed = True
        if t is not None:
            self._t = float(t)
            self._clock, self._known = self.clockwork.first(self._t, self._known), ()
            if self._begun:
                self.tick()
            self._begun = True
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
            rows.append(np.concatenate([self._row(y), self.m]))
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
        return self._look_along() if self.watch else (Status.GOING, ())

    def _begin(self, stop: float) -> None:
        _, _, _, largest, _ = self.limits
        first = self.h if self._engine is not None and not self._anew and self.h > 0.0 else None
        rtol, atol = self.limits[:2]
        problem = Problem(self._rate, self._jacobian, self._t, self._y, stop, first, rtol, atol, largest)
        self._engine, self._stop, self._anew = self.library.engine(self.kind, problem), stop, False

    def _rate(self, t: float, y: Array) -> Array:
        out = np.zeros(len(self._y))
        self._flow.raw(out, np.array(float(t)), np.ascontiguousarray(y, dtype=float), self.m, self.u, self.p)
        self.calls += 1
        return out

    def _jacobian(self, t: float, y: Array) -> Array:
        out = np.zeros((len(self._y), len(self._y)))
        self._slope.raw(out, np.array(float(t)), np.ascontiguousarray(y, dtype=float), self.m, self.u, self.p)
        self.calls += 1
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
            self._y = at_end if high == end else self._engine.at(high)
            crossed = self._crossed(self._guard_values(high, self._y))
            self._t, self._anew = high, True
            return Status.EVENT, tuple(map(int, np.flatnonzero(crossed)))
        return Status.GOING, ()

    def _guard_values(self, t: float, y: Array | None = None) -> Array:
        assert self._guards is not None and self._engine is not None
        y = self._engine.at(t) if y is None else y
        values = np.zeros(len(self._ways))
        base, s = self._local(np.asarray(y, dtype=float))
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
