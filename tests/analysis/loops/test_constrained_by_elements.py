"""Equilibria and poles of systems that elements constrain: along what is left free, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, elements, equilibrium, linearize, poles
from kinemorph.analysis.small_motions.linearize import second_order_matrices
from kinemorph.errors import UnsupportedError


def test_a_bob_on_a_rod_is_a_pendulum() -> None:
    length, g = 1.3, 9.81
    builder = RobotBuilder("bob").add(Body.point("slide", 0.0)).add(Body.point("bob", 0.7))
    builder.joint("x", "prismatic", "world", "slide", axis=(1, 0, 0))
    robot = builder.joint("z", "prismatic", "slide", "bob", axis=(0, 0, 1)).build()
    system = System(robot, (elements.DistanceConstraint("rod", "world", "bob", length),))
    found = equilibrium(system, q=[length * math.sin(0.5), -length * math.cos(0.5)])
    assert found.converged and found.stable
    np.testing.assert_allclose(found.q, [0.0, -length], atol=1e-10)
    (only,) = poles(system, q=found.q).omega
    assert only == pytest.approx(math.sqrt(g / length), abs=1e-10)
    with pytest.raises(UnsupportedError, match="loops, coupled joints or other constraints"):
        second_order_matrices(system)


def test_a_coin_that_rolls_straight_on_sways() -> None:
    """(A + m r^2) d'' + ((C + m r^2) C s^2 / A - m g r) d = 0 for its lean d at the spin s: a pole of a motion with
    rows of velocities alone, eight numbers free out of twelve.
    """
    m, r, g, s = 2.0, 0.3, 9.81, 9.0
    A, C = 0.25 * m * r * r, 0.5 * m * r * r
    builder, carrier = RobotBuilder("coin"), "world"
    ways = [(name, "prismatic") for name in "xyz"] + [("yaw", "revolute"), ("lean", "revolute"), ("spin", "revolute")]
    for (name, kind), axis in zip(ways, ("x", "y", "z", "z", "x", "y"), strict=True):
        part = f"at {name}"
        builder.add(Body(part, m, inertia=np.diag([A, C, A])) if name == "spin" else Body.point(part, 0.0))
        builder.joint(name, kind, carrier, part, axis=tuple(float(axis == one) for one in "xyz"))
        carrier = part
    system = System(builder.build(), (elements.RollingDisc("edge", carrier, r),))
    state = {"q": [0.0, 0.0, r, 0.0, 0.0, 0.7], "v": [r * s, 0.0, 0.0, 0.0, 0.0, s]}
    linear = linearize(system, **state)  # type: ignore[arg-type]
    assert linear.basis.shape == (12, 8)  # five coordinates, and three velocities
    values = np.linalg.eigvals(linear.minimal()[0])
    sway = math.sqrt(((C + m * r * r) * C * s * s / A - m * g * r) / (A + m * r * r))
    assert values.imag.max() == pytest.approx(sway, abs=1e-9)
    assert np.sort(np.abs(values.imag))[:6].max() < 1e-6


def test_a_joint_that_is_held_stays_where_it_is_held() -> None:
    builder = RobotBuilder("two").add(Body.rod("a", 1.0, 0.8, (0.4, 0.0, 0.0), axis="x"))
    builder.add(Body.rod("b", 1.0, 0.8, (0.4, 0.0, 0.0), axis="x"))
    builder.joint("one", "revolute", "world", "a", axis=(0, 1, 0))
    robot = builder.joint("two", "revolute", "a", "b", translation=(0.8, 0.0, 0.0), axis=(0, 1, 0)).build()
    found = equilibrium(System(robot, (elements.PrescribedMotion("held", "one", 0.1),)))
    np.testing.assert_allclose(found.q, [0.1, 0.5 * math.pi - 0.1], atol=1e-9)
