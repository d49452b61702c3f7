"""Functions that are linear in the masses, moments and friction of a robot: see `Dynamics.regressor`.

All have the columns of `column_names`, so that one vector theta of parameters fits every form:

    regressor              tau = Y(q, v, a) theta
    regressor_entries      the entries of Y that are not always 0, row by row
    momentum_regressor     tau = d/dt (P(q, v) theta) + H(q, v) theta
    energy_regressor       tau . v = d/dt (E(q, v) . theta) + D(v) . theta
    wrench_regressor       wrenches through joints = W(q, v, a) theta
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.inertia import Inertia, inertial_parameters
from kinemorph.algebra.vectors import add, mat_sub, matmul, matvec, transpose
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import Shape
from kinemorph.deriving.driven_functions import state_law
from kinemorph.deriving.making import Law, Maker
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.constraints.reduced_dynamics import (
    Partition,
    imposed_accelerations,
    velocity_map,
    velocity_map_and_rate,
)
from kinemorph.mechanics.constraints.wrench_views import link_in_reference
from kinemorph.mechanics.recursions import regressors
from kinemorph.mechanics.recursions.kinematics import poses_of_moves
from kinemorph.mechanics.recursions.regressors import OF_BODY, OF_VELOCITY
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import WORLD, Tree
from kinemorph.model.body import Body
from kinemorph.model.configuration import random_configuration
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
LOOKS = 2  # random states at which entries are examined that may always be 0


class Pattern(NamedTuple):
    """The places of the entries of a matrix that are not always 0, row by row: their rows and their columns."""

    rows: Indices
    columns: Indices


def moving_bodies(robot: Robot) -> tuple[Body, ...]:
    """The bodies that joints move, in the order of `robot.bodies`: those fixed to the world have no parameters."""
    attachments = resolve(robot).attachments
    return tuple(body for body in robot.bodies if attachments[body.name].link != WORLD)


def column_names(robot: Robot) -> tuple[str, ...]:
    """The names of the parameters: "body.m" and so on for each body that moves, then "velocity.armature" and so on."""
    bodies = [f"{body.name}.{part}" for body in moving_bodies(robot) for part in OF_BODY]
    return (*bodies, *(f"{name}.{part}" for name in robot.all_v_names for part in OF_VELOCITY))


def parameter_values(robot: Robot) -> Array:
    """The nominal values of the parameters, shape (columns,): viscous is a joint's damping, coulomb its friction."""
    found: list[float] = []
    for body in moving_bodies(robot):
        found.extend(body_parameters(body))
    for joint in (*(joint for joint in robot.joints if not joint.driven), *robot.driven):
        friction = zip(*(evaluate_all(x) for x in (joint.armature, joint.damping, joint.friction)), strict=True)
        for armature, viscous, coulomb in friction:
            found.extend((armature, viscous, coulomb, 0.0))
    return np.array(found)


def body_parameters(body: Body) -> tuple[float, ...]:
    """OF_BODY of a body: its mass [kg], first moments [kg m] and inertia about its origin [kg m^2], in its axes."""
    return inertial_parameters(Inertia(*evaluate_all((body.mass, body.com, body.inertia))))


# ── the forms ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def regressor(maker: Maker) -> CompiledFunction:
    """The function of the regressor Y(q, v, a), shape (nv, columns)."""
    return maker.function("regressor", ("q", "v", "a"), _law(maker, regressors.regressor), {"out": _shape(maker)})


def regressor_entries(maker: Maker, pattern: Pattern, name: str = "regressor_entries") -> CompiledFunction:
    """The function of the entries of Y(q, v, a) at the places of `pattern`, shape (entries,).

    Another pattern than `regressor_pattern` needs a name of its own, by which compiled code is recalled.
    """
    dense = _dense(maker)

    def law(tree: Tree, q: Any, v: Any, a: Any) -> list[Any]:
        rows = dense(tree, q, v, a)
        return [rows[i][j] for i, j in zip(*pattern, strict=True)]

    return maker.function(name, ("q", "v", "a"), law, {"out": (len(pattern.rows),)})


def regressor_pattern(maker: Maker) -> Pattern:
    """The places of the entries of Y that are not 0 at random states, with random values of the parameters `p`."""
    robot, rng = maker.robot, np.random.default_rng(0)
    found = np.zeros(_shape(maker), dtype=bool)
    for _ in range(LOOKS):
        lookup = {parameter.name: float(rng.uniform(0.5, 1.5)) for parameter in maker.parameters}
        if robot.is_timed:
            lookup["t"] = float(rng.uniform(0.5, 1.5))
        q, (v, a) = random_configuration(robot, rng), rng.normal(size=(2, robot.nv))
        tree = maker.recursion.prepare(resolve(robot, lookup))
        found |= np.array(_dense(maker)(tree, q.tolist(), v.tolist(), a.tolist())) != 0.0
    return Pattern(*np.nonzero(found))


def momentum_regressor(maker: Maker) -> CompiledFunction:
    """The function of P and H at (q, v), each of the shape (nv, columns) of Y."""
    shapes = dict.fromkeys(("momentum", "rest"), _shape(maker))
    return maker.function("momentum_regressor", ("q", "v"), _momenta(maker), shapes)


def energy_regressor(maker: Maker) -> CompiledFunction:
    """The function of E and D at (q, v), each of shape (columns,)."""
    robot = maker.robot
    if robot.is_timed:
        raise UnsupportedError(
            f"energy_regressor: the time moves joints of robot '{robot.name}', and their drives do work that tau . v "
            "does not contain; expected joints that move by themselves. Use momentum_regressor."
        )
    law = _law(maker, regressors.energy_regressor)

    def named(*state: Any) -> dict[str, Any]:
        return dict(zip(("energy", "loss"), law(*state), strict=True))

    shapes = dict.fromkeys(("energy", "loss"), _shape(maker)[1:])
    return maker.function("energy_regressor", ("q", "v"), named, shapes)


# ── wrenches through joints ───────────────────────────────────────────────────────────────────────────────────────────


def wrench_regressor(maker: Maker, joints: Sequence[Joint], reference: str) -> CompiledFunction:
    """The function of the wrenches through joints for a unit of each parameter, shape (joints, 6, columns)."""
    law, shapes = _wrench_law(maker, joints, reference), {"out": (len(joints), 6, _shape(maker)[1])}
    return maker.built(maker.program("wrench_regressor", ("q", "v", "a"), law, shapes, written=True, merged=False))


def _wrench_law(maker: Maker, joints: Sequence[Joint], reference: str) -> Law:
    """The law of `wrench_regressor`, of the tree as the user wrote it, in which all bodies are links."""
    names = [body.name for body in moving_bodies(maker.robot)]

    def law(tree: Tree, q: Any, v: Any, a: Any) -> list[Any]:
        moves = tree.moves(q)
        poses = poses_of_moves(tree, moves) if reference == "world" else []
        frames = []
        for joint in joints:
            link = tree.attachments[joint.child].link
            frames.append((link, link_in_reference(reference, tree, moves, poses, joint, link)))
        return regressors.wrench_regressor(tree, q, v, a, names, frames)

    return law


def wrench_joints(robot: Robot, names: str | Sequence[str] | None) -> tuple[Joint, ...]:
    """The joints whose wrenches are wanted, by default those that carry a free base in the world.

    Raises ModelError for unknown names, and UnsupportedError for joints that carry only a part of a loop.
    """
    if names is None:
        found = tuple(joint for joint in robot.joints if joint.kind == "free" and joint.parent == "world")
        if not found:
            raise UnsupportedError(
                f"wrench_regressor: robot '{robot.name}' has no free base in the world, and no joints are named. Name "
                "the joints through which wrenches are measured."
            )
        return found
    found = tuple(robot.joint(name) for name in ((names,) if isinstance(names, str) else names))
    for joint in found:
        carried = {joint.child}
        for other in robot.order:
            if other.parent in carried:
                carried.add(other.child)
        for loop in robot.loops:
            if joint.name == loop.name or (loop.parent in carried) != (loop.child in carried):
                raise UnsupportedError(
                    f"wrench_regressor: joint '{joint.name}' is a part of a loop, which joint '{loop.name}' closes, so "
                    "that its wrench depends on forces in this loop; expected a joint that carries whole loops. Use "
                    "reduced_regressor for forces along the motions of the loop."
                )
    return found


# ── some rows and columns ─────────────────────────────────────────────────────────────────────────────────────────────


class Chosen(NamedTuple):
    """A part of the regressor: rows of velocities, six rows for the wrench through each of `joints`, and columns.

    Wrenches are in the axes of the joint frame on the child, about its origin.
    """

    rows: tuple[int, ...]
    joints: tuple[str, ...]
    columns: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return len(self.rows) + 6 * len(self.joints), len(self.columns)


def chosen_regressor(maker: Maker, chosen: Chosen) -> CompiledFunction:
    """The function of a part of the regressor at (q, v, a), shape `chosen.shape`."""
    return maker.built(_chosen(maker, chosen))


def chosen_regressor_gradient(maker: Maker, chosen: Chosen) -> CompiledFunction:
    """The gradients by q, v, a of the sum of all entries of `chosen_regressor`, each times a weight.

    The function takes (q, v, a, weights), where the weights have the shape of the regressor, and returns g_q (nq,), g_v
    and g_a (nv,). One reverse sweep computes all three, which is some three times the work of the regressor itself.
    """
    from kinemorph.codegen.derivatives.differentiate import reverse

    return maker.built(reverse(_chosen(maker, chosen), by=("q", "v", "a")))


def _chosen(maker: Maker, chosen: Chosen) -> Program:
    """The program of a part of the regressor."""
    dense = _dense(maker)
    through = _wrench_law(maker, [maker.robot.joint(name) for name in chosen.joints], "joint")

    def law(tree: Tree, q: Any, v: Any, a: Any) -> list[list[Any]]:
        whole = dense(tree, q, v, a) if chosen.rows else []
        rows = [whole[row] for row in chosen.rows]
        if chosen.joints:
            rows += [row for six in through(tree, q, v, a) for row in six]
        return [[row[column] for column in chosen.columns] for row in rows]

    every = bool(chosen.joints)  # wrenches through joints need all bodies as links
    shapes = {"out": chosen.shape}
    return maker.program("chosen_regressor", ("q", "v", "a"), law, shapes, written=every, merged=not every)


# ── closed chains: rows along the motions that loops leave ────────────────────────────────────────────────────────────


def reduced_regressor(maker: Maker) -> Law:
    """The law of `Reduction.reduced_regressor`: rho^T Y at (q, v_q, a_q), shape (n, columns)."""
    dense = _dense(maker)

    def law(tree: Tree, q: Any, v_q: Any, a_q: Any, parts: Partition) -> list[list[Any]]:
        rho = velocity_map(tree, q, parts)
        v = matvec(rho, v_q)
        a = add(matvec(rho, a_q), imposed_accelerations(tree, q, v, parts))
        return _along(rho, dense(tree, q, v, a))

    return law


def reduced_momentum_regressor(maker: Maker) -> Law:
    """The law of `Reduction.reduced_momentum_regressor`: rho^T P and rho^T H - (d rho/dt)^T P at (q, v_q)."""
    dense = _momenta(maker)
    dense = state_law("momentum_regressor", dense) if maker.robot.driven else dense

    def law(tree: Tree, q: Any, v_q: Any, parts: Partition) -> dict[str, Any]:
        rho, rate = velocity_map_and_rate(tree, q, v_q, parts)
        found = dense(tree, q, matvec(rho, v_q))
        P, H = found["momentum"], found["rest"]
        return {"momentum": _along(rho, P), "rest": list(mat_sub(_along(rho, H), _along(rate, P)))}

    return law


def _along(rho: Any, rows: Any) -> list[list[Any]]:
    """The product rho^T rows, for rho (nv, n) and rows (nv, columns)."""
    return [list(row) for row in matmul(transpose(rho), rows)]


def _law(maker: Maker, form: Law) -> Law:
    """The law of (tree, q, v, ...) of a form, with the columns of the bodies that joints move."""
    names = [body.name for body in moving_bodies(maker.robot)]
    return lambda *state: form(*state, names)


def _momenta(maker: Maker) -> Law:
    """The law of P and H by name at (q, v) of all joints."""
    law = _law(maker, regressors.momentum_regressor)
    return lambda *state: dict(zip(("momentum", "rest"), law(*state), strict=True))


def _dense(maker: Maker) -> Law:
    """The law of Y(q, v, a) of the state, also where joints are driven."""
    law = _law(maker, regressors.regressor)
    return state_law("regressor", law) if maker.robot.driven else law


def _shape(maker: Maker) -> Shape:
    return (maker.robot.nv, len(column_names(maker.robot)))
