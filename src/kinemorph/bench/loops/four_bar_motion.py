"""The four-bar whose runs are compared, and its motion from an independent equation of motion.

The angle theta of the crank describes the configuration. The angles of coupler and rocker follow from it in closed
form, with derivatives k_i with respect to theta, so that

    I(theta) theta_ddot + I'(theta) theta_dot^2 / 2 + V'(theta) = 0

where I is the inertia of all three rods and V their potential energy; SciPy's DOP853 integrates it at a tolerance of
1e-13. Only gravity acts.
"""

from __future__ import annotations

from functools import cache
from math import acos, atan2, cos, hypot, pi, sin
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array

L0, L1, L2, L3 = 1.0, 0.3, 0.9, 0.7  # ground, crank, coupler, rocker [m]
M1, M2, M3 = 0.5, 1.0, 0.8  # [kg], uniform rods
WEIGHT = 9.81  # [m/s^2], downward
START = 0.6  # initial angle of the crank [rad], at rest
DURATION, SAMPLES = 10.0, 100
TIMES: Array = DURATION * np.arange(1, SAMPLES + 1) / SAMPLES  # [s]
TOLERANCE = 1e-13


class Motion(NamedTuple):
    """A motion of the four-bar at `TIMES`: the angle of the crank [rad] and the gap of the loop [m], shapes (n,)."""

    crank: Array
    gap: Array


def of_angles(crank: Array, coupler: Array, rocker: Array) -> Motion:
    """The motion with these angles from the horizontal [rad], shapes (n,); the gap is between coupler and rocker."""
    x = L1 * np.cos(crank) + L2 * np.cos(coupler) - L0 - L3 * np.cos(rocker)
    y = L1 * np.sin(crank) + L2 * np.sin(coupler) - L3 * np.sin(rocker)
    return Motion(crank, np.hypot(x, y))


def assembled(crank: float) -> tuple[float, float]:
    """The angles of coupler and rocker [rad] from the horizontal, on the branch of the initial configuration."""
    x, y = L1 * cos(crank) - L0, L1 * sin(crank)  # from the rocker's pivot to the end of the crank
    d = hypot(x, y)
    rocker = atan2(y, x) % (2.0 * pi) - acos((L3**2 + d * d - L2**2) / (2.0 * L3 * d))
    return atan2(L3 * sin(rocker) - y, L3 * cos(rocker) - x), rocker


def acceleration(crank: float, speed: float, torque: float = 0.0) -> float:
    """The acceleration of the crank [rad/s^2] at its angle [rad] and speed [rad/s], with a torque on it [N m]."""
    coupler, rocker = assembled(crank)
    s = sin(rocker - coupler)
    k2, k3 = -L1 / L2 * sin(rocker - crank) / s, -L1 / L3 * sin(coupler - crank) / s
    ds = cos(rocker - coupler) * (k3 - k2)
    dk2 = -L1 / L2 * (cos(rocker - crank) * (k3 - 1.0) - sin(rocker - crank) * ds / s) / s
    dk3 = -L1 / L3 * (cos(coupler - crank) * (k2 - 1.0) - sin(coupler - crank) * ds / s) / s
    swing = cos(crank - coupler)
    I = M1 * L1**2 / 3 + M2 * (L1**2 + L2**2 * k2**2 / 3 + L1 * L2 * k2 * swing) + M3 * L3**2 * k3**2 / 3
    half_dI = M2 * (L2**2 * k2 * dk2 / 3 + 0.5 * L1 * L2 * (dk2 * swing - k2 * sin(crank - coupler) * (1.0 - k2)))
    half_dI += M3 * L3**2 * k3 * dk3 / 3
    lifted = (0.5 * M1 + M2) * L1 * cos(crank) + 0.5 * M2 * L2 * k2 * cos(coupler) + 0.5 * M3 * L3 * k3 * cos(rocker)
    return (torque - half_dI * speed**2 - WEIGHT * lifted) / I


@cache
def reference() -> Array:
    """The exact angle of the crank [rad] at `TIMES`, shape (n,), from the independent equation of motion."""
    from scipy.integrate import solve_ivp

    state, begun, angles = (START, 0.0), 0.0, []
    for t in TIMES:  # from sample to sample, so that nothing is interpolated
        found = solve_ivp(
            lambda t, y: (y[1], acceleration(*y)), (begun, t), state, "DOP853", rtol=TOLERANCE, atol=TOLERANCE
        )
        state, begun = found.y[:, -1], t
        angles.append(state[0])
    return np.array(angles)
