"""One leg of AMRU5 in SymPy: Lagrange's equations from the same position matrices, made callable by `lambdify`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy

from kinemorph.algebra.arrays import Array
from kinemorph.model.library import amru


def sympy_leg() -> Callable[[Array, Array, Array], Array]:
    """The accelerations of the leg as a function of q, v and tau (3,), with SymPy's mass matrix and forces."""
    import numpy as np
    from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

    t = dynamicsymbols._t
    q = list(dynamicsymbols("q6 q7 q8"))
    energy: Any = 0
    for mass, inertia, T in bodies(*q):
        p, R = T[:3, 3], T[:3, :3]
        v, spin = p.diff(t), R.T * R.diff(t)
        omega = (spin[2, 1], spin[0, 2], spin[1, 0])  # in the axes of the body
        energy += mass * (v.dot(v) / 2 - sympy.Float(9.81) * p[2])
        energy += sum(moment * w**2 for moment, w in zip(inertia, omega, strict=True)) / 2
    method = LagrangesMethod(energy, q)
    method.form_lagranges_equations()
    states = [*q, *(one.diff(t) for one in q)]
    plain = sympy.symbols("a0:6")
    replaced = dict(zip(reversed(states), reversed(plain), strict=True))
    M, f = (sympy.Matrix(x).subs(replaced) for x in (method.mass_matrix, method.forcing))
    law = sympy.lambdify([plain], [M, f], cse=True)

    def accelerations(q: Array, v: Array, tau: Array) -> Array:
        masses, forces = law((*q, *v))
        found: Array = np.linalg.solve(masses, forces[:, 0] + tau)
        return found

    return accelerations


def bodies(q6: Any, q7: Any, q8: Any) -> list[tuple[float, tuple[float, ...], Any]]:
    """(mass, moments of inertia, position matrix) of the eight bodies of a leg, as in `library.amru5`."""
    AC = sympy.sqrt(q7**2 + q8**2)
    alpha, gamma = sympy.atan2(q7, q8), sympy.acos(AC / (2 * amru.AB))
    support = _turn("z", q6)
    A = support * _shift(amru.OUTWARD, 0, q7) * _turn("y", alpha - gamma)
    D, B = A * _shift(amru.AD, 0, 0), A * _shift(amru.AB, 0, 0)
    C = support * _shift(amru.OUTWARD + q8, 0, 0) * _turn("y", alpha - gamma)
    half, quarter = _shift(amru.AD / 2, 0, 0), _shift(amru.AB / 2, 0, 0)
    upright = (amru.ROTOR_ACROSS, amru.ROTOR_ACROSS, amru.ROTOR_INERTIA)
    return [
        (amru.SUPPORT_MASS, amru.SUPPORT_INERTIA, support),
        (amru.SHANK_MASS, amru.rod_inertia(amru.SHANK_MASS, amru.AD), D * _turn("y", 2 * gamma) * half),
        (amru.THIGH_MASS, amru.rod_inertia(amru.THIGH_MASS, amru.AD), A * half),
        (amru.SHORT_MASS, amru.rod_inertia(amru.SHORT_MASS, amru.AB), B * _turn("y", 2 * gamma) * quarter),
        (amru.LONG_MASS, amru.rod_inertia(amru.LONG_MASS, amru.BD), C * _shift(amru.BD / 2, 0, 0)),
        (amru.ROTOR_MASS, upright, _shift(0, 0, 0.05) * _turn("z", amru.GEAR * q6)),
        (amru.ROTOR_MASS, upright, support * _shift(amru.OUTWARD, 0, 0.15) * _turn("z", amru.SCREW * q7)),
        (amru.ROTOR_MASS, upright[::-1], support * _shift(0.02, 0, 0) * _turn("x", amru.SCREW * q8)),
    ]


def _shift(x: Any, y: Any, z: Any) -> Any:
    return sympy.Matrix([[1, 0, 0, x], [0, 1, 0, y], [0, 0, 1, z], [0, 0, 0, 1]])


def _turn(axis: str, angle: Any) -> Any:
    c, s = sympy.cos(angle), sympy.sin(angle)
    rows = {
        "x": [[1, 0, 0], [0, c, -s], [0, s, c]],
        "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
        "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
    }[axis]
    return sympy.Matrix([[*row, 0] for row in rows] + [[0, 0, 0, 1]])
