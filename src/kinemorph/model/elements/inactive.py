"""Data of a model that do not act in a run: joint limits, friction, effort limits and collision shapes.

These are data of joints and bodies. They act through elements: `JointLimits` and `JointFriction`, the bounds of
controllers, and contacts. A model file states them as if they acted, as they do in other simulators.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.contacts_from_shapes import fixed_pose, grounds, has_free_base
from kinemorph.model.elements.contact.pair_contacts import PairContact
from kinemorph.model.elements.drives.actuators import Actuator
from kinemorph.model.elements.drives.tendons import Tendon
from kinemorph.model.elements.forces.joint_forces import without_friction, without_stops
from kinemorph.model.parameter import evaluate
from kinemorph.model.system import System
from kinemorph.words import counted, quoted


@dataclass(frozen=True)
class Inactive:
    """The names of joints and bodies whose data do not act, by the kind of data."""

    limits: tuple[str, ...]  # joints with position limits and no stops
    friction: tuple[str, ...]  # joints with Coulomb friction that does not act
    efforts: tuple[str, ...]  # joints whose effort limit bounds no torque or force that drives them
    shapes: tuple[str, ...]  # bodies with collision shapes and no contact
    controllers: tuple[str, ...]  # the controllers that exceed effort limits
    grounded: bool  # whether there is a ground that the collision shapes could touch
    freeable: bool  # whether the base is fixed, and the option base='free' frees it

    @property
    def joint_sentences(self) -> list[str]:
        """A sentence on joint limits and one on friction that do not act, with the function that makes them act."""
        found = []
        for what, names in (("limits", self.limits), ("friction", self.friction)):
            if names:
                found.append(f"{what} of {counted(len(names), 'joint')}: elements.with_joint_forces(system) adds them")
        return found

    @property
    def other_sentences(self) -> list[str]:
        """A sentence on effort limits and one on collision shapes that do not act, with a remedy."""
        found = []
        if self.efforts:
            where = f"to {quoted(self.controllers)}" if self.controllers else "to a controller, or limit the inputs"
            found.append(f"effort limits of {counted(len(self.efforts), 'joint')}: give `lower` and `upper` {where}")
        if self.shapes:
            bodies = counted(len(self.shapes), "body", "bodies")
            added = "ground = true in a run (--ground) adds the plane z = 0"
            if self.grounded:
                remedy = "elements.contacts(system) makes contacts with the ground of them"
            else:
                freed = "base='free' (--base free) puts a robot of URDF or xacro on z = 0, and "
                fixed, freed = ("the base is fixed, and ", freed) if self.freeable else ("", "")
                remedy = f"{fixed}the file has no ground; {freed}{added}"
            found.append(f"collision shapes of {bodies}: {remedy}")
        return found


def inactive_data(system: System, *, driven: bool = False) -> Inactive:
    """The data of a system that do not act in a run of it; `driven` says that torques or forces are given as inputs."""
    robot = system.robot
    limited = {
        joint.name: float(joint.effort[0])
        for joint in robot.joints
        if len(joint.effort) == 1 and 0.0 < joint.effort[0] < math.inf
    }
    beyond = {element.name: _beyond(element, limited) for element in system.elements}
    controllers = tuple(name for name, joints in beyond.items() if joints)
    driving = dict.fromkeys(joint for joints in beyond.values() for joint in joints)
    drives = [element for element in system.elements if isinstance(element, Actuator)]  # they obey the limit
    pulled = [element for element in system.elements if isinstance(element, Tendon)]
    bounded = {drive.joint for drive in drives}
    bounded |= {joint for one in pulled for joint in one.joints if any(drive.tendon == one.name for drive in drives)}
    efforts = tuple(joint for joint in (limited if driven else driving) if joint not in bounded)
    contacts = [element for element in system.elements if isinstance(element, (Contact, PairContact))]
    moving = [body for body in robot.bodies if fixed_pose(robot, body.name) is None]
    shapes = () if contacts else tuple(body.name for body in moving if body.collisions)
    grounded = bool(shapes and grounds(system))
    freeable = not has_free_base(robot) and system.file_data.format != "mjcf"  # an MJCF file is a whole scene
    return Inactive(without_stops(system), without_friction(system), efforts, shapes, controllers, grounded, freeable)


def _beyond(element: Any, limited: dict[str, float]) -> list[str]:
    """The joints that a controller may drive with more than their effort limit; none for any other element."""
    joints, lower, upper = (getattr(element, name, ()) for name in ("joints", "lower", "upper"))
    if not (joints and lower and upper) or getattr(element, "drives", None) or isinstance(element, Tendon):
        return []
    lows, highs = (tuple(values) * (len(joints) if len(values) == 1 else 1) for values in (lower, upper))
    return [
        joint
        for joint, low, high in zip(joints, lows, highs, strict=False)
        if max(-float(evaluate(low)), float(evaluate(high))) > limited.get(joint, math.inf)
    ]
