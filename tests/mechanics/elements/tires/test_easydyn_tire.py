"""EasyDyn's tire run (SEEDS 001-10, 001-16): a wheel with camber and slip, against its law written again in NumPy.

The law below is written from the equations of SEEDS.md 3.1 alone, in its own coordinates: the position of the center,
and the angles of yaw, camber and spin. SciPy's Radau integrates it. Camber and slip are read as angles that stay as
they are: the wheel has three displacements and its spin.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinemorph import Body, RobotBuilder, System, elements, simulate
from kinemorph.algebra.notation import Tdisp, Trotx, Troty, Trotz
from kinemorph.model.positions.position_builder import PositionBuilder

R1, R2, KZ, CZ, LOAD, CLONG, CLAT, CCAMBER, POWER = 0.5, 0.1, 1e4, 10.0, 2500.0, 2e4, 2e4, 2e3, 0.8
STATIC, KINETIC, SLOWEST, MASS = 1.0, 0.8, 1e-3, 1.1
INERTIA = MASS * R1**2 / 2.0 * np.array([1.0, 1.0, 1.0])
CAMBER, SLIP, HEIGHT, SPIN = 0.3, 0.1, 0.5, 1.0


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


def turn(yaw: float, camber: float) -> np.ndarray:
    """Rz(yaw) Rx(camber)."""
    c, s = np.cos([yaw, camber]), np.sin([yaw, camber])
    z = np.array([[c[0], -s[0], 0.0], [s[0], c[0], 0.0], [0.0, 0.0, 1.0]])
    return z @ np.array([[1.0, 0.0, 0.0], [0.0, c[1], -s[1]], [0.0, s[1], c[1]]])


def guided(t: float, state: np.ndarray) -> np.ndarray:
    """The rates of (center, spin; velocity, rate of spin) of a wheel whose slip angle and camber are given."""
    axis = turn(SLIP, CAMBER)[:, 1]
    force, moment = ground(state[:3], state[4:7], state[7] * axis, axis)
    return np.array([*state[4:], *(force / MASS + np.array([0.0, 0.0, -9.81])), moment @ axis / INERTIA[1]])


def tossed(t: float, state: np.ndarray) -> np.ndarray:
    """The rates of (center, yaw, camber, spin; velocity, angular velocity in world axes) of a wheel that is free."""
    yaw, w = state[3], state[9:]
    R = turn(yaw, state[4])
    force, moment = ground(state[:3], state[6:9], w, R[:, 1])
    axes = np.array([[0.0, 0.0, 1.0], [math.cos(yaw), math.sin(yaw), 0.0], R[:, 1]]).T  # of yaw, camber and spin
    return np.array(
        [*state[6:9], *np.linalg.solve(axes, w), *(force / MASS + np.array([0.0, 0.0, -9.81])), *(moment / INERTIA[1])]
    )


def reference(rates: Any, start: Any, times: np.ndarray, rtol: float) -> np.ndarray:
    """The states at these times, by SciPy's Radau; shape (n, states)."""
    done = solve_ivp(rates, (0.0, times[-1]), start, "Radau", times, rtol=rtol, atol=1e-2 * rtol, max_step=2e-3)
    assert done.success
    return done.y.T


TIRE = elements.Tire("tire", "wheel", R1, KZ, LOAD, CLONG, CLAT, CCAMBER, damping=CZ, crown=R2)


def guided_wheel() -> System:
    """EasyDyn's wheel, by its position matrix: three displacements and a spin."""
    builder = PositionBuilder("tire run")
    x, y, z = builder.coordinates("x y z", "m")
    spin = builder.coordinate("spin")
    builder.body("wheel", MASS, tuple(INERTIA), T0G=Tdisp(x, y, z) * Trotz(SLIP) * Trotx(CAMBER) * Troty(spin))
    return System(builder.build(), (TIRE,))


@pytest.mark.parametrize(
    ("until", "rtol"), [(0.12, 1e-8), pytest.param(2.0, 1e-11, marks=pytest.mark.slow)], ids=["start", "whole"]
)
def test_easydyns_tire_run(until: float, rtol: float) -> None:
    """The wheel drops from 0.5 m, bounces and slips while its spin pulls it on: 2 s, to 1e-6."""
    times = np.linspace(0.0, until, 21)
    expected = reference(guided, [0.0, 0.0, HEIGHT, 0.0, 0.0, 0.0, 0.0, SPIN], times, rtol)
    start = {"q": [0.0, 0.0, HEIGHT, 0.0], "v": [0.0, 0.0, 0.0, SPIN]}
    run = simulate(guided_wheel(), until, **start, output_step=times, rtol=1e-11, atol=1e-13)
    assert run.outcome.ok and run["tire.load"].max() > 50.0
    assert np.abs(run.q - expected[:, :4]).max() < 1e-6
    assert np.abs(run.v - expected[:, 4:]).max() < 1e-6


def test_a_tossed_wheel_is_that_of_its_law() -> None:
    """The same wheel, free to yaw and to fall over, with all six components of the force of the ground."""
    builder = RobotBuilder("tossed wheel").add(Body("wheel", MASS, inertia=np.diag(INERTIA)))
    builder.joint("root", "free", "world", "wheel")
    a, b, c, s = math.cos(CAMBER / 2), math.sin(CAMBER / 2), math.cos(SLIP / 2), math.sin(SLIP / 2)
    w = SPIN * turn(SLIP, CAMBER)[:, 1]
    times = np.linspace(0.0, 0.06, 7)
    expected = reference(tossed, [0.0, 0.0, 0.48, SLIP, CAMBER, 0.0, 0.5, 0.1, 0.0, *w], times, 1e-8)
    R = turn(SLIP, CAMBER)
    v = [*(R.T @ [0.5, 0.1, 0.0]), 0.0, SPIN, 0.0]
    q = [0.0, 0.0, 0.48, c * a, c * b, s * b, s * a]
    run = simulate(System(builder.build(), (TIRE,)), 0.06, q=q, v=v, output_step=times, rtol=1e-11, atol=1e-13)
    assert run.outcome.ok and np.abs(run["tire.aligning"]).max() > 0.01
    assert np.abs(run.q[:, :3] - expected[:, :3]).max() < 1e-6
    assert np.ptp(expected[:, 4]) > 1e-3  # the camber changes
