"""Tires: the limits of the formulae, power and slopes at instants, a wheel that stands, rolls and brakes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, audit, elements, simulate
from kinemorph.errors import ModelError
from kinemorph.mechanics.elements.forces.tires import ground_forces
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.plants import plant
from support.cases.element_laws import Instant

# the data of EasyDyn's example
TIRE = elements.Tire(
    *("tire", "wheel", 0.5, 1e4, 2500.0, 2e4, 2e4, 2e3),
    damping=10.0,
    crown=0.1,
)


def wheel() -> Robot:
    """A wheel that flies, its axis along y."""
    builder = RobotBuilder("wheel")
    builder.add(Body.cylinder("wheel", 1.1, 0.5, 0.2, axis="y"))
    builder.joint("root", "free", "world", "wheel")
    return builder.build()


def patch(sx: float, sy: float, camber: float = 0.0, depth: float = 0.25, element: Any = TIRE) -> Any:
    return ground_forces(element, evaluate_all, (sx, sy, camber), depth, 0.0, 0.5)


def test_small_slips_give_stiffness_times_slip_and_the_trail() -> None:
    little = 1e-6
    along, across, leaning = patch(little, 0.0), patch(0.0, little), patch(0.0, 0.0, little)
    assert along.z == pytest.approx(2500.0)  # at the nominal load all powers are 1
    assert along.x == pytest.approx(-2e4 * little, rel=1e-3)
    assert across.y == pytest.approx(-2e4 * little, rel=1e-3)
    assert across.turning == pytest.approx(2e4 * little * math.sqrt(8 * 0.5 * 0.25) / 6.0, rel=1e-3)
    assert leaning.y == pytest.approx(-2e3 * little, rel=1e-3)


def test_large_slips_skid_against_friction() -> None:
    for sx, sy in ((0.8, 0.0), (0.0, -2.0), (3.0, 4.0)):
        found, slip = patch(sx, sy), math.hypot(sx, sy)
        mu = 1.0 - 0.2 * min(slip, 1.0)
        assert math.hypot(found.x, found.y) == pytest.approx(mu * 2500.0)
        assert (found.x, found.y) == pytest.approx((-mu * 2500.0 * sx / slip, -mu * 2500.0 * sy / slip), abs=1e-4)
        assert found.turning == pytest.approx(-0.6 * (mu * 2500.0) ** 2 * sx * sy / slip**2 / 2e4, abs=1e-3)


def test_forces_go_over_into_skidding_without_a_jump() -> None:
    """At  C s = 3 mu Fz  the stuck part of the patch is gone; before, forces grow with slip."""
    flat = replace(TIRE, kinetic=1.0)
    edge = 3.0 * 2500.0 / 2e4
    below, above = (patch(edge * (1.0 + d), 0.0, element=flat).x for d in (-1e-7, 1e-7))
    assert below == pytest.approx(above, rel=1e-6) == pytest.approx(-2500.0)
    grown = [-patch(s, 0.0, element=flat).x for s in np.linspace(0.0, edge, 20)]
    assert np.all(np.diff(grown) > 0.0)
    # a cubic in the share that sticks: F = C s l^2 + mu Fz (1 - 3 l^2 + 2 l^3), l = 1 - C s / (3 mu Fz)
    s, l = 0.5 * edge, 0.5
    assert -patch(s, 0.0, element=flat).x == pytest.approx(2e4 * s * l**2 + 2500.0 * (1 - 3 * l**2 + 2 * l**3))


def states() -> Any:
    rng = np.random.default_rng(3)
    for height in (0.35, 0.45, 0.48):
        tilt, yaw = 0.2 * rng.normal(), rng.normal()
        turn = np.array([math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)])
        lean = np.array([math.cos(tilt / 2), math.sin(tilt / 2), 0.0, 0.0])
        w, x, y, z = turn
        q = [w * lean[0] - x * lean[1], w * lean[1] + x * lean[0], y * lean[0] + z * lean[1], z * lean[0] - y * lean[1]]
        yield np.array([0.3, -0.2, height, *q]), rng.normal(size=6) * [1.0, 0.2, 0.5, 0.3, 4.0, 0.3]


def test_power_is_accounted_for_and_slopes_are_differences() -> None:
    instant = Instant(wheel(), [TIRE])
    for q, v in states():
        gap, scale = instant.power_gap(0.0, q, v)
        assert abs(gap) <= 1e-12 * max(scale, 1.0)
        exact = instant.slopes(0.0, q, v)
        assert np.abs(exact - instant.differences(0.0, q, v)).max() <= 1e-5 * np.abs(exact).max()
        assert np.abs(instant.forces(0.0, q, v)).max() > 10.0


@pytest.mark.parametrize("height", [0.4, 0.5, 0.9])  # pressed, just touching, in the air
@pytest.mark.parametrize("v", [[0.0] * 6, [2.0, 0.0, 0.0, 0.0, 4.0, 0.0], [2.0, 0.1, 0.0, 0.0, 0.0, 0.0]])
def test_forces_and_slopes_are_finite_on_kinks(height: float, v: list[float]) -> None:
    """At rest, rolling without slip, skidding; where it does not touch, nothing is felt."""
    instant = Instant(wheel(), [TIRE])
    q = np.array([0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0])
    forces, slopes = instant.forces(0.0, q, np.array(v)), instant.slopes(0.0, q, np.array(v))
    assert np.all(np.isfinite(forces)) and np.all(np.isfinite(slopes))
    assert (np.abs(forces).max() > 1.0) == (height < 0.5)


def test_a_wheel_stands_on_its_weight_and_a_locked_one_stops_by_friction() -> None:
    easy = replace(TIRE, damping=400.0, slow=0.1)  # at rest the slip of a light wheel is stiff
    system = System(wheel(), (easy,))
    start = [0.0, 0.0, 0.499, 1.0, 0.0, 0.0, 0.0]
    rest = simulate(system, 2.0, q=start)
    assert rest["tire.load"][-1] == pytest.approx(1.1 * 9.81, rel=1e-3)
    assert 0.5 - rest.q[-1, 2] == pytest.approx(1.1 * 9.81 / 1e4, rel=1e-3)
    held = replace(system, elements=(replace(easy, kinetic=1.0),))
    slid = simulate(held, 0.2, q=start, v=[3.0, 0.0, 0.0, 0.0, 0.0, 0.0], locked=["root.wx", "root.wy", "root.wz"])
    assert slid.v[-1, 0] == pytest.approx(3.0 - 9.81 * 0.2, rel=5e-3)  # it skids with mu = 1


def test_the_balance_of_energy_closes_on_a_wheel_that_is_thrown() -> None:
    """A wheel with backspin and camber is thrown on the ground."""
    q = [0.0, 0.0, 0.45, math.cos(0.15), math.sin(0.15), 0.0, 0.0]
    system = System(wheel(), (replace(TIRE, slow=0.2),))
    run = simulate(system, 0.2, q=q, v=[1.0, 0.3, 0.0, 0.0, -5.0, 0.0], rtol=1e-12, atol=1e-12)
    assert run.outcome.ok
    assert audit(run, tolerance=1e-9).passed, audit(run, tolerance=1e-9)
    assert run["energy.dissipated"][-1] > 0.1


def test_bad_tires_are_named() -> None:
    with pytest.raises(ModelError, match=r"is 0.7 m and radius is 0.5 m; expected crown to be at most radius"):
        plant(System(wheel(), (replace(TIRE, crown=0.7),)))
    with pytest.raises(ModelError, match=r"lateral is -1; expected a finite number above 0"):
        plant(System(wheel(), (replace(TIRE, lateral=-1.0),)))
