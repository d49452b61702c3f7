"""Which joints of SDF are walked backwards, and which links are roots: every link is reached from the world."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from kinemorph.formats.sdf.joints import Connection
from kinemorph.model.building.reversed_joint import reversed_joint
from kinemorph.model.topology import WORLD


def hung(links: Sequence[str], connections: Sequence[Connection]) -> tuple[list[Connection], list[str]]:
    """(the connections so that every link can be reached from the world, the links that must be roots), both in order.

    A link that is only a parent, of a joint whose child hangs elsewhere, hangs on that child: the joint is turned
    round, with the same coordinate. A group of links that hangs on nothing has one root: the first link that is
    not a child, or the first of all where all hang on each other in a ring. Linear in links and joints.
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
