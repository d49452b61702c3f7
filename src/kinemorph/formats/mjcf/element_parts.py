"""Writes elements of an MJCF file: actuators, tendons, gravity compensation, fluid and sensors.

Every kind has a function that writes an element, or returns a text that says why it is left out. Springs of joints are
attributes of their joints, and are written with them (`joint_spring`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from lxml import etree

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY, Pose, quat_to_rotation, rotation_to_quat
from kinemorph.formats.mjcf.file_data import kept
from kinemorph.formats.mjcf.passive import LEAST, equal_box
from kinemorph.formats.mjcf.polynomials import Polynomial
from kinemorph.formats.mjcf.text import FAR, place
from kinemorph.formats.xml_documents import Node
from kinemorph.formats.xml_writing import Losses, number, numbers
from kinemorph.model.elements import (
    IMU,
    Actuator,
    Bushing,
    Constraint,
    DragBox,
    Fluid,
    ForceTorqueSensor,
    Integrating,
    JointFriction,
    MassCenter,
    Meter,
    Probe,
    Tendon,
    TorsionSpring,
    WeightSupport,
)
from kinemorph.model.elements.contact.contacts_from_shapes import fixed_pose
from kinemorph.model.elements.fields import defaults_of
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.system import System
from kinemorph.words import listed

ORDERS = 2  # coefficients of higher order that MuJoCo's springs and dampers have
KEPT_OF_SENSORS = ("name", "body", "quantity", "point", "axes", "signal", "joint", "frame")  # what MJCF has of sensors
KEPT = {Tendon: tuple(field.name for field in fields(Tendon) if field.name not in ("time", "smoothing"))}
ROUNDING = 1e-9  # relative to the largest moment: axes that diagonalize an inertia to this are its principal axes


class Target(NamedTuple):
    """What elements are written into: the system, the whole document, and the nodes of bodies by name."""

    system: System
    root: Node
    nodes: Mapping[str, Node]

    def section(self, tag: str) -> Node:
        """The section of the document with this tag, which is made if it is missing."""
        found = self.root.find(tag)
        return etree.SubElement(self.root, tag) if found is None else found

    def names(self, tag: str) -> set[str]:
        """The names of all nodes with this tag."""
        return {node.get("name", "") for node in self.root.iter(tag)}


def write_elements(target: Target, losses: Losses) -> None:
    """Writes all elements; those that MJCF cannot express are left out, with a warning."""
    springs = {spring.name for spring in _joint_springs(target)}
    order: dict[type[Any], int] = {Actuator: 1, Constraint: 2, **dict.fromkeys(SENSORS, 3)}  # tendons come first
    for element in sorted(target.system.elements, key=lambda one: order.get(type(one), 0)):
        if element == JointFriction(element.name, getattr(element, "joints", ())):
            continue  # the friction of joints is written as their frictionloss
        if element.name in springs:
            continue  # it is written as an attribute of its joint
        write: Callable[[Any, Target], str | None] | None = WRITERS.get(type(element))
        why = "" if write is None else write(element, target)
        if why is not None:
            kind = type(element).__name__
            losses.add(f"elements of kind {kind}{f' {why}' if why else ''} are left out", element.name)
            continue
        if isinstance(element, Actuator) and element.inertia:
            losses.add("rotor inertias of actuators are left out", element.name, "Give them to the joints as armature.")
        kept = KEPT.get(type(element), KEPT_OF_SENSORS if type(element) in SENSORS else None)
        lost = (
            []
            if kept is None
            else [
                key for key, value in defaults_of(element).items() if key not in kept and getattr(element, key) != value
            ]
        )
        if lost:
            losses.add(f"{listed(lost)} of elements of kind {type(element).__name__} are left out", element.name)


# ── springs of joints ─────────────────────────────────────────────────────────────────────────────────────────────────


def joint_spring(system: System, name: str, joint: Joint, q0: Sequence[float]) -> TorsionSpring | Bushing | None:
    """The spring that is written as an attribute of the MuJoCo joint `name`, a part of `joint`, if there is one.

    q0 is the initial configuration of the joint, at which MuJoCo's balls and free joints have no force.
    """
    for element in system.elements:
        if isinstance(element, TorsionSpring) and element.joint == name:
            simple = max(len(element.curve), len(element.damping_curve)) <= ORDERS
            if simple and evaluate(element.damping) == 0.0:
                return element
        if isinstance(element, Bushing) and element == _bushing(element, joint, q0):
            return element
    return None


def _bushing(element: Bushing, joint: Joint, q0: Sequence[float]) -> Bushing | None:
    """The spring of a ball or free joint with the stiffness of `element`; None for other joints."""
    k = element.turning_stiffness[0]
    if joint.kind not in ("spherical", "free"):
        return None
    free = joint.kind == "free"
    home = Pose(quat_to_rotation(q0[3:]), tuple(q0[:3])) if free else evaluate_all(joint.placement)
    along = (k, k, k) if free else (0.0, 0.0, 0.0)
    return Bushing(
        element.name,
        joint.parent,
        joint.child,
        along,
        turning_stiffness=(k, k, k),
        placement_a=home,
        placement_b=IDENTITY if free else evaluate_all(joint.child_placement),
    )


def _joint_springs(target: Target) -> list[TorsionSpring | Bushing]:
    """The springs that are attributes of joints."""
    marked = {node.get("name"): node for node in target.root.iter("joint") if "stiffness" in node.attrib}
    found: dict[str, TorsionSpring | Bushing] = {}
    for element in target.system.elements:
        if isinstance(element, (TorsionSpring, Bushing)):
            joint = element.joint if isinstance(element, TorsionSpring) else _joint_of(element, target.system)
            if joint in marked:
                found.setdefault(joint, element)
    return list(found.values())


def _joint_of(element: Bushing, system: System) -> str:
    pairs = {(joint.parent, joint.child): joint for joint in system.robot.joints}
    joint = pairs.get((element.body_a, element.body_b))
    return joint.name if joint is not None and joint.kind in ("spherical", "free") else ""


# ── drives ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _actuator(element: Actuator, target: Target) -> str | None:
    data: dict[str, str] | str = _acts_on(element, target)
    if isinstance(data, str):
        return data
    low, high = element.efforts
    if math.isfinite(low) or math.isfinite(high):
        data["forcerange"] = numbers((max(low, -FAR), min(high, FAR)))
    if math.isfinite(element.lower) or math.isfinite(element.upper):
        data["ctrlrange"] = numbers((max(element.lower, -FAR), min(element.upper, FAR)))
    tag = {"effort": "motor", "position": "position", "velocity": "velocity"}.get(element.control, "general")
    if element.activation is not None or tag == "general":
        tag = "general"
        data |= _general(element)
    elif tag == "position":
        data |= {"kp": number(element.gain), "kv": number(element.damping)}
    elif tag == "velocity":
        data["kv"] = number(element.gain)
    etree.SubElement(target.section("actuator"), tag, name=element.name, **data)
    return None


def _acts_on(element: Actuator, target: Target) -> dict[str, str] | str:
    """The attributes that name what an actuator acts on; or why it is left out."""
    gear = element.gear if isinstance(element.gear, tuple) else (element.gear,)
    data = {"gear": numbers(gear)}
    inside = element.axes == "parent"
    if element.tendon:
        return {"tendon": element.tendon, **data}
    if element.joint:
        if element.joint not in target.names("joint"):
            return "on joints that MuJoCo does not have"
        return {"jointinparent" if inside else "joint": element.joint, **data}
    robot = target.system.robot
    if element.frame in robot.body_names and not element.reference:
        joint = robot.parent_joint[element.frame]
        turning = {"jointinparent" if inside else "joint": joint.name, **data}
        if joint.kind == "free" and joint.name in target.names("joint") and (inside or not any(gear[:3])):
            return turning
    if inside:
        return "along the axes of the world, on bodies without a free joint"
    found = {"site": _site(element.frame, element, target), **data}
    return found | ({"refsite": _site(element.reference, element, target)} if element.reference else {})


def _site(frame: str, element: Actuator, target: Target) -> str:
    """The name of the site at a frame; a site is added at the origin of a body."""
    if frame in {one.name for one in target.system.robot.frames}:
        return frame
    name = f"{element.name}~{frame}"
    etree.SubElement(target.nodes[frame], "site", name=name, group="4")
    return name


def _general(element: Actuator) -> dict[str, str]:
    """The attributes of gain, bias and activation of a <general> actuator."""
    gains, bias = {
        "effort": ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        "position": ((element.gain, 0.0, 0.0), (0.0, -element.gain, -element.damping)),
        "velocity": ((element.gain, 0.0, 0.0), (0.0, 0.0, -element.gain)),
    }.get(element.control, (element.gains, element.bias))
    data = {
        "gaintype": "affine" if any(gains[1:]) else "fixed",
        "gainprm": numbers(gains),
        "biastype": "affine" if any(bias) else "none",
        "biasprm": numbers(bias),
    }
    activation = element.activation
    if activation is None:
        return data
    if isinstance(activation, Integrating):
        data["dyntype"] = "integrator"
    else:
        data |= {"dyntype": "filterexact", "dynprm": number(activation.time)}
    if math.isfinite(activation.lower) or math.isfinite(activation.upper):
        data["actrange"] = numbers((max(activation.lower, -FAR), min(activation.upper, FAR)))
    return data


def _tendon(element: Tendon, target: Target) -> str | None:
    if max(len(element.curve), len(element.damping_curve)) > ORDERS:
        return "with springs of higher than third order"
    if any(joint not in target.names("joint") for joint in element.joints):
        return "on joints that MuJoCo does not have"
    data = {"name": element.name}
    if element.stiffness or element.curve:
        data["stiffness"] = numbers((element.stiffness, *element.curve))
        data["springlength"] = numbers(dict.fromkeys(element.rests))
    if element.damping or element.damping_curve:
        data["damping"] = numbers((element.damping, *element.damping_curve))
    if element.friction:
        data["frictionloss"] = number(element.friction)
    for key, (low, high) in (("range", (element.lower, element.upper)), ("actuatorfrcrange", element.efforts)):
        if math.isfinite(low) or math.isfinite(high):
            data[key] = numbers((max(low, -FAR), min(high, FAR)))
    data |= kept(target.system, element) or {}
    node = etree.SubElement(target.section("tendon"), "fixed", **data)
    for joint, coefficient in zip(element.joints, element.coefficients, strict=True):
        etree.SubElement(node, "joint", joint=joint, coef=number(coefficient))
    return None


def _constraint(element: Constraint, target: Target) -> str | None:
    """Writes a polynomial of joints or tendons as an equality, which is soft in MuJoCo."""
    rows = element.rows if isinstance(element.rows, tuple) else ()
    found = Polynomial.of(rows[0]) if len(rows) == 1 else None
    if found is None or any(joint not in target.names("joint") for side in found.sides for _, joint in side):
        return "that are no polynomials of joints of MuJoCo"
    robot, q0 = target.system.robot, target.system.initial_state()[0]
    starts = [sum(factor * q0[robot.q_slice(joint).start] for factor, joint in side) for side in found.sides]
    polynomial = numbers(found.measured_from(starts))
    single = [side[0][1] for side in found.sides if len(side) == 1 and side[0][0] == 1.0]
    kind, names = "joint", single
    if len(single) < len(found.sides):
        sums = {tuple(zip(one.coefficients, one.joints, strict=True)): one.name for one in _tendons_of(target)}
        kind, names = "tendon", [sums[tuple(side)] for side in found.sides if tuple(side) in sums]
    if len(names) < len(found.sides):
        return "of tendons that the model does not have"
    own = kept(target.system, element) or {}
    ends = {f"{kind}{k + 1}": name for k, name in enumerate(names)}
    etree.SubElement(target.section("equality"), kind, name=element.name, polycoef=polynomial, **ends, **own)
    return None


def _tendons_of(target: Target) -> list[Tendon]:
    """The tendons that are written."""
    return [one for one in target.system.elements if isinstance(one, Tendon) and one.name in target.names("fixed")]


def _weight_support(element: WeightSupport, target: Target) -> str | None:
    for name in element.bodies or target.system.robot.body_names:
        if name in target.nodes:
            node = target.nodes[name]
            node.set("gravcomp", number(float(node.get("gravcomp", "0")) + float(evaluate(element.share))))
    return None


def _fluid(element: Fluid, target: Target) -> str | None:
    option = target.section("option")
    if "density" in option.attrib or "viscosity" in option.attrib:
        return "beside another fluid"
    wet = {part.body for part in element.parts}
    robot = target.system.robot
    dry = [body.name for body in robot.bodies if evaluate(body.mass) >= LEAST and fixed_pose(robot, body.name) is None]
    if not wet.issuperset(dry):
        return "that act on some of the bodies only"
    boxes = [part for part in element.parts if isinstance(part, DragBox)]
    if not all(_turn_inertia(target.nodes[part.body], part) for part in boxes):
        return "with boxes that have another inertia than their bodies"
    option.set("density", number(element.density))
    option.set("viscosity", number(element.viscosity))
    option.set("wind", numbers(evaluate_all(element.wind)))
    for part in element.parts:
        half, node = evaluate_all(part.half), target.nodes[part.body]
        if isinstance(part, DragBox):
            continue
        coefficients = (part.blunt, part.slender, part.angular, part.kutta, part.magnus)
        size = {"type": "ellipsoid", "size": numbers(half), "mass": "0", "group": "4"}
        off = {"contype": "0", "conaffinity": "0", "fluidshape": "ellipsoid", "fluidcoef": numbers(coefficients)}
        place(etree.SubElement(node, "geom", **size, **off), evaluate_all(part.placement))
    return None


def _turn_inertia(node: Node, part: DragBox) -> bool:
    """Writes the inertia of a body about the axes of its box in the fluid; False if the box is not that of the inertia,
    which is the one of MuJoCo.
    """
    inertial, at = node.find("inertial"), evaluate_all(part.placement)
    if inertial is None:
        return False
    quat = [float(x) for x in inertial.get("quat", "1 0 0 0").split()]
    xx, yy, zz, *mixed = (float(x) for x in (inertial.get("fullinertia") or inertial.get("diaginertia", "")).split())
    xy, xz, yz = mixed or (0.0, 0.0, 0.0)
    R: Array = np.array(quat_to_rotation(quat))
    inertia = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
    turned = np.array(at.R).T @ inertia @ np.array(at.R)
    box = equal_box(float(inertial.get("mass")), np.diag(turned).tolist())
    center = [float(x) for x in inertial.get("pos", "0 0 0").split()]
    if np.abs(turned - np.diag(np.diag(turned))).max() > ROUNDING * np.abs(turned).max() or not (
        np.allclose(box, evaluate_all(part.half), rtol=ROUNDING, atol=0.0) and np.allclose(center, at.p, rtol=ROUNDING)
    ):
        return False
    inertial.attrib.pop("fullinertia", None)
    inertial.set("quat", numbers(rotation_to_quat(at.R)))
    inertial.set("diaginertia", numbers(np.diag(turned)))
    return True


# ── sensors ───────────────────────────────────────────────────────────────────────────────────────────────────────────

FRAME_SENSORS = {
    "position": "framepos",
    "orientation": "framequat",
    "velocity": "framelinvel",
    "rate": "frameangvel",
}


def _meter(element: Meter, target: Target) -> str | None:
    group, _, name = element.signal.partition(".")
    owner, _, what = element.signal.rpartition(".")
    section = target.section("sensor")
    if element.signal == "t":
        etree.SubElement(section, "clock", name=element.name)
    elif group in ("q", "v") and name in target.names("joint"):
        etree.SubElement(section, "jointpos" if group == "q" else "jointvel", name=element.name, joint=name)
    elif what in ("length", "rate") and owner in target.names("fixed"):
        etree.SubElement(section, "tendonpos" if what == "length" else "tendonvel", name=element.name, tendon=owner)
    elif what == "force" and owner in {node.get("name") for node in target.section("actuator")}:
        etree.SubElement(section, "actuatorfrc", name=element.name, actuator=owner)
    else:
        return "of other signals"
    return None


def _probe(element: Probe, target: Target) -> str | None:
    sites = target.names("site")
    at, section = evaluate_all(element.point), target.section("sensor")
    if element.axes == "own" and element.quantity in ("velocity", "rate") and element.body in sites and not any(at):
        tag = "velocimeter" if element.quantity == "velocity" else "gyro"
        etree.SubElement(section, tag, name=element.name, site=element.body)
    elif element.quantity in FRAME_SENSORS and element.axes == "world" and element.body != "world":
        bodies = target.system.robot.body_names
        center = element.body in bodies and at == evaluate_all(target.system.robot.body(element.body).com)
        if any(at) and not (center and element.quantity != "orientation"):
            return "at points of bodies"
        kind = "site" if element.body not in bodies else "body" if any(at) else "xbody"
        tag = FRAME_SENSORS[element.quantity]
        etree.SubElement(section, tag, name=element.name, objtype=kind, objname=element.body)
    else:
        return "of other quantities"
    return None


def _imu(element: IMU, target: Target) -> str | None:
    if element.body not in target.names("site"):
        return "on bodies"
    etree.SubElement(target.section("sensor"), "accelerometer", name=element.name, site=element.body)
    return None


def _force(element: ForceTorqueSensor, target: Target) -> str | None:
    if not element.frame:
        return "in the frame of a joint"
    etree.SubElement(target.section("sensor"), "force", name=element.name, site=element.frame)
    return None


def _mass_center(element: MassCenter, target: Target) -> str | None:
    if element.body not in target.nodes:
        return "of bodies that are not written"
    tag = "subtreecom" if element.quantity == "position" else "subtreelinvel"
    etree.SubElement(target.section("sensor"), tag, name=element.name, body=element.body)
    return None


SENSORS: dict[type[Any], Callable[[Any, Target], str | None]] = {
    Meter: _meter,
    Probe: _probe,
    IMU: _imu,
    ForceTorqueSensor: _force,
    MassCenter: _mass_center,
}
WRITERS: dict[type[Any], Callable[[Any, Target], str | None]] = {
    Actuator: _actuator,
    Tendon: _tendon,
    Constraint: _constraint,
    WeightSupport: _weight_support,
    Fluid: _fluid,
    **SENSORS,
}
