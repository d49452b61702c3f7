"""The configuration of a robot without a run, as the program or a page sets it.

`turn` moves one joint. Coupled joints follow, and where the robot has loops, the other joints move so that the loops
close again; where this is not possible, the joint stops before the wanted value and a message says so.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.loops.close_loops import Closed, Closer
from kinemorph.analysis.loops.ranges import Ranges
from kinemorph.display.looks.postures import posture
from kinemorph.display.looks.quaternions import quaternions_of, without_jumps
from kinemorph.display.scenes.scene import Figure
from kinemorph.display.viewer.joint_values import coordinates_of, slider_values, sliders_of
from kinemorph.errors import ShapeError
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree

ITERATIONS = 25  # to close loops while a joint moves; loops that can be closed take four or five


class Posture:
    """The configuration `q` of the robot of one figure, with the poses of its bodies.

    `said` is called with a sentence where a requested configuration is not possible.
    """

    def __init__(self, figure: Figure, said: Callable[[str], None]) -> None:
        self.robot, self.name, self._say = figure.robot, figure.name, said
        self.q = figure.q[0].copy()
        if not self.robot.is_open:
            found = self._closed(self.q)
            self.q = found.q if found else self.q
            if not found:
                said(f"'{self.name}': {found.message}")
        self.sliders = sliders_of(self.robot)
        self._values = slider_values(self.robot, self.q)
        self.positions, self.quaternions = self._bodies(self.q)

    def set(self, q: npt.ArrayLike) -> None:
        """Sets the configuration (nq,), or some coordinates by name, without closing loops."""
        self._pose(posture(self.robot, q, self.q.tolist()))

    def turn(self, number: int, value: float) -> None:
        """Moves the coordinate of slider `number` to a value [rad] or [m]; coupled joints and loops follow."""
        slider = self.sliders[number]
        joint = self.robot.joint(slider.joint)
        mine = [i for i, other in enumerate(self.sliders) if other.joint == slider.joint]
        # roll, pitch and yaw are kept: they are not unique at a pitch of 90 deg, or after a full turn
        shown = [self._values[i] for i in mine]
        shown[mine.index(number)] = value
        wished = self.q.copy()
        wished[self.robot.q_slice(joint.name)] = coordinates_of(joint, shown)
        found = self._followed(wished, joint.name)
        if not found:
            self._say(f"{slider.name} stops here: {found.message}")
        self._pose(found.q)
        if found:
            for i, kept in zip(mine, shown, strict=True):
                self._values[i] = kept

    # ── loops and couplings ───────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _closer(self) -> Closer:
        lower, upper = self.robot.q_lower, self.robot.q_upper
        inside = bool(np.all((lower <= self.q) & (self.q <= upper)))  # else it would jump into its limits
        return Closer(self.robot, limits=inside, tolerance=1e-10, iterations=ITERATIONS)

    def _closed(self, q: Array) -> Closed:
        if self.robot.loops:
            return self._closer.close(q)
        return Closed(Ranges(self.robot, False, ()).inside(q), 0.0, 0, True, "")

    def _followed(self, q: Array, joint: str) -> Closed:
        return self._closer.follow(self.q, q, joint) if self.robot.loops else self._closed(q)

    # ── bodies ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _pose(self, q: Array) -> None:
        self.positions, self.quaternions = self._bodies(q)
        self.q = q
        self._values = slider_values(self.robot, q)

    def _bodies(self, q: Array) -> tuple[Array, Array]:
        """Positions (n_b, 3) [m] and unit quaternions (n_b, 4) wxyz of all bodies in the configuration q (nq,)."""
        if not np.isfinite(q).all():
            name = self.robot.q_names[int(np.argmin(np.isfinite(q)))]
            raise ShapeError(f"q: coordinate '{name}' is not finite; expected finite numbers.")
        poses = forward_kinematics(self._tree, self._tree.all_joints(q.tolist()).q, self.robot.body_names)
        R = np.array([pose.R for pose in poses], dtype=float).reshape(-1, 3, 3)
        positions = np.array([pose.p for pose in poses], dtype=float).reshape(-1, 3)
        return positions, without_jumps(quaternions_of(R)[None])[0]

    @cached_property
    def _tree(self) -> Tree:
        return resolve(self.robot)
