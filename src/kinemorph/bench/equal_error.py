"""Runs of several simulators, compared at equal error.

Simulators have different models of the ground. So the error of a run is measured against the same simulator: against
its run at a sixteenth of the step size, or against a reference with a much smaller step. Each contestant runs with
several step sizes, which gives a curve of errors and times. For the error of the peer at some step sizes, our step size
whose error is not larger is found, and the times of both runs are compared:

between    by interpolation between the logarithms of step sizes and errors, up to the first error that is larger
whole      the fastest of the runs that were made, where a step size has to divide a sample time of a controller

The mode "one robot" compares times of whole runs; "batched" compares times per step of many robots on one core.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.targets import Verdict
from kinemorph.bench.timing import Pace, Row, Work, take_turns

FINER = 4  # the reference of a run has half the step size so many times: a sixteenth
LEAP = 16.0  # a larger factor between errors when the step size doubles is instability, not the order of a method

Run = Callable[[float], Array]  # step size [s] -> samples
Errors = Mapping[float, Mapping[str, float]]  # step size [s] -> component -> error
Judge = Callable[[str, float | None, float | None], Verdict]  # (mode, ratio, simulated time / our time) -> verdict
MeasureErrors = Callable[[Array, Array], dict[str, float]]  # (samples, those of the reference) -> component -> error


@dataclass(frozen=True)
class Contest:
    """What is compared: a problem, the components of its error with their units, and the peer's step sizes [s]."""

    kind: str  # of the rows with comparisons
    problem: str
    dof: int
    duration: float  # [s] of simulated time
    components: Mapping[str, str]
    compared: tuple[float, ...]
    judge: Judge
    modes: tuple[str, ...] = ("one robot", "batched")
    whole: bool = False  # whether only step sizes that were run count


@dataclass(frozen=True)
class Curve:
    """The errors and times [s] of a contestant's runs of one problem, by step size [s]."""

    contestant: str
    method: str
    errors: Errors
    seconds: Mapping[float, float]
    batched: float = math.nan  # [s] of one step of one robot of a batch


class Batch(NamedTuple):
    """Work on many robots, and the number of steps that all robots together make in it."""

    work: Work
    steps: int


@dataclass(frozen=True)
class Contestant:
    """A simulator with one method: its run of the problem, the errors by step size, and a batch."""

    name: str
    method: str
    run: Run
    errors: Errors
    batch: Batch | None = None


# ── measuring ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def errors_by_step(
    run: Run, steps: Sequence[float], measure: MeasureErrors, reference: Array | None = None
) -> dict[float, dict[str, float]]:
    """Step size [s] -> errors of its run, against `reference`, or against the run with a sixteenth of the step size."""
    rows: dict[float, Array] = {}
    errors = {}
    for h in steps:
        for wanted in (h, h / 2**FINER)[: 1 if reference is not None else 2]:
            if wanted not in rows:
                rows[wanted] = run(wanted)
        errors[h] = measure(rows[h], rows[h / 2**FINER] if reference is None else reference)
    return errors


def timed_curves(contestants: Sequence[Contestant], pace: Pace) -> list[Curve]:
    """The curves of all contestants, which take turns."""
    works: list[Work] = [partial(one.run, h) for one in contestants for h in one.errors]
    works += [one.batch.work for one in contestants if one.batch]
    taken = iter(take_turns(works, pace))
    seconds = [{h: next(taken) for h in one.errors} for one in contestants]
    batched = [next(taken) / one.batch.steps if one.batch else math.nan for one in contestants]
    return [Curve(one.name, one.method, one.errors, seconds[k], batched[k]) for k, one in enumerate(contestants)]


# ── comparing ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class Match(NamedTuple):
    """Our run at the peer's error: its time and step size [s], its error, and its curve."""

    seconds: float
    step: float
    error: float
    curve: Curve


def points(contest: Contest, curve: Curve) -> Iterator[Row]:
    """Yields one row per step size of a contestant's curve."""
    for h, errors in curve.errors.items():
        yield {
            "kind": "point",
            "problem": contest.problem,
            "dof": contest.dof,
            "contestant": curve.contestant,
            "method": curve.method,
            "setting": _step(h),
            "step": h,
            "errors": {name: error if math.isfinite(error) else None for name, error in errors.items()},
            "reached": True,
            "ms": 1e3 * curve.seconds[h],
            "batched_ms": 1e3 * curve.batched * contest.duration / h,
        }


def comparisons(contest: Contest, peer: Curve, ours: Sequence[Curve]) -> Iterator[Row]:
    """Yields the comparisons at equal error: a row per component of the error, step size of the peer, and mode."""
    for component, unit in contest.components.items():
        for h in contest.compared:
            wanted = peer.errors[h][component]
            for mode in contest.modes:
                theirs = peer.seconds[h]
                if mode == "batched":  # batches were timed at one step size; single robots may be faster
                    theirs = min(theirs, peer.batched * contest.duration / h)
                found = [match for curve in ours for match in _matches(contest, curve, component, wanted, mode)]
                best = min(found, key=lambda match: match.seconds, default=None)
                ratio = theirs / best.seconds if best else None
                pace = contest.duration / best.seconds if best else None
                yield {
                    "kind": contest.kind,
                    "problem": contest.problem,
                    "dof": contest.dof,
                    "contestant": f"Kinemorph, {mode}",
                    "method": best.curve.method if best else None,
                    "setting": _step(best.step) if best else None,
                    "step": best.step if best else None,
                    "our_error": best.error if best else None,
                    "component": component,
                    "unit": unit,
                    "error": wanted,
                    "peer": f"{peer.contestant}, {peer.method}",
                    "peer_step": h,
                    "reached": best is not None,
                    "ms": 1e3 * best.seconds if best else None,
                    "peer_ms": 1e3 * theirs,
                    "ratio": ratio,
                    "real_time": pace,
                    **contest.judge(mode, ratio, pace)._asdict(),
                }


def _matches(contest: Contest, curve: Curve, component: str, wanted: float, mode: str) -> Iterator[Match]:
    """Runs of a curve whose errors are not larger than `wanted`."""
    errors = {h: one[component] for h, one in curve.errors.items()}
    if contest.whole:
        steps = [h for h, error in errors.items() if error <= wanted]
    else:
        steps = [h for h in [step_with(errors, wanted)] if h is not None]
    for h in steps:
        seconds = _at(curve.seconds, h) if mode == "one robot" else curve.batched * contest.duration / h
        yield Match(seconds, h, min(_at(errors, h), wanted), curve)


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


def _at(values: Mapping[float, float], step: float) -> float:
    """The value at a step size between those of `values`, by interpolation of logarithms."""
    if step in values:
        return values[step]
    steps = sorted(values)
    logs = np.interp(math.log(step), np.log(steps), [math.log(values[h]) for h in steps])
    return float(math.exp(logs))


def _step(h: float) -> str:
    return f"step {1e3 * h:.3g} ms"
