"""Functions of all bodies, links or joints of a robot at once: see the properties of the same names of `Dynamics`."""

from __future__ import annotations

from typing import Any

from kinemorph.algebra.groups import matrix_of
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.tracing import Shape
from kinemorph.deriving.making import Law, Maker
from kinemorph.mechanics.constraints import driven_constraints
from kinemorph.mechanics.constraints.closures import constraint_error
from kinemorph.mechanics.trees.tree import Tree


def stacked_matrices(maker: Maker) -> CompiledFunction:
    """The function of the stacked matrices of the equations of motion in closed form (`Dynamics.stacked_matrices`)."""
    from kinemorph.mechanics.formulations import closed_form

    n = 6 * len(maker.tree.links)
    shapes: dict[str, Shape] = {"S": (n, maker.robot.nv), "T": (n, n), "T_H0": (n, 6)}
    shapes |= dict.fromkeys(("M", "ad_Sqd", "ad_V"), (n, n))

    def whole(tree: Tree, q: Any, v: Any) -> dict[str, Any]:
        return closed_form.dense_matrices(tree, closed_form.stacked(tree, q, v))

    return maker.function("stacked_matrices", ("q", "v"), whole, shapes, written=True)


def joint_wrenches(maker: Maker) -> CompiledFunction:
    """The function of the wrenches [N, N m] through all joints (`Dynamics.joint_wrenches`)."""
    robot, in_joints = maker.robot, driven_constraints.through_joints

    def through(tree: Tree, q: Any, v: Any, a: Any, *others: Any) -> list[list[Any]]:
        if robot.is_open:
            return in_joints(robot, tree, q, v, a, *others)
        tau, loads = (*others, None)[:2]
        rows = driven_constraints.constraint_rows(tree, q, v)
        multipliers = driven_constraints.multipliers_in(tree, q, v, a, tau, rows, loads)
        return in_joints(robot, tree, q, v, a, loads, multipliers)

    inputs = ("q", "v", "a", "wrenches") if robot.is_open else ("q", "v", "a", "tau", "wrenches")
    return _of_joints(maker, "joint_wrenches", inputs, through, (len(robot.joints) + len(robot.loops), 6))


def multiplier_wrenches(maker: Maker) -> CompiledFunction:
    """The function of the wrenches through all joints for a unit of each constraint multiplier."""
    from kinemorph.mechanics.constraints import reactions

    robot = maker.robot
    rows = len(constraint_error(maker.tree, [0.0] * maker.tree.nq))

    def shares(tree: Tree, q: Any) -> list[Any]:
        return reactions.multiplier_wrenches(robot, tree, q)

    shape = (len(robot.joints) + len(robot.loops), 6, rows)
    return _of_joints(maker, "multiplier_wrenches", ("q",), shares, shape)


def motion(maker: Maker) -> CompiledFunction:
    """The function of the poses, velocities and accelerations of all bodies (`Dynamics.motion`)."""
    from kinemorph.mechanics.formulations.dalembert import body_motions

    def moved(tree: Tree, q: Any, v: Any, a: Any) -> dict[str, Any]:
        found = body_motions(tree, q, v, a)
        vectors = {"vG": "v", "omega": "omega", "aG": "a", "omegad": "omegad"}
        parts = {name: [list(getattr(one, field)) for one in found] for name, field in vectors.items()}
        return {"T0G": [matrix_of(one.T0G) for one in found], **parts}

    count = len(maker.robot.bodies)
    shapes: dict[str, Shape] = {"T0G": (count, 4, 4)}
    shapes |= dict.fromkeys(("vG", "omega", "aG", "omegad"), (count, 3))
    return maker.function("motion", ("q", "v", "a"), moved, shapes, written=True)


def partial_velocities(maker: Maker) -> CompiledFunction:
    """The function of the partial velocities of all bodies."""
    from kinemorph.mechanics.formulations import dalembert

    def shares(tree: Tree, q: Any) -> dict[str, Any]:
        by_velocity = dalembert.partial_velocities(tree, q)
        by_body = [[row[i] for row in by_velocity] for i in range(len(tree.bodies))]
        return {
            "d": [[list(part.d) for part in row] for row in by_body],
            "theta": [[list(part.theta) for part in row] for row in by_body],
        }

    shape = (len(maker.robot.bodies), maker.robot.nv, 3)
    return maker.function("partial_velocities", ("q",), shares, {"d": shape, "theta": shape}, written=True)


def _of_joints(maker: Maker, name: str, inputs: tuple[str, ...], law: Law, shape: Shape) -> CompiledFunction:
    """A compiled function of all joints, including fixed ones: each body is a link of its own."""
    return maker.built(maker.program(name, inputs, law, {"out": shape}, written=True, merged=False))
