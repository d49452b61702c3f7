"""Equilibrium, linearization and poles of robots with constraints, against one coordinate and our own differences."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from kinemorph.analysis.small_motions import plant_derivatives
from kinemorph.analysis.small_motions.equilibrium import equilibrium
from kinemorph.analysis.small_motions.linearize import linearize
from kinemorph.analysis.small_motions.poles import poles
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.errors import ShapeError
from kinemorph.model import library
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import integrate
from kinemorph.model.elements import DistanceConstraint, PrescribedMotion, RollingDisc
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from support.robots.loop_robots import CLOSED

Array = np.ndarray
CASES: dict[str, tuple[Callable[[], Robot | System], Array | None]] = {
    "four_bar": (library.four_bar, CLOSED),
    "slider_crank": (library.slider_crank, None),
    "spatial_slider_crank": (library.spatial_slider_crank, None),
    "bricard": (library.bricard, None),
}


def robot_of(model: Robot | System) -> Robot:
    return model.robot if isinstance(model, System) else model


def closed(d: Dynamics, q: Array) -> Array:
    """The nearest closed configuration, by Newton's steps of least norm."""
    for _ in range(8):
        q = integrate(d.robot, q, -np.linalg.lstsq(d.constraint_jacobian(q), d.constraint_error(q), rcond=1e-9)[0])
    return q


def motion(d: Dynamics, q: Array) -> Array:
    """The one motion that the loops leave, (nv,)."""
    _, sizes, rows = np.linalg.svd(d.constraint_jacobian(q))
    (found,) = rows[int((sizes > 1e-8).sum()) :]
    return found


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in ("bricard", "slider_crank"))) for name in CASES]
)
def test_poles_of_a_mechanism_are_those_of_one_coordinate(name: str) -> None:
    """omega^2 is the curvature of the potential energy along the motion, over the inertia along it."""
    make, start = CASES[name]
    model = make()
    d = derive(robot_of(model), backend="interpreter")
    found = equilibrium(model, start, stable=True)
    assert found and found.stable
    along, h = motion(d, found.q), 2e-3
    still = np.zeros(d.robot.nv)
    behind, here, ahead = (
        d.energy(closed(d, integrate(d.robot, found.q, k * h * along)), still)[1] for k in (-1, 0, 1)
    )
    inertia = along @ d.mass_matrix(found.q) @ along
    assert abs(ahead - behind) / (2.0 * h) < 1e-4 * (ahead + behind - 2.0 * here) / h**2
    expected = math.sqrt((ahead + behind - 2.0 * here) / h**2 / inertia)
    (pole,) = poles(model, found.q, still).values
    assert pole.real == 0.0 and pole.imag == pytest.approx(expected, rel=2e-5)


@pytest.mark.parametrize("name", ["four_bar", "spatial_slider_crank"])
def test_a_moving_mechanism_is_linearized_along_its_constraints(name: str) -> None:
    """Accelerations nearby, where loops are closed and kept so, differ as A says along its basis."""
    make, start = CASES[name]
    model = make()
    d = derive(robot_of(model), backend="interpreter")
    robot, nv = d.robot, d.robot.nv
    q = closed(d, np.zeros(nv) if start is None else start)
    v = 1.5 * motion(d, q) / np.abs(motion(d, q)).max()
    tau = np.linspace(-1.0, 1.0, nv) * 0.1
    linear = linearize(model, q, v, u=tau)
    assert linear.basis.shape == (2 * nv, 2)

    def nearby(step: Array) -> Array:
        there = closed(d, integrate(robot, q, step[:nv]))
        J = d.constraint_jacobian(there)
        kept = v + step[nv:]
        return d.forward_dynamics(there, kept - np.linalg.lstsq(J, J @ kept, rcond=1e-9)[0], tau)

    h = 1e-5
    for change in linear.basis.T:
        slope = (nearby(h * change) - nearby(-h * change)) / (2.0 * h)
        np.testing.assert_allclose(linear.A[nv:] @ change, slope, atol=2e-6 * np.abs(slope).max())
    by_force = d.forward_dynamics(q, v, tau + np.eye(nv)[0]) - d.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(linear.B[nv:, 0], by_force, atol=1e-9 * np.abs(by_force).max())


def test_a_mass_on_a_rod_without_mass_is_a_pendulum() -> None:
    builder = RobotBuilder("hung").add(Body("mass", 2.0))
    builder.joint("x", "prismatic", "world", "slide", axis=(1.0, 0.0, 0.0))
    builder.joint("z", "prismatic", "slide", "mass", axis=(0.0, 0.0, 1.0)).add(Body("slide", 1e-9))
    system = System(builder.build(), (DistanceConstraint("rod", "world", "mass", 0.5),))
    found = equilibrium(system, [0.3, -0.4], stable=True)
    assert found and found.stable
    np.testing.assert_allclose(found.q, [0.0, -0.5], atol=1e-8)
    (pole,) = poles(system, found.q).values
    assert pole.imag == pytest.approx(math.sqrt(9.81 / 0.5), rel=1e-8)


def test_a_rolling_cart_swings_on_its_spring() -> None:
    """Where the wheel stands is its own affair: one pole is zero, as it cannot get elsewhere at once."""
    builder = RobotBuilder("cart").add(Body("cart", 2.0), Body.cylinder("wheel", 1.0, 0.2, 0.05, axis="y"))
    builder.joint("drive", "prismatic", "world", "cart", axis=(1.0, 0.0, 0.0), translation=(0.0, 0.0, 0.2))
    builder.joint("axle", "revolute", "cart", "wheel", axis=(0.0, 1.0, 0.0))
    system = System(builder.build(), (RollingDisc("rolling", "wheel", 0.2, touching=False),))

    def spring(q: list[float]) -> list[float]:
        return [-7.0 * (q[0] - 0.1), 0.0]

    found = equilibrium(system, [0.4, 1.0], forces=spring)
    assert found and found.q[0] == pytest.approx(0.1, abs=1e-9)
    assert found.q[1] == pytest.approx(1.0 - 0.3 / 0.2, abs=1e-9)  # it has rolled there
    linear = linearize(system, found.q, forces=spring)
    assert [part.shape[1] for part in linear.directions] == [2, 1]
    values = linear.poles().values
    assert np.abs(values).min() < 1e-9 and values.imag.max() == pytest.approx(math.sqrt(7.0 / 3.5), rel=1e-9)


def test_a_joint_that_is_led_counts_as_it_stands() -> None:
    """At a time that is held: where the lower arm hangs then, and how it swings there."""
    builder = RobotBuilder("led").add(
        *(Body.rod(name, 1.0, 0.8, center=(0.0, 0.0, -0.4)) for name in ("upper", "lower"))
    )
    builder.joint("shoulder", "revolute", "world", "upper", axis=(0.0, 1.0, 0.0))
    builder.joint("elbow", "revolute", "upper", "lower", axis=(0.0, 1.0, 0.0), translation=(0.0, 0.0, -0.8))
    system = System(builder.build(), (PrescribedMotion("drive", "shoulder", "0.3 * sin(2 * t)"),))
    angle = 0.3 * math.sin(1.0)
    found = equilibrium(system, t=0.5)
    assert found and found.q == pytest.approx([angle, -angle], abs=1e-9)
    assert "Constraint 'drive' changes with time; it is taken as it is at t = 0.5 s" in found.message
    # the elbow falls faster and faster, which takes from the weight: its acceleration is -4 angle along the arc
    weight = 9.81 - 4.0 * angle * 0.8 * math.sin(angle)
    (pole,) = poles(system, found.q, t=0.5).values
    assert pole.imag == pytest.approx(math.sqrt(weight * 0.4 / (4.0 * 0.4**2 / 3.0)), rel=1e-9)


def test_states_off_the_constraints_are_refused() -> None:
    robot = library.four_bar()
    with pytest.raises(ShapeError, match=r"q: loops or constraints of 'four_bar' are violated, 'closure' by [\d.]+ m;"):
        linearize(robot, [0.3, 0.1, 0.2])
    with pytest.raises(ShapeError, match=r"v: loops or constraints of 'four_bar' are violated, 'closure' by .* m/s;"):
        linearize(robot, closed(derive(robot, backend="interpreter"), CLOSED), [1.0, 0.0, 0.0])


def test_named_coordinates_and_velocities_are_kept_and_the_others_follow() -> None:
    robot = library.four_bar()
    about = linearize(robot, {"q1": 0.6}, {"q1": 2.0}).point
    assert about.q == pytest.approx([0.6, 0.02989836, 1.6066907], abs=1e-7) and about.v[0] == 2.0
    dynamics = derive(robot, backend="interpreter")
    assert np.abs(dynamics.constraint_jacobian(about.q) @ about.v).max() < 1e-12


def test_slopes_direction_by_direction_are_those_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    at = ({"q1": 0.6}, {"q1": 2.0})
    written = linearize(library.four_bar(), *at)
    monkeypatch.setattr(plant_derivatives, "UNROLLED", 0)
    found = linearize(library.four_bar(), *at)
    np.testing.assert_allclose(found.A, written.A, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(found.B, written.B, rtol=1e-12, atol=1e-11)
