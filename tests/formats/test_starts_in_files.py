"""Starts in files: keyframes of MJCF, group states of SRDF, [starts.NAME] in TOML; and how writers keep them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, derive, load, load_text, random_configuration, save, simulate
from kinemorph.conventions import to_convention
from kinemorph.errors import ModelWarning, ParseError
from kinemorph.model.configuration import Dice
from kinemorph.model.starts import Start

mujoco = pytest.importorskip("mujoco")

# ── MJCF ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

MJCF = """<mujoco><compiler angle="radian"/><option><flag contact="disable"/></option><worldbody>
<body name="base" pos="0 0 1"><freejoint name="root"/><geom type="box" size=".2 .1 .05" mass="2"/>
 <body name="arm" pos=".2 0 0"><joint name="j" axis="0 1 0" ref="0.1"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".02" mass="1"/>
  <body name="hand" pos="0 0 -.5"><joint name="b" type="ball"/><geom type="box" size=".05 .1 .02" mass=".5"/></body>
 </body></body>
<body name="cart" pos="2 0 0"><joint name="s" type="slide" axis="1 0 0"/><geom size=".1" mass="1"/></body>
<body name="drone" pos="4 0 0"><joint name="f" type="free" armature=".1"/><geom type="box" size=".1 .2 .3" mass="1"/>
</body></worldbody>
<actuator><position name="pj" joint="j" kp="50" kv="2"/><motor name="ms" joint="s" gear="3"/></actuator>
<keyframe>
<key name="home" time="0.5" qpos="1 2 3 .5 .5 .5 .5 .7 .8 .6 0 0 .3 4 5 6 .5 -.5 .5 .5"
     qvel="1 2 3 .1 .2 .3 .4 .5 .6 .7 .8 3 2 1 .3 .2 .1" ctrl=".7 .2"/>
<key qpos="0 0 1 1 0 0 0 0 1 0 0 0 0 0 0 0 1 0 0 0"/></keyframe></mujoco>"""


@pytest.mark.filterwarnings("ignore::kinemorph.errors.InactiveWarning")
def test_a_keyframe_is_the_state_that_mujoco_resets_to() -> None:
    system = load_text(MJCF, "mjcf")
    assert list(system.starts) == ["home", "key1"]
    model = mujoco.MjModel.from_xml_string(MJCF)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    start = system.start("home")
    q, v = to_convention(system, "mujoco", start.q, start.v)
    np.testing.assert_allclose(q, data.qpos, atol=1e-15)
    np.testing.assert_allclose(v, data.qvel, atol=1e-15)
    assert dict(start.u) == {"pj": 0.7, "ms": 0.2} and start.t == data.time == 0.5
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 1e-3
    while data.time < 0.6 - 1e-9:
        mujoco.mj_step(model, data)
    run = simulate(system, 0.6, start="home", rtol=1e-10, atol=1e-12)
    q, v = to_convention(system, "mujoco", run.q[-1], run.v[-1])
    np.testing.assert_allclose(q, data.qpos, atol=1e-8)
    np.testing.assert_allclose(v, data.qvel, atol=1e-7)


def test_keyframes_are_written_and_read_back(tmp_path: Path) -> None:
    system = load_text(MJCF, "mjcf")
    save(system, tmp_path / "x.xml")
    back = load(tmp_path / "x.xml")
    for name in system.starts:
        one, other = system.start(name), back.start(name)
        np.testing.assert_allclose(other.q, one.q, atol=1e-14)
        np.testing.assert_allclose(other.v, one.v, atol=1e-14)
        assert (other.u, other.t) == (one.u, one.t)


@pytest.mark.filterwarnings("ignore::kinemorph.errors.ModelWarning")
def test_starts_of_all_joints_pose_mujoco_as_they_pose_the_robot(tmp_path: Path) -> None:
    """Joints that MuJoCo does not have, another order of coordinates, velocities in another frame."""
    kinds = ("free", "helical", "universal", "planar", "cylindrical", "spherical", "gimbal")
    builder = RobotBuilder("all")
    for k, kind in enumerate(kinds):
        builder.add(Body.box(kind, 1.0, (0.1, 0.2, 0.3)))
        parent = "world" if k == 0 else kinds[(k - 1) // 2]  # a tree whose order is not depth first
        more = {"pitch": 0.1} if kind == "helical" else {}
        builder.joint(f"j{k}", kind, parent, kind, translation=(0.3, 0.1 * k, 0.2) if k else (0, 0, 0), **more)
    robot = builder.build()
    q, v = random_configuration(robot, Dice(3)), np.linspace(-1.0, 1.0, robot.nv)
    system = System(robot, starts={"home": Start(tuple(q), tuple(v))})
    save(system, tmp_path / "all.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "all.xml"))
    data = mujoco.MjData(model)
    model.opt.enableflags = mujoco.mjtEnableBit.mjENBL_ENERGY
    mujoco.mj_resetDataKeyframe(model, data, model.key("home").id)
    mujoco.mj_forward(model, data)
    dynamics = derive(robot)
    for kind in kinds:
        p = dynamics.pose(kind)(q)[:3, 3]
        np.testing.assert_allclose(p, data.body(kind).xpos, atol=1e-12, err_msg=kind)
    kinetic, _ = dynamics.energy(q, v)
    assert kinetic == pytest.approx(data.energy[1], rel=1e-12)


def test_what_of_a_keyframe_does_not_act_is_told() -> None:
    text = """<mujoco><worldbody><body name="m" mocap="true" pos="1 0 0"/>
    <body name="a"><joint name="j"/><geom size=".1" mass="1"/></body></worldbody>
    <actuator><general name="muscle" joint="j" dyntype="filter" dynprm="1" gainprm="1"/>
    <motor name="v" joint="j"/></actuator>
    <keyframe><key name="k" ctrl="1 2" act="0.5" mpos="0 0 1"/></keyframe></mujoco>"""
    with pytest.warns(ModelWarning) as caught:
        system = load_text(text, "mjcf")
    told = " | ".join(str(one.message) for one in caught)
    assert "poses of mocap bodies in keyframes: 1 left out ('k')" in told
    named = dict(system.starts["k"].u)
    assert named["v~2"] == 2.0  # the name of this element is reserved, and inputs follow it
    if "muscle" not in named:
        assert "controls of keyframes, for actuators that are left out: 1 left out ('k')" in told
        assert "activations of keyframes, for actuators without such a state: 1 left out ('k')" in told


# ── SRDF ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

INERTIA = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
LINK = f'<link name="{{}}">{INERTIA}</link>'
JOINT = '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><axis xyz="0 1 0"/></joint>'
URDF = (
    '<robot name="r">'
    + "".join(LINK.format(name) for name in "abcd")
    + JOINT.format("j1", "continuous", "a", "b")
    + JOINT.format("j2", "continuous", "b", "c")
    + JOINT.format("fly", "floating", "a", "d")
    + "</robot>"
)
SRDF = """<?xml version="1.0"?>
<robot name="r"><group name="arm"><joint name="j1"/></group>
<group_state name="home" group="arm"><joint name="j1" value="0.5"/></group_state>
<group_state name="home" group="hand"><joint name="j2" value="0.25"/><joint name="fly" value="1 2 3 0.6 0 0 0.8"/>
</group_state>
<group_state name="up" group="arm"><joint name="j1" value="1.5"/><joint name="j3" value="1"/></group_state>
<group_state name="up" group="hand"><joint name="j1" value="2"/><joint name="j2" value="x"/></group_state>
<disable_collisions link1="a" link2="b"/><disable_collisions link1="a" link2="c"/></robot>"""


def test_group_states_of_an_srdf_file_are_starts(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(URDF)
    (tmp_path / "r.srdf").write_text(SRDF)
    with pytest.warns(ModelWarning) as caught:
        system = load(tmp_path / "r.urdf")
    assert system.start("home").q == (0.5, 0.25, 1.0, 2.0, 3.0, 0.8, 0.6, 0.0, 0.0)
    assert {name: dict(start.q) for name, start in system.starts.items()} == {
        "home": dict(zip(system.robot.q_names, system.start("home").q, strict=True)),
        "up": {"j1": 1.5},
        "up~hand": {"j1": 2.0},  # the groups disagree on a joint
    }
    told = " | ".join(str(one.message) for one in caught)
    assert "r.srdf: not read: 1 <group>, 2 <disable_collisions>" in told
    assert "r.srdf:6: group_state 'up': there is no joint 'j3' that moves, expected one of j1, j2, fly" in told
    assert "r.srdf:7: group_state 'up': value of joint 'j2' is 'x', expected 1 finite number" in told


@pytest.mark.filterwarnings("ignore::kinemorph.errors.ModelWarning")
def test_an_srdf_file_elsewhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(URDF)
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "s.srdf").write_text(SRDF)
    assert not load(tmp_path / "r.urdf").starts
    assert list(load(tmp_path / "r.urdf", srdf=tmp_path / "config" / "s.srdf").starts) == ["home", "up", "up~hand"]
    with pytest.raises(ParseError, match=r"none.srdf: the file does not exist"):
        load(tmp_path / "r.urdf", srdf=tmp_path / "none.srdf")
    (tmp_path / "x.toml").write_text(TOML)
    with pytest.raises(ParseError, match="belongs to a URDF, and the file is"):
        load(tmp_path / "x.toml", srdf=tmp_path / "config" / "s.srdf")
    with pytest.raises(ParseError, match="begins with <sdf>, expected <robot>"):
        (tmp_path / "r.srdf").write_text("<sdf/>")
        load(tmp_path / "r.urdf")


# ── TOML, and writers ─────────────────────────────────────────────────────────────────────────────────────────────────

TOML = """kinemorph = 1
[bodies.a]
mass = 1
com = [0, 0, -1]
inertia = [1, 1, 1]
[bodies.b]
mass = 1
inertia = [1, 1, 1]
[joints.hip]
kind = "revolute"
parent = "world"
child = "a"
[joints.knee]
kind = "universal"
parent = "a"
child = "b"
[starts.home]
q = { hip = "30 deg", "knee.second" = 0.25 }
v = [1, 2, "180 deg/s"]
u = [1, 0, 2]
t = "10 ms"
[runs.lift]
start = "home"
time = 0.1
"""


def test_starts_of_a_toml_file_come_back(tmp_path: Path) -> None:
    system = load_text(TOML, "toml")
    assert system.start("home").q == (np.deg2rad(30.0), 0.0, 0.25)
    assert system.start("home").v == pytest.approx((1.0, 2.0, np.pi)) and system.start("home").t == 0.01
    save(system, tmp_path / "x.toml")
    assert load(tmp_path / "x.toml") == system
    run = load(tmp_path / "x.toml").run("lift")
    assert run.t[0] == 0.01 and run.t[-1] == pytest.approx(0.11) and run.segments[0].u[0].tolist() == [1.0, 0.0, 2.0]


@pytest.mark.filterwarnings("ignore::kinemorph.errors.ModelWarning")
def test_a_urdf_keeps_starts_in_its_sidecar(tmp_path: Path) -> None:
    """The universal joint becomes two, with other names, in the same order."""
    system = load_text(TOML, "toml")
    save(system, tmp_path / "x.urdf")
    back = load(tmp_path / "x.urdf")
    assert back.robot.q_names == ("hip", "knee_first", "knee_second")
    assert back.start("home") == system.start("home")


def test_other_formats_say_that_they_have_no_starts(tmp_path: Path) -> None:
    text = TOML[: TOML.index("[starts.home]")].replace('"universal"', '"revolute"')
    system = replace(load_text(text, "toml"), starts={"home": Start(q={"knee": 0.25})})
    with pytest.warns(ModelWarning, match="cannot express starts: the model is written without home"):
        save(system, tmp_path / "x.csv", format="dh")


@pytest.mark.parametrize(
    ("extra", "line", "said"),
    [
        ("[starts.x]\nq = [1]", 2, "q has 1 item, expected 3"),
        ("[starts.x]\nq = { hipp = 1 }", 2, "Did you mean 'hip'"),
        ("[starts.x]\nu = { motor = 1 }", 2, "u: the model has no input 'motor', expected one of hip, knee.first"),
        ("[starts.x]\nx = { current = 1 }", 2, "x: the model has no state 'current', and no other"),
        ("[starts.x]\nqq = 1", 2, "Did you mean 'q'"),
        ("[starts.x]\nt = '3 m'", 2, "expected a time"),
        ("[starts]\nx = 1", 2, "expected a table"),
        ("[starts.'']\nt = 1", 1, "the name is '', expected printable text"),
        ('[runs.y]\nstart = "hone"', 2, "start is 'hone', expected one of home. Did you mean 'home'"),
    ],
)
def test_mistakes_in_starts_are_found_on_their_lines(extra: str, line: int, said: str) -> None:
    text = TOML[: TOML.index("[starts.home]")] if extra.startswith("[starts]") else TOML  # a table is declared once
    with pytest.raises(ParseError) as caught:
        load_text(f"{text}{extra}\n", "toml")
    assert said in str(caught.value) and f"<toml>:{text.count(chr(10)) + line}:" in str(caught.value)


def test_a_sidecar_may_have_starts(tmp_path: Path) -> None:
    (tmp_path / "x.urdf").write_text(URDF)
    (tmp_path / "x.sidecar.toml").write_text("kinemorph = 1\n[starts.home]\nu = { j1 = 2 }\n")
    assert dict(load(tmp_path / "x.urdf").starts["home"].u) == {"j1": 2.0}
    (tmp_path / "x.sidecar.toml").write_text("kinemorph = 1\n[starts.home]\nu = { j9 = 2 }\n")
    with pytest.raises(ParseError, match=r"x.sidecar.toml:3: start 'home': u: the model has no input 'j9'"):
        load(tmp_path / "x.urdf")
