"""Moving the cut of a loop changes coordinates, not the motion: every possible cut gives the same accelerations.

Mechanisms are closed by construction: bodies stand anywhere, and the frames of every joint on both of its bodies are
chosen so that the joint is at a random coordinate there. The coordinates of a tree are found again from the poses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from kinemorph.algebra.groups import Pose, compose, inverse, matrix_of, move_twist_back
from kinemorph.algebra.vectors import sub
from kinemorph.mechanics.constraints.closures import constraint_bias, constraint_error, constraint_jacobian
from kinemorph.mechanics.recursions.composite_bodies import mass_matrix
from kinemorph.mechanics.recursions.kinematics import jacobian, jacobian_rate
from kinemorph.mechanics.recursions.newton_euler import bias_forces
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import integrate, joint_motion, joint_twist, random_configuration
from kinemorph.model.joint import JOINT_KINDS, Joint
from kinemorph.model.robot import Robot
from support.references.twist_matrices import log_se3
from support.robots.random_robots import joint_data, random_body, random_pose

TOLERANCE = 1e-10


class Edge(NamedTuple):
    a: str
    b: str
    kind: str


class Scene(NamedTuple):
    """Bodies, where they stand, and how their joints sit on them."""

    bodies: dict[str, Body]
    poses: dict[str, Pose]
    joints: dict[str, tuple[Edge, dict[str, object]]]

    def robot(self, cut: str | None = None) -> Robot:
        builder = RobotBuilder(f"cut_{cut}").add(*self.bodies.values())
        for name, (edge, data) in self.joints.items():
            builder.joint(name, edge.kind, edge.a, edge.b, **data, cut=name == cut)
        return builder.build()


def scene(edges: list[Edge], seed: int) -> Scene:
    rng = np.random.default_rng(seed)
    names = sorted({end for edge in edges for end in (edge.a, edge.b)} - {"world"})
    bodies = {name: random_body(rng, name) for name in names}
    poses = {"world": Pose(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), (0.0, 0.0, 0.0))}
    poses |= {name: random_pose(rng) for name in names}
    joints = {}
    for number, edge in enumerate(edges):
        data = joint_data(rng, edge.kind)
        one = RobotBuilder("one").add(Body.box("child", 1.0, (1.0, 2.0, 3.0)))
        one.joint("j", edge.kind, "world", "child", **{**data, "child_placement": None})
        alone = one.build()
        motion = joint_motion(alone.joint("j"), 0.5 * random_configuration(alone, rng))
        there = compose(poses[edge.a], alone.joint("j").placement, motion)
        joints[f"e{number}"] = (edge, {**data, "child_placement": compose(inverse(poses[edge.b]), there)})
    return Scene(bodies, poses, joints)


def coordinates(joint: Joint, poses: dict[str, Pose]) -> np.ndarray:
    """q of one joint at which its bodies stand as they do, by Newton's method."""
    there = compose(inverse(joint.placement), inverse(poses[joint.parent]), poses[joint.child], joint.child_placement)
    one = Robot("one", (), (joint,))
    rng = np.random.default_rng(0)
    for _ in range(20):
        q = random_configuration(one, rng)
        for _ in range(30):
            error = np.array(log_se3(compose(inverse(joint_motion(joint, q)), there)))
            if np.abs(error).max() < 1e-15:
                break
            columns = [joint_twist(joint, q, unit) for unit in np.eye(joint.nv)]
            q = integrate(one, q, np.linalg.lstsq(np.array(columns).T, error, rcond=None)[0])
        if np.abs(np.array(matrix_of(joint_motion(joint, q))) - matrix_of(there)).max() < 1e-13:
            return q
    raise AssertionError(f"no coordinates of {joint}")


def velocities(joint: Joint, q: np.ndarray, poses: dict[str, Pose], twists: dict[str, np.ndarray]) -> np.ndarray:
    """v of one joint by the twists of its bodies (6,), each in its body."""
    T_PC = compose(inverse(poses[joint.parent]), poses[joint.child])
    between = sub(tuple(twists[joint.child]), move_twist_back(T_PC, tuple(twists[joint.parent])))
    seen = np.array(move_twist_back(joint.child_placement, between))
    columns = np.array([joint_twist(joint, q, unit) for unit in np.eye(joint.nv)]).T
    v, *_ = np.linalg.lstsq(columns, seen, rcond=None)
    assert np.abs(columns @ v - seen).max() < 1e-10 * max(1.0, np.abs(seen).max())
    return v


def accelerations(
    robot: Robot, mechanism: Scene, twists: dict[str, np.ndarray] | None
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Accelerations of all bodies, linear and angular in the world; the twists too, made up where none are given."""
    tree = resolve(robot)
    q = np.concatenate([coordinates(joint, mechanism.poses) for joint in robot.joints])
    J = np.array(constraint_jacobian(tree, q))
    assert np.abs(constraint_error(tree, q)).max() < 1e-12
    if twists is None:
        v = np.random.default_rng(8).normal(size=robot.nv)
        v -= np.linalg.pinv(J, rcond=1e-9) @ (J @ v)
        twists = {"world": np.zeros(6)} | {name: np.array(jacobian(tree, q, name)) @ v for name in robot.body_names}
    v = np.concatenate([velocities(j, q[robot.q_slice(j.name)], mechanism.poses, twists) for j in robot.joints])
    assert np.abs(J @ v).max() < 1e-9
    # M a - J^T lambda = -h, J a = gamma
    M, h, zero = np.array(mass_matrix(tree, q)), bias_forces(tree, q, v), np.zeros((len(J), len(J)))
    right = np.concatenate([np.negative(h), constraint_bias(tree, q, v)])
    a = np.linalg.lstsq(np.block([[M, -J.T], [J, zero]]), right, rcond=1e-12)[0][: robot.nv]
    found = []
    for name in robot.body_names:
        V, R = twists[name], np.array(mechanism.poses[name].R)
        rate = np.array(jacobian(tree, q, name)) @ a + np.array(jacobian_rate(tree, q, v, name)) @ v
        found.append(np.concatenate([R @ (rate[:3] + np.cross(V[3:], V[:3])), R @ rate[3:]]))
    return twists, np.array(found)


RING = [("a", "b", "revolute"), ("b", "c", "universal"), ("c", "d", "spherical"), ("d", "a", "cylindrical")]
MECHANISMS = {
    "on the ground": [
        Edge("world", "a", "revolute"),
        *(Edge(*edge) for edge in RING[:3]),
        Edge("d", "world", "helical"),
    ],
    "free, two loops": [
        Edge("world", "a", "free"),
        *(Edge(*edge) for edge in RING),
        Edge("b", "d", "spherical"),
        Edge("c", "a", "planar"),
    ],
    "points on lines and planes": [
        Edge("world", "a", "revolute"),
        Edge("a", "b", "spherical"),
        Edge("world", "b", "point_on_line"),
        Edge("a", "c", "universal"),
        Edge("world", "c", "point_on_plane"),
    ],
    "prismatic": [
        Edge("world", "a", "prismatic"),
        *(Edge(*edge) for edge in RING[:3]),
        Edge("world", "d", "universal"),
    ],
    "gimbals": [
        Edge("world", "a", "gimbal"),
        *(Edge(*edge) for edge in RING[:2]),
        Edge("c", "world", "gimbal"),
    ],
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_cut_gives_the_same_motion(name: str) -> None:
    mechanism = scene(MECHANISMS[name], 3)
    twists, expected = accelerations(mechanism.robot(), mechanism, None)
    cuts = [cut for cut, (edge, _) in mechanism.joints.items() if edge.kind != "free"]
    turned = 0
    for cut in cuts:
        robot = mechanism.robot(cut)
        assert cut in {loop.name for loop in robot.loops}
        turned += sum(joint.parent != mechanism.joints[joint.name][0].a for joint in robot.joints)
        _, found = accelerations(robot, mechanism, twists)
        assert np.abs(found - expected).max() < TOLERANCE * np.abs(expected).max(), cut
    assert turned > 0


@pytest.mark.parametrize("name", MECHANISMS)
def test_joints_with_one_axis_keep_their_coordinates(name: str) -> None:
    mechanism = scene(MECHANISMS[name], 3)
    for cut in (cut for cut, (edge, _) in mechanism.joints.items() if edge.kind != "free"):
        for joint in mechanism.robot(cut).joints:
            edge, data = mechanism.joints[joint.name]
            if edge.kind in ("revolute", "prismatic", "helical", "cylindrical") and joint.parent != edge.a:
                declared = replace(joint, parent=edge.a, child=edge.b, axis=data["axis"])
                declared = replace(declared, placement=joint.child_placement, child_placement=joint.placement)
                ours, theirs = (coordinates(each, mechanism.poses) for each in (joint, declared))
                apart = np.exp(1j * ours) - np.exp(1j * theirs)  # up to whole turns
                assert np.abs(apart).max() < 1e-12, (cut, joint.name)


def test_kinds_of_the_mechanisms() -> None:
    used = {edge.kind for edges in MECHANISMS.values() for edge in edges}
    assert used == set(JOINT_KINDS) - {"fixed"}
