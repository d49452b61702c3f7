"""URDF links: mass data about the center of mass, turned into the link's frame; shapes to draw and to touch with."""

from __future__ import annotations

from typing import Any

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.model.formats.urdf_reading import Reading
from kinemorph.model.formats.urdf_shapes import ShapeReader
from kinemorph.model.formats.xml_documents import Node, line_of

ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def read_link(node: Node, reading: Reading, shapes: ShapeReader) -> dict[str, Any] | None:
    """What `Blueprint.body` takes, with the name and the line; None, with a finding, for a link without a name."""
    name = node.get("name")
    element = f"link '{name}'"
    if not name or name.isspace():
        reading.values.word(node, "name", "link")
        return None
    seen: list[Any] = []
    looks: list[Any] = []
    touches: list[Any] = []
    body: dict[str, Any] = {"line": line_of(node), "name": name}
    for part in node:
        tag = part.tag
        if tag == "visual":
            looks.append(shapes.shape(part, element))
        elif tag == "collision":
            touches.append(shapes.shape(part, element))
        elif tag == "inertial" and not seen:
            seen.append(part)
            _inertial(part, body, element, reading)
        else:
            reading.other(part, "link", element)
    if looks:
        body["shapes"] = tuple([shape for shape in looks if shape is not None])
    if touches:
        body["collisions"] = tuple([shape for shape in touches if shape is not None])
    return body


def _inertial(node: Node, body: dict[str, Any], element: str, reading: Reading) -> None:
    """Fills in mass [kg], com [m] and inertia [kg m^2] about the com in the link's axes."""
    pose: Pose | None = None
    mass: Node = None
    moments: Node = None
    for part in node:
        tag = part.tag
        if tag == "origin" and pose is None:
            pose = reading.origin(part, element)
        elif tag == "mass" and mass is None:
            mass = part
        elif tag == "inertia" and moments is None:
            moments = part
        else:
            reading.other(part, "inertial", element)
    for tag, part in (("mass", mass), ("inertia", moments)):
        if part is None:
            reading.findings.error(
                "structure",
                line_of(node),
                element,
                f"<inertial> has no <{tag}>, expected one",
                f"Add <{tag}>, or remove <inertial> for a link without mass.",
            )
            return
    number = reading.values.number
    body["mass"] = number(mass, "value", element)
    body["inertia"] = turned(pose or IDENTITY, tuple([number(moments, key, element) for key in ENTRIES]))
    if pose is not None:
        body["com"] = pose.p


def turned(pose: Pose, entries: tuple[float, ...]) -> tuple[tuple[float, ...], ...]:
    """R I R^T of the entries xx xy xz yy yz zz, exactly symmetric, shape (3, 3)."""
    xx, xy, xz, yy, yz, zz = entries
    if pose.R is IDENTITY.R:
        return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    moved = [(a * xx + b * xy + c * xz, a * xy + b * yy + c * yz, a * xz + b * yz + c * zz) for a, b, c in pose.R]
    (a, b, c), (d, e, f), (g, h, i) = pose.R
    (p, q, r), (s, t, u), (v, w, x) = moved
    full = (p * d + q * e + r * f, p * g + q * h + r * i, s * g + t * h + u * i)
    return (
        (p * a + q * b + r * c, full[0], full[1]),
        (full[0], s * d + t * e + u * f, full[2]),
        (full[1], full[2], v * g + w * h + x * i),
    )
