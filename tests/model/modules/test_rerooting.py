"""Rerooting: the same bodies move the same way, whichever body is called the base (requirement 000-16)."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.algebra.groups import matrix_of, turn
from kinemorph.algebra.rotations import rotation
from kinemorph.errors import ModelError, ShapeError
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.building.reversed_joint import ONE_WAY, reversed_joint
from kinemorph.model.changes.reroot import body_motion, reroot
from kinemorph.model.configuration import random_configuration
from kinemorph.model.joint import JOINT_KINDS
from kinemorph.model.library import hexapod24, puma
from kinemorph.model.robot import Robot

KINDS = [kind for kind in JOINT_KINDS if kind not in ONE_WAY]
AXIS, AXIS2 = (0.48, 0.6, 0.64), (0.8, 0.0, -0.6)
POSE = turn(rotation(AXIS2, 0.7))._replace(p=(0.1, -0.2, 0.3))


def long_chain() -> RobotBuilder:
    """A free base, then one body on every kind of joint in a row, with skew axes and placements; a branch half way."""
    builder = RobotBuilder("row").add(Body.box("base", 1.0, (0.3, 0.2, 0.1)))
    builder.root("base", "free", POSE, child_placement=POSE)
    parent = "base"
    for kind in KINDS:
        builder.add(Body.box(kind, 1.0, (0.3, 0.2, 0.1), (0.1, 0.2, 0.3)))
        axis = (0.0, 0.0, 1.0) if kind == "planar" else AXIS
        pitch = 0.3 if kind == "helical" else 0.0
        builder.joint(
            f"{kind}_joint",
            kind,
            parent,
            kind,
            axis=axis,
            axis2=AXIS2,
            pitch=pitch,
            placement=POSE,
            child_placement=POSE,
        )
        parent = kind
    builder.add(Body.box("branch", 1.0, (0.3, 0.2, 0.1)))
    return builder.joint("branch_joint", "revolute", "helical", "branch", axis=AXIS, placement=POSE)


@pytest.fixture(scope="module")
def row() -> Robot:
    return long_chain().build()


@pytest.mark.parametrize("base", ["fixed", "planar", "branch", "universal", "base"])
def test_every_body_keeps_its_pose_and_twist(row: Robot, base: str) -> None:
    rng = np.random.default_rng(1)
    q, v = random_configuration(row, rng), rng.normal(size=row.nv)
    other, carry = reroot(row, base)
    new_q, new_v = carry(q, v)
    assert other.parent_joint[base].parent == "world" and other.joint_names == row.joint_names
    for body in row.body_names:
        (T, V), (new_T, new_V) = body_motion(row, body, q, v), body_motion(other, body, new_q, new_v)
        assert np.allclose(matrix_of(T), matrix_of(new_T), atol=1e-12)
        assert np.allclose(V, new_V, atol=1e-11)


def test_the_way_back_gives_the_same_state_and_robot(row: Robot) -> None:
    rng = np.random.default_rng(2)
    q, v = random_configuration(row, rng), rng.normal(size=row.nv)
    other, carry = reroot(row, "branch")
    back_q, back_v = carry.inverse()(*carry(q, v))
    flips = [np.sign(back_q[row.q_slice(name)] @ q[row.q_slice(name)]) for name in ("base_root", "spherical_joint")]
    assert np.allclose(back_v, v, atol=1e-11)
    for name in row.joint_names:  # up to the sign of a quaternion
        here, there = q[row.q_slice(name)], back_q[row.q_slice(name)]
        same = np.allclose(here, there, atol=1e-11)
        assert same or (len(here) in (4, 7) and np.allclose(here[-4:], -there[-4:], atol=1e-11)), (name, flips)
    home, _ = reroot(other, "base")
    assert [joint for joint in home.joints if joint.kind != "free"] == [j for j in row.joints if j.kind != "free"]


@pytest.mark.parametrize("kind", KINDS)
def test_reversing_twice_changes_nothing(row: Robot, kind: str) -> None:
    joint = row.joint(f"{kind}_joint")
    assert reversed_joint(reversed_joint(joint)) == joint


@pytest.mark.parametrize("kind", ONE_WAY)
def test_a_line_or_plane_cannot_be_turned_round(kind: str) -> None:
    builder = RobotBuilder("r").add(*(Body.box(name, 1.0, (0.3, 0.2, 0.1)) for name in "ab")).root("a", "free")
    with pytest.raises(
        ModelError, match=f"'j': a {kind} joint cannot be reversed, because its line or plane belongs to 'a'"
    ):
        reroot(builder.joint("j", kind, "a", "b").build(), "b")


def test_simple_joints_keep_their_coordinates() -> None:
    robot = hexapod24()
    rng = np.random.default_rng(3)
    q, v = random_configuration(robot, rng), rng.normal(size=robot.nv)
    other, carry = reroot(robot, "leg2_shank")
    new_q, new_v = carry(q, v)
    assert np.array_equal(new_q[7:], q[7:]) and np.array_equal(new_v[6:], v[6:])
    assert other.joint("leg2_hip_joint").axis == (0.0, 0.0, -1.0)
    assert np.array_equal(other.q_lower, robot.q_lower)


def test_gimbal_data_change_places_and_signs() -> None:
    builder = RobotBuilder("u").add(Body.box("a", 1.0, (0.3, 0.2, 0.1)), Body.box("b", 1.0, (0.3, 0.2, 0.1)))
    limits = {"lower": (-1, -2, -0.5), "upper": (3, 4, 5), "damping": (0.1, 0.2, 0.3)}
    builder.root("a", "free").joint("j", "gimbal", "a", "b", order="zxy", **limits)
    turned = reroot(builder.build(), "b")[0].joint("j")
    assert (turned.order, turned.damping) == ("yxz", (0.3, 0.2, 0.1))
    assert (turned.lower, turned.upper) == ((-5.0, -4.0, -3.0), (0.5, 2.0, 1.0))


def test_universal_data_change_places() -> None:
    builder = RobotBuilder("u").add(Body.box("a", 1.0, (0.3, 0.2, 0.1)), Body.box("b", 1.0, (0.3, 0.2, 0.1)))
    builder.root("a", "free").joint("j", "universal", "a", "b", lower=(-1, -2), upper=(3, 4), damping=(0.1, 0.2))
    turned = reroot(builder.build(), "b")[0].joint("j")
    assert (turned.lower, turned.upper, turned.damping) == ((-2.0, -1.0), (4.0, 3.0), (0.2, 0.1))
    assert (turned.axis, turned.axis2) == ((-1.0, 0.0, 0.0), (0.0, 0.0, -1.0))


def test_loops_stay_cut_where_they_were() -> None:
    builder = long_chain().joint("tie", "spherical", "base", "fixed")
    robot = builder.build()
    other, carry = reroot(robot, robot.loops[0].parent)
    assert other.loops == robot.loops and carry.target is other


def test_a_welded_tree_keeps_its_base() -> None:
    with pytest.raises(
        ModelError,
        match=r"'link3' cannot be the base: .*root joint 'joint1' of its tree is revolute.*root\('link1', 'free'\)",
    ):
        reroot(puma(), "link3")
    with pytest.raises(ModelError, match="'world'"):
        reroot(puma(), "world")


@pytest.mark.parametrize(
    ("kind", "data", "word"),
    [
        ("spherical", {"damping": (1.0, 2.0, 1.0)}, "damping"),
        ("spherical", {"friction": 0.1}, "friction"),
        ("planar", {"damping": 0.1}, "damping"),
        ("planar", {"upper": (1.0, 1.0, 1.0)}, "limits on x and y"),
        ("spherical", {"damping": 0.1, "armature": 0.2}, None),
        ("planar", {"upper": (np.inf, np.inf, 1.0), "damping": (0, 0, 0.5)}, None),
    ],
)
def test_data_without_a_counterpart_are_refused(kind: str, data: dict[str, object], word: str | None) -> None:
    builder = RobotBuilder("r").add(Body.box("a", 1.0, (0.3, 0.2, 0.1)), Body.box("b", 1.0, (0.3, 0.2, 0.1)))
    robot = builder.root("a", "free").joint("j", kind, "a", "b", **data).build()  # type: ignore[arg-type]
    if word is None:
        other, _ = reroot(robot, "b")
        assert kind != "planar" or other.joint("j").lower[2] == -1.0
    else:
        with pytest.raises(ModelError, match=f"joint 'j': .*{word}"):
            reroot(robot, "b")


def test_states_of_the_wrong_shape_are_refused(row: Robot) -> None:
    with pytest.raises(ShapeError, match="expected"):
        reroot(row, "branch")[1](np.zeros(3), np.zeros(row.nv))
