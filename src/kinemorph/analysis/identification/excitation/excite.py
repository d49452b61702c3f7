"""`excite`: the motion of a robot that shows its masses and its friction best, within limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.excitation.barrier_search import searched
from kinemorph.analysis.identification.excitation.excitation import Excitation
from kinemorph.analysis.identification.excitation.excitation_problem import ExcitationProblem, times_of
from kinemorph.analysis.identification.excitation.hanging import Hanging
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
from kinemorph.analysis.identification.excitation.unknown_columns import random_states, unknown_columns
from kinemorph.analysis.identification.excitation.zones import Zone, Zones
from kinemorph.analysis.identification.system_parameters import system_parameters
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.recursions.regressors import OF_VELOCITY
from kinemorph.model.configuration import neutral
from kinemorph.model.elements.control.references import FourierSeries
from kinemorph.model.joint import PLAIN, Joint
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.system import System, as_robot
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
COUPLED = 1e-6  # [rad or m] and relative: how far a coupled coordinate that is given may be from where it should be


def excite(
    model: Robot | System | Dynamics,
    *,
    joints: Sequence[str] | None = None,
    duration: float = 20.0,
    harmonics: int = 5,
    q: npt.ArrayLike | Mapping[str, float] | None = None,
    anchored: bool = False,
    hanging: Sequence[str] = (),
    position: Range | None = None,
    velocity: Limit | None = None,
    acceleration: Limit | None = None,
    effort: Limit | None = None,
    share: float = 1.0,
    zones: Sequence[Zone] = (),
    points: Mapping[str, Any] | None = None,
    measured: Sequence[str] | None = None,
    wrenches: Sequence[str] = (),
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
    gradients; it finds a local optimum. The robot is an open tree; it may have coupled joints that are all held.

    `joints`        the joints that move, of one axis each; all by default. The others are held at q
    `duration`      the period [s], and `harmonics` the number of its harmonics, 2 or more
    `q`             the configuration (nq,) of joints that are held, or {name: value}; by default the initial one.
                    Coupled joints that it does not name follow their leaders
    `anchored`      whether the motion begins and ends at q; by default the search chooses where
    `hanging`       joints that nothing drives, such as the hook of a crane or a free base without gravity: they begin
                    at rest in equilibrium near q and swing as the others move. Their forces, 0, count as measured
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
    `wrenches`      joints, also fixed ones, through which the whole wrench is measured: a sensor in a wrist, a mount on
                    a force plate; see `Dynamics.wrench_regressor`
    `friction`      unknown parameters of the joints that move: some of "armature", "viscous", "coulomb", "offset"
    `deviations`    the standard deviations of the noise of measured forces [N m or N], one number, one for each, or
                    {velocity or joint of a wrench: number}; by default 1 % of the limits of torques
    `rate`          samples of the recording per second; the noise of samples is independent
    `draws`         random series, from the best of which the search starts; `starts` such searches are made
    `seed`          of the random numbers
    `progress`      is called after every step with its number and how many times smaller standard deviations are than
                    those of the median of the random series
    """
    began = time.perf_counter()
    coupled = as_robot(_robot(model))
    _check(coupled, duration=duration, harmonics=harmonics, share=share, rate=rate, draws=draws, starts=starts)
    loose = _hanging(coupled, hanging)
    moving, assumed = _moving(coupled, joints, loose)
    _check_couplings(coupled, [*(joint.name for joint in moving), *loose], measured)
    dynamics = _uncoupled(model)
    robot, values = dynamics.robot, None if isinstance(model, Dynamics) else system_parameters(model)
    given = {"position": position, "velocity": velocity, "acceleration": acceleration, "effort": effort}
    limits = motion_limits(robot, moving, **given, share=share)  # type: ignore[arg-type]
    held = _configuration(model, coupled, q)
    rows, through = _rows(robot, measured, (*limits.joints, *loose)), _wrenches(robot, wrenches)
    noise, told = _noise(robot, rows, through, limits, share, deviations)
    _check_parts(friction)
    states = random_states(dynamics, limits, loose, held, seed)
    columns, left_out = unknown_columns(dynamics, limits, rows, through, noise, friction, states)
    assumed += [*limits.assumed, *told]
    rough = [name for name in loose if any(evaluate_all(robot.joint(name).friction))]
    if rough:
        assumed.append(f"Coulomb friction of hanging joints is not applied: {listed(rough, 8)}.")
    if left_out:
        assumed.append(f"Not shown by these motions and left out: {listed(left_out, 12)}.")
    kept = Zones(dynamics, zones, points)
    basis = SeriesBasis(harmonics, duration, anchored)
    samples = PER_HARMONIC * harmonics

    def problem_of(tight: float) -> ExcitationProblem:
        within, away = tightened(limits, tight), kept.wider(1.0 - tight)
        return ExcitationProblem(dynamics, basis, within, columns, away, held, samples, swinging, values)

    swinging = None
    if loose:
        swinging = Hanging(dynamics, loose, limits.joints, basis, held)
        swinging.check(held)

    problems = Problems(problem_of(TIGHT), problem_of(1.0), problem_of)
    rng = np.random.default_rng(seed)
    resting = resting_posture(problems.search, rng)
    drawn = [random_series(problems.search, resting, rng) for _ in range(draws)]
    random = np.array([problems.search.log_det(x) for x in drawn])
    if not np.isfinite(random).any():
        raise UnsupportedError(
            f"excite: {samples} samples of {harmonics} harmonics do not show all {len(columns.names)} unknowns of "
            f"'{robot.name}'. Give more harmonics, or let more joints move."
        )
    begins = [drawn[place] for place in np.argsort(-random)[:starts]]
    x, steps = _best(problems, begins, resting, float(np.median(random)), progress)
    whole, count = problems.whole, max(2, round(rate * duration))
    offset, sines, cosines = basis.series(x.reshape(whole.shape), whole.start)
    times = times_of(duration, count)
    motion = whole.motion(x, np.append(times, duration))
    return Excitation(
        robot=robot,
        element=FourierSeries.at_rest(NAME, duration, sines, cosines, tuple(offset.tolist()), limits.joints),
        **motion._asdict(),
        tau=whole.torques(motion, smooth=False),
        names=columns.names,
        measured=(*(robot.v_names[row] for row in rows), *wrench_names(through)),
        noise=noise,
        information=whole.information(whole.motion(x, times)),
        limits=whole.use(whole.motion(x, problems.fine)),
        assumed=tuple(assumed),
        random=random + len(columns.names) * np.log(count / samples),
        zones=tuple(zones),
        steps=steps,
        seconds=time.perf_counter() - began,
    )


class Problems(NamedTuple):
    """The problem with limits that are a little tighter, in which a search runs; with the true ones; and with others.

    `tightened` gives the problem with limits times a share.
    """

    search: ExcitationProblem
    whole: ExcitationProblem
    tightened: Callable[[float], ExcitationProblem]

    @property
    def fine(self) -> Array:
        """Times at which limits are checked in the end, ten times as many as those of a search."""
        return times_of(self.whole.basis.period, FINER * len(self.whole.t))


def _best(
    problems: Problems,
    begins: Sequence[Array],
    resting: Array,
    middle: float,
    progress: Callable[[int, float], Any] | None,
) -> tuple[Array, int]:
    """The unknowns of the best motion that is found from several starts, and the number of all steps.

    `middle` is log det H of the median of the random series. Where the best motion breaks limits between the times of
    the search, it is searched again with tighter ones.
    """
    problem, taken, unknowns = problems.search, 0, len(problems.search.columns.names)

    def told(number: int, x: Array) -> None:
        if progress is not None:
            progress(taken + number, float(np.exp(0.5 * (problem.log_det(x) - middle) / unknowns)))

    found = []
    for begin in begins:
        found.append(searched(problem.cost, problem.slope, problem.curvature, begin, WEIGHTS, STEPS, told))
        taken += found[-1].steps
    x = max((one.x for one in found), key=problem.log_det)
    whole, fine, tight = problems.whole, problems.fine, TIGHT
    for _ in range(ROUNDS):
        motion = whole.motion(x, fine)
        if whole.keeps(motion):
            break
        tight *= min(TIGHT, 1.0 / max(one.share for one in whole.use(motion)))
        problem = problems.tightened(tight)
        near = drawn_near(problem, x, resting)
        again = searched(problem.cost, problem.slope, problem.curvature, near, WEIGHTS[-2:], STEPS, told)
        x, taken = again.x, taken + again.steps
    return drawn_near(whole, x, resting, fine), taken


# ── arguments ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _robot(model: Robot | System | Dynamics) -> Robot | System:
    return model.robot if isinstance(model, Dynamics) else model


def _uncoupled(model: Robot | System | Dynamics) -> Dynamics:
    """The dynamics of the model without its couplings: while all coupled joints are held, both have the same forces."""
    if isinstance(model, Dynamics) and not model.parameters and not model.robot.couplings:
        return model
    source = _robot(model)
    tree = replace(as_robot(source), couplings=())
    return derive(replace(source, robot=tree) if isinstance(source, System) else tree)


def _check_couplings(robot: Robot, moving: Sequence[str], measured: Sequence[str] | None) -> None:
    """Raises UnsupportedError where coupled joints move, or where the force of one of them is to be measured."""
    measured = () if measured is None else (measured,) if isinstance(measured, str) else measured
    for one in robot.couplings:
        pair = (one.joint, one.leader)
        if any(name in moving for name in pair):
            raise UnsupportedError(
                f"excite: joints '{one.joint}' and '{one.leader}' of '{robot.name}' are coupled, so that their motions "
                "depend on each other; expected joints that move alone. Name the joints that move (joints, --joints) "
                "without these, which are held then."
            )
        for name in pair:
            if name in measured:
                raise UnsupportedError(
                    f"excite: measured names '{name}', which is coupled with another joint, so that its force alone "
                    "is not known. Leave it out."
                )


def _check(robot: Robot, **numbers: float) -> None:
    """Raises UnsupportedError for closed chains, and for numbers out of range."""
    if robot.loops:
        raise UnsupportedError(
            f"excite: robot '{robot.name}' has closed chains, whose motions depend on each other; expected an open "
            "tree. Cut the loops, or record motions of your own choice."
        )
    least = {"harmonics": 2, "draws": 1, "starts": 1}
    for name, value in numbers.items():
        if name in least and not (value >= least[name] and value == round(value)):
            raise UnsupportedError(f"excite: {name} is {value}; expected a whole number of {least[name]} or more.")
        if not 0.0 < value < np.inf or (name == "share" and value > 1.0):
            expected = "a number above 0, at most 1" if name == "share" else "a finite number above 0"
            raise UnsupportedError(f"excite: {name} is {value:g}; expected {expected}.")


def _hanging(robot: Robot, names: Sequence[str]) -> tuple[str, ...]:
    """The joints that nothing drives."""
    found = (names,) if isinstance(names, str) else tuple(names)
    for name in found:
        if name not in robot.joint_names or not robot.joint(name).nv or robot.driven:
            raise UnsupportedError(
                f"excite: hanging names '{name}', which is not a joint of '{robot.name}' that could swing."
                f"{did_you_mean(name, robot.joint_names)} Joints: {quoted(robot.joint_names)}."
            )
    return found


def _moving(robot: Robot, names: Sequence[str] | None, loose: Sequence[str]) -> tuple[list[Joint], list[str]]:
    """The joints that move, and sentences about those that are held."""
    able = [joint for joint in robot.joints if joint.nv == 1 and joint.motion.primitives[0].kind in PLAIN]
    able = [joint for joint in able if joint.name not in loose]
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
    held = [joint.name for joint in robot.joints if joint.nv and joint not in able and joint.name not in loose]
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
    named = robot.q_names if q is not None and not isinstance(q, Mapping) else tuple(q or ())
    if found.shape != (robot.nq,) or not np.isfinite(found).all():
        raise UnsupportedError(
            f"excite: q has the shape {found.shape}; expected {robot.nq} finite numbers, the configuration of "
            f"'{robot.name}'."
        )
    return _followed(robot, found, named)


def _followed(robot: Robot, q: Array, named: Sequence[str]) -> Array:
    """The configuration (nq,) in which coupled joints follow their leaders.

    Raises UnsupportedError where a coordinate that was given, one of `named`, does not.
    """
    found = q.copy()
    for _ in robot.couplings:  # a leader may follow another joint
        for one in robot.couplings:
            at, leader = robot.q_slice(one.joint).start, robot.q_slice(one.leader).start
            found[at] = evaluate(one.multiplier) * found[leader] + evaluate(one.offset)
    for one in robot.couplings:
        at = robot.q_slice(one.joint).start
        if robot.q_names[at] in named and not np.isclose(q[at], found[at], rtol=COUPLED, atol=COUPLED):
            raise UnsupportedError(
                f"excite: q of joint '{one.joint}' is {q[at]:g}; expected {found[at]:g}, as its coupling with "
                f"'{one.leader}' demands. Leave it out, or give this value."
            )
    return found


def _rows(robot: Robot, measured: Sequence[str] | None, usual: tuple[str, ...]) -> list[int]:
    """The velocities whose forces are measured, as indices of v; those of the joints `usual` by default."""
    names = usual if measured is None else (measured,) if isinstance(measured, str) else tuple(measured)
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
    return sorted(set(found))


def _wrenches(robot: Robot, names: Sequence[str]) -> tuple[str, ...]:
    """The joints through which wrenches are measured."""
    found = (names,) if isinstance(names, str) else tuple(names)
    for name in found:
        robot.joint(name)
    return found


def _noise(
    robot: Robot,
    rows: Sequence[int],
    through: Sequence[str],
    limits: MotionLimits,
    share: float,
    given: Limit | None,
) -> tuple[Array, list[str]]:
    """The standard deviations of measured forces [N m or N], and sentences about those that were assumed."""
    names = [*(robot.v_names[row] for row in rows), *wrench_names(through)]
    if not names:
        raise UnsupportedError("excite: no force is measured. Leave measured= out to measure all joints that move.")
    if isinstance(given, Mapping):
        parts = {name: wrench_names([name]) if name in through else [name] for name in given}
        given = {part: given[name] for name in given for part in parts[name]}
    own = [NOISE * float(limits.effort[limits.joints.index(name)]) / share if name in limits.joints else np.inf
           for name in names]  # fmt: skip
    found = one_each(robot, names, given, own, "deviations")
    missing = [name for name, x in zip(names, found, strict=True) if not np.isfinite(x)]
    told = [] if given is not None else [f"Noise of forces: {100.0 * NOISE:g} % of their limits (standard deviation)."]
    if missing:
        told.append(f"The noise of forces without a limit, {listed(missing, 8)}, is assumed as 1 N m or 1 N.")
    return np.where(np.isfinite(found), found, 1.0), told


def wrench_names(joints: Sequence[str]) -> list[str]:
    """The names of the forces and moments of the wrenches through joints."""
    return [f"{name}.{part}" for name in joints for part in ("fx", "fy", "fz", "mx", "my", "mz")]


def _check_parts(parts: Sequence[str]) -> None:
    for part in parts:
        if part not in OF_VELOCITY:
            raise UnsupportedError(
                f"excite: friction names '{part}'.{did_you_mean(part, OF_VELOCITY)} Known: {quoted(OF_VELOCITY)}."
            )
