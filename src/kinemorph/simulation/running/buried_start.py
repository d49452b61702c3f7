"""Whether a run begins deep inside the ground, checked before it: its soft contacts would throw the robot out.

Every point that touches pushes by its normal force at rest, F(d), at its depth d. A robot that stands is pushed by its
weight, one that lands by several times its weight. Where the contacts push by many times the weight in the initial
configuration, the robot was put too low: by less than is seen in a picture, but with an energy that the run shows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array, evenly
from kinemorph.algebra.groups import Pose
from kinemorph.errors import GroundWarning, users_level
from kinemorph.frozen import kept_with
from kinemorph.mechanics.elements.contact.clearances import bounds
from kinemorph.mechanics.elements.contact.grounds import surface
from kinemorph.mechanics.elements.contact.normal_forces import normal_law
from kinemorph.mechanics.elements.contact.touching_points import spots
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.elements.contact.contact_laws import Soft
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.grounds import Plane
from kinemorph.model.topology import WORLD
from kinemorph.plants.programs import Plant

MOST = 20.0  # weights by which the contacts may push at the start
CHECKED = 64  # configurations of a batch that are checked, evenly spaced
REMEMBERED = 1000  # starts without a finding, which are not checked again


class Buried(NamedTuple):
    """The contacts of a robot that begins inside the ground."""

    contact: str  # the deepest one
    depth: float  # of its deepest point [m]
    weights: float  # by which all contacts push


def buried_start(plant: Plant, q: Array) -> Buried | None:
    """The worst of the initial configurations q (n, nq) in which contacts push by more than MOST weights, if any."""
    checked, rows = sinking(plant), np.isfinite(q).all(axis=1)
    if checked is None or not rows.any():
        return None
    q = q[rows]
    q = q[evenly(len(q), CHECKED)]
    if (q.shape, q.tobytes()) in checked.passed:  # runs often begin where others did
        return None
    columns = q[0].tolist() if len(q) == 1 else list(q.T)  # floats are much faster than arrays of one number
    poses = forward_kinematics(checked.tree, checked.tree.all_joints(columns).q, checked.bodies)
    depths, force = np.zeros((len(checked.contacts), len(q))), np.zeros(len(q))
    for k, near in enumerate(_near_ground(checked, poses, len(q))):
        if near:
            reached = _depths(checked.contacts[k], poses[checked.owners[k]], len(q))
            force += np.asarray(normal_law(checked.contacts[k].normal).at_rest(reached)).sum(axis=0)
            depths[k] = reached.max(axis=0)
    worst = int(np.argmax(force))
    if not force[worst] > MOST * checked.weight:
        if len(checked.passed) < REMEMBERED:
            checked.passed.add((q.shape, q.tobytes()))
        return None
    deepest = int(np.argmax(depths[:, worst]))
    return Buried(checked.contacts[deepest].name, float(depths[deepest, worst]), float(force[worst]) / checked.weight)


class _Checked(NamedTuple):
    """What is checked of a plant: its robot, its soft contacts with grounds at rest, and its weight [N].

    `bodies` are those of the contacts, each once, and `owners` (n,) the index of each contact's body. A contact is
    within `reach` (n,) [m] of its `middle` (n, 3) in the axes of its body. Starts that `passed` are not checked again.
    """

    tree: Tree
    contacts: list[Contact]
    weight: float
    bodies: list[str]
    owners: Array
    middle: Array
    reach: Array
    passed: set[tuple[Any, bytes]]


@kept_with
def sinking(plant: Plant) -> _Checked | None:
    """What is checked of a plant; None where it has nothing that could begin inside the ground, or no weight."""
    contacts = [
        element
        for element in plant.elements
        if isinstance(element, Contact)
        and isinstance(element.normal, Soft)
        and getattr(element.ground, "on", WORLD) == WORLD
    ]
    if plant.robot is None or not contacts:
        return None
    weight = plant.robot.total_weight
    if not weight > 0.0:
        return None
    bodies = [*dict.fromkeys(contact.body for contact in contacts)]
    low, high = np.swapaxes([bounds(spots(contact)) for contact in contacts], 0, 1)
    owners = np.array([bodies.index(contact.body) for contact in contacts])
    reach = 0.5 * np.linalg.norm(high - low, axis=1)
    tree = resolve(plant.robot).at_time(0.0)
    return _Checked(tree, contacts, weight, bodies, owners, 0.5 * (low + high), reach, set())


def _near_ground(checked: _Checked, poses: Sequence[Pose], count: int) -> Array:
    """Whether each contact may touch in one of `count` poses, (n,): those whose spheres touch their plane, and those on
    other grounds, whose heights need not be distances.
    """
    R = np.array([[[np.broadcast_to(x, count) for x in row] for row in pose.R] for pose in poses], dtype=float)
    p = np.array([[np.broadcast_to(x, count) for x in pose.p] for pose in poses], dtype=float)
    places = np.einsum("nijc,nj->nic", R[checked.owners], checked.middle) + p[checked.owners]
    return np.array(
        [
            not isinstance(contact.ground, Plane) or np.min(surface(contact.ground)(place).height) < reach
            for contact, place, reach in zip(checked.contacts, places, checked.reach, strict=True)
        ]
    )


def _depths(contact: Contact, pose: Pose, count: int) -> Array:
    """The depths [m] of the touching points of a contact, at least 0, shape (points, count) for `count` poses."""
    ground, heights = surface(contact.ground), []
    for spot in spots(contact):
        moved = spot.moved(pose)
        heights.append(ground(moved.deepest(ground(moved.center).normal)).height)
    found: Array = np.stack([np.broadcast_to(np.asarray(height, dtype=float), count) for height in heights])
    depths: Array = np.maximum(-found, 0.0)
    return depths


def _round(weights: float) -> int:
    """A round number below: 20, 100, 1000, ..."""
    return max(int(MOST), int(10 ** np.floor(np.log10(weights))))


def warn_of_buried_start(plant: Plant, q: Array | None) -> None:
    """Warns where a robot begins deep inside the ground; q (n, nq) are the initial configurations, if known."""
    found = None if q is None else buried_start(plant, q)
    if found is None:
        return
    depth = float(f"{1e3 * found.depth:.1g}")  # [mm], rounded so that runs of a study say the same
    warnings.warn(
        f"'{plant.name}' begins inside the ground: '{found.contact}' by about {depth:g} mm, where its contacts push "
        f"with more than {_round(found.weights):,} times its weight and may throw it out. Choose an initial "
        "configuration in which it touches the ground, or is above it.",
        GroundWarning,
        stacklevel=users_level(),
    )
