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
from kinemorph.deriving.parameter_functions import moving_bodies
from kinemorph.model import library
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.robot import Robot
from support.peers.pinocchio_peer import PinocchioPeer
from support.peers.regressor_columns import from_pinocchio, off, without_friction
from support.robots.random_robots import KINDS, random_robot, random_states, robot_of_kind


def error(robot: Robot, seed: int) -> float:
    """max|Y theta - ID| / max|ID| at three random states."""
    dynamics = derive(robot, backend="interpreter")
    q, v, a, _ = random_states(robot, seed, 3)
    Y = dynamics.regressor(q, v, a)
    assert Y.shape == (3, robot.nv, len(dynamics.regressor_columns))
    return off(Y @ without_friction(dynamics), dynamics.inverse_dynamics(q, v, a))


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


@pytest.mark.parametrize("seed", [5, 7, 31, 33])
def test_columns_are_those_of_pinocchio(seed: int) -> None:
    robot = random_robot(seed, most=12)
    peer, dynamics = PinocchioPeer(robot), derive(robot, backend="interpreter")
    q, v, a, _ = (part[0] for part in random_states(robot, seed, 1))
    state = peer.configuration(q), v[peer.order], a[peer.order]
    theirs = peer._ours(pin.computeJointTorqueRegressor(peer.model, peer.data, *state).T.copy()).T
    want = from_pinocchio(peer, dynamics, theirs)
    Y = dynamics.regressor(q, v, a)[:, : want.shape[1]]
    assert off(Y, want) < 1e-11 and Y.shape[1] == 10 * len(moving_bodies(robot)) > 20


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


def test_friction_that_joints_declare() -> None:
    """Y theta is inverse dynamics, and the friction that the joints declare besides."""
    builder = RobotBuilder("rubbing").add(Body.rod("arm", 1.0, 0.5, center=(0.0, 0.0, 0.25)))
    robot = builder.joint(
        "elbow", "revolute", "world", "arm", axis=(0, 1, 0), damping=0.3, friction=0.2, armature=0.05
    ).build()
    dynamics = derive(robot)
    q, v, a, _ = random_states(robot, 4, 5)
    rubbing = 0.3 * v + 0.2 * np.sign(v)
    tau = dynamics.regressor(q, v, a) @ dynamics.regressor_parameters
    assert off(tau - rubbing, dynamics.inverse_dynamics(q, v, a)) < 1e-12


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
