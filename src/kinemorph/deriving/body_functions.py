"""Functions of all bodies, links or joints of a robot at once: see the properties of the same names of `Dynamics`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from kinemorph.algebra.groups import matrix_of
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.tracing import Shape
from kinemorph.deriving.making import Law, Maker
from kinemorph.mechanics.constraints import driven_constraints
from kinemorph.mechanics.constraints.closures import constraint_error
from kinemorph.mechanics.constraints.wrench_views import WrenchView
from kinemorph.mechanics.recursions import momentum
from kinemorph.mechanics.trees.tree import Tree


def block_matrices(maker: Maker) -> CompiledFunction:
    """The function of the block matrices of a formulation (`Dynamics.block_matrices`).

    The frame of a link is the joint frame on the child, turned so that z is the joint axis; it is not the body's frame.

    closed_form     Each block is in the frame of its link. A block (i, j) of T transforms twists from the frame of link
                    j to that of link i, a block of T_H0 from the world frame; the inertias M are about the origins of
                    these frames. Formulations without matrices of their own show these too.
    incidence       All blocks are in world axes about the world's origin, except S, which is in the frames of the
                    children. Arcs are the joints of the links, then the joints that close loops.
    quasicoordinates
                    Blocks have three rows for each body, in its own axes, or in world axes after a factor C. With
                    driven joints the columns of D and E are those of all joints. See `quasi_matrices.sizes`.
    """
    from kinemorph.mechanics.formulations import closed_form, incidence, quasi_matrices

    n, tree = 6 * len(maker.tree.links), maker.tree
    axes: Shape = (n, maker.robot.nv)
    shapes: dict[str, Shape]
    if maker.formulation == "incidence":
        shapes = {"B": (n, n + 6 * len(tree.closures)), "C": (n, n), "S": axes}
        shapes |= dict.fromkeys(("Ad", "M", "M_rate", "ad"), (n, n))
    elif maker.formulation == "quasicoordinates":
        shapes = dict(quasi_matrices.sizes(tree))
    else:
        shapes = {"S": axes, "T": (n, n), "T_H0": (n, 6)} | dict.fromkeys(("M", "ad_Sqd", "ad_V"), (n, n))

    def whole(tree: Tree, q: Any, v: Any) -> dict[str, Any]:
        if maker.formulation == "incidence":
            return incidence.dense_matrices(tree, incidence.graph(tree, q, v))
        if maker.formulation == "quasicoordinates":
            return quasi_matrices.dense_matrices(tree, quasi_matrices.quasi(tree, q, v))
        return closed_form.dense_matrices(tree, closed_form.stacked(tree, q, v))

    return maker.function("block_matrices", ("q", "v"), whole, shapes, written=True)


def coordinate_sets(maker: Maker) -> CompiledFunction:
    """The function of (q, v) that gives M and b of  M x = forces - b  in the three coordinate sets of Nelson & Quinn.

    Its outputs are M_absolute, b_absolute, M_relative, b_relative, M_true and b_true; `quasicoordinates.equations` says
    what the accelerations x are in each set. With driven joints, true coordinates are those of all joints.
    """
    from kinemorph.mechanics.formulations import quasi_matrices, quasicoordinates

    parts, nv = quasi_matrices.segments(maker.tree), maker.tree.nv
    many = 3 * len(parts) + 3 * sum(part.slides for part in parts)
    size = {"absolute": many, "relative": many, "true": nv}
    shapes: dict[str, Shape] = {}
    for name, n in size.items():
        shapes |= {f"M_{name}": (n, n), f"b_{name}": (n,)}

    def sets(tree: Tree, q: Any, v: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name in ("absolute", "relative", "true"):
            found[f"M_{name}"], found[f"b_{name}"] = quasicoordinates.equations(tree, q, v, name)
        return found

    return maker.function("coordinate_sets", ("q", "v"), sets, shapes, written=True)


def energy(maker: Maker) -> CompiledFunction:
    """The function of the kinetic and the potential energy (`Dynamics.energy`)."""

    def both(tree: Tree, q: Any, v: Any) -> dict[str, Any]:
        return {"kinetic": momentum.kinetic_energy(tree, q, v), "potential": momentum.potential_energy(tree, q)}

    return maker.function("energy", ("q", "v"), both, written=True)


def joint_wrenches(maker: Maker, view: WrenchView) -> CompiledFunction:
    """The function of the wrenches [N, N m] through all joints (`Dynamics.joint_wrenches`)."""
    maker = replace(maker, constraints=())  # of elements, which do not say on which bodies their forces act
    robot, in_joints = maker.robot, partial(driven_constraints.through_joints, view=view)

    def through(tree: Tree, q: Any, v: Any, a: Any, *others: Any) -> list[list[Any]]:
        if robot.is_open:
            return in_joints(robot, tree, q, v, a, *others)
        tau, loads = (*others, None)[:2]
        rows = driven_constraints.constraint_rows(tree, q, v)
        multipliers = driven_constraints.multipliers_in(tree, q, v, a, tau, rows, loads)
        return in_joints(robot, tree, q, v, a, loads, multipliers)

    inputs = ("q", "v", "a", "wrenches") if robot.is_open else ("q", "v", "a", "tau", "wrenches")
    shape = (len(robot.joints) + len(robot.loops), 6)
    return _of_joints(maker, f"joint_wrenches{view.label}", inputs, through, shape)


def multiplier_wrenches(maker: Maker) -> CompiledFunction:
    """The function of the wrenches through all joints for a unit of each constraint multiplier."""
    from kinemorph.mechanics.constraints import reactions

    robot, maker = maker.robot, replace(maker, constraints=())
    maker.check_closed("multiplier_wrenches")
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
    return maker.function(name, inputs, law, {"out": shape}, written=True, merged=False)
