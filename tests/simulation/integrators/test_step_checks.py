"""Runs whose steps are too large say so, also where another part of the robot hides it."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, elements, library, simulate
from kinemorph.errors import EnergyWarning, ImpactWarning
from kinemorph.mechanics.elements.contact.normal_forces import normal_law
from kinemorph.mechanics.steps.frozen_stiffness import felt_mass
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.parameter import Coordinate
from kinemorph.simulation.running.impact_check import rebound, short_hits
from kinemorph.simulation.running.step_damping import damping_losses


def sliders(*more: Any) -> System:
    """Two bodies that slide independently along x and along y."""
    builder = RobotBuilder("sliders").add(Body.sphere("cart", 1.0, 0.1), Body.sphere("mass", 1.0, 0.1))
    builder.joint("x", "prismatic", "world", "cart", axis=(1, 0, 0))
    return System(builder.joint("y", "prismatic", "world", "mass", axis=(0, 1, 0)).build(), more)


def pendulum() -> Any:
    builder = RobotBuilder("arm").add(Body.box("rod", 1.0, (0.05, 0.05, 0.5), (0, 0, -0.25)))
    return builder.joint("j", "revolute", "world", "rod", axis=(0, 1, 0)).build()


def said(*arguments: Any, **options: Any) -> list[Warning]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert simulate(*arguments, **options).outcome.ok
    return [warning.message for warning in caught if isinstance(warning.message, Warning)]


def test_a_drive_that_turns_over_much_energy_does_not_hide_a_spring() -> None:
    """A cart took 900 J from its drive, and a spring beside it, which made 6 J out of nothing, was not reported."""
    drive = elements.AppliedEffort("drive", "x", 50.0)
    brake = elements.TorsionSpring("brake", "x", 0.0, damping=10.0)
    spring = elements.TorsionSpring("spring", "y", 400.0)
    system = sliders(drive, brake, spring)
    start: dict[str, Any] = {"q": [0.0, 0.1], "v": [5.0, 0.0]}
    (found,) = said(system, 4.0, method="euler", step=1e-3, **start)
    assert isinstance(
        found, EnergyWarning
    ) and "the most that the kinetic or the potential energy, with that of springs, changes)" in str(found)
    assert said(system, 4.0, method="rk4", step=1e-3, **start) == []


def test_a_grip_that_a_fixed_step_drops_is_reported() -> None:
    """The fingers let go in the first steps; what they gained later, as they flew off, hid the error from then."""
    builder = RobotBuilder("pinch").add(Body.sphere("ball", 0.1, 0.03)).root("ball", "free")
    builder.add(Body.sphere("left", 0.05, 0.01), Body.sphere("right", 0.05, 0.01))
    builder.joint("l", "prismatic", "world", "left", translation=(0, -0.0399, 0), axis=(0, 1, 0))
    builder.joint("r", "prismatic", "world", "right", translation=(0, 0.0399, 0), axis=(0, -1, 0))
    grip: dict[str, Any] = {"radius_a": 0.01, "radius_b": 0.03, "friction": elements.Regularized(1.0)}
    law = elements.HuntCrossley(5e4, 1.0)
    touch = [elements.PairContact(name, name, "ball", law, **grip) for name in ("left", "right")]
    press = [elements.AppliedEffort(f"press_{joint}", joint, 10.0) for joint in "lr"]
    system = System(builder.build(), (*touch, *press))
    start = [1e-6, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]  # off the middle: the way they fly off is not by rounding
    (found,) = said(system, 1.0, q=start, method="rodas", step=1e-3)
    assert isinstance(found, EnergyWarning) and "the most that one of these energies changes until t = 0" in str(found)
    assert said(system, 1.0, q=start) == []


def test_a_step_of_first_order_that_damps_a_controlled_joint_is_reported() -> None:
    """Nothing damps this controller, and yet its joint came to rest: the energy went into the supply, unseen."""
    system = System(pendulum(), (elements.PD("hold", ("j",), kp=200.0, kd=0.0, reference=1.0),))
    (found,) = said(system, 2.0, q=[0.3], method="implicit_contact", step=1e-3)
    assert isinstance(found, EnergyWarning) and "'hold'" in str(found) and "'extrapolated_contact'" in str(found)
    for method in ("centered_contact", "extrapolated_contact"):
        assert said(system, 2.0, q=[0.3], method=method, step=1e-3) == []
    run = simulate(system, 0.2, q=[0.3], method="implicit_contact", step=1e-4)
    lost = damping_losses(run.segments[0], 1e-4)["hold"]
    exact = simulate(system, 0.2, q=[0.3], method="radau", rtol=1e-10)
    held = [
        0.5 * 200.0 * (1.0 - one["q.j"]) ** 2 + one["energy.kinetic"] + one["energy.potential"] for one in (run, exact)
    ]
    assert lost == pytest.approx(held[1][-1] - held[0][-1], rel=0.1)


def test_joints_whose_controllers_are_well_damped_say_nothing() -> None:
    system = System(pendulum(), (elements.PD("hold", ("j",), kp=200.0, kd=5.0, reference=1.0),))
    assert said(system, 2.0, q=[0.3], method="implicit_contact", step=1e-3) == []


def test_the_element_whose_account_is_off_is_named_and_not_the_one_that_works_most() -> None:
    """A motor that pushes with a constant force does most of the work, and its account is exact."""
    stiff = elements.Spring("stiff", "cart", "mass", 4e5, 0.1, 5.0)
    push = elements.AppliedEffort("push", "x", 500.0)
    soft = elements.Spring("soft", "cart", "mass", 10.0, 0.1)
    found = said(sliders(push, soft, stiff), 0.2, q=[0.3, 0.4], method="implicit_contact", step=1e-3)
    assert [isinstance(one, EnergyWarning) and "by 'stiff' above all" in str(one) for one in found] == [True]


# ── impacts ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def dropped(stiffness: float, restitution: float) -> System:
    robot = RobotBuilder("ball").add(Body.sphere("ball", 0.1, 0.03)).root("ball", "free").build()
    law = elements.HuntCrossley.bouncing(stiffness, restitution, 1.0)
    return System(robot, (elements.Contact("floor", "ball", law, radius=0.03),))


@pytest.mark.parametrize("restitution", [0.5, 0.9])
def test_an_elastic_impact_within_one_step_is_reported(restitution: float) -> None:
    """The ball stayed on the ground, all its energy counted as dissipated, and nothing was said."""
    start = [0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0]
    (found,) = said(dropped(1e10, restitution), 0.3, q=start, method="implicit_contact", step=1e-3)
    assert isinstance(found, ImpactWarning) and "'floor'" in str(found) and "--step" in str(found)


def test_impacts_that_give_little_back_say_nothing() -> None:
    start = [0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0]
    assert said(dropped(1e10, 0.05), 0.3, q=start, method="implicit_contact", step=1e-3) == []


def test_rebounds_are_those_of_the_law() -> None:
    soft = rebound(normal_law(elements.HuntCrossley(1e4, 0.0, exponent=1.0)), 0.1, 2.0)
    assert soft.duration == pytest.approx(math.pi * math.sqrt(0.1 / 1e4), rel=0.02)
    assert soft.speed == pytest.approx(2.0, rel=0.02)
    law = normal_law(elements.HuntCrossley.bouncing(1e6, 0.6, 1.0))
    assert rebound(law, 0.1, 1.0).speed == pytest.approx(0.6, rel=0.02)


def test_a_rod_feels_a_quarter_of_its_mass_at_its_end() -> None:
    thin = ((1e-9, 0.0, 0.0), (0.0, 2.0 / 12.0, 0.0), (0.0, 0.0, 2.0 / 12.0))
    robot = RobotBuilder("rod").add(Body("rod", 2.0, (0.0, 0.0, 0.0), thin)).root("rod", "free").build()
    tree, turned = resolve(robot), [0.0, 0.0, 1.0, math.cos(0.3), 0.0, 0.0, math.sin(0.3)]
    assert felt_mass(tree, turned, [("rod", (0.5, 0.0, 0.0))], (0.0, 0.0, 1.0)) == pytest.approx(0.5, rel=1e-9)
    assert np.isclose(felt_mass(tree, turned, [("rod", (0.0, 0.0, 0.0))], (0.0, 1.0, 0.0)), 2.0)


def test_two_free_balls_feel_their_reduced_mass() -> None:
    builder = RobotBuilder("two").add(Body.sphere("a", 0.1, 0.03), Body.sphere("b", 0.3, 0.03))
    tree = resolve(builder.root("a", "free").joint("b_root", "free", "world", "b").build())
    q = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    places = [("a", (0.0, 0.0, 0.0)), ("b", (0.0, 0.0, 0.0))]
    assert felt_mass(tree, q, places, (0.0, 0.0, 1.0)) == pytest.approx(0.1 * 0.3 / 0.4, rel=1e-12)


def test_an_elastic_impact_of_two_bodies_within_one_step_is_reported() -> None:
    """Impacts were told for the ground only."""
    builder = RobotBuilder("two", (0.0, 0.0, 0.0)).add(Body.sphere("a", 0.1, 0.03), Body.sphere("b", 0.3, 0.03))
    robot = builder.root("a", "free").joint("b_root", "free", "world", "b").build()
    start = {"q": [0.2, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], "v": [-1.0, *[0.0] * 11]}
    for restitution, warned in ((0.9, True), (0.05, False)):
        law = elements.HuntCrossley.bouncing(1e10, restitution, 1.0)
        pair = elements.PairContact("pair", "a", "b", law, radius_a=0.03, radius_b=0.03)
        found = said(System(robot, (pair,)), 0.3, **start, method="implicit_contact", step=1e-3)
        assert [type(one) for one in found] == [ImpactWarning] * warned
        assert all("'pair'" in str(one) for one in found)


# ── driven joints ─────────────────────────────────────────────────────────────────────────────────────────────────────


def geared(*acting: Any) -> System:
    """A body that slides vertically, with a wheel that turns with it: it feels 1 kg and 4 kg of inertia."""
    wheel = Body("wheel", 0.5, (0.0, 0.0, 0.0), np.eye(3) * 0.04)
    builder = RobotBuilder("geared").add(Body.sphere("body", 0.5, 0.03), wheel)
    builder.joint("z", "prismatic", "world", "body", axis=(0, 0, 1))
    builder.joint("turn", "revolute", "body", "wheel", axis=(0, 0, 1), driven=10.0 * Coordinate("z", 0.0))
    return System(builder.build(), acting)


def test_the_mass_of_driven_joints_is_felt() -> None:
    tree = resolve(geared().robot)
    assert felt_mass(tree, [0.3], [("body", (0.0, 0.0, 0.0))], (0.0, 0.0, 1.0)) == pytest.approx(5.0, rel=1e-12)


def test_impacts_and_damping_are_checked_with_driven_joints() -> None:
    law = elements.HuntCrossley.bouncing(1e10, 0.9, 1.0)
    floor = elements.Contact("floor", "body", law, radius=0.03)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the energy, which is checked first
        run = simulate(geared(floor), 0.3, q=[0.1], method="implicit_contact", step=1e-3)
    (hit,) = short_hits(run.segments[0], 1e-3)
    assert hit.name == "floor" and hit.mass == pytest.approx(5.0, rel=1e-12)
    assert hit.speed == pytest.approx(math.sqrt(2.0 * 9.81 * 0.07 / 5.0), rel=0.06)  # by samples
    hold = elements.PD("hold", ("z",), kp=2000.0, kd=0.0, reference=1.0)
    (found,) = said(geared(hold), 2.0, q=[0.3], method="implicit_contact", step=1e-3)
    assert isinstance(found, EnergyWarning) and "damp the motion" in str(found) and "'hold'" in str(found)


def test_a_sample_time_that_is_too_long_is_not_blamed_on_the_step() -> None:
    """A smaller step was advised, where no step helps: the controller samples too seldom for its gains."""
    robot = library.double_pendulum()
    joints = tuple(joint.name for joint in robot.joints)
    system = System(robot, (elements.PD("pd", joints, kp=200.0, kd=3000.0, reference=(0.3, 0.3), every=1e-3),))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = simulate(system, 1.0, method="rk4", step=1e-3).outcome.message
    assert (
        "Gains may be too large for the sample time of 0.001 s: sample more often" in said
        and "too large: try" not in said
    )


@pytest.mark.parametrize("step", [1e-3, 5e-3])
@pytest.mark.parametrize("name", ["klann", "scara"])
def test_the_first_steps_of_a_method_of_first_order_are_no_wrong_motion(name: str, step: float) -> None:
    """Row D11: what a robot at rest misses in its first n steps is 1/(n + 1) of the microjoules that it exchanged."""
    robot = getattr(library, name)()
    for steps in (2, 3, 10):
        assert not said(robot, steps * step, method="semi_implicit_euler", step=step, output_step=step)


def test_a_wrong_motion_is_told_from_its_first_steps_on() -> None:
    """Where more is missing than a method of first order misses, ten milliseconds and less are enough to say so."""
    found = said(library.segway(), 0.01, method="semi_implicit_euler", step=1e-3, output_step=1e-3)
    assert any(isinstance(one, EnergyWarning) and "The motion is not accurate" in str(one) for one in found)


def test_methods_of_higher_order_have_no_allowance_for_their_first_steps() -> None:
    """A Heun step of 0.3 s errs by 31 %: far more than a method of second order misses in its first step."""
    found = said(library.double_pendulum(), 0.3, q=[2.0, 1.0], method="heun", step=0.3)
    assert any(isinstance(one, EnergyWarning) and "The motion is not accurate" in str(one) for one in found)
