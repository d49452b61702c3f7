"""Small systems for the printing tests: equations of motion by vector mechanics, and the textbook's answer as text.

The derivations use sines and cosines of single joint angles only, as a recursive Newton-Euler pass does, so that
nothing is simplified on the way. Textbook forms: the two-link arm as in Spong, Hutchinson & Vidyasagar, the cart with a
hanging load, the rotary pendulum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kinemorph.codegen.graphs.graph import Graph
from kinemorph.codegen.graphs.program import Port, Program

Outputs = Sequence[tuple[str, tuple[int, ...], Sequence[Any]]]


def traced(name: str, inputs: Sequence[tuple[str, int]], function: Callable[..., Outputs]) -> Program:
    """The program of a function that takes one list of Exprs for every input port."""
    graph = Graph()
    groups = [[graph.input(f"{port}[{i}]") for i in range(size)] for port, size in inputs]
    outputs = function(*groups)
    refs = [graph.reference(value) for _, _, values in outputs for value in values]
    ports = tuple(Port(port, (size,)) for port, size in inputs)
    return Program(name, ports, tuple(Port(port, shape) for port, shape, _ in outputs), graph, tuple(refs))


def named(parameters: Sequence[tuple[str, str]], n: int) -> dict[tuple[str, int | None], tuple[str, str]]:
    """Symbols for p as given and for q, v, a of n joints."""
    symbols: dict[tuple[str, int | None], tuple[str, str]] = {("p", i): names for i, names in enumerate(parameters)}
    for i in range(n):
        symbols["q", i] = (f"q{i + 1}", f"q_{i + 1}")
        symbols["v", i] = (f"v{i + 1}", rf"\dot{{q}}_{i + 1}")
        symbols["a", i] = (f"a{i + 1}", rf"\ddot{{q}}_{i + 1}")
    return symbols


# ── two-link arm in a vertical plane ──────────────────────────────────────────────────────────────────────────────────

ARM = named(
    [
        ("m1", "m_1"),
        ("m2", "m_2"),
        ("l1", "l_1"),
        ("lc1", "l_{c1}"),
        ("lc2", "l_{c2}"),
        ("I1", "I_1"),
        ("I2", "I_2"),
        ("g", "g"),
    ],
    2,
)


def arm_newton_euler(q: Any, v: Any, a: Any, p: Any) -> Outputs:
    """Joint torques, root to tip and back, every vector in its own link's frame."""
    m1, m2, l1, lc1, lc2, I1, I2, g = p
    (s1, c1), (s2, c2) = [(angle.sin(), angle.cos()) for angle in q]

    def moved(A: tuple[Any, Any], rate: Any, acceleration: Any, r: Any) -> tuple[Any, Any]:
        return A[0] - rate * rate * r, A[1] + acceleration * r

    base = (s1 * g, c1 * g)  # gravity as an upward acceleration of the base, in link 1
    elbow = moved(base, v[0], a[0], l1)
    center1 = moved(base, v[0], a[0], lc1)
    rate, acceleration = v[0] + v[1], a[0] + a[1]
    center2 = moved((c2 * elbow[0] + s2 * elbow[1], c2 * elbow[1] - s2 * elbow[0]), rate, acceleration, lc2)
    force2 = (m2 * center2[0], m2 * center2[1])
    tau2 = I2 * acceleration + lc2 * force2[1]
    tau1 = I1 * a[0] + lc1 * m1 * center1[1] + tau2 + l1 * (s2 * force2[0] + c2 * force2[1])
    return [("tau", (2,), [tau1, tau2])]


def arm_mass_matrix(q: Any, p: Any) -> Outputs:
    """M = sum of m J^T J + I over the links, Jacobians of the centers in the world."""
    m1, m2, l1, lc1, lc2, I1, I2, _ = p
    (s1, c1), (s2, c2) = [(angle.sin(), angle.cos()) for angle in q]
    s12, c12 = s1 * c2 + c1 * s2, c1 * c2 - s1 * s2
    J1 = ((-s1 * lc1, 0.0), (c1 * lc1, 0.0))
    J2 = ((-s1 * l1 - s12 * lc2, -s12 * lc2), (c1 * l1 + c12 * lc2, c12 * lc2))
    entries = [
        m1 * sum(row[i] * row[j] for row in J1)
        + m2 * sum(row[i] * row[j] for row in J2)
        + I2
        + (I1 if i + j == 0 else 0.0)
        for i in range(2)
        for j in range(2)
    ]
    return [("M", (2, 2), entries)]


def arm_forward_dynamics(q: Any, tau: Any, p: Any) -> Outputs:
    """Accelerations at rest without gravity, by Cramer's rule; the determinant by elimination."""
    ((_, _, (M11, M12, M21, M22)),) = arm_mass_matrix(q, p)
    determinant = M11 * (M22 - M21 / M11 * M12)
    return [("a", (2,), [(M22 * tau[0] - M12 * tau[1]) / determinant, (M11 * tau[1] - M21 * tau[0]) / determinant])]


ARM_MASS = [
    "m1*lc1**2 + m2*(l1**2 + lc2**2 + 2*l1*lc2*cos(q2)) + I1 + I2",
    "m2*(lc2**2 + l1*lc2*cos(q2)) + I2",
    "m2*(lc2**2 + l1*lc2*cos(q2)) + I2",
    "m2*lc2**2 + I2",
]
ARM_TORQUES = [
    f"({ARM_MASS[0]})*a1 + ({ARM_MASS[1]})*a2 - m2*l1*lc2*sin(q2)*(2*v1*v2 + v2**2)"
    " + (m1*lc1 + m2*l1)*g*cos(q1) + m2*lc2*g*cos(q1 + q2)",
    f"({ARM_MASS[2]})*a1 + ({ARM_MASS[3]})*a2 + m2*l1*lc2*sin(q2)*v1**2 + m2*lc2*g*cos(q1 + q2)",
]

# ── crane: a cart on rails, a rod with a load below it ────────────────────────────────────────────────────────────────

CRANE = named([("M", "M"), ("m", "m"), ("l", "l"), ("I", "I"), ("g", "g")], 2)
CRANE_MASS = ["M + m", "m*l*cos(q2)", "m*l*cos(q2)", "m*l**2 + I"]
CRANE_FORCES = [
    "(M + m)*a1 + m*l*cos(q2)*a2 - m*l*sin(q2)*v2**2",
    "m*l*cos(q2)*a1 + (m*l**2 + I)*a2 + m*g*l*sin(q2)",
]


def crane_newton_euler(q: Any, v: Any, a: Any, p: Any) -> Outputs:
    """Rail force and hinge torque; the load hangs at l from the hinge, at q2 from the vertical."""
    M, m, l, I, g = p
    s, c = q[1].sin(), q[1].cos()
    along = (c * a[0] + s * g, c * g - s * a[0])  # cart acceleration minus gravity: across the rod, up the rod
    center = (along[0] + a[1] * l, along[1] + v[1] * v[1] * l)
    force = (m * center[0], m * center[1])
    return [("f", (2,), [M * a[0] + c * force[0] - s * force[1], I * a[1] + l * force[0]])]


# ── rotary pendulum: a rod hinged to a turning arm ────────────────────────────────────────────────────────────────────

ROTARY = named([("J", "J"), ("m", "m"), ("r", "r"), ("l", "l")], 2)
ROTARY_MASS = ["J + m*(r**2 + l**2*sin(q2)**2)", "m*r*l*cos(q2)", "m*r*l*cos(q2)", "m*l**2"]


def rotary_mass_matrix(q: Any, p: Any) -> Outputs:
    """J^T m J of a point mass at l from the hinge at the end of an arm r, positions in the world."""
    J, m, r, l = p
    (s1, c1), (s2, c2) = [(angle.sin(), angle.cos()) for angle in q]
    turn = (-s1 * r - c1 * s2 * l, c1 * r - s1 * s2 * l, 0.0)  # d(position)/dq1
    swing = (-s1 * c2 * l, c1 * c2 * l, s2 * l)  # d(position)/dq2
    columns = (turn, swing)
    entries = [m * sum(x * y for x, y in zip(columns[i], columns[j], strict=True)) for i in range(2) for j in range(2)]
    return [("M", (2, 2), [entries[0] + J, *entries[1:]])]


def arm_program() -> Program:
    return traced("arm", [("q", 2), ("v", 2), ("a", 2), ("p", 8)], arm_newton_euler)


def arm_mass_program() -> Program:
    return traced("arm_mass", [("q", 2), ("p", 8)], arm_mass_matrix)


def crane_program() -> Program:
    return traced("crane", [("q", 2), ("v", 2), ("a", 2), ("p", 5)], crane_newton_euler)


def rotary_program() -> Program:
    return traced("rotary", [("q", 2), ("p", 4)], rotary_mass_matrix)
