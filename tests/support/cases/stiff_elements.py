"""The laws of `stiff_laws` as elements: contacts with the ground, and joints that are held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import kinemorph
from kinemorph import System
from kinemorph.elements import Effort, ElementLaw
from kinemorph.mechanics.elements.law import Stiff
from kinemorph.mechanics.steps.point_states import JointForce, JointState
from kinemorph.model.elements.contact.contact_laws import EasyDynNormal, Regularized
from kinemorph.model.elements.contact.contacts import Contact
from support.cases.stiff_laws import Hold
from support.cases.stiff_plants import Stiff as ByHand


@dataclass(frozen=True)
class Held:
    """A joint that is held."""

    name: str
    joint: str
    law: Hold


class HeldLaw(ElementLaw[Held]):
    def effort(self, element: Held, view: Any) -> Effort:
        hinge = view.hinge(element.joint)
        return Effort(torques={hinge.place: element.law.force(JointState(hinge.q, hinge.v))})

    def stiff(self, element: Held, view: Any) -> Stiff:
        return Stiff(joints=(JointForce(view.hinge(element.joint).place, element.law),))


kinemorph.elements.register(Held, HeldLaw())


def as_elements(stiff: ByHand) -> System:
    """A robot with laws by hand as a system with elements."""
    robot = stiff.robot
    joints = {robot.v_slice(joint.name).start: joint.name for joint in robot.joints}
    feet = [
        Contact(f"ground of {name}", name, EasyDynNormal(law.k, law.c), Regularized(law.mu, law.v_lim))
        for name, law in stiff.points.items()
    ]
    held = [Held(f"servo {joints[j]}", joints[j], law) for j, law in stiff.joints(0.0, ()).items()]
    return System(robot, (*feet, *held))
