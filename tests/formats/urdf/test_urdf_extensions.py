"""URDF with more than links and joints: loops of three dialects, sidecars, transmissions, frames, foreign tags."""

from __future__ import annotations

import math
import warnings

import pytest

from kinemorph.formats.loading import load, load_text
from kinemorph.model.elements import Actuator
from support.texts.urdf_texts import CHAIN, LIMIT, arm, joint, link, only, robot, sound

LOOPS = [
    '<loop_joint name="l" type="continuous"><link1 link="a" xyz="1 0 0"/><link2 link="c" xyz="0 1 0" rpy="0 0 1"/>'
    '<axis xyz="0 0 1"/></loop_joint>',
    '<loop name="l" type="continuous"><predecessor link="a"><origin xyz="1 0 0"/></predecessor>'
    '<successor link="c"><origin xyz="0 1 0" rpy="0 0 1"/></successor><axis xyz="0 0 1"/></loop>',
    '<constraint name="l" type="continuous"><parent link="a"/><parent_origin xyz="1 0 0"/>'
    '<parent_axis xyz="0 0 1"/><child link="c"/><child_origin xyz="0 1 0" rpy="0 0 1"/></constraint>',
]


@pytest.mark.parametrize("loop", LOOPS)
def test_loops_of_three_dialects_are_read_and_leave_the_tree_as_it_is(loop):
    model = sound(robot(*CHAIN, loop)).robot
    assert model.joint_names == ("a_root", "j", "k")
    (closing,) = model.loops
    assert (closing.kind, closing.parent, closing.child, closing.axis) == ("revolute", "c", "a", (0.0, 0.0, 1.0))
    assert closing.placement.p == (0.0, 1.0, 0.0) and closing.child_placement.p == (1.0, 0.0, 0.0)
    assert closing.placement.R[0][0] == math.cos(1.0)


def test_loops_that_say_too_little_are_refused():
    no_end = '<loop_joint name="l" type="fixed"><link1 link="a"/></loop_joint>'
    assert "<link2> is missing" in only(robot(*CHAIN, no_end), "error", "structure").problem
    lost = '<loop_joint name="l" type="fixed"><link1 link="a"/><link2 link="cc"/></loop_joint>'
    assert "'cc'" in only(robot(*CHAIN, lost), "error", "name").problem
    idle = '<loop_joint name="l" type="floating"><link1 link="a"/><link2 link="c"/></loop_joint>'
    only(robot(*CHAIN, idle), "error", "loop")


def test_a_sidecar_closes_loops_and_may_carry_the_root(tmp_path):
    (tmp_path / "arm.urdf").write_text(robot(*CHAIN))
    (tmp_path / "arm.sidecar.toml").write_text(
        'kinemorph = 1\n[joints.close]\nkind = "revolute"\nparent = "c"\nchild = "a"\n'
        '[joints.drive]\nkind = "planar"\nparent = "world"\nchild = "a"\n'
    )
    model = load(tmp_path / "arm.urdf").robot
    assert [loop.name for loop in model.loops] == ["close"]
    assert model.joint_names == ("j", "k", "drive") and model.joint("drive").kind == "planar"


def test_transmissions_are_actuators_and_mixed_ones_are_named():
    new = (
        '<transmission name="t"><type>x</type><joint name="j"/><actuator name="m">'
        "<mechanicalReduction>50</mechanicalReduction></actuator></transmission>"
    )
    assert sound(robot(*CHAIN, new)).elements == (Actuator("m", "j", 50.0),)
    old = (
        '<transmission name="t"><actuator name="m"/><joint name="k"/>'
        "<mechanicalReduction>-3.5</mechanicalReduction></transmission>"
    )
    assert sound(robot(*CHAIN, old)).elements == (Actuator("m", "k", -3.5),)
    mixed = '<transmission name="t"><joint name="j"/><joint name="k"/><actuator name="m"/></transmission>'
    only(robot(*CHAIN, mixed), "warning", "dropped")
    lost = '<transmission name="t"><joint name="nobody"/><actuator name="m"/></transmission>'
    only(robot(*CHAIN, lost), "warning", "name")


def test_fixed_frames_are_frames():
    frame = '<fixed_frame name="tool"><parent link="b"/><origin xyz="0 0 1"/></fixed_frame>'
    (read_frame,) = sound(robot(*CHAIN, frame)).robot.frames
    assert (read_frame.name, read_frame.body, read_frame.placement.p) == ("tool", "b", (0.0, 0.0, 1.0))


def test_tags_of_other_programs_are_passed_over():
    inside = LIMIT + '<safety_controller k_velocity="1"/><calibration rising="0"/>'
    text = arm(inside).replace("</robot>", "<gazebo><x/></gazebo><!-- so --><ros2_control/></robot>")
    sound(text)


def test_a_loop_that_is_read_backwards_swaps_the_axes_of_a_universal_joint():
    """It is declared from the link farther from the root, which is the second one here."""
    axes = '<axis xyz="1 0 0"/><axis2 xyz="0 1 0"/>'
    ends = '<link1 link="a" xyz="1 2 3"/><link2 link="c" xyz="4 5 6"/>'
    loop = f'<loop_joint name="l" type="universal">{ends}{axes}</loop_joint>'
    tree = joint("i", "continuous", "a", "b"), joint("j", "continuous", "b", "c", '<origin xyz="1 0 0"/>')
    (closed,) = sound(robot(link("a"), link("b"), link("c"), *tree, loop)).robot.loops
    assert (closed.parent, closed.child) == ("c", "a")
    assert (closed.placement.p, closed.child_placement.p) == ((4.0, 5.0, 6.0), (1.0, 2.0, 3.0))
    assert (closed.axis, closed.axis2) == ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0))


@pytest.mark.parametrize("declared", ["", ' xmlns:drake="http://drake.mit.edu"'])
def test_rotor_inertias_of_drake_are_armature(declared):
    """The inertia seen at the joint is that of the rotor times the square of the gear ratio."""
    rotor = '<drake:gear_ratio value="100"/><drake:rotor_inertia value="2e-4"/>'
    drive = f'<transmission name="t"><joint name="j"/><actuator name="motor">{rotor}</actuator></transmission>'
    text = robot(link("a"), link("b"), joint("j", "continuous", "a", "b"), drive)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the prefix may be missing
        system = load_text(text.replace('name="r"', f'name="r"{declared}', 1), "urdf")
    assert system.robot.joint("j").armature == pytest.approx((2.0,))
    assert system.elements == (Actuator("motor", "j", inertia=2e-4),)
