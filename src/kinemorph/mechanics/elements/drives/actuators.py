"""The law of actuators."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinemorph.algebra.scalar import S, plus, times
from kinemorph.mechanics.elements.checks import one_axis, wrong
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Effort, ElementLaw, Slot, Stiff, register
from kinemorph.mechanics.elements.saturation import limited, saturated, share_within
from kinemorph.mechanics.steps.point_states import JointForce, JointState
from kinemorph.model.elements.drives.actuators import Actuator
from kinemorph.model.robot import Robot


class ActuatorLaw(ElementLaw[Actuator]):
    """An actuator: the effort on a joint that follows from its input `command`."""

    def problems(self, element: Actuator, robot: Robot) -> list[str]:
        found = one_axis(element, "joint", element.joint, robot)
        if not element.lower < element.upper:
            problem = f"lower is {element.lower:g} and upper {element.upper:g}; expected lower below upper"
            found.append(wrong(element.name, problem, "Exchange them.", "lower"))
        if not element.effort > 0.0:
            problem = f"effort is {element.effort:g}; expected a number above 0, the largest effort of the actuator"
            found.append(wrong(element.name, problem, "Correct it.", "effort"))
        return found

    def inputs(self, element: Actuator) -> tuple[Slot, ...]:
        letter = {"effort": "tau", "position": "q", "velocity": "v"}.get(element.control, "")
        return (Slot("command", f"{letter}.{element.joint}"),)

    def effort(self, element: Actuator, view: ElementView) -> Effort:
        joint = view.hinge(element.joint)
        drives, limit = _on_joint(element, view), _joint_limit(element, view)
        at = JointState(joint.q, joint.v)
        torque = drives[element.name].force(at)
        if limit < math.inf:
            whole = sum((drive.force(at) for drive in drives.values()), 0.0)
            torque = torque * share_within(whole, limit)
        return Effort(torques={joint.place: torque}, supplied=torque * joint.v)

    def stiff(self, element: Actuator, view: ElementView) -> Stiff:
        drives = _on_joint(element, view)
        if element.name != next(iter(drives)):  # the first actuator of a joint acts for all of them
            return Stiff()
        law = Drives(tuple(drives.values()), _joint_limit(element, view))
        return Stiff(joints=(JointForce(view.hinge(element.joint).place, law),))


@dataclass(frozen=True, eq=False)
class Drive:
    """One actuator and its command, as a law for the effort on its joint."""

    element: Actuator
    command: S

    def free(self, joint: JointState) -> S:
        """The force or torque [N m or N] before the gear, without the limit of the actuator."""
        element = self.element
        u = limited(self.command, element.lower, element.upper)
        rate = element.gear * joint.velocity
        if element.control == "effort":
            return u
        if element.control == "velocity":
            return element.gain * (u - rate)
        return element.gain * (u - element.gear * joint.coordinate(element.name)) - element.damping * rate

    def force(self, joint: JointState) -> S:
        """The effort on the joint [N m or N]."""
        return self.element.gear * limited(self.free(joint), -self.element.effort, self.element.effort)

    def linear(self, joint: JointState, h: S) -> tuple[S, S]:
        """(effort, pivot) for a step of h [s]; the pivot is the inertia that the effort adds to the joint."""
        element = self.element
        slope: S = 0.0
        if element.control == "velocity":
            slope = times(h, element.gain)
        elif element.control == "position":
            slope = times(h, plus(element.damping, times(h, element.gain)))
        f, pivot = saturated(self.free(joint), -element.effort, element.effort, slope)
        return element.gear * f, times(element.gear * element.gear, pivot)


@dataclass(frozen=True, eq=False)
class Drives:
    """The effort of all actuators of one joint together; the joint's limit bounds their sum.

    An implicit step evaluates it at the end of the step (see `mechanics.steps.implicit_forces`).
    """

    drives: tuple[Drive, ...]
    limit: float  # [N m or N]

    @property
    def affine(self) -> bool:
        """Whether its derivatives are the same everywhere: where neither the joint nor an actuator has a limit."""
        return self.limit == math.inf and all(drive.element.effort == math.inf for drive in self.drives)

    def force(self, joint: JointState) -> S:
        """The effort on the joint [N m or N]."""
        whole = sum((drive.force(joint) for drive in self.drives), 0.0)
        return limited(whole, -self.limit, self.limit)

    def linear(self, joint: JointState, h: S) -> tuple[S, S]:
        """(effort, pivot) for a step of h [s]; the pivot is the inertia that the effort adds to the joint."""
        force: S = 0.0
        pivot: S = 0.0
        for drive in self.drives:
            f, one = drive.linear(joint, h)
            force, pivot = plus(force, f), plus(pivot, one)
        return saturated(force, -self.limit, self.limit, pivot)


def _on_joint(element: Actuator, view: ElementView) -> dict[str, Drive]:
    """All actuators that act on the joint of this element, with their commands, by name."""
    instant = view.instant
    return {
        other.name: Drive(other, instant.views[k].input("command"))
        for k, (other, *_) in enumerate(instant.ensemble.members)
        if isinstance(other, Actuator) and other.joint == element.joint
    }


def _joint_limit(element: Actuator, view: ElementView) -> float:
    """The largest effort [N m or N] of all actuators of the element's joint together: the effort limit of the joint.

    A driven joint has no limit.
    """
    place = view.robot.axis_places[element.joint]
    return float(place.joint.effort[place.number]) if place.joint.effort else math.inf


register(Actuator, ActuatorLaw())
