"""Poses of bodies at any time of a run, also where joints change.

Coordinates belong to a system, and a run may change its system when modules dock or undock. Bodies keep their names, so
their poses show such a run from its beginning to its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.frozen import kept_in
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.robot import Robot
from kinemorph.simulation.results.segment import Segment
from kinemorph.simulation.results.trajectory import Trajectory, stretch_numbers
from kinemorph.words import did_you_mean


def body_poses(run: Trajectory, times: npt.ArrayLike | None = None, names: Sequence[str] | None = None) -> Array:
    """Poses of bodies and frames in the world as homogeneous matrices, shape (n, names, 4, 4) [m].

    `times`    [s] (n,), within the run; by default the times of its samples
    `names`    names of bodies or frames; by default all bodies, in the order in which they first appear in the run

    At the time of a change of the system, the poses are those after the change. Poses are NaN while a body does not
    exist.
    """
    robots = run_robots(run)
    known = {name: None for robot in robots for name in (*robot.body_names, *(frame.name for frame in robot.frames))}
    wanted = bodies_in_turn(robots) if names is None else _listed(run, names, known)
    found = np.full((len(run) if times is None else np.size(times), len(wanted), 4, 4), np.nan)
    if times is None:
        rows = np.cumsum([0, *(len(part) for part in run.stretches)])
        chosen: list[Any] = [slice(a, b) for a, b in pairwise(rows)]
        q = [np.concatenate([segment.q for segment in part.segments]) for part in run.stretches]
        moments = [np.concatenate([segment.t for segment in part.segments]) for part in run.stretches]
    else:
        flat = np.asarray(times, dtype=float).ravel()
        run.check_times(flat)
        whose = stretch_numbers(run, flat)
        chosen = [np.flatnonzero(whose == number) for number in range(len(run.stretches))]
        q = [part.at(flat[mine]).q for part, mine in zip(run.stretches, chosen, strict=True)]
        moments = [flat[mine] for mine in chosen]
    for robot, mine, values, t in zip(robots, chosen, q, moments, strict=True):
        here = [k for k, name in enumerate(wanted) if name in _frame_names(robot)]
        if here and len(values):
            part = np.full((len(values), len(wanted), 4, 4), np.nan)
            part[:, here] = frame_matrices(robot, values, [wanted[k] for k in here], t)
            found[mine] = part
    return found


def run_robots(run: Trajectory) -> tuple[Robot, ...]:
    """The robot of each of the run's `stretches`, with the parameter values of the run."""
    return tuple(_robot(run, part.segments[0]) for part in run.stretches)


def _robot(run: Trajectory, segment: Segment) -> Robot:
    if segment.robot is None:
        again = "model=robot" if len(run.stretches) == 1 else "model=[...], with a model for each system"
        if not segment.missing:
            raise UnsupportedError(f"run '{run.name}' has no robot: it is a run of equations. Plot its columns.")
        raise UnsupportedError(
            f"run '{run.name}' has no robot, because {segment.missing}. Give the model: load_trajectory(path, {again})."
        )
    return segment.robot


def bodies_in_turn(robots: Iterable[Robot]) -> list[str]:
    """The names of all bodies of several robots, each once, in the order of their first appearance."""
    return list(dict.fromkeys(name for robot in robots for name in robot.body_names))


def frame_matrices(robot: Robot, q: Array, names: Sequence[str], t: Array | float = 0.0) -> Array:
    """Poses of bodies or frames in configurations q (n, nq) as homogeneous matrices, shape (n, names, 4, 4) [m].

    `t` [s] (n,) matters only if the time drives joints.
    """
    matrices = np.zeros((len(q), len(names), 4, 4))
    matrices[..., 3, 3] = 1.0
    tree = kept_in(robot, "tree at nominal parameters", lambda: resolve(robot)).at_time(t)
    for k, pose in enumerate(forward_kinematics(tree, tree.all_joints(list(q.T)).q, list(names))):
        for i in range(3):
            matrices[:, k, i, 3] = pose.p[i]
            for j in range(3):
                matrices[:, k, i, j] = pose.R[i][j]
    return matrices


def _frame_names(robot: Robot) -> set[str]:
    return {*robot.body_names, *(frame.name for frame in robot.frames)}


def _listed(run: Trajectory, names: Sequence[str], known: dict[str, None]) -> list[str]:
    wanted = [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in known:
            raise ModelError(
                f"run '{run.name}' has no body or frame '{name}'.{did_you_mean(name, known)} Known: {', '.join(known)}."
            )
    return wanted
