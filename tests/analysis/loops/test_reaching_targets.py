"""inverse_kinematics() reaches what can be reached, keeps the limits, and says how far it is from what cannot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.analysis.loops.inverse_kinematics import Reached, inverse_kinematics
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.errors import ModelError, ShapeError
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import neutral, random_configuration
from kinemorph.model.library import build
from kinemorph.model.robot import Robot

FEET = [f"foot{k}" for k in range(1, 7)]


def poses(dynamics: Dynamics, frames: list[str], q: Array) -> dict[str, Array]:
    return {frame: dynamics.pose(frame)(q) for frame in frames}


def assert_reached(found: Reached, dynamics: Dynamics, targets: dict[str, Array], tolerance: float = 1e-10) -> None:
    """The answer is right by its own account and by the poses at q; limits hold; quaternions have length 1."""
    assert found.converged, found.message
    robot = dynamics.robot
    for frame, target in targets.items():
        T = dynamics.pose(frame)(found.q)
        gap = T[:3, 3] - target if target.shape == (3,) else T - target
        assert np.abs(gap).max() <= 2.0 * tolerance
        miss = found.errors[frame]
        assert max(miss.position, miss.rotation or 0.0) <= tolerance
        assert (miss.rotation is None) == (target.shape == (3,))
    assert np.all(found.q >= robot.q_lower)
    assert np.all(found.q <= robot.q_upper)
    for joint in robot.joints:
        turning = [i for i, unit in enumerate(joint.table.q_units) if not unit]
        if turning:
            assert np.linalg.norm(found.q[robot.q_slice(joint.name)][turning]) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize(
    ("name", "frames", "count"),
    [
        ("puma", ["flange"], 8),
        ("scara", ["tool"], 8),
        ("humanoid", ["left_sole", "right_sole"], 2),
        pytest.param("hexapod24", ["trunk", *FEET], 2, marks=pytest.mark.slow),
    ],
)
def test_random_poses_of_the_robot_are_found_again(name: str, frames: list[str], count: int) -> None:
    robot = build(name)
    dynamics, rng = derive(robot, backend="interpreter"), np.random.default_rng(5)
    for seed in range(count):
        targets = poses(dynamics, frames, random_configuration(robot, rng))
        assert_reached(inverse_kinematics(dynamics, targets, seed=seed), dynamics, targets)


def test_positions_alone_and_poses_together() -> None:
    robot = build("hexapod24")
    dynamics = derive(robot)
    there = poses(dynamics, ["trunk", *FEET], random_configuration(robot, np.random.default_rng(1)))
    targets = {name: T if name == "trunk" else T[:3, 3] for name, T in there.items()}
    assert_reached(inverse_kinematics(dynamics, targets), dynamics, targets)


def test_from_nearby_the_first_attempt_is_enough_and_quadratic() -> None:
    robot = build("puma")
    dynamics, rng = derive(robot, backend="interpreter"), np.random.default_rng(2)
    q = np.array([0.3, 0.6, -1.0, 0.4, 0.7, -0.2])
    targets = poses(dynamics, ["flange"], q)
    found = inverse_kinematics(dynamics, targets, q + 0.05 * rng.normal(size=6))
    assert_reached(found, dynamics, targets)
    assert found.restarts == 0
    assert found.iterations <= 8
    assert np.abs(found.q - q).max() < 1e-8


def ball_arm() -> Robot:
    builder = RobotBuilder("ball_arm").add(*(Body.box(name, 1.0, (0.1, 0.1, 0.4)) for name in ("upper", "lower")))
    builder.root("upper", "spherical")
    builder.joint("elbow", "spherical", "upper", "lower", translation=(0.0, 0.0, 0.4))
    return builder.frame("hand", "lower", translation=(0.0, 0.0, 0.4)).build()


def test_spherical_joints_stay_on_their_manifold() -> None:
    robot = ball_arm()
    dynamics, rng = derive(robot, backend="interpreter"), np.random.default_rng(3)
    for _ in range(5):
        targets = poses(dynamics, ["hand"], random_configuration(robot, rng))
        assert_reached(inverse_kinematics(robot, targets), dynamics, targets)


def test_joints_that_move_no_target_stay() -> None:
    robot = build("humanoid")
    q0 = random_configuration(robot, np.random.default_rng(4))
    dynamics = derive(robot, backend="interpreter")
    other = random_configuration(robot, np.random.default_rng(6))
    found = inverse_kinematics(dynamics, poses(dynamics, ["left_sole", "right_sole"], other), q0)
    assert found.converged
    arms = [joint.name for joint in robot.joints if "arm" in joint.name or "hand" in joint.name]
    assert arms
    for joint in arms:
        assert np.array_equal(found.q[robot.q_slice(joint)], q0[robot.q_slice(joint)])


# ── limits and couplings ──────────────────────────────────────────────────────────────────────────────────────────────


def planar_arm(**limits: Any) -> Robot:
    """Two links of 1 m that turn about z, in the x-y plane."""
    builder = RobotBuilder("planar_arm").add(*(Body.box(name, 1.0, (1.0, 0.1, 0.1)) for name in ("first", "second")))
    builder.root("first", "revolute", name="shoulder")
    builder.joint("elbow", "revolute", "first", "second", translation=(1.0, 0.0, 0.0), **limits)
    return builder.frame("tip", "second", translation=(1.0, 0.0, 0.0)).build()


def test_the_limit_chooses_the_branch() -> None:
    target = {"tip": np.array([1.0, 1.0, 0.0])}
    up = inverse_kinematics(planar_arm(lower=0.1, upper=3.0), target, [0.0, 0.2])
    down = inverse_kinematics(planar_arm(lower=-3.0, upper=-0.1), target, [0.0, -0.2])
    assert up.q[1] == pytest.approx(np.pi / 2)
    assert down.q[1] == pytest.approx(-np.pi / 2)


def test_a_limit_in_the_way_is_reported_and_kept() -> None:
    robot = planar_arm(lower=-1.0, upper=1.0)  # the tip cannot come nearer to the origin than 2 cos(1/2)
    target = {"tip": np.array([0.5, 0.0, 0.0])}
    found = inverse_kinematics(robot, target, restarts=3)
    assert not found
    assert found.errors["tip"].position == pytest.approx(2.0 * np.cos(0.5) - 0.5, abs=1e-6)
    assert abs(found.q[1]) == 1.0
    assert "elbow" in found.message
    free = inverse_kinematics(robot, target, limits=False)
    assert free.converged
    assert abs(free.q[1]) > 1.0


def test_an_unreachable_target_is_a_value_that_says_how_far() -> None:
    robot = planar_arm()
    found = inverse_kinematics(robot, {"tip": np.array([3.0, 0.0, 0.0])}, [0.4, 0.3], restarts=2)
    assert not found.converged
    assert found.restarts == 2
    assert found.errors["tip"].position == pytest.approx(1.0, abs=1e-6)
    dynamics = derive(robot, backend="interpreter")
    for frame, stretched in poses(dynamics, ["second", "tip"], neutral(robot)).items():  # along x, at full length
        np.testing.assert_allclose(dynamics.pose(frame)(found.q), stretched, rtol=0, atol=1e-5)
    assert "target 'tip' is not reached" in found.message
    assert "1 m away" in found.message


def test_a_pose_and_a_position_that_cannot_both_be_reached_have_the_errors_of_their_frames() -> None:
    builder = RobotBuilder("arm").add(*(Body.box(name, 1.0, (1.0, 0.1, 0.1)) for name in ("near", "far")))
    builder.root("near", "revolute", name="shoulder").joint("elbow", "revolute", "near", "far", translation=(1, 0, 0))
    robot = builder.build()
    dynamics = derive(robot, backend="interpreter")
    wanted = {"near": np.eye(4), "far": np.array([0.0, 3.0, 0.0])}
    wanted["near"][:3, :3] = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).T
    found = inverse_kinematics(dynamics, wanted, q0=[0.1, 0.1], restarts=0)
    assert not found
    near, far = (dynamics.pose(name)(found.q) for name in wanted)
    turned = np.arccos(0.5 * (np.trace(wanted["near"][:3, :3].T @ near[:3, :3]) - 1.0))
    assert found.errors["near"] == pytest.approx((0.0, turned), abs=1e-9)
    assert found.errors["far"].position == pytest.approx(np.linalg.norm(far[:3, 3] - wanted["far"]))
    assert found.errors["far"].rotation is None


@pytest.mark.slow
def test_of_two_targets_the_one_that_is_missed_is_named() -> None:
    robot = build("hexapod24")
    dynamics = derive(robot, backend="interpreter")
    targets = poses(dynamics, ["trunk", *FEET], neutral(robot))
    targets["foot3"] = targets["foot3"][:3, 3] + (0.0, 0.0, 5.0)
    found = inverse_kinematics(dynamics, targets, restarts=1)
    assert not found
    assert "'foot3'" in found.message


def test_coupled_joints_follow_and_bind_their_leader() -> None:
    builder = RobotBuilder("gripper").add(*(Body.box(name, 1.0, (1.0, 0.1, 0.1)) for name in ("first", "second")))
    builder.root("first", "revolute", name="shoulder")
    builder.joint("elbow", "revolute", "first", "second", translation=(1.0, 0.0, 0.0), lower=-0.8, upper=0.8)
    robot = builder.frame("tip", "second", translation=(1.0, 0.0, 0.0)).couple("elbow", "shoulder", -2.0, 0.1).build()
    dynamics = derive(robot, backend="interpreter")
    targets = {"tip": dynamics.pose("tip")(np.array([0.3, -0.5]))[:3, 3]}
    found = inverse_kinematics(dynamics, targets, [0.4, 0.0])
    assert_reached(found, dynamics, targets)
    assert found.q == pytest.approx([0.3, -0.5], abs=1e-9)
    far = inverse_kinematics(dynamics, {"tip": np.array([0.0, 2.0, 0.0])}, restarts=1)
    assert not far
    assert far.q[1] == pytest.approx(-2.0 * far.q[0] + 0.1)
    assert abs(far.q[1]) <= 0.8 + 1e-12


# ── bad input ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_bad_input_is_named() -> None:
    robot, T = build("puma"), np.eye(4)
    with pytest.raises(ModelError, match="no frame 'gripper'"):
        inverse_kinematics(robot, {"gripper": T})
    with pytest.raises(ShapeError, match=r"'flange' has shape \(3, 3\)"):
        inverse_kinematics(robot, {"flange": np.eye(3)})
    with pytest.raises(ShapeError, match="'flange' is not an array"):
        inverse_kinematics(robot, {"flange": [[1.0], [2.0, 3.0]]})
    with pytest.raises(ShapeError, match="not finite"):
        inverse_kinematics(robot, {"flange": [np.nan, 0.0, 0.0]})
    with pytest.raises(ShapeError, match=r"R R\^T differs from the unit matrix by 3"):
        inverse_kinematics(robot, {"flange": np.diag([2.0, 1.0, 1.0, 1.0])})
    with pytest.raises(ShapeError, match="det R is -1"):
        inverse_kinematics(robot, {"flange": np.diag([-1.0, 1.0, 1.0, 1.0])})
    with pytest.raises(ShapeError, match="last row"):
        inverse_kinematics(robot, {"flange": T + np.diag([0.2, 0.1], -2)})
    with pytest.raises(ShapeError, match="no target"):
        inverse_kinematics(robot, {})
    with pytest.raises(ShapeError, match=r"q0 has shape \(5,\)"):
        inverse_kinematics(robot, {"flange": T}, np.zeros(5))
    with pytest.raises(ShapeError, match="q0 is not finite"):
        inverse_kinematics(robot, {"flange": T}, np.full(6, np.inf))
    with pytest.raises(ShapeError, match="length 0"):
        inverse_kinematics(ball_arm(), {"hand": T}, np.zeros(8))
    with pytest.raises(ShapeError, match="iterations is 0"):
        inverse_kinematics(robot, {"flange": T}, iterations=0)


def test_a_pose_may_be_given_as_such_and_with_few_digits() -> None:
    robot = build("hexapod24")
    assert inverse_kinematics(robot, {"trunk": Pose(IDENTITY.R, (0.1, 0.2, 0.3))}).converged
    T = np.eye(4)
    T[:2, :2] = [[0.8660254, -0.5], [0.5, 0.8660254]]
    assert inverse_kinematics(robot, {"trunk": T}).converged


@pytest.mark.parametrize("targets", [np.eye(4), [0.1, 0.2, 0.3], "tip"])
def test_targets_without_a_frame_get_a_sentence(targets: object) -> None:
    """An array raised "The truth value of an array is ambiguous"."""
    with pytest.raises(ShapeError, match=r"expected a dictionary \{frame: pose\}\. .*'link2': pose"):
        inverse_kinematics(build("double_pendulum"), targets)  # type: ignore[arg-type]
