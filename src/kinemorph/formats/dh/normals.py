"""Common normals between neighboring axes of a serial arm, and the Denavit-Hartenberg parameters that they give."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import Pose
from kinemorph.algebra.quaternions import quat_normalize, quat_to_rotation, rotation_to_quat
from kinemorph.formats.findings import Findings
from kinemorph.model.joint import Joint

PARALLEL = 1e-12  # sine of the angle between axes that count as parallel
FAR = 1e5  # times the arm's reach: a common normal farther away has lost too many digits
TINY = 1e-14  # times the arm's reach: smaller lengths are rounding errors

Pairs = list[tuple[float, float]]


def normals(joints: Sequence[Joint], frames: Sequence[Pose], findings: Findings) -> tuple[Pose, Pairs, Pairs] | None:
    """(base, pairs (a, alpha) to the next axis, pairs (d, theta) on each axis) of an arm; lengths [m], angles [rad].

    `frames` are the joint frames in the world at q = 0; `base` is the pose of frame 0 in the world. None, with a
    finding, if two axes are almost but not exactly parallel.
    """
    z = [np.array(frame.R) @ joint.axis for joint, frame in zip(joints, frames, strict=True)]
    p = [np.array(frame.p, dtype=float) for frame in frames]
    reach = 1e-3 + max(float(np.linalg.norm(point - p[0])) for point in p)
    start, x = p[0], _across(z[0])
    first: tuple[Array, Array] | None = None
    pairs, turns = [], []
    for i in range(len(z) - 1):
        a, alpha, normal, P, Q = _normal(z[i], start if i else p[0], z[i + 1], p[i + 1], x, p[i], reach)
        far = max(float(np.linalg.norm(P - p[i])), float(np.linalg.norm(Q - p[i + 1])))
        if far > FAR * reach:
            one, two = joints[i].name, joints[i + 1].name
            sine = float(np.linalg.norm(np.cross(z[i], z[i + 1])))
            problem = (
                f"its axis is almost parallel to that of joint '{one}', with an angle of {sine:.3g} rad, so that their "
                f"common normal is {far:.3g} m away"
            )
            findings.error("axis", 0, f"joint '{two}'", problem, "Make the axes exactly parallel.")
            return None
        if first is None:
            first = (normal, P)
            turns.append((0.0, 0.0))
        else:
            theta = math.atan2(float(np.cross(x, normal) @ z[i]), float(x @ normal))
            turns.append((_length(float((P - start) @ z[i]), reach), _angle(theta)))
        pairs.append((_length(a, reach), _angle(alpha)))
        start, x = Q, normal
    if first is None:  # one joint
        first = (x, p[0])
    turns, pairs = [*turns, (0.0, 0.0)], [*pairs, (0.0, 0.0)]  # zeros after the last axis: the rest is in `tool`
    R = np.column_stack([first[0], np.cross(z[0], first[0]), z[0]])
    base = Pose(quat_to_rotation(quat_normalize(rotation_to_quat(R.tolist()))), tuple(first[1].tolist()))
    return base, pairs, turns


def _normal(
    z1: Array, start: Array, z2: Array, p2: Array, x: Array, p1: Array, reach: float
) -> tuple[float, float, Array, Array, Array]:
    """(a, alpha, direction, foot on the first axis, foot on the second axis) of the common normal of two axes.

    Axis 1 has direction z1 and contains p1, axis 2 has direction z2 and contains p2, all in the world. For parallel
    axes, the normal begins at `start` on axis 1. x is the direction of the previous normal; `reach` [m] is the size of
    the arm.
    """
    across = np.cross(z1, z2)
    sine = float(np.linalg.norm(across))
    if sine > PARALLEL:
        between = p2 - p1
        direction = across / sine
        a = float(between @ direction)
        meeting = abs(a) <= TINY * reach  # then both directions are possible: take the one nearer to x
        if direction @ x < 0.0 if meeting else a < 0.0:
            a, direction = -a, -direction
        P = p1 + float(np.cross(between, z2) @ across) / sine**2 * z1
        Q = p2 + float(np.cross(between, z1) @ across) / sine**2 * z2
        return a, math.atan2(float(across @ direction), float(z1 @ z2)), direction, P, Q
    between = p2 - start
    normal = between - float(between @ z1) * z1
    a = float(np.linalg.norm(normal))
    if a > TINY * reach:
        direction = normal / a
    else:  # both axes are the same line
        a, direction = 0.0, x - float(x @ z1) * z1
        direction = direction / np.linalg.norm(direction)
    alpha = 0.0 if float(z1 @ z2) > 0.0 else math.pi
    return a, alpha, direction, start, start + a * direction


def _across(z: Array) -> Array:
    """A unit vector perpendicular to z, shape (3,): as near as possible to the world's x, or y if z is near x."""
    other = np.eye(3)[0] if abs(z[0]) < 0.9 else np.eye(3)[1]
    x = other - float(other @ z) * z
    return np.asarray(x / np.linalg.norm(x))


def _length(x: float, reach: float) -> float:
    """A length [m], exactly 0 if it is only a rounding error."""
    return x if abs(x) > TINY * reach else 0.0


def _angle(x: float) -> float:
    """An angle [rad], without the rounding error if it is a multiple of a quarter turn."""
    quarters = round(x / (math.pi / 2.0))
    return quarters * (math.pi / 2.0) if abs(x - quarters * (math.pi / 2.0)) < 1e-15 else x
