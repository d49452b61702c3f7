"""Runs of the problems in our library: by events, by time steps of Moreau, and with soft contacts."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.rigid.problems import Problem
from kinemorph.simulation.march.layout import Status
from kinemorph.simulation.stepping.stepper import Stepper


class Outcome(NamedTuple):
    """The configurations (samples, 3 bodies) of a run, and its CPU time [s]."""

    rows: Array
    seconds: float


WARM = 40  # runs after which programs that are called at events only are compiled, too


def least(run: Callable[[], Array], repeats: int, warm: int = 1) -> Outcome:
    """The result of a run, and its least CPU time in several repeats, after `warm` runs that are not timed."""
    rows: Array = np.zeros(0)
    taken = []
    for _ in range(warm):
        rows = run()
    for _ in range(repeats):
        began = time.process_time()
        run()
        taken.append(time.process_time() - began)
    return Outcome(rows, min(taken))


def kinemorph_run(problem: Problem, repeats: int, *, soft: bool = False, **options: Any) -> Outcome:
    """A run with a `Stepper` that is made beforehand; `options` are its method and its tolerances or step."""
    stepper = Stepper(problem.system(soft=soft), **options)

    def run() -> Array:
        stepper.restart(0.0)
        if "step" in options:
            stepper.h = options["step"]
        rows: list[Array] = []
        times: Any = problem.times
        while len(times):
            marched = stepper.through(times, problem.end)
            rows += list(marched.rows[:, : stepper.plant.nq])
            times = times[len(marched.times) :]
            if marched.status not in (Status.GOING, Status.BUDGET, Status.LOGGED):
                break
        return np.array(rows)

    return least(run, repeats, WARM)
