"""Systems written as URDF move as before: published robots, all kinds of joints, loops; and what is lost is named."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from kinemorph import library
from kinemorph.algebra.groups import Pose
from kinemorph.algebra.roll_pitch_yaw import rotation_of_angles
from kinemorph.errors import ModelWarning
from kinemorph.formats.findings import Findings
from kinemorph.formats.loading import examine, load, save
from kinemorph.formats.sources import Options
from kinemorph.formats.urdf.writer import write
from kinemorph.mechanics.recursions.composite_bodies import mass_matrix
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.recursions.newton_euler import bias_forces
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import random_configuration
from kinemorph.model.elements import Actuator
from kinemorph.model.parameter import Parameter, evaluate_all
from kinemorph.model.shapes import Box, Capsule, MeshFile, Triangle
from kinemorph.model.system import Settings, System
from support.robots.robot_files import share, urdf_file
from support.tools.each_case import each_case

DOZEN = (
    "panda.urdf", "ur5_robot.urdf", "double_pendulum_continuous.urdf", "anymal_b_simple_description/robots/anymal.urdf",
    "talos_reduced.urdf", "go1.urdf", "pr2.urdf", "kinova.urdf", "icub_reduced.urdf", "human.urdf", "tiago.urdf",
    "baxter.urdf", "alex_psyonic_hands.urdf",
)  # fmt: skip
TURNED = Pose(rotation_of_angles(0.3, -0.7, 1.1), (0.1, -0.2, 0.3))
OTHER = Pose(rotation_of_angles(-1.2, 0.4, 0.2), (-0.3, 0.1, 0.2))


def differences(one, two, frames):
    """Largest differences of M and bias as shares, and of poses."""
    first, second, rng = resolve(one), resolve(two), np.random.default_rng(2)
    worst = 0.0
    for _ in range(2):
        q, v = random_configuration(one, rng).tolist(), rng.uniform(-1.0, 1.0, one.nv).tolist()
        if one.nv:
            worst = max(worst, share(mass_matrix(second, q), np.array(mass_matrix(first, q))))
            worst = max(worst, share(bias_forces(second, q, v), np.array(bias_forces(first, q, v))))
        poses = (forward_kinematics(tree, q, frames) for tree in (first, second))
        for here, there in zip(*poses, strict=True):
            worst = max(worst, float(np.abs(np.subtract(here.R, there.R)).max()))
            worst = max(worst, float(np.abs(np.subtract(here.p, there.p)).max()))
    return worst


def written(model, path):
    """The model after a way through a file, and the warnings on the way."""
    system = model if isinstance(model, System) else System(model)
    findings = Findings(str(path))
    files = write(system, path, findings)
    examined = examine(path)
    assert examined.system is not None, "\n".join(map(str, examined.findings))
    return examined.system, files, findings


@each_case(("name", "base"), list(zip(DOZEN, ["fixed", "free"] * 7, strict=False)))
def test_published_robots_survive_the_way_through_a_file(name, base, tmp_path):
    before = examine(urdf_file(name), options=Options(base=base)).system
    after, files, findings = written(before, tmp_path / "robot.urdf")
    assert [file.name for file in files] == ["robot.urdf"]
    assert {finding.rule for finding in findings.found} <= {"mesh"}  # those of the package are out of reach
    assert after.robot.q_names == before.robot.q_names and after.robot.couplings == before.robot.couplings
    assert differences(before.robot, after.robot, before.robot.body_names) < 1e-12
    assert np.array_equal(before.robot.q_lower, after.robot.q_lower)
    assert [j.effort for j in before.robot.joints] == [j.effort for j in after.robot.joints]
    assert after.elements == before.elements
    assert [len(body.shapes) for body in after.robot.bodies] == [len(body.shapes) for body in before.robot.bodies]


@pytest.mark.parametrize("name", ["panda.urdf", "double_pendulum_continuous.urdf"])
def test_pinocchio_reads_what_we_write(name, tmp_path):
    before = examine(urdf_file(name)).system
    written(before, tmp_path / "robot.urdf")
    mine, theirs = (pin.buildModelFromUrdf(str(path)) for path in (tmp_path / "robot.urdf", urdf_file(name)))
    q = pin.randomConfiguration(theirs, -np.ones(theirs.nq), np.ones(theirs.nq))
    v = np.linspace(-1.0, 1.0, theirs.nv)
    one, other = (pin.nle(model, model.createData(), q, v) for model in (mine, theirs))
    assert share(one, other) < 1e-14


@each_case(
    ("kind", "data", "warned"),
    [
        ("revolute", {"axis": (0.6, 0.0, 0.8), "lower": -1.0, "damping": 0.3}, False),
        ("prismatic", {"axis": (0.0, 1.0, 0.0), "upper": 2.0, "friction": 0.1}, False),
        ("fixed", {}, False),
        ("free", {}, False),
        ("planar", {}, False),
        ("universal", {"axis": (0.0, 0.0, 1.0), "axis2": (0.6, 0.8, 0.0), "upper": (1.0, math.inf)}, True),
        ("gimbal", {"order": "yzx", "upper": (1.0, 0.5, math.inf), "velocity": (1.0, 2.0, 3.0)}, True),
        ("cylindrical", {"axis": (0.0, 0.6, 0.8), "velocity": (1.0, 2.0)}, True),
        ("spherical", {}, True),
        ("point_on_line", {"axis": (0.0, 0.6, 0.8)}, True),
        ("point_on_plane", {"damping": (0.1, 0.1, 0.2, 0.2, 0.2)}, True),
        ("helical", {"axis": (0.0, 0.0, 1.0), "pitch": 0.02}, True),
    ],
)
@each_case("away", [False, True])
def test_every_kind_of_joint_moves_as_before(kind, data, warned, away, tmp_path):
    """With the joint frame in the body's origin, and `away` from it."""
    builder = RobotBuilder("r").add(
        Body.box("base", 3.0, (0.3, 0.2, 0.1)),
        Body.box("arm", 2.0, (0.1, 0.2, 0.4), (0.1, 0.0, 0.2)),
        Body.box("tip", 1.0, (0.1, 0.1, 0.2), (0.0, 0.1, 0.1)),
    )
    builder.root("base", "free")
    builder.joint("j", kind, "base", "arm", placement=OTHER, child_placement=TURNED if away else None, **data)
    builder.joint("k", "revolute", "arm", "tip", placement=TURNED, child_placement=OTHER if away else None)
    builder.frame("tool", "tip", placement=TURNED)
    before = builder.build()
    after, _, findings = written(before, tmp_path / "r.urdf")
    assert differences(before, after.robot, ["tool"]) < 1e-12
    assert {finding.rule for finding in findings.found} <= {"dropped"}
    assert bool([finding for finding in findings.found if kind in finding.problem]) == warned
    assert bool([finding for finding in findings.found if "link frames" in finding.problem]) == away
    limits = [tuple(getattr(before.joint("j"), key)) for key in ("lower", "upper", "velocity")]
    if kind in ("revolute", "prismatic"):
        assert [tuple(getattr(after.robot.joint("j"), key)) for key in ("lower", "upper", "velocity")] == limits
    if kind in ("universal", "gimbal", "cylindrical"):
        pair = after.robot.joints[1 : 1 + before.joint("j").nv]
        assert [tuple(joint.upper[0] for joint in pair), tuple(j.velocity[0] for j in pair)] == limits[1:]


@pytest.mark.parametrize("kind", ["universal", "cylindrical"])
def test_the_start_and_the_drives_of_two_joints_for_one(kind, tmp_path):
    """Coordinates have other names then, in the sidecar too; a drive of both has no joint left."""
    builder = RobotBuilder("r").add(Body.box("a", 1.0, (0.3, 0.2, 0.1)), Body.box("b", 1.0, (0.3, 0.2, 0.1)))
    builder.joint("j", kind, "world", "a").joint("k", "revolute", "a", "b", translation=(1.0, 0.0, 0.0))
    start = Settings(q=(0.1, 0.2, 0.3), v=(1.0, 2.0, 3.0))
    before = System(builder.build(), (Actuator("of_j", "j"), Actuator("of_k", "k", effort=2.0)), start)
    after, _, findings = written(before, tmp_path / "r.urdf")
    assert after.settings == start and after.elements == before.elements[1:]
    assert any("of_j" in finding.element and "actuator" in finding.problem for finding in findings.found)


def test_loops_go_into_a_sidecar_and_come_back(tmp_path):
    before = library.build("four_bar")
    after, files, _ = written(System(before, (), Settings(time=3.0)), tmp_path / "bar.urdf")
    assert [file.name for file in files] == ["bar.urdf", "bar.sidecar.toml"]
    (loop,), (closing,) = after.robot.loops, before.loops
    assert (loop.placement, loop.child_placement) == evaluate_all((closing.placement, closing.child_placement))
    assert (loop.kind, loop.axis) == (closing.kind, closing.axis) and after.settings.time == 3.0
    # with frames of bodies away from their joints, the loop's frames move along
    shifted = [
        replace(joint, child_placement=OTHER, placement=joint.placement) if joint.child == "rocker" else joint
        for joint in before.joints
    ]
    moved = replace(before, joints=tuple(shifted))
    again, _, _ = written(moved, tmp_path / "moved.urdf")
    (loop,) = again.robot.loops
    q = [0.3, 0.4, 0.5]
    for robot, closing in ((moved, before.loops[0]), (again.robot, loop)):
        tree = resolve(robot)
        pose = forward_kinematics(tree, q, [closing.child])[0]
        point = np.array(pose.R) @ evaluate_all(closing.child_placement.p) + pose.p
        if robot is moved:
            expected = point
    np.testing.assert_allclose(point, expected, atol=1e-15)


def test_what_urdf_has_no_word_for_is_named(tmp_path):
    length = Parameter("length", 0.5)
    builder = RobotBuilder("r")
    builder.body("a", 1.0, com=(length, 0.0, 0.0), inertia=(0.1, 0.1, 0.1), shapes=(
        Triangle((0, 0, 0), (1, 0, 0), (0, 1, 0)), Box((1, 1, length), color=(1, 0, 0)), Capsule(0.1, 0.2),
        MeshFile("package://x/y.stl", "", (2.0, 1.0, 1.0)),
    ))  # fmt: skip
    builder.joint("j", "revolute", "world", "a", armature=0.2)
    motor, plain = Actuator("motor", "j", 3.0, effort=5.0), Actuator("n", "j", 2.0)
    system = System(builder.build(), (motor, plain))
    after, files, findings = written(system, tmp_path / "r.urdf")
    told = " ".join(finding.problem for finding in findings.found)
    assert "length" in told and "Triangle" in told and "armature" in told
    assert {finding.rule for finding in findings.found} == {"dropped"}
    assert set(after.elements) == {motor, plain} and len(files) == 2
    triangle, box, capsule, mesh = after.robot.body("a").shapes  # from the sidecar
    assert triangle.b == (1.0, 0.0, 0.0) and after.robot.joint("j").armature == (0.2,)
    assert box == Box((1.0, 1.0, 0.5), color=(1.0, 0.0, 0.0)) and capsule == Capsule(0.1, 0.2)
    assert mesh.scale == (2.0, 1.0, 1.0)
    files[1].unlink()
    box, capsule, mesh = load(files[0]).robot.body("a").shapes
    assert box == Box((1.0, 1.0, 0.5), color=(1.0, 0.0, 0.0, 1.0)) and capsule == Capsule(0.1, 0.2)
    with pytest.warns(ModelWarning):
        save(system, tmp_path / "s.urdf")


def test_numbers_survive_to_the_last_bit(tmp_path):
    body = Body("a", 1.0 / 3.0, (0.1 + 0.2, -1e-17, 1e22), ((2.0 / 3.0, 1e-5, 0.0), (1e-5, 0.7, 0.0), (0.0, 0.0, 0.9)))
    before = RobotBuilder("r").add(body).root("a").build()
    written(before, tmp_path / "r.urdf")
    after = load(tmp_path / "r.urdf").robot
    assert after.body("a") == body


def test_a_folder_that_cannot_be_made_is_a_finding(tmp_path):
    findings = Findings("x")
    (tmp_path / "taken").write_text("")
    assert write(System(library.build("pendulum")), tmp_path / "taken" / "x.urdf", findings) == ()
    assert findings.failed


def test_couplings_come_back(tmp_path):
    builder = RobotBuilder("r").add(*(Body.box(name, 1.0, (0.3, 0.2, 0.1)) for name in "ab"))
    builder.joint("i", "revolute", "world", "a").joint("j", "prismatic", "a", "b").couple("j", "i", -0.5, 0.25)
    before = builder.build()
    after, _, _ = written(before, tmp_path / "r.urdf")
    assert after.robot.couplings == before.couplings
