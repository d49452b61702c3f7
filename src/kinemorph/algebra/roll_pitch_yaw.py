"""Rotations by three angles, as model files write them: R = Rz(yaw) Ry(pitch) Rx(roll). Floats only."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinemorph.algebra.vectors import Mat

Angles = tuple[float, float, float]


def rotation_of_angles(roll: float, pitch: float, yaw: float) -> Mat:
    """The rotation matrix, shape (3, 3), of angles [rad]; exact zeros and ones where an angle is 0."""
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


def angles_of_rotation(R: Sequence[Sequence[float]]) -> Angles:
    """Angles [rad] of a rotation matrix; where pitch is a right angle, all the turning is in yaw and roll is 0."""
    level = math.hypot(R[0][0], R[1][0])
    pitch = math.atan2(-R[2][0], level)
    if level > 1e-9:
        return (math.atan2(R[2][1], R[2][2]), pitch, math.atan2(R[1][0], R[0][0]))
    return (0.0, pitch, math.atan2(-R[0][1], R[1][1]))
