"""Sentences about habits of public model files: parts of xacro packages, models on the internet, wrong mesh scales."""

from __future__ import annotations

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
            "Give it a value: arguments={'side': ...} of `load`, --argument side=... on the command line, or",
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
