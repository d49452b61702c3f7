"""Checks of recordings: mistakes that are made with real data, each told in a sentence with its figures.

Data that cannot be meant raise ShapeError: velocities that belong to another joint, degrees in place of radians. Data
that are questionable give a RecordingWarning, and can be used: a joint that never moves, a force that stays at its
extreme, forces whose sign or order contradicts the model, gaps between samples.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.recording import Recording
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import Problem, RecordingWarning, ShapeError, users_level
from kinemorph.model.robot import Robot
from kinemorph.words import counted

STILL = 1e-6  # [rad or m], a coordinate whose range is smaller never moves
FOLLOWS, STRANGER = 0.8, 0.5  # correlations: a velocity follows a coordinate above the first, and not below the second
DEGREES = 180.0 / np.pi
TURNS = 12.0  # [rad], an angle with limits is in degrees if it is beyond them, and beyond this
HELD = 20  # samples in a row at an extreme that are a saturation
GAP = 10.0  # a distance of times that is longer than the usual one by this factor is a gap
AGAINST = -0.5  # a force whose correlation with the model is below has the wrong sign
THIN = 2000  # samples that the comparison with the model uses


def check_recording(recording: Recording, robot: Robot) -> None:
    """Raises ShapeError for data of a recording that cannot be meant, and warns of those that are questionable."""
    _check_widths(recording, robot)
    fatal = [*_degrees(recording, robot), *_strangers(recording, robot)]
    if fatal:
        raise ShapeError("\n".join(fatal))
    _warn([*_still(recording, robot), *_gaps(recording), *_saturated(recording, robot)])


def check_forces(recording: Recording, dynamics: Dynamics) -> None:
    """Warns of measured forces whose sign or order contradicts the model; `recording` has v and a."""
    _warn(list(_against_model(recording, dynamics)))


def _warn(problems: list[Problem]) -> None:
    for problem in problems:
        warnings.warn(problem, RecordingWarning, stacklevel=users_level())


def _problem(recording: Recording, what: str, remedy: str) -> Problem:
    return Problem("recording", recording.name, what, remedy)


def _check_widths(recording: Recording, robot: Robot) -> None:
    for group, width in (("q", robot.nq), ("v", robot.nv), ("a", robot.nv), ("tau", robot.nv)):
        found: Array | None = getattr(recording, group)
        if found is not None and found.shape[1] != width:
            raise ShapeError(
                f"recording '{recording.name}': {group} has {found.shape[1]} columns; robot '{robot.name}' has "
                f"{width}. Give a recording of this robot."
            )


def _pairs(robot: Robot) -> list[tuple[str, int, int]]:
    """(name, index in q, index in v) of every coordinate whose rate is a velocity: of joints with one axis."""
    found = []
    for joint in robot.joints:
        if not joint.driven and joint.motion.nv == 1 and joint.motion.nq == 1:
            found.append((joint.name, robot.q_slice(joint.name).start, robot.v_slice(joint.name).start))
    return found


# ── fatal ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _degrees(recording: Recording, robot: Robot) -> Iterator[Problem]:
    """Angles in degrees: their slopes are 57 times the measured velocities, or they are far beyond the limits."""
    remedy = "Read the file with units={'q': 'deg'}, or write the unit into the names: 'q.elbow [deg]'."
    for name, at_q, at_v in _pairs(robot):
        q, unit = recording.q[:, at_q], robot.q_units[at_q]
        if unit != "rad" or len(q) < 3:
            continue
        if recording.v is not None and np.ptp(q) > STILL:
            slope, v = np.gradient(q, recording.t), recording.v[:, at_v]
            factor = float(slope @ v / (v @ v)) if v @ v > 0.0 else 1.0
            for in_degrees, wrong in (("q", factor / DEGREES), ("v", factor * DEGREES)):
                if 0.9 < wrong < 1.1:
                    yield _problem(
                        recording,
                        f"the slope of q.{name} is {factor:.3g} times v.{name}, so {in_degrees} is in degrees",
                        remedy.replace("'q'", f"'{in_degrees}'").replace("'q.", f"'{in_degrees}."),
                    )
        low, high = float(robot.q_lower[at_q]), float(robot.q_upper[at_q])
        most = max(abs(low), abs(high)) if np.isfinite(low) and np.isfinite(high) else np.inf
        if np.abs(q).max() > max(TURNS, 2.0 * most):
            yield _problem(
                recording,
                f"q.{name} goes from {q.min():.4g} to {q.max():.4g} rad, but the joint has limits of {low:.3g} and "
                f"{high:.3g} rad, so it seems to be in degrees",
                remedy,
            )


def _strangers(recording: Recording, robot: Robot) -> Iterator[Problem]:
    """Velocities that follow the coordinate of another joint."""
    pairs = [pair for pair in _pairs(robot) if np.ptp(recording.q[:, pair[1]]) > STILL]
    if recording.v is None or len(recording) < 8 or not pairs:
        return
    slopes = np.gradient(recording.q[:, [at for _, at, _ in pairs]], recording.t, axis=0)
    found = _correlations(slopes, recording.v[:, [at for _, _, at in pairs]])
    for k, (name, _, _) in enumerate(pairs):
        other = int(np.argmax(found[:, k]))
        if found[k, k] < -FOLLOWS:
            yield _problem(
                recording,
                f"v.{name} is the negative slope of q.{name} (correlation {found[k, k]:.2f})",
                f"Turn the sign of one of them: columns={{'v.{name}': ('v.{name}', -1)}}.",
            )
        elif found[k, k] < STRANGER and found[other, k] > FOLLOWS:
            yield _problem(
                recording,
                f"v.{name} does not follow q.{name} (correlation {found[k, k]:.2f}) but q.{pairs[other][0]} "
                f"({found[other, k]:.2f}), so columns are swapped",
                "Correct the names of the columns.",
            )


def _correlations(x: Array, y: Array) -> Array:
    """The correlations between columns of x (n, k) and columns of y (n, m), shape (k, m); 0 of a constant."""
    parts = []
    for values in (x, y):
        centered = values - values.mean(axis=0)
        size = np.linalg.norm(centered, axis=0)
        parts.append(centered / np.where(size > 0.0, size, 1.0))
    found: Array = parts[0].T @ parts[1]
    return found


# ── questionable ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _still(recording: Recording, robot: Robot) -> Iterator[Problem]:
    for name, at, _ in _pairs(robot):
        span = float(np.ptp(recording.q[:, at])) if len(recording) else 0.0
        if span < STILL:
            yield _problem(
                recording,
                f"joint '{name}' never moves: q.{name} stays within {span:.2g} {robot.q_units[at]}, so its friction "
                "and what only its motion shows are not determined",
                "Record a motion of this joint, or add a recording in which it moves.",
            )


def _gaps(recording: Recording) -> Iterator[Problem]:
    distances = np.diff(recording.t)
    if not len(distances):
        return
    usual = float(np.median(distances))
    late = np.flatnonzero(distances > GAP * usual)
    if len(late):
        yield _problem(
            recording,
            f"{counted(len(late), 'gap')} between samples of more than {GAP:g} times the usual {usual:.3g} s, the "
            f"longest {distances.max():.3g} s at t = {recording.t[int(np.argmax(distances))]:.6g} s",
            "Cut the file there and give the parts as recordings of their own.",
        )


def _saturated(recording: Recording, robot: Robot) -> Iterator[Problem]:
    """Measured forces that stay at their largest or smallest value."""
    if recording.tau is None:
        return
    for name, tau in zip(robot.v_names, recording.tau.T, strict=True):
        if np.ptp(tau) == 0.0:
            if len(tau) >= HELD:
                yield _problem(
                    recording,
                    f"tau.{name} is {tau[0]:.4g} in all samples, so it seems not to be measured",
                    f"Measure it, or leave it out: channels without '{name}'.",
                )
            continue
        for extreme in (tau.max(), tau.min()):
            longest, total = _held(tau == extreme)
            if longest >= HELD:
                yield _problem(
                    recording,
                    f"tau.{name} stays at its extreme {extreme:.4g} in {total} of {len(tau)} samples, {longest} of "
                    "them in a row, so it is saturated",
                    "Move more slowly, or remove these samples.",
                )


def _held(at: Array) -> tuple[int, int]:
    """The length of the longest run of True, and how many are True in runs of at least HELD."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], at.astype(int), [0]])))
    lengths = edges[1::2] - edges[::2]
    return int(lengths.max(initial=0)), int(lengths[lengths >= HELD].sum())


def _against_model(recording: Recording, dynamics: Dynamics) -> Iterator[Problem]:
    """Forces with the wrong sign, or swapped, compared with those that the model predicts for the same motion."""
    robot = dynamics.robot
    if recording.tau is None or recording.v is None or recording.a is None or not robot.is_open:
        return
    few = slice(None, None, max(1, len(recording) // THIN))
    before = [recording.t[few]] if robot.is_timed else []
    predicted = dynamics.inverse_dynamics(*before, recording.q[few], recording.v[few], recording.a[few])
    found = _correlations(predicted, recording.tau[few])
    for k, name in enumerate(robot.v_names):
        other = int(np.argmax(found[k]))
        if found[k, k] < AGAINST:
            yield _problem(
                recording,
                f"tau.{name} is opposite to what the model predicts (correlation {found[k, k]:.2f}), so its sign "
                "seems to be wrong",
                f"Give it with a factor of -1: columns={{'tau.{name}': ('tau.{name}', -1)}}.",
            )
        elif other != k and found[k, k] < STRANGER and found[k, other] > FOLLOWS and found[other, other] < STRANGER:
            yield _problem(
                recording,
                f"tau.{robot.v_names[other]} is what the model predicts for '{name}' (correlation "
                f"{found[k, other]:.2f}; its own {found[k, k]:.2f}), so columns seem to be swapped",
                "Correct the names of the columns.",
            )
