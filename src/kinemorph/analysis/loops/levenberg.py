"""Damped Gauss-Newton on a manifold, within limits: the Levenberg-Marquardt method with projection.

The residual e(q) is to become zero. With e(q + dv) = e - J dv to first order, each step solves

    (J^T J + mu) dv = J^T e,    mu = kappa |e|^2

on the velocities that are free to move: one that is at a limit and is pushed against it stays fixed for this step, and
a coordinate that still crosses a limit is put back onto it. kappa follows the gain, achieved over predicted decrease
(Nielsen 1999); mu falling with the square of the residual keeps the last steps quadratic, also where J loses rank (Fan
& Yuan 2005).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array

LONGEST = 1.0  # largest entry of one step [rad or m]: beyond this, the linear model is not valid
FLAT = 1e-10  # a slope below this, relative to |J| |e|, is a minimum
SHORTEST = 1e-14  # a step below this changes nothing
REGULAR = 1e-12  # least damping against the largest diagonal entry of J^T J: redundant robots leave it singular


class LeastSquares(NamedTuple):
    """The problem to solve: residual (m,) and Jacobian (m, nv) at q, a step, and the velocities that have to stay at a
    limit.
    """

    linearize: Callable[[Array], tuple[Array, Array]]
    step: Callable[[Array, Array], Array]  # (q, dv) -> q, within the limits
    held: Callable[[Array, Array], npt.NDArray[np.bool_]]  # (q, push) -> velocities at a limit and pushed against it


class Descent(NamedTuple):
    """The result of a descent: q, the residual there, how many steps were tried, and whether the goal was met."""

    q: Array
    residual: Array
    iterations: int
    reached: bool


def descend(problem: LeastSquares, q: Array, *, reached: Callable[[Array], bool], iterations: int) -> Descent:
    """Descends from q until `reached(residual)`, a minimum, or the last iteration."""
    kappa, growth = 1e-2, 2.0
    e, J = problem.linearize(q)
    error = float(e @ e)
    for count in range(iterations):
        if reached(e):
            return Descent(q, e, count, True)
        push = J.T @ e
        free = ~problem.held(q, push)
        if np.linalg.norm(push[free]) <= FLAT * np.linalg.norm(J) * np.sqrt(error):
            return Descent(q, e, count, False)
        dv = _damped_step(J[:, free], push[free], kappa * error)
        if np.abs(dv).max() <= SHORTEST:
            return Descent(q, e, count, False)
        moved = np.zeros(len(free))
        moved[free] = dv
        q_new = problem.step(q, moved)
        e_new, J_new = problem.linearize(q_new)
        error_new = float(e_new @ e_new)
        predicted = float(2.0 * dv @ push[free] - np.sum((J @ moved) ** 2))
        gain = (error - error_new) / predicted if predicted > 0.0 else -1.0
        if error_new < error and gain > 1e-4:
            q, e, J, error = q_new, e_new, J_new, error_new
            kappa, growth = max(kappa * max(1.0 / 3.0, 1.0 - (2.0 * gain - 1.0) ** 3), 1e-9), 2.0
        else:
            kappa, growth = kappa * growth, 2.0 * growth
    return Descent(q, e, iterations, reached(e))


def _damped_step(J: Array, push: Array, mu: float) -> Array:
    """The solution of (J^T J + mu) dv = push, shortened where it goes too far."""
    normal = J.T @ J
    normal[np.diag_indices_from(normal)] += mu + REGULAR * float(normal.diagonal().max())
    dv = np.linalg.solve(normal, push)
    return np.asarray(dv * min(1.0, LONGEST / max(float(np.abs(dv).max()), LONGEST)))
