"""Merged bodies move as the separate ones did: the same equations, the same places of all names, nothing lost."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.algebra.groups import Pose, act, compose
from kinemorph.formats.loading import load_text
from kinemorph.mechanics.constraints.closures import constraint_error
from kinemorph.mechanics.recursions.articulated_bodies import forward_dynamics
from kinemorph.mechanics.recursions.composite_bodies import mass_matrix
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.recursions.newton_euler import bias_forces
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.changes.merge_fixed import merge_fixed
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import Box, Sphere
from support.robots.random_robots import random_pose, random_robot, random_states
from support.tools.each_case import each_case

SEEDS = [seed for seed in range(60) if any(joint.kind == "fixed" for joint in random_robot(seed).joints)][:16]


def poses(robot: Robot, q: list[float]) -> dict[str, np.ndarray]:
    """Where every body and frame is in the world, as the columns of [R p]."""
    tree = resolve(robot)
    names = list(tree.attachments)
    found = forward_kinematics(tree, q, names)
    return {name: np.column_stack([np.array(T.R), np.array(T.p)]) for name, T in zip(names, found, strict=True)}


def alike(one: Robot, other: Robot) -> None:
    """Both robots have one layout and one dynamics, and every name of the first has its place in the second."""
    assert (one.q_names, one.v_names, one.parameters) == (other.q_names, other.v_names, other.parameters)
    first, second = resolve(one), resolve(other)
    for q, v, _, tau in zip(*(x.tolist() for x in random_states(one, 5, 3)), strict=True):
        for function, args in ((mass_matrix, (q,)), (bias_forces, (q, v)), (forward_dynamics, (q, v, tau))):
            expected = np.array(function(first, *args))
            np.testing.assert_allclose(function(second, *args), expected, atol=1e-12 * max(1.0, np.abs(expected).max()))
        np.testing.assert_allclose(constraint_error(second, q), constraint_error(first, q), atol=1e-12)
        places = poses(other, q)
        for name, expected in poses(one, q).items():
            np.testing.assert_allclose(places[name], expected, atol=1e-12)


@pytest.mark.slow
@each_case("symbolic", [False, True])
@each_case("seed", SEEDS)
def test_merging_changes_no_motion(seed: int, symbolic: bool) -> None:
    robot = random_robot(seed, symbolic=symbolic)
    merged = merge_fixed(robot)
    alike(robot, merged)
    assert all(joint.kind != "fixed" or joint.parent == "world" for joint in merged.joints)
    moving = sum(joint.kind != "fixed" or joint.parent == "world" for joint in robot.joints)
    assert len(merged.bodies) == moving


def arm() -> RobotBuilder:
    """A moving arm with a chain of two bodies fixed to it."""
    rng = np.random.default_rng(2)
    builder = RobotBuilder("arm")
    builder.add(Body.box("base", 1.0, (1.0, 1.0, 1.0)), Body.box("arm", 2.0, (0.1, 0.2, 0.6), (0.0, 0.1, 0.3)))
    builder.body("flange", shapes=(Sphere(0.1, random_pose(rng)),), collisions=(Box((0.1, 0.1, 0.1)),))
    builder.add(Body.sphere("tool", 0.4, 0.1, (0.0, 0.3, 0.1)))
    builder.root("base").joint("elbow", "revolute", "base", "arm", translation=(0.0, 0.0, 0.5), axis=(0.0, 1.0, 0.0))
    builder.joint("mount", "fixed", "arm", "flange", placement=random_pose(rng))
    builder.joint("grip", "fixed", "flange", "tool", placement=random_pose(rng), child_placement=random_pose(rng))
    return builder.frame("tip", "tool", placement=random_pose(rng))


def test_shapes_go_along() -> None:
    robot = arm().build()
    merged = merge_fixed(robot)
    alike(robot, merged)
    assert [body.name for body in merged.bodies] == ["base", "arm"] and merged.total_mass == robot.total_mass
    body, mount = merged.body("arm"), robot.joint("mount").placement
    assert [type(shape).__name__ for shape in (*body.shapes, *body.collisions)] == ["Box", "Sphere", "Sphere", "Box"]
    assert body.shapes[1].placement == compose(mount, robot.body("flange").shapes[0].placement)
    assert body.collisions[0].placement == Pose(mount.R, act(mount, (0.0, 0.0, 0.0)))


def test_what_is_named_stays() -> None:
    robot = arm().build()
    by_body, by_joint = (merge_fixed(robot, keep=[name]) for name in ("tool", "grip"))
    assert by_body == by_joint and by_body.body_names == ("base", "arm", "tool")
    alike(robot, by_body)


def test_parameters_of_a_fixed_body_survive() -> None:
    mass, length = Parameter("m", 0.7, "kg"), Parameter("l", 0.3, "m")
    builder = arm().body("load", mass, com=(length, 0.0, 0.0), inertia=(mass * length * length,) * 3)
    builder.joint("hold", "fixed", "tool", "load", translation=(0.0, 0.0, 2.0 * length))
    merged = merge_fixed(builder.build())
    for values in ({"m": 0.0, "l": 1.0}, {"m": 3.0, "l": 0.1}):
        q, v = [0.4], [1.3]
        expected = mass_matrix(resolve(builder.build(), values), q), bias_forces(resolve(builder.build(), values), q, v)
        np.testing.assert_allclose(mass_matrix(resolve(merged, values), q), expected[0], rtol=1e-12)
        np.testing.assert_allclose(bias_forces(resolve(merged, values), q, v), expected[1], rtol=1e-12)


def test_loops_close_where_they_did() -> None:
    """One loop on merged bodies, and one between two that would become one body."""
    builder = arm().body("rod", 0.3, inertia=(0.1, 0.1, 0.1))
    builder.joint("swing", "spherical", "world", "rod").joint("close", "revolute", "tool", "rod", axis=(1.0, 0.0, 0.0))
    robot = builder.build()
    merged = merge_fixed(robot)
    alike(robot, merged)
    assert [loop.name for loop in merged.loops] == ["close"] and "tool" not in merged.body_names
    both = builder.joint("brace", "fixed", "arm", "tool").build()
    kept = merge_fixed(both)
    alike(both, kept)
    assert len(kept.loops) == 2 and all(loop.parent != loop.child for loop in kept.loops)


@pytest.mark.parametrize("declared", ["downward", "upward"])
def test_a_long_weld_is_one_body(declared: str) -> None:
    """Many fixed joints, in either order of declaration, and with parameters along the way."""
    shift = Parameter("d", 1e-3)
    builder = RobotBuilder("weld").body("b0", 1.0, inertia=(1.0, 1.0, 1.0)).joint("j0", "revolute", "world", "b0")
    numbers = range(1, 401)
    for n in numbers if declared == "downward" else reversed(numbers):
        builder.body(f"b{n}", 1e-3).joint(f"j{n}", "fixed", f"b{n - 1}", f"b{n}", translation=(shift, 0.0, 0.0))
    merged = merge_fixed(builder.build())
    assert merged.body_names == ("b0",) and len(merged.frames) == 400
    expected = 1.0 + 1e-3 * sum((n * 1e-3) ** 2 for n in numbers)
    np.testing.assert_allclose(mass_matrix(resolve(merged), [0.2])[0][0], expected, rtol=1e-11)


def test_loading_merges_on_demand() -> None:
    text = """<robot name="r"><link name="a"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="b"/><link name="t"/>
      <joint name="j" type="continuous"><parent link="b"/><child link="a"/><axis xyz="1 0 0"/></joint>
      <joint name="f" type="fixed"><parent link="a"/><child link="t"/><origin xyz="0 0 1"/></joint></robot>"""
    assert load_text(text, "urdf").robot.body_names == ("a", "b", "t")
    robot = load_text(text, "urdf", merge_fixed=True).robot
    assert robot.body_names == ("a", "b") and robot.frame("t").body == "a"


def test_a_loop_keeps_its_place_on_a_child_that_is_merged() -> None:
    rng = np.random.default_rng(5)
    builder = RobotBuilder("ring")
    for name in ("arm", "tool", "one", "two", "three"):
        builder.body(name, 1.0, com=(0.1, 0.0, 0.2), inertia=(0.1, 0.1, 0.1))
    builder.joint("turn", "revolute", "world", "arm").joint("weld", "fixed", "arm", "tool", placement=random_pose(rng))
    for parent, child in (("world", "one"), ("one", "two"), ("two", "three")):
        builder.joint(child, "spherical", parent, child, placement=random_pose(rng))
    places = {"placement": random_pose(rng), "child_placement": random_pose(rng)}
    robot = builder.joint("close", "revolute", "three", "tool", axis=(1.0, 0.0, 0.0), **places).build()
    merged = merge_fixed(robot)
    alike(robot, merged)
    assert merged.joint("close").child == "arm"
