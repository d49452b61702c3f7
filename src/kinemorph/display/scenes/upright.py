"""Which way is up: scenes have z up, so a robot whose gravity is along x or y is turned when it is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinemorph.algebra.groups import Pose, act, compose
from kinemorph.display.looks.quaternions import quaternions_of, rotated, without_jumps
from kinemorph.display.scenes.scene import WORLD_OWNER, Attachment, Figure, Mark, Surface
from kinemorph.model.elements.contact.grounds import Plane
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.system import Element
from kinemorph.model.topology import WORLD


def turn_of(robot: Robot) -> Pose | None:
    """The shortest turn of the world's axes after which gravity along x or y acts along -z; None for other gravity."""
    gravity = np.array(evaluate_all(robot.gravity), dtype=float)
    if np.count_nonzero(gravity) != 1 or gravity[2]:
        return None
    x, y, _ = -gravity / np.linalg.norm(gravity)
    return Pose(((1.0 - x * x, -x * y, -x), (-x * y, 1.0 - y * y, -y), (x, y, 0.0)), (0.0, 0.0, 0.0))


def upright_robot(robot: Robot) -> Robot:
    """The robot with the axes of its world turned, so that gravity acts along -z; its coordinates stay the same."""
    turn = turn_of(robot)
    if turn is None:
        return robot
    joints, loops = (
        tuple(
            replace(
                joint,
                placement=compose(turn, joint.placement) if joint.parent == WORLD else joint.placement,
                child_placement=compose(turn, joint.child_placement) if joint.child == WORLD else joint.child_placement,
            )
            for joint in some
        )
        for some in (robot.joints, robot.loops)
    )
    frames = (replace(f, placement=compose(turn, f.placement)) if f.body == WORLD else f for f in robot.frames)
    gravity = act(turn, robot.gravity)
    return replace(robot, joints=joints, loops=loops, frames=tuple(frames), gravity=gravity)


def upright(figure: Figure) -> Figure:
    """The figure turned with the world of its robot; as it is for a run with docking events."""
    turn = None if figure.robots else turn_of(figure.robot)
    if turn is None:
        return figure
    R = np.array(turn.R, dtype=float)

    def at(end: Attachment | None) -> Any:
        if end is None or end.owner != WORLD_OWNER:
            return end
        return Attachment(WORLD_OWNER, tuple(float(x) for x in act(turn, end.point)))  # type: ignore[arg-type]

    def turned(mark: Mark) -> Mark:
        vectors, shifts = (None if one is None else one @ R.T for one in (mark.vectors, mark.shifts))
        return replace(mark, start=at(mark.start), end=at(mark.end), vectors=vectors, shifts=shifts)

    axes = np.swapaxes(rotated(figure.quaternions[..., None, :], np.eye(3)), -1, -2)
    fixed = {k: part.surface for k, part in enumerate(figure.parts) if part.owner == WORLD_OWNER}
    placed = {k: Surface(one.points @ R.T, one.normals @ R.T, one.faces) for k, one in fixed.items()}
    parts = [replace(one, surface=placed.get(k, one.surface)) for k, one in enumerate(figure.parts)]
    return replace(
        figure,
        robot=upright_robot(figure.robot),
        positions=figure.positions @ R.T,
        quaternions=without_jumps(quaternions_of(R @ axes)),
        parts=tuple(parts),
        marks=tuple(turned(mark) for mark in figure.marks),
        turn=R,
        traces=tuple(replace(trace, at=at(trace.at)) for trace in figure.traces),
    )


def upright_elements(robot: Robot, elements: tuple[Element, ...]) -> tuple[Element, ...]:
    """The elements, with planes as grounds turned with the world of the robot."""
    turn = turn_of(robot)

    if turn is None:
        return elements
    made = list[Any](elements)
    for k, one in enumerate(made):
        ground = getattr(one, "ground", None)
        if isinstance(ground, Plane):
            plane = replace(ground, point=act(turn, ground.point), normal=act(turn, ground.normal))
            made[k] = replace(one, ground=plane)
    return tuple(made)
