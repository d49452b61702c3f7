"""Rotations by three angles, as model files write them: R = Rz(yaw) Ry(pitch) Rx(roll). Floats only."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinemorph.algebra.vectors import Mat

Angles = tuple[float, float, float]
Turn = tuple[float, float]  # cosine and sine


def rotation_of_angles(roll: float, pitch: float, yaw: float) -> Mat:
    """The rotation matrix, shape (3, 3), of three angles [rad]. Angles of 0 give entries that are exactly 0 or 1."""
    return rotation_of_turns(
        (math.cos(roll), math.sin(roll)), (math.cos(pitch), math.sin(pitch)), (math.cos(yaw), math.sin(yaw))
    )


def exact_turn(angle: float) -> Turn:
    """(cosine, sine) of a finite angle [rad]; the float nearest to a multiple of 90 degrees counts as that multiple.

    The float nearest to pi/2 has the cosine 6e-17; here its cosine is exactly 0.
    """
    usual = _QUARTERS.get(angle)
    if usual is not None:
        return usual
    quarters = round(angle / (math.pi / 2.0))
    if math.radians(90.0 * quarters) == angle:
        return _CORNERS[quarters % 4]
    return math.cos(angle), math.sin(angle)


_CORNERS: tuple[Turn, ...] = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))
_QUARTERS = {math.radians(90.0 * quarters): _CORNERS[quarters % 4] for quarters in range(-4, 5)}


def rotation_of_turns(roll: Turn, pitch: Turn, yaw: Turn) -> Mat:
    """The rotation matrix, shape (3, 3), of three angles given by (cosine, sine)."""
    (cr, sr), (cp, sp), (cy, sy) = roll, pitch, yaw
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


def angles_of_rotation(R: Sequence[Sequence[float]]) -> Angles:
    """(roll, pitch, yaw) [rad] of a rotation matrix; where the pitch is a right angle, roll is 0."""
    level = math.hypot(R[0][0], R[1][0])
    pitch = math.atan2(-R[2][0], level)
    if level <= 1e-15:
        return (0.0, pitch, math.atan2(-R[0][1], R[1][1]))
    yaw = math.atan2(R[1][0], R[0][0])
    if level > 0.1:
        return (math.atan2(R[2][1], R[2][2]), pitch, yaw)
    # near a pitch of 90 degrees the yaw is inaccurate, but roll and yaw together still give the right rotation
    cy, sy = math.cos(yaw), math.sin(yaw)
    return (math.atan2(sy * R[0][2] - cy * R[1][2], cy * R[1][1] - sy * R[0][1]), pitch, yaw)
