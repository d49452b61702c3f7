"""Older versions of SDF, slips that other readers forgive, and URDF inside SDF."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from kinemorph.deriving.dynamics import derive
from kinemorph.errors import ModelWarning, ParseError
from kinemorph.formats.loading import load, load_text
from support.robots.sdf_models import A, joint, link, model

# ── older versions, and URDF inside SDF ───────────────────────────────────────────────────────────────────────────────


def test_older_versions_have_the_meaning_of_1_4(tmp_path: Path) -> None:
    """sdformat converts SDF 1.2 to 1.4 without a change of links, joints and poses; its root element was <gazebo>."""
    arm = "<pose>0 0 1 0 0 0.3</pose>" + A + joint("j", "revolute", "world", "a", "<axis><xyz>1 0 0</xyz></axis>")
    robots = [
        load_text(model(arm, version=version).replace("sdf", root), "sdf").robot
        for version, root in (("1.4", "sdf"), ("1.3", "sdf"), ("1.2", "gazebo"), ("1.2", "sdf"))
    ]
    assert robots[0].joint("j").axis == (1.0, 0.0, 0.0) and all(robot == robots[0] for robot in robots)
    with pytest.raises(ParseError, match=r"the version is 1\.0, expected 1\.2 or newer"):
        load_text(model(arm, version="1.0"), "sdf")


def test_gravity_was_in_physics_up_to_1_5() -> None:
    world = "<sdf version='{}'><world name='w'><physics><gravity>0 0 -1.6</gravity></physics>{}</world></sdf>"
    inside = f"<model name='m'>{A}</model>"
    assert load_text(world.format("1.5", inside), "sdf").robot.gravity == (0.0, 0.0, -1.6)
    with pytest.warns(ModelWarning, match="SDF's default"):
        assert load_text(world.format("1.6", inside), "sdf").robot.gravity == (0.0, 0.0, -9.8)


@pytest.mark.parametrize(
    ("inside", "says"),
    [
        ("<velocity>1.4'</velocity>", '<velocity> is "1.4\'", expected a number: it is left out'),
        ("<effort>much</effort>", "<effort> is 'much', expected a number: it is left out"),
    ],
)
def test_a_wrong_limit_of_speed_or_effort_is_left_out(inside: str, says: str) -> None:
    axis = f"<axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1</upper>{inside}</limit></axis>"
    with pytest.warns(ModelWarning) as told:
        found = load_text(model(A + joint("j", "revolute", "world", "a", axis)), "sdf").robot.joint("j")
    assert says in str(told[0].message) and (found.velocity, found.effort) == ((math.inf,), (math.inf,))


def test_wrong_shapes_are_left_out() -> None:
    shape = "<visual name='v'><geometry><box><size>1 2</size></box></geometry></visual>"
    text = model(A.replace("</link>", f"{shape}{shape.replace('1 2', '1 2 3')}</link>"))
    with pytest.warns(ModelWarning, match="<size> is '1 2' with 2 numbers, expected 3: it is left out"):
        assert len(load_text(text, "sdf").robot.body("a").shapes) == 1


def test_the_first_of_two_poses_is_used() -> None:
    """Gazebo's Prius has visuals with two poses."""
    with pytest.warns(ModelWarning, match="<link> contains <pose> 2 times, expected once: the first one is used"):
        system = load_text(model(link("a", "<pose>1 0 0 0 0 0</pose><pose>2 0 0 0 0 0</pose>")), "sdf")
    assert system.settings.q[0] == 1.0


def test_a_urdf_may_be_included(tmp_path: Path) -> None:
    """sdformat reads URDF there, too. The robot is that of the URDF, at the pose of the <include>."""
    (tmp_path / "arm.urdf").write_text(
        '<robot name="arm"><link name="base"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link><link name="tip"><inertial><origin xyz="0 0 .2" rpy="0 .1 0"/>'
        '<mass value="2"/><inertia ixx=".1" iyy=".2" izz=".25" ixy=".01" ixz="0" iyz="0"/></inertial><visual>'
        '<origin xyz="0 0 .1"/><geometry><cylinder radius=".1" length=".4"/></geometry></visual></link>'
        '<joint name="j" type="revolute"><origin xyz=".1 .2 .3" rpy=".4 .5 .6"/><parent link="base"/>'
        '<child link="tip"/><axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="3" velocity="4"/>'
        '<dynamics damping=".5" friction=".6"/></joint></robot>'
    )
    (tmp_path / "world.sdf").write_text(model("<include><uri>arm.urdf</uri><pose>0 0 1 0 0 0</pose></include>"))
    found, alone = load(tmp_path / "world.sdf", base="fixed").robot, load(tmp_path / "arm.urdf").robot
    one, other = found.joint("arm::j"), alone.joint("j")
    assert (one.lower, one.upper, one.effort, one.velocity) == (other.lower, other.upper, other.effort, other.velocity)
    assert (one.damping, one.friction, one.axis) == (other.damping, other.friction, other.axis)
    q, v, tau = [0.7], [0.3], [0.2]
    poses = [derive(robot).pose(robot.body_names[-1])(q) for robot in (found, alone)]
    np.testing.assert_allclose(poses[0] - poses[1], [[0, 0, 0, 0]] * 2 + [[0, 0, 0, 1]] + [[0, 0, 0, 0]], atol=1e-14)
    moved = [derive(robot).forward_dynamics(q, v, tau) for robot in (found, alone)]
    np.testing.assert_allclose(moved[0], moved[1], rtol=1e-12)
    assert len(found.body("arm::tip").shapes) == 1
