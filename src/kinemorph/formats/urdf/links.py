"""Reads URDF links: mass data, which are rotated into the link's axes, and nodes of visual and collision shapes."""

from __future__ import annotations

from typing import TypeAlias

from kinemorph.algebra.groups import IDENTITY
from kinemorph.algebra.vectors import Mat
from kinemorph.formats.urdf.cursor import Placement, Reading
from kinemorph.formats.urdf.shapes import ShapeReader
from kinemorph.formats.xml_documents import Node
from kinemorph.model.body import NO_INERTIA, ORIGIN, Matrix, Vector

NO_ROTATION = IDENTITY.R
MassData: TypeAlias = tuple[float, Vector, Matrix]  # mass [kg], com [m], inertia [kg m^2] about com in the link's axes
MASSLESS: MassData = (0.0, ORIGIN, NO_INERTIA)
ENTRIES = ["ixx", "ixy", "ixz", "iyy", "iyz", "izz"]


ReadLink: TypeAlias = tuple[int, str, MassData | None]  # line, name, mass data or None if there is no <inertial>


def read_link(node: Node, reading: Reading, shapes: ShapeReader) -> ReadLink | None:
    """The link that a <link> declares; its shapes are added to `shapes`. None if it has no name, which is recorded."""
    name = node.get("name")
    if not name or name.isspace():
        reading.values.word(node, "name", "link")
        return None
    inertial, solids = None, None
    for part in node[:]:
        tag = part.tag
        if tag == "visual" or tag == "collision":
            if solids is None:
                solids = shapes.solids[name] = []
            solids.append(part)
        elif tag == "inertial" and inertial is None:
            inertial = _inertial(part, f"link '{name}'", reading)
        elif tag == "contact":
            shapes.contact(name, part)
        else:
            reading.other(part, "link", f"link '{name}'")
    return node.sourceline or 0, name, inertial


def _inertial(node: Node, element: str, reading: Reading) -> MassData:
    """The mass data (mass, com, inertia) of an <inertial>."""
    pose: Placement | None = None
    mass: Node = None
    moments: Node = None
    for part in node[:]:
        tag = part.tag
        if tag == "inertia" and moments is None:
            moments = part
        elif tag == "mass" and mass is None:
            mass = part
        elif tag == "origin" and pose is None:
            pose = reading.placement(part, element)
        else:
            reading.other(part, "inertial", element)
    if mass is None:
        problem = "<inertial> has no <mass>, expected exactly one: no mass is assumed"
        remedy = "Add <mass>, or remove <inertial> if the link has no mass."
        reading.repeated("assumed", "no mass", node, element, problem, remedy)
        return MASSLESS
    if moments is None:
        problem = "<inertial> has no <inertia>, expected exactly one: a point mass is assumed"
        reading.repeated("assumed", "no inertia", node, element, problem, "Add <inertia> with the moments of inertia.")
        mass_value, inertia = reading.values.number(mass, "value", element), NO_INERTIA
    else:
        mass_value, inertia = _numbers(mass, moments, element, reading)
    if pose is None:
        return mass_value, ORIGIN, inertia
    R, p = pose
    return mass_value, p, inertia if R is NO_ROTATION else turned(R, inertia)


def _numbers(mass: Node, moments: Node, element: str, reading: Reading) -> tuple[float, Matrix]:
    """(mass [kg], inertia [kg m^2]) in <mass> and <inertia>."""
    if moments.keys() == ENTRIES:  # the usual case: all attributes are present in the usual order, and valid
        text, texts = mass.get("value"), moments.values()
        try:
            value = float(text)
            xx, xy, xz, yy, yz, zz = texts
            xx, xy, xz, yy, yz, zz = float(xx), float(xy), float(xz), float(yy), float(yz), float(zz)
            finite = (value + xx + xy + xz + yy + yz + zz) * 0.0 == 0.0
            if finite and "_" not in text and "_" not in "".join(texts):
                return value, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        except (TypeError, ValueError):
            pass
    products = [key for key in ENTRIES if key[1] != key[2]]
    missing = [key for key in products if moments.get(key) is None]
    if missing:
        problem = f"<inertia> has no {', '.join(missing)}, expected six numbers: 0 is assumed"
        reading.repeated("assumed", "products", moments, element, problem, f'Write {missing[0]}="0".')
    xx, xy, xz, yy, yz, zz = [
        reading.values.number(moments, key, element, 0.0 if key in products else None) for key in ENTRIES
    ]
    return reading.values.number(mass, "value", element), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


def turned(R: Mat, inertia: Matrix) -> Matrix:
    """The inertia R I R^T in rotated axes, exactly symmetric, shape (3, 3)."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia
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
