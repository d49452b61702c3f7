"""Implicit methods with exact Jacobians: order, stiff problems with known ends, manifolds, batches."""

import math
import time

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinemorph
from kinemorph.algebra.scalar import cos, sin
from kinemorph.codegen.building.compile import build
from kinemorph.plants.own_equations import first_order, second_order
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.integrators import diagonally_implicit, newmark, radau, rosenbrock
from kinemorph.simulation.integrators.methods import METHODS
from kinemorph.simulation.march.layout import layout
from kinemorph.simulation.march.march import march
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.stepping.stepper import Stepper
from support.cases.implicit_cases import double_pendulum, flat, observed_orders, turning_body

ONE_STEP = [method.name for method in (*rosenbrock.FAMILY, *diagonally_implicit.FAMILY, *radau.FAMILY)]
ALL = [*ONE_STEP, *(method.name for method in newmark.FAMILY)]
ACCURATE = ["rodas", "radau"]

driven = first_order(
    lambda t, x: [x[1] * cos(t) - x[0], sin(3.0 * t) - x[0] * x[1]], {"a": "", "b": ""}, start=[1.0, 0.5], name="driven"
)


# ── order ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


STEPS = {1: [0.002, 0.001, 0.0005], 2: [0.02, 0.01, 0.005], 4: [0.02, 0.01, 0.005], 5: [0.08, 0.04, 0.02]}


def near(order):
    """Within 0.1 of theory up to order 4, within 0.3 above."""
    return pytest.approx([order] * 2, abs=0.1 if order <= 4 else 0.3)


@pytest.mark.parametrize("name", ONE_STEP)
def test_order_on_a_double_pendulum(name):
    arm, order = double_pendulum(), METHODS[name].order
    assert observed_orders(arm, name, STEPS[order], 1.0, q=[0.3, 0.2]) == near(order)


@pytest.mark.parametrize("name", ONE_STEP)
def test_order_on_the_manifold(name):
    moving, order = {"v": [0.3, -0.2, 0.5, 2.0, 1.0, -3.0]}, METHODS[name].order
    assert observed_orders(turning_body(), name, STEPS[order], 1.0, **moving) == near(order)


@pytest.mark.parametrize(("name", "steps"), [("rodas", [0.01, 0.005]), ("rosenbrock23", [0.01, 0.005])])
def test_order_where_time_enters(name, steps):
    """Without the derivative in time they fall to order 1."""
    assert observed_orders(driven, name, steps, 2.0) == pytest.approx([METHODS[name].order], abs=0.3)


@pytest.mark.parametrize("name", ONE_STEP)
def test_samples_between_steps_are_as_good(name):
    steps = [0.1, 0.05]
    exact = simulate(driven, 2.0, output_step=0.017, rtol=1e-12, atol=1e-13).segments[0].x
    errors = [
        np.abs(simulate(driven, 2.0, output_step=0.017, method=name, step=h).segments[0].x - exact).max() for h in steps
    ]
    assert math.log2(errors[0] / errors[1]) > min(METHODS[name].order, 3) - 0.3


# ── stiff problems ────────────────────────────────────────────────────────────────────────────────────────────────────


def robertson(x):
    """Three reactions whose rates differ by nine decades."""
    slow, fast, fastest = 0.04 * x[0], 1e4 * x[1] * x[2], 3e7 * x[1] ** 2
    return [fast - slow, slow - fast - fastest, fastest]


def test_robertson_kinetics():
    reference = solve_ivp(
        lambda t, x: robertson(x), (0.0, 1e4), [1.0, 0.0, 0.0], method="Radau", rtol=1e-10, atol=1e-15
    ).y[:, -1]
    kinetics = first_order(robertson, {"a": "", "b": "", "c": ""}, start=[1.0, 0.0, 0.0], name="robertson")
    for name in ACCURATE:
        stepper = Stepper(kinetics, method=name, rtol=1e-8, atol=1e-12)
        assert stepper.advance(1e4).x == pytest.approx(reference, rel=1e-7)
        assert sum(stepper.counts) < 1000
    loose = {"rosenbrock23": 1e-3, "tr_bdf2": 1e-3, "linearly_implicit_euler": 1e-2, "newmark": 1e-3}
    for name, close in loose.items():
        stepper = Stepper(kinetics, method=name, rtol=1e-5, atol=1e-9)
        assert stepper.advance(1e4).x == pytest.approx(reference, rel=close)
        assert sum(stepper.counts) < 4000


def test_van_der_pol_mu_1000():
    """Bari test set and MATLAB's vdp1000: hours for explicit methods."""
    relaxation = second_order(
        lambda q, v, a: [a[0] - 1000.0 * (1.0 - q[0] ** 2) * v[0] + q[0]], {"y": ""}, start=[2.0], name="van der pol"
    )
    reference = [1.70616773217, -8.92809701e-4]  # SciPy's Radau at rtol=1e-12; the Bari test set has the same
    for name in ACCURATE:
        stepper = Stepper(relaxation, method=name, rtol=1e-8, atol=1e-8)
        assert stepper.advance(2000.0).q[0] == pytest.approx(reference[0], abs=1e-6)
        assert sum(stepper.counts) < 5000
    for name in ("rosenbrock23", "tr_bdf2", "newmark", "generalized_alpha"):
        stepper = Stepper(relaxation, method=name, rtol=1e-5, atol=1e-5)
        assert stepper.advance(2000.0).q[0] == pytest.approx(reference[0], abs=5e-3)


@pytest.mark.parametrize("name", ALL)
def test_a_fast_transient_onto_a_slow_solution(name):
    """dx/dt = -1e6 (x - cos t) - sin t: x = cos t after a microsecond, from any start."""
    stiff = first_order(lambda t, x: [-1e6 * (x[0] - cos(t)) - sin(t)], {"x": ""}, start=[2.0])
    stepper = Stepper(stiff, method=name, rtol=1e-6, atol=1e-6)
    assert stepper.advance(10.0).x[0] == pytest.approx(math.cos(10.0), abs=1e-4)
    assert sum(stepper.counts) < 20_000  # an explicit method takes millions


def stiff_pendulum():
    """A mass on a spring of 1e6 N/m with a damper, swinging in a plane; all of it in Cartesian coordinates."""

    def rates(x):
        length = (x[0] ** 2 + x[1] ** 2).sqrt()
        along = (x[0] * x[2] + x[1] * x[3]) / length
        pull = (1e6 * (length - 1.0) + 1e3 * along) / length
        return [x[2], x[3], -pull * x[0], -pull * x[1] - 9.81]

    return first_order(
        rates, {"x": "m", "y": "m", "vx": "m/s", "vy": "m/s"}, start=[1.0, 0.0, 0.0, 0.0], name="stiff pendulum"
    )


def test_a_stiff_spring_pendulum():
    """The path is curved and the spring hard: methods that iterate follow it in long steps."""
    reference = Stepper(stiff_pendulum(), method="dop853", rtol=1e-11, atol=1e-12)
    exact = reference.advance(2.0).x
    for name, close, share in (("radau", 1e-4, 0.05), ("tr_bdf2", 1e-2, 0.2), ("rodas", 1e-3, 0.5)):
        stepper = Stepper(stiff_pendulum(), method=name, rtol=1e-5, atol=1e-6)
        assert stepper.advance(2.0).x == pytest.approx(exact, abs=close)
        assert sum(stepper.counts) < share * sum(reference.counts)
    # where Newton cannot follow, steps are held back instead of tried again and again
    stepper = Stepper(stiff_pendulum(), method="radau", rtol=1e-3, atol=1e-4)
    assert stepper.advance(2.0).x == pytest.approx(exact, abs=1e-2)
    assert stepper.counts[0] < 250 and stepper.counts[1] < 0.15 * stepper.counts[0]


# ── robots ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["radau", pytest.param("rodas", marks=pytest.mark.slow)])
def test_robots_of_all_kinds_of_joints_with_states_of_their_own(name):
    builder = kinemorph.RobotBuilder("mixed")
    for k, kind in enumerate(("free", "spherical", "planar", "revolute")):
        builder.add(kinemorph.Body.box(f"body{k}", 1.0 + k, (0.3, 0.2, 0.1), center=(0.1, 0.2, -0.3)))
        builder.joint(f"joint{k}", kind, f"body{k - 1}" if k else "world", f"body{k}", translation=(0.1, 0.0, -0.2))
    model = plant(
        builder.build(),
        states={"i": "A"},
        state_rates=lambda t, v, x: [50.0 * (sin(t) - x[0]) - v[-1]],
        forces=lambda v, x: [-0.3 * rate for rate in v[:-1]] + [x[0]],
    )
    v = np.linspace(-1.0, 1.5, model.nv)
    exact = Stepper(model, rtol=1e-12, atol=1e-13, v=v).advance(0.5)
    stepper = Stepper(model, method=name, rtol=1e-9, atol=1e-11, v=v)
    assert flat(stepper.advance(0.5)) == pytest.approx(flat(exact), abs=1e-7)
    assert stepper.counts[0] < 600


@pytest.mark.parametrize("name", ["radau", "newmark"])
def test_a_locked_joint_stays(name):
    model = plant(kinemorph.library.chain(3), locked="q2")
    exact = Stepper(model, rtol=1e-11, atol=1e-12, q=[0.5, 0.3, -0.4]).advance(0.5)
    found = Stepper(model, method=name, rtol=1e-9, atol=1e-9, q=[0.5, 0.3, -0.4]).advance(0.5)
    assert found.q == pytest.approx(exact.q, abs=1e-5)
    assert found.q[1] == 0.3 and found.v[1] == 0.0


@pytest.mark.parametrize("name", ["rodas", "radau", "tr_bdf2", "newmark"])
def test_held_inputs_and_events_begin_anew(name):
    """What is carried from step to step is dropped where the right side jumps."""
    mass = second_order(lambda a, u: [a[0] - u[0]], {"x": "m"}, inputs={"force": "N"})
    pushes = iter([1.0, -3.0, 2.0, 0.0, 0.0])
    run = simulate(
        mass, 1.0, method=name, inputs=lambda t, q, v, x: [next(pushes)], output_step=0.25, rtol=1e-6, atol=1e-6
    )
    assert run.segments[0].v[:, 0] == pytest.approx([0.0, 0.25, -0.5, 0.0, 0.0], abs=1e-9)


# ── batches ───────────────────────────────────────────────────────────────────────────────────────────────────────────


BATCHED = ("radau", "generalized_alpha")  # the others take the same paths


@pytest.mark.parametrize(
    "name", [name if name in BATCHED else pytest.param(name, marks=pytest.mark.slow) for name in ALL]
)
def test_a_batch_agrees_with_single_runs(name):
    model, method = turning_body(), METHODS[name]
    plan, count = layout(model, method), 11
    function = build(march(model, method, samples=3))
    rng = np.random.default_rng(5)
    memory = np.zeros((count, plan.size))
    plan.array(memory, "base")[:, 3] = 1.0
    plan.array(memory, "s")[:, 6:] = rng.normal(size=(count, 6)) * np.linspace(0.1, 4.0, count)[:, None]
    plan.array(memory, "fresh")[...] = 1.0
    plan.array(memory, "h")[...] = 1e-3
    rest = ([0.03, 0.07, 0.1], 3.0, 0.1, [1e-6, 1e-7, 1e-12, 1e30, 1e5, 1e300], np.zeros(6), np.zeros(0))
    together = function(memory, *(np.broadcast_to(x, (count, *np.shape(x))) for x in map(np.asarray, rest)))
    steps = plan.array(together[0], "accepted")
    assert len(set(steps.tolist())) > 1  # each has steps of its own
    for k in range(count):
        alone = function(memory[k], *rest)
        assert np.allclose(together[1][k], alone[1], rtol=1e-9, atol=1e-10)
        assert plan.array(alone[0], "accepted") == steps[k] and together[2][k] == 3.0


# ── speed ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_stiff_problems_take_milliseconds():
    kinetics = first_order(robertson, {"a": "", "b": "", "c": ""}, start=[1.0, 0.0, 0.0], name="robertson")
    stepper = Stepper(kinetics, method="rodas", rtol=1e-6, atol=1e-10)
    began = time.perf_counter()
    stepper.advance(1e4)
    assert time.perf_counter() - began < 0.1  # about half a millisecond on one core
