"""A joint reversed: parent and child exchanged, the same motion.

With T = placement X(q) child_placement^-1 the reversed joint is T^-1 = child_placement X(q)^-1 placement^-1, so the two
placements change places and the motion is inverted:

    revolute, prismatic, helical, cylindrical   the axis changes sign, q stays
    universal                                   the axes change places and sign, so do the coordinates
    spherical, planar, free                     the coordinates become those of the inverse motion
    point_on_line, point_on_plane               none: the line and the plane belong to the parent

Data that mean something else in reverse are obstacles.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinemorph.model.joint import Axis, Joint

# per kind with an inverse motion: which entries of v are linear, which angular
PARTS = {"spherical": ((), (0, 1, 2)), "planar": ((0, 1), (2,)), "free": ((0, 1, 2), (3, 4, 5))}
ONE_WAY = ("point_on_line", "point_on_plane")
# data per velocity, the value that means "none", and whether equal values about all axes survive a rotation
PER_VELOCITY = (
    ("damping", 0.0, True),
    ("friction", 0.0, False),
    ("armature", 0.0, True),
    ("velocity", float("inf"), False),
    ("effort", float("inf"), False),
)


def reversed_joint(joint: Joint) -> Joint:
    """The joint with parent and child exchanged and the motion inverted."""
    turned = replace(
        joint,
        parent=joint.child,
        child=joint.parent,
        placement=joint.child_placement,
        child_placement=joint.placement,
    )
    if joint.kind == "planar":  # only the angle may have limits, see obstacles
        low, high = joint.lower[2], joint.upper[2]
        return replace(turned, lower=(*joint.lower[:2], -high), upper=(*joint.upper[:2], -low))
    if joint.kind == "universal":
        per_coordinate = ("lower", "upper", *(key for key, _, _ in PER_VELOCITY))
        swapped: dict[str, Any] = {key: getattr(joint, key)[::-1] for key in per_coordinate}
        return replace(turned, axis=opposite(joint.axis2), axis2=opposite(joint.axis), **swapped)
    return replace(turned, axis=opposite(joint.axis)) if joint.table.axes else turned


def opposite(axis: Axis) -> Axis:
    """The axis in the opposite direction."""
    return (0.0 - axis[0], 0.0 - axis[1], 0.0 - axis[2])  # keeps 0.0 free of a sign


def obstacles(joint: Joint) -> list[tuple[str, str]]:
    """Data that mean something else once the motion is inverted: what is wrong and the remedy."""
    if joint.kind in ONE_WAY:
        what = f"a {joint.kind} joint cannot be reversed, since its line or plane belongs to '{joint.parent}'"
        return [(what, f"Let body '{joint.parent}' hang elsewhere.")]
    if joint.kind not in PARTS:
        return []
    linear, angular = PARTS[joint.kind]
    found = []
    for key, none, even in PER_VELOCITY:
        values = getattr(joint, key)
        turns = [values[i] for i in angular]
        kept = len(turns) == 1 or all(value == none for value in turns) or (even and len(set(turns)) == 1)
        if any(values[i] != none for i in linear) or not kept:
            found.append((f"{key} {values} of a {joint.kind} joint has no counterpart in reverse", "Remove it."))
    if joint.kind == "planar" and any(np.isfinite((*joint.lower[:2], *joint.upper[:2]))):
        found.append(("limits on x and y of a planar joint have no counterpart in reverse", "Remove them."))
    return found
