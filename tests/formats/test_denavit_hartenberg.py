"""DH tables: published ones against robots made otherwise, arms that survive writing and reading, bad tables."""

from __future__ import annotations

import importlib.metadata
import math
import warnings
from pathlib import Path

import numpy as np
import pytest

from kinemorph.algebra.groups import Pose, matrix_of, translation
from kinemorph.algebra.roll_pitch_yaw import rotation_of_angles
from kinemorph.errors import ModelError, ModelWarning, ParseError
from kinemorph.formats.dh.reader import Row, from_dh, read
from kinemorph.formats.dh.writer import to_table, written_table
from kinemorph.formats.findings import Findings
from kinemorph.formats.loading import load, load_text, save
from kinemorph.formats.sources import Options, Source
from kinemorph.mechanics.recursions.newton_euler import inverse_dynamics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.changes.reroot import body_motion
from kinemorph.model.configuration import random_configuration
from kinemorph.model.library import build
from kinemorph.model.library.arms import PUMA_LINKS
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from support.robots.random_robots import random_body, random_pose
from support.tools.each_case import each_case

CONVENTIONS = ("standard", "modified")
HALF = math.pi / 2


def tool(robot: Robot, q: np.ndarray, frame: str = "tool") -> np.ndarray:
    at = robot.frame(frame)
    T, _ = body_motion(robot, at.body, q, np.zeros(robot.nv))
    return np.array(matrix_of(T)) @ np.array(matrix_of(at.placement))


def read_text(text: str, **options: str) -> tuple[System | None, Findings]:
    findings = Findings("x.dh")
    return read(Source("x.dh", text.encode()), Options(**options), findings), findings


def rewritten(robot: Robot, convention: str) -> Robot:
    findings = Findings("x.dh")
    text = written_table(System(robot), convention, findings)
    assert not findings.errors, [str(error) for error in findings.errors]
    system, found = read_text(text)
    assert system is not None and not found.found, [str(finding) for finding in found.found]
    return system.robot


def assert_same(robot: Robot, other: Robot, frame: str, tolerance: float = 1e-12) -> None:
    """Equal poses of the tool and equal inverse dynamics at random states."""
    rng = np.random.default_rng(3)
    assert robot.nv == other.nv
    for _ in range(3):
        q = random_configuration(robot, rng)
        v, a = rng.normal(size=(2, robot.nv))
        np.testing.assert_allclose(tool(other, q), tool(robot, q, frame), atol=tolerance)
        expected = np.array(inverse_dynamics(resolve(robot), q.tolist(), v.tolist(), a.tolist()))
        found = np.array(inverse_dynamics(resolve(other), q.tolist(), v.tolist(), a.tolist()))
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * max(1.0, np.abs(expected).max()))


def serial(seed: int, joints: int) -> Robot:
    """A random serial arm: axes in general position, parallel, meeting, on one line; fixed parts in between."""
    rng = np.random.default_rng(seed)
    builder, parent = RobotBuilder(f"serial{seed}"), "world"
    for k in range(joints):
        builder.add(random_body(rng, f"b{k}"))
        place = random_pose(rng)
        if rng.uniform() < 0.5:  # parallel or coincident with the axis before, or meeting it
            turn = rotation_of_angles(float(rng.choice([0.0, HALF, math.pi])), 0.0, float(rng.uniform(-3, 3)))
            shift = rng.normal(size=3) * rng.integers(0, 2, size=3)
            place = Pose(turn, tuple(map(float, shift)))
        kind = "revolute" if rng.uniform() < 0.7 else "prismatic"
        data = {"lower": -1.0, "upper": 2.0} if k == 1 else {}
        builder.joint(f"j{k}", kind, parent, f"b{k}", placement=place, **data)
        parent = f"b{k}"
        if rng.uniform() < 0.2:
            builder.add(random_body(rng, f"w{k}")).joint(f"f{k}", "fixed", parent, f"w{k}", placement=random_pose(rng))
            parent = f"w{k}"
    return builder.frame("tool", parent, placement=random_pose(rng)).build()


# ── published tables ──────────────────────────────────────────────────────────────────────────────────────────────────

# Armstrong, Khatib & Burdick (1986), as in the library
PUMA = [
    {"d": link.d, "a": link.a, "alpha": link.turns * HALF, "mass": link.mass, "com": link.com, "inertia": link.moments}
    | {"armature": link.rotor * link.gear**2}
    for link in PUMA_LINKS
]

# Franka Emika, control parameters documentation: Craig's convention, flange 0.107 m after joint 7
PANDA = """# convention: modified
# name: panda
# tool: 0 0 0.107
a [mm], d [mm], alpha [deg], theta
0,      333,    0,           0
0,      0,      -90,         0
0,      316,    90,          0
82.5,   0,      90,          0
-82.5,  384,    -90,         0
0,      0,      90,          0
88,     0,      90,          0
"""


def test_puma_of_the_library_is_its_table() -> None:
    robot, other = build("puma"), from_dh(PUMA, name="puma")
    assert_same(robot, other, "flange")


def test_panda_against_pinocchio() -> None:
    pin = pytest.importorskip("pinocchio")
    try:
        files = importlib.metadata.distribution("example-robot-data").files or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    path = next(str(file.locate()) for file in files if file.name == "panda.urdf")
    model = pin.buildModelFromUrdf(path)
    data = model.createData()
    system, findings = read_text(PANDA)
    assert system is not None and [finding.rule for finding in findings.found] == ["massless"]
    robot, rng = system.robot, np.random.default_rng(0)
    flange = model.getFrameId("panda_link8")
    for _ in range(5):
        q = rng.uniform(-2.0, 2.0, 7)
        pin.framesForwardKinematics(model, data, np.concatenate([q, np.zeros(model.nq - 7)]))
        np.testing.assert_allclose(tool(robot, q), data.oMf[flange].homogeneous, atol=1e-12)


def test_both_conventions_written_out() -> None:
    """T of one joint by hand, from matrices."""

    def turn(axis: int, angle: float) -> np.ndarray:
        T, c, s = np.eye(4), math.cos(angle), math.sin(angle)
        i, k = [(1, 2), (2, 0), (0, 1)][axis]
        T[i, i], T[i, k], T[k, i], T[k, k] = c, -s, s, c
        return T

    def shift(axis: int, length: float) -> np.ndarray:
        T = np.eye(4)
        T[axis, 3] = length
        return T

    for kind in ("revolute", "prismatic"):
        row = Row(kind, theta=0.3, d=0.2, a=0.5, alpha=-0.7, offset=0.4, mass=1.0, inertia=(1.0, 1.0, 1.0))
        theta, d = (0.3 + 0.4 + 0.6, 0.2) if kind == "revolute" else (0.3, 0.2 + 0.4 + 0.6)
        z, x = turn(2, theta) @ shift(2, d), shift(0, 0.5) @ turn(0, -0.7)
        q = np.array([0.6])
        np.testing.assert_allclose(tool(from_dh([row]), q), z @ x, atol=1e-15)
        np.testing.assert_allclose(tool(from_dh([row], "modified"), q), x @ z, atol=1e-15)


def test_base_tool_and_gravity() -> None:
    base, end = Pose(rotation_of_angles(0.1, 0.2, 0.3), (1.0, 2.0, 3.0)), translation((0.0, 0.0, 0.5))
    rows = [Row(a=1.0, mass=1.0, inertia=(1.0, 1.0, 1.0))]
    robot = from_dh(rows, base=base, tool=end, gravity=(0.0, -9.81, 0.0))
    expected = np.array(matrix_of(base)) @ np.array(matrix_of(translation((1.0, 0.0, 0.5))))
    np.testing.assert_allclose(tool(robot, np.zeros(1)), expected, atol=1e-15)
    assert robot.gravity == (0.0, -9.81, 0.0)
    settings = "# convention: standard\n# base: 1 2 3 0.1 0.2 0.3\n# tool: 0 0 0.5\n# gravity: 0 -9.81 0\n"
    text = f"{settings}d,a,alpha,mass,izz\n0,1,0,1,1\n"
    system, _ = read_text(text)
    assert system is not None and system.robot.gravity == robot.gravity
    np.testing.assert_allclose(tool(system.robot, np.zeros(1)), expected, atol=1e-15)


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_puma_survives(convention: str) -> None:
    robot = build("puma")
    other = rewritten(RobotBuilder("p").add(*robot.bodies, *robot.joints).frame("tool", "link6").build(), convention)
    assert_same(robot, other, "link6")
    assert (other.joint_names, other.body_names) == (robot.joint_names, robot.body_names)
    for joint in robot.joints:
        found = other.joint(joint.name)
        assert (found.lower, found.upper, found.damping) == (joint.lower, joint.upper, joint.damping)
        assert (found.friction, found.armature) == (joint.friction, joint.armature)


def test_the_table_of_the_puma_is_the_published_one() -> None:
    table = to_table(build("puma"), "standard", Findings("x"))
    assert table is not None
    for row, link in zip(table.rows, PUMA_LINKS, strict=True):
        assert (row.alpha, row.theta) == (link.turns * HALF, 0.0)
        assert (row.a, row.d) == (pytest.approx(link.a, abs=1e-15), pytest.approx(link.d, abs=1e-15))
        np.testing.assert_allclose(row.com, link.com, atol=1e-15)


@each_case("convention", CONVENTIONS)
@each_case("seed", range(12))
def test_random_arms_survive(seed: int, convention: str) -> None:
    robot = serial(seed, 1 + seed % 8)
    assert_same(robot, rewritten(robot, convention), "tool")


@pytest.mark.slow
def test_many_random_arms_survive(record_property) -> None:
    for seed in range(100, 600):
        robot = serial(seed, 1 + seed % 12)
        for convention in CONVENTIONS:
            assert_same(robot, rewritten(robot, convention), "tool")


def test_saved_and_loaded(tmp_path: Path) -> None:
    robot = serial(4, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        (path,) = save(robot, tmp_path / "arm.dh.csv")
    assert_same(robot, load(path).robot, "tool")


def test_what_a_table_cannot_hold_is_told() -> None:
    findings = Findings("x.dh")
    assert written_table(System(build("puma")), "standard", findings)
    told = " ".join(finding.problem for finding in findings.warnings)
    assert "'flange'" in told and "shapes" in told


@each_case("convention", CONVENTIONS)
@each_case("name", ["pendulum", "double_pendulum", "crane", "chain", "scara"])
def test_arms_of_the_library_survive(name: str, convention: str) -> None:
    robot = build(name)
    frame = "tool" if any(frame.name == "tool" for frame in robot.frames) else robot.order[-1].child
    assert_same(robot, rewritten(robot, convention), frame)


def branching() -> Robot:
    builder = RobotBuilder("fork").root("a", "revolute", name="j").body("a", 1.0, inertia=(1.0,) * 3)
    for name in "bc":
        builder.body(name, 1.0, inertia=(1.0,) * 3).joint(f"to_{name}", "revolute", "a", name)
    return builder.build()


@pytest.mark.parametrize(
    ("robot", "joint", "why"),
    [
        (build("four_bar"), build("four_bar").loops[0].name, "closes a loop"),
        (build("hexapod24"), build("hexapod24").joints[0].name, "is free"),
        (branching(), "to_c", "branches off"),
    ],
    ids=["loop", "kind", "branch"],
)
def test_a_robot_that_is_no_serial_arm_is_refused_by_name(robot: Robot, joint: str, why: str, tmp_path: Path) -> None:
    findings = Findings("x.dh")
    assert written_table(System(robot), "standard", findings) == ""
    (error,) = findings.errors
    assert error.element == f"joint '{joint}'" and why in error.problem
    with pytest.raises(ParseError, match=why):
        save(robot, tmp_path / "x.dh")
    assert not list(tmp_path.iterdir())


def test_axes_that_are_parallel_but_for_a_hair_are_refused() -> None:
    """Their common normal lies kilometers away, and digits with it."""
    builder = RobotBuilder("hair").body("a", 1.0, inertia=(1.0,) * 3).body("b", 1.0, inertia=(1.0,) * 3)
    builder.joint("j", "revolute", "world", "a")
    tilted = Pose(rotation_of_angles(1e-9, 0.0, 0.0), (1.0, 0.5, 0.0))
    builder.joint("k", "revolute", "a", "b", placement=tilted)
    findings = Findings("x.dh")
    assert written_table(System(builder.build()), "standard", findings) == ""
    (error,) = findings.errors
    assert (error.rule, error.element) == ("axis", "joint 'k'") and "1e-09 rad" in error.problem


# ── tables without masses ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_table_without_masses_has_kinematics_only_and_says_so() -> None:
    with pytest.warns(ModelWarning, match="nothing that moves has mass"):
        robot = from_dh([Row(a=1.0), Row(a=0.5, alpha=0.3), Row("prismatic", alpha=1.0)])
    assert robot.is_kinematic and not any(joint.armature[0] for joint in robot.joints)
    system, findings = read_text(PANDA)
    (finding,) = findings.found
    assert finding.rule == "massless" and system is not None and system.robot.is_kinematic
    with pytest.raises(ParseError, match="massless"):
        load_text(PANDA, "dh", strict=True)


def test_a_link_without_mass_at_the_tip_is_an_error_where_others_have_mass() -> None:
    with pytest.raises(ModelError, match="mass 0"):
        from_dh([Row(a=1.0, mass=1.0, inertia=(1.0, 1.0, 1.0)), Row(a=1.0)])


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_units_columns_and_names() -> None:
    text = (
        "\ufeff# a comment\n# Convention: Standard\n# name: arm\n\n"
        "joint, link, kind, theta [deg], d [mm], a [cm], alpha [deg], "
        "lower [deg or mm], upper [deg|mm], mass [g], ixx, iyy, izz\n"
        "turn, upper, R, 90, 100, 10, 90, -180, 180, 1500, 1, 1, 1\n"
        '"slide", fore, prismatic, 0, 50, 0, 0, -20, 30, 500, 1, 1, 1\n'
    )
    system, findings = read_text(text)
    assert system is not None and not findings.found, [str(finding) for finding in findings.found]
    robot = system.robot
    assert (robot.joint_names, robot.body_names) == (("turn", "slide"), ("upper", "fore"))
    assert robot.joint("turn").lower == (-math.pi,) and robot.joint("slide").lower == (-0.02,)
    assert robot.joint("slide").kind == "prismatic" and robot.body("upper").mass == 1.5
    back = robot.joint("turn").child_placement  # exact zeros at quarter turns
    expected = np.array([[0, 0, 1, 0], [1, 0, 0, 0.1], [0, 1, 0, 0.1], [0, 0, 0, 1]])
    np.testing.assert_allclose(np.linalg.inv(np.array(matrix_of(back))), expected, atol=1e-15)
    assert {abs(x) for row in back.R for x in row} == {0.0, 1.0}


TABLE = "# convention: standard\nkind,d,a,alpha,mass,izz\n"
BAD = {
    "empty": ("", "structure", 1),
    "only comments": ("# convention: standard\n", "structure", 1),
    "only columns": (TABLE, "structure", 1),
    "not text": ("d,a,alpha\n1,2,\udc80\n", "syntax", 2),
    "convention": ("# convention: other\nd,a,alpha\n0,0,0\n", "structure", 1),
    "unknown column": ("# convention: standard\nd,a,alpha,lenght\n", "unknown", 2),
    "column twice": ("# convention: standard\nd,a,alpha,a\n", "structure", 2),
    "column missing": ("# convention: standard\nd,a\n0,0\n", "structure", 2),
    "unknown unit": ("# convention: standard\nd [furlong],a,alpha\n0,0,0\n", "unit", 2),
    "wrong unit": ("# convention: standard\nd,a [deg],alpha\n0,0,0\n", "unit", 2),
    "too few cells": (TABLE + "revolute,0,0\n", "syntax", 3),
    "decimal comma": (TABLE + "revolute,0,0,1,5,1,1\n", "syntax", 3),
    "no number": (TABLE + "revolute,x,0,0,1,1\n", "number", 3),
    "not finite": (TABLE + "revolute,nan,0,0,1,1\n", "number", 3),
    "infinite": (TABLE + "revolute,0,inf,0,1,1\n", "number", 3),
    "underscore": (TABLE + "revolute,1_0,0,0,1,1\n", "number", 3),
    "kind": (TABLE + "helical,0,0,0,1,1\n", "structure", 3),
    "negative mass": (TABLE + "revolute,0,0,0,-1,1\n", "mass", 3),
    "base": ("# base: 1 2\n" + TABLE + "r,0,0,0,1,1\n", "number", 1),
    "tool": ("# tool: 0 0 0 2 0 0 0\n" + TABLE + "r,0,0,0,1,1\n", "rotation", 1),
    "gravity": ("# gravity: 0 0 x\n" + TABLE + "r,0,0,0,1,1\n", "number", 1),
    "limits": ("# convention: standard\nd,a,alpha,mass,izz,lower,upper\n0,0,0,1,1,2,1\n", "data", 3),
    "names": ("# convention: standard\njoint,d,a,alpha,mass,izz\nj,0,1,0,1,1\nj,0,1,0,1,1\n", "name", 4),
    "no inertia": (TABLE + "revolute,0,0,0,1,0\n", "singular", 3),
}


@each_case("case", BAD)
def test_bad_tables(case: str) -> None:
    text, rule, line = BAD[case]
    findings = Findings("x.dh")
    data = text.encode(errors="surrogateescape")
    assert read(Source("x.dh", data), Options(), findings) is None
    assert (rule, line) in [(error.rule, error.line) for error in findings.errors], [str(e) for e in findings.errors]
    for finding in findings.found:
        assert not finding.problem.endswith(".") and finding.remedy.endswith((".", "?"))


def test_a_convention_that_is_not_told_is_a_warning() -> None:
    system, findings = read_text("d,a,alpha,mass\n0,1,0,1\n")
    assert system is not None and [finding.rule for finding in findings.found] == ["assumed"]


def test_cells_may_be_constants_and_degrees_without_a_unit_are_doubtful() -> None:
    head = "# convention: standard\nd,a,alpha,mass,ixx,iyy,izz\n"
    system, findings = read_text(f"{head}0,1,-pi/2,1,1,1,1\n")
    assert system is not None and not findings.found
    assert system == read_text(f"{head}0,1,{-math.pi / 2!r},1,1,1,1\n")[0]
    (finding,) = read_text(f"{head}0,1,90,1,1,1,1\n")[1].found
    assert finding.rule == "unit" and "alpha [deg]" in finding.remedy


def test_slips_of_tables_have_their_remedies() -> None:
    (finding,) = read_text("theta d a alpha\n0 0 1 0\n")[1].found
    assert finding.rule == "syntax" and finding.remedy.startswith("Write theta, d, a, alpha")
    finding = read_text("theta,d,a,alpha\nq1,0,1,0\n")[1].errors[0]
    assert "instead of the coordinate" in finding.remedy


def test_an_arm_of_a_table_is_not_free() -> None:
    system, findings = read_text(PANDA, base="free")
    assert system is None and findings.errors[0].rule == "structure"


def test_bad_arguments() -> None:
    with pytest.raises(ModelError, match="convention"):
        from_dh([Row()], "craig")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="lenght"):
        from_dh([{"lenght": 1.0}])
    with pytest.raises(ModelError, match="row 2: the kind is 'spherical', expected 'revolute' or 'prismatic'"):
        from_dh([Row(a=1.0), Row("spherical")])  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="no bodies"):
        from_dh([])


@pytest.mark.parametrize(("comment", "count"), [("# gravty: 0 0 0", 1), ("# note: made by hand", 0), ("# by: me", 0)])
def test_a_setting_that_is_misspelled_is_no_comment(comment: str, count: int) -> None:
    findings = Findings("arm.dh")
    text = f"# convention: standard\n{comment}\nkind, a, alpha, d, mass, ixx, iyy, izz\nr, 1, 0, 0, 1, 1, 1, 1\n"
    assert read(Source("arm.dh", text.encode()), Options(), findings) is not None
    assert [finding.remedy for finding in findings.found] == ["Did you mean 'gravity'?"] * count
