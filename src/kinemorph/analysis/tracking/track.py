"""`track`: the motion of a robot that follows recorded markers.

    tracked = track(robot, load_markers("markers.csv"))
    tracked.q, tracked.rms(), tracked.intervals(), tracked.path()

One frame is solved from many starts; all frames start from it, each by itself, all at once; frames that jump start
again from their neighbors; then all frames are solved together, with the smoothness that connects them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array, evenly
from kinemorph.analysis.loops.ranges import Ranges
from kinemorph.analysis.tracking.attachments import OWN, Attachments, attached, usual_posture
from kinemorph.analysis.tracking.fitting import misfits, starts
from kinemorph.analysis.tracking.fitting.descent import Descended, descend
from kinemorph.analysis.tracking.fitting.marker_model import MarkerModel
from kinemorph.analysis.tracking.fitting.marker_problem import MarkerProblem, cloud_size
from kinemorph.analysis.tracking.fitting.smoothness import Smoothness
from kinemorph.analysis.tracking.marker_checks import check_markers
from kinemorph.analysis.tracking.markers import Markers
from kinemorph.analysis.tracking.tracked import Tracked
from kinemorph.deriving.dynamics import BackendName, derive
from kinemorph.errors import RecordingWarning, ShapeError, UnsupportedError, users_level
from kinemorph.model.robot import Robot
from kinemorph.model.system import System, as_robot
from kinemorph.words import counted, quoted

Told = Callable[[str, int, float], None]

SWAPPED_FRAMES = 8  # frames on which markers with exchanged sides are tried
FALLS = 0.5  # the residual with exchanged sides falls to this share or below, where sides are exchanged


def track(
    model: Robot | System,
    markers: Markers,
    attachments: Attachments | None = None,
    *,
    smoothness: float = 0.01,
    outliers: float | None = None,
    limits: bool = True,
    noise: float | None = None,
    q0: npt.ArrayLike | None = None,
    search: int = 32,
    tolerance: float = 1e-6,
    iterations: int = 100,
    seed: int = 0,
    backend: BackendName = "llvm",
    progress: Told | None = None,
) -> Tracked:
    """The configurations of a robot, one for each frame, whose points come nearest to recorded markers.

    `model`         a robot or system, an open tree; its base may be free
    `markers`       recorded points in the world's axes, with gaps and weights; see `load_markers`
    `attachments`   marker -> frame or body of the robot, or (body, offset [m]), or None to leave it out; by default a
                    marker belongs to the frame or body of its own name
    `smoothness`    the weight of second differences over time: 0 solves every frame by itself; at 1 they weigh as much
                    as the motion of the markers that they cause. It fills gaps, also of joints that are hidden for some
                    frames
    `outliers`      the distance [m] at which the weight of a marker is halved, for recordings with false points; None
                    for plain least squares
    `limits`        keep joints within their limits
    `noise`         standard deviation [m] of each coordinate of a marker, for intervals; None: from the residuals
    `q0`            a first configuration (nq,), or one for each frame (n, nq); by default found from `search` random
                    configurations drawn with `seed`
    `tolerance`     the last step moves no marker by more than this share of the size of their cloud, or lowers the cost
                    by no more than this share
    `iterations`    the most steps of all frames together
    `progress`      is called with a phase, the number of a step and its size [m]

    Raises ModelError for a marker that the robot lacks, ShapeError for lengths in other units and wrong arguments.
    Questionable data give a RecordingWarning, and a sentence in `Tracked.notes`.
    """
    if not isinstance(markers, Markers):
        raise ShapeError(
            f"track: markers is a {type(markers).__name__}; expected Markers. Read a file with load_markers(path)."
        )
    _check(smoothness, outliers, noise, search, tolerance, iterations, seed)
    problem, followed = _problem(model, markers, attachments, limits, outliers, backend)
    q = _first(problem, q0, search, seed, tolerance, progress)
    found = _together(problem, q, smoothness, tolerance, iterations, progress)
    unseen = misfits.unseen_velocities(problem)
    notes = [misfits.unseen_note(problem, unseen)] if unseen else []
    distances = found.state.at.distances[problem.weights > 0.0]
    rms = float(np.sqrt(np.mean(distances**2)))
    notes += _mirrored(problem, found, rms, search, seed) or misfits.far_note(problem, distances)
    for note in notes:
        warnings.warn(f"track: {note}", RecordingWarning, stacklevel=users_level())
    return _tracked(followed, problem, found, rms, smoothness, noise, unseen, tuple(notes))


# ── the phases ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _problem(
    model: Robot | System,
    markers: Markers,
    attachments: Attachments | None,
    limits: bool,
    outliers: float | None,
    backend: BackendName,
) -> tuple[MarkerProblem, Markers]:
    """The least squares of all markers that have a place on the robot, and these markers."""
    robot = as_robot(model)
    if robot.loops or robot.driven:
        kind, joints = ("closed loops", robot.loops) if robot.loops else ("driven joints", robot.driven)
        raise UnsupportedError(
            f"track: robot '{robot.name}' has {kind} ({quoted([joint.name for joint in joints])}); expected a tree of "
            "joints that move by themselves. Track the robot without these joints."
        )
    places = attached(robot, markers.names, attachments)
    followed = markers.only([frame.name for frame in places]) if places else markers.part(0, 0)
    weights = np.where(followed.seen, 1.0 if followed.weights is None else followed.weights, 0.0)
    if not (weights > 0.0).any():
        raise ShapeError(
            f"track: recording '{markers.source or 'markers'}' has no measured position of an attached marker; "
            "expected at least one. Check the file and the attachments."
        )
    check_markers(followed, robot, places, usual_posture(model))
    targets = np.where(followed.seen[..., None], followed.positions, 0.0)
    known = {frame.name: frame for frame in robot.frames}
    points = [frame if known.get(frame.name) == frame else replace(frame, name=OWN + frame.name) for frame in places]
    seen = replace(robot, frames=(*robot.frames, *(frame for frame in points if frame.name not in known)))
    names = tuple(frame.name for frame in points)
    ranges = Ranges(seen, limits, names)
    dynamics = derive(seen, backend=backend)
    outlier = np.inf if outliers is None else outliers
    shown = MarkerModel(dynamics, names, ranges, weights.max(axis=0))
    size = cloud_size(targets, weights > 0.0) or float(shown.reach.max(initial=0.0))  # of a single marker: its reach
    return MarkerProblem(shown, np.array(followed.times), targets, weights, size, outlier), followed


def _first(
    problem: MarkerProblem, q0: npt.ArrayLike | None, search: int, seed: int, tolerance: float, progress: Told | None
) -> Array:
    """Configurations of all frames (n, nq), each solved by itself."""
    n, nq = len(problem.times), problem.robot.nq
    given = None if q0 is None else np.array(q0, dtype=float)
    if given is not None and (given.shape not in ((nq,), (n, nq)) or not np.isfinite(given).all()):
        raise ShapeError(
            f"track: q0 has shape {given.shape}; expected finite numbers of shape ({nq},), one for each of q_names, or "
            f"({n}, {nq}), a row for each frame."
        )
    if given is not None and given.ndim == 2:
        begun = problem.model.ranges.inside(given)
    else:
        anchor = starts.anchor_configuration(problem, given, search, seed)
        begun = np.tile(anchor, (n, 1))
    alone = descend(problem, begun, tolerance=tolerance, told=_named(progress, "each frame by itself"))
    carried = starts.carried(problem, starts.mended(problem, alone.state).q)
    return starts.signs_kept(problem, descend(problem, carried, tolerance=tolerance).state.q)


def _together(
    problem: MarkerProblem,
    q: Array,
    smoothness: float,
    tolerance: float,
    iterations: int,
    progress: Told | None,
) -> Descended:
    """All frames solved together, with smoothness; without it, and for fewer than three frames, each by itself."""
    smooth = Smoothness(problem, smoothness) if smoothness > 0.0 and len(q) > 2 else None
    told = _named(progress, "all frames together")
    return descend(problem, q, smooth, tolerance=tolerance, iterations=iterations, told=told)


def _mirrored(problem: MarkerProblem, found: Descended, rms: float, search: int, seed: int) -> list[str]:
    """A sentence if markers fit much better with the names of left and right exchanged; else none."""
    names = [name.removeprefix(OWN) for name in problem.model.frames]
    pairs = misfits.other_sides(tuple(names))
    if rms < misfits.MISFIT * problem.size or not pairs:
        return []
    order = [names.index(pairs.get(name, name)) for name in names]
    few = evenly(len(problem.times), SWAPPED_FRAMES)
    part = problem.chosen(few).exchanged(order)
    anchor = starts.anchor_configuration(part, None, search, seed)
    other = descend(part, np.tile(anchor, (len(few), 1)), tolerance=starts.LOOSE).state.at
    exchanged = float(np.sqrt(np.mean(other.distances[part.weights > 0.0] ** 2)))
    if exchanged > FALLS * rms:
        return []
    a, b = next(iter(pairs.items()))
    return [
        f"left and right may be exchanged: the markers are {rms:.3g} m from the robot (root mean square), and "
        f"{exchanged:.3g} m with the names of both sides exchanged, such as '{a}' and '{b}'. Rename the "
        "markers, or turn the sign of one axis if the recording is mirrored."
    ]


def _tracked(
    markers: Markers,
    problem: MarkerProblem,
    found: Descended,
    rms: float,
    smoothness: float,
    noise: float | None,
    unseen: tuple[str, ...],
    notes: tuple[str, ...],
) -> Tracked:
    """The result, with its outcome as a sentence."""
    at, converged = found.state.at, bool(found.converged.all())
    residuals = np.where(problem.weights > 0.0, at.distances, np.nan)
    worst = markers.names[int(np.argmax(np.nanmean(np.where(np.isnan(residuals), 0.0, residuals) ** 2, axis=0)))]
    frames = counted(len(problem.times), "frame")
    outcome = "" if converged else f" {counted(int((~found.converged).any(axis=1).sum()), 'frame')} did not converge."
    message = (
        f"{frames} of {counted(len(markers.names), 'marker')} are tracked with {rms:.4g} m root mean square; marker "
        f"'{worst}' is farthest off.{outcome}"
    )
    return Tracked(
        problem.robot, markers, problem.model.frames, found.state.q, at.positions, residuals, smoothness, noise,
        unseen, found.iterations, converged, notes, message, problem,
    )  # fmt: skip


def _named(progress: Told | None, phase: str) -> Callable[[int, float], None] | None:
    return None if progress is None else lambda count, size: progress(phase, count, size)


def _check(
    smoothness: float,
    outliers: float | None,
    noise: float | None,
    search: int,
    tolerance: float,
    iterations: int,
    seed: int,
) -> None:
    """Raises ShapeError for numbers out of range."""
    wrong = [
        (not 0.0 <= smoothness < np.inf, "smoothness", smoothness, "0 or larger"),
        (outliers is not None and not 0.0 < outliers < np.inf, "outliers", outliers, "a distance [m] above 0, or None"),
        (noise is not None and not 0.0 < noise < np.inf, "noise", noise, "a distance [m] above 0, or None"),
        (not (search >= 0 and int(search) == search), "search", search, "a whole number, 0 or larger"),
        (not (seed >= 0 and int(seed) == seed), "seed", seed, "a whole number, 0 or larger"),
        (not tolerance > 0.0, "tolerance", tolerance, "a number above 0"),
        (not iterations >= 1, "iterations", iterations, "1 or larger"),
    ]
    for bad, name, value, expected in wrong:
        if bad:
            raise ShapeError(f"track: {name} is {value}; expected {expected}.")
