"""The rows of `kinemorph bench simulate`: the time of a run of ten seconds, at equal accuracy.

Every entry is tuned first: it gets its loosest setting whose angles are within `ENOUGH` of a reference at every sample.
The reference is our own run at a tolerance of 1e-13, which two of the contestants have to confirm. Then all entries
take turns, and the fastest of each contestant counts. Only our batches are timed, as no peer runs batches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.contestants import Entry, Tuned, gathered, tune
from kinemorph.bench.peers.robots import stored_robot
from kinemorph.bench.runs import entries
from kinemorph.bench.runs.entries import Problem
from kinemorph.bench.standing.equal_error import compare_standing
from kinemorph.bench.terrain.gait_batches import compare_terrain
from kinemorph.bench.timing import Pace, Row, Say, take_turns
from kinemorph.codegen.backends.threads import default_threads
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import neutral
from kinemorph.model.library.textbook import SWING, pendulum
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.simulate_batch import simulate_batch
from kinemorph.words import counted

ENOUGH = 1e-8  # [rad], the largest error of an accurate run
DURATION = 10.0  # [s]
STATES = 10_000  # of a batch
LONGEST = 20.0  # [s], if a setting takes longer, no tighter one is tried


def double_pendulum() -> Problem:
    """The problem of two bars of 1 m, 1 kg and 1 kg m^2 each, released horizontally with g = 10 m/s^2."""
    builder = RobotBuilder("double_pendulum", gravity=(0.0, 0.0, -10.0))
    for k, (parent, offset) in enumerate((("world", 0.0), ("link0", -1.0))):
        builder.body(f"link{k}", 1.0, com=(0.0, 0.0, -0.5), inertia=(1.0, 1.0, 1.0))
        builder.joint(f"q{k}", "revolute", parent, f"link{k}", translation=(0.0, 0.0, offset), axis=SWING)
    return Problem("double pendulum", builder.build(), np.array([np.pi / 2, 0.0]), np.zeros(2), _times())


def hexapod() -> Problem:
    """The problem of a hexapod of 36 dof that floats without gravity, with random leg velocities of about 1 rad/s."""
    robot = replace(stored_robot("hexapod36"), gravity=(0.0, 0.0, 0.0))
    v = np.random.default_rng(36).normal(size=robot.nv)
    v[:6] = 0.0
    return Problem("hexapod36 afloat", robot, np.array(neutral(robot)), v, _times())


def _times() -> Array:
    return np.arange(1.0, DURATION + 0.5)


PEERS: dict[str, Callable[[Problem], list[Entry]]] = {
    "Pinocchio + SciPy": entries.pinocchio_entries,
    "MuJoCo": entries.mujoco_entries,
    "Exudyn": entries.exudyn_entries,
}
PROBLEMS: tuple[tuple[Callable[[], Problem], tuple[str, ...]], ...] = (
    (double_pendulum, ("Exudyn", "MuJoCo", "Pinocchio + SciPy")),
    (hexapod, ("MuJoCo", "Pinocchio + SciPy")),
)


def compare(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields the rows of all problems, then of batches, of hexapods on the ground, and of quadrupeds on terrain."""
    for make, names in PROBLEMS:
        problem = make()
        yield from contest(problem, names, pace, quick=quick, say=say, note=note)
    yield from batches(pace, quick=quick)
    yield from compare_standing(pace, quick=quick, say=say, note=note)
    yield from compare_terrain(pace, quick=quick, say=say, note=note)


def contest(problem: Problem, names: tuple[str, ...], pace: Pace, *, quick: bool, say: Say, note: Say) -> list[Row]:
    """The rows of one problem, one per contestant, the fastest first; `names` are the peers that take part."""
    wanted = reference(problem)
    makers = {name: partial(PEERS[name], problem) for name in names}
    tuned = []
    for entry in entries.kinemorph_entries(problem) + gathered(makers, note):
        say(f"tuning {entry.contestant}, {entry.method} on {problem.name}")
        tuned.append(tune(entry, wanted, ENOUGH, LONGEST / 10 if quick else LONGEST))
    say(f"timing {problem.name}")
    seconds = take_turns([partial(one.entry.run, one.setting) for one in tuned], pace)
    best: dict[str, tuple[Tuned, float]] = {}
    for one, took in zip(tuned, seconds, strict=True):
        known = best.get(one.entry.contestant)
        if known is None or (not one.reached, took) < (not known[0].reached, known[1]):
            best[one.entry.contestant] = one, took
    ours = min(took for name, (_, took) in best.items() if name.startswith("Kinemorph"))
    rows = [_row(problem, one, took, took / ours) for one, took in best.values()]
    return sorted(rows, key=lambda row: float(row["ms"]))


def reference(problem: Problem) -> Array:
    """The angles of the hinges at the samples [rad], shape (samples, hinges), from our run at a tolerance of 1e-13."""
    found = simulate(
        problem.robot, DURATION, q=problem.q, v=problem.v, output_step=problem.times.tolist(), rtol=1e-13, atol=1e-13
    )
    return found.segments[0].q[1:, problem.hinges]


def _row(problem: Problem, one: Tuned, seconds: float, ratio: float) -> Row:
    return {
        "kind": "run",
        "problem": problem.name,
        "dof": problem.robot.nv,
        "contestant": one.entry.contestant,
        "method": one.entry.method,
        "setting": one.entry.says.format(one.setting),
        "error": one.error,
        "reached": one.reached,
        "ms": 1e3 * seconds,
        "ratio": ratio,
    }


# ── batches ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def batches(pace: Pace, *, quick: bool) -> Iterator[Row]:
    """Yields the rows of batches: many different pendulums in one call, on one core and on all cores."""
    system = plant(pendulum(), parameters=["m1", "l1"])
    rng = np.random.default_rng(7)
    given: dict[str, Any] = {"q": rng.uniform(-2.0, 2.0, (STATES, 1)), "p": rng.uniform(0.5, 2.0, (STATES, 2))}
    until = 0.2 if quick else 1.0
    kinds: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("rk4", "step 0.001 s", {"method": "rk4", "step": 1e-3}),
        ("dop853", "tolerance 1e-08", {"method": "dop853", "rtol": 1e-8, "atol": 1e-8}),
    )
    for method, setting, options in kinds:
        end = until if method == "rk4" else DURATION
        for threads in sorted({1, default_threads()}):

            def work(end: float = end, options: dict[str, Any] = options, threads: int = threads) -> Any:
                return simulate_batch(system, end, output_step=end, threads=threads, **given, **options)

            run = work()
            steps = int(run.accepted.sum() + run.rejected.sum())
            clock = time.process_time if threads == 1 else time.perf_counter
            (seconds,) = take_turns([work], pace, clock)
            yield {
                "kind": "batch",
                "problem": f"{STATES:,} pendulums",
                "dof": 1,
                "contestant": f"Kinemorph, {counted(threads, 'core')}",
                "method": method,
                "setting": setting,
                "error": None,
                "reached": bool(run.ok.all()),
                "ms": 1e3 * seconds,
                "ratio": None,
                "states_steps_per_second": steps / seconds,
            }
