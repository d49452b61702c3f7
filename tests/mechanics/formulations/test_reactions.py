"""Joint reactions: free bodies balance, projections give tau, and other libraries agree."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.deriving.dynamics import derive
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import joint_twist
from support.references.free_bodies import balance_gap
from support.robots.random_robots import KINDS, random_robot, random_states, robot_of_kind

SEEDS = (0, 2, 5, 7, 11, 14)  # every joint kind, fixed ones too


@pytest.mark.parametrize("seed", SEEDS)
def test_every_body_of_a_random_tree_balances(seed: int, record_property: pytest.FixtureRequest) -> None:
    robot = random_robot(seed, most=14)
    q, v, a, _ = (rows[0] for rows in random_states(robot, seed, 1))
    gap = balance_gap(robot, q, v, a)
    record_property("figure", ("joint reactions", "balance of a body", gap))
    assert gap < 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_joint_balances_and_its_axes_feel_tau(kind: str) -> None:
    robot = robot_of_kind(kind, chained=True)
    q, v, a, _ = (rows[0] for rows in random_states(robot, 3, 1))
    dynamics = derive(robot, backend="interpreter")
    assert balance_gap(robot, q, v, a) < 1e-12
    wrenches, tau = dynamics.joint_wrenches(q, v, a), dynamics.inverse_dynamics(q, v, a)
    for joint, wrench in zip(robot.joints, wrenches, strict=True):
        at_q, at_v = q[robot.q_slice(joint.name)], robot.v_slice(joint.name)
        for k in range(joint.nv):
            unit = [float(i == k) for i in range(joint.nv)]
            along = np.dot(joint_twist(joint, at_q, unit), wrench) + joint.armature[k] * a[at_v][k]
            assert along == pytest.approx(tau[at_v][k], rel=1e-12, abs=1e-11)


def test_a_weight_hangs_on_its_hinge_and_on_a_welded_plate() -> None:
    """A hinge about x with a 2 kg mass 0.5 m below it; a 1 kg plate is fixed to the mass 0.1 m to the side."""
    builder = RobotBuilder("hanging").add(Body("mass", 2.0, (0.0, 0.0, -0.5)), Body("plate", 1.0))
    builder.joint("hinge", "revolute", "world", "mass", axis=(1.0, 0.0, 0.0))
    builder.joint("weld", "fixed", "mass", "plate", translation=(0.0, 0.1, -0.5))
    dynamics = derive(builder.build(), backend="interpreter")
    hinge, weld = dynamics.joint_wrenches([0.0], [0.0], [0.0])
    np.testing.assert_allclose(hinge, [0, 0, 3 * 9.81, 1 * 9.81 * 0.1, 0, 0], atol=1e-13)
    np.testing.assert_allclose(weld, [0, 0, 9.81, 0, 0, 0], atol=1e-13)


@pytest.mark.parametrize("seed", [2, 11])
def test_pinocchio_has_the_same_wrenches_through_joints(seed: int) -> None:
    pytest.importorskip("pinocchio")
    from support.peers.pinocchio_peer import PinocchioPeer

    robot = random_robot(seed, most=14)
    q, v, a, _ = (rows[0] for rows in random_states(robot, seed, 1))
    peer = PinocchioPeer(robot)
    peer.inverse_dynamics(q, v, a)
    compared = 0
    for joint, wrench in zip(robot.joints, derive(robot, backend="interpreter").joint_wrenches(q, v, a), strict=True):
        if joint.nv:  # Pinocchio merges bodies that are fixed to each other
            index = peer.model.getJointId(f"{joint.name}.{len(joint.table.primitives) - 1}")
            np.testing.assert_allclose(peer.data.f[index].vector, wrench, rtol=1e-11, atol=1e-10)
            compared += 1
    assert compared > 3
