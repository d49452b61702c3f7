"""Which velocities of a robot with closed chains are independent, and which depend on them, at one configuration.

Everything here is computed once, by NumPy on plain numbers; the results are indices in v and rows of phi. Where no
choice is possible, an exception names the joints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.mechanics.constraints import closures
from kinemorph.mechanics.constraints.independent_columns import independent_columns
from kinemorph.mechanics.constraints.newton_closing import closed_by_newton, float_look
from kinemorph.mechanics.constraints.reduced_dynamics import Partition
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.configuration import integrate, neutral
from kinemorph.model.robot import Robot
from kinemorph.words import did_you_mean

REPEATED = 1e-9  # relative to the longest row or column: one with a smaller independent part is redundant
SINGULAR = 1e10  # cond(J_z) from which dependent velocities count as not determined
CLOSED = 1e-9  # the largest error of a closed loop, relative to its size
TRIES, AROUND = 4, 0.2  # configurations to try where none is given, and how much farther away each is [rad or m]


def velocity_places(robot: Robot, names: str | Sequence[str], what: str) -> tuple[int, ...]:
    """The indices in v of joints (all their velocities) or of single velocities, by name.

    `what` names the caller in messages. Raises ModelError for unknown names.
    """
    joints = [joint.name for joint in robot.joints if joint.nv]
    known = list(dict.fromkeys([*joints, *robot.v_names]))
    places: list[int] = []
    for name in (names,) if isinstance(names, str) else names:
        if name not in known:
            fixed = name in robot.joint_names
            found = f"joint '{name}' is fixed" if fixed else f"robot '{robot.name}' has no joint '{name}'"
            raise ModelError(
                f"{what}: {found}.{'' if fixed else did_you_mean(name, known)} Known: {', '.join(joints)}."
            )
        part = (
            robot.v_slice(name) if name in joints else slice(robot.v_names.index(name), robot.v_names.index(name) + 1)
        )
        for place in range(part.start, part.stop):
            if place in places:
                raise ModelError(f"{what}: '{name}' is named twice. Name it once.")
            places.append(place)
    return tuple(places)


def assembled(robot: Robot, tree: Tree, start: npt.ArrayLike | None, what: str) -> Array:
    """A closed configuration (nq,) near `start`, or near the neutral one; raises UnsupportedError without one."""
    for q in configurations_to_try(robot, tree, start, what):
        return q
    near = "near the neutral configuration" if start is None else "near the configuration given"
    raise UnsupportedError(
        f"{what}: the loops of robot '{robot.name}' do not close {near}. Give a closed configuration as at=, which "
        "close_loops can find."
    )


def configurations_to_try(robot: Robot, tree: Tree, start: npt.ArrayLike | None, what: str) -> Iterator[Array]:
    """Closed configurations (nq,) near `start`; without it, near the neutral configuration and some around it."""
    q = neutral(robot) if start is None else np.array(start, dtype=float)
    if q.shape != (robot.nq,) or not np.isfinite(q).all():
        raise UnsupportedError(
            f"{what}: `at` has shape {q.shape}; expected ({robot.nq},) finite numbers, in the order of q_names."
        )
    rng = np.random.default_rng(0)
    tries = TRIES if start is None else 1
    for k in range(tries):
        begun = integrate(robot, q, k * AROUND * rng.normal(size=robot.nv)) if k else q
        found, apart = closed_by_newton(float_look(tree), lambda at, step: integrate(robot, at, step), begun)
        if apart <= CLOSED:
            yield found


def chosen_partition(
    robot: Robot, tree: Tree, q: Array, independent: str | Sequence[str] | None, actuated: Sequence[int]
) -> Partition:
    """Independent and dependent velocities at a configuration: as named, or chosen so that J_z is well conditioned.

    J_z are the columns of dependent velocities of the constraint Jacobian. The automatic choice makes velocities that
    are not `actuated` dependent first. Raises UnsupportedError where J_z is singular.
    """
    J = scaled_jacobian(tree, q)
    every = range(robot.nv)
    longest = float(np.linalg.norm(J, axis=0).max(initial=0.0))
    rank = len(independent_columns(J, least=REPEATED * longest))
    if independent is None:
        free = [k for k in every if k not in actuated] if len(actuated) < robot.nv else []
        undriven = independent_columns(J, free, least=0.1 * longest)
        dependent = sorted(independent_columns(J, least=REPEATED * longest, taken=undriven))
    else:
        named = velocity_places(robot, independent, "reduced: independent")
        if robot.nv - len(named) != rank:
            raise UnsupportedError(
                f"reduced: {len(named)} independent velocities are named ({listed(robot, named)}), and robot "
                f"'{robot.name}' has {robot.nv - rank} here: {robot.nv} velocities and {rank} independent constraints. "
                f"Name {robot.nv - rank} of: {listed(robot, every)}."
            )
        dependent = [k for k in every if k not in named]
    J_z = J[:, dependent]
    least = REPEATED * float(np.linalg.norm(J_z, axis=1).max(initial=0.0))
    rows = sorted(independent_columns(J_z.T, least=least))[:rank]
    size = np.inf if len(rows) < rank else float(np.linalg.cond(J_z[rows])) if rank else 1.0
    if not size < SINGULAR:
        others = [k for k in every if k not in dependent]
        raise UnsupportedError(
            f"reduced: with {listed(robot, others)} independent, the loops of robot '{robot.name}' do not determine "
            f"{listed(robot, dependent)} at this configuration: cond(J_z) is {size:.2g}, expected less than "
            f"{SINGULAR:.0e}. Name other velocities, or give another configuration as at=."
        )
    return Partition(tuple(k for k in every if k not in dependent), tuple(dependent), tuple(rows))


def scaled_jacobian(tree: Tree, q: Array) -> Array:
    """The constraint Jacobian at q, shape (nc, nv), with rows scaled to length 1; rows of rounding errors are 0."""
    every = tree.all_joints(q.tolist())
    of_all, sizes = closures.constraint_jacobian(tree, every.q), closures.constraint_sizes(tree, every.q)
    weights = np.array(closures.constraint_weights(tree, of_all, sizes), dtype=float)
    J = np.array(every.columns(of_all), dtype=float).reshape(-1, every.driving.nv)
    lengths = np.linalg.norm(J, axis=1)
    return np.where((weights * lengths > 0.0)[:, None], J / np.maximum(lengths, 1e-300)[:, None], 0.0)


def listed(robot: Robot, places: Sequence[int]) -> str:
    """The names of the velocities with these indices, as a list in words."""
    return ", ".join(robot.v_names[k] for k in places) or "none"
