"""Inertia added to links and pivots added to joints in the articulated-body algorithm, against a dense solve.

    (M + sum J_i^T D_i J_i + diag(p)) a = tau - h + sum J_i^T f_i

with J_i the Jacobian of a link's frame in its own axes: added inertia resists acceleration as mass would, but has no
weight and no velocity products.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinemorph.algebra.groups import IDENTITY
from kinemorph.algebra.inertia_blocks import rigid_blocks
from kinemorph.mechanics.recursions import articulated_bodies, composite_bodies, newton_euler
from kinemorph.mechanics.recursions.kinematics import jacobian
from kinemorph.mechanics.trees.reframing import reframe, regroup
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Attachment, Tree
from kinemorph.model.robot import Robot
from support.references.exact_rates import numbers
from support.robots.random_robots import KINDS, random_robot, random_states, robot_of_kind
from support.tools.each_case import each_case


def blocks_of(D: np.ndarray) -> Any:
    """A symmetric 6 x 6 matrix as the blocks (A, B, J) of the algorithm."""
    A, B, J = D[:3, :3], D[:3, 3:], D[3:, 3:]
    upper = np.triu_indices(3)
    return tuple(A[upper].tolist()), tuple(B.ravel().tolist()), tuple(J[upper].tolist())


def link_jacobian(tree: Tree, q: list[float], index: int) -> np.ndarray:
    asked = replace(tree, attachments={"link": Attachment(index, IDENTITY)})
    return numbers(jacobian(asked, q, "link", "local"))


def check(robot: Robot, seed: int, *, prepared: bool) -> None:
    tree = resolve(robot)
    if prepared:
        tree = regroup(reframe(tree))
    rng = np.random.default_rng(seed)
    q, v, _, tau = (part[0].tolist() for part in random_states(robot, seed, 1))
    loaded = sorted({0, len(tree.links) // 2, len(tree.links) - 1})
    added, wrenches, pivots = {}, {}, {}
    M = numbers(composite_bodies.mass_matrix(tree, q))
    rest = np.array(tau) - numbers(newton_euler.bias_forces(tree, q, v))
    for index in loaded:
        root = rng.normal(size=(6, 6))
        D, f = root @ root.T * 0.3, rng.normal(size=6) * 5.0
        added[index] = blocks_of(D)
        wrenches[index] = (tuple(f[:3].tolist()), tuple(f[3:].tolist()))
        J = link_jacobian(tree, q, index)
        M, rest = M + J.T @ D @ J, rest + J.T @ f
    for j in range(0, robot.nv, 2):
        pivots[j] = float(rng.uniform(0.1, 2.0))
        M[j, j] += pivots[j]
    expected = np.linalg.solve(M, rest)
    a = numbers(
        articulated_bodies.forward_dynamics(tree, q, v, tau, wrenches, added_inertia=added, added_pivots=pivots)
    )
    tolerance = min(1e-13 * np.linalg.cond(M) + 1e-13, 1e-8)
    assert np.abs(a - expected).max() < tolerance * np.abs(expected).max()


@each_case("prepared", [False, True])
@each_case("kind", KINDS)
def test_additions_on_every_joint_kind(kind: str, prepared: bool) -> None:
    for chained in (False, True):
        check(robot_of_kind(kind, chained=chained), 5, prepared=prepared)


@each_case("seed", range(16))
def test_additions_on_random_trees(seed: int) -> None:
    check(random_robot(seed, most=25), seed, prepared=bool(seed % 3))


def test_added_mass_without_weight_is_a_body_that_gravity_and_spin_leave_alone() -> None:
    """At rest and without gravity, added inertia is simply mass: adding a body's own inertia again doubles it."""
    robot = replace(robot_of_kind("spherical", chained=True), gravity=(0.0, 0.0, 0.0))
    tree = resolve(robot)
    q, _, _, tau = (part[0].tolist() for part in random_states(robot, 8, 1))
    still = [0.0] * robot.nv
    added = {index: rigid_blocks(link.moments) for index, link in enumerate(tree.links)}
    heavy = replace(tree, links=tuple(doubled(link) for link in tree.links))
    one = articulated_bodies.forward_dynamics(tree, q, still, tau, added_inertia=added)
    other = articulated_bodies.forward_dynamics(heavy, q, still, tau)
    np.testing.assert_allclose(one, other, rtol=1e-11)


def doubled(link: Any) -> Any:
    return replace(
        link, mass=2.0 * link.mass, h=tuple(2.0 * x for x in link.h), sigma=tuple(2.0 * x for x in link.sigma)
    )
