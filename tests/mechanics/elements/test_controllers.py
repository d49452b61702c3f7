"""Controllers: their equations, their power, their derivatives, and what is said of bad ones."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import kinemorph
from kinemorph import Body, Guard, Parameter, RobotBuilder, System, audit, linearize, simulate
from kinemorph.algebra.scalar import cos, sin
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.errors import ModelError
from kinemorph.mechanics.elements.control.channels import Wish
from kinemorph.mechanics.elements.control.controllers import Pull
from kinemorph.mechanics.steps.point_states import JointState, joint_slope
from kinemorph.model.elements import (
    PD,
    PID,
    Actuator,
    ComputedTorque,
    Continuous,
    DCMotor,
    Encoder,
    FourierSeries,
    GravityCompensation,
    PythonController,
    Sampled,
    Setpoint,
    Sinusoid,
    SplinePath,
)
from kinemorph.plants import plant
from support.robots.controlled_systems import JOINTS, QUICK, arm, cart
from support.tools.each_case import each_case

REFERENCE = json.loads((Path(__file__).parents[2] / "data" / "dc_motor.json").read_text())

# ── the motor with a sampled, limited PI ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "options",
    [{"rtol": 1e-11, "atol": 1e-12}, pytest.param({"method": "rk4", "step": 0.0007}, marks=pytest.mark.slow)],
)
def test_the_reference_loop_of_a_motor(options):
    given, digital = REFERENCE["inputs"], REFERENCE["inputs"]["digital"]
    rotor = Body("rotor", mass=1.0, inertia=(given["J"],) * 3)
    joint = {"damping": given["b"]}
    robot = RobotBuilder("motor").add(rotor).joint("shaft", "revolute", "world", "rotor", **joint).build()
    motor = DCMotor("motor", "shaft", given["R"], given["Kt"], given["Ke"], inductance=given["L"])
    control = PID(
        "control",
        reads="v.shaft",
        drives="motor",
        reference=digital["ref"],
        kp=digital["Kp"],
        ki=digital["Ki"],
        every=digital["Ts"],
        lower=-24.0,
        upper=24.0,
    )
    rows = REFERENCE["reference"]["sampled_loop"]
    run = simulate(System(robot, (control, motor)), 2.0, output_step=digital["Ts"], **options)
    for row in rows:
        assert run["v.shaft"][row["k"]] == pytest.approx(row["speed"], abs=1e-8)
        assert run["motor.current"][row["k"]] == pytest.approx(row["current"], abs=1e-8)
        assert run["control"][row["k"] - 1] == pytest.approx(row["u"], abs=1e-8)  # held until then


# ── PID ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_continuous_pid_is_equation_22_of_easydyn():
    """u + Tf u' = (kp + ki Tf) e + ki int e + (kd + kp Tf) e', with Tf = kd / N; on e = sin 2t known in closed form."""
    kp, ki, kd, N = 3.0, 2.0, 0.4, 8.0
    drive = Continuous("drive", lambda t: sin(2.0 * t), (), outputs="e")
    system = cart(PID("c", reads="drive.e", drives="x", kp=-kp, ki=-ki, kd=-kd, filter=kd / N), drive)
    run = simulate(system, 3.0, output_step=0.01, rtol=1e-11, atol=1e-12)
    t, w, Tf = run.t, 2.0, kd / N
    # the derivative's filter starts at rest: kd s / (1 + Tf s) on sin w t
    swing = (w * np.cos(w * t) + w * w * Tf * np.sin(w * t) - w * np.exp(-t / Tf)) / (1.0 + (w * Tf) ** 2)
    exact = kp * np.sin(w * t) + ki * (1.0 - np.cos(w * t)) / w + kd * swing
    assert np.abs(run["c"] - exact).max() < 1e-9
    u, e = run["c"], np.sin(w * t)
    rate = np.gradient(u, t, edge_order=2)[5:-5]
    right = (kp + ki * Tf) * e + ki * (1.0 - np.cos(w * t)) / w + (kd + kp * Tf) * w * np.cos(w * t)
    assert np.abs((u[5:-5] + Tf * rate) - right[5:-5]).max() < 2e-2  # differences of u


def test_a_bandwidth_is_equation_23_of_easydyn():
    """q'' + w0 q' = w0 e: the error that counts is q', its integral q, its derivative q''."""
    w0 = 40.0
    fast = PID("c", reads="drive.e", drives="x", kp=-3.0, ki=-2.0, kd=-0.4, filter=0.05, bandwidth=w0)
    drive = Continuous("drive", lambda t: sin(2.0 * t), (), outputs="e")

    def as_written(t, e, x):  # q, q', u
        q, rate, u = x
        change = w0 * (e - rate)
        slope = ((3.0 + 2.0 * 0.05) * rate + 2.0 * q + (0.4 + 3.0 * 0.05) * change - u) / 0.05
        return u, [rate, change, slope]

    paper = Continuous("paper", as_written, "drive.e", states=("q", "rate", "u"), outputs="u")
    run = simulate(cart(fast, drive, paper), 2.0, output_step=0.01, rtol=1e-11, atol=1e-12)
    assert np.abs(run["c"] - run["paper.u"]).max() < 1e-8


def pid_by_hand(e, T, kp, ki, kd, Tf, lower, upper, windup, tracking):
    J = d = 0.0
    before, out = e[0], []
    for error in e:
        d = (Tf * d + kd * (error - before)) / (Tf + T)
        before, grown = error, J + T * ki * error
        u = kp * error + grown + d
        if windup == "clamp" and ((u > upper and ki * error > 0) or (u < lower and ki * error < 0)):
            grown = J
            u = kp * error + grown + d
        held = min(max(u, lower), upper)
        J = grown + (T / tracking * (held - u) if windup == "back_calculation" else 0.0)
        out.append(held)
    return np.array(out)


@pytest.mark.parametrize("windup", ["none", "clamp", "back_calculation"])
def test_the_sampled_pid_is_its_recursion(windup):
    numbers = {"kp": 2.0, "ki": 3.0, "kd": 0.3}
    drive = Continuous("drive", lambda t: -cos(t), (), outputs="y")
    control = PID(
        "c", reads="drive.y", drives="x", every=0.05, filter=0.02, lower=-1.5, upper=2.0, anti_windup=windup, **numbers
    )
    run = simulate(cart(control, drive), 6.0, output_step=0.05, **QUICK)
    e = np.cos(run.t)
    expected = pid_by_hand(e, 0.05, *numbers.values(), 0.02, -1.5, 2.0, windup, 2.0 / 3.0)
    assert np.abs(run["c"] - expected).max() < 1e-11
    assert run["c"].max() == 2.0 and run["c"].min() == -1.5


def test_anti_windup_shortens_the_overshoot():
    peaks = {}
    for windup in ("none", "clamp", "back_calculation"):
        for every in (None, 0.01) if windup == "none" else (0.01,):
            control = PID(
                "c",
                joints="x",
                reference=2.0,
                kp=8.0,
                ki=3.0,
                kd=4.0,
                lower=-1.0,
                upper=1.0,
                anti_windup=windup,
                every=every,
            )
            run = simulate(cart(control, damping=1.0), 12.0, output_step=0.02, **QUICK)
            peaks[windup, every] = run["q.x"].max() - 2.0
    assert peaks["clamp", 0.01] < 0.1 * peaks["none", 0.01]
    assert peaks["back_calculation", 0.01] < 0.3 * peaks["none", 0.01]
    assert peaks["none", None] == pytest.approx(peaks["none", 0.01], rel=0.05)  # one is nearly the other


def test_the_derivative_may_leave_out_the_reference():
    kick = Sampled("step", lambda t: (t >= 0.25) * 1.0, (), outputs="r", every=0.05)
    for of, peak in (("error", 5.0 / 0.05), ("measurement", 0.0)):
        control = PID("c", reads="q.x", drives="x", reference="step.r", kd=5.0, derivative=of, every=0.05)
        run = simulate(cart(kick, control), 1.0, output_step=0.05, **QUICK)
        assert run["c"][5] == pytest.approx(peak)


# ── power, and derivatives ────────────────────────────────────────────────────────────────────────────────────────────


PATH = Sinusoid("path", amplitude=(0.4, 0.7), frequency=(0.5, 0.8), offset=(0.2, -0.1), joints=JOINTS)
CONTINUOUS = {
    "pd": (PATH, PD("c", JOINTS, kp=(20.0, 8.0), kd=2.0, reference="path")),
    "pd with limits": (PATH, PD("c", JOINTS, kp=20.0, kd=2.0, reference="path", lower=-4.0, upper=4.0)),
    "pid": (PATH, PID("c", JOINTS, reference="path", kp=20.0, ki=(5.0, 3.0), kd=2.0, filter=0.02, bandwidth=200.0)),
    "pid back": (
        PATH,
        PID(
            "c",
            JOINTS,
            reference="path",
            kp=20.0,
            ki=5.0,
            kd=2.0,
            lower=-5.0,
            upper=5.0,
            anti_windup="back_calculation",
        ),
    ),
    "computed torque": (PATH, ComputedTorque("c", JOINTS, kp=25.0, kd=10.0, reference="path")),
    "gravity": (GravityCompensation("g", JOINTS), PD("c", JOINTS, kp=9.0, kd=1.0)),
    "function": (
        Continuous("c", lambda t, q, v, x: (-4.0 * q - v - x[0], [q - x[0]]), ("q.q1", "v.q1"), "q1", states="z"),
    ),
    "actuators": (
        PATH,
        PID("c", joints=JOINTS, drives=("m1", "m2"), reference="path", kp=15.0, kd=1.0),
        Actuator("m1", "q1", gear=2.0),
        Actuator("m2", "q2"),
    ),
}


SLOW = ("pd with limits", "pid back", "gravity", "actuators")


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in CONTINUOUS])
def test_power_is_accounted_for_and_slopes_are_differences(name):
    system = arm(*CONTINUOUS[name])
    run = simulate(system, 1.0, q=[0.4, -0.3], v=[0.5, -1.0], rtol=1e-12, atol=1e-12, output_step=0.05)
    assert run.outcome.ok and audit(run, tolerance=1e-9).passed, audit(run, tolerance=1e-9)
    made = plant(system, account=True)
    rate, slopes = build(made.rate), build(jacobian(made.rate, "out", "s"))
    rng = np.random.default_rng(3)
    s = np.concatenate([np.zeros(2), rng.uniform(-0.2, 0.2, made.ns - 2)])
    ins = (0.3, rng.uniform(-0.3, 0.3, 2), s, made.initial("m"), made.initial("u"), made.initial("p"))
    J = slopes(*ins)
    for k in range(made.ns):
        step = 1e-6 * np.eye(made.ns)[k]
        ahead, behind = (rate(*ins[:2], s + sign * step, *ins[3:]) for sign in (1.0, -1.0))
        assert np.abs(J[:, k] - (ahead - behind) / 2e-6).max() < 2e-6 * (1.0 + np.abs(J[:, k]).max())


SAMPLED = {
    "pd": (PATH, PD("c", JOINTS, kp=20.0, kd=2.0, reference="path", every=0.02, delay=0.005, quantum=0.1)),
    "pid": (PATH, PID("c", JOINTS, reference="path", kp=20.0, ki=5.0, kd=1.0, filter=0.01, every=0.01)),
    "computed torque": (PATH, ComputedTorque("c", JOINTS, kp=25.0, kd=10.0, reference="path", every=0.01)),
}


@pytest.mark.parametrize("name", ["pid", *(pytest.param(n, marks=pytest.mark.slow) for n in ("pd", "computed torque"))])
def test_the_balance_of_energy_closes_with_sampled_ones(name):
    run = simulate(arm(*SAMPLED[name]), 1.0, q=[0.4, -0.3], rtol=1e-12, atol=1e-12, output_step=0.05)
    assert audit(run, tolerance=1e-9).passed, audit(run, tolerance=1e-9)


def test_slopes_are_finite_at_limits():
    """On a kink of its limits a controller has some slope of either side."""
    control = PID("c", joints="x", kp=1.0, ki=1.0, lower=-1.0, upper=1.0, anti_windup="clamp")
    made = plant(cart(control))
    slopes = build(jacobian(made.rate, "out", "s"))
    for q in (-1.0, 1.0, 0.0):
        J = slopes(0.0, [q], np.zeros(made.ns), made.initial("m"), made.initial("u"), made.initial("p"))
        assert np.isfinite(J).all()


# ── model-based ones ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_computed_torque_leaves_linear_errors():
    """e'' + kd e' + kp e = 0 for every joint, whatever the robot does."""
    run = simulate(arm(*CONTINUOUS["computed torque"]), 2.0, q=[0.7, 0.4], v=[0.0, 0.0], rtol=1e-11, atol=1e-12)
    for joint, q0, first in zip(JOINTS, (0.7, 0.4), (0, 1), strict=True):
        w, a, offset = (2.0 * np.pi * PATH.frequency[first], PATH.amplitude[first], PATH.offset[first])
        e0, rate0 = offset - q0, a * w
        exact = (e0 + (rate0 + 5.0 * e0) * run.t) * np.exp(-5.0 * run.t)  # kp 25, kd 10: twice the pole -5
        assert np.abs(run[f"path.{joint}"] - run[f"q.{joint}"] - exact).max() < 1e-9


@pytest.mark.slow
def test_gravity_compensation_holds_any_posture():
    held = GravityCompensation("g", JOINTS)
    run = simulate(arm(held), 2.0, q=[0.9, -0.4], output_step=0.1, **QUICK)
    assert np.abs(run.q - [0.9, -0.4]).max() < 1e-9
    with_pd = simulate(
        arm(held, PD("c", JOINTS, kp=10.0, kd=5.0, reference=(0.5, 0.2))), 20.0, output_step=1.0, **QUICK
    )
    assert np.abs(with_pd.q[-1] - [0.5, 0.2]).max() < 1e-4  # both drive the same joints: they add up


# ── PD inside a step ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_stiff_pd_is_taken_at_the_end_of_a_step():
    """kp = 1e6 at 1 ms: hopeless for an explicit step; the pivot is h kd + h^2 kp."""
    free = Pull(1e6, 100.0, Wish(0.3, 0.1), 0.5, -math.inf, math.inf)
    state, h = JointState(0.2, 1.0), 1e-3
    assert free.affine and free.linear(state, h)[1] == pytest.approx(h * 100.0 + h * h * 1e6)
    assert free.linear(state, h) == pytest.approx(joint_slope(free.force, state, h))
    limited = Pull(1e6, 100.0, Wish(0.3, 0.1), 0.5, -10.0, 10.0)
    share = 10.0 / limited.free(state)  # the secant from the force without limits to the middle of the limits
    assert not limited.affine and limited.linear(state, h) == pytest.approx((10.0, share * (h * 100.0 + h * h * 1e6)))
    assert limited.linear(JointState(0.3, 0.1), h) == pytest.approx((0.5, h * 100.0 + h * h * 1e6))
    system = cart(
        PD("c", "x", kp=1e6, kd=2e3, reference=0.3), Sampled("push", lambda t: 5.0 * t, (), "x", every=0.0375)
    )
    run = simulate(system, 0.5, method="implicit_contact", step=1e-3, output_step=0.05)
    assert run.outcome.ok and run["q.x"][-1] == pytest.approx(0.3, abs=1e-5)
    assert run["push"] == pytest.approx(5.0 * 0.0375 * np.floor(run.t / 0.0375 + 1e-9))


def test_parameters_of_gains_are_inputs():
    gain = Parameter("gain", 4.0)
    made = plant(cart(PD("c", "x", kp=gain, kd=1.0)), parameters=["gain"])
    model = linearize(made, q=[0.0])
    assert np.sort_complex(np.linalg.eigvals(model.A)) == pytest.approx(np.roots([1.0, 1.0, 4.0])[::-1])
    run = simulate(made, 1.0, q=[1.0], p=[9.0], **QUICK)
    assert run["c"][0] == -9.0


# ── several joints, several rates ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_one_controller_for_many_joints_is_as_many_single_ones():
    many = arm(PATH, PID("c", JOINTS, reference="path", kp=(20.0, 8.0), ki=3.0, kd=1.0, every=0.01))
    single = arm(
        PATH,
        PID("c1", "q1", reference="path.q1", kp=20.0, ki=3.0, kd=1.0, every=0.01),
        PID("c2", reads="q.q2", drives="q2", reference="path.q2", kp=8.0, ki=3.0, kd=1.0, every=0.01),
    )
    one, other = (simulate(system, 1.0, q=[0.4, -0.3], **QUICK) for system in (many, single))
    assert np.abs(one.q - other.q).max() < 1e-12
    assert np.array_equal(one["c.q1"][:5], other["c1"][:5])


@pytest.mark.slow
def test_a_cascade_at_two_rates_through_an_encoder():
    """An outer loop at 100 Hz gives the speed that an inner one at 1 kHz keeps."""
    encoder = Encoder("encoder", joint="x", resolution=1e-4, every=0.001)
    outer = PID("outer", reads="encoder.position", reference=0.5, kp=3.0, lower=-0.4, upper=0.4, every=0.01)
    inner = PID("inner", reads="v.x", drives="x", reference="outer", kp=20.0, ki=5.0, every=0.001)
    run = simulate(cart(encoder, outer, inner, damping=0.5), 4.0, output_step=0.01, **QUICK)
    assert run["q.x"][-1] == pytest.approx(0.5, abs=2e-3) and np.abs(run["v.x"]).max() < 0.45


# ── failures and bad input ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_python_controller_that_goes_wrong_ends_the_run_with_a_sentence():
    def late(wrong):
        return lambda t, x: wrong(t) if t >= 0.5 else 0.0

    for wrong, says in (
        (lambda t: math.nan, r"At t = 0.5 s controller 'c' returned nan as output; expected a finite number"),
        (lambda t: [1.0, 2.0], r"At t = 0.5 s controller 'c' returned 2 numbers as outputs; expected 1"),
        (lambda t: None, r"At t = 0.5 s controller 'c' returned None as output"),
        (
            lambda t: 1.0 / 0.0,
            r"controller 'c' raised ZeroDivisionError: float division by zero \(test_controllers.py, line",
        ),
        (lambda t: "fast", r"controller 'c' returned 'fast' as output"),
        (lambda t: np.inf, r"controller 'c' returned inf as output"),
    ):
        for options in (QUICK, {"method": "scipy:RK45"}):
            run = simulate(cart(PythonController("c", late(wrong), "q.x", "x", every=0.1)), 1.0, v=[1.0], **options)
            assert run.outcome.kind == "failed" and run.outcome.t == 0.5
            assert re.search(says, run.outcome.message), run.outcome.message
            assert run.t[-1] == 0.5 and run["q.x"][-1] == pytest.approx(0.5)  # what was computed is kept
    at_once = simulate(cart(PythonController("c", lambda t: math.nan, (), "x", every=0.1)), 1.0, **QUICK)
    assert at_once.outcome.kind == "failed" and at_once.outcome.t == 0.0 and len(at_once) == 1


def test_a_compiled_controller_that_divides_by_zero_ends_the_run_with_a_sentence():
    system = cart(Sampled("c", lambda t: 1.0 / (t - 0.7), (), "x", every=0.1, phase=0.5))
    for options in (QUICK, {"method": "scipy:RK45"}):
        run = simulate(system, 1.0, v=[1.0], **options)
        assert run.outcome.kind == "failed" and run.outcome.t == 0.7 and np.isfinite(run.segments[0].m).all()
        assert "At t = 0.7 s 'c.held' became" in run.outcome.message
    batch = kinemorph.simulate_batch(
        cart(Sampled("c", lambda t, x: 1.0 / x, "q.x", "x", every=0.1)), 1.0, q=[[1.0], [0.0], [2.0]], **QUICK
    )
    assert batch.ok.tolist() == [True, False, True] and "At t = 0 s 'c.held' became" in batch.failures[1]


def test_functions_of_a_run_that_raise_end_it_with_a_sentence():
    def bad(t):
        if t > 0.45:
            raise ValueError("no more fuel")
        return [0.0]

    for given in ({"inputs": bad}, {"callback": bad}):
        run = simulate(cart().robot, 1.0, v=[1.0], output_step=0.1, **QUICK, **given)
        assert run.outcome.kind == "failed" and run.outcome.t == 0.5 and run.t[-1] == 0.5
        assert "raised ValueError: no more fuel (test_controllers.py, line" in run.outcome.message
    wall = Guard("wall", lambda t: t - 0.5, "rising", reset=lambda v: {"v": [np.linalg.inv(np.zeros((2, 2)))]})
    run = simulate(cart().robot, 1.0, v=[1.0], output_step=0.1, events=[wall], **QUICK)
    assert run.outcome.kind == "failed" and "the reset of guard 'wall' raised LinAlgError" in run.outcome.message
    assert "(test_controllers.py, line" in run.outcome.message
    run = simulate(cart().robot, 1.0, inputs=lambda t: [math.nan] if t > 0.45 else [0.0], output_step=0.1, **QUICK)
    assert run.outcome.t == 0.5 and "'x' is nan; expected a finite number" in run.outcome.message


BAD = [
    (PID("c", reads="q.y", drives="x", kp=1.0), r"element 'c': it reads 'q.y', but there is no such signal"),
    (PID("c", reads="q.x", drives="y", kp=1.0), r"element 'c': it drives 'y', which is neither"),
    (PID("c", kp=1.0), r"element 'c': it reads nothing; expected one or more signals"),
    (PID("c", "x", kp=(1.0, 2.0)), r"kp has 2 numbers; expected 1"),
    (PID("c", "y", kp=1.0), r"joints contains 'y', and robot 'cart' has no such joint"),
    (PID("c", "x", kp=1.0, delay=0.1), r"delay is 0.1, but the element is not sampled; .* Give `every`"),
    (PID("c", "x", kp=1.0, quantum=0.1), r"quantum is 0.1, but the element is not sampled"),
    (PID("c", "x", kp=1.0, lower=2.0, upper=1.0), r"lower is 2 and upper 1; expected lower below upper"),
    (PID("c", "x", kp=1.0, reference="gait"), r"element 'c': it reads 'gait', but there is no such signal"),
    (PID("c", "x", ki=1.0, anti_windup="back_calculation"), r"the time constant kp / ki, but kp.* Give `tracking`"),
    (PID("c", reads="t", drives="x", kd=1.0), r"kd needs the rate of 't', which only joint coordinates have"),
    (PID("c", "x", kp=1.0, every=0.1, bandwidth=3.0), r"bandwidth is 3 and the PID is sampled"),
    (Sampled("c", 3.0, "q.x", "x"), r"law is 3.0; expected a function"),
    (Sampled("c", lambda t: t, "q.x"), r"element 'c': it drives nothing"),
    (SplinePath("r", (0.0, 0.0), (1.0, 2.0)), r"over times \(x\): x\[1\] = 0 is not above x\[0\]"),
    (SplinePath("r", (0.0, 1.0), (1.0,)), r"times has 2 numbers and points has 1 row; expected as many"),
    (SplinePath("r", (0.0, 1.0), ((1.0, 2.0), (3.0, 4.0))), r"points\[0\] has 2 numbers; expected 1"),
    (SplinePath("r", (0.0, 1.0), (1.0, 2.0), period=1.0), r"a path with a period ends in"),
    (FourierSeries("r", 1.0, (2.0, -1.0), (4.0, -1.0), cycles=1.5), r"cycles is 1.5; expected a whole number"),
    (FourierSeries("r", 1.0, (2.0, -1.0), (4.0,)), r"sines has 2 rows and cosines 1 row; expected one row in each"),
    (FourierSeries("r", 1.0, ((2.0, 1.0), -1.0), (4.0, -1.0)), r"sines\[0\] has 2 numbers; expected 1, one for each"),
    (FourierSeries("r", 1.0, (1.0, 0.0), (4.0, -1.0)), r"velocity at the ends is 6.283 .* 0.*at_rest corrects"),
    (FourierSeries("r", 1.0, (2.0, -1.0), (1.0, 0.0)), r"acceleration at the ends is -39.48 .* l\^2 cosines_l = 0"),
    (Setpoint("r", (1.0, 2.0)), r"values has 2 numbers; expected 1"),
    (Setpoint("energy"), r"this name is reserved for signals and columns"),
]


@each_case(("element", "says"), BAD, ids=[says[:30] for _, says in BAD])
def test_bad_data_is_named(element, says):
    with pytest.raises(ModelError, match=says):
        plant(cart(element))


def test_what_computed_torque_cannot_do_is_said():
    robot = kinemorph.library.double_pendulum()
    with pytest.raises(
        ModelError, match=r"has to drive every joint that moves, but joint 'q2' of .* is not in `joints`"
    ):
        plant(System(robot, (ComputedTorque("c", "q1", 1.0, 1.0),)))
    with pytest.raises(ModelError, match=r"has loops or coupled joints"):
        four = kinemorph.library.four_bar()
        name = next(joint.name for joint in four.joints if len(joint.v_names) == 1)
        plant(System(four, (GravityCompensation("g", name),)))


def test_laws_that_are_traced_say_what_is_wrong():
    for law, says in (
        (lambda t, x, m: 1.0, r"'c' returned 1.0; expected \(outputs, memory\)"),
        (lambda t, x, m: (1.0, [1.0, 2.0]), r"'c' returned 2 numbers as memory; expected 1"),
        (lambda t, x, m: ([1.0, 2.0], [1.0]), r"'c' returned 2 numbers as outputs; expected 1"),
    ):
        with pytest.raises(kinemorph.errors.ShapeError, match=says):
            simulate(cart(Sampled("c", law, "q.x", "x", memory="n")), 1.0, **QUICK)
    for kind in (Sampled, Continuous):
        for law, error, says in (
            (lambda t, x: None, kinemorph.errors.ShapeError, "'c' returned None as outputs; expected numbers"),
            (lambda t: 0.0, ModelError, r"law has the arguments \(t\); expected 2 arguments: t, q.x"),
            (lambda t, x: 1.0 if x > 0.0 else 0.0, kinemorph.errors.TracingError, "element 'c': whether an"),
        ):
            with pytest.raises(error, match=says):
                simulate(cart(kind("c", law, "q.x", "x")), 1.0, **QUICK)


def test_computed_torque_makes_up_for_damping_in_joints():
    """The error is that of e'' + 10 e' + 25 e = 0, whatever damps the joint."""
    builder = kinemorph.RobotBuilder("arm").add(kinemorph.Body.rod("rod", 1.0, 1.0, (0.5, 0.0, 0.0), axis="x"))
    robot = builder.joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), damping=0.7).build()
    control = ComputedTorque("c", ("hinge",), kp=25.0, kd=10.0, reference=0.5)
    run = simulate(System(robot, (control,)), 1.0, rtol=1e-11, atol=1e-11, output_step=0.05)
    exact = 0.5 * (1.0 - (1.0 + 5.0 * run.t) * np.exp(-5.0 * run.t))
    assert np.abs(run["q.hinge"] - exact).max() < 1e-9
