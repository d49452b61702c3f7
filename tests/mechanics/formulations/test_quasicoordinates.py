"""The formulation in quasicoordinates: requirements 004-01 to 004-08, errata E004-3, E004-9 to E004-12.

The reference is the recursion of Newton and Euler, and for the identities of the paper point masses and differences.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, derive, library, verify
from kinemorph.algebra.groups import Pose, exp_so3
from kinemorph.analysis.verification import quasicoordinate_law
from kinemorph.analysis.verification.quasicoordinate_law import identity_error
from kinemorph.display.equations.equations_of_motion import write_equations
from kinemorph.mechanics.formulations import quasi_matrices, quasicoordinates
from kinemorph.mechanics.recursions import composite_bodies, newton_euler
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.configuration import integrate
from kinemorph.model.joint import GIMBAL_ORDERS
from kinemorph.model.robot import Robot
from support.robots.random_robots import (
    ALL_KINDS,
    TURNING,
    joint_data,
    random_body,
    random_pose,
    random_robot,
    random_states,
    robot_of_kind,
)

ROTATIONAL = ("revolute", "universal", "spherical")
SLIDING = ("prismatic", "helical", "cylindrical", "planar", "point_on_line", "point_on_plane", "free")


def gap(robot: Robot, seed: int = 1) -> float:
    """The largest relative error of M and of inverse dynamics under wrenches, compared with the recursions."""
    tree = resolve(robot)
    q, v, a = (x[0].tolist() for x in random_states(robot, seed, 1)[:3])
    rng = np.random.default_rng(seed)
    ends = {at.link for at in tree.attachments.values() if at.link >= 0}
    wrenches: Any = {i: tuple(map(tuple, rng.normal(size=(2, 3)).tolist())) for i in ends}
    pairs = [
        (quasicoordinates.mass_matrix(tree, q), composite_bodies.mass_matrix(tree, q)),
        (
            quasicoordinates.inverse_dynamics(tree, q, v, a, wrenches),
            newton_euler.inverse_dynamics(tree, q, v, a, wrenches),
        ),
    ]
    return max(float(np.abs(np.subtract(*pair)).max() / np.abs(pair[1]).max()) for pair in pairs)


def gimbal_robot(order: str, *, chained: bool) -> Robot:
    rng = np.random.default_rng([GIMBAL_ORDERS.index(order), chained])
    builder, before = RobotBuilder(order, gravity=(1.0, -2.0, -9.0)), "world"
    for n, kind in enumerate(("revolute", "gimbal", "revolute") if chained else ("gimbal",)):
        builder.add(random_body(rng, f"b{n}"))
        data = joint_data(rng, kind) | ({"order": order} if kind == "gimbal" else {})
        builder.joint(f"j{n}", kind, before, f"b{n}", **data)
        before = f"b{n}"
    return builder.build()


def animal(legs: int, *, free: bool = True) -> Robot:
    """A body with legs of five degrees of freedom each: a gimbal in the paper's order, and two hinges about z."""
    builder = RobotBuilder("animal").add(Body.box("body", 2.0, (0.6, 0.3, 0.1)))
    builder.root("body", "free" if free else "fixed")
    for n in range(legs):
        coxa, femur, tibia = (f"{part}{n}" for part in ("coxa", "femur", "tibia"))
        builder.add(Body.rod(coxa, 0.3, 0.2, (0.1, 0, 0), axis="x"), Body.rod(femur, 0.2, 0.3, (0.15, 0, 0), axis="x"))
        builder.add(Body.cylinder(tibia, 0.1, 0.01, 0.4, (0.2, 0.01, 0), axis="x"))
        turn = exp_so3((0.1, -0.3, 1.2 + 2.0 * n))
        builder.joint(f"hip{n}", "gimbal", "body", coxa, placement=Pose(turn, (0.2 - 0.3 * n, 0.1 * n, -0.02)))
        builder.joint(f"knee{n}", "revolute", coxa, femur, translation=(0.2, 0, 0))
        builder.joint(f"ankle{n}", "revolute", femur, tibia, translation=(0.3, 0, 0))
    return builder.build()


# ── equal to the recursion ────────────────────────────────────────────────────────────────────────────────────────────


def test_every_order_of_a_gimbal_and_every_kind_agree_with_the_recursion(record_property: Any) -> None:
    robots = [gimbal_robot(order, chained=chained) for order in GIMBAL_ORDERS for chained in (False, True)]
    robots += [robot_of_kind(kind, chained=chained) for kind in (*ROTATIONAL, *SLIDING) for chained in (False, True)]
    worst = max(map(gap, robots))
    record_property("figure", ("quasicoordinates", "against the recursion", worst))
    assert worst < 1e-11


def trees(seeds: range) -> float:
    kinds = [ALL_KINDS if seed % 3 else (*TURNING, "free") for seed in seeds]
    return max(gap(random_robot(seed, kinds=kind, most=24), seed) for seed, kind in zip(seeds, kinds, strict=True))


def test_25_random_trees_agree_with_the_recursion() -> None:
    assert trees(range(25)) < 1e-11


@pytest.mark.slow
def test_300_random_trees_agree_with_the_recursion() -> None:
    assert trees(range(25, 325)) < 1e-11


@pytest.mark.parametrize("legs", [1, 2])
def test_a_body_with_legs(legs: int) -> None:
    """004-09: 11 degrees of freedom with one leg, 16 with two; every attachment has an L of its own (E004-3)."""
    robot = animal(legs)
    assert robot.nv == 6 + 5 * legs
    parts = quasi_matrices.segments(resolve(robot))
    assert [len(part.links) for part in parts] == [1, *[3, 1, 1] * legs]
    assert gap(robot) < 1e-11


@pytest.mark.parametrize("hip", ["gimbal", "spherical"])
def test_the_cockroach_and_its_leg_agree_with_the_recursion(hip: Any, record_property: Any) -> None:
    """004-09: 36 degrees of freedom, and 11 of one leg on a box, with angles and with Euler parameters."""
    robots = [library.cockroach(hip).robot, library.cockroach_leg("hind_right", hip).robot]
    assert [robot.nv for robot in robots] == [36, 11]
    worst = max(map(gap, robots))
    record_property("figure", ("quasicoordinates", "cockroach and leg against the recursion", worst))
    assert worst < 1e-11


def test_the_formulation_is_verified() -> None:
    """All laws of `verify` hold, that of wrenches at a frame and that of the Coriolis terms (25) among them."""
    robot = gimbal_robot("zxz", chained=False)
    builder = RobotBuilder("placed").add(*robot.bodies).joint("hip", "gimbal", "world", "b0", order="zxz")
    builder.frame("tool", "b0", placement=random_pose(np.random.default_rng(0)))
    dynamics = derive(builder.build(), "quasicoordinates", wrenches="tool", backend="interpreter")
    verdict = verify(dynamics, states=2, formulations=["newton_euler"])
    assert not [check for check in verdict.checks if check.status == "failed"]
    passed = {check.name for check in verdict.checks if check.status == "passed"}
    assert passed >= {"Coriolis terms", "passivity", "outside wrenches"}


# ── identities of the paper ───────────────────────────────────────────────────────────────────────────────────────────


def matrices(robot: Robot, seed: int = 4) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """The dense matrices by name, at a random state (q, v)."""
    tree = resolve(robot)
    q, v = (x[0] for x in random_states(robot, seed, 1)[:2])
    found = quasi_matrices.dense_matrices(tree, quasi_matrices.quasi(tree, q.tolist(), v.tolist()))
    return {name: np.array(matrix, dtype=float) for name, matrix in found.items()}, q, v


def test_coriolis_terms_cancel_at_random_mass_points() -> None:
    """(25) as printed is right (E004-6), also for trees and where joints slide; Psi~ of (20) is not (E004-4)."""
    rng = np.random.default_rng(1)
    for robot in (animal(2), random_robot(5, most=20), robot_of_kind("point_on_plane", chained=True)):
        tree = resolve(robot)
        for seed in range(3):
            q, v = (x[0].tolist() for x in random_states(robot, seed, 1)[:2])
            left, first = identity_error(tree, q, v, rng)
            assert np.abs(left).max() < 1e-14 * np.abs(first).max()
    K, *_ = matrices(animal(2))
    residue = K["Phi_rate"] + K["Phi"] @ K["W"].T + K["C_hat"] @ K["Psi"] @ K["Q"].T
    assert np.abs(residue).max() < 1e-14


def test_verify_notices_coriolis_terms_that_do_not_cancel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the rates of the places L of sliding joints, Psi is wrong, and the check fails for these joints only."""

    def still(K: Any, points: Any) -> Any:
        return quasi_matrices.eliminated(K._replace(L_rate=[(0.0, 0.0, 0.0)] * len(K.L)), points)

    monkeypatch.setattr(quasicoordinate_law, "eliminated", still)
    for kind, status in (("prismatic", "failed"), ("spherical", "passed")):
        dynamics = derive(robot_of_kind(kind, chained=True), backend="interpreter")
        (check,) = (one for one in verify(dynamics, states=2, formulations=[]).checks if one.name == "Coriolis terms")
        assert check.status == status


def points_of(rng: np.random.Generator, inertia: Any) -> tuple[np.ndarray, float]:
    """Six points (6, 3) in the axes of a body, and the mass of each, with the body's mass, center and inertia."""
    moment, com = np.array(inertia.moment, dtype=float), np.array(inertia.com, dtype=float)
    second = 0.5 * np.trace(moment) * np.eye(3) - moment
    size, axes = np.linalg.eigh(second)
    arms = np.sqrt(np.maximum(size, 0.0) * 3.0 / inertia.mass) * axes
    return com + np.concatenate([arms.T, -arms.T]), inertia.mass / 6.0


def test_integrals_over_point_masses() -> None:
    """(34) is an equality of matrices, (35) only one of products with w: E004-9, E004-10."""
    robot = animal(2)
    tree = resolve(robot)
    K, q, v = matrices(robot)
    blocks = quasi_matrices.quasi(tree, q.tolist(), v.tolist())
    n, rng = len(blocks.segments), np.random.default_rng(2)
    clouds = [points_of(rng, inertia) for inertia in blocks.masses]
    square, mixed = np.zeros((3 * n, 3 * n)), np.zeros((3 * n, 3 * n))
    for k in range(6):
        points = [tuple(cloud[0][k]) for cloud in clouds]
        dm = np.kron(np.diag([cloud[1] for cloud in clouds]), np.eye(3))
        Phi, Phi_rate = (np.zeros((3 * n, 3 * n)) for _ in range(2))
        for dense, parts in zip((Phi, Phi_rate), quasi_matrices.global_matrices(blocks, points), strict=True):
            for (i, j), part in parts.items():
                dense[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = part
        square += Phi.T @ dm @ Phi
        mixed += Phi.T @ dm @ Phi_rate
    w = np.concatenate([np.array(one) for one in blocks.w])
    at_centers = K["Phi"].T @ K["m"]
    assert np.abs(square - (at_centers @ K["Phi"] + K["I"])).max() < 1e-14 * np.abs(square).max()
    printed = at_centers @ K["Phi_rate"] + K["W"] @ K["I"]
    assert np.abs(mixed - printed).max() > 1e-3 * np.abs(mixed).max()
    assert np.abs((mixed - printed) @ w).max() < 1e-13 * np.abs(mixed @ w).max()


def with_rotors(robot: Robot) -> Robot:
    """The robot with rotor inertia in every joint except those to the world."""
    joints = [replace(one, armature=(0.1,) * one.nv) if one.parent != "world" else one for one in robot.joints]
    return replace(robot, joints=tuple(joints))


@pytest.mark.parametrize(
    "sample", [lambda: with_rotors(animal(2)), lambda: random_robot(7, most=16), lambda: animal(1, free=False)]
)
def test_the_three_coordinate_sets(sample: Any) -> None:
    """(46): one set follows from another by C^R and D, and the true one is that of the recursion."""
    robot = sample()
    K, q, v = matrices(robot)
    dynamics = derive(robot, "quasicoordinates", backend="interpreter")
    M_abs, b_abs, M_rel, b_rel, M_true, b_true = dynamics.coordinate_sets(q, v)
    slides = len(M_abs) - len(K["C_R"])
    C = np.block([[np.eye(slides), np.zeros((slides, len(K["C_R"])))], [np.zeros((len(K["C_R"]), slides)), K["C_R"]]])
    D = np.concatenate([K.get("E", np.zeros((0, robot.nv))), K["D"]])
    rotors = np.diag([float(x) for joint in robot.joints for x in joint.armature])
    assert np.abs(C.T @ M_abs @ C - M_rel).max() < 1e-13 * np.abs(M_rel).max()
    assert np.abs(D.T @ M_rel @ D + rotors - M_true).max() < 1e-13 * np.abs(M_true).max()
    Omega = K["D"] @ v
    w = K["C_R"] @ Omega
    hats = np.kron(np.eye(len(w) // 3), np.ones((3, 3))) * K["W"]
    gyre = np.concatenate([np.zeros(slides), K["C_R"] @ (hats @ Omega)])  # the rates of w where Omega is constant
    assert np.abs(C.T @ (b_abs + M_abs @ gyre) - b_rel).max() < 1e-12 * np.abs(b_rel).max()
    reference = derive(robot, backend="interpreter")
    assert np.abs(M_true - reference.mass_matrix(q)).max() < 1e-12 * np.abs(M_true).max()
    assert np.abs(b_true - reference.bias_forces(q, v)).max() < 1e-12 * np.abs(b_true).max()


@pytest.mark.parametrize(
    "sample", [lambda: animal(2), lambda: random_robot(9, kinds=ALL_KINDS, most=16), lambda: animal(1, free=False)]
)
def test_the_matrices_make_up_the_equations(sample: Any) -> None:
    """(48) to (50) with the dense matrices: M, and h, the forces at zero accelerations, where pdd - g = Gamma."""
    robot = replace(sample(), gravity=(1.0, -2.0, -9.0))
    K, q, v = matrices(robot)
    turning = K["C_R"] @ K["D"]
    moving = K["Phi"] @ turning + (K["I_v"] @ K["E"] if "E" in K else 0.0)
    w = turning @ v
    wd = K["C_R"] @ K["xi"]
    h = moving.T @ K["m"] @ K["Gamma"] + turning.T @ (K["I"] @ wd + K["W"] @ K["I"] @ w)
    M = moving.T @ K["m"] @ moving + turning.T @ K["I"] @ turning
    M += np.diag([float(x) for joint in robot.joints for x in joint.armature])
    reference = derive(robot, backend="interpreter")
    assert np.abs(h - reference.bias_forces(q, v)).max() < 1e-12 * np.abs(h).max()
    assert np.abs(M - reference.mass_matrix(q)).max() < 1e-12 * np.abs(M).max()
    assert np.abs(K["C_bar"] - K["C_D"] @ (K["C_R"] - np.eye(len(w)))).max() < 1e-14  # (30) has no blocks of its own


# ── as the paper writes them ──────────────────────────────────────────────────────────────────────────────────────────


def test_the_leg_has_the_matrix_of_the_paper() -> None:
    """E004-12: D of the body-coxa joint in the order gamma-beta-alpha, and (0, 0, 1) of the hinges."""
    robot = animal(1)
    K, q, _ = matrices(robot)
    _, b, a = q[robot.q_slice("hip0")]
    D = K["D"][3:, 6:]
    leg = np.array([[1, 0, -np.sin(b)], [0, np.cos(a), np.sin(a) * np.cos(b)], [0, -np.sin(a), np.cos(a) * np.cos(b)]])
    assert np.abs(D[:3, :3] - leg[:, ::-1]).max() < 1e-15
    assert np.array_equal(D[3:6, 3], [0, 0, 1]) and np.array_equal(D[6:9, 4], [0, 0, 1])
    assert K["D"].shape == (12, 11)
    assert abs(np.linalg.det(D[:3, :3])) == pytest.approx(abs(np.cos(b)), abs=1e-15)


def test_the_rates_of_d_and_phi_are_their_rates() -> None:
    robot = random_robot(9, kinds=ALL_KINDS, most=16)
    tree, h = resolve(robot), 1e-6
    q, v = (x[0] for x in random_states(robot, 4, 1)[:2])
    after, before = (
        quasi_matrices.dense_matrices(tree, quasi_matrices.quasi(tree, integrate(robot, q, sign * h * v).tolist()))
        for sign in (1.0, -1.0)
    )
    K, *_ = matrices(robot)
    for name, rate in (("D", "D_rate"), ("Phi", "Phi_rate")):
        measured = np.subtract(after[name], before[name]) / (2.0 * h)
        assert np.abs(measured - K[rate]).max() < 1e-8 * max(np.abs(K[rate]).max(), 1.0), name


def test_angular_velocities_are_those_of_the_bodies() -> None:
    robot = random_robot(6, kinds=ALL_KINDS, most=16)
    tree = resolve(robot)
    q, v = (x[0] for x in random_states(robot, 4, 1)[:2])
    K = quasi_matrices.quasi(tree, q.tolist(), v.tolist())
    dynamics = derive(robot, backend="interpreter")
    for part, w in zip(K.segments, K.w, strict=True):
        name = tree.links[part.links[-1]].name
        if name in robot.body_names:
            assert np.abs(np.array(w) - (dynamics.jacobian(name)(q) @ v)[3:]).max() < 1e-12


def test_euler_parameters() -> None:
    """E004-12: Omega = 2 G(e) ed with G = [-e_v, e_0 1 - e_v~], for a spherical joint."""
    robot = robot_of_kind("spherical", chained=False)
    q, v = (x[0] for x in random_states(robot, 4, 1)[:2])
    rate = derive(robot, backend="interpreter").configuration_rate(q, v)
    e0, e = q[0], q[1:]
    tilde = np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
    assert np.abs(2.0 * np.column_stack([-e, e0 * np.eye(3) - tilde]) @ rate - v).max() < 1e-14


def test_the_matrices_can_be_read() -> None:
    builder = RobotBuilder("leg").add(Body.box("coxa", 1.0, (0.1, 0.2, 0.3)))
    robot = builder.joint("hip", "gimbal", "world", "coxa", order="zyx").build()
    symbolic = derive(robot, "quasicoordinates", backend="interpreter")
    written = write_equations(symbolic, [symbolic.block_matrices.program])
    assert r"\dot{\bar{\Phi}}" in written.latex and "C^{R}" in written.latex
    assert "-sin(q2)" in written.text.replace(" ", "")
