"""Sentences about habits of public model files: parts of xacro packages, models on the internet, wrong mesh scales."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import pytest

import kinemorph
from kinemorph.errors import ModelWarning, ParseError
from kinemorph.formats.loading import examine
from kinemorph.model.input_reader import short
from kinemorph.model.shapes import HalfSpace
from support.tools.each_case import each_case

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
XACRO = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">{}</robot>'


@each_case(
    ("inside", "sentence"),
    [
        (
            f'<xacro:macro name="arm" params="side"><link name="${{side}}">{INERTIAL}</link></xacro:macro>'
            '<xacro:macro name="leg" params=""/>',
            "has no <link>, expected a robot: the file only defines macros 'arm', 'leg'. Name the file that includes",
        ),
        ('<xacro:arg name="side" default="left"/>', "expected a robot. Name the file that includes this one."),
        (
            '<xacro:include filename="$(find nowhere)/arm.xacro"/>',
            "expand the file: the package 'nowhere' is not found. Name the folder that contains the package",
        ),
        (
            '<link name="$(arg side)"/>',
            "Give it a value: arguments={'side': ...} of `load`, --arg side:=... on the command line, or",
        ),
    ],
)
def test_a_part_of_a_xacro_package_is_recognized(tmp_path: Path, inside: str, sentence: str) -> None:
    """Most xacro files of a package only define macros; the advice was to add a link to them."""
    pytest.importorskip("xacro")
    path = tmp_path / "part.xacro"
    path.write_text(XACRO.format(inside))
    (finding,) = examine(path).findings
    assert sentence in str(finding) and "<class" not in str(finding)


def test_a_model_on_the_internet_is_not_called_a_path_outside() -> None:
    uri = "https://fuel.gazebosim.org/1.0/OpenRobotics/models/a model with a long name"
    world = f'<sdf version="1.7"><world name="w"><include><uri>{uri}</uri></include></world></sdf>'
    with pytest.raises(ParseError, match=r"the model is on the internet, expected a file: nothing is downloaded\. "):
        kinemorph.load_text(world, "sdf")


def test_a_collision_plane_of_sdf_is_ground() -> None:
    """The ground plane of a world was left out."""
    ground = "<collision name='c'><geometry><plane><normal>0 0 1</normal></plane></geometry></collision>"
    model = f"<model name='m'><static>true</static><link name='a'>{ground}</link></model>"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (plane,) = kinemorph.load_text(f"<sdf version='1.7'>{model}</sdf>", "sdf").robot.body("a").collisions
    assert isinstance(plane, HalfSpace)


@each_case("scale", ["1 1 1 1", ".00254"])
def test_a_wrong_scale_leaves_out_the_mesh_and_not_the_robot(scale: str) -> None:
    mesh = f'<visual><geometry><mesh filename="a.stl" scale="{scale}"/></geometry></visual>'
    text = f'<robot name="r"><link name="a">{INERTIAL}{mesh}{mesh}</link></robot>'
    with pytest.warns(ModelWarning) as told:
        assert not kinemorph.load_text(text, "urdf").robot.body("a").shapes
    (warning,) = told
    assert f"scale is '{scale}', expected 3 numbers: the mesh is left out (2 times" in str(warning.message)


@each_case(
    ("inside", "problem"),
    [
        ('<visual><geometry><box size="1 1 x"/></geometry></visual>', "<box> size is 'x', expected a number"),
        ('<visual><origin xyz="0 0"/><geometry><box size="1 1 1"/></geometry></visual>', "<origin> xyz is '0 0' with"),
        ('<visual><geometry><mesh filename="a.stl" scale="a b c"/></geometry></visual>', "<mesh> scale is 'a', exp"),
        ('<collision><geometry><sphere/></geometry></collision>', "attribute 'radius' is missing, expected a number"),
    ],
)  # fmt: skip
def test_what_does_not_move_the_robot_is_left_out(inside: str, problem: str) -> None:
    """Colors, shapes and numbers of transmissions refused whole robots."""
    text = f'<robot name="r"><link name="a">{INERTIAL}{inside}</link></robot>'
    with pytest.warns(ModelWarning) as told:
        assert not kinemorph.load_text(text, "urdf").robot.body("a").shapes
    assert problem in str(told[0].message) and "it is left out" in str(told[0].message)


def test_a_wrong_color_leaves_the_shape() -> None:
    color = '<material name="m"><color rgba="1 0 0"/></material>'
    text = f'<robot name="r"><link name="a">{INERTIAL}<visual><geometry><sphere radius="1"/></geometry>{color}</visual>'
    with pytest.warns(ModelWarning, match="<color> rgba is '1 0 0' with 3 numbers, expected 4: it is left out"):
        assert len(kinemorph.load_text(f"{text}</link></robot>", "urdf").robot.body("a").shapes) == 1


HINGE = (
    f'<robot name="r"><link name="a"/><link name="b">{INERTIAL}</link><joint name="j" type="revolute">'
    '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="2" velocity="3"/>'
    "</joint>{}</robot>"
)


def test_wrong_numbers_of_drives_are_left_out() -> None:
    gear = "<mechanicalReduction>reduction</mechanicalReduction>"
    drive = f'<transmission name="t"><joint name="j"/><actuator name="m">{gear}</actuator></transmission>'
    with pytest.warns(ModelWarning, match="<mechanicalReduction> is 'reduction', expected a number: it is left out"):
        assert not kinemorph.load_text(HINGE.format(drive), "urdf").elements
    with pytest.warns(ModelWarning, match="<limit> velocity is '3;', expected a number: it is left out"):
        joint = kinemorph.load_text(HINGE.format("").replace('"3"', '"3;"'), "urdf").robot.joint("j")
    assert (joint.velocity, joint.effort) == ((math.inf,), (2.0,))
    with pytest.warns(ModelWarning, match="lower limit 5 is above the upper limit 1: no limits are assumed"):
        joint = kinemorph.load_text(HINGE.format("").replace('"-1"', '"5"'), "urdf").robot.joint("j")
    assert (joint.lower, joint.upper, joint.velocity) == ((-math.inf,), (math.inf,), (3.0,))


def test_an_inertial_without_inertia_is_a_point_mass() -> None:
    """As in Pinocchio."""
    bare = (
        HINGE.format("")
        .replace("<inertia ", "<nothing ")
        .replace('<mass value="1"/>', '<origin xyz="1 0 0"/><mass value="2"/>')
    )
    with pytest.warns(ModelWarning, match="<inertial> has no <inertia>, expected exactly one: a point mass is assumed"):
        robot = kinemorph.load_text(bare, "urdf").robot
    assert kinemorph.derive(robot).mass_matrix([0.0])[0, 0] == pytest.approx(2.0)


def test_a_cut_text_keeps_its_closing_quote() -> None:
    assert short("a" * 100) == f"'{'a' * 55}...'" and short("a'b") == '"a\'b"'


@each_case("beside", [True, False])
def test_packages_are_found_in_folders_of_other_names_and_beside_the_model(tmp_path: Path, beside: bool) -> None:
    """The folder of a package often has the name of its repository, and packages of a repository use each other."""
    pytest.importorskip("xacro")
    repository = tmp_path / "Arms_ROS2"
    for name, folder in (("arm_description", "first"), ("parts", "parts")):
        (repository / folder).mkdir(parents=True)
        (repository / folder / "package.xml").write_text(f"<package><name> {name} </name></package>")
    (repository / "parts" / "link.xacro").write_text(XACRO.format(f'<link name="a">{INERTIAL}</link>'))
    (repository / "first" / "link.xacro").write_text(XACRO.format(f'<link name="a">{INERTIAL}</link>'))
    (repository / "first" / "a.stl").write_bytes(b"solid a\nendsolid a\n")
    mesh = '<mesh filename="package://arm_description/a.stl"/>'
    inside = f'<xacro:include filename="$(find {"parts" if beside else "arm_description"})/link.xacro"/>'
    inside += f'<link name="b">{INERTIAL}<visual><geometry>{mesh}</geometry></visual></link>'
    inside += '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
    (repository / "first" / "arm.xacro").write_text(XACRO.format(inside))
    found = examine(repository / "first" / "arm.xacro")
    assert found.system is not None and not found.findings
    (repository / "parts" / "package.xml").unlink()
    (repository / "first" / "package.xml").unlink()
    (finding,) = examine(repository / "first" / "arm.xacro").findings
    assert "is not found" in finding.problem
