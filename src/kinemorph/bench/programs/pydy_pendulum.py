"""The double pendulum by Kane's method in SymPy, as a function that PyDy generates, under SciPy's solvers.

The rods are those of `library.double_pendulum`: uniform, the second angle relative to the first rod. PyDy generates C
through Cython where that is installed, else a function of NumPy.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import MissingExtraError

State = Callable[..., Array]


def generator() -> str:
    """The kind of code that PyDy generates here: "cython" where Cython is installed, else "lambdify"."""
    return "cython" if importlib.util.find_spec("Cython") else "lambdify"


def ode_function(masses: tuple[float, float], lengths: tuple[float, float], gravity: float) -> tuple[State, Array]:
    """(PyDy's function of (state, time, constants) for ds/dt with s = [q1, q2, v1, v2], the values of its constants).

    Raises MissingExtraError where PyDy is not installed.
    """
    try:
        import sympy
        from pydy.codegen.ode_function_generators import generate_ode_function
        from sympy.physics import mechanics as me
    except ImportError as error:
        raise MissingExtraError("pydy") from error
    q1, q2 = me.dynamicsymbols("q1 q2")
    u1, u2 = me.dynamicsymbols("u1 u2")
    m1, m2, l1, l2, g = constants = sympy.symbols("m1 m2 l1 l2 g")
    N, origin = me.ReferenceFrame("N"), me.Point("O")
    A, B = N.orientnew("A", "Axis", (q1, N.y)), N.orientnew("B", "Axis", (q1 + q2, N.y))
    A.set_ang_vel(N, u1 * N.y)
    B.set_ang_vel(N, (u1 + u2) * N.y)
    origin.set_vel(N, 0)
    elbow = origin.locatenew("elbow", -l1 * A.z)
    centers = origin.locatenew("first", -l1 / 2 * A.z), elbow.locatenew("second", -l2 / 2 * B.z)
    elbow.v2pt_theory(origin, N, A)
    bodies: list[Any] = []
    for name, frame, center, mass, length, pivot in (
        ("rod1", A, centers[0], m1, l1, origin),
        ("rod2", B, centers[1], m2, l2, elbow),
    ):
        center.v2pt_theory(pivot, N, frame)
        inertia = me.inertia(frame, mass * length**2 / 12, mass * length**2 / 12, 0)
        bodies.append(me.RigidBody(name, center, frame, mass, (inertia, center)))
    loads = [(center, -mass * g * N.z) for center, mass in zip(centers, (m1, m2), strict=True)]
    kane = me.KanesMethod(N, q_ind=[q1, q2], u_ind=[u1, u2], kd_eqs=[q1.diff() - u1, q2.diff() - u2])
    kane.kanes_equations(bodies, loads)
    function = generate_ode_function(
        kane.forcing_full,
        [q1, q2],
        [u1, u2],
        list(constants),
        mass_matrix=kane.mass_matrix_full,
        generator=generator(),
        constants_arg_type="array",
    )
    return function, np.array([*masses, *lengths, gravity])


def solvers() -> dict[str, Callable[[State, Array, Array, Array, float], Array]]:
    """{name: function (ds/dt, constants, initial state, times, tolerance) -> states (n, 4)} of SciPy's solvers."""
    from scipy.integrate import odeint, solve_ivp

    def dop853(rate: State, constants: Array, start: Array, times: Array, tolerance: float) -> Array:
        found = solve_ivp(
            lambda t, s: rate(s, t, constants),
            (times[0], times[-1]),
            start,
            method="DOP853",
            t_eval=times,
            rtol=tolerance,
            atol=tolerance,
        )
        states: Array = found.y.T
        return states

    def lsoda(rate: State, constants: Array, start: Array, times: Array, tolerance: float) -> Array:
        states: Array = odeint(rate, start, times, args=(constants,), rtol=tolerance, atol=tolerance, mxstep=100_000)
        return states

    return {"solve_ivp(DOP853)": dop853, "odeint": lsoda}
