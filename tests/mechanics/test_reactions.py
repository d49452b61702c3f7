"""Joint reactions: free bodies balance, projections give tau, and other libraries agree."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.deriving import derive
from kinemorph.errors import UnsupportedError
from kinemorph.model import library
from kinemorph.model.body import Body
from kinemorph.model.builder import RobotBuilder
from kinemorph.model.configuration import joint_twist
from kinemorph.model.robot import Robot
from random_robots import KINDS, random_robot, random_states, robot_of_kind

SEEDS = (0, 2, 5, 7, 11, 14)  # every joint kind, fixed ones too


def joint_frames(robot: Robot, q: np.ndarray) -> dict[str, np.ndarray]:
    """World poses of every joint's frame on its child, (4, 4)."""
    poses = dict(zip(robot.body_names, derive(robot, backend="interpreter").forward_kinematics(q), strict=True))
    frames = {}
    for joint in robot.joints:
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = joint.child_placement.R, joint.child_placement.p
        frames[joint.name] = poses[joint.child] @ T
    return frames


def needed_wrench(robot: Robot, body: Body, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """The wrench about the world's origin, world axes, that moves one body: d/dt of its momentum, less its weight.

    By Jacobians alone: nothing of the recursion is used.
    """
    dynamics = derive(robot, backend="interpreter")
    J = dynamics.jacobian(body.name, "local_world_aligned")(q)
    dJ = dynamics.jacobian_rate(body.name, "local_world_aligned")(q, v)
    twist, rate = J @ v, J @ a + dJ @ v
    T = dynamics.pose(body.name)(q)
    R, c = T[:3, :3], T[:3, :3] @ np.array(body.com)
    w, al = twist[3:], rate[3:]
    center = rate[:3] + np.cross(al, c) + np.cross(w, np.cross(w, c))
    I = R @ np.array(body.inertia) @ R.T
    force = body.mass * (center - np.array(robot.gravity))
    moment = I @ al + np.cross(w, I @ w)
    return np.concatenate([force, moment + np.cross(T[:3, 3] + c, force)])


def in_world(T: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """A wrench in a frame, about its origin, taken to world axes and the world's origin."""
    force = T[:3, :3] @ wrench[:3]
    return np.concatenate([force, T[:3, :3] @ wrench[3:] + np.cross(T[:3, 3], force)])


def balance_gap(robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> float:
    """The largest error of any body's balance, relative to the largest wrench."""
    frames = joint_frames(robot, q)
    found = dict(zip(robot.joint_names, derive(robot, backend="interpreter").joint_wrenches(q, v, a), strict=True))
    through = {name: in_world(frames[name], wrench) for name, wrench in found.items()}
    scale = max(np.abs(wrench).max() for wrench in through.values())
    gaps = []
    for body in robot.bodies:
        total = through[robot.parent_joint[body.name].name].copy()
        for joint in robot.joints:
            if joint.parent == body.name:
                total -= through[joint.name]
        gaps.append(np.abs(total - needed_wrench(robot, body, q, v, a)).max())
    return float(max(gaps) / scale)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_body_of_a_random_tree_balances(seed: int, record_property: pytest.FixtureRequest) -> None:
    robot = random_robot(seed, most=14)
    q, v, a, _ = (rows[0] for rows in random_states(robot, seed, 1))
    gap = balance_gap(robot, q, v, a)
    record_property("figure", ("joint reactions", "balance of a body", gap))
    assert gap < 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_joint_balances_and_its_axes_feel_tau(kind: str) -> None:
    robot = robot_of_kind(kind, chained=True)
    q, v, a, _ = (rows[0] for rows in random_states(robot, 3, 1))
    dynamics = derive(robot, backend="interpreter")
    assert balance_gap(robot, q, v, a) < 1e-12
    wrenches, tau = dynamics.joint_wrenches(q, v, a), dynamics.inverse_dynamics(q, v, a)
    for joint, wrench in zip(robot.joints, wrenches, strict=True):
        at_q, at_v = q[robot.q_slice(joint.name)], robot.v_slice(joint.name)
        for k in range(joint.nv):
            unit = [float(i == k) for i in range(joint.nv)]
            along = np.dot(joint_twist(joint, at_q, unit), wrench) + joint.armature[k] * a[at_v][k]
            assert along == pytest.approx(tau[at_v][k], rel=1e-12, abs=1e-11)


def test_a_weight_hangs_on_its_hinge_and_on_a_welded_plate() -> None:
    """A hinge about x with a 2 kg mass 0.5 m below it; a 1 kg plate is fixed to the mass 0.1 m to the side."""
    builder = RobotBuilder("hanging").add(Body("mass", 2.0, (0.0, 0.0, -0.5)), Body("plate", 1.0))
    builder.joint("hinge", "revolute", "world", "mass", axis=(1.0, 0.0, 0.0))
    builder.joint("weld", "fixed", "mass", "plate", translation=(0.0, 0.1, -0.5))
    dynamics = derive(builder.build(), backend="interpreter")
    hinge, weld = dynamics.joint_wrenches([0.0], [0.0], [0.0])
    np.testing.assert_allclose(hinge, [0, 0, 3 * 9.81, 1 * 9.81 * 0.1, 0, 0], atol=1e-13)
    np.testing.assert_allclose(weld, [0, 0, 9.81, 0, 0, 0], atol=1e-13)


@pytest.mark.parametrize("seed", [2, 11])
def test_pinocchio_has_the_same_wrenches_through_joints(seed: int) -> None:
    pytest.importorskip("pinocchio")
    from peers import PinocchioPeer

    robot = random_robot(seed, most=14)
    q, v, a, _ = (rows[0] for rows in random_states(robot, seed, 1))
    peer = PinocchioPeer(robot)
    peer.inverse_dynamics(q, v, a)
    compared = 0
    for joint, wrench in zip(robot.joints, derive(robot, backend="interpreter").joint_wrenches(q, v, a), strict=True):
        if joint.nv:  # Pinocchio merges bodies that are fixed to each other
            index = peer.model.getJointId(f"{joint.name}.{len(joint.table.primitives) - 1}")
            np.testing.assert_allclose(peer.data.f[index].vector, wrench, rtol=1e-11, atol=1e-10)
            compared += 1
    assert compared > 3


def test_closed_robots_are_refused_with_the_reason() -> None:
    with pytest.raises(UnsupportedError, match="loops or coupled joints"):
        _ = derive(library.four_bar()).joint_wrenches
