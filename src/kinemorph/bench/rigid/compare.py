"""The rows of `kinemorph bench rigid`: error and CPU time of every contestant and setting on each problem.

A row also names our fastest run whose error is not larger, and the ratio of the times.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from kinemorph.bench.rigid.drake_runs import drake_run
from kinemorph.bench.rigid.exudyn_runs import exudyn_run
from kinemorph.bench.rigid.mujoco_runs import mujoco_run
from kinemorph.bench.rigid.problems import Problem, problems
from kinemorph.bench.rigid.runs import Outcome, kinemorph_run
from kinemorph.bench.rigid.siconos_runs import siconos_runs
from kinemorph.bench.timing import Pace, Row, Say
from kinemorph.errors import CompileError, MissingExtraError

TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)
STEPS = (2e-3, 1e-3, 5e-4, 2e-4, 1e-4)  # [s]
FINEST_OF_EXUDYN = 1e-4  # [s], left out: block and rod do not converge there, and the ball takes 10 s
REPEATS, QUICK_REPEATS = 3, 1
OURS = "Kinemorph"
ROUNDING = 1e-12  # smaller errors count as this
# what a contestant cannot state, or what is not stated here, by contestant and problem
NOT_STATED = {
    (f"{OURS}, implicit_contact", "stack"): "soft ground is at rest in the world",
    ("Exudyn", "stack"): "not stated here: its contacts are between spheres and triangles",
}
PEERS: dict[str, Callable[[Problem, float, int], Outcome]] = {
    "MuJoCo": mujoco_run,
    "Drake, SAP": drake_run,
    "Exudyn": exudyn_run,
}


def compare(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields a row for each problem, contestant and setting; contestants that are missing are noted once."""
    repeats, steps = (QUICK_REPEATS, STEPS[1:2]) if quick else (REPEATS, STEPS)
    missing: set[str] = set()
    told: set[tuple[str, str]] = set()
    for problem in problems():
        exact, rows = problem.exact(), []
        for contestant, setting, make in _runs(problem, steps, repeats):
            if contestant in missing:
                continue
            pair = contestant, problem.name
            if pair in NOT_STATED:
                if pair not in told:
                    note(f"{contestant}, {problem.name}: {NOT_STATED[pair]}")
                told.add(pair)
                continue
            say(f"{problem.name}: {contestant}, {setting:g}")
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # settings that are loose on purpose
                    found = make()
            except (MissingExtraError, CompileError) as error:
                missing.add(contestant)
                note(f"{contestant} is not compared: {error}")
                continue
            gap = np.abs(found.rows - exact).max() if found.rows.shape == exact.shape else np.nan
            rows.append(
                {
                    "kind": "rigid",
                    "problem": problem.name,
                    "contestant": contestant,
                    "setting": f"tolerance {setting:.0e}" if contestant == f"{OURS}, events" else f"step {setting:g} s",
                    "error": float(gap) if np.isfinite(gap) else None,
                    "ms": 1e3 * found.seconds,
                }
            )
        yield from judged(rows)


def _runs(problem: Problem, steps: Sequence[float], repeats: int) -> Iterator[tuple[str, float, Callable[[], Outcome]]]:
    """(contestant, tolerance or step size [s], a function that makes the run) of all runs of a problem."""
    for tolerance in TOLERANCES:
        yield f"{OURS}, events", tolerance, partial(kinemorph_run, problem, repeats, rtol=tolerance, atol=tolerance)
    for step in steps:
        yield f"{OURS}, moreau", step, partial(kinemorph_run, problem, repeats, method="moreau", step=step)
    for step in steps:
        soft: dict[str, Any] = {"soft": True, "method": "implicit_contact", "step": step}
        yield f"{OURS}, implicit_contact", step, partial(kinemorph_run, problem, repeats, **soft)
    for name, run in PEERS.items():
        for step in steps if name != "Exudyn" else [one for one in steps if one > FINEST_OF_EXUDYN]:
            yield name, step, partial(run, problem, step, repeats)
    for step in steps:
        yield "Siconos", step, lambda step=step: siconos_runs(problem, (step,), repeats)[step]  # type: ignore[misc]


def judged(rows: list[Row]) -> list[Row]:
    """The rows, each of a peer with our fastest run that has no larger error and the ratio of the peer's time to it."""
    ours = [row for row in rows if row["contestant"].startswith(OURS)]
    for row in rows:
        row["ours"], row["ratio"] = "", None
        if row["contestant"].startswith(OURS) or row["error"] is None:
            continue
        good = [one for one in ours if one["error"] is not None and _size(one) <= _size(row)]
        best = min(good, key=lambda one: float(one["ms"]), default=None)
        if best is not None:
            row["ours"] = f"{best['contestant'].partition(', ')[2]}, {best['setting']}"
            row["ratio"] = row["ms"] / best["ms"]
    return rows


def _size(row: Row) -> float:
    return max(float(row["error"]), ROUNDING)
