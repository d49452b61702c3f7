"""Checks of the data of motors."""

from __future__ import annotations

from typing import Any

from kinemorph.mechanics.elements.checks import one_axis, wrong
from kinemorph.model.elements.drives.motors import DCMotor
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot


def back_efficiency(element: DCMotor) -> Any:
    """The efficiency while the joint drives the motor: `back_efficiency`, by default for equal friction both ways."""
    return 2.0 - 1.0 / element.efficiency if element.back_efficiency is None else element.back_efficiency


def motor_problems(element: DCMotor, robot: Robot) -> list[str]:
    """Problems of a motor on this robot, one sentence each."""
    found = one_axis(element, "joint", element.joint, robot)
    if element.has_inductance and not evaluate(element.inductance):
        problem = "inductance is a Parameter whose nominal value is 0; expected a number above 0 [H]"
        found.append(wrong(element.name, problem, "Give it such a value, or the number 0.", "inductance"))
    if evaluate(element.ratio) == 0.0:
        problem = "ratio is 0; expected a finite number that is not 0"
        found.append(wrong(element.name, problem, "Give the motor's turns per turn of the output.", "ratio"))
    found += _problems_of_joint(element, robot)
    return found + (_problems_of_gears(element) if evaluate(element.efficiency) > 0.0 else [])


def _problems_of_joint(element: DCMotor, robot: Robot) -> list[str]:
    kinds = {name: place.kind for name, place in robot.axis_places.items()}
    sliding = kinds.get(element.joint) == "prismatic"
    if sliding and not element.has_screw:
        problem = f"joint '{element.joint}' is prismatic and lead is 0; expected the travel per turn [m]"
        return [wrong(element.name, problem, "Give the lead of the screw, or 2 pi r for a pinion or drum.", "joint")]
    if element.has_screw and element.joint in kinds and not sliding:
        problem = (
            f"lead is {evaluate(element.lead):g} m and joint '{element.joint}' is {kinds[element.joint]}; "
            "expected a prismatic joint, which a screw can drive"
        )
        return [wrong(element.name, problem, "Leave lead out.", "lead")]
    return []


def _problems_of_gears(element: DCMotor) -> list[str]:
    back = float(evaluate(back_efficiency(element)))
    found = []
    if element.is_rigid and back <= 0.0:
        problem = f"back_efficiency is {back:.3g}, so the rigid transmission locks itself; expected a number above 0"
        remedy = "Give the transmission a `stiffness`, or a `back_efficiency` above 0."
        found.append(wrong(element.name, problem, remedy, "back_efficiency"))
    if element.is_rigid and element.has_backlash:
        problem = f"backlash is {evaluate(element.backlash):g}, but the transmission is rigid; expected an elastic one"
        found.append(wrong(element.name, problem, "Give it a `stiffness`.", "backlash"))
    if not element.is_rigid and not evaluate(element.inertia) > 0.0:
        problem = (
            f"inertia is {evaluate(element.inertia):g}, but the transmission has a stiffness, so that the rotor moves "
            "on its own; expected a number above 0"
        )
        found.append(wrong(element.name, problem, "Give the inertia of the rotor.", "inertia"))
    return found
