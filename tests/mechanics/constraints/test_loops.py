"""Loops and coupled joints: conditions of every joint kind, exact derivatives, and dynamics that keep them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from kinemorph.algebra.groups import IDENTITY, Pose, compose, rotation_to_quat, translation
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.constraints.closures import CONDITIONS, constraint_names, constraint_owners
from kinemorph.mechanics.constraints.stances import stance
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import integrate, neutral, random_configuration
from kinemorph.model.joint import CLOSURE_ROWS, JOINT_KINDS
from kinemorph.model.library import build
from kinemorph.model.library.linkages import four_bar
from kinemorph.model.robot import Robot
from support.robots.random_robots import random_axis, random_body, random_pose
from support.tools.each_case import each_case

KINDS = tuple(kind for kind in JOINT_KINDS if kind != "free")
CLOSED = np.array([0.6, 0.02989836, 1.6066907])  # of the four-bar, to eight digits


def joined(kind: str, seed: int, *, closed_by: str | None = None, base: str = "free") -> Robot:
    """A body on the world by a joint of `kind`; or by `base`, and closed again by a joint of kind `closed_by`."""
    rng = np.random.default_rng(seed)
    placement, on_child = random_pose(rng), random_pose(rng)
    axis, across = random_axis(rng), random_axis(rng)
    axis2 = np.cross(axis, across) / np.linalg.norm(np.cross(axis, across))
    data = {"placement": placement, "child_placement": on_child}
    if kind not in ("planar", "point_on_plane", "spherical", "fixed", "free"):
        data["axis"] = axis
    if kind == "universal":
        data["axis2"] = tuple(map(float, axis2))
    if kind == "helical":
        data["pitch"] = 0.07
    builder = RobotBuilder(f"{kind}{seed}")
    builder.add(random_body(rng, "link"))
    if closed_by is None:
        builder.joint("j", kind, "world", "link", **data)
    else:
        builder.joint("base", base, "world", "link", **(data if base == kind else {}))
        builder.joint("j", closed_by, "world", "link", **data)
    return builder.build()


def pose_and_twist(robot: Robot, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    d = derive(robot, backend="interpreter")
    return d.pose("link")(q), d.jacobian("link")(q) @ v


def free_state(T: np.ndarray) -> np.ndarray:
    R = tuple(tuple(map(float, row)) for row in T[:3, :3])
    return np.array([*T[:3, 3], *rotation_to_quat(R)])


def test_every_condition_of_the_joint_table_has_its_rows() -> None:
    assert set(CONDITIONS) == set(CLOSURE_ROWS)


@pytest.mark.filterwarnings("ignore:joint 'j'")
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "fixed"])
def test_a_loop_repeating_a_joint_constrains_nothing(kind: str) -> None:
    robot = joined(kind, 3, closed_by=kind, base=kind)
    d = derive(robot, backend="interpreter")
    rng = np.random.default_rng(1)
    q, v = 0.3 * random_configuration(robot, rng), rng.normal(size=robot.nv)
    assert np.abs(d.constraint_error(q)).max() < 1e-14
    assert np.abs(d.constraint_jacobian(q)).max() < 1e-14
    assert np.abs(d.constraint_bias(q, v)).max() < 1e-13
    tau = rng.normal(size=robot.nv)
    a = derive(joined(kind, 3), backend="interpreter").forward_dynamics(q, v, tau)
    assert np.abs(d.forward_dynamics(q, v, tau) - a).max() < 1e-13 * np.abs(a).max()
    forces, rank = d.constraint_forces(q, v, tau)
    assert rank == 0 and not forces.any()


@each_case("kind", KINDS)
def test_a_free_body_held_by_a_loop_moves_as_on_a_joint(kind: str) -> None:
    """Two descriptions of one robot: a joint in the tree, and a free body that the same joint closes to the world."""
    tree, loop = joined(kind, 5), joined(kind, 5, closed_by=kind)
    ours, theirs = (derive(robot, backend="interpreter") for robot in (loop, tree))
    rng = np.random.default_rng(2)
    q = 0.4 * rng.normal(size=tree.nq) if kind != "spherical" else np.array([0.9, 0.2, -0.3, 0.1])
    v = rng.normal(size=tree.nv)
    q[:] = integrate(tree, q, 0.0 * v) if tree.nq else q
    tau = np.zeros(tree.nv)
    T, twist = pose_and_twist(tree, q, v)
    qf = free_state(T)
    assert np.abs(ours.constraint_error(qf)).max() < 1e-13
    J = ours.constraint_jacobian(qf)
    assert J.shape == (6 - tree.nv, 6) and np.linalg.matrix_rank(J) == 6 - tree.nv
    assert np.abs(J @ twist).max() < 1e-13
    a = ours.forward_dynamics(qf, twist, np.zeros(6))
    forces, rank = ours.constraint_forces(qf, twist, np.zeros(6))
    assert rank == 6 - tree.nv
    jacobian = theirs.jacobian("link")
    expected = np.zeros(6)
    if tree.nv:
        expected = jacobian(q) @ theirs.forward_dynamics(q, v, tau) + theirs.jacobian_rate("link")(q, v) @ v
    # the rate of a body twist is the twist of the joint's own acceleration
    assert np.abs(a - expected).max() < 1e-11 * max(1.0, np.abs(expected).max())
    residual = ours.mass_matrix(qf) @ a + ours.bias_forces(qf, twist) - J.T @ forces
    assert np.abs(residual).max() < 1e-11 * max(1.0, np.abs(forces).max())


@each_case("kind", KINDS)
def test_jacobian_and_bias_are_derivatives_of_the_error(kind: str) -> None:
    robot = joined(kind, 7, closed_by=kind)
    d = derive(robot, backend="interpreter")
    rng = np.random.default_rng(3)
    q, v = random_configuration(robot, rng), rng.normal(size=6)
    h = 1e-5
    ahead, behind = integrate(robot, q, h * v), integrate(robot, q, -h * v)
    slope = (d.constraint_error(ahead) - d.constraint_error(behind)) / (2.0 * h)
    assert np.abs(slope - d.constraint_jacobian(q) @ v).max() < 1e-8
    turn = (d.constraint_jacobian(ahead) - d.constraint_jacobian(behind)) @ v / (2.0 * h)
    assert np.abs(turn + d.constraint_bias(q, v)).max() < 1e-8


@pytest.mark.parametrize("closure", ["revolute", "spherical"])
def test_the_four_bar_keeps_its_loop_and_its_energy_rate(closure: str) -> None:
    robot = four_bar(closure=closure)
    d = derive(robot, backend="interpreter")
    J = d.constraint_jacobian(CLOSED)
    v = np.linalg.svd(J)[2][-1]
    tau = np.array([1.0, 2.0, 3.0])
    a = d.forward_dynamics(CLOSED, v, tau)
    forces, rank = d.constraint_forces(CLOSED, v, tau)
    assert rank == 2 and len(forces) == len(J)
    assert np.abs(J @ a - d.constraint_bias(CLOSED, v)).max() < 1e-13
    power = v @ (tau + J.T @ forces)
    assert power == pytest.approx(v @ tau, abs=1e-12)  # constraint forces do no work
    by_energy = derive(robot, "lagrange", backend="interpreter").forward_dynamics(CLOSED, v, tau)
    assert np.abs(a - by_energy).max() < 1e-12 * np.abs(a).max()


def mounted_four_bar(mount: Pose, masses: Sequence[float], scale: float) -> Robot:
    """The four-bar of the library, of any size, in the x-y plane of `mount`, its rods hanging the same way."""
    lengths = [scale * x for x in (0.3, 0.9, 0.7)]
    gravity = tuple(-9.81 * row[1] for row in mount.R)
    builder = RobotBuilder("mounted", gravity=gravity)
    for name, mass, length in zip("abc", masses, lengths, strict=True):
        builder.add(Body.rod(name, mass, length, (0.5 * length, 0.0, 0.0), axis="x", radius=0.015 * scale))
    z = (0.0, 0.0, 1.0)
    builder.joint("q1", "revolute", "world", "a", placement=mount, axis=z)
    builder.joint("q2", "revolute", "a", "b", translation=(lengths[0], 0.0, 0.0), axis=z)
    builder.joint("q3", "revolute", "world", "c", placement=compose(mount, translation((scale, 0.0, 0.0))), axis=z)
    ends = {"translation": (lengths[1], 0.0, 0.0), "child_placement": translation((lengths[2], 0.0, 0.0))}
    return builder.joint("closure", "revolute", "b", "c", **ends, axis=z).build()


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("masses", [(0.5, 1.0, 0.8), (1e3, 1e-3, 1.0), (1e-6, 1.0, 1e6)])
def test_a_planar_loop_askew_in_space_moves_as_one_along_the_axes(masses: Sequence[float], scale: float) -> None:
    """Where rows of J would be zero but for rounding, they constrain nothing."""
    straight, *askew = (
        derive(mounted_four_bar(mount, masses, scale), backend="interpreter")
        for mount in (IDENTITY, *(random_pose(np.random.default_rng(seed), scale) for seed in range(3)))
    )
    v = np.linalg.svd(straight.constraint_jacobian(CLOSED))[2][-1]
    tau = scale**2 * np.array([0.4, -0.1, -0.2])
    a, (forces, rank) = straight.forward_dynamics(CLOSED, v, tau), straight.constraint_forces(CLOSED, v, tau)
    for d in askew:
        found, own_rank = d.constraint_forces(CLOSED, v, tau)
        assert rank == own_rank == 2
        assert np.abs(d.forward_dynamics(CLOSED, v, tau) - a).max() < 1e-8 * np.abs(a).max()
        assert np.abs(found - forces).max() < 1e-8 * np.abs(forces).max()


def test_a_loop_that_repeats_a_constraint_moves_though_not_quite_closed() -> None:
    """Sarrus' linkage: two planes of three hinges lift a plate straight up; one of its five rows repeats others."""
    rng = np.random.default_rng(1)
    builder, mount = RobotBuilder("sarrus"), random_pose(rng)
    for name in ("a1", "a2", "plate", "b1", "b2"):
        builder.add(random_body(rng, name))
    at = [compose(mount, translation(p)) for p in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))]
    x, y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    builder.joint("A1", "revolute", "world", "a1", placement=at[0], axis=y)
    builder.joint("A2", "revolute", "a1", "a2", translation=(0.5, 0.0, 0.5), axis=y)
    builder.joint("A3", "revolute", "a2", "plate", translation=(-0.5, 0.0, 0.5), axis=y)
    builder.joint("B1", "revolute", "world", "b1", placement=at[1], axis=x)
    builder.joint("B2", "revolute", "b1", "b2", translation=(0.0, 0.5, 0.5), axis=x)
    end = translation((-1.0, 1.0, 0.0))
    builder.joint("B3", "revolute", "b2", "plate", translation=(0.0, -0.5, 0.5), child_placement=end, axis=x)
    d = derive(builder.build(), backend="interpreter")
    closed, tau = np.zeros(5), rng.normal(size=5)
    v = np.linalg.svd(d.constraint_jacobian(closed))[2][-1]
    a = d.forward_dynamics(closed, v, tau)
    for off in (0.0, 1e-9, 1e-7):
        q = closed + off * rng.normal(size=5)
        assert d.constraint_forces(q, v, tau)[1] == 4
        assert np.abs(d.forward_dynamics(q, v, tau) - a).max() <= 1e-12 + 20.0 * off * np.abs(a).max()


def test_the_four_bar_against_one_coordinate() -> None:
    """M and h projected on the one motion that the loop leaves give the same acceleration."""
    d = derive(build("four_bar"), backend="interpreter")
    J = d.constraint_jacobian(CLOSED)
    t = np.linalg.svd(J)[2][-1]
    v = 1.7 * t
    tau = np.array([0.4, 0.0, -0.2])
    particular = np.linalg.pinv(J) @ d.constraint_bias(CLOSED, v)
    M, h = d.mass_matrix(CLOSED), d.bias_forces(CLOSED, v)
    s = t @ (tau - h - M @ particular) / (t @ M @ t)
    assert np.abs(d.forward_dynamics(CLOSED, v, tau) - (particular + s * t)).max() < 1e-12


def test_a_coupled_joint_follows() -> None:
    builder = RobotBuilder("gripper")
    rng = np.random.default_rng(0)
    for name in ("left", "right"):
        builder.add(random_body(rng, name))
        builder.joint(f"{name}_slide", "prismatic", "world", name, axis=(1.0, 0.0, 0.0))
    builder.couple("right_slide", "left_slide", multiplier=-2.0, offset=0.1)
    d = derive(builder.build(), backend="interpreter")
    q = np.array([0.2, -0.3])
    assert d.constraint_error(q) == pytest.approx([0.0], abs=1e-16)
    assert np.array_equal(d.constraint_jacobian(q), [[2.0, 1.0]])
    a = d.forward_dynamics(q, np.array([1.0, -2.0]), np.array([3.0, 0.5]))
    assert a[1] == pytest.approx(-2.0 * a[0], rel=1e-14)
    masses = np.diag(d.mass_matrix(q))
    assert a[0] == pytest.approx((3.0 - 2.0 * 0.5) / (masses[0] + 4.0 * masses[1]), rel=1e-13)


def test_open_trees_have_no_constraints() -> None:
    with pytest.raises(UnsupportedError, match="open tree"):
        _ = derive(build("pendulum")).constraint_jacobian


@pytest.mark.parametrize("kind", [kind for kind in JOINT_KINDS if JOINT_KINDS[kind].closure and kind != "planar"])
def test_every_row_has_a_name_of_its_own(kind: str) -> None:
    robot = joined(kind, 5, closed_by=kind)
    names = constraint_names(robot)
    assert len(names) == len(set(names)) == sum(CLOSURE_ROWS[row] for row in JOINT_KINDS[kind].closure)
    assert all(name.startswith("j.") for name in names)
    assert constraint_owners(robot) == ("j",) * len(names)


def test_rows_are_named_by_loop_condition_and_axis() -> None:
    rows = ("point.x", "point.y", "point.z", "parallel.x", "parallel.y")
    assert constraint_names(four_bar()) == tuple(f"closure.{row}" for row in rows)
    assert constraint_names(four_bar(closure="helical"))[-1] == "closure.pitch"


@pytest.mark.parametrize("name", ["chainsaw", "chain7"])
def test_a_body_has_no_stance_of_the_library_by_its_name_alone(name: str) -> None:
    robot = RobotBuilder(name).add(Body("b", 1.0, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))).joint("f", "free", "world", "b")
    assert np.array_equal(stance(robot.build()), neutral(robot.build()))
    assert stance(build("chain"))[[0, -1]] == pytest.approx([0.18, -0.06])
