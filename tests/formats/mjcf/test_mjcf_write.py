"""Systems written as MJCF: MuJoCo's equations of the file are ours, and so are those of what we read back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kinemorph.algebra.quaternions import quat_to_rotation
from kinemorph.deriving.dynamics import derive
from kinemorph.formats.findings import Findings
from kinemorph.formats.loading import examine, load_text, save
from kinemorph.formats.mjcf.writer import mjcf_text
from kinemorph.mechanics.recursions.composite_bodies import mass_matrix
from kinemorph.mechanics.recursions.newton_euler import bias_forces
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model import library
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements import Actuator
from kinemorph.model.joint import JOINT_KINDS
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import Box, Capsule, Cylinder, Line, Mesh, Sphere
from kinemorph.model.system import Settings, System
from support.peers.mjcf_peers import peers
from support.robots.random_robots import random_pose, random_robot, random_states, robot_of_kind
from support.tools.some_slow import first

mujoco = pytest.importorskip("mujoco")
Answers = Callable[..., tuple[np.ndarray, np.ndarray]]
READ_BACK = ("double_pendulum", "four_bar", "puma")
# the joints of a file that stand for one of ours, by kind: suffix, coordinates and velocities of ours
PARTS = {
    "cylindrical": (("angle", [0], [0]), ("travel", [1], [1])),
    "universal": (("first", [0], [0]), ("second", [1], [1])),
    "gimbal": (("first", [0], [0]), ("second", [1], [1]), ("third", [2], [2])),
    "point_on_line": (("travel", [0], [0]), ("", [1, 2, 3, 4], [1, 2, 3])),
    "point_on_plane": (("x", [0], [0]), ("y", [1], [1]), ("", [2, 3, 4, 5], [2, 3, 4])),
    "planar": (("x", [0], [0]), ("y", [1], [1]), ("theta", [2], [2])),
    "free": (("x", [0], [0]), ("y", [1], [1]), ("z", [2], [2]), ("", [3, 4, 5, 6], [3, 4, 5])),
}


def written(system: System | Robot) -> tuple[str, list[str]]:
    """The text, and its warnings."""
    findings = Findings("x.xml")
    model = system if isinstance(system, System) else System(system)
    text = mjcf_text(model, Path("x.xml").absolute(), findings)
    assert not findings.errors
    return text, [finding.problem for finding in findings.found]


class Twin:
    """A model in which the joints of a robot stand under their names; `q_at` and `v_at` say where."""

    def __init__(self, robot: Robot, nq: int, nv: int, names: set[str], at: object) -> None:
        self.robot, self.nq, self.nv, self.names, self.at = robot, nq, nv, names, at

    def state(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(q there, B, Bdot v), with v there = B v."""
        there, B, rate = np.zeros(self.nq), np.zeros((self.nv, self.robot.nv)), np.zeros(self.nv)
        for joint in (joint for joint in self.robot.joints if joint.nv):
            own_q, own_v = self.robot.q_slice(joint.name), self.robot.v_slice(joint.name)
            x, u = q[own_q], v[own_v]
            R, block, turning = np.eye(3), np.eye(joint.nv), np.zeros(joint.nv)
            if joint.kind == "planar":
                c, s = np.cos(x[2]), np.sin(x[2])
                block[:2, :2] = [[c, -s], [s, c]]
                turning[:2] = block[:2, :2] @ [-u[2] * u[1], u[2] * u[0]]
            elif joint.kind == "free" and not (joint.name in self.names and self.at(joint.name)[2] == "free"):
                R = np.array(quat_to_rotation(x[3:].tolist()))
                block[:3, :3], turning[:3] = R, R @ np.cross(u[3:], u[:3])
            parts = PARTS.get(joint.kind, (("", list(range(joint.nq)), list(range(joint.nv))),))
            if f"{joint.name}.x" not in self.names and joint.kind == "free":
                parts = (("", list(range(7)), list(range(6))),)
            for suffix, q_of, v_of in parts:
                q_at, v_at, _ = self.at(f"{joint.name}.{suffix}" if suffix else joint.name)
                there[q_at : q_at + len(q_of)] = x[q_of]
                B[v_at : v_at + len(v_of), own_v] = block[v_of]
                rate[v_at : v_at + len(v_of)] = turning[v_of]
            if joint.kind == "helical":
                q_at, v_at, _ = self.at(f"{joint.name}.travel")
                pitch = float(evaluate(joint.pitch))
                there[q_at], B[v_at, own_v] = pitch * x[0], pitch
        return there, B, rate


def in_mujoco(robot: Robot, text: str, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(M, bias) of the file in MuJoCo, in our velocities."""
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    names = {model.joint(k).name for k in range(model.njnt)}

    def at(name: str) -> tuple[int, int, str]:
        joint = model.joint(name)
        return int(joint.qposadr[0]), int(joint.dofadr[0]), "world free" if joint.type[0] == 0 else ""

    there, B, rate = Twin(robot, model.nq, model.nv, names, at).state(q, v)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = there, B @ v
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    return B.T @ M @ B, B.T @ (data.qfrc_bias + M @ rate)


def in_reading(robot: Robot, text: str, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(M, bias) of what we read from the file, in our velocities."""
    back = load_text(text, "mjcf").robot
    back = replace(back, loops=(), couplings=())

    def at(name: str) -> tuple[int, int, str]:
        return back.q_slice(name).start, back.v_slice(name).start, back.joint(name).kind

    there, B, rate = Twin(robot, back.nq, back.nv, set(back.joint_names), at).state(q, v)
    tree = resolve(back)
    M = np.array(mass_matrix(tree, there.tolist()))
    h = np.array(bias_forces(tree, there.tolist(), (B @ v).tolist()))
    return B.T @ M @ B, B.T @ (h + M @ rate)


def check(robot: Robot, close: float = 1e-12, answers: Sequence[Answers] = (in_mujoco, in_reading)) -> list[str]:
    text, warned = written(robot)
    tree = resolve(replace(robot, loops=(), couplings=()))
    q, v, _, _ = (x[0] for x in random_states(robot, 3, 1))
    ours = np.array(mass_matrix(tree, q.tolist())), np.array(bias_forces(tree, q.tolist(), v.tolist()))
    for answer in answers:
        for mine, theirs in zip(ours, answer(robot, text, q, v), strict=True):
            scale = np.abs(mine).max()
            assert np.abs(mine - theirs).max() <= close * scale, (answer.__name__, np.abs(mine - theirs).max() / scale)
    return warned


@pytest.mark.filterwarnings("ignore::kinemorph.errors.ModelWarning")
@pytest.mark.parametrize("kind", first([kind for kind in JOINT_KINDS if kind != "fixed"], 6))
def test_every_kind_of_joint(kind: str) -> None:
    robot = robot_of_kind(kind, chained=True)
    even = [replace(j, armature=(0.0,) * j.nv if j.nv == 6 else (j.armature[0],) * j.nv) for j in robot.joints]
    even = [replace(j, armature=(0.0, 0.0, 0.1)) if j.kind == "planar" else j for j in even]
    warned = check(replace(robot, joints=tuple(even)))
    assert len(warned) == (kind in ("helical", "planar", "free"))  # other joints, or other velocities


@pytest.mark.filterwarnings("ignore::kinemorph.errors.ModelWarning")
@pytest.mark.parametrize("seed", [*range(4), pytest.param(range(4, 200), marks=pytest.mark.slow)])
def test_random_trees(seed: int | range) -> None:
    for one in [seed] if isinstance(seed, int) else seed:
        check_tree(one)


def check_tree(seed: int) -> None:
    robot = random_robot(seed, most=20)
    check(replace(robot, joints=tuple(replace(j, armature=(0.0,) * j.nv) for j in robot.joints)))


@pytest.mark.filterwarnings("ignore::kinemorph.errors.ModelWarning")
# MJCF has no joints driven by formulas, and no moments of inertia as small as those of the legs of a fly
@pytest.mark.parametrize("name", sorted(set(library.LIBRARY) - {"amru5", "fly"}))
def test_robots_of_the_library(name: str) -> None:
    check(library.build(name), answers=(in_mujoco, in_reading) if name in READ_BACK else (in_mujoco,))


def test_a_body_without_mass_between_two_joints_is_no_body_of_the_file() -> None:
    builder = RobotBuilder("two").add(Body.massless("between"), Body.box("end", 1.0, (0.1, 0.2, 0.3)))
    builder.joint("a", "revolute", "world", "between", translation=(0.1, 0.0, 0.2), axis=(0.0, 1.0, 0.0))
    builder.joint("b", "prismatic", "between", "end", translation=(0.0, 0.3, 0.0), axis=(1.0, 0.0, 0.0))
    robot = builder.build()
    assert not check(robot)
    assert written(robot)[0].count("<body") == 1
    assert load_text(written(robot)[0], "mjcf").robot.body_names == ("end", "end~a")


def test_what_a_file_cannot_say_is_named() -> None:
    builder = RobotBuilder("poor").add(Body.point("ball", 1.0, (0.0, 0.0, -1.0)))
    builder.joint("hinge", "revolute", "world", "ball", axis=(0.0, 1.0, 0.0), velocity=2.0, lower=-1.0)
    text, warned = written(builder.build())
    assert any("2e-15 kg m^2" in problem and "'ball'" in problem for problem in warned)
    assert any("velocity limits" in problem for problem in warned)
    assert any("Line" in problem for problem in warned)
    assert 'range="-1 10000000000"' in text


@pytest.mark.filterwarnings("ignore::kinemorph.errors.ModelWarning")
def test_limits_of_balls_times_and_other_velocities_are_named() -> None:
    builder = RobotBuilder("r").add(*(Body.box(name, 1.0, (0.3, 0.2, 0.1)) for name in "abc"))
    builder.joint("ball", "spherical", "world", "a", effort=3.0, velocity=2.0)
    builder.joint("plane", "planar", "a", "b").joint("loose", "free", "b", "c")
    _, warned = written(System(builder.build(), (), Settings(time=3.0)))
    for words in (
        "velocity limits of ball",
        "effort limits of ball",
        "time",
        "planar joints",
        "free joints",
    ):
        assert any(words in sentence for sentence in warned), words
    assert written(RobotBuilder("r").body("a", 1.0, inertia=(1.0, 1.0, 1.0)).root("a", "free").build())[1] == []


def test_the_start_of_a_gimbal_is_the_reference_of_its_hinges() -> None:
    builder = RobotBuilder("r").add(Body.box("a", 1.0, (0.1, 0.2, 0.3), (0.1, 0.2, 0.3)))
    q = (0.3, -0.4, 0.5)
    system = System(builder.joint("j", "gimbal", "world", "a", order="yzy").build(), (), Settings(q=q))
    model = mujoco.MjModel.from_xml_string(written(system)[0])
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    pose = derive(system.robot, backend="interpreter").pose("a")(q)
    assert np.allclose(data.qpos, q, atol=1e-15) and np.allclose(data.xmat[1].reshape(3, 3), pose[:3, :3], atol=1e-14)


def test_loops_couplings_drives_looks_and_start_come_back(tmp_path: Path) -> None:
    looks = (Box((0.1, 0.2, 0.3)), Sphere(0.1), Capsule(0.1, 0.4), Cylinder(0.2, 0.5))
    corners = ((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1))
    mesh = Mesh(corners, ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)))
    builder = RobotBuilder("ring").add(
        Body("a", 1.0, (0.5, 0.0, 0.0), ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)), looks, looks[:1]),
        Body("b", 1.0, (0.5, 0.0, 0.0), ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)), (mesh,)),
        Body.box("c", 1.0, (0.1, 0.1, 0.1)),
    )
    y = (0.0, 1.0, 0.0)
    builder.joint("j1", "revolute", "world", "a", axis=y, lower=-2.0, upper=3.0, damping=0.3, friction=0.2, effort=9.0)
    builder.joint("j2", "revolute", "a", "b", axis=y, translation=(1.0, 0.0, 0.0))
    builder.joint("j3", "prismatic", "world", "c", axis=y)
    builder.joint("close", "spherical", "b", "world", translation=(1.0, 0.0, 0.0))
    builder.couple("j3", "j1", 0.5, 0.1).frame("tip", "b", translation=(1.0, 0.0, 0.0))
    drive = Actuator("drive", "j1", 3.0, "position", 100.0, 5.0, -1.0, 1.0, 20.0)
    system = System(builder.build(), (drive,), Settings(q=(0.3, -0.2, 0.25)))
    save(system, tmp_path / "ring.xml")
    examination = examine(tmp_path / "ring.xml")
    assert not examination.errors
    back = examination.system
    assert back is not None
    assert [loop.kind for loop in back.robot.loops] == ["spherical"]
    coupling = back.robot.couplings[0]
    assert (coupling.joint, coupling.leader) == ("j3", "j1")
    assert (coupling.multiplier, coupling.offset) == pytest.approx((0.5, 0.1), abs=1e-15)
    assert back.elements == (drive,)
    assert back.settings.q == pytest.approx(system.settings.q, abs=1e-15)
    assert [type(shape) for shape in back.robot.body("a").shapes] == [Box, Sphere, Capsule, Cylinder]
    assert [type(shape) for shape in back.robot.body("a").collisions] == [Box]
    assert [type(shape) for shape in back.robot.body("b").shapes] == [Mesh]
    assert {"tip"} <= {frame.name for frame in back.robot.frames}
    joint = back.robot.joint("j1")
    assert (joint.lower, joint.upper, joint.damping, joint.friction, joint.effort) == (
        (-2.0,),
        (3.0,),
        (0.3,),
        (0.2,),
        (9.0,),
    )
    assert not list(tmp_path.glob(".mjcf*"))
    q, v, _, _ = (x[0] for x in random_states(system.robot, 3, 1))
    mine = np.array(mass_matrix(resolve(system.robot), q.tolist()))
    assert np.abs(mine - in_reading(system.robot, (tmp_path / "ring.xml").read_text(), q, v)[0]).max() < 1e-14


@pytest.mark.filterwarnings("ignore::kinemorph.errors.ModelWarning")
@pytest.mark.parametrize("stem", ["hopper", "humanoid"])
def test_a_file_that_was_read_is_written_as_it_was(tmp_path: Path, stem: str) -> None:
    (peer,) = [peer for peer in peers("gymnasium") if peer.path.stem == stem]
    system = examine(peer.path).system
    assert system is not None
    save(system, tmp_path / "copy.xml")
    back = examine(tmp_path / "copy.xml").system
    assert back is not None
    assert back.robot.q_names == system.robot.q_names
    assert (
        back.robot.body_names == system.robot.body_names
    )  # chains become bodies with several joints, and chains again
    assert back.settings.q == pytest.approx(system.settings.q, abs=1e-14)
    assert back.elements == system.elements
    q, v, _, _ = (x[0].tolist() for x in random_states(system.robot, 3, 1))
    for function, state in ((mass_matrix, (q,)), (bias_forces, (q, v))):
        mine, theirs = (np.array(function(resolve(one.robot), *state)) for one in (system, back))
        assert np.abs(mine - theirs).max() < 1e-13 * np.abs(mine).max()


def test_lines_are_no_geoms() -> None:
    builder = RobotBuilder("drawn").add(
        replace(Body.box("b", 1.0, (1.0, 1.0, 1.0)), shapes=(Line((0, 0, 0), (1, 0, 0)),))
    )
    assert any("Line" in problem for problem in written(builder.root("b", "free").build())[1])


@pytest.mark.filterwarnings("ignore::kinemorph.errors.ModelWarning")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.slow
def test_thin_rods_in_any_direction(seed: int) -> None:
    """A moment of 0 is raised to MuJoCo's least about the rod's own axis, whichever way the principal axes come."""
    turn = np.array(random_pose(np.random.default_rng(seed)).R)
    inertia = turn @ np.diag([0.2, 0.2, 0.0]) @ turn.T
    builder = RobotBuilder("r").body("a", 1.0, com=(0.3, 0.0, 0.1), inertia=(0.5 * (inertia + inertia.T)).tolist())
    check(builder.joint("j", "spherical", "world", "a").build())
