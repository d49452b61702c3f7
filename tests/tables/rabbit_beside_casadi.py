"""RABBIT's step of least effort here and by CasADi with IPOPT, in one run: the cost, the time to build and to solve.

    python tests/tables/rabbit_beside_casadi.py        with CasADi installed, which this package does not need

0.5 m in 0.7 s, friction 0.6, knees that bend as human ones, plastic impact. The reference is direct collocation with
the Gauss points of degree 4 on 15 intervals; states, accelerations, torques and contact forces at all points are
unknowns, the equations of motion come from the kinetic and potential energy, written below in generalized coordinates
of their own. IPOPT gets exact first and second derivatives. Both searches begin at a step that is drawn by hand.
"""

from __future__ import annotations

import json
import math
import time
from typing import Any

import numpy as np

TORSO, THIGH, SHIN = (12.0, 0.63, 0.24, 1.33), (6.8, 0.4, 0.11, 0.47), (3.2, 0.4, 0.24, 0.20)
ROTOR, GRAVITY, HEIGHT = 0.83, 9.81, 0.74
DURATION, STEP, MU = 0.7, 0.5, 0.6
INTERVALS, DEGREE = 15, 4


def casadi_model(ca: Any) -> dict[str, Any]:
    """M, h, Jacobians of the feet and their bias, as CasADi functions of q = (x, z, pitch, hips and knees) and v."""
    q, v = ca.SX.sym("q", 7), ca.SX.sym("v", 7)
    hip, pitch = q[:2], q[2]

    def along(angle: Any) -> Any:
        return ca.vertcat(ca.sin(angle), -ca.cos(angle))

    parts, feet = [(hip - TORSO[2] * along(-pitch), TORSO, pitch)], []
    for side in (3, 5):
        thigh = q[side] - pitch
        shin = thigh - q[side + 1]
        knee = hip + THIGH[1] * along(thigh)
        parts += [(hip + THIGH[2] * along(thigh), THIGH, thigh), (knee + SHIN[2] * along(shin), SHIN, shin)]
        feet.append(knee + SHIN[1] * along(shin))
    kinetic, potential = 0.5 * ROTOR * ca.dot(v[3:], v[3:]), 0.0
    for place, (mass, _, _, inertia), angle in parts:
        moving, turning = ca.jtimes(place, q, v), ca.jtimes(angle, q, v)
        kinetic += 0.5 * mass * ca.dot(moving, moving) + 0.5 * inertia * turning**2
        potential += mass * GRAVITY * place[1]
    M = ca.hessian(kinetic, v)[0]
    h = ca.jtimes(ca.gradient(kinetic, v), q, v) - ca.gradient(kinetic - potential, q)
    J = [ca.jacobian(foot, q) for foot in feet]
    a, u, F, after = (ca.SX.sym(name, size) for name, size in (("a", 7), ("u", 4), ("F", 2), ("after", 7)))
    B = ca.vertcat(ca.SX.zeros(3, 4), ca.SX.eye(4))
    return {
        "motion": ca.Function("motion", [q, v, a, u, F], [M @ a + h - B @ u - J[0].T @ F]),
        "held": ca.Function("held", [q, v, a], [J[0] @ a + ca.jtimes(J[0] @ v, q, v)]),
        "feet": ca.Function("feet", [q], feet),
        "standing": ca.Function("standing", [q, v], [J[0] @ v]),
        "impact": ca.Function("impact", [q, v, after, F], [M @ (after - v) - J[1].T @ F, J[1] @ after]),
    }


def drawn(share: float) -> list[float]:
    """A posture at a share of the step: straight lines between the ends, with a bent swing knee."""

    def leg(ahead: float) -> tuple[float, float]:
        half = math.acos(0.5 * math.hypot(ahead, HEIGHT) / THIGH[1])
        return math.atan2(ahead, HEIGHT) + half, 2.0 * half

    far, lift = STEP * (share - 0.5), 0.3 * math.sin(math.pi * share)
    (hip, knee), (swing, bent) = leg(-far), leg(far)
    return [far, HEIGHT, 0.0, hip, knee, swing + lift, bent + 2.0 * lift]


def reference() -> dict[str, float]:
    """The least effort [N^2 m^2 s] by CasADi and IPOPT, and the times [s]."""
    import casadi as ca

    began = time.perf_counter()
    model, problem = casadi_model(ca), ca.Opti()
    tau = ca.collocation_points(DEGREE, "legendre")
    C, D, weights = (np.array(part) for part in ca.collocation_coeff(tau))
    h, moving = DURATION / INTERVALS, [0.7, 0.0, 0.0, -0.7, 0.0, 0.7, 0.0]

    def unknown(*shares: float) -> tuple[Any, Any]:
        q, v = problem.variable(7, len(shares)), problem.variable(7, len(shares))
        problem.set_initial(q, np.array([drawn(share) for share in shares]).T)
        problem.set_initial(v, np.tile(np.array(moving)[:, None], len(shares)))
        return q, v

    def legal(q: Any) -> None:
        problem.subject_to(q[4] >= 0)
        problem.subject_to(q[6] >= 0)

    first = q, v = unknown(0.0)
    problem.subject_to(model["feet"](q)[0] == 0)
    problem.subject_to(model["standing"](q, v) == 0)
    cost = 0
    for k in range(INTERVALS):
        at, rate = unknown(*((k + one) / INTERVALS for one in tau))
        all_q, all_v = ca.horzcat(q, at), ca.horzcat(v, rate)
        a, u, F = (problem.variable(size, DEGREE) for size in (7, 4, 2))
        problem.set_initial(F, np.tile([[0.0], [300.0]], DEGREE))
        problem.subject_to(all_q @ C == h * rate)
        problem.subject_to(all_v @ C == h * a)
        for j in range(DEGREE):
            problem.subject_to(model["motion"](at[:, j], rate[:, j], a[:, j], u[:, j], F[:, j]) == 0)
            problem.subject_to(model["held"](at[:, j], rate[:, j], a[:, j]) == 0)
            problem.subject_to(MU * F[1, j] - F[0, j] >= 0)
            problem.subject_to(MU * F[1, j] + F[0, j] >= 0)
            problem.subject_to(model["feet"](at[:, j])[1][1] >= 0)
            legal(at[:, j])
            cost += h * float(weights.ravel()[j]) * ca.dot(u[:, j], u[:, j])
        q, v = unknown((k + 1) / INTERVALS)
        problem.subject_to(q == all_q @ D)
        problem.subject_to(v == all_v @ D)
        legal(q)
    problem.subject_to(model["feet"](q)[1] == ca.vertcat(STEP, 0.0))
    after, impulse = problem.variable(7), problem.variable(2)
    problem.set_initial(after, moving)
    for row in model["impact"](q, v, after, impulse):
        problem.subject_to(row == 0)
    for mine, other in zip((2, 3, 4, 5, 6), (2, 5, 6, 3, 4), strict=True):  # left and right are exchanged
        problem.subject_to(first[0][mine] == q[other])
        problem.subject_to(first[1][mine] == after[other])
    problem.minimize(cost)
    problem.solver("ipopt", {"print_time": 0, "record_time": 1}, {"print_level": 0, "tol": 1e-9, "sb": "yes"})
    solution = problem.solve()
    ended = time.perf_counter()
    inside = float(solution.stats()["t_wall_total"])  # of IPOPT, without the derivatives that CasADi prepares before it
    return {
        "cost": float(solution.value(cost)),
        "building": ended - began - inside,
        "solving": inside,
        "iterations": solution.stats()["iter_count"],
    }


def ours() -> dict[str, float]:
    """The least effort with torque splines of 8 coefficients, and the times [s]."""
    from dataclasses import replace

    from kinemorph import library
    from kinemorph.elements import Integral, Phase, TorqueSpline
    from kinemorph.orbits import optimize_gait

    rabbit = library.rabbit()
    assert rabbit.automaton is not None
    motors = [f"{side}_{joint}_motor" for side in ("left", "right") for joint in ("hip", "knee")]
    torques = TorqueSpline.free("torque", motors, DURATION, count=8)
    cost = Integral("effort", [f"torque.{motor}" for motor in motors], of="square")
    phases = (Phase("step", ("stance", "torque")),)
    system = replace(
        rabbit, elements=(*rabbit.elements, torques, cost), automaton=replace(rabbit.automaton, phases=phases)
    )
    open_end = (0.0, math.inf)
    rows = np.array([drawn(share) for share in np.linspace(0.0, 1.0, 7)])
    gait = optimize_gait(
        *(system, "effort", torques.parameter_names),
        duration=DURATION,
        along={
            "foot.z": open_end,
            f"{MU} * stance.z.force - stance.x.force": open_end,
            f"{MU} * stance.z.force + stance.x.force": open_end,
            "q.left_knee": open_end,
            "q.right_knee": open_end,
        },
        at_end={"foot.x - heel.x": STEP},
        guess={f"q.{name}": rows[:, k].tolist() for k, name in enumerate(rabbit.robot.q_names)},
        arcs=5,
    )
    return {"cost": gait.cost, "building": gait.building, "solving": gait.seconds, "iterations": gait.iterations}


if __name__ == "__main__":
    found = {"kinemorph": [ours() for _ in range(3)]}
    try:
        found["casadi"] = [reference() for _ in range(3)]
    except ImportError:
        print("CasADi is not installed: pip install casadi")
    print(json.dumps(found, indent=2))
