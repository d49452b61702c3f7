"""Newmark's methods: exact discrete solutions, EasyDyn's rules and figures, manifolds, rows without inertia."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import kinemorph
from kinemorph.algebra.scalar import sin
from kinemorph.plants.own_equations import first_order, second_order
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.integrators import newmark
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.stepping.stepper import Stepper
from support.cases.implicit_cases import double_pendulum, motor, observed_orders, turning_body

MEMBERS = [method.name for method in newmark.FAMILY]
ORDER = json.loads((Path(__file__).parents[2] / "data" / "newmark_order.json").read_text())
BETAS = {"newmark": "0.250000", "linear_acceleration": "0.166667", "central_difference": "0.000000"}


@pytest.mark.parametrize("name", BETAS)
def test_the_exact_discrete_solution_of_an_oscillator(name):
    oscillator = second_order(lambda q, a: [a[0] + q[0]], {"x": "m"}, start=[1.0])
    errors = []
    for h in ORDER["inputs"]["h"]:
        reference = ORDER["reference"][f"beta={BETAS[name]},gamma=0.5,h={h}"]
        found = Stepper(oscillator, method=name, step=h).advance(10.0).q[0]
        assert found == pytest.approx(reference["x_T10"], abs=1e-12)
        errors.append(abs(found - math.cos(10.0)))
    observed = ORDER["observed_order"]["trapezoidal" if name == "newmark" else name]
    assert math.log2(errors[1] / errors[2]) == pytest.approx(observed, abs=0.02)


@pytest.mark.parametrize("name", MEMBERS)
def test_order_two_on_a_double_pendulum(name):
    arm = double_pendulum()
    assert observed_orders(arm, name, [0.02, 0.01, 0.005], 1.0, q=[0.0, 1.0]) == pytest.approx([2.0, 2.0], abs=0.1)


@pytest.mark.parametrize("name", MEMBERS)
def test_order_two_on_the_manifold(name):
    moving = {"v": [0.3, -0.2, 0.5, 2.0, 1.0, -3.0]}
    orders = observed_orders(turning_body(), name, [0.02, 0.01, 0.005], 1.0, **moving)
    assert orders == pytest.approx([2.0, 2.0], abs=0.1)


# ── EasyDyn ───────────────────────────────────────────────────────────────────────────────────────────────────────────

PRINTED = np.array([0.242539, 0.16589, 1.52937, -5.29533])  # q0 q1 v0 v1 of its double pendulum at t = 5
ACCURATE = np.array([0.2426203647, 0.1655897690, 1.5295166145, -5.2962537299])


def test_easydyn_double_pendulum():
    arm = kinemorph.library.double_pendulum()
    stepper = Stepper(arm, method="newmark", rtol=1e-6, atol=1e-6, min_step=1e-8, max_step=0.005, q=[0.0, 1.0])
    for k in range(1, 501):  # its results are saved every 0.01 s, and steps end there
        stepper.advance(0.01 * k)
    found = np.concatenate([stepper.state.q, stepper.state.v])
    assert (np.abs(found - PRINTED) < [1e-5, 3e-5, 2e-5, 1e-4]).all()
    assert (np.abs(found - ACCURATE) < [2e-4, 4e-4, 1e-3, 2e-3]).all()
    accepted, rejected = stepper.counts
    assert accepted < 1300 and rejected < 200


def test_easydyn_initial_accelerations():
    arm = plant(kinemorph.library.double_pendulum())
    stepper = Stepper(arm, method="newmark", step=1e-6, q=[0.0, 1.0])
    stepper.step()
    assert stepper.state.v / 1e-6 == pytest.approx([2.34552, -15.6759], rel=1e-5)
    # and by the residual alone, as for equations of one's own
    law = kinemorph.derive(kinemorph.library.double_pendulum())
    mass, bias = law.mass_matrix([0.0, 1.0]), law.bias_forces([0.0, 1.0], [0.0, 0.0])
    own = second_order(
        lambda a: [mass[i, 0] * a[0] + mass[i, 1] * a[1] + bias[i] for i in range(2)], {"q0": "rad", "q1": "rad"}
    )
    stepper = Stepper(own, method="newmark", step=1e-6)
    stepper.step()
    assert stepper.state.v / 1e-6 == pytest.approx([2.34552, -15.6759], rel=1e-5)


def test_steps_are_halved_and_doubled():
    arm = plant(kinemorph.library.double_pendulum())
    stepper = Stepper(arm, method="newmark", rtol=1e-6, atol=1e-6, q=[0.0, 1.0])
    first, sizes = stepper.h, set()
    for _ in range(300):
        stepper.step()
        sizes.add(math.log2(stepper.h / first))
    assert len(sizes) > 2 and all(size == pytest.approx(round(size), abs=1e-9) for size in sizes)


def test_the_last_step_reaches_a_little_further():
    still = second_order(lambda a: [a[0] - 1.0], {"x": "m"})
    stepper = Stepper(still, method="newmark", max_step=0.1)
    stepper.advance(1.03)
    accepted, before = stepper.counts[0], stepper.state.t
    stepper.advance(before + 0.13)  # within 1.4 of the largest step
    assert stepper.counts[0] == accepted + 1


# ── rows without inertia, extra states ────────────────────────────────────────────────────────────────────────────────


def cylinder(x, v, p1, p2, t):
    """A mass on a spring between two chambers: (force on it [N], rates of the pressures [bar/s])."""
    flow, bulk = 1e-4 * sin(6.0 * t), 1.2e4
    force = 1e5 * (2e-3 * p1 - 1.5e-3 * p2) - 2e4 * v - 2e4 * x
    first = bulk / (1e-3 + 2e-3 * x) * (flow - 2e-3 * v - 1e-7 * p1)
    return force, first, bulk / (1e-3 - 1.5e-3 * x) * (1.5e-3 * v - 0.7 * flow - 1e-7 * p2)


def hydraulic_residual(t, q, v, a):
    force, first, second = cylinder(q[0], v[0], q[1], q[2], t)
    return [20.0 * a[0] - force, v[1] - first, v[2] - second]


def hydraulic_rates(t, x):
    force, first, second = cylinder(*x, t)
    return [x[1], force / 20.0, first, second]


def test_pressures_without_inertia():
    cylinder_ = second_order(hydraulic_residual, {"x": "m", "p1": "bar", "p2": "bar"}, start=[0.0, 10.0, 12.0])
    states = {"x": "m", "v": "m/s", "p1": "bar", "p2": "bar"}
    reference = Stepper(
        first_order(hydraulic_rates, states, start=[0.0, 0.0, 10.0, 12.0]), rtol=1e-12, atol=1e-13
    ).advance(1.0)

    def error(state):
        return np.abs(np.array([state.q[0], state.v[0], state.q[1], state.q[2]]) - reference.x).max()

    for name in ("newmark", "generalized_alpha"):
        assert error(Stepper(cylinder_, method=name, rtol=1e-8, atol=1e-8).advance(1.0)) < 1e-5
        coarse, fine = (error(Stepper(cylinder_, method=name, step=h).advance(1.0)) for h in (1e-3, 5e-4))
        assert math.log2(coarse / fine) == pytest.approx(2.0, abs=0.1)
    # at the start p'' is what the derivative of its equation says, although no equation shows it
    stepper = Stepper(cylinder_, method="newmark", step=1e-6)
    stepper.step()
    rate = np.array(hydraulic_rates(0.0, [0.0, 0.0, 10.0, 12.0]))
    ahead = np.array(hydraulic_rates(1e-7, np.array([0.0, 0.0, 10.0, 12.0]) + 1e-7 * rate))
    begun = stepper.plan.array(stepper.memory, "own_z_begun")
    assert begun == pytest.approx([rate[1], *(ahead - rate)[2:] / 1e-7], rel=1e-3)
    # the velocity of a pressure is no choice: a wrong one at the start changes nothing
    off = Stepper(cylinder_, method="newmark", rtol=1e-8, atol=1e-8, v=[0.0, 500.0, -300.0]).advance(1.0)
    assert error(off) < 1e-5


@pytest.mark.parametrize(
    "name",
    [
        name if name in ("newmark", "generalized_alpha") else pytest.param(name, marks=pytest.mark.slow)
        for name in MEMBERS
    ],
)
def test_extra_states_go_along(name):
    """A motor: current by its own law, torque by current."""
    arm = motor()
    assert observed_orders(arm, name, [0.004, 0.002, 0.001], 1.0) == pytest.approx([2.0, 2.0], abs=0.1)
    exact = Stepper(arm, rtol=1e-12, atol=1e-13).advance(2.0)
    found = Stepper(arm, method=name, rtol=1e-8, atol=1e-8).advance(2.0)
    assert np.allclose(found.q, exact.q, atol=1e-5) and np.allclose(found.x, exact.x, atol=1e-4)


def test_equations_without_a_solution_are_said():
    lost = second_order(lambda q, v, a: [a[0] + q[1], a[0] + q[1] + 1.0], {"x": "m", "y": "m"})
    run = simulate(lost, 1.0, method="newmark")
    assert run.outcome.kind == "failed" and run.outcome.t == 0.0 and "singular" in run.outcome.message


# ── energy ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_energy_of_a_swinging_chain_does_not_drift():
    chain = kinemorph.library.chain(3)
    law = kinemorph.derive(chain)
    stepper = Stepper(chain, method="newmark", step=0.005, q=[1.0, 0.3, -0.2])
    energies = []
    for k in range(1, 101):
        _, q, v, _ = stepper.advance(0.5 * k)
        energies.append(sum(law.energy(q, v)))
    off = np.abs(np.array(energies) - sum(law.energy([1.0, 0.3, -0.2], np.zeros(3))))
    assert off.max() < 0.05 and off[50:].max() < 2.0 * off[:50].max()  # bounded, not growing


@pytest.mark.parametrize("name", ["newmark", "generalized_alpha"])
def test_a_turning_body_on_a_hard_spring(name):
    """Newton's matrix has to know how the path bends in the axes of the start: a step turns by 1.3 rad."""
    builder = kinemorph.RobotBuilder("anchored", gravity=(0.0, 0.0, 0.0))
    builder.add(kinemorph.Body.box("brick", 1.0, (0.3, 0.2, 0.1)))
    body = builder.joint("base", "free", "world", "brick").build()

    def forces(q, v):
        """Toward the origin, in the axes of the body."""
        w, x, y, z = q[3:]
        size = w * w + x * x + y * y + z * z  # quaternions inside a step are of any length
        turn = [
            [size - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
            [2 * (x * y - w * z), size - 2 * (x * x + z * z), 2 * (y * z + w * x)],
            [2 * (x * z + w * y), 2 * (y * z - w * x), size - 2 * (x * x + y * y)],
        ]
        return [-1e6 / size * sum(row[k] * q[k] for k in range(3)) for row in turn] + [0.0] * 3

    model = plant(body, forces=forces)
    start = {"q": [1e-3, 0, 0, 1, 0, 0, 0], "v": [0.5, -1.0, 0.3, 100.0, 75.0, -50.0]}
    stepper = Stepper(model, method=name, step=0.01, **start)
    stepper.advance(0.5)
    assert stepper.counts[0] == 50
    spring = 0.5e6 * np.sum(stepper.state.q[:3] ** 2) + 0.5 * np.sum(stepper.state.v[:3] ** 2)
    assert spring < 3.0 * (0.5 + 0.5 * (0.25 + 1.0 + 0.09))  # no blow-up, though a step is far too long for accuracy


def test_generalized_alpha_damps_what_steps_cannot_follow():
    """A soft and a very stiff oscillator: the stiff one dies out, the soft one lives; Newmark keeps both."""
    pair = second_order(lambda q, a: [a[0] + q[0], a[1] + 1e8 * q[1]], {"soft": "m", "stiff": "m"}, start=[1.0, 1.0])
    lost = Stepper(pair, method="generalized_alpha", step=0.05).advance(20.0)
    kept = Stepper(pair, method="newmark", step=0.05).advance(20.0)

    def size(state, k, stiffness):
        return math.sqrt(state.q[k] ** 2 + state.v[k] ** 2 / stiffness)

    assert size(lost, 1, 1e8) < 1e-6 and size(lost, 0, 1.0) == pytest.approx(1.0, abs=1e-3)
    assert size(kept, 1, 1e8) == pytest.approx(1.0, abs=1e-3) and size(kept, 0, 1.0) == pytest.approx(1.0, abs=1e-3)
