"""Robots that cost digits, against 40-digit mechanics by the textbook.

An error is measured against the natural scale of its entry (see `world_reference`): what the declared lengths, masses
and speeds would give with all signs at their worst. A tolerance below is a multiple of that.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from hard_robots import hard_robot, hard_state
from kinemorph.deriving import derive
from kinemorph.model.robot import Robot
from world_reference import WorldReference, many, plain

TOLERANCES = {
    "M": 1e-12,
    "bias": 1e-11,
    "gravity": 1e-11,
    "acceleration": 1e-11,
    "position": 1e-14,
    "rotation": 1e-14,
    "Jacobian": 1e-13,
    "C v + g": 1e-11,
    "C + C^T": 1e-11,
    "kinetic": 1e-12,
    "potential": 1e-13,
}


def errors(robot: Robot, seed: int, backend: Any) -> Iterable[tuple[str, float]]:
    """Every error at one state, each in units of its scale."""
    q, v, tau = hard_state(robot, seed)
    dynamics, true = derive(robot, backend=backend), WorldReference(robot, q, v)
    speed = np.abs(v)
    yield "M", worst(dynamics.mass_matrix(q), true.M, true.M_scale)
    yield "bias", worst(dynamics.bias_forces(q, v), true.h, true.h_scale)
    yield "gravity", worst(dynamics.gravity_forces(q), true.g, true.g_scale)
    yield "acceleration", acceleration_error(dynamics.forward_dynamics(q, v, tau), tau, true)
    for name, T in zip(robot.body_names, dynamics.forward_kinematics(q), strict=True):
        at = true.places[name]
        yield "position", worst(T[:3, 3], at.pose[:3, 3], at.way)
        yield "rotation", worst(T[:3, :3], at.pose[:3, :3], 1.0)
    for reference in ("local", "world", "local_world_aligned"):
        J = dynamics.jacobian("tool", reference)(q)  # type: ignore[arg-type]
        expected, scale = true.jacobian("tool", reference)
        yield "Jacobian", worst(J[:3], expected[:3], scale[None, :])
        yield "Jacobian", worst(J[3:], expected[3:], true.turns[None, :])
    C = dynamics.coriolis_matrix(q, v)
    yield "C v + g", worst(C @ v + dynamics.gravity_forces(q), true.h, true.h_scale + true.C_scale @ speed)
    yield "C + C^T", worst(C + C.T, true.Mdot, true.C_scale)
    kinetic, potential = dynamics.energy(q, v)
    yield "kinetic", worst(kinetic, true.kinetic, speed @ true.M_scale @ speed)
    yield "potential", worst(potential, true.potential, float(true.potential_scale))


def worst(x: Any, expected: Any, scale: Any) -> float:
    """max |x - expected| / scale; where the scale is 0 the number must be exact."""
    difference = np.abs(plain(many(x) - expected))
    scale = np.broadcast_to(scale, difference.shape)
    if np.any((scale == 0.0) & (difference != 0.0)) or not np.all(np.isfinite(difference)):
        return float("inf")
    return float(np.max(difference / np.where(scale == 0.0, 1.0, scale), initial=0.0))


def acceleration_error(a: np.ndarray, tau: np.ndarray, true: WorldReference) -> float:
    """|da| over what errors of scale 1 in M, h and tau would do to it, in coordinates where M has a unit diagonal."""
    M, expected = plain(true.M), true.accelerations(tau)
    unit = np.sqrt(np.diag(M))
    scaled = M / np.outer(unit, unit)
    blunt = true.M_scale / np.outer(unit, unit) @ np.abs(unit * plain(expected)) + (true.h_scale + np.abs(tau)) / unit
    reach = np.linalg.norm(np.linalg.inv(scaled), 2) * np.linalg.norm(blunt)
    return float(np.linalg.norm(unit * plain(many(a) - expected)) / reach)


def run(seeds: Iterable[int], record_property: Any) -> None:
    found: dict[str, tuple[float, int]] = {}
    failed = []
    for seed in seeds:
        robot = hard_robot(seed)
        for backend in ("interpreter", "llvm") if seed % 10 == 0 else ("interpreter",):
            for name, value in errors(robot, seed, backend):
                found[name] = max(found.get(name, (0.0, seed)), (value, seed))
                if not value <= TOLERANCES[name]:
                    failed.append(f"seed {seed} ({backend}): {name} {value:.3g}, expected at most {TOLERANCES[name]:g}")
    for name, (value, _) in found.items():
        record_property("figure", ("hard robots", name, value))
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("chunk", range(6))
def test_hard_robots(chunk: int, record_property: Any) -> None:
    run(range(10 * chunk, 10 * chunk + 10), record_property)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(40))
def test_two_thousand_hard_robots(chunk: int, record_property: Any) -> None:
    run(range(50 * chunk, 50 * chunk + 50), record_property)
