"""The stacked closed form: its matrices one by one, and that it gives what the recursions and the energies give.

The whole matrices are multiplied by NumPy as the paper writes them (equations 30-39, corrected); the printed forms are
shown to fail in tests/test_errata_torques.py. Rates are exact: dual numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.groups import Ad, Pose, compose, inverse, turn
from kinemorph.deriving.dynamics import derive
from kinemorph.display.equations.equations_of_motion import equations_of_motion, symbolic_dynamics, write_equations
from kinemorph.mechanics.formulations import closed_form, lagrange
from kinemorph.mechanics.formulations.table import FORMULATIONS
from kinemorph.mechanics.recursions import articulated_bodies, composite_bodies, newton_euler
from kinemorph.mechanics.recursions.kinematics import configuration_rate, link_poses
from kinemorph.mechanics.trees.resolve import joint_turn, resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model import library
from kinemorph.model.robot import Robot
from support.references.exact_rates import numbers, rate_along
from support.robots.random_robots import random_robot, random_states

TOLERANCE = 1e-11
# free bases, joints of one, two, three and six axes, branches, several trees, rotors, children declared first
SEEDS = [2, 7, 15, 16, 27, 32, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(100, 300))]


def differ(x: Any, y: Any) -> float:
    """max|x - y| / max|y|."""
    x, y = numbers(x), numbers(y)
    return float(np.abs(x - y).max() / np.abs(y).max())


def state(robot: Robot, seed: int = 3) -> tuple[list[float], ...]:
    return tuple(part[0].tolist() for part in random_states(robot, seed, 1))


def pushes(tree: Tree, seed: int = 4) -> dict[int, Any]:
    """Wrenches on every second link."""
    rng = np.random.default_rng(seed)
    return {i: tuple(map(tuple, rng.normal(size=(2, 3)).tolist())) for i in range(0, len(tree.links), 2)}


@pytest.mark.parametrize("seed", SEEDS)
def test_random_trees_have_the_same_equations_by_every_formulation(seed: int) -> None:
    robot = random_robot(seed, most=14 if seed < 100 else 40)
    tree = resolve(robot)
    (q, v, a, tau), W = state(robot, seed), pushes(tree)
    M = numbers(closed_form.mass_matrix(tree, q))
    expected = newton_euler.inverse_dynamics(tree, q, v, a, W)
    assert differ(closed_form.inverse_dynamics(tree, q, v, a, W), expected) < TOLERANCE
    assert differ(M, composite_bodies.mass_matrix(tree, q)) < TOLERANCE
    assert (M == M.T).all()
    found = FORMULATIONS["closed_form"].forward_dynamics(tree, q, v, tau, W)
    expected = articulated_bodies.forward_dynamics(tree, q, v, tau, W)
    assert differ(found, expected) < TOLERANCE + 1e-14 * np.linalg.cond(M)
    if tree.nv <= 20:
        assert differ(closed_form.inverse_dynamics(tree, q, v, a), lagrange.inverse_dynamics(tree, q, v, a)) < TOLERANCE


@pytest.mark.parametrize("seed", SEEDS)
def test_both_coriolis_matrices_and_the_forces_at_rest(seed: int) -> None:
    robot = random_robot(seed, most=14 if seed < 100 else 30)
    tree = resolve(robot)
    (q, v, _, _), W = state(robot, seed), pushes(tree)
    C, skew = numbers(closed_form.coriolis_matrix(tree, q, v)), numbers(closed_form.skew_coriolis_matrix(tree, q, v))
    N, h = (numbers(newton_euler.bias_forces(tree, q, speed, W)) for speed in (0.0 * np.array(v), v))
    assert differ(C @ v + N, h) < TOLERANCE
    assert differ(skew @ v + N, h) < TOLERANCE
    Mdot = rate_along(lambda x: closed_form.mass_matrix(tree, x), (q, configuration_rate(tree, q, v)))
    size = max(np.abs(C).max(), np.abs(skew).max(), 1e-3)
    assert np.abs(Mdot - skew - skew.T).max() < TOLERANCE * size
    assert abs(v @ (Mdot - 2.0 * C) @ v) < TOLERANCE * size * np.dot(v, v)


def test_only_one_coriolis_matrix_leaves_a_skew_rest() -> None:
    robot = random_robot(3, most=12)
    tree = resolve(robot)
    q, v, _, _ = state(robot)
    Mdot = rate_along(lambda x: closed_form.mass_matrix(tree, x), (q, configuration_rate(tree, q, v)))
    C = numbers(closed_form.coriolis_matrix(tree, q, v))
    assert np.abs(Mdot - C - C.T).max() > 0.01 * np.abs(C).max()


def test_the_block_matrices_are_those_of_the_paper() -> None:
    robot = random_robot(32, most=14)  # a free base, branches
    dynamics = derive(robot, backend="interpreter")
    tree = resolve(robot)
    q, v, a, _ = state(robot)
    S, T, T_H0, M, ad_Sqd, ad_V = dynamics.block_matrices(q, v)
    n = len(dynamics.link_names)
    assert dynamics.link_names == tuple(link.name for link in tree.links)
    assert max(len(link.axes) for link in tree.links) == 6 and max(map(len, tree.children)) > 1
    # T is the inverse of 1 less the blocks of parents alone: unit lower triangular, zero between branches
    parents = np.zeros_like(T)
    for i, link in enumerate(tree.links):
        if link.parent >= 0:
            own = slice(6 * i, 6 * i + 6), slice(6 * link.parent, 6 * link.parent + 6)
            parents[own] = T[own]
    assert np.abs(T @ (np.eye(6 * n) - parents) - np.eye(6 * n)).max() < 1e-13
    # eq. 34: a velocity of the world as a whole turns up in every link's own axes
    poses = link_poses(tree, q)
    linear = np.array([1.0, -2.0, 0.5])
    seen = np.concatenate([[*(np.array(pose.R).T @ linear), 0.0, 0.0, 0.0] for pose in poses])
    assert differ(T_H0 @ [*linear, 0.0, 0.0, 0.0], seen) < 1e-14
    # eqs. 30-33
    V = T @ S @ v
    Vd = T_H0 @ [*(-np.array(robot.gravity, dtype=float)), 0.0, 0.0, 0.0] + T @ (S @ a + ad_Sqd @ V)
    tau = S.T @ T.T @ (M @ Vd + ad_V @ M @ V)
    rotors = np.zeros(robot.nv)
    for link in tree.links:
        rotors[link.velocities] = link.armature
    assert differ(tau + rotors * a, newton_euler.inverse_dynamics(tree, q, v, a)) < TOLERANCE
    # eqs. 37, 38
    assert differ(S.T @ T.T @ M @ T @ S + np.diag(rotors), closed_form.mass_matrix(tree, q)) < TOLERANCE
    C = S.T @ T.T @ (M @ T @ ad_Sqd + ad_V @ M) @ T @ S
    assert differ(C, closed_form.coriolis_matrix(tree, q, v)) < TOLERANCE


def test_products_of_transformations_are_used_again() -> None:
    tree = resolve(library.chain(5))
    H = closed_form.transformations(tree, [0.1, 0.2, 0.3, 0.4, 0.5])
    assert len(H) == 5 * 6 // 2  # every link from the world and from all that carry it
    whole = numbers(H[-1, 4].R)
    for x in range(4):
        assert differ(numbers(H[-1, x].R) @ numbers(H[x, 4].R), whole) < 1e-15
    # the forces grow with the square of the links, pairs that carry one another
    ops = [derive(library.chain(n), "closed_form", backend="interpreter").inverse_dynamics.ops for n in (8, 16, 32)]
    assert 3.5 < ops[1] / ops[0] < 4.7 and 3.5 < ops[2] / ops[1] < 4.7
    # and blocks that are zero by structure are never formed: a bush costs less than a chain
    assert len(closed_form.stacked(resolve(library.build("hexapod24")), [0.1] * 25).T) == 1 + 6 * (2 + 3 + 4)


def test_locked_velocities_wrenches_and_derivatives() -> None:
    robot = random_robot(4, most=9)
    ours, theirs = (
        derive(robot, name, wrenches=["tool"], backend="interpreter") for name in ("closed_form", "newton_euler")
    )
    q, v, a, tau = random_states(robot, 1, 2)
    w = np.random.default_rng(1).normal(size=(1, 6))
    for name, given in (
        ("inverse_dynamics", a),
        ("forward_dynamics", tau),
        ("inverse_dynamics_derivatives", a),
        ("forward_dynamics_derivatives", tau),
    ):
        found, expected = (getattr(dynamics, name)(q, v, given, w) for dynamics in (ours, theirs))
        for x, y in zip(np.atleast_3d(found), np.atleast_3d(expected), strict=True):
            assert differ(x, y) < 1e-10
    one = tuple(part[0].tolist() for part in (q, v, tau))
    held = [
        dynamics.laws.accelerations(dynamics.laws.prepared(resolve(robot)), *one, locked=(1, robot.nv - 1))
        for dynamics in (ours, theirs)
    ]
    assert held[0][1] == held[0][-1] == 0.0
    assert differ(*held) < 1e-10


def test_loops_are_kept_by_the_constraints_that_all_formulations_share() -> None:
    ours, theirs = (derive(library.four_bar(), name, backend="interpreter") for name in ("closed_form", "newton_euler"))
    q, v, _, tau = (part[0] for part in random_states(ours.robot, 3, 1))
    assert differ(ours.forward_dynamics(q, v, tau), theirs.forward_dynamics(q, v, tau)) < 1e-9
    assert differ(ours.constraint_forces(q, v, tau)[0], theirs.constraint_forces(q, v, tau)[0]) < 1e-9


def test_printed_equations_are_those_of_the_recursion() -> None:
    robot = library.double_pendulum()
    for form in ("forces", "matrices"):
        ours, theirs = (equations_of_motion(robot, form, formulation=way) for way in ("closed_form", "newton_euler"))
        assert ours.text == theirs.text and ours.latex == theirs.latex


def test_block_matrices_can_be_read() -> None:
    symbolic = symbolic_dynamics(library.crane())
    written = write_equations(symbolic, [symbolic.block_matrices.program])
    entries = dict(line.split(" = ", 1) for line in written.text.splitlines() if line)
    assert entries["S3_1"] == entries["S12_2"] == "1"  # the cart slides along its z, the load turns about its own
    assert entries["T7_3"] == "sin(q2)" and entries["T_H0_7_1"] == "sin(q2)"
    assert entries["M8_12"] == "m2*l1" and entries["ad_V9_1"] == "0"
    for name in (r"T_{H_0} &=", r"\mathrm{ad}_{S\dot{q}} &=", r"\mathrm{ad}^{*}_{V} &="):
        assert name in written.latex


@pytest.mark.parametrize("seed", [2, 7, 16])
def test_each_block_is_in_the_joint_frame_on_the_child_with_the_axis_as_z(seed: int) -> None:
    robot = random_robot(seed, most=14)
    dynamics = derive(robot, backend="interpreter")
    q, v, *_ = state(robot, seed)
    T_H0 = dynamics.block_matrices(q, v)[2]
    carried = {joint.child: joint for joint in robot.joints}
    for i, name in enumerate(dynamics.link_names):
        if name not in carried:  # between the steps of a joint
            continue
        body, joint = dynamics.pose(q, name), carried[name]
        frame = compose(
            Pose(body[:3, :3].tolist(), body[:3, 3].tolist()), joint.child_placement, turn(joint_turn(joint))
        )
        assert np.abs(T_H0[6 * i : 6 * i + 6] - numbers(Ad(inverse(frame)))).max() < 1e-12
