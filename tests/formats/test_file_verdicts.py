"""The judge of robot files that others wrote: what agrees is found to agree, and each kind of difference is found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kinemorph import System, load
from kinemorph.model.robot import Robot
from support.peers.file_verdicts import CLOSE, PEERS, cause, judged
from support.peers.robot_folders import robot_files
from support.peers.robots_read import page

pytest.importorskip("pinocchio")
MASS = (
    '<inertial><origin xyz=".1 0 .2"/><mass value="2"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
)
LINKS = "".join(f'<link name="{name}">{MASS}</link>' for name in "abc")
JOINT = (
    '<joint name="{}" type="revolute"><parent link="{}"/><child link="{}"/><axis xyz="0 1 0"/>'
    '<limit lower="-1" upper="1" effort="9" velocity="9"/>{}</joint>'
)
DAMPING = '<dynamics damping="0.3"/>'
MIMIC = '<mimic joint="j" multiplier="-0.5" offset="0.1"/>'
JOINTS = JOINT.format("j", "a", "b", DAMPING) + JOINT.format("k", "b", "c", MIMIC)
ARM = f'<robot name="arm">{LINKS}{JOINTS}</robot>'


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    path = tmp_path / "robots" / "arm.urdf"
    path.parent.mkdir()
    path.write_text(ARM)
    return path


def changed(system: System, **data: object) -> Robot:
    return replace(system.robot, **data)


def test_each_difference_to_pinocchio_is_found(arm: Path) -> None:
    system = load(arm)
    found = PEERS["urdf"](arm, system, arm.parent)
    assert found.errors is not None and max(found.errors) < CLOSE and found.acts is not None and found.acts < CLOSE
    j, *others = system.robot.joints[1:]
    damped = replace(j, damping=(0.31,))
    (follower,) = system.robot.couplings
    for other in (
        changed(system, joints=(system.robot.joints[0], damped, *others)),
        changed(system, couplings=(replace(follower, multiplier=-0.49),)),
        changed(system, couplings=(replace(follower, offset=0.11),)),
    ):
        wrong = PEERS["urdf"](arm, replace(system, robot=other), arm.parent)
        assert wrong.errors is not None and max(wrong.errors) < CLOSE and wrong.acts is not None and wrong.acts > 1e-4
    heavy = changed(system, bodies=tuple(replace(body, mass=2.1) for body in system.robot.bodies))
    unequal = PEERS["urdf"](arm, replace(system, robot=heavy), arm.parent)
    assert unequal.errors is not None and max(unequal.errors) > 1e-3


def test_a_folder_becomes_rows_of_the_page(arm: Path) -> None:
    (arm.parent / "broken.urdf").write_text("<robot name='r'>")
    (arm.parent / "link.sdf").write_text('<element name="link"/>')  # a part of the description of SDF
    (arm.parent / "notes.xml").write_text("<notes/>")
    files = list(robot_files(arm.parent))
    assert [path.name for path, _ in files] == ["arm.urdf", "broken.urdf"]
    good, bad = (judged(path, format, arm.parent) for path, format in files)
    assert (good.verdict, bad.verdict, bad.cause) == ("agree", "right", "not well-formed")
    text = page({"robots": [good, bad, bad._replace(verdict="strict")]}, 3)
    assert "| robots | 3 | 1 | 0 | 0 | 0 | 0 | 1 | 1 | 0 | 1 of 1 |" in text and "3 assets that are missing" in text
    assert "**50.0 % of the files" in text
    assert cause("path", "the file 'x.stl' does not exist") == "names a missing file"
