"""Inverse kinematics: the configuration that puts frames of a robot where they are wanted.

    reached = inverse_kinematics(robot, {"flange": T_WF})

A target is a pose (4, 4) or a position (3,), for any number of frames at once; a free base is placed by giving its body a
target. The residual is the position error [m] and the rotation vector [rad] from the frame to its target, both in world
axes; analysis.descent brings it to zero, from q0 first and then from random configurations. Joints that move no target
stay as they are; coupled joints follow their leaders. A target out of reach is a result that says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.groups import Pose, log_so3, matrix_of
from kinemorph.algebra.rotations import is_rotation, left_jacobian_so3_inverse
from kinemorph.analysis.descent import Array, Descent, Problem, descend
from kinemorph.codegen.function import CompiledFunction
from kinemorph.deriving import Dynamics, derive
from kinemorph.errors import ModelError, ShapeError, UnsupportedError
from kinemorph.model.configuration import integrate, neutral, random_configuration
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot
from kinemorph.model.system import System

Target = npt.ArrayLike | Pose


class Miss(NamedTuple):
    """How far a frame is from its target: `position` [m], `rotation` [rad] (None where only a position was asked for)."""

    position: float
    rotation: float | None


@dataclass(frozen=True)
class Reached:
    """Where inverse kinematics ended. True where every target is met.

    `q` (nq,); `errors` by frame name; `iterations` in all; `restarts` from random configurations; `message`, a sentence.
    """

    q: Array
    errors: Mapping[str, Miss]
    iterations: int
    converged: bool
    restarts: int
    message: str

    def __bool__(self) -> bool:
        return self.converged


def inverse_kinematics(
    model: Robot | System | Dynamics,
    targets: Mapping[str, Target],
    q0: npt.ArrayLike | None = None,
    *,
    limits: bool = True,
    tolerance: float = 1e-10,
    iterations: int = 200,
    restarts: int = 20,
    seed: int = 0,
) -> Reached:
    """The configuration that brings frames to their targets.

    `model`       a robot, or its Dynamics: compiled functions are then used again from call to call
    `targets`     body or frame name -> pose T_WF (4, 4), or position [m] (3,) alone
    `q0`          where to start, (nq,); by default the neutral configuration. Moved inside the limits first.
    `limits`      keep joints within their limits
    `tolerance`   largest error of any target that counts as met, [m] and [rad]
    `iterations`  steps per attempt
    `restarts`    attempts from random configurations after the one from q0
    """
    dynamics = model if isinstance(model, Dynamics) else derive(model, backend="interpreter")
    robot = dynamics.robot
    if robot.loops:
        raise UnsupportedError(
            f"inverse_kinematics: robot '{robot.name}' has loops ({', '.join(j.name for j in robot.loops)}), "
            "and only open trees are covered. Remove the closing joint to reach with the open tree."
        )
    if not tolerance > 0.0 or iterations < 1 or restarts < 0:
        raise ShapeError(
            f"inverse_kinematics: tolerance {tolerance}, iterations {iterations}, restarts {restarts}; expected a "
            "positive tolerance, at least one iteration, and no fewer than zero restarts."
        )
    if not targets:
        raise ShapeError("inverse_kinematics: no target was given; expected at least one, as {frame: pose}.")
    goals = [_goal(dynamics, frame, target) for frame, target in targets.items()]
    space = Space(robot, limits, frozenset(targets))
    start = space.inside(_start(robot, q0))
    problem = Problem(lambda q: _linearized(space, goals, q), space.moved, space.held)
    rng = np.random.default_rng(seed)

    best: Descent | None = None
    count = attempts = 0
    while (best is None or not best.reached) and attempts <= restarts:
        q = start if best is None else space.elsewhere(start, rng)
        found = descend(problem, q, reached=lambda e: _worst(goals, e) <= tolerance, iterations=iterations)
        count, attempts = count + found.iterations, attempts + 1
        if best is None or found.reached or found.residual @ found.residual < best.residual @ best.residual:
            best = found
    assert best is not None
    errors = {goal.frame: miss for goal, miss in zip(goals, _misses(goals, best.residual), strict=True)}
    message = _sentence(space, best, errors, attempts, tolerance)
    return Reached(best.q, errors, count, best.reached, attempts - 1, message)


# ── targets ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class Goal(NamedTuple):
    """A target made ready: where the frame shall be, and the functions that say where it is."""

    frame: str
    position: Array
    rotation: Array | None
    pose: CompiledFunction
    jacobian: CompiledFunction  # in world axes, at the frame's origin


def _goal(dynamics: Dynamics, frame: str, target: Target) -> Goal:
    """Checks one target."""
    label = f"target '{frame}'"
    dynamics.robot.frame(frame)
    try:
        given = np.array(matrix_of(target) if isinstance(target, Pose) else target, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(f"{label} is not an array of numbers; expected a pose (4, 4) or a position (3,).") from None
    if given.shape not in ((4, 4), (3,)):
        raise ShapeError(f"{label} has shape {given.shape}; expected a pose (4, 4) or a position (3,).")
    if not np.isfinite(given).all():
        raise ShapeError(f"{label} holds a value that is not finite; expected numbers. Look for a missing value.")
    functions = dynamics.pose(frame), dynamics.jacobian(frame, "local_world_aligned")
    if given.ndim == 1:
        return Goal(frame, given, None, *functions)
    if np.abs(given[3] - (0.0, 0.0, 0.0, 1.0)).max() > 1e-9:
        raise ShapeError(f"{label} has the last row {given[3].tolist()}; expected [0, 0, 0, 1]. Is it transposed?")
    R = given[:3, :3]
    if not is_rotation(R.tolist(), 1e-6):
        off = np.abs(R @ R.T - np.eye(3)).max()
        raise ShapeError(
            f"{label} has no rotation in its upper left (3, 3): R R^T is off the unit matrix by {off:.3g} and det R is "
            f"{np.linalg.det(R):.3g}; expected orthonormal axes, right-handed. Normalize the columns."
        )
    U, _, Vt = np.linalg.svd(R)  # the nearest rotation: digits lost in typing would else stand in the way
    return Goal(frame, given[:3, 3], U @ Vt, *functions)


def _linearized(space: Space, goals: list[Goal], q: Array) -> tuple[Array, Array]:
    """Residual and Jacobian of all targets: 3 rows for a position, 6 for a pose."""
    residuals, jacobians = [], []
    p = space.nominal
    for goal in goals:
        T, J = goal.pose(q, *p), goal.jacobian(q, *p)
        residuals.append(goal.position - T[:3, 3])
        jacobians.append(J[:3])
        if goal.rotation is not None:
            w = np.array(log_so3((goal.rotation @ T[:3, :3].T).tolist()))
            residuals.append(w)
            jacobians.append(np.array(left_jacobian_so3_inverse((-w).tolist())) @ J[3:])
    return np.concatenate(residuals), np.concatenate(jacobians) @ space.leading
