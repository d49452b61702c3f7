"""Inverse kinematics with loops: targets are met with loops closed; loops are closed also where targets are missed."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import kinemorph as km
from kinemorph.analysis.loops.close_loops import follow_loops
from kinemorph.analysis.loops.inverse_kinematics import inverse_kinematics
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.model.library.benchmark_linkages import bricard


@pytest.fixture(scope="module")
def five_bar() -> Dynamics:
    return km.derive(km.library.build("five_bar"), backend="interpreter")


def test_a_five_bar_puts_its_tip_where_it_is_wanted(five_bar: Dynamics) -> None:
    rng = np.random.default_rng(2)
    tip = five_bar.pose("tip")(np.zeros(4))[:3, 3]
    for _ in range(2):
        goal = tip + np.array([1.0, 0.0, 1.0]) * rng.uniform(-0.08, 0.08, 3)
        found = inverse_kinematics(five_bar, {"tip": goal})
        assert found and max(map(max, found.gaps.values())) < 1e-10
        np.testing.assert_allclose(five_bar.pose("tip")(found.q)[:3, 3], goal, atol=1e-10)
        assert np.abs(five_bar.constraint_error(found.q)).max() < 1e-10


def test_out_of_reach_the_loops_stay_closed(five_bar: Dynamics) -> None:
    far = np.array([0.0, 0.0, -3.0])
    found = inverse_kinematics(five_bar, {"tip": far}, restarts=3)
    assert not found and "target 'tip' is not reached" in found.message
    assert np.abs(five_bar.constraint_error(found.q)).max() < 1e-10
    # the nearest: no way along the freedoms leads nearer
    J = five_bar.jacobian("tip", "local_world_aligned")(found.q)[:3]
    motions = np.linalg.svd(five_bar.constraint_jacobian(found.q))[2][2:].T
    toward = far - five_bar.pose("tip")(found.q)[:3, 3]
    assert np.abs(toward @ J @ motions).max() < 1e-4 * np.linalg.norm(toward)


def test_a_linkage_reaches_only_its_own_path() -> None:
    jansen = km.derive(km.library.build("jansen"), backend="interpreter")
    lead = jansen.robot.joints[0].name
    goal = np.zeros(7)
    goal[0] = 0.7
    there = follow_loops(jansen, np.zeros(7), goal, held=lead)
    foot = jansen.pose("foot")(there.q)[:3, 3]
    found = inverse_kinematics(jansen, {"foot": foot})
    assert found and np.abs(jansen.pose("foot")(found.q)[:3, 3] - foot).max() < 1e-10
    missed = inverse_kinematics(jansen, {"foot": foot + np.array([0.0, 0.0, 0.03])}, restarts=0)
    assert not missed and missed.errors["foot"].position < 0.03 + 1e-9


def test_limits_hold_in_loops(five_bar: Dynamics) -> None:
    robot = five_bar.robot
    joints = tuple(dataclasses.replace(joint, lower=(-0.05,), upper=(0.05,)) for joint in robot.joints)
    limited = km.derive(dataclasses.replace(robot, joints=joints), backend="interpreter")
    tip = five_bar.pose("tip")(np.zeros(4))[:3, 3]
    found = inverse_kinematics(limited, {"tip": tip + np.array([0.15, 0.0, 0.1])}, restarts=3)
    assert not found and np.abs(found.q).max() <= 0.05


def test_loops_that_cannot_close_are_the_reason() -> None:
    robot = km.library.four_bar(3.0)
    found = inverse_kinematics(robot, {"coupler": [0.3, 0.0, 0.0]})
    assert not found and found.message.startswith("the loops cannot be closed") and "'closure' by" in found.message
    assert found.gaps["closure"].length > 1.0


def test_a_loop_in_space() -> None:
    dynamics = km.derive(bricard().robot, backend="interpreter")
    body = dynamics.robot.body_names[2]
    closed = km.loops.close_loops(dynamics, np.full(dynamics.robot.nq, 0.5)).q
    goal = dynamics.pose(body)(closed)
    found = inverse_kinematics(dynamics, {body: goal}, tolerance=1e-9)
    assert found and np.abs(dynamics.pose(body)(found.q) - goal).max() < 1e-8
