"""SDF: the same robot however it is written, against robots made by hand; and everything that is wrong with a file."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pytest

from kinemorph.algebra.groups import IDENTITY, Pose, matrix_of, translation
from kinemorph.algebra.roll_pitch_yaw import rotation_of_angles
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import ModelWarning, ParseError
from kinemorph.formats.findings import Findings
from kinemorph.formats.loading import Examination, examine, load, load_text
from kinemorph.formats.sdf.reader import read
from kinemorph.formats.sources import Options, Source
from kinemorph.mechanics.recursions.newton_euler import inverse_dynamics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.changes.reroot import body_motion
from kinemorph.model.configuration import joint_pose, neutral, random_configuration
from kinemorph.model.elements import TorsionSpring
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import Box, Frustum, MeshFile
from support.cases.sdf_texts import sdf_of, sdf_robot
from support.tools.each_case import each_case

INERTIAL = (
    "<inertial><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.25</izz><ixy>0.01</ixy><ixz>-0.02</ixz>"
    "<iyz>0.03</iyz></inertia></inertial>"
)


def examined(text: str, *, base: str | None = None) -> Examination:
    findings = Findings("x.sdf")
    system = read(Source("x.sdf", text.encode()), Options(base), findings)
    return Examination(system, tuple(findings.found), findings.unlisted)


def robot_of(text: str, **options: str) -> Robot:
    found = examined(text, **options)
    assert found.system is not None, [str(finding) for finding in found.findings]
    return found.system.robot


def model(body: str, *, name: str = "m", version: str = "1.9", data: str = "") -> str:
    return f'<sdf version="{version}"><model name="{name}"{data}>{body}</model></sdf>'


def link(name: str, inside: str = "") -> str:
    return f'<link name="{name}">{INERTIAL}{inside}</link>'


def joint(name: str, kind: str, parent: str, child: str, inside: str = "<axis><xyz>0 0 1</xyz></axis>") -> str:
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{inside}</joint>'


def pose_of(robot: Robot, body: str, q: np.ndarray | None = None) -> np.ndarray:
    at = neutral(robot) if q is None else q
    return np.array(matrix_of(body_motion(robot, body, at, np.zeros(robot.nv))[0]))


def assert_same(ours: Robot, other: Robot, *, tolerance: float = 1e-12, count: int = 2) -> None:
    """Equal poses of all bodies and frames, and equal inverse dynamics, at random states."""
    rng = np.random.default_rng(5)
    assert set(ours.body_names) == set(other.body_names)
    order = [k for name in ours.joint_names for k in range(other.q_slice(name).start, other.q_slice(name).stop)]
    order_v = [k for name in ours.joint_names for k in range(other.v_slice(name).start, other.v_slice(name).stop)]
    for _ in range(count):
        q = random_configuration(other, rng)
        v, a = rng.normal(size=(2, other.nv))
        for body in ours.body_names:
            np.testing.assert_allclose(pose_of(ours, body, q[order]), pose_of(other, body, q), atol=tolerance * 10)
        expected = np.array(inverse_dynamics(resolve(other), q.tolist(), v.tolist(), a.tolist()))[order_v]
        found = inverse_dynamics(resolve(ours), q[order].tolist(), v[order_v].tolist(), a[order_v].tolist())
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * max(1.0, np.abs(expected).max()))
    for frame in other.frames:
        mine = ours.frame(frame.name)
        assert mine.body == frame.body
        np.testing.assert_allclose(
            np.array(matrix_of(mine.placement)), np.array(matrix_of(frame.placement)), atol=1e-12
        )


# ── the same robot ────────────────────────────────────────────────────────────────────────────────────────────────────


@each_case("seed", range(12))
def test_poses_may_be_told_relative_to_anything(seed: int) -> None:
    """Every pose and axis relative to frames drawn at random, as angles, degrees or quaternions."""
    robot = sdf_robot(seed)
    ours = robot_of(sdf_of(robot, seed))
    assert ours.gravity == robot.gravity
    assert_same(ours, robot)


@pytest.mark.slow
def test_poses_may_be_told_relative_to_anything_often() -> None:
    for seed in range(100, 300):
        robot = sdf_robot(seed, most=40)
        assert_same(robot_of(sdf_of(robot, seed)), robot, count=1)


def test_a_pendulum_by_hand() -> None:
    """Numbers that can be followed on paper: the joint lies 0.5 above the link's origin, in a link turned about x."""
    text = model(
        link("bob", "<pose>1 2 3 1.5707963267948966 0 0</pose>")
        + joint("swing", "revolute", "world", "bob", "<pose>0 0 0.5 0 0 0</pose><axis><xyz>1 0 0</xyz></axis>")
    )
    ours = robot_of(text)
    # z of the link points along -y of the world: the hinge is at (1, 1.5, 3)
    R = rotation_of_angles(math.pi / 2, 0.0, 0.0)
    builder = RobotBuilder("m").body("bob", 2.0, inertia=((0.1, 0.01, -0.02), (0.01, 0.2, 0.03), (-0.02, 0.03, 0.25)))
    builder.joint(
        "swing",
        "revolute",
        "world",
        "bob",
        placement=Pose(R, (1.0, 1.5, 3.0)),
        child_placement=translation((0.0, 0.0, 0.5)),
        axis=(1.0, 0.0, 0.0),
    )
    assert_same(ours, builder.build())
    assert ours.joint("swing").child_placement == translation((0.0, 0.0, 0.5))  # as it is written, to the last bit


def test_exact_zeros_stay_where_turns_cancel() -> None:
    """Links turned alike lie straight against each other: dust of rounding would cost speed in compiled code."""
    text = model(
        link("a", "<pose>0 0 0 0.3 0.4 0.5</pose>")
        + link("b", '<pose relative_to="a">1 0 0 0 0 0</pose>')
        + link("c", '<pose relative_to="b">1 0 0 0 0 0</pose>')
        + joint("ab", "revolute", "a", "b")
        + joint("ac", "revolute", "a", "c")
    )
    assert robot_of(text).joint("ab").placement == translation((1.0, 0.0, 0.0))
    R, p = robot_of(text).joint("ac").placement
    assert R == IDENTITY.R and p[0] == pytest.approx(2.0, abs=1e-15) and p[1] == p[2] == 0.0


@pytest.mark.parametrize(
    ("inside", "pitch"),
    [
        ("", 1.0 / math.tau),
        ("<screw_thread_pitch>0.02</screw_thread_pitch>", 0.02 / math.tau),
        ("<thread_pitch>-50</thread_pitch>", 0.02),  # radians per meter, positive for a left-handed thread
        ("<thread_pitch>-50</thread_pitch><screw_thread_pitch>0.5</screw_thread_pitch>", 0.5 / math.tau),
    ],
)
def test_pitch_of_a_screw(inside: str, pitch: float) -> None:
    screw = f"{inside}<axis><xyz>0 1 0</xyz></axis>"
    found = robot_of(model(link("a") + joint("s", "screw", "world", "a", screw))).joint("s")
    assert (found.kind, found.axis) == ("helical", (0.0, 1.0, 0.0))
    assert found.pitch == pytest.approx(pitch, rel=1e-15)


def test_axes_of_old_files_are_told_in_the_model() -> None:
    parts = link("a", "<pose>0 0 0 0 0 1.5707963267948966</pose>")
    for version, told, expected in (
        ("1.6", "<use_parent_model_frame>1</use_parent_model_frame>", (0.0, -1.0, 0.0)),
        ("1.6", "<use_parent_model_frame>0</use_parent_model_frame>", (1.0, 0.0, 0.0)),
        ("1.6", "", (1.0, 0.0, 0.0)),
        ("1.4", "", (0.0, -1.0, 0.0)),
        ("1.7", "", (1.0, 0.0, 0.0)),
    ):
        axis = f"<axis><xyz>1 0 0</xyz>{told}</axis>"
        found = robot_of(model(parts + joint("j", "revolute", "world", "a", axis), version=version)).joint("j")
        assert np.allclose(found.axis, expected, atol=1e-15), (version, told)


def test_numbers_of_joints() -> None:
    axis = (
        "<axis><xyz>0 0 1</xyz>"
        "<limit><lower>-1</lower><upper>2</upper><velocity>3</velocity><effort>-1</effort></limit>"
        "<dynamics><damping>0.5</damping><friction>0.25</friction></dynamics></axis>"
        "<axis2><xyz>1 0 0</xyz><limit><lower>-inf</lower><upper>1e16</upper><effort>7</effort></limit></axis2>"
    )
    ball = "<axis><dynamics><damping>0.5</damping></dynamics></axis>"
    text = model(
        link("a") + link("b") + link("c")
        + joint("u", "universal", "world", "a", axis) + joint("r", "continuous", "a", "b", axis.split("<axis2>")[0])
        + joint("s", "ball", "b", "c", ball)
    )  # fmt: skip
    robot = robot_of(text)
    found = robot.joint("u")
    assert (found.lower, found.upper) == ((-1.0, -math.inf), (2.0, math.inf))
    assert (found.velocity, found.effort) == ((3.0, math.inf), (math.inf, 7.0))
    assert (found.damping, found.friction) == ((0.5, 0.0), (0.25, 0.0))
    assert (robot.joint("r").lower, robot.joint("r").damping) == ((-math.inf,), (0.5,))
    assert (robot.joint("s").kind, robot.joint("s").damping) == ("spherical", (0.5,) * 3)


def test_revolute2_is_two_hinges_in_series() -> None:
    axes = "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>"
    found = robot_of(model(link("a") + joint("j", "revolute2", "world", "a", axes))).joint("j")
    assert (found.kind, found.axis, found.axis2) == ("universal", (0.0, 0.0, 1.0), (0.0, 1.0, 0.0))


# ── roots, statics, loops ─────────────────────────────────────────────────────────────────────────────────────────────


def test_what_hangs_on_nothing_is_free_where_the_file_puts_it() -> None:
    text = model(
        link("a", "<pose>1 2 3 0 0 0.5</pose>")
        + link("b", "<pose>4 0 0 0 0 0</pose>")
        + joint("j", "fixed", "a", "b", "")
    )
    found = examined(text).system
    assert found is not None and [(j.name, j.kind) for j in found.robot.joints] == [("a_root", "free"), ("j", "fixed")]
    q, _ = found.initial_state()
    np.testing.assert_allclose(
        pose_of(found.robot, "b", q), np.array(matrix_of(translation((4.0, 0.0, 0.0)))), atol=1e-15
    )
    fixed = robot_of(text, base="fixed")
    assert fixed.nv == 0 and np.allclose(pose_of(fixed, "a")[:3, 3], (1.0, 2.0, 3.0))


def test_base_overrules_the_file() -> None:
    held = model(link("a") + joint("hold", "fixed", "world", "a", ""))
    assert robot_of(held).nv == 0 and robot_of(held, base="free").joint("hold").kind == "free"
    static = model(f"<static>true</static>{link('a')}")
    assert robot_of(static).nv == 0 and robot_of(static, base="free").nv == 6


def test_a_static_model_stands_and_carries_others() -> None:
    text = (
        '<sdf version="1.9"><world name="w"><gravity>0 0 -1</gravity>'
        f'<model name="ground"><static>1</static><pose>1 0 0 0 0 0</pose>{link("slab", "<pose>0 0 1 0 0 0</pose>")}'
        f"{link('post')}{joint('stuck', 'revolute', 'slab', 'post')}</model>"
        f'<model name="arm"><pose>0 5 0 0 0 0</pose>{link("rod")}</model>'
        f"{joint('hinge', 'revolute', 'ground::slab', 'arm::rod')}</world></sdf>"
    )
    found = examined(text)
    assert found.system is not None
    robot = found.system.robot
    assert [(j.name, j.kind, j.parent) for j in robot.joints if j.nv] == [("hinge", "revolute", "world")]
    assert robot.body_names == ("ground::slab", "ground::post", "arm::rod") and robot.gravity == (0.0, 0.0, -1.0)
    assert np.allclose(pose_of(robot, "ground::slab")[:3, 3], (1.0, 0.0, 1.0))
    assert np.allclose(pose_of(robot, "arm::rod")[:3, 3], (0.0, 5.0, 0.0))
    assert [f.rule for f in found.warnings] == ["dropped"]  # the joint inside the static model


FOUR_BAR = model(
    link("ground")
    + joint("weld", "fixed", "world", "ground", "")
    + link("crank", "<pose>0 0 0 0 0 0.3</pose>")
    + link("coupler", '<pose relative_to="crank">1 0 0 0 0 -1</pose>')
    + link("rocker", '<pose relative_to="coupler">2 0 0 0 0 -1.2</pose>')
    + joint("a", "revolute", "ground", "crank")
    + joint("b", "revolute", "crank", "coupler")
    + joint("c", "revolute", "coupler", "rocker")
    + joint("d", "revolute", "ground", "rocker", "<pose>1.5 0 0 0.2 0 0</pose><axis><xyz>0 0 1</xyz></axis>")
)


def test_a_joint_whose_child_hangs_already_closes_a_loop_there() -> None:
    robot = robot_of(FOUR_BAR)
    assert len(robot.loops) == 1
    loop = robot.loops[0]
    q = neutral(robot)
    ends = [pose_of(robot, body, q) for body in (loop.parent, loop.child)]
    places = [np.array(matrix_of(place)) for place in (loop.placement, loop.child_placement)]
    np.testing.assert_allclose(ends[0] @ places[0], ends[1] @ places[1], atol=1e-15)
    expected = np.array(matrix_of(joint_pose(robot.joint("a"), [0.0])))
    np.testing.assert_allclose(pose_of(robot, "crank", q), expected, atol=1e-15)


def test_a_link_that_is_only_a_parent_hangs_on_its_child() -> None:
    """a -> c <- b: b has no parent; its joint is walked backwards and keeps its coordinate."""
    text = model(
        link("a") + link("b", "<pose>2 0 0 0 0 0</pose>") + link("c", "<pose>1 0 0 0 0 0</pose>")
        + joint("weld", "fixed", "world", "a", "") + joint("ac", "revolute", "a", "c")
        + joint("bc", "prismatic", "b", "c", "<axis><xyz>0 1 0</xyz></axis>")
    )  # fmt: skip
    robot = robot_of(text)
    assert (robot.loops, robot.nv) == ((), 2)
    turned = robot.joint("bc")
    assert (turned.parent, turned.child, turned.axis) == ("c", "b", (0.0, -1.0, 0.0))
    q = np.zeros(2)
    q[robot.q_slice("bc")] = 0.25  # c lies 0.25 further along y, seen from b
    np.testing.assert_allclose(
        (np.linalg.inv(pose_of(robot, "b", q)) @ pose_of(robot, "c", q))[:3, 3], (-1.0, 0.25, 0.0)
    )


def test_a_ring_of_links_has_its_first_link_as_root() -> None:
    text = model(link("a") + link("b") + joint("ab", "revolute", "a", "b") + joint("ba", "revolute", "b", "a"))
    robot = robot_of(text)
    assert [j.name for j in robot.joints] == ["a_root", "ab"] and [j.name for j in robot.loops] == ["ba"]


def test_mimic_and_gearbox_are_couplings() -> None:
    numbers = "<multiplier>2</multiplier><offset>1</offset><reference>3</reference>"
    mimic = f'<axis><xyz>0 0 1</xyz><mimic joint="a">{numbers}</mimic></axis>'
    text = model(
        link("x") + link("y") + joint("a", "revolute", "world", "x") + joint("b", "revolute", "world", "y", mimic)
    )
    (coupling,) = robot_of(text).couplings
    assert (coupling.joint, coupling.leader, coupling.multiplier, coupling.offset) == ("b", "a", 2.0, -5.0)
    gearbox = (
        "<gearbox_ratio>3</gearbox_ratio><gearbox_reference_body>base</gearbox_reference_body>"
        "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 -1</xyz></axis2>"
    )
    geared = model(
        link("base") + link("x") + link("y") + joint("a", "revolute", "base", "x") + joint("b", "revolute", "base", "y")
        + joint("g", "gearbox", "x", "y", gearbox)
    )  # fmt: skip
    robot = robot_of(geared)
    (coupling,) = robot.couplings  # theta_2 = -3 theta_1, and theta_2 runs against the angle of joint b
    assert (coupling.joint, coupling.leader, coupling.multiplier) == ("b", "a", 3.0)
    assert [j.name for j in (*robot.joints, *robot.loops)] == ["base_root", "a", "b"]
    apart = geared.replace("<axis2><xyz>0 0 -1</xyz>", "<axis2><xyz>0 1 0</xyz>")
    assert robot_of(apart).couplings == () and [f.rule for f in examined(apart).warnings] == ["dropped"]


# ── models in models, models in files ─────────────────────────────────────────────────────────────────────────────────

GRIPPER = f"""<sdf version="1.9"><model name="gripper">
<link name="palm">{INERTIAL}</link><link name="finger">{INERTIAL}<pose>0 0 1 0 0 0</pose></link>
<joint name="grip" type="revolute"><parent>palm</parent><child>finger</child><axis><xyz>1 0 0</xyz></axis></joint>
<frame name="mount"><pose>0 0 -1 0 0 0</pose></frame></model></sdf>"""


def test_nested_models_and_names_across_them() -> None:
    inner = f'<model name="hand"><pose relative_to="tip">0 0 1 0 0 0</pose>{link("palm")}<frame name="f"/></model>'
    text = model(
        link("arm") + '<frame name="tip" attached_to="arm"><pose>1 0 0 0 0 0</pose></frame>' + inner
        + joint("hold", "fixed", "tip", "hand::f", "") + joint("base", "fixed", "world", "arm", "")
        + '<frame name="far"><pose relative_to="hand::palm">0 1 0 0 0 0</pose></frame>'
    )  # fmt: skip
    robot = robot_of(text)
    assert robot.body_names == ("arm", "hand::palm")
    assert np.allclose(pose_of(robot, "hand::palm")[:3, 3], (1.0, 0.0, 1.0))
    assert (robot.joint("hold").parent, robot.joint("hold").child) == ("arm", "hand::palm")
    assert (robot.frame("far").body, robot.frame("far").placement.p) == ("arm", (1.0, 1.0, 1.0))


@pytest.mark.parametrize(
    "uri", ["gripper", "gripper/model.sdf", "model://gripper", "package://gripper/model.sdf", "file://gripper"]
)
def test_included_models(tmp_path: Path, uri: str) -> None:
    (tmp_path / "gripper").mkdir()
    (tmp_path / "gripper" / "model.sdf").write_text(GRIPPER)
    (tmp_path / "gripper" / "model.config").write_text('<model><sdf version="1.9">model.sdf</sdf></model>')
    include = (
        f"<include><uri>{uri}</uri><name>g2</name><placement_frame>mount</placement_frame>"
        '<pose relative_to="arm">0 0 5 0 0 0</pose></include>'
    )
    main = model(
        link("arm")
        + include
        + joint("hold", "revolute", "arm", "g2::palm")
        + joint("base", "fixed", "world", "arm", "")
    )
    (tmp_path / "main.sdf").write_text(main)
    robot = load(tmp_path / "main.sdf").robot
    assert robot.body_names == ("arm", "g2::palm", "g2::finger")
    assert np.allclose(pose_of(robot, "g2::palm")[:3, 3], (0.0, 0.0, 6.0))  # mount, 1 below the palm, lies at 5
    assert np.allclose(pose_of(robot, "g2::finger")[:3, 3], (0.0, 0.0, 7.0))


def test_a_merged_include_has_its_parts_in_the_model(tmp_path: Path) -> None:
    (tmp_path / "gripper.sdf").write_text(GRIPPER)
    placed = "<placement_frame>mount</placement_frame><pose>0 0 5 0 0 0</pose>"
    include = f'<include merge="true"><uri>gripper.sdf</uri>{placed}</include>'
    main = model(
        link("arm") + include + joint("hold", "revolute", "arm", "palm") + joint("base", "fixed", "world", "arm", "")
    )
    (tmp_path / "main.sdf").write_text(main)
    robot = load(tmp_path / "main.sdf").robot
    assert robot.body_names == ("arm", "palm", "finger") and set(robot.joint_names) == {"base", "hold", "grip"}
    assert np.allclose(pose_of(robot, "finger")[:3, 3], (0.0, 0.0, 7.0))


def test_a_sidecar_adds_what_sdf_cannot_say(tmp_path: Path) -> None:
    parts = link("x") + link("y") + joint("a", "revolute", "world", "x") + joint("b", "revolute", "x", "y")
    (tmp_path / "m.sdf").write_text(model(parts))
    (tmp_path / "m.sidecar.toml").write_text('kinemorph = 1\n[couplings.b]\nleader = "a"\nmultiplier = 2.0\n')
    (coupling,) = load(tmp_path / "m.sdf").robot.couplings
    assert (coupling.joint, coupling.leader, coupling.multiplier) == ("b", "a", 2.0)


def test_included_files_are_told_by_their_own_lines(tmp_path: Path) -> None:
    (tmp_path / "gripper.sdf").write_text(GRIPPER.replace("<pose>0 0 1 0 0 0</pose>", "<pose>0 0 1 0 0</pose>"))
    (tmp_path / "main.sdf").write_text(model("<include><uri>gripper.sdf</uri></include>"))
    (error,) = examine(tmp_path / "main.sdf").errors
    assert (Path(error.file).name, error.line, error.element) == ("gripper.sdf", 2, "link 'finger'")


# ── links ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_defaults_of_the_format_are_taken_and_told() -> None:
    found = examined(model('<link name="a"/><link name="b"/>' + joint("j", "fixed", "world", "b", "")))
    assert found.system is not None
    body = found.system.robot.body("a")
    assert (body.mass, body.inertia) == (1.0, ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
    assert [(f.rule, f.element) for f in found.warnings] == [("assumed", "link 'a'")]
    assert found.system.robot.body("b").mass == 0.0  # it does not move, so nothing need be assumed


@pytest.mark.parametrize(
    ("geometry", "body"),
    [
        ("<box><size>1 2 3</size></box>", Body.box("a", 600.0, (1.0, 2.0, 3.0))),
        ("<sphere><radius>0.5</radius></sphere>", Body.sphere("a", 100.0 / 6.0 * math.pi, 0.5)),
        ("<cylinder><radius>0.5</radius><length>2</length></cylinder>", Body.cylinder("a", 50.0 * math.pi, 0.5, 2.0)),
        ("<ellipsoid><radii>0.5 0.5 0.5</radii></ellipsoid>", Body.sphere("a", 100.0 / 6.0 * math.pi, 0.5)),
        ("<capsule><radius>0.5</radius><length>0</length></capsule>", Body.sphere("a", 100.0 / 6.0 * math.pi, 0.5)),
    ],
)  # fmt: skip
def test_inertia_computed_from_collisions(geometry: str, body: Body) -> None:
    collision = f'<collision name="c"><geometry>{geometry}</geometry></collision>'
    capsule_without_length = "<length>0<" in geometry
    text = model(f'<link name="a"><inertial auto="true"><density>100</density></inertial>{collision}</link>')
    if capsule_without_length:
        text = text.replace("<length>0<", "<length>1e-300<")
    found = robot_of(text).body("a")
    assert found.mass == pytest.approx(body.mass, rel=1e-14)
    np.testing.assert_allclose(found.inertia, body.inertia, rtol=1e-14)


def test_a_capsule_and_a_cone_against_sums_over_slices() -> None:
    """Mass, center and moments by adding thin discs."""
    z = np.linspace(-1.0, 1.0, 200_001)
    edges = 0.5 * (z[1:] + z[:-1])
    for tag, radius in (
        ("capsule", np.where(np.abs(edges) < 0.6, 0.4, np.sqrt(np.maximum(0.16 - (np.abs(edges) - 0.6) ** 2, 0.0)))),
        ("cone", np.where(np.abs(edges) < 0.6, 0.4 * (0.6 - edges) / 1.2, 0.0)),
    ):
        discs = np.pi * radius**2 * 1e-5 * 1000.0
        mass, center = discs.sum(), (discs * edges).sum() / discs.sum()
        along = (discs * radius**2 / 2.0).sum()
        across = (discs * (radius**2 / 4.0 + (edges - center) ** 2)).sum()
        shape = f"<geometry><{tag}><radius>0.4</radius><length>1.2</length></{tag}></geometry>"
        found = robot_of(
            model(f'<link name="a"><inertial auto="1"/><collision name="c">{shape}</collision></link>')
        ).body("a")
        assert found.mass == pytest.approx(mass, rel=1e-6) and found.com[2] == pytest.approx(center, abs=1e-6)
        np.testing.assert_allclose(np.diag(found.inertia), (across, across, along), rtol=1e-6)


def test_shapes_and_their_places(tmp_path: Path) -> None:
    visuals = (
        '<visual name="v"><pose relative_to="f">0 0 1 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry>'
        "<material><diffuse>1 0 0 1</diffuse></material></visual>"
        '<visual name="c"><geometry><cone><radius>1</radius><length>2</length></cone></geometry></visual>'
        '<visual name="m"><geometry><mesh><uri>model://x/y.stl</uri><scale>2 2 2</scale></mesh></geometry></visual>'
        '<visual name="p"><geometry><plane><normal>0 0 1</normal></plane></geometry></visual>'
        '<collision name="k"><geometry><sphere><radius>1</radius></sphere></geometry></collision>'
    )
    found = examined(model(link("a", visuals) + '<frame name="f"><pose>5 0 0 0 0 0</pose></frame>'))
    assert found.system is not None
    box, cone, mesh = found.system.robot.body("a").shapes
    assert isinstance(box, Box) and box.placement.p == (5.0, 0.0, 1.0) and box.color == (1.0, 0.0, 0.0, 1.0)
    assert isinstance(cone, Frustum) and (cone.bottom, cone.top) == (1.0, 0.0)
    assert isinstance(mesh, MeshFile) and (mesh.path, mesh.scale) == ("", (2.0, 2.0, 2.0))
    assert len(found.system.robot.body("a").collisions) == 1
    assert sorted(f.rule for f in found.warnings) == ["dropped", "mesh"]


def test_many_meshes_that_are_missing_give_one_warning() -> None:
    mesh = '<visual name="m{}"><geometry><mesh><uri>model://x/{}.stl</uri></mesh></geometry></visual>'
    found = examined(model("".join(link(name, mesh.format(0, name) + mesh.format(1, "same")) for name in "abc")))
    (warning,) = (str(one) for one in found.warnings if one.rule == "mesh")
    assert "link 'a': the mesh 'model://x/a.stl' (and 3 others) is not found" in warning and "contains 'x'" in warning


# ── what is wrong with a file ─────────────────────────────────────────────────────────────────────────────────────────

A = link("a")


def world(body: str) -> str:
    return f'<sdf version="1.9"><world name="w"><gravity>0 0 0</gravity>{body}</world></sdf>'


def hinged(axis: str, kind: str = "revolute") -> str:
    return model(A + joint("j", kind, "world", "a", f"<axis>{axis}</axis>"))


def ring(first: str, second: str) -> str:
    return model(A + f'<frame name="f"{first}</frame><frame name="g"{second}</frame>')


MESH = "<collision name='c'><geometry><mesh><uri>x</uri></mesh></geometry></collision>"
BAD = {
    "no sdf": ("<robot/>", "structure"),
    "no version": ("<sdf><model name='m'/></sdf>", "structure"),
    "version": (model(A, version="abc"), "structure"),
    "old version": (model(A, version="1.0"), "structure"),
    "two worlds": ('<sdf version="1.9"><world name="a"/><world name="b"/></sdf>', "structure"),
    "nothing": ('<sdf version="1.9"/>', "name"),
    "model without links": (model("<frame name='f'/>"), "structure"),
    "unnamed link": (model("<link/>"), "structure"),
    "two links of one name": (model(A + A), "name"),
    "link and joint of one name": (model(A + joint("a", "fixed", "world", "a", "")), "name"),
    "two models of one name": (world(f'<model name="m">{A}</model>' * 2), "name"),
    "reserved name": (model(A + '<frame name="__model__"/>'), "name"),
    "link called world": (model(link("world")), "name"),
    "pose with five numbers": (model(link("a", "<pose>1 2 3 4 5</pose>")), "number"),
    "pose with a word": (model(link("a", "<pose>1 2 x 0 0 0</pose>")), "number"),
    "not finite": (model(link("a", "<pose>1 2 nan 0 0 0</pose>")), "number"),
    "quaternion of length 0": (model(link("a", '<pose rotation_format="quat_xyzw">0 0 0 0 0 0 0</pose>')), "rotation"),
    "rotation format": (model(link("a", '<pose rotation_format="zyx">0 0 0 0 0 0 0</pose>')), "structure"),
    "degrees": (model(link("a", '<pose degrees="maybe">0 0 0 0 0 0</pose>')), "structure"),
    "ring of poses": (ring('><pose relative_to="g"/>', '><pose relative_to="f"/>'), "structure"),
    "pose relative to itself": (model(A + '<frame name="f"><pose relative_to="f"/></frame>'), "structure"),
    "ring of attachments": (ring(' attached_to="g">', ' attached_to="f">'), "structure"),
    "unknown frame": (model(link("a", '<pose relative_to="b"/>')), "name"),
    "unknown attachment": (model(A + '<frame name="f" attached_to="b"/>'), "name"),
    "unknown placement frame": (model(A, data=' placement_frame="x"'), "name"),
    "unknown canonical link": (model(A, data=' canonical_link="x"'), "name"),
    "unknown parent": (model(A + joint("j", "fixed", "x", "a", "")), "name"),
    "unknown child": (model(A + joint("j", "fixed", "a", "x", "")), "name"),
    "world as child": (model(A + joint("j", "fixed", "a", "world", "")), "name"),
    "no child": (model(A + '<joint name="j" type="fixed"><parent>a</parent></joint>'), "structure"),
    "no parent": (model(A + '<joint name="j" type="fixed"><child>a</child></joint>'), "structure"),
    "joint to itself": (model(A + joint("j", "fixed", "a", "a", "")), "structure"),
    "joint type": (model(A + joint("j", "hinge", "world", "a")), "structure"),
    "no axis": (model(A + joint("j", "revolute", "world", "a", "")), "structure"),
    "zero axis": (model(A + joint("j", "revolute", "world", "a", "<axis><xyz>0 0 0</xyz></axis>")), "axis"),
    "unknown frame of an axis": (hinged('<xyz expressed_in="x">0 0 1</xyz>'), "name"),
    "limits swapped": (hinged("<limit><lower>1</lower><upper>-1</upper></limit>"), "data"),
    "pitch 0": (model(A + joint("j", "screw", "world", "a", "<thread_pitch>0</thread_pitch><axis/>")), "number"),
    "parallel axes": (model(A + joint("j", "universal", "world", "a", "<axis/><axis2/>")), "data"),
    "negative mass": (model(A.replace("<mass>2", "<mass>-2")), "mass"),
    "mass with a comma": (model(A.replace("<mass>2", "<mass>2,5")), "number"),
    "mimic of nobody": (model(A + joint("j", "revolute", "world", "a", '<axis><mimic joint="x"/></axis>')), "name"),
    "auto without collision": (model('<link name="a"><inertial auto="true"/></link>'), "mass"),
    "auto with a mesh": (model(f'<link name="a"><inertial auto="1"/>{MESH}</link>'), "mass"),
    "link in the world": ('<sdf version="1.9"><world name="w"><link name="a"/></world></sdf>', "structure"),
    "include without uri": (model(A + "<include/>"), "structure"),
    "include of nothing": (model(A + "<include><uri>nowhere</uri></include>"), "file"),
    "doctype": ('<!DOCTYPE sdf><sdf version="1.9"/>', "entities"),
    "not closed": ("<sdf version='1.9'><model>", "syntax"),
}  # fmt: skip


@each_case("case", BAD)
def test_what_is_wrong_is_said_with_its_line(case: str) -> None:
    text, rule = BAD[case]
    found = examined("\n" + text)
    assert found.system is None
    assert rule in [finding.rule for finding in found.errors], [str(finding) for finding in found.errors]
    assert any(finding.line == 2 for finding in found.errors) or rule in ("entities", "syntax", "name")
    for finding in found.findings:
        assert finding.remedy.endswith((".", "?")) and not finding.problem.endswith("."), str(finding)


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


# ── older versions, and URDF inside SDF ───────────────────────────────────────────────────────────────────────────────


def test_older_versions_have_the_meaning_of_1_4(tmp_path: Path) -> None:
    """sdformat converts SDF 1.2 to 1.4 without a change of links, joints and poses; its root element was <gazebo>."""
    arm = "<pose>0 0 1 0 0 0.3</pose>" + A + joint("j", "revolute", "world", "a", "<axis><xyz>1 0 0</xyz></axis>")
    robots = [
        load_text(model(arm, version=version).replace("sdf", root), "sdf").robot
        for version, root in (("1.4", "sdf"), ("1.3", "sdf"), ("1.2", "gazebo"), ("1.2", "sdf"))
    ]
    assert robots[0].joint("j").axis == (1.0, 0.0, 0.0) and all(robot == robots[0] for robot in robots)
    with pytest.raises(ParseError, match=r"the version is 1\.0, expected 1\.2 or newer"):
        load_text(model(arm, version="1.0"), "sdf")


def test_gravity_was_in_physics_up_to_1_5() -> None:
    world = "<sdf version='{}'><world name='w'><physics><gravity>0 0 -1.6</gravity></physics>{}</world></sdf>"
    inside = f"<model name='m'>{A}</model>"
    assert load_text(world.format("1.5", inside), "sdf").robot.gravity == (0.0, 0.0, -1.6)
    with pytest.warns(ModelWarning, match="SDF's default"):
        assert load_text(world.format("1.6", inside), "sdf").robot.gravity == (0.0, 0.0, -9.8)


@pytest.mark.parametrize(
    ("inside", "says"),
    [
        ("<velocity>1.4'</velocity>", '<velocity> is "1.4\'", expected a number: it is left out'),
        ("<effort>much</effort>", "<effort> is 'much', expected a number: it is left out"),
    ],
)
def test_a_wrong_limit_of_speed_or_effort_is_left_out(inside: str, says: str) -> None:
    axis = f"<axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1</upper>{inside}</limit></axis>"
    with pytest.warns(ModelWarning) as told:
        found = load_text(model(A + joint("j", "revolute", "world", "a", axis)), "sdf").robot.joint("j")
    assert says in str(told[0].message) and (found.velocity, found.effort) == ((math.inf,), (math.inf,))


def test_wrong_shapes_are_left_out() -> None:
    shape = "<visual name='v'><geometry><box><size>1 2</size></box></geometry></visual>"
    text = model(A.replace("</link>", f"{shape}{shape.replace('1 2', '1 2 3')}</link>"))
    with pytest.warns(ModelWarning, match="<size> is '1 2' with 2 numbers, expected 3: it is left out"):
        assert len(load_text(text, "sdf").robot.body("a").shapes) == 1


def test_the_first_of_two_poses_is_used() -> None:
    """Gazebo's Prius has visuals with two poses."""
    with pytest.warns(ModelWarning, match="<link> contains <pose> 2 times, expected once: the first one is used"):
        system = load_text(model(link("a", "<pose>1 0 0 0 0 0</pose><pose>2 0 0 0 0 0</pose>")), "sdf")
    assert system.settings.q[0] == 1.0


def test_a_urdf_may_be_included(tmp_path: Path) -> None:
    """sdformat reads URDF there, too. The robot is that of the URDF, at the pose of the <include>."""
    (tmp_path / "arm.urdf").write_text(
        '<robot name="arm"><link name="base"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link><link name="tip"><inertial><origin xyz="0 0 .2" rpy="0 .1 0"/>'
        '<mass value="2"/><inertia ixx=".1" iyy=".2" izz=".25" ixy=".01" ixz="0" iyz="0"/></inertial><visual>'
        '<origin xyz="0 0 .1"/><geometry><cylinder radius=".1" length=".4"/></geometry></visual></link>'
        '<joint name="j" type="revolute"><origin xyz=".1 .2 .3" rpy=".4 .5 .6"/><parent link="base"/>'
        '<child link="tip"/><axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="3" velocity="4"/>'
        '<dynamics damping=".5" friction=".6"/></joint></robot>'
    )
    (tmp_path / "world.sdf").write_text(model("<include><uri>arm.urdf</uri><pose>0 0 1 0 0 0</pose></include>"))
    found, alone = load(tmp_path / "world.sdf", base="fixed").robot, load(tmp_path / "arm.urdf").robot
    one, other = found.joint("arm::j"), alone.joint("j")
    assert (one.lower, one.upper, one.effort, one.velocity) == (other.lower, other.upper, other.effort, other.velocity)
    assert (one.damping, one.friction, one.axis) == (other.damping, other.friction, other.axis)
    q, v, tau = [0.7], [0.3], [0.2]
    poses = [derive(robot).pose(robot.body_names[-1])(q) for robot in (found, alone)]
    np.testing.assert_allclose(poses[0] - poses[1], [[0, 0, 0, 0]] * 2 + [[0, 0, 0, 1]] + [[0, 0, 0, 0]], atol=1e-14)
    moved = [derive(robot).forward_dynamics(q, v, tau) for robot in (found, alone)]
    np.testing.assert_allclose(moved[0], moved[1], rtol=1e-12)
    assert len(found.body("arm::tip").shapes) == 1
