"""Single steps of elements by hand: the force at the end, and the account of what it stores, supplies and loses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph import Body, Robot, RobotBuilder, System, elements, library, simulate
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.mechanics.constraints import constrained
from kinemorph.mechanics.constraints.constrained import ConstraintRows, constrained_dynamics, softened
from kinemorph.mechanics.derivatives.branch_factor import BranchFactor
from kinemorph.mechanics.elements.contact.contact_point import Start
from kinemorph.mechanics.elements.contact.normal_forces import normal_law
from kinemorph.mechanics.steps.frozen_stiffness import frozen
from kinemorph.plants.instant import Instant
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.running.sampled_gains import unstable

pytestmark = pytest.mark.filterwarnings("ignore::kinemorph.errors.EnergyWarning")  # steps are coarse on purpose
H = 1e-3
K, C = 3e5, 40.0
LIGHT, HEAVY = 0.5, 2.0


def sliders(axis: tuple[float, float, float] = (1.0, 0.0, 0.0)) -> Robot:
    """Two bodies that slide along the same axis."""
    builder = RobotBuilder("sliders").add(Body.sphere("a", LIGHT, 0.1)).add(Body.sphere("b", HEAVY, 0.1))
    builder.joint("x", "prismatic", "world", "a", axis=axis).joint("y", "prismatic", "world", "b", axis=axis)
    return builder.build()


def one_step(element: Any, method: str, v: tuple[float, float], apart: float) -> Any:
    return simulate(System(sliders(), (element,)), H, q=[0.0, apart], v=v, method=method, step=H)


@pytest.mark.parametrize(("method", "left"), [("implicit_contact", H), ("centered_contact", 0.5 * H)])
def test_a_step_of_a_spring_between_two_bodies(method: str, left: float) -> None:
    """u+ = u - h/m (k (x + left u+) + c u+), with x at the start, or at the middle of a centered step."""
    u = 1.3
    run = one_step(elements.Spring("spring", "a", "b", K, 1.0, C), method, (-0.5, 0.8), 1.02)
    m = LIGHT * HEAVY / (LIGHT + HEAVY)
    x = 0.02 + (H - left) * u
    end = (u - H / m * K * x) / (1.0 + H / m * (K * left + C))
    assert run.v[-1][1] - run.v[-1][0] == pytest.approx(end, rel=1e-12)
    assert LIGHT * run.v[-1][0] + HEAVY * run.v[-1][1] == pytest.approx(HEAVY * 0.8 - LIGHT * 0.5, rel=1e-12)


def test_the_account_of_a_spring_is_what_its_damper_loses() -> None:
    run = one_step(elements.Spring("spring", "a", "b", K, 1.0, C), "implicit_contact", (-0.5, 0.8), 1.02)
    end = run.v[-1][1] - run.v[-1][0]
    assert run.energy.dissipated[-1] == pytest.approx(H * C * end * 0.5 * (1.3 + end), rel=1e-9)


def test_an_actuator_supplies_what_its_effort_does() -> None:
    element = elements.Actuator("drive", "x", control="velocity", gain=300.0)
    run = one_step(element, "implicit_contact", (1.0, 0.0), 5.0)
    end = run.v[-1][0]
    assert end == pytest.approx(1.0 / (1.0 + H * 300.0 / LIGHT), rel=1e-12)
    assert run.energy.supplied[-1] == pytest.approx(0.5 * LIGHT * (end * end - 1.0), rel=1e-9)


def test_a_motor_without_a_voltage_loses_heat() -> None:
    element = elements.DCMotor("motor", "x", 2.0, 0.3, inertia=0.0, ratio=4.0, lead=2.0 * np.pi)
    run = one_step(element, "implicit_contact", (1.0, 0.0), 5.0)
    current = 0.3 * 4.0 / 2.0
    assert run.energy.dissipated[-1] == pytest.approx(H * 2.0 * current * current, rel=1e-9)


def test_a_tire_without_damping_stores_what_it_takes() -> None:
    builder = RobotBuilder("drop").add(Body.sphere("wheel", 20.0, 0.3))
    robot = builder.joint("z", "prismatic", "world", "wheel", axis=(0.0, 0.0, 1.0)).build()
    tire = elements.Tire("tire", "wheel", 0.3, 1e5, 200.0, longitudinal=4e3, lateral=3e3, static=0.9, kinetic=0.7)
    run = simulate(System(robot, (tire,)), 0.2, q=[0.32], method="implicit_contact", step=H)
    assert np.abs(run.energy.dissipated).max() < 1e-9
    assert np.ptp(run.energy.kinetic) > 1.0


def test_locked_joints_stay_beside_springs_between_bodies() -> None:
    robot = library.chain(4)
    spring = elements.Spring("spring", "link1", "link4", 2e4, 0.4, 20.0, point_a=(0.02, 0.0, 0.0))
    q = [0.5, 0.4, -0.3, 0.6]
    run = simulate(System(robot, (spring,)), 0.02, q=q, locked="q2", method="implicit_contact", step=H)
    assert np.abs(run.q[:, 1] - 0.4).max() < 1e-12
    assert np.abs(run.q[-1] - q).max() > 1e-3


def test_a_leg_pushes_away_from_its_foot() -> None:
    builder = RobotBuilder("hopper").add(Body.sphere("body", 2.0, 0.1))
    robot = builder.joint("z", "prismatic", "world", "body", axis=(0.0, 0.0, 1.0)).build()
    leg = elements.SpringLeg("leg", "body", stiffness=4e3, length=0.5)
    exact = simulate(System(robot, (leg,)), 0.3, q=[0.55], rtol=1e-9, output_step=0.01)
    run = simulate(System(robot, (leg,)), 0.3, q=[0.55], method="implicit_contact", step=1e-4, output_step=0.01)
    assert np.abs(run.q - exact.q).max() < 0.01
    assert exact.q.min() < 0.48


def test_bodies_that_leave_each_other_are_not_held_back() -> None:
    contact = elements.PairContact("contact", "a", "b", elements.HuntCrossley(1e6, 0.5), radius_a=0.1, radius_b=0.1)
    run = one_step(contact, "implicit_contact", (-0.5, 0.5), 0.2 - 1e-5)
    assert run.v[-1][1] - run.v[-1][0] >= 1.0


def test_a_guess_that_leaves_does_not_switch_a_contact_off() -> None:
    """A body that moves in meets the ground, whatever the accelerations of the step before say."""
    press = normal_law(elements.HuntCrossley(1e5, 0.5), lambda x: x)
    tangent = Start(1e-4, -1.0).tangent(press, 1e-4 - H * 0.5, 0.5, H)
    assert tangent.pressed.force == pytest.approx(press(1e-4 + H, 1.0).force, rel=1e-12)  # as if it moved on
    assert tangent.at(-1.0) == pytest.approx(tangent.pressed.force, rel=1e-12)
    assert tangent.at(0.0) == pytest.approx(press.at_rest(1e-4), rel=1e-12)


def test_a_contact_lacks_force_where_it_stores_more_energy_than_it_takes() -> None:
    press = normal_law(elements.HuntCrossley(1e5, 0.0), lambda x: x)
    start = Start(1e-4, -1.0)
    for depth in (2e-4, 1e-3, 1e-2):
        mean = (press(depth, 0.0).stored - press(1e-4, 0.0).stored) / (depth - 1e-4)
        assert start.missing(press, depth, 0.99 * mean) > 0.0 == start.missing(press, depth, press.at_rest(depth))
    assert start.missing(press, 0.5e-4, 0.0) == 0.0 == Start(-1e-3, -1.0).missing(press, -1e-4, 0.0)


def test_a_step_of_an_actuator_behind_a_gear() -> None:
    gain, damping, gear = 5e4, 30.0, 3.0
    element = elements.Actuator("drive", "y", control="position", gain=gain, damping=damping, gear=gear)
    run = one_step(element, "implicit_contact", (0.0, 1.0), 0.02)
    end = (1.0 - H / HEAVY * gear**2 * gain * 0.02) / (1.0 + H / HEAVY * gear**2 * (damping + H * gain))
    assert run.v[-1][1] == pytest.approx(end, rel=1e-12)


def test_the_stiffness_of_a_spring_between_two_bodies() -> None:
    """For the largest stable step of explicit methods."""
    model = plant(System(sliders(), (elements.Spring("spring", "a", "b", K, 1.0, C),)))
    assert model.laws.stiff is not None
    at = Instant(0.0, [0.0, 1.0], [0.0, 0.0], [0.0, 0.0], [], [0.0, 0.0], [])
    tree, stiff = model.laws.stiff(at)
    found = frozen(tree, [0.0, 1.0], [0.0, 0.0], stiff)
    one = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert np.abs(found.K - K * one).max() < 1e-6 * K
    assert np.abs(found.C - C * one).max() < 1e-6 * C


def test_the_growth_of_a_sampled_controller() -> None:
    """kp = 100, T = 0.1, M = 1: the map [[0.5, 0.1], [-10, 1]] has the determinant 1.5."""
    said = unstable(elements.PD("pd", ("x",), kp=100.0, kd=0.0, every=0.1), ("x",), np.eye(1), np.zeros(1))
    assert said is not None
    assert f"by a factor of {np.sqrt(1.5):.3g} per sample" in said


def test_the_account_of_a_spring_in_a_joint() -> None:
    run = one_step(elements.TorsionSpring("spring", "y", K, 0.0, C), "implicit_contact", (0.0, 1.0), 0.02)
    end = run.v[-1][1]
    assert run.energy.dissipated[-1] == pytest.approx(H * C * end * 0.5 * (1.0 + end), rel=1e-9)


def test_two_actuators_of_a_joint_act_once() -> None:
    pair = [elements.Actuator(name, "x", control="velocity", gain=300.0) for name in ("one", "other")]
    run = simulate(System(sliders(), tuple(pair)), H, q=[0.0, 5.0], v=[1.0, 0.0], method="implicit_contact", step=H)
    end = run.v[-1][0]
    assert end == pytest.approx(1.0 / (1.0 + H * 600.0 / LIGHT), rel=1e-12)
    assert run.energy.supplied[-1] == pytest.approx(0.5 * LIGHT * (end * end - 1.0), rel=1e-9)


@pytest.mark.parametrize("most", [6_000, 0])
def test_soft_rows_never_repeat_each_other(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Two equal and very stiff springs, in a mechanism whose loops are a little open: together they are twice as
    stiff, by orthogonal vectors and by elimination.
    """
    monkeypatch.setattr(constrained, "MOST_WRITTEN", most)
    metric = BranchFactor([[], []], [{}, {}], [1.0, 1.0])
    none = ConstraintRows([], [], [], opening=1e-4)
    row = [1e5, 0.0]
    found = constrained_dynamics(*softened(metric, [1.0, 1.0], none, [row, row]))
    assert found.a[:2] == pytest.approx([1.0 / (1.0 + 2e10), 1.0], rel=1e-4)


def test_springs_that_are_stiff_beyond_rounding_share_their_load() -> None:
    """The remainder of the second row is a rounding error of its length; a soft row counts all the same."""
    metric = BranchFactor([[], []], [{}, {}], [1.0, 1.0])
    row = [1e9, 0.0]
    found = constrained_dynamics(*softened(metric, [1.0, 1.0], ConstraintRows([], [], []), [row, row]))
    assert found.rank == 2.0 and found.multipliers == pytest.approx([-5e-10, -5e-10], rel=1e-6)


def test_rows_that_share_no_velocity_are_independent_without_a_test() -> None:
    """Constraints on different joints cannot repeat each other: no comparison is computed for them."""

    def sizes(j: Any) -> list[Any]:
        metric = BranchFactor([[], []], [{}, {}], [1.0, 1.0])
        rows = ConstraintRows([[j[0], 0.0], [0.0, j[1]]], [0.0, 0.0], [1.0, 1.0])
        return list(constrained.span_of(metric, rows).sizes)

    assert set(trace(sizes, {"j": (2,)}).op_counts) <= {"mul", "div"}
    assert sizes([2.0, 4.0]) == [0.25, 0.0625]
