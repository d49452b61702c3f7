"""Twists, wrenches and poses by their definitions: power series and finite differences, never a closed formula.

Only NumPy is used, none of Kinemorph's own algebra, so the two can be wrong independently. Twists and wrenches are
ordered [linear; angular].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
STEP = 1e-5  # of central differences: truncation and rounding both near 1e-10


def hat(w: Array) -> Array:
    """The matrix of the cross product, a~ b = a x b."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def exponential(a: Array) -> Array:
    """The matrix exponential by its power series, after halving the argument ten times."""
    a = a / 1024.0
    result = term = np.eye(len(a))
    for k in range(1, 14):
        term = term @ a / k
        result = result + term
    for _ in range(10):
        result = result @ result
    return result


def screw(s: Array) -> Array:
    """The 4x4 matrix of a twist [linear; angular]."""
    m = np.zeros((4, 4), s.dtype)
    m[:3, :3], m[:3, 3] = hat(s[3:]), s[:3]
    return m


def twist(m: Array) -> Array:
    """The inverse of `screw`."""
    return np.array([*m[:3, 3], m[2, 1], m[0, 2], m[1, 0]])


def Ad(T: Array) -> Array:
    """Carries twists from frame b to frame a, T = T_ab."""
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R, hat(p) @ R], [np.zeros((3, 3)), R]])


def ad(s: Array) -> Array:
    """The bracket with a twist, as a 6x6 matrix."""
    return np.block([[hat(s[3:]), hat(s[:3])], [np.zeros((3, 3)), hat(s[3:])]])


def difference(f, x: float = 0.0) -> Array:  # type: ignore[no-untyped-def]
    """The derivative of `f` by a central difference."""
    return (f(x + STEP) - f(x - STEP)) / (2.0 * STEP)


def slope(f, h: float = 1e-3) -> Array:  # type: ignore[no-untyped-def]
    """The derivative of `f` at 0 by differences of fourth order: for motions whose third derivatives are large."""
    return (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)


def random_pose(rng: np.random.Generator) -> Array:
    return exponential(screw(rng.normal(size=6)))


def off(found: Array, reference: Array) -> float:
    """max|found - reference| / max|reference|."""
    return float(np.abs(found - reference).max() / np.abs(reference).max())
