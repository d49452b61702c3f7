"""Checks of markers against a robot: mistakes that are made with recordings, each told in a sentence with its figures.

Lengths in another unit raise ShapeError, because no configuration fits. Left and right that are exchanged do so where a
rigid body shows it; where only the posture shows it, they give a RecordingWarning.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.tracking.attachments import marker_positions, points_on_bodies
from kinemorph.analysis.tracking.markers import Markers
from kinemorph.errors import Problem, RecordingWarning, ShapeError, users_level
from kinemorph.model.configuration import neutral
from kinemorph.model.robot import Frame, Robot
from kinemorph.words import listed

OTHER_UNIT = 5.0  # lengths that differ by a larger factor have another unit
UNITS = {3: "mm", 2: "cm"}  # by the power of ten by which a recording in this unit that is read as m is too large
NEAR = 0.3  # a factor whose logarithm to base 10 is nearer to that of a unit belongs to this unit
MIRRORED = 0.5  # a mirrored fit that leaves less than this share of the error of the best rotation is meant
FLAT = 0.05  # points whose extent across a plane is a smaller share of their extent do not tell left from right
FRAMES = 25  # of a recording that are looked at


class Fit(NamedTuple):
    """How well points fit others: root mean squares [m] without and with a mirror, and the rotation (3, 3)."""

    turned: float
    mirrored: float
    R: Array


def check_markers(markers: Markers, robot: Robot, frames: Sequence[Frame], q: Array | None = None) -> None:
    """Raises ShapeError for markers in another unit or mirrored, and warns of postures that seem to be mirrored.

    `frames` are the places of markers by `attached`; `q` (nq,) is a usual posture, the neutral one by default.
    """
    posture = neutral(robot) if q is None else np.asarray(q, dtype=float)
    model = marker_positions(robot, frames, posture[None])[0]
    recorded = markers.only([frame.name for frame in frames]).positions
    recorded = recorded[:: max(1, len(recorded) // FRAMES)]
    _check_unit(markers, robot, frames, model, recorded)
    _check_bodies(markers, robot, frames, recorded)
    problem = _mirrored_posture(markers, robot, model, recorded)
    if problem is not None:
        warnings.warn(problem, RecordingWarning, stacklevel=users_level())


def _check_unit(markers: Markers, robot: Robot, frames: Sequence[Frame], model: Array, recorded: Array) -> None:
    """Compares distances of markers on the same bodies, or the extent of all markers where there are no such pairs."""
    ratio, what = size_ratio(robot, frames, model, recorded)
    if 1.0 / OTHER_UNIT < ratio < OTHER_UNIT or not np.isfinite(ratio):
        return
    power = float(np.log10(ratio)) if ratio > 0.0 else -np.inf
    unit = next((unit for tens, unit in UNITS.items() if abs(power - tens) < NEAR), None)
    seems = f"so lengths seem to be in {unit}" if unit else "so the unit of lengths seems to be wrong"
    remedy = (
        f"Load it with unit='{unit}', --unit {unit}." if unit else "Load it with its true unit, or scale the robot."
    )
    raise ShapeError(
        Problem(
            "recording", markers.source, f"{what} are {ratio:.4g} times those of robot '{robot.name}', {seems}", remedy
        )
    )


def size_ratio(robot: Robot, frames: Sequence[Frame], model: Array, recorded: Array) -> tuple[float, str]:
    """The factor between lengths of a recording (n, k, 3) and those of a robot (k, 3), and which lengths they are.

    It is NaN where too few markers are seen to compare any length.
    """
    at = {frame.name: k for k, frame in enumerate(frames)}
    ratios = []
    for points in points_on_bodies(robot, frames).values():
        for (a, p), (b, q) in combinations(points.items(), 2):
            length = float(np.linalg.norm(p - q))
            found = np.linalg.norm(recorded[:, at[a]] - recorded[:, at[b]], axis=1)
            if length > 0.0 and np.isfinite(found).any():
                ratios.append(float(np.nanmedian(found)) / length)
    if ratios:
        return float(np.median(ratios)), "distances of markers on the same bodies"
    extents = []
    for points in recorded:
        seen = np.isfinite(points[:, 0])
        own = _extent(model[seen]) if seen.sum() > 1 else 0.0
        if own > 0.0:
            extents.append(_extent(points[seen]) / own)
    return (float(np.median(extents)) if extents else np.nan), "distances of markers"


def _extent(points: Array) -> float:
    """The root mean square distance of points (k, 3) from their middle [m]."""
    return float(np.sqrt(np.mean(np.sum((points - points.mean(axis=0)) ** 2, axis=1))))


def fitted(model: Array, recorded: Array) -> Fit | None:
    """The best rotation, and the best rotation with a mirror, from points (k, 3) to others; None where they are flat.

    Kabsch (1976): with the singular values s of the covariance, squares of errors are those of both clouds less
    2 (s1 + s2 + d s3), where d is the sign of the determinant without a mirror, and its opposite with one.
    """
    seen = np.isfinite(recorded[:, 0])
    if seen.sum() < 4:
        return None
    a, b = (points[seen] - points[seen].mean(axis=0) for points in (model, recorded))
    spans = np.linalg.svd(a, compute_uv=False)
    if spans[2] < FLAT * spans[0]:
        return None
    U, s, Vt = np.linalg.svd(b.T @ a)
    sign = 1.0 if np.linalg.det(U @ Vt) > 0.0 else -1.0
    whole = float(np.sum(a * a) + np.sum(b * b))
    errors = [max(0.0, whole - 2.0 * (s[0] + s[1] + d * s[2])) for d in (sign, -sign)]
    turned, mirrored = (float(np.sqrt(error / len(a))) for error in errors)
    return Fit(turned, mirrored, U @ np.diag([1.0, 1.0, sign]) @ Vt)


def _fits(model: Array, recorded: Array) -> list[Fit]:
    return [fit for points in recorded if (fit := fitted(model, points)) is not None]


def _check_bodies(markers: Markers, robot: Robot, frames: Sequence[Frame], recorded: Array) -> None:
    """Raises ShapeError where the markers on a rigid body are its mirror image."""
    at = {frame.name: k for k, frame in enumerate(frames)}
    for body, points in points_on_bodies(robot, frames).items():
        if len(points) < 4:
            continue
        fits = _fits(np.array([*points.values()]), recorded[:, [at[name] for name in points]])
        turned, mirrored = _medians(fits)
        if fits and mirrored < MIRRORED * turned:
            what = (
                f"the markers on body '{body}' ({listed(points, 6)}) are its mirror image: they fit to {turned:.3g} m "
                f"as they are, and to {mirrored:.3g} m with left and right exchanged"
            )
            remedy = "Exchange the names of left and right, or turn the sign of one axis of the file."
            raise ShapeError(Problem("recording", markers.source, what, remedy))


def _mirrored_posture(markers: Markers, robot: Robot, model: Array, recorded: Array) -> Problem | None:
    """A problem where all markers together fit a usual posture far better if left and right are exchanged."""
    fits = _fits(model, recorded)
    turned, mirrored = _medians(fits)
    if not fits or mirrored >= MIRRORED * turned:
        return None
    what = (
        f"left and right seem to be exchanged: the markers fit the posture of robot '{robot.name}' to {turned:.3g} m "
        f"as they are, and to {mirrored:.3g} m as its mirror image"
    )
    return Problem(
        "recording", markers.source, what, "Exchange the names of left and right, or check the axes of the file."
    )


def _medians(fits: Sequence[Fit]) -> tuple[float, float]:
    """The medians of the errors without and with a mirror [m]."""
    if not fits:
        return np.inf, np.inf
    return float(np.median([fit.turned for fit in fits])), float(np.median([fit.mirrored for fit in fits]))
