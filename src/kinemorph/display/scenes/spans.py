"""Where marks are at each time: springs from one point to another, arrows along their forces, balls at their ends.

A look is a surface about the z axis from z = 0 to 1 with radius 1 (scenes.surfaces); a mark shows its look scaled,
rotated by a quaternion and moved to a position. All marks of a figure are placed together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.looks.quaternions import rotated
from kinemorph.display.scenes.scene import WORLD_OWNER, Attachment, Mark

NOTHING = 1e-9  # a mark shorter than this is not shown [m]


class Placement(NamedTuple):
    """The transformations of m looks: positions (m, 3) [m], unit quaternions (m, 4) wxyz, scales (m, 3)."""

    positions: Array
    quaternions: Array
    scales: Array


class Spans:
    """All marks of a figure as arrays, to find their ends and placements at any time."""

    def __init__(self, marks: Sequence[Mark]) -> None:
        self.count = len(marks)
        self.widths = np.array([mark.width for mark in marks], dtype=float)
        self.balls = np.array([mark.look == "ball" for mark in marks], dtype=bool)
        self._starts = _Points([mark.start for mark in marks])
        self._ends = _Points([mark.end or mark.start for mark in marks])
        self._vectors = _Moving([mark.vectors for mark in marks])
        self._shifts = _Moving([mark.shifts for mark in marks])
        self._shown = [mark.shown for mark in marks]

    def ends(self, positions: Array, quaternions: Array, frame: int = 0, part: float = 0.0) -> tuple[Array, Array]:
        """The starts and ends of all marks, (m, 3) [m] each, for n_b bodies at these poses.

        A pose is a row of positions (n_b, 3) [m] and of unit quaternions (n_b, 4) wxyz.

        `frame` is the index of a time of the scene, `part` the fraction of the time to the next one, from 0 to 1.
        """
        start, end = self._starts.at(positions, quaternions), self._ends.at(positions, quaternions)
        start[self._shifts.whose] += self._shifts.at(frame, part)
        end[self._vectors.whose] = start[self._vectors.whose] + self._vectors.at(frame, part)
        return start, end

    def placed(self, positions: Array, quaternions: Array, frame: int = 0, part: float = 0.0) -> Placement:
        """The placement of all marks; those that are hidden or have no length get scale 0. Arguments as in `ends`."""
        start, end = self.ends(positions, quaternions, frame, part)
        along = end - start
        lengths = np.linalg.norm(along, axis=1)
        seen = lengths > NOTHING
        directions = along / np.where(seen, lengths, 1.0)[:, None]
        scales = np.stack([self.widths, self.widths, lengths], axis=1) * seen[:, None]
        scales[self.balls] = self.widths[self.balls, None]
        scales[[shown is not None and not shown[min(frame, len(shown) - 1)] for shown in self._shown]] = 0.0
        return Placement(np.where(self.balls[:, None], end, start), turns_toward(directions), scales)


class _Points:
    """Points that are fixed to bodies or to the ground, as arrays."""

    def __init__(self, attachments: Sequence[Attachment]) -> None:
        self.owners = np.array([at.owner for at in attachments], dtype=int)
        self.points = np.array([at.point for at in attachments], dtype=float).reshape(-1, 3)
        self.carried = self.owners != WORLD_OWNER

    def at(self, positions: Array, quaternions: Array) -> Array:
        """The points in the world, (m, 3) [m], for bodies at positions (n_b, 3) [m] and quaternions (n_b, 4) wxyz."""
        found = self.points.copy()
        owners = self.owners[self.carried]
        found[self.carried] = rotated(quaternions[owners], self.points[self.carried]) + positions[owners]
        return found


class _Moving:
    """Vectors over time of those marks that have them; `whose` are the indices of these marks."""

    def __init__(self, columns: Sequence[Array | None]) -> None:
        self.whose = np.array([number for number, column in enumerate(columns) if column is not None], dtype=int)
        given = [column for column in columns if column is not None]
        self._values = np.stack(given, axis=1) if given else np.zeros((1, 0, 3))  # (n, marks, 3)

    def at(self, frame: int, part: float) -> Array:
        """The vectors (marks, 3) [m], interpolated from time index `frame` to the next by `part` from 0 to 1."""
        now, after = (min(number, len(self._values) - 1) for number in (frame, frame + 1))
        between: Array = (1.0 - part) * self._values[now] + part * self._values[after]
        return between


def turns_toward(directions: Array) -> Array:
    """Unit quaternions (..., 4) wxyz of the shortest rotations from the z axis to unit vectors (..., 3).

    For vectors opposite to z it is a half turn about x.
    """
    x, y, z = np.moveaxis(directions, -1, 0)
    down = z < -1.0 + 1e-12
    turns = np.stack([np.where(down, 0.0, 1.0 + z), np.where(down, 1.0, -y), np.where(down, 0.0, x), 0.0 * z], axis=-1)
    unit: Array = turns / np.linalg.norm(turns, axis=-1, keepdims=True)
    return unit
