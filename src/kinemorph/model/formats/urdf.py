"""URDF: links and joints as ROS writes them.

T_parent_child = origin * motion(q): the joint frame is the child's frame, so child placements are the identity.
"""

from __future__ import annotations

from kinemorph.algebra.groups import Pose
from kinemorph.algebra.roll_pitch_yaw import rotation_of_angles
from kinemorph.algebra.vectors import matmul
from kinemorph.model.formats.blueprint import Blueprint
from kinemorph.model.formats.findings import Findings
from kinemorph.model.formats.sources import Options, Source
from kinemorph.model.formats.xml_documents import Node, line_of, parse
from kinemorph.model.formats.xml_values import Values
from kinemorph.model.system import System
from kinemorph.model.topology import WORLD

KINDS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "fixed"}


def read(source: Source, options: Options, findings: Findings) -> System | None:
    """The system of a URDF file."""
    root = parse(source, findings)
    if root is None:
        return None
    blueprint = Blueprint(findings, root.get("name") or "robot", line=line_of(root), words={"body": "link"})
    values = Values(findings)
    for node in root.iterchildren("link"):
        _link(node, blueprint, values)
    children = {child.get("link") for child in root.iterfind("joint/child")}
    for node in root.iterchildren("joint"):
        element = f"joint '{node.get('name')}'"
        parent, child = node.find("parent"), node.find("child")
        axis = node.find("axis")
        blueprint.joint(
            line_of(node),
            values.word(node, "name", element),
            KINDS[node.get("type")],
            values.word(parent, "link", element),
            values.word(child, "link", element),
            placement=_origin(node, element, values),
            axis=(1.0, 0.0, 0.0) if axis is None else values.numbers(axis, "xyz", 3, element),
        )
    for node in root.iterchildren("link"):
        if node.get("name") not in children:
            blueprint.joint(line_of(node), f"{node.get('name')}_root", options.base or "fixed", WORLD, node.get("name"))
    return blueprint.system()


def _link(node: Node, blueprint: Blueprint, values: Values) -> None:
    element = f"link '{node.get('name')}'"
    name, inertial = values.word(node, "name", element), node.find("inertial")
    if inertial is None:
        blueprint.body(line_of(node), name)
        return
    pose = _origin(inertial, element, values)
    xx, yy, zz, xy, xz, yz = (
        values.number(inertial.find("inertia"), key, element) for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    )
    moment = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    turned = matmul(matmul(pose.R, moment), tuple(zip(*pose.R, strict=True)))
    mass = values.number(inertial.find("mass"), "value", element)
    blueprint.body(line_of(node), name, mass, com=pose.p, inertia=turned)


def _origin(node: Node, element: str, values: Values) -> Pose:
    origin = node.find("origin")
    if origin is None:
        return Pose(rotation_of_angles(0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    x, y, z = values.numbers(origin, "xyz", 3, element, (0.0, 0.0, 0.0))
    return Pose(rotation_of_angles(*values.numbers(origin, "rpy", 3, element, (0.0, 0.0, 0.0))), (x, y, z))
