"""Where q may go while a robot reaches, and how the descent treats a limit."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.loops.inverse_kinematics import inverse_kinematics
from kinemorph.analysis.loops.levenberg import LeastSquares, descend
from kinemorph.analysis.loops.ranges import Ranges
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import neutral, random_configuration
from kinemorph.model.library import build
from kinemorph.model.robot import Robot


def coupled() -> Robot:
    """Three slides: b = 2 a + 1, c = -b / 2, so that c = -a - 1/2; b within [-3, 5]."""
    builder = RobotBuilder("coupled").add(*(Body.sphere(name, 1.0, 0.1) for name in ("A", "B", "C")))
    builder.root("A", "prismatic", name="a", lower=-4.0, upper=1.0)
    builder.joint("b", "prismatic", "A", "B", lower=-3.0, upper=5.0).joint("c", "prismatic", "B", "C")
    return builder.couple("c", "b", -0.5).couple("b", "a", 2.0, 1.0).build()


def test_followers_of_followers_move_with_the_first_leader_and_bind_it() -> None:
    ranges = Ranges(coupled(), True, ["C"])
    assert ranges.leading.tolist() == [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]
    assert [bound[0] for bound in ranges.bounds] == [-2.0, 1.0]  # a's own limit above, b's below
    assert ranges.inside(np.array([0.5, 9.0, 9.0])).tolist() == [0.5, 2.0, -1.0]
    assert ranges.inside(np.array([-7.0, 0.0, 0.0])).tolist() == [-2.0, -3.0, 1.5]


def test_a_velocity_is_held_only_where_it_is_pushed_against_its_limit() -> None:
    robot = build("puma")
    ranges = Ranges(robot, True, ["flange"])
    q = neutral(robot)
    q[0], q[3] = robot.q_upper[0], robot.q_lower[3]
    assert ranges.held(q, np.ones(6)).tolist() == [True] + 5 * [False]
    assert ranges.held(q, -np.ones(6)).tolist() == [False, False, False, True, False, False]
    assert ranges.at_limits(q) == [robot.q_names[0], robot.q_names[3]]
    assert not Ranges(robot, False, ["flange"]).held(q, np.ones(6)).any()


def test_a_new_start_draws_only_the_limbs_that_are_asked_for() -> None:
    robot, feet = build("hexapod24"), ["foot1", "foot2"]
    q = random_configuration(robot, np.random.default_rng(0))
    ranges = Ranges(robot, True, feet)

    def changed(frames: list[str]) -> set[str]:
        moved = ranges.elsewhere(q, frames, np.random.default_rng(1)) != q
        return {joint.name for joint in robot.joints if moved[robot.q_slice(joint.name)].any()}

    legs = {f"leg{k}": {joint.name for joint in robot.joints if f"leg{k}" in joint.name} for k in (1, 2)}
    assert changed(["foot1"]) == legs["leg1"]  # the base moves foot2 too, so it stays
    assert changed(feet) == {"trunk_root"} | legs["leg1"] | legs["leg2"]


def test_a_quaternion_that_is_nearly_one_comes_back_as_one() -> None:
    robot = build("hexapod24")
    q0 = neutral(robot)
    q0[3] += 5e-7
    found = inverse_kinematics(robot, {"trunk": np.array([0.1, 0.2, 0.3])}, q0)
    assert found.converged
    assert np.linalg.norm(found.q[3:7]) == pytest.approx(1.0, abs=1e-15)


def test_the_descent_slides_along_a_limit() -> None:
    # min |A q - b| with q0 <= 0: the first coordinate stays at its limit, the second finds its best alone
    A, b = np.array([[1.0, 0.9], [0.0, 0.5]]), np.array([1.0, 0.0])

    def step(q: Array, dv: Array) -> Array:
        return np.minimum(q + dv, [0.0, np.inf])

    problem = LeastSquares(lambda q: (b - A @ q, A), step, lambda q, push: (q >= [0.0, np.inf]) & (push > 0.0))
    found = descend(problem, np.zeros(2), reached=lambda e: False, iterations=100)
    assert found.q == pytest.approx([0.0, 0.9 / (0.81 + 0.25)], abs=1e-8)
    assert found.iterations < 30  # it saw the minimum and stopped
