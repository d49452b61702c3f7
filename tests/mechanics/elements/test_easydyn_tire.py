"""EasyDyn's tire run (SEEDS 001-10, 001-16): a wheel with camber and slip, against its law written again in NumPy.

The law below is written from the equations of SEEDS.md 3.1 alone, in its own coordinates: the position of the center,
and the angles of yaw, camber and spin. SciPy's Radau integrates it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from kinemorph import Body, RobotBuilder, System, elements, simulate

R1, R2, KZ, CZ, LOAD, CLONG, CLAT, CCAMBER, POWER = 0.5, 0.1, 1e4, 10.0, 2500.0, 2e4, 2e4, 2e3, 0.8
STATIC, KINETIC, SLOWEST, MASS = 1.0, 0.8, 1e-3, 1.1
INERTIA = MASS * R1**2 / 2.0 * np.array([1.0, 1.0, 1.0])
CAMBER, SLIP, HEIGHT, SPIN, UNTIL = 0.3, 0.1, 0.5, 1.0, 2.0


def patch_forces(sx: float, sy: float, sc: float, fz: float, pen: float) -> tuple[float, float, float]:
    """(Fx, Fy, Mz) of Gim's tire at longitudinal, lateral and camber slip, load [N] and depth [m]."""
    cx, cy, cc = (c * (fz / LOAD) ** POWER for c in (CLONG, CLAT, CCAMBER))
    lc, S = math.sqrt(8.0 * R1 * pen), math.hypot(sx, sy)
    mu = STATIC * (1.0 - min(S, 1.0)) + KINETIC * min(S, 1.0)
    ux, uy = (sx / S, sy / S) if S > 0.0 else (0.0, 0.0)
    if (cx * sx) ** 2 + (cy * sy + 3.0 * cc * sc) ** 2 > (3.0 * mu * fz) ** 2:
        return -mu * fz * ux, -mu * fz * uy, -0.6 * mu**2 * ux * uy * fz**2 * lc / cy
    B1, B2 = 9.0 * ((mu * fz) ** 2 - (cc * sc) ** 2), 3.0 * cy * sy * cc * sc
    B3 = -((cy * sy) ** 2 + (cx * sx) ** 2)
    Sn = (B2 + math.sqrt(B2**2 - B1 * B3)) / B1
    l = 1.0 - Sn
    part = mu * fz * (1.0 - 3.0 * l**2 + 2.0 * l**3)
    fx = -cx * sx * l**2 - part * ux
    fy = -cy * sy * l**2 - part * uy - cc * sc * l**2 * (3.0 - 2.0 * l)
    mz = -2.0 / 3.0 * cx * sx * sy * lc * l**3
    mz -= 0.6 * mu**2 * ux * uy * fz**2 * lc * (1.0 - 10.0 * l**3 + 15.0 * l**4 - 6.0 * l**5) / cy
    if cy**2 * sy**2 + cc * sc * cy * sy > 0.0:
        mz += (cy * sy * (-0.5 + 2.0 * l / 3.0) + 1.5 * (mu * fz * uy - cc * sc) * Sn**2) * lc * l**2
    else:
        mz += cy * sy * lc * l / 6.0
    return fx, fy, mz


def ground(center: Any, v: Any, w: Any, axis: Any) -> tuple[np.ndarray, np.ndarray]:
    """The force on the wheel and its moment about the center, in world axes; `axis` is the axle, y to the left."""
    up = np.array([0.0, 0.0, 1.0])
    x = np.cross(axis, up)
    x /= np.linalg.norm(x)
    y = np.cross(up, x)
    arm = (R1 - R2) * np.cross(axis, x) - R2 * up
    pen = -(center[2] + arm[2])
    if pen <= 0.0:
        return np.zeros(3), np.zeros(3)
    arm = arm + up * pen / 3.0  # the slip point, at two thirds of the depth
    vp = v + np.cross(w, arm)
    fz = max(KZ * pen - CZ * math.sqrt(KZ * pen / LOAD) * vp[2], 0.0)
    if fz == 0.0:
        return np.zeros(3), np.zeros(3)
    vcx, vpx = v @ x, vp @ x
    braking = abs(vcx) > abs(vcx - vpx)
    reference = max(abs(vcx) if braking else abs(vcx - vpx), SLOWEST)
    fx, fy, mz = patch_forces(vpx / reference, (vp @ y) / reference, axis @ up, fz, pen)
    force = fx * x + fy * y + fz * up
    return force, np.cross(arm, force) + mz * up


def turn(yaw: float, camber: float, spin: float) -> np.ndarray:
    """Rz(yaw) Rx(camber) Ry(spin)."""
    c, s = np.cos([yaw, camber, spin]), np.sin([yaw, camber, spin])
    z = np.array([[c[0], -s[0], 0.0], [s[0], c[0], 0.0], [0.0, 0.0, 1.0]])
    x = np.array([[1.0, 0.0, 0.0], [0.0, c[1], -s[1]], [0.0, s[1], c[1]]])
    y = np.array([[c[2], 0.0, s[2]], [0.0, 1.0, 0.0], [-s[2], 0.0, c[2]]])
    return z @ x @ y


def rates(t: float, s: np.ndarray) -> np.ndarray:
    """The rates of (center, yaw, camber, spin, velocity, angular velocity in world axes)."""
    yaw, camber, spin = s[3:6]
    v, w = s[6:9], s[9:12]
    R = turn(yaw, camber, spin)
    force, moment = ground(s[:3], v, w, R[:, 1])
    # w = yaw' z + camber' x_yaw + spin' axle
    axes = np.array([[0.0, 0.0, 1.0], [math.cos(yaw), math.sin(yaw), 0.0], R[:, 1]]).T
    own = R.T @ w
    wd = R @ ((R.T @ moment - np.cross(own, INERTIA * own)) / INERTIA)
    return np.concatenate([v, np.linalg.solve(axes, w), force / MASS + [0.0, 0.0, -9.81], wd])
