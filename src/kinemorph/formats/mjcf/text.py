"""Poses of an MJCF file, and the number that stands for infinity in it."""

from __future__ import annotations

from kinemorph.algebra.groups import IDENTITY, Pose, rotation_to_quat
from kinemorph.formats.xml_documents import Node
from kinemorph.formats.xml_writing import numbers

FAR = 1e10  # [rad] or [m], [N] or [N m]: written instead of infinity where there is a limit in one direction only


def place(node: Node, pose: Pose) -> None:
    """Writes `pos` and `quat` of a node, each unless it is that of the identity."""
    if any(pose.p):
        node.set("pos", numbers(pose.p))
    if pose.R != IDENTITY.R:
        node.set("quat", numbers(rotation_to_quat(pose.R)))
