"""Attachments: where the markers of a recording sit on a robot.

By default a marker belongs to the frame of its name, or to the origin of the body of its name. A map gives others a
place, {"toe": "front_left_foot", "wing": ("thorax", (0, 0.002, 0.001))}: a body or frame, or a body with an offset [m]
in its axes. None leaves a marker out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY, Pose, compose, inverse, matrix_of
from kinemorph.errors import ModelError, Problem, ShapeError
from kinemorph.model.configuration import neutral
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Frame, Robot
from kinemorph.model.system import System, as_robot
from kinemorph.simulation.results.body_poses import frame_matrices
from kinemorph.words import did_you_mean, listed

Attachment = str | tuple[str, Sequence[float]] | None
Attachments = Mapping[str, Attachment]
ROTATING = ("revolute", "universal", "gimbal", "spherical")  # joints whose center is fixed on both bodies
OWN = "marker "  # begins the names of frames that a robot gets for markers on its bodies
SAME = 1e-9  # a point that is nearer to a center, as a share of the size of the robot, is at the center


def attached(robot: Robot, names: Sequence[str], attachments: Attachments | None = None) -> tuple[Frame, ...]:
    """The frames of the markers that have a place on the robot; each has the name of its marker.

    Raises ModelError with one sentence for each marker whose place the robot lacks, and for entries of the map that
    belong to no marker.
    """
    given = attachments or {}
    problems: list[str] = []
    for name in given:
        if name not in names:
            hint = did_you_mean(name, names).strip() or "Remove it from attachments."
            problems.append(
                Problem("marker", name, f"the recording has no such marker; its markers: {listed(names, 40)}", hint)
            )
    found = []
    for name in names:
        place = given.get(name, name)
        if place is None:
            continue
        try:
            found.append(_placed(robot, name, place))
        except ModelError as error:
            problems += error.problems
    if problems:
        raise ModelError(problems)
    return tuple(found)


def _placed(robot: Robot, name: str, place: str | tuple[str, Sequence[float]]) -> Frame:
    pair = isinstance(place, (tuple, list)) and len(place) == 2
    if not (isinstance(place, str) or pair):
        what = f"its place is {place!r:.60}, expected a frame, a body or (body, offset)"
        raise ModelError(Problem("marker", name, what, "None leaves it out."))
    where, offset = (place, None) if isinstance(place, str) else place
    known = (*(frame.name for frame in robot.frames), *robot.body_names)
    if where not in known:
        what = f"robot '{robot.name}' has no frame or body '{where}'"
        remedy = (
            f"attachments={{'{name}': frame or (body, offset)}} says where it sits, or None leaves it out; in a "
            f"command, --attach '{name}=FRAME'."
        )
        hint = did_you_mean(where, known).strip()
        raise ModelError(Problem("marker", name, what, f"{hint} {remedy}".strip()))
    frame = robot.frame(where)
    if offset is None:
        return replace(frame, name=name)
    try:
        good = np.shape(offset) == (3,) and np.isfinite(np.asarray(offset, dtype=float)).all()
    except (TypeError, ValueError):
        good = False
    if not good:
        what = f"its offset on '{where}' is {offset!r:.60}, expected three finite numbers [m]"
        raise ModelError(Problem("marker", name, what, "Give x, y and z in the axes of the body."))
    at = Pose(IDENTITY.R, (float(offset[0]), float(offset[1]), float(offset[2])))
    return Frame(name, frame.body, compose(frame.placement, at))


def place_of(frame: Frame) -> str:
    """Where a marker sits: the name of its frame or body, with a place in the body's axes where it has an offset."""
    if not frame.name.startswith(OWN):
        return frame.name
    p = evaluate_all(frame.placement.p)
    return f"{frame.body} at ({', '.join(f'{x:.4g}' for x in p)}) m" if any(p) else frame.body


def usual_posture(model: Robot | System) -> Array:
    """The initial configuration of a system, shape (nq,), or the neutral one where it states none."""
    robot = as_robot(model)
    given = () if isinstance(model, Robot) else model.settings.q
    return np.array(given, dtype=float) if len(given) else neutral(robot)


def marker_positions(robot: Robot, frames: Sequence[Frame], q: Array, t: Array | float = 0.0) -> Array:
    """The positions [m] of attached markers in configurations q (n, nq) at times t [s] (n,), shape (n, markers, 3)."""
    if np.ndim(q) != 2 or np.shape(q)[1] != robot.nq:
        raise ShapeError(f"q has shape {np.shape(q)}; expected (n, {robot.nq}) for robot '{robot.name}'.")
    bodies = list(dict.fromkeys(frame.body for frame in frames))
    poses = frame_matrices(robot, np.asarray(q, dtype=float), bodies, t)
    found = np.empty((len(q), len(frames), 3))
    for k, frame in enumerate(frames):
        T = poses[:, bodies.index(frame.body)]
        found[:, k] = T[:, :3, :3] @ offset_of(frame) + T[:, :3, 3]
    return found


def offset_of(frame: Frame) -> Array:
    """The origin of a frame in the axes of its body [m], shape (3,), at the nominal values of parameters."""
    return np.array(evaluate_all(frame.placement.p), dtype=float)


def points_on_bodies(robot: Robot, frames: Sequence[Frame]) -> dict[str, dict[str, Array]]:
    """By body the markers that keep their places on it: {body: {marker: position in its axes [m] (3,)}}.

    A marker at the center of a joint that only turns, such as a knee, is fixed on both bodies that meet there, and all
    markers are fixed on bodies that a fixed joint holds together.
    """
    found: dict[str, dict[str, Array]] = {name: {} for name in robot.body_names}
    for frame in frames:
        if frame.body in found:
            found[frame.body][frame.name] = offset_of(frame)
    centers = [joint for joint in robot.joints if joint.kind in (*ROTATING, "fixed") and joint.parent in found]
    lengths = [*(np.linalg.norm(p) for points in found.values() for p in points.values())]
    lengths += [np.linalg.norm(evaluate_all(joint.placement.p)) for joint in centers]
    near = SAME * max(lengths, default=0.0)
    before = -1
    while before < (before := sum(map(len, found.values()))):  # a center may be that of the next joint, too
        for joint in centers:
            on_parent, on_child = evaluate_all(joint.placement), evaluate_all(joint.child_placement)
            for here, there, A, B in (
                (joint.child, joint.parent, on_child, on_parent),
                (joint.parent, joint.child, on_parent, on_child),
            ):
                T = np.array(matrix_of(compose(B, inverse(A))), dtype=float)
                for name, point in found[here].items():
                    if joint.kind == "fixed" or np.linalg.norm(point - np.array(A.p)) <= near:
                        found[there].setdefault(name, T[:3, :3] @ point + T[:3, 3])
    return found
