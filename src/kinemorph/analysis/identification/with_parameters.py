"""`with_parameters`: a model with other masses, inertias, armatures and friction, such as those of an identification.

The values are those of `Dynamics.regressor_columns`. Each goes where the model holds it:

    body.m, hx, ..., Izz    mass, center of mass and inertia of the body, which some mass distribution has to have
    joint.armature          the armature of the joint, less what the rotors of its motors add
    joint.viscous           the damping of the joint, less the viscous friction of its motors
    joint.coulomb           the friction of the joint, less the dry friction of its motors; it acts by a JointFriction
    joint.offset            an AppliedEffort called "<joint> offset", with the effort -offset
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.inertia import from_inertial_parameters, inertia_problems, triangle_doubts
from kinemorph.analysis.identification.system_parameters import held_by_motors, offset_name, rubbed_joints
from kinemorph.deriving.parameter_functions import body_parameters, column_names
from kinemorph.errors import ModelError, Problem
from kinemorph.mechanics.recursions.regressors import OF_BODY
from kinemorph.model.body import NO_INERTIA, ORIGIN, Body
from kinemorph.model.elements.forces.applied import AppliedEffort
from kinemorph.model.elements.forces.joint_forces import ONE_AXIS, JointFriction, has_friction
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import Symbolic, Value, evaluate, evaluate_all, parameters_of
from kinemorph.model.robot import Robot
from kinemorph.model.system import System, as_robot
from kinemorph.words import did_you_mean

BODY_REMEDY = "Identify with constraints: identification.feasible_parameters gives values of real bodies."
JOINT_REMEDY = "Identify with constraints: identification.feasible_parameters keeps it there."
FIELDS = {"armature": "armature", "viscous": "damping", "coulomb": "friction"}  # column -> the field of Joint
PARTS = ("bodies", "joints", "loops", "frames", "couplings", "gravity", "dependents", "positions")  # with Parameters


def with_parameters(model: Robot | System, values: Mapping[str, Value]) -> System:
    """The system with these values of `Dynamics.regressor_columns`, by name; what is not named stays as it is.

    Values are numbers in SI units: where the model had a Parameter or a formula, it has a number afterwards. They may
    be Parameters, too, so that runs can be made with any value of them; their nominal values are checked. A
    JointFriction that acts on a joint with a new value keeps its other numbers, and its friction becomes that of its
    joints. An organism of modules becomes a plain robot. Raises ModelError for unknown names, and for values that no
    body or joint can have.
    """
    robot = as_robot(model)
    system = model if isinstance(model, System) else System(robot)
    given = _checked(robot, values)
    motors = held_by_motors(system)
    system = _without_shared_friction(system, given)
    problems: list[str] = []
    bodies = tuple(_body(body, given, problems) for body in system.robot.bodies)
    joints = tuple(_joint(joint, given, motors, problems) for joint in system.robot.joints)
    elements = _elements(system, joints, given, problems)
    if problems:
        raise ModelError(problems)
    changed = replace(system.robot, bodies=bodies, joints=joints)
    of_robot = parameters_of(tuple(getattr(changed, name) for name in PARTS))
    used = {*of_robot, *parameters_of(elements)}
    kept = tuple(one for one in changed.parameters if one in used)
    changed = replace(changed, parameters=(*kept, *(one for one in of_robot if one not in kept)))
    return replace(system, robot=changed, elements=elements, assembly=None)


def impossible_values(model: Robot | System, values: Mapping[str, Value]) -> str:
    """Why no body or joint can have these values, which somebody chose; empty where some can."""
    system = model if isinstance(model, System) else System(as_robot(model))
    owners = {name.rpartition(".")[0] for name in values}
    motors = held_by_motors(system)
    problems: list[str] = []
    for body in system.robot.bodies:
        if body.name in owners:
            _body(body, values, problems, remedy="Give values that a real body has.")
    for joint in system.robot.joints:
        if owners.intersection(joint.motion_names("v")):
            _joint(joint, values, motors, problems, remedy="Give larger values.")
    return str(ModelError(problems)) if problems else ""


def _checked(robot: Robot, values: Mapping[str, Value]) -> dict[str, Value]:
    """The values as floats, Parameters or formulas.

    Raises ModelError for unknown names and for values that are no finite numbers.
    """
    known = column_names(robot)
    places = set(known)
    problems = []
    for name, value in values.items():
        if name not in places:
            what = f"it is not a parameter of robot '{robot.name}'"
            remedy = did_you_mean(name, known).strip() or "See Dynamics.regressor_columns."
            problems.append(Problem("parameter", name, what, remedy))
        elif not (isinstance(value, (int, float, np.number, Symbolic)) and math.isfinite(evaluate(value))):
            what = f"its value is {value!r:.60}, expected a finite number"
            problems.append(Problem("parameter", name, what, "Give a number in SI units."))
    if problems:
        raise ModelError(problems)
    return {name: value if isinstance(value, Symbolic) else float(value) for name, value in values.items()}


# ── bodies ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _body(body: Body, given: Mapping[str, Value], problems: list[str], remedy: str = BODY_REMEDY) -> Body:
    """The body with its new mass, center of mass and inertia; adds what is impossible to the problems."""
    old: list[Value] = [float(x) for x in body_parameters(body)]
    new = [given.get(f"{body.name}.{part}", value) for part, value in zip(OF_BODY, old, strict=True)]
    if new == old:
        return body
    found = body_with(body, np.array(new))
    mass, com, inertia = (evaluate_all(x) for x in (found.mass, found.com, found.inertia))
    wrong = inertia_problems(mass, com, inertia) or triangle_doubts(inertia, mass)
    for one in wrong:
        problems.append(Problem("body", body.name, one, remedy))
    return found


def body_with(body: Body, parameters: Array) -> Body:
    """The body with ten parameters in the order of OF_BODY; with a mass of 0 it has no inertia either."""
    if parameters[0] == 0.0:
        return replace(body, mass=0.0, com=ORIGIN, inertia=NO_INERTIA)
    found = from_inertial_parameters(parameters.tolist())
    inertia = 0.5 * (np.array(found.moment) + np.array(found.moment).T)
    return replace(body, mass=found.mass, com=tuple(found.com), inertia=_rows(inertia))


def _rows(matrix: Array) -> Any:
    """A matrix as a tuple of its rows."""
    return tuple(map(tuple, matrix.tolist()))


# ── joints ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _joint(
    joint: Joint,
    given: Mapping[str, Value],
    motors: Mapping[str, float],
    problems: list[str],
    remedy: str = JOINT_REMEDY,
) -> Joint:
    """The joint with its new armature, damping and friction; adds what is impossible to the problems."""
    changes: dict[str, tuple[Value, ...]] = {}
    for column, field in FIELDS.items():
        entries = list(getattr(joint, field))
        for place, velocity in enumerate(joint.motion_names("v")):
            name = f"{velocity}.{column}"
            if name not in given:
                continue
            held = motors.get(name, 0.0)
            value = given[name] - held
            if evaluate(value) < -1e-12 * held:
                least = f"at least {held:.6g}, which its motors have" if held else "at least 0"
                what = f"{column} is {evaluate(given[name]):.6g}, expected {least}"
                problems.append(Problem("joint", velocity, what, remedy))
            entries[place] = value if isinstance(value, Symbolic) else max(value, 0.0)
        if tuple(entries) != getattr(joint, field):
            changes[field] = tuple(entries)
    return replace(joint, **changes) if changes else joint  # type: ignore[arg-type]


# ── elements ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _without_shared_friction(system: System, given: Mapping[str, Value]) -> System:
    """The system in which the friction of joints that get new values is that of the joints, and in no element.

    A JointFriction with friction of its own hands it to all joints that it acts on. Raises ModelError where two such
    elements act on a joint.
    """
    robot = system.robot
    changing = {joint.name for joint in robot.joints if _given(joint, given, "viscous", "coulomb")}
    handed: dict[str, JointFriction] = {}
    elements: list[Any] = []
    for element in system.elements:
        acting = rubbed_joints(element, robot.joints) if isinstance(element, JointFriction) else []
        if not (isinstance(element, JointFriction) and changing.intersection(acting)):
            elements.append(element)
            continue
        for name in changing.intersection(acting):
            if name in handed:
                what = f"the elements '{handed[name].name}' and '{element.name}' both act on it, expected one friction"
                raise ModelError(Problem("joint", name, what, "Leave it out of the joints of one of them."))
            handed[name] = element
        handed |= dict.fromkeys(acting, element)
        elements.append(replace(element, joints=tuple(acting), coulomb=None, viscous=0.0))
    joints = tuple(_taking(joint, handed.get(joint.name)) for joint in robot.joints)
    return replace(system, robot=replace(robot, joints=joints), elements=tuple(elements))


def _taking(joint: Joint, element: JointFriction | None) -> Joint:
    """The joint with the friction that an element has for it."""
    if element is None:
        return joint
    damping = tuple(d + element.viscous for d in joint.damping)
    friction = joint.friction if element.coulomb is None else (element.coulomb,) * len(joint.friction)
    return replace(joint, damping=damping, friction=friction)


def _given(joint: Joint, given: Mapping[str, Value], *columns: str) -> bool:
    return any(f"{velocity}.{column}" in given for velocity in joint.motion_names("v") for column in columns)


def _elements(
    system: System, joints: Sequence[Joint], given: Mapping[str, Value], problems: list[str]
) -> tuple[Any, ...]:
    """The elements with friction for all joints that have a new one, and with the new offsets."""
    elements = {element.name: element for element in system.elements}
    acting = [element for element in system.elements if isinstance(element, JointFriction)]
    rubbed = {name for element in acting for name in rubbed_joints(element, system.robot.joints)}
    new = [j.name for j in joints if _given(j, given, "coulomb") and has_friction(j) and j.name not in rubbed]
    if new:
        plain = [one for one in acting if one.joints and one == JointFriction(one.name, one.joints)]
        home = plain[0] if plain else JointFriction(_free_name("joint friction", elements))
        elements[home.name] = replace(home, joints=(*home.joints, *new))
    for joint in joints:
        for velocity in joint.motion_names("v"):
            column = f"{velocity}.offset"
            if column not in given:
                continue
            name = offset_name(velocity)
            present = elements.get(name)
            if not (present is None or isinstance(present, AppliedEffort)):
                what = f"it is a {type(present).__name__}, but its name is that of an offset, an AppliedEffort"
                problems.append(Problem("element", name, what, "Rename it."))
            elif given[column] == 0.0:
                elements.pop(name, None)
            elif joint.kind not in ONE_AXIS or joint.driven:
                offset = evaluate(given[column])
                what = f"its offset is {offset:.6g}, but only joints with one axis and a coordinate have offsets"
                problems.append(Problem("joint", velocity, what, f"Leave {column} out, or give 0."))
            else:
                elements[name] = AppliedEffort(name, joint.name, -given[column])
    return tuple(elements.values())


def _free_name(name: str, taken: Mapping[str, Any]) -> str:
    """The name, with a number added if it is taken."""
    names = [name, *(f"{name} {k}" for k in range(2, len(taken) + 3))]
    return next(one for one in names if one not in taken)
