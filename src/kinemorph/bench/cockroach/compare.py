"""The rows of `kinemorph bench cockroach`: the animal beside MuJoCo, at equal error, one robot and batched."""

from __future__ import annotations

from collections.abc import Iterator

from kinemorph.bench.cockroach.problem import METHODS, SIZES, problem
from kinemorph.bench.standing.equal_error import contest_of, contested
from kinemorph.bench.targets import judge_cockroach
from kinemorph.bench.timing import Pace, Row, Say
from kinemorph.errors import MissingExtraError


def compare(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields points of curves, and comparisons at equal error; a quick run has the animal that is pushed only."""
    try:
        from kinemorph.bench.standing.mujoco_run import MujocoStanding
    except ImportError:
        note(f"the cockroach is not compared: {MissingExtraError('mujoco', 'peers')}")
        return
    for scenario, sizes in SIZES.items():
        if quick and scenario != "pushed":
            continue
        animal = problem(scenario)
        contest = contest_of(animal, "cockroach", sizes.compared, judge_cockroach)
        steps = sizes.peer, dict.fromkeys(METHODS, sizes.ours)
        yield from contested(contest, animal, MujocoStanding(animal), steps, pace, say, note)
