"""Which velocities of a robot with loops may be told freely, and which follow: choices made at one configuration.

Everything here is decided once, by NumPy on plain numbers; what comes out are places in v and rows of phi. A choice
that cannot be made is an exception which names the joints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.mechanics.constraints import closures
from kinemorph.mechanics.constraints.newton_closing import closed_by_newton, float_look
from kinemorph.mechanics.constraints.reduced_dynamics import Partition
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.configuration import integrate, neutral
from kinemorph.model.robot import Robot
from kinemorph.words import did_you_mean

REPEATED = 1e-9  # what is left of a row or column, against the longest, where it repeats others
SINGULAR = 1e10  # cond(J_z) from which dependent velocities count as undecided
CLOSED = 1e-9  # of the size of a loop
TRIES, AROUND = 4, 0.2  # configurations to look at where none is given; the next is farther away by so much [rad or m]


def velocity_places(robot: Robot, names: str | Sequence[str], what: str) -> tuple[int, ...]:
    """Places in v of joints (all their velocities) or of single velocities, by name; raises for what is not there."""
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
    """The closed configuration (nq,) near a start, or one near the neutral; raises where none is found."""
    for q in _closed_ones(robot, tree, start, what):
        return q
    near = "near the neutral configuration" if start is None else "near the configuration given"
    raise UnsupportedError(
        f"{what}: the loops of robot '{robot.name}' do not close {near}. Give a closed one as `at`, as close_loops "
        "finds it."
    )


def _closed_ones(robot: Robot, tree: Tree, start: npt.ArrayLike | None, what: str) -> Iterator[Array]:
    """Closed configurations near a start; where none is given, near the neutral one and some about it."""
    q = neutral(robot) if start is None else np.array(start, dtype=float)
    if q.shape != (robot.nq,) or not np.isfinite(q).all():
        raise UnsupportedError(f"{what}: `at` has shape {q.shape}; expected ({robot.nq},) finite numbers, as q_names.")
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
    """The velocities to go by at a configuration: those named, or such that J_z is well conditioned.

    By itself it takes velocities that nobody drives as dependent first. Raises where J_z cannot be solved.
    """
    J = scaled_jacobian(tree, q)
    every = range(robot.nv)
    rank = len(_pivots(J, every))
    if independent is None:
        free = [k for k in every if k not in actuated] if len(actuated) < robot.nv else []
        dependent = sorted(_pivots(J, every, first=free))
    else:
        named = velocity_places(robot, independent, "reduced: independent")
        if robot.nv - len(named) != rank:
            raise UnsupportedError(
                f"reduced: {len(named)} independent velocities are named ({_listed(robot, named)}), and robot "
                f"'{robot.name}' has {robot.nv - rank} here: {robot.nv} velocities and {rank} constraints that do not "
                f"repeat each other. Name {robot.nv - rank} of: {_listed(robot, every)}."
            )
        dependent = [k for k in every if k not in named]
    J_z = J[:, dependent]
    rows = sorted(_pivots(J_z.T, range(len(J_z))))[:rank]
    size = np.inf if len(rows) < rank else float(np.linalg.cond(J_z[rows])) if rank else 1.0
    if not size < SINGULAR:
        others = [k for k in every if k not in dependent]
        raise UnsupportedError(
            f"reduced: with {_listed(robot, others)} independent, the loops of robot '{robot.name}' do not decide "
            f"{_listed(robot, dependent)} at this configuration: cond(J_z) is {size:.2g}, expected less than "
            f"{SINGULAR:.0e}. Name others, or another configuration as `at`."
        )
    return Partition(tuple(k for k in every if k not in dependent), tuple(dependent), tuple(rows))


def scaled_jacobian(tree: Tree, q: Array) -> Array:
    """J at q, shape (nc, nv), rows of length 1; those that are rounding only are 0."""
    J = np.array(closures.constraint_jacobian(tree, q.tolist()), dtype=float).reshape(-1, tree.nv)
    sizes = closures.constraint_sizes(tree, q.tolist())
    weights = np.array(closures.constraint_weights(tree, J.tolist(), sizes), dtype=float)
    lengths = np.linalg.norm(J, axis=1)
    return np.where((weights * lengths > 0.0)[:, None], J / np.maximum(lengths, 1e-300)[:, None], 0.0)


def check_driven(robot: Robot, tree: Tree, places: Sequence[int], at: npt.ArrayLike | None) -> None:
    """Raises where forces at some velocities cannot drive every motion of the robot; says which they leave alone.

    At a configuration, or at several about the neutral one: there one that can be driven is enough.
    """
    left: Array | None = None
    if at is not None:
        assembled(robot, tree, at, "actuation")
    for q in _closed_ones(robot, tree, at, "actuation"):
        left = _undriven(scaled_jacobian(tree, q), places)
        if left is None:
            return
    if left is None:
        return  # nothing is known: the residual tells
    share = np.abs(left) / np.abs(left).max()
    moving = ", ".join(f"{robot.v_names[k]} {left[k]:+.3g}" for k in np.argsort(-share)[:6] if share[k] > 1e-6)
    raise UnsupportedError(
        f"actuation: forces at {_listed(robot, places)} cannot drive robot '{robot.name}': none of them acts on the "
        f"motion {moving}. Name more joints, or such as move with it."
    )


def _undriven(J: Array, places: Sequence[int]) -> Array | None:
    """A motion (nv,) that constraints leave free and that moves none of the places, or None."""
    _, sizes, rows = np.linalg.svd(J) if len(J) else (None, np.zeros(0), np.eye(J.shape[1]))
    free = rows[int((sizes > REPEATED * max(1.0, sizes.max(initial=0.0))).sum()) :].T
    _, sizes, rows = np.linalg.svd(free[list(places)])
    rank = int((sizes > REPEATED).sum())
    if rank == free.shape[1]:
        return None
    left: Array = free @ rows[-1]
    left = left / left[np.argmax(np.abs(left))]
    return left


def _pivots(A: Array, columns: Sequence[int], first: Sequence[int] = ()) -> list[int]:
    """Columns of A that do not repeat each other, the longest rest first; those of `first` where they will do."""
    rest = A.copy()
    chosen: list[int] = []
    longest = float(np.linalg.norm(A, axis=0).max(initial=0.0))
    for candidates, least in ((first, 0.1), (columns, REPEATED)):
        while len(chosen) < min(A.shape):
            sizes = {k: float(np.linalg.norm(rest[:, k])) for k in candidates if k not in chosen}
            best = max(sizes, key=lambda k: sizes[k], default=None)
            if best is None or sizes[best] <= least * longest:
                break
            chosen.append(best)
            unit = rest[:, best] / sizes[best]
            for _ in range(2):  # twice is enough to be orthogonal to rounding
                rest = rest - np.outer(unit, unit @ rest)
    return chosen


def _listed(robot: Robot, places: Sequence[int]) -> str:
    return ", ".join(robot.v_names[k] for k in places) or "none"
