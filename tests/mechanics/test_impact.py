"""Plastic impacts in plain numbers, against the formula with dense matrices: what locks, what holds, what is lost."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.mechanics import loops
from kinemorph.mechanics.composite_bodies import mass_matrix
from kinemorph.mechanics.impact import locked_rows, plastic_impact, relative_pose
from kinemorph.mechanics.momentum import center_of_mass, kinetic_energy, total_momentum
from kinemorph.mechanics.resolving import resolve
from kinemorph.model.configuration import integrate
from kinemorph.model.modules import Assembly, Docking, Module, backbone


@pytest.fixture(scope="module")
def ring():
    """A closed ring of four modules and a fifth one beside it, moving as the ring allows: tree, q, v, robot."""
    place = {0: Pose(IDENTITY.R, (0.0, 0.0, 0.0)), 4: Pose(IDENTITY.R, (0.3, -0.2, 0.1))}
    modules = tuple(Module(f"m{k}", backbone(), place.get(k)) for k in range(5))
    sides = ((0, 1), (1, 2), (2, 3), (3, 0))
    assembly = Assembly("ring", modules, tuple(Docking(f"m{a}", 3, f"m{b}", 5) for a, b in sides))
    system = assembly.system()
    tree, q = resolve(system.robot), list(system.settings.q)
    rng = np.random.default_rng(3)
    J = np.array(loops.constraint_jacobian(tree, q), dtype=float)
    v = rng.normal(size=tree.nv)
    v -= np.linalg.pinv(J, 1e-9) @ (J @ v)
    return tree, q, v.tolist(), system.robot


def test_rows_are_the_relative_twist(ring):
    """J v is the rate of the pose of port b in port a, by differences."""
    tree, q, v, robot = ring
    ends = ("m1_port2", "m4_port4")
    rows = locked_rows(tree, q, *ends)
    h = 1e-6
    (T_1, T_2) = (relative_pose(tree, integrate(robot, q, s * h * np.array(v)), *ends) for s in (-1, 1))
    rate = (np.array(T_2.p) - np.array(T_1.p)) / (2 * h)
    W = (np.array(T_2.R) - np.array(T_1.R)) @ np.array(T_1.R).T / (2 * h)
    spatial = np.array(rows.J) @ v
    p = np.array(relative_pose(tree, q, *ends).p)
    assert np.allclose(spatial[3:], [W[2, 1], W[0, 2], W[1, 0]], atol=1e-6)
    assert np.allclose(spatial[:3] + np.cross(spatial[3:], p), rate, atol=1e-6)


def test_a_closed_ring_holds_while_another_module_locks(ring):
    tree, q, v, _ = ring
    M = np.array(mass_matrix(tree, q))
    kept, rows = loops.rows_of(tree, q, v), locked_rows(tree, q, "m1_port2", "m4_port4")
    hit = plastic_impact(tree, q, v, rows, kept)
    J = np.vstack([kept.J, rows.J])
    inverse = np.linalg.pinv(J @ np.linalg.solve(M, J.T), 1e-9, hermitian=True)
    after = v - np.linalg.solve(M, J.T) @ inverse @ (J @ v)
    assert np.allclose(hit.v, after, atol=1e-10) and np.abs(J @ hit.v).max() < 1e-13
    assert np.abs(np.array(kept.J) @ v).max() < 1e-12 and np.abs(np.array(rows.J) @ v).max() > 0.1
    loss = kinetic_energy(tree, q, v) - kinetic_energy(tree, q, hit.v)
    assert hit.loss == pytest.approx(loss, rel=1e-11) and loss > 0.0
    alone = plastic_impact(tree, q, v, rows)
    assert np.abs(np.array(kept.J) @ alone.v).max() > 1e-3  # the ring would not hold by itself


def test_momentum_about_the_origin_stays_and_what_rests_is_not_hit(ring):
    tree, q, v, _ = ring
    kept, rows = loops.rows_of(tree, q, v), locked_rows(tree, q, "m1_port2", "m4_port4")
    hit = plastic_impact(tree, q, v, rows, kept)
    c = np.array(center_of_mass(tree, q))
    both = np.array([total_momentum(tree, q, x) for x in (v, hit.v)])
    linear, about = both[:, :3], both[:, 3:]
    angular = about + np.cross(c, linear)
    assert np.abs(np.diff(linear, axis=0)).max() < 1e-13 and np.abs(np.diff(angular, axis=0)).max() < 1e-13
    again = plastic_impact(tree, q, hit.v, rows, kept)
    assert np.allclose(again.v, hit.v, atol=1e-13) and again.loss < 1e-24 and np.abs(again.impulse).max() < 1e-12


def test_ports_of_one_rigid_part_have_nothing_to_lock(ring):
    tree, q, v, _ = ring
    rows = locked_rows(tree, q, "m1_port4", "m1_port5")
    hit = plastic_impact(tree, q, v, rows)
    assert not np.any(rows.J) and np.allclose(hit.v, v, atol=1e-14) and hit.loss < 1e-26
