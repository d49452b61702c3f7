"""Base parameters: their numbers are known from the literature, and with them the forces are the same (002-12).

The numbers of inertial base parameters of these robots: Gautier & Khalil 1990 for the Puma; 10 + 7 for each hinge + 4
for each slide of a free tree (Ayusawa, Venture & Nakamura 2014).
"""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.analysis.identification.base_parameters import base_parameters
from kinemorph.analysis.identification.shifted_masses import shifted_masses
from kinemorph.bench.peers.robots import bench_twin
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model import library
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import neutral, random_configuration
from kinemorph.model.robot import Robot
from support.robots.random_robots import random_robot


def forces_off(robot: Robot) -> float:
    """How far Y[:, independent] (combinations theta) is from Y theta, relative, for random theta, at new states."""
    dynamics = derive(robot)
    base = base_parameters(dynamics)
    n, rng = len(base.columns), np.random.default_rng(17)
    worst = 0.0
    for _ in range(5):
        theta = rng.normal(size=n)
        q = random_configuration(robot, rng)
        Y = dynamics.regressor(q, *rng.normal(size=(2, robot.nv)))[:, :n]
        tau = Y @ theta
        worst = max(
            worst, float(np.abs(Y[:, base.independent] @ (base.combinations @ theta) - tau).max() / np.abs(tau).max())
        )
    return worst


def planar_arm(gravity: tuple[float, float, float]) -> Robot:
    builder = RobotBuilder("planar", gravity=gravity)
    for name, length in (("upper", 0.4), ("fore", 0.3)):
        builder.add(Body.rod(name, 1.0, length, center=(0.5 * length, 0.01, 0.02), axis="x", radius=0.02))
    builder.joint("shoulder", "revolute", "world", "upper")
    return builder.joint("elbow", "revolute", "upper", "fore", translation=(0.4, 0.0, 0.0)).build()


@pytest.mark.parametrize(
    ("robot", "count"),
    [
        (library.pendulum(), 3),
        (planar_arm((0.0, -9.81, 0.0)), 6),
        (planar_arm((0.0, 0.0, 0.0)), 4),
        (library.scara(), 8),
        (library.puma(), 36),
        (library.hexapod24(), 10 + 7 * 18),
    ],
    ids=lambda case: case.name if isinstance(case, Robot) else str(case),
)
def test_numbers_of_base_parameters(robot: Robot, count: int) -> None:
    assert len(base_parameters(robot)) == count
    assert forces_off(robot) < 1e-10


@pytest.mark.slow
def test_numbers_of_large_robots() -> None:
    assert len(base_parameters(library.hexapod36())) == 220
    assert len(base_parameters(bench_twin("panda").robot)) == 43
    assert forces_off(bench_twin("panda").robot) < 1e-10


@pytest.mark.parametrize("seed", range(3))
def test_free_trees_of_hinges_and_slides(seed: int) -> None:
    """Every hinge adds 7 and every slide 4 to the 10 of the base, whatever the geometry."""
    rng = np.random.default_rng(seed)
    builder = RobotBuilder("tree").add(Body.box("b0", 2.0, (0.3, 0.2, 0.1))).root("b0", "free")
    kinds = rng.choice(["revolute", "prismatic"], size=6)
    for k, kind in enumerate(kinds, 1):
        builder.add(Body.box(f"b{k}", 1.0, (0.1, 0.2, 0.3)))
        parent = f"b{rng.integers(k)}"
        builder.joint(
            f"j{k}", str(kind), parent, f"b{k}", axis=rng.normal(size=3), normalize=True, translation=rng.normal(size=3)
        )
    robot = builder.build()
    assert len(base_parameters(robot)) == 10 + sum(7 if kind == "revolute" else 4 for kind in kinds)
    assert forces_off(robot) < 1e-9


def test_combinations_of_the_planar_arm() -> None:
    """The textbook's: mass of the forearm counts with the upper arm at the elbow."""
    base = base_parameters(planar_arm((0.0, -9.81, 0.0)))
    assert set(base.names) == {
        "upper.hx + 0.4 fore.m",
        "upper.hy",
        "upper.Izz + 0.16 fore.m",
        "fore.hx",
        "fore.hy",
        "fore.Izz",
    }
    assert {"upper.m", "fore.Ixx", "upper.hz"} <= set(base.unseen) and "fore.m" not in base.unseen
    assert str(base).splitlines()[0] == "'planar': 6 base parameters of 20 inertial parameters"


@pytest.mark.parametrize("seed", [0, 5, 7, 31])
def test_shifted_masses_change_no_force(seed: int) -> None:
    """Every direction of the rules, for all kinds of joints and welded bodies, is in the null space of Y."""
    robot = random_robot(seed, most=12)
    dynamics = derive(robot, backend="interpreter")
    bodies = [name[:-2] for name in dynamics.regressor_columns if name.endswith(".m")]
    rows = shifted_masses(resolve(robot), neutral(robot), bodies)
    rng = np.random.default_rng(seed)
    Y = dynamics.regressor(random_configuration(robot, rng), *rng.normal(size=(2, robot.nv)))[:, : 10 * len(bodies)]
    assert len(rows) and np.abs(Y @ rows.T).max() < 1e-11 * np.abs(Y).max() * max(1.0, np.abs(rows).max())


def test_loops_are_refused_with_a_sentence() -> None:
    with pytest.raises(UnsupportedError, match=r"closed chains or coupled joints.*Cut the loops"):
        base_parameters(library.four_bar())
