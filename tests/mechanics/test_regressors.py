"""Regressors: tau = Y(q, v, a) theta with the parameters of the user's own bodies and joints (002-12).

Y theta is compared with inverse dynamics, and Y, column by column, with Pinocchio's regressor.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from kinemorph.algebra.groups import Pose
from kinemorph.deriving.dynamics import derive
from kinemorph.model import library
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.robot import Robot
from support.peers.pinocchio_peer import PinocchioPeer
from support.robots.random_robots import KINDS, random_robot, random_states, robot_of_kind

PINOCCHIO = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))  # the order of its moments of inertia
OURS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def off(found: Any, reference: Any) -> float:
    return float(np.abs(found - reference).max() / np.abs(reference).max())


def error(robot: Robot, seed: int) -> float:
    """max|Y theta - ID| / max|ID| at three random states."""
    dynamics = derive(robot, backend="interpreter")
    q, v, a, _ = random_states(robot, seed, 3)
    Y = dynamics.regressor(q, v, a)
    assert Y.shape == (3, robot.nv, len(dynamics.regressor_columns))
    return off(Y @ dynamics.regressor_parameters, dynamics.inverse_dynamics(q, v, a))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_joint(kind: str) -> None:
    assert max(error(robot_of_kind(kind, chained=chained), 3) for chained in (False, True)) < 1e-12


def test_random_trees() -> None:
    assert max(error(random_robot(seed, most=12), seed) for seed in range(25)) < 1e-12


@pytest.mark.slow
def test_many_random_trees() -> None:
    assert max(error(random_robot(seed, most=20), seed) for seed in range(300)) < 1e-12


@pytest.mark.parametrize("make", [library.amru5, library.four_bar])
def test_driven_joints_and_loops(make: Any) -> None:
    """Y of a robot with driven joints gives the forces on its state, that of a robot with loops those of its tree."""
    assert error(make(), 5) < 1e-12


def pseudo_inertia(parameters: Any, order: Any) -> Any:
    """The matrix [[Sigma, h], [h^T, m]], shape (4, 4), of ten parameters."""
    m, h, moments = parameters[0], parameters[1:4], parameters[4:]
    I = np.zeros((3, 3))
    for (i, j), x in zip(order, moments, strict=True):
        I[i, j] = I[j, i] = x
    found = np.empty((4, 4))
    found[:3, :3] = 0.5 * np.trace(I) * np.eye(3) - I
    found[:3, 3] = found[3, :3] = h
    found[3, 3] = m
    return found


def parameters(P: Any, order: Any) -> Any:
    I = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
    return np.array([P[3, 3], *P[:3, 3], *(I[i, j] for i, j in order)])


def seen_from_joint(pose: Any) -> Any:
    """The matrix (10, 10) from the parameters of a body, in our order, to those in the frame of Pinocchio's joint."""
    return np.array([parameters(pose @ pseudo_inertia(unit, OURS) @ pose.T, PINOCCHIO) for unit in np.eye(10)]).T


@pytest.mark.parametrize("seed", [5, 7, 31, 33])
def test_columns_are_those_of_pinocchio(seed: int) -> None:
    robot = random_robot(seed, most=12)
    peer, dynamics = PinocchioPeer(robot), derive(robot, backend="interpreter")
    q, v, a, _ = (part[0] for part in random_states(robot, seed, 1))
    state = peer.configuration(q), v[peer.order], a[peer.order]
    theirs = peer._ours(pin.computeJointTorqueRegressor(peer.model, peer.data, *state).T.copy()).T
    Y, names = dynamics.regressor(q, v, a), list(dynamics.regressor_columns)
    compared = 0
    for body in robot.body_names:
        if f"{body}.m" not in names:
            continue
        index, pose = peer.at[body]
        first = names.index(f"{body}.m")
        want = theirs[:, 10 * (index - 1) : 10 * index] @ seen_from_joint(pose)
        assert off(Y[:, first : first + 10], want) < 1e-11
        compared += 1
    assert compared == len([name for name in names if name.endswith(".m")]) > 2


def test_columns_of_joints() -> None:
    robot = library.double_pendulum()
    dynamics = derive(robot)
    q, v, a, _ = (part[0] for part in random_states(robot, 2, 1))
    v[1] = 0.0
    Y, names = dynamics.regressor(q, v, a), dynamics.regressor_columns
    first, second = robot.v_names
    one, other = np.eye(2)
    for name, want in {
        f"{first}.armature": a[0] * one,
        f"{first}.viscous": v[0] * one,
        f"{first}.coulomb": np.sign(v[0]) * one,
        f"{first}.offset": one,
        f"{second}.coulomb": 0.0 * other,  # at rest
        f"{second}.offset": other,
    }.items():
        assert np.array_equal(Y[:, names.index(name)], want), name


def test_bodies_on_one_link_and_on_the_ground() -> None:
    """A body welded to another has columns of its own; one fixed to the world has none."""
    builder = RobotBuilder("welded").add(Body.box("table", 9.0, (1.0, 1.0, 0.1)))
    builder.add(Body.rod("arm", 1.0, 0.5, center=(0.0, 0.0, 0.25)), Body.sphere("tool", 0.2, 0.03))
    builder.root("table", "fixed").joint("elbow", "revolute", "table", "arm", axis=(0, 1, 0))
    robot = builder.joint(
        "weld", "fixed", "arm", "tool", placement=Pose(((0, -1, 0), (1, 0, 0), (0, 0, 1)), (0.1, 0.0, 0.5))
    ).build()
    dynamics = derive(robot)
    owners = {name.split(".")[0] for name in dynamics.regressor_columns}
    assert owners == {"arm", "tool", "elbow"}
    assert error(robot, 1) < 1e-12


def test_it_is_exported_as_other_functions_are() -> None:
    dynamics = derive(library.pendulum())
    assert "regressor" in dynamics.regressor.source and dynamics.regressor.program.outputs[0].shape == (1, 14)
