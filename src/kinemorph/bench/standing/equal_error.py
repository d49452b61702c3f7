"""Hexapods on the ground in Kinemorph and in MuJoCo, compared at equal error.

Each contestant runs with several step sizes. Its error is measured against its own run at a sixteenth of the step size.
For MuJoCo's errors at steps of 1 and 2 ms, our largest step size whose error is not larger is found by interpolation
between the logarithms of step sizes and errors; then the times of both runs are compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.standing.kinemorph_hexapod import BATCH, BATCH_STEPS, METHODS, OursStanding
from kinemorph.bench.standing.problem import (
    COMPONENTS,
    DURATION,
    FINER,
    SCENARIOS,
    STEPS,
    Scenario,
    Standing,
    rms_errors,
    standing,
)
from kinemorph.bench.targets import judge_standing
from kinemorph.bench.timing import Pace, Row, Say, take_turns
from kinemorph.display.charts.work_precision import Work
from kinemorph.errors import MissingExtraError

ROBOTS = ("hexapod24", "hexapod36")
MUJOCO_STEPS = STEPS[1:5]  # 8 to 1 ms
COMPARED = STEPS[3:5]  # 2 and 1 ms: MuJoCo's step sizes whose errors our runs have to match
LEAP = 16.0  # a larger factor between errors when the step size doubles is instability, not the order of a method
ROLLED = 4  # robots in MuJoCo's batch
DRAWN_BATCHED = "centered_contact"  # the only method whose batch is drawn, too: the other curves are similar


@dataclass(frozen=True)
class Curve:
    """The errors and times [s] of a contestant's runs of one problem, by step size [s]."""

    contestant: str
    method: str
    errors: Mapping[float, Mapping[str, float]]
    seconds: Mapping[float, float]
    batched: float  # [s] of one step of one robot of a batch


def compare_standing(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields the rows of all hexapods on the ground: points of curves, and comparisons at equal error."""
    try:
        from kinemorph.bench.standing.mujoco_hexapod import MujocoStanding
    except ImportError:
        note(f"hexapods on the ground are not compared: {MissingExtraError('mujoco', 'peers')}")
        return
    for name, scenario in problems(quick=quick):
        problem = standing(name, scenario)
        peer = MujocoStanding(problem)
        ours = [OursStanding(problem, method) for method in METHODS]
        says = f"{name} {scenario}"
        found = []
        for method, run, steps in (
            ("Euler", peer.run, MUJOCO_STEPS),
            *((one.method, one.run, METHODS[one.method]) for one in ours),
        ):
            say(f"measuring errors of {method} on {says}")
            found.append((method, run, errors_by_step(run, steps)))
        say(f"timing {says}")
        works = [partial(run, h) for _, run, errors in found for h in errors]
        batches = [peer.rollout(COMPARED[0], ROLLED), *(one.batch(METHODS[one.method][0]) for one in ours)]
        taken = iter(take_turns([*works, *batches], pace))
        seconds = [{h: next(taken) for h in errors} for _, _, errors in found]
        rolled = next(taken) / ROLLED
        single = seconds[0][COMPARED[0]]
        per_step = [min(rolled, single) / round(problem.duration / COMPARED[0])]
        per_step += [next(taken) / (BATCH * BATCH_STEPS) for _ in ours]
        note(
            f"{says}: to simulate many robots on one core, MuJoCo's {'rollout' if rolled < single else 'mj_step'} is "
            f"the faster function (rollout: {1e3 * rolled:.3g} ms, mj_step: {1e3 * single:.3g} ms per robot)"
        )
        curves = [
            Curve("Kinemorph" if k else "MuJoCo", method, errors, seconds[k], per_step[k])
            for k, (method, _, errors) in enumerate(found)
        ]
        for curve in curves:
            yield from points(problem, curve)
        yield from comparisons(problem, curves[0], curves[1:])


def problems(*, quick: bool) -> list[tuple[str, Scenario]]:
    """The problems to run, as (name of the robot, scenario)."""
    return [("hexapod24", "pushed")] if quick else [(name, scenario) for name in ROBOTS for scenario in SCENARIOS]


def errors_by_step(run: Callable[[float], Array], steps: Sequence[float]) -> dict[float, dict[str, float]]:
    """Step size [s] -> the RMS errors of its run against the run with a sixteenth of this step size."""
    rows: dict[float, Array] = {}
    errors = {}
    for h in steps:
        for wanted in (h, h / 2**FINER):
            if wanted not in rows:
                rows[wanted] = run(wanted)
        errors[h] = rms_errors(rows[h], rows[h / 2**FINER])
    return errors


def step_with(errors: Mapping[float, float], wanted: float) -> float | None:
    """The largest step size [s] up to which no error exceeds `wanted`; None where the smallest step has a larger error.

    `errors` are errors by step size. Between two step sizes the error is taken as a power of the step size, except
    where it jumps because the method becomes unstable.
    """
    steps = sorted(errors)
    if not errors[steps[0]] <= wanted:
        return None
    for smaller, larger in pairwise(steps):
        if not errors[larger] <= wanted:
            if not errors[larger] <= LEAP * errors[smaller]:
                return smaller
            share = math.log(wanted / errors[smaller]) / math.log(errors[larger] / errors[smaller])
            return float(smaller * (larger / smaller) ** share)
    return steps[-1]


def points(problem: Standing, curve: Curve) -> Iterator[Row]:
    """Yields one row per step size of a contestant's curve."""
    for h, errors in curve.errors.items():
        yield {
            "kind": "point",
            "problem": f"{problem.name} {problem.scenario}",
            "dof": problem.robot.nv,
            "contestant": curve.contestant,
            "method": curve.method,
            "setting": _step(h),
            "step": h,
            "errors": {name: error if math.isfinite(error) else None for name, error in errors.items()},
            "reached": True,
            "ms": 1e3 * curve.seconds[h],
            "batched_ms": 1e3 * curve.batched * problem.duration / h,
        }


def comparisons(problem: Standing, peer: Curve, ours: Sequence[Curve]) -> Iterator[Row]:
    """Yields the comparisons at equal error: a row per component of the error, MuJoCo's step size, and mode.

    The mode is one robot, or a batch of many robots on one core.
    """
    for component, unit in COMPONENTS.items():
        for h in COMPARED:
            wanted = peer.errors[h][component]
            for mode in ("one robot", "batched"):
                theirs = peer.seconds[h]
                if mode == "batched":  # MuJoCo's batch was timed at one step size; single robots may be faster
                    theirs = min(theirs, peer.batched * problem.duration / h)
                best: tuple[float, float, Curve] | None = None
                for curve in ours:
                    step = step_with({at: errors[component] for at, errors in curve.errors.items()}, wanted)
                    if step is None:
                        continue
                    taken = _time_at(curve, step) if mode == "one robot" else curve.batched * problem.duration / step
                    if best is None or taken < best[0]:
                        best = taken, step, curve
                ratio = theirs / best[0] if best else None
                yield {
                    "kind": "ground",
                    "problem": f"{problem.name} {problem.scenario}",
                    "dof": problem.robot.nv,
                    "contestant": f"Kinemorph, {mode}",
                    "method": best[2].method if best else None,
                    "setting": _step(best[1]) if best else None,
                    "step": best[1] if best else None,
                    "component": component,
                    "unit": unit,
                    "error": wanted,
                    "peer": "MuJoCo",
                    "peer_step": h,
                    "reached": best is not None,
                    "ms": 1e3 * best[0] if best else None,
                    "peer_ms": 1e3 * theirs,
                    "ratio": ratio,
                    **judge_standing(mode, ratio)._asdict(),
                }


def _time_at(curve: Curve, step: float) -> float:
    """The time of a run [s] with a step size between the timed ones, by interpolation."""
    steps = sorted(curve.seconds)
    logs = np.interp(math.log(step), np.log(steps), [math.log(curve.seconds[h]) for h in steps])
    return float(math.exp(logs))


def _step(h: float) -> str:
    return f"step {1e3 * h:.3g} ms"


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
