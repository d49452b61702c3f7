"""Springs, bushings, joint forces, applied wrenches and fields: each law alone, at instants, on three robots."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, Parameter, RobotBuilder, System, audit, elements, library, simulate
from kinemorph.algebra.groups import Pose, exp_so3
from kinemorph.algebra.rotations import rotation
from kinemorph.algebra.scalar import cos, sin
from kinemorph.algebra.vectors import identity, matmul
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.errors import ModelError
from kinemorph.mechanics.elements.forces.bushings import turned
from kinemorph.mechanics.elements.forces.springs import one_sided
from kinemorph.mechanics.elements.law import law_of
from kinemorph.mechanics.steps.point_states import JointState
from kinemorph.model.configuration import random_configuration
from kinemorph.model.elements.forces.applied import Table
from kinemorph.plants import plant
from support.cases.element_laws import ROBOTS, Instant
from support.tools.each_case import each_case
from support.tools.some_slow import first

A, B = (0.1, -0.2, 0.05), (0.02, 0.1, -0.3)
TILTED = Pose(exp_so3((0.3, -0.2, 0.5)), (0.05, 0.1, -0.1))
TIMES = (0.0, 0.1, 0.3, 0.7, 1.0)
ROWS = tuple((math.sin(5.0 * t), 2.0 * t, t * t) for t in TIMES)


def waving(t: Any) -> Any:
    return 2.0 * sin(3.0 * t), 1.0, cos(t) * t


FORCES: dict[str, Any] = {
    "spring": elements.Spring("e", "upper", "tool", 40.0, 0.1, 2.0, A, B),
    "damper": elements.Damper("e", "slider", "tool", 3.0, A, B),
    "taut rope": elements.Rope("e", "upper", "tool", 40.0, 0.05, 2.0, 0.001, A, B),
    "slack rope": elements.Rope("e", "upper", "tool", 40.0, 9.0, 2.0, 0.001, A, B),
    "rope on its onset": elements.Rope("e", "upper", "tool", 40.0, 0.05, 2.0, 9.0, A, B),
    "pressed bumper": elements.Bumper("e", "upper", "tool", 40.0, 9.0, 2.0, 0.001, A, B),
    "bumper": elements.Bumper("e", "upper", "tool", 40.0, 0.01, 2.0, 0.001, A, B),
    "spring to the ground": elements.Spring("e", "world", "tool", 40.0, 0.3, 2.0, (0.0, 0.0, 1.0), B),
    **{
        f"bushing {turning}": elements.Bushing(
            *("e", "upper", "tool", (9.0, 8.0, 7.0), (1.0, 0.5, 0.2), (3.0, 2.0, 4.0), (0.3, 0.2, 0.1)),
            preload=(1.0, -2.0, 0.5),
            turning_preload=(0.2, 0.1, -0.3),
            turning=turning,  # type: ignore[arg-type]
            placement_a=TILTED,
            placement_b=Pose(exp_so3((0.1, 0.4, 0.2)), B),
        )
        for turning in ("vector", "xyz", "yxz")
    },
    "curved torsion spring": elements.TorsionSpring("e", "hinge", 5.0, 0.2, 0.4, (1.0, 3.0), (0.2, 0.1)),
    "tendon": elements.Tendon(
        *("e", ("hinge",), (-1.5,), 20.0, (-0.2, 0.3), (3.0, 2.0), 1.0, (0.5, 0.2)), friction=0.3, smoothing=0.3
    ),
    "tendon at its stops": elements.Tendon("e", ("hinge",), (1.5,), lower=-0.2, upper=0.3, time=0.1),
    "weight support": elements.WeightSupport("e", 0.7, ("tool",)),
    "boxes in a fluid": elements.Fluid("e", (elements.DragBox("tool", (0.1, 0.2, 0.3), TILTED),), 1.2, 0.1),
    "ellipsoids in a fluid": elements.Fluid(
        "e",
        tuple(
            elements.DragEllipsoid(body, (0.1, 0.3, 0.2), TILTED, added_mass=(0.1, 0.2, 0.3), added_inertia=A)
            for body in ("tool", "slider")
        ),
        1.2,
        0.1,
    ),
    "torsion spring": elements.TorsionSpring("e", "hinge", 5.0, 0.2, 0.4),
    "joint friction": elements.JointFriction("e", breakaway=1.4, stribeck=0.5, smoothing=0.3, viscous=0.2),
    "friction of a joint": elements.JointFriction("e", ("hinge",), 2.0, smoothing=0.1),
    "joint limits": elements.JointLimits("e"),
    "limits of a joint": elements.JointLimits("e", ("hinge",), 300.0, 20.0, onset=0.01),
    "wrench": elements.AppliedWrench("e", "tool", (1.0, 2.0, 3.0), (0.3, 0.2, 0.1), A),
    "wrench in body axes": elements.AppliedWrench("e", "tool", (1.0, 2.0, 3.0), (0.3, 0.2, 0.1), A, "body"),
    "wrench over time": elements.AppliedWrench("e", "slider", waving, waving, A),
    "wrench from a table": elements.AppliedWrench("e", "slider", Table(TIMES, ROWS, "cubic"), Table(TIMES, ROWS)),
    "effort over time": elements.AppliedEffort("e", "hinge", lambda t: 3.0 * sin(t)),
    "effort from a table": elements.AppliedEffort("e", "hinge", Table(TIMES, tuple((r[0],) for r in ROWS), "monotone")),
    "gravity": elements.Gravity("e", (1.0, 2.0, -3.0)),
    "gravity of a body": elements.Gravity("e", (1.0, 2.0, -3.0), ("tool",)),
    "central gravity": elements.CentralGravity("e", 3.0, point=(0.0, 0.0, 2.0)),
    "central gravity of a body": elements.CentralGravity("e", 3.0, "upper", A),
}


def states(robot: Any, count: int = 3) -> Any:
    """Random ones, with joints on both sides of their limits."""
    rng = np.random.default_rng(5)
    for number in range(count):
        q = random_configuration(robot, rng)
        for joint in robot.joints:
            if len(joint.lower) == joint.nv:
                q[robot.q_slice(joint.name)] = (0.8, -0.7, 0.1)[number] * rng.uniform(0.9, 1.1, joint.nv)
        yield float(rng.uniform(0.0, 1.0)), q, rng.normal(size=robot.nv)


@pytest.mark.parametrize("robot", first(ROBOTS, 1))
@each_case("name", FORCES)
def test_power_is_accounted_for_and_slopes_are_differences(name: str, robot: str) -> None:
    model = ROBOTS[robot]()
    instant = Instant(model, [FORCES[name]])
    acted = 0.0
    for t, q, v in states(model):
        gap, scale = instant.power_gap(t, q, v)
        assert abs(gap) <= 1e-13 * max(scale, 1.0)
        exact, by_steps = instant.slopes(t, q, v), instant.differences(t, q, v)
        assert np.abs(exact - by_steps).max() <= 2e-7 * max(1.0, np.abs(exact).max())
        acted = max(acted, np.abs(instant.forces(t, q, v)).max())
        assert float(instant.world(t, q, v).gathered().dissipated) >= 0.0
    idle = name in ("slack rope", "bumper")
    assert (acted == 0.0) if idle else (acted > 1e-3)


@pytest.mark.parametrize("robot", ROBOTS)
def test_forces_between_two_bodies_sum_to_nothing(robot: str) -> None:
    """On a free base the momentum does not change; on the others nothing is felt where both ends are on one body."""
    model = ROBOTS[robot]()
    between = [e for e in FORCES.values() if getattr(e, "body_a", "world") != "world"]
    instant = Instant(model, [_renamed(e, k) for k, e in enumerate(between)])
    for t, q, v in states(model, 3):
        world = instant.world(t, q, v)
        force, moment = np.zeros(3), np.zeros(3)
        for link, (f, n) in world.gathered().loads.items():
            R, p = (np.array(x, dtype=float) for x in world.motions.pose(link))
            force, moment = force + R @ f, moment + R @ n + np.cross(p, R @ f)
        assert np.abs(force).max() < 1e-11
        assert np.abs(moment).max() < 1e-11


def _renamed(element: Any, number: int) -> Any:
    return replace(element, name=f"e{number}")


@pytest.mark.parametrize(
    "robot", [pytest.param(name, marks=() if name == "arm" else pytest.mark.slow) for name in ROBOTS]
)
def test_the_balance_of_energy_closes_with_all_of_them_at_once(robot: str) -> None:
    model = ROBOTS[robot]()
    acting = [_renamed(e, k) for k, e in enumerate(FORCES.values()) if "limits" not in e.__class__.__name__.lower()]
    soft = elements.JointLimits("stops", stiffness=200.0, damping=5.0, onset=0.02)
    start = {"linkage": [0.6, 0.02989836, 1.6066907]}.get(robot)
    run = simulate(System(model, (*acting, soft)), 0.4, q=start, rtol=1e-12, atol=1e-12)
    assert run.outcome.ok, run.outcome
    assert audit(run, tolerance=1e-9).passed, audit(run, tolerance=1e-9)
    assert run["energy.dissipated"][-1] > 0.1


def test_slopes_of_the_compiled_program_are_those_of_dual_numbers() -> None:
    model = ROBOTS["floater"]()
    acting = [_renamed(FORCES[k], n) for n, k in enumerate(("spring", "bushing vector", "joint limits", "taut rope"))]
    made = plant(System(model, tuple(acting)))
    assert made.efforts is not None
    slopes = build(jacobian(made.efforts, "supplied", "s"))
    instant = Instant(model, acting)
    for t, q, v in states(model, 2):
        s = np.concatenate([np.zeros(model.nv), v])
        assert np.allclose(slopes(t, q, s, [], np.zeros(made.nu), []), instant.slopes(t, q, v), rtol=1e-10, atol=1e-9)


# ── kinks ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

KINKS = {
    "spring of no length": (elements.Spring("e", "upper", "world", 40.0, 0.1, 2.0), [0.0] * 4),
    "rope of no length": (elements.Rope("e", "upper", "world", 40.0, 0.0, 2.0), [0.0] * 4),
    "rope just taut": (elements.Rope("e", "upper", "world", 40.0, 1.0, 2.0, point_b=(0.0, 0.0, 1.0)), [0.0] * 4),
    "bumper just touched": (elements.Bumper("e", "upper", "world", 40.0, 1.0, 2.0, point_b=(0.0, 0.0, 1.0)), [0.0] * 4),
    "friction at rest": (elements.JointFriction("e"), [0.0] * 4),
    "at a limit": (elements.JointLimits("e"), [0.5, -0.6, 0.5, -0.4]),
    "bushing at rest": (
        elements.Bushing("e", "upper", "world", (1.0, 1.0, 1.0), turning_stiffness=(1.0, 1.0, 1.0)),
        [0.0] * 4,
    ),
    "angles that lock": (
        elements.Bushing("e", "upper", "world", (1.0,) * 3, turning_stiffness=(1.0,) * 3, turning="xyz"),
        [math.pi / 2, 0.0, 0.0, 0.0],
    ),
    "at the center": (elements.CentralGravity("e", 1.0, bodies=("upper",), point=(0.25, 0.0, 0.0)), [0.0] * 4),
    "a knot of a table": (elements.AppliedWrench("e", "tool", Table((0.0, 1.0), ((0.0,) * 3, (1.0,) * 3))), [0.0] * 4),
}


@each_case("name", KINKS)
@each_case("speed", [0.0, 1.0])
def test_forces_and_slopes_are_finite_on_kinks(name: str, speed: float) -> None:
    element, q = KINKS[name]
    instant = Instant(ROBOTS["arm"](), [element])
    v = np.full(4, speed)
    assert np.all(np.isfinite(instant.forces(0.0, q, v)))
    assert np.all(np.isfinite(instant.slopes(0.0, q, v)))
    gap, scale = instant.power_gap(0.0, q, v)
    assert math.isfinite(gap) and math.isfinite(scale)


def test_compiled_slopes_are_finite_on_kinks_too() -> None:
    model = ROBOTS["arm"]()
    made = plant(System(model, tuple(_renamed(e, k) for k, (e, _) in enumerate(KINKS.values()))))
    slopes = build(jacobian(made.rate, "out", "s"))
    for q in ([0.0] * 4, [0.5, -0.6, 0.5, -0.4]):
        assert np.all(np.isfinite(slopes(0.0, q, np.zeros(8), [], np.zeros(made.nu), [])))


# ── single laws against what the books say ────────────────────────────────────────────────────────────────────────────


def test_a_rope_is_slack_then_pulls_and_never_pushes() -> None:
    assert one_sided(-0.1, 5.0, 100.0, 10.0, 0.01) == (0.0, 0.0, 0.0)
    force, lost, stored = one_sided(0.1, 0.5, 100.0, 10.0, 0.01)
    assert (force, lost, stored) == pytest.approx((15.0, 2.5, 0.5))
    force, lost, _ = one_sided(
        0.1, -3.0, 100.0, 10.0, 0.01
    )  # the damper would push: it lets go, the spring's work is lost
    assert (force, lost) == pytest.approx((0.0, 30.0))
    assert one_sided(0.005, 1.0, 100.0, 10.0, 0.01)[0] == pytest.approx(0.5 + 5.0)  # half of the damper


def test_friction_has_its_levels_and_its_peak() -> None:
    element = elements.JointFriction("e", ("hinge",), 2.0, viscous=0.5, breakaway=1.5, stribeck=0.2, smoothing=1e-6)
    instant = Instant(ROBOTS["arm"](), [element])

    def effort(v: float) -> float:
        return float(instant.forces(0.0, [0.0] * 4, [v, 0.0, 0.0, 0.0])[0])

    assert effort(0.0) == 0.0
    assert effort(1e-3) == pytest.approx(-3.0, rel=1e-3)  # breaks away
    assert effort(2.0) == pytest.approx(-2.0 - 1.0, rel=1e-9)
    assert effort(-2.0) == -effort(2.0)
    assert effort(0.2) == pytest.approx(-(2.0 * (1.0 + 0.5 * math.exp(-1.0)) + 0.1), rel=1e-9)


def test_friction_under_less_than_it_holds_creeps_as_it_says() -> None:
    """v = smoothing tau / sqrt(Fc^2 - tau^2) at a constant effort."""
    model = library.build("pendulum")
    joint = model.joints[0].name
    push = elements.AppliedEffort("push", joint, 1.0)
    held = System(model, (push, elements.JointFriction("hold", (joint,), 2.0)))
    run = simulate(_weightless(held), 0.5, method="radau")
    assert run.v[-1, 0] == pytest.approx(1e-3 / math.sqrt(3.0), rel=1e-6)


def _weightless(system: System) -> System:
    return replace(system, robot=replace(system.robot, gravity=(0.0, 0.0, 0.0)))


def test_stops_settle_in_their_time_whatever_the_robot_weighs() -> None:
    """A hinge thrown at its stop moves as  s = v t exp(-t / time)  until the force, 2 - t / time, is used up: it goes
    v time / e  deep and leaves with  v / e^2.
    """
    for mass in (1e-3, 1e3):
        builder = RobotBuilder("r", (0.0, 0.0, 0.0))
        builder.add(Body.rod("rod", mass, 1.0, (0.5, 0.0, 0.0), axis="x"))
        builder.joint("hinge", "revolute", "world", "rod", upper=0.5)
        stops = elements.JointLimits("stops", time=0.02, onset=1e-6)
        run = simulate(System(builder.build(), (stops,)), 0.1, q=[0.5], v=[1.0], output_step=1e-3)
        depth = run.q[:, 0] - 0.5
        assert depth.max() == pytest.approx(0.02 / math.e, rel=2e-3)
        assert run.v[-1, 0] == pytest.approx(-math.exp(-2.0), rel=2e-3)


def test_what_joints_say_of_themselves_becomes_elements_once() -> None:
    model = ROBOTS["arm"]()
    added = elements.with_joint_forces(model)
    assert added.elements == (elements.JointLimits("joint limits"), elements.JointFriction("joint friction"))
    assert elements.with_joint_forces(added) is added
    some = System(model, (elements.JointLimits("mine", ("hinge",)),))
    rest = elements.with_joint_forces(some, friction=False)
    assert rest.elements[1:] == (elements.JointLimits("joint limits", ("slide", "wrist")),)
    assert elements.with_joint_forces(library.build("pendulum")).elements == ()


def test_a_torsion_spring_swings_with_its_frequency() -> None:
    builder = RobotBuilder("r", (0.0, 0.0, 0.0))
    builder.add(Body.rod("rod", 3.0, 1.0, (0.5, 0.0, 0.0), axis="x"))  # inertia 1 about the hinge
    builder.joint("hinge", "revolute", "world", "rod")
    k = Parameter("k", 4.0, "N m/rad")
    run = simulate(System(builder.build(), (elements.TorsionSpring("s", "hinge", k, 0.3),)), math.pi, q=[0.5])
    assert run.q[-1, 0] == pytest.approx(0.5, abs=1e-7)  # one period of sqrt(4) rad/s
    assert run.q[:, 0].min() == pytest.approx(0.1, abs=1e-4)


def test_gravity_as_an_element_is_gravity_of_the_robot() -> None:
    model = ROBOTS["floater"]()
    turned_field = replace(model, gravity=(1.0, 2.0, -3.0))
    as_element = System(replace(model, gravity=(0.0, 0.0, 0.0)), (elements.Gravity("g", (1.0, 2.0, -3.0)),))
    runs = [simulate(m, 0.5, v=np.arange(model.nv) * 0.1) for m in (turned_field, as_element)]
    assert np.allclose(runs[0].q, runs[1].q, atol=1e-9)


def test_an_orbit_closes_after_keplers_time() -> None:
    builder = RobotBuilder("satellite", (0.0, 0.0, 0.0))
    builder.add(Body.sphere("body", 2.0, 0.1))
    builder.joint("root", "free", "world", "body")
    system = System(builder.build(), (elements.CentralGravity("sun", 4.0),))
    start = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    speed = [0.0, 2.2, 0.0, 0.0, 0.0, 0.0]
    a = 1.0 / (2.0 / 1.0 - 2.2**2 / 4.0)  # vis viva
    run = simulate(system, 2.0 * math.pi * math.sqrt(a**3 / 4.0), q=start, v=speed, rtol=1e-11, atol=1e-12)
    assert np.allclose(run.q[-1, :3], start[:3], atol=1e-7)
    assert np.abs(run.q[:, 0]).max() > 1.3  # an ellipse


def test_tables_are_followed_and_held() -> None:
    element = elements.AppliedEffort("e", "hinge", Table((0.0, 1.0), ((0.0,), (2.0,))))
    instant = Instant(ROBOTS["arm"](), [element])
    found = [instant.forces(t, [0.0] * 4, [0.0] * 4)[0] for t in (-1.0, 0.25, 1.0, 5.0)]
    assert found == pytest.approx([0.0, 0.5, 2.0, 2.0])


@pytest.mark.parametrize("order", ["xyz", "xzy", "yxz", "yzx", "zxy", "zyx"])
def test_angles_of_a_bushing_are_turns_one_after_the_other(order: str) -> None:
    R: Any = identity(3)
    for axis, angle in zip(order, (0.3, -0.7, 1.1), strict=True):
        R = matmul(R, rotation(identity(3)["xyz".index(axis)], angle))
    theta, _ = turned(order, R)
    assert theta == pytest.approx((0.3, -0.7, 1.1), abs=1e-14)


@pytest.mark.parametrize("order", ["xyz", "xzy", "yxz", "yzx", "zxy", "zyx"])
def test_angles_of_a_bushing_have_finite_rates_where_they_lock(order: str) -> None:
    """The second angle is a right one to the last digit: no matrix of axes has an inverse there."""
    i, j, k = ("xyz".index(axis) for axis in order)
    R = [[0.0] * 3 for _ in range(3)]
    R[i][k] = R[j][j] = 1.0
    R[k][i] = -1.0  # a right angle about j, forth or back
    theta, B = turned(order, R)
    assert abs(theta[1]) == pytest.approx(math.pi / 2, abs=2e-6)
    assert np.all(np.isfinite(theta)) and np.all(np.isfinite(B))


# ── at the end of a step ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "name", ["torsion spring", "curved torsion spring", "joint friction", "joint limits", "limits of a joint"]
)
def test_pivots_are_slopes_that_hold_back(name: str) -> None:
    model, h = ROBOTS["arm"](), 1e-3
    instant = Instant(model, [FORCES[name]])
    for t, q, v in states(model):
        world = instant.world(t, q, v)
        slopes = instant.slopes(t, q, v)
        laws = law_of(FORCES[name]).stiff(FORCES[name], world.views[0]).joints
        assert laws
        for place, law, _ in laws:
            joint = JointState(q[place], v[place])  # on this robot coordinates stand where velocities do
            force, pivot = law.linear(joint, h)
            assert force == pytest.approx(float(world.gathered().torques[place]), abs=1e-12)
            assert pivot >= 0.0
            exact = -(h * slopes[place, model.nv + place] + h * h * slopes[place, place])
            if law.affine:
                assert pivot == pytest.approx(exact, rel=1e-9)
            elif name == "joint friction":
                assert pivot >= exact - 1e-12  # the secant is never below the slope
            else:
                assert pivot == pytest.approx(exact, rel=0.2, abs=1e-6)  # up to the damper's share of the onset


# ── what is wrong is said ─────────────────────────────────────────────────────────────────────────────────────────────


@each_case(
    ("element", "says"),
    [
        (elements.Spring("e", "upper", "upper", 1.0), "both ends are at .* of 'upper'; expected two different points"),
        (elements.Bushing("e", "upper", "toool", (1.0,) * 3), r"body_b is 'toool'.*Did you mean 'tool'"),
        (elements.TorsionSpring("e", "wrist", 1.0), "joint 'wrist' is universal with 2 velocities"),
        (elements.JointFriction("e", ("knee",)), "joints contains 'knee', and robot 'arm' has no such joint"),
        (elements.JointFriction("e", coulomb=1.0), "coulomb is given without joints"),
        (elements.AppliedWrench("e", "hand"), "body is 'hand', and robot 'arm' has no such body or frame"),
        (elements.AppliedWrench("e", "tool", Table((0.0, 1.0), ((0.0,), (1.0,)))), "row 1 of force has 1 number;"),
        (elements.AppliedEffort("e", "hinge", Table((1.0, 0.0), ((0.0,), (1.0,)))), "is not above .* Sort the points"),
        (
            elements.Gravity("e", (0.0, 0.0, 1.0), ("wrist",)),
            "bodies contains 'wrist', and robot 'arm' has no such body",
        ),
    ],
)
def test_bad_data_is_named(element: Any, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        plant(System(ROBOTS["arm"](), (element,)))


def test_a_limit_that_is_not_there_and_a_joint_that_closes_a_loop_are_named() -> None:
    with pytest.raises(ModelError, match="joint 'elbow' is revolute and has no limits"):
        plant(System(ROBOTS["linkage"](), (elements.JointLimits("e", ("elbow",)),)))
    with pytest.raises(ModelError, match="joints contains 'end', a joint that closes a loop and has no coordinate"):
        plant(System(ROBOTS["linkage"](), (elements.JointFriction("e", ("end",), 1.0),)))


def test_a_function_that_gives_the_wrong_number_is_named() -> None:
    with pytest.raises(ModelError, match=r"'e': the function given as force returns 2 numbers; expected 3"):
        _ = plant(System(ROBOTS["arm"](), (elements.AppliedWrench("e", "tool", lambda t: (t, t)),))).rate


def test_stiff_stops_and_friction_hold_at_steps_far_beyond_their_own_time() -> None:
    """A pendulum that falls on a stop of 0.5 ms at steps of 5 ms: it rests where the stop carries its weight."""
    builder = RobotBuilder("r")
    builder.add(Body.rod("rod", 2.0, 1.0, (0.5, 0.0, 0.0), axis="x"))
    builder.joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), upper=0.5, friction=0.3)
    model = builder.build()
    stops = elements.JointLimits("stops", time=5e-4)
    system = System(model, (stops, elements.JointFriction("rubs")))
    run = simulate(system, 3.0, method="implicit_contact", step=5e-3)
    assert run.outcome.ok
    weight = 2.0 * 9.81 * 0.5 * math.cos(0.5)
    stiffness = (2.0 / 3.0) / 5e-4**2
    beyond = run.q[-1, 0] - 0.5
    assert (weight - 0.3) / stiffness - 1e-9 <= beyond <= (weight + 0.3) / stiffness + 1e-9
    assert abs(run.v[-1, 0]) < 1e-9
    with pytest.raises(AssertionError):  # an explicit step of this size does not stay
        explicit = simulate(system, 3.0, method="rk4", step=5e-3)
        assert explicit.outcome.ok and abs(explicit.v[-1, 0]) < 1.0
