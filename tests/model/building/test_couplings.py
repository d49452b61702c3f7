"""Coupled joints: a leader may only go where all that follow it may."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.groups import IDENTITY
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import random_configuration
from kinemorph.model.couplings import coupled_limits, followers
from kinemorph.model.parameter import Parameter

INF = math.inf


def finger(*limits: tuple[Any, Any]) -> RobotBuilder:
    """A chain of hinges j0, j1, ... with these limits [rad]."""
    builder, parent = RobotBuilder("finger"), "world"
    for i, (lower, upper) in enumerate(limits):
        builder.add(Body.box(f"b{i}", 1.0, (0.1, 0.2, 0.3), (0.0, 0.0, 0.5)))
        builder.joint(f"j{i}", "revolute", parent, f"b{i}", placement=IDENTITY, lower=lower, upper=upper)
        parent = f"b{i}"
    return builder


CASES = {
    "one follower": (finger((None, None), (0.5, 0.6)).couple("j1", "j0", -2.0, 0.1), (-0.25, -0.2)),
    "both limited": (finger((-0.22, 1.0), (0.5, 0.6)).couple("j1", "j0", -2.0, 0.1), (-0.22, -0.2)),
    "one side": (finger((0.0, None), (None, 3.0)).couple("j1", "j0", 0.5), (0.0, 6.0)),
    "one side, turned": (finger((None, None), (None, 3.0)).couple("j1", "j0", -0.5), (-6.0, INF)),
    "a chain": (finger((None, None), (0.5, 0.6), (None, None)).couple("j2", "j0").couple("j1", "j2", 2.0), (0.25, 0.3)),
    "two followers": (finger((-9, 9), (0, 4), (-5, 1)).couple("j1", "j0", 2.0).couple("j2", "j0", -1.0), (0.0, 2.0)),
    "standing still": (finger((-1, 1), (0.5, 0.6)).couple("j1", "j0", 0.0, 0.55), (-1.0, 1.0)),
    "one point, rounded": (finger((0.1, 0.1), (0.3, 0.3)).couple("j1", "j0", 3.0), (0.1, 0.1)),
    "a parameter": (finger((None, None), (0.5, 0.6)).couple("j1", "j0", Parameter("k", 0.5)), (1.0, 1.2)),
}


@pytest.mark.parametrize("case", CASES)
def test_leaders_are_bound_by_their_followers(case: str) -> None:
    builder, expected = CASES[case]
    robot = builder.build()
    lower, upper = coupled_limits(robot)
    assert (lower[0], upper[0]) == pytest.approx(expected, abs=1e-15)
    assert np.all(lower <= upper)
    assert np.array_equal(lower[1:], robot.q_lower[1:]) and np.array_equal(upper[1:], robot.q_upper[1:])


@pytest.mark.parametrize("case", CASES)
def test_every_draw_is_inside_all_limits(case: str) -> None:
    robot, rng = CASES[case][0].build(), np.random.default_rng(3)
    links = followers(robot.couplings)
    for q in (random_configuration(robot, rng) for _ in range(200)):
        assert np.all(q >= robot.q_lower - 1e-15) and np.all(q <= robot.q_upper + 1e-15)
        for joint, (leader, multiplier, offset) in links.items():
            lead = q[robot.q_slice(leader)]
            assert q[robot.q_slice(joint)] == pytest.approx(multiplier * lead + offset, abs=1e-15)


def test_a_chain_of_followers_is_resolved_to_its_first_leader() -> None:
    robot = finger(*[(None, None)] * 3).couple("j2", "j1", 2.0, 1.0).couple("j1", "j0", -3.0, 0.5).build()
    assert followers(robot.couplings) == {"j2": ("j0", -6.0, 2.0), "j1": ("j0", -3.0, 0.5)}


@pytest.mark.parametrize(
    ("builder", "words"),
    [
        (finger((0, 1), (-5, -4)).couple("j1", "j0"), ["'j1'", "[-5, -4]", "'j0'", "[0, 1]"]),
        (finger((0, 1), (0.5, 0.6)).couple("j1", "j0", 0.0, 2.0), ["'j1'", "[0.5, 0.6]", "2"]),
        (
            finger((None, None), (0, 1), (2, 3)).couple("j1", "j0").couple("j2", "j0"),
            ["'j2'", "[2, 3]", "'j0'", "[0, 1]"],
        ),
        (
            finger((0, 1), (None, None), (-5, -4)).couple("j1", "j0", 2.0).couple("j2", "j1", 1.0),
            ["'j2'", "[-5, -4]", "'j0'", "[0, 1]"],
        ),
        (finger((0, None), (None, -1)).couple("j1", "j0"), ["'j1'", "[-inf, -1]", "'j0'", "[0, inf]"]),
    ],
)
def test_limits_that_leave_nothing_are_a_problem(builder: RobotBuilder, words: list[str]) -> None:
    (problem,) = builder.problems()
    assert all(word in problem for word in [*words, "expected", "coupling"]), problem


def test_contradictory_limits_and_a_point_on_its_axis_are_found_in_one_go() -> None:
    builder = finger((0, 1), (-5, -4)).couple("j1", "j0").body("tip", 1.0).joint("spin", "revolute", "b1", "tip")
    assert len(builder.problems()) == 2
