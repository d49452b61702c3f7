"""Whether a body passes through the ground in a run, or a walker falls: only bodies with a contact are stopped by it.

A body has passed through the ground when its center of mass is below a ground that other bodies of the robot touch, and
was above it at the start of the run.

Walkers with phases stand on points that a `Hold` keeps in place, and have no ground. One whose center of mass was above
these points at the start and gets below them has fallen.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array, evenly
from kinemorph.algebra.groups import act
from kinemorph.errors import GroundWarning, users_level
from kinemorph.frozen import kept_in, kept_with
from kinemorph.mechanics.elements.contact.grounds import surface
from kinemorph.mechanics.steps.point_states import PointState, Sight
from kinemorph.mechanics.trees.motions import ZERO3
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.elements.contact.grounds import Ground, Plane
from kinemorph.model.elements.contact.unstopped import touched_grounds, unstopped_bodies
from kinemorph.model.elements.phases.holds import Hold
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.plants.programs import Plant
from kinemorph.simulation.results.body_poses import frame_matrices
from kinemorph.simulation.results.segment import Segment
from kinemorph.words import listed

MOST_SAMPLES = 512  # samples of a run that are checked
NAMED = 4  # bodies that a warning names besides the first


@dataclass(frozen=True)
class Passage:
    """A body that passed through the ground."""

    body: str
    t: float  # [s], the first sample below the ground
    depth: float  # [m], of the center of mass, at its deepest sample


def passages(segments: Sequence[Segment]) -> list[Passage]:
    """The bodies without contacts that pass through a ground in a run, in the order in which they pass."""
    plant = segments[0].plant
    robot = segments[0].robot
    if robot is None or plant.assembly is not None:
        return []
    names = _unstopped(plant)
    if not names:
        return []
    t = np.concatenate([segment.t for segment in segments])
    q = np.concatenate([segment.q for segment in segments])
    rows = evenly(len(t), MOST_SAMPLES)
    rows = rows[np.isfinite(q[rows]).all(axis=1)]
    if not len(rows):
        return []
    grounds = touched_grounds(plant.elements)
    places = _centers(robot, q[rows], names, grounds)
    deepest = np.zeros((len(names), len(rows)))
    for ground in grounds:
        heights = np.broadcast_to(surface(ground)(places).height, deepest.shape)
        deepest = np.where(heights[:, :1] > 0.0, np.minimum(heights, deepest), deepest)
    found = [
        Passage(name, float(t[rows][np.argmax(below < 0.0)]), -float(below.min()))
        for name, below in zip(names, deepest, strict=True)
        if below.min() < 0.0
    ]
    return sorted(found, key=lambda passage: passage.t)


def _centers(robot: Robot, q: Array, names: Sequence[str], grounds: Sequence[Ground]) -> list[Any]:
    """The coordinates x, y and z of the centers of mass of bodies in the world [m], (names, n), in configurations q
    (n, nq); 0 for a coordinate that does not matter for the height above these grounds.
    """
    tree = kept_in(robot, "tree at nominal parameters", lambda: resolve(robot)).at_time(0.0)
    sight, points = Sight(tree, tree.moves(tree.all_joints(list(q.T)).q)), []
    for name in names:
        at = tree.attachments[name]
        x, y, z = act(at.pose, evaluate_all(robot.body(name).com))
        points.append(PointState(at.link, (x, y, z), ZERO3, 0.0, sight))
    matters = [any(not isinstance(one, Plane) or evaluate(one.normal[k]) for one in grounds) for k in range(3)]
    return [
        np.array([np.broadcast_to(point.coordinate(k), len(q)) for point in points]) if matters[k] else 0.0
        for k in range(3)
    ]


@kept_with
def _unstopped(plant: Plant) -> tuple[str, ...]:
    """The names of the bodies that nothing stops at the ground; the same in all runs of a plant."""
    return () if plant.robot is None else unstopped_bodies(plant.robot, plant.elements)


def can_fall(plant: Plant) -> bool:
    """Whether a plant has bodies that nothing stops at the ground, or stands on held points."""
    return plant.automaton is not None or bool(_unstopped(plant))


def fall(segments: Sequence[Segment]) -> Passage | None:
    """The fall of a walker that stands on held points; None where it does not fall, or has no phases."""
    plant, robot = segments[0].plant, segments[0].robot
    if robot is None or plant.automaton is None or plant.assembly is not None:
        return None
    held = [k for k, column in enumerate(plant.m) if column.name in {f"{name}.z.held" for name in _holds(plant)}]
    bodies = [(body.name, float(evaluate(body.mass))) for body in robot.bodies]
    mass = sum(own for _, own in bodies)
    if not held or not mass > 0.0:
        return None
    t, q, m = (np.concatenate([getattr(segment, group) for segment in segments]) for group in "tqm")
    rows = evenly(len(t), MOST_SAMPLES)
    rows = rows[np.isfinite(q[rows]).all(axis=1)]
    if not len(rows):
        return None
    poses = frame_matrices(robot, q[rows], [name for name, _ in bodies])
    centers = np.array([[*evaluate_all(body.com), 1.0] for body in robot.bodies], dtype=float)
    heights = np.einsum("nbk,bk,b->n", poses[:, :, 2], centers, [own / mass for _, own in bodies])
    above = heights - m[rows][:, held].max(axis=1)
    if above[0] <= 0.0 or above.min() >= 0.0:
        return None
    return Passage(", ".join(_holds(plant)), float(t[rows][np.argmax(above < 0.0)]), -float(above.min()))


def _holds(plant: Plant) -> list[str]:
    """The names of the elements that hold points in phases of the plant."""
    return [element.name for element in plant.elements if isinstance(element, Hold)]


def warn_of_ground(segments: Sequence[Segment]) -> bool:
    """Warns where a walker falls, or bodies pass through a ground as no contact stops them; returns whether it did."""
    fell = fall(segments)
    if fell is not None:
        warnings.warn(
            f"'{segments[0].plant.name}' falls: from t = {fell.t:.4g} s on its center of mass is below the points that "
            f"it stands on ({fell.body}), by up to {fell.depth:.3g} m, and nothing stops it there. End such runs by an "
            "edge with stop=True, whose guard is the height at which it has fallen (docs/hybrid.md).",
            GroundWarning,
            stacklevel=users_level(),
        )
        return True
    found = passages(segments)
    if not found:
        return False
    first, name = found[0], segments[0].plant.name
    others = f" So do {listed([passage.body for passage in found[1:]], NAMED)}." if found[1:] else ""
    warnings.warn(
        f"body '{first.body}' of '{name}' passes through the ground at t = {first.t:.4g} s, and its center of mass "
        f"gets {first.depth:.3g} m below it: the body has no contact.{others} Add a Contact for each of its points "
        "that may touch the ground.",
        GroundWarning,
        stacklevel=users_level(),
    )
    return True
