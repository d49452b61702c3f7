"""The laws of `stiff_laws` as elements: a point on the ground, and a joint that is held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import kinemorph
from kinemorph import Effort, ElementLaw, System
from kinemorph.mechanics.elements.law import Push, Stiff
from kinemorph.mechanics.point_states import JointForce, JointState, PointForce
from stiff_laws import Ground, Hold
from stiff_plants import Stiff as ByHand


@dataclass(frozen=True)
class Foot:
    """A frame's origin on the ground."""

    name: str
    frame: str
    law: Ground


@dataclass(frozen=True)
class Held:
    """A joint that is held."""

    name: str
    joint: str
    law: Hold


class FootLaw(ElementLaw[Foot]):
    def effort(self, element: Foot, scene: Any) -> Effort:
        point = scene.point(element.frame, (0.0, 0.0, 0.0))
        return Effort(pushes=(Push(point, element.law.force(point)),))

    def stiff(self, element: Foot, scene: Any) -> Stiff:
        point = scene.point(element.frame, (0.0, 0.0, 0.0))
        return Stiff(points=(PointForce(point.link, point.point, element.law),))


class HeldLaw(ElementLaw[Held]):
    def effort(self, element: Held, scene: Any) -> Effort:
        hinge = scene.hinge(element.joint)
        return Effort(torques={hinge.place: element.law.force(JointState(hinge.q, hinge.v))})

    def stiff(self, element: Held, scene: Any) -> Stiff:
        return Stiff(joints=(JointForce(scene.hinge(element.joint).place, element.law),))


kinemorph.register(Foot, FootLaw())
kinemorph.register(Held, HeldLaw())


def as_elements(stiff: ByHand) -> System:
    """A robot with laws by hand as a system with elements."""
    robot = stiff.robot
    joints = {robot.v_slice(joint.name).start: joint.name for joint in robot.joints}
    feet = [Foot(f"ground of {name}", name, law) for name, law in stiff.points.items()]
    held = [Held(f"servo {joints[j]}", joints[j], law) for j, law in stiff.joints(0.0, ()).items()]
    return System(robot, (*feet, *held))
