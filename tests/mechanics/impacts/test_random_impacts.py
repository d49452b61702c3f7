"""Random robots that are hit at 1 to 8 points, half of them with loops, against every body by its own six velocities.

`maximal_coordinates` knows nothing of the package: impulses and velocities are judged by Newton and Euler for each
body, by the conditions of all joints, and by Coulomb's cone at the velocities that the bodies have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from kinemorph.mechanics.constraints.driven_constraints import constraint_rows
from kinemorph.mechanics.impacts.contact_space import ContactRows, holding
from kinemorph.mechanics.impacts.impact import Impacted, impact
from kinemorph.mechanics.recursions.kinematics import jacobian
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.configuration import random_configuration
from kinemorph.model.elements.contact.impact_laws import Energetic, ImpactLaw, Newton, Plastic, Poisson
from kinemorph.model.robot import Robot
from support.references.maximal_coordinates import Mechanism, null_space
from support.robots.random_mechanisms import random_mechanism
from support.robots.random_robots import random_robot
from support.tools.each_case import each_case

FEW, MANY = range(2), range(2, 300)
AT_ONCE = (Plastic(), Newton(0.6), Poisson(0.6), Energetic(0.6))
KINDS = ("revolute", "prismatic", "helical", "cylindrical", "universal", "spherical", "planar", "free")


@dataclass
class Struck:
    """A robot at (q, v), its contacts for the package, and their rows (n, width, 6 bodies) in maximal coordinates."""

    robot: Robot
    mechanism: Mechanism
    q: np.ndarray
    v: np.ndarray
    contacts: ContactRows
    rows: np.ndarray
    mu: np.ndarray

    @property
    def redundant(self) -> bool:
        """Whether the velocities of the contacts depend on each other."""
        H = self.mechanism.spread
        C, _ = self.mechanism.closed_conditions()
        N = null_space(C @ H) if len(C) else np.eye(H.shape[1])
        J = self.rows.reshape(-1, len(H)) @ H @ N
        return np.linalg.matrix_rank(J, tol=1e-9) < len(J)


def struck(seed: int) -> Struck:
    rng = np.random.default_rng([seed, 5])
    if seed % 2:
        robot, q = random_mechanism(seed // 2).built()
    else:
        robot = random_robot(seed, kinds=KINDS, most=15)
        q = random_configuration(robot, rng)
    mechanism = Mechanism(robot, np.asarray(q))
    v = mechanism.moving(rng) if len(mechanism.closed_conditions()[0]) else rng.normal(size=robot.nv)
    tree = resolve(robot)
    count, width = int(rng.integers(1, 9)), int(rng.integers(2, 4))
    ours, theirs = [], []
    for _ in range(count):
        body = robot.bodies[rng.integers(len(robot.bodies))]
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0][:width]
        T = mechanism.poses[body.name]
        point = T[:3, 3] + rng.normal(size=3) * 0.2
        J = np.array(jacobian(tree, q.tolist(), body.name, "local_world_aligned"), dtype=float)
        linear = J[:3] + np.cross(J[3:].T, point - T[:3, 3]).T
        ours.append((axes @ linear).tolist())
        k = mechanism.places[body.name]
        row = np.zeros((width, mechanism.size))
        row[:, 6 * k : 6 * k + 3] = axes
        row[:, 6 * k + 3 : 6 * k + 6] = np.cross(point - mechanism.centers[k], axes)
        theirs.append(row)
    mu = rng.uniform(0.1, 1.0, size=count)
    return Struck(robot, mechanism, np.asarray(q), v, ContactRows(ours, mu.tolist()), np.array(theirs), mu)


def carried_out(this: Struck, law: ImpactLaw) -> Impacted:
    tree, q, v = resolve(this.robot), this.q.tolist(), this.v.tolist()
    rows = constraint_rows(tree, q, v)
    return impact(tree, q, v, this.contacts, law, holding(rows, v))


def kinetic(this: Struck, M: np.ndarray, v: np.ndarray) -> float:
    V = this.mechanism.spread @ v
    return float(0.5 * V @ M @ V)


def check(this: Struck, law: ImpactLaw) -> None:
    found = carried_out(this, law)
    if np.isnan(found.error):
        assert isinstance(law, Newton) and this.redundant and np.isnan(found.impulses).all()
        return
    assert found.error < 1e-10
    robot, mechanism = this.robot, this.mechanism
    p, after = np.array(found.impulses, dtype=float), np.array(found.v, dtype=float)
    before_V, V = mechanism.spread @ this.v, mechanism.spread @ after
    C, _ = mechanism.closed_conditions()
    G, _ = mechanism.coordinates()
    rotors = np.array([float(x) for joint in robot.joints for x in joint.armature])
    M = mechanism.mass_matrix + G.T @ (rotors[:, None] * G)
    size = max(1.0, np.abs(p).max(initial=0.0), np.abs(after).max(), np.abs(M @ V).max())
    # momentum: what the impulses do, along every motion that the joints allow; and the joints hold
    N = null_space(C) if len(C) else np.eye(mechanism.size)
    given = np.einsum("nwk,nw->k", this.rows, p)
    assert np.abs(N.T @ (M @ (V - before_V) - given)).max(initial=0.0) < 1e-12 * size
    assert np.abs(C @ V).max(initial=0.0) < 1e-11 * size
    # energy
    change = kinetic(this, M, after) - kinetic(this, M, this.v)
    assert change == pytest.approx(found.gain - found.loss, abs=1e-10 * size**2)
    if isinstance(law, (Plastic, Energetic)):
        assert change <= 1e-12 * size**2
    # unilateral, and within the cone
    u = this.rows @ V
    u_before = this.rows @ before_V
    scale = max(1.0, np.abs(u).max(), np.abs(u_before).max())
    assert (p[:, 0] >= 0.0).all()
    assert (np.linalg.norm(p[:, 1:], axis=1) <= this.mu * p[:, 0] + 1e-10 * size).all()
    if law.in_sequence:
        return
    assert (u[:, 0] >= -1e-10 * scale).all()
    if isinstance(law, Plastic):
        complementary(p, u, this.mu, size * scale)
    if isinstance(law, Newton) and len(p) > 1:
        restored = u.copy()
        restored[:, 0] += law.restitution * np.minimum(u_before[:, 0], 0.0)
        complementary(p, restored, this.mu, size * scale)


def complementary(p: np.ndarray, u: np.ndarray, mu: np.ndarray, size: float) -> None:
    """Impulse or opening; friction within the cone or against the sliding. One contact is followed, so its friction
    is the sum of what acted during the impact.
    """
    assert (u[:, 0] >= -1e-10 * size).all() and np.abs(p[:, 0] * u[:, 0]).max() < 1e-10 * size
    if len(p) == 1:
        return
    speed, friction = np.linalg.norm(u[:, 1:], axis=1), np.linalg.norm(p[:, 1:], axis=1)
    assert np.abs((mu * p[:, 0] - friction) * speed).max() < 1e-10 * size
    assert np.abs(np.einsum("nt,nt->n", p[:, 1:], u[:, 1:]) + friction * speed).max() < 1e-10 * size


def check_all_laws(seed: int) -> None:
    this = struck(seed)
    for law in (*AT_ONCE, Energetic(1.0), Energetic(0.6, in_sequence=True)):
        check(this, law)


@each_case("seed", FEW)
def test_random_impacts(seed: int) -> None:
    check_all_laws(seed)


@pytest.mark.parametrize(
    "seed",
    [
        105,  # loops hold two of the bodies entirely, so that contacts on them move by rounding errors only
        292,  # all contacts stick after compression: only the impulses of restitution have a size
    ],
)
def test_impacts_of_which_little_is_left(seed: int) -> None:
    check_all_laws(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_many_more_random_impacts(seed: int) -> None:
    check_all_laws(seed)


def test_half_have_loops_and_all_counts_occur() -> None:
    robots = [struck(seed) for seed in range(40)]
    assert sum(not this.robot.is_open for this in robots) == 20
    assert {len(this.mu) for this in robots} == set(range(1, 9))
