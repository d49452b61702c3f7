"""URDF: what affects the motion in Gazebo or Drake either acts, or is told by name with its line."""

from __future__ import annotations

import pytest

from kinemorph.formats.findings import Findings
from kinemorph.formats.loading import Examination, examine_source
from kinemorph.formats.sources import Options, Source
from kinemorph.model.elements import TorsionSpring

MASS = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def examined(robot: str = "", collision: str = "") -> Examination:
    """What comes of a hinged link, with more text in <robot> or in the <collision> of the link."""
    text = (
        '<robot name="r" xmlns:drake="http://drake.mit.edu"><link name="a"/><link name="b">'
        f'{MASS}<collision>{collision}<geometry><box size="1 1 1"/></geometry></collision></link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>'
        f"{robot}</robot>"
    )
    return examine_source(Source("r.urdf", text.encode(), None), Findings("r.urdf"), Options())


def gazebo(text: str, reference: str = "b") -> str:
    return f'<gazebo reference="{reference}">{text}</gazebo>'


TOLD = {
    "turnGravityOff": gazebo("<turnGravityOff>true</turnGravityOff>"),
    "gravity": gazebo("<gravity>0</gravity>"),
    "selfCollide": gazebo("<selfCollide>true</selfCollide>"),
    "dampingFactor": gazebo("<dampingFactor>0.1</dampingFactor>"),
    "minDepth": gazebo("<minDepth>0.01</minDepth>"),
    "sensor> imu": gazebo('<sensor name="s" type="imu"/>'),
    "stopErp": gazebo("<stopErp>0.2</stopErp>", "j"),
    "plugin> libmotor.so": '<gazebo><plugin name="p" filename="libmotor.so"/></gazebo>',
    "springStiffness": gazebo("<springStiffness>-1</springStiffness>", "j"),
    "drake:ball_constraint": "<drake:ball_constraint/>",
}


@pytest.mark.parametrize("name", TOLD)
def test_what_does_not_act_is_told_by_name(name: str) -> None:
    found = examined(TOLD[name])
    assert found.system is not None
    assert [finding.rule for finding in found.findings] == ["dropped"]
    assert name in found.findings[0].problem and found.findings[0].line


def test_drakes_properties_of_contact_are_told() -> None:
    (finding,) = examined(
        collision='<drake:proximity_properties><drake:mu_dynamic value="1"/></drake:proximity_properties>'
    ).findings
    assert finding.rule == "dropped" and "proximity_properties" in finding.problem


@pytest.mark.parametrize(
    "text", ["<turnGravityOff>false</turnGravityOff>", "<gravity>1</gravity>", "<material>x</material>"]
)
def test_what_has_no_effect_in_gazebo_is_not_told(text: str) -> None:
    assert not examined(gazebo(text)).findings


def test_springs_of_gazebo_act() -> None:
    found = examined(gazebo("<springStiffness>3</springStiffness><springReference>0.2</springReference>", "j"))
    assert found.system is not None and not found.findings
    assert found.system.elements == (TorsionSpring("j spring", "j", 3.0, 0.2),)
