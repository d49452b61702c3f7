"""Vehicles on wheels: a rover that parks and climbs, a segway that is pushed, bikes on tires (SEEDS 001-10, 001-16)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm, solve_discrete_are

from kinemorph import Body, RobotBuilder, System, derive, elements, library, linearize, simulate
from kinemorph.model.library.balancers import BALANCE, EVERY, HEADING, RADIUS, segway_motors, segway_robot
from kinemorph.model.library.rovers import WHEELS
from kinemorph.model.parameter import Coordinate
from kinemorph.model.robot import Coupling


def test_a_fast_wheel_keeps_its_energy_at_contact_steps() -> None:
    """The point of a wheel at the ground moves on with the wheel, and the force of the ground does not.

    The load did work on the way up of this point within a step: a bicycle at 8 m/s lost 2 % of its depth in the ground
    and 7 J per second of its account.
    """
    builder = RobotBuilder("wheel").add(Body.cylinder("wheel", 30.0, 0.3, 0.05, axis="y"))
    builder.add(Body.massless("cart"), Body.massless("fork"))
    builder.joint("x", "prismatic", "world", "cart", axis=(1.0, 0.0, 0.0))
    builder.joint("z", "prismatic", "cart", "fork", axis=(0.0, 0.0, 1.0))
    robot = builder.joint("spin", "revolute", "fork", "wheel", axis=(0.0, 1.0, 0.0)).build()
    depth = 30.0 * 9.81 / 1e5
    tire = elements.Tire("tire", "wheel", 0.3, 1e5, 300.0, 6e3, 4e3, damping=300.0)
    spin = 10.0 / (0.3 - depth / 3.0)  # slip is measured at two thirds of the depth
    start = {"q": [0.0, 0.3 - depth, 0.0], "v": [10.0, 0.0, spin]}
    run = simulate(System(robot, (tire,)), 0.5, **start, method="implicit_contact")
    assert run["q.z"][-1] == pytest.approx(0.3 - depth, abs=1e-12)
    assert np.abs(run["energy.balance"]).max() < 1e-9 and run["q.x"][-1] == pytest.approx(5.0, abs=1e-9)


@pytest.mark.slow
def test_a_parked_rover_creeps_less_than_a_millimetre_in_a_minute() -> None:
    """On a slope of 15 degrees, with its wheels held by their motors; the first second is left to settle."""
    run = simulate(library.rover(0.0, slope=15.0), 61.0, output_step=0.1)
    assert run.outcome.ok
    place = np.stack([run["q.root.x"], run["q.root.y"], run["q.root.z"]], axis=1)
    assert np.linalg.norm(place - place[10], axis=1)[10:].max() < 1e-3
    loads = sum(run[f"{name}_tire.load"][-1] for name in WHEELS)
    assert loads == pytest.approx(library.rover().robot.total_mass * 9.81 * np.cos(np.radians(15.0)), rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("slope", [0.0, 15.0])
def test_a_rover_crosses_a_bump_of_half_its_wheel_radius(slope: float) -> None:
    run = simulate(library.rover(0.2, slope=slope, bump=0.05), 11.0, output_step=0.02)
    assert run.outcome.ok and run["q.root.x"][-1] > 0.8  # all wheels are behind the bump
    assert np.abs(run["q.root.y"]).max() < 1e-3
    for name in WHEELS:
        assert np.abs(run[f"{name}_motor.voltage"]).max() <= 12.0
    assert np.abs(run["q.left_bogie"]).max() > 0.08  # the bogies swing while their wheels climb


def test_a_differential_on_a_free_base_keeps_the_equations_of_motion() -> None:
    """Forward dynamics undoes inverse dynamics for a free base with a driven joint, which it did not.

    The mass matrix of a free base has zeros in its block of velocities, and the elimination left out entries there.
    """
    builder = RobotBuilder("scales").add(Body.box("base", 5.0, (0.5, 0.3, 0.2)))
    builder.add(Body.rod("left", 1.0, 1.0, (0.2, 0.0, -0.3)), Body.rod("right", 1.0, 1.0, (0.2, 0.0, -0.3)))
    builder.joint("root", "free", "world", "base")
    builder.joint("left", "revolute", "base", "left", translation=(0.0, 0.3, 0.0), axis=(0.0, 1.0, 0.0))
    at, back = (0.0, -0.3, 0.0), -Coordinate("left", 0.0)
    builder.joint("right", "revolute", "base", "right", translation=at, axis=(0.0, 1.0, 0.0), driven=back)
    dynamics = derive(builder.build(), backend="interpreter")
    v, a = np.random.default_rng(0).normal(size=(2, 7))
    q = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.4])
    assert np.abs(dynamics.forward_dynamics(q, v, dynamics.inverse_dynamics(q, v, a)) - a).max() < 1e-12


def test_the_weight_of_the_rover_is_on_all_its_wheels() -> None:
    """Half a second after it was set down; the differential keeps both sides alike."""
    run = simulate(library.rover(0.0), 0.5, output_step=0.1)
    loads = np.array([run[f"{name}_tire.load"][-1] for name in WHEELS])
    assert loads.sum() == pytest.approx(9.81 * library.rover().robot.total_mass, rel=5e-3)
    assert loads.min() > 0.8 * loads.mean() and np.abs(loads[:3] - loads[3:]).max() < 1e-6


# ── the segway ────────────────────────────────────────────────────────────────────────────────────────────────────────


def designed() -> tuple[np.ndarray, np.ndarray]:
    """(K, L): gains of a sampled linear-quadratic regulator, from the linearization of the vehicle that rolls."""
    discs = (
        elements.RollingDisc("left_rolls", "left_wheel", RADIUS),
        elements.RollingDisc("right_rolls", "right_wheel", RADIUS, sliding=True),
    )
    system = System(segway_robot(), (*segway_motors(), *discs))
    linear = linearize(system, q=[0.0, 0.0, RADIUS, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], outputs=())
    rows = [linear.state_names.index(f"{kind}.{name}") for kind in "wv" for name in ("root.wy", "left", "right")]
    A = linear.A[rows] @ linear.basis @ np.linalg.pinv(linear.basis[rows])
    # the pitch, the mean of the wheels and half their difference; their rates; the mean and half difference of voltages
    mix = np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.0, 0.5, -0.5]])
    T = np.kron(np.eye(2), mix)
    A, B = T @ A @ np.linalg.inv(T), T @ linear.B[rows] @ np.array([[1.0, 1.0], [1.0, -1.0]])
    both, aside = [0, 1, 3, 4], [2, 5]
    assert np.abs(A[np.ix_(both, aside)]).max() < 1e-10 and np.abs(A[np.ix_(aside, both)]).max() < 1e-10
    K = regulator(A[np.ix_(both, both)], B[both, :1], np.diag([400.0, 4.0, 10.0, 1.0]), 0.1)
    return K, regulator(A[np.ix_(aside, aside)], B[aside, 1:], np.diag([10.0, 1.0]), 1.0)


def regulator(A: Any, B: Any, Q: Any, effort: float) -> np.ndarray:
    n, R = len(A), np.array([[effort]])
    held = expm(EVERY * np.block([[A, B], [np.zeros((1, n + 1))]]))
    A, B = held[:n, :n], held[:n, n:]
    S = solve_discrete_are(A, B, Q, R)
    return np.linalg.solve(R + B.T @ S @ B, B.T @ S @ A)[0]


@pytest.mark.slow
def test_the_gains_of_the_segway_come_from_its_linearization() -> None:
    K, L = designed()
    assert np.allclose(K, BALANCE, rtol=1e-3) and np.allclose(L, HEADING, rtol=1e-3)


@pytest.mark.slow
def test_the_segway_takes_a_push_at_its_voltage_limit() -> None:
    """400 N for 0.2 s against the chest: the motors are at 12 V for a while, and it comes back upright to its place."""
    table = elements.Table((0.0, 1.0, 1.001, 1.2, 1.201, 20.0), tuple((f, 0.0, 0.0) for f in (0, 0, 400, 400, 0, 0)))
    system = library.segway()
    push = elements.AppliedWrench("push", "body", force=table, point=(0.0, 0.0, 1.0))
    run = simulate(replace(system, elements=(*system.elements, push)), 12.0)
    assert run.outcome.ok
    pitch = 2.0 * np.arctan2(run["q.root.qy"], run["q.root.qw"])
    volts = np.abs(run["left_motor.voltage"])
    assert volts.max() <= 12.0 and (volts > 11.999).sum() >= 15  # of samples of 10 ms
    assert np.degrees(np.abs(pitch).max()) > 10.0 and np.degrees(np.abs(pitch[-100:]).max()) < 0.3
    assert abs(run["q.root.x"][-1]) < 0.05 and np.abs(run["q.root.y"]).max() < 1e-3


# ── bikes on tires ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize("form", ["joints", "matrices"])
def test_a_bicycle_on_tires_weaves_steers_itself_and_topples(form: str) -> None:
    """At 4, 5 and 8 m/s, as on discs: the steering swings more and more, settles, and drifts to one side."""
    swings = {}
    for speed in (4.0, 5.0, 8.0):
        run = simulate(library.whipple_bicycle(speed, 0.05, form=form, wheels="tires"), 5.0)
        assert run.outcome.ok and run["rear_tire.load"].min() > 500.0
        steer = run["q.steer"]
        swings[speed] = [float(np.ptp(steer[k : k + 200])) for k in (100, 300)]
    assert swings[4.0][1] > 1.5 * swings[4.0][0]  # the weave grows
    assert swings[5.0][1] < 0.3 * swings[5.0][0]
    assert 0.0 < swings[8.0][1] < 0.01


def test_a_bike_rolls_over_a_bump() -> None:
    """In the plane, at 3 m/s, with sprung wheels that follow the bump; the account of energy closes to 0.1 %."""
    run = simulate(library.planar_bike(3.0, 0.08, start=1.5), 1.5, output_step=0.005)
    assert run.outcome.ok and run["q.body.x"][-1] > 1.0
    assert np.ptp(run["q.front_travel"]) > 0.02 and np.abs(run["q.body.theta"]).max() < 0.2
    start = run["energy.kinetic"][0]
    assert np.abs(run["energy.balance"]).max() < 1e-3 * start


@pytest.mark.slow
def test_a_bump_under_one_side_swings_the_rockers() -> None:
    """A driven joint as differential moves as a coupled joint does, with its constraint row."""
    x, y = np.linspace(-0.6, 0.6, 61), np.linspace(-0.6, 0.6, 31)
    side = 0.5 + 0.5 * np.tanh((y - 0.05) / 0.06)
    bump = elements.HeightMap(0.05 * np.exp(-0.5 * (x[:, None] / 0.09) ** 2) * side, (0.02, 0.04), (-0.6, -0.6))
    system = library.rover(0.2, bump=0.05)
    parts = tuple(replace(one, ground=bump) if isinstance(one, elements.Tire) else one for one in system.elements)
    driven = simulate(replace(system, elements=parts), 5.0, output_step=0.05)
    assert driven.outcome.ok and np.abs(driven["q.left_rocker"]).max() > 0.02
    robot = system.robot
    joints = tuple(replace(one, driven=()) if one.name == "right_rocker" else one for one in robot.joints)
    tied = replace(robot, joints=joints, couplings=(Coupling("right_rocker", "left_rocker", -1.0),))
    start = dict(zip(robot.q_names, system.settings.q, strict=True))
    coupled = simulate(System(tied, parts), 5.0, q=start, output_step=0.05)
    for name in ("root.x", "root.z", "left_rocker", "right_rocker", "left_bogie", "right_bogie"):
        assert np.abs(coupled[f"q.{name}"] - driven[f"q.{name}"]).max() < 1e-5, name
