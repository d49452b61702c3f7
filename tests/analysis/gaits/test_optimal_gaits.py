"""`optimize_gait`: optimal motions with closed forms, exact slopes, RABBIT beside CasADi, and what users see."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm

from kinemorph import RobotBuilder, System
from kinemorph.analysis.gaits.collocation import gauss
from kinemorph.elements import Automaton, Edge, Integral, Phase, Spring, TorqueSpline
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.orbits import optimize_gait

LOSS, STEP = 0.5, 1.0  # the share of the velocity that an edge leaves, and the length of a step [m]


def cart(count: int = 5, degree: int = 3, duration: float = 1.0) -> tuple[System, TorqueSpline]:
    """A mass of 2 kg on a line that loses half of its velocity wherever it has gone 1 m."""
    robot = RobotBuilder("cart").body("mass", mass=2.0).joint("x", "prismatic", "world", "mass", axis=(1, 0, 0)).build()
    spline = TorqueSpline.free("force", "x", duration, count=count, degree=degree)
    lossy = Edge("step", "push", "push", "1.0 - q.x", reset={"q.x": "q.x - 1.0", "v.x": f"{LOSS} * v.x"}, impact="none")
    elements = (spline, Integral("effort", "force", of="square"))
    return System(robot, elements, automaton=Automaton(Phase("push", "force"), lossy)), spline


def least_effort(duration: float) -> float:
    """The least integral of the squared force of `cart`: the force is a + b t, by the equations of Euler."""
    T, m = duration, 2.0
    # x(T) = STEP and v0 = LOSS v(T), with unknowns (v0, a, b); the cost is quadratic in (a, b)
    rows = np.array([[T, T**2 / 2 / m, T**3 / 6 / m], [1.0 - LOSS, -LOSS * T / m, -LOSS * T**2 / 2 / m]])
    H = np.zeros((3, 3))
    H[1:, 1:] = 2.0 * np.array([[T, T**2 / 2], [T**2 / 2, T**3 / 3]])
    kkt = np.block([[H, rows.T], [rows, np.zeros((2, 2))]])
    x = np.linalg.solve(kkt, np.array([0.0, 0.0, 0.0, STEP, 0.0]))[:3]
    return float(0.5 * x @ H @ x)


@pytest.fixture(scope="module")
def pushed():
    system, spline = cart()
    return optimize_gait(system, "effort", spline.parameter_names, duration=1.0, guess={"q.x": [0.0, 1.0]}, arcs=2)


def test_gauss_points_integrate_polynomials_exactly():
    c, b, A = gauss(4)
    for power in range(8):
        assert b @ c**power == pytest.approx(1.0 / (power + 1), rel=1e-13)
    for power in range(4):
        assert pytest.approx(c ** (power + 1) / (power + 1), rel=1e-12) == A @ c**power


def test_least_effort_is_that_of_the_closed_form(pushed):
    """003-15: the motion that costs least, beside the solution of Euler's equations."""
    assert pushed, pushed.message
    assert pushed.cost == pytest.approx(least_effort(1.0), rel=1e-9)
    assert pushed.residual < 1e-9 and pushed.period == 1.0 and pushed.edges == ("step",)


def test_the_gait_is_a_motion_of_the_march_that_repeats(pushed):
    run = pushed.run(3)
    assert [event.name for event in run.events] == ["step"] * 3
    assert np.diff([0.0, *(event.t for event in run.events)]) == pytest.approx([1.0] * 3, abs=1e-9)
    assert run.events[-1].after["v"] == pytest.approx(pushed.state["v"], abs=1e-9)
    assert run["effort"][-1] == pytest.approx(3.0 * pushed.cost, rel=1e-8)
    assert pushed.orbit.residual < 1e-8
    assert pushed.multipliers[:1] == pytest.approx(pushed.orbit.multipliers[:1], abs=1e-6)


def test_a_duration_that_is_free_is_chosen():
    """The longer the cycle, the less it costs, so that the longest one is chosen; a spline over the share of it."""
    system, spline = cart()
    names = spline.parameter_names
    gait = optimize_gait(system, "effort", names, duration=(0.5, 1.0), guess={"q.x": [0.0, 1.0]}, arcs=2)
    assert gait, gait.message
    assert gait.period == pytest.approx(1.0, abs=1e-7)
    assert gait.cost == pytest.approx(least_effort(1.0), rel=1e-6)


def test_conditions_hold_and_cost():
    system, spline = cart()
    options = {"duration": 1.0, "guess": {"q.x": [0.0, 1.0]}, "arcs": 2}
    slow = optimize_gait(
        system, "effort", spline.parameter_names, along={"v.x": (0.0, 1.2)}, at_end={"v.x": (0.0, 1.2)}, **options
    )
    assert slow, slow.message
    assert slow.margins["v.x"] == pytest.approx(0.0, abs=1e-8)
    assert slow.cost > least_effort(1.0) * 1.01
    shown = [" ".join(line.split()) for line in str(slow).splitlines()]
    assert shown[0] == "Gait of cart" and "step 1" in shown and shown[-1].startswith("v.x ")
    assert slow.run()["v.x"].max() < 1.2 + 1e-3
    bounded = optimize_gait(
        system,
        "effort",
        spline.parameter_names,
        limits={"force.x.4": (-math.inf, 2.0)},
        at_start={"v.x": 0.6},
        **options,
    )
    assert bounded.parameters["force.x.4"] <= 2.0 + 1e-9
    assert bounded.state["v"] == pytest.approx([0.6], abs=1e-9)


def test_a_cycle_of_two_phases():
    """A hopper that loses a tenth of its velocity; the least effort in stance by the Gramian of its linear motion."""
    robot = (
        RobotBuilder("hopper").body("mass", mass=2.0).joint("z", "prismatic", "world", "mass", axis=(0, 0, 1)).build()
    )
    thrust, leg = TorqueSpline.free("thrust", "z", 0.3, count=7), Spring("leg", "world", "mass", 400.0, rest=0.5)
    edges = (
        Edge("liftoff", "stance", "flight", "0.5 - q.z", impact="none"),
        Edge("touchdown", "flight", "stance", "q.z - 0.5", reset={"v.z": "0.9 * v.z"}, impact="none"),
    )
    automaton = Automaton((Phase("stance", ("leg", "thrust")), Phase("flight")), edges)
    system = System(robot, (leg, thrust, Integral("effort", "thrust", of="square")), automaton=automaton)
    gait = optimize_gait(
        *(system, "effort", thrust.parameter_names),
        edges=["liftoff", "touchdown"],
        duration=[0.3, (0.1, 1.0)],
        at_end={"v.z": -1.5},
        guess=[{"q.z": [0.5, 0.4, 0.5], "v.z": [-1.35, 1.5]}, {"q.z": [0.5, 0.6, 0.5], "v.z": [1.5, -1.5]}],
        arcs=4,
    )
    assert gait, gait.message
    assert gait.durations == pytest.approx([0.3, 2.0 * 1.5 / 9.81], abs=1e-9)
    A, B, rest = np.array([[0.0, 1.0], [-200.0, 0.0]]), np.array([0.0, 0.5]), 0.5 - 2.0 * 9.81 / 400.0
    left = np.array([0.5 - rest, 1.5]) - expm(0.3 * A) @ [0.5 - rest, -1.35]
    c, b, _ = gauss(40)
    W = sum(0.3 * w * np.outer(*[expm(0.3 * (1.0 - s) * A) @ B] * 2) for s, w in zip(c, b, strict=True))
    least = float(left @ np.linalg.solve(W, left))
    assert least * (1.0 - 1e-9) < gait.cost < least * 1.001
    run = gait.run(2)
    assert [event.name for event in run.events] == ["liftoff", "touchdown"] * 2
    assert run["effort"][-1] == pytest.approx(2.0 * gait.cost, rel=1e-4)


def test_slopes_are_those_of_differences():
    system, spline = cart()
    gait = optimize_gait(
        *(system, "effort", spline.parameter_names),
        **{"duration": (0.5, 1.5), "guess": {"q.x": [0.0, 0.3, 1.0]}, "arcs": 3, "iterations": 1},
        along={"v.x * t + force": (-50.0, 50.0)},
        at_end={lambda v, t: v[0] * t: (0.0, 9.0)},
    )
    problem, h = gait.problem, 1e-6
    Y = gait.Y + 0.1 * np.random.default_rng(3).standard_normal(len(gait.Y))
    here = problem.at(Y)

    def every(Y):
        found = problem.at(Y)
        return np.concatenate([[found.cost], found.equal.values, found.above.values])

    exact = np.vstack([here.cost_by, here.equal.by, here.above.by])
    for k in range(problem.size):
        away = h * np.eye(problem.size)[k]
        assert (every(Y + away) - every(Y - away)) / (2 * h) == pytest.approx(exact[:, k], abs=2e-6)


def test_a_gait_that_is_impossible_is_false_and_says_why():
    system, spline = cart()
    options = {"duration": 1.0, "guess": {"q.x": [0.0, 1.0]}, "arcs": 2}
    gait = optimize_gait(system, "effort", spline.parameter_names, along={"v.x": (0.0, 0.5)}, **options)
    assert not gait
    assert "No gait of 'cart' was found" in gait.message and "'v.x'" in gait.message


def test_conditions_that_say_the_same_are_named():
    """The guard of the edge is 1 - q.x, so that q.x = 1 at the end is no further condition."""
    system, spline = cart()
    options = {"duration": 1.0, "guess": {"q.x": [0.0, 1.0]}, "arcs": 2}
    gait = optimize_gait(system, "effort", spline.parameter_names, at_end={"q.x": 1.0}, **options)
    assert not gait and "say the same" in gait.message


def test_mistakes_are_named():
    system, spline = cart()
    names, guess = spline.parameter_names, {"q.x": [0.0, 1.0]}
    with pytest.raises(UnsupportedError, match=r"cost 'efort' is not an Integral of 'cart'. Did you mean 'effort'"):
        optimize_gait(system, "efort", names, guess=guess)
    with pytest.raises(ModelError, match=r"names 'v.y'"):
        optimize_gait(system, "effort", names, along={"v.y": (0.0, 1.0)}, guess=guess)
    with pytest.raises(UnsupportedError, match=r"the limits of 'v.x' are \(1.0, 0.0\)"):
        optimize_gait(system, "effort", names, along={"v.x": (1.0, 0.0)}, guess=guess)
    with pytest.raises(UnsupportedError, match=r"the limits of 'q.x' are a; expected a number"):
        optimize_gait(system, "effort", names, along={"q.x": "a"}, guess=guess)
    with pytest.raises(UnsupportedError, match="arcs is 0; expected 1 or more"):
        optimize_gait(system, "effort", names, arcs=0, guess=guess)
    with pytest.raises(UnsupportedError, match=r"tolerance is -1.0; expected a number above 0"):
        optimize_gait(system, "effort", names, tolerance=-1.0, guess=guess)
    with pytest.raises(UnsupportedError, match=r"duration is \[0.2, 0.3\]; expected .* for each of 1 phases"):
        optimize_gait(system, "effort", names, duration=[0.2, 0.3], guess=guess)
    with pytest.raises(UnsupportedError, match="takes 0 of 1 edges"):
        optimize_gait(system, "effort", names, duration=1.0)
    with pytest.raises(UnsupportedError, match=r"no edge 'stop'. Did you mean 'step'"):
        optimize_gait(system, "effort", names, edges=["stop"], guess=guess)
    with pytest.raises(UnsupportedError, match="has no edges"):
        optimize_gait(replace(system, automaton=None), "effort", names, guess=guess)
