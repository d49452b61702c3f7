"""The start of a robot with loops, on plain floats: how far each loop is open, and the closed configuration near by.

Made for files, which are read without compiling anything. `close_loops` of analysis does more.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from kinemorph.mechanics.loops import constraint_error, constraint_jacobian, constraint_owners, constraint_sizes
from kinemorph.mechanics.resolving import resolve
from kinemorph.model.configuration import integrate
from kinemorph.model.robot import Robot

Array = npt.NDArray[np.float64]

OPEN = 1e-3  # of the size of its loop: one that is open by more is no rounding of numbers
CLOSED = 1e-13  # likewise: closed
MOST_STEPS = 60
LONGEST = 0.3  # [rad or m] of a step
FLAT = 1e-9  # of the largest singular value: a direction that closes nothing
ASIDE = 0.1  # [rad or m] of the first step where joints are in line, which opens no way to close them


def loop_gaps(robot: Robot, q: Sequence[float]) -> dict[str, float]:
    """For every loop and coupled joint that is open at q (nq,): by how much at most [m or rad], the worst first."""
    tree, at = resolve(robot), [float(x) for x in q]
    phi, sizes = np.abs(constraint_error(tree, at)), constraint_sizes(tree, at)
    gaps: dict[str, float] = {}
    for owner, gap, size in zip(constraint_owners(robot), phi, sizes, strict=True):
        if gap > OPEN * float(size):
            gaps[owner] = max(gaps.get(owner, 0.0), float(gap))
    return dict(sorted(gaps.items(), key=lambda item: -item[1]))


def assembled(robot: Robot, q: Sequence[float], kept: Collection[str]) -> Array | None:
    """The configuration (nq,) near q that closes all loops, with the joints `kept` as they are; None where none is."""
    tree = resolve(robot)
    free = np.ones(robot.nv, dtype=bool)
    for joint in kept:
        free[robot.v_slice(joint)] = False
    now = np.array(q, dtype=float)

    def seen(at: Array) -> tuple[Array, Array]:
        values = at.tolist()
        sizes = np.array(constraint_sizes(tree, values), dtype=float)
        J = np.array(constraint_jacobian(tree, values), dtype=float)
        return np.array(constraint_error(tree, values), dtype=float) / sizes, np.where(free, J, 0.0) / sizes[:, None]

    nudge = np.where(free, ASIDE, 0.0)
    for start in (now, integrate(robot, now, nudge), integrate(robot, now, -nudge)):
        now = start
        for _ in range(MOST_STEPS):
            phi, J = seen(now)
            if np.abs(phi).max(initial=0.0) <= CLOSED:
                return now
            step = -np.linalg.pinv(J, FLAT) @ phi
            now = integrate(robot, now, step * min(1.0, LONGEST / max(np.abs(step).max(initial=0.0), LONGEST)))
        if np.abs(seen(now)[0]).max(initial=0.0) <= 1e3 * CLOSED:
            return now
    return None
