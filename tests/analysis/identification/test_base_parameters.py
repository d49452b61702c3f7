"""Base parameters: their numbers are known from the literature, and with them the forces are the same (002-12).

The numbers of inertial base parameters of these robots: Gautier & Khalil 1990 for the Puma; 10 + 7 for each hinge + 4
for each slide of a free tree (Ayusawa, Venture & Nakamura 2014).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.analysis.identification.base_parameters import base_parameters
from kinemorph.analysis.identification.shifted_masses import shifted_masses
from kinemorph.bench.peers.robots import bench_twin
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model import library
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import integrate, neutral, random_configuration
from kinemorph.model.robot import Robot
from kinemorph.model.system import as_robot
from kinemorph.notation import Coordinate
from support.robots.random_robots import random_robot
from support.robots.ur10e import ur10e


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


def planar_arm(gravity: tuple[float, float, float], more: Any = lambda builder: builder) -> Robot:
    builder = RobotBuilder("planar", gravity=gravity)
    for name, length in (("upper", 0.4), ("fore", 0.3)):
        builder.add(Body.rod(name, 1.0, length, center=(0.5 * length, 0.01, 0.02), axis="x", radius=0.02))
    builder.joint("shoulder", "revolute", "world", "upper")
    return more(builder.joint("elbow", "revolute", "upper", "fore", translation=(0.4, 0.0, 0.0))).build()


def follower() -> Robot:
    """A planar arm whose elbow a formula drives: as with a gear of this ratio, which has 5 (`test_coupled_joints`)."""
    builder = RobotBuilder("follower", gravity=(0.0, -9.81, 0.0))
    for name, length in (("upper", 0.4), ("fore", 0.3)):
        builder.add(Body.rod(name, 1.0, length, center=(0.5 * length, 0.01, 0.02), axis="x", radius=0.02))
    builder.joint("shoulder", "revolute", "world", "upper")
    formula = 0.4 - 2.0 * Coordinate("shoulder", 0.0, "rad")
    return builder.joint("elbow", "revolute", "upper", "fore", translation=(0.4, 0.0, 0.0), driven=formula).build()


@pytest.mark.parametrize(
    ("robot", "count"),
    [
        (library.pendulum(), 3),
        (planar_arm((0.0, -9.81, 0.0)), 6),
        (planar_arm((0.0, 0.0, 0.0)), 4),
        (library.scara(), 8),
        (library.puma(), 36),
        (library.hexapod24(), 10 + 7 * 18),
        (follower(), 5),
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
@pytest.mark.slow
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
    assert str(base).startswith("Base parameters of planar\n\nbase parameters       6\ninertial parameters   20\n")


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


def test_ur10e() -> None:
    assert len(base_parameters(ur10e())) == 36


# ── closed chains ─────────────────────────────────────────────────────────────────────────────────────────────────────


def stacked(robot: Robot, count: int) -> Any:
    """rho^T Y at closed states, by the functions of the reduced equations, one below the other.

    The independent joints take `count` steps, which the others follow; near a dead point they turn back.
    """
    dynamics = derive(robot, backend="interpreter")
    reduction, rng = dynamics.reduced(), np.random.default_rng(3)
    free = [robot.v_names.index(name) for name in reduction.independent]
    rest = [robot.v_names.index(name) for name in reduction.dependent]
    q, rows, way, best = reduction.at, [], 0.1, reduction.condition(reduction.at)
    for k in range(count):
        step = np.zeros(robot.nv)
        step[free] = way * np.cos(0.3 * k * np.arange(len(free)))
        there = integrate(robot, q, step)
        for _ in range(6):
            step = np.zeros(robot.nv)
            J = dynamics.constraint_jacobian(there)[:, rest]
            step[rest] = -np.linalg.pinv(J, 1e-9) @ dynamics.constraint_error(there)
            there = integrate(robot, there, step)
        if np.abs(dynamics.constraint_error(there)).max() > 1e-12 or reduction.condition(there) > 50.0 * best:
            way = -way
            continue
        q = there
        rows.append(reduction.reduced_regressor(q, *rng.normal(size=(2, len(free)))))
    return np.concatenate(rows)


def rank(Y: Any) -> int:
    """The number of independent columns: zero columns are left out, and the others are scaled to length 1."""
    sizes = np.linalg.norm(Y, axis=0)
    values = np.linalg.svd((Y / np.maximum(sizes, 1e-300))[:, sizes > 1e-10 * sizes.max()], compute_uv=False)
    gaps = values[:-1] / np.maximum(values[1:], 1e-16)
    assert gaps.max() > 1e8  # a clear gap, beyond which there is rounding
    return int(gaps.argmax()) + 1


@pytest.mark.parametrize("make", [library.four_bar, library.pantograph_leg])
@pytest.mark.slow
def test_closed_chains(make: Any) -> None:
    """The number is the rank of stacked rows, and forces along the motions are those of the base parameters."""
    robot = make()
    base = base_parameters(derive(robot, backend="interpreter"))
    Y = stacked(robot, 60)[:, : len(base.columns)]
    assert len(base) == rank(Y) < len(base.columns) / 3
    theta = np.random.default_rng(1).normal(size=len(base.columns))
    assert np.abs(Y[:, base.independent] @ (base.combinations @ theta) - Y @ theta).max() < 1e-8 * np.abs(Y).max()


@pytest.mark.slow
@pytest.mark.parametrize("make", [library.jansen, library.bricard])
def test_closed_chains_of_many_bodies(make: Any) -> None:
    robot = as_robot(make())
    base = base_parameters(robot)
    assert len(base) == rank(stacked(robot, 200)[:, : len(base.columns)])


@pytest.mark.parametrize(("multiplier", "count"), [(0.0, 3), (-2.0, 5)])
def test_coupled_joints(multiplier: float, count: int) -> None:
    """A planar arm whose elbow is held is one body on a hinge. With an elbow that turns back twice the angle of the
    shoulder, the forearm turns at minus its rate, and the two inertias, which all forces have in common, are one.
    """
    robot = planar_arm((0.0, -9.81, 0.0), lambda builder: builder.couple("elbow", "shoulder", multiplier, 0.4))
    assert len(base_parameters(robot)) == count


def test_loops_that_cannot_close_are_refused_with_a_sentence() -> None:
    robot = library.four_bar()
    with pytest.raises(UnsupportedError, match=r"loops of robot 'four_bar' do not close"):
        base_parameters(
            replace(
                robot, loops=tuple(replace(loop, placement=Pose(IDENTITY.R, (9.0, 0.0, 0.0))) for loop in robot.loops)
            )
        )
