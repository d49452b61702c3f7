"""The law of actuators."""

from __future__ import annotations

import math

from kinemorph.algebra.scalar import S, maximum, minimum
from kinemorph.mechanics.elements.checks import one_axis, wrong
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Effort, ElementLaw, Slot, register
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
        return (Slot("command"),)

    def effort(self, element: Actuator, view: ElementView) -> Effort:
        joint = view.hinge(element.joint)
        torque = actuated(element, view.input("command"), joint.q, joint.v)
        return Effort(torques={joint.place: torque}, supplied=torque * joint.v)


def actuated(element: Actuator, command: S, q: S, v: S) -> S:
    """The effort [N m or N] of an actuator on its joint, at a command and the joint's coordinate q and velocity v."""
    u = limited(command, element.lower, element.upper)
    s, rate = element.gear * q, element.gear * v
    force = {
        "effort": lambda: u,
        "position": lambda: element.gain * (u - s) - element.damping * rate,
        "velocity": lambda: element.gain * (u - rate),
    }[element.control]()
    return element.gear * limited(force, -element.effort, element.effort)


def limited(x: S, lower: float, upper: float) -> S:
    """x, limited to [lower, upper]; each limit may be infinite."""
    x = x if lower == -math.inf else maximum(x, lower)
    return x if upper == math.inf else minimum(x, upper)


register(Actuator, ActuatorLaw())
