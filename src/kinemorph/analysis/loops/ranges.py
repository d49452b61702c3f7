"""The configurations that a robot may take: limits, couplings, unit quaternions.

Every step is taken on the manifold (model.configuration), and its result is put back inside the limits. A velocity is
at a limit where its coordinate is; this is known for coordinates that belong to one velocity (hinges, slides, screws,
the heading of a planar joint). Positions of planar and free joints are clipped to their limits, if they have any.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.model.configuration import integrate, random_configuration
from kinemorph.model.couplings import coupled_limits, followers
from kinemorph.model.robot import Robot

ONE_TO_ONE = {
    "revolute": (0, 0),
    "prismatic": (0, 0),
    "helical": (0, 0),
    "planar": (2, 2),
}  # kind of joint step -> index of the coordinate in its q, index of the velocity in its v


class Ranges:
    """The allowed configurations of a robot; `limits` tells whether the limits of joints count.

    `frames` are the frames that have targets: joints that move none of them keep their coordinates. `linked` are sets
    of joints that loops connect: a motion of one joint of a set moves all of them.
    """

    def __init__(
        self, robot: Robot, limits: bool, frames: Collection[str], linked: Collection[Collection[str]] = ()
    ) -> None:
        self.robot = robot
        self.limits = limits
        self.frames = frames
        self.linked = linked

    # ── steps ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def inside(self, q: Array) -> Array:
        """q (..., nq) clipped to its limits, with quaternions of length 1 and joints that follow their leaders."""
        q = np.clip(q, *self.bounds)
        for part in self._quaternions:
            q[..., part] /= np.linalg.norm(q[..., part], axis=-1, keepdims=True)
        for joint, (leader, multiplier, offset) in self._followers.items():
            q[..., self.robot.q_slice(joint)] = multiplier * q[..., self.robot.q_slice(leader)] + offset
        return q

    def moved(self, q: Array, dv: Array) -> Array:
        """The configuration after a step dv (..., nv) from q (..., nq), put back inside the limits."""
        return self.inside(np.asarray(integrate(self.robot, q, dv @ self.leading.T)))

    def held(self, q: Array, push: Array) -> npt.NDArray[np.bool_]:
        """A mask of the velocities that are at a limit and would be moved beyond it by the step `push` (..., nv)."""
        lower, upper = self.bounds
        at_lower, at_upper = np.zeros((2, *push.shape), dtype=bool)
        coordinates, velocities = self._pairs
        at_lower[..., velocities] = q[..., coordinates] <= lower[coordinates]
        at_upper[..., velocities] = q[..., coordinates] >= upper[coordinates]
        return np.asarray((at_lower & (push < 0.0)) | (at_upper & (push > 0.0)))

    def elsewhere(self, q: Array, frames: Collection[str], rng: np.random.Generator) -> Array:
        """q with new random values for the joints that move `frames` and no other frame.

        Where there are no such joints, all joints that move a frame get new values.
        """
        mine = np.any([self._moving[frame] for frame in frames], axis=0)
        others = np.any([np.zeros_like(mine), *(self._moving[f] for f in self.frames if f not in frames)], axis=0)
        drawn = mine & ~others if np.any(mine & ~others) else np.any(list(self._moving.values()), axis=0)
        return self.inside(np.where(drawn, random_configuration(self.robot, rng), q))

    def at_limits(self, q: Array) -> list[str]:
        """Names of the coordinates that are at a limit."""
        lower, upper = self.bounds
        return [name for name, x, a, b in zip(self.robot.q_names, q, lower, upper, strict=True) if x in (a, b)]

    # ── limits and couplings ──────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """The lower and upper limits of q, (nq,) each; the limits of followers also restrict their leader."""
        if not self.limits:
            return np.full(self.robot.nq, -np.inf), np.full(self.robot.nq, np.inf)
        return coupled_limits(self.robot)

    @cached_property
    def leading(self) -> Array:
        """The matrix (nv, nv) that makes velocities of coupled joints multiples of the velocities of their leaders."""
        matrix = np.eye(self.robot.nv)
        for joint, (leader, multiplier, _) in self._followers.items():
            row = self.robot.v_slice(joint)
            matrix[row] = 0.0
            matrix[row, self.robot.v_slice(leader)] = multiplier
        return matrix

    @cached_property
    def _followers(self) -> dict[str, tuple[str, float, float]]:
        """Coupled joint -> (leader that follows no other joint, multiplier, offset)."""
        return dict(followers(self.robot.couplings))

    @cached_property
    def _pairs(self) -> tuple[list[int], list[int]]:
        """The indices of coordinates that belong to one velocity, and the indices of these velocities."""
        coordinates, velocities = [], []
        for joint in self.robot.joints:
            q, v = self.robot.q_slice(joint.name).start, self.robot.v_slice(joint.name).start
            for step in joint.table.primitives:
                if step.kind in ONE_TO_ONE:
                    at_q, at_v = ONE_TO_ONE[step.kind]
                    coordinates.append(q + step.q[0] + at_q)
                    velocities.append(v + step.v[0] + at_v)
        return coordinates, velocities

    @cached_property
    def _quaternions(self) -> list[slice]:
        """The slices of quaternions in q: the last four coordinates of a joint that has coordinates without unit."""
        ends = [self.robot.q_slice(joint.name).stop for joint in self.robot.joints if "" in joint.table.q_units]
        return [slice(end - 4, end) for end in ends]

    @cached_property
    def _moving(self) -> dict[str, npt.NDArray[np.bool_]]:
        """Frame -> a mask (nq,) of the coordinates that move it."""
        robot, masks = self.robot, {}
        leaders = {joint: leader for joint, (leader, _, _) in self._followers.items()}
        for frame in self.frames:
            masks[frame] = np.zeros(robot.nq, dtype=bool)
            above = [robot.parent_joint[body].name for body in robot.path_to_root(robot.frame(frame).body)[:-1]]
            moving = {leaders.get(name, name) for name in above}
            for joints in self.linked:
                moving |= set(joints) if moving & set(joints) else set()
            for name in moving:
                masks[frame][robot.q_slice(name)] = True
        return masks
