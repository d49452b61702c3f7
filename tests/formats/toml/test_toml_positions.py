"""Model files with coordinates, dependents, position matrices and driven joints: reading, writing, wrong files."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import kinemorph
from kinemorph.formats.loading import load_text
from kinemorph.formats.toml.schema import json_schema
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.parameter import Coordinate, Parameter
from kinemorph.model.positions.position_builder import PositionBuilder
from kinemorph.model.system import System
from kinemorph.notation import Tdisp, Tquat, Trotn, Trotx, Trotz, acos, cos, mth, sin, trot, vec
from support.tools.each_case import each_case
from support.tools.refusals import assert_refused

PENDULUM = """\
kinemorph = 1
gravity = [0, -9.81, 0]
[parameters]
l0 = 1.2
[coordinates.q0]
lower = -3
[coordinates.q1]
value = "30 deg"
[coordinates.x]
unit = "m"
[dependents]
twist = "q0 + other / 2"
other = { formula = "2 * sin(t)", unit = "rad" }
[bodies.upper]
mass = 1.1
inertia = [1, 1, 0.1]
position = "Trotz(q0) * Tdisp(0, -l0 / 2, 0)"
[bodies.lower]
mass = 0.9
inertia = [1, 1, 0.1]
reference = "upper"
position = "Tdisp(x, -l0 / 2, 0) * Trotz(q1) * Trotx(twist) * Tdisp(0, -0.55, 0)"
"""
ROTOR = """\
kinemorph = 1
[dependents]
double = "2 * hip"
[bodies.thigh]
mass = 1
inertia = [1, 1, 1]
[bodies.rotor]
mass = 0.1
inertia = [0.01, 0.01, 0.01]
[joints.hip]
kind = "revolute"
parent = "world"
child = "thigh"
axis = "y"
[joints.rotor]
kind = "revolute"
parent = "thigh"
child = "rotor"
driven = "25 * double"
damping = 0.1
"""


def _placed() -> System:
    """A system with everything that a robot from position matrices can have."""
    builder = PositionBuilder("placed", (0.0, 0.0, -9.81))
    length = Parameter("length", 0.4, "m")
    q, x = builder.coordinate("q", value=0.3, lower=-1.0, damping=0.2), builder.coordinate("x", "m", 0.1, upper=2.0)
    half = builder.dependent("half", acos(0.3 * cos(q)))
    twice = builder.dependent("twice", 2.0 * half + builder.time, "rad")
    builder.dependent("unused", length * q, "m")
    builder.body("base", 1.0, (0.1, 0.1, 0.1), T0G=Tdisp(x, 0, 0) * Trotn((0.6, 0.0, 0.8), half))
    matrix = mth(trot(((cos(q), -sin(q), 0.0), (sin(q), cos(q), 0.0), (0.0, 0.0, 1.0))), vec(length, 0.0, 0.0))
    builder.body("tip", 0.5, (0.1, 0.2, 0.2), TrefG=matrix * Trotx(twice), reference="base")
    builder.body("turned", 0.2, (0.1, 0.1, 0.1), T0G=Tquat(cos(q / 2), 0.0, sin(q / 2), 0.0) * Tdisp(0, length, 0))
    builder.frame("tool", "tip", Tdisp(0, 0, 0.1) * Trotz(0.5))
    return builder.system(v=(0.5, 0.0))


def test_a_robot_from_matrices_is_read_back_as_the_same_system(tmp_path: Path) -> None:
    system = _placed()
    kinemorph.save(system, tmp_path / "placed.toml")
    text = (tmp_path / "placed.toml").read_text()
    assert kinemorph.load(tmp_path / "placed.toml") == system
    assert 'reference = "base"' in text and "Trotx(twice)" in text and "[joints" not in text
    assert 'twice  = "2 * half + t"' in text  # names of dependents are kept
    assert list(Draft202012Validator(json_schema()).iter_errors(tomllib.loads(text))) == []


def test_positions_references_and_initial_values_are_read() -> None:
    system = load_text(PENDULUM, "toml")
    assert system.robot.q_names == ("q0", "q1", "x") and system.robot.q_units == ("rad", "rad", "m")
    assert system.settings.q == (0.0, pytest.approx(0.5235987755982988), 0.0)
    assert [one.name for one in system.robot.dependents] == ["twist", "other"]
    assert system.robot.is_timed and system.robot.joint("q0").lower == (-3.0,)
    assert list(Draft202012Validator(json_schema()).iter_errors(tomllib.loads(PENDULUM))) == []


def test_a_matrix_may_be_given_by_its_sixteen_entries() -> None:
    rows = '[["cos(q0)", "-sin(q0)", 0, "0.6 * sin(q0)"], ["sin(q0)", "cos(q0)", 0, "-0.6 * cos(q0)"], '
    text = PENDULUM.replace('"Trotz(q0) * Tdisp(0, -l0 / 2, 0)"', rows + "[0, 0, 1, 0], [0, 0, 0, 1]]")
    q = [0.4, 0.2, 0.1]
    product, entries = (kinemorph.derive(load_text(one, "toml")) for one in (PENDULUM, text))
    assert entries.mass_matrix(0.0, q) == pytest.approx(product.mass_matrix(0.0, q), abs=1e-12)


def test_driven_joints_are_read_and_written(tmp_path: Path) -> None:
    robot = load_text(ROTOR, "toml").robot
    builder = RobotBuilder("robot").add(Body("thigh", 1.0, inertia=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))))
    builder.body("rotor", 0.1, inertia=(0.01, 0.01, 0.01))
    builder.joint("hip", "revolute", "world", "thigh", axis=(0.0, 1.0, 0.0))
    builder.joint("rotor", "revolute", "thigh", "rotor", driven=25.0 * (2.0 * Coordinate("hip")), damping=0.1)
    assert robot.joints == builder.build().joints
    kinemorph.save(robot, tmp_path / "rotor.toml")
    assert 'driven  = ["25 * double"]' in (tmp_path / "rotor.toml").read_text()
    assert kinemorph.load(tmp_path / "rotor.toml").robot == robot


def test_a_robot_that_was_changed_after_it_was_made_of_matrices_is_written_with_joints(tmp_path: Path) -> None:
    from dataclasses import replace

    robot = _placed().robot
    joints = tuple(
        replace(joint, damping=(0.7,)) if joint.driven and joint.kind == "revolute" else joint for joint in robot.joints
    )
    changed = replace(robot, joints=joints)
    kinemorph.save(changed, tmp_path / "changed.toml")
    back = kinemorph.load(tmp_path / "changed.toml").robot
    assert "[joints." in (tmp_path / "changed.toml").read_text()
    assert (back.bodies, back.joints, back.dependents) == (changed.bodies, changed.joints, changed.dependents)


WRONG = [
    ("Trotz(q0) *", "Trotz(q9) *", 17, "there is no coordinate, dependent or parameter 'q9'", "Known: l0, t, q0"),
    ("Trotz(q0) *", "Trotz(q0, 1) *", 17, "Trotz has 2 arguments, expected 1", "Give 1 argument."),
    ("Trotz(q0) *", "Trotz(q0) +", 17, "'add' is applied to a transform", "only as factors"),
    ("Trotz(q0) *", "Rotz(q0) *", 17, "there is no function 'Rotz'", "Did you mean 'Trotz'?"),
    ("Trotz(q0) *", "__import__('os') *", 17, "column 12: found", "Write products"),
    ("Trotz(q0) *", "open(q0) *", 17, "there is no function 'open'", "Known are"),
    ("Trotz(q0) *", "q0.real *", 17, "there is no coordinate, dependent or parameter 'q0.real'", "Known: l0, t, q0"),
    ("Trotz(q0) *", "mth(1, 0, 0, 0, cos(q0), 0, 0, 0, 1, 0, 0, 0) *", 17, "not rigid", "Correct the formulas"),
    (
        '"q0 + other / 2"',
        '"q0 + gamma"',
        12,
        "there is no coordinate, dependent or parameter 'gamma'",
        "Known: l0, t, q0",
    ),
    ('"2 * sin(t)"', '"2 * twist"', 12, "it depends on itself: twist -> other -> twist", "Write a number for one"),
    ('"2 * sin(t)"', '"sin(t, 1)"', 13, "sin has 2 arguments, expected 1", "Give 1 argument."),
    ('reference = "upper"', 'reference = "uper"', 21, "its reference is 'uper', and there is no such body", "'upper'"),
    ('reference = "upper"', 'reference = "lower"', 21, "references form a circle: lower -> lower", "in the world"),
    ("[coordinates.x]", "[coordinates.y]\n[coordinates.x]", 9, "it moves nothing", "Use it in a position"),
    ('value = "30 deg"', 'value = "30 mm"', 8, "30 mm", "rad"),
    ('unit = "m"', 'unit = "kg"', 10, "unit is 'kg', expected one of rad, m", "Choose one"),
    ("[coordinates.x]", "[coordinates.l0]", 9, "also the name of a parameter", "Rename"),
    ("[coordinates.x]", "[coordinates.t]", 9, "the name of the time", "Rename"),
    ("[dependents]", "[dependents]\nq0 = 1", 12, "there is a coordinate of this name too", "Rename"),
    (
        "[bodies.upper]",
        "[bodies.extra]\nmass = 1\n[bodies.upper]",
        14,
        "the key 'position' is missing",
        "Write position",
    ),
    ("mass = 1.1", "mass = 1.1\ncom = [0, 0, 1]", 16, "com is not at the origin", "Leave com out"),
    (
        "[bodies.upper]",
        '[joints.j]\nkind = "fixed"\n[bodies.upper]',
        14,
        "given together with positions",
        "Leave [joints] out",
    ),
    ("Trotz(q0) *", "Trotz(q0)^2 *", 17, "found '^'", "Write ** for a power"),
    ("mass = 1.1", "mass = -1.1", 15, "mass is -1.1", "mass"),
]


@each_case(("old", "new", "line", "problem", "remedy"), WRONG)
def test_wrong_files_are_refused_with_line_reason_and_remedy(
    old: str, new: str, line: int, problem: str, remedy: str
) -> None:
    assert_refused(PENDULUM, "toml", old, new, line=line, problem=problem, remedy=remedy)


@each_case(
    ("old", "new", "line", "problem"),
    [
        ("25 * double", "25 * knee", 19, "there is no coordinate, dependent or parameter 'knee'"),
        ("25 * double", "25 * rotor", 19, "there is no coordinate, dependent or parameter 'rotor'"),
        ('"25 * double"', '["hip", "hip"]', 19, "driven has 2 formulas"),
        ("damping = 0.1", "upper = 1", 20, "upper is given for a driven joint"),
        ("mass = 1\n", 'mass = 1\nposition = "Trotz(hip)"\n', 11, "given together with positions"),
    ],
)
def test_wrong_driven_joints_are_refused(old: str, new: str, line: int, problem: str) -> None:
    assert_refused(ROTOR, "toml", old, new, line=line, problem=problem)
