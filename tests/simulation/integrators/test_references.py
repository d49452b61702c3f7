"""Reference problems with numbers from elsewhere: each is solved at a tight tolerance and compared."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinemorph import derive, library
from kinemorph.algebra.quaternions import quat_to_rotation
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.simulation.march.guards import Guard
from kinemorph.simulation.results.trajectory import Segment
from kinemorph.simulation.simulate import simulate
from support.robots.reference_robots import chain_by_lagrange, planar_chain, reference, relative

TIGHT = {"rtol": 1e-13, "atol": 1e-13}


def run(model, times, **options) -> Segment:
    """The samples at `times`, 0 left out."""
    found = simulate(model, times[-1], output_step=times, **{**TIGHT, **options})
    assert found.outcome.ok, found.outcome.message
    (segment,) = found.segments
    assert segment.t[1:].tolist() == list(times)
    return segment


def absolute(segment: Segment) -> np.ndarray:
    """[angles from the vertical, rates] of all links at the samples after 0."""
    return np.concatenate([segment.q.cumsum(axis=1), segment.v.cumsum(axis=1)], axis=1)[1:]


def off(found, expected) -> float:
    return float(np.abs(np.asarray(found) - np.asarray(expected, dtype=float)).max())


def test_simple_pendulum_with_large_swing():
    case = reference("a01_simple_pendulum")
    robot = planar_chain([1.0], [1.0], [0.0], [1.0], 9.81)
    states = case["reference"]["states"]
    segment = run(robot, sorted(map(float, states)), q=[-np.pi / 2])
    for t, q, v in zip(segment.t[1:], segment.q[1:, 0], segment.v[1:, 0], strict=True):
        wanted = states[f"{t:g}"]
        assert off([np.sin(q), -np.cos(q), np.cos(q) * v, np.sin(q) * v], list(wanted.values())) < 1e-10
    period = case["reference"]["period"]
    assert off(run(robot, [period / 2, period], q=[-np.pi / 2]).q[1:, 0], [np.pi / 2, -np.pi / 2]) < 1e-10


def test_double_pendulum_of_heavy_bars():
    case = reference("double_pendulum")
    states = case["reference"]["a"]
    times = sorted(map(float, states))
    segment = run(planar_chain([1, 1], [1, 1], [1, 1], [0.5, 0.5], 10.0), times, q=[np.pi / 2, 0.0])
    found = absolute(segment)
    found[:, :2] -= np.pi / 2  # from the x axis
    for row, wanted in zip(found, (states[f"{t:g}"] for t in times), strict=True):
        assert off(row, [wanted[key] for key in ("phi1", "phi2", "phi1d", "phi2d")]) < 1e-9
        first, second = row[:2]
        center = [np.cos(first) + np.cos(second) / 2, np.sin(first) + np.sin(second) / 2]
        assert off(center, wanted["com2"]) < 1e-9


def test_sensitive_double_pendulum():
    case = reference("double_pendulum")
    states = case["reference"]["b"]
    times = sorted(map(float, states))
    robot = library.double_pendulum((1.0, 1.0), (1.0, 1.0), point=True)
    found = absolute(run(robot, times, q=[np.pi / 2, 0.0]))
    for t, row in zip(times, found, strict=True):
        wanted = [float(states[f"{t:g}"][key]) for key in ("th1", "th2", "th1d", "th2d")]
        grown = case["reference"]["b_perturbation_growth"][f"{t:g}"]
        assert off(row, wanted) < 1e-12 * grown * 10


def test_ten_link_chain():
    case = reference("chain_10_links")
    robot = library.chain(10, 0.1, 0.1)
    start = [np.pi / 2] + [0.0] * 9
    states = case["reference"]["states"]
    times = sorted(map(float, states))
    segment = run(robot, times, q=start)
    tip = derive(robot).pose("tip")
    for key, q, row in zip(states, segment.q[1:], absolute(segment), strict=True):
        wanted = states[key]
        allowed = 1e-10 if float(key) < 0.9 else 1e-9
        assert off(row[:10] - np.pi / 2, wanted["abs_angles"]) < allowed
        assert off(row[10:], wanted["abs_rates"]) < 100 * allowed
        assert off(tip(q)[[0, 2], 3], wanted["tip"]) < allowed
    first = derive(robot).forward_dynamics(start, np.zeros(10), np.zeros(10))
    assert off(first.cumsum(), case["reference"]["initial_angular_acc_abs"]) < 1e-10


def test_heavy_top():
    case = reference("heavy_top")
    given = case["inputs"]
    builder = RobotBuilder("top").body("top", given["mass"], com=given["com_from_fixed_point"], inertia=given["J_com"])
    robot = builder.joint("pivot", "spherical", "world", "top").build()
    states = case["reference"]["states"]
    segment = run(robot, sorted(map(float, states)), q=[1, 0, 0, 0], v=given["omega0_body"])
    for wanted, q, v in zip(states.values(), segment.q[1:], segment.v[1:], strict=True):
        assert off(q * np.sign(q @ wanted["quat_wxyz"]), wanted["quat_wxyz"]) < 1e-9
        assert off(v, wanted["omega_body"]) < 1e-8
        assert off(np.array(quat_to_rotation(q))[:, 1], wanted["com"]) < 1e-9
    energies = np.array([sum(derive(robot).energy(q, v)) for q, v in zip(segment.q, segment.v, strict=True)])
    assert off(energies, case["reference"]["energy"]) < 1e-8


def test_flips_about_the_middle_axis():
    case = reference("dzhanibekov")
    given = case["inputs"]
    builder = RobotBuilder("nut", gravity=(0.0, 0.0, 0.0)).body("nut", 1.0, inertia=given["I"])
    robot = builder.joint("base", "free", "world", "nut").build()
    states = case["reference"]["omega_body"]
    v = [0.3, -0.2, 0.1, *given["omega0_body"]]
    segment = run(robot, sorted(map(float, states)), v=v)
    I = np.array(given["I"])
    turned = [np.array(quat_to_rotation(q[3:])) @ (I * v[3:]) for q, v in zip(segment.q, segment.v, strict=True)]
    assert off(turned, turned[0]) < 1e-10  # the spin stays where it points
    assert off(segment.q[:, :3], np.outer(segment.t, v[:3])) < 1e-10  # straight on, however it turns
    for wanted, w in zip(states.values(), segment.v[1:, 3:], strict=True):
        assert off(w, wanted) < case["tolerance_suggestion"]
        assert abs(w @ (I * w) - case["reference"]["invariants"]["twoT"]) < 1e-10
        assert abs((I * w) @ (I * w) - case["reference"]["invariants"]["H2"]) < 1e-10
    half = case["reference"]["half_flip_time"]
    assert off(run(robot, [half, 2 * half], v=v).v[1:, 4], [-5.0, 5.0]) < 1e-9


def test_bouncing_ball_comes_to_rest():
    case = reference("bouncing_ball")
    given, wanted = case["inputs"], case["reference"]
    builder = RobotBuilder("ball", gravity=(0.0, 0.0, -given["g"])).add(Body.point("ball", 1.0))
    robot = builder.joint("z", "prismatic", "world", "ball", axis=(0.0, 0.0, 1.0)).build()
    bounce = Guard("bounce", lambda q: q[0], "falling", reset=lambda v: {"v": [-given["restitution"] * v[0]]})
    found = simulate(robot, 20.0, q=[given["h0"]], output_step=0.01, events=[bounce], **TIGHT)
    assert found.outcome.kind == "rest" and abs(found.outcome.t - wanted["zeno_time"]) < case["tolerance_suggestion"]
    bounces = [event for event in found.events if event.kind == "reset"]
    impacts = [event.t for event in bounces]
    assert off(impacts[:10], wanted["impact_times"]) < 1e-10
    assert off([-event.before["v"][0] for event in bounces[:10]], wanted["impact_speeds_before"]) < 1e-9
    energies = [event.after["v"][0] ** 2 / event.before["v"][0] ** 2 for event in bounces]
    assert off(energies, wanted["energy_ratio_per_impact"]) < 1e-12
    tops = [
        simulate(robot, (b - a) / 2, v=e.after["v"], **TIGHT).segments[0].q[-1, 0]
        for (a, b), e in zip(pairwise(impacts[:11]), bounces, strict=False)
    ]
    assert off(tops, wanted["apex_heights"]) < 1e-9


POINT_MASSES = {  # theta1 theta2 theta1d theta2d, point masses of 1 kg on rods of 1 m, from (pi/4, pi/2)
    1.0: (-0.675607718, -0.596543368, -2.838080451, -0.487334636),
    2.0: (-0.022658465, -0.506769102, 0.336164954, 5.040972679),
    3.0: (1.078000395, 0.687217432, -1.284783225, -0.835337159),
    4.0: (-0.660306188, -1.512196190, -0.812657407, -1.297772147),
    5.0: (0.093202728, 0.424157393, 3.132931094, 1.321073826),
}
CRANE = {  # x theta xd thetad, cart of 2 kg, load of 1 kg on 1 m, from 60 degrees
    1.0: (0.576413039, -1.041601265, -0.054202889, 0.322100263),
    2.0: (0.003803446, 1.024809078, 0.111536328, -0.644393282),
    3.0: (0.568589664, -0.996810825, -0.175035901, 0.967079183),
    5.0: (0.551253446, -0.907123336, -0.331467750, 1.614253399),
}
EASYDYN = {  # q0 q1 qd0 qd1, relative angles, the example of the EasyDyn paper from (0, 1)
    1.0: (-0.3646151161, 0.4549617253, -1.4481350293, 3.5456620061),
    2.0: (0.1456226237, -0.1467599406, -1.0796004793, 5.7429094798),
    3.0: (0.3056908578, -0.7668687213, -0.9702320414, 0.8016878144),
    4.0: (0.0268565780, -0.8649847844, 0.9172165385, -1.5358141586),
    5.0: (0.2426203647, 0.1655897690, 1.5295166145, -5.2962537299),
}


def test_point_mass_double_pendulum():
    robot = library.double_pendulum((1.0, 1.0), (1.0, 1.0), point=True)
    start, times, ones = [np.pi / 4, np.pi / 2], list(POINT_MASSES), [1.0, 1.0]
    exact = chain_by_lagrange(ones, ones, [0.0, 0.0], ones, 9.81, [*start, 0.0, 0.0], times)
    for formulation in ("newton_euler", "closed_form"):
        found = absolute(run(derive(robot, formulation), times, q=relative(start)))
        assert off(found, list(POINT_MASSES.values())) < 1e-9
        assert off(found, exact) < 1e-10


def test_crane():
    def by_lagrange(t, y):
        _, angle, *rates = y
        s, c = np.sin(angle), np.cos(angle)
        return [*rates, *np.linalg.solve([[3.0, c], [c, 1.0]], [rates[1] ** 2 * s, -9.81 * s])]

    start, times = [0.0, np.pi / 3], list(CRANE)
    exact = solve_ivp(by_lagrange, (0.0, 5.0), [*start, 0.0, 0.0], "DOP853", t_eval=times, rtol=3e-14, atol=1e-14)
    for formulation in ("newton_euler", "closed_form"):
        segment = run(derive(library.crane(2.0, 1.0, 1.0), formulation), times, q=start)
        found = np.concatenate([segment.q, segment.v], axis=1)[1:]
        assert off(found, list(CRANE.values())) < 1e-9
        assert off(found, exact.y.T) < 1e-10


def test_double_pendulum_of_easydyn():
    robot = library.double_pendulum()
    segment = run(robot, list(EASYDYN), q=[0.0, 1.0])
    assert off(np.concatenate([segment.q, segment.v], axis=1)[1:], list(EASYDYN.values())) < 1e-9
    first = derive(robot).forward_dynamics([0.0, 1.0], [0.0, 0.0], [0.0, 0.0])
    assert off(first, [2.34552, -15.6759]) < 5e-5  # as the library prints them


@pytest.mark.parametrize("n", [2, 5])
def test_other_chains_against_equations_written_by_hand(n):
    rng = np.random.default_rng([n, 3])
    masses, lengths, moments = rng.uniform(0.3, 2.0, (3, n))
    centers, g = rng.uniform(0.2, 0.9, n), 3.7
    angles, rates = rng.uniform(-1.5, 1.5, (2, n))
    data = (masses.tolist(), lengths.tolist(), moments.tolist(), centers.tolist(), g)
    times = [0.7, 1.3, 2.0]
    segment = run(planar_chain(*data), times, q=relative(angles), v=relative(rates))
    assert off(absolute(segment), chain_by_lagrange(*data, [*angles, *rates], times)) < 1e-9
