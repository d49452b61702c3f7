"""Hexapods on the ground in Kinemorph and in MuJoCo, compared at equal error.

The error of a run is measured against the same simulator at a sixteenth of the step size. MuJoCo's errors at steps of 1
and 2 ms are compared with ours; see `bench.equal_error`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kinemorph.bench.equal_error import (
    Batch,
    Contest,
    Contestant,
    Judge,
    comparisons,
    errors_by_step,
    points,
    timed_curves,
)
from kinemorph.bench.standing.kinemorph_run import BATCH, BATCH_STEPS, METHODS, OursStanding
from kinemorph.bench.standing.problem import (
    COMPONENTS,
    DURATION,
    SCENARIOS,
    STEPS,
    Scenario,
    Standing,
    rms_errors,
    standing,
)
from kinemorph.bench.targets import judge_standing
from kinemorph.bench.timing import Pace, Row, Say
from kinemorph.display.charts.work_precision import Work
from kinemorph.errors import MissingExtraError

if TYPE_CHECKING:
    from kinemorph.bench.standing.mujoco_run import MujocoStanding

ROBOTS = ("hexapod24", "hexapod36")
MUJOCO_STEPS = STEPS[1:5]  # 8 to 1 ms
COMPARED = STEPS[3:5]  # 2 and 1 ms: MuJoCo's step sizes whose errors our runs have to match
ROLLED = 4  # robots in MuJoCo's batch
DRAWN_BATCHED = "centered_contact"  # the only method whose batch is drawn, too: the other curves are similar


def compare_standing(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields the rows of all hexapods on the ground: points of curves, and comparisons at equal error."""
    try:
        from kinemorph.bench.standing.mujoco_run import MujocoStanding
    except ImportError:
        note(f"hexapods on the ground are not compared: {MissingExtraError('mujoco', 'peers')}")
        return
    for name, scenario in problems(quick=quick):
        problem = standing(name, scenario)
        peer = MujocoStanding(problem)
        contest = contest_of(problem, "ground", COMPARED, judge_standing)
        yield from contested(contest, problem, peer, (MUJOCO_STEPS, METHODS), pace, say, note)


def problems(*, quick: bool) -> list[tuple[str, Scenario]]:
    """The problems to run, as (name of the robot, scenario)."""
    return [("hexapod24", "pushed")] if quick else [(name, scenario) for name in ROBOTS for scenario in SCENARIOS]


def contest_of(problem: Standing, kind: str, compared: tuple[float, ...], judge: Judge) -> Contest:
    """The contest of a robot that stands: its name, size, duration and components of the error."""
    label = f"{problem.name} {problem.scenario}"
    return Contest(kind, label, problem.robot.nv, problem.duration, COMPONENTS, compared, judge)


def contested(
    contest: Contest,
    problem: Standing,
    peer: MujocoStanding,
    steps: tuple[Sequence[float], Mapping[str, Sequence[float]]],
    pace: Pace,
    say: Say,
    note: Say,
) -> Iterator[Row]:
    """Yields the rows of one robot on the ground. `steps` are the step sizes [s] of MuJoCo, and of our methods."""
    theirs, methods = steps
    contestants = []
    say(f"measuring errors of MuJoCo on {contest.problem}")
    h = contest.compared[0]
    rolled = Batch(peer.rollout(h, ROLLED), ROLLED * round(problem.duration / h))
    errors = errors_by_step(peer.run, theirs, rms_errors)
    contestants.append(Contestant("MuJoCo", peer.integrator, peer.run, errors, rolled))
    for method, sizes in methods.items():
        say(f"measuring errors of {method} on {contest.problem}")
        one = OursStanding(problem, method)
        many = Batch(one.batch(sizes[0]), BATCH * BATCH_STEPS)
        contestants.append(Contestant("Kinemorph", method, one.run, errors_by_step(one.run, sizes, rms_errors), many))
    say(f"timing {contest.problem}")
    curves = timed_curves(contestants, pace)
    single, each = curves[0].seconds[h], curves[0].batched * problem.duration / h
    note(
        f"{contest.problem}: to simulate many robots on one core, MuJoCo's {'rollout' if each < single else 'mj_step'} "
        f"is the faster function (rollout: {1e3 * each:.3g} ms, mj_step: {1e3 * single:.3g} ms per robot)"
    )
    for curve in curves:
        yield from points(contest, curve)
    yield from comparisons(contest, curves[0], curves[1:])


def as_works(rows: Sequence[Row]) -> list[Work]:
    """The curves of errors over times for a picture: of single robots, and for one of our methods also of a batch."""
    points: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["kind"] == "point":
            points.setdefault((row["problem"], f"{row['contestant']}, {row['method']}"), []).append(row)
    works = []
    for (problem, method), found in points.items():
        errors = {
            f"{name} [{unit}]": tuple(row["errors"][name] or math.nan for row in found)
            for name, unit in COMPONENTS.items()
        }
        settings = tuple(f"{1e3 * row['step']:g} ms" for row in found)
        keys = (("ms", ""), ("batched_ms", ", batch")) if method.endswith(DRAWN_BATCHED) else (("ms", ""),)
        for key, suffix in keys:
            seconds = tuple(1e-3 * row[key] / DURATION for row in found)
            works.append(Work(problem, method + suffix, settings, seconds, errors))
    return works
