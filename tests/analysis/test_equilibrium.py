"""equilibrium() finds states of rest on any joint manifold, says whether they are stable, and owns up when it fails."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinemorph.analysis.small_motions.equilibrium import Equilibrium, equilibrium
from kinemorph.codegen.building.compile import build
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import ModelError, ShapeError, UnsupportedError
from kinemorph.model import library
from kinemorph.model.body import Body, diagonal
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.contact.contact_laws import Anchor, EasyDynNormal
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.system import System
from kinemorph.plants.own_equations import first_order, second_order
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant


@pytest.fixture(scope="module")
def pendulum() -> Plant:
    return plant(library.pendulum())


def assert_at_rest(found: Equilibrium) -> None:
    """By the plant's own rate, nothing moves."""
    assert found.converged, found.message
    at = found.plant
    s = np.concatenate([np.zeros(2 * at.nv), found.x])
    rate = build(at.rate)(0.0, found.q, s, [], found.u, found.p)
    assert np.abs(rate).max() < 1e-11


@pytest.mark.parametrize("guess", [0.3, 1.0, 1.5, 1.6, 2.0, 2.5, -2.5, math.pi / 2])
def test_hanging_pendulum_from_bad_guesses(pendulum: Plant, guess: float) -> None:
    found = equilibrium(pendulum, [guess])
    assert_at_rest(found)
    assert found.q[0] == pytest.approx(0.0, abs=1e-12)
    assert found.stable is True
    assert "minimum of potential energy" in found.reason
    assert found.worst < 1e-12


@pytest.mark.parametrize("guess", [2.95, 3.1, math.pi, 3.3])
def test_inverted_pendulum_from_near_guesses_and_away_from_it(pendulum: Plant, guess: float) -> None:
    found = equilibrium(pendulum, [guess])
    assert_at_rest(found)
    assert found.q[0] == pytest.approx(math.pi, abs=1e-12)
    assert found.stable is False
    assert "grows by a factor e in 0.319 s" in found.message
    below = equilibrium(pendulum, [guess], stable=True)
    assert_at_rest(below)
    assert math.cos(below.q[0]) == pytest.approx(1.0, abs=1e-15)
    assert below.stable is True


def test_the_last_steps_are_newtons(pendulum: Plant) -> None:
    assert equilibrium(pendulum, [0.2]).iterations <= 4


def test_an_input_holds_the_pendulum_where_it_can(pendulum: Plant) -> None:
    found = equilibrium(pendulum, u=[5.0])
    assert_at_rest(found)
    assert found.q[0] == pytest.approx(math.asin(5.0 / 9.81), abs=1e-12)
    too_much = equilibrium(pendulum, u={"q1": 20.0})
    assert not too_much
    assert too_much.stable is None
    assert np.isfinite(too_much.q).all()
    assert np.isfinite(too_much.residual).all()
    assert "No equilibrium of 'pendulum'" in too_much.message
    assert "is left at 'q1'" in too_much.message


def test_springs_carry_a_robot() -> None:
    def springs(q: list) -> list:
        return [-3.0 * (q[0] - 0.5), -5.0 * q[1]]

    robot = library.double_pendulum()
    found = equilibrium(robot, forces=springs)
    assert_at_rest(found)
    gravity = derive(robot, backend="interpreter").gravity_forces(found.q)
    np.testing.assert_allclose(gravity, springs(found.q), atol=1e-12)
    assert found.stable is True
    damped = equilibrium(robot, forces=lambda q, v: [f - 0.1 * w for f, w in zip(springs(q), v, strict=True)])
    assert damped.stable is True
    assert "every disturbance dies away" in damped.reason


def test_a_free_direction_stays_where_it_is() -> None:
    for angle in (0.3, 1.3):
        found = equilibrium(library.crane(), [1.0, angle])
        assert_at_rest(found)
        np.testing.assert_allclose(found.q, [1.0, 0.0], atol=1e-12)
        assert found.stable is None
        assert "mostly of 'x'" in found.reason
    locked = equilibrium(library.crane(), [1.0, 1.3], [7.0, 0.0], locked="x")  # whatever holds x takes the force
    np.testing.assert_allclose(locked.q, [1.0, 0.0], atol=1e-12)
    assert locked.stable is True


def test_ball_joints_and_free_bodies_keep_their_manifold() -> None:
    body = Body("bob", 2.0, (0.1, 0.2, -0.5), diagonal(0.1, 0.12, 0.05))
    ball = RobotBuilder("ball").add(body).joint("ball", "spherical", "world", "bob").build()
    found = equilibrium(ball, [0.5, 0.5, 0.5, 0.5], stable=True)
    assert_at_rest(found)
    assert np.linalg.norm(found.q) == pytest.approx(1.0, abs=1e-15)
    x, y, z = derive(ball, backend="interpreter").center_of_mass(found.q)
    np.testing.assert_allclose([x, y], 0.0, atol=1e-12)
    assert z < 0.0
    assert found.stable is None  # it spins freely about the vertical
    floating = (
        RobotBuilder("brick").add(Body.box("brick", 2.0, (1.0, 0.5, 0.2))).joint("base", "free", "world", "brick")
    )
    falls = equilibrium(floating.build(), iterations=50)
    assert not falls
    assert "a force of -19.62 N is left at 'base.vz'" in falls.message


def test_suspended_body_turns_its_springs_along() -> None:
    """A brick on three springs in the axes of the body: where it rests, each carries its share of the weight."""
    brick = RobotBuilder("brick").add(Body.box("brick", 2.0, (1.0, 0.5, 0.2))).joint("base", "free", "world", "brick")

    def springs(q: list) -> list:
        return [-200.0 * q[0], -200.0 * q[1], -200.0 * q[2], -5.0 * q[4], -5.0 * q[5], -5.0 * q[6]]

    found = equilibrium(brick.build(), [0.1, 0.2, 0.3, 0.9, 0.1, 0.2, 0.1], forces=springs)
    assert_at_rest(found)
    np.testing.assert_allclose(found.q, [0.0, 0.0, -2.0 * 9.81 / 200.0, 1.0, 0.0, 0.0, 0.0], atol=1e-10)


def test_a_linkage_settles_and_closes() -> None:
    robot = library.four_bar()
    for start in ([0.6, 0.02989836, 1.6066907], None):  # assembled, and far from it
        found = equilibrium(robot, start)
        assert found.converged, found.message
        assert found.stable is True
        dynamics = derive(robot, backend="interpreter")
        assert np.abs(dynamics.constraint_error(found.q)).max() < 1e-10
        assert np.abs(dynamics.forward_dynamics(found.q, np.zeros(3), np.zeros(3))).max() < 1e-9


def test_extra_states_come_to_rest_as_well() -> None:
    motor = plant(
        library.crane(),
        forces=lambda x, q, v: [x[0] - 30.0 * q[0] - v[0], -0.1 * v[1]],
        states={"current": "A"},
        state_rates=lambda x, q: [3.0 - 2.0 * x[0] + 0.1 * q[0]],
        account=True,
    )
    found = equilibrium(motor)
    current = 3.0 / (2.0 - 0.1 / 30.0)
    np.testing.assert_allclose(found.x[0], current, atol=1e-12)
    np.testing.assert_allclose(found.q, [current / 30.0, 0.0], atol=1e-12)
    assert found.stable is True


def test_equations_of_ones_own() -> None:
    found = equilibrium(
        first_order(lambda x: [x[1], 2.0 - x[0] * x[0] - 0.1 * x[1]], {"a": "", "b": ""}, start=[1.0, 0.0])
    )
    np.testing.assert_allclose(found.x, [math.sqrt(2.0), 0.0], atol=1e-12)
    assert found.stable is True
    hydraulic = second_order(
        lambda q, v, a: [a[0] + v[0] + 4.0 * q[0] - q[1] - 2.0, v[1] + 7.0 * q[1] + 0.1 * q[0]], {"x": "m", "p": "Pa"}
    )
    found = equilibrium(hydraulic)
    np.testing.assert_allclose(found.q, np.linalg.solve([[4.0, -1.0], [0.1, 7.0]], [2.0, 0.0]), atol=1e-12)
    assert found.stable is True


def test_no_value_on_the_way_is_a_result_too() -> None:
    found = equilibrium(first_order(lambda x: [1.0 / (x[0] - 1.0)], {"a": ""}, start=[1.0]))
    assert not found
    assert "No equilibrium of 'equations'" in found.message
    assert "finite" in found.message
    huge = equilibrium(first_order(lambda x: [1e200 * x[0] * x[0] + 1.0], {"a": ""}, start=[1e100]), iterations=50)
    assert not huge
    assert np.isfinite(huge.x).all()
    runaway = equilibrium(first_order(lambda x: [1.0 + x[0] * x[0]], {"speed": "m/s"}), iterations=100)
    assert not runaway
    assert "'speed' still changes by" in runaway.message
    assert np.isfinite(runaway.x).all()


def test_bad_input_is_told_in_a_sentence(pendulum: Plant) -> None:
    with pytest.raises(ShapeError, match=r"q has shape \(2,\); expected \(1,\)"):
        equilibrium(pendulum, [0.0, 1.0])
    with pytest.raises(ShapeError, match="'q1' is nan"):
        equilibrium(pendulum, u=[math.nan])
    with pytest.raises(ShapeError, match="no input 'q2'"):
        equilibrium(pendulum, u={"q2": 1.0})
    with pytest.raises(UnsupportedError, match=r"tolerance is -1\.0; expected a finite number above 0"):
        equilibrium(pendulum, tolerance=-1.0)
    with pytest.raises(ModelError, match="locked 'elbow'"):
        equilibrium(library.pendulum(), locked="elbow")
    with pytest.raises(ModelError, match="law forces has an argument 'z'"):
        equilibrium(library.pendulum(), forces=lambda z: [0.0])
    with pytest.raises(ShapeError, match="the law of forces returns 2 numbers; expected a list of 1"):
        equilibrium(library.pendulum(), forces=lambda q: [0.0, q[0]])
    with pytest.raises(ModelError, match="is a plant already"):
        equilibrium(pendulum, forces=lambda q: [0.0])


def test_forces_that_feed_energy_in_around_a_circle_are_not_called_stable() -> None:
    """The stiffness has no potential; what its symmetric part says of a minimum proves nothing (follower forces)."""
    found = equilibrium(library.double_pendulum(), forces=lambda q: [3.0 * q[1], -3.0 * q[0]])
    assert found.converged and found.stable is None


@pytest.mark.parametrize("slope, slips", [(0.5, False), (0.7, True)])
def test_a_foot_with_an_anchor_is_held_by_its_spring(slope: float, slips: bool) -> None:
    """Gravity along the ground stretches the spring of the anchor; where it exceeds static friction, this is said."""
    mass, along, up = 2.0, 9.0 * slope, 9.0
    builder = RobotBuilder("foot", gravity=(along, 0.0, -up)).add(Body.point("foot", mass), Body.massless("slide"))
    builder.joint("x", "prismatic", "world", "slide", axis=(1, 0, 0))
    builder.joint("z", "prismatic", "slide", "foot", axis=(0, 0, 1))
    sole = Contact("sole", "foot", EasyDynNormal(1e4, 1e3), Anchor(0.6, 0.5, 500.0, 10.0))
    system = System(builder.build(), (sole,))
    found = equilibrium(system, {"x": 0.3, "z": -1e-3})
    assert found.converged and found.q == pytest.approx([0.3 + mass * along / 500.0, -mass * up / 1e4], rel=1e-9)
    assert ("'sole.lets go'" in found.message) is slips
    assert found.m[0] == 1.0 and found.m[1:4] == pytest.approx([0.3, 0.0, -1e-3], abs=1e-15)
