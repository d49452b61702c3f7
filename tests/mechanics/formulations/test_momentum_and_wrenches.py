"""Momentum, center of mass and outside wrenches: laws of mechanics, and Pinocchio.

The momentum A_G v is [m d/dt com; angular momentum about the com]. A wrench F saves the joints the forces J^T F. A
robot that nothing holds falls as one: whatever its joints do, d/dt p = m g, and its angular momentum stays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph.deriving.dynamics import derive
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.recursions.kinematics import configuration_rate
from kinemorph.mechanics.recursions.momentum import center_of_mass, total_momentum
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.joint import Joint
from kinemorph.model.robot import Robot
from support.peers.pinocchio_peer import PinocchioPeer
from support.references.exact_rates import rate_along
from support.robots.random_robots import random_robot, random_states
from support.tools.each_case import each_case


def one_state(robot: Robot, seed: int) -> tuple[np.ndarray, ...]:
    return tuple(part[0] for part in random_states(robot, seed, 1))


def grounded(robot: Robot) -> bool:
    """Whether a body is fixed to the world; Pinocchio leaves such bodies out of its center of mass."""
    held = {"world"}
    for joint in robot.order:
        if joint.kind == "fixed" and joint.parent in held:
            held.add(joint.child)
    return len(held) > 1


def base_of(robot: Robot) -> Joint:
    return next(joint for joint in robot.joints if joint.parent == "world")


def is_floating(robot: Robot) -> bool:
    """One tree on a free base without rotors: nothing holds it."""
    roots = [joint for joint in robot.joints if joint.parent == "world"]
    return len(roots) == 1 and not any(roots[0].armature)


UNGROUNDED = [seed for seed in range(40) if not grounded(random_robot(seed, most=30))][:16]


@each_case("seed", UNGROUNDED)
def test_center_of_mass_and_centroidal_matrix_equal_pinocchio(seed: int) -> None:
    robot = random_robot(seed, most=30)
    q, v, *_ = one_state(robot, seed)
    dynamics = derive(robot, backend="interpreter")
    com, A = PinocchioPeer(robot).centroidal(q, v)
    near = {"rtol": 0, "atol": 1e-12 * max(1.0, np.abs(A).max())}
    np.testing.assert_allclose(dynamics.center_of_mass(q), com, **near)
    np.testing.assert_allclose(dynamics.centroidal_matrix(q), A, **near)
    np.testing.assert_allclose(dynamics.momentum(q, v), A @ v, **near)


@each_case("seed", range(16))
def test_center_of_mass_is_the_mean_of_all_bodies_and_carries_the_potential(seed: int) -> None:
    """Those fixed to the world included."""
    robot = random_robot(seed, most=30)
    q, v, *_ = one_state(robot, seed)
    dynamics = derive(robot, backend="interpreter")
    poses = dynamics.forward_kinematics(q)
    moment = sum(body.mass * (T @ [*body.com, 1.0])[:3] for body, T in zip(robot.bodies, poses, strict=True))
    com = moment / robot.total_mass
    np.testing.assert_allclose(dynamics.center_of_mass(q), com, rtol=0, atol=1e-13 * max(1.0, np.abs(com).max()))
    _, potential = dynamics.energy(q, v)
    assert potential == pytest.approx(-np.dot(robot.gravity, moment), rel=1e-12, abs=1e-10)


def test_some_of_these_robots_have_bodies_fixed_to_the_world() -> None:
    assert any(grounded(random_robot(seed, most=30)) for seed in range(16))


@each_case("seed", range(16))
def test_linear_momentum_is_mass_times_the_rate_of_the_center(seed: int) -> None:
    """Bodies fixed to the world count in the mass and in the center, and have no momentum."""
    robot = random_robot(seed, most=30)
    tree = resolve(robot)
    q, v, *_ = one_state(robot, seed)
    rate = rate_along(lambda x: center_of_mass(tree, x), (q, configuration_rate(tree, q, v)))
    p = np.array(total_momentum(tree, q, v), dtype=float)[:3]
    np.testing.assert_allclose(p, robot.total_mass * rate, rtol=0, atol=1e-12 * max(1.0, np.abs(p).max()))


FLOATING = [seed for seed in range(0, 60, 2) if is_floating(random_robot(seed, most=20))][:6]


@pytest.mark.parametrize("seed", FLOATING)
def test_momentum_of_a_free_robot_changes_by_gravity_alone(seed: int) -> None:
    """Whatever the joints do: no force on the base, so d/dt p = m g and d/dt L = 0 about the center of mass."""
    robot = random_robot(seed, most=20)
    tree = resolve(robot)
    q, v, _, tau = one_state(robot, seed)
    tau[robot.v_slice(base_of(robot).name)] = 0.0
    a = derive(robot, backend="interpreter").forward_dynamics(q, v, tau)
    rate = rate_along(lambda x, y: total_momentum(tree, x, y), (q, configuration_rate(tree, q, v)), (v, a))
    expected = [*(robot.total_mass * np.array(robot.gravity)), 0.0, 0.0, 0.0]
    np.testing.assert_allclose(rate, expected, rtol=0, atol=1e-11 * robot.total_mass * max(1.0, np.abs(a).max()))


@each_case("seed", range(6))
def test_outside_wrenches(seed: int) -> None:
    robot = random_robot(seed, most=30)
    frames = list(dict.fromkeys(["tool", robot.body_names[0], robot.body_names[-1]]))  # also two on one link
    F = np.random.default_rng(seed).normal(size=(len(frames), 6)) * 20.0
    q, v, a, tau = one_state(robot, seed)
    peer, dynamics = PinocchioPeer(robot), derive(robot, wrenches=frames, backend="interpreter")
    wrenches = dict(zip(frames, F, strict=True))

    needed, expected = dynamics.inverse_dynamics(q, v, a, F), peer.inverse_dynamics(q, v, a, wrenches)
    near = {"rtol": 0, "atol": 1e-12 * np.abs(expected).max()}
    np.testing.assert_allclose(needed, expected, **near)
    cond = np.linalg.cond(peer.mass_matrix(q))
    moved, expected = dynamics.forward_dynamics(q, v, tau, F), peer.forward_dynamics(q, v, tau, wrenches)
    np.testing.assert_allclose(moved, expected, rtol=0, atol=min(1e-13 * cond, 1e-8) * np.abs(expected).max() * 10)

    # virtual work, by our own Jacobians
    bare = derive(robot, backend="interpreter")
    work = sum(bare.jacobian(frame, "local")(q).T @ wrench for frame, wrench in wrenches.items())
    np.testing.assert_allclose(bare.inverse_dynamics(q, v, a) - needed, work, **near)
    np.testing.assert_allclose(bare.bias_forces(q, v) - dynamics.bias_forces(q, v, F), work, **near)


def test_a_wrench_on_the_world_does_nothing_and_lagrange_refuses_wrenches() -> None:
    robot = random_robot(1, most=5)
    q, v, a, _ = one_state(robot, 1)
    pushed: Any = derive(robot, wrenches=["world"], backend="interpreter")
    np.testing.assert_array_equal(
        pushed.inverse_dynamics(q, v, a, np.ones((1, 6))),
        derive(robot, backend="interpreter").inverse_dynamics(q, v, a),
    )
    with pytest.raises(UnsupportedError, match="lagrange"):
        derive(robot, "lagrange", wrenches=["tool"])
