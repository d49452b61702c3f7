"""Checks of recordings: mistakes that are made with real data, each told in a sentence with its figures.

Data that cannot be meant raise ShapeError: velocities that belong to another joint, degrees in place of radians, times
in milliseconds. Data that are questionable give a RecordingWarning, and can be used: a joint that never moves, a
position that jumps in a single sample, a force that stays at its extreme, gaps between samples, other recordings that
are predicted far worse than the used ones are fitted. Forces that contradict the model are the subject of `misfits`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.recording import Recording, run_lengths
from kinemorph.analysis.recorded_tables import time_gaps
from kinemorph.errors import Problem, RecordingWarning, ShapeError, users_level
from kinemorph.model.robot import Robot
from kinemorph.words import listed

STILL = {"rad": 1e-4, "m": 1e-6}  # a coordinate whose range is smaller never moves
HARDLY = 0.02  # a range that is a smaller share of the largest one of other joints may be noise ...
NOISY = 2.0  # ... and is, if its standard deviation is below this many standard deviations from sample to sample
FOLLOWS, STRANGER = 0.8, 0.5  # correlations: a velocity follows a coordinate above the first, and not below the second
DEGREES = 180.0 / np.pi
SAME = 1.1  # factors of units that differ by less than this factor are the same
SCALED = 3.0  # slopes and velocities that differ by more than this factor have different units
CLOCKS = {1e-3: ("ms", "milliseconds"), 1e-6: ("us", "microseconds")}  # slope by velocity, where times are in these
JUMP, AROUND = 10.0, 10  # a spike is larger by this factor than all other steps within so many samples ...
USUAL = 3.0  # ... and larger by this factor than 99 % of all steps, and than the smallest
LEAST_SPIKE = 5e-3  # [rad or m], smaller spikes are not told
TURNS = 12.0  # [rad], an angle with limits is in degrees if it is beyond them, and beyond this
HELD = 20  # samples in a row at an extreme that are a saturation
WORSE, LARGE = 3.0, 0.2  # a prediction is bad if its error is larger than this factor times that of the fit, and this


def check_recording(recording: Recording, robot: Robot) -> None:
    """Raises ShapeError for data of a recording that cannot be meant, and warns of those that are questionable."""
    _check_widths(recording, robot)
    fatal = [*_units(recording, robot), *_beyond_limits(recording, robot), *_strangers(recording, robot)]
    if fatal:
        raise ShapeError("\n".join(fatal))
    _warn(
        [
            *_still(recording, robot),
            *_spikes(recording, robot),
            *time_gaps(recording.name, recording.t),
            *_saturated(recording, robot),
        ]
    )


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


def _spans(recording: Recording, robot: Robot) -> dict[str, float]:
    """The ranges of the coordinates of `_pairs`, by joint [rad or m]."""
    return {name: float(np.ptp(recording.q[:, at])) if len(recording) else 0.0 for name, at, _ in _pairs(robot)}


def _moving(recording: Recording, robot: Robot) -> list[tuple[str, int, int]]:
    """The coordinates of `_pairs` that move."""
    spans = _spans(recording, robot)
    return [pair for pair in _pairs(robot) if spans[pair[0]] >= STILL[robot.q_units[pair[1]]]]


# ── fatal ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _units(recording: Recording, robot: Robot) -> Iterator[Problem]:
    """Positions, velocities and times whose units do not belong together, by the slopes of q relative to v."""
    factors = _factors(recording, robot)
    usual = float(np.median(list(factors.values()))) if factors else 1.0
    enough = len(factors) >= min(2, len(_moving(recording, robot))) > 0
    common = enough and all(1.0 / SAME < one / usual < SAME for one in factors.values())
    for clock, (unit, words) in CLOCKS.items():
        if common and 1.0 / SAME < usual / clock < SAME:
            yield _problem(
                recording,
                f"the slopes of all coordinates that move ({listed(list(factors), 6)}) are {usual:.3g} times their "
                f"recorded velocities, so times seem to be in {words}",
                f"Read the file with units={{'t': '{unit}'}}, or write the unit into the name: 't [{unit}]'.",
            )
            return
    for name, factor in factors.items():
        angle = robot.q_units[robot.q_slice(name).start] == "rad"
        for group, wrong in (("q", factor / DEGREES), ("v", factor * DEGREES)):
            if angle and 1.0 / SAME < wrong < SAME:
                yield _problem(
                    recording,
                    f"the slope of q.{name} is {factor:.3g} times v.{name}, so {group} is in degrees",
                    _in_degrees(group),
                )
                break
        else:
            if not 1.0 / SCALED < factor < SCALED:
                yield _problem(
                    recording,
                    f"the slope of q.{name} is {factor:.3g} times v.{name}, so the units of q, v and t do not belong "
                    "together, or v is measured at another shaft",
                    f"Give the true units, or a factor: columns={{'v.{name}': ('v.{name}', {factor:.3g})}}.",
                )


def _in_degrees(group: str) -> str:
    return f"Read the file with units={{'{group}': 'deg'}}, or write the unit into the names: '{group}.elbow [deg]'."


def _factors(recording: Recording, robot: Robot) -> dict[str, float]:
    """By joint the factor between the slope of its coordinate and its recorded velocity, where the two are alike."""
    found: dict[str, float] = {}
    if recording.v is None or len(recording) < 3:
        return found
    for name, at_q, at_v in _moving(recording, robot):
        slope, v = np.gradient(recording.q[:, at_q], recording.t), recording.v[:, at_v]
        factor = float(slope @ v / (v @ v)) if v @ v > 0.0 else 0.0
        if factor > 0.0 and slope @ v > FOLLOWS * np.sqrt((slope @ slope) * (v @ v)):
            found[name] = factor
    return found


def _beyond_limits(recording: Recording, robot: Robot) -> Iterator[Problem]:
    """Angles that are far beyond the limits of their joints, as they are in degrees."""
    for name, at_q, _ in _pairs(robot):
        q = recording.q[:, at_q]
        low, high = float(robot.q_lower[at_q]), float(robot.q_upper[at_q])
        most = max(abs(low), abs(high)) if np.isfinite(low) and np.isfinite(high) else np.inf
        if robot.q_units[at_q] == "rad" and np.abs(q).max(initial=0.0) > max(TURNS, 2.0 * most):
            yield _problem(
                recording,
                f"q.{name} goes from {q.min():.4g} to {q.max():.4g} rad, but the joint has limits of {low:.3g} and "
                f"{high:.3g} rad, so it seems to be in degrees",
                _in_degrees("q"),
            )


def _strangers(recording: Recording, robot: Robot) -> Iterator[Problem]:
    """Velocities that follow the coordinate of another joint."""
    pairs = _moving(recording, robot)
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
    """Joints whose range is tiny, or is small beside that of the others and not larger than its own noise."""
    spans = _spans(recording, robot)
    for name, at, _ in _pairs(robot):
        q, unit, span = recording.q[:, at], robot.q_units[at], spans[name]
        most = max(spans[other] for other, place, _ in _pairs(robot) if robot.q_units[place] == unit)
        # the second differences of independent errors have six times their variance
        noise = float(np.sqrt(np.mean(np.diff(q, 2) ** 2) / 6.0)) if len(q) > 2 else 0.0
        if span < STILL[unit] or (span < HARDLY * most and np.std(q) < NOISY * noise):
            yield _problem(
                recording,
                f"joint '{name}' never moves: q.{name} stays within {span:.2g} {unit} (noise from sample to sample "
                f"{noise:.2g} {unit}), so its friction and what only its motion shows are not determined",
                "Record a motion of this joint, or add a recording in which it moves.",
            )


def _spikes(recording: Recording, robot: Robot) -> Iterator[Problem]:
    """Coordinates that jump in one sample, by far more than in the samples around it, and return in the next."""
    for name, at, _ in _pairs(robot):
        q = recording.q[:, at]
        steps = np.diff(q)
        sizes = np.abs(steps)
        if len(q) < 2 * AROUND:
            continue
        back = np.minimum(sizes[:-1], sizes[1:]) * (steps[:-1] * steps[1:] < 0.0)  # of the samples 1 to n - 2
        moved = sizes[sizes > 0.0]
        least = max(LEAST_SPIKE, USUAL * float(np.quantile(sizes, 0.99)), USUAL * float(moved.min(initial=np.inf)))
        found = []
        for k in np.flatnonzero(back > least):
            around = np.concatenate([sizes[max(0, k - AROUND) : k], sizes[k + 2 : k + 2 + AROUND]])
            if back[k] > JUMP * around.max():
                found.append(int(k) + 1)
        if found:
            first = found[0]
            more = f", and {len(found) - 1} further samples like it" if len(found) > 1 else ""
            yield _problem(
                recording,
                f"q.{name} jumps by {q[first] - q[first - 1]:.3g} {robot.q_units[at]} in sample {first + 1} (t = "
                f"{recording.t[first]:.6g} s) and returns in the next{more}, so this value seems to be an error of "
                "measurement",
                "Remove this sample, or put the mean of its neighbors in its place.",
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
            runs = run_lengths(tau == extreme)
            longest, total = int(runs.max(initial=0)), int(runs[runs >= HELD].sum())
            if longest >= HELD:
                yield _problem(
                    recording,
                    f"tau.{name} stays at its extreme {extreme:.4g} in {total} of {len(tau)} samples, {longest} of "
                    "them in a row, so it is saturated",
                    "Move more slowly, or remove these samples.",
                )


def bad_predictions(error: float, others: Sequence[tuple[str, float]]) -> list[str]:
    """Sentences about recordings (name, relative error) that are predicted far worse than the used data are fitted."""
    return [
        f"'{name}' was not used and is predicted with an error of {100.0 * other:.3g} %, but the used data are fitted "
        f"to {100.0 * error:.3g} %, so the parameters do not hold for this motion. Check that robot, load, columns and "
        "units are the same, and identify from a motion that shows more."
        for name, other in others
        if other > max(WORSE * error, LARGE)
    ]
