"""A system for live runs: a hand can pull each of its bodies, and its set points can be set during the run.

The change depends on the model alone, so a recorded live run is read and shown with the model that it was made from.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

from kinemorph.model.elements.control.controllers import PD, PID
from kinemorph.model.elements.control.model_based import ComputedTorque
from kinemorph.model.elements.control.references import Setpoint
from kinemorph.model.elements.forces.pulls import Pull
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot
from kinemorph.model.system import System, as_robot

HAND = "hand"  # the name of the pull that live runs add
EAGERNESS = 12.0  # [rad/s] at which the whole mass of a robot would swing on the hand without damping
LEAST_SHARE = 1e-3  # of the mass, for the strength with which massless bodies are pulled
EASE = 0.7  # the damping of that swing, as a share of the critical damping
CONSTRAINTS = "kinemorph.model.elements.constraints."  # the folder of elements that may read references over time only


def live_system(model: Robot | System) -> System:
    """The system of live runs of a model: with a `Pull` on any body, the hand, and with set points that are inputs.

    Set points that constraints read stay constant, because a constraint may depend on the time only. References of
    controllers that are plain numbers become set points "NAME reference".
    """
    system = model if isinstance(model, System) else System(as_robot(model))
    if any(isinstance(element, Pull) and element.name == hand_of(system) for element in system.elements):
        return system
    found: list[Any] = []
    for element in system.elements:
        if isinstance(element, Setpoint):
            held = any(_mentions(other, element.name) for other in system.elements)
            found.append(element if held else replace(element, from_inputs=True))
        elif isinstance(element, PD | PID | ComputedTorque) and _followable(element, system):
            values: Any = element.reference
            goal = Setpoint(f"{element.name} reference", values, element.joints, from_inputs=True)
            found += [goal, replace(element, reference=(goal.name,))]
        else:
            found.append(element)
    mass = sum(float(evaluate(body.mass)) for body in system.robot.bodies) or 1.0
    stiffness, damping = mass * EAGERNESS**2, 2.0 * EASE * mass * EAGERNESS
    return replace(system, elements=(*found, Pull(hand_of(system), stiffness, damping=damping)))


def hand_of(system: System) -> str:
    """The name of the pull that live runs of a system have, or would add: "hand", or where this is taken, "hand 2"."""
    taken: dict[str, Any] = {element.name: element for element in system.elements}
    taken |= dict.fromkeys((*system.robot.body_names, *system.robot.joint_names))
    name, number = HAND, 1
    while name in taken and not _is_any_pull(taken[name]):
        number += 1
        name = f"{HAND} {number}"
    return name


def set_points(system: System) -> dict[str, tuple[str, ...]]:
    """The inputs that are set points, by the names of the elements: {"goal": ("goal.hip", "goal.knee")}."""
    points = [element for element in system.elements if isinstance(element, Setpoint) and element.from_inputs]
    return {
        point.name: tuple(f"{point.name}.{joint}" for joint in point.joints) if len(point.joints) > 1 else (point.name,)
        for point in points
    }


def usual_strength(robot: Robot, body: str) -> float:
    """The share of the hand's stiffness that suits a body: 1 where it carries the whole mass of the robot.

    It is the square root of the share of the mass that the body carries, itself included: between a stiffness for the
    mass that is carried, which could not lift the rest, and one for the whole mass, which is stiff for a light body.
    """
    mass = {one.name: float(evaluate(one.mass)) for one in robot.bodies}
    total, carried = sum(mass.values()), {body}
    below = {joint.child: joint.parent for joint in robot.joints}
    for name in robot.body_names:
        path = [name]
        while path[-1] in below and path[-1] not in carried:
            path.append(below[path[-1]])
        carried |= {*path} if path[-1] in carried else set()
    share = sum(mass.get(name, 0.0) for name in carried) / total if total else 1.0
    return math.sqrt(max(share, LEAST_SHARE))


def _is_any_pull(element: Any) -> bool:
    return isinstance(element, Pull) and not element.body


def _followable(element: Any, system: System) -> bool:
    """Whether the reference of a controller consists of plain numbers, one for all of its joints or one for each."""
    numbers = element.joints and all(isinstance(value, float) for value in element.reference)
    return bool(numbers) and all(other.name != f"{element.name} reference" for other in system.elements)


def _mentions(element: Any, name: str) -> bool:
    """Whether a constraint element has a text that may name this reference."""
    if not type(element).__module__.startswith(CONSTRAINTS):
        return False
    return any(name in str(getattr(element, field.name)) for field in fields(element) if field.name != "name")
