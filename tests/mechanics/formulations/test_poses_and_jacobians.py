"""Poses two ways, and Jacobians as the exact derivatives of poses, in all three references.

With V the twist of a frame F:   local  T^-1 Tdot = hat(V),   world  Tdot T^-1 = hat(V),
local_world_aligned  V = [velocity of the origin; angular velocity], both in the axes of the world.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.groups import matrix_of
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import KinemorphError, ShapeError, UnsupportedError
from kinemorph.mechanics.recursions.kinematics import (
    REFERENCES,
    configuration_rate,
    forward_kinematics,
    jacobian,
    jacobian_rate,
    link_poses,
    link_twists,
)
from kinemorph.mechanics.trees.reframing import reframe
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model import library
from kinemorph.model.changes.reroot import body_motion
from kinemorph.model.configuration import integrate
from kinemorph.model.robot import Robot
from support.peers.pinocchio_peer import PinocchioPeer
from support.references.exact_rates import numbers, rate_along
from support.robots.random_robots import KINDS, random_robot, random_states, robot_of_kind
from support.tools.each_case import each_case

TOLERANCE = 1e-11


@pytest.fixture(params=[(kind, chained) for kind in KINDS for chained in (False, True)], ids=lambda p: f"{p[0]}-{p[1]}")
def robot(request: pytest.FixtureRequest) -> Robot:
    kind, chained = request.param
    return robot_of_kind(kind, chained=chained)


def state(robot: Robot) -> tuple[Any, ...]:
    return tuple(part[0].tolist() for part in random_states(robot, 6, 1))


def pose(tree: Tree, q: Any, frame: str = "tool") -> Any:
    return matrix_of(forward_kinematics(tree, q, [frame])[0])


def test_poses_and_twists_equal_those_of_the_model(robot: Robot) -> None:
    """The joint table of the mechanics against the one of the configuration space."""
    tree = resolve(robot)
    q, v, *_ = state(robot)
    for body in robot.body_names:
        T, V = body_motion(robot, body, q, v)
        np.testing.assert_allclose(pose(tree, q, body), numbers(matrix_of(T)), rtol=0, atol=1e-13)
        np.testing.assert_allclose(numbers(jacobian(tree, q, body)) @ v, V, rtol=0, atol=1e-13 * 10)


def test_the_configuration_moves_by_its_rate(robot: Robot) -> None:
    """configuration_rate is the derivative of `integrate` at time zero."""
    q, v, *_ = state(robot)
    tree = resolve(robot)
    moved = rate_along(lambda t: integrate(robot, tuple(q), tuple(t[0] * x for x in v)), ([0.0], [1.0]))
    np.testing.assert_allclose(moved, numbers(configuration_rate(tree, q, v)), rtol=0, atol=1e-13 * 10)


@each_case("reference", REFERENCES)
def test_jacobian_columns_are_derivatives_of_the_pose(robot: Robot, reference: Any) -> None:
    tree = resolve(robot)
    q, *_ = state(robot)
    T = numbers(pose(tree, q))
    J = numbers(jacobian(tree, q, "tool", reference))
    for k, unit in enumerate(np.eye(robot.nv).tolist()):
        Tdot = rate_along(lambda x: pose(tree, x), (q, configuration_rate(tree, q, unit)))
        if reference == "local":
            twist = vee(np.linalg.inv(T) @ Tdot)
        else:
            twist = vee(Tdot @ np.linalg.inv(T))
        if reference == "local_world_aligned":
            twist[:3] = Tdot[:3, 3]
        np.testing.assert_allclose(J[:, k], twist, rtol=0, atol=TOLERANCE)


@each_case("reference", REFERENCES)
def test_jacobian_rate_is_the_derivative_of_the_jacobian(robot: Robot, reference: Any) -> None:
    tree = resolve(robot)
    q, v, a, _ = state(robot)
    qdot = configuration_rate(tree, q, v)
    Jdot = numbers(jacobian_rate(tree, q, v, "tool", reference))
    exact = rate_along(lambda x: jacobian(tree, x, "tool", reference), (q, qdot))
    np.testing.assert_allclose(Jdot, exact, rtol=0, atol=TOLERANCE)

    def twist(x: Any, y: Any) -> Any:
        return [
            sum(entry * rate for entry, rate in zip(row, y, strict=True))
            for row in jacobian(tree, x, "tool", reference)
        ]

    acceleration = rate_along(twist, (q, qdot), (v, a))
    J = numbers(jacobian(tree, q, "tool", reference))
    np.testing.assert_allclose(J @ a + Jdot @ v, acceleration, rtol=0, atol=TOLERANCE)


@each_case("seed", range(12))
def test_random_trees_equal_pinocchio(seed: int) -> None:
    robot = random_robot(seed, most=30)
    peer, dynamics = PinocchioPeer(robot), derive(robot, backend="interpreter")
    q, v, _, _ = (part[0] for part in random_states(robot, seed, 1))
    poses = dynamics.forward_kinematics(q)
    for body, T in zip(robot.body_names, poses, strict=True):
        np.testing.assert_allclose(T, peer.pose(body, q), rtol=0, atol=1e-13 * max(1.0, np.abs(T).max()) * 10)
    np.testing.assert_allclose(dynamics.pose("tool")(q), peer.pose("tool", q), rtol=0, atol=1e-11)
    for reference in REFERENCES:
        J, Jdot = peer.jacobian("tool", reference, q, v)
        near = {"rtol": 0, "atol": 1e-12 * max(1.0, np.abs(J).max())}
        np.testing.assert_allclose(dynamics.jacobian("tool", reference)(q), J, **near)
        near = {"rtol": 0, "atol": 1e-12 * max(1.0, np.abs(Jdot).max())}
        np.testing.assert_allclose(dynamics.jacobian_rate("tool", reference)(q, v), Jdot, **near)


@pytest.mark.parametrize("seed", range(6))
def test_twists_down_the_tree_equal_jacobian_times_velocity(seed: int) -> None:
    robot = random_robot(seed, most=20)
    tree = reframe(resolve(robot))
    q, v, *_ = state(robot)
    poses, twists = link_poses(tree, q), link_twists(tree, tree.moves(q), v)
    for body in robot.body_names:
        at = tree.attachments[body]
        if at.link < 0:
            continue
        V = numbers(jacobian(tree, q, body, "local_world_aligned")) @ v
        u, w = (numbers(poses[at.link].R) @ numbers(part) for part in twists[at.link])
        arm = numbers(poses[at.link].R) @ numbers(at.pose.p)
        np.testing.assert_allclose(V, [*(u + np.cross(w, arm)), *w], rtol=0, atol=1e-11 * max(1.0, np.abs(V).max()))


def test_an_unknown_reference_is_named() -> None:
    robot = robot_of_kind("revolute", chained=False)
    with pytest.raises(UnsupportedError, match="sideways"):
        jacobian(resolve(robot), [0.0], "tool", "sideways")  # type: ignore[arg-type]


def vee(X: np.ndarray) -> np.ndarray:
    """The twist of a matrix of se(3); its rotational part must be skew."""
    np.testing.assert_allclose(X[:3, :3], -X[:3, :3].T, rtol=0, atol=1e-10)
    return np.array([*X[:3, 3], X[2, 1], X[0, 2], X[1, 0]])


def test_functions_of_a_frame_are_called_at_once_or_asked_for() -> None:
    dynamics = derive(library.puma(), backend="interpreter")
    rng = np.random.default_rng(1)
    q, v = rng.normal(size=(2, 5, dynamics.robot.nv))
    frame = dynamics.robot.body_names[-1]
    for reference in ("local", "local_world_aligned", "world"):
        assert np.array_equal(dynamics.jacobian(q, frame, reference), dynamics.jacobian(frame, reference)(q))
        asked = dynamics.jacobian_rate(frame, reference=reference)
        assert np.array_equal(dynamics.jacobian_rate(q, v, frame, reference), asked(q, v))
        assert np.array_equal(dynamics.jacobian_rate(q, v=v, frame=frame, reference=reference), asked(q, v))
    assert np.array_equal(dynamics.pose(q.tolist(), frame), dynamics.pose(frame)(q))
    assert dynamics.pose(frame) is dynamics.pose(frame=frame)
    with pytest.raises(ShapeError, match=r"jacobian: no frame is named.*dynamics.jacobian\(q, 'tool'\)"):
        dynamics.jacobian(q)
    with pytest.raises(ShapeError, match="takes 1 inputs"):
        dynamics.jacobian(q, v, frame)
    with pytest.raises(KinemorphError, match="no frame 'tool'"):
        dynamics.pose(q[0], "tool")


def test_functions_of_a_frame_take_parameters_too() -> None:
    dynamics = derive(library.pendulum(), parameters="all", backend="interpreter")
    frame, q, p = dynamics.robot.body_names[-1], np.full(dynamics.robot.nq, 0.3), dynamics.nominal_parameters
    there = dynamics.pose(frame)(q, p)
    assert np.array_equal(dynamics.pose(q, p, frame), there) and np.array_equal(dynamics.pose(q, frame, p=p), there)
