"""Local coordinates: laws that hold for every joint kind, against the manifold's own `integrate` and `difference`."""

import numpy as np
import pytest

import kinemorph
from kinemorph.mechanics.trees import charts
from kinemorph.mechanics.trees.motions import ELEMENTARY
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.configuration import difference, integrate, random_configuration
from support.robots.random_robots import random_robot

STEP = 1e-6


def local(tree, base, q):
    """The local coordinates of a configuration."""
    w = np.zeros(tree.nv)
    for link in tree.links:
        at_q, at_v = (slice(at, at + n) for at, n in zip((link.q, link.v), (ELEMENTARY[link.kind][:2]), strict=True))
        w[at_v] = charts.CHARTS[link.kind].local(list(base[at_q]), list(q[at_q]))
    return w


@pytest.mark.parametrize("seed", range(6))
def test_charts_move_as_the_manifold_does(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(seed, most=20)
    tree = resolve(robot)
    base, w, v = random_configuration(robot, rng), 0.4 * rng.normal(size=robot.nv), rng.normal(size=robot.nv)

    def place(w, base=base):
        return np.array(charts.place(tree, list(base), list(w)))

    assert np.allclose(difference(robot, base, place(0 * w)), 0.0, atol=1e-15)
    assert np.allclose(local(tree, base, place(w)), w, atol=1e-14)
    assert np.allclose(charts.local_rate(tree, [0.0] * robot.nv, list(v)), v, atol=0)
    rate = np.array(charts.local_rate(tree, list(w), list(v)))
    seen = difference(robot, place(w - STEP * rate), place(w + STEP * rate)) / (2 * STEP)
    assert np.allclose(seen, v, atol=3e-9)
    carried = charts.carried(tree, list(w), list(v))
    moved = [place(w, integrate(robot, base, sign * STEP * v)) for sign in (-1, 1)]
    assert np.allclose(difference(robot, *moved) / (2 * STEP), carried, atol=3e-9)


def test_quaternions_are_finished_to_length_one_and_only_then():
    builder = kinemorph.RobotBuilder("body").add(kinemorph.Body.box("box", 1.0, (0.1, 0.2, 0.3)))
    robot = builder.joint("free", "free", "world", "box").build()
    tree = resolve(robot)
    base = random_configuration(robot, np.random.default_rng(4))
    w = np.ones(robot.nv)
    finished = np.array(charts.place(tree, list(base), list(w)))
    loose = np.array(charts.place(tree, list(base), list(w), finished=False))
    assert np.linalg.norm(finished[3:7]) == pytest.approx(1.0, abs=1e-15)
    assert np.linalg.norm(loose[3:7]) > 1.1
    assert np.allclose(difference(robot, finished, loose), 0.0, atol=1e-14)
