"""Modules and assemblies: geometry of docking, robots from other bases, dockings as inputs, mistakes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from kinemorph.algebra.groups import IDENTITY, Pose, compose, exp_se3, inverse, matrix_of, rotation_to_quat
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import ModelError
from kinemorph.formats.assemble import assemble
from kinemorph.model.body import Body
from kinemorph.model.changes.reroot import body_motion, reroot
from kinemorph.model.configuration import neutral, random_configuration
from kinemorph.model.modules import (
    Assembly,
    Docking,
    Module,
    ModuleType,
    active_wheel,
    backbone,
    cube,
    scout,
    side_port,
)
from kinemorph.model.modules.cube_shapes import SIDES
from kinemorph.model.modules.dyads import docked_pose
from kinemorph.model.modules.module_types import TURNED
from kinemorph.model.modules.occupancy import boxes_overlap
from kinemorph.model.modules.organisms import OFFSET, VIRTUAL, offset_values, standing
from kinemorph.model.robot import Robot
from support.robots.random_assemblies import random_tree
from support.tools.each_case import each_case

B = backbone()
PAIRS = [(a, b) for a in (2, 3, 4, 5) for b in (2, 3, 4, 5)]


def chain(count: int, side: int = 3, back: int = 4) -> Assembly:
    modules = tuple(Module(f"m{k}", B) for k in range(count))
    return Assembly("chain", modules, tuple(Docking(f"m{k}", side, f"m{k + 1}", back) for k in range(count - 1)))


@each_case(("a", "b"), PAIRS)
def test_docked_sides_face_each_other(a: int, b: int) -> None:
    """E000-15: R_ij turns about z with R n_b = -n_a, and p_ij = d n_a."""
    pair = Assembly("pair", (Module("i", B), Module("j", B))).dock("i", a, "j", b)
    H = pair.dyad_pose(pair.dockings[0].name)
    R, p = np.array(H.R), np.array(H.p)
    n_a, n_b = (np.array(SIDES[side])[:, 2] for side in (a, b))
    np.testing.assert_allclose(R @ n_b, -n_a, atol=1e-15)
    np.testing.assert_allclose(R @ [0, 0, 1], [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(p, 0.105 * n_a, atol=1e-15)


def test_a_docking_seen_from_the_other_side() -> None:
    """The reversed docking is the same pose, whatever the turn and the offset."""
    offset = exp_se3((0.01, -0.02, 0.003, 0.1, 0.2, -0.05))
    for turn in range(4):
        there = Docking("i", 3, "j", 5, turn, None, offset)
        both = [Assembly("x", (Module("i", B), Module("j", B)), (d,)) for d in (there, there.reversed())]
        first, second = (x.dyad_pose(x.dockings[0].name) for x in both)
        np.testing.assert_allclose(matrix_of(first), matrix_of(inverse(second)), atol=1e-15)


def test_halves_carry_their_ports() -> None:
    """A bent Backbone: what is docked to 4 and 5 stays with the rear half, what is docked to 2 and 3 with the front."""
    star = Assembly("star").add("c", B)
    for side, back in ((2, 5), (3, 4), (4, 3), (5, 2)):
        star = star.add(f"n{side}", B).dock("c", side, f"n{side}", back)
    robot = star.robot(root="fixed")
    dynamics, bent = derive(robot, backend="interpreter"), np.zeros(robot.nq)
    bent[robot.q_slice("c_hinge")] = 0.4
    moved = [
        side
        for side in (2, 3, 4, 5)
        if not np.allclose(dynamics.pose(f"n{side}_rear")(bent), dynamics.pose(f"n{side}_rear")(np.zeros(robot.nq)))
    ]
    assert moved == [2, 3]


def test_the_adapted_dyad_is_equation_18() -> None:
    """H_ij(q) = H_ij(0) exp(s q) with the hinge axis y through the middle of module j; the base has no hinge."""
    robot = chain(3, 5, 3).robot(dyads="adapted", root="fixed")
    assert robot.joint_names == ("m0_root", "m1_hinge", "m2_hinge")
    H = chain(3, 5, 3).dyad_pose("m0_5_m1_3")
    turned = compose(H, exp_se3((0.0, 0.0, 0.0, 0.0, 0.3, 0.0)), H, exp_se3((0.0, 0.0, 0.0, 0.0, -0.7, 0.0)))
    pose = derive(robot, backend="interpreter").pose("m2")([0.3, -0.7])
    np.testing.assert_allclose(pose, matrix_of(turned), atol=1e-15)


def test_a_scout_turns_its_dock() -> None:
    """Side 3 of a Scout turns about its own normal; in the adapted form a stub lets its hinge follow the dock."""
    pair = Assembly("pair", (Module("b", B), Module("s", scout()))).dock("b", 3, "s", 3)
    for dyads, stub in (("halves", False), ("adapted", True)):
        robot = pair.robot(dyads=dyads, root="fixed")
        assert ("s_stub" in robot.body_names) is stub
        assert {"s_dock", "s_hinge"} <= {*robot.joint_names}
        q = neutral(robot)
        q[robot.q_slice("s_dock")] = 0.5
        end = "s" if stub else "s_rear"
        pose = derive(robot, backend="interpreter").pose(end)
        # the plate stays; the Scout stands the other way round, so that minus about its own x is plus about the world's
        turn = np.array(pose(q))[:3, :3] @ np.array(pose(neutral(robot)))[:3, :3].T
        np.testing.assert_allclose(turn, np.array(exp_se3((0, 0, 0, 0.5, 0, 0)).R), atol=1e-12)


def test_joint_modules_move_along_the_normal() -> None:
    """Chen and Yang's dyad: two rigid cubes with a joint between them, which turns about or slides along the normal."""
    pair = Assembly("pair", (Module("i", cube()), Module("j", cube("small")))).dock("i", 3, "j", 4, joint="prismatic")
    slid = derive(pair.robot(root="fixed"), backend="interpreter").pose("j_cube")([0.02])
    np.testing.assert_allclose(slid[:3, 3], [0.05 + 0.025 + 0.02, 0.0, 0.0], atol=1e-15)
    turned = replace(pair, dockings=(pair.undock("i", 3).dock("i", 3, "j", 4, joint="revolute").dockings))
    pose = derive(turned.robot(root="fixed"), backend="interpreter").pose("j_cube")([0.02])
    wanted = compose(exp_se3((0.0, 0.0, 0.0, 0.02, 0.0, 0.0)), Pose(IDENTITY.R, (0.075, 0.0, 0.0)))
    np.testing.assert_allclose(pose, matrix_of(wanted), atol=1e-15)


# ── other bases ───────────────────────────────────────────────────────────────────────────────────────────────────────


def moved(old: Robot, new: Robot, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The state of `old` for `new`: joints of the same name keep theirs, free roots get it from their bodies."""
    new_q, new_v = neutral(new), np.zeros(new.nv)
    for joint in new.joints:
        if joint.kind == "free":
            T, V = body_motion(old, joint.child, q, v)
            new_q[new.q_slice(joint.name)], new_v[new.v_slice(joint.name)] = (*T.p, *rotation_to_quat(T.R)), V
        else:
            new_q[new.q_slice(joint.name)] = q[old.q_slice(joint.name)]
            new_v[new.v_slice(joint.name)] = v[old.v_slice(joint.name)]
    return new_q, new_v


@pytest.mark.parametrize("seed", range(6))
def test_another_base_changes_nothing_physical(seed: int) -> None:
    """The same assembly from two bases: the same energies, and the same accelerations of all joints."""
    tree = random_tree(2 + seed, seed)
    rng = np.random.default_rng(seed)
    one, other = tree.robot(tree.names[0]), tree.robot(tree.names[-1])
    assert other.joints[0].name == f"{tree.names[-1]}_root"
    q, v = random_configuration(one, np.random.default_rng(seed)), rng.normal(size=one.nv)
    q2, v2 = moved(one, other, q, v)
    first, second = (derive(robot, backend="interpreter") for robot in (one, other))
    np.testing.assert_allclose(first.energy(q, v), second.energy(q2, v2), rtol=1e-12, atol=1e-12)
    push = {joint.name: rng.normal() for joint in one.joints if joint.nv == 1}
    accelerations = []
    for robot, dynamics, state in ((one, first, (q, v)), (other, second, (q2, v2))):
        tau = np.zeros(robot.nv)
        for name, value in push.items():
            tau[robot.v_slice(name)] = value
        a = dynamics.forward_dynamics(*state, tau)
        accelerations.append([a[robot.v_slice(name)][0] for name in push])
    scale = 1.0 + np.abs(accelerations).max(initial=0.0)
    np.testing.assert_allclose(accelerations[0], accelerations[1], atol=1e-11 * scale, rtol=0)


def test_the_adapted_form_from_another_base() -> None:
    """`reroot` keeps hinges where they are; choosing another base puts them elsewhere, which is another robot."""
    tree = chain(4, 5, 3)
    robot = tree.robot(dyads="adapted")
    turned, carry = reroot(robot, "m3")
    rng = np.random.default_rng(1)
    q, v = random_configuration(robot, np.random.default_rng(1)), rng.normal(size=robot.nv)
    energies = [derive(r, backend="interpreter").energy(*s) for r, s in ((robot, (q, v)), (turned, carry(q, v)))]
    np.testing.assert_allclose(*energies, rtol=1e-12)
    assert "m0_hinge" not in robot.joint_names
    assert "m0_hinge" in tree.robot("m3", dyads="adapted").joint_names


def test_dockings_as_inputs() -> None:
    """The offset of a docking as parameters: at 0 the legal robot, else the robot of that offset."""
    offset = exp_se3((0.002, -0.001, 0.003, 0.02, -0.01, 0.03))
    legal, measured = chain(3), chain(3)
    measured = replace(measured, dockings=(measured.dockings[0], replace(measured.dockings[1], offset=offset)))
    name = legal.dockings[1].name
    names = [f"{name}.{part}" for part in OFFSET]
    symbolic = derive(legal.robot(inputs=[name]), parameters=names, backend="interpreter")
    q = random_configuration(legal.robot(), np.random.default_rng(2))
    for assembly, p in ((legal, offset_values(IDENTITY)), (measured, offset_values(offset))):
        plain = derive(assembly.robot(), backend="interpreter").mass_matrix(q)
        np.testing.assert_allclose(symbolic.mass_matrix(q, p), plain, rtol=1e-12, atol=1e-14)


def test_virtual_joints() -> None:
    """000-25: one to six virtual joints let the base move in the world, in the order they are named."""
    for count in range(1, 7):
        letters = tuple(VIRTUAL)[:count]
        robot = chain(1).robot(root=letters)
        assert robot.joint_names[:count] == tuple(f"virtual_{letter}" for letter in letters)
        assert robot.nv == count + 1
    crane = chain(1).robot(root="x")
    np.testing.assert_allclose(derive(crane, backend="interpreter").pose("m0_rear")([0.3, 0.0])[:3, 3], [0.3, 0, 0])


def test_several_organisms_have_a_root_each() -> None:
    """An assembly in two parts: two free roots, each where its module stands."""
    away = Pose(IDENTITY.R, (1.0, 2.0, 3.0))
    world = chain(2).add("far", B, away)
    assert world.organisms == (("m0", "m1"), ("far",))
    system = world.system()
    assert [joint.name for joint in system.robot.joints if joint.kind == "free"] == ["m0_root", "far_root"]
    assert system.assembly is world
    q = np.array(standing(world, system.robot))
    np.testing.assert_allclose(q[system.robot.q_slice("far_root")], [1, 2, 3, 1, 0, 0, 0])


def test_rings_become_loops() -> None:
    """Four modules docked in a square: the last docking closes a loop, the hinges keep their coordinates."""
    ring = Assembly("ring", tuple(Module(f"m{k}", B) for k in range(4)))
    for a, side_a, b, side_b in (("m0", 3, "m1", 4), ("m1", 5, "m2", 2), ("m2", 4, "m3", 3), ("m3", 2, "m0", 5)):
        ring = ring.dock(a, side_a, b, side_b)
    assert not ring.is_tree
    robot = ring.robot()
    assert len(robot.loops) == 1
    assert {f"m{k}_hinge" for k in range(4)} <= {*robot.joint_names}
    np.testing.assert_allclose(derive(robot, backend="interpreter").constraint_error(neutral(robot)), 0.0, atol=1e-15)


def test_rings_are_cut_where_nothing_moves() -> None:
    """A joint module that closes a ring would have no coordinate: no damping, no limits, nothing to drive."""
    ring = Assembly("ring", tuple(Module(f"m{k}", cube()) for k in range(4)))
    for a, side_a, b, side_b in (("m0", 3, "m1", 4), ("m1", 5, "m2", 2), ("m2", 4, "m3", 3), ("m3", 2, "m0", 5)):
        ring = ring.dock(a, side_a, b, side_b, joint="prismatic" if a != "m1" else None)
    for base in ring.names:
        robot = ring.robot(base)
        assert [joint.name for joint in robot.loops] == ["m1_5_m2_2"]
        assert {"m0_3_m1_4", "m2_4_m3_3", "m3_2_m0_5"} < {*robot.joint_names} and robot.nv == 6 + 3


# ── kinds and mistakes ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("kind", "mass", "joints"), [(B, 1.0, 1), (scout(), 1.1, 2), (active_wheel(), 1.6, 3), (cube(), 1.5, 0)]
)
def test_kinds_by_the_book(kind: ModuleType, mass: float, joints: int) -> None:
    """Masses and joints as docs/modules.md assumes them; a bent Backbone has its center of mass at its middle."""
    robot = Assembly("one").add("m", kind).robot()
    assert math.isclose(sum(float(body.mass) for body in robot.bodies), mass)
    assert robot.nv == 6 + joints
    if kind.letter == "L":
        np.testing.assert_allclose(kind.bodies[0].inertia, np.eye(3) * 1.5 * 0.1**2 / 6.0, rtol=1e-14)
    if kind is B:
        np.testing.assert_allclose(sum(np.array(half.inertia) for half in kind.bodies), np.eye(3) * 0.105**2 / 12.0)
        q = neutral(robot)
        q[-1] = 1.2
        np.testing.assert_allclose(derive(robot, backend="interpreter").center_of_mass(q), 0.0, atol=1e-15)


def test_quarter_turns_are_about_the_normals_of_the_two_sides() -> None:
    """b turns about its own normal; a, seen from b, about its own as far: the same docking from either end."""
    for k, turned in enumerate(TURNED):
        upright, quarter = exp_se3((0, 0, 0, 0, math.pi, 0)), exp_se3((0, 0, 0, 0, 0, k * math.pi / 2))
        np.testing.assert_allclose(turned.R, np.array(upright.R) @ np.array(quarter.R), atol=1e-15)
        np.testing.assert_allclose(np.array(turned.R) @ np.array(turned.R), np.eye(3), atol=1e-15)


def test_an_active_wheel_is_three_cells_long() -> None:
    """Ports at its two ends, the wheels 0.25 m apart."""
    wheel = active_wheel()
    for side, sign in ((2, -1.0), (5, 1.0)):
        np.testing.assert_allclose(docked_pose(wheel, side, B, 4).p, (0.0, sign * 2 * 0.105, 0.0), atol=1e-15)
        np.testing.assert_allclose(wheel.port_pose(side).p, (0.0, sign * 1.5 * 0.105, 0.0), atol=1e-15)
    for joint, sign in (("left_wheel", -1.0), ("right_wheel", 1.0)):
        np.testing.assert_allclose(wheel.part_poses[joint].p, (0.0, sign * 0.125, 0.0), atol=1e-15)


def test_boxes() -> None:
    """Boxes that touch do not overlap; turned ones do where a corner reaches in."""
    unit = (1.0, 1.0, 1.0)
    assert not boxes_overlap(IDENTITY, unit, Pose(IDENTITY.R, (1.0, 0.0, 0.0)), unit)
    assert boxes_overlap(IDENTITY, unit, Pose(IDENTITY.R, (0.9, 0.0, 0.0)), unit)
    turned = exp_se3((0.0, 0.0, 0.0, 0.0, 0.0, math.pi / 4))
    assert boxes_overlap(IDENTITY, unit, Pose(turned.R, (1.1, 0.0, 0.0)), unit)
    assert not boxes_overlap(IDENTITY, unit, Pose(turned.R, (1.25, 0.0, 0.0)), unit)
    edge = exp_se3((0.0, 0.0, 0.0, 0.6, 0.6, 0.6))
    assert not boxes_overlap(Pose(edge.R, (1.3, 1.3, 0.0)), unit, IDENTITY, unit)


@each_case(
    ("make", "words"),
    [
        (lambda: chain(2).dock("m0", 3, "m1", 5), "side 3 of module 'm0' is already docked to module 'm1'"),
        (lambda: chain(2).dock("m0", 1, "m1", 5), "module 'm0' (Backbone) has no port on side 1; its ports are 2, 3"),
        (lambda: chain(2).dock("m0", 5, "m7", 5), "there is no module 'm7'"),
        (lambda: chain(2).dock("m0", 5, "m0", 2), "cannot be docked to itself"),
        (lambda: chain(2).add("x", B).dock("m0", 5, "x", 2, turn=7), "turn is 7"),
        (lambda: chain(2).add("m1", B), "module 'm1' is declared 2 times"),
        (lambda: chain(2).undock("m0", 5), "nothing is docked to side 5 of module 'm0'; its docked sides are: 3"),
        (lambda: chain(2).with_base("m9"), "there is no module 'm9'"),
        (lambda: chain(2).dock("m0", 5, "m1", 5, joint="ball"), "joint module 'ball': it is unknown"),
        (lambda: chain(4, 3, 2).add("x", B).dock("m3", 3, "x", 2).robot(), "overlap"),
        (lambda: chain(3).dock("m0", 5, "m2", 5).robot(), "does not close its ring: the ports are 0.235 m"),
        (
            lambda: (
                Assembly("far", (Module("m0", B, IDENTITY), Module("m1", B, Pose(IDENTITY.R, (0.5, 0, 0)))))
                .dock("m0", 3, "m1", 4)
                .robot()
            ),
            "module 'm1' is placed at (0.5, 0, 0) m, but its dockings put it at (0.105, 0, 0) m",
        ),
        (lambda: Assembly("none").robot(), "has no modules"),
        (lambda: chain(1).robot(root="up"), "root is 'up'"),
        (lambda: chain(1).robot(dyads="both"), "dyads is 'both'"),
        (lambda: chain(2).robot(inputs=["x"]), "names the docking 'x', which does not exist"),
        (lambda: cube("huge"), "'large' or 'small'"),
        (lambda: B.port(6), "has no port on side 6"),
        (lambda: B.joint("knee"), "'Backbone': it has no joint 'knee'; its joints are hinge"),
        (
            lambda: chain(2).dyad_pose("m0_3_m1_5"),
            "there is no docking 'm0_3_m1_5'; its dockings are m0_3_m1_4. Did you mean",
        ),
        (lambda: chain(2).add("x", B).robot(), "overlap, 0 m from middle to middle. Move one of their organisms"),
        (
            lambda: assemble([(0, 1, 3, 4)], at={0: (0.0, 0.1)}),
            "the place of module 'm0' is (0.0, 0.1); expected a Pose",
        ),
        (lambda: assemble([(0, 1, 3, 4)], at={0: (0.0, 0.1, np.inf)}), "expected finite numbers"),
        (lambda: ModuleType("t", "T", ()), "has no bodies"),
        (lambda: ModuleType("t", "T", (Body("a", 1.0), Body("b", 1.0))), "body 'b' is not connected to body 'a'"),
        (lambda: ModuleType("t", "T", (Body("a", -1.0),)), "module type 't': body 'a'"),
        (lambda: ModuleType("t", "T", (Body("a", 1.0),), ports=(side_port(3, "z", 0.1),)), "port 3 is on 'z'"),
        (lambda: ModuleType("t", "T", (Body("a", 1.0),), pitch=0.0), "pitch is 0.0"),
        (lambda: ModuleType("t", "4", (Body("a", 1.0),)), "letter is '4'"),
    ],
)
def test_mistakes_are_named(make: object, words: str) -> None:
    with pytest.raises(ModelError) as raised:
        make()  # type: ignore[operator]
    assert words in str(raised.value)
    assert "1 times" not in str(raised.value)
