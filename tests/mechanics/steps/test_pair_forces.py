"""Stiff forces between two links at the end of a step: against a dense solve of the same, and as laws of elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, elements
from kinemorph.algebra.scalar import S
from kinemorph.algebra.turns import Sym3, Vec3
from kinemorph.algebra.vectors import add
from kinemorph.mechanics.constraints.constrained import ConstraintRows, constrained_dynamics, softened
from kinemorph.mechanics.derivatives.branch_factor import branch_factor
from kinemorph.mechanics.elements.ensemble import ensemble
from kinemorph.mechanics.elements.instant import SystemInstant, generalized
from kinemorph.mechanics.recursions.composite_bodies import mass_matrix
from kinemorph.mechanics.recursions.newton_euler import outward
from kinemorph.mechanics.steps.implicit_forces import Under, implicit_accelerations
from kinemorph.mechanics.steps.pair_forces import PairForce, PairState, couples, factor_columns, pair_wrenches
from kinemorph.mechanics.steps.point_motions import present_motion
from kinemorph.mechanics.steps.point_states import Sight
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import WORLD, Tree
from kinemorph.model.robot import Robot
from support.cases.element_laws import arm, floater
from support.peers.pinocchio_peer import PinocchioPeer
from support.robots.random_robots import random_robot, random_states
from support.tools.each_case import each_case


@dataclass(frozen=True)
class Bond:
    """f = push - K moved - C u - d |u|^2 u, in world axes."""

    push: np.ndarray
    K: np.ndarray
    C: np.ndarray
    d: float

    def force(self, pair: PairState) -> Vec3:
        u, x = np.array(pair.velocity, dtype=float), np.array(pair.moved, dtype=float)
        a, b, c = (self.push - self.K @ x - self.C @ u - self.d * (u @ u) * u).tolist()
        return (a, b, c)

    def linear(self, pair: PairState, h: S) -> tuple[Vec3, Sym3]:
        u = np.array(pair.velocity, dtype=float)
        D = h * (self.C + self.d * ((u @ u) * np.eye(3) + 2.0 * np.outer(u, u))) + h * h * self.K
        xx, xy, xz, yy, yz, zz = (float(D[i, j]) for i in range(3) for j in range(i, 3))
        return self.force(pair), (xx, xy, xz, yy, yz, zz)


def bonds(tree: Tree, names: list[str], rng: np.random.Generator, count: int) -> list[tuple[str, str, PairForce]]:
    """Random bonds between bodies, some of them with the world, some turning."""
    found = []
    for k in range(count):
        a, b = rng.choice(len(names), 2, replace=False)
        first, second = names[a], names[b]
        K, C = (x @ x.T for x in rng.normal(size=(2, 3, 3)))
        law = Bond(rng.normal(size=3), 1e4 * K, 30.0 * C, 3.0)
        ats = [tree.attachments[name] for name in (first, second)]
        pair = PairForce((ats[0].link, ats[1].link), (ats[0].pose.p, ats[1].pose.p), law, turning=k % 3 == 2)
        if pair.links[0] != pair.links[1]:
            found.append((first, second, pair))
    return found


def under(tree: Tree, q: Any) -> Under:
    """The mass matrix, and the solution with soft rows and without constraints."""

    def solved(M: Any, rest: Any, soft: Any) -> Any:
        return constrained_dynamics(*softened(branch_factor(tree, M), rest, ConstraintRows([], [], []), soft)).a[
            : tree.nv
        ]

    return Under(mass_matrix(tree, q), solved)


def dense(
    robot: Robot, made: list[tuple[str, str, PairForce]], state: Any, h: float, passes: int
) -> tuple[np.ndarray, list[np.ndarray], float]:
    """(a, forces on the first of each pair, condition): matrices of Pinocchio, one linear solve a pass."""
    q, v, tau = state
    peer = PinocchioPeer(robot)
    M, rest = peer.mass_matrix(q), tau - peer.bias_forces(q, v)
    still = np.zeros((6, robot.nv))
    seen = {"world": (still, still)}
    for name in {name for first, second, _ in made for name in (first, second)} - {"world"}:
        seen[name] = peer.jacobian(name, "local_world_aligned", q, v)
    a = np.zeros(robot.nv)
    for _ in range(passes):
        matrix, right, forces = M.copy(), rest.copy(), []
        for first, second, pair in made:
            part = slice(3, 6) if pair.turning else slice(0, 3)
            J, drift = (seen[first][k][part] - seen[second][k][part] for k in (0, 1))
            u = J @ v + h * (drift @ v + J @ a)
            f, D = pair.law.linear(PairState(tuple(u.tolist()), h), h)
            xx, xy, xz, yy, yz, zz = D
            D = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            matrix, right = matrix + J.T @ D @ J, right + J.T @ (np.array(f) + D @ J @ a)
            forces.append((np.array(f) + D @ J @ a, D @ J))
        a = np.linalg.solve(matrix, right)
    return a, [f - DJ @ a for f, DJ in forces], float(np.linalg.cond(matrix))


@pytest.mark.parametrize("passes", [1, 3])
def test_steps_with_pairs_equal_a_dense_solve(passes: int) -> None:
    """Random trees with bonds between any two bodies and the world, linear and turning: to rounding."""
    worst, coupled = 0.0, 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        robot = random_robot(seed, most=12)
        tree = resolve(robot)
        names = ["world", *robot.body_names]
        made = bonds(tree, names, rng, 4)
        state = [random_states(robot, seed, 1)[k][0] for k in (0, 1, 3)]
        pairs = [pair for _, _, pair in made]
        coupled += sum(map(couples, pairs))
        ends = implicit_accelerations(
            *(tree, *(x.tolist() for x in state), 1e-3),
            pairs=pairs,
            passes=passes,
            under=under(tree, state[0].tolist()),
        )
        a, forces, condition = dense(robot, made, state, 1e-3, passes)
        limit = max(1e-12, 1e-15 * condition)
        error = np.abs(np.array(ends.a) - a).max() / np.abs(a).max()
        assert error < limit, (seed, error, condition)
        largest = max(np.abs(f).max() for f in forces)
        for ours, theirs in zip(ends.pairs, forces, strict=True):
            assert np.abs(np.array(ours) - theirs).max() < 30.0 * limit * largest
        worst = max(worst, error)
    assert coupled > 15


def test_pairs_with_the_world_need_no_mass_matrix() -> None:
    """The articulated-body algorithm and the mass matrix give the same accelerations."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        robot = random_robot(seed, most=8)
        tree = resolve(robot)
        body = robot.body_names[-1]
        made = [pair for _, _, pair in bonds(tree, ["world", body], rng, 3)]
        q, v, _, tau = (x[0].tolist() for x in random_states(robot, seed, 1))
        plain = implicit_accelerations(tree, q, v, tau, 1e-3, pairs=made, passes=2)
        masses = implicit_accelerations(tree, q, v, tau, 1e-3, pairs=made, passes=2, under=under(tree, q))
        assert np.array(plain.a) == pytest.approx(np.array(masses.a), rel=1e-10, abs=1e-10)


def test_a_factor_of_a_matrix_that_is_not_definite_is_finite() -> None:
    rng = np.random.default_rng(3)
    for rank in (0, 1, 2, 3):
        x = rng.normal(size=(3, rank))
        D = x @ x.T
        L = np.array(factor_columns(tuple(D[i, j] for i in range(3) for j in range(i, 3)))).T  # type: ignore[arg-type]
        assert np.isfinite(L).all() and np.abs(L @ L.T - D).max() < 1e-13


def test_soft_rows_are_masses() -> None:
    """(M + sum j^T j) a = rest, with and without constraints, however soft or hard the rows are."""
    rng = np.random.default_rng(5)
    robot = random_robot(5, most=8)
    tree = resolve(robot)
    q, _, _, rest = (x[0] for x in random_states(robot, 5, 1))
    M = np.array(mass_matrix(tree, q.tolist()), dtype=float)
    for size in (1e-6, 1.0, 1e4):
        soft = size * rng.normal(size=(4, robot.nv))
        J = rng.normal(size=(2, robot.nv))
        rows = ConstraintRows(J.tolist(), [0.3, -0.2], [1.0, 1.0])
        found = constrained_dynamics(*softened(branch_factor(tree, M.tolist()), rest.tolist(), rows, soft.tolist()))
        whole = np.block([[M + soft.T @ soft, -J.T], [J, np.zeros((2, 2))]])
        exact = np.linalg.solve(whole, np.concatenate([rest, [0.3, -0.2]]))[: robot.nv]
        limit = max(1e-12, 1e-15 * float(np.linalg.cond(whole))) * np.abs(exact).max()
        assert np.array(found.a[: robot.nv]) == pytest.approx(exact, rel=0.0, abs=limit)


# ── laws of elements ──────────────────────────────────────────────────────────────────────────────────────────────────

BUSH = {"stiffness": (3e3, 4e3, 5e3), "damping": (5.0, 6.0, 7.0)}
TURN = {"turning_stiffness": (30.0, 40.0, 50.0), "turning_damping": (0.5, 0.6, 0.7)}
KINDS: dict[str, Any] = {
    "spring": elements.Spring("e", "upper", "tool", 500.0, 0.2, 7.0, point_a=(0.1, 0.02, 0.0)),
    "spring to the world": elements.Spring("e", "tool", "world", 500.0, 0.2, 7.0, point_b=(0.5, 0.2, 1.0)),
    "damper": elements.Damper("e", "upper", "tool", 7.0, point_a=(0.1, 0.02, 0.0)),
    "rope": elements.Rope("e", "upper", "tool", 500.0, 0.05, 7.0, point_a=(0.1, 0.02, 0.0)),
    "bumper": elements.Bumper("e", "upper", "tool", 500.0, 5.0, 7.0, point_a=(0.1, 0.02, 0.0)),
    "bushing": elements.Bushing("e", "upper", "tool", **BUSH, **TURN),
    "bushing of angles": elements.Bushing("e", "upper", "world", **BUSH, **TURN, turning="xyz"),
    "pair of spheres": elements.PairContact(
        "e",
        "upper",
        "tool",
        elements.HuntCrossley(5e4, 1.0),
        radius_a=0.6,
        radius_b=0.4,
        friction=elements.Regularized(0.7),
    ),
    "tire": elements.Tire(
        "e", "tool", 0.5, 1e4, 2500.0, 2e4, 2e4, 2e3, damping=10.0, crown=0.1, ground=elements.Plane((0.0, 0.0, 0.6))
    ),
}


@each_case("kind", KINDS)
def test_a_law_for_the_end_of_a_step_is_that_of_the_state_and_its_slope(kind: str) -> None:
    """With a step of 0 the forces are those of `effort`; D has the slopes of the force, or more."""
    for robot in (arm(), floater()):
        cast, tree = ensemble(robot, (KINDS[kind],)), resolve(robot)
        for seed in range(3):
            q, v, _, _ = (x[0].tolist() for x in random_states(robot, seed, 1))
            now = SystemInstant(cast, tree, 0.0, q, v, [], [], [], {})
            gathered = now.gathered()
            plain = np.array(generalized(now.motions, gathered.loads), dtype=float)
            (stiff,) = now.stiff().values()
            moves = tree.moves(q)
            sight, flows = Sight(tree, moves), outward(tree, moves, v, [0.0] * tree.nv)
            loads: dict[int, Any] = {}
            for pair in stiff.pairs:
                state = PairState(present_motion(tree, sight, flows, v, pair), 0.0)
                for link, (f, m) in pair_wrenches(pair, sight, pair.law.force(state)):
                    before = loads.get(link, ((0.0,) * 3, (0.0,) * 3))
                    loads[link] = (add(before[0], f), add(before[1], m))
                _check_slope(pair, state)
            late = np.array(generalized(now.motions, loads), dtype=float)
            assert late == pytest.approx(plain, rel=1e-10, abs=1e-10 * max(1.0, np.abs(plain).max()))


def _check_slope(pair: PairForce, state: PairState) -> None:
    """D against differences: it has the slope of a smooth law, and is never less than that of a law with friction."""
    h, eps = 1e-3, 1e-6
    xx, xy, xz, yy, yz, zz = pair.law.linear(state._replace(step=h), h)[1]
    D = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=float)
    slope = np.zeros((3, 3))
    for k in range(3):
        sides = []
        for sign in (1.0, -1.0):
            velocity = [u + sign * eps * (i == k) for i, u in enumerate(state.velocity)]
            sides.append(np.array(pair.law.force(PairState(tuple(velocity), h)), dtype=float))
        slope[:, k] = -h * (sides[0] - sides[1]) / (2.0 * eps)
    assert np.linalg.eigvalsh(D).min() >= -1e-12 * np.abs(D).max()
    if type(pair.law).__name__ in ("LineForce", "Springs"):
        assert np.abs(D - slope).max() < 1e-5 * max(np.abs(D).max(), 1e-3)
    else:
        symmetric = 0.5 * (slope + slope.T)
        assert np.linalg.eigvalsh(symmetric).max() < 1.3 * np.linalg.eigvalsh(D).max() + 1e-9


def test_a_bond_of_a_link_with_itself_and_the_world_moves_nothing_else() -> None:
    builder = RobotBuilder("two").add(Body.sphere("a", 1.0, 0.1), Body.sphere("b", 1.0, 0.1))
    builder.root("a", "free").joint("free", "free", "world", "b")
    tree = resolve(builder.build())
    pair = PairForce((0, WORLD), ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), Bond(np.ones(3), np.eye(3), np.eye(3), 0.0))
    q, v = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0] * 2, [0.0] * 12
    ends = implicit_accelerations(tree, q, v, [0.0] * 12, 1e-3, pairs=[pair])
    assert np.array(ends.a[6:]) == pytest.approx([0.0, 0.0, -9.81, 0.0, 0.0, 0.0], abs=1e-12)
    assert np.abs(np.array(ends.a[:3])).max() > 0.5
