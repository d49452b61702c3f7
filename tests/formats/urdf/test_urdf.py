"""URDF by its parts: what is read, what is refused, what is only doubtful, and that each says so with its line."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinemorph.errors import ModelWarning
from kinemorph.formats.findings import Findings
from kinemorph.formats.loading import examine, load, load_text
from kinemorph.formats.repairs import repaired
from kinemorph.formats.sources import Options, Source
from kinemorph.formats.urdf import reader as urdf
from kinemorph.mechanics.recursions.composite_bodies import mass_matrix
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.elements import Actuator
from kinemorph.model.shapes import Box, Capsule, Cylinder, MeshFile, Sphere
from support.texts.urdf_texts import CHAIN, LIMIT, MASS, arm, joint, link, only, read, robot, sound
from support.tools.each_case import each_case

# ── joints ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@each_case(
    ("word", "kind", "inside"),
    [
        ("revolute", "revolute", LIMIT),
        ("continuous", "revolute", ""),
        ("prismatic", "prismatic", LIMIT),
        ("fixed", "fixed", ""),
        ("floating", "free", ""),
        ("planar", "planar", ""),
        ("spherical", "spherical", ""),
        ("ball", "spherical", ""),
        ("universal", "universal", ""),
        ("cylindrical", "cylindrical", ""),
        ("screw", "helical", '<screw_thread_pitch value="0.01"/>'),
    ],
)
def test_all_types_of_joints_are_read(word, kind, inside):
    assert sound(arm(inside, word)).robot.joint("j").kind == kind


def test_joints_of_drake_are_read_under_their_prefix():
    text = arm('<drake:screw_thread_pitch value="0.02"/>', "screw")
    text = text.replace("<robot", '<robot xmlns:drake="http://drake.mit.edu"')
    text = text.replace("<joint ", "<drake:joint ").replace("</joint>", "</drake:joint>")
    assert sound(text).robot.joint("j").pitch == pytest.approx(0.02 / (2.0 * math.pi), rel=1e-15)


@pytest.mark.parametrize(
    "axis", [(0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0), (0.6, 0.0, 0.8)]
)
def test_a_planar_joint_moves_across_its_axis(axis):
    inside = f'<origin xyz="1 2 3" rpy="0.3 -0.2 0.1"/><axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>'
    model = sound(arm(inside, "planar")).robot
    tree = resolve(model)
    home, away = (forward_kinematics(tree, q, ["b"])[0] for q in ([0.0, 0.0, 0.0], [0.3, -0.4, 0.7]))
    np.testing.assert_allclose(home.p, (1.0, 2.0, 3.0), atol=1e-15)
    normal = np.array(home.R) @ axis
    np.testing.assert_allclose(np.array(away.R) @ axis, normal, atol=1e-15)  # it turns about the normal
    assert abs(np.dot(np.subtract(away.p, home.p), normal)) < 1e-15  # and stays in the plane
    assert np.linalg.norm(np.subtract(away.p, home.p)) == pytest.approx(0.5, rel=1e-12)


def test_a_missing_axis_is_x_and_told_and_fixed_joints_ignore_theirs():
    text = arm().replace('<axis xyz="1 0 0"/>', "")
    assert "default 1 0 0" in only(text, "warning", "assumed").problem
    assert read(text)[0].robot.joint("j").axis == (1.0, 0.0, 0.0)
    assert sound(arm('<axis xyz="0 0 0"/>', "fixed")).robot.joint("j").kind == "fixed"
    assert sound(arm('<axis xyz="0 0 0"/>', "floating")).robot.joint("j").kind == "free"


@pytest.mark.parametrize(
    ("inside", "problem", "remedy"),
    [
        ('<dynamics dampening="1"/>', "the attribute 'dampening' is not known", "Did you mean 'damping'?"),
        ('<origin rpy="0 90 0"/>', "90 rad is more than a full turn", "Write 1.57079633 if 90 degrees are meant."),
    ],
)
def test_what_is_read_as_something_else_than_was_meant_is_told(inside, problem, remedy):
    finding = only(arm(LIMIT + inside), "warning", "unit" if "rpy" in inside else "unknown")
    assert problem in finding.problem and finding.remedy == remedy


def test_attributes_of_other_programs_beside_ours_are_passed_over():
    sound(arm(LIMIT + '<dynamics damping="1" friction="0" mu_viscous="3"/><origin rpy="0 -6.2832 0"/>'))


def test_axes_that_only_lack_digits_are_told_once_and_mended_together():
    axis = '<axis xyz="0.121869 -0.992546 0"/>'
    bent = [joint(f"j{k}", "continuous", "abc"[k], "abc"[k + 1], axis) for k in range(2)]
    text = robot(link("a"), link("b"), link("c"), *bent)
    finding = only(text, "warning", "axis")
    assert "2 times in this file" in finding.problem and finding.element == "joint 'j0'"
    _, findings = read(text, repairable=True)
    sound(repaired(findings.document, findings.found).decode())


def test_an_axis_of_another_length_is_scaled_and_can_be_mended():
    text = arm('<axis xyz="0 3 4"/>' + LIMIT)
    finding = only(text, "warning", "axis")
    assert "length 5" in finding.problem and 'xyz="0 0.59999999999999998 0.80000000000000004"' in finding.remedy
    assert read(text)[0].robot.joint("j").axis == (0.0, 0.6, 0.8)
    findings = Findings("r.urdf")
    root = urdf.parse(Source("r.urdf", text.encode()), findings)
    reading = urdf.Reading(Source("r.urdf", b""), Options(), findings, urdf.Blueprint(findings, "r"))
    urdf.read_joint(root.find("joint"), reading)
    reading.tally.report()
    findings.found[0].repair()
    again = Findings("r.urdf")
    reading = urdf.Reading(Source("r.urdf", b""), Options(), again, urdf.Blueprint(again, "r"))
    _, draft, _ = urdf.read_joint(root.find("joint"), reading)
    assert draft["axis"] == (0.6 * 0.0, 0.6, 0.8) and not again.found


@pytest.mark.parametrize("text", ["0 0 0", "0 0 1e-200"])
def test_an_axis_without_direction_is_refused(text):
    assert "expected a direction" in only(arm(f'<axis xyz="{text}"/>' + LIMIT), "error", "axis").problem


@pytest.mark.parametrize("text", ["nan 0 1", "0 0", "0 b 1", "1_0 0 0"])
def test_an_axis_that_is_no_numbers_is_refused_once(text):
    only(arm(f'<axis xyz="{text}"/>' + LIMIT), "error", "number")


def test_an_unknown_type_is_refused_with_the_nearest():
    finding = only(arm(LIMIT, "revolut"), "error", "structure")
    assert "'revolut'" in finding.problem and finding.remedy == "Did you mean 'revolute'?" and finding.line == 6


# ── limits, dynamics, mimic ───────────────────────────────────────────────────────────────────────────────────────────


def test_limits_and_losses_are_read_and_what_is_missing_is_unlimited():
    one = sound(arm(LIMIT + '<dynamics damping="0.5" friction="0.2"/>')).robot.joint("j")
    assert (one.lower, one.upper, one.effort, one.velocity) == ((-1.0,), (1.0,), (5.0,), (2.0,))
    assert (one.damping, one.friction) == ((0.5,), (0.2,))
    bare = sound(arm('<limit lower="-2"/>')).robot.joint("j")
    assert (bare.lower, bare.upper, bare.effort) == ((-2.0,), (math.inf,), (math.inf,))
    endless = sound(arm('<limit effort="3" velocity="4"/>', "continuous")).robot.joint("j")
    assert (endless.lower, endless.effort, endless.velocity) == ((-math.inf,), (3.0,), (4.0,))


def test_limits_of_nothing_are_no_limits_and_told_once_for_all_joints():
    inside = '<limit lower="-1" upper="1" effort="0" velocity="3"/>'
    text = robot(
        link("a"),
        link("b"),
        link("c"),
        joint("j", "revolute", "a", "b", inside),
        joint("k", "revolute", "b", "c", inside),
    )
    finding = only(text, "warning", "limit")
    assert "effort limit is 0" in finding.problem and "2 times" in finding.problem and "'j'" in finding.element
    assert read(text)[0].robot.joint("k").effort == (math.inf,)


def test_mimic_joints_are_coupled():
    text = robot(
        link("a"), link("b"), link("c"),
        joint("j", "continuous", "a", "b"),
        joint("k", "continuous", "b", "c", '<mimic joint="j" multiplier="-2" offset="0.1"/>'),
    )  # fmt: skip
    (coupling,) = sound(text).robot.couplings
    assert (coupling.joint, coupling.leader, coupling.multiplier, coupling.offset) == ("k", "j", -2.0, 0.1)


# ── links ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_inertial_frame_may_be_turned():
    inside = (
        '<inertial><origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/><mass value="2"/>'
        '<inertia ixx="1" ixy="0.1" ixz="0.2" iyy="2" iyz="0.3" izz="2.5"/></inertial>'
    )
    body = sound(robot(link("a", inside))).robot.body("a")
    from scipy.spatial.transform import Rotation

    R = Rotation.from_euler("xyz", [0.4, -0.5, 0.6]).as_matrix()
    moment = np.array([[1.0, 0.1, 0.2], [0.1, 2.0, 0.3], [0.2, 0.3, 2.5]])
    np.testing.assert_allclose(body.inertia, R @ moment @ R.T, atol=1e-15)
    assert np.array_equal(body.inertia, np.transpose(body.inertia)) and body.com == (0.1, 0.2, 0.3)


def test_right_angles_leave_exact_zeros():
    model = sound(arm('<origin rpy="1.5707963267948966 0 -1.5707963267948966"/>' + LIMIT)).robot
    assert {abs(x) for row in model.joint("j").placement.R for x in row} == {0.0, 1.0}


@each_case(
    ("inside", "severity", "rule"),
    [
        ('<inertial><mass value="1"/></inertial>', "warning", "assumed"),
        ('<inertial><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>', "warning", "assumed"),
        (MASS.replace('ixy="0" ', ""), "warning", "assumed"),
        (MASS.replace('ixx=".1" ', ""), "error", "structure"),
        (MASS.replace('"2"', '"2,5"'), "error", "number"),
        (MASS + MASS, "warning", "structure"),
        (MASS.replace("inertial", "inertal"), "warning", "unknown"),
        (MASS + "<visual/>", "warning", "structure"),
        (MASS + '<visual><geometry><box size="1 1 0"/></geometry></visual>', "warning", "data"),
        (MASS + '<visual><geometry><sphere radius="x"/></geometry></visual>', "warning", "number"),
        (MASS + "<contact><rolling_friction value='1'/></contact>", "warning", "dropped"),
    ],
)
def test_each_doubt_and_each_mistake_of_a_link_has_its_rule(inside, severity, rule):
    system, findings = read(robot(link("a", inside)))
    assert {(finding.severity, finding.rule) for finding in findings.found} >= {(severity, rule)}
    finding = next(finding for finding in findings.found if finding.rule == rule)
    assert finding.line in (2, 3) and "'a'" in finding.element
    assert (system is None) == (severity == "error")


def test_shapes_and_colors_are_read():
    def visual(solid, rest=""):
        return f'<visual><origin xyz="0 0 1"/><geometry>{solid}</geometry>{rest}</visual>'

    red = '<material name="red"><color rgba="1 0 0 1"/></material>'
    inside = (
        visual('<box size="1 2 3"/>', '<material name="late"/>')
        + visual('<cylinder radius="1" length="2"/>', red)
        + visual('<sphere radius="0.5"/>', '<material name="red"/>')
        + '<collision><geometry><capsule radius="1" length="2"/></geometry></collision>'
    )
    late = '<material name="late"><color rgba="0 1 0 0.5"/></material>'
    body = sound(robot(link("a", inside), late)).robot.body("a")
    box, cylinder, ball = body.shapes
    assert box == Box((1.0, 2.0, 3.0), box.placement, (0.0, 1.0, 0.0, 0.5)) and box.placement.p == (0.0, 0.0, 1.0)
    assert isinstance(cylinder, Cylinder) and isinstance(ball, Sphere)
    assert cylinder.color == ball.color == (1.0, 0.0, 0.0, 1.0)
    assert body.collisions == (Capsule(1.0, 2.0),)


# ── meshes ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def meshes(*names):
    return "".join(f'<visual><geometry><mesh filename="{name}" scale="2 2 2"/></geometry></visual>' for name in names)


def test_meshes_are_found_beside_the_model_and_in_packages(tmp_path):
    (tmp_path / "arm" / "meshes").mkdir(parents=True)
    (tmp_path / "arm" / "package.xml").write_text("<package/>")
    (tmp_path / "arm" / "meshes" / "one.stl").write_bytes(b"solid")
    (tmp_path / "arm" / "meshes" / "two.stl").write_bytes(b"solid")
    names = ("package://arm/meshes/one.stl", "package://arm/meshes/two.stl", "meshes/two.stl")
    (tmp_path / "arm" / "arm.urdf").write_text(robot(link("a", MASS + meshes(*names))))
    shapes = load(tmp_path / "arm" / "arm.urdf").robot.body("a").shapes
    assert [shape.path for shape in shapes] == [
        str((tmp_path / "arm" / "meshes" / file).resolve()) for file in ("one.stl", "two.stl", "two.stl")
    ]
    assert shapes[0] == MeshFile(names[0], shapes[0].path, (2.0, 2.0, 2.0))


def test_a_folder_above_is_a_package_only_if_it_says_so(tmp_path):
    """Else `package://home/...` would name any folder of the disk."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "part.stl").write_bytes(b"solid")
    (tmp_path / "mine" / "urdf").mkdir(parents=True)
    path = tmp_path / "mine" / "urdf" / "arm.urdf"
    path.write_text(robot(link("a", MASS + meshes("package://other/part.stl"))))
    examined = examine(path)
    assert examined.system.robot.body("a").shapes[0].path == ""
    assert [finding.rule for finding in examined.findings] == ["mesh"]
    (tmp_path / "other" / "package.xml").write_text("<package/>")
    assert not examine(path).findings


def test_missing_meshes_are_one_warning_for_each_package():
    names = [f"package://gone/{k}.stl" for k in range(40)] + ["package://lost/x.dae"]
    system, findings = read(robot(link("a", MASS + meshes(*names))))
    assert [finding.rule for finding in findings.found] == ["mesh", "mesh"]
    assert "39 others" in findings.found[0].problem and "'gone'" in findings.found[0].remedy
    assert len(system.robot.body("a").shapes) == 41


@pytest.mark.parametrize("name", ["../../secret.stl", "file:///etc/passwd", "/etc/passwd", "http://x.org/a.stl"])
def test_meshes_outside_are_left_out_with_a_warning(tmp_path, name):
    path = tmp_path / "in" / "arm.urdf"
    path.parent.mkdir()
    (tmp_path.parent / "secret.stl").write_bytes(b"solid")
    path.write_text(robot(link("a", MASS + meshes(name))))
    examined = examine(path)
    system, findings = examined.system, examined.findings
    assert [finding.rule for finding in findings] == ["path"] and system.robot.body("a").shapes == ()


def test_a_link_that_leads_outside_is_not_followed(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "package.xml").touch()  # the root of the model
    (tmp_path / "secret.stl").write_bytes(b"solid")
    (tmp_path / "in" / "fine.stl").write_bytes(b"solid")
    (tmp_path / "in" / "sly.stl").symlink_to(tmp_path / "secret.stl")
    (tmp_path / "in" / "arm.urdf").write_text(robot(link("a", MASS + meshes("fine.stl", "sly.stl"))))
    examined = examine(tmp_path / "in" / "arm.urdf")
    system, findings = examined.system, examined.findings
    assert [finding.rule for finding in findings] == ["path"]
    assert [shape.source for shape in system.robot.body("a").shapes] == ["fine.stl"]


# ── structure ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_structure_mistakes_name_the_links_and_the_remedy():
    two = robot(link("a"), link("b"), link("c"), joint("j", "continuous", "a", "b"))
    assert "'a', 'c'" in only(two, "error", "root").problem
    ring = robot(link("a"), link("b"), joint("j", "fixed", "a", "b"), joint("k", "fixed", "b", "a"))
    assert "no root" in only(ring, "error", "root").problem
    typo = robot(link("upper"), link("b"), joint("j", "continuous", "uper", "b"))
    assert only(typo, "error", "name").remedy == "Did you mean 'upper'?"
    itself = robot(link("a"), link("b"), joint("j", "fixed", "a", "b"), joint("k", "fixed", "b", "b"))
    assert "structure" in {finding.rule for finding in read(itself)[1].errors}
    twice = robot(link("a"), link("a"))
    assert only(twice, "error", "name").line == 4


def test_a_link_with_two_parents_is_sent_to_the_sidecar():
    text = robot(
        link("a"), link("b"), link("c"),
        joint("j", "continuous", "a", "b"), joint("k", "continuous", "a", "c"), joint("l", "continuous", "b", "c"),
    )  # fmt: skip
    finding = only(text, "error", "loop")
    assert "r.sidecar.toml" in finding.remedy and "<loop_joint>" in finding.remedy and "'k'" in finding.problem


def test_files_that_are_no_robot_are_refused():
    assert "<model>" in only("<model/>", "error", "structure").problem
    assert "no <link>" in only('<robot name="r"/>', "error", "structure").problem
    nameless = robot("<link/>", link("a"))
    assert "'name' is missing" in only(nameless, "error", "structure").problem
    macro = robot(link("a"), "<xacro:macro/>").replace("<robot", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"')
    assert ".xacro" in only(macro, "error", "structure").remedy


# ── base and world ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_base_is_fixed_unless_it_is_freed():
    assert sound(arm()).robot.joints[0].kind == "fixed"
    assert sound(arm(), base="free").robot.joint_names == ("a_root", "j")
    assert sound(arm(), base="free").robot.nv == 7


def test_a_bare_link_called_world_is_the_ground():
    text = robot('<link name="world"/>', link("a"), joint("bolt", "fixed", "world", "a", '<origin xyz="0 0 1"/>'))
    model = sound(text).robot
    assert model.body_names == ("a",) and model.joints[0].parent == "world"
    system, findings = read(text, base="free")
    assert system.robot.body_names == ("world_link", "a") and system.robot.nv == 6
    assert [finding.rule for finding in findings.found] == ["name"]


def test_a_heavy_link_called_world_is_a_body():
    system, findings = read(robot(link("world"), link("a"), joint("j", "continuous", "world", "a")))
    assert system.robot.body_names == ("world_link", "a") and [f.rule for f in findings.found] == ["name"]


# ── the text as a whole ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("repairable", [False, True])
def test_comments_and_white_space_change_nothing(repairable):
    motor = (
        '<transmission name="t"><actuator name="m"/><joint name="j"/>'
        "<mechanicalReduction>\n5<!-- fifty -->0 </mechanicalReduction></transmission>"
    )
    text = robot(*CHAIN, motor).replace("<parent", "<!-- above --> <parent").replace("<mass", "\n<!-- kg -->\n<mass")
    findings = Findings("r.urdf")
    system = urdf.read(Source("r.urdf", text.encode()), Options(repairable=repairable), findings)
    assert system is not None and not findings.found
    assert system.elements == (Actuator("m", "j", 50.0),)
    assert system.robot.bodies == sound(robot(*CHAIN)).robot.bodies
    assert (findings.document is not None) == repairable


@pytest.mark.parametrize("repairable", [False, True])
def test_lines_are_known_in_long_files(repairable):
    findings = Findings("r.urdf")
    text = robot(link("a"), "\n" * 70_000, *[f'<link name="{k}"/>\n' for k in range(3)])
    urdf.blueprint_of(Source("r.urdf", text.encode()), Options(repairable=repairable), findings)
    place = text.count("\n", 0, text.index('name="2"')) + 1
    assert abs(findings.lines["body", "2"] - place) <= 1  # beyond line 65,535 libxml2 gives that of the next text


def test_parts_without_a_say_in_the_motion_come_after_the_blueprint():
    text = robot(link("a", MASS + meshes("gone.stl")), link("b"), joint("j", "continuous", "a", "b"))
    findings = Findings("r.urdf")
    blueprint = urdf.blueprint_of(Source("r.urdf", text.encode()), Options(), findings)
    assert not findings.found and blueprint.system().robot.nv == 1
    with pytest.warns(ModelWarning, match="gone.stl"):
        model = load_text(text, "urdf").robot
    assert np.array_equal(mass_matrix(resolve(model), [0.3]), mass_matrix(resolve(blueprint.system().robot), [0.3]))


@pytest.mark.parametrize("slip", ['<dynamics dampin="1"/>', '<mimic joint="i" multiplyer="2"/>'])
def test_a_slip_in_an_attribute_that_moves_something_is_named(slip):
    """A factor that is misspelled would be 1, and a damping nothing, without a word."""
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = "".join(f'<link name="{name}">{mass}</link>' for name in "abc")
    joint = '<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/>{}</joint>'
    text = f'<robot name="r">{links}{joint.format("i", "a", "b", "")}{joint.format("j", "b", "c", slip)}</robot>'
    with pytest.warns(ModelWarning, match="the attribute '(dampin|multiplyer)' is not known.*Did you mean"):
        load_text(text, "urdf")


def test_independent_errors_are_all_reported() -> None:
    inertial = '<inertial><mass value="-1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    text = f"""<robot name="r"><link name="a">{inertial}</link><link name="b"/><link name="c"/><link name="d"/>
<joint name="i" type="revolut"><parent link="nowhere"/><child link="b"/><axis xyz="0 0 0"/></joint>
<joint name="j" type="fixed"><parent link="b"/><child link="none"/></joint>
<joint name="k" type="continuous"><parent link="a"/><child link="d"/><axis xyz="0 0 0"/></joint></robot>"""
    _, findings = read(text)
    found = {(finding.line, finding.rule) for finding in findings.errors}
    assert found == {(1, "mass"), (2, "structure"), (2, "name"), (2, "axis"), (3, "name"), (4, "axis")}
