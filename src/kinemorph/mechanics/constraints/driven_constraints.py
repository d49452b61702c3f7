"""Constraints and joint reactions of robots with driven joints, at the state (q, v) and its accelerations.

Closures, coupled joints and reactions are laws of all joints; `formulations.driven_dynamics` maps them to the state.
Without driven joints both are the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kinemorph.algebra.scalar import S
from kinemorph.algebra.vectors import sub
from kinemorph.mechanics.constraints.closures import rows_of
from kinemorph.mechanics.constraints.constrained import ConstraintRows
from kinemorph.mechanics.constraints.reactions import joint_wrenches, reaction_multipliers
from kinemorph.mechanics.constraints.wrench_views import IN_JOINT, WrenchView
from kinemorph.mechanics.formulations.driven_dynamics import of_state
from kinemorph.mechanics.formulations.table import FORMULATIONS
from kinemorph.mechanics.recursions.newton_euler import Wrench
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.robot import Robot


def through_joints(
    robot: Robot, tree: Tree, q: Any, v: Any, a: Any, *others: Any, view: WrenchView = IN_JOINT
) -> list[list[S]]:
    """The wrench through every joint at the state (q, v) and its accelerations `a`; see `reactions.joint_wrenches`."""
    every = tree.all_joints(q, v)
    return joint_wrenches(robot, tree, every.q, every.v, every.accelerations(a), *others, view=view)


def multipliers_in(
    tree: Tree,
    q: Any,
    v: Any,
    a: Any,
    tau: Sequence[S],
    rows: ConstraintRows,
    loads: Mapping[int, Wrench] | None = None,
    locked: Collection[int] = (),
) -> list[S]:
    """The multipliers (nc,) of the constraint `rows` in a motion with state (q, v), accelerations `a` and forces `tau`.

    All of these are of the state, not of driven joints; see `reactions.reaction_multipliers`.
    """
    row = FORMULATIONS["newton_euler"]
    row = row if tree.driving is None else of_state(row)
    unmet = sub(tau, row.inverse_dynamics(tree, q, v, a, loads))
    return reaction_multipliers(row.mass_matrix(tree, q), unmet, rows, locked)


def constraint_rows(tree: Tree, q: Sequence[S], v: Sequence[S]) -> ConstraintRows:
    """The constraint rows on the accelerations (nv,) of the state with which loops stay closed and joints coupled."""
    every = tree.all_joints(q, v)
    rows = rows_of(tree, every.q, every.v)
    return rows._replace(J=every.columns(rows.J), wanted=every.less_bias(rows.J, rows.wanted))
