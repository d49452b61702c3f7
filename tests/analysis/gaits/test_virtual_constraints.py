"""Virtual constraints on an acrobot: errors that decay as a linear equation says, PD, Bezier curves, and checks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.special import comb

from kinemorph import RobotBuilder, System, simulate
from kinemorph.algebra.tables import lookup, spline_basis
from kinemorph.elements import TorqueSpline, TorsionSpring, VirtualConstraints
from kinemorph.errors import ModelError

KP, KD = 60.0, 9.0
ROW = (0.3, 0.5, -0.2, 0.4)  # Bezier coefficients


def acrobot(control: str = "linearization", **fields) -> System:
    """Two links that hang, a motor at the second joint, and a spring at the first one, which no motor moves."""
    builder = RobotBuilder("acrobot")
    for k, parent in ((1, "world"), (2, "link1")):
        inertia = ((0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1))
        builder.body(f"link{k}", mass=1.0 + k, com=(0, 0, -0.5), inertia=inertia)
        below = (0, 0, 0.0 if k == 1 else -1.0)
        builder.joint(f"joint{k}", "revolute", parent, f"link{k}", axis=(0, 1, 0), translation=below)
    curve = VirtualConstraints(
        **{"name": "curve", "joints": "joint2", "coefficients": [ROW], "phase": "joint1", "start": -0.5, "end": 0.8}
        | {"control": control, "kp": KP, "kd": KD}
        | fields
    )
    return System(builder.build(), (curve, TorsionSpring("spring", "joint1", stiffness=3.0)))


def bezier(s: np.ndarray) -> np.ndarray:
    """The curve by Bernstein's polynomials."""
    return sum(a * comb(3, k) * s**k * (1.0 - s) ** (3 - k) for k, a in enumerate(ROW))


def test_the_basis_of_one_piece_are_bernsteins_polynomials():
    s = np.linspace(-0.2, 1.2, 9)
    for k, table in enumerate(spline_basis(9, 8)):
        assert lookup(table, s) == pytest.approx(comb(8, k) * s**k * (1.0 - s) ** (8 - k), abs=1e-12)
    knots = np.linspace(0.0, 1.0, 41)
    assert sum(lookup(table, knots) for table in spline_basis(7, 3)) == pytest.approx(np.ones(41), abs=1e-14)


def test_errors_decay_as_the_linear_equation_says():
    """y'' = -kp y - kd y' holds exactly, although a spring acts and the first joint is free."""
    run = simulate(acrobot(), 1.0, q=[0.4, 0.1], v=[0.5, -1.0], rtol=1e-11, atol=1e-12)
    y, rate = run["curve.error"], run["curve.error_rate"]
    assert y == pytest.approx(run["q.joint2"] - bezier((run["q.joint1"] + 0.5) / 1.3), abs=1e-12)
    assert run["curve.phase"] == pytest.approx((run["q.joint1"] + 0.5) / 1.3, abs=1e-14)
    A = np.array([[0.0, 1.0], [-KP, -KD]])
    for k in (20, 60, 100):
        assert [y[k], rate[k]] == pytest.approx(expm(A * run.t[k]) @ [y[0], rate[0]], abs=1e-9)
    assert abs(y[0]) > 0.05 and np.ptp(run["q.joint1"]) > 0.1


def test_pd_gives_torques_in_proportion():
    run = simulate(acrobot("pd"), 0.5, q=[0.4, 0.1], v=[0.5, -1.0])
    assert run["curve"] == pytest.approx(-KP * run["curve.error"] - KD * run["curve.error_rate"], abs=1e-12)
    assert run["tau.joint2"] == pytest.approx(run["curve"], abs=1e-12)


def test_a_fit_reproduces_a_polynomial():
    theta = np.linspace(-0.4, 0.7, 50)
    run = {"q.joint1": theta, "q.joint2": bezier((theta + 0.4) / 1.1)}
    fit = VirtualConstraints.fitted("curve", "joint2", "joint1", run, degree=3)
    assert [one.value for one in fit.coefficients[0]] == pytest.approx(ROW, abs=1e-12)
    assert (fit.start.value, fit.end.value) == pytest.approx((-0.4, 0.7))
    assert fit.parameter_names == (*(f"curve.joint2.{k}" for k in range(4)), "curve.start", "curve.end")


def test_a_torque_spline_follows_its_coefficients():
    robot = acrobot().robot
    spline = TorqueSpline("torque", ["joint1", "joint2"], [ROW, [2.0] * 4], 0.8)
    run = simulate(System(robot, spline), 1.0)
    assert run["torque.joint1"] == pytest.approx(bezier(run.t / 0.8), abs=1e-12)
    assert run["tau.joint2"] == pytest.approx(np.full(len(run.t), 2.0), abs=1e-12)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"phase": "knee"}, "knee"),
        ({"coefficients": [ROW, ROW]}, "joints has 1 name and coefficients has 2 rows"),
        ({"end": -0.5}, "start and end are both -0.5 rad"),
        ({"control": "pid"}, "control is 'pid'"),
        ({"kp": (1.0, 2.0)}, "kp has 2 numbers"),
    ],
)
def test_mistakes_are_named(fields, message):
    with pytest.raises(ModelError, match=message):
        simulate(acrobot(**fields), 0.1)


def test_a_spline_with_too_few_coefficients_is_refused():
    with pytest.raises(ModelError, match="degree is 3 and there are 2 coefficients"):
        simulate(System(acrobot().robot, TorqueSpline("torque", "joint1", [[1.0, 2.0]])), 0.1)
