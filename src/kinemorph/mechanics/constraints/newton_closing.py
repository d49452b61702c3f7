"""A closed configuration near a given one, by Newton's method; and how far each loop is open. Floats only.

Nothing is compiled here, so that files are read fast. `analysis.close_loops` does more: it keeps joints within their
limits, tries other starting points, and distinguishes branches.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.mechanics.constraints.closures import (
    constraint_error,
    constraint_jacobian,
    constraint_owners,
    constraint_sizes,
)
from kinemorph.mechanics.constraints.kept_coordinates import Kept, Look, Move
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.configuration import integrate
from kinemorph.model.robot import Robot

OPEN = 1e-3  # relative to the size of the loop: a larger opening is more than rounded numbers in a file
CLOSED = 1e-13  # relative to the size of the loop: a smaller opening counts as closed
MOST_STEPS = 60
LONGEST = 0.3  # [rad or m], the largest step
IDLE = 8  # steps at openings up to OPEN, whose smallest falls by less than a tenth, end the search
FLAT = 1e-9  # relative to the largest singular value of J: a direction with a smaller one closes nothing
ASIDE = 0.1  # [rad or m], the first step where joints are in line, so that no step closes the loops


def loop_gaps(robot: Robot, q: Sequence[float]) -> dict[str, float]:
    """How far loops are open at q (nq,): joint name -> largest error of its rows [m or rad], the largest first.

    The joints are those that close a loop or follow another joint; joints whose error is within rounding are left out.
    """
    tree = resolve(robot)
    at = tree.all_joints([float(x) for x in q]).q
    phi, sizes = np.abs(constraint_error(tree, at)), constraint_sizes(tree, at)
    gaps: dict[str, float] = {}
    for owner, gap, size in zip(constraint_owners(robot), phi, sizes, strict=True):
        if gap > OPEN * float(size):
            gaps[owner] = max(gaps.get(owner, 0.0), float(gap))
    return dict(sorted(gaps.items(), key=lambda item: -item[1]))


def closed_by_newton(look: Look, move: Move, q: Array, flat: float = FLAT) -> tuple[Array, float]:
    """(q, its largest opening relative to the sizes of rows) after Newton steps of least norm, each at most LONGEST.

    `look(q)` gives the errors and the Jacobian, `move(q, dq)` the configuration after a displacement dq (nv,).
    Directions with singular values of J below `flat`, relative to the largest one, are not used. Nearly closed, the
    search ends where it gets nowhere, as with rows that contradict each other by the rounding of their data.
    """
    apart, least, idle = np.inf, np.inf, 0
    for _ in range(MOST_STEPS):
        phi, J = look(q)
        before, apart = apart, float(np.abs(phi).max(initial=0.0))
        if apart <= CLOSED or (apart <= 1e3 * CLOSED and apart >= before):  # closed, or as well as rounding allows
            break
        least, idle = (apart, 0) if apart < 0.9 * least or apart > OPEN else (least, idle + 1)
        if idle == IDLE:
            break
        step = -np.linalg.pinv(J, flat) @ phi
        q = move(q, step * min(1.0, LONGEST / max(float(np.abs(step).max(initial=0.0)), LONGEST)))
    else:
        apart = float(np.abs(look(q)[0]).max(initial=0.0))
    return q, apart


def float_look(tree: Tree) -> Look:
    """The function look(q) that gives constraint errors and their Jacobian on floats, relative to the sizes of rows."""

    def look(at: Array) -> tuple[Array, Array]:
        every = tree.all_joints(at.tolist())
        sizes = np.array(constraint_sizes(tree, every.q), dtype=float)
        J = np.array(every.columns(constraint_jacobian(tree, every.q)), dtype=float).reshape(-1, every.driving.nv)
        return np.array(constraint_error(tree, every.q), dtype=float) / sizes, J / sizes[:, None]

    return look


def assembled(robot: Robot, q: Sequence[float], kept: Collection[str]) -> Array | None:
    """The configuration (nq,) near q in which all loops are closed and the coordinates `kept` are unchanged.

    None where no such configuration was found.
    """
    tree, names = resolve(robot), robot.q_names
    held = Kept(tree.of_state.links, {names.index(name) for name in kept}, np.zeros(robot.nv, dtype=bool))
    found, apart = closed_nearby(float_look(tree), lambda at, w: integrate(robot, at, w), np.array(q, float), held)
    return found if apart <= 1e3 * CLOSED else None


def closed_nearby(look: Look, move: Move, q: Array, kept: Kept) -> tuple[Array, float]:
    """The result of `closed_by_newton` with the smallest opening, from q and from two configurations next to it.

    The other two help where joints are in line at q, so that no small step closes the loops. What is `kept` stays.
    """
    best: tuple[Array, float] = q, np.inf
    look, move = kept.keeping(look, move)
    for aside in (0.0, ASIDE, -ASIDE):
        begun = move(q, kept.directions(q) @ np.full(len(kept.still), aside)) if aside else q
        found = closed_by_newton(look, move, begun)
        if found[1] <= 1e3 * CLOSED:
            return found
        best = min(best, found, key=lambda one: one[1])
    return best
