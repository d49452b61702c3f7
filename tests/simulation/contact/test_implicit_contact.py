"""Robots on the ground by steps that take contact at their end: they stand, they stay right as steps grow; and explicit
steps that are too large for the ground are told from those that are not.
"""

from __future__ import annotations

import itertools
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph.codegen.building.compile import build
from kinemorph.errors import ChatterWarning, UnsupportedError
from kinemorph.mechanics.recursions.kinematics import link_poses
from kinemorph.mechanics.steps.frozen_stiffness import StiffByName, frozen
from kinemorph.mechanics.steps.implicit_forces import present_forces
from kinemorph.model.elements.control.controllers import PD
from kinemorph.plants.own_equations import second_order
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.methods import METHODS
from kinemorph.simulation.march.layout import Status
from kinemorph.simulation.running.chatter import GROWTH, find_chatter, largest_growth, stable_step, step_matrix
from kinemorph.simulation.stepping.stepper import Stepper
from support.cases.stiff_elements import as_elements
from support.cases.stiff_laws import Ground
from support.cases.stiff_plants import Stiff, standing_hexapod
from support.references.exact_rates import numbers
from support.tools.some_slow import first

CONTACT = (
    *("implicit_contact", "implicit_contact_2", "implicit_contact_3"),
    *("centered_contact_2", "extrapolated_contact"),
)
HARD = Ground(k=3e4, c=6e4, mu=0.8, v_lim=2e-3)  # explicit steps have to be below 0.1 ms
PUSHED = np.zeros(24)
PUSHED[[0, 2, 4]] = 0.3, -0.3, 0.5  # forward, down, and turning


@cache
def hexapod() -> tuple[Stiff, Plant, np.ndarray]:
    stiff, q = standing_hexapod(ground=HARD)
    return stiff, stiff.plant(), q


def run(method: str, h: float | None, until: float, samples: int = 20, v: Any = PUSHED, **options: Any) -> np.ndarray:
    """Rows [q, v] at evenly spaced times."""
    _, plant, q = hexapod()
    stepper = Stepper(plant, method=method, step=h, q=q, v=v, rows=64, **options)
    times, rows = np.linspace(0.0, until, samples + 1)[1:], []
    while len(times):
        found = stepper.through(times, until)
        assert found.status in (Status.GOING, Status.BUDGET), found.status
        times, rows = times[len(found.rows) :], [*rows, *found.rows]
    return np.array(rows)


def off(rows: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Root mean square errors of the base's place [m], its orientation, and the joints [rad]."""
    return np.array([np.sqrt(np.mean((rows - reference)[:, part] ** 2)) for part in np.split(np.arange(25), [3, 7])])


# ── standing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", ["implicit_contact", "centered_contact", "extrapolated_contact"])
def test_a_robot_stands_on_forces_that_are_its_weight(method: str, record_property: Any) -> None:
    stiff, _, _ = hexapod()
    row = run(method, 2e-3, 20.0)[-1]
    q, v = row[:25], row[25:]
    _, ends = stiff.step(0.0, q.tolist(), [*[0.0] * 24, *v.tolist()], 2e-3, (), 3)
    poses = link_poses(stiff.tree, q.tolist())
    feet = [numbers(poses[at.link].R) @ f for at, f in zip(stiff.at_points(), ends.points, strict=True)]
    weight = 9.81 * sum(float(body.mass) for body in stiff.robot.bodies)
    record_property(
        "figure", ("sum of foot forces against the weight", method, float(abs(sum(feet)[2] / weight - 1.0)))
    )
    assert np.abs(v).max() < 1e-3  # regularized friction creeps: feet drift apart until nothing pulls at them
    assert sum(feet)[2] == pytest.approx(weight, rel=1e-6)
    assert all(f[2] > 0.03 * weight for f in feet)
    assert np.abs(sum(feet)[:2]).max() < 1e-5 * weight


@pytest.mark.parametrize("method", first(CONTACT, 2))
def test_trajectories_stay_right_from_a_tenth_of_a_millisecond_to_four(method: str, record_property: Any) -> None:
    """Against a sixteenth of the step: errors of the place, the orientation and the joints fall with the step."""
    sizes, errors = (4e-3, 1e-3, 1e-4), []
    for h in sizes:
        errors.append(off(run(method, h, 0.4), run(method, h / 16, 0.4)))
        named = f"{method}, h {h:g} s: place [m], orientation, joints [rad]"
        for error in errors[-1]:
            record_property("figure", ("error against h/16", named, float(error)))
    # a few millimeters and milliradians at 4 ms; then nearly with the order of the method: contact has kinks
    order = {1: 0.75, 2: 1.2}[METHODS[method].order]
    assert np.all(errors[0] < [4e-3, 1e-3, 1e-2]), errors[0]
    for (before, after), ratio in zip(itertools.pairwise(errors), (4.0, 10.0), strict=True):
        assert np.all(after < before / ratio**order), (before, after)


def test_the_extrapolated_step_chooses_its_own_size() -> None:
    fine = run("extrapolated_contact", 1e-4, 0.4)
    errors = [off(run("extrapolated_contact", None, 0.4, rtol=rtol, atol=rtol), fine).max() for rtol in (1e-3, 1e-5)]
    assert errors[0] < 5e-3
    assert errors[1] < 0.2 * errors[0]


def test_elements_hand_their_forces_to_the_step(record_property: Any) -> None:
    """Contacts and servos as elements: the same numbers as by hand, of hardly more work; legs are side by side."""
    stiff, plant, q = hexapod()
    made = kinemorph.plants.plant(as_elements(stiff))
    rng, still = np.random.default_rng(0), np.zeros(24)
    state = (0.0, q, np.concatenate([np.zeros(24), 0.3 * rng.normal(size=24)]))
    step = (*state, 1e-3, rng.normal(size=24), [])
    ours, theirs = (build(one.implicit_step(1, (1.0, 0.5))) for one in (made, plant))
    for one, other in zip(ours(*step, still, []), theirs(*step, [], []), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * np.abs(other).max())
    rates = [build(made.rate)(*state, [], still, []), build(plant.rate)(*state, [], [], [])]
    np.testing.assert_allclose(*rates, rtol=1e-12, atol=1e-12 * np.abs(rates[1]).max())
    work = [one.implicit_step(1).ops for one in (made, plant)]
    record_property("figure", ("operations of a step", "elements", work[0]))
    record_property("figure", ("operations of a step", "by hand", work[1]))
    assert work[0] < 1.05 * work[1]  # contacts bound the guess, and take a secant where they go deeper
    assert made.implicit_step(1).for_one.ops < 0.3 * work[1]


def test_damping_of_joints_is_taken_at_the_end_of_the_step() -> None:
    """A joint of 1 kg m^2 with a damping of 1e4 N m s/rad: an explicit step of 10 ms would be off a hundredfold."""
    stepper = Stepper(door(1.0, damping=1e4), method="implicit_contact", step=0.01, v=[1.0])
    state = stepper.advance(0.05)
    assert state.v[0] == pytest.approx(1.0 / 101.0**5, rel=1e-9)


def door(inertia: float, **options: Any) -> kinemorph.Robot:
    """A leaf that turns about z, without gravity."""
    builder = kinemorph.RobotBuilder("door", gravity=(0.0, 0.0, 0.0))
    builder.add(kinemorph.Body("leaf", 1.0, (0.0, 0.0, 0.0), ((1.0, 0, 0), (0, 1.0, 0), (0, 0, inertia))))
    return builder.joint("hinge", "revolute", "world", "leaf", axis=(0.0, 0.0, 1.0), **options).build()


@pytest.mark.parametrize("h", [1e-3, 0.1, 1.0, 100.0])  # h sqrt(kp / I) up to 2000
@pytest.mark.parametrize("centered", [False, True])
def test_gains_of_any_size_are_stable(h: float, centered: bool) -> None:
    """At the end of a step they are backward Euler's, in a centered one those of the implicit midpoint rule."""
    I, kp, kd = 0.1, 40.0, 0.5
    A, one = np.array([[0.0, 1.0], [-kp / I, -kd / I]]), np.eye(2)
    step = np.linalg.solve(one - 0.5 * h * A, one + 0.5 * h * A) if centered else np.linalg.inv(one - h * A)
    system = kinemorph.System(door(I), (PD("hold", joints=("hinge",), kp=(kp,), kd=(kd,)),))
    method = "centered_contact" if centered else "implicit_contact"
    stepper = Stepper(system, method=method, step=h, q=[0.3], v=[-0.2])
    wanted = np.array([0.3, -0.2])
    for _ in range(50):
        wanted, state = step @ wanted, stepper.step()
        assert np.abs([state.q[0] - wanted[0], state.v[0] - wanted[1]]).max() < 1e-12
    assert abs(state.q[0]) < 0.3


def test_motion_without_contact_is_of_order_two_where_a_step_is_centered() -> None:
    """A pendulum on a spring: the error falls by four as the step is halved, at the end of a step by two."""
    builder = kinemorph.RobotBuilder("pendulum")
    builder.add(kinemorph.Body("bob", 1.0, (0.5, 0.0, 0.0), ((0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1))))
    robot = builder.joint("hinge", "revolute", "world", "bob", axis=(0.0, 1.0, 0.0)).build()
    system = kinemorph.System(robot, (PD("hold", joints=("hinge",), kp=(5.0,), kd=(0.3,)),))
    exact = Stepper(system, method="dop853", rtol=1e-12, atol=1e-12, v=[1.0]).advance(1.0).q[0]
    for method, fall in (("implicit_contact", 2.0), ("centered_contact", 4.0)):
        off = [abs(Stepper(system, method=method, step=h, v=[1.0]).advance(1.0).q[0] - exact) for h in (4e-3, 2e-3)]
        assert off[0] / off[1] == pytest.approx(fall, rel=0.05), method


def test_plants_without_such_a_step_say_so() -> None:
    spring = second_order(lambda q, a: [a[0] + q[0]], {"x": "m"}, name="spring")
    with pytest.raises(UnsupportedError, match=r"'spring'.*methods for contact are for robots only.*radau"):
        Stepper(spring, method="implicit_contact", step=0.01)


# ── explicit steps that are too large ─────────────────────────────────────────────────────────────────────────────────


def chatter(method: str, h: float) -> Any:
    stiff, _, _ = hexapod()
    times, rows = np.linspace(0.0, 0.3, 16)[1:], run(method, h, 0.3, samples=15)
    points = dict(zip(stiff.points, stiff.at_points(), strict=True))
    joints = {f"joint {force.velocity}": force for force in stiff.at_joints(0.0, ())}

    def at(k: int) -> Any:
        return frozen(stiff.tree, rows[k, :25].tolist(), rows[k, 25:].tolist(), StiffByName(points, joints), h)

    return find_chatter(METHODS[method], h, times, at), rows


def test_a_run_that_chatters_warns_and_names_the_contact() -> None:
    stiff, _, q = hexapod()
    system = as_elements(stiff)
    with pytest.warns(ChatterWarning, match=r"'ground of foot\d' at t = .* s is too stiff.*'semi_implicit_euler'"):
        kinemorph.simulate(system, 0.06, q=q, v=PUSHED, method="semi_implicit_euler", step=1e-3, output_step=0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kinemorph.simulate(system, 0.02, q=q, v=PUSHED, method="implicit_contact", step=1e-3, output_step=0.01)


@pytest.mark.parametrize("method", ["semi_implicit_euler", "rk4"])
def test_silent_chatter_is_found_and_named(method: str, record_property: Any) -> None:
    fine = run("extrapolated_contact", 2e-5, 0.3, samples=15)
    found, rows = chatter(method, 1e-3)
    wrong = off(rows, fine)
    assert np.isfinite(rows).all() and wrong[2] > 2e-3  # nothing tells but the trajectory
    assert found is not None and found.name.startswith("foot") and found.growth > GROWTH
    assert "method='implicit_contact'" in str(found) and f"'{found.name}'" in str(found)
    record_property("figure", ("largest stable step [s]", method, float(found.limit)))
    for _ in range(3):  # a run that chatters has not seen the stiffest states; its advice leads there in a few rounds
        found, rows = chatter(method, 0.8 * found.limit)
        if found is None:
            break
    assert found is None, str(found)
    assert np.all(off(rows, fine) < 0.1 * wrong)


def test_implicit_methods_have_no_limit() -> None:
    assert chatter("implicit_contact", 2e-3)[0] is None


@pytest.mark.parametrize(
    ("method", "damped", "undamped"),
    [("euler", 2.0, 0.0), ("rk4", 2.785, 2.828), ("semi_implicit_euler", 2.0, 2.0), ("dop853", 6.4, None)],
)
def test_limits_are_those_of_the_books(method: str, damped: float, undamped: float | None) -> None:
    """|R(h lambda)| = 1 on the real and on the imaginary axis: h c / m and h sqrt(k / m)."""
    sizes = np.linspace(0.01, 8.0, 800)

    def grows(A: Any, h: float) -> bool:
        step: Any = step_matrix(METHODS[method], np.array(A), h)
        return bool(np.abs(np.linalg.eigvals(step)).max() > 1.0 + 1e-9)

    assert next(h for h in sizes if grows([[0.0, 1.0], [0.0, -1.0]], h)) == pytest.approx(damped, abs=0.05)
    if undamped is not None:
        assert next(h for h in sizes if grows([[0.0, 1.0], [-1.0, 0.0]], h)) == pytest.approx(undamped, abs=0.03)


def test_the_stable_step_of_a_ball_on_the_ground() -> None:
    """A mass on a spring and a damper that are known: h = 2 m / c where the damper rules."""
    builder = kinemorph.RobotBuilder("ball").add(kinemorph.Body.sphere("ball", 2.0, 0.1))
    builder.root("ball", "free")
    stiff = Stiff(builder.build(), {"ball": Ground(k=1e3, c=1e6, mu=0.0)})
    q, v = [0.0, 0.0, -0.01, 1.0, 0.0, 0.0, 0.0], [0.0] * 6
    held = frozen(stiff.tree, q, v, StiffByName({"ball": stiff.at_points()[0]}))
    np.testing.assert_allclose(np.diag(held.C)[:3], [0.0, 0.0, 1e4], atol=1e-6)
    np.testing.assert_allclose(np.diag(held.K)[:3], [0.0, 0.0, 1e3], rtol=1e-6, atol=1e-6)
    limit = stable_step(METHODS["euler"], held, 1.0)
    assert limit == pytest.approx((1.0 + GROWTH) * 2.0 / 1e4, rel=0.02)
    assert largest_growth(METHODS["euler"], held, 0.9 * limit)[0] <= GROWTH
    tau, wrenches, _ = present_forces(stiff.tree, q, v, stiff.at_points(), [])
    assert wrenches[0][0][2] == pytest.approx(10.0)
    assert tau == [0.0] * 6
