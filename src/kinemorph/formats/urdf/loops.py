"""Reads joints that close loops, which some extensions of URDF have: a joint between two links of the tree.

Three dialects describe such a joint by its type and its frame on each of the two links:

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
    """The tags of one dialect: those of the two links, of their poses ("" if they are in the tags of links), and of
    the axis.
    """

    ends: tuple[str, str]
    origins: tuple[str, str]
    axis: str


DIALECTS = {
    "loop_joint": Dialect(("link1", "link2"), ("", ""), "axis"),
    "loop": Dialect(("predecessor", "successor"), ("", ""), "axis"),
    "constraint": Dialect(("parent", "child"), ("parent_origin", "child_origin"), "parent_axis"),
}


class ReadLoop(NamedTuple):
    """A joint that closes a loop: its two links, and `data` for `Blueprint.joint`."""

    line: int
    name: str
    kind: str
    ends: tuple[str, str]
    data: dict[str, Any]

    def directed(self, depth: Mapping[str, int]) -> tuple[str, str, dict[str, Any]]:
        """(parent, child, data) with the link farther from the root as parent, so that the tree is that of the file.

        `depth` is the number of joints between each link and its root. The constraint of a joint is the same in both
        directions; only a universal joint exchanges its axes.
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
    """The joint that closes a loop, from a node of one of the DIALECTS. None if data are missing, which is recorded."""
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
        link = (part is not None and part.get("link")) or no_end(node, part, end, element, reading)
        if part is None:
            return None
        ends.append(link)
        poses.append(_pose(parts.get(apart) if apart else part, element, reading))
    if kind is None or not all(ends):
        return None
    if kind == "free":
        problem = f"the type is '{node.get('type')}', which constrains nothing; expected another type"
        reading.at(node, element).error("loop", problem, "Remove this joint, or change its type.")
        return None
    data: dict[str, Any] = {"placement": poses[0], "child_placement": poses[1]}
    if dialect.axis in parts:
        parts["axis"] = parts[dialect.axis]
    if kind != "fixed":
        shape_motion(node, kind, data, parts, element, reading)
    return ReadLoop(line_of(node), name, kind, (ends[0], ends[1]), data)


def _pose(node: Node | None, element: str, reading: Reading) -> Pose:
    """The pose of the joint frame on a link: that of the <origin> in the node, or of the node's own attributes."""
    if node is None:
        return IDENTITY
    inner = node.find("origin")
    if inner is not None:
        return reading.origin(inner, element)
    return reading.origin(node, element, ("xyz", "rpy", "link"))
