"""What is wrong with an SDF file is said with its line, and what it cannot mean here is named."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from kinemorph.errors import ModelWarning
from kinemorph.formats.loading import examine, load_text
from kinemorph.model.elements import TorsionSpring
from support.robots.sdf_models import GRIPPER, A, examined, joint, link, model, pose_of, robot_of
from support.tools.each_case import each_case

# ── what is wrong with a file ─────────────────────────────────────────────────────────────────────────────────────────


def world(body: str) -> str:
    return f'<sdf version="1.9"><world name="w"><gravity>0 0 0</gravity>{body}</world></sdf>'


def hinged(axis: str, kind: str = "revolute") -> str:
    return model(A + joint("j", kind, "world", "a", f"<axis>{axis}</axis>"))


def ring(first: str, second: str) -> str:
    return model(A + f'<frame name="f"{first}</frame><frame name="g"{second}</frame>')


MESH = "<collision name='c'><geometry><mesh><uri>x</uri></mesh></geometry></collision>"
BAD = {  # (text of the file, what is said of it: severity, line and sentence)
    "no sdf": ("<robot/>",
        'error 2: the root element is <robot>, expected <sdf>. Put the model into <sdf version="1.9">. [structure]'),
    "no version": ("<sdf><model name='m'/></sdf>",
        "error 2: sdf: <sdf>: attribute 'version' is missing, expected a version such as 1.9. Write <sdf "
        "version=\"...\">. [structure]\nerror 2: model 'm': the model has no links, expected at least one. Add a "
        "link, or write <static>true</static>. [structure]"),
    "version": (model(A, version="abc"),
        "error 2: sdf: the version is 'abc', expected a number such as 1.9. Write the version of SDF that the file "
        "follows. [structure]"),
    "old version": (model(A, version="1.0"),
        "error 2: sdf: the version is 1.0, expected 1.2 or newer. Convert the file to a newer version of SDF. "
        "[structure]"),
    "two worlds": ('<sdf version="1.9"><world name="a"/><world name="b"/></sdf>',
        "error 2: sdf: the file has several worlds, or a world and a model, expected one world or models only. Keep "
        "one world. [structure]"),
    "nothing": ('<sdf version="1.9"/>',
        "error 2: robot 'x': it has no bodies, expected at least one. Add a body and declare it as a root. [name]"),
    "model without links": (model("<frame name='f'/>"),
        "error 2: model 'm': the model has no links, expected at least one. Add a link, or write "
        "<static>true</static>. [structure]"),
    "unnamed link": (model("<link/>"),
        "error 2: link: <link>: attribute 'name' is missing, expected text. Write <link name=\"...\">. "
        "[structure]\nerror 2: model 'm': the model has no links, expected at least one. Add a link, or write "
        "<static>true</static>. [structure]"),
    "two links of one name": (model(A + A),
        "error 2: link 'a': link 'a' on line 2 has this name already, expected different names in a model. Rename "
        "one of the two. [name]"),
    "link and joint of one name": (model(A + joint("a", "fixed", "world", "a", "")),
        "error 2: joint 'a': link 'a' on line 2 has this name already, expected different names in a model. Rename "
        "one of the two. [name]"),
    "two models of one name": (world(f'<model name="m">{A}</model>' * 2),
        "error 2: model 'm': model 'm' on line 2 has this name already, expected different names in a model. Rename "
        "one of the two. [name]"),
    "reserved name": (model(A + '<frame name="__model__"/>'),
        "error 2: frame '__model__': the name '__model__' is reserved by SDF, expected another name. Choose another "
        "name. [name]"),
    "link called world": (model(link("world")),
        "error 2: link 'world': the name 'world' is reserved by SDF, expected another name. Choose another name. "
        "[name]\nerror 2: model 'm': canonical_link is 'world', expected the name of a link, joint, frame or model "
        "in the same model or world. Correct the name, or add this frame. [name]"),
    "pose with five numbers": (model(link("a", "<pose>1 2 3 4 5</pose>")),
        "error 2: link 'a': <pose> is '1 2 3 4 5' with 5 numbers, expected 6. Write exactly 6 numbers. [number]"),
    "pose with a word": (model(link("a", "<pose>1 2 x 0 0 0</pose>")),
        "error 2: link 'a': <pose> is 'x', expected a number. Write a number such as 0.5. [number]"),
    "not finite": (model(link("a", "<pose>1 2 nan 0 0 0</pose>")),
        "error 2: link 'a': <pose> is 'nan', expected a finite number. Write a finite number. [number]"),
    "quaternion of length 0": (model(link("a", '<pose rotation_format="quat_xyzw">0 0 0 0 0 0 0</pose>')),
        "error 2: link 'a': <pose>: the quaternion (0.0, 0.0, 0.0, 0.0) has length 0, expected 1. Divide the "
        "quaternion by its length. [rotation]"),
    "rotation format": (model(link("a", '<pose rotation_format="zyx">0 0 0 0 0 0 0</pose>')),
        "error 2: link 'a': <pose>: rotation_format is 'zyx', expected euler_rpy or quat_xyzw. Choose one of the "
        "two. [structure]"),
    "degrees": (model(link("a", '<pose degrees="maybe">0 0 0 0 0 0</pose>')),
        "error 2: link 'a': <pose> degrees is 'maybe', expected true or false. Write true or false. [structure]"),
    "ring of poses": (ring('><pose relative_to="g"/>', '><pose relative_to="f"/>'),
        "error 2: frame 'g': poses are relative to each other in a cycle: 'm::f' -> 'm::g' -> 'm::f'. Remove "
        "relative_to from one of these frames. [structure]"),
    "pose relative to itself": (model(A + '<frame name="f"><pose relative_to="f"/></frame>'),
        "error 2: frame 'f': poses are relative to each other in a cycle: 'm::f' -> 'm::f'. Remove relative_to from "
        "one of these frames. [structure]"),
    "ring of attachments": (ring(' attached_to="g">', ' attached_to="f">'),
        "error 2: frame 'f': attached_to leads back to this frame in a cycle, expected a link or the world at its "
        "end. Name a link in attached_to. [structure]\nerror 2: frame 'g': poses are relative to each other in a "
        "cycle: 'm::f' -> 'm::g' -> 'm::f'. Remove relative_to from one of these frames. [structure]"),
    "unknown frame": (model(link("a", '<pose relative_to="b"/>')),
        "error 2: link 'a': relative_to is 'b', expected the name of a link, joint, frame or model in the same model "
        "or world. Correct the name, or add this frame. [name]"),
    "unknown attachment": (model(A + '<frame name="f" attached_to="b"/>'),
        "error 2: frame 'f': attached_to is 'b', expected the name of a link, joint, frame or model in the same "
        "model or world. Correct the name, or add this frame. [name]"),
    "unknown placement frame": (model(A, data=' placement_frame="x"'),
        "error 2: model 'm': placement_frame is 'x', expected the name of a link, joint, frame or model in the same "
        "model or world. Correct the name, or add this frame. [name]"),
    "unknown canonical link": (model(A, data=' canonical_link="x"'),
        "error 2: model 'm': canonical_link is 'x', expected the name of a link, joint, frame or model in the same "
        "model or world. Correct the name, or add this frame. [name]"),
    "unknown parent": (model(A + joint("j", "fixed", "x", "a", "")),
        "error 2: joint 'j': <parent> is 'x', expected the name of a link, joint, frame or model in the same model "
        "or world. Correct the name, or add this frame. [name]"),
    "unknown child": (model(A + joint("j", "fixed", "a", "x", "")),
        "error 2: joint 'j': <child> is 'x', expected the name of a link, joint, frame or model in the same model or "
        "world. Correct the name, or add this frame. [name]"),
    "world as child": (model(A + joint("j", "fixed", "a", "world", "")),
        "error 2: joint 'j': <child> is 'world', expected the name of a link, joint, frame or model in the same "
        "model or world. Correct the name, or add this frame. [name]"),
    "no child": (model(A + '<joint name="j" type="fixed"><parent>a</parent></joint>'),
        "error 2: joint 'j': <child> is missing, expected text. Write <child>...</child>. [structure]\nerror 2: "
        "joint 'j': <child> is '', expected the name of a link, joint, frame or model in the same model or world. "
        "Correct the name, or add this frame. [name]"),
    "no parent": (model(A + '<joint name="j" type="fixed"><child>a</child></joint>'),
        "error 2: joint 'j': <parent> is missing, expected text. Write <parent>...</parent>. [structure]"),
    "joint to itself": (model(A + joint("j", "fixed", "a", "a", "")),
        "error 2: joint 'j': parent and child are the same link, expected two different links, of which the child "
        "can move. Name another <parent>. [structure]"),
    "joint type": (model(A + joint("j", "hinge", "world", "a")),
        "error 2: joint 'j': the type is 'hinge', expected one of revolute, continuous, prismatic, screw, ball, "
        "universal, revolute2, fixed, gearbox. Choose one of these types. [structure]"),
    "no axis": (model(A + joint("j", "revolute", "world", "a", "")),
        "error 2: joint 'j': <axis> is missing, expected a direction. Add <axis><xyz>0 0 1</xyz></axis>. [structure]"),
    "zero axis": (model(A + joint("j", "revolute", "world", "a", "<axis><xyz>0 0 0</xyz></axis>")),
        "error 2: joint 'j': <axis> <xyz> is (0.0, 0.0, 0.0), expected a direction of length 1. Write a unit vector, "
        "such as 0 0 1. [axis]"),
    "unknown frame of an axis": (hinged('<xyz expressed_in="x">0 0 1</xyz>'),
        "error 2: joint 'j': expressed_in is 'x', expected the name of a link, joint, frame or model in the same "
        "model or world. Correct the name, or add this frame. [name]"),
    "limits swapped": (hinged("<limit><lower>1</lower><upper>-1</upper></limit>"),
        "error 2: joint 'j': lower limit 1 is above upper limit -1 of j. Swap them. [data]\nwarning 2: joint 'j': "
        "<axis> has no <xyz>: SDF's default 0 0 1 is used. Write <xyz> with the direction. [assumed]"),
    "pitch 0": (model(A + joint("j", "screw", "world", "a", "<thread_pitch>0</thread_pitch><axis/>")),
        "error 2: joint 'j': <thread_pitch> is 0.0, expected a number in radians per meter, not 0. Write "
        "<screw_thread_pitch> in meters per revolution. [number]\nwarning 2: joint 'j': <axis> has no <xyz>: SDF's "
        "default 0 0 1 is used. Write <xyz> with the direction. [assumed]"),
    "parallel axes": (model(A + joint("j", "universal", "world", "a", "<axis/><axis2/>")),
        "error 2: joint 'j': axis (0.0, 0.0, 1.0) and axis2 (0.0, 0.0, 1.0) are parallel, expected two directions. "
        "Change one of the two. [data]\nwarning 2: joint 'j': <axis> has no <xyz>: SDF's default 0 0 1 is used. "
        "Write <xyz> with the direction. [assumed]\nwarning 2: joint 'j': <axis2> has no <xyz>: SDF's default 0 0 1 "
        "is used. Write <xyz> with the direction. [assumed]"),
    "negative mass": (model(A.replace("<mass>2", "<mass>-2")),
        "error 2: link 'a': mass is -2 kg, expected more than 0. Correct its mass data. [mass]"),
    "mass with a comma": (model(A.replace("<mass>2", "<mass>2,5")),
        "error 2: link 'a': <mass> is '2,5', expected a number. Write a point for the decimal comma: '2.5'. [number]"),
    "mimic of nobody": (model(A + joint("j", "revolute", "world", "a", '<axis><mimic joint="x"/></axis>')),
        "error 2: joint 'j': <mimic> joint is 'x', expected the name of a link, joint, frame or model in the same "
        "model or world. Correct the name, or add this frame. [name]\nwarning 2: joint 'j': <axis> has no <xyz>: "
        "SDF's default 0 0 1 is used. Write <xyz> with the direction. [assumed]"),
    "auto without collision": (model('<link name="a"><inertial auto="true"/></link>'),
        "error 2: link 'a': <inertial auto> asks to compute the inertia, but the link has no <collision>; expected a "
        "box, sphere, cylinder, capsule, cone or ellipsoid. Write mass, pose and inertia in <inertial>. [mass]"),
    "auto with a mesh": (model(f'<link name="a"><inertial auto="1"/>{MESH}</link>'),
        "error 2: link 'a': <inertial auto> asks to compute the inertia, but the link has a collision of geometry "
        "<mesh>; expected a box, sphere, cylinder, capsule, cone or ellipsoid. Write mass, pose and inertia in "
        "<inertial>. [mass]\nwarning 2: link 'a': the mesh 'x' is not found: it is not drawn, and touches nothing. "
        "Correct the path, or name the folder of the file in package_dirs (--package-dir). [mesh]"),
    "link in the world": ('<sdf version="1.9"><world name="w"><link name="a"/></world></sdf>',
        "error 2: link 'a': the link is in <world>, expected it in a <model>. Move the link into a <model>. "
        "[structure]"),
    "include without uri": (model(A + "<include/>"),
        "error 2: include: <uri> is missing, expected text. Write <uri>...</uri>. [structure]"),
    "include of nothing": (model(A + "<include><uri>nowhere</uri></include>"),
        "error 2: include 'nowhere': no model is found at 'nowhere', expected an SDF file or a folder with "
        "model.sdf. Correct the path, or name the folder that contains it in package_dirs (--package-dir). [file]"),
    "doctype": ('<!DOCTYPE sdf><sdf version="1.9"/>',
        "error 2: the file has a document type declaration, expected none: it could read other files or fill the "
        "memory. Remove <!DOCTYPE ...>, and replace entities by their text. [entities]"),
    "not closed": ("<sdf version='1.9'><model>",
        "error 2: the text is not well-formed XML: Premature end of data in tag model line 2. Correct it near this "
        "line. [syntax]"),
}  # fmt: skip


@each_case("case", BAD)
def test_what_is_wrong_is_said_with_its_line_and_its_sentence(case: str) -> None:
    text, said = BAD[case]
    found = examined("\n" + text)
    assert found.system is None
    told = [f"{one.severity} {str(one).partition(':')[2].strip()}" for one in found.findings]
    assert "\n".join(told) == said


def test_all_mistakes_are_told_at_once() -> None:
    text = model(
        link("a", "<pose>x 0 0 0 0 0</pose>") + link("b").replace("<mass>2", "<mass>?") + joint("j", "bad", "a", "q")
    )
    rules = sorted(finding.rule for finding in examined(text).errors)
    assert rules == ["name", "number", "number", "structure"]


DROPPED = {
    "spring": hinged("<xyz>0 0 1</xyz><dynamics><spring_stiffness>5</spring_stiffness></dynamics>", "ball"),
    "kinematic": model(link("a", "<kinematic>1</kinematic>")),
    "decay": model(link("a", "<velocity_decay><linear>1</linear></velocity_decay>")),
    "plugin": model(A + "<plugin name='p' filename='x'/>"),
    "state": world(f'<model name="m">{A}</model><state world_name="w"/>'),
    "custom": model(A + '<d:joint xmlns:d="drake"/>'),
    "polyline": model(link("a", "<visual name='v'><geometry><polyline/></geometry></visual>")),
}  # fmt: skip


def test_springs_of_joints_are_elements() -> None:
    spring = "<spring_stiffness>5</spring_stiffness><spring_reference>0.3</spring_reference>"
    found = examined(hinged(f"<xyz>0 0 1</xyz><dynamics>{spring}</dynamics>"))
    assert found.system is not None and not found.findings
    assert found.system.elements == (TorsionSpring("j spring", "j", 5.0, 0.3),)


@pytest.mark.parametrize("case", DROPPED)
def test_what_cannot_be_expressed_is_told(case: str) -> None:
    found = examined(DROPPED[case])
    assert found.system is not None and [finding.rule for finding in found.findings] == ["dropped"]


SLIPS = {
    "dampng": hinged("<xyz>0 0 1</xyz><dynamics><dampng>1</dampng></dynamics>"),
    "iner_tial": model(link("a", "<iner_tial/>")),
    "lowr": hinged("<xyz>0 0 1</xyz><limit><lowr>1</lowr></limit>"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_elements_that_sdf_does_not_have_are_told(slip: str) -> None:
    (finding,) = examined(SLIPS[slip]).findings
    assert finding.rule == "unknown" and f"<{slip}>" in finding.problem and finding.remedy.startswith("Did you mean")


def test_defaults_and_degrees_are_told() -> None:
    (finding,) = examined(hinged("")).findings
    assert finding.rule == "assumed" and "0 0 1" in finding.problem
    turned = link("a", "<pose>0 0 0 0 90 0</pose>") + link("b", "<pose>0 0 0 0 180 0</pose>")
    (finding,) = examined(model(turned)).findings
    assert finding.rule == "unit" and "90 rad" in finding.problem
    assert not examined(model(turned.replace("<pose>", '<pose degrees="true">'))).findings


def test_many_of_a_kind_are_one_warning() -> None:
    parts = "".join(link(f"l{k}", "<kinematic>1</kinematic>") for k in range(5))
    (finding,) = examined(model(parts)).findings
    assert "5 times" in finding.problem and finding.element == "link 'l0'"


def test_an_axis_that_is_not_a_unit_vector_is_scaled_and_told() -> None:
    found = examined(model(A + joint("j", "revolute", "world", "a", "<axis><xyz>0 3 4</xyz></axis>")))
    assert found.system is not None and found.system.robot.joint("j").axis == (0.0, 0.6, 0.8)
    (finding,) = found.findings
    assert finding.rule == "axis" and finding.repair is not None


@pytest.mark.parametrize(
    "uri", ["../../secret.sdf", "model://../secret", "file:///etc/passwd.sdf", "http://x/y.sdf", "/etc/x.sdf"]
)
def test_includes_stay_inside(tmp_path: Path, uri: str) -> None:
    (tmp_path / "secret.sdf").write_text(GRIPPER)
    inner = tmp_path / "robot" / "sdf"
    inner.mkdir(parents=True)
    (inner / "main.sdf").write_text(model(A + f"<include><uri>{uri}</uri></include>"))
    found = examine(inner / "main.sdf")
    assert found.system is None and [finding.rule for finding in found.errors] == ["path"]


def test_files_that_include_each_other_are_a_ring(tmp_path: Path) -> None:
    for here, there in (("a", "b"), ("b", "a")):
        (tmp_path / f"{here}.sdf").write_text(model(link(here) + f"<include><uri>{there}.sdf</uri></include>"))
    found = examine(tmp_path / "a.sdf")
    assert found.system is None and "includes itself" in found.errors[0].problem


def test_files_that_include_others_twice_are_limited(tmp_path: Path) -> None:
    """Thirty files, each with the next one twice: 2^30 models."""
    for k in range(30):
        twice = "".join(f"<include><uri>{k + 1}.sdf</uri><name>{side}</name></include>" for side in "lr")
        (tmp_path / f"{k}.sdf").write_text(model(link("a") + twice))
    (tmp_path / "30.sdf").write_text(model(link("a")))
    found = examine(tmp_path / "0.sdf")
    assert found.system is None and "includes" in found.errors[-1].problem


def test_long_chains_of_frames_and_links() -> None:
    """A thousand links and frames, each relative to the one declared after it; nothing recurses."""
    n = 1000
    frames = "".join(f'<frame name="f{k}" attached_to="f{k + 1}"><pose>0 0 1 0 0 0</pose></frame>' for k in range(n))
    links = "".join(
        link(f"l{k}", f'<pose relative_to="l{k + 1}">1 0 0 0 0 0</pose>' if k < n else "") for k in range(n + 1)
    )
    robot = robot_of(model(frames + f'<frame name="f{n}" attached_to="l0"/>' + links, version="1.9"), base="fixed")
    assert robot.frame("f0").body == "l0" and robot.frame("f0").placement.p == (0.0, 0.0, float(n))
    assert pose_of(robot, "l0")[0, 3] == n


def test_strict_makes_errors_of_warnings() -> None:
    with pytest.raises(Exception, match="assumed"):
        load_text(model('<link name="a"/>'), "sdf", strict=True)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        load_text(model('<link name="a"/>'), "sdf")
    assert [entry.category for entry in told] == [ModelWarning]


@each_case(
    ("axis", "more", "kind", "told"),
    [
        ("<xyz>0 0 1</xyz>", "<foo/>", "revolute", "<foo> in <joint> has no effect"),
        ("<xzy>0 1 0</xzy>", "", "revolute", "<xzy> in <axis> has no effect.* Did you mean 'xyz'"),
        ("", "", "revolute", "SDF's default 0 0 1 is used"),
        ("<xyz expresed_in='a'>0 0 1</xyz>", "", "revolute", "attribute 'expresed_in' of <xyz> has no effect"),
        ("<xyz>0 0 1</xyz><limit><lowr>1</lowr></limit>", "", "revolute", "<lowr> in <limit>.*Did you mean 'lower'"),
        ("<xyz>0 0 1</xyz><dynamics><dampin>1</dampin></dynamics>", "", "revolute", "<dampin> in <dynamics>"),
        (
            "<xyz>0 0 1</xyz><limit><lower>-1</lower></limit>",
            "",
            "continuous",
            "<lower> is not used, because a continuous joint",
        ),
        ("<xyz>0 0 1</xyz><limit><upper>1</upper></limit>", "", "ball", "<upper> is not used, because a ball joint"),
        ("<xyz>0 0 1</xyz>", "", "screw", "SDF's default of 1 m per turn is used"),
        ("<xyz>0 0 1</xyz>", "<pose relativ_to='a'/>", "revolute", "attribute 'relativ_to' of <pose>"),
    ],
)
def test_slips_of_the_pen_and_defaults_that_move_something_are_named(axis, more, kind, told):
    joint = f'<joint name="j" type="{kind}"><parent>world</parent><child>a</child><axis>{axis}</axis>{more}</joint>'
    mass = "<mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia>"
    text = f'<sdf version="1.11"><model name="m"><link name="a"><inertial>{mass}</inertial></link>{joint}</model></sdf>'
    with pytest.warns(ModelWarning, match=told):
        load_text(text, "sdf")


def test_a_slip_of_the_pen_in_a_link_is_named():
    found = examined(model(link("a").replace("</inertia>", "<ixyy>1</ixyy></inertia>")))
    (finding,) = found.findings
    assert finding.problem == "<ixyy> in <inertia> has no effect" and "Did you mean" in finding.remedy


def test_mass_of_shapes_lies_where_the_shapes_lie():
    """Two boxes, of which one is turned and shifted against the frame of the link."""
    box = "<collision name='{}'><pose>{}</pose><geometry><box><size>1 2 3</size></box></geometry></collision>"
    parts = box.format("one", "0 0 0 0 0 0") + box.format("two", "0 0 4 0 0 1.5707963267948966")
    text = f"<sdf version='1.11'><model name='m'><link name='a'><inertial auto='true'/>{parts}</link></model></sdf>"
    body = load_text(text, "sdf").robot.body("a")
    m, xx, yy = 6000.0, 6000.0 * 13 / 12, 6000.0 * 10 / 12
    assert body.mass == pytest.approx(2 * m) and body.com == pytest.approx((0.0, 0.0, 2.0))
    assert np.diag(body.inertia) == pytest.approx([xx + yy + 8 * m, xx + yy + 8 * m, 2 * m * 5 / 12])


def test_rotor_inertias_of_drake_are_armature() -> None:
    """The inertia seen at the joint is that of the rotor times the square of the gear ratio; nothing is left out."""
    rotor = "<drake:rotor_inertia>2e-4</drake:rotor_inertia><drake:gear_ratio>100</drake:gear_ratio>"
    hinge = joint("j", "revolute", "a", "b", f"<axis><xyz>0 0 1</xyz></axis>{rotor}")
    text = model(link("a") + link("b") + hinge).replace("<sdf ", '<sdf xmlns:drake="drake.mit.edu" ')
    found = examined(text)
    assert found.system is not None
    assert found.system.robot.joint("j").armature == pytest.approx((2.0,))
    assert not [finding for finding in found.warnings if finding.rule == "dropped"]
