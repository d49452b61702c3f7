"""`scaled_segments`: a robot whose segments have the lengths that a recording shows.

    fitted = scaled_segments(robot, markers)
    track(fitted.model, markers)

Two markers that are fixed on one body, such as a knee and an ankle, have a constant distance. Its median over all
frames, by the distance in the model, is the factor of this body; several pairs give a mean, weighted by the squares of
their lengths. Noise makes distances longer: if the positions have independent errors of the same variance s^2 in all
directions, a distance d is measured with the variance 2 s^2 and is d + 2 s^2 / d on average. This is corrected by the
variance that the recording shows.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.tracking.attachments import Attachment, Attachments, attached, points_on_bodies, usual_posture
from kinemorph.analysis.tracking.marker_checks import check_markers
from kinemorph.analysis.tracking.markers import Markers
from kinemorph.errors import Problem, RecordingWarning, ShapeError, users_level
from kinemorph.frozen import dataclass
from kinemorph.mechanics.scaling.scaled_bodies import scaled_bodies
from kinemorph.model.robot import Robot
from kinemorph.model.system import System, as_robot
from kinemorph.words import counted, did_you_mean, listed

M = TypeVar("M", Robot, System)
LEAST = 3  # frames in which both markers of a pair have to be seen
NORMAL = 1.4826  # a standard deviation by the median distance from the median, for normal errors
MEDIAN = 1.2533  # the standard error of a median by that of a mean, for normal errors: sqrt(pi / 2)


class Length(NamedTuple):
    """The distance of two markers on one body [m]: recorded, its standard error, and in the model."""

    markers: tuple[str, str]
    recorded: float
    deviation: float
    model: float


@dataclass(frozen=True, eq=False, repr=False)
class ScaledSegments(Generic[M]):
    """A robot or system that was fitted to the lengths of a recording.

    `model`         with the lengths of the recording
    `factors`       by body: recorded length by that of the model before
    `deviations`    by body: the standard error of the factor, where errors of frames are independent
    `lengths`       by body: the distances that gave its factor
    `unscaled`      bodies on which fewer than two markers are fixed; they keep their sizes
    `attachments`   those that were given, with offsets on scaled bodies that grew with them
    """

    model: M
    factors: Mapping[str, float]
    deviations: Mapping[str, float]
    lengths: Mapping[str, tuple[Length, ...]]
    unscaled: tuple[str, ...]
    attachments: Mapping[str, Attachment]

    def __repr__(self) -> str:
        return "\n".join(
            [f"<ScaledSegments of {counted(len(self.factors), 'body', 'bodies')}, {len(self.unscaled)} unscaled>"]
            + [f"  {body}: {f:.4g} +- {self.deviations[body]:.2g}" for body, f in self.factors.items()]
        )


def scaled_segments(
    model: M,
    markers: Markers,
    attachments: Attachments | None = None,
    *,
    bodies: Sequence[str] | None = None,
    alike: Sequence[Sequence[str]] = (),
    mass: Literal["density", "kept"] = "density",
) -> ScaledSegments[M]:
    """The robot or system with bodies that have the lengths of the recording.

    `attachments`  where markers sit, as for `track`: by default each at the frame or body of its name
    `bodies`       that get new sizes; by default all on which two markers or more are fixed
    `alike`        groups of bodies with one factor, such as the left and the right femur
    `mass`         what stays the same: "density", or the masses ("kept")

    Raises ShapeError where a body of `bodies`, or a whole group of `alike`, has too few markers, or where a recording
    has another unit.
    """
    robot = as_robot(model)
    frames = attached(robot, markers.names, attachments)
    check_markers(markers, robot, frames, usual_posture(model))
    points = points_on_bodies(robot, frames)
    wanted: list[str] = list(robot.body_names if bodies is None else bodies)
    for name in (*wanted, *(name for group in alike for name in group)):
        if name not in robot.body_names:
            raise ShapeError(f"robot '{robot.name}' has no body '{name}'.{did_you_mean(name, robot.body_names)}")
    lengths = {name: _lengths(markers, points[name]) for name in wanted}
    few = [name for name in wanted if not lengths[name]] if bodies is not None else []
    few += [group[0] for group in alike if group and not any(lengths.get(name) for name in group)]
    if few:
        on = listed(points[few[0]]) if points[few[0]] else "none"
        raise ShapeError(
            f"recording '{markers.source}': too few points for the segment '{few[0]}': markers on it are {on}; "
            f"expected two or more at different places, both seen in {LEAST} frames or more. Attach a marker to its "
            "other end, or leave it out of bodies and alike."
        )
    grouped = {name: tuple(group) for group in alike for name in group}
    factors, deviations = {}, {}
    for name in wanted:
        own = [length for other in grouped.get(name, (name,)) for length in lengths.get(other, ())]
        if own:
            factors[name], deviations[name] = _factor(markers, own)
    if not factors:
        what = f"no body has two markers at different places that are both seen in {LEAST} frames or more"
        problem = Problem("recording", markers.source, what, "All bodies keep their sizes; add markers or frames.")
        warnings.warn(problem, RecordingWarning, stacklevel=users_level())
    given = dict(attachments or {})
    moved = {name: _moved(place, robot, factors) for name, place in given.items()}
    unscaled = tuple(name for name in robot.body_names if name not in factors)
    shown = {name: lengths[name] for name in factors}
    return ScaledSegments(scaled_bodies(model, factors, mass=mass), factors, deviations, shown, unscaled, moved)


def _lengths(markers: Markers, points: Mapping[str, Array]) -> tuple[Length, ...]:
    """The distances of all pairs of markers on one body that are at different places and seen often enough."""
    found = []
    for (a, p), (b, q) in combinations(points.items(), 2):
        here = float(np.linalg.norm(p - q))
        measured = _distances(markers, (a, b))
        if here > 0.0 and np.isfinite(measured).sum() >= LEAST:
            middle, spread, error = _median(measured)
            length = float(np.sqrt(max(middle**2 - 2.0 * spread**2, 0.25 * middle**2)))
            found.append(Length((a, b), length, error, here))
    return tuple(found)


def _distances(markers: Markers, pair: tuple[str, str]) -> Array:
    """The distances of two markers [m] in all frames, shape (n,); NaN where one of them is missing."""
    found: Array = np.linalg.norm(markers.path(pair[0]) - markers.path(pair[1]), axis=1)
    return found


def _median(values: Array) -> tuple[float, float, float]:
    """The median of values without NaN, the standard deviation of values, and the standard error of the median."""
    known = values[np.isfinite(values)]
    middle = float(np.median(known))
    spread = NORMAL * float(np.median(np.abs(known - middle)))
    return middle, spread, MEDIAN * spread / float(np.sqrt(len(known)))


def _factor(markers: Markers, lengths: Sequence[Length]) -> tuple[float, float]:
    """The factor that fits lengths best, and its standard error.

    Pairs share markers, so that their errors are not independent; those of frames are. The error is that of the factor
    which the pairs of one frame give, from frame to frame.
    """
    model = np.array([length.model for length in lengths])
    factor = float(model @ [length.recorded for length in lengths] / (model @ model))
    measured = np.stack([_distances(markers, length.markers) for length in lengths])
    weights = np.where(np.isfinite(measured), model[:, None] ** 2, 0.0)
    whole = weights.sum(axis=0)
    ratios = np.nansum(weights * measured / model[:, None], axis=0) / np.where(whole > 0.0, whole, np.nan)
    return factor, _median(ratios)[2]


def _moved(place: Attachment, robot: Robot, factors: Mapping[str, float]) -> Attachment:
    """An attachment whose offset grew with its body."""
    if place is None or isinstance(place, str):
        return place
    f = factors.get(robot.frame(place[0]).body, 1.0)
    return place[0], tuple(f * float(x) for x in place[1])
