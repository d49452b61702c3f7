"""AMRU5 from position matrices: its size, its decoupled feet, and its motion beside the same machine with loops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.notation import Tdisp, Trotx, Troty, Trotz
from kinemorph.deriving.dynamics import derive
from kinemorph.formats.loading import load
from kinemorph.mechanics.elements.forces.joint_forces import moved_inertias
from kinemorph.mechanics.formulations.driven_dynamics import of_state
from kinemorph.mechanics.formulations.table import FORMULATIONS
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.library import amru
from kinemorph.model.parameter import evaluate
from kinemorph.model.positions.position_builder import PositionBuilder
from kinemorph.model.robot import Robot
from kinemorph.simulation.simulate import simulate
from support.references.exact_rates import numbers
from support.robots.amru5_loops import amru5_by_joints, closed_state

STANDING = np.array([0.0, 0.0, 0.24, 0.0, 0.0, 0.0, *[0.0, 0.08, 0.10] * 6])
SPREAD = np.array([0.1, 0.1, 0.1, 0.2, 0.2, 0.2, *[0.2, 0.01, 0.01] * 6])


@pytest.fixture(scope="module")
def robot() -> Robot:
    return amru.amru5()


def random_state(seed: int) -> tuple[Array, Array, Array]:
    """(q, v, tau) near the standing configuration."""
    draw = np.random.default_rng(seed)
    q = STANDING + SPREAD * draw.normal(size=24)
    return q, 3.0 * SPREAD * draw.normal(size=24), 10.0 * draw.normal(size=24)


def test_it_has_49_bodies_24_coordinates_and_34_kg(robot: Robot) -> None:
    """The paper's Table 1: body 0 with q0 to q5, then eight bodies and three coordinates for each leg."""
    masses = {body.name: float(evaluate(body.mass)) for body in robot.bodies if evaluate(body.mass)}
    assert len(masses) == 49 and robot.nq == robot.nv == 24
    assert robot.q_names == tuple(f"q{k}" for k in range(24))
    assert sum(masses.values()) == pytest.approx(34.0, abs=1e-12)
    for leg in amru.LEGS:
        own = {name: mass for name, mass in masses.items() if name.startswith(f"leg{leg}_")}
        assert len(own) == 8 and sum(own.values()) == pytest.approx(3.6, abs=1e-12)


def test_the_foot_is_decoupled(robot: Robot) -> None:
    """The vertical drive moves a foot by -3 dq7 along the vertical, the horizontal one by 4 dq8 outward, exactly."""
    functions = derive(robot)

    def foot(q7: float, q8: float, turn: float = 0.0) -> Array:
        q = STANDING.copy()
        q[6:9] = turn, q7, q8
        return functions.pose(q, "foot1")[:3, 3]

    hip = np.array([*amru.HIPS[0], 0.24])
    for q7 in (0.05, 0.08, 0.11):
        for q8 in (0.07, 0.10, 0.13):
            assert foot(q7, q8) - hip == pytest.approx([0.05 + 4.0 * q8, 0.0, -3.0 * q7], abs=1e-15)
    turned = foot(0.06, 0.12, 0.3) - hip
    assert turned == pytest.approx([0.53 * np.cos(0.3), 0.53 * np.sin(0.3), -0.18], abs=1e-15)


def plain(robot: Robot, name: str, function: str, *state: Any) -> Array:
    """A function of a formulation in plain floats, without a compiler."""
    row = of_state(FORMULATIONS[name])
    return numbers(getattr(row, function)(row.prepare(resolve(robot)), *(part.tolist() for part in state)))


def agree(robot: Robot, *names: str) -> None:
    q, v, a = random_state(1)
    want = plain(robot, "dalembert", "inverse_dynamics", q, v, a)
    for name in names:
        found = plain(robot, name, "inverse_dynamics", q, v, a)
        assert np.abs(found - want).max() <= 1e-11 * np.abs(want).max(), name


def test_formulations_agree(robot: Robot) -> None:
    agree(robot, "newton_euler", "closed_form")


@pytest.mark.slow
def test_the_equations_of_lagrange_agree_too(robot: Robot) -> None:
    agree(robot, "lagrange")


def with_one_leg() -> Robot:
    """The central body with leg 1 alone."""
    builder = PositionBuilder("amru5_with_one_leg")
    q = [*builder.coordinates("q0 q1 q2", "m"), *builder.coordinates("q3 q4 q5")]
    place = Tdisp(*q[:3]) * Trotx(q[3]) * Troty(q[4]) * Trotz(q[5])
    builder.body("central", amru.BODY_MASS, amru.BODY_INERTIA, T0G=place)
    amru.add_leg(builder, 1, amru.hip(1), "central")
    return builder.build()


def worst_acceleration(robot: Robot, twin: Robot, *, solve: bool) -> float:
    """The greatest difference of accelerations at random states, relative to the greatest acceleration."""
    by_matrices, by_joints = derive(robot), derive(twin)
    at = [twin.v_names.index(name) for name in robot.v_names]
    worst = 0.0
    for seed in (0, 1, 2):
        q, v, tau = (part[: robot.nq] for part in random_state(seed))
        Q, V = closed_state(twin, q, v)
        assert np.abs(by_joints.constraint_error(Q)).max() < 1e-12
        efforts = np.zeros(twin.nv)
        efforts[at] = tau
        want = by_joints.forward_dynamics(Q, V, efforts)[at]
        if solve:
            found = np.linalg.solve(by_matrices.mass_matrix(q), tau - by_matrices.bias_forces(q, v))
        else:
            found = by_matrices.forward_dynamics(q, v, tau)
        worst = max(worst, float(np.abs(found - want).max() / np.abs(want).max()))
    return worst


def test_a_leg_accelerates_like_one_with_loops() -> None:
    """The same machine by joints: the pantograph has two loops, and couplings turn the rotors."""
    assert worst_acceleration(with_one_leg(), amru5_by_joints(legs=1), solve=True) < 1e-9


def test_a_leg_accelerates_like_one_with_loops_by_forward_dynamics() -> None:
    """M has a zero between q6 and q8 of a leg, which both couple with q7."""
    assert worst_acceleration(with_one_leg(), amru5_by_joints(legs=1), solve=False) < 1e-9


@pytest.mark.slow
def test_it_accelerates_like_the_machine_with_loops(robot: Robot) -> None:
    """With all legs, the machine by joints has twelve loops and 18 couplings."""
    assert worst_acceleration(robot, amru5_by_joints(), solve=True) < 1e-9


@pytest.mark.slow
def test_it_moves_like_the_machine_with_loops(robot: Robot) -> None:
    """Two seconds of free flight: the body turns and the legs swing."""
    twin = amru5_by_joints()
    q, v = STANDING.copy(), np.zeros(24)
    draw = np.random.default_rng(5)
    v[:6] = 0.3, -0.2, 9.81, 0.2, -0.3, 0.4
    v[6:] = np.tile([0.15, 0.004, 0.004], 6) * draw.normal(size=18)
    Q, V = closed_state(twin, q, v)
    options = {"rtol": 1e-11, "atol": 1e-13, "output_step": 0.1, "method": "dop853"}
    mine = simulate(robot, 2.0, q=q, v=v, **options)
    other = simulate(twin, 2.0, q=Q, v=V, **options)
    at = [twin.q_names.index(name) for name in robot.q_names]
    assert np.abs(mine.q - other.q[:, at]).max() < 1e-8
    assert np.abs(mine.v - other.v[:, at]).max() < 1e-7


def test_stops_have_inertias_where_the_neutral_configuration_is_outside_the_limits() -> None:
    """At q = 0 no pantograph can be closed: the stiffness of stops was computed there, and the run ended in eigh."""
    assert np.all(np.isfinite(moved_inertias(with_one_leg())))


def test_the_file_beside_the_example_is_the_robot_of_the_library() -> None:
    """Its comments mark what the paper says and what is assumed."""
    path = Path(__file__).parents[3] / "examples" / "27_amru5.toml"
    assert load(path).robot == amru.amru5()
    text = path.read_text(encoding="utf-8")
    assert text.count("# [A]") >= 49  # every mass
