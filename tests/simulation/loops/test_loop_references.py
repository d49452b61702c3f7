"""Reference problems with closed loops and numbers from elsewhere, and others of their kind solved a second way.

Where a whole span takes long it is marked slow; a part of it runs always.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinemorph import derive, library
from kinemorph.algebra.scalar import sin, sqrt
from kinemorph.analysis.loops.close_loops import close_loops
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.constraints.own_constraints import Constraint
from kinemorph.model.elements.constraints.prescribed import PrescribedMotion
from kinemorph.model.elements.forces.applied import AppliedEffort
from kinemorph.model.elements.forces.springs import Spring
from kinemorph.model.library.benchmark_machines import SQUEEZER_START
from kinemorph.model.robot import Robot
from kinemorph.model.system import Settings, System
from kinemorph.simulation.simulate import simulate
from support.references import reduced_linkages as by_hand
from support.robots.reference_robots import reference

TIGHT = {"rtol": 1e-12, "atol": 1e-12}


def run(model: Robot | System, times: Sequence[float], **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) at `times`, from the model's own start."""
    found = simulate(model, times[-1], output_step=times, **{**TIGHT, **options})
    assert found.outcome.ok, found.outcome.message
    (segment,) = found.segments
    assert segment.t[1:].tolist() == list(times)
    return segment.q[1:], segment.v[1:]


def off(found: Any, expected: Any) -> float:
    return float(np.abs(np.asarray(found) - np.asarray(expected, dtype=float)).max())


def by_time(states: dict[str, Any], until: float = np.inf) -> tuple[list[float], list[Any]]:
    """(times, values) of a reference up to a time."""
    rows = sorted((float(t), value) for t, value in states.items() if float(t) <= until)
    return [t for t, _ in rows], [list(row.values()) if isinstance(row, dict) else row for _, row in rows]


# ── A02: N four-bars ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("n", "until"),
    [(2, 5.0), *(pytest.param(n, 20.0, marks=pytest.mark.slow) for n in (1, 2, 40))],
)
def test_four_bars_in_a_row_pass_where_they_could_fold(n: int, until: float) -> None:
    case = reference("a02_n_four_bar")
    times, states = by_time(case["reference"][str(n)]["states"], until)
    q, v = run(library.n_four_bar(n), times, rtol=1e-11, atol=1e-11)
    th, rate = q[:, 0], v[:, 0]
    top = np.transpose([-np.sin(th), np.cos(th), -np.cos(th) * rate, -np.sin(th) * rate])
    assert off(top, states) < case["tolerance_suggestion"]
    assert off(q[:, : n + 1], th[:, None]) < 1e-9  # still a parallelogram


@pytest.mark.parametrize("n", [3, 40])
def test_accelerations_of_many_four_bars_against_one_equation(n: int) -> None:
    length, mass, th, rate = 0.7, 0.4, 2.3, -3.0
    robot = library.n_four_bar(n, length, mass).robot
    q = np.array([th - np.pi / 2] * (n + 1) + [np.pi / 2 - th] * n)
    v = np.array([rate] * (n + 1) + [-rate] * n)
    a = derive(robot, backend="interpreter").forward_dynamics(q, v, np.zeros(robot.nv))
    expected = by_hand.acceleration(by_hand.n_four_bar(n, length, mass), th, rate)
    assert off(a, [expected] * (n + 1) + [-expected] * n) < 1e-8


# ── A03: Andrews' squeezer ────────────────────────────────────────────────────────────────────────────────────────────


def meetings(angles: np.ndarray) -> np.ndarray:
    """The published closure: where K2 has the common point, less where K3, K4 and K6 have it, (6,)."""
    p = reference("a03_andrews_squeezer")["inputs"]["parameters"]
    b, T, g, P, d, O, e = angles
    c, s = np.cos, np.sin
    x, y = p["rr"] * c(b) - p["d"] * c(b + T), p["rr"] * s(b) - p["d"] * s(b + T)
    others = (
        (p["xb"] + p["ss"] * s(g), p["yb"] - p["ss"] * c(g)),
        (p["xa"] + p["zt"] * c(d) + p["e"] * s(P + d), p["ya"] + p["zt"] * s(d) - p["e"] * c(P + d)),
        (p["xa"] + p["u"] * s(e) + p["zf"] * c(O + e), p["ya"] - p["u"] * c(e) + p["zf"] * s(O + e)),
    )
    return np.array([z for ex, ey in others for z in (x - ex, y - ey)])


def spring_moment(gamma: float) -> float:
    """What the spring does to the angle of K3."""
    p = reference("a03_andrews_squeezer")["inputs"]["parameters"]
    arm = np.array(
        [
            p["sc"] * np.sin(gamma) + p["sd"] * np.cos(gamma),
            p["sd"] * np.sin(gamma) - p["sc"] * np.cos(gamma),
        ]
    )
    way = np.array([p["xc"] - p["xb"], p["yc"] - p["yb"]]) - arm
    length = np.linalg.norm(way)
    force = p["c0"] * (length - p["l0"]) / length * way
    return float(arm[0] * force[1] - arm[1] * force[0])


def test_andrews_squeezer() -> None:
    case = reference("a03_andrews_squeezer")["reference"]
    system, zero = library.andrews_squeezer(), np.array(list(SQUEEZER_START.values()))
    times, states = by_time(case["history"])
    found, rates = run(system, times, rtol=1e-13, atol=1e-13)
    expected = np.array(states)
    assert off(found + zero, expected[:, :7]) < 1e-8 and off(rates, expected[:, 7:]) < 1e-8
    # the end: accelerations, and the forces of the closures as they act on the joints
    q, v = found[-1], rates[-1]
    d = derive(system, backend="interpreter")
    tau = np.array([0.033, 0.0, spring_moment(q[2] + zero[2]), 0.0, 0.0, 0.0, 0.0])
    a = d.forward_dynamics(q, v, tau)
    multipliers, rank = d.constraint_forces(q, v, tau)
    assert rank == 6
    recomputed, published = (np.array(list(case[which].values())) for which in ("recomputed", "published"))
    G = np.imag([meetings(q + zero + 1e-30j * unit) for unit in np.eye(7)]) / 1e-30
    share = d.constraint_jacobian(q).T @ multipliers
    assert off(a / recomputed[14:21], 1.0) < 1e-8
    assert off(share, -G @ recomputed[21:]) < 1e-8 * np.abs(share).max()
    # the published column is good to 10, 8 and 6 digits
    assert off((q + zero) / published[:7], 1.0) < 1e-8
    assert off(v / published[7:14], 1.0) < 1e-6
    assert off(a / published[14:21], 1.0) < 1e-5
    assert off(share, -G @ published[21:]) < 1e-5 * np.abs(share).max()


def test_andrews_squeezer_begins_as_published() -> None:
    case = reference("a03_andrews_squeezer")
    system = library.andrews_squeezer()
    assert list(system.robot.q_names) == list(case["inputs"]["initial_angles"])
    assert off(meetings(np.array(list(SQUEEZER_START.values()))), 0.0) < 1e-16
    d = derive(system, backend="interpreter")
    tau = [0.033, 0.0, spring_moment(SQUEEZER_START["gamma"]), 0.0, 0.0, 0.0, 0.0]
    first = d.forward_dynamics(np.zeros(7), np.zeros(7), tau)
    assert off(first, list(case["reference"]["initial_acceleration"].values())) < 1e-8


# ── A04: Bricard's mechanism ──────────────────────────────────────────────────────────────────────────────────────────


def corners(system: System, times: Sequence[float]) -> np.ndarray:
    """Where the corner in the middle is."""
    corner = derive(system, backend="interpreter").pose("P3")
    return np.array([corner(q)[:3, 3] for q in run(system, times)[0]])


def test_bricards_mechanism() -> None:
    times, expected = by_time(reference("a04_bricard")["reference"]["P3"])
    assert off(corners(library.bricard(), times), expected) < 1e-9


@pytest.mark.slow
def test_twice_as_large_and_thrice_as_heavy_it_moves_slower_by_the_square_root_of_two() -> None:
    times, expected = by_time(reference("a04_bricard")["reference"]["P3"])
    assert (
        off(corners(library.bricard(2.0, 3.0, 0.2), [2.0**0.5 * t for t in times]), np.multiply(expected, 2.0)) < 1e-9
    )


# ── A05: a stiff flyball governor ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("until", [1.0, pytest.param(10.0, marks=pytest.mark.slow)])
def test_flyball_governor(until: float) -> None:
    case = reference("a05_flyball_governor")
    times, expected = by_time(case["reference"]["states"], until)
    q, v = run(library.flyball_governor(), times, method="rodas", rtol=1e-9, atol=1e-9)
    found = np.hstack([q[:, :3] + [0.0, 0.5, np.pi / 6], v[:, :3]])
    assert off(found, expected) < case["tolerance_suggestion"] / 100
    assert off(q[:, 2], q[:, 3]) < 1e-12  # both sides alike


@pytest.mark.slow
def test_another_governor_keeps_its_momentum() -> None:
    stiffness, damping, ball, speed = 3e5, 1e4, 2.0, 9.0
    system = library.flyball_governor(stiffness, damping, ball, speed)
    states = zip(*run(system, [0.3, 1.0, 3.0], method="radau", rtol=1e-10, atol=1e-10), strict=True)

    def about_shaft(angle: float) -> float:
        c, s = np.cos(angle), np.sin(angle)
        thick = 0.3 * 0.01**2 / 12.0
        rod = 0.3 * (0.05 + 0.5 * c) ** 2 + 0.3 / 12.0 * c * c + thick * (1.0 + s * s)
        return 0.3 * 0.01**2 / 6.0 + 3.0 * 0.1**2 / 6.0 + 2.0 * (rod + ball * (0.05 + c) ** 2)

    spin = [about_shaft(q[2] + np.pi / 6) * v[0] for q, v in states]
    assert off(spin, about_shaft(np.pi / 6) * speed) < 1e-8


# ── a car's axis: constraints that go with time ───────────────────────────────────────────────────────────────────────


def car_axis(r: float, omega: float, rest: float, g: float, m: float, start: Sequence[float]) -> System:
    """Two masses on springs of stiffness 1, the right one over a wheel that goes up and down; see the test's data."""
    builder = RobotBuilder("car_axis", gravity=(0.0, 0.0, -g))
    for name, mass in (("left", m), ("right", m), ("wheel", 1.0)):
        builder.body(f"{name}_slide").body(name, mass)
        builder.joint(f"{name}_x", "prismatic", "world", f"{name}_slide", axis=(1.0, 0.0, 0.0))
        builder.joint(f"{name}_z", "prismatic", f"{name}_slide", name, axis=(0.0, 0.0, 1.0))
    elements = (
        Spring("left_spring", "world", "left", 1.0, rest),
        Spring("right_spring", "wheel", "right", 1.0, rest),
        PrescribedMotion("up", "wheel_z", lambda t: r * sin(omega * t)),
        PrescribedMotion("along", "wheel_x", lambda t: sqrt(1.0 - (r * sin(omega * t)) ** 2)),
        Constraint("upright", "q.wheel_x * q.left_x + q.wheel_z * q.left_z"),
        Constraint("axle", "(q.left_x - q.right_x)**2 + (q.left_z - q.right_z)**2 - 1"),
    )
    return System(builder.build(), elements, Settings((*start[:4], 1.0, 0.0), (*start[4:], 0.0, r * omega)))


def axis_by_hand(
    r: float, omega: float, rest: float, g: float, m: float, start: Sequence[float], until: float
) -> np.ndarray:
    """[positions, velocities] at the end: accelerations and two multipliers from one linear system."""

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        (xl, yl, xr, yr), (ul, wl, ur, wr) = y[:4], y[4:]
        yb, yb1, yb2 = r * np.sin(omega * t), r * omega * np.cos(omega * t), -r * omega**2 * np.sin(omega * t)
        xb = np.sqrt(1.0 - yb * yb)
        xb1 = -yb * yb1 / xb
        xb2 = -(yb1 * yb1 + yb * yb2 + xb1 * xb1) / xb
        left, right = np.hypot(xl, yl), np.hypot(xr - xb, yr - yb)
        force = np.array(
            [
                (rest - left) * xl / left,
                (rest - left) * yl / left - m * g,
                (rest - right) * (xr - xb) / right,
                (rest - right) * (yr - yb) / right - m * g,
            ]
        )
        J = np.array([[xb, yb, 0.0, 0.0], [2 * (xl - xr), 2 * (yl - yr), 2 * (xr - xl), 2 * (yr - yl)]])
        gamma = [
            -(2 * xb1 * ul + 2 * yb1 * wl + xb2 * xl + yb2 * yl),
            -2 * ((ul - ur) ** 2 + (wl - wr) ** 2),
        ]
        whole = np.block([[m * np.eye(4), -J.T], [J, np.zeros((2, 2))]])
        return np.concatenate([y[4:], np.linalg.solve(whole, [*force, *gamma])[:4]])

    found = solve_ivp(rate, (0.0, until), start, "DOP853", rtol=1e-12, atol=1e-13)
    assert found.success
    return found.y[:, -1]


def test_car_axis() -> None:
    case = reference("car_axis")
    given = case["inputs"]
    m = given["M"] * given["eps"] ** 2 / 2.0
    system = car_axis(given["r"], given["omega"], given["L0"], given["g"], m, given["initial"])
    q, v = run(system, [3.0])
    assert (
        off([*q[-1, :4], *v[-1, :4]], list(case["reference"]["published_t3"].values())[:8])
        < case["tolerance_suggestion"] / 100
    )


@pytest.mark.slow
def test_other_axes_against_equations_by_hand() -> None:
    for r, omega, rest, g, m in ((0.15, 7.0, 0.4, 2.0, 2e-3), (0.05, 3.0, 0.6, 0.5, 1e-2)):
        # an upright start that fits: both masses as high, the axle level, at rest against the turning of the bar
        start = [0.0, 0.45, 1.0, 0.45, -0.45 * r * omega, 0.0, -0.45 * r * omega, 0.0]
        q, v = run(car_axis(r, omega, rest, g, m, start), [1.0])
        assert off([*q[-1, :4], *v[-1, :4]], axis_by_hand(r, omega, rest, g, m, start, 1.0)) < 1e-8


# ── slider-cranks ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_spatial_slider_crank() -> None:
    case = reference("spatial_slider_crank")
    times, expected = by_time(case["reference"]["states"])
    q, v = run(library.spatial_slider_crank(), times)
    found = np.transpose([q[:, 0], v[:, 0], q[:, 1] + case["reference"]["slider_x0"], v[:, 1]])
    assert off(found, expected) < 1e-8
    spins = library.spatial_slider_crank().settings.v[2:]
    across = np.array([0.0, 0.2, -0.1]) / np.hypot(0.2, 0.1)
    assert off(spins[0] * np.eye(3)[0] + spins[1] * across, case["reference"]["omega_conrod_t0"]) < 1e-9


def test_slider_crank_of_easydyn() -> None:
    robot, th = library.slider_crank(), 1.0
    lean = np.arcsin(np.sin(th) / 2.0)
    q = [th, -th - lean, np.cos(th) + 2.0 * np.cos(lean) - 3.0]
    d = derive(robot, backend="interpreter")
    assert off(d.constraint_error(q), 0.0) < 1e-15
    assert abs(d.forward_dynamics(q, np.zeros(3), [10.0, 0.0, 0.0])[0] - 0.244841) < 5e-7  # as the library prints it
    data = ((0.6, 1.7), (0.8, 1.1, 2.0), (0.03, 0.4, 1.0))
    other, rate = derive(library.slider_crank(*data), backend="interpreter"), 2.5
    lean = np.arcsin(0.6 * np.sin(th) / 1.7)
    q = np.array([th, -th - lean, 0.6 * np.cos(th) + 1.7 * np.cos(lean) - 2.3])
    _, _, null = np.linalg.svd(other.constraint_jacobian(q))
    expected = by_hand.acceleration(by_hand.slider_crank(*data), th, rate, torque=4.0)
    found = other.forward_dynamics(q, null[-1] * rate / null[-1][0], [4.0, 0.0, 0.0])
    assert found[0] == pytest.approx(expected, rel=1e-9)


# ── the four-bar of the paper on singular perturbation ────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "loops",
    [
        "projection",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("partitioning", "perturbation", "baumgarte")),
    ],
)
def test_four_bar_with_a_torque_on_its_crank(loops: str) -> None:
    robot = library.four_bar()
    start = close_loops(robot, (0.6, 0.02989836, 1.6066907), held="q1").q
    system = System(robot, (AppliedEffort("drive", "q1", lambda t: 0.5 * sin(2.0 * t)),), Settings(tuple(start)))
    q, v = run(system, [2.0], loops=loops)
    assert abs(q[-1, 0] - -2.62546008) < 1e-8 and abs(v[-1, 0] - -15.88372404) < 2e-8
