"""Which joints are driven, by which elements, and with which efforts over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.scenes.sampled_columns import between_samples, course
from kinemorph.errors import ModelError
from kinemorph.mechanics.elements.law import law_of
from kinemorph.model.elements.control.controllers import PD
from kinemorph.model.elements.control.wiring import below, channel_names, driven
from kinemorph.model.elements.drives.actuators import Actuator
from kinemorph.model.elements.drives.motors import DCMotor
from kinemorph.model.elements.drives.tendons import Tendon
from kinemorph.model.elements.forces.applied import AppliedEffort
from kinemorph.model.elements.forces.joint_forces import ONE_AXIS
from kinemorph.model.robot import Robot
from kinemorph.model.system import Element
from kinemorph.simulation.results.trajectory import Trajectory


def driven_joints(robot: Robot, elements: Sequence[Element]) -> tuple[str, ...]:
    """The names of the one-axis joints that a motor, an actuator or a controller drives, in the order of the robot."""
    named = {element.joint for element in elements if isinstance(element, DCMotor)}
    named |= {joint for one in elements if isinstance(one, Actuator) for joint in _arms(one, elements)}
    named |= {target for element in elements for target in _targets(element)} - _inputs(elements)
    return tuple(joint.name for joint in robot.joints if joint.name in named and joint.kind in ONE_AXIS)


def efforts_of(robot: Robot, elements: Sequence[Element], run: Trajectory, times: Array) -> dict[str, Array]:
    """The total effort of all drives of each driven joint at times [s], {joint name: effort (n,) [N m or N]}."""

    def signal(name: str) -> Array | None:  # None where the run has no such column
        return between_samples(run, name, times) if name in run.columns else None

    joints = {joint.name for joint in robot.joints if joint.kind in ONE_AXIS}
    plain = joints - _inputs(elements)  # where an actuator has the name of a joint, the name means the actuator
    drives = [pair for element in elements for pair in _targets(element).items()]
    found = [(target, signal(name)) for target, name in drives if target in plain]
    found += [(joint, signal(f"u.{joint}")) for joint in plain]
    actuators: dict[str, list[Array]] = {}
    for element in elements:
        if isinstance(element, DCMotor):
            found.append((element.joint, signal(f"{element.name}.torque")))
        elif isinstance(element, Actuator):
            for joint, arm in _arms(element, elements).items():
                force = signal(f"{element.name}.force")
                if force is not None:
                    actuators.setdefault(joint, []).append(arm * force)
        elif isinstance(element, AppliedEffort):
            found.append((element.joint, course(element, "effort", 1, times)[:, 0]))
    for name, on_joint in actuators.items():
        place = robot.axis_places[name]
        most = float(place.joint.effort[place.number])
        found.append((name, np.clip(sum(on_joint), -most, most)))
    total: dict[str, Array] = {}
    for joint, effort in found:
        if joint in joints and effort is not None:
            total[joint] = total.get(joint, np.zeros(len(times))) + effort
    return {joint.name: total[joint.name] for joint in robot.joints if joint.name in total}


def _arms(actuator: Actuator, elements: Sequence[Element]) -> dict[str, float]:
    """The joints along which an actuator acts, on them or by a tendon, with its effort per unit of its force."""
    if not isinstance(actuator.gear, float | int):
        return {}
    found: dict[str, float] = {actuator.joint: actuator.gear} if actuator.joint else {}
    for tendon in elements:
        if isinstance(tendon, Tendon) and tendon.name == actuator.tendon:
            for joint, coefficient in zip(tendon.joints, tendon.coefficients, strict=True):
                found[joint] = found.get(joint, 0.0) + coefficient * actuator.gear
    return found


def _inputs(elements: Sequence[Element]) -> set[str]:
    """The names of the motors and actuators, which take an input."""
    return {element.name for element in elements if isinstance(element, (DCMotor, Actuator))}


def _targets(element: Element) -> Mapping[str, str]:
    """{driven element or joint: full name of the signal that drives it}; empty for an element without a law."""
    try:
        drives = law_of(element).drives(element)
    except ModelError:
        return {}
    if isinstance(element, PD):  # which may act on its joints directly
        drives = dict(zip(driven(element), channel_names(element), strict=False))
    return {target: below(element.name, channel) if channel else element.name for target, channel in drives.items()}
