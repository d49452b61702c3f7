"""Joint reactions of robots with loops and coupled joints: every body balances, and axes feel their forces."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinemorph.algebra.groups import rotation_to_quat
from kinemorph.codegen.building.compile import build
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import UnsupportedError
from kinemorph.model import library
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import joint_twist, random_configuration
from kinemorph.model.elements import DistanceConstraint, ForceTorqueSensor, RollingDisc
from kinemorph.model.joint import JOINT_KINDS
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.simulate import simulate
from support.references.free_bodies import balance_gap, in_world, joint_frames, needed_wrench
from support.robots.loop_robots import CLOSED, closed_state, looped
from support.robots.random_robots import joint_data, random_body, random_pose
from support.tools.each_case import each_case

KINDS = tuple(kind for kind in JOINT_KINDS if kind != "free")
QUICK = ("revolute", "universal", "helical")


def state(robot: Robot, seed: int) -> tuple[np.ndarray, ...]:
    """(q, v, a, tau) of a motion; loops need not be closed, as wrenches balance all the same."""
    rng = np.random.default_rng(seed)
    q, v, tau = 0.3 * random_configuration(robot, rng), rng.normal(size=robot.nv), 5.0 * rng.normal(size=robot.nv)
    return q, v, derive(robot, backend="interpreter").forward_dynamics(q, v, tau), tau


def felt(robot: Robot, q: np.ndarray, a: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
    """What the axes of the tree's joints feel of the wrenches through them, with rotors, (nv,)."""
    rows = []
    for joint, wrench in zip(robot.joints, wrenches, strict=False):
        at_q, at_v = q[robot.q_slice(joint.name)], robot.v_slice(joint.name)
        for k in range(joint.nv):
            unit = [float(i == k) for i in range(joint.nv)]
            rows.append(np.dot(joint_twist(joint, at_q, unit), wrench) + joint.armature[k] * a[at_v][k])
    return np.array(rows)


@pytest.mark.parametrize(
    "kind", [kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS]
)
def test_every_body_balances_and_axes_feel_tau(kind: str) -> None:
    robot = looped(kind, 4)
    q, v, a, tau = state(robot, 1)
    assert balance_gap(robot, q, v, a, tau) < 1e-11
    wrenches = derive(robot, backend="interpreter").joint_wrenches(q, v, a, tau)
    assert wrenches.shape == (len(robot.joints) + 1, 6)
    gap = np.abs(felt(robot, q, a, wrenches) - tau).max() / np.abs(wrenches).max()
    assert gap < 1e-11


@each_case("kind", KINDS)
def test_a_loop_bears_nothing_along_its_free_motions(kind: str) -> None:
    """A free body held by a loop: the wrench is that of the same joint in a tree."""
    rng = np.random.default_rng(5)
    data = joint_data(rng, kind) | {"placement": random_pose(rng), "child_placement": random_pose(rng)}
    data.pop("armature", None)
    body = random_body(rng, "link")
    tree = RobotBuilder("tree").add(body).joint("j", kind, "world", "link", **data).build()
    loop = RobotBuilder("loop").add(body).joint("base", "free", "world", "link")
    loop = loop.joint("j", kind, "world", "link", **data).build()
    ours, theirs = (derive(robot, backend="interpreter") for robot in (loop, tree))
    q, v = 0.4 * random_configuration(tree, rng), rng.normal(size=tree.nv)
    T = theirs.pose("link")(q)
    twist = theirs.jacobian("link")(q) @ v if tree.nv else np.zeros(6)
    qf = np.array([*T[:3, 3], *rotation_to_quat(tuple(tuple(map(float, row)) for row in T[:3, :3]))])
    a = theirs.forward_dynamics(q, v, np.zeros(tree.nv)) if tree.nv else v
    moved = ours.forward_dynamics(qf, twist, np.zeros(6))
    base, closure = ours.joint_wrenches(qf, twist, moved, np.zeros(6))
    expected = theirs.joint_wrenches(q, v, a)[0]
    np.testing.assert_allclose(base, 0.0, atol=1e-10 * np.abs(expected).max())
    np.testing.assert_allclose(closure, expected, atol=1e-10 * np.abs(expected).max())


def test_couplings_act_along_the_axes_of_their_joints() -> None:
    robot = looped("spherical", 4, couple=True)
    q, v, a, tau = state(robot, 2)
    d = derive(robot, backend="interpreter")
    assert balance_gap(robot, q, v, a, tau) < 1e-11
    forces, rank = d.constraint_forces(q, v, tau)
    more = felt(robot, q, a, d.joint_wrenches(q, v, a, tau)) - tau
    expected = np.zeros(robot.nv)
    expected[robot.v_slice("jb0")], expected[robot.v_slice("ja0")] = forces[-1], 1.7 * forces[-1]
    assert rank == 4 and abs(forces[-1]) > 0.1
    np.testing.assert_allclose(more, expected, atol=1e-10 * np.abs(forces).max())


def test_outside_wrenches_pass_through_the_joints() -> None:
    """A force on the end of a four-bar that stands: what the joints bear more is what it adds to the balance."""
    robot = library.four_bar()
    d = derive(robot, wrenches="rocker", backend="interpreter")
    push = np.array([[3.0, 0.0, -2.0, 0.1, 0.4, 0.2]])
    zero = np.zeros(3)
    ways = []
    for wrench in (push, 0.0 * push):
        a = d.forward_dynamics(CLOSED, zero, zero, wrench)
        ways.append((d.joint_wrenches(CLOSED, zero, a, zero, wrench), a))
    (pushed, a1), (free, a0) = ways
    linear = derive(robot, backend="interpreter")
    # through joint q3 on the rocker, less what the closure puts on it, plus the push: mass times acceleration
    for wrenches, a, wrench in ((pushed, a1, push[0]), (free, a0, 0.0 * push[0])):
        felt_by = felt(robot, CLOSED, a, wrenches)
        np.testing.assert_allclose(felt_by, 0.0, atol=1e-12)
        rod = linear.joint_wrenches(CLOSED, zero, a, linear.inverse_dynamics(CLOSED, zero, a))[2]
        end = np.array([0.7, 0.0, 0.0])
        closing = np.concatenate([wrenches[3, :3], wrenches[3, 3:] + np.cross(end, wrenches[3, :3])])
        np.testing.assert_allclose(wrenches[2] + closing + wrench, rod, atol=1e-12)


def test_a_parallelogram_shares_the_weight_of_its_coupler() -> None:
    """Cranks upright, coupler level, nothing moves: half its weight on each, and their own weight at the ground."""
    robot = library.four_bar(1.0, (0.5, 1.0, 0.5), (0.3, 2.0, 0.3))
    d = derive(robot, backend="interpreter")
    q, still = np.array([0.5 * math.pi, -0.5 * math.pi, 0.5 * math.pi]), np.zeros(3)
    q1, q2, q3, closure = d.joint_wrenches(q, still, still, still)
    half, own = 9.81, 0.3 * 9.81
    np.testing.assert_allclose(q1, [half + own, 0, 0, 0, 0, 0], atol=1e-12)  # x of a crank points up
    np.testing.assert_allclose(q2, [0, 0, half, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(q3, [half + own, 0, 0, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(closure, [-half, 0, 0, 0, 0, 0], atol=1e-12)  # on the rocker, which is its child


def test_what_the_motion_does_not_decide_is_told_by_the_rank() -> None:
    """A planar loop of hinges: forces across its plane and moments in it are not decided, those in it are."""
    d = derive(library.four_bar(), backend="interpreter")
    J = d.constraint_jacobian(CLOSED)
    rank = d.constraint_forces(CLOSED, np.zeros(3), np.zeros(3))[1]
    N = np.linalg.svd(J.T)[2][int(rank) :].T
    shares = d.multiplier_wrenches(CLOSED)
    assert shares.shape == (4, 6, 5) and N.shape == (5, 3)
    undecided = np.abs(shares @ N).max(axis=2) > 1e-12
    assert undecided.tolist() == [[False, True, False, True, False, True]] * 4
    # they are what the wrenches change by
    tau = np.array([0.4, 0.1, -0.2])
    v = np.linalg.svd(J)[2][-1]
    a = d.forward_dynamics(CLOSED, v, tau)
    wrenches, forces = d.joint_wrenches(CLOSED, v, a, tau), d.constraint_forces(CLOSED, v, tau)[0]
    bare = d.joint_wrenches(CLOSED, v, a, d.inverse_dynamics(CLOSED, v, a))
    np.testing.assert_allclose(wrenches, bare + shares @ forces, atol=1e-12)
    with pytest.raises(UnsupportedError, match="open tree"):
        _ = derive(library.pendulum()).multiplier_wrenches


@pytest.mark.parametrize("kind", ["spherical", "fixed"])
def test_pinocchio_has_the_same_force_in_the_closure(kind: str) -> None:
    pin = pytest.importorskip("pinocchio")
    from kinemorph.bench.peers.pinocchio_twin import matrix
    from support.peers.pinocchio_peer import PinocchioPeer

    robot = looped(kind, 4, long=True)
    d = derive(robot, backend="interpreter")
    q, v = closed_state(robot, 1)
    tau = np.linspace(-3.0, 4.0, robot.nv)
    peer = PinocchioPeer(robot)
    (child, on_child), (parent, on_parent) = (
        (peer.at[body][0], pin.SE3(peer.at[body][1] @ matrix(placement)))
        for body, placement in (
            (robot.loops[0].child, robot.loops[0].child_placement),
            (robot.loops[0].parent, robot.loops[0].placement),
        )
    )
    size = pin.ContactType.CONTACT_3D if kind == "spherical" else pin.ContactType.CONTACT_6D
    rows, data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    rows.append(pin.RigidConstraintModel(size, peer.model, child, on_child, parent, on_parent, pin.LOCAL))
    data.append(rows[0].createData())
    pin.initConstraintDynamics(peer.model, peer.data, rows, data)
    settings = pin.ProximalSettings(1e-14, 1e-14, 50)
    state_there = peer.configuration(q), v[peer.order], tau[peer.order]
    pin.constraintDynamics(peer.model, peer.data, *state_there, rows, data, settings)
    expected = data[0].contact_force.vector  # on the child, in its own axes
    found = d.joint_wrenches(q, v, d.forward_dynamics(q, v, tau), tau)[-1]
    np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())


def test_a_run_of_a_closed_robot_knows_its_reactions() -> None:
    robot = library.four_bar()
    system = System(robot, (ForceTorqueSensor("pin", "closure"),))
    run = simulate(system, 0.3, q=CLOSED, forces=lambda t: [2.0, 0.0, 0.0], output_step=0.1, rtol=1e-9, atol=1e-10)
    found = np.stack([run.reactions(name) for name in ("q1", "q2", "q3", "closure")], axis=1)
    d = derive(robot, backend="interpreter")
    tau = np.tile([2.0, 0.0, 0.0], (len(run), 1))
    np.testing.assert_allclose(found, d.joint_wrenches(run.q, run.v, run.a, tau), atol=1e-9)
    np.testing.assert_allclose(-found[:, 0, 4], 2.0, atol=1e-9)  # the crank's axis is -y
    np.testing.assert_allclose(run["pin.fx"], found[:, 3, 0], atol=1e-9)  # what a sensor in the pin reads


# ── constraints of elements ───────────────────────────────────────────────────────────────────────────────────────────


def left_over(system: System, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> dict[str, np.ndarray]:
    """What each body needs beyond what passes through its joints, about the world's origin: from constraints."""
    robot, made = system.robot, plant(system)
    rate, reactions = (build(program, "interpreter") for program in (made.rate, made.reactions()))
    none = np.zeros(0)
    a = rate(0.0, q, [*np.zeros(robot.nv), *v], none, u, none)[robot.nv :]
    wrenches = reactions(0.0, q, [*np.zeros(robot.nv), *v], a, none, u, none)
    frames = joint_frames(robot, q)
    found = {}
    for body in robot.bodies:
        found[body.name] = needed_wrench(robot, body, q, v, a)
        for joint, wrench in zip((*robot.joints, *robot.loops), wrenches, strict=True):
            sign = float(joint.child == body.name) - float(joint.parent == body.name)
            found[body.name] -= sign * in_world(frames[joint.name], wrench)
    return found


def test_a_rod_without_mass_pulls_both_bodies_along_itself() -> None:
    builder = RobotBuilder("swings").add(Body("left", 1.0, (0.0, 0.0, -0.4)), Body("right", 2.0, (0.0, 0.0, -0.5)))
    builder.joint("l", "revolute", "world", "left", axis=(0.0, 1.0, 0.0))
    builder.joint("r", "revolute", "world", "right", axis=(0.0, 1.0, 0.0), translation=(0.8, 0.0, 0.0))
    low = (0.0, 0.0, -0.5)
    rod = DistanceConstraint("rod", "left", "right", math.hypot(0.8, 0.0), point_a=low, point_b=low)
    q, v = np.array([0.3, 0.3]), np.array([0.7, 0.7])
    left = left_over(System(builder.build(), (rod,)), q, v, np.array([0.5, -0.2]))
    a = np.array([-0.5 * math.sin(0.3), 0.0, -0.5 * math.cos(0.3)])
    force = left["left"][:3]
    assert abs(force[0]) > 0.1
    np.testing.assert_allclose(left["left"], [force[0], 0, 0, *np.cross(a, [force[0], 0, 0])], atol=1e-12)
    np.testing.assert_allclose(left["right"], -left["left"], atol=1e-12)  # along one line


def test_a_rolling_wheel_is_pushed_where_it_touches() -> None:
    """A cart pulled by 3 N: the ground pushes the wheel at its lowest point, and nothing else does."""
    builder = RobotBuilder("cart").add(Body("cart", 2.0), Body.cylinder("wheel", 1.0, 0.2, 0.05, axis="y"))
    builder.joint("drive", "prismatic", "world", "cart", axis=(1.0, 0.0, 0.0), translation=(0.0, 0.0, 0.2))
    builder.joint("axle", "revolute", "cart", "wheel", axis=(0.0, 1.0, 0.0))
    rolling = RollingDisc("rolling", "wheel", 0.2, touching=False)
    q, v = np.array([0.4, 1.1]), np.array([1.0, 5.0])
    left = left_over(System(builder.build(), (rolling,)), q, v, np.array([3.0, 0.0]))
    a = 3.0 / (3.0 + 0.5 * 1.0)  # masses, and the inertia of the wheel over its radius squared
    np.testing.assert_allclose(left["cart"], 0.0, atol=1e-12)
    push = np.array([-0.5 * a, 0.0, 0.0])
    np.testing.assert_allclose(left["wheel"], [*push, *np.cross([0.4, 0.0, 0.0], push)], atol=1e-12)
