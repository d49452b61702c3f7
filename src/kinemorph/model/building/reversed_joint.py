"""A reversed joint: parent and child are exchanged, and the motion is the same.

With T = placement X(q) child_placement^-1 the reversed joint is T^-1 = child_placement X(q)^-1 placement^-1, so the two
placements are exchanged and the motion X is inverted:

    revolute, prismatic, helical, cylindrical   the axis changes sign, q does not change
    universal                                   the axes are exchanged and change sign, the coordinates are exchanged
    gimbal                                      the order is reversed; the coordinates are exchanged and change sign
    spherical, planar, free                     the coordinates become those of the inverse motion
    point_on_line, point_on_plane               not possible: the line or plane belongs to the parent

Some data, such as a limit of x of a planar joint, cannot be expressed for the reversed joint; see `obstacles`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinemorph.model.joint import Axis, Joint

# kinds whose coordinates are inverted: which entries of v are linear, and which are angular
PARTS = {"spherical": ((), (0, 1, 2)), "planar": ((0, 1), (2,)), "free": ((0, 1, 2), (3, 4, 5))}
ONE_WAY = ("point_on_line", "point_on_plane")
# data per velocity: name, value that means "none", and whether equal values for all axes are the same in rotated axes
PER_VELOCITY = (
    ("damping", 0.0, True),
    ("friction", 0.0, False),
    ("armature", 0.0, True),
    ("velocity", float("inf"), False),
    ("effort", float("inf"), False),
)


def reversed_joint(joint: Joint) -> Joint:
    """The joint with parent and child exchanged and its motion inverted."""
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
    if joint.kind == "gimbal":
        swapped = {key: getattr(joint, key)[::-1] for key, _, _ in PER_VELOCITY}
        swapped |= {"lower": tuple(-x for x in joint.upper[::-1]), "upper": tuple(-x for x in joint.lower[::-1])}
        return replace(turned, order=joint.order[::-1], **swapped)
    return replace(turned, axis=opposite(joint.axis)) if joint.motion.axes else turned


def opposite(axis: Axis) -> Axis:
    """The axis in the opposite direction."""
    return (0.0 - axis[0], 0.0 - axis[1], 0.0 - axis[2])  # gives 0.0, not -0.0


def obstacles(joint: Joint) -> list[tuple[str, str]]:
    """The reasons why a joint cannot be reversed, each with its remedy; empty if it can."""
    if joint.kind in ONE_WAY:
        what = f"a {joint.kind} joint cannot be reversed, because its line or plane belongs to '{joint.parent}'"
        return [(what, f"Connect body '{joint.parent}' to the world by another joint.")]
    if joint.kind not in PARTS:
        return []
    linear, angular = PARTS[joint.kind]
    found = []
    for key, none, even in PER_VELOCITY:
        values = getattr(joint, key)
        turns = [values[i] for i in angular]
        kept = len(turns) == 1 or all(value == none for value in turns) or (even and len(set(turns)) == 1)
        if any(values[i] != none for i in linear) or not kept:
            what = f"{key} {values} of a {joint.kind} joint cannot be expressed for the reversed joint"
            found.append((what, f"Leave {key} out."))
    if joint.kind == "planar" and any(np.isfinite((*joint.lower[:2], *joint.upper[:2]))):
        what = "limits on x and y of a planar joint cannot be expressed for the reversed joint"
        found.append((what, "Leave these limits out."))
    return found
