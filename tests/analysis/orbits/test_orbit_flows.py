"""Orbits of plants and robots: periods and multipliers in closed form or against SciPy, slopes against differences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import mathieu_a, mathieu_b

from kinemorph.algebra.scalar import cos, sin
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.model import library
from kinemorph.model.body import Body, diagonal
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.sensing.sensors import Encoder
from kinemorph.model.system import System
from kinemorph.orbits import basin, bifurcation_diagram, continuation, periodic_orbit, return_map
from kinemorph.plants.own_equations import first_order, second_order

VAN_DER_POL = first_order(
    lambda x, p: [x[1], p[0] * (1.0 - x[0] * x[0]) * x[1] - x[0]],
    {"x": "m", "y": "m/s"},
    start=[2.0, 0.5],
    parameters={"mu": 1.0},
    name="van_der_pol",
)
DUFFING = second_order(
    lambda t, q, v, a, p: [a[0] + p[0] * v[0] - q[0] + q[0] ** 3 - p[1] * cos(t)],
    {"y": "m"},
    start=[1.0],
    parameters={"damping": 0.25, "force": 0.2},
    name="duffing",
)
PERIOD = 6.6632868593231301  # of van der Pol's oscillator at mu = 1


def differences(of: Any, at: np.ndarray, h: float = 1e-5) -> np.ndarray:
    """The derivative (n', n) of a function by central differences."""
    columns = []
    for k in range(len(at)):
        step = h * np.eye(len(at))[k]
        columns.append((np.asarray(of(at + step)) - np.asarray(of(at - step))) / (2.0 * h))
    return np.array(columns).T


@pytest.mark.parametrize("nodes", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_the_period_of_van_der_pols_oscillator_is_known_to_13_digits(nodes: int) -> None:
    found = periodic_orbit(VAN_DER_POL, section="y", nodes=nodes)
    assert found.period == pytest.approx(PERIOD, abs=2e-12)
    assert found.residual < 1e-11 and found.stable
    # Liouville: the multiplier is exp of the integral of the divergence mu (1 - x^2)
    run = found.trajectory
    divergence = np.trapezoid(1.0 - run["x"] ** 2, run.t)  # spectrally accurate for a periodic function
    assert found.multipliers[0].real == pytest.approx(math.exp(divergence), rel=1e-8)


def check_slopes(found: Any, z: np.ndarray, p: np.ndarray, tolerance: float = 1e-7) -> None:
    """Slopes of the end and of the duration against differences of the map itself."""
    here = found(z, p)
    assert not here.message
    np.testing.assert_allclose(here.by_z, differences(lambda z: found(z, p).z, z), atol=tolerance)
    np.testing.assert_allclose(here.duration_by_z, differences(lambda z: [found(z, p).duration], z)[0], atol=tolerance)
    if len(p):
        np.testing.assert_allclose(here.by_p, differences(lambda p: found(z, p).z, p), atol=tolerance)
        np.testing.assert_allclose(
            here.duration_by_p, differences(lambda p: [found(z, p).duration], p)[0], atol=tolerance
        )


@pytest.mark.slow
def test_slopes_of_a_return_map_are_those_of_differences() -> None:
    """With respect to the start and to a parameter that moves the section, too; a rotor that turns once in a cycle."""
    rotor = second_order(
        lambda q, v, a, p: [a[0] + 0.3 * v[0] + sin(q[0]) - p[0] - 0.2 * v[1], a[1] + q[1] + 0.4 * v[1] - v[0]],
        {"turn": "rad", "sway": "m"},
        start=[0.26, 0.2],
        parameters={"torque": 1.3},
        name="rotor",
    )
    around = {"turn": 2.0 * math.pi}
    found = return_map(rotor, section=lambda q, p: sin(q[0] - 0.2 * p[0]), shift=around, v=[1.5, 0.1])
    assert [column.name for column in found.columns] == ["q.sway", "v.turn", "v.sway"]
    check_slopes(found.varying(["torque"]), found.start, found.p)
    pieces = found.varying(["torque"]).split(3, found.start, found.p)
    for piece in pieces:
        check_slopes(piece, piece.start, found.p)
    orbit = periodic_orbit(found)
    assert orbit.stable and orbit.trajectory["q.turn"][-1] - orbit.trajectory["q.turn"][0] == pytest.approx(
        2.0 * math.pi
    )


@pytest.mark.slow
def test_slopes_under_loops_and_with_a_section_of_a_closed_chain() -> None:
    """A four-bar whose crank is driven by a torque: one coordinate is left on the section, the loop stays closed."""
    torques = lambda v: [0.5 - 0.05 * v[0], -0.01 * v[1], -0.01 * v[2]]  # noqa: E731
    how = {"forces": torques, "shift": {"q1": 2.0 * math.pi}, "parameters": ["m2"]}
    found = return_map(library.four_bar(), section="q.q1", q={"q1": 1.0}, v={"q1": 9.0}, **how)
    assert [column.name for column in found.columns] == ["v.q1"]
    check_slopes(found.varying(["m2"]), found.start, found.p)
    orbit = periodic_orbit(found)
    assert orbit and orbit.trajectory.loop_error.max() < 1e-12
    assert 0.01 < abs(orbit.multipliers[0]) < 1.0
    again = periodic_orbit(found, z=orbit.z + 0.3, nodes=3)
    assert again["v.q1"] == pytest.approx(orbit["v.q1"], abs=1e-9)


def test_slopes_on_rotations() -> None:
    """A top on a spherical joint: coordinates of a rotation are small rotations about the first state."""
    body = Body("top", 1.0, (0.1, 0.0, 0.4), diagonal(0.2, 0.25, 0.1))
    robot = RobotBuilder("top").add(body).joint("s", "spherical", "world", "top").build()
    damped = lambda t, v: [0.4 * cos(t) - 0.8 * v[0], 0.3 * sin(t) - 0.8 * v[1], 0.2 - 0.5 * v[2]]  # noqa: E731
    found = return_map(robot, period=2.0, forces=damped, q=[0.1, 0.9, 0.3, 0.2], v=[0.2, 0.1, 0.4])
    z = found.start + np.array([0.1, -0.2, 0.15, 0.0, 0.1, 0.0])
    check_slopes(found, z, found.p)


def test_multipliers_of_a_driven_oscillator_are_those_of_differences_and_of_scipy() -> None:
    found = periodic_orbit(DUFFING, period=2.0 * math.pi)

    def after(state: np.ndarray) -> np.ndarray:
        rates = lambda t, y: [y[1], -0.25 * y[1] + y[0] - y[0] ** 3 + 0.2 * math.cos(t)]  # noqa: E731
        return solve_ivp(rates, (0.0, 2.0 * math.pi), state, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]

    np.testing.assert_allclose(after(found.z), found.z, atol=1e-9)
    np.testing.assert_allclose(found.monodromy, differences(after, found.z), atol=1e-8)
    assert np.prod(found.multipliers).real == pytest.approx(math.exp(-0.25 * 2.0 * math.pi), rel=1e-9)  # Liouville
    again = periodic_orbit(DUFFING, period=2.0 * math.pi, nodes=3)
    np.testing.assert_allclose(again.z, found.z, atol=1e-9)
    np.testing.assert_allclose(np.abs(again.multipliers), np.abs(found.multipliers), atol=1e-9)


@pytest.mark.slow
def test_tongues_of_mathieus_equation_begin_where_its_characteristic_values_are() -> None:
    """y'' + (a - 2 q cos 2t) y = 0, period pi: multipliers -1 at b_1 and a_1, and +1 at b_2 and a_2."""
    mathieu = second_order(
        lambda t, q, a, p: [a[0] + (p[0] - 0.8 * cos(2.0 * t)) * q[0]], {"y": ""}, parameters={"a": 0.5}, name="mathieu"
    )
    branch = continuation(periodic_orbit(mathieu, period=math.pi), "a", (0.5, 4.2), max_step=0.015)
    doublings = [point.value for point in branch.at("doubling")]
    assert doublings == pytest.approx([mathieu_b(1, 0.4), mathieu_a(1, 0.4)], abs=1e-9)
    crossings = [point.value for point in branch.at("branch point")]
    assert crossings == pytest.approx([mathieu_b(2, 0.4), mathieu_a(2, 0.4)], abs=1e-9)


@pytest.mark.slow
def test_a_pendulum_on_a_vibrating_pivot_stands_upright_where_mathieus_equation_says() -> None:
    """Upright: y'' - (g/l + A w^2 cos(wt) / l) y = 0; with tau = w t / 2 that is Mathieu's with a = -4 g / (l w^2)."""
    strength = 0.45  # A / l; q = 2 A / l
    pendulum = second_order(
        lambda t, q, a, p: [a[0] - (p[0] + strength * cos(t)) * sin(q[0])],
        {"lean": "rad"},
        parameters={"weight": 0.02},
        name="pivot",
    )  # in units of the drive: w = 1, and weight = g / (l w^2)
    branch = continuation(periodic_orbit(pendulum, period=2.0 * math.pi), "weight", (0.0, 0.3))
    assert branch.points[0].stable is not False
    (lost,) = (point for point in branch.special if point.kind == "branch point")
    assert lost.value == pytest.approx(-mathieu_a(0, 2.0 * strength) / 4.0, abs=1e-9)


@pytest.mark.slow
def test_the_resonance_of_a_hardening_spring_folds_twice_with_a_period_that_depends_on_the_parameter() -> None:
    hard = second_order(
        lambda t, q, v, a, p: [a[0] + 0.2 * v[0] + q[0] + q[0] ** 3 - 0.5 * cos(p[0] * t)],
        {"y": "m"},
        parameters={"rate": 0.6},
        name="hardening",
    )
    first = periodic_orbit(hard, period=lambda p: 2.0 * math.pi / p[0])
    branch = continuation(first, "rate", (0.5, 2.5))
    assert [point.kind for point in branch.special] == ["fold", "fold"]
    near = branch.points[len(branch) // 3]
    z, p, cycle = near.z, near.p, near.map
    np.testing.assert_allclose(cycle(z, p).by_p, differences(lambda p: cycle(z, p).z, p), atol=1e-6)
    assert cycle(z, p).duration_by_p[0] == pytest.approx(-2.0 * math.pi / p[0] ** 2, rel=1e-12)


@pytest.mark.slow
def test_an_orbit_of_a_conservative_system_is_isolated_once_its_energy_is_kept() -> None:
    """Two swings with a hard spring between them: multipliers come in pairs mu, 1 / mu."""
    law = lambda q, a: [a[0] + q[0] + (q[0] - q[1]) ** 3, a[1] + q[1] - (q[0] - q[1]) ** 3]  # noqa: E731
    swings = second_order(law, {"a": "m", "b": "m"}, name="swings")
    energy = lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2 + q[0] ** 2 + q[1] ** 2) + 0.25 * (q[0] - q[1]) ** 4  # noqa: E731
    found = periodic_orbit(swings, section="v.a", q=[1.0, -0.9], kept={"energy": energy})
    assert found, found.message
    assert found["q.b"] == pytest.approx(-found.state["q"][0], abs=1e-9)  # out of phase
    assert np.prod(found.multipliers).real == pytest.approx(1.0, abs=1e-8)
    q, v = found.state["q"], found.state["v"]
    assert energy(q, v) == pytest.approx(energy([1.0, -0.9], [0.0, 0.0]), abs=1e-12)


def test_basins_and_diagrams_of_a_driven_plant_are_batches() -> None:
    wells = basin(
        DUFFING, {"q.y": np.array([-0.9, 0.9]), "v.y": np.array([0.0, 0.1])}, period=2.0 * math.pi, cycles=20,
        p={"force": 0.05},
    )  # fmt: skip
    assert wells.labels.tolist() in ([[1, 1], [2, 2]], [[2, 2], [1, 1]])
    right = periodic_orbit(DUFFING, period=2.0 * math.pi, p={"force": 0.05}, z=[1.0, 0.0])
    assert any(np.abs(attractor[0] - right.z).max() < 1e-3 for attractor in wells.attractors)
    diagram = bifurcation_diagram(
        DUFFING, "force", [0.05, 0.1], period=2.0 * math.pi, transient=40, keep=4, z=[1.0, 0.0]
    )
    np.testing.assert_allclose(diagram.z[0, -1], right.z, atol=1e-5)
    assert diagram.periods(1e-3).tolist() == [1, 1]


def test_an_equilibrium_is_not_an_orbit_and_wrong_arguments_are_said() -> None:
    decaying = periodic_orbit(VAN_DER_POL, section="x", p={"mu": -1.0}, x=[0.1, 1.0])
    assert not decaying and "is at rest there" in decaying.message
    with pytest.raises(UnsupportedError, match="neither of them is given"):
        periodic_orbit(VAN_DER_POL)
    with pytest.raises(UnsupportedError, match="both of them are given"):
        periodic_orbit(VAN_DER_POL, section="y", period=1.0)
    with pytest.raises(ShapeError, match="has no state 'z'"):
        periodic_orbit(VAN_DER_POL, section="z")
    with pytest.raises(UnsupportedError, match="does not reach it"):
        periodic_orbit(VAN_DER_POL, section=lambda x: x[0] - 9.0, longest=10.0)
    with pytest.raises(ShapeError, match="'v\\.z' of the section is unknown"):
        return_map(DUFFING, period=1.0, coordinates=["v.z"])
    with pytest.raises(ShapeError, match="is not a coordinate of 'duffing'"):
        return_map(DUFFING, period=1.0, shift=["turn"])
    with pytest.raises(UnsupportedError, match="the period is -1"):
        periodic_orbit(DUFFING, period=-1.0)
    clocked = System(library.pendulum(), (Encoder("e", library.pendulum().joint_names[0], every=0.1),))
    with pytest.raises(UnsupportedError, match="has memory, such as 'e"):
        periodic_orbit(clocked, period=1.0)
