"""Writes a URDF document as a model of SDF, so that an SDF file can include it.

The frame of a URDF link is that of its parent joint, and the frame of a joint is given relative to its parent link.
With `relative_to` this is written in SDF without computing a pose. A link without <inertial> has no mass in URDF, where
SDF would assume 1 kg.
"""

from __future__ import annotations

from lxml import etree

from kinemorph.formats.findings import Findings
from kinemorph.formats.xml_documents import Node, line_of
from kinemorph.model.topology import WORLD

VERSION = "1.11"
LIMITS = ("lower", "upper", "effort", "velocity")
NO_MASS = {"mass": "0", **dict.fromkeys(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), "0")}
UNKNOWN = ("floating", "planar")  # types of joints that SDF does not have: their children are free


def as_sdf(robot: Node, findings: Findings) -> Node:
    """The root <sdf> with the model of a <robot>; warns about joints that SDF does not have."""
    root = etree.Element("sdf", version=VERSION)
    model = _below(root, "model", robot, name=robot.get("name") or "robot")
    joints = [joint for joint in robot.iterchildren("joint") if joint.get("type") not in UNKNOWN]
    for joint in robot.iterchildren("joint"):
        if joint.get("type") in UNKNOWN:
            problem = f"SDF has no {joint.get('type')} joints: its child moves freely, as in Gazebo"
            remedy = "Load the URDF file itself to have this joint."
            findings.warn("dropped", line_of(joint), f"joint '{joint.get('name', '')}'", problem, remedy)
    carrier = {child.get("link"): joint.get("name") for joint in joints for child in joint.iterchildren("child")}
    for link in robot.iterchildren("link"):
        if link.get("name") != WORLD:
            _link(model, link, carrier.get(link.get("name")))
    for joint in joints:
        _joint(model, joint)
    return root


def _link(model: Node, link: Node, carrier: str | None) -> None:
    """Adds a link, at the frame of the joint `carrier` that moves it."""
    node = _below(model, "link", link, name=link.get("name") or "")
    if carrier:
        _below(node, "pose", link, relative_to=carrier)
    inertial = link.find("inertial")
    _mass(_below(node, "inertial", link if inertial is None else inertial), inertial)
    for count, shape in enumerate(link.iterchildren("visual", "collision")):
        solid = next(shape.iterfind("geometry/*"), None)
        if solid is None:
            continue
        placed = _below(node, shape.tag, shape, name=f"{shape.tag}{count}")
        _pose(placed, shape.find("origin"))
        inside = _below(_below(placed, "geometry", shape), solid.tag, solid)
        for key, text in solid.attrib.items():
            _below(inside, "uri" if key == "filename" else key, solid).text = text
        color = shape.find("material/color")
        if color is not None:
            _below(_below(placed, "material", color), "diffuse", color).text = color.get("rgba")


def _mass(node: Node, inertial: Node | None) -> None:
    """Writes the mass data of an <inertial>, or none."""
    mass, moments = (None, None) if inertial is None else (inertial.find("mass"), inertial.find("inertia"))
    if inertial is not None:
        _pose(node, inertial.find("origin"))
    _below(node, "mass", node).text = NO_MASS["mass"] if mass is None else mass.get("value")
    inertia = _below(node, "inertia", node)
    for key in list(NO_MASS)[1:]:
        _below(inertia, key, node).text = NO_MASS[key] if moments is None else moments.get(key, NO_MASS[key])


def _joint(model: Node, joint: Node) -> None:
    """Adds a joint, at its pose relative to its parent."""
    node = _below(model, "joint", joint, name=joint.get("name") or "", type=joint.get("type") or "")
    ends = {tag: joint.find(tag) for tag in ("parent", "child")}
    for tag, end in ends.items():
        _below(node, tag, joint).text = "" if end is None else end.get("link")
    above = "" if ends["parent"] is None else ends["parent"].get("link", "")
    _pose(node, joint.find("origin"), relative_to=above)
    if joint.get("type") == "fixed":
        return
    axis = _below(node, "axis", joint)
    given, limit, losses, mimic = (joint.find(tag) for tag in ("axis", "limit", "dynamics", "mimic"))
    _below(axis, "xyz", joint).text = "1 0 0" if given is None else given.get("xyz", "1 0 0")
    if limit is not None:
        bounds = _below(axis, "limit", limit)
        angle = LIMITS[2:] if joint.get("type") == "continuous" else LIMITS
        for key in [key for key in angle if limit.get(key) is not None]:
            _below(bounds, key, limit).text = limit.get(key)
    if losses is not None:
        dynamics = _below(axis, "dynamics", losses)
        for key in [key for key in ("damping", "friction") if losses.get(key) is not None]:
            _below(dynamics, key, losses).text = losses.get(key)
    if mimic is not None:
        following = _below(axis, "mimic", mimic, joint=mimic.get("joint") or "")
        for key, default in (("multiplier", "1"), ("offset", "0")):
            _below(following, key, mimic).text = mimic.get(key, default)
        _below(following, "reference", mimic).text = "0"


def _pose(node: Node, origin: Node | None, **attributes: str) -> None:
    """Writes the pose of an <origin>."""
    xyz, rpy = ("0 0 0", "0 0 0") if origin is None else (origin.get("xyz", "0 0 0"), origin.get("rpy", "0 0 0"))
    _below(node, "pose", node if origin is None else origin, **attributes).text = f"{xyz} {rpy}"


def _below(parent: Node, tag: str, origin: Node, **attributes: str) -> Node:
    """A new element with the line of the URDF element that it comes from."""
    node = etree.SubElement(parent, tag, **attributes)
    if origin.sourceline:
        node.sourceline = origin.sourceline
    return node
