"""Intervals of other forms hold the truth: a hexapod by the forces at its feet alone, and a leg with closed chains."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph.analysis.identification.identify import identify
from kinemorph.analysis.identification.random_motions import random_motions
from kinemorph.analysis.identification.recording import Recording
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.errors import RecordingWarning
from kinemorph.model import library
from kinemorph.model.robot import Robot
from kinemorph.model.system import as_robot

SEEDS = range(50)


def drawn(robot: Robot) -> Robot:
    """The robot with the masses of its drawings, which are up to 20 % wrong."""
    rng = np.random.default_rng(5)
    return replace(robot, bodies=tuple(replace(one, mass=rng.uniform(0.8, 1.2) * one.mass) for one in robot.bodies))


def held(dynamics: Dynamics, cad: Robot, data: Recording, theta: np.ndarray, **options: Any) -> np.ndarray:
    """Which intervals of base parameters hold the truth."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordingWarning)
        result = identify(cad, data, **options)
    true = result.base.combinations @ [theta[dynamics.regressor_columns.index(name)] for name in result.columns]
    low, high = result.base_intervals.T
    found: np.ndarray = (low <= true) & (true <= high)
    return found


@pytest.mark.slow
def test_a_hexapod_by_the_forces_at_its_feet() -> None:
    """The sum of the outside wrenches shows all 136 base parameters; no torque of a joint is measured."""
    robot = as_robot(library.hexapod24())
    dynamics = derive(robot)
    free = next(joint.name for joint in robot.joints if joint.kind == "free")
    motions = random_motions(dynamics, 1500 * robot.nv, np.random.default_rng(1))
    part = robot.v_slice(free)
    exact = dynamics.inverse_dynamics(motions.q, motions.v, motions.a)[:, part]
    found = []
    for seed in SEEDS:
        noise = np.random.default_rng(100 + seed).normal(size=exact.shape) * [2.0, 2.0, 2.0, 0.2, 0.2, 0.2]
        t = 0.01 * np.arange(len(exact))
        data = Recording("feet", t, motions.q, motions.v, motions.a, wrenches={free: exact + noise})
        found.append(held(dynamics, drawn(robot), data, dynamics.regressor_parameters, form="wrenches", friction=()))
    assert found[0].shape == (10 + 7 * 18,)
    assert 0.90 <= np.mean(found) <= 0.99


@pytest.mark.slow
def test_a_leg_with_closed_chains() -> None:
    """Torques along the independent velocities of a pantograph leg show its base parameters and its friction."""
    robot = as_robot(library.pantograph_leg())
    dynamics = derive(robot)
    motions = random_motions(dynamics, 3000, np.random.default_rng(2))
    theta = dynamics.regressor_parameters.copy()
    reduction = dynamics.reduced()
    for name in reduction.independent:
        theta[dynamics.regressor_columns.index(f"{name}.viscous")] += 0.3
    exact = dynamics.regressor(motions.q, motions.v, motions.a) @ theta
    found = []
    for seed in SEEDS:
        noise = 0.02 * np.abs(exact).mean(axis=0) * np.random.default_rng(seed).normal(size=exact.shape)
        data = Recording("leg", 0.01 * np.arange(len(exact)), motions.q, motions.v, motions.a, exact + noise)
        found.append(held(dynamics, drawn(robot), data, theta, friction=("viscous",)))
    assert 0.90 <= np.mean(found) <= 0.99
