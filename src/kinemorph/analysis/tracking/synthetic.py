"""Synthetic recordings: markers and pictures of motions that are known, with noise, gaps and camera views.

    markers = synthetic_markers(robot, run, rate=200, noise=1e-4, gaps=0.1, seed=1)
    pictures = film(markers, [lateral, ventral], noise=0.5, seed=1)
    feet = tripod_markers(robot, [["lf", "rm", "lh"], ["rf", "lm", "rh"]], speed=0.2, period=0.15, duration=1)

They show how well a method finds what is known to be true. The same seed gives the same recording.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.tracking.attachments import Attachments, attached, marker_positions, usual_posture
from kinemorph.analysis.tracking.filmed import Filmed
from kinemorph.analysis.tracking.markers import Markers
from kinemorph.analysis.tracking.views import View
from kinemorph.errors import ModelError, ShapeError
from kinemorph.model.robot import Robot
from kinemorph.model.system import System, as_robot
from kinemorph.model.topology import WORLD
from kinemorph.simulation.results.body_poses import frame_matrices
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.words import did_you_mean, listed

Motion = Trajectory | Callable[[float], npt.ArrayLike] | tuple[npt.ArrayLike, npt.ArrayLike]


def synthetic_markers(
    model: Robot | System,
    motion: Motion,
    *,
    rate: float = 200.0,
    duration: float | None = None,
    names: Sequence[str] | None = None,
    attachments: Attachments | None = None,
    relative_to: str = WORLD,
    noise: float = 0.0,
    gaps: float = 0.0,
    gap_frames: int = 5,
    seed: int = 0,
) -> Markers:
    """The markers that cameras would record of a robot that moves in a known manner.

    `motion`       a run; or a function of the time [s] that returns q (nq,); or a pair of times [s] (n,) and q (n, nq)
    `rate`         frames per second; a pair has its own times
    `duration`     [s], of a function; of a run by default its whole duration
    `names`        of the markers; by default all bodies and frames of the robot
    `attachments`  where markers sit, as for `track`: by default each at the frame or body of its name
    `relative_to`  the body or frame in whose axes positions are given; the world by default

    `noise`, `gaps`, `gap_frames` and `seed` are those of `disturbed`.
    """
    robot = as_robot(model)
    times, q = _sampled(robot, motion, rate, duration)
    given = (*robot.body_names, *(frame.name for frame in robot.frames)) if names is None else tuple(names)
    frames = attached(robot, given, attachments)
    positions = marker_positions(robot, frames, q, times)
    places = (WORLD, *robot.body_names, *(frame.name for frame in robot.frames))
    if relative_to not in places:
        raise ModelError(
            f"relative_to is '{relative_to}', and robot '{robot.name}' has no such body or frame."
            f"{did_you_mean(relative_to, places)} Name one of them, or 'world'."
        )
    if relative_to != WORLD:
        T = frame_matrices(robot, q, [relative_to], times)[:, 0]
        positions = np.einsum("nij,nki->nkj", T[:, :3, :3], positions - T[:, None, :3, 3])
    whole = Markers(tuple(frame.name for frame in frames), times, positions, source=f"synthetic {robot.name}")
    return disturbed(whole, noise=noise, gaps=gaps, gap_frames=gap_frames, seed=seed)


def _sampled(robot: Robot, motion: Motion, rate: float, duration: float | None) -> tuple[Array, Array]:
    """Times [s] (n,) and configurations (n, nq) of a motion."""
    if not rate > 0.0 or (duration is not None and not duration > 0.0):
        raise ShapeError(f"rate is {rate} and duration is {duration}; expected numbers above 0. Give [Hz] and [s].")
    if isinstance(motion, tuple):
        times, q = np.array(motion[0], dtype=float), np.array(motion[1], dtype=float)
    elif isinstance(motion, Trajectory):
        begin, end = float(motion.t[0]), float(motion.t[-1])
        end = end if duration is None else min(end, begin + duration)
        times = begin + np.arange(int((end - begin) * rate * (1.0 + 1e-12)) + 1) / rate
        q = motion.at(np.minimum(times, motion.t[-1])).q
    elif duration is None:
        raise ShapeError("the motion is a function of the time, which has no end. Give a duration [s].")
    else:
        times = np.arange(int(duration * rate * (1.0 + 1e-12)) + 1) / rate
        q = np.array([np.asarray(motion(float(t)), dtype=float) for t in times])
    if q.shape != (len(times), robot.nq):
        raise ShapeError(
            f"the motion has configurations of shape {q.shape} at {len(times)} times; expected ({len(times)}, "
            f"{robot.nq}) for robot '{robot.name}'. Give one configuration for each time."
        )
    return times, q


def tripod_markers(
    model: Robot | System,
    feet: Sequence[Sequence[str]],
    *,
    speed: float,
    period: float,
    duty: float = 0.55,
    lift: float | None = None,
    duration: float | None = None,
    rate: float = 200.0,
    q: npt.ArrayLike | None = None,
    body_markers: Sequence[str] = (),
    noise: float = 0.0,
    gaps: float = 0.0,
    gap_frames: int = 5,
    seed: int = 0,
) -> Markers:
    """The feet and the body of an animal that walks along x, without its legs in between: what a gait prescribes.

    `feet`          groups of frames that step together; the groups follow each other at equal parts of the period. An
                    insect has two groups of three
    `speed`         of the body [m/s]; `period` of a stride [s]; `duty`, the share of it that a foot is on the ground
    `lift`          the height of a step [m]; by default a quarter of its length
    `duration`      [s]; by default three strides
    `q`             the posture (nq,) in which feet are in the middle of their stance; by default the neutral one, or
                    that of the settings of a system
    `body_markers`  frames and bodies that move with the body, along x at constant speed

    A foot on the ground stays where it is, and in the air it moves to its next place with continuous velocity. `track`
    finds the angles of the legs. `noise`, `gaps`, `gap_frames` and `seed` are those of `disturbed`.
    """
    robot = as_robot(model)
    names = [name for group in feet for name in group]
    if not (speed > 0.0 and period > 0.0 and 0.0 < duty < 1.0) or not names:
        raise ShapeError(
            f"speed is {speed} m/s, period is {period} s, duty is {duty} and feet are {listed(names)}; expected a "
            "speed and a period above 0, a duty between 0 and 1, and the feet in groups that step together."
        )
    posture = usual_posture(model) if q is None else np.array(q, dtype=float)
    frames = attached(robot, (*names, *body_markers))
    places = marker_positions(robot, frames, posture[None])[0]
    times, _ = _sampled(robot, lambda _: posture, rate, 3.0 * period if duration is None else duration)
    positions = np.repeat(places[None], len(times), axis=0)
    positions[:, :, 0] += speed * times[:, None]
    stride = speed * duty * period
    phases = [k / len(feet) for k, group in enumerate(feet) for _ in group]
    for j, shift in enumerate(phases):
        along, height = _step((times / period + shift) % 1.0, duty)
        positions[:, j, 0] += stride * along
        positions[:, j, 2] += (0.25 * stride if lift is None else lift) * height
    whole = Markers((*names, *body_markers), times, positions, source=f"synthetic tripod of {robot.name}")
    return disturbed(whole, noise=noise, gaps=gaps, gap_frames=gap_frames, seed=seed)


def _step(phase: Array, duty: float) -> tuple[Array, Array]:
    """The place of a foot relative to the body, in lengths of its stance, and its height, in heights of its step.

    On the ground it goes from 1/2 to -1/2 at constant speed; in the air a cubic brings it back with the same velocity
    at both ends.
    """
    s = np.clip((phase - duty) / (1.0 - duty), 0.0, 1.0)
    slope = -(1.0 - duty) / duty
    back = -0.5 + s * s * (3.0 - 2.0 * s) + slope * s * (1.0 - s) * (1.0 - 2.0 * s)
    along = np.where(phase < duty, 0.5 - phase / duty, back)
    return along, np.where(phase < duty, 0.0, 16.0 * s**2 * (1.0 - s) ** 2)


# ── noise, gaps and cameras ───────────────────────────────────────────────────────────────────────────────────────────


def disturbed(
    markers: Markers, *, noise: float = 0.0, gaps: float = 0.0, gap_frames: int = 5, seed: int = 0
) -> Markers:
    """Markers with normal errors and gaps.

    `noise`        standard deviation of each coordinate [m], independent from frame to frame
    `gaps`         the share of positions that are hidden, from 0 to 1, in gaps of `gap_frames` frames in a row
    """
    positions = _disturbed(markers.positions, noise, gaps, gap_frames, _generator(seed))
    return replace(markers, positions=positions)


def film(
    markers: Markers,
    views: Sequence[View],
    *,
    noise: float = 0.0,
    gaps: float = 0.0,
    gap_frames: int = 5,
    seed: int = 0,
) -> list[Filmed]:
    """The pictures of markers in calibrated views, with errors of `noise` [px] and gaps as in `disturbed`."""
    rng = _generator(seed)
    found = []
    for view in views:
        pictures = _disturbed(view.project(markers.positions), noise, gaps, gap_frames, rng)
        found.append(Filmed(view.name, markers.names, markers.times, pictures, markers.weights, markers.source))
    return found


def _generator(seed: int) -> np.random.Generator:
    if not (seed >= 0 and int(seed) == seed):
        raise ShapeError(f"seed is {seed}; expected a whole number, 0 or larger. Give another one.")
    return np.random.default_rng(int(seed))


def _disturbed(points: Array, noise: float, gaps: float, gap_frames: int, rng: np.random.Generator) -> Array:
    """Points (n, k, axes) with noise, and a share of them NaN in whole blocks of frames."""
    if not noise >= 0.0 or not 0.0 <= gaps <= 1.0 or gap_frames < 1:
        raise ShapeError(
            f"noise is {noise}, gaps is {gaps} and gap_frames is {gap_frames}; expected noise of 0 or more, a share of "
            "gaps from 0 to 1, and gaps of one frame or more."
        )
    found = points + noise * rng.normal(size=points.shape)
    blocks = -(-len(points) // gap_frames) * points.shape[1]
    hidden = rng.permutation(blocks)[: round(gaps * blocks)]
    for block in hidden.tolist():
        first = block // points.shape[1] * gap_frames
        found[first : first + gap_frames, block % points.shape[1]] = np.nan
    return found
