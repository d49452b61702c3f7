"""The closed configuration near another one, by Newton's method; and how far each loop is open, on plain floats.

It works on floats, so that files are read without compiling anything. `close_loops` of analysis does more: it keeps
joints within limits, tries other starts, and knows branches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.mechanics.constraints.closures import (
    constraint_error,
    constraint_jacobian,
    constraint_owners,
    constraint_sizes,
)
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.configuration import integrate
from kinemorph.model.robot import Robot

OPEN = 1e-3  # of the size of its loop: a larger opening is not rounding of numbers
CLOSED = 1e-13  # of the size of its loop: a smaller opening counts as closed
MOST_STEPS = 60
LONGEST = 0.3  # [rad or m], the largest step
FLAT = 1e-9  # of the largest singular value: a direction that closes nothing
ASIDE = 0.1  # [rad or m], the first step where joints are in line, so that no step closes the loops


def loop_gaps(robot: Robot, q: Sequence[float]) -> dict[str, float]:
    """For every loop and coupled joint that is open at q (nq,): by how much at most [m or rad], the worst first."""
    tree, at = resolve(robot), [float(x) for x in q]
    phi, sizes = np.abs(constraint_error(tree, at)), constraint_sizes(tree, at)
    gaps: dict[str, float] = {}
    for owner, gap, size in zip(constraint_owners(robot), phi, sizes, strict=True):
        if gap > OPEN * float(size):
            gaps[owner] = max(gaps.get(owner, 0.0), float(gap))
    return dict(sorted(gaps.items(), key=lambda item: -item[1]))


Look = Callable[[Array], tuple[Array, Array]]  # (phi (nc,), J (nc, nv)) at q, rows against their sizes
Move = Callable[[Array, Array], Array]  # q after a displacement (nv,)


def closed_by_newton(look: Look, move: Move, q: Array) -> tuple[Array, float]:
    """(q, its largest opening relative to the sizes of rows) after steps of least norm, each at most LONGEST."""
    apart = np.inf
    for _ in range(MOST_STEPS):
        phi, J = look(q)
        before, apart = apart, float(np.abs(phi).max(initial=0.0))
        if apart <= CLOSED or (apart <= 1e3 * CLOSED and apart >= before):  # closed, or as well as rounding allows
            break
        step = -np.linalg.pinv(J, FLAT) @ phi
        q = move(q, step * min(1.0, LONGEST / max(float(np.abs(step).max(initial=0.0)), LONGEST)))
    else:
        apart = float(np.abs(look(q)[0]).max(initial=0.0))
    return q, apart


def float_look(tree: Tree, free: npt.NDArray[np.bool_] | None = None) -> Look:
    """The constraints of a tree, by plain floats; `free` (nv,) are the velocities that may close them."""

    def look(at: Array) -> tuple[Array, Array]:
        values = at.tolist()
        sizes = np.array(constraint_sizes(tree, values), dtype=float)
        J = np.array(constraint_jacobian(tree, values), dtype=float).reshape(-1, tree.nv)
        kept = J if free is None else np.where(free, J, 0.0)
        return np.array(constraint_error(tree, values), dtype=float) / sizes, kept / sizes[:, None]

    return look


def assembled(robot: Robot, q: Sequence[float], kept: Collection[str]) -> Array | None:
    """The configuration (nq,) near q that closes all loops, with the joints `kept` unchanged; None where there
    is none.
    """
    free = np.ones(robot.nv, dtype=bool)
    for joint in kept:
        free[robot.v_slice(joint)] = False
    found, apart = closed_nearby(
        float_look(resolve(robot), free), lambda at, step: integrate(robot, at, step), np.array(q, dtype=float), free
    )
    return found if apart <= 1e3 * CLOSED else None


def closed_nearby(look: Look, move: Move, q: Array, free: npt.NDArray[np.bool_]) -> tuple[Array, float]:
    """As `closed_by_newton`; where joints are in line, so that no step closes anything, it also starts from a little
    aside.

    `free` (nv,) are the velocities that may close the loops. Returns the result with the smallest opening.
    """
    best: tuple[Array, float] = q, np.inf
    for aside in (0.0, ASIDE, -ASIDE):
        found = closed_by_newton(look, move, move(q, np.where(free, aside, 0.0)) if aside else q)
        if found[1] <= 1e3 * CLOSED:
            return found
        best = min(best, found, key=lambda one: one[1])
    return best
