"""The Lagrangian of a step is that of particles that go straight; steady motions lead where they say and back."""

import numpy as np
import pytest

from kinemorph.mechanics.recursions.kinematics import link_poses
from kinemorph.mechanics.recursions.momentum import kinetic_energy, potential_energy
from kinemorph.mechanics.steps.discrete_action import discrete_action, link_displacements
from kinemorph.mechanics.trees import charts
from kinemorph.mechanics.trees.resolve import resolve
from support.robots.random_robots import KINDS, random_robot, random_states

SEEDS = range(6)


def made(seed):
    robot = random_robot(seed, kinds=KINDS, most=12)
    (q, _), (v, _), _, _ = random_states(robot, seed, 2)
    return resolve(robot), list(q), list(v), list(0.3 * np.random.default_rng(seed).normal(size=robot.nv))


def matrix(pose):
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = pose
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_displacements_are_the_differences_of_poses(seed):
    tree, q, _, w = made(seed)
    ends = link_poses(tree, charts.place(tree, q, w))
    for start, end, (d, E) in zip(link_poses(tree, q), ends, link_displacements(tree, tree.moves(q), w), strict=True):
        between = np.linalg.solve(matrix(start), matrix(end))
        assert np.allclose(between[:3, :3] - np.eye(3), E, atol=1e-13)
        assert np.allclose(between[:3, 3], d, atol=1e-13)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_action_of_a_short_step_is_the_lagrangian(seed):
    tree, q, v, _ = made(seed)
    lagrangian = kinetic_energy(tree, q, v) - potential_energy(tree, q)
    offs = []
    for h in (2e-3, 1e-3):
        half = charts.place(tree, q, charts.steady(tree, [0.5 * h * rate for rate in v]))
        middle = kinetic_energy(tree, half, v) - potential_energy(tree, half)
        offs.append(discrete_action(tree, q, charts.steady(tree, [h * rate for rate in v]), h) / h - middle)
    assert abs(offs[0]) < 1e-3 * (1.0 + abs(lagrangian))
    assert abs(offs[1]) < 0.3 * abs(offs[0]) + 1e-9  # of second order


@pytest.mark.parametrize("seed", SEEDS)
def test_steady_motions_come_back_the_same_way(seed):
    tree, q, v, w = made(seed)
    there = charts.steady(tree, v)
    assert np.allclose(charts.chained(tree, there, charts.steady(tree, [-rate for rate in v])), 0.0, atol=1e-13)
    first = charts.place(tree, charts.place(tree, q, there), w)
    both = charts.place(tree, q, charts.chained(tree, there, w))
    for one, other in zip(link_poses(tree, first), link_poses(tree, both), strict=True):
        assert np.allclose(matrix(one), matrix(other), atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_halfway_is_half_of_the_way(seed):
    tree, _, v, w = made(seed)
    half, rate = charts.halfway(tree, w)
    assert np.allclose(charts.steady(tree, rate), w, atol=1e-13)
    assert np.allclose(charts.local_rate(tree, half, charts.velocity(tree, half, v)), v, atol=1e-13)
    # seen from the end, half-way is at the same place, and the velocity is the opposite one
    back = charts.steady(tree, [-one for one in rate])
    from_end, opposite = charts.halfway(tree, back)
    assert np.allclose(opposite, [-one for one in rate], atol=1e-13)
    assert np.allclose(charts.chained(tree, w, from_end), half, atol=1e-13)


def test_covectors_are_pulled_back_by_the_transpose():
    tree, _, v, w = made(1)
    force = list(np.linspace(1.0, 2.0, tree.nv))
    pulled = charts.pulled_back(tree, lambda rates: charts.carried(tree, w, rates), force)
    assert np.dot(pulled, v) == pytest.approx(np.dot(force, charts.carried(tree, w, v)), rel=1e-13)
