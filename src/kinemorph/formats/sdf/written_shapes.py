"""Writes shapes and surfaces of links as <visual> and <collision> of an SDF file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lxml import etree

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.algebra.roll_pitch_yaw import angles_of_rotation
from kinemorph.formats.gazebo_surfaces import ALL_GROUPS, GazeboNumbers, gazebo_numbers
from kinemorph.formats.xml_documents import Node
from kinemorph.formats.xml_writing import number, numbers
from kinemorph.model.body import Body
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.shapes import (
    STEEL,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Frustum,
    HalfSpace,
    Line,
    MeshFile,
    Shape,
    Sphere,
    Triangle,
)

Solid = tuple[str, dict[str, str]]  # the tag in <geometry>, and the texts of the tags in it


def _round(shape: Any) -> dict[str, str]:
    return {"radius": number(evaluate(shape.radius)), "length": number(evaluate(shape.length))}


SOLIDS: dict[type[Any], Callable[[Any], Solid]] = {
    Box: lambda shape: ("box", {"size": numbers(evaluate_all(shape.size))}),
    Ellipsoid: lambda shape: ("ellipsoid", {"radii": numbers(evaluate_all(shape.radii))}),
    Sphere: lambda shape: ("sphere", {"radius": number(evaluate(shape.radius))}),
    Cylinder: lambda shape: ("cylinder", _round(shape)),
    Capsule: lambda shape: ("capsule", _round(shape)),
    HalfSpace: lambda shape: ("plane", {"normal": "0 0 1", "size": numbers(2.0 * x or 100.0 for x in shape.size)}),
    MeshFile: lambda shape: ("mesh", {"uri": shape.source, "scale": numbers(shape.scale)}),
}


def write_shapes(link: Node, body: Body, lack: Callable[[str], None]) -> list[str]:
    """Writes the shapes of a body that SDF has; returns the keys of those of which some are not the same in SDF.

    `lack` is called with a text that says what SDF does not have.
    """
    lost = []
    for tag, key in (("visual", "shapes"), ("collision", "collisions")):
        said = [_shape(link, tag, k, shape, lack) for k, shape in enumerate(getattr(body, key))]
        lost += [] if all(said) else [key]
    return lost


def _shape(link: Node, tag: str, k: int, shape: Shape, lack: Callable[[str], None]) -> bool:
    """Writes shape number k of a link; returns False if SDF cannot express it, or how it touches."""
    solid = _solid(shape, tag)
    if solid is None:
        lack(f"shapes of type {type(shape).__name__}")
        return False
    node = etree.SubElement(link, tag, name=f"{tag}{k}")
    place(node, evaluate_all(shape.placement))
    kind, sizes = solid
    inside = etree.SubElement(etree.SubElement(node, "geometry"), kind)
    for key, text in sizes.items():
        etree.SubElement(inside, key).text = text
    if tag == "visual" and shape.color != STEEL:
        etree.SubElement(etree.SubElement(node, "material"), "diffuse").text = numbers((*shape.color, 1.0)[:4])
    if tag == "collision" and not isinstance(shape, (Line, Triangle)):
        touching = gazebo_numbers(shape.surface, ground=isinstance(shape, HalfSpace))
        if touching is None:
            lack("such surfaces of collision shapes")
            return False
        _surface(node, touching)
    return True


def _solid(shape: Shape, tag: str) -> Solid | None:
    """The tag of a shape and the texts in it; None if SDF has no such shape."""
    if isinstance(shape, Frustum) and evaluate(shape.top) == 0.0:
        return "cone", {"radius": number(evaluate(shape.bottom)), "length": number(evaluate(shape.length))}
    write = SOLIDS.get(type(shape))
    return None if write is None or (tag == "visual" and isinstance(shape, HalfSpace)) else write(shape)


def _surface(node: Node, touching: GazeboNumbers) -> None:
    """Writes the <surface> of a collision shape, unless it is the default."""
    if touching == GazeboNumbers():
        return
    surface = etree.SubElement(node, "surface")
    if touching.mu is not None:
        ode = etree.SubElement(etree.SubElement(surface, "friction"), "ode")
        for tag in ("mu", "mu2"):
            etree.SubElement(ode, tag).text = number(touching.mu)
    if touching.kp is not None or touching.mask != ALL_GROUPS:
        contact = etree.SubElement(surface, "contact")
        if touching.mask != ALL_GROUPS:
            etree.SubElement(contact, "collide_bitmask").text = str(touching.mask)
        if touching.kp is not None:
            ode = etree.SubElement(contact, "ode")
            etree.SubElement(ode, "kp").text = number(touching.kp)
            etree.SubElement(ode, "kd").text = number(touching.kd or 0.0)


def place(node: Node, pose: Pose, relative_to: str = "") -> None:
    """Writes the <pose> of a node, unless it is the identity relative to the default frame."""
    if relative_to or pose != IDENTITY:
        named = {"relative_to": relative_to} if relative_to else {}
        etree.SubElement(node, "pose", **named).text = numbers(_pose(pose))


def _pose(pose: Pose) -> Iterable[float]:
    return (*pose.p, *angles_of_rotation(pose.R))
