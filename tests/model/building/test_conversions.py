"""States between conventions: there and back, and the same motion in Pinocchio, MuJoCo and Drake."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kinemorph.algebra.groups import IDENTITY, Pose, matrix_of
from kinemorph.algebra.inertia import Inertia, kinetic_energy
from kinemorph.algebra.roll_pitch_yaw import rotation_of_angles
from kinemorph.errors import ModelError, ShapeError
from kinemorph.formats.loading import load_text
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.changes.reroot import body_motion
from kinemorph.model.configuration import random_configuration
from kinemorph.model.conventions.conversions import from_convention, quat_wxyz_to_xyzw, quat_xyzw_to_wxyz, to_convention
from kinemorph.model.conventions.joint_rows import ROWS
from kinemorph.model.joint import JOINT_KINDS
from kinemorph.model.robot import Robot
from support.robots.random_robots import random_robot, random_states
from support.tools.each_case import each_case

Array = np.ndarray
TURNED = Pose(rotation_of_angles(0.3, -0.8, 1.1), (0.4, -0.2, 0.7))
INERTIA = ((0.1, 0.01, -0.02), (0.01, 0.2, 0.03), (-0.02, 0.03, 0.25))


def chain(*kinds: str, **data: object) -> Robot:
    """One body per kind, each on the one before, joint j0 on the world."""
    builder = RobotBuilder("chain")
    for k, kind in enumerate(kinds):
        builder.add(Body(f"b{k}", 2.0, (0.1, 0.2, 0.3), INERTIA))
        extra = dict(data)
        if kind == "helical":
            extra["pitch"] = 0.05
        builder.joint(f"j{k}", kind, f"b{k - 1}" if k else "world", f"b{k}", **extra)
    return builder.build()


def energy(robot: Robot, q: Array, v: Array) -> float:
    """Kinetic energy [J] from the twists of the bodies."""
    total = 0.0
    for body in robot.bodies:
        V = body_motion(robot, body.name, q, v)[1]
        total += float(kinetic_energy(Inertia(body.mass, body.com, body.inertia), V))
    return total


def pose(robot: Robot, body: str, q: Array) -> Array:
    return np.array(matrix_of(body_motion(robot, body, q, np.zeros(robot.nv))[0]), dtype=float)


def state(robot: Robot, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return random_configuration(robot, rng), rng.normal(size=robot.nv)


def same_rotations(q: Array, other: Array) -> None:
    """Equal, up to the sign of quaternions."""
    np.testing.assert_allclose(np.minimum(np.abs(q - other), np.abs(q + other)), 0.0, atol=1e-12)


# ── there and back ────────────────────────────────────────────────────────────────────────────────────────────────────


@each_case(("peer", "seed"), list(itertools.product(ROWS, range(6))))
def test_there_and_back(peer: str, seed: int) -> None:
    robot = random_robot(seed, most=25)
    q, v, _, _ = random_states(robot, seed, 7)
    names = list(np.random.default_rng(seed).permutation(robot.joint_names))
    hinges = [j.name for j in robot.joints if j.kind == "revolute"][::2] if peer == "pinocchio" else []
    there = to_convention(robot, peer, q, v, joints=names, unbounded=hinges)
    back = from_convention(robot, peer, *there, joints=names, unbounded=hinges)
    same_rotations(back[0], q)
    np.testing.assert_allclose(back[1], v, atol=1e-12)
    for k in range(7):  # a batch is its states one by one
        one = to_convention(robot, peer, q[k], v[k], joints=names, unbounded=hinges)
        np.testing.assert_allclose(one[0], there[0][k], atol=1e-15)
        np.testing.assert_allclose(one[1], there[1][k], atol=1e-14)


def test_velocities_are_rates_of_configurations_there() -> None:
    """MuJoCo and Drake: what follows from q alone. The slope of the converted q along v is the converted v."""
    robot = chain("planar", "revolute", "cylindrical", "universal", "helical", "prismatic")
    q, v = state(robot, 3)
    from kinemorph.model.configuration import integrate

    for peer in ("mujoco", "drake"):
        ahead, behind = (to_convention(robot, peer, integrate(robot, q, h * v))[0] for h in (1e-6, -1e-6))
        np.testing.assert_allclose((ahead - behind) / 2e-6, to_convention(robot, peer, q, v)[1], atol=1e-8)


# ── the real libraries ────────────────────────────────────────────────────────────────────────────────────────────────

URDF = """<robot name="r"><link name="base"><inertial><mass value="2"/><origin xyz="0.1 0.2 0.3"/>
<inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0.01" ixz="-0.02" iyz="0.03"/></inertial></link>{links}{joints}</robot>"""


def urdf(*joints: tuple[str, str, str]) -> str:
    link = URDF.split('<robot name="r">')[1].split("{links}")[0]
    links = "".join(link.replace('name="base"', f'name="{child}"') for _, _, child in joints)
    origin, axis = '<origin xyz="0.1 0.2 0.3" rpy="0.3 0.2 0.1"/>', '<axis xyz="0 0 1"/>'
    parts = [
        f'<joint name="{name}" type="{kind}"><parent link="base"/><child link="{child}"/>{origin}{axis}'
        f'<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        for name, kind, child in joints
    ]
    return URDF.format(links=links, joints="".join(parts))


def same_by_hand(base: str, *joints: tuple[str, str, str]) -> Robot:
    """The robot of `urdf`, made here."""
    builder = RobotBuilder("r").add(Body("base", 2.0, (0.1, 0.2, 0.3), INERTIA)).root("base", base)
    placement = Pose(rotation_of_angles(0.3, 0.2, 0.1), (0.1, 0.2, 0.3))
    for name, kind, child in joints:
        builder.add(Body(child, 2.0, (0.1, 0.2, 0.3), INERTIA))
        builder.joint(name, {"continuous": "revolute"}.get(kind, kind), "base", child, placement=placement)
    return builder.build()


JOINTS = (("z", "continuous", "c0"), ("a", "revolute", "c1"), ("m", "prismatic", "c2"), ("p", "planar", "c3"))


@pytest.mark.parametrize("seed", range(4))
def test_pinocchio_reads_the_same_state(seed: int) -> None:
    """Its own URDF reader: joints in its own order, a continuous joint as cosine and sine, planar, a free root."""
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromXML(urdf(*JOINTS), pin.JointModelFreeFlyer())
    robot = same_by_hand("free", *JOINTS)
    unbounded = [name for name, j in zip(model.names, model.joints, strict=True) if (j.nq, j.nv) == (2, 1)]
    assert unbounded == ["z"] and list(model.names)[1:] == ["root_joint", "a", "m", "p", "z"]
    q, v = state(robot, seed)
    there = to_convention(robot, "pinocchio", q, v, joints=list(model.names), unbounded=unbounded)
    data = model.createData()
    assert there[0].shape == (model.nq,) and there[1].shape == (model.nv,)
    assert pin.computeKineticEnergy(model, data, *there) == pytest.approx(energy(robot, q, v), rel=1e-12)
    pin.framesForwardKinematics(model, data, there[0])
    for body in robot.body_names:
        np.testing.assert_allclose(data.oMf[model.getFrameId(body)].homogeneous, pose(robot, body, q), atol=1e-13)
    back = from_convention(robot, "pinocchio", *there, joints=list(model.names), unbounded=unbounded)
    np.testing.assert_allclose(pose(robot, "c0", back[0]), pose(robot, "c0", q), atol=1e-13)
    np.testing.assert_allclose(back[1], v, atol=1e-13)


@pytest.mark.parametrize("kind", ["spherical", "helical", "planar", "universal", "cylindrical", "free"])
def test_pinocchio_has_the_same_energy(kind: str) -> None:
    pytest.importorskip("pinocchio")
    import pinocchio as pin

    from kinemorph.bench.peers.pinocchio_twin import twin_of_robot

    robot = chain("free", "revolute", kind, placement=TURNED, child_placement=TURNED)
    twin = twin_of_robot(robot)
    q, v = state(robot, 1)
    there = to_convention(robot, "pinocchio", q, v)
    found = pin.computeKineticEnergy(twin.model, twin.model.createData(), *there)
    assert found == pytest.approx(energy(robot, q, v), rel=1e-12)


MJCF = """<mujoco><compiler angle="radian"/><worldbody>
<body name="b0"><freejoint name="root"/>{0}
<body name="b1" pos="0.1 0.2 0.3"><joint name="j1" type="hinge" axis="0 0 1"/>{0}
<body name="b2" pos="0.1 0.2 0.3"><joint name="j2" type="ball"/>{0}
<body name="b3" pos="0.1 0.2 0.3"><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
<joint name="j3" type="hinge" axis="0 0 1"/>{0}</body></body></body></body></worldbody></mujoco>""".format(
    '<inertial pos="0.1 0.2 0.3" mass="2" fullinertia="0.1 0.2 0.25 0.01 -0.02 0.03"/>'
)


@pytest.mark.parametrize("seed", range(4))
def test_mujoco_reads_the_same_state(seed: int) -> None:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(MJCF)
    data = mujoco.MjData(model)
    builder = RobotBuilder("r")
    for k, kind in enumerate(("free", "revolute", "spherical", "planar")):
        builder.add(Body(f"b{k}", 2.0, (0.1, 0.2, 0.3), INERTIA))
        places = {"translation": (0.1, 0.2, 0.3)} if k else {}
        if kind == "free" and seed % 2:  # MuJoCo tells the pose of the body, wherever our joint frames lie
            places = {"placement": TURNED, "child_placement": Pose(rotation_of_angles(1.0, 0.0, 0.2), (1.0, 2.0, 3.0))}
        builder.joint(f"j{k}", kind, f"b{k - 1}" if k else "world", f"b{k}", **places)
    robot = builder.build()
    q, v = state(robot, seed)
    data.qpos[:], data.qvel[:] = to_convention(robot, "mujoco", q, v, joints=["root", "j1", "j2", "j3"])
    mujoco.mj_forward(model, data)
    mujoco.mj_energyVel(model, data)
    assert data.energy[1] == pytest.approx(energy(robot, q, v), rel=1e-12)
    for body in robot.body_names:
        T = pose(robot, body, q)
        np.testing.assert_allclose(data.body(body).xpos, T[:3, 3], atol=1e-13)
        np.testing.assert_allclose(data.body(body).xmat.reshape(3, 3), T[:3, :3], atol=1e-13)
    back = from_convention(robot, "mujoco", data.qpos, data.qvel)
    same_rotations(back[0][:3], q[:3])
    np.testing.assert_allclose(pose(robot, "b3", back[0]), pose(robot, "b3", q), atol=1e-13)
    np.testing.assert_allclose(back[1], v, atol=1e-12)


def test_a_slow_turn_in_mujoco_moves_the_same_way() -> None:
    """One small step of MuJoCo without forces, read back, is the step that v says."""
    mujoco = pytest.importorskip("mujoco")
    from kinemorph.model.configuration import integrate

    model = mujoco.MjModel.from_xml_string(
        '<mujoco><option gravity="0 0 0" timestep="1e-6"/><worldbody><body name="b0"><freejoint/>'
        '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    robot = RobotBuilder("r").body("b0", 1.0, inertia=(1.0, 1.0, 1.0)).root("b0", "free").build()
    q, v = state(robot, 8)
    data.qpos[:], data.qvel[:] = to_convention(robot, "mujoco", q, v)
    mujoco.mj_step(model, data)
    same_rotations(from_convention(robot, "mujoco", data.qpos)[0], integrate(robot, q, 1e-6 * v))


@pytest.mark.slow
@pytest.mark.parametrize("base", ["free", "fixed"])
def test_drake_reads_the_same_state(base: str) -> None:
    """Its URDF reader with planar and continuous joints, and ball and universal joints; a free root."""
    pytest.importorskip("pydrake")
    from support.peers.drake_peer import DrakePeer

    joints = (*JOINTS, ("s", "ball", "c4"))
    robot = same_by_hand(base, *((name, {"ball": "spherical"}.get(kind, kind), child) for name, kind, child in joints))
    text = urdf(*JOINTS, ("s", "fixed", "c4"))
    text = text.replace('<joint name="s" type="fixed">', '<drake:joint name="s" type="ball">')
    text = text[: text.rindex("</joint>")] + "</drake:joint></robot>"
    text = text.replace("<robot ", '<robot xmlns:drake="https://drake.mit.edu" ')
    if base == "fixed":
        weld = '<link name="world"/><joint name="w" type="fixed"><parent link="world"/><child link="base"/></joint>'
        text = text.replace("</robot>", f"{weld}</robot>")
    peer = DrakePeer(robot, text, file_type="urdf")
    for seed in range(5):
        q, v = state(robot, seed)
        assert peer.kinetic_energy(q, v) == pytest.approx(energy(robot, q, v), rel=1e-12)
        for body, T in peer.poses(q).items():
            np.testing.assert_allclose(T, pose(robot, body, q), atol=1e-13)
        there = to_convention(robot, "drake", q, v, joints=peer.joints)
        back = from_convention(robot, "drake", *there, joints=peer.joints)
        same_rotations(back[0], q)
        np.testing.assert_allclose(back[1], v, atol=1e-12)


# ── orders, shapes, mistakes ──────────────────────────────────────────────────────────────────────────────────────────


def test_names_that_are_not_ours_stand_for_free_roots() -> None:
    robot = RobotBuilder("two").add(Body("a", 1.0, inertia=INERTIA), Body("b", 1.0, inertia=INERTIA)).root("a", "free")
    robot = robot.joint("j", "revolute", "a", "b").build()
    q = np.arange(8.0)
    expected = np.array([7.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    np.testing.assert_array_equal(to_convention(robot, "mujoco", q, joints=["j", "floating"])[0], expected)
    np.testing.assert_array_equal(to_convention(robot, "mujoco", q, joints=["j"])[0], q)  # not listed: first
    np.testing.assert_array_equal(to_convention(robot, "mujoco", q, joints=["universe", "j"])[0], q)


def test_rows_name_kinds_that_exist() -> None:
    assert all(kind in JOINT_KINDS for rows in ROWS.values() for kind in rows)


def test_quaternions() -> None:
    wxyz = np.arange(8.0).reshape(2, 4)
    np.testing.assert_array_equal(quat_wxyz_to_xyzw(wxyz), [[1, 2, 3, 0], [5, 6, 7, 4]])
    np.testing.assert_array_equal(quat_xyzw_to_wxyz(quat_wxyz_to_xyzw(wxyz)), wxyz)
    with pytest.raises(ShapeError, match="expected"):
        quat_wxyz_to_xyzw([1.0, 2.0, 3.0])


def test_mistakes_are_named() -> None:
    robot = chain("free", "revolute", "prismatic")
    q, v = state(robot, 0)
    with pytest.raises(ShapeError, match=r"q has shape \(8,\) and v has shape \(8,\); expected \(..., 9\) for q"):
        to_convention(robot, "drake", q[:-1], v)
    with pytest.raises(ShapeError, match="batch"):
        to_convention(robot, "drake", np.tile(q, (2, 1)), np.tile(v, (3, 1)))
    with pytest.raises(ShapeError, match="not finite"):
        to_convention(robot, "drake", q * np.nan, v)
    with pytest.raises(ShapeError, match="quaternion is zero"):
        to_convention(robot, "drake", q * 0.0, v)
    with pytest.raises(ModelError, match="no convention 'bullet'"):
        to_convention(robot, "bullet", q, v)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="does not list 'j2'"):
        to_convention(robot, "drake", q, v, joints=["j0", "j1"])
    with pytest.raises(ModelError, match="lists 'j2' twice"):
        to_convention(robot, "drake", q, v, joints=["j0", "j1", "j2", "j2"])
    with pytest.raises(ModelError, match="lists 'jj', which robot 'chain' does not have"):
        to_convention(robot, "drake", q, v, joints=["j0", "j1", "j2", "jj"])
    with pytest.raises(ModelError, match="unbounded"):
        to_convention(robot, "pinocchio", q, v, unbounded=["j2"])
    with pytest.raises(ModelError, match="in brackets"):
        to_convention(robot, "pinocchio", q, v, joints="j0")


TWO_FREE = """<mujoco><worldbody><body name="a"><freejoint/><geom size=".1"/></body>
<body name="b"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("names", [["", ""], ["a", "a"], [None, "a"]])
def test_empty_and_repeated_names_are_refused(names: list[str]) -> None:
    """MuJoCo has empty names for joints without one: both free bodies silently got the state of the second."""
    robot = load_text(TWO_FREE, "mjcf").robot
    q = [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0, 4.0, 5.0, 6.0, 1.0, 0.0, 0.0, 0.0]
    with pytest.raises(ModelError, match=r"expected a name\. .* are 'a_joint', 'b_joint'|lists 'a' twice"):
        to_convention(robot, "mujoco", q, joints=names)
    with pytest.raises(ModelError, match=r"expected a name\.|twice"):
        from_convention(robot, "mujoco", q, joints=names)
    assert to_convention(robot, "mujoco", q, joints=["b_joint", "a_joint"])[0].tolist() == [*q[7:], *q[:7]]


def test_a_free_joint_with_armature_is_listed_by_its_own_name() -> None:
    """It is three slides and a ball here, which the list of MuJoCo's joints does not have."""
    text = """<mujoco><worldbody><body><joint name="f" type="free" armature=".1"/><geom size=".1"/>
    <body pos="0 0 .3"><joint name="j"/><geom size=".1"/></body></body></worldbody></mujoco>"""
    robot = load_text(text, "mjcf").robot
    q, v = [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0, 0.5], np.arange(7.0)
    for names in (["f", "j"], ["f.x", "f.y", "f.z", "f", "j"]):
        there = to_convention(robot, "mujoco", q, v, joints=names)
        assert there[0].tolist() == q and there[1].tolist() == v.tolist()
    assert to_convention(robot, "mujoco", q, v, joints=["j", "f"])[0].tolist() == [0.5, *q[:7]]


def test_at_rest_without_velocities() -> None:
    robot = chain("free", "spherical")
    q, _ = state(robot, 0)
    assert not to_convention(robot, "drake", q)[1].any()
    assert robot.joint("j0").placement == IDENTITY


@pytest.mark.parametrize("pitch", [np.pi / 2.0, -np.pi / 2.0])
def test_a_ball_in_drake_where_roll_and_yaw_are_one(pitch: float) -> None:
    builder = RobotBuilder("ball").body("b", 1.0, inertia=(1.0, 1.0, 1.0)).joint("j", "spherical", "world", "b")
    robot = builder.build()
    c, s = np.cos(pitch / 2.0), np.sin(pitch / 2.0)
    for yaw in (0.3, -2.0):
        q = np.array([c * np.cos(yaw / 2.0), -s * np.sin(yaw / 2.0), s * np.cos(yaw / 2.0), c * np.sin(yaw / 2.0)])
        there, _ = to_convention(robot, "drake", q, np.zeros(3))
        back, _ = from_convention(robot, "drake", there, np.zeros(3))
        assert abs(abs(back @ q) - 1.0) < 1e-12
