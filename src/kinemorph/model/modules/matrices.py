"""Poses that are given as matrices, with the noise of what measured them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import Pose, pose_of
from kinemorph.model.input_reader import short

CROOKED = 0.05  # how far a measured rotation may be from an orthonormal matrix


def measured_pose(raw: Any, what: str, problems: list[str]) -> Pose | None:
    """A measured pose with the nearest rotation to what was measured; None, with a problem, where it is none."""
    H: Array = np.zeros(0)
    try:
        if isinstance(raw, Pose):
            H = np.eye(4)
            H[:3, :3], H[:3, 3] = np.asarray(raw.R, dtype=float), np.asarray(raw.p, dtype=float)
        else:
            H = np.asarray(raw, dtype=float)
    except (TypeError, ValueError):
        pass
    if H.shape != (4, 4):
        problems.append(f"{what} is {short(raw)}; expected a Pose or a matrix of 4 rows of 4 numbers. Mend it.")
        return None
    if not np.isfinite(H).all():
        problems.append(f"{what} has a value that is not finite; expected numbers. Measure it again, or leave it out.")
        return None
    U, _, V = np.linalg.svd(H[:3, :3])
    R = U @ np.diag((1.0, 1.0, np.sign(np.linalg.det(U @ V)) or 1.0)) @ V
    off = max(float(np.abs(R - H[:3, :3]).max()), float(np.abs(H[3] - (0.0, 0.0, 0.0, 1.0)).max()))
    if off > CROOKED:
        problems.append(
            f"{what} is {off:.3g} away from a rotation and a shift; expected below {CROOKED}. Its upper left 3x3 part "
            "is a rotation matrix, its last row 0 0 0 1."
        )
        return None
    H[:3, :3] = R
    return pose_of(H.tolist())
