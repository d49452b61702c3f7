"""Finds the roots of the links of an SDF file, and the joints to reverse so that every link is reached from a root."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from kinemorph.formats.sdf.joints import Connection
from kinemorph.model.building.reversed_joint import reversed_joint
from kinemorph.model.topology import WORLD


def hung(links: Sequence[str], connections: Sequence[Connection]) -> tuple[list[Connection], list[str]]:
    """(connections, roots): the joints, some of them reversed, and the links that need a joint to the world, in order.

    If a link can be reached only through a joint whose child is connected already, the joint is reversed, with the same
    coordinate: the link becomes its child. A group of links without a connection to the world has one root: the first
    link that is not a child, or the first link if all are children in a cycle. Takes a time linear in links and joints.
    """
    outward: dict[str, list[int]] = {link: [] for link in (WORLD, *links)}
    inward: dict[str, list[int]] = {link: [] for link in (WORLD, *links)}
    for index, connection in enumerate(connections):
        outward[connection.joint.parent].append(index)
        inward[connection.joint.child].append(index)
    reached: set[str] = set()
    turned: dict[int, Connection] = {}
    backwards: deque[int] = deque()

    def spread(start: str) -> None:
        """Marks all links as reached that joints lead to from `start`, from parent to child."""
        ahead = deque([start])
        reached.add(start)
        while ahead:
            here = ahead.popleft()
            backwards.extend(inward[here])
            for index in outward[here]:
                there = connections[index].joint.child
                if there not in reached:
                    reached.add(there)
                    ahead.append(there)

    def climb() -> None:
        """Reverses each joint whose child is reached and whose parent is not, and continues from that parent."""
        while backwards:
            index = backwards.popleft()
            joint = connections[index].joint
            if joint.parent not in reached:
                turned[index] = replace(connections[index], joint=reversed_joint(joint))
                spread(joint.parent)

    spread(WORLD)
    climb()
    roots = []
    for link in [*(link for link in links if not inward[link]), *links]:
        if link not in reached:
            roots.append(link)
            spread(link)
            climb()
    return [turned.get(index, connection) for index, connection in enumerate(connections)], roots
