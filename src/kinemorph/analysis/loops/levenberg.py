"""Damped Gauss-Newton on a manifold, within limits: the Levenberg-Marquardt method with projection.

The residual e(q) has to become zero. With e(q + dv) = e - J dv to first order, each step solves

    (J^T J + mu) dv = J^T e,    mu = kappa |e|^2

for the velocities that are free to move: one that is at a limit and is pushed against it stays fixed in this step, and
a coordinate that still crosses a limit is put back onto it. kappa follows the gain, which is the actual decrease of
|e|^2 divided by the predicted one (Nielsen 1999). As mu falls with the square of the residual, the last steps converge
quadratically, also where J loses rank (Fan & Yuan 2005).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array

LONGEST = 1.0  # [rad or m], largest entry of one step: beyond this, the linear model is not valid
FLAT = 1e-10  # where the gradient is below this, relative to |J| |e|, q is a minimum
SHORTEST = 1e-14  # [rad or m], a shorter step changes nothing
ENOUGH = 1e-4  # least gain of a step that is taken
LEAST, FIRST_GROWTH = 1e-9, 2.0  # the smallest kappa, and the factor by which it grows after the first failed step
REGULAR = 1e-12  # least damping relative to the largest diagonal entry of J^T J, which is singular for redundant robots


class LeastSquares(NamedTuple):
    """A problem of least squares: functions for the residual, for a step, and for the velocities that are fixed."""

    linearize: Callable[[Array], tuple[Array, Array]]  # q -> residual e (m,), Jacobian J (m, nv)
    step: Callable[[Array, Array], Array]  # (q, dv) -> q, within the limits
    held: Callable[[Array, Array], npt.NDArray[np.bool_]]  # (q, push) -> velocities at a limit and pushed against it


class Damping(NamedTuple):
    """The damping of one problem, or of many side by side (arrays of any shape): kappa, and by how much it grows next.

    kappa follows the gain of a step: it falls after a good step, and grows faster and faster while steps fail.
    """

    kappa: Array
    growth: Array

    def after(self, gain: Array | float, better: npt.NDArray[np.bool_] | bool) -> Damping:
        """The damping after steps with this gain, of which those that are `better` were taken."""
        falling = np.maximum(self.kappa * np.maximum(1.0 / 3.0, 1.0 - (2.0 * np.asarray(gain) - 1.0) ** 3), LEAST)
        kappa = np.where(better, falling, self.kappa * self.growth)
        return Damping(kappa, np.where(better, FIRST_GROWTH, FIRST_GROWTH * self.growth))


class Descent(NamedTuple):
    """The result of `descend`: q, its residual (m,), the number of steps tried, and whether the goal was reached."""

    q: Array
    residual: Array
    iterations: int
    reached: bool


def descend(problem: LeastSquares, q: Array, *, reached: Callable[[Array], bool], iterations: int) -> Descent:
    """Reduces the residual from q until `reached(residual)` is true, at a minimum, or after `iterations` steps."""
    damping = Damping(np.array(1e-2), np.array(FIRST_GROWTH))
    e, J = problem.linearize(q)
    error = float(e @ e)
    for count in range(iterations):
        if reached(e):
            return Descent(q, e, count, True)
        push = J.T @ e
        free = ~problem.held(q, push)
        if np.linalg.norm(push[free]) <= FLAT * np.linalg.norm(J) * np.sqrt(error):
            return Descent(q, e, count, False)
        dv = _damped_step(J[:, free], push[free], float(damping.kappa) * error)
        if np.abs(dv).max() <= SHORTEST:
            return Descent(q, e, count, False)
        moved = np.zeros(len(free))
        moved[free] = dv
        q_new = problem.step(q, moved)
        e_new, J_new = problem.linearize(q_new)
        error_new = float(e_new @ e_new)
        predicted = float(2.0 * dv @ push[free] - np.sum((J @ moved) ** 2))
        gain = (error - error_new) / predicted if predicted > 0.0 else -1.0
        better = error_new < error and gain > ENOUGH
        damping = damping.after(gain, better)
        if better:
            q, e, J, error = q_new, e_new, J_new, error_new
    return Descent(q, e, iterations, reached(e))


def _damped_step(J: Array, push: Array, mu: float) -> Array:
    """The solution of (J^T J + mu) dv = push, shortened where its largest entry is above LONGEST."""
    normal = J.T @ J
    normal[np.diag_indices_from(normal)] += mu + REGULAR * float(normal.diagonal().max())
    dv = np.linalg.solve(normal, push)
    return np.asarray(dv * min(1.0, LONGEST / max(float(np.abs(dv).max()), LONGEST)))
