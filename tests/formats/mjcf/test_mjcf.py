"""What becomes of the parts of an MJCF file: names, chains, loops, couplings, drives, looks, and what is left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kinemorph.codegen.building.compile import build
from kinemorph.formats.findings import Finding
from kinemorph.formats.loading import examine, load, save
from kinemorph.mechanics.constraints.closures import constraint_error
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.elements import TorsionSpring
from kinemorph.model.shapes import Box, MeshFile
from kinemorph.model.system import System
from kinemorph.plants.robot_plant import plant
from support.peers.mjcf_peers import CLOSE, worst

mujoco = pytest.importorskip("mujoco")
GEOM = '<geom size="0.1" pos="0.3 0.1 0"/>'
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def read(folder: Path, world: str, rest: str = "") -> tuple[System, tuple[Finding, ...]]:
    path = folder / "robot.xml"
    path.write_text(f"<mujoco model='m'>\n{rest}\n<worldbody>\n{world}\n</worldbody></mujoco>")
    examination = examine(path)
    assert examination.system is not None, examination.findings
    return examination.system, examination.findings


def same_motion(folder: Path, system: System) -> None:
    """M, bias, accelerations and poses are MuJoCo's."""
    assert max(worst(system.robot, mujoco.MjModel.from_xml_path(str(folder / "robot.xml")))) < CLOSE


def dropped(findings: tuple[Finding, ...]) -> str:
    return " | ".join(finding.problem for finding in findings if finding.rule == "dropped")


def test_several_joints_in_a_body_are_a_chain(tmp_path: Path) -> None:
    joints = '<joint name="x" type="slide" axis="1 0 0"/><joint name="turn" pos="0.1 0.2 0.3" axis="0 1 1" ref="20"/>'
    world = f'<body name="torso" pos="0 0 1" euler="10 20 30">{joints}<joint name="ball" type="ball"/>{GEOM}</body>'
    system, _ = read(tmp_path, world)
    assert system.robot.body_names == ("torso", "torso~x", "torso~turn")
    assert system.robot.joint_names == ("x", "turn", "ball")
    assert system.settings.q == pytest.approx((0.0, np.deg2rad(20.0), 1.0, 0.0, 0.0, 0.0))
    same_motion(tmp_path, system)


@pytest.mark.parametrize("armature", ["0", "0.7"])
def test_free_joints_are_absolute_whatever_their_armature(tmp_path: Path, armature: str) -> None:
    inner = f'<body name="b" pos="0.2 0 0"><joint name="j" axis="1 2 3" armature="0.3"/>{GEOM}</body>'
    joint = f'<joint name="root" type="free" armature="{armature}" damping="0.2"/>'
    system, _ = read(tmp_path, f'<body name="a" pos="1 2 3">{joint}{GEOM}{inner}</body>')
    kinds = ["free"] if armature == "0" else ["prismatic"] * 3 + ["spherical"]
    assert [joint.kind for joint in system.robot.joints] == [*kinds, "revolute"]
    assert system.settings.q == (1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    same_motion(tmp_path, system)


def test_data_of_joints(tmp_path: Path) -> None:
    data = 'range="-90 45" damping="0.1" frictionloss="0.2" armature="0.3" stiffness="4"'
    hinge = f'<joint name="j" axis="0 0 2" {data}/>'
    system, findings = read(tmp_path, f'<body name="a">{hinge}{GEOM}</body><body><joint name="k"/>{GEOM}</body>')
    joint = system.robot.joint("j")
    assert (*joint.lower, *joint.upper) == pytest.approx((-np.pi / 2, np.pi / 4))
    assert (joint.damping, joint.friction, joint.armature, joint.axis) == ((0.1,), (0.2,), (0.3,), (0.0, 0.0, 1.0))
    assert system.robot.body_names == ("a", "body2")
    assert system.elements == (TorsionSpring("j spring", "j", 4.0),)
    assert dropped(findings) == "contacts between bodies that move, by pairs of bodies: 1 left out ('a and body2')"


def test_springs_dampers_and_slides_push_as_in_mujoco(tmp_path: Path) -> None:
    """The efforts of springs are MuJoCo's passive forces, also that of the spring of a ball."""
    hinge = '<joint name="j" axis="0 0 2" ref="20" springref="35" stiffness="4" damping="0.3"/>'
    slide = '<joint name="s" type="slide" axis="1 0 0" springref="0.2" stiffness="7"/>'
    ball = '<body name="c"><joint name="b" type="ball" stiffness="2"/><geom size="0.1"/></body>'
    system, findings = read(tmp_path, f'<body name="a">{hinge}{slide}{GEOM}{ball}</body>')
    assert dropped(findings) == ""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    data = mujoco.MjData(model)
    q, v = np.array([0.3, -0.1, 1.0, 0.0, 0.0, 0.0]), np.array([0.7, 0.4, 0.0, 0.0, 0.0])
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_forward(model, data)
    made = plant(system)
    supplied, damping = build(made.efforts)(0.0, q, np.concatenate([np.zeros(5), v]), [], np.zeros(made.nu), [])
    assert (supplied + damping)[:2] == pytest.approx(data.qfrc_passive[:2], rel=1e-12)
    save(system, tmp_path / "again.xml")
    assert load(tmp_path / "again.xml").elements == system.elements


def test_rotor_inertia_of_actuators_is_armature(tmp_path: Path) -> None:
    drive = '<actuator><motor joint="j" gear="3" armature="0.5"/></actuator>'
    system, _ = read(tmp_path, f'<body name="a"><joint name="j" axis="0 1 0"/>{GEOM}</body>', drive)
    assert system.robot.joint("j").armature == (4.5,)
    same_motion(tmp_path, system)


def test_actuators(tmp_path: Path) -> None:
    drives = """<actuator>
        <motor name="m" joint="j" gear="5" ctrlrange="-1 2" forcerange="-8 8"/>
        <position name="p" joint="j" kp="100" kv="3"/>
        <velocity name="v" joint="j" kv="7"/>
        <general name="g" joint="j" gainprm="2" forcerange="-8 8"/>
        <muscle name="strong" joint="j" lengthrange="0 1"/>
        <motor name="t" tendon="cord"/>
    </actuator><tendon><fixed name="cord"><joint joint="j" coef="1"/></fixed></tendon>"""
    system, findings = read(tmp_path, f'<body name="a"><joint name="j"/>{GEOM}</body>', drives)
    found = {element.name: element for element in system.elements}
    # m, t and v mean something else in signals, and that is told
    assert set(found) == {"m~2", "p", "v~2", "g", "t~2", "cord"}
    assert [f.element for f in findings if f.rule == "name"] == ["element 'm'", "element 'v'", "element 't'"]
    assert (found["m~2"].gear, found["m~2"].lower, found["m~2"].upper, found["m~2"].effort) == (5.0, -1.0, 2.0, 8.0)
    assert (found["p"].control, found["p"].gain, found["p"].damping) == ("position", 100.0, 3.0)
    assert (found["v~2"].control, found["v~2"].gain) == ("velocity", 7.0)
    assert (found["g"].control, found["g"].gear, found["g"].effort) == ("effort", 2.0, 4.0)
    assert "'strong'" in dropped(findings)
    assert (found["t~2"].tendon, found["cord"].joints, found["cord"].coefficients) == ("cord", ("j",), (1.0,))


RING = f"""
    <body name="a"><joint name="ja" axis="0 1 0"/>{GEOM}<site name="sa" pos="0.5 0 0" euler="5 6 7"/>
        <body name="b" pos="1 0 0"><joint name="jb" axis="0 1 0"/>{GEOM}<site name="sb" pos="0.1 0.2 0"/></body></body>
    <body name="c" pos="0 1 0"><joint name="jc" axis="0 1 0" ref="30"/>{GEOM}</body>"""


LOOPS = {
    '<connect name="e0" body1="b" body2="c" anchor="0.1 0.2 0.3"/>': "spherical",
    '<connect name="e1" body1="b" anchor="0.1 0.2 0.3"/>': "spherical",
    '<connect name="e2" site1="sa" site2="sb"/>': "spherical",
    '<weld name="e3" body1="c" body2="b"/>': "fixed",
    '<weld name="e4" body1="b"/>': "fixed",
    '<weld name="e5" body1="c" body2="b" anchor="0.1 0.2 0.3" relpose="0.3 0.2 0.1 1 0.2 0.3 0.1"/>': "fixed",
    '<weld name="e6" site1="sb" site2="sa"/>': "fixed",
}


def test_connect_and_weld_close_loops(tmp_path: Path) -> None:
    system, _ = read(tmp_path, RING, f"<equality>{''.join(LOOPS)}</equality>")
    loops = system.robot.loops
    assert [(loop.name, loop.kind) for loop in loops] == [(f"e{k}", kind) for k, kind in enumerate(LOOPS.values())]
    assert system.robot.joint_names == ("ja", "jb", "jc")  # the tree is that of the file
    # every gap is MuJoCo's, wherever the robot stands
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    data, q = mujoco.MjData(model), np.array([0.3, -0.4, 0.9])
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    for k, loop in enumerate(loops):
        gap = np.array(constraint_error(resolve(replace(system.robot, loops=(loop,))), q.tolist()))
        theirs = data.efc_pos[(data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY) & (data.efc_id == k)]
        assert np.linalg.norm(gap[:3]) == pytest.approx(np.linalg.norm(theirs[:3]), abs=1e-12)
        if loop.kind == "fixed":  # the sine of the turn here, that of its half there
            half = np.arcsin(np.linalg.norm(theirs[3:]))
            assert np.linalg.norm(gap[3:]) == pytest.approx(np.sin(2.0 * half), abs=1e-12)
    same_motion(tmp_path, system)


def test_coupled_joints(tmp_path: Path) -> None:
    equalities = """<equality>
        <joint name="e" joint1="ja" joint2="jc" polycoef="0.1 0.5 0 0 0"/>
        <joint name="bent" joint1="jb" joint2="jc" polycoef="0 1 1 0 0"/>
        <joint name="back" joint1="jc" joint2="ja"/>
        <joint name="off" joint1="jb" joint2="jc" active="false"/>
        <joint name="held" joint1="jb" polycoef="0.2 0 0 0 0"/>
    </equality>"""
    system, findings = read(tmp_path, RING, equalities)
    first, held = system.robot.couplings
    assert (first.joint, first.leader, first.multiplier) == ("ja", "jc", 0.5)
    assert first.offset == pytest.approx(0.1 - 0.5 * np.deg2rad(30.0))
    assert (held.joint, held.multiplier, held.offset) == ("jb", 0.0, 0.2)
    assert "1 left out ('off')" in dropped(findings)
    assert [(one.name, type(one).__name__) for one in system.elements] == [(n, "Constraint") for n in ("bent", "back")]


def test_couplings_against_limits_are_left_out_not_refused(tmp_path: Path) -> None:
    world = f'<body><joint name="a" range="0 10"/>{GEOM}</body><body><joint name="b" range="90 100"/>{GEOM}</body>'
    system, findings = read(tmp_path, world, '<equality><joint name="e" joint1="a" joint2="b"/></equality>')
    assert not system.robot.couplings
    assert "contradict" in dropped(findings)


def test_gravity_and_its_flag(tmp_path: Path) -> None:
    world = f"<body><joint/>{GEOM}</body>"
    assert read(tmp_path, world, '<option gravity="1 2 3"/>')[0].robot.gravity == (1.0, 2.0, 3.0)
    assert read(tmp_path, world, '<option><flag gravity="disable"/></option>')[0].robot.gravity == (0.0, 0.0, 0.0)


def test_looks_frames_and_the_still_world(tmp_path: Path) -> None:
    (tmp_path / "t.obj").write_text(TETRAHEDRON)
    assets = '<asset><mesh name="t" file="t.obj" scale="0.1 0.1 0.1"/></asset>'
    world = f"""<geom type="plane" size="1 1 1"/><geom type="box" size="1 2 3" pos="5 0 0"/>
        <site name="here" pos="0 0 1"/>
        <body name="a"><joint/>{GEOM}
        <geom type="mesh" mesh="t" pos="1 2 3" euler="10 20 30" contype="0" conaffinity="0"/>
        <geom type="ellipsoid" size="1 2 3"/><site name="a"/></body>"""
    system, findings = read(tmp_path, world, assets)
    robot = system.robot
    assert [(type(shape), shape.size) for shape in robot.body("world~geoms").shapes] == [(Box, (2.0, 4.0, 6.0))]
    assert robot.body("world~geoms").collisions[1:] == robot.body("world~geoms").shapes
    assert robot.body("world~geoms").collisions[0].size == (1.0, 1.0)
    mesh = robot.body("a").shapes[1]
    assert isinstance(mesh, MeshFile)
    assert (mesh.source, mesh.path, mesh.scale) == ("t.obj", str((tmp_path / "t.obj").resolve()), (0.1, 0.1, 0.1))
    assert mesh.placement.p == pytest.approx((1.0, 2.0, 3.0))  # the file's own frame, as the geom places it
    x, y, z = np.deg2rad((10, 20, 30))  # turned about x, then y, then z, each of the moved axes
    turned = np.sin(x) * np.sin(z) - np.cos(x) * np.sin(y) * np.cos(z)
    assert mesh.placement.R[2][0] == pytest.approx(turned)
    assert len(robot.body("a").collisions) == 2
    assert robot.body("a").shapes[2].radii == (1.0, 2.0, 3.0)
    assert {frame.name: frame.body for frame in robot.frames} == {"here": "world", "a~2": "a"}
    assert "type plane" not in dropped(findings)
    assert "contacts with fixed geoms that are no plane or height field: 1 left out" in dropped(findings)


def test_every_kind_that_is_left_out_is_told_once(tmp_path: Path) -> None:
    world = f"""<body name="m1" mocap="true"/><body name="m2" mocap="true"/>
        <body name="a" gravcomp="1"><joint name="j" type="ball" range="0 90"/>{GEOM}<site name="s"/></body>"""
    rest = """<sensor><magnetometer site="s"/><rangefinder site="s"/><rangefinder site="s"/></sensor>
        <contact><exclude body1="a" body2="m1"/></contact>"""
    _, findings = read(tmp_path, world, rest)
    told = dropped(findings)
    for part in ("mocap bodies: 2", "limits of ball joints: 1", "kind magnetometer: 1", "kind rangefinder: 2"):
        assert told.count(part) == 1


@pytest.mark.parametrize(
    ("world", "rest"),
    [
        ('<body name="a"><joint/>{}</body>', '<contact><exclude body1="a" body2="world"/></contact>'),
        ('<body name="a" gravcomp="1"><joint/>{}</body>', '<option gravity="0 0 0"/>'),
        ('<body name="a" gravcomp="1"><joint/>{}</body>', '<option><flag gravity="disable"/></option>'),
        ('<body name="a"><joint/>{}<body name="b" gravcomp="1"/></body>', ""),
        ('<body name="base" gravcomp="1">{}<body name="a"><joint/>{}</body></body>', ""),
    ],
)  # fmt: skip
def test_what_has_no_effect_is_not_said_to_be_left_out(tmp_path: Path, world: str, rest: str) -> None:
    """Exclusions of contacts, which act, and compensations of no weight, gave warnings."""
    _, findings = read(tmp_path, world.format(GEOM, GEOM), rest)
    assert "gravity" not in dropped(findings)
    assert "exclu" not in dropped(findings)


def test_findings_have_the_line_of_their_part(tmp_path: Path) -> None:
    world = f'<worldbody>\n<body name="a">\n<joint name="j"/>{GEOM}</body>\n<body name="a"/></worldbody>'
    (tmp_path / "robot.xml").write_text(f"<mujoco>\n<!-- a comment\nof lines -->{world}</mujoco>")
    (finding,) = examine(tmp_path / "robot.xml").errors
    assert finding.line == 6
    assert "repeated name 'a'" in finding.problem


def test_of_an_uneven_limit_of_effort_the_larger_side_is_kept(tmp_path: Path) -> None:
    joint = '<joint name="j" actuatorfrcrange="-5 2" actuatorfrclimited="true"/>'
    path = tmp_path / "uneven.xml"
    path.write_text(f'<mujoco><worldbody><body>{joint}<geom size="1"/></body></worldbody></mujoco>')
    examined = examine(path)
    assert examined.system is not None and examined.system.robot.joint("j").effort == (5.0,)
    assert "smaller effort limits, where limits differ" in examined.findings[0].problem
