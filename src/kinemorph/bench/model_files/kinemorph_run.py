"""A model file in Kinemorph: its runs by `simulate` with adaptive methods, and batches of them by `simulate_batch`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.contestants import TOLERANCE, Entry, by_simulate
from kinemorph.bench.model_files.problem import DURATION, FileProblem
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate_batch import simulate_batch

STIFF, SMOOTH = "rodas", "dop853"
TOLERANCES = tuple(float(f"{digit}e-{power}") for power in range(3, 9) for digit in (1, 0.3))
FINE = (1e-8, 1e-9)  # tolerances of the two runs of a reference


class KinemorphFile:
    """The problem in Kinemorph: single runs and batches."""

    def __init__(self, problem: FileProblem) -> None:
        self.problem = problem

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that are tried: one for stiff drives and contacts, and that for smooth motion without contact."""
        return (STIFF,) if self.problem.contacts else (STIFF, SMOOTH)

    def run(self, method: str) -> Callable[[float], Trajectory]:
        """A function of a tolerance that simulates the first robot."""
        problem = self.problem
        return by_simulate(problem.system, problem.times, problem.q[0], problem.v[0], method, **problem.given)

    def fine_runs(self) -> list[Callable[[], tuple[Array, Array]]]:
        """Functions that give pairs of runs for a reference, the second of a tighter tolerance."""

        def pair(method: str) -> tuple[Array, Array]:
            fine, finer = (states(self.run(method)(tolerance)) for tolerance in FINE)
            missing = len(self.problem.times) - len(finer)
            return fine, np.pad(finer, ((0, missing), (0, 0)), constant_values=np.nan)

        return [partial(pair, method) for method in self.methods]

    def entries(self, read: Callable[[Array], Array]) -> list[Entry]:
        """One entry for each method."""
        return [
            Entry("Kinemorph", method, TOLERANCES, TOLERANCE, self.run(method), lambda run: read(states(run)))
            for method in self.methods
        ]

    def batch(self, method: str, tolerance: float, count: int) -> Callable[[], Any]:
        """A function that runs the first `count` robots of the problem at once, on one core."""
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


def states(run: Trajectory) -> Array:
    """The configurations and velocities at the samples after the first, shape (n, nq + nv)."""
    found: Array = np.concatenate([run.q[1:], run.v[1:]], axis=1)
    return found
