"""`excite`: the motion of a robot that shows its masses and its friction best, within limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.base_parameters import base_parameters
from kinemorph.analysis.identification.excitation.barrier_search import searched
from kinemorph.analysis.identification.excitation.excitation import Excitation
from kinemorph.analysis.identification.excitation.excitation_problem import ExcitationProblem, times_of
from kinemorph.analysis.identification.excitation.motion_limits import (
    Limit,
    MotionLimits,
    Range,
    motion_limits,
    one_each,
    tightened,
)
from kinemorph.analysis.identification.excitation.random_series import drawn_near, random_series, resting_posture
from kinemorph.analysis.identification.excitation.series_basis import SeriesBasis
from kinemorph.analysis.identification.excitation.unknown_columns import unknown_columns
from kinemorph.analysis.identification.excitation.zones import Zone, Zones
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.recursions.regressors import OF_VELOCITY
from kinemorph.model.configuration import neutral
from kinemorph.model.elements.control.references import FourierSeries
from kinemorph.model.joint import PLAIN, Joint
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.words import did_you_mean, listed, quoted

FRICTION = ("viscous", "coulomb", "offset")
NOISE = 0.01  # [1] of the limit of a torque: its standard deviation, where none is given
PER_HARMONIC = 40  # times of the search in a period of the highest harmonic
FINER = 10  # times as many, where limits are checked in the end
WEIGHTS = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # of the barrier
STEPS = 150  # for each of them
TIGHT = 0.995  # [1] of the limits, in the search: between its times a motion goes a little further
ROUNDS = 6  # searches with tighter limits, until they hold between the times of the search too
NAME = "excitation"  # of the element


def excite(
    model: Robot | System | Dynamics,
    *,
    joints: Sequence[str] | None = None,
    duration: float = 20.0,
    harmonics: int = 5,
    q: npt.ArrayLike | Mapping[str, float] | None = None,
    anchored: bool = False,
    position: Range | None = None,
    velocity: Limit | None = None,
    acceleration: Limit | None = None,
    effort: Limit | None = None,
    share: float = 1.0,
    zones: Sequence[Zone] = (),
    points: Mapping[str, Any] | None = None,
    measured: Sequence[str] | None = None,
    friction: Sequence[str] = FRICTION,
    deviations: Limit | None = None,
    rate: float = 100.0,
    draws: int = 100,
    starts: int = 3,
    seed: int = 0,
    progress: Callable[[int, float], Any] | None = None,
) -> Excitation:
    """The motion from rest to rest that shows the parameters of a robot best: log det of their information is largest.

    Each joint moves by a finite Fourier series. The search begins at the best of random series and uses exact
    gradients; it finds a local optimum. The robot is an open tree.

    `joints`        the joints that move, of one axis each; all by default. The others are held at q
    `duration`      the period [s], and `harmonics` the number of its harmonics, 2 or more
    `q`             the configuration (nq,) of joints that are held, or {name: value}; by default the initial one
    `anchored`      whether the motion begins and ends at q; by default the search chooses where
    `position`      {joint: (lower, upper)} [rad or m], in place of the limits of the model
    `velocity`, `acceleration`, `effort`     limits [rad or m per s, per s^2, N m or N]: one number, one for each joint
                    that moves, or {joint: limit}, in place of those of the model. `Excitation.assumed` tells what is
                    assumed where there is none
    `share`         how much of every limit the motion may use, 1 or less
    `zones`         boxes that points of the robot stay out of, or inside of
    `points`        {body or frame: points in its axes [m]} that keep the zones; by default the origins of all bodies
                    and frames that move
    `measured`      the joints (or velocities) whose forces are measured; by default those that move. A free joint that
                    is held has six, the wrench that holds the base
    `friction`      unknown parameters of the joints that move: some of "armature", "viscous", "coulomb", "offset"
    `deviations`    the standard deviations of the noise of measured forces [N m or N]; by default 1 % of their limits
    `rate`          samples of the recording per second; the noise of samples is independent
    `draws`         random series, from the best of which the search starts; `starts` such searches are made
    `seed`          of the random numbers
    `progress`      is called after every step with its number and how many times smaller standard deviations are than
                    those of the median of the random series
    """
    began = time.perf_counter()
    dynamics = model if isinstance(model, Dynamics) and not model.parameters else derive(_robot(model))
    robot = dynamics.robot
    _check(robot, duration=duration, harmonics=harmonics, share=share, rate=rate, draws=draws, starts=starts)
    moving, assumed = _moving(robot, joints)
    given = {"position": position, "velocity": velocity, "acceleration": acceleration, "effort": effort}
    limits = motion_limits(robot, moving, **given, share=share)  # type: ignore[arg-type]
    held = _configuration(model, robot, q)
    rows = _rows(robot, measured, limits)
    noise, told = _noise(robot, rows, limits, share, deviations)
    _check_parts(friction)
    base = base_parameters(dynamics)
    columns, left_out = unknown_columns(dynamics, base, limits, rows, noise, friction, held, seed)
    assumed += [*limits.assumed, *told]
    if left_out:
        assumed.append(f"Not shown by these motions and left out: {listed(left_out, 12)}.")
    kept = Zones(dynamics, zones, points)
    basis = SeriesBasis(harmonics, duration, anchored)
    samples = PER_HARMONIC * harmonics

    def problem_of(tight: float) -> ExcitationProblem:
        return ExcitationProblem(
            dynamics, basis, tightened(limits, tight), columns, kept.wider(1.0 - tight), held, samples
        )

    problem, rng = problem_of(TIGHT), np.random.default_rng(seed)
    resting = resting_posture(problem, rng)
    drawn = [random_series(problem, resting, rng) for _ in range(draws)]
    random = np.array([problem.log_det(x) for x in drawn])
    if not np.isfinite(random).any():
        raise UnsupportedError(
            f"excite: {samples} samples of {harmonics} harmonics do not show all {len(columns.names)} unknowns of "
            f"'{robot.name}'. Give more harmonics, or let more joints move."
        )
    middle, taken = float(np.median(random)), 0

    def told_of(number: int, x: Array) -> None:
        if progress is not None:
            progress(taken + number, float(np.exp(0.5 * (problem.log_det(x) - middle) / len(columns.names))))

    best: Array | None = None
    for place in np.argsort(-random)[:starts]:
        found = searched(problem.cost, problem.slope, problem.curvature, drawn[place], WEIGHTS, STEPS, told_of)
        taken += found.steps
        if best is None or problem.log_det(found.x) > problem.log_det(best):
            best = found.x
    assert best is not None
    fine = times_of(duration, FINER * samples)
    whole = problem_of(1.0)
    tight = TIGHT
    for _ in range(ROUNDS):
        over = max(1.0, *(one.share for one in whole.use(whole.motion(best, fine))))
        if whole.keeps(whole.motion(best, fine)):
            break
        tight *= min(TIGHT, 1.0 / over)
        problem = problem_of(tight)
        near = drawn_near(problem, best, resting)
        found = searched(problem.cost, problem.slope, problem.curvature, near, WEIGHTS[-2:], STEPS, told_of)
        best, taken = found.x, taken + found.steps
    best = drawn_near(whole, best, resting, fine)
    offset, sines, cosines = basis.series(best.reshape(problem.shape), held[problem.at_q])
    element = FourierSeries.at_rest(NAME, duration, sines, cosines, tuple(offset.tolist()), limits.joints)
    count = max(2, round(rate * duration))
    times = times_of(duration, count)
    motion = whole.motion(best, np.append(times, duration))
    information = whole.information(whole.motion(best, times))
    random = random + len(columns.names) * np.log(count / samples)
    return Excitation(
        robot, element, *motion, whole.torques(motion, smooth=False), columns.names,
        tuple(robot.v_names[row] for row in rows), noise, information, whole.use(whole.motion(best, fine)),
        tuple(assumed), random, tuple(zones), taken, time.perf_counter() - began,
    )  # fmt: skip


# ── arguments ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _robot(model: Robot | System | Dynamics) -> Robot | System:
    return model.robot if isinstance(model, Dynamics) else model


def _check(robot: Robot, **numbers: float) -> None:
    """Raises UnsupportedError for closed chains, and for numbers out of range."""
    if not robot.is_open:
        raise UnsupportedError(
            f"excite: robot '{robot.name}' has closed chains or coupled joints, whose motions depend on each other; "
            "expected an open tree. Cut the loops, or record motions of your own choice."
        )
    least = {"harmonics": 2, "draws": 1, "starts": 1}
    for name, value in numbers.items():
        if name in least and not (value >= least[name] and value == round(value)):
            raise UnsupportedError(f"excite: {name} is {value}; expected a whole number of {least[name]} or more.")
        if not 0.0 < value < np.inf or (name == "share" and value > 1.0):
            expected = "a number above 0, at most 1" if name == "share" else "a finite number above 0"
            raise UnsupportedError(f"excite: {name} is {value:g}; expected {expected}.")


def _moving(robot: Robot, names: Sequence[str] | None) -> tuple[list[Joint], list[str]]:
    """The joints that move, and sentences about those that are held."""
    able = [joint for joint in robot.joints if joint.nv == 1 and joint.motion.primitives[0].kind in PLAIN]
    if names is not None:
        names = (names,) if isinstance(names, str) else names
        for name in names:
            if name not in [joint.name for joint in able]:
                why = "has more than one axis" if name in robot.joint_names else "is unknown"
                raise UnsupportedError(
                    f"excite: joint '{name}' of '{robot.name}' {why}.{did_you_mean(name, robot.joint_names)} Joints "
                    f"with one axis: {quoted(joint.name for joint in able)}."
                )
        able = [joint for joint in able if joint.name in names]
    if not able:
        raise UnsupportedError(f"excite: robot '{robot.name}' has no joint with one axis that could be moved.")
    held = [joint.name for joint in robot.joints if joint.nv and joint not in able]
    return able, [f"Held where they are: {listed(held, 12)}."] if held else []


def _configuration(model: Any, robot: Robot, q: npt.ArrayLike | Mapping[str, float] | None) -> Array:
    """The configuration (nq,) that is given, or the initial one."""
    found = model.initial_state()[0] if isinstance(model, System) else neutral(robot)
    if isinstance(q, Mapping):
        for name, value in q.items():
            if name not in robot.q_names:
                raise UnsupportedError(
                    f"excite: q names '{name}', which is not a coordinate of '{robot.name}'."
                    f"{did_you_mean(name, robot.q_names)} Known: {quoted(robot.q_names)}."
                )
            found[robot.q_names.index(name)] = value
    elif q is not None:
        found = np.array(q, dtype=float)
    if found.shape != (robot.nq,) or not np.isfinite(found).all():
        raise UnsupportedError(
            f"excite: q has the shape {found.shape}; expected {robot.nq} finite numbers, the configuration of "
            f"'{robot.name}'."
        )
    return found


def _rows(robot: Robot, measured: Sequence[str] | None, limits: MotionLimits) -> list[int]:
    """The velocities whose forces are measured, as indices of v."""
    names = limits.joints if measured is None else (measured,) if isinstance(measured, str) else tuple(measured)
    found: list[int] = []
    for name in names:
        if name in robot.v_names:
            found.append(robot.v_names.index(name))
        elif name in robot.joint_names:
            found += range(robot.nv)[robot.v_slice(name)]
        else:
            known = (*robot.joint_names, *robot.v_names)
            raise UnsupportedError(
                f"excite: measured names '{name}', which is neither a joint nor a velocity of '{robot.name}'."
                f"{did_you_mean(name, known)} Joints: {quoted(robot.joint_names)}."
            )
    if not found:
        raise UnsupportedError("excite: no force is measured. Leave measured= out to measure all joints that move.")
    return sorted(set(found))


def _noise(
    robot: Robot, rows: Sequence[int], limits: MotionLimits, share: float, given: Limit | None
) -> tuple[Array, list[str]]:
    """The standard deviations of measured forces [N m or N], and sentences about those that were assumed."""
    names = [robot.v_names[row] for row in rows]
    own = [NOISE * float(limits.effort[limits.joints.index(name)]) / share if name in limits.joints else np.inf
           for name in names]  # fmt: skip
    found = one_each(robot, names, given, own, "deviations")
    missing = [name for name, x in zip(names, found, strict=True) if not np.isfinite(x)]
    told = [] if given is not None else [f"Noise of forces: {100.0 * NOISE:g} % of their limits (standard deviation)."]
    if missing:
        told.append(f"The noise of forces without a limit, {listed(missing, 8)}, is assumed as 1 N m or 1 N.")
    return np.where(np.isfinite(found), found, 1.0), told


def _check_parts(parts: Sequence[str]) -> None:
    for part in parts:
        if part not in OF_VELOCITY:
            raise UnsupportedError(
                f"excite: friction names '{part}'.{did_you_mean(part, OF_VELOCITY)} Known: {quoted(OF_VELOCITY)}."
            )
