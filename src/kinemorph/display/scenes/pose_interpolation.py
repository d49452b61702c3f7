"""Interpolated poses of bodies between two times of a scene.

Where all joints turn by less than QUICK from one time to the next, the poses of bodies are interpolated directly. Where
a joint turns by more, joint coordinates are interpolated and forward kinematics gives the poses, so that bodies stay at
their joints and a fast wheel spins in the right direction.
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

QUICK = 0.1  # [rad] between two times; below this, direct interpolation is off by at most a thousandth of a radius
ANGLES = {"revolute": 0, "helical": 0, "planar": 2}  # index of the angle among the coordinates of a primitive joint
QUATERNIONS = {"spherical": 0, "free": 3}  # index of the quaternion's first entry


class Glide:
    """Interpolates the poses of all bodies of a figure between the times of its scene."""

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
        """Positions (n_b, 3) [m] and unit quaternions (n_b, 4) wxyz of all bodies at an interpolated time.

        `frame` is the index of a time of the scene, `part` the fraction of the time to the next one, from 0 to 1.
        """
        figure = self.figure
        after = min(frame + 1, len(figure.positions) - 1)
        if 0.0 < part < 1.0 and self._quick[frame]:
            return self._posed(self._between(figure.q[frame], figure.q[after], part))
        positions = (1.0 - part) * figure.positions[frame] + part * figure.positions[after]
        turns = (1.0 - part) * figure.quaternions[frame] + part * figure.quaternions[after]
        return positions, turns / np.linalg.norm(turns, axis=-1, keepdims=True)

    def _between(self, before: Array, after: Array, part: float) -> Array:
        """Coordinates (nq,) interpolated linearly by `part` from 0 to 1; quaternions along the shorter arc."""
        q: Array = (1.0 - part) * before + part * after
        for first in self._turns:
            at = slice(first, first + 4)
            a, b = (one[at] / np.linalg.norm(one[at]) for one in (before, after))
            q[at] = (1.0 - part) * a + part * (b if a @ b >= 0.0 else -b)
        return q

    def _posed(self, q: Array) -> tuple[Array, Array]:
        poses = forward_kinematics(self._tree, self._tree.all_joints(q.tolist()).q, self.figure.bodies)
        R = np.array([pose.R for pose in poses], dtype=float).reshape(-1, 3, 3)
        return np.array([pose.p for pose in poses], dtype=float).reshape(-1, 3), quaternions_of(R)

    @cached_property
    def _tree(self) -> Tree:
        return resolve(self.figure.robot)
