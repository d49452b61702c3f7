"""Functions that are linear in the masses, moments and friction of a robot: see `Dynamics.regressor`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.deriving.making import Maker
from kinemorph.mechanics.recursions import regressors
from kinemorph.mechanics.recursions.regressors import OF_BODY, OF_VELOCITY, PAIRS
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import WORLD, Tree
from kinemorph.model.body import Body
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot

Array = npt.NDArray[np.float64]


def moving_bodies(robot: Robot) -> tuple[Body, ...]:
    """The bodies that joints move, in the order of `robot.bodies`: those fixed to the world have no parameters."""
    attachments = resolve(robot).attachments
    return tuple(body for body in robot.bodies if attachments[body.name].link != WORLD)


def column_names(robot: Robot) -> tuple[str, ...]:
    """The names of the parameters: "body.m" and so on for each body that moves, then "velocity.armature" and so on."""
    bodies = [f"{body.name}.{part}" for body in moving_bodies(robot) for part in OF_BODY]
    return (*bodies, *(f"{name}.{part}" for name in robot.all_v_names for part in OF_VELOCITY))


def parameter_values(robot: Robot) -> Array:
    """The nominal values of the parameters, shape (columns,); friction and offsets are 0."""
    found: list[float] = []
    for body in moving_bodies(robot):
        found.extend(inertial_parameters(body))
    for joint in (*(joint for joint in robot.joints if not joint.driven), *robot.driven):
        for armature in evaluate_all(joint.armature):
            found.extend((armature, 0.0, 0.0, 0.0))
    return np.array(found)


def inertial_parameters(body: Body) -> list[float]:
    """OF_BODY of a body: its mass [kg], first moments [kg m] and inertia about its origin [kg m^2], in its axes."""
    m, c = evaluate(body.mass), np.array(evaluate_all(body.com), dtype=float)
    I = np.array(evaluate_all(body.inertia), dtype=float) + m * (c @ c * np.eye(3) - np.outer(c, c))
    return [m, *(m * c).tolist(), *(float(I[i, j]) for i, j in PAIRS)]


def regressor(maker: Maker) -> CompiledFunction:
    """The function of the regressor Y(q, v, a), shape (nv, columns)."""
    robot = maker.robot
    names = [body.name for body in moving_bodies(robot)]

    def law(tree: Tree, q: Any, v: Any, a: Any) -> list[list[Any]]:
        return regressors.regressor(tree, q, v, a, names)

    shape = (robot.nv, len(column_names(robot)))
    return maker.function("regressor", ("q", "v", "a"), law, {"out": shape})
