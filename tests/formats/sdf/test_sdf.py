"""SDF: the same robot however it is written, against robots made by hand; and everything that is wrong with a file."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from kinemorph.algebra.groups import IDENTITY, Pose, matrix_of, translation
from kinemorph.algebra.roll_pitch_yaw import rotation_of_angles
from kinemorph.formats.loading import examine, load
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import joint_pose, neutral
from kinemorph.model.shapes import Box, Frustum, MeshFile
from support.robots.sdf_models import GRIPPER, assert_same, examined, joint, link, model, pose_of, robot_of
from support.texts.sdf_texts import sdf_of, sdf_robot
from support.tools.each_case import each_case

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
