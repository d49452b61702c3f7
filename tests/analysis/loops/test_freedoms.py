"""Mobility: freedoms that go on and those that do not, redundant rows by name, singular configurations, partitions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kinemorph as km
from kinemorph.algebra.groups import Pose, compose, inverse, translation, turn
from kinemorph.algebra.rotations import rotation
from kinemorph.analysis.loops.close_loops import close_loops
from kinemorph.analysis.loops.mobility import Mobility, mobility
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.model.library.benchmark_linkages import bricard, n_four_bar
from kinemorph.model.robot import Robot
from support.cases.linkage_cases import Plane, linkage, stephenson, watt

ASKEW = Plane((1.0, 2.0, -0.7), (0.3, -0.2, 0.5))
Z = (0.0, 0.0, 1.0)


def plain(robot: Robot) -> Dynamics:
    return km.derive(robot, backend="interpreter")


def holds_together(dynamics: Dynamics, found: Mobility) -> None:
    """What every result keeps: the motions are in the null space, and the independent ones decide the others."""
    J = dynamics.constraint_jacobian(found.q)
    assert np.abs(J @ found.motions).max() < 1e-6
    assert found.motions.shape == (dynamics.robot.nv, found.instantaneous)
    assert found.rank == dynamics.robot.nv - found.instantaneous
    assert set(found.independent) | set(found.dependent) == set(dynamics.robot.v_names)
    assert len(found.independent) == found.dof
    assert sum(map(len, found.redundant.values())) == found.rows - (dynamics.robot.nv - found.dof)
    kept = [name for name in found.dependent]
    columns = [dynamics.robot.v_names.index(name) for name in kept]
    assert np.linalg.matrix_rank(J[:, columns], tol=1e-8) == len(columns)


# ── planar ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_four_bar_in_words() -> None:
    dynamics = plain(km.library.four_bar())
    found = mobility(dynamics)
    holds_together(dynamics, found)
    assert (found.dof, found.rank, found.rows, found.singular) == (1, 2, 5, False)
    assert "Loop 'closure': 3 of 5 rows redundant: point.z, parallel.x, parallel.y; planar mechanism." in found.message
    assert "1 degree of freedom: 3 of the cut tree minus 2 independent rows (of 5)." in found.message
    assert found.independent == ("q1",) and found.condition < 10.0


@pytest.mark.parametrize("make", [watt, stephenson])
def test_six_bars_askew_in_space(make: object) -> None:
    assert callable(make)
    dynamics = plain(make(ASKEW))
    found = mobility(dynamics)
    holds_together(dynamics, found)
    assert (found.dof, found.rank, found.rows) == (1, 4, 10)
    assert [len(rows) for rows in found.redundant.values()] == [3, 3]


@pytest.mark.parametrize(("name", "dof"), [("slider_crank", 1), ("pantograph_leg", 2)])
def test_linkages_of_the_library(name: str, dof: int) -> None:
    dynamics = plain(km.library.build(name))
    found = mobility(dynamics)
    holds_together(dynamics, found)
    assert found.dof == dof and found.rank == 2 * len(dynamics.robot.loops)


def test_masses_and_units_do_not_enter() -> None:
    light = mobility(plain(km.library.four_bar(masses=(0.5, 1e-9, 0.8))), [0.6, 0.02989836, 1.6066907])
    small = km.library.four_bar(1e-4, (0.3e-4, 0.9e-4, 0.7e-4))
    scaled = mobility(plain(small), [0.6, 0.02989836, 1.6066907])
    assert light.smallest == pytest.approx(scaled.smallest, rel=1e-6) and scaled.dof == 1


# ── singular ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_flat_parallelogram_has_two_motions_of_which_one_goes_on() -> None:
    dynamics = plain(km.library.four_bar(1.0, (0.5, 1.0, 0.5)))
    flat = mobility(dynamics, [0.0, 0.0, 0.0])
    assert flat.singular and flat.instantaneous == 2 and flat.dof == 1
    assert flat.smallest is not None and flat.smallest < 1e-9
    assert "singular: the constraint Jacobian allows 2 motions, of which 1 continue" in flat.message
    assert sorted(len(rows) for rows in flat.redundant.values()) == [3]  # those that repeat everywhere
    raised = mobility(dynamics, [0.7, -0.7, 0.7])
    assert not raised.singular and raised.instantaneous == raised.dof == 1
    assert mobility(dynamics).singular is False  # by itself it looks elsewhere


def test_a_motion_that_leads_nowhere_is_no_freedom() -> None:
    stretched = mobility(plain(km.library.four_bar(1.0, (0.5, 0.2, 0.3))), [0.0, 0.0, math.pi])
    assert stretched.closed and stretched.singular
    assert stretched.instantaneous == 2 and stretched.dof == 0
    assert "none continues" in stretched.message


def test_at_a_dead_point_only_the_choice_of_who_leads_is_bad() -> None:
    dynamics = plain(km.library.four_bar())
    # crank and coupler in line: the rocker turns back there, which is no singularity of the whole
    angle = math.pi - math.acos((1.0**2 + 0.7**2 - 1.2**2) / (2.0 * 0.7))
    reach = 1.0 + 0.7 * np.exp(1j * angle)
    q = [float(np.angle(reach)), 0.0, angle]
    found = mobility(dynamics, q)
    assert not found.singular and found.dof == 1
    assert abs(found.motions[2, 0]) < 1e-7 < abs(found.motions[0, 0])  # q3 cannot move at first order


# ── in space ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def bennett(short: float, twist: float, long: float, other: float) -> Robot:
    """A loop of four hinges whose opposite links are alike: lengths [m] and twists [rad] of neighboring axes."""
    builder = km.RobotBuilder("bennett")
    steps = [(short, twist), (long, other), (short, twist), (long, other)]
    parent, placement = "world", Pose(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), (0.0, 0.0, 0.0))
    for k, (length, angle) in enumerate(steps[:3]):
        builder.add(km.Body.box(f"b{k}", 1.0, (0.1, 0.1, 0.1)))
        builder.joint(f"q{k}", "revolute", parent, f"b{k}", placement=placement, axis=Z)
        placement = compose(translation((length, 0.0, 0.0)), turn(rotation((1.0, 0.0, 0.0), angle)))
        parent = f"b{k}"
    length, angle = steps[3]
    back = compose(translation((length, 0.0, 0.0)), turn(rotation((1.0, 0.0, 0.0), angle)))
    builder.joint("closure", "revolute", parent, "world", placement=placement, child_placement=inverse(back), axis=Z)
    return builder.build()


def test_bricard_moves_though_counting_says_no() -> None:
    dynamics = plain(bricard().robot)
    found = mobility(dynamics)
    holds_together(dynamics, found)
    assert (found.dof, found.rows, found.rank) == (1, 5, 4) and found.closed
    # on a configuration that is not closed nothing is redundant: only sampling closed ones tells
    J = dynamics.constraint_jacobian(found.q + np.array([0.3, -0.2, 0.1, 0.4, -0.3]))
    assert np.linalg.matrix_rank(J, tol=1e-6) == 5


def test_a_bennett_loop_moves_and_other_lengths_do_not() -> None:
    twist, other = 0.9, 0.5
    long = math.sin(other) / math.sin(twist) * 0.6
    moving = mobility(plain(bennett(0.6, twist, long, other)))
    assert moving.closed and moving.dof == 1 and sum(map(len, moving.redundant.values())) == 3
    stiff = mobility(plain(bennett(0.6, twist, 1.1 * long, other)))
    assert stiff.dof == 0


# ── others ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_open_trees_and_couplings() -> None:
    assert mobility(km.library.double_pendulum()).dof == 2
    builder = km.RobotBuilder("gripper")
    for name in ("left", "right"):
        builder.add(km.Body.box(name, 1.0, (0.1, 0.1, 0.1)))
        builder.joint(f"{name}_slide", "prismatic", "world", name, axis=(1.0, 0.0, 0.0))
    builder.couple("right_slide", "left_slide", multiplier=-1.0, offset=0.5)
    found = mobility(plain(builder.build()))
    assert found.dof == 1 and found.independent == ("left_slide",) and found.redundant == {}


def test_a_triangle_of_bars_is_rigid() -> None:
    robot = linkage(
        "triangle",
        [("a", "world", "first", 0.0), ("b", "world", "second", 1.0)],
        [("closure", "first", "second", 0.8, 0.7)],
        ASKEW,
    )
    found = mobility(plain(robot))
    assert found.closed and found.dof == 0 and not found.singular and "0 degrees of freedom" in found.message


def test_loops_that_contradict_each_other_are_named() -> None:
    robot = linkage(
        "contradiction",
        [("a", "world", "first", 0.0), ("b", "world", "second", 1.0), ("c", "first", "third", 0.5)],
        [("near", "first", "second", 0.8, 0.7), ("far", "third", "world", 0.3, 2.0)],
    )
    found = mobility(plain(robot))
    assert not found.closed and "cannot be closed" in found.message and "'far' by" in found.message
    closed = close_loops(plain(robot), np.zeros(3))
    assert not closed and max(closed.gaps["far"]) > 0.1
    assert closed.message.index("'far'") < closed.message.index("'near'")


def test_many_loops_have_one_freedom() -> None:
    found = mobility(n_four_bar(3))
    assert found.dof == 1 and found.rows == 15 and found.rank == 6


def test_constraints_of_elements_count_with_those_of_loops() -> None:
    robot = km.library.double_pendulum()
    tip = robot.body_names[-1]
    guided = km.System(
        robot, (km.elements.PointOnLine("rail", tip, origin=(0.0, 0.0, -0.6), direction=(1.0, 0.0, 0.0)),)
    )
    found = mobility(guided)
    assert found.closed and found.dof == 1 and found.constraints == {"rail": 2}
    assert len(found.redundant["rail"]) == 1  # the pendulum never leaves its plane
    closed = close_loops(guided, [0.3, 0.4])
    assert closed and closed.gaps["rail"].length < 1e-10
    beyond = km.System(robot, (km.elements.PointOnLine("rail", tip, origin=(0.0, 0.0, 9.0)),))
    missed = close_loops(beyond, [0.3, 0.4])
    assert not missed and "'rail' by" in missed.message


def test_a_blade_takes_a_velocity_and_no_place() -> None:
    builder = km.RobotBuilder("sled")
    builder.add(km.Body.box("sled", 1.0, (0.3, 0.2, 0.1)))
    builder.joint("slide", "planar", "world", "sled")
    found = mobility(km.System(builder.build(), (km.elements.KnifeEdge("blade", "sled"),)), [0.3, 0.1, 0.7])
    assert found.dof == 2 and found.rank == 1 and found.constraints == {"blade": 1}
    np.testing.assert_allclose(found.q, [0.3, 0.1, 0.7])  # every place is allowed


def test_driven_joints_are_no_freedoms() -> None:
    """A rover's differential: the mobility of a robot with a driven joint was an error of an index."""
    assert mobility(km.library.rover().robot).dof == 15
