"""A search among motions that keep all limits: a smooth cost with a logarithmic barrier, by the BFGS method.

The cost  f(x) - mu sum log(slack)  is infinite where a limit is broken, so that no step ever breaks one. It is made
less for smaller and smaller mu; with  k  limits that are reached, the result is about  k mu  above the least cost.
(Fiacco & McCormick 1968; Nocedal & Wright 2006, chapters 6 and 19.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array

ENOUGH = 1e-4  # Armijo: the share of the predicted decrease that a step has to reach
HALVINGS = 40  # of a step
LITTLE = 1e-3  # a stage ends where the predicted decrease is less


class Found(NamedTuple):
    """Where a search ended: the unknowns (n,), the cost there, and the steps taken."""

    x: Array
    cost: float
    steps: int


Cost = Callable[[Array, float], float]  # (x, mu) -> cost, inf where a limit is broken
Slope = Callable[[Array, float], Array]  # (x, mu) -> gradient (n,)
Curvature = Callable[
    [Array, float], Array
]  # (x, mu) -> an estimate of the second derivatives (n, n), positive definite


def searched(
    cost: Cost,
    slope: Slope,
    curvature: Curvature,
    x: Array,
    weights: tuple[float, ...],
    steps: int,
    told: Callable[[int, Array], None],
) -> Found:
    """The unknowns of least cost that are found from x, at which no limit is broken, with barriers of these weights.

    Each weight mu has at most `steps` steps. `told` is called after each step with the number of all steps and x.
    """
    taken, value = 0, np.inf
    for mu in weights:
        value, g = cost(x, mu), slope(x, mu)
        H = np.asarray(np.linalg.inv(curvature(x, mu)), dtype=float)
        for _ in range(steps):
            direction = -H @ g
            predicted = float(-g @ direction)
            if predicted < LITTLE:
                break
            length = 1.0
            for _ in range(HALVINGS):
                new = cost(x + length * direction, mu)
                if new < value - ENOUGH * length * predicted:
                    break
                length *= 0.5
            else:
                break
            step, before = length * direction, g
            x, value = x + step, new
            g = slope(x, mu)
            H = _updated(H, step, g - before)
            taken += 1
            told(taken, x)
    return Found(x, value, taken)


def _updated(H: Array, step: Array, change: Array) -> Array:
    """The inverse second derivatives H after a step with this change of the gradient (Broyden, Fletcher, Goldfarb,
    Shanno). Where the cost is not convex along the step, H stays.
    """
    along = float(step @ change)
    if along <= 1e-10 * float(np.linalg.norm(step) * np.linalg.norm(change)):
        return H
    Hy = H @ change
    return (
        H
        + np.outer(step, step) * ((along + change @ Hy) / along**2)
        - (np.outer(Hy, step) + np.outer(step, Hy)) / along
    )
