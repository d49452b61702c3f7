"""Linkages with one degree of freedom by hand: where every body is, as functions of the crank, and one equation.

    I(th) th'' + I'(th) th'^2 / 2 + V'(th) = torque,      I = sum m |p'|^2 + J phi'^2,      V = sum m g z

Nothing of the package is used. First derivatives are complex steps, so positions are written for complex numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.integrate import solve_ivp

Bodies = Callable[[complex], Sequence[Sequence[complex]]]  # rows of mass, moment, x, z, angle at a crank angle
STEP = 1e-30  # of complex steps
DIFFERENCE = 1e-4  # of central ones, of the fourth order


def acceleration(bodies: Bodies, th: float, rate: float, g: float = 9.81, torque: float = 0.0) -> float:
    """th'' of the crank."""
    slope = _central(lambda x: _inertia(bodies, x), th)
    table = np.array(bodies(th + 1j * STEP))
    weight = g * float((table[:, 0].real * table[:, 3].imag).sum()) / STEP
    return (torque - 0.5 * slope * rate * rate - weight) / _inertia(bodies, th)


def motion(bodies: Bodies, start: Sequence[float], times: Sequence[float], g: float = 9.81) -> np.ndarray:
    """[th, th'] at `times`, from a start."""
    found = solve_ivp(
        lambda t, y: [y[1], acceleration(bodies, y[0], y[1], g)],
        (0.0, times[-1]),
        start,
        "DOP853",
        t_eval=times,
        rtol=1e-12,
        atol=1e-13,
    )
    assert found.success
    return found.y.T


def _inertia(bodies: Bodies, th: float) -> float:
    table = np.array(bodies(th + 1j * STEP))
    mass, moment = table[:, 0].real, table[:, 1].real
    x, z, angle = (table[:, 2:].imag / STEP).T
    return float((mass * (x * x + z * z) + moment * angle * angle).sum())


def _central(f: Callable[[float], float], x: float) -> float:
    h = DIFFERENCE
    return (8.0 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12.0 * h)


# ── kinematics ────────────────────────────────────────────────────────────────────────────────────────────────────────

Point = tuple[complex, complex]


def crossing(p: Point, a: float, q: Point, b: float, side: int) -> Point:
    """The point at distances a and b from p and q, left (1) or right (-1) of the way from p to q."""
    dx, dz = q[0] - p[0], q[1] - p[1]
    apart2 = dx * dx + dz * dz
    s = (a * a - b * b + apart2) / (2 * apart2)
    t = side * np.sqrt(a * a / apart2 - s * s)
    return p[0] + s * dx - t * dz, p[1] + s * dz + t * dx


def turned(p: Point, q: Point) -> complex:
    """The angle of the way from p to q, less that of a fixed direction: its logarithm's imaginary part, for complex."""
    dx, dz = q[0] - p[0], q[1] - p[1]
    base = np.arctan2(dz.real, dx.real)
    c, s = np.cos(base), np.sin(base)
    along, across = c * dx + s * dz, c * dz - s * dx
    return base + np.arctan(across / along)


def bar(p: Point, q: Point, density: float) -> tuple[complex, ...]:
    """A uniform thin bar between two points, `density` [kg/m]."""
    length = float(np.hypot((q[0] - p[0]).real, (q[1] - p[1]).real))
    mass = density * length
    return mass, mass * length**2 / 12.0, 0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1]), turned(p, q)


def slider_crank(lengths: Sequence[float], masses: Sequence[float], moments: Sequence[float]) -> Bodies:
    """Crank and rod with centers at mid-length, slider along x."""
    r, l = lengths

    def bodies(th: complex) -> list[tuple[complex, ...]]:
        pin = (r * np.cos(th), r * np.sin(th))
        slider = (pin[0] + np.sqrt(l * l - pin[1] ** 2), 0.0 * th)
        return [
            (masses[0], moments[0], 0.5 * pin[0], 0.5 * pin[1], th),
            (masses[1], moments[1], 0.5 * (pin[0] + slider[0]), 0.5 * pin[1], np.arcsin(-pin[1] / l)),
            (masses[2], moments[2], slider[0], slider[1], 0.0 * th),
        ]

    return bodies


def n_four_bar(n: int, length: float, mass: float) -> Bodies:
    """n + 1 cranks at an angle from the x axis and n couplers that stay level."""
    moment = mass * length**2 / 12.0

    def bodies(th: complex) -> list[tuple[complex, ...]]:
        x, z = length * np.cos(th), length * np.sin(th)
        return [(mass, moment, 0.5 * x, 0.5 * z, th)] * (n + 1) + [(mass, moment, x, z, 0.0 * th)] * n

    return bodies


def klann(unit: float, density: float) -> Bodies:
    """All bars of the leg; the pivots are at (0, 0), (-38.8, -12.5) and (-14.6, 41.9) units."""

    def bodies(th: complex) -> list[tuple[complex, ...]]:
        A, B, D = (0j, 0j), (-38.8 * unit + 0j, -12.5 * unit + 0j), (-14.6 * unit + 0j, 41.9 * unit + 0j)
        C = (17.5 * unit * np.cos(th), 17.5 * unit * np.sin(th))
        H = crossing(C, 38.8 * unit, B, 23.7 * unit, -1)
        F = crossing(C, 73.4 * unit, H, 35.2 * unit, 1)
        E = crossing(F, 57.7 * unit, D, 34.1 * unit, 1)
        G = crossing(E, 111.7 * unit, F, 59.0 * unit, 1)
        return [bar(*ends, density) for ends in ((A, C), (B, H), (D, E), (C, H), (H, F), (E, F), (F, G))]

    return bodies


def jansen(unit: float, density: float) -> Bodies:
    """All bars of the leg; the pivots are at (0, 0) and (-38, -7.8) units."""

    def bodies(th: complex) -> list[tuple[complex, ...]]:
        O, B = (0j, 0j), (-38.0 * unit + 0j, -7.8 * unit + 0j)
        M = (15.0 * unit * np.cos(th), 15.0 * unit * np.sin(th))
        P1 = crossing(M, 50.0 * unit, B, 41.5 * unit, -1)
        P2 = crossing(P1, 55.8 * unit, B, 40.1 * unit, -1)
        P3 = crossing(M, 61.9 * unit, B, 39.3 * unit, 1)
        P4 = crossing(P2, 39.4 * unit, P3, 36.7 * unit, -1)
        P5 = crossing(P4, 65.7 * unit, P3, 49.0 * unit, -1)
        pairs = (
            (O, M), (M, P1), (B, P1), (P1, P2), (P2, B), (M, P3), (B, P3), (P2, P4), (P3, P4), (P4, P5), (P5, P3),
        )  # fmt: skip
        return [bar(*ends, density) for ends in pairs]

    return bodies
