"""kalman() gives the observer of least error, and a regulator that reads sensors through it.

FINDINGS D6.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm, solve_continuous_are, solve_discrete_are

import kinemorph
from kinemorph import System, elements, kalman, library, linearize, lqr, simulate
from kinemorph.errors import ModelError, ShapeError, UnsupportedError

SEEN = ["w.x", "w.theta"]


@pytest.fixture(scope="module")
def linear() -> kinemorph.analysis.small_motions.linearize.Linearization:
    return linearize(library.cartpole(), outputs=SEEN)


OUTPUTS = ["w.x", "w.theta", "imu.ax"]  # the last one shows the force on the cart at once


def test_gains_are_those_of_the_dual_equation(linear: kinemorph.analysis.small_motions.linearize.Linearization) -> None:
    W, V = np.diag([0.1, 0.2, 0.3, 0.4]), np.diag([1e-2, 2e-2])
    found = kalman(linear, W, V)
    P = solve_continuous_are(linear.A.T, linear.C.T, W, V)
    np.testing.assert_allclose(found.P, P, rtol=1e-8)
    np.testing.assert_allclose(found.L, P @ linear.C.T @ np.linalg.inv(V), rtol=1e-8)
    of_force = kalman(linear, {"x": 2.0, "v.theta": 0.5}, V)  # noise of an input acts where it acts
    B = linear.B[:, :1]
    P = solve_continuous_are(linear.A.T, linear.C.T, 2.0 * B @ B.T + np.diag([0.0, 0.0, 0.0, 0.5]), V)
    np.testing.assert_allclose(of_force.P, P, rtol=1e-7)


@pytest.mark.slow  # its import takes seconds
def test_python_control_gives_the_same_gains(linear: kinemorph.analysis.small_motions.linearize.Linearization) -> None:
    control = pytest.importorskip("control")
    W, V = np.diag([0.1, 0.2, 0.3, 0.4]), np.diag([1e-2, 2e-2])
    L, P, _ = control.lqe(linear.A, np.eye(4), linear.C, W, V)
    found = kalman(linear, W, V)
    np.testing.assert_allclose(found.L, L, rtol=1e-8)
    np.testing.assert_allclose(found.P, P, rtol=1e-8)


def test_sampled_gains_predict_over_an_exact_period(
    linear: kinemorph.analysis.small_motions.linearize.Linearization,
) -> None:
    T, W, V = 0.05, np.diag([0.1, 0.2, 0.3, 0.4]), np.diag([1e-2, 2e-2])
    found = kalman(linear, W, V, sample=T)
    nodes, shares = np.polynomial.legendre.leggauss(12)
    moves = [expm(linear.A * 0.5 * T * (1.0 + node)) for node in nodes]
    noise = sum(0.5 * T * share * E @ W @ E.T for share, E in zip(shares, moves, strict=True))
    A, C = expm(linear.A * T), linear.C
    P = solve_discrete_are(A.T, C.T, noise, V / T)
    np.testing.assert_allclose(found.P, P, rtol=1e-7)
    np.testing.assert_allclose(found.L, A @ P @ C.T @ np.linalg.inv(C @ P @ C.T + V / T), rtol=1e-7)


@pytest.mark.parametrize("sample", [None, 0.02])
def test_a_regulator_that_reads_encoders_holds_a_cart_pole(sample: float | None) -> None:
    robot = library.cartpole()
    found = lqr(robot, {"q.x": 10.0, "q.theta": 10.0}, {"x": 0.1}, sample=sample)
    hinge = elements.Encoder("hinge", "theta", counts=1e5)
    observer = kalman(robot, {"x": 10.0}, 1e-4, outputs=SEEN, sample=sample)
    known = {"observer": observer, "reads": {"w.theta": "hinge.position"}}
    element = found.element(**known, upper=30.0, lower=-30.0)
    assert element.observer is not None
    assert element.observer.reads == ("q.x", "hinge.position")
    run = simulate(System(robot, (hinge, element)), 6.0, q={"theta": 0.1}, output_step=0.02)
    kind = "m.lqr" if sample else "lqr"
    wrong = np.stack([run[f"{kind}.w.{name}"] - run[f"q.{name}"] for name in ("x", "theta")])
    assert np.abs(wrong[1, 0]) > 0.02  # it begins with a wrong estimate
    assert np.abs(wrong[:, -1]).max() < 5e-4
    assert np.abs(run.q[-1]).max() < 2e-3
    assert np.abs(run["lqr"]).max() <= 30.0
    # the error decays by the poles of the observer, and the whole by those of both
    if sample is None:
        closed = linearize(System(robot, (found.element(observer=observer),)), [0.0, 0.0], outputs=())
        both = np.sort_complex([*found.poles, *observer.poles])
        np.testing.assert_allclose(np.sort_complex(np.linalg.eigvals(closed.A)), both, rtol=1e-6)


def test_an_observer_knows_the_outputs_at_a_pose_and_on_a_loop() -> None:
    robot = library.four_bar()
    found = lqr(robot, 1.0, {"q1": 0.1})
    observer = kalman(robot, {"q1": 1.0}, 1e-4, outputs=["w.q2"])
    element = found.element(observer=observer)
    assert element.observer is not None
    assert element.observer.measured == (found.q[1],)
    run = simulate(System(robot, (element,)), 6.0, q={"q1": found.q[0] + 0.05}, output_step=0.1)
    assert np.abs(run.q[-1] - found.q).max() < 1e-3


def test_signals_of_elements_are_outputs_too() -> None:
    motor = elements.DCMotor("motor", "q1", 2.0, 0.05, inductance=0.02, ratio=20.0)
    plant = System(library.pendulum(), (motor,))
    found = lqr(plant, {"q.q1": 100.0}, {"motor": 0.1}, q={"q1": 0.5})
    observer = kalman(plant, {"motor": 1.0}, [1e-6, 1.0], q={"q1": 0.5}, outputs=["w.q1", "motor.torque"])
    run = simulate(System(plant.robot, (motor, found.element(observer=observer))), 8.0, q={"q1": 0.45})
    assert run["q.q1"][-1] == pytest.approx(0.5, abs=1e-4)
    assert run["lqr"][-1] == pytest.approx(found.u[0], rel=1e-3)


def test_bad_input_is_told_in_a_sentence(linear: kinemorph.analysis.small_motions.linearize.Linearization) -> None:
    robot = library.cartpole()
    with pytest.raises(UnsupportedError, match=r"the outputs w.theta do not show motions of 'w.x'.* Add a sensor"):
        kalman(linearize(robot, outputs=["w.theta"]), 1.0, 1.0)
    with pytest.raises(ShapeError, match=r"kalman: V is not positive definite"):
        kalman(linear, 1.0, {"w.x": 1.0})
    with pytest.raises(ShapeError, match=r"kalman: W names 'motor', which is not there.*Known: 'w.x'"):
        kalman(linear, {"motor": 1.0}, 1.0)
    with pytest.raises(ShapeError, match=r"kalman: sample is -1; expected"):
        kalman(linear, 1.0, 1.0, sample=-1)
    observer, found = kalman(linear, 1.0, 1.0), lqr(robot, 1.0, {"x": 1.0}, sample=0.1)
    with pytest.raises(UnsupportedError, match=r"reads is .* without an observer="):
        found.element(reads={"w.x": "encoder.position"})
    with pytest.raises(UnsupportedError, match=r"the observer has 4 states of 'cartpole' and the sample time None"):
        found.element(observer=observer)


def test_bad_data_of_the_element_are_told_in_a_sentence() -> None:
    robot = library.pendulum()
    right = {"drives": "q1", "gains": [[1.0, 2.0]], "q": [[0.0]], "v": [[0.0]], "inputs": [[0.0]]}
    assert simulate(System(robot, (elements.StateFeedback("k", **right),)), 0.1).outcome.ok
    for wrong, said in (
        ({"gains": [[1.0]]}, "gains has 1 row of 1 numbers; expected 1 row of 2 numbers"),
        ({"q": ()}, "q has 0 rows of no numbers; expected 1 row of 1 number"),
        ({"drives": ()}, "it drives nothing; expected names of joints"),
        ({"drives": "knee"}, "it drives 'knee', which is neither"),
        ({"times": (0.0, 0.0)}, "times has 2 times that do not increase"),
        (
            {"times": (0.0, kinemorph.Parameter("T", 1.0))},
            "its rows over time contain the parameter 'T'; expected plain",
        ),
        ({"states": "heat", "gains": [[1.0, 2.0, 3.0]], "x": [[0.0]]}, "states contains 'heat', and no element has"),
        ({"every": -1.0}, "every is -1; expected a finite number above 0"),
        ({"lower": 2.0, "upper": 1.0}, "expected lower below upper"),
    ):
        with pytest.raises(ModelError, match=said):
            kinemorph.plants.plant(System(robot, (elements.StateFeedback("k", **{**right, **wrong}),)))
    rows = {name: [[0.0, 0.0], [0.0, 0.0]] for name in "A"}
    seen = elements.Observer("q.q1", ("w.q1", "v.q1"), rows["A"], [[0.0], [1.0]], [[0.0], [0.0]], [[1.0]], [[0.0]], 0.0)
    for more, said in ((right, "it has q and an observer"), ({**right, "q": (), "v": ()}, r"C has 1 row of 1 numbers")):
        with pytest.raises(ModelError, match=said):
            kinemorph.plants.plant(System(robot, (elements.StateFeedback("k", **more, observer=seen),)))


def felt_cart() -> tuple[System, Any]:
    """The cart-pole with an accelerometer on the cart, which the force on the cart reaches at once, and its LQR."""
    system = System(library.cartpole(), (elements.IMU("imu", "cart"),))
    return system, {"q.x": 10.0, "q.theta": 10.0, "v.theta": 1.0}


def test_outputs_that_inputs_reach_at_once_are_those_of_the_input_until_then() -> None:
    """A sampled observer that subtracted the effect of the next input from an output diverged to 1e7."""
    system, Q = felt_cart()
    regulator = lqr(system, Q, {"x": 0.1}, sample=0.05)
    estimator = kalman(system, 1e-2, 1e-4, outputs=OUTPUTS, sample=0.05)
    assert np.abs(estimator.linear.D).max() > 0.1
    closed = replace(system, elements=(*system.elements, regulator.element(observer=estimator)))
    run = simulate(closed, 6.0, q={"theta": 0.02})
    assert run.outcome.ok and np.abs(run.q[-1]).max() < 1e-3
    late = replace(closed.elements[-1], delay=0.05)
    with pytest.raises(ModelError, match=r"delay is 0.05 s, of which its observer knows nothing; expected 0 s"):
        simulate(replace(system, elements=(*system.elements, late)), 0.1)


def test_noise_of_an_input_reaches_the_outputs_too() -> None:
    """Optimal for ds/dt = A s + B w, y = C s + D w + n: the gains of the Riccati equation with the common noise."""
    system, _ = felt_cart()
    found = kalman(system, {"x": 1.0}, 1e-2, outputs=OUTPUTS)
    A, _, C, _ = found.linear.minimal()
    B, D = found.linear.dual @ found.linear.B[:, :1], found.linear.D[:, :1]
    total, common = 1e-2 * np.eye(len(C)) + D @ D.T, B @ D.T
    P = solve_continuous_are(A.T, C.T, B @ B.T, total, s=common)
    assert np.allclose(found.linear.dual @ found.L, (P @ C.T + common) @ np.linalg.inv(total), rtol=1e-6, atol=1e-9)
    with pytest.raises(UnsupportedError, match=r"noise of inputs reaches the outputs imu.ax at once, which a sampled"):
        kalman(system, {"x": 1.0}, 1e-2, outputs=OUTPUTS, sample=0.05)
