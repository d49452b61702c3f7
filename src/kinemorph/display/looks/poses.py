"""Poses of a robot's bodies and frames in many configurations at once, by the package's kinematics run on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import Pose
from kinemorph.display.looks import outlines
from kinemorph.errors import ShapeError
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.robot import Robot


class Poses:
    """Poses of bodies and declared frames in n configurations: R[name] (n, 3, 3) and p[name] (n, 3) [m]."""

    def __init__(self, robot: Robot, q: npt.ArrayLike) -> None:
        values = np.atleast_2d(np.asarray(q, dtype=float))
        if values.shape[1] != robot.nq:
            raise ShapeError(f"q has shape {values.shape}, expected (n, {robot.nq}) for robot '{robot.name}'.")
        if not np.isfinite(values).all():
            row, entry = np.argwhere(~np.isfinite(values))[0]
            name = robot.q_names[entry]
            raise ShapeError(f"q: coordinate '{name}' in row {row + 1} is not finite; expected finite numbers.")
        self.count = len(values)
        names = [*robot.body_names, *(frame.name for frame in robot.frames)]
        tree = resolve(robot)
        found = forward_kinematics(tree, tree.all_joints(list(values.T)).q, names)
        self.R = {name: self._stacked(pose.R, (3, 3)) for name, pose in zip(names, found, strict=True)}
        self.p = {name: self._stacked(pose.p, (3,)) for name, pose in zip(names, found, strict=True)}

    def _stacked(self, entries: Any, shape: tuple[int, ...]) -> Array:
        """One array (n, *shape) of nested entries, each a number or an array (n,) over the configurations."""
        flat = [entry for row in entries for entry in (row if isinstance(row, (tuple, list)) else (row,))]
        stacked = np.stack([np.broadcast_to(np.asarray(entry, dtype=float), (self.count,)) for entry in flat], axis=-1)
        return stacked.reshape(self.count, *shape)

    def at(self, number: int) -> dict[str, Pose]:
        """The poses in the configuration with index `number`, by body and frame name."""
        return {
            name: Pose(tuple(map(tuple, R[number].tolist())), tuple(self.p[name][number].tolist()))
            for name, R in self.R.items()
        }


def extent_of(robot: Robot, poses: Poses, number: int = 0) -> float:
    """The size of a robot [m] in the configuration with index `number`."""
    return outlines.extent(robot, poses.at(number))
