"""Checks of motors before they act."""

from __future__ import annotations

import math
from typing import Any

from kinemorph.mechanics.elements.checks import not_negative, one_axis, positive
from kinemorph.model.elements.drives.motors import DCMotor
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot


def back_efficiency(element: DCMotor) -> Any:
    """The efficiency while the joint drives the motor: as given, or from the same friction in both directions."""
    return 2.0 - 1.0 / element.efficiency if element.back_efficiency is None else element.back_efficiency


def motor_problems(element: DCMotor, robot: Robot) -> list[str]:
    """Problems of a motor on this robot, one sentence each."""
    found = one_axis(element, "joint", element.joint, robot)
    found += positive(element, "resistance", "torque_constant", "slow")
    found += not_negative(element, "inductance", "inertia", "lead", "viscous", "coulomb", "damping", "backlash")
    what = f"element '{element.name}'"
    if element.has_inductance and not evaluate(element.inductance):
        found += positive(element, "inductance")
    if element.back_emf is not None:
        found += positive(element, "back_emf")
    ratio = float(evaluate(element.ratio))
    if ratio == 0.0 or not math.isfinite(ratio):
        found.append(f"{what}: ratio is {ratio:g}; expected a finite number that is not 0. Give turns per turn.")
    for name in ("voltage_limit", "current_limit"):
        if not getattr(element, name) > 0.0:
            found.append(f"{what}: {name} is {getattr(element, name):g}; expected a number above 0. Enlarge it.")
    found += _problems_of_joint(element, robot, what)
    good = float(evaluate(element.efficiency))
    if not 0.0 < good <= 1.0:
        return [*found, f"{what}: efficiency is {good:g}; expected a number in (0, 1]. Give 1 for none lost."]
    return found + _problems_of_gears(element, what)


def _problems_of_joint(element: DCMotor, robot: Robot, what: str) -> list[str]:
    kinds = {joint.name: joint.kind for joint in robot.joints}
    sliding = kinds.get(element.joint) == "prismatic"
    if sliding and not element.has_screw:
        return [
            f"{what}: joint '{element.joint}' is prismatic and lead is 0; expected the travel of a turn [m]. "
            "Give the lead of the screw, or 2 pi r for a pinion or drum."
        ]
    if element.has_screw and element.joint in kinds and not sliding:
        return [
            f"{what}: lead is {evaluate(element.lead):g} m and joint '{element.joint}' is {kinds[element.joint]}; "
            "expected a prismatic one for a screw. Leave lead out."
        ]
    return []


def _problems_of_gears(element: DCMotor, what: str) -> list[str]:
    back = float(evaluate(back_efficiency(element)))
    found = []
    if not back <= 1.0 or not math.isfinite(back):
        found.append(f"{what}: back_efficiency is {back:g}; expected a number of at most 1. Give 1 for none lost.")
    if element.is_rigid and back <= 0.0:
        found.append(
            f"{what}: back_efficiency is {back:.3g}, so the transmission locks itself, and it is rigid; expected above "
            "0. Give the transmission a `stiffness`, or a `back_efficiency`."
        )
    if element.is_rigid and element.has_backlash:
        found.append(
            f"{what}: backlash is {evaluate(element.backlash):g} and the transmission is rigid; expected teeth that "
            "give way. Give it a `stiffness`."
        )
    if not element.is_rigid:
        found += positive(element, "stiffness")
        if not evaluate(element.inertia) > 0.0:
            found.append(
                f"{what}: inertia is {evaluate(element.inertia):g} and the transmission has a stiffness, so that the "
                "rotor has its own motion; expected above 0. Give its inertia."
            )
    return found
