"""Where things are on a figure: points fixed to bodies, and axes of joints, at all times of a scene."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.looks.quaternions import rotated
from kinemorph.display.scenes.figures import owner_of
from kinemorph.display.scenes.scene import WORLD_OWNER, Attachment, Figure
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot


def fixed(robot: Robot, body: str, point: Any = (0.0, 0.0, 0.0)) -> Attachment:
    """A point [m] in the axes of a body, a frame or "world", as one of the body that carries it."""
    frame = robot.frame(body)  # says what there is where this one is not
    T = evaluate_all(frame.placement)
    x, y, z = np.array(T.R, dtype=float) @ np.array(evaluate_all(tuple(point)), dtype=float) + np.array(
        T.p, dtype=float
    )
    return Attachment(owner_of(robot, frame.body), (float(x), float(y), float(z)))


def joint_end(robot: Robot, joint: Joint) -> Attachment:
    """The origin of a joint's frame on its child."""
    x, y, z = (float(value) for value in evaluate_all(joint.child_placement).p)
    return Attachment(owner_of(robot, joint.child), (x, y, z))


def positions_of(figure: Figure, at: Attachment) -> Array:
    """Where a point is in the world at all times, shape (n, 3) [m], without the offset of its figure."""
    return turned(figure, at.owner, at.point) + (figure.positions[:, at.owner] if at.owner != WORLD_OWNER else 0.0)


def turned(figure: Figure, owner: int, vector: Sequence[float] | Array) -> Array:
    """A vector of a body, (3,) or one for each time (n, 3), in world axes at all times, shape (n, 3)."""
    vectors: Array = np.broadcast_to(np.asarray(vector, dtype=float), (len(figure.positions), 3))
    return vectors if owner == WORLD_OWNER else rotated(figure.quaternions[:, owner], vectors)


def axis_of(figure: Figure, joint: Joint) -> Array:
    """The unit vector along a joint's axis in the world at all times, shape (n, 3)."""
    R = np.array(evaluate_all(joint.child_placement).R, dtype=float)
    return turned(figure, owner_of(figure.robot, joint.child), R @ np.array(joint.axis, dtype=float))
