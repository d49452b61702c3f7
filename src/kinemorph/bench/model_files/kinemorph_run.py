"""A model file in Kinemorph: its runs by `simulate` with adaptive methods, and batches of them by `simulate_batch`.

Two methods are tried: one for stiff drives and contacts, and the default one for smooth motion. The latter takes tiny
steps while a robot stands on the ground; a run that takes longer than PATIENCE, for a reference LONG, is given up.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.contestants import TOLERANCE, Entry, by_simulate
from kinemorph.bench.model_files.problem import DURATION, FileProblem
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.simulate_batch import simulate_batch

METHODS = ("rodas", "dop853")
PATIENCE, LONG = 5.0, 60.0  # [s] of CPU time
TOLERANCES = tuple(float(f"{digit}e-{power}") for power in range(3, 9) for digit in (1, 0.3))
FINE = (1e-4, 1e-5)  # tolerances of the two runs of a reference, relative to the error that is asked for


class _GivenUp(Exception):
    """A run takes too long."""


class KinemorphFile:
    """The problem in Kinemorph: single runs and batches."""

    def __init__(self, problem: FileProblem, enough: float) -> None:
        self.problem, self.enough = problem, enough

    def run(self, method: str, patience: float = PATIENCE) -> Callable[[float], Trajectory | None]:
        """A function of a tolerance that simulates the first robot; None where the run is given up."""
        problem = self.problem

        def run(tolerance: float) -> Trajectory | None:
            began: list[float] = []

            def look(t: float, step: float, events: int) -> None:
                began.append(time.process_time())  # the first call comes after everything is compiled
                if began[-1] - began[0] > patience:
                    raise _GivenUp

            simulated = by_simulate(
                problem.system, problem.times, problem.q[0], problem.v[0], method, progress=look, **problem.given
            )
            try:
                found: Trajectory = simulated(tolerance)
            except _GivenUp:
                return None
            return found

        return run

    def fine_runs(self) -> list[Callable[[], tuple[Array, Array]]]:
        """Functions that give pairs of runs for a reference, the second of a tighter tolerance."""

        def pair(method: str) -> tuple[Array, Array]:
            fine, finer = (self.states(self.run(method, LONG)(share * self.enough)) for share in FINE)
            return fine, finer

        return [partial(pair, method) for method in METHODS]

    def entries(self, read: Callable[[Array], Array]) -> list[Entry]:
        """One entry for each method."""
        return [
            Entry("Kinemorph", method, TOLERANCES, TOLERANCE, self.run(method), lambda run: read(self.states(run)))
            for method in METHODS
        ]

    def by_default(self) -> Trajectory:
        """The run of the first robot with the default method and tolerances."""
        problem = self.problem
        samples: Any = problem.times.tolist()
        return simulate(problem.system, DURATION, q=problem.q[0], v=problem.v[0], output_step=samples, **problem.given)

    def batch(self, method: str | None, tolerance: float | None, count: int) -> Callable[[], Any]:
        """A function that runs the first `count` robots of the problem at once, on one core; None are the defaults."""
        problem = self.problem
        given = {("u" if key == "inputs" else key): value for key, value in problem.given.items()}
        return partial(
            simulate_batch,
            problem.system,
            DURATION,
            q=problem.q[:count],
            v=problem.v[:count],
            method=method,
            rtol=tolerance,
            atol=tolerance,
            output_step=DURATION,
            threads=1,
            **given,
        )

    def states(self, run: Trajectory | None) -> Array:
        """The configurations and velocities at the samples, shape (n, nq + nv); NaN after the end of a run."""
        robot = self.problem.robot
        found = np.full((len(self.problem.times), robot.nq + robot.nv), np.nan)
        if run is not None:
            found[: len(run.t) - 1] = np.concatenate([run.q[1:], run.v[1:]], axis=1)
        return found
