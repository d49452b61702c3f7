"""The running cockroach: its reference against forward kinematics, its run against momenta, measurements and the paper.

Requirements 004-10 to 004-14. The long tests simulate twelve strides, of which the first two do not count.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from kinemorph import RobotBuilder, System, derive, elements, legs, library, simulate, simulate_batch
from kinemorph.errors import ModelError
from kinemorph.model.body import Body
from kinemorph.model.library.animals.cockroach import LEGS
from kinemorph.model.library.animals.cockroach_data import MEASURED, PAIRS, number
from kinemorph.model.library.animals.cockroach_gait import TRIPOD, foot_path
from kinemorph.model.parameter import evaluate
from kinemorph.plants import plant
from kinemorph.simulation.results.trajectory import Trajectory

SPEED, FREQUENCY, DUTY = number("gait_speed"), number("gait_frequency"), number("gait_duty")
STRIDE = 1.0 / FREQUENCY
FIRST = 2  # strides that do not count
EXCURSION = SPEED * DUTY / FREQUENCY


def test_feet_of_the_reference_are_where_forward_kinematics_puts_them() -> None:
    """At the points of the spline, a robot with the angles of the reference has its feet on their paths."""
    system = library.running_cockroach()
    robot, gait = system.robot, system.element("gait")
    dynamics = derive(robot, backend="interpreter")
    q = system.initial_state()[0]
    place = {name: robot.q_names.index(name) for name in gait.joints}  # type: ignore[attr-defined]
    for k in (0, 7, 31, 44):
        for name, angle in zip(gait.joints, gait.points[k], strict=True):  # type: ignore[attr-defined]
            q[place[name]] = angle
        q[:3] = 0.0, 0.0, number("running_height")
        for leg in ("front_left", "hind_right", "middle_right"):
            phase = (gait.times[k] / STRIDE + (0.0 if leg in TRIPOD else 0.5)) % 1.0  # type: ignore[attr-defined]
            x, out, z = foot_path(leg, phase, EXCURSION)
            side = 1.0 if leg.endswith("left") else -1.0
            np.testing.assert_allclose(dynamics.pose(f"{leg}_foot")(q)[:3, 3], (x, side * out, z), atol=1e-12)


def test_feet_that_stand_move_at_the_speed_of_the_gait_and_swing_back_smoothly() -> None:
    tiny = 1e-7
    for pair in PAIRS:
        spread, leg = number(f"{pair}_running_spread"), f"{pair}_left"
        inside = np.array([foot_path(leg, phase, EXCURSION) for phase in (0.1, 0.5)])
        way = -(EXCURSION - spread) * 0.4 / DUTY
        assert inside[1, 0] - inside[0, 0] == pytest.approx(way, rel=1e-12)
        for edge in (DUTY, 1.0):  # no jump of the place, nor of the velocity along x
            before, at, after = (np.array(foot_path(leg, (edge + d) % 1.0, EXCURSION)) for d in (-tiny, 0.0, tiny))
            np.testing.assert_allclose(before, after, atol=1e-8)
            assert (after - at)[0] == pytest.approx((at - before)[0], rel=1e-4)
    heights = [foot_path("front_left", phase, EXCURSION)[2] for phase in np.linspace(0.0, 1.0, 101)]
    dip = number("running_dip") * number("front_running_press")
    assert max(heights) == pytest.approx(number("running_lift") + dip, rel=1e-3)


def test_a_run_begins_with_a_tripod_whose_feet_rest_on_the_ground() -> None:
    """Front and hind feet of one side and the middle foot of the other stand, the others swing forward.

    Feet that stand move on the ground by their spread only, which brakes or drives.
    """
    system = library.running_cockroach()
    dynamics = derive(system.robot, backend="interpreter")
    q, v = system.initial_state()[:2]
    for leg in LEGS:
        pair, stands = leg.partition("_")[0], leg in ("front_left", "middle_right", "hind_left")
        pose = dynamics.pose(f"{leg}_foot")(q)
        forward = (dynamics.jacobian(f"{leg}_foot", "local_world_aligned")(q) @ v)[0]
        if stands:
            assert pose[2, 3] < 0.0
            assert forward == pytest.approx(number(f"{pair}_running_spread") * FREQUENCY / DUTY, abs=1e-5 * SPEED)
        else:
            middle = foot_path(leg, 0.5, EXCURSION)[0]  # half a stride after touchdown, before liftoff
            assert pose[0, 3] == pytest.approx(middle, abs=1e-12)


def test_bad_arguments_are_told() -> None:
    with pytest.raises(ModelError, match=r"duty is 0\.95"):
        library.running_cockroach(duty=0.95)
    with pytest.raises(ModelError, match="the foot of leg 'front_left'"):
        library.running_cockroach(speed=0.6)
    with pytest.raises(ModelError, match="frequency"):
        library.running_cockroach(frequency=0.0)


# ── twelve strides ────────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def ran(step: float | None = None) -> Trajectory:
    """Twelve strides, with fixed steps [s], or with events of the contacts located and steps of a small error."""
    system = legs.with_measures(library.running_cockroach())
    run = simulate(system, rtol=1e-9, atol=1e-11) if step is None else simulate(system, step=step)
    assert run.outcome.ok
    return run


def impulses(run: Trajectory) -> dict[str, np.ndarray]:
    """For each pair of legs the mean impulse of a stance [g cm/s], mirrored to the left."""
    means = legs.stances(run, after=FIRST * STRIDE, shortest=0.02 * STRIDE).means()
    mirror = np.array([1.0, -1.0, 1.0])
    return {
        pair: 0.5e5 * (np.array(means[f"{pair}_left"].impulse) + mirror * means[f"{pair}_right"].impulse)
        for pair in PAIRS
    }


@pytest.mark.slow
def test_ten_strides_at_the_speed_of_the_animal_without_a_fall() -> None:
    run = ran()
    figures = legs.stride_figures(run, FREQUENCY, after=FIRST * STRIDE)
    assert figures.strides == 10 and figures.speed == pytest.approx(SPEED, rel=0.1)
    x = run["q.body_root.x"][200 * np.arange(FIRST, 13)]
    np.testing.assert_allclose(np.diff(x) / STRIDE, SPEED, rtol=0.1)  # in every one of them
    assert run["q.body_root.z"].min() > 0.7 * number("running_height")
    assert np.degrees(max(figures.rotations)) < 7.0
    assert figures.fluctuation[1] < 0.5 * figures.fluctuation[2] and figures.lateral_rms < 0.5
    found = legs.stances(run, after=FIRST * STRIDE, shortest=0.02 * STRIDE)
    assert all(len(found[leg]) >= 9 for leg in LEGS)


@pytest.mark.slow
def test_front_legs_brake_hind_legs_drive_and_middle_legs_do_least() -> None:
    found = impulses(ran())
    paper = {row.name: row.value for row in MEASURED}
    front, middle, hind = (found[pair][0] for pair in PAIRS)
    assert 1.0 / 3.0 < front / paper["front_impulse"] < 3.0
    assert 1.0 / 3.0 < hind / paper["hind_impulse"] < 3.0
    assert front < 0.0 < hind and abs(middle) < min(-front, hind)


@pytest.mark.slow
def test_momentum_of_all_bodies_is_the_sum_of_impulses_in_every_stride() -> None:
    run = ran()
    weight = 9.81 * run.segments[0].plant.robot.total_mass  # type: ignore[union-attr]
    ends = 200 * np.arange(13)
    pushed = sum(np.stack([run[f"{leg}_ground_impulse_{axis}"][ends] for axis in "xyz"], axis=1) for leg in LEGS)
    gained = np.diff(run.momentum[ends, :3], axis=0)
    fallen = np.array([0.0, 0.0, -weight * STRIDE])
    assert np.abs(gained - np.diff(pushed, axis=0) - fallen).max() < 1e-6 * weight * STRIDE


@pytest.mark.slow
def test_half_the_step_and_located_events_give_the_same_impulses() -> None:
    """Fixed steps and adaptive ones converge to the same impulses: within 0.5 % of the vertical ones (asked: 2 %).

    Steps have to resolve tibiae on the dampers of their joints, whose time constants are 3 us and more.
    """
    located = impulses(ran())
    for step in (2.5e-6, 1.25e-6):
        for pair, found in impulses(ran(step)).items():
            assert np.abs(found - located[pair]).max() < 0.005 * located[pair][2], (step, pair)


@pytest.mark.slow
def test_energies_are_those_of_animals_within_the_ratios_that_the_page_explains() -> None:
    figures = legs.stride_figures(ran(), FREQUENCY, after=FIRST * STRIDE)
    roll, pitch, yaw = figures.rotational
    found = {
        "cost_of_transport": figures.cost_of_transport,
        "limb_energy": 1e6 * figures.limbs,
        "limb_power": 1e3 * figures.limb_power,
        "limb_share": figures.limbs / figures.external,
        "pitch_energy": 1e6 * pitch,
        "yaw_energy": 1e6 * yaw,
        "roll_energy": 1e6 * roll,
    }
    measured = {row.name: row.value for row in MEASURED}
    for name, value in found.items():
        assert 0.1 < value / measured[name] < 10.0, name
    for name in ("limb_energy", "limb_power"):
        assert 0.5 < found[name] / measured[name] < 2.0, name


def test_energies_of_limbs_are_those_of_their_bodies() -> None:
    """A trunk with one leg that tumbles in the air, against the energy of the leg from its own Jacobian.

    Falling freely up and down, it gains no energy of its center of mass.
    """
    builder = RobotBuilder("tumbler").add(Body.box("trunk", 2.0, (0.3, 0.2, 0.1), (0.02, 0.0, 0.01)))
    builder.add(Body.rod("leg", 0.5, 0.3, (0.0, 0.0, -0.15), axis="z")).root("trunk", "free")
    builder.joint("hip", "revolute", "trunk", "leg", axis=(0.0, 1.0, 0.0), translation=(0.1, 0.0, -0.05))
    robot = builder.frame("foot", "leg", translation=(0.0, 0.0, -0.3)).build()
    system = System(robot, (elements.Contact("toe", "foot", elements.EasyDynNormal(1e3)),))
    start = {"q": [0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.3], "v": [0.5, 0.1, 1.0, 2.0, -1.0, 3.0, 4.0]}
    run = simulate(system, 0.5, **start, rtol=1e-10, atol=1e-12)  # type: ignore[arg-type]
    found, dynamics = legs.stride_figures(run, 4.0), derive(robot, backend="interpreter")
    leg, energies = robot.body("leg"), []
    for q, v, momentum in zip(run.q, run.v, run.momentum, strict=True):
        R = dynamics.pose("leg")(q)[:3, :3]
        twist = dynamics.jacobian("leg")(q) @ v
        apart = twist[:3] + np.cross(twist[3:], leg.com) - R.T @ momentum[:3] / robot.total_mass
        energies.append(0.25 * apart @ apart + 0.5 * twist[3:] @ np.array(leg.inertia, dtype=float) @ twist[3:])
    gained = np.maximum(np.diff(energies), 0.0).sum() / 2.0
    w, x, y, z = run.q[:, 3:7].T  # angles and energies of the trunk from its quaternion and angular velocity
    roll = np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = np.arcsin(2.0 * (w * y - x * z))
    yaw = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    assert found.rotations == pytest.approx([np.abs(angle).max() for angle in (roll, pitch, yaw)], rel=1e-9)
    moments = 2.0 / 12.0 * np.array([0.2**2 + 0.1**2, 0.3**2 + 0.1**2, 0.3**2 + 0.2**2])  # of a box of 2 kg
    turning = np.maximum(np.diff(0.5 * moments * run.v[:, 3:6] ** 2, axis=0), 0.0).sum(axis=0) / 2.0
    assert found.rotational == pytest.approx(turning, rel=1e-9)
    assert found.strides == 2 and found.limbs == pytest.approx(gained, rel=1e-9) and gained > 0.01
    assert found.external < 1e-8 and found.fluctuation == (0.0, 0.0, 0.0)
    with pytest.raises(ModelError, match="no whole stride"):
        legs.stride_figures(run, 1.0)


# ── an adjustable gait ────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_adjustable_gait_has_the_same_points_with_every_leg_at_its_touchdown() -> None:
    """The points of legs that touch down half a stride later are those of the usual gait, half a stride apart."""
    usual, own = (library.running_cockroach(adjustable=free).element("gait") for free in (False, True))
    phases = [parameter.value for parameter in own.shift]  # type: ignore[attr-defined]
    assert usual.joints == own.joints and usual.times == own.times  # type: ignore[attr-defined]
    points, turned = (np.array(gait.points)[:-1] for gait in (usual, own))  # type: ignore[attr-defined]
    for k, name in enumerate(usual.joints):  # type: ignore[attr-defined]
        assert phases[k] == (0.0 if name.startswith(TRIPOD) else 0.5)
        np.testing.assert_allclose(np.roll(turned[:, k], -round(60 * phases[k])), points[:, k], atol=1e-14)


@cache
def adjustable() -> Any:
    names = ["gait_period", "gait_duty", *(f"{leg}_phase" for leg in LEGS)]
    return plant(library.running_cockroach(adjustable=True), parameters=names)


@pytest.mark.slow
def test_phases_half_a_stride_ahead_are_a_run_that_begins_half_a_stride_later() -> None:
    """From the same state, so that all forces are the same as well; the usual gait is that of phases 0 and 0.5."""
    made, later = adjustable(), 0.5 * STRIDE
    ahead = {f"{leg}_phase": 0.5 if leg in TRIPOD else 1.0 for leg in LEGS}
    one = simulate(made, 0.05, p=ahead, step=1e-4, output_step=0.01)
    other = simulate(made, later + 0.05, start=later, step=1e-4, output_step=0.01)
    np.testing.assert_allclose(one.q, other.q, atol=1e-7)
    np.testing.assert_allclose(one["gait.hind_left_femur_tibia"], other["gait.hind_left_femur_tibia"], atol=1e-12)
    usual, same = (simulate(model, 0.05, step=1e-4, output_step=0.01) for model in (library.running_cockroach(), made))
    np.testing.assert_allclose(usual.q, same.q, atol=1e-7)
    assert np.abs(one.q - same.q).max() > 0.1


@pytest.mark.slow
def test_measured_duty_factors_and_impulses_follow_the_parameter() -> None:
    """The way of a foot that stands is the same, so that periods in inverse proportion to the duty keep the speed.

    Vertical impulses of all legs in a stride carry the weight, whatever the duty factor.
    """
    duties = np.array([0.5, 0.55, 0.6, 0.65])
    periods = STRIDE * DUTY / duties
    options: Any = {"method": "centered_contact", "step": 1e-4, "output_step": STRIDE / 200}
    batch = simulate_batch(adjustable(), 10 * STRIDE, p={"gait_duty": duties, "gait_period": periods}, **options)
    mass = sum(evaluate(body.mass) for body in library.cockroach().robot.bodies)
    measured = []
    for run, period in zip(batch, periods, strict=True):
        assert run["q.body_root.x"][-1] / run.t[-1] == pytest.approx(SPEED, rel=0.05)
        means = legs.stances(run, after=FIRST * STRIDE, shortest=0.02 * STRIDE).means()
        measured.append(np.mean([means[leg].duty for leg in LEGS]))
        upward = sum(means[leg].impulse[2] for leg in LEGS)
        assert upward == pytest.approx(9.81 * mass * period, rel=0.03)
    np.testing.assert_allclose(np.diff(measured), np.diff(duties), rtol=0.25)
