"""Runs with constraints of elements against closed forms: a coin that rolls round, a skate on a slope, rods, given
motions, and the car axis of the test set for solvers. Each with its forces and its account of energy.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.special import ellipj, ellipk

from kinemorph import Body, Robot, RobotBuilder, System, derive, elements, load, save, simulate
from kinemorph.algebra.scalar import sin, sqrt
from kinemorph.errors import ModelError, ShapeError
from kinemorph.plants import plant
from support.robots.reference_robots import reference

TIGHT: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-12}


def sliding(name: str, *bodies: tuple[str, float], axes: str = "xyz", gravity: Any = (0.0, 0.0, -9.81)) -> Robot:
    """Points that move freely along axes, each slide called like the point and its axis."""
    builder = RobotBuilder(name, gravity=gravity)
    for body, mass in bodies:
        carrier = "world"
        for k, axis in enumerate(axes):
            last = k == len(axes) - 1
            part = body if last else f"{body}{axis}"
            builder.add(Body.point(part, mass if last else 0.0))
            builder.joint(f"{body}_{axis}", "prismatic", carrier, part, axis=tuple(float(axis == one) for one in "xyz"))
            carrier = part
    return builder.build()


# ── rolling and sliding ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_coin_rolls_round_in_a_circle() -> None:
    """Steady: -A w^2 sin cos + (C + m r^2) s w sin + m g r cos = 0, precession w, spin s about the axle, lean from the
    vertical to the axle; the center goes round at the speed r s (Routh's equations of a disc, A and C its moments).
    """
    m, r, g, lean, w = 2.0, 0.3, 9.81, 1.2, 4.0
    A, C = 0.25 * m * r * r, 0.5 * m * r * r
    s = (A * w * w * math.sin(lean) - m * g * r) * math.cos(lean) / ((C + m * r * r) * w * math.sin(lean))
    coin = Body("coin", m, inertia=np.diag([A, A, C]))
    robot = RobotBuilder("coin").add(coin).joint("root", "free", "world", "coin").build()
    system = System(robot, (elements.RollingDisc("edge", "coin", r, axle=(0.0, 0.0, 1.0)),))
    q = [0.0, 0.0, r * math.sin(lean), math.cos(0.5 * lean), math.sin(0.5 * lean), 0.0, 0.0]
    v = [-r * s, 0.0, 0.0, 0.0, w * math.sin(lean), s]
    run = simulate(system, 2.0, q=q, v=v, output_step=0.1, **TIGHT)
    np.testing.assert_allclose(run["q.root.x"], -r * s / w * np.sin(w * run.t), atol=1e-9)
    np.testing.assert_allclose(run["q.root.y"], -r * s / w * (1.0 - np.cos(w * run.t)), atol=1e-9)
    np.testing.assert_allclose(run["q.root.z"], r * math.sin(lean), atol=1e-11)
    # the ground carries the weight, and the force to the middle of the circle comes from the side
    np.testing.assert_allclose(run["edge.height.force"], m * g, rtol=1e-8)
    np.testing.assert_allclose(np.abs(run["edge.sideways.force"]), m * r * abs(s) * w, rtol=1e-8)
    np.testing.assert_allclose(run["edge.forward.force"], 0.0, atol=1e-8)
    assert np.abs(run["energy.balance"]).max() < 1e-9


def skate() -> Robot:
    """A blade on a plane that falls along x by 3 m/s^2."""
    builder = RobotBuilder("skate", gravity=(3.0, 0.0, 0.0))
    builder.add(Body.point("along", 0.0)).add(Body.point("across", 0.0))
    builder.add(Body.box("skate", 1.5, (0.3, 0.02, 0.1)))
    builder.joint("x", "prismatic", "world", "along", axis=(1, 0, 0))
    builder.joint("y", "prismatic", "along", "across", axis=(0, 1, 0))
    return builder.joint("yaw", "revolute", "across", "skate", axis=(0, 0, 1)).build()


@pytest.mark.parametrize(
    "edge",
    [
        pytest.param(elements.KnifeEdge("edge", "skate"), marks=pytest.mark.slow),
        elements.VelocityConstraint("edge", "v.y * cos(q.yaw) - v.x * sin(q.yaw)"),
    ],
    ids=["blade", "text"],
)
def test_a_skate_on_a_slope_draws_a_cycloid(edge: Any) -> None:
    """It does not run down for good: x = g / 2w^2 sin^2 wt, y = g / 2w^2 (wt - sin(2wt) / 2)."""
    w, g = 1.7, 3.0
    run = simulate(System(skate(), (edge,)), 4.0, q=[0, 0, 0], v=[0, 0, w], output_step=0.1, **TIGHT)
    height = g / (2.0 * w * w)
    np.testing.assert_allclose(run["q.x"], height * np.sin(w * run.t) ** 2, atol=1e-9)
    np.testing.assert_allclose(run["q.y"], height * (w * run.t - 0.5 * np.sin(2.0 * w * run.t)), atol=1e-9)
    # across the blade: what bends the path, and gravity's part
    speed = g / w * np.sin(w * run.t)
    across = 1.5 * (speed * w + g * np.sin(w * run.t))
    np.testing.assert_allclose(np.abs(run["edge.force"]), np.abs(across), atol=1e-8)


def test_a_sleigh_turns_into_its_direction() -> None:
    """Chaplygin's sleigh, its center of mass a before the blade: it ends up straight, w like 1 / cosh."""
    m, inertia, a, speed, spin = 2.0, 0.3, 0.25, 1.0, 0.8
    builder = RobotBuilder("sleigh", gravity=(0.0, 0.0, 0.0))
    builder.add(Body("sleigh", m, (a, 0.0, 0.0), np.diag([inertia] * 3)))
    robot = builder.joint("root", "planar", "world", "sleigh").build()
    run = simulate(
        System(robot, (elements.KnifeEdge("edge", "sleigh"),)), 6.0, v=[speed, 0.0, spin], output_step=0.05, **TIGHT
    )
    # u' = a w^2, (I + m a^2) w' = -m a u w: on the ellipse m u^2 + (I + m a^2) w^2 = 2 E, w = W sech(k (t - t0))
    J = inertia + m * a * a
    most = math.sqrt(speed**2 + J / m * spin**2)
    k = a * m * most / J
    start = -math.atanh(speed / most) / k
    u = most * np.tanh(k * (run.t - start))
    np.testing.assert_allclose(run.v[:, 2], spin * np.cosh(k * start) / np.cosh(k * (run.t - start)), atol=1e-9)
    forward = np.hypot(run.v[:, 0], run.v[:, 1])
    np.testing.assert_allclose(forward, np.abs(u), atol=1e-9)


@pytest.mark.slow
def test_a_ball_on_a_turntable_goes_in_circles() -> None:
    """A solid ball on a table that turns at W goes round at 2/7 W, wherever it is pushed."""
    W, r = 3.0, 0.1
    builder = RobotBuilder("turntable").add(Body.cylinder("table", 5.0, 1.0, 0.1)).add(Body.sphere("ball", 0.5, r))
    builder.joint("turn", "revolute", "world", "table", axis=(0, 0, 1))
    robot = builder.joint("root", "free", "world", "ball").build()
    held = (
        elements.RollingSphere("ball rolls", "ball", r, on="table"),
        elements.PrescribedMotion("drive", "turn", "W * t", known={"W": W}),
    )
    x0, speed = 0.4, 0.2
    # the point of the ball that touches moves with the table: v - r z x ... = W z x p
    spin = [(W * x0 - speed) / r, 0.0, 0.0]
    q, v = [0.0, x0, 0.0, r, 1.0, 0.0, 0.0, 0.0], [W, 0.0, speed, 0.0, *spin]
    run = simulate(System(robot, held), 3.0, q=q, v=v, output_step=0.05, **TIGHT)
    rate = 2.0 / 7.0 * W
    middle = x0 - speed / rate
    np.testing.assert_allclose(run["q.root.x"], middle + speed / rate * np.cos(rate * run.t), atol=1e-8)
    np.testing.assert_allclose(run["q.root.y"], speed / rate * np.sin(rate * run.t), atol=1e-8)
    assert np.abs(run["energy.balance"]).max() < 1e-8


def test_a_speed_that_is_given_supplies_energy() -> None:
    """A row of velocities that goes with time: what it does is in the account, m v^2 / 2 at the least."""
    robot = sliding("sled", ("sled", 2.0), axes="x")
    pace = elements.VelocityConstraint("pace", "v.sled_x - sin(3 * t)")
    run = simulate(System(robot, (pace,)), 0.5, v=[0.0], output_step=0.1, **TIGHT)
    np.testing.assert_allclose(run["energy.supplied"], np.sin(3.0 * run.t) ** 2, atol=1e-9)
    assert np.abs(run["energy.balance"]).max() < 1e-9


# ── rods and guides ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_rod_makes_a_pendulum() -> None:
    m, length, g = 0.7, 1.3, 9.81
    robot = sliding("bob", ("bob", m), axes="xz")
    rod = elements.DistanceConstraint("rod", "world", "bob", length)
    angle = 1.0
    q = [length * math.sin(angle), -length * math.cos(angle)]
    run = simulate(System(robot, (rod,)), 3.0, q=q, output_step=0.05, **TIGHT)
    k = math.sin(0.5 * angle)
    sn, *_ = ellipj(ellipk(k * k) - math.sqrt(g / length) * run.t, k * k)
    swing = 2.0 * np.arcsin(k * sn)  # the exact motion, by elliptic functions
    np.testing.assert_allclose(run["q.bob_x"], length * np.sin(swing), atol=1e-9)
    pull = m * (g * np.cos(swing) + 2.0 * g * (np.cos(swing) - math.cos(angle)))
    np.testing.assert_allclose(run["rod.force"], -pull, atol=1e-8)


@pytest.mark.slow
def test_joints_bear_given_motions() -> None:
    robot = two_links()
    driven = simulate(
        System(robot, (elements.PrescribedMotion("drive", "one", "0.3 * sin(2 * t)"),)), 0.2, output_step=0.1
    )
    through = driven.reactions("one")
    np.testing.assert_allclose(through[:, 4], driven["drive.force"] - 0.1 * driven["v.one"], atol=1e-6)


@pytest.mark.slow
def test_two_rods_and_a_loop_of_them_are_the_same() -> None:
    """A coupler without mass that closes a four-bar is a rod between its ends."""
    builder = RobotBuilder("rockers")
    for name, length, at in (("crank", 0.4, 0.0), ("rocker", 0.7, 1.0)):
        builder.add(Body.rod(name, 1.0, length, (0.5 * length, 0.0, 0.0), axis="x"))
        builder.joint(name, "revolute", "world", name, translation=(at, 0.0, 0.0), axis=(0, -1, 0))
    open_robot = builder.build()
    ends: dict[str, Any] = {"point_a": (0.4, 0.0, 0.0), "point_b": (0.7, 0.0, 0.0)}
    rod = elements.DistanceConstraint("rod", "crank", "rocker", 0.9, **ends)
    # crank up, rocker where its end is 0.9 away
    text = "(1 + 0.7 * cos(q.rocker) - 0.4 * cos(q.crank))**2 + (0.7 * sin(q.rocker) - 0.4 * sin(q.crank))**2 - 0.81"
    runs = [
        simulate(System(open_robot, (one,)), 1.5, q={"crank": 1.2}, output_step=0.05, **TIGHT)
        for one in (rod, elements.Constraint("rod", text))
    ]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-9)
    assert np.ptp(runs[0]["q.rocker"]) > 0.5
    assert np.abs(runs[0]["energy.balance"]).max() < 1e-9


@pytest.mark.slow
def test_a_bead_on_a_hoop_that_turns() -> None:
    """phi(q, t) = 0 in two rows: the hoop turns at w, and the bead obeys  a'' = (w^2 cos a - g / r) sin a."""
    r, w, g = 0.5, 3.0, 9.81
    robot = sliding("bead", ("bead", 0.2))
    hoop = elements.PointOnSurface(
        "hoop", "bead", ("x * sin(w * t) - y * cos(w * t)", "x**2 + y**2 + z**2 - r**2"), known={"w": w, "r": r}
    )
    a0 = 0.6
    q, v = [r * math.sin(a0), 0.0, -r * math.cos(a0)], [0.0, w * r * math.sin(a0), 0.0]
    run = simulate(System(robot, (hoop,)), 3.0, q=q, v=v, output_step=0.05, **TIGHT)

    def rate(t: float, y: Any) -> Any:
        return y[1], (w * w * math.cos(y[0]) - g / r) * math.sin(y[0])

    exact = solve_ivp(rate, (0.0, 3.0), (a0, 0.0), "DOP853", run.t, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(run["q.bead_z"], -r * np.cos(exact.y[0]), atol=1e-8)
    assert np.ptp(run["energy.supplied"]) > 0.1
    assert np.abs(run["energy.balance"]).max() < 1e-9


def test_a_bead_on_a_rail_keeps_its_energy() -> None:
    rail = tuple((0.5 * k, 0.0, 0.3 * math.cos(1.5 * k)) for k in range(9))
    robot = sliding("bead", ("bead", 0.2))
    held = elements.PointOnCurve("rail", "bead", rail)
    run = simulate(System(robot, (held,)), 2.0, q=[0.0, 0.0, 0.3], v={"bead_x": 1.0}, output_step=0.05, **TIGHT)
    x, _, z = np.array(rail).T
    np.testing.assert_allclose(run["q.bead_z"], CubicSpline(x, z)(run["q.bead_x"]), atol=1e-9)
    assert np.ptp(run["q.bead_z"]) > 0.3
    assert np.abs(run["energy.balance"]).max() < 1e-9


# ── given motions ─────────────────────────────────────────────────────────────────────────────────────────────────────


def two_links() -> Robot:
    builder = RobotBuilder("two")
    for name in ("a", "b"):
        builder.add(Body.rod(name, 1.0, 0.8, (0.4, 0.0, 0.0), axis="x"))
    builder.joint("one", "revolute", "world", "a", axis=(0, 1, 0), damping=0.1)
    return builder.joint("two", "revolute", "a", "b", translation=(0.8, 0.0, 0.0), axis=(0, 1, 0)).build()


def test_given_motions_take_the_efforts_of_inverse_dynamics() -> None:
    robot = two_links()
    given = (
        elements.Sinusoid("wish", 0.5, 0.7),
        elements.PrescribedMotion("first", "one", "0.3 * sin(2 * t) + 0.1"),
        elements.PrescribedMotion("second", "two", "wish"),
    )
    run = simulate(System(robot, given), 1.0, q={}, output_step=0.1, **TIGHT)
    t, w = run.t, 2.0 * math.pi * 0.7
    q = np.stack([0.3 * np.sin(2.0 * t) + 0.1, 0.5 * np.sin(w * t)], axis=1)
    v = np.stack([0.6 * np.cos(2.0 * t), 0.5 * w * np.cos(w * t)], axis=1)
    a = np.stack([-1.2 * np.sin(2.0 * t), -0.5 * w * w * np.sin(w * t)], axis=1)
    np.testing.assert_allclose(run.q, q, atol=1e-10)
    np.testing.assert_allclose(run.v, v, atol=1e-9)
    efforts = derive(robot).inverse_dynamics(q, v, a) + [0.1, 0.0] * v
    np.testing.assert_allclose(np.stack([run["first.force"], run["second.force"]], axis=1), efforts, atol=1e-8)
    assert run.columns["first.force"].unit == "N m"
    assert np.abs(run["energy.balance"]).max() < 1e-9


@pytest.mark.parametrize(("method", "tolerance", "within"), [("dop853", 1e-10, 1e-9), ("sundials:ida", 1e-9, 1e-6)])
def test_car_axis(method: str, tolerance: float, within: float) -> None:
    """The published end of the test set, forces of the bars included, from four slides and two rows of text."""
    if method == "sundials:ida":
        pytest.importorskip("sksundae")
    case = reference("car_axis")
    given, end = case["inputs"], case["reference"]["published_t3"]
    mass = 0.5 * given["M"] * given["eps"] ** 2
    robot = sliding("car axis", ("l", mass), ("r", mass), axes="xy", gravity=(0.0, -given["g"], 0.0))
    wheel = "r * sin(omega * t)"
    rows = (
        f"sqrt(L**2 - ({wheel})**2) * q.l_x + {wheel} * q.l_y",
        "(q.l_x - q.r_x)**2 + (q.l_y - q.r_y)**2 - L**2",
    )
    known = {name: given[name] for name in ("r", "omega", "L")}
    bars = elements.Constraint("bars", rows, names=("left", "distance"), known=known)

    def springs(t: Any, xl: Any, yl: Any, xr: Any, yr: Any) -> Any:
        y = given["r"] * sin(given["omega"] * t)
        x, rest = sqrt(given["L"] ** 2 - y * y), given["L0"]
        pulls = [(dx, dy, rest / sqrt(dx * dx + dy * dy) - 1.0) for dx, dy in ((xl, yl), (xr - x, yr - y))]
        return [part * pull for dx, dy, pull in pulls for part in (dx, dy)]

    slides = ("l_x", "l_y", "r_x", "r_y")
    law = elements.Continuous("springs", springs, tuple(f"q.{name}" for name in slides), slides)
    x0 = given["initial"]
    options: dict[str, Any] = {"method": method, "rtol": tolerance, "atol": 0.01 * tolerance}
    run = simulate(System(robot, (bars, law)), 3.0, q=x0[:4], v=x0[4:], output_step=0.5, **options)
    found = [*run.q[-1], *run.v[-1], run["bars.left.force"][-1], run["bars.distance.force"][-1]]
    np.testing.assert_allclose(found, list(end.values()), atol=within)
    assert run.loop_error.max() < 1e-12
    assert np.abs(run["energy.balance"]).max() < 1e-3 * within


# ── files, and starts that cannot be ──────────────────────────────────────────────────────────────────────────────────

FILE = """
kinemorph = 1
name = "drawer"

[parameters]
rate = "2 rad/s"
swing = 0.3
twice = "2 * swing"

[bodies.arm]
mass = 1
solid = { kind = "rod", length = 0.8, center = [0.4, 0, 0], axis = "x" }

[bodies.hand]
mass = 1
solid = { kind = "rod", length = 0.8, center = [0.4, 0, 0], axis = "x" }

[joints."upper arm"]
kind = "revolute"
parent = "world"
child = "arm"
axis = "y"

[joints.elbow]
kind = "revolute"
parent = "arm"
child = "hand"
translation = [0.8, 0, 0]
axis = "y"

[elements.drive]
kind = "prescribed motion"
joint = "upper arm"
motion = "swing * sin(rate * t)"

[elements.pair]
kind = "constraint"
rows = "q.elbow - twice * cos(`q.upper arm`) + 0.6"
"""


def test_rows_stand_in_model_files(tmp_path: Path) -> None:
    (tmp_path / "drawer.toml").write_text(FILE)
    system = load(tmp_path / "drawer.toml")
    run = simulate(system, 0.5, output_step=0.1, **TIGHT)
    np.testing.assert_allclose(run["q.upper arm"], 0.3 * np.sin(2.0 * run.t), atol=1e-10)
    np.testing.assert_allclose(run["q.elbow"], 0.6 * np.cos(run["q.upper arm"]) - 0.6, atol=1e-10)
    assert [one.name for one in plant(system, parameters="all").p] == ["swing", "rate"]
    save(system, tmp_path / "again.toml")
    again = load(tmp_path / "again.toml")
    assert again.elements == system.elements
    text = (tmp_path / "again.toml").read_text()
    assert 'motion = "swing * sin(rate * t)"' in text and '["twice", "2 * swing"]' in text


def test_starts_that_cannot_be() -> None:
    robot = two_links()
    for pair, says in (
        ((0.1, 0.4), "no configuration of 'two' .*satisfies its constraints.*error: 'first' by 0.15, 'second' by 0.15"),
        (("sin(t)", "sin(2 * t)"), "v: no velocities of 'two' keep its constraints.* 'second' by 0.5"),
    ):
        held = tuple(elements.PrescribedMotion(name, "one", pair[k]) for k, name in enumerate(("first", "second")))
        with pytest.raises(ShapeError, match=says):
            simulate(System(robot, held), 1.0)
    with pytest.raises(ModelError, match=r"names 'q\.three'.* Known: t, q\.one, q\.two"):
        simulate(System(robot, (elements.Constraint("e", "q.three"),)), 1.0)
    lost = elements.Constraint("rail", ("q.one", "sqrt(q.two - 5) - 1"), names=("flat", "root"))
    with pytest.raises(ShapeError, match=r"constraint 'rail\.root' of 'two', or its derivative, is nan"):
        simulate(System(robot, (lost,)), 1.0)
    off = elements.Constraint("rail", ("q.one", "q.two - 0.2"), names=("flat", "aside"))
    with pytest.raises(ShapeError, match=r"'two' violates constraints .*no q is given: 'rail\.aside' by 0\.2;"):
        simulate(System(robot, (off,)), 1.0)


def test_a_joint_starts_where_its_motion_says_unless_a_start_is_given() -> None:
    system = System(two_links(), (elements.PrescribedMotion("drive", "one", "0.4 + 2 * t"),))
    run = simulate(system, 0.1)
    np.testing.assert_allclose([*run.q[0], run.v[0, 0], run.q[-1, 0]], [0.4, 0.0, 2.0, 0.6], atol=1e-12)
    with pytest.raises(ShapeError, match=r"'two' violates constraints in the initial state: 'drive' by 0\.3"):
        simulate(system, 0.1, q=[0.1, 0.0])


def test_a_coupled_joint_starts_where_its_leader_puts_it() -> None:
    """A hand whose fingers follow each other with an offset could not be run without an initial configuration."""
    builder = RobotBuilder("hand")
    for name, parent in (("one", "world"), ("two", "one"), ("three", "two")):
        builder.add(Body.sphere(name, 1.0, 0.1)).joint(f"j_{name}", "revolute", parent, name, axis=(0.0, 1.0, 0.0))
    builder.couple("j_two", "j_one", multiplier=1.5, offset=0.7).couple("j_three", "j_two", offset=-0.2)
    hand = builder.build()
    np.testing.assert_allclose(simulate(hand, 0.1).q[0], [0.0, 0.7, 0.5], atol=1e-12)
    with pytest.raises(ShapeError, match=r"in the initial state: 'j_two' by 0\.7.*others follow\.$"):
        simulate(hand, 0.1, q=[0.0, 0.0, 0.0])  # there are no loops that close_loops could close
