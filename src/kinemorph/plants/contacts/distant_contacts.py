"""Robots whose contacts are above the ground: the same equations without these contacts.

A robot from a file has a contact for each of its shapes, often with hundreds of touching points, most of which are far
from the ground most of the time. Where they are above it, the rate is that of a robot without them, which costs a
fraction. There are up to two such robots, the lighter first; a plant that has them tells by `near` which one it is:

    aloft       no contact touches: an arm over its floor, a drone, a jump
    standing    only contacts of a free robot may touch that are the lowest of its initial configuration, its feet
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from kinemorph.algebra.scalar import S, less, minimum, plus
from kinemorph.frozen import kept_with
from kinemorph.mechanics.elements.contact.clearances import DistantContactLaw, clearance, has_clearance
from kinemorph.mechanics.elements.contact.touching_points import spots
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.model.configuration import initial_configuration
from kinemorph.plants.instant import Instant, LocalInstant
from kinemorph.plants.loaded_robot import LoadedRobot

MANY = 32  # touching points: with fewer it is not worth asking how far they are from the ground
LOW = 0.05  # [m]: feet are no more than this higher than the lowest contact
FEW = 0.5  # feet have at most this share of all touching points


def lighter_robots(loaded: LoadedRobot) -> list[LoadedRobot]:
    """The robot without contacts, and with its feet only; none where contacts have few points, or parameters."""
    return [_without(loaded, left_out) for left_out in _left_out(loaded)]


def near(loaded: LoadedRobot, at: LocalInstant) -> Any:
    """The number of the lightest robot of `lighter_robots` that may be taken; their count where none may be."""
    views = loaded.seen(loaded.tree(at.p, at.t), loaded.instant(at)).views
    level: S = 0.0
    for left_out in _left_out(loaded):
        heights = [_clearance(loaded, index, views) for index in left_out]
        level = plus(level, less(reduce(minimum, heights), 0.0))
    return level


def _without(loaded: LoadedRobot, left_out: Collection[int]) -> LoadedRobot:
    members = tuple(
        member._replace(law=DistantContactLaw()) if index in left_out else member
        for index, member in enumerate(loaded.elements.members)
    )
    return replace(loaded, elements=replace(loaded.elements, members=members))


@kept_with
def _left_out(loaded: LoadedRobot) -> tuple[tuple[int, ...], ...]:
    """For each lighter robot the indices of the contacts that it does not have; each is part of the one before."""
    members = () if loaded.parameters else tuple(enumerate(loaded.elements.members))
    found = tuple(index for index, member in members if has_clearance(member.element, member.law))
    if _count(loaded, found) < MANY:
        return ()
    if not loaded.dynamics.robot.is_free:
        return (found,)
    feet = _lowest(loaded, found)
    others = tuple(index for index in found if index not in feet)
    return (found, others) if _count(loaded, feet) <= FEW * _count(loaded, found) else (found,)


def _lowest(loaded: LoadedRobot, found: Sequence[int]) -> list[int]:
    """The contacts that are the lowest in the initial configuration of the robot."""
    q = initial_configuration(loaded.dynamics.robot).tolist()
    sizes = (loaded.nv, len(loaded.elements.states) + loaded.added.states, len(loaded.elements.memory))
    v, x, m = ([0.0] * size for size in sizes)
    u = [0.0] * (loaded.added.inputs + len(loaded.elements.open_inputs))
    views = loaded.seen(loaded.tree(()), Instant(0.0, q, v, x, m, u, ())).views
    heights = [float(_clearance(loaded, index, views)) for index in found]
    return [index for index, height in zip(found, heights, strict=True) if height <= min(heights) + LOW]


def _clearance(loaded: LoadedRobot, index: int, views: Sequence[ElementView]) -> S:
    return clearance(loaded.elements.members[index].element, views[index])


def _count(loaded: LoadedRobot, indices: Sequence[int]) -> int:
    """The number of touching points of contacts."""
    return sum(len(spots(loaded.elements.members[index].element)) for index in indices)
