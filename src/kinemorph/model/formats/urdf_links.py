"""URDF links: mass data about the center of mass, turned into the link's frame; shapes to draw and to touch with."""

from __future__ import annotations

import math
from typing import Any

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.algebra.vectors import Mat
from kinemorph.model.formats.urdf_reading import Reading
from kinemorph.model.formats.urdf_shapes import ShapeReader
from kinemorph.model.formats.xml_documents import Node, line_of

ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def read_link(node: Node, reading: Reading, shapes: ShapeReader) -> dict[str, Any] | None:
    """What `Blueprint.body` takes, with the name and the line; None, with a finding, for a link without a name.

    What it looks like and touches with is left to `shapes`.
    """
    name = node.get("name")
    if not name or name.isspace():
        reading.values.word(node, "name", "link")
        return None
    element = f"link '{name}'"
    body: dict[str, Any] = {"line": node.sourceline or 0, "name": name}
    solids = None
    for part in node:
        tag = part.tag
        if tag == "visual" or tag == "collision":
            if solids is None:
                solids = shapes.solids[name] = []
            solids.append(part)
        elif tag == "inertial" and "mass" not in body:
            body["mass"] = 0.0
            _inertial(part, body, element, reading)
        else:
            reading.other(part, "link", element)
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
    if mass is None or moments is None:
        for tag in [tag for tag, part in (("mass", mass), ("inertia", moments)) if part is None]:
            reading.findings.error(
                "structure",
                line_of(node),
                element,
                f"<inertial> has no <{tag}>, expected one",
                f"Add <{tag}>, or remove <inertial> for a link without mass.",
            )
        return
    get = moments.get
    texts = (get("ixx"), get("ixy"), get("ixz"), get("iyy"), get("iyz"), get("izz"))
    try:
        entries = [*map(float, texts)]
        usual = math.isfinite(sum(entries)) and "_" not in "".join(texts)
    except (TypeError, ValueError):
        usual = False
    if not usual:
        entries = [reading.values.number(moments, key, element) for key in ENTRIES]
    body["mass"] = reading.values.number(mass, "value", element)
    if pose is None:
        pose = IDENTITY
    body["com"] = pose.p
    body["inertia"] = turned(pose.R, *entries)


def turned(
    R: Mat, xx: float, xy: float, xz: float, yy: float, yz: float, zz: float
) -> tuple[tuple[float, float, float], ...]:
    """R I R^T of these moments and products, exactly symmetric, shape (3, 3)."""
    if R is IDENTITY.R:
        return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    (a, b, c), (d, e, f), (g, h, i) = R
    (p, q, r), (s, t, u), (v, w, x) = (
        (k * xx + m * xy + n * xz, k * xy + m * yy + n * yz, k * xz + m * yz + n * zz) for k, m, n in R
    )
    ab, ac, bc = p * d + q * e + r * f, p * g + q * h + r * i, s * g + t * h + u * i
    return (
        (p * a + q * b + r * c, ab, ac),
        (ab, s * d + t * e + u * f, bc),
        (ac, bc, v * g + w * h + x * i),
    )
