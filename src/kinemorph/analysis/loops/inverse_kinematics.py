"""`inverse_kinematics`: the configuration that brings frames of a robot to their targets.

    reached = inverse_kinematics(robot, {"flange": T_WF})

A target is a pose (4, 4) or a position (3,), for any number of frames at once; a free base is placed by giving its body
a target. The residual is the position error [m] and the rotation vector [rad] from the frame to its target, both in
world axes; analysis.loops.levenberg brings it to zero. Where that fails, it starts again: two times out of three from
the best configuration so far, with new random values for the limbs that miss their targets, else from a random
configuration. Joints that move no target keep their coordinates; coupled joints follow their leaders. A target out of
reach gives a result that says so.

Where the robot has loops, they are closed first, and their constraint rows phi(q) are added to the residual, so that
targets are reached with closed loops only. Where targets are not reached, the loops of the result are closed, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import Pose, log_so3, matrix_of
from kinemorph.algebra.rotations import is_rotation, left_jacobian_so3_inverse
from kinemorph.analysis.loops.close_loops import Closer
from kinemorph.analysis.loops.constraint_rows import Gap
from kinemorph.analysis.loops.levenberg import Descent, LeastSquares, descend
from kinemorph.analysis.loops.ranges import Ranges
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.errors import ShapeError
from kinemorph.model.configuration import neutral
from kinemorph.model.robot import Robot
from kinemorph.model.system import System

Target = npt.ArrayLike | Pose

LOOPS, LOOPS_FIRST = 30.0, 1e3  # weights of a loop's gap against a target's error; the second if both cannot be zero


class Miss(NamedTuple):
    """How far a frame is from its target: `position` [m], `rotation` [rad] (None where only a position is given)."""

    position: float
    rotation: float | None


@dataclass(frozen=True)
class Reached:
    """The result of `inverse_kinematics`. As a bool it is True where every target is reached.

    `q` (nq,)      the configuration that was found
    `errors`       frame -> how far it is from its target
    `iterations`   the number of steps in all attempts; `restarts`, the number of attempts after the first
    `message`      the outcome as a sentence
    `gaps`         loop or coupled joint -> how far it is open; empty where there are no loops
    """

    q: Array
    errors: Mapping[str, Miss]
    iterations: int
    converged: bool
    restarts: int
    message: str
    gaps: Mapping[str, Gap] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.converged

    def __str__(self) -> str:
        return self.message


def inverse_kinematics(
    model: Robot | System | Dynamics,
    targets: Mapping[str, Target],
    q0: npt.ArrayLike | None = None,
    *,
    limits: bool = True,
    tolerance: float = 1e-10,
    iterations: int = 200,
    restarts: int = 40,
    seed: int = 0,
) -> Reached:
    """The configuration that brings frames to their targets, with all loops closed.

    `model`       a robot or a system; or its Dynamics, whose compiled functions are used again in each call
    `targets`     body or frame name -> pose T_WF (4, 4) in the world, or position [m] (3,) alone
    `q0`          the initial guess, (nq,), moved inside the limits first; by default the neutral configuration
    `limits`      keep joints within their limits
    `tolerance`   the largest error of a target that is reached, and the largest gap of a closed loop [m or rad]
    `iterations`  the most steps of one attempt
    `restarts`    the most attempts after the first one, from random configurations drawn with `seed`
    """
    dynamics = model if isinstance(model, Dynamics) else derive(model, backend="interpreter")
    robot = dynamics.robot
    if not tolerance > 0.0 or iterations < 1 or restarts < 0:
        raise ShapeError(
            f"inverse_kinematics: tolerance is {tolerance}, iterations is {iterations}, restarts is {restarts}; "
            "expected a tolerance above 0, iterations of at least 1 and restarts of at least 0."
        )
    if targets is not None and not isinstance(targets, Mapping):
        what = f"an array of shape {targets.shape}" if isinstance(targets, np.ndarray) else f"{targets!r:.60}"
        name = robot.bodies[-1].name if robot.bodies else "flange"
        raise ShapeError(
            f"inverse_kinematics: targets is {what}, expected a dictionary {{frame: pose}}. Name the body or frame: "
            f"{{'{name}': pose}}."
        )
    if not targets:
        raise ShapeError("inverse_kinematics: no target was given; expected at least one, as {frame: pose}.")
    goals = [_goal(dynamics, frame, target) for frame, target in targets.items()]
    closer = Closer(dynamics, limits=limits, tolerance=tolerance) if robot.loops else None
    ranges = Ranges(robot, limits, tuple(targets), [part.joints for part in closer.sets.all] if closer else ())
    start = ranges.inside(_start(robot, q0))
    parameters = [dynamics.nominal_parameters] if dynamics.parameters else []
    rows = sum(3 if goal.rotation is None else 6 for goal in goals)
    rng = np.random.default_rng(seed)

    def linearize(q: Array, weight: float = LOOPS) -> tuple[Array, Array]:
        e, J = _linearized(goals, ranges.leading, parameters, q)
        if closer is None:
            return e, J
        phi, slope = weight * closer.rows.error(q), weight * closer.rows.jacobian(q) @ ranges.leading
        return np.append(e, -phi), np.vstack([J, slope])

    def met(residual: Array) -> bool:
        there = all(_largest(miss) <= tolerance for miss in _misses(goals, residual))
        return there and float(np.abs(residual[rows:]).max(initial=0.0)) <= LOOPS * tolerance

    problem = LeastSquares(linearize, ranges.moved, ranges.held)
    if closer is not None:
        begun = closer.close(start)
        if not begun:
            errors = dict(zip(targets, _misses(goals, linearize(begun.q)[0]), strict=True))
            message = f"the loops cannot be closed, so that no target is reached: {begun.message}"
            return Reached(begun.q, errors, begun.iterations, False, 0, message, begun.gaps)
        start = begun.q
    best = descend(problem, start, reached=met, iterations=iterations)
    count, restarted = best.iterations, 0
    while not best.reached and restarted < restarts:
        restarted += 1
        missed = _missed(goals, best.residual) if restarted % 3 else list(targets)
        q = ranges.elsewhere(best.q, missed, rng)
        q = q if closer is None else closer.near(q).q
        found = descend(problem, q, reached=met, iterations=iterations)
        count += found.iterations
        if found.reached or found.residual @ found.residual < best.residual @ best.residual:
            best = found
    if closer is not None and not best.reached:  # where both cannot be met, loops are closed first
        strict = problem._replace(linearize=lambda q: linearize(q, LOOPS_FIRST))
        closed = closer.near(descend(strict, closer.near(best.q).q, reached=met, iterations=iterations).q).q
        best = best._replace(q=closed, residual=linearize(closed)[0])
    errors = {goal.frame: miss for goal, miss in zip(goals, _misses(goals, best.residual), strict=True)}
    message = _sentence(ranges, best, errors, 1 + restarted, tolerance)
    gaps = {} if closer is None else closer.rows.gaps(best.q)
    return Reached(best.q, errors, count, best.reached, restarted, message, gaps)


# ── targets ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class Goal(NamedTuple):
    """A checked target: where the frame should be, and the compiled functions for its pose and its Jacobian."""

    frame: str
    position: Array
    rotation: Array | None
    pose: CompiledFunction
    jacobian: CompiledFunction  # in world axes, at the frame's origin


def _goal(dynamics: Dynamics, frame: str, target: Target) -> Goal:
    """The goal of one target; raises ShapeError where the target is not a pose or a position."""
    label = f"target '{frame}'"
    dynamics.robot.frame(frame)
    try:
        given = np.array(matrix_of(target) if isinstance(target, Pose) else target, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(f"{label} is not an array of numbers; expected a pose (4, 4) or a position (3,).") from None
    if given.shape not in ((4, 4), (3,)):
        raise ShapeError(f"{label} has shape {given.shape}; expected a pose (4, 4) or a position (3,).")
    if not np.isfinite(given).all():
        raise ShapeError(f"{label} has a value that is not finite; expected finite numbers. Correct that value.")
    functions = dynamics.pose(frame), dynamics.jacobian(frame, "local_world_aligned")
    if given.ndim == 1:
        return Goal(frame, given, None, *functions)
    if np.abs(given[3] - (0.0, 0.0, 0.0, 1.0)).max() > 1e-9:
        raise ShapeError(f"{label} has the last row {given[3].tolist()}; expected [0, 0, 0, 1]. Is it transposed?")
    R = given[:3, :3]
    if not is_rotation(R.tolist(), 1e-6):
        off = np.abs(R @ R.T - np.eye(3)).max()
        raise ShapeError(
            f"{label}: R, its upper left (3, 3) part, is not a rotation: R R^T differs from the unit matrix by "
            f"{off:.3g} and det R is {np.linalg.det(R):.3g}; expected orthonormal, right-handed axes. Correct R."
        )
    U, _, Vt = np.linalg.svd(R)  # the nearest rotation, free of rounded digits
    return Goal(frame, given[:3, 3], U @ Vt, *functions)


def _linearized(goals: list[Goal], leading: Array, parameters: list[Array], q: Array) -> tuple[Array, Array]:
    """The residual (m,) and its Jacobian (m, nv) for all targets, with 3 rows for a position and 6 for a pose.

    `leading` (nv, nv) makes coupled joints follow their leaders, see `Ranges.leading`.
    """
    residuals, jacobians = [], []
    for goal in goals:
        T, J = goal.pose(q, *parameters), goal.jacobian(q, *parameters)
        residuals.append(goal.position - T[:3, 3])
        jacobians.append(J[:3])
        if goal.rotation is not None:
            w = np.array(log_so3((goal.rotation @ T[:3, :3].T).tolist()))
            residuals.append(w)
            jacobians.append(np.array(left_jacobian_so3_inverse((-w).tolist())) @ J[3:])
    return np.concatenate(residuals), np.concatenate(jacobians) @ leading


def _misses(goals: list[Goal], residual: Array) -> list[Miss]:
    """The error of each target, from the residual of all targets."""
    misses, at = [], 0
    for goal in goals:
        position = float(np.linalg.norm(residual[at : at + 3]))
        rotation = None if goal.rotation is None else float(np.linalg.norm(residual[at + 3 : at + 6]))
        misses.append(Miss(position, rotation))
        at += 3 if rotation is None else 6
    return misses


def _missed(goals: list[Goal], residual: Array) -> list[str]:
    """The frames whose error is at least 0.3 of the largest error of all frames."""
    sizes = [_largest(miss) for miss in _misses(goals, residual)]
    return [goal.frame for goal, size in zip(goals, sizes, strict=True) if size >= 0.3 * max(sizes)]


# ── the initial guess and the outcome ─────────────────────────────────────────────────────────────────────────────────


def _start(robot: Robot, q0: npt.ArrayLike | None) -> Array:
    """The initial guess q0, by default the neutral configuration; raises ShapeError where it is not valid."""
    if q0 is None:
        return neutral(robot)
    q = np.array(q0, dtype=float)
    if q.shape != (robot.nq,):
        raise ShapeError(
            f"inverse_kinematics: q0 has shape {q.shape}; expected ({robot.nq},), one number for each of q_names."
        )
    if not np.isfinite(q).all():
        bad = robot.q_names[int(np.argmin(np.isfinite(q)))]
        raise ShapeError(f"inverse_kinematics: q0 is not finite at '{bad}'; expected finite numbers.")
    for joint in robot.joints:
        turning = [i for i, unit in enumerate(joint.table.q_units) if not unit]
        length = float(np.linalg.norm(q[robot.q_slice(joint.name)][turning])) if turning else 1.0
        if abs(length - 1.0) > 1e-6:
            raise ShapeError(
                f"inverse_kinematics: the quaternion of joint '{joint.name}' in q0 has length {length:.3g}; "
                "expected 1. Normalize it; a free joint is [x y z qw qx qy qz]."
            )
    return q


def _largest(miss: Miss) -> float:
    return max(miss.position, miss.rotation or 0.0)


def _sentence(ranges: Ranges, found: Descent, errors: Mapping[str, Miss], attempts: int, tolerance: float) -> str:
    """The outcome as a sentence: every target is reached, or how far the worst one is missed."""
    tries = "the first attempt" if attempts == 1 else f"{attempts} attempts"
    frame, miss = max(errors.items(), key=lambda item: _largest(item[1]))
    if found.reached:
        off = f"the largest error is {_largest(miss):.1e}"
        return f"every target is reached within {tolerance:.0e} after {tries}; {off}."
    turned = "" if miss.rotation is None else f" and {miss.rotation:.3g} rad"
    met = sum(_largest(one) <= tolerance for one in errors.values())
    stuck = ranges.at_limits(found.q)
    blame = f" Joints at a limit: {', '.join(stuck)}." if stuck else ""
    return (
        f"target '{frame}' is not reached: the nearest found is {miss.position:.3g} m{turned} away, after {tries}; "
        f"{met} of {len(errors)} targets are reached.{blame} The target may be out of reach: allow more restarts, or "
        "move it nearer."
    )
