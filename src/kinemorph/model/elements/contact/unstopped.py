"""Bodies that would fall through the ground: they have shapes and no contact, while other bodies touch a ground.

Bodies that fixed joints connect count as one. Besides contacts, tires, spring legs and rolling constraints also stop a
body at the ground.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kinemorph.model.elements.constraints.rolling import RollingDisc, RollingSphere
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.grounds import Ground
from kinemorph.model.elements.contact.pair_contacts import PairContact
from kinemorph.model.elements.forces.legs import SpringLeg
from kinemorph.model.elements.forces.tires import Tire
from kinemorph.model.robot import Robot
from kinemorph.model.topology import WORLD

STOPPING = (Contact, PairContact, RollingDisc, RollingSphere, SpringLeg, Tire)


def touched_grounds(elements: Iterable[Any]) -> tuple[Ground, ...]:
    """The different grounds, at rest in the world, of the contacts and tires among these elements."""
    found: list[Ground] = []
    for element in elements:
        still = isinstance(element, (Contact, Tire)) and getattr(element.ground, "on", WORLD) == WORLD
        if still and element.ground not in found:
            found.append(element.ground)
    return tuple(found)


def unstopped_bodies(robot: Robot, elements: Iterable[Any]) -> tuple[str, ...]:
    """The names of bodies with shapes that can reach a ground and have nothing that stops them there.

    A body can reach a ground if another body of its branch of the robot touches one, or if its branch floats; one that
    is fixed to the world cannot.
    """
    elements = tuple(elements)
    if not touched_grounds(elements):
        return ()
    stopped = stopped_bodies(robot, elements)
    falling = {joint.child for joint in robot.joints if joint.parent == WORLD and joint.kind == "free"}
    standing = (name for element in elements if isinstance(element, Contact) for name in _touching(robot, element))
    reaching = falling.union(_branch(robot, name) for name in standing)
    return tuple(
        body.name
        for body in robot.bodies
        if (body.shapes or body.collisions)
        and _branch(robot, body.name) in reaching
        and body.name not in stopped
        and _cluster(robot, body.name) != WORLD
    )


def stopped_bodies(robot: Robot, elements: Iterable[Any]) -> frozenset[str]:
    """The names of bodies that elements stop at the ground or at other bodies."""
    clusters = {_cluster(robot, name) for element in elements for name in _touching(robot, element)}
    return frozenset(body.name for body in robot.bodies if _cluster(robot, body.name) in clusters)


def _touching(robot: Robot, element: Any) -> tuple[str, ...]:
    """The names of the bodies that an element, such as a contact, stops at the ground or at another body."""
    if not isinstance(element, STOPPING):
        return ()
    places = [str(getattr(element, name)) for name in ("body", "body_a", "body_b") if hasattr(element, name)]
    on = {**{frame.name: frame.body for frame in robot.frames}, **{name: name for name in robot.body_names}}
    return tuple(on[place] for place in places if on.get(place, WORLD) != WORLD)


def _cluster(robot: Robot, body: str) -> str:
    """The body nearest to the world among those that fixed joints connect to this one, itself included."""
    joint = robot.parent_joint.get(body)
    while joint is not None and joint.kind == "fixed":
        body, joint = joint.parent, robot.parent_joint.get(joint.parent)
    return body


def _branch(robot: Robot, body: str) -> str:
    """The body that a joint connects to the world, on the path from this body to the world."""
    return robot.path_to_root(body)[-2]
