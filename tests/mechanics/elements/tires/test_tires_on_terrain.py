"""Tires on every ground: slopes, height functions and height maps (SEEDS 001-10, there on flat ground only)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, elements, simulate
from kinemorph.algebra.scalar import exp, sin
from kinemorph.errors import ModelError
from kinemorph.mechanics.elements.contact.grounds import surface
from kinemorph.mechanics.elements.contact.rim_grounds import rim_meeting
from kinemorph.model.robot import Robot
from kinemorph.plants import plant
from support.cases.element_laws import Instant

TIRE = elements.Tire(
    "tire", "wheel", 0.5, 1e4, 2500.0, 2e4, 2e4, 2e3, damping=100.0, crown=0.1, slow=0.1, center=(0.01, 0.02, 0.0)
)
TILT = 0.2  # [rad], about y
SLOPE = elements.Plane((0.0, 0.0, 0.3), (math.sin(TILT), 0.0, math.cos(TILT)))
WAVES = elements.HeightFunction(lambda x, y: 0.08 * sin(1.3 * x + 0.4) + 0.05 * sin(0.9 * y - x))
GRID = np.linspace(-4.0, 4.0, 81)
WAVY = elements.HeightMap(
    0.08 * np.sin(1.3 * GRID[:, None] + 0.4) + 0.05 * np.sin(0.9 * GRID[None, :] - GRID[:, None]),
    (0.1, 0.1),
    (-4.0, -4.0),
)


def wheel(gravity: Any = (0.0, 0.0, -9.81), mass: float = 30.0) -> Robot:
    builder = RobotBuilder("wheel", gravity=gravity)
    builder.add(Body.cylinder("wheel", mass, 0.5, 0.2, axis="y"))
    builder.joint("root", "free", "world", "wheel")
    return builder.build()


def turned(v: Any, angle: float = TILT) -> np.ndarray:
    """A vector (..., 3), turned about y."""
    c, s = math.cos(angle), math.sin(angle)
    return np.asarray(v) @ np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]).T


def lean(tilt: float, yaw: float) -> np.ndarray:
    """The quaternion of a wheel that leans by `tilt` [rad] and then turns by `yaw` [rad]."""
    a, b, c, s = math.cos(tilt / 2), math.sin(tilt / 2), math.cos(yaw / 2), math.sin(yaw / 2)
    return np.array([c * a, c * b, s * b, s * a])


@pytest.mark.parametrize(
    "steps",
    [pytest.param({"method": "extrapolated_contact"}, marks=pytest.mark.slow), {"rtol": 1e-12, "atol": 1e-13}],
    ids=["ends", "adaptive"],
)
def test_a_slope_is_level_ground_with_gravity_tilted(steps: dict[str, Any]) -> None:
    """A wheel rolls and drifts on a slope as it does on level ground where gravity points aside."""
    q, v = np.array([0.1, -0.2, 0.49, *lean(0.1, 0.3)]), np.array([2.0, 0.1, 0.0, 0.0, 4.0, 0.2])
    level = simulate(System(wheel(turned((0.0, 0.0, -9.81), -TILT)), (TIRE,)), 0.5, q=q, v=v, **steps)
    a, b = math.cos(TILT / 2), math.sin(TILT / 2)
    w, x, y, z = q[3:]
    start = [*np.add(turned(q[:3]), (0.0, 0.0, 0.3)), a * w - b * y, a * x + b * z, a * y + b * w, a * z - b * x]
    sloped = simulate(System(wheel(), (replace(TIRE, ground=SLOPE),)), 0.5, q=start, v=v, **steps)
    assert np.abs(sloped.q[:, :3] - turned(level.q[:, :3]) - [0.0, 0.0, 0.3]).max() < 1e-10
    assert np.abs(sloped.v - level.v).max() < 1e-9  # of the frame's own axes
    for signal in ("load", "longitudinal", "lateral", "aligning"):
        assert np.abs(sloped[f"tire.{signal}"] - level[f"tire.{signal}"]).max() < 1e-7
    assert np.ptp(level["tire.load"]) > 1.0


@pytest.mark.slow
def test_terrain_that_is_a_plane_is_the_plane() -> None:
    """Heights on a grid, and a function: the same motion as on the plane itself."""
    slope = math.tan(TILT)
    flat = [
        elements.HeightMap(0.3 - slope * GRID[:, None] + 0.0 * GRID, (0.1, 0.1), (-4.0, -4.0)),
        elements.HeightFunction(lambda x, y: 0.3 - slope * x),
    ]
    q, v = [0.1, -0.2, 0.82, *lean(0.1, 0.3)], [1.0, 0.1, 0.0, 0.0, 2.0, 0.2]
    runs = [
        simulate(System(wheel(), (replace(TIRE, ground=ground),)), 0.3, q=q, v=v, step=1e-3)
        for ground in (SLOPE, *flat)
    ]
    assert np.abs(runs[0]["tire.load"]).max() > 10.0
    for run in runs[1:]:
        assert np.abs(run.q - runs[0].q).max() < 1e-10 and np.abs(run.v - runs[0].v).max() < 1e-9


def test_the_deepest_point_of_a_rim_is_found() -> None:
    """Against all points of the rim; the sphere around a point of the rim touches the ground there."""
    rng = np.random.default_rng(7)
    for ground in (WAVES, WAVY):
        over = surface(ground)
        for _ in range(6):
            x, y = rng.uniform(-2.0, 2.0, size=2)
            center = (x, y, 0.08 * np.sin(1.3 * x + 0.4) + 0.05 * np.sin(0.9 * y - x) + 0.4)
            axle = np.array([rng.normal(), rng.normal(), 0.2 * rng.normal()])
            axle /= np.linalg.norm(axle)
            way, height, normal = rim_meeting(ground, center, tuple(axle), 0.4)
            assert np.allclose([np.linalg.norm(way), np.linalg.norm(normal)], 1.0, atol=1e-12)
            assert abs(np.dot(way, axle)) < 1e-12 and abs(np.dot(np.cross(axle, way), normal)) < 1e-10
            first = np.cross(axle, (0.0, 0.0, 1.0))
            first /= np.linalg.norm(first)
            second = np.cross(axle, first)
            angles = np.linspace(-1.5, 1.5, 101) + math.pi / 2
            rim = np.asarray(center)[:, None] + 0.4 * (
                np.outer(first, np.cos(angles)) + np.outer(second, np.sin(angles))
            )
            lowest = over([*rim], 1.0).height.min()
            assert height <= lowest + 1e-12 and height > lowest - 1e-3


@pytest.mark.parametrize("ground", [SLOPE, WAVES, WAVY], ids=["slope", "function", "map"])
def test_power_is_accounted_for_on_every_ground(ground: Any) -> None:
    """The force at the deepest point of a wheel that leans works as the stored energy changes."""
    rng = np.random.default_rng(3)
    instant, over = Instant(wheel(), [replace(TIRE, ground=ground)]), surface(ground)
    for k in range(4):
        x, y = rng.uniform(-1.0, 1.0, size=2)
        z = -float(over((x, y, 0.0), 1.0).height) + 0.45
        q = np.array([x, y, z, *lean(0.2 * rng.normal(), rng.normal())])
        v = rng.normal(size=6) * [1.0, 0.2, 0.5, 0.3, 4.0, 0.3]
        gap, scale = instant.power_gap(0.0, q, v)
        assert abs(gap) <= 1e-9 * scale and np.abs(instant.forces(0.0, q, v)).max() > 10.0
        if k == 0:
            exact = instant.slopes(0.0, q, v)
            assert np.abs(exact - instant.differences(0.0, q, v)).max() <= 1e-5 * np.abs(exact).max()


@pytest.mark.parametrize("ground", [SLOPE, WAVY, WAVES], ids=["slope", "map", "function"])
def test_a_braked_wheel_at_rest_makes_no_energy(ground: Any) -> None:
    """Mechanical energy falls from step to step on slopes and hills, down to the creep of a standing tire.

    A wheel at rest that leans was pushed aside by its camber, and could creep uphill.
    """
    z = -float(surface(ground)((0.5, 0.1, 0.0), 1.0).height) + 0.49
    system = System(wheel(), (replace(TIRE, ground=ground, slow=1e-3, damping=2000.0),))
    fixed = ["root.wx", "root.wy", "root.wz"]
    run = simulate(system, 2.0, q=[0.5, 0.1, z, 1.0, 0.0, 0.0, 0.0], locked=fixed)
    assert run.outcome.ok
    stored = run["energy.kinetic"] + run["energy.potential"]
    assert np.diff(stored).max() <= 0.0
    assert np.abs(run.v[-1]).max() < 1e-4  # slow * (slope of the ground) * load / longitudinal
    assert run["tire.load"][-1] == pytest.approx(30.0 * 9.81, rel=0.1)


def test_a_wheel_rolls_over_a_bump_and_keeps_its_energy() -> None:
    """A wheel without damping rolls over a bump of half its radius; what is not dissipated by slip is kept."""
    bump = elements.HeightFunction(lambda x, y: 0.25 * exp(-2.0 * x * x))
    system = System(
        wheel(), (replace(TIRE, ground=bump, damping=0.0, camber=0.0, stiffness=2e5, center=(0.0, 0.0, 0.0)),)
    )
    run = simulate(system, 3.0, q=[-2.5, 0.0, 0.4985, 1.0, 0.0, 0.0, 0.0], v=[2.5, 0.0, 0.0, 0.0, 5.0, 0.0], rtol=1e-9)
    assert run.q[-1, 0] > 2.5 and run.q[:, 2].max() > 0.73
    assert np.abs(run["energy.balance"]).max() < 1e-6 * run["energy.kinetic"].max()
    assert np.linalg.norm(run.v[-1, :3]) == pytest.approx(2.5, rel=0.01)


def test_a_ground_that_is_none_is_named() -> None:
    with pytest.raises(ModelError, match=r"ground is 'floor'; expected one of Plane"):
        plant(System(wheel(), (replace(TIRE, ground="floor"),)))
