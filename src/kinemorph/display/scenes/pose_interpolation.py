"""Poses between two times of a scene.

From one time to the next coordinates go straight. Where joints turn little, so do bodies, near enough; where they turn
by more than QUICK, the coordinates themselves are taken, so that what hangs on a joint keeps its distance and a wheel
spins in its own direction, however fast.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.display.looks.quaternions import quaternions_of
from kinemorph.display.scenes.scene import Figure
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree

QUICK = 0.1  # [rad] from one time to the next: bodies that go straight are off by a thousandth of a radius
ANGLES = {"revolute": 0, "helical": 0, "planar": 2}  # where in the coordinates of a primitive its angle is
QUATERNIONS = {"spherical": 0, "free": 3}


class Glide:
    """The poses of a figure at any time."""

    def __init__(self, figure: Figure) -> None:
        self.figure = figure
        rows = [
            (step.kind, figure.robot.q_slice(joint.name).start + step.q[0])
            for joint in figure.robot.joints
            for step in joint.table.primitives
        ]
        self._turns = [at + QUATERNIONS[kind] for kind, at in rows if kind in QUATERNIONS]
        angles = [at + ANGLES[kind] for kind, at in rows if kind in ANGLES]
        ways = np.abs(np.diff(figure.q[:, angles], axis=0)).max(axis=1, initial=0.0)
        self._quick: npt.NDArray[np.bool_] = ways > QUICK

    def at(self, frame: int, part: float) -> tuple[Array, Array]:
        """Positions (n_b, 3) [m] and unit quaternions (n_b, 4) at a share `part` from a frame to the next, 0 to 1."""
        figure = self.figure
        after = min(frame + 1, len(figure.positions) - 1)
        if 0.0 < part < 1.0 and self._quick[frame]:
            return self._posed(self._between(figure.q[frame], figure.q[after], part))
        positions = (1.0 - part) * figure.positions[frame] + part * figure.positions[after]
        turns = (1.0 - part) * figure.quaternions[frame] + part * figure.quaternions[after]
        return positions, turns / np.linalg.norm(turns, axis=-1, keepdims=True)

    def _between(self, before: Array, after: Array, part: float) -> Array:
        """Coordinates (nq,) in between, linearly; quaternions along the shorter arc."""
        q: Array = (1.0 - part) * before + part * after
        for first in self._turns:
            at = slice(first, first + 4)
            a, b = (one[at] / np.linalg.norm(one[at]) for one in (before, after))
            q[at] = (1.0 - part) * a + part * (b if a @ b >= 0.0 else -b)
        return q

    def _posed(self, q: Array) -> tuple[Array, Array]:
        poses = forward_kinematics(self._tree, q.tolist(), self.figure.bodies)
        R = np.array([pose.R for pose in poses], dtype=float).reshape(-1, 3, 3)
        return np.array([pose.p for pose in poses], dtype=float).reshape(-1, 3), quaternions_of(R)

    @cached_property
    def _tree(self) -> Tree:
        return resolve(self.figure.robot)
