"""Wrenches through joints in four references and in two parts (SEEDS.md 002-02, 002-03, 002-11).

Poses, joint twists and statics are computed here with NumPy and from the data of joints, not by the recursion.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.groups import translation
from kinemorph.analysis.loops.close_loops import close_loops
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.errors import ModelError, ShapeError, UnsupportedError
from kinemorph.mechanics.constraints.wrench_views import WORDS
from kinemorph.model import library
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import joint_twist
from kinemorph.model.driven import all_joints_free
from kinemorph.model.elements import JointFriction
from kinemorph.model.joint import JOINT_KINDS
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.notation import Coordinate
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.simulate_batch import simulate_batch
from support.references.free_bodies import in_world, joint_frames, needed_wrench
from support.robots.loop_robots import CLOSED, closed_state, looped
from support.robots.random_robots import random_robot, random_states, robot_of_kind
from support.tools.command_line import run

Array = np.ndarray
REFERENCES, PARTS = WORDS["reference"], WORDS["part"]


def frames_by_reference(robot: Robot, q: Array) -> dict[str, list[Array]]:
    """For each reference the pose (4, 4) in the world of its frame, for every joint and then every loop."""
    joints = (*robot.joints, *robot.loops)
    bodies = dict(zip(robot.body_names, derive(robot, backend="interpreter").forward_kinematics(q), strict=True))
    bodies["world"] = np.eye(4)
    on_child = joint_frames(robot, q)
    return {
        "joint": [on_child[joint.name] for joint in joints],
        "child": [bodies[joint.child] for joint in joints],
        "parent": [bodies[joint.parent] for joint in joints],
        "world": [np.eye(4) for _ in joints],
    }


def twist_in(T: Array, twist: Array) -> Array:
    """A twist in world axes about the world's origin, as seen from the frame with the pose T in the world."""
    R, p = T[:3, :3], T[:3, 3]
    return np.concatenate([R.T @ (twist[:3] + np.cross(twist[3:], p)), R.T @ twist[3:]])


def twist_out(T: Array, twist: Array) -> Array:
    """The inverse of `twist_in`."""
    R, p = T[:3, :3], T[:3, 3]
    return np.concatenate([R @ twist[:3] + np.cross(p, R @ twist[3:]), R @ twist[3:]])


def views(dynamics: Dynamics, *state: Any) -> dict[tuple[str, str], Array]:
    return {
        (reference, part): dynamics.joint_wrenches(*state, reference=reference, part=part)
        for reference in REFERENCES
        for part in PARTS
    }


def check_views(robot: Robot, found: dict[tuple[str, str], Array], q: Array, v: Array, felt: Array) -> None:
    """All views are one wrench, in two parts; the joints of the tree have the power felt . v in each reference."""
    frames = frames_by_reference(robot, q)
    scale = max(np.abs(found["world", "whole"]).max(), np.abs(found["joint", "whole"]).max())
    for reference in REFERENCES:
        whole, actuation, constraint = (found[reference, part] for part in PARTS)
        assert np.abs(actuation + constraint - whole).max() < 1e-13 * scale
        power = 0.0
        for k, joint in enumerate((*robot.joints, *robot.loops)):
            T, on_child = frames[reference][k], frames["joint"][k]
            for part in PARTS:
                moved = in_world(T, found[reference, part][k])
                assert np.abs(moved - in_world(on_child, found["joint", part][k])).max() < 1e-12 * scale
            if k >= len(robot.joints):
                assert not actuation[k].any()
                continue
            at_q, at_v = q[robot.q_slice(joint.name)], v[robot.v_slice(joint.name)]
            for unit in np.eye(joint.nv):
                axis = twist_in(T, twist_out(on_child, np.array(joint_twist(joint, at_q, unit))))
                assert abs(axis @ constraint[k]) < 1e-12 * scale
            if joint.nv:
                twist = twist_in(T, twist_out(on_child, np.array(joint_twist(joint, at_q, at_v))))
                assert abs(twist @ constraint[k]) < 1e-12 * scale * max(1.0, np.abs(twist).max())
                power += twist @ actuation[k]
        assert power == pytest.approx(felt @ v, rel=1e-11, abs=1e-11 * scale)


def without_rotors(robot: Robot, tau: Array, a: Array) -> Array:
    rotors = np.concatenate([np.zeros(0), *(np.array(joint.armature, float) for joint in robot.joints)])
    return tau - rotors * a


@pytest.mark.parametrize("kind", JOINT_KINDS)
def test_every_kind_of_joint_in_every_view(kind: str) -> None:
    robot = robot_of_kind(kind, chained=True)
    q, v, a, _ = (rows[0] for rows in random_states(robot, 3, 1))
    dynamics = derive(robot, backend="interpreter")
    felt = without_rotors(robot, dynamics.inverse_dynamics(q, v, a), a)
    check_views(robot, views(dynamics, q, v, a), q, v, felt)


@pytest.mark.parametrize("seed", [4, 9])
def test_trees_with_outside_wrenches_in_every_view(seed: int) -> None:
    robot = random_robot(seed, most=12)
    q, v, a, _ = (rows[0] for rows in random_states(robot, seed, 1))
    push = np.array([[1.0, -2.0, 3.0, 0.3, 0.1, -0.2]])
    dynamics = derive(robot, wrenches="tool", backend="interpreter")
    felt = without_rotors(robot, dynamics.inverse_dynamics(q, v, a, push), a)
    check_views(robot, views(dynamics, q, v, a, push), q, v, felt)


@pytest.mark.parametrize("kind", ["universal", pytest.param("helical", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_loops_in_every_view(kind: str) -> None:
    robot = looped(kind, 4, couple=True)
    q, v = closed_state(looped(kind, 4), 1)
    tau = np.linspace(-3.0, 4.0, robot.nv)
    dynamics = derive(robot, backend="interpreter")
    a = dynamics.forward_dynamics(q, v, tau)
    coupled = dynamics.constraint_forces(q, v, tau)[0][-1] * dynamics.constraint_jacobian(q)[-1]
    felt = without_rotors(robot, tau + coupled, a)
    check_views(robot, views(dynamics, q, v, a, tau), q, v, felt)


@pytest.mark.parametrize("name", ["four_bar", "bricard", "jansen"])
@pytest.mark.slow
def test_wrenches_in_the_world_balance_at_every_body(name: str) -> None:
    """Sums need no change of frame: each joint pushes its child, and its parent with the opposite."""
    made: Any = getattr(library, name)()
    system = made if isinstance(made, System) else System(made)
    robot, rng = system.robot, np.random.default_rng(2)
    dynamics = derive(robot, backend="interpreter")
    q = close_loops(system, system.initial_state()[0]).q
    J, tau = dynamics.constraint_jacobian(q), rng.normal(size=robot.nv)
    v = rng.normal(size=robot.nv)
    v -= np.linalg.pinv(J, 1e-9) @ (J @ v)
    a = dynamics.forward_dynamics(q, v, tau)
    found = dynamics.joint_wrenches(q, v, a, tau, reference="world")
    joints = (*robot.joints, *robot.loops)
    for body in robot.bodies:
        into = sum(row for joint, row in zip(joints, found, strict=True) if joint.child == body.name)
        out = sum(row for joint, row in zip(joints, found, strict=True) if joint.parent == body.name)
        assert np.abs(into - out - needed_wrench(robot, body, q, v, a)).max() < 1e-10 * np.abs(found).max()


def test_a_held_beam_by_hand() -> None:
    """A beam of 2 kg with its center 0.5 m from a hinge along -y, turned up by a right angle; its frame is 0.1 m
    before the hinge. A plate of 1 kg is welded to its end, and its origin is 0.2 m below that end.
    """
    builder = RobotBuilder("held").add(Body("beam", 2.0, (0.6, 0.0, 0.0)), Body("plate", 1.0))
    at_hinge: Any = {"translation": (1.0, 0.0, 0.5), "axis": (0.0, -1.0, 0.0)}
    builder.joint("hinge", "revolute", "world", "beam", child_placement=translation((0.1, 0.0, 0.0)), **at_hinge)
    builder.joint("weld", "fixed", "beam", "plate", translation=(1.1, 0.0, -0.2))
    dynamics = derive(builder.build(), backend="interpreter")
    g, up, level = 9.81, [0.5 * np.pi], [0.0]

    def at(q: list[float], **view: str) -> Array:
        found: Array = dynamics.joint_wrenches(q, [0.0], [0.0], **view).round(12)
        return found

    # level: the weights pull down at x = 1.5 m and x = 2.0 m, at the height of 0.5 m and 0.3 m
    np.testing.assert_allclose(at(level, reference="world")[0], [0, 0, 3 * g, 0, -(2 * 1.5 + 2.0) * g, 0])
    np.testing.assert_allclose(at(level, reference="parent")[0], at(level, reference="world")[0])
    np.testing.assert_allclose(at(level, reference="joint")[0], [0, 0, 3 * g, 0, -(2 * 0.5 + 1.0) * g, 0])
    np.testing.assert_allclose(at(level, reference="child")[0], [0, 0, 3 * g, 0, -(2 * 0.6 + 1.1) * g, 0])
    np.testing.assert_allclose(at(level, part="actuation")[0], [0, 0, 0, 0, -2 * g, 0])
    np.testing.assert_allclose(at(level, part="constraint")[0], [0, 0, 3 * g, 0, 0, 0])
    np.testing.assert_allclose(at(level, reference="child", part="actuation")[0], [0, 0, 0, 0, -2 * g, 0])
    np.testing.assert_allclose(at(level, reference="parent")[1], [0, 0, g, 0, -1.1 * g, 0])
    np.testing.assert_allclose(at(level, reference="world")[1], [0, 0, g, 0, -2.0 * g, 0])
    # up: x of the beam is z of the world, z of the beam is -x; the plate is at x = 1.2 m, the beam at x = 1
    np.testing.assert_allclose(at(up, reference="world")[0], [0, 0, 3 * g, 0, -(2 * 1.0 + 1.2) * g, 0])
    np.testing.assert_allclose(at(up, reference="child")[0], [3 * g, 0, 0, 0, -0.2 * g, 0])
    np.testing.assert_allclose(at(up, reference="parent")[1], [g, 0, 0, 0, -0.2 * g, 0])
    np.testing.assert_allclose(at(up, reference="child")[1], [g, 0, 0, 0, 0, 0])
    np.testing.assert_allclose(at(up, part="actuation"), [[0, 0, 0, 0, -0.2 * g, 0], [0] * 6], atol=1e-12)


def test_the_hinges_of_a_universal_joint_need_not_be_perpendicular() -> None:
    """The actuation lies in the plane of both hinges, and has their powers; the bearing bears the moment across it."""
    second = (0.6, 0.0, 0.8)
    builder = RobotBuilder("askew").add(Body("body", 1.0, (0.1, 0.2, 0.3)))
    builder.joint("j", "universal", "world", "body", axis=(0.0, 0.0, 1.0), axis2=second)
    dynamics = derive(builder.build(), backend="interpreter")
    q, v, a = [0.3, -0.8], [0.4, 0.2], [1.0, -2.0]
    actuation, constraint = (dynamics.joint_wrenches(q, v, a, part=part)[0] for part in PARTS[1:])
    K = np.array([[0, -0.8, 0], [0.8, 0, -0.6], [0, 0.6, 0]])  # of the second axis
    first = (np.eye(3) + np.sin(0.8) * K + (1 - np.cos(0.8)) * K @ K) @ [0.0, 0.0, 1.0]  # turned back by q2
    assert not actuation[:3].any() and abs(np.cross(first, second) @ actuation[3:]) < 1e-12
    np.testing.assert_allclose(constraint[3:] @ np.transpose([first, second]), 0.0, atol=1e-12)
    felt = actuation[3:] @ np.transpose([first, second])
    np.testing.assert_allclose(felt, dynamics.inverse_dynamics(q, v, a), atol=1e-12)


def test_a_screw_is_turned_and_not_pushed() -> None:
    robot = robot_of_kind("helical", chained=False)
    q, v, a, _ = (rows[0] for rows in random_states(robot, 3, 1))
    dynamics = derive(robot, backend="interpreter")
    actuation = dynamics.joint_wrenches(q, v, a, part="actuation")[0]
    felt = without_rotors(robot, dynamics.inverse_dynamics(q, v, a), a)
    np.testing.assert_allclose(actuation, [0, 0, 0, *np.multiply(robot.joints[0].axis, felt)], atol=1e-11)


# ── functions, batches, exported code, runs ───────────────────────────────────────────────────────────────────────────


def test_functions_and_values_are_called_like_those_of_frames() -> None:
    dynamics = derive(library.double_pendulum(), backend="interpreter")
    q, v, a = np.random.default_rng(1).normal(size=(3, 5, 2))
    default, seen = dynamics.joint_wrenches(), dynamics.joint_wrenches("world", "constraint")
    assert default is dynamics.joint_wrenches("joint") and default.name == "double_pendulum.joint_wrenches"
    assert seen.name == "double_pendulum.joint_wrenches[world, constraint]"
    assert np.array_equal(seen(q, v, a), dynamics.joint_wrenches(q, v, a, reference="world", part="constraint"))
    assert np.array_equal(seen(q, v, a)[3], dynamics.joint_wrenches(q[3], v[3], a[3], "world", "constraint"))
    by_q = dynamics.derivative("joint_wrenches", "q")(q[0], v[0], a[0])
    step = np.array([0.0, 1e-6])
    change = (default(q[0] + step, v[0], a[0]) - default(q[0] - step, v[0], a[0])) / 2e-6
    np.testing.assert_allclose(by_q[..., 1], change, atol=1e-7)
    with pytest.raises(UnsupportedError, match="the reference is 'base', expected one of joint, child"):
        dynamics.joint_wrenches(q, v, a, reference="base")
    with pytest.raises(UnsupportedError, match="the part is 'drive', expected one of whole"):
        dynamics.joint_wrenches(part="drive")  # type: ignore[call-overload]
    with pytest.raises(ShapeError, match="no frame is named"):
        dynamics.pose(q)
    with pytest.raises(UnsupportedError, match=r"dynamics\.joint_wrenches\(\)"):
        dynamics.derivative(dynamics.joint_wrenches, "q")  # type: ignore[arg-type]


@pytest.mark.slow
def test_exported_code_has_the_views() -> None:
    robot = library.four_bar()
    tau = np.array([0.3, -0.2, 0.1])
    a = derive(robot, backend="interpreter").forward_dynamics(CLOSED, 0.0 * tau, tau)
    push = np.array([[1.0, -2.0, 3.0, 0.3, 0.1, -0.2]])
    found = [
        derive(robot, wrenches="rocker", backend=backend).joint_wrenches("parent", "constraint")(  # type: ignore[arg-type]
            CLOSED, 0.0 * tau, a, tau, push
        )
        for backend in ("interpreter", "c")
    ]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-11, atol=1e-11)


@pytest.mark.slow
def test_runs_and_batches_have_the_views() -> None:
    robot = library.double_pendulum()
    system = System(robot, (JointFriction("rub", ("q2",), viscous=0.3),))
    batch = simulate_batch(system, 0.2, q=[[0.3, 0.1], [-0.5, 1.0]], output_step=0.1)
    one = batch[1]
    dynamics = derive(robot, backend="interpreter")
    for reference, part in (("world", "whole"), ("parent", "constraint"), ("child", "actuation")):
        expected = dynamics.joint_wrenches(one.q, one.v, one.a, reference, part)[:, 1]
        np.testing.assert_allclose(one.reactions("q2", reference, part), expected, atol=1e-9)  # type: ignore[arg-type]
        np.testing.assert_allclose(batch.reactions("q2", reference, part)[1], expected, atol=1e-9)  # type: ignore[arg-type]
    about = one.reactions("q2", part="actuation")
    np.testing.assert_allclose(about[:, 3:] @ robot.joint("q2").axis, -0.3 * one.v[:, 1], atol=1e-9)
    assert batch.reactions("q1").shape == (2, 3, 6)
    with pytest.raises(ModelError, match="has no joint 'q3'"):
        batch.reactions("q3")
    with pytest.raises(UnsupportedError, match="the part is 'motor'"):
        one.reactions("q1", part="motor")  # type: ignore[arg-type]


def test_the_drive_of_a_driven_joint_is_its_actuation() -> None:
    """The wrenches are those of the robot in which the joint is free and moves alike, with a motor in it."""
    lead = Coordinate("lead", 0.3, "rad")
    builder = RobotBuilder("follower").add(Body.box("a", 1.0, (0.1, 0.2, 1.0)), Body.box("b", 2.0, (0.3, 0.1, 0.8)))
    builder.joint("lead", "revolute", "world", "a", axis=(1.0, 0.0, 0.0))
    builder.joint("led", "revolute", "a", "b", axis=(0.0, 1.0, 0.0), translation=(0, 0, 0.5), driven=2.0 * lead)
    robot = builder.build()
    driven, free = (derive(one, backend="interpreter") for one in (robot, all_joints_free(robot)))
    q, v, a = np.array([0.3]), np.array([1.2]), np.array([-0.4])
    every = [np.concatenate([x, 2.0 * x]) for x in (q, v, a)]
    for key, wrenches in views(driven, q, v, a).items():
        np.testing.assert_allclose(wrenches, free.joint_wrenches(*every, *key), atol=1e-11)
    motor = driven.joint_wrenches(q, v, a, part="actuation")[1]
    assert motor[4] == pytest.approx(free.inverse_dynamics(*every)[1], rel=1e-11) and abs(motor[4]) > 0.01
    moved = simulate(robot, 0.1, q=q, v=v, output_step=0.05)
    assert moved.reactions("led", "world", "actuation").shape == (3, 6)


def test_the_command_line_exports_the_views() -> None:
    words = ("--function", "joint_wrenches", "--reference", "world", "--part", "constraint")
    code = run("derive", "pendulum", *words, "--emit", "c").stdout
    assert "joint_wrenches[world, constraint]" in code and "pendulum_joint_wrenches_world_constraint(" in code
    assert "the reference is 'base'" in run("derive", "pendulum", *words[:2], "--reference", "base").stderr
    assert "--part is 'constraint', but joint_wrenches is not named" in run("derive", "crane", *words[4:]).stderr
