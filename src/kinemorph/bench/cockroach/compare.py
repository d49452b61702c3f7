"""The rows of `kinemorph bench cockroach`: the animal beside MuJoCo, at equal error, one robot and batched."""

from __future__ import annotations

from collections.abc import Iterator

from kinemorph.bench.cockroach.problem import COMPARED, METHODS, MUJOCO_STEPS, SCENARIOS, problem
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
    for scenario in ("pushed",) if quick else SCENARIOS:
        animal = problem(scenario)
        contest = contest_of(animal, "cockroach", COMPARED, judge_cockroach)
        peer = MujocoStanding(animal)
        yield from contested(contest, animal, peer, (MUJOCO_STEPS, METHODS), pace, say, note)
