"""The solvers of other libraries, each with the same two functions: take a step, and interpolate within that step.

SciPy and scikit-sundae are imported when one of their methods is chosen.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.plants.programs import Plant
from kinemorph.simulation.stepping.step_options import UNBOUNDED, StepOptions

Rate = Callable[[float, Array], Array]
GUESS = 10.0  # [s] how far ahead lies the time from which SUNDIALS guesses its first step


class Engine(Protocol):
    """A solver of another library, started from one state."""

    def step(self) -> tuple[float, Array]:
        """Takes one step; returns the time [s] and the state at its end. Raises ArithmeticError where it fails."""
        ...

    def at(self, t: float) -> Array:
        """The state [q, v, x] at a time t [s] within the last step."""
        ...


class Equations(NamedTuple):
    """The differential equations to integrate; the state is y = [q, v, x]: configuration, velocities, other states."""

    plant: Plant
    numbers: tuple[Array, Array, Array]  # m, u, p
    rate: Rate  # dy/dt, (n,)
    slope: Rate  # the Jacobian of the rate, (n, n)
    counted: Callable[[], None]  # has to be called with each evaluation of other functions of the plant


class InitialValueProblem(NamedTuple):
    """An initial value problem for an engine: the equations, the initial time and state, and the options."""

    equations: Equations
    t: float
    y: Array
    stop: float  # no step goes beyond it
    first: float | None  # size of the first step [s]
    options: StepOptions

    @property
    def max_step(self) -> float:
        """The largest step [s] in the form that SUNDIALS expects: 0 means no bound."""
        return 0.0 if self.options.max_step >= UNBOUNDED else float(self.options.max_step)

    @property
    def first_step(self) -> float:
        """The first step [s] in the form that SUNDIALS expects: 0 means that SUNDIALS chooses it."""
        return 0.0 if self.first is None else min(self.first, self.stop - self.t)


class ScipyEngine:
    """A solver of scipy.integrate."""

    def __init__(self, name: str, problem: InitialValueProblem) -> None:
        from scipy import integrate

        chosen = problem.options
        options: dict[str, Any] = {"rtol": chosen.rtol, "atol": chosen.atol, "max_step": chosen.max_step}
        if name in ("Radau", "BDF", "LSODA"):
            options["jac"] = problem.equations.slope
        if problem.first is not None:
            options["first_step"] = min(problem.first, problem.stop - problem.t)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SciPy raises tolerances that are too tight for it
            self.solver = getattr(integrate, name)(
                problem.equations.rate, problem.t, problem.y, problem.stop, **options
            )
        self.dense: Any = None

    def step(self) -> tuple[float, Array]:
        self.dense = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a failure follows every warning that matters
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
    """A solver of SUNDIALS, which is advanced one step at a time."""

    solver: Any
    t: float
    stop: float
    size: int  # the length of [q, v, x], which are the first unknowns

    def step(self) -> tuple[float, Array]:
        for _ in range(2):  # after an interpolation, the first call only comes back to the end of the last step
            # SUNDIALS guesses its first step from the time that is asked for
            found = self.solver.step(min(self.stop, self.t + GUESS), method="onestep", tstop=self.stop)
            if not found.success:
                raise ArithmeticError(str(found.message))
            if not np.isfinite(found.y).all():
                raise FloatingPointError("the state is not finite")
            if found.t > self.t:
                self.t = float(found.t)
                return self.t, np.array(found.y[: self.size])
        raise ArithmeticError("steps are too small to advance the time")

    def at(self, t: float) -> Array:
        return np.array(self.solver.step(t, method="normal", tstop=self.stop).y[: self.size])


class CvodeEngine(Sundials):
    """CVODE of SUNDIALS, through scikit-sundae."""

    def __init__(self, name: str, problem: InitialValueProblem) -> None:
        from sksundae.cvode import CVODE

        def rate(t: float, y: Array, out: Array) -> None:
            out[:] = problem.equations.rate(t, y)

        def slope(t: float, y: Array, out: Array, matrix: Array) -> None:
            matrix[:] = problem.equations.slope(t, y)

        self.solver = CVODE(
            rate,
            method={"cvode-bdf": "BDF", "cvode-adams": "Adams"}[name],
            jacfn=slope,
            rtol=max(problem.options.rtol, 1e-15),
            atol=problem.options.atol,
            max_step=problem.max_step,
            first_step=problem.first_step,
            max_num_steps=100_000,
        )
        self.solver.init_step(problem.t, problem.y)
        self.t, self.stop, self.size = problem.t, problem.stop, len(problem.y)
