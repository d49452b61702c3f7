"""A simulated Panda with encoder and torque noise and friction: intervals hold the truth, fresh motions follow."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest

from kinemorph.analysis.identification.identify import identify
from kinemorph.analysis.identification.recording import Recording
from kinemorph.analysis.identification.with_parameters import with_parameters
from kinemorph.bench.peers.robots import bench_twin
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.errors import RecordingWarning
from kinemorph.model.robot import Robot

ENCODER = 1e-5  # [rad], the deviation of measured positions: of 18 bits in a turn
TORQUE = np.array([0.5, 0.5, 0.4, 0.4, 0.15, 0.15, 0.1])  # [N m], the deviations of measured torques
FRICTION = {"viscous": 0.8, "coulomb": 0.6, "offset": 0.2}
RATE, PERIOD = 250.0, 20.0  # [Hz], [s]


@cache
def arms() -> tuple[Robot, Dynamics, np.ndarray]:
    """The arm as CAD knows it, the true one with other masses, and its parameters with friction."""
    cad, rng = bench_twin("panda").robot, np.random.default_rng(99)
    names, values = derive(cad).regressor_columns, derive(cad).regressor_parameters
    changed = {}
    for body in {name.rpartition(".")[0] for name in names if name.endswith(".m")}:
        factor = rng.uniform(0.8, 1.25)
        for part in ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"):
            changed[f"{body}.{part}"] = factor * values[names.index(f"{body}.{part}")]
    dynamics = derive(with_parameters(cad, changed).robot)
    theta = dynamics.regressor_parameters.copy()
    for k, name in enumerate(names):
        theta[k] += FRICTION.get(name.rpartition(".")[2], 0.0)
    return cad, dynamics, theta


def moved(seed: int, motion: int) -> tuple[Recording, np.ndarray]:
    """A recording of positions and torques with noise, and the torques without noise; `motion` chooses the series."""
    _, dynamics, theta = arms()
    robot, rng = dynamics.robot, np.random.default_rng(motion)
    t = np.arange(0.0, PERIOD, 1.0 / RATE)
    w = 2.0 * np.pi / PERIOD * np.arange(1, 6)
    sizes, shifts = rng.uniform(0.1, 0.35, size=(robot.nv, 5)), rng.uniform(0.0, 6.3, size=(robot.nv, 5))
    center = 0.5 * (robot.q_lower + robot.q_upper)
    angles = t[:, None, None] * w + shifts
    q = center + (sizes * np.sin(angles)).sum(axis=2)
    v, a = (sizes * w * np.cos(angles)).sum(axis=2), (-sizes * w**2 * np.sin(angles)).sum(axis=2)
    tau = dynamics.regressor(q, v, a) @ theta
    noise = np.random.default_rng(10_000 + seed)
    measured = tau + TORQUE * noise.normal(size=tau.shape)
    return Recording(f"run {seed}", t, q + ENCODER * noise.normal(size=q.shape), tau=measured), tau


def hits(seed: int) -> tuple[np.ndarray, float]:
    """Which intervals of base parameters hold the truth, and the error of a fresh prediction, relative to the noise."""
    cad, dynamics, theta = arms()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordingWarning)
        result = identify(cad, moved(seed, 1)[0])
    true = result.base.combinations @ [theta[dynamics.regressor_columns.index(name)] for name in result.columns]
    low, high = result.base_intervals.T
    fresh, _ = moved(seed + 500, 2)
    residuals = result.predict(fresh).residuals
    relative = np.sqrt(np.mean((residuals / TORQUE) ** 2))
    return (low <= true) & (true <= high), float(relative)


@pytest.mark.slow
def test_intervals_of_a_noisy_panda_hold_the_truth_and_fresh_motions_are_predicted() -> None:
    """95 % intervals of 43 + 21 parameters over 50 seeds; the noise of a fresh motion is all that is left of it."""
    found = [hits(seed) for seed in range(50)]
    assert found[0][0].shape == (64,)
    assert 0.90 <= np.mean([held for held, _ in found]) <= 0.99
    assert max(relative for _, relative in found) < 1.1
