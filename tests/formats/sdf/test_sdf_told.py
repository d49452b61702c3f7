"""SDF: what affects the motion in Gazebo or Drake either acts, or is told by name with its line."""

from __future__ import annotations

import pytest

from kinemorph import load_text, simulate
from kinemorph.formats.findings import Findings
from kinemorph.formats.loading import Examination, examine_source
from kinemorph.formats.sources import Options, Source

MASS = "<inertial><mass>2</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
BOX = "<geometry><box><size>1 1 1</size></box></geometry>"


def written(
    link: str = "", collision: str = "", limit: str = "", joint: str = "", model: str = "", geometry: str = BOX
) -> str:
    """A world with a hinged link, with more text at these places."""
    return (
        f'<sdf version="1.11" xmlns:drake="http://drake.mit.edu"><world name="w"><gravity>0 0 -9.8</gravity>'
        f'<model name="m">{model}<link name="a">{MASS}{link}'
        f'<collision name="c">{geometry}{collision}</collision></link>'
        f'<joint name="j" type="prismatic"><parent>world</parent><child>a</child>'
        f"<axis><xyz>0 0 1</xyz><limit><lower>-9</lower><upper>9</upper>{limit}</limit></axis>{joint}</joint>"
        "</model></world></sdf>"
    )


def examined(text: str) -> Examination:
    findings = Findings("m.sdf")
    return examine_source(Source("m.sdf", text.encode(), None), findings, Options())


def surface(text: str) -> str:
    return written(collision=f"<surface>{text}</surface>")


TOLD = {
    "restitution_coefficient": surface("<bounce><restitution_coefficient>.5</restitution_coefficient></bounce>"),
    "fdir1": surface("<friction><ode><fdir1>1 0 0</fdir1></ode></friction>"),
    "slip1": surface("<friction><ode><slip1>0.1</slip1></ode></friction>"),
    "rolling_friction": surface("<friction><bullet><rolling_friction>.1</rolling_friction></bullet></friction>"),
    "torsional": surface("<friction><torsional><coefficient>0.2</coefficient></torsional></friction>"),
    "collide_without_contact": surface("<contact><collide_without_contact>true</collide_without_contact></contact>"),
    "min_depth": surface("<contact><ode><min_depth>0.01</min_depth></ode></contact>"),
    "soft_contact": surface("<soft_contact><dart><stiffness>9</stiffness></dart></soft_contact>"),
    "drake:proximity_properties": written(collision="<drake:proximity_properties/>"),
    "heightmap": written(geometry="<geometry><heightmap><uri>h.png</uri></heightmap></geometry>"),
    "sensor of type 'contact'": written(link='<sensor name="s" type="contact"/>'),
    "sensor of type 'force_torque'": written(joint='<sensor name="s" type="force_torque"/>'),
    "self_collide": written(model="<self_collide>true</self_collide>"),
    "enable_wind": written(link="<enable_wind>1</enable_wind>"),
    "stiffness": written(limit="<stiffness>1e3</stiffness>"),
    "dissipation": written(limit="<dissipation>3</dissipation>"),
    "cfm": written(joint="<physics><ode><limit><cfm>0.1</cfm></limit></ode></physics>"),
}  # fmt: skip
IDLE = {
    "defaults": surface("<bounce><restitution_coefficient>0</restitution_coefficient></bounce><contact/>"),
    "friction": surface("<friction><ode><mu>0.4</mu><mu2>0.4</mu2></ode></friction>"),
    "feedback": written(joint="<physics><provide_feedback>1</provide_feedback></physics>"),
    "limit": written(limit="<stiffness>1e8</stiffness><dissipation>1</dissipation>"),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_does_not_act_is_told_by_name(name: str) -> None:
    found = examined(TOLD[name])
    assert found.system is not None
    assert [finding.rule for finding in found.findings] == ["dropped"]
    assert name in found.findings[0].problem and found.findings[0].line


@pytest.mark.parametrize("name", IDLE)
def test_what_has_no_effect_in_gazebo_is_not_told(name: str) -> None:
    found = examined(IDLE[name])
    assert found.system is not None and not found.findings


def test_models_that_would_touch_are_told() -> None:
    one = written()
    two = one.replace(
        "</world>", f'<model name="n"><link name="a">{MASS}<collision name="c">{BOX}</collision></link></model></world>'
    )
    (finding,) = examined(two).findings
    assert "contacts between models" in finding.problem and "'m', 'n'" in finding.problem
    assert not examined(one).findings


def test_a_link_without_gravity_floats() -> None:
    """Gazebo has no weight for it; the same link with gravity falls by g t^2 / 2."""
    heavy, light = (load_text(written(link=part), "sdf") for part in ("", "<gravity>false</gravity>"))
    assert simulate(heavy, 0.5).q[-1][0] == pytest.approx(-0.5 * 9.8 * 0.25)
    assert simulate(light, 0.5).q[-1][0] == pytest.approx(0.0, abs=1e-12)


def test_joints_of_a_urdf_that_sdf_does_not_have_are_told(tmp_path) -> None:
    from kinemorph.formats.loading import examine

    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = "".join(f'<link name="{name}">{mass}</link>' for name in "ab")
    joint = '<joint name="slide" type="planar"><parent link="a"/><child link="b"/></joint>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{links}{joint}</robot>')
    (tmp_path / "m.sdf").write_text(
        '<sdf version="1.9"><world name="w"><gravity>0 0 0</gravity><include><uri>r.urdf</uri></include></world></sdf>'
    )
    found = examine(tmp_path / "m.sdf")
    assert found.system is not None and found.system.robot.nv == 12
    (finding,) = found.findings
    assert finding.rule == "dropped" and "planar" in finding.problem and "slide" in finding.element


def test_a_solid_too_large_for_its_inertia_is_one_finding() -> None:
    """A mutant: the power of a radius was beyond the largest number, which ended the reader with OverflowError."""
    capsule = "<geometry><capsule><radius>1e150</radius><length>1</length></capsule></geometry>"
    text = written(geometry=capsule).replace(MASS, '<inertial auto="true"/>')
    (error,) = examined(text).errors
    assert error.rule == "number" and "1e+150 m" in error.problem and error.line
