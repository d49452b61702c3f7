"""Sensitivities of motions and of poles: closed forms, differences of runs, every joint manifold, loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kinemorph.analysis.small_motions.equilibrium import equilibrium
from kinemorph.analysis.small_motions.pole_sensitivities import pole_sensitivities
from kinemorph.analysis.small_motions.poles import poles
from kinemorph.analysis.small_motions.sensitivities import sensitivities
from kinemorph.errors import ModelError, ShapeError, UnsupportedError
from kinemorph.model import library
from kinemorph.model.body import Body, diagonal
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import difference, integrate
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from kinemorph.plants.own_equations import first_order, second_order
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.stepping.stepper import Stepper

Array = np.ndarray


def slope(function: Callable[[float], Array], h: float) -> Array:
    """The derivative at 0 by central differences of order 4."""
    return (8.0 * (function(h) - function(-h)) - (function(2.0 * h) - function(-2.0 * h))) / (12.0 * h)


def ended(stepper: Stepper, t: float, q: Any, v: Any) -> Array:
    """[q, v] after a time, from a state at 0."""
    stepper.place(0.0, q, v)
    _, q, v, _ = stepper.advance(t)
    return np.concatenate([q, v])


def test_pendulum_swings_in_a_time_that_goes_with_the_root_of_its_length() -> None:
    """q(t; l) = f(t / sqrt(l)) at any amplitude, so dq/dl = -t v / (2 l) and the period T has dT/dl = T / (2 l)."""
    found = sensitivities(library.pendulum(length=1.3), 4.0, ["l1", "m1", "g"], q=[2.5], output_step=0.25)
    (run,) = found.trajectory.segments
    t, v, a = found.t, run.v[:, 0], -9.81 / 1.3 * np.sin(run.q[:, 0])
    np.testing.assert_allclose(found["q.q1", "l1"], -t * v / 2.6, atol=2e-8)
    np.testing.assert_allclose(found["v.q1", "l1"], -(v + t * a) / 2.6, atol=2e-8)
    np.testing.assert_allclose(found["q.q1", "g"], t * v / (2.0 * 9.81), atol=2e-8)
    np.testing.assert_allclose(found["q.q1", "m1"], 0.0, atol=1e-9)
    assert found.unit("q.q1", "l1") == "rad/m"
    assert found.unit("v.q1", "g") == "(rad/s)/(m/s^2)"
    assert found.q.shape == (17, 1, 3)
    assert found.trajectory.outcome.ok
    assert run.plant.x == ()


def test_oscillator_of_ones_own() -> None:
    system = second_order(
        lambda q, a, u, p: [p[1] * a[0] + p[0] * q[0] - u[0]],
        {"x": "m"},
        parameters={"k": 4.0, "m": 1.0},
        inputs={"f": "N"},
        start=[0.5],
    )
    found = sensitivities(system, 3.0, ["k", "u.f"], initial="all", output_step=0.5)
    t, w = found.t, 2.0
    np.testing.assert_allclose(found["q.x", "k"], -0.5 * t * np.sin(w * t) / (2.0 * w), atol=1e-8)
    np.testing.assert_allclose(found["q.x", "u.f"], (1.0 - np.cos(w * t)) / 4.0, atol=1e-8)
    np.testing.assert_allclose(found["q.x", "q.x"], np.cos(w * t), atol=1e-8)
    np.testing.assert_allclose(found["v.x", "v.x"], np.cos(w * t), atol=1e-8)
    assert found.names == ("k", "u.f", "q.x", "v.x")
    assert found.unit("v.x", "u.f") == "(m/s)/N"


@pytest.mark.parametrize("method", ["rk4", "rodas", "newmark"])
def test_first_order_equations_by_any_method(method: str) -> None:
    decay = first_order(lambda x, p: [-p[0] * x[0]], {"n": "mol"}, parameters={"rate": 0.7}, start=[2.0])
    found = sensitivities(decay, 2.0, "all", initial=["n"], output_step=0.5, method=method, step=0.001)
    limit = 1e-6 if method == "newmark" else 1e-10  # of order 2
    np.testing.assert_allclose(found["n", "rate"], -2.0 * found.t * np.exp(-0.7 * found.t), atol=limit)
    np.testing.assert_allclose(found["n", "n"], np.exp(-0.7 * found.t), atol=limit)


def test_double_pendulum_against_differences_of_runs() -> None:
    system = plant(library.double_pendulum(), parameters=["l1", "m2"], forces=lambda q, v: [-0.1 * v[0], -0.2 * q[1]])
    found = sensitivities(system, 1.5, ["l1", "m2", "u.q2"], initial=["q.q2", "v.q1"], q=[0.4, 1.0], output_step=1.5)

    stepper = Stepper(system, rtol=1e-12, atol=1e-13)

    def end(l1: float = 0.0, m2: float = 0.0, u: float = 0.0, q2: float = 0.0, v1: float = 0.0) -> Array:
        stepper.p, stepper.u = np.array([1.2 + l1, 0.9 + m2]), np.array([0.0, u])
        return ended(stepper, 1.5, [0.4, 1.0 + q2], [v1, 0.0])

    for k, name in enumerate(("l1", "m2", "u", "q2", "v1")):
        expected = slope(lambda h, name=name: end(**{name: h}), 2e-3)
        np.testing.assert_allclose(np.concatenate([found.q[-1, :, k], found.v[-1, :, k]]), expected, atol=2e-8)


@pytest.fixture(scope="module")
def floating() -> Robot:
    """A free base, a ball joint and a planar joint, so that tangent spaces turn in every way there is."""
    m, c = Parameter("m", 2.0, "kg"), Parameter("c", 0.3, "m")
    builder = RobotBuilder("floating", gravity=(0.0, 0.0, -1.0)).add(
        Body("a", m, (0.1, 0.0, 0.0), diagonal(0.2, 0.3, 0.4)),
        Body("b", 1.0, (0.0, 0.0, c), diagonal(0.1, 0.15, 0.12)),
        Body("d", 0.5, (0.2, 0.0, 0.0), diagonal(0.1, 0.15, 0.12)),
    )
    builder.joint("f", "free", "world", "a").joint("s", "spherical", "a", "b", translation=(0.3, 0.0, 0.0))
    return builder.joint("p", "planar", "b", "d", translation=(0.0, 0.2, 0.0)).build()


def test_every_joint_manifold_against_differences_of_runs(floating: Robot) -> None:
    q = np.array([0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 0.5, 0.8, 0.0, 0.6, 0.0, 0.1, 0.2, 0.3])
    v = np.random.default_rng(0).normal(size=12)
    initial = ["q.f.wx", "q.s.wy", "v.s.wz", "q.p.wz"]
    found = sensitivities(floating, 0.5, ["m", "c"], initial=initial, q=q, v=v, output_step=0.5)
    system = plant(floating, parameters=["m", "c"])
    names = [column.name for column in system.v]
    middle, stepper = found.trajectory.segments[0].q[-1], Stepper(system, rtol=1e-12, atol=1e-13)

    def end(h: float, name: str) -> Array:
        p, moved, faster = np.array([2.0, 0.3]), np.zeros(12), v.copy()
        if name in ("m", "c"):
            p["mc".index(name)] += h
        elif name.startswith("q."):
            moved[names.index(name[2:])] = h
        else:
            faster[names.index(name[2:])] += h
        stepper.p = p
        last = ended(stepper, 0.5, integrate(floating, q, moved), faster)
        return np.concatenate([difference(floating, middle, last[: floating.nq]), last[floating.nq :]])

    for k, name in enumerate(found.names):
        expected = slope(lambda h, name=name: end(h, name), 1e-3)
        np.testing.assert_allclose(np.concatenate([found.q[-1, :, k], found.v[-1, :, k]]), expected, atol=2e-8)


@pytest.mark.parametrize("loops", ["projection", "partitioning"])
def test_masses_of_a_linkage(loops: str) -> None:
    robot = library.four_bar(closure="spherical")
    system = plant(robot, parameters=["m2"], loops=loops)
    found = sensitivities(system, 0.3, "m2", q={"q1": 0.6}, output_step=0.3)
    assert found.trajectory.loop_error.max() < 1e-13
    start = found.trajectory.q[0]  # closed: what closes a start that is not goes by the masses

    stepper = Stepper(system, rtol=1e-12, atol=1e-13)

    def end(h: float) -> Array:
        stepper.p = np.array([1.0 + h])
        return ended(stepper, 0.3, start, [0.0] * 3)

    expected = slope(end, 1e-3)
    np.testing.assert_allclose(np.concatenate([found.q[-1, :, 0], found.v[-1, :, 0]]), expected, atol=1e-10)


@pytest.mark.parametrize("loops", [pytest.param("projection", marks=pytest.mark.slow), "partitioning"])
def test_initial_states_of_a_linkage_follow_what_is_named(loops: str) -> None:
    """Length, initial angle and rate of the crank: the other angles and rates change with them."""
    system = plant(library.four_bar(closure="spherical"), parameters=["l1"], loops=loops)
    given: dict[str, Any] = {"q": {"q1": 0.6}, "v": {"q1": 1.0}}
    found = sensitivities(system, 0.3, "l1", initial=["q.q1", "v.q1"], output_step=0.3, **given)

    def end(l1: float = 0.0, q1: float = 0.0, v1: float = 0.0) -> Array:
        stepper = Stepper(system, rtol=1e-12, atol=1e-13, q={"q1": 0.6 + q1}, v={"q1": 1.0 + v1}, p=[0.3 + l1])
        _, q, v, _ = stepper.advance(0.3)
        return np.concatenate([q, v])

    for k, name in enumerate(("l1", "q1", "v1")):
        expected = slope(lambda h, name=name: end(**{name: h}), 1e-3)
        np.testing.assert_allclose(np.concatenate([found.q[-1, :, k], found.v[-1, :, k]]), expected, atol=1e-9)
    every = sensitivities(system, 0.1, initial="all", output_step=0.1, **given)
    assert every.names == ("q.q1", "v.q1")
    with pytest.raises(UnsupportedError, match=r"initial 'q.q1': robot 'four_bar' has loops.*initial='all' chooses"):
        sensitivities(system, 0.1, initial=["q.q1", "q.q2"], **given)


# ── poles ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_pole_of_a_pendulum() -> None:
    found = pole_sensitivities(library.pendulum(), "all")
    omega = math.sqrt(9.81)
    np.testing.assert_allclose(found["l1"], [-0.5j * omega], atol=1e-13)
    np.testing.assert_allclose(found["g"], [0.5j / omega], atol=1e-13)
    np.testing.assert_allclose(found["m1"], [0.0], atol=1e-13)
    assert found.units == ("kg", "m", "m/s^2")


def differences_of_poles(system: Plant, q: Array, p: Array, u: Array, k: int, h: float = 1e-3) -> Array:
    """By an input or parameter k of [p, u]; the equilibrium is found anew each time."""

    def at(step: float) -> Array:
        both = np.concatenate([p, u])
        both[k] += step
        near = equilibrium(system, q, both[len(p) :], p=both[: len(p)])
        assert near.converged
        return poles(system, near.q, u=near.u, p=near.p).values

    return slope(at, h)


def test_poles_move_with_the_equilibrium() -> None:
    system = plant(
        library.double_pendulum(),
        parameters=["l1", "m2"],
        forces=lambda q, v: [-3.0 * (q[0] - 0.5) - 0.2 * v[0], -0.3 * v[1] - 0.5 * q[1]],
    )
    rest = equilibrium(system)
    found = pole_sensitivities(system, ["l1", "m2", "u.q1"], rest.q)
    assert found.note == ""
    for k, row in enumerate(found.values.T):
        np.testing.assert_allclose(row, differences_of_poles(system, rest.q, rest.p, rest.u, k), atol=1e-9)
    held = pole_sensitivities(system, "l1", [0.3, 0.4])  # no equilibrium: the state is held
    expected = slope(lambda h: poles(system, [0.3, 0.4], p=[1.2 + h, 0.9]).values, 1e-3)
    np.testing.assert_allclose(held["l1"], expected, atol=1e-9)


def test_poles_of_a_linkage_whose_loops_move() -> None:
    system = plant(library.four_bar(), parameters=["m1", "l2", "l0"])
    rest = equilibrium(system, [0.6, 0.02989836, 1.6066907])
    found = pole_sensitivities(system, "all", rest.q)
    for k, row in enumerate(found.values.T):
        np.testing.assert_allclose(row, differences_of_poles(system, rest.q, rest.p, rest.u, k), atol=1e-8)


def test_a_multiple_pole_is_named() -> None:
    found = pole_sensitivities(library.crane(), "l1")
    assert found.note == "Multiple poles, number 1, have no derivative."
    assert np.isnan(found.values[0]).all()
    np.testing.assert_allclose(found.omega[1], [-0.5 * math.sqrt(9.81 * 1.5)], atol=1e-12)


def test_bad_input_is_told_in_a_sentence() -> None:
    system = plant(library.double_pendulum(), parameters=["l1"])
    with pytest.raises(UnsupportedError, match="the variational method needs a Lagrangian"):
        sensitivities(system, 1.0, "l1", method="variational", step=0.01)
    with pytest.raises(UnsupportedError, match="Name at least one"):
        sensitivities(system, 1.0)
    with pytest.raises(ModelError, match=r"parameter 'm2': plant 'double_pendulum' was made with the parameters 'l1'"):
        sensitivities(system, 1.0, "m2")
    with pytest.raises(ModelError, match="has no parameter of that name"):
        sensitivities(library.double_pendulum(), 1.0, "l3")
    with pytest.raises(ShapeError, match="has no input 'q3'"):
        sensitivities(system, 1.0, "u.q3")
    with pytest.raises(ModelError, match="'l1' is named 2 times"):
        sensitivities(system, 1.0, ["l1", "l1"])
    with pytest.raises(ShapeError, match=r"initial 'q.q3'.*Did you mean"):
        sensitivities(system, 1.0, initial="q.q3")
    with pytest.raises(ShapeError, match="is nan; expected a finite number"):
        sensitivities(system, 1.0, "l1", q=[math.nan, 0.0])
    found = sensitivities(system, 0.1, "l1", output_step=0.1)
    with pytest.raises(ShapeError, match=r"no column 'q.q3'.*Did you mean"):
        found["q.q3", "l1"]
    with pytest.raises(ShapeError, match="with respect to 'm1' were not computed"):
        found["q.q1", "m1"]
    with pytest.raises(ShapeError, match="with respect to 'm1' were not computed"):
        pole_sensitivities(system, "l1")["m1"]
