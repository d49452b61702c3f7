"""A free robot described from another of its bodies is the same robot: same energies, same motion of every body.

The map of velocities is linear, v' = A(q) v. Forces that do the same work are tau = A^T tau', and then A^T M' A = M and
every body accelerates alike, though coordinates and accelerations differ in name.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kinemorph.deriving.dynamics import derive
from kinemorph.mechanics.recursions.kinematics import jacobian_rate
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.changes.reroot import StateMap, reroot
from kinemorph.model.joint import JOINT_KINDS
from kinemorph.model.robot import Robot
from kinemorph.model.topology import WORLD
from support.robots.random_robots import ALL_KINDS, random_robot, random_states
from support.tools.some_slow import first

SEEDS = range(0, 40, 2)  # even seeds stand on a free base


def free_robot(seed: int) -> Robot:
    """A random robot with rotors on its simple joints only: the others' belong to one of the two bodies."""
    robot = random_robot(seed, most=25, kinds=ALL_KINDS)
    rotors = np.random.default_rng(seed).uniform(0.02, 0.1, size=robot.nv).tolist()
    joints = []
    for joint in robot.joints:
        simple = joint.kind in ("revolute", "prismatic", "helical", "universal", "gimbal", "cylindrical")
        armature = tuple(rotors[robot.v_slice(joint.name)]) if simple else (0.0,) * joint.nv
        joints.append(replace(joint, armature=armature))
    return replace(robot, joints=tuple(joints))


def farthest_body(robot: Robot) -> str:
    """The body with the longest way to the free base."""
    root = next(joint.child for joint in robot.joints if joint.kind == "free" and joint.parent == WORLD)
    paths = {body: robot.path_to_root(body) for body in robot.body_names}
    return max((body for body in paths if paths[body][-2] == root), key=lambda body: len(paths[body]))


def velocity_map(carry: StateMap, q: np.ndarray) -> np.ndarray:
    """A(q), shape (nv, nv)."""
    return np.array([carry(q, unit)[1] for unit in np.eye(carry.source.nv)]).T


@pytest.fixture(params=first(SEEDS, 8))
def pair(request: pytest.FixtureRequest) -> tuple[Robot, Robot, StateMap, int]:
    robot = free_robot(request.param)
    target, carry = reroot(robot, farthest_body(robot))
    return robot, target, carry, request.param


def test_every_joint_kind_is_turned_round_in_these_robots() -> None:
    turned = set()
    for seed in SEEDS:
        robot = free_robot(seed)
        turned |= {robot.parent_joint[body].kind for body in robot.path_to_root(farthest_body(robot))[:-2]}
    assert turned == set(JOINT_KINDS) - {"point_on_line", "point_on_plane"}


def test_energies_stay(pair: tuple[Robot, Robot, StateMap, int]) -> None:
    robot, target, carry, seed = pair
    q, v, *_ = (part[0] for part in random_states(robot, seed, 1))
    before, after = (derive(each, backend="interpreter") for each in (robot, target))
    kinetic, potential = before.energy(q, v)
    kinetic_after, potential_after = after.energy(*carry(q, v))
    assert kinetic_after == pytest.approx(kinetic, rel=1e-12)
    assert potential_after == pytest.approx(potential, rel=1e-12, abs=1e-12 * robot.total_mass)


def test_mass_matrix_is_carried_over(pair: tuple[Robot, Robot, StateMap, int]) -> None:
    robot, target, carry, seed = pair
    q, v, *_ = (part[0] for part in random_states(robot, seed, 1))
    A, q_after = velocity_map(carry, q), carry(q, v)[0]
    M, M_after = (
        derive(robot, backend="interpreter").mass_matrix(q),
        derive(target, backend="interpreter").mass_matrix(q_after),
    )
    np.testing.assert_allclose(A.T @ M_after @ A, M, rtol=0, atol=1e-11 * np.abs(M).max())


def test_every_body_accelerates_alike(pair: tuple[Robot, Robot, StateMap, int]) -> None:
    robot, target, carry, seed = pair
    q, v, _, tau_after = (part[0] for part in random_states(robot, seed, 1))
    A, (q_after, v_after) = velocity_map(carry, q), carry(q, v)
    tau = A.T @ tau_after
    before, after = (derive(each, backend="interpreter") for each in (robot, target))
    a, a_after = before.forward_dynamics(q, v, tau), after.forward_dynamics(q_after, v_after, tau_after)
    tolerance = min(1e-12 * np.linalg.cond(before.mass_matrix(q)), 1e-8)
    for body in robot.body_names:
        one = acceleration(robot, body, q, v, a)
        other = acceleration(target, body, q_after, v_after, a_after)
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * max(1.0, np.abs(one).max()))


def acceleration(robot: Robot, body: str, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Acceleration of a body's origin and its angular acceleration, world axes."""
    tree = resolve(robot)
    J = derive(robot, backend="interpreter").jacobian(body, "local_world_aligned")(q)
    Jdot = np.array(jacobian_rate(tree, q.tolist(), v.tolist(), body, "local_world_aligned"), dtype=float)
    return np.asarray(J @ a + Jdot @ v)


def test_there_and_back_is_the_same_state(pair: tuple[Robot, Robot, StateMap, int]) -> None:
    robot, _, carry, seed = pair
    q, v, *_ = (part[0] for part in random_states(robot, seed, 1))
    q_back, v_back = carry.inverse()(*carry(q, v))
    np.testing.assert_allclose(v_back, v, rtol=0, atol=1e-11 * np.abs(v).max())
    poses = derive(robot, backend="interpreter").forward_kinematics  # q itself may return with a quaternion negated
    np.testing.assert_allclose(poses(q_back), poses(q), rtol=0, atol=1e-11)
