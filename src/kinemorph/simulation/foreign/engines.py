"""What libraries of methods have to offer, each behind the same two calls: one step, and values in between.

SciPy and scikit-sundae are imported when a method of theirs is asked for.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.plants.plant import Plant

Rate = Callable[[float, Array], Array]
GUESS = 10.0  # [s]
UNBOUNDED = 1e30  # [s] a largest step beyond it is none


class Engine(Protocol):
    """A method of a library at work from one state on."""

    def step(self) -> tuple[float, Array]:
        """One step: time and state at its end. Raises ArithmeticError where there is none."""
        ...

    def at(self, t: float) -> Array:
        """The state at a time within the last step."""
        ...


class Equations(NamedTuple):
    """What is to be integrated."""

    plant: Plant
    numbers: tuple[Array, Array, Array]  # m, u, p
    rate: Rate  # of y = [q, v, x]
    slope: Rate  # its Jacobian, (n, n)
    looked: Callable[[], None]  # to be called with each look at others than these two


class Problem(NamedTuple):
    """What an engine is given."""

    equations: Equations
    t: float
    y: Array
    stop: float  # no step goes beyond it
    first: float | None  # size of the first step [s]
    rtol: float
    atol: float
    largest: float

    @property
    def longest(self) -> float:
        """The largest step as SUNDIALS takes it: 0 for none."""
        return 0.0 if self.largest >= UNBOUNDED else self.largest

    @property
    def beginning(self) -> float:
        """The first step as SUNDIALS takes it: 0 where it is to find one."""
        return 0.0 if self.first is None else min(self.first, self.stop - self.t)


class ScipyEngine:
    """A solver of scipy.integrate."""

    def __init__(self, name: str, problem: Problem) -> None:
        from scipy import integrate

        options: dict[str, Any] = {"rtol": problem.rtol, "atol": problem.atol, "max_step": problem.largest}
        if name in ("Radau", "BDF", "LSODA"):
            options["jac"] = problem.equations.slope
        if problem.first is not None:
            options["first_step"] = min(problem.first, problem.stop - problem.t)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tolerances below what it can do are raised to what it can
            self.solver = getattr(integrate, name)(
                problem.equations.rate, problem.t, problem.y, problem.stop, **options
            )
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


class Sundials:
    """A solver of SUNDIALS that goes step by step."""

    solver: Any
    t: float
    stop: float
    size: int  # of [q, v, x], the first of its unknowns

    def step(self) -> tuple[float, Array]:
        for _ in range(2):  # after values in between, it first comes back to where it was
            # the time that it is told to go to serves it for a first guess of the step
            found = self.solver.step(min(self.stop, self.t + GUESS), method="onestep", tstop=self.stop)
            if not found.success:
                raise ArithmeticError(str(found.message))
            if not np.isfinite(found.y).all():
                raise FloatingPointError("the state is not finite")
            if found.t > self.t:
                self.t = float(found.t)
                return self.t, np.array(found.y[: self.size])
        raise ArithmeticError("steps are too small to count")

    def at(self, t: float) -> Array:
        return np.array(self.solver.step(t, method="normal", tstop=self.stop).y[: self.size])


class CvodeEngine(Sundials):
    """CVODE of SUNDIALS, by scikit-sundae."""

    def __init__(self, name: str, problem: Problem) -> None:
        from sksundae.cvode import CVODE

        def rate(t: float, y: Array, out: Array) -> None:
            out[:] = problem.equations.rate(t, y)

        def slope(t: float, y: Array, out: Array, matrix: Array) -> None:
            matrix[:] = problem.equations.slope(t, y)

        self.solver = CVODE(
            rate,
            method={"cvode-bdf": "BDF", "cvode-adams": "Adams"}[name],
            jacfn=slope,
            rtol=max(problem.rtol, 1e-15),
            atol=problem.atol,
            max_step=problem.longest,
            first_step=problem.beginning,
            max_num_steps=100_000,
        )
        self.solver.init_step(problem.t, problem.y)
        self.t, self.stop, self.size = problem.t, problem.stop, len(problem.y)
