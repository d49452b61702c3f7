"""RABBIT's step of least effort, with torque splines and with virtual constraints."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from kinemorph import System, library
from kinemorph.elements import Integral, Phase, TorqueSpline, VirtualConstraints
from kinemorph.orbits import optimize_gait

CASADI = 242.503116  # [N^2 m^2 s] of tests/tables/rabbit_beside_casadi.py: Gauss collocation, IPOPT at 1e-9
SIDES = (("left", "right"), ("right", "left"))
JOINTS = [f"{side}_{joint}" for side in ("left", "right") for joint in ("hip", "knee")]
MOTORS = [f"{joint}_motor" for joint in JOINTS]
PARTS = {"torso": (12.0, 0.24, 1.33), "thigh": (6.8, 0.11, 0.47), "shin": (3.2, 0.24, 0.20)}  # m, center, inertia
LEGAL = {
    "foot.z": (0.0, math.inf),
    **{f"0.6 * stance.z.force {sign} stance.x.force": (0.0, math.inf) for sign in "+-"},
    **{f"q.{side}_knee": (0.0, math.inf) for side in ("left", "right")},
}  # the swing foot is above the ground, friction 0.6, human knees
LENGTH = 0.4  # [m] of thighs and shins


def stride(rabbit: System, lift: float = 0.8) -> dict[str, list[float]]:
    """A guess of a step: straight from the initial posture to that with left and right exchanged, with a bent knee."""
    q = dict(zip(rabbit.robot.q_names, rabbit.settings.q, strict=True))
    other = {name: name.replace(*sides) for name in q for sides in SIDES if sides[0] in name}
    guess = {f"q.{name}": [value, q[other.get(name, name)]] for name, value in q.items()}
    bent = guess["q.right_knee"]
    return guess | {"q.x": [0.0, 0.5], "q.right_knee": [bent[0], bent[0] + lift, bent[1]]}


@pytest.fixture(scope="module")
def splined():
    """The step with torque splines of 8 coefficients."""
    rabbit = library.rabbit()
    torques = TorqueSpline.free("torque", MOTORS, 0.7, count=8)
    cost = Integral("effort", [f"torque.{motor}" for motor in MOTORS], of="square")
    phase = Phase("step", ("stance", "torque"))
    system = replace(
        rabbit, elements=(*rabbit.elements, torques, cost), automaton=replace(rabbit.automaton, phases=(phase,))
    )
    return optimize_gait(
        *(system, "effort", torques.parameter_names),
        duration=0.7,
        along=LEGAL,
        at_end={"foot.x - heel.x": 0.5},
        guess=stride(rabbit),
        arcs=5,
    )


@pytest.fixture(scope="module")
def constrained(splined):
    """The step with virtual constraints of degree 8, which begin at the motion with torque splines."""
    rabbit, segment = library.rabbit(), splined.run().segments[0]
    columns = {f"q.{name}": segment.q[:, k] for k, name in enumerate(rabbit.robot.q_names)}
    curves = VirtualConstraints.fitted(
        *("curve", JOINTS, ["pitch", "left_hip", "left_knee"], columns), weights=(1.0, -1.0, 0.5), degree=8
    )
    cost = Integral("effort", [f"curve.{joint}" for joint in JOINTS], of="square")
    zero = {f"curve.{joint}.{what}": 0.0 for joint in JOINTS for what in ("error", "error_rate")}
    return optimize_gait(
        *(replace(rabbit, elements=(*rabbit.elements, curves, cost)), "effort", curves.parameter_names),
        duration=0.7,
        along=LEGAL,
        at_start={**zero, "curve.phase": 0.0},
        at_end={"curve.phase": 1.0, "foot.x - heel.x": 0.5},
        guess={name: values.tolist() for name, values in columns.items()},
        stages=8,
        tolerance=1e-10,
    )


@pytest.mark.slow
def test_rabbit_walks_at_the_cost_that_casadi_finds(splined):
    """0.5 m in 0.7 s, friction 0.6, human knees: torque splines within 0.5 %; they are within 1e-6."""
    assert splined, splined.message
    assert splined.cost == pytest.approx(CASADI, rel=1e-6)
    run = splined.trajectory
    assert run.events[0].t == pytest.approx(0.7, abs=1e-7)
    assert run["effort"][-1] == pytest.approx(CASADI, rel=1e-5)
    assert not splined.stable  # torques over time do not keep the robot on its motion


@pytest.mark.slow
def test_virtual_constraints_cost_little_more(constrained):
    """Bezier polynomials of degree 8 within 5 % of the least effort; their errors stay zero in a run."""
    assert constrained, constrained.message
    assert CASADI < constrained.cost < 1.05 * CASADI
    assert min(constrained.margins[name] for name in LEGAL) > -1e-9
    run = constrained.trajectory
    assert run.events[0].t == pytest.approx(0.7, abs=1e-9)
    assert run["effort"][-1] == pytest.approx(constrained.cost, rel=1e-6)
    assert max(np.abs(run[f"curve.{joint}.error"][:-1]).max() for joint in JOINTS) < 1e-9


def momentum(q: np.ndarray, v: np.ndarray) -> float:
    """The angular momentum [kg m^2/s] of all links about the stance foot, forward positive, by differences."""

    def links(q):
        hip, found = q[:2], []
        pitch = q[2]
        along = lambda angle: np.array([np.sin(angle), -np.cos(angle)])  # noqa: E731
        found.append((hip - PARTS["torso"][1] * along(-pitch), pitch, PARTS["torso"]))
        feet = []
        for hip_angle, knee in (q[3:5], q[5:7]):
            thigh = hip_angle - pitch
            shin = thigh - knee
            low = hip + LENGTH * along(thigh)
            found.append((hip + PARTS["thigh"][1] * along(thigh), -thigh, PARTS["thigh"]))
            found.append((low + PARTS["shin"][1] * along(shin), -shin, PARTS["shin"]))
            feet.append(low + LENGTH * along(shin))
        return found, feet[0]

    h = 1e-6
    (ahead, _), (behind, _), (here, foot) = links(q + h * v), links(q - h * v), links(q)
    total = 0.0
    for (a, turn_a, (mass, _, inertia)), (b, turn_b, _), (r, _, _) in zip(ahead, behind, here, strict=True):
        moving, arm = (a - b) / (2 * h), r - foot
        total += mass * (arm[1] * moving[0] - arm[0] * moving[1]) + inertia * (turn_a - turn_b) / (2 * h)
    return total


@pytest.mark.slow
def test_the_multiplier_of_the_zero_dynamics_is_that_of_the_momenta(constrained):
    """Westervelt, Grizzle and Koditschek (2003): (sigma+ / sigma-)^2, momenta about the stance feet at the impact."""
    strike = constrained.trajectory.events[0]
    before, after = (momentum(state["q"], state["v"]) for state in (strike.before, strike.after))
    law = (after / before) ** 2
    assert abs(constrained.multipliers[0] - law) < 1e-6
    assert constrained.stable and np.abs(constrained.multipliers[1:]).max() < 0.05
