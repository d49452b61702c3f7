"""What is loaded goes back to a file: MJCF, URDF and SDF with sidecars, and TOML give the same machine again, or tell.

The same machine: M, bias, forces, accelerations, contacts, limits, starts and sensors (`support.robots.same_system`).
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph import RobotBuilder, elements
from kinemorph.algebra.groups import Pose
from kinemorph.algebra.rotations import rotation
from kinemorph.errors import ModelWarning, ParseError
from kinemorph.formats.mjcf.contact_parts import body_weights
from kinemorph.formats.mjcf.polynomials import Polynomial
from kinemorph.model.body import Body
from kinemorph.model.elements.contact.contact_laws import HuntCrossley
from kinemorph.model.shapes import Box, HalfSpace, Sphere, Surface, Terrain, Triangle
from kinemorph.model.system import FileData, Settings, System
from support.robots.same_system import differences

ENDINGS = {"mjcf": ".xml", "urdf": ".urdf", "sdf": ".sdf", "toml": ".toml"}
T = Pose(rotation((0.0, 1.0, 0.0), 0.4), (0.1, 0.2, 0.3))

EVERYTHING = """<mujoco model="everything"><compiler angle="radian"/><option gravity="0 0 -9.7" density="1.2"/>
<asset><hfield name="h" nrow="3" ncol="3" size="1 2 0.5 0.1" elevation="0 0.5 1 0.2 0 0 0.3 0.7 0.1"/></asset>
<worldbody><geom type="hfield" hfield="h" friction="0.7 0.01 0.001"/>
<geom type="plane" size="1 1 .1" pos="0 0 -.5" euler="0.1 0 0" priority="1" friction="0.3" solref="0.03 1.2"/>
<body name="a" pos="0 0 1"><freejoint/><inertial pos="0 0 .1" mass="2" diaginertia=".1 .2 .25"/>
<geom type="sphere" size=".1" margin="0.002" solref="-5000 -100"/><site name="s" pos=".1 0 0"/>
<geom type="box" size=".1 .2 .3" pos=".1 0 0" contype="3" conaffinity="1" friction="0.5" solimp=".8 .9 .002 .4 3"/>
<body name="b" pos=".1 .2 .3"><joint name="j1" axis="0 1 0" ref="0.2" range="-1 2" armature=".01"/>
<inertial pos="0 0 .1" mass="1" diaginertia=".01 .02 .025"/><geom type="capsule" size=".05 .1" condim="1"/>
<body name="c" pos=".1 .2 .3"><joint name="j2" axis="1 0 0" ref="-0.3" stiffness="3" springref=".1"/>
<joint name="b" type="slide" axis="0 0 1" damping=".3" frictionloss=".2"/><geom type="ellipsoid" size=".05 .1 .2"/>
<inertial pos="0 0 .1" mass="1.5" fullinertia=".01 .02 .025 0.001 0.002 -0.001"/>
<body name="d"><joint name="ball" type="ball" stiffness="2" pos=".1 0 0"/><geom type="cylinder" size=".05 .1"/>
<inertial pos="0 0 .1" mass="1" diaginertia=".01 .02 .025"/></body></body></body></body></worldbody>
<tendon><fixed name="t1" stiffness="5" range="-.5 .5"><joint joint="j1" coef=".5"/>
<joint joint="j2" coef="-.7"/></fixed><fixed name="t2"><joint joint="b" coef="2"/></fixed></tendon>
<equality><joint joint1="j1" joint2="j2" polycoef="0.1 0.2 0.3 -0.1 0.05"/>
<tendon tendon1="t1" tendon2="t2" polycoef="0 1 .3 0 0"/></equality>
<actuator><motor name="m1" joint="j1" gear="3" ctrlrange="-1 1"/><position name="p1" joint="j2" kp="30" kv="2"/>
<general name="g1" tendon="t1" dyntype="filter" dynprm=".1" gainprm="2" actrange="-1 1" actlimited="true"/>
<motor name="th" site="s" gear="0 0 1 0 0 .1"/></actuator>
<sensor><jointpos name="sj" joint="j1"/><gyro name="sg" site="s"/><force name="sf" site="s"/>
<subtreecom name="sc" body="a"/><framepos name="fp" objtype="body" objname="b"/></sensor>
<keyframe><key name="home" qpos="0 0 1.2 1 0 0 0 .1 .2 .3 1 0 0 0" ctrl="1 .2 .5 9" act=".3"/></keyframe></mujoco>"""


def back(system: System, path: Path) -> tuple[System, str]:
    """(the system after it was saved and loaded, all warnings of `save`)."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        kinemorph.save(system, path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kinemorph.load(path), "\n".join(str(one.message) for one in said)


@pytest.fixture(scope="module")
def everything() -> System:
    pytest.importorskip("mujoco")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kinemorph.load_text(EVERYTHING, "mjcf")


@pytest.mark.parametrize("format", ENDINGS)
def test_all_that_a_file_says_comes_back(everything: System, format: str, tmp_path: Path) -> None:
    again, told = back(everything, tmp_path / f"robot{ENDINGS[format]}")
    assert len(elements.contacts(everything)) == 10
    assert differences(everything, again, states=1) == {}
    assert ("sidecar" in told) == (format in ("urdf", "sdf")) and not (format in ("mjcf", "toml") and told)
    assert again.starts["home"] is not None and len(again.elements) == len(everything.elements)


def test_the_comparison_sees_every_kind_of_difference(everything: System) -> None:
    robot, last = everything.robot, everything.robot.bodies[-1]
    heavier = [*robot.bodies[:-1], replace(last, mass=1.000001)]
    (shape,) = last.collisions
    softer = [*robot.bodies[:-1], replace(last, collisions=(replace(shape, surface=Surface(0.5)),))]
    changed = {
        "M": replace(everything, robot=replace(robot, bodies=tuple(heavier))),
        "h": replace(everything, robot=replace(robot, gravity=(0.0, 0.0, -9.70001))),
        "contacts": replace(everything, robot=replace(robot, bodies=tuple(softer))),
        "limits": replace(everything, robot=_with_joint(robot, "j1", upper=(2.1,))),
        "friction": replace(everything, robot=_with_joint(robot, "b", friction=(0.3,))),
        "forces": replace(everything, elements=tuple(one for one in everything.elements if one.name != "m1")),
        "rows": replace(everything, elements=everything.elements[1:]),
        "starts": replace(everything, starts={}),
        "sensors": replace(everything, elements=everything.elements[:-1]),
        "start": replace(everything, settings=Settings()),
    }
    for what, other in changed.items():
        assert what in differences(everything, other, states=1), what


def _with_joint(robot: Any, name: str, **data: Any) -> Any:
    return replace(robot, joints=tuple(replace(j, **data) if j.name == name else j for j in robot.joints))


# ── robots made in Python ─────────────────────────────────────────────────────────────────────────────────────────────

KINDS = [
    "revolute",
    "prismatic",
    "helical",
    "spherical",
    "universal",
    "gimbal",
    "cylindrical",
    "planar",
    "point_on_line",
]


def _made(kinds: list[str], base: str = "free") -> System:
    """A chain with a joint of each kind, whose frames are turned on both bodies; it touches, and springs pull it."""
    builder = RobotBuilder("chain", (0.0, 0.1, -9.5))
    shapes = (Box((0.1, 0.2, 0.3), T), Triangle((0, 0, 0), (1, 0, 0), (0, 1, 0)))
    touching = (Sphere(0.1, T, surface=Surface(0.4, HuntCrossley(1e5, 1.0), 3, 5, 1, 0.001)), Box((0.1, 0.1, 0.1)))
    for k in range(len(kinds) + 1):
        data = {"com": (0.1, 0.0, 0.05), "inertia": (0.1, 0.12, 0.15)}
        builder.body(f"b{k}", 1.0 + k, shapes=shapes, collisions=touching, **data)
    builder.joint("floor", "fixed", "world", "ground").add(
        Body("ground", collisions=(HalfSpace((0.0, 0.0), T), Terrain(((0.1, 0.2), (0.4, 0.3)), (1.0, 2.0))))
    )
    builder.joint("base", base, "world", "b0", **({} if base == "free" else {"placement": T}))
    for k, kind in enumerate(kinds):
        data = {"pitch": 0.02} if kind == "helical" else {}
        builder.joint(f"j{k}", kind, f"b{k}", f"b{k + 1}", placement=T, child_placement=T, damping=0.1, **data)
    last = f"b{len(kinds)}"
    builder.frame("tip", last, translation=(0.1, 0.0, 0.0)).frame("corner", "world", translation=(1.0, 0.0, 0.0))
    pulls = (
        elements.Bushing("bushing", "b0", last, (10.0, 20.0, 30.0), placement_a=T, placement_b=T),
        elements.Probe("probe", last, "velocity", point=(0.1, 0.2, 0.3)),
    )
    return System(builder.build(), pulls)


@pytest.mark.parametrize("format", ["urdf", "sdf", "toml"])
@pytest.mark.parametrize("kind", [*KINDS[:4], KINDS[4:6], KINDS[6:]], ids=str)
def test_joints_of_every_kind_come_back(kind: Any, format: str, tmp_path: Path) -> None:
    system = _made([kind] if isinstance(kind, str) else kind, "free" if "universal" in kind else "fixed")
    again, _ = back(system, tmp_path / f"robot{ENDINGS[format]}")
    assert differences(system, again, states=1) == {}


def test_sdf_itself_has_what_sdf_can_say(tmp_path: Path) -> None:
    """No sidecar is needed for what Gazebo knows, too."""
    builder = RobotBuilder("cart", (0.0, 0.0, -3.7))
    touching = Box((1.0, 1.0, 0.1), surface=elements_surface(0.7, 2e4, 30.0))
    builder.body("base", 2.0, inertia=(0.1, 0.1, 0.1), collisions=(touching,))
    builder.body("arm", 1.0, com=(0.0, 0.0, 0.3), inertia=(0.1, 0.1, 0.01)).body("tip", 1.0, inertia=(0.1, 0.1, 0.1))
    builder.joint("base_root", "free", "world", "base")
    builder.joint(
        "arm", "revolute", "base", "arm", placement=T, child_placement=T, lower=-1.0, effort=3.0, friction=0.1
    )
    builder.joint("slide", "prismatic", "arm", "tip", placement=T, velocity=2.0, armature=0.3)
    builder.couple("slide", "arm", 0.5, 0.1).frame("eye", "arm", placement=T)
    q = [0.1, 0.2, 0.3, *np.array([0.8, 0.0, 0.6, 0.0]), 0.0, 0.1]
    system = System(
        builder.build(), (elements.TorsionSpring("arm spring", "arm", 4.0, 0.2),), Settings(q=tuple(map(float, q)))
    )
    system = replace(system, settings=Settings(q=(*system.settings.q[:7], 0.0, 0.0)))
    again, told = back(system, tmp_path / "cart.sdf")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cart.sdf"]
    assert "<mu2>0.7</mu2>" in (tmp_path / "cart.sdf").read_text(), "friction is alike in both directions"
    assert differences(system, again) == {}
    assert "'arm'" in told and "(joint)" in told and "drake:rotor_inertia" in told
    assert again.robot.joint_names == ("base_root", "arm", "slide") and again.robot.frames[0].name == "eye"
    assert again.elements == system.elements and again.robot.couplings == system.robot.couplings


def elements_surface(mu: float, kp: float, kd: float) -> Surface:
    """The surface of SDF's numbers."""
    from kinemorph.formats.gazebo_surfaces import gazebo_surface

    found = gazebo_surface(mu, kp, kd)
    assert found is not None
    return found


@pytest.mark.parametrize("closed", [True, False])
def test_loops_are_joints_of_sdf_where_its_poses_close_them(closed: bool, tmp_path: Path) -> None:
    builder = RobotBuilder("bars")
    for name in "abc":
        builder.body(name, 1.0, com=(0.5, 0.0, 0.0), inertia=(0.01, 0.1, 0.1))
    builder.joint("j1", "revolute", "world", "a", axis=(0, 1, 0)).joint(
        "j2", "revolute", "a", "b", axis=(0, 1, 0), translation=(1.0, 0.0, 0.0)
    )
    builder.joint("j3", "revolute", "world", "c", axis=(0, 1, 0), translation=(2.0 if closed else 1.9, 0.0, 0.0))
    builder.joint("close", "revolute", "b", "c", axis=(0, 1, 0), translation=(1.0, 0.0, 0.0))
    system = System(builder.build())
    again, told = back(system, tmp_path / "bars.sdf")
    assert (tmp_path / "bars.sidecar.toml").exists() is not closed and ("loops" in told) is not closed
    assert [loop.name for loop in again.robot.loops] == ["close"] and differences(system, again) == {}


# ── MJCF ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_contacts_feel_the_mass_that_mujoco_computes(everything: System) -> None:
    import mujoco

    model = mujoco.MjModel.from_xml_string(EVERYTHING)
    found = body_weights(everything.robot, everything.initial_state()[0].tolist(), "abcd")
    theirs = {name: model.body(name).invweight0[0] for name in "abcd"}
    assert found == pytest.approx(theirs, rel=1e-13)
    slides = """<mujoco><worldbody><body name="{0}"><joint type="slide" axis="{1}" armature=".5"/>
        <joint type="slide" axis="0 0 1"/><inertial pos="{2}" mass="2" diaginertia="1 2 2.5"/></body></worldbody>
        </mujoco>"""
    for words in (("own", "1 0 0", "0 0 0"), ("askew", "1 1 0", "0 0 0"), ("beside", "1 0 0", "0 0 .1")):
        one, model = (
            kinemorph.load_text(slides.format(*words), "mjcf"),
            mujoco.MjModel.from_xml_string(slides.format(*words)),
        )
        weight = body_weights(one.robot, [0.0, 0.0], words[:1])[words[0]]
        assert weight == pytest.approx(model.body(words[0]).invweight0[0], rel=1e-13), words


def test_a_ball_rests_in_mujoco_as_deep_as_before(tmp_path: Path) -> None:
    import mujoco

    text = """<mujoco><worldbody><geom type="plane" size="1 1 1" solref=".03 1.1"/><body name="ball" pos="0 0 .1">
        <freejoint/><geom size=".1" solref=".05 1" solimp=".7 .9 .01"/></body></worldbody></mujoco>"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kinemorph.save(kinemorph.load_text(text, "mjcf"), tmp_path / "ball.xml")
    depths = []
    for model in (
        mujoco.MjModel.from_xml_string(text),
        mujoco.MjModel.from_xml_path(str(tmp_path / "ball.xml")),
    ):
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data, 3000)
        depths.append(data.qpos[2])
    assert 0.09 < depths[0] < 0.0999 and depths[1] == pytest.approx(depths[0], rel=1e-9)


def test_frictions_are_mixed_in_a_written_file_as_before(tmp_path: Path) -> None:
    """Slippery ground stays slippery for others; a ball that shares its ground with one of lower priority is told."""
    text = """<mujoco><worldbody><geom type="plane" size="1 1 1" {}/>
        <body name="a" pos="0 0 .09"><freejoint/><geom size=".1" friction="0.2" solref=".01 1"/></body>
        <body name="b" pos="1 0 .09"><freejoint/><geom size=".1" solref=".03 1" {}/></body></worldbody></mujoco>"""
    slippery, mixed = (
        kinemorph.load_text(text.format(*words), "mjcf")
        for words in (('friction="0"', 'condim="1"'), ('priority="1"', 'priority="1"'))
    )
    again, told = back(slippery, tmp_path / "slippery.xml")
    frictions = [[one.friction for one in elements.contacts(system)] for system in (slippery, again)]
    assert frictions[0] == frictions[1] == [elements.Regularized(0.2), elements.Regularized(1.0)]
    assert "mixed" not in told
    again, told = back(mixed, tmp_path / "mixed.xml")
    assert "mixed" not in told and elements.contacts(again) == elements.contacts(mixed)  # by the numbers of its file
    assert "are mixed with them: 'b'" in back(replace(mixed, file_data=FileData()), tmp_path / "mixed.xml")[1]


def test_what_mujoco_has_not_is_told(tmp_path: Path) -> None:
    system = _made(["revolute"])
    bodies = tuple(
        replace(body, mass=0.0, com=(0.0, 0.0, 0.0), inertia=Body("x").inertia) for body in system.robot.bodies
    )
    bare = replace(system, robot=replace(system.robot, bodies=bodies), elements=())
    _, told = back(bare, tmp_path / "bare.xml")
    assert "nothing that moves has a mass" in told and "HuntCrossley" in told
    assert "collision shapes without a normal force get that of MuJoCo: 'b0', 'b1'" in told


def test_a_plane_of_a_body_that_moves_is_left_out_of_mjcf_and_named(tmp_path: Path) -> None:
    """MuJoCo refused the whole file for it."""
    tray = replace(Body.box("tray", 1.0, (1.0, 1.0, 0.1)), collisions=(HalfSpace((1.0, 1.0)),))
    system = System(RobotBuilder("r").add(tray).root("tray", "free").build(), ())
    again, said = back(system, tmp_path / "r.xml")
    assert "planes and terrain of bodies that move" in said and not again.robot.body("tray").collisions


def test_a_collision_shape_that_a_body_has_twice_comes_back_twice(tmp_path: Path) -> None:
    """Both touch, so that the ground is twice as stiff there; MJCF had one of them."""
    ball = replace(Body.sphere("ball", 1.0, 0.1), collisions=(Sphere(0.1), Sphere(0.1)))
    system = System(RobotBuilder("r").add(ball).root("ball", "free").build(), ())
    assert len(back(system, tmp_path / "r.xml")[0].robot.body("ball").collisions) == 2


def test_polynomials_are_texts_and_back() -> None:
    made = Polynomial([[(1.0, "a b")], [(0.5, "c"), (-2.0, "d")]], [0.25, 0.0], [0.1, 0.0, -3.0, 0.0, 1e-20])
    again = Polynomial.of(made.row)
    assert again is not None and again.row == made.row and list(again.coefficients) == list(made.coefficients)
    x, y = 0.7, 0.3
    moved = made.measured_from([0.5, 0.2])
    before = y - 0.25 - sum(c * x**k for k, c in enumerate(made.coefficients))
    after = y - 0.5 - sum(c * (x - 0.2) ** k for k, c in enumerate(moved))
    assert after == pytest.approx(before, abs=1e-14)
    for text in ("sin(q.a) - (1)", "(1 * q.a) - (2 * q.b)", "(1 * q.a - (1)) - (1 + sin(q.b))", "q.a"):
        assert Polynomial.of(text) is None


# ── sidecars ──────────────────────────────────────────────────────────────────────────────────────────────────────────

ARM = """<robot name="arm"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="1"/></geometry></collision></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<dynamics damping="1" friction="2"/></joint></robot>"""


def test_a_sidecar_that_another_file_reads_is_not_replaced_in_silence(tmp_path: Path) -> None:
    """A robot written as arm.sdf and as arm.urdf has one sidecar for both, by which the first may no longer load."""
    system = replace(kinemorph.load_text(ARM, "urdf"), settings=Settings(time=3.0))
    for _ in range(2):  # its own is replaced in silence
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kinemorph.save(system, tmp_path / "arm.sdf")
    with pytest.warns(ModelWarning, match="'arm.sidecar.toml' is replaced, which 'arm.sdf' had"):
        kinemorph.save(system, tmp_path / "arm.urdf")


def test_a_sidecar_replaces_numbers_of_joints_and_shapes_of_bodies(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(ARM)
    beside = tmp_path / "arm.sidecar.toml"
    beside.write_text(
        "kinemorph = 1\n[joints.j]\narmature = 0.5\ndamping = 3\n[bodies.b]\n"
        'collisions = [{ kind = "box", size = [1, 1, 1], surface = { friction = 0.3 } }]\n'
    )
    robot = kinemorph.load(tmp_path / "arm.urdf").robot
    joint, (shape,) = robot.joint("j"), robot.body("b").collisions
    assert (joint.armature, joint.damping, joint.friction) == ((0.5,), (3.0,), (2.0,)) and robot.body("b").mass == 1.0
    assert shape == Box((1.0, 1.0, 1.0), surface=Surface(0.3))
    for wrong, said in (
        ("[joints.j]\nparent = 'a'", "the key 'parent' is not known"),
        ("[joints.k]\narmature = 1", "the key 'kind' is missing"),
        ("[bodies.b]\nmass = 2", "the name is used already"),
        ("[joints.j]\narmature = [1, 2]", "expected 1 item"),
    ):
        beside.write_text(f"kinemorph = 1\n{wrong}\n")
        with pytest.raises(ParseError, match=said) as error:
            kinemorph.load(tmp_path / "arm.urdf")
        assert "arm.sidecar.toml:" in str(error.value)


def test_the_studio_and_the_command_line_know_all_formats() -> None:
    from kinemorph.cli.verbs.export import Written
    from kinemorph.display.exports.export_files import written_formats

    assert set(Written) == set(written_formats()) and "sdf" in set(Written)


@pytest.mark.slow
@pytest.mark.parametrize("format", ENDINGS)
def test_robots_of_example_robot_data_come_back(format: str, tmp_path: Path) -> None:
    """All URDF files that load, as URDF, SDF and TOML; as MJCF they come back or something is told."""
    from support.robots.robot_files import folder, urdf_files

    lost, count = {}, 0
    for k, path in enumerate(urdf_files()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                system = kinemorph.load(path, package_dirs=[folder().parent.parent])
            except ParseError:
                continue
        count += 1
        place = tmp_path / str(k) / f"robot{ENDINGS[format]}"
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            kinemorph.save(system, place)
            told = "\n".join(str(one.message) for one in said if issubclass(one.category, ModelWarning))
            try:
                found = str(differences(system, kinemorph.load(place, package_dirs=[folder().parent.parent]), states=1))
            except ParseError as error:
                found = "" if "MuJoCo will give an error" in told else str(error)[:200]
        if found not in ("", "{}") and not (format == "mjcf" and told and found[0] == "{"):
            lost[path.name] = found
    assert count > 20 and not lost
