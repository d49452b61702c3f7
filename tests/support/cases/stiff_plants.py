"""Plants with laws at points and joints by hand: the same forces in `rate` explicitly and in the implicit step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinemorph.algebra.groups import Pose, act
from kinemorph.bench.peers.robots import stored_robot
from kinemorph.mechanics.recursions.articulated_bodies import forward_dynamics
from kinemorph.mechanics.recursions.kinematics import link_poses
from kinemorph.mechanics.steps.free_flight import flight_accelerations, half_flown
from kinemorph.mechanics.steps.implicit_forces import Ends, present_forces
from kinemorph.mechanics.steps.point_states import JointForce, PointForce
from kinemorph.mechanics.trees import charts
from kinemorph.mechanics.trees.reframing import reframe, regroup
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.robot import Frame, Robot
from kinemorph.plants.implicit_step import StepForces, StepStart, implicit_step
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant
from kinemorph.plants.user_laws import split
from support.cases.stiff_laws import Ground, Hold

EYE = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
CROUCH = {"hexapod24": (0.0, -0.3, 1.2), "hexapod36": (0.0, -0.4, 1.0, 0.0, 0.4)}
LENGTH = {"hexapod24": 0.2, "hexapod36": 0.08}  # of the last link, up to the foot [m]


def with_feet(robot: Robot, feet: Mapping[str, tuple[str, Any]]) -> Robot:
    """The robot with frames at points of bodies."""
    frames = tuple(Frame(name, body, Pose(EYE, point)) for name, (body, point) in feet.items())
    return replace(robot, frames=(*robot.frames, *frames))


def hexapod(name: str = "hexapod24") -> Robot:
    """A hexapod of the speed tables with frames foot0 ... foot5 at the ends of its legs."""
    joints = len(CROUCH[name])
    feet = {f"foot{k}": (f"b{(k + 1) * joints}", (LENGTH[name], 0.0, 0.0)) for k in range(6)}
    return with_feet(stored_robot(name), feet)


@dataclass(frozen=True, eq=False)
class Stiff:
    """A robot with laws at frames, and a law for each velocity by its index, given the inputs u and the time."""

    robot: Robot
    points: Mapping[str, Any]
    joints: Callable[[Any, Any], Mapping[int, Any]] = lambda t, u: {}

    @cached_property
    def tree(self) -> Tree:
        """Ready for recursions, tips turned to their points."""
        tree = resolve(self.robot)
        return regroup(
            reframe(tree, {tree.attachments[name].link: tree.attachments[name].pose.p for name in self.points})
        )

    def at_points(self) -> list[PointForce]:
        at = self.tree.attachments
        return [PointForce(at[name].link, at[name].pose.p, law) for name, law in self.points.items()]

    def at_joints(self, t: Any, u: Any) -> list[JointForce]:
        return [JointForce(j, law) for j, law in self.joints(t, u).items()]

    def plant(self, inputs: int = 0) -> Plant:
        base = plant(self.robot, inputs={f"u{k}": "" for k in range(inputs)}, forces=lambda q: [0.0] * self.robot.nv)
        return replace(base, laws=replace(base.laws, rate=self._rate, implicit=self._implicit, for_one=None))

    def _rate(self, at: LocalInstant) -> list[Any]:
        w, v, _ = split(at.s, self.tree.nv)
        q = charts.place(self.tree, at.base, w, finished=False)
        tau, wrenches, _ = present_forces(self.tree, q, v, self.at_points(), self.at_joints(at.t, at.u))
        return [*charts.local_rate(self.tree, w, v), *forward_dynamics(self.tree, q, v, tau, wrenches)]

    def _implicit(self, at: LocalInstant, h: Any, guess: Any, passes: int, centered: bool) -> Any:
        after, ends = self.step(at.t, at.base, at.s, h, at.u, passes, guess, centered=centered)
        return after, ends.a

    def step(
        self, t: Any, base: Any, s: Any, h: Any, u: Any, passes: int, guess: Any = None, *, centered: bool = False
    ) -> tuple[list[Any], Ends]:
        first, at = None, t + h
        _, v, x = split(s, self.tree.nv)
        if centered:
            first, base, v = half_flown(self.tree, self.tree, base, v, h, ())
            at = t + 0.5 * h
        acting = StepForces([0.0] * self.tree.nv, self.at_points(), self.at_joints(at, u))
        every = self.tree.all_joints(base, v)
        start = StepStart(base, v, x, first, every, flight_accelerations(self.tree, v))
        return implicit_step(self.tree, self.tree, start, h, acting, passes, guess)


def holding(stance: Any, kp: float = 60.0, kv: float = 1.5) -> Callable[[Any, Any], Mapping[int, Any]]:
    """Position control of all hinges of a robot on a free base."""
    return lambda t, u: {6 + j: Hold(kp, kv, float(target)) for j, target in enumerate(stance)}


def standing_hexapod(name: str = "hexapod24", ground: Ground | None = None) -> tuple[Stiff, np.ndarray]:
    """A hexapod held in a crouch over the ground, and q with the lowest foot just on it."""
    robot = hexapod(name)
    stance = np.tile(CROUCH[name], 6)
    stiff = Stiff(robot, {f"foot{k}": ground or Ground() for k in range(6)}, holding(stance))
    q = np.concatenate([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], stance])
    q[2] = -min(feet_heights(stiff, q))
    return stiff, q


def feet_heights(stiff: Stiff, q: np.ndarray) -> list[float]:
    poses = link_poses(stiff.tree, q.tolist())
    return [float(act(poses[force.link], force.point)[2]) for force in stiff.at_points()]
