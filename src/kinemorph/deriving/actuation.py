"""Inverse dynamics with actuators at some joints only: the forces at these joints that produce an acceleration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.deriving import independent_velocities as velocities
from kinemorph.deriving.making import Maker
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.mechanics.constraints import actuation as driving
from kinemorph.mechanics.constraints.constrained import ConstraintRows
from kinemorph.mechanics.constraints.driven_constraints import constraint_rows
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.robot import Robot


def actuation(
    maker: Maker, joints: str | Sequence[str], weights: npt.ArrayLike | None, at: npt.ArrayLike | None
) -> CompiledFunction:
    """A compiled function: the forces at `joints` that produce an acceleration; see `Dynamics.actuation`."""
    robot = maker.robot
    places = velocities.velocity_places(robot, joints, "actuation")
    if not places:
        known = ", ".join(robot.v_names)
        raise ModelError(f"actuation: no joint is named. Name joints or velocities of robot '{robot.name}': {known}.")
    costs = driving.checked_weights(weights, [robot.v_names[k] for k in places])
    _check_driven(robot, maker.tree, places, at)

    def needed(tree: Tree, q: Any, v: Any, a: Any, *loads: Any) -> dict[str, Any]:
        rest = [0.0 - force for force in maker.recursion.bias_forces(tree, q, v, *loads)]
        rows = ConstraintRows([], [], []) if maker.is_open else constraint_rows(tree, q, v)
        return driving.actuation(tree, maker.recursion.mass_matrix(tree, q), rest, rows, a, places, costs)

    shapes = {"tau": (len(places),), "residual": (robot.nv,), "rank": ()}
    return maker.built(maker.program("actuation", ("q", "v", "a", "wrenches"), needed, shapes))


def _check_driven(robot: Robot, tree: Tree, places: Sequence[int], at: npt.ArrayLike | None) -> None:
    """Raises an error that names a motion of the robot which forces at the velocities `places` cannot drive.

    It checks the configuration `at`; without it, several around the neutral one, of which one has to pass.
    """
    left: Array | None = None
    if at is not None:
        velocities.assembled(robot, tree, at, "actuation")
    for q in velocities.configurations_to_try(robot, tree, at, "actuation"):
        left = _undriven(velocities.scaled_jacobian(tree, q), places)
        if left is None:
            return
    if left is None:
        return  # no closed configuration was found: the residual will show it
    share = np.abs(left) / np.abs(left).max()
    moving = ", ".join(f"{robot.v_names[k]} {left[k]:+.3g}" for k in np.argsort(-share)[:6] if share[k] > 1e-6)
    raise UnsupportedError(
        f"actuation: forces at {velocities.listed(robot, places)} cannot drive robot '{robot.name}': none of them acts "
        f"on the motion with velocities {moving}. Name more joints, or joints that take part in this motion."
    )


def _undriven(J: Array, places: Sequence[int]) -> Array | None:
    """Velocities (nv,) that satisfy the constraints and are 0 at the indices `places`; None if only v = 0 does.

    J is the constraint Jacobian with scaled rows.
    """
    _, sizes, rows = np.linalg.svd(J) if len(J) else (None, np.zeros(0), np.eye(J.shape[1]))
    free = rows[int((sizes > velocities.REPEATED * max(1.0, sizes.max(initial=0.0))).sum()) :].T
    _, sizes, rows = np.linalg.svd(free[list(places)])
    rank = int((sizes > velocities.REPEATED).sum())
    if rank == free.shape[1]:
        return None
    left: Array = free @ rows[-1]
    left = left / left[np.argmax(np.abs(left))]
    return left
