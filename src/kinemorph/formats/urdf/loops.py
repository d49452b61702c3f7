"""Loops of extensions of URDF: a joint between two links that already hang in the tree.

Three dialects say the same, a kind of joint with its frame on either link:

    <loop_joint name type> <link1 link xyz rpy/> <link2 link xyz rpy/> [<axis xyz/>]         Isaac Sim; early Drake
    <loop name type> <predecessor link><origin/></predecessor> <successor ...> [<axis/>]     URDF+, arXiv 2411.19753
    <constraint name type> <parent link/> <parent_origin/> <child link/> <child_origin/>     proposed to urdfdom (264)
                           [<parent_axis/>]

Types are those of joints. The axis is given in the frame on the first link.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.formats.urdf.cursor import Reading
from kinemorph.formats.urdf.joints import PITCHES, no_end, read_kind, shape_motion
from kinemorph.formats.xml_documents import Node, line_of


class Dialect(NamedTuple):
    """The tags of one dialect: both ends, the poses where they stand apart, the axis."""

    ends: tuple[str, str]
    origins: tuple[str, str]
    axis: str


DIALECTS = {
    "loop_joint": Dialect(("link1", "link2"), ("", ""), "axis"),
    "loop": Dialect(("predecessor", "successor"), ("", ""), "axis"),
    "constraint": Dialect(("parent", "child"), ("parent_origin", "child_origin"), "parent_axis"),
}


class ReadLoop(NamedTuple):
    """A loop as it was read: both links, and what `Blueprint.joint` takes."""

    line: int
    name: str
    kind: str
    ends: tuple[str, str]
    data: dict[str, Any]

    def directed(self, depth: Mapping[str, int]) -> tuple[str, str, dict[str, Any]]:
        """(parent, child, data) from the link farther from the root to the nearer, so that the tree stays the file's.

        The constraint of a loop is the same seen from either link; only a universal joint swaps its axes.
        """
        first, second = self.ends
        if depth[first] >= depth[second]:
            return first, second, self.data
        data = dict(self.data)
        data["placement"] = self.data.get("child_placement", IDENTITY)
        data["child_placement"] = self.data.get("placement", IDENTITY)
        if self.kind == "universal":
            data["axis"], data["axis2"] = data["axis2"], data["axis"]
        return second, first, data


def read_loop(node: Node, reading: Reading) -> ReadLoop | None:
    """A joint that closes a loop; None, with findings, where data are missing."""
    dialect = DIALECTS[node.tag]
    name = node.get("name")
    element = f"{node.tag} '{name}'"
    if not name or name.isspace():
        reading.values.word(node, "name", node.tag)
        return None
    kind = read_kind(node, node.get("type"), element, reading)
    parts: dict[str, Node] = {}
    for part in node:
        if isinstance(part.tag, str):
            parts.setdefault("pitch" if part.tag in PITCHES else part.tag, part)
    ends, poses = [], []
    for end, apart in zip(dialect.ends, dialect.origins, strict=True):
        part = parts.get(end)
        name = (part is not None and part.get("link")) or no_end(node, part, end, element, reading)
        if part is None:
            return None
        ends.append(name)
        poses.append(_pose(parts.get(apart) if apart else part, element, reading))
    if kind is None or not all(ends):
        return None
    if kind == "free":
        problem = "it is free, so it constrains nothing, expected another type"
        reading.at(node, element).error("loop", problem, "Remove it.")
        return None
    data: dict[str, Any] = {"placement": poses[0], "child_placement": poses[1]}
    if dialect.axis in parts:
        parts["axis"] = parts[dialect.axis]
    if kind != "fixed":
        shape_motion(node, kind, data, parts, element, reading)
    return ReadLoop(line_of(node), name, kind, (ends[0], ends[1]), data)


def _pose(node: Node | None, element: str, reading: Reading) -> Pose:
    """The pose of one end: of its <origin>, or of its own attributes."""
    if node is None:
        return IDENTITY
    inner = node.find("origin")
    if inner is not None:
        return reading.origin(inner, element)
    return reading.origin(node, element, ("xyz", "rpy", "link"))
