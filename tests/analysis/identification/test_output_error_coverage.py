"""Intervals of `output_error` hold the truth as often as they say: a leg with closed loops, and a motor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kinemorph import Body, Parameter, RobotBuilder, System, library, simulate
from kinemorph.elements import DCMotor, JointFriction
from kinemorph.identification import Fitted, Recording, output_error, with_parameters

SEEDS = 50
pytestmark = pytest.mark.slow


def held(fitted: Fitted, truth: dict[str, float]) -> list[bool]:
    """Whether the intervals of 95 % hold the true values."""
    ends = {name: fitted.interval(name) for name in truth}
    return [ends[name][0] <= value <= ends[name][1] for name, value in truth.items()]


# ── a leg with closed loops ───────────────────────────────────────────────────────────────────────────────────────────

NUTS = ("height_nut_joint", "reach_nut_joint")
ENCODER, FORCE = 2e-5, 0.02  # [m], [N]: noise of nut positions and of their measured forces
OF_NUTS = {
    f"{nut}.{part}": value for nut in NUTS for part, value in (("armature", 0.5), ("viscous", 12.0), ("coulomb", 1.5))
}


def leg() -> System:
    """A pantograph whose nuts are driven by light motors with friction."""
    system = with_parameters(library.build("pantograph_leg"), OF_NUTS)
    return replace(system, elements=(JointFriction("friction", NUTS, smoothing=0.02),))


def walked(system: System, seed: int) -> Recording:
    """Four seconds of the leg under a digital controller, with noise of encoders and forces."""
    rng = np.random.default_rng(seed)
    phase = rng.uniform(0.0, 2.0 * np.pi, (2, 3))
    speed, size = 2.0 * np.pi * np.array([0.5, 1.0, 1.75]), np.array([0.012, 0.006, 0.004])

    def forces(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        wanted = np.sum(size * (np.sin(speed * t + phase) - np.sin(phase) * np.exp(-5.0 * t)), axis=1)
        u = np.zeros(6)
        u[:2] = 800.0 * (wanted - q[:2]) - 15.0 * v[:2] + (12.0, 0.0)
        return u

    run = simulate(system, 4.0, inputs=forces, output_step=0.005, q=dict.fromkeys(NUTS, 0.0))
    u = run.u.copy()
    u[:, :2] += FORCE * rng.normal(size=(len(u), 2))
    q = run.q + ENCODER * rng.normal(size=run.q.shape)
    return Recording(f"walk {seed}", run.t, q, inputs=dict(zip(system.robot.v_names, u.T, strict=True)))


def test_intervals_hold_masses_and_friction_of_a_leg_with_loops() -> None:
    system = leg()
    truth = {"thigh.m": 0.4, "shank.m": 0.4, **OF_NUTS}
    start = {name: 1.1 * value for name, value in truth.items()}
    inside, ratios = [], []
    for seed in range(SEEDS):
        compared = {"measured": [f"q.{nut}" for nut in NUTS], "piece": 0.25, "rtol": 1e-6}
        fitted = output_error(system, walked(system, seed), start, **compared)
        assert fitted.converged, fitted.message
        inside += held(fitted, truth)
        if seed < 5:
            ratios += [value / ENCODER for value in fitted.predict(walked(system, 1000 + seed)).deviations.values()]
    share = float(np.mean(inside))
    print(f"leg: {100.0 * share:.1f} % of {len(inside)} intervals; fresh motions within {max(ratios):.3f} of the noise")
    assert 0.90 <= share <= 0.99
    assert max(ratios) < 1.1


# ── a motor with its transmission ─────────────────────────────────────────────────────────────────────────────────────

ANGLE, CURRENT = 1e-3, 0.02  # [rad], [A]
CONSTANTS = {"R": 1.2, "K": 0.05, "J": 2e-5, "c": 1e-4, "dry": 2e-3}


def motor(values: dict[str, float]) -> System:
    """A pendulum that a motor with a gear of 20 drives."""
    R, K, J, c, dry = (Parameter(name, value) for name, value in values.items())
    bob = Body.point("bob", 0.3, (0.0, 0.0, -0.2))
    robot = RobotBuilder("pendulum").add(bob).joint("pivot", "revolute", "world", "bob", axis=(0.0, 1.0, 0.0)).build()
    drive = DCMotor("motor", "pivot", R, K, inductance=1e-3, inertia=J, ratio=20.0, viscous=c, coulomb=dry, slow=5.0)
    return System(robot, (drive,))


def driven(system: System, seed: int) -> Recording:
    """Four seconds of the motor with noise of its encoder and of the measured current."""
    rng = np.random.default_rng(seed)
    phase = rng.uniform(0.0, 2.0 * np.pi, 3)

    def voltage(t: float) -> list[float]:
        return [
            float(4.0 * np.sin(4.4 * t + phase[0]) + 2.0 * np.sin(15.0 * t + phase[1]) + np.sin(40.0 * t + phase[2]))
        ]

    run = simulate(system, 4.0, inputs=voltage, output_step=0.01)
    q = run.q + ANGLE * rng.normal(size=run.q.shape)
    current = run["motor.current"] + CURRENT * rng.normal(size=len(run.t))
    return Recording("drive", run.t, q, inputs={"motor": run.u[:, 0]}, outputs={"motor.current": current})


def test_intervals_hold_the_constants_of_a_motor() -> None:
    system = motor(CONSTANTS)
    start = {name: 1.3 * value for name, value in CONSTANTS.items()}
    inside, ratios = [], []
    for seed in range(SEEDS):
        fitted = output_error(system, driven(system, seed), start, piece=0.5)
        assert fitted.converged, fitted.message
        inside += held(fitted, CONSTANTS)
        if seed < 5:
            found = fitted.predict(driven(system, 1000 + seed)).deviations
            ratios += [found["q.pivot"] / ANGLE, found["motor.current"] / CURRENT]
    share = float(np.mean(inside))
    print(
        f"motor: {100.0 * share:.1f} % of {len(inside)} intervals; fresh motions within {max(ratios):.3f} of the noise"
    )
    assert 0.90 <= share <= 0.99
    assert max(ratios) < 1.1
