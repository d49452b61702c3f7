"""Motors: figures of nameplates and textbooks, energy to the last joule, derivatives, rotors, bad input."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, Parameter, Robot, RobotBuilder, System, audit, derive, linearize, simulate
from kinemorph.codegen.building.compile import build
from kinemorph.elements import Effort
from kinemorph.errors import ModelError
from kinemorph.mechanics.elements.drives.motors import gentle_secant, gentle_sign
from kinemorph.mechanics.elements.drives.rotors import robot_with_rotors
from kinemorph.mechanics.steps.point_states import JointState, joint_slope
from kinemorph.model.changes.rotor_body import with_rotor_body
from kinemorph.model.elements.drives.motors import DCMotor
from kinemorph.model.elements.forces.springs import Spring
from kinemorph.plants import plant
from kinemorph.plants.instant import Instant
from support.references.exact_rates import rate_along
from support.tools.each_case import each_case

DATA = Path(__file__).parents[2] / "data"
TIGHT: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12}
AMRU5: dict[str, Any] = {"resistance": 2.3, "torque_constant": 0.0235}  # 20 W, 12 V
SCREW: dict[str, Any] = {**AMRU5, "inertia": 1.05e-6, "ratio": 4.0, "lead": 0.002}


def flywheel(inertia: float = 0.01, **joint: Any) -> Robot:
    builder = RobotBuilder("flywheel", (0.0, 0.0, 0.0)).body("wheel", 0.1, inertia=(0.02, 0.02, inertia))
    return builder.joint("shaft", "revolute", "world", "wheel", **joint).build()


def pendulum() -> Robot:
    builder = RobotBuilder("pendulum").add(Body.point("bob", 2.0, (0.0, 0.0, -0.5)))
    return builder.joint("hinge", "revolute", "world", "bob", axis=(0.0, 1.0, 0.0)).build()


def lift(weight: float = 20.0) -> Robot:
    builder = RobotBuilder("lift").body("load", weight)
    return builder.joint("slide", "prismatic", "world", "load").build()


def rate_of(system: System, v: float, u: float, x: tuple[float, ...] = ()) -> np.ndarray:
    """[a, dx/dt] at q = 0."""
    made = plant(system)
    found: np.ndarray = build(made.rate)(0.0, [0.0], [0.0, v, *x], [], [u], [])
    return found[1:]


# ── figures ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_textbook_motor_within_1e_8() -> None:
    """Michigan CTMS, DC motor speed: poles, gain and step response of tests/data/dc_motor.json."""
    reference = json.loads((DATA / "dc_motor.json").read_text())
    given, expected = reference["inputs"], reference["reference"]
    motor = DCMotor("motor", "shaft", given["R"], given["Kt"], given["Ke"], given["L"])
    system = System(flywheel(given["J"], damping=given["b"]), (motor,))
    near = linearize(system, outputs=["v.shaft", "motor.current"])
    A = near.A[1:, 1:]  # without the angle, which nothing depends on
    assert np.sort(np.linalg.eigvals(A).real) == pytest.approx(sorted(expected["poles"]), rel=1e-12)
    gain = -np.linalg.solve(A, near.B[1:, 0])
    assert gain == pytest.approx([expected["dc_gain_speed"], expected["steady_current"]], rel=1e-12)
    times = [0.0, *map(float, expected["open_loop"])]
    run = simulate(system, times[-1], output_step=times, inputs=[given["V"]], **TIGHT)
    for row, values in zip(range(1, len(times)), expected["open_loop"].values(), strict=True):
        assert run["v.shaft"][row] == pytest.approx(values["speed"], abs=1e-10)
        assert run["motor.current"][row] == pytest.approx(values["current"], abs=1e-10)
    assert audit(run, tolerance=1e-9).passed


def test_nameplates() -> None:
    motor = DCMotor.from_nameplate(
        "motor", "shaft", voltage=12.0, no_load_speed=510.638297872, stall_torque=0.1226086956
    )
    assert (motor.resistance, motor.torque_constant) == pytest.approx((2.3, 0.0235), rel=1e-9)
    dragging = DCMotor.from_nameplate(
        "motor", "shaft", voltage=24.0, no_load_speed=400.0, stall_torque=0.5, no_load_current=0.2, ratio=50.0
    )
    assert dragging.ratio == 50.0
    run = simulate(System(flywheel(1e-4), (replace(dragging, ratio=1.0),)), 5.0, output_step=1.0, inputs=[24.0])
    assert run["v.shaft"][-1] == pytest.approx(400.0, rel=1e-6)
    assert run["motor.current"][-1] == pytest.approx(0.2, rel=1e-4)
    assert rate_of(System(flywheel(), (replace(dragging, ratio=1.0),)), 0.0, 24.0)[0] * 0.01 == pytest.approx(0.5)


def test_stall_and_no_load_of_the_amru5_motor() -> None:
    system = System(flywheel(), (DCMotor("motor", "shaft", **AMRU5),))
    assert rate_of(system, 0.0, 12.0)[0] * 0.01 == pytest.approx(0.123, abs=5e-4)
    no_load = 12.0 / 0.0235
    assert no_load * 30.0 / math.pi == pytest.approx(4876.0, abs=0.5)
    assert rate_of(system, no_load, 12.0)[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("efficiency", "torque"), [(1.0, 0.027), (0.35, 0.076)])
def test_torque_that_lifts_334_n_by_a_screw(efficiency: float, torque: float) -> None:
    """AMRU5: 0.027 N m without friction, 0.076 N m with; the exact figures are F lead / (2 pi ratio efficiency)."""
    exact = 334.0 * 0.002 / (2.0 * math.pi * 4.0) / efficiency
    assert exact == pytest.approx(torque, abs=5e-4)
    motor = DCMotor("motor", "slide", **SCREW, efficiency=efficiency, back_efficiency=0.2)
    robot = lift(334.0 / 9.81)
    speed = 0.01  # upward
    current = exact / 0.0235
    voltage = 2.3 * current + 0.0235 * speed * 4.0 * 2.0 * math.pi / 0.002
    assert rate_of(System(robot, (motor,)), speed, voltage)[0] == pytest.approx(0.0, abs=1e-12)
    elastic = replace(motor, stiffness=1e6, back_efficiency=None)
    _, slip, spin = rate_of(System(robot, (elastic,)), speed, voltage, (334.0 / 1e6, speed * 4e3 * math.pi))
    assert (slip, spin * 1.05e-6) == pytest.approx((0.0, 0.0), abs=1e-12)


def test_efficiency_forth_and_back() -> None:
    motor = DCMotor("motor", "shaft", 1.0, 0.1, ratio=10.0, efficiency=0.8, back_efficiency=0.5)
    system = System(flywheel(), (motor,))
    speed = 2.0
    for torque, factor in ((0.3, 0.8), (-0.3, 1.0 / 0.5)):
        voltage = torque / 0.1 + 0.1 * 10.0 * speed
        assert rate_of(system, speed, voltage)[0] * 0.01 == pytest.approx(10.0 * torque * factor)
        assert rate_of(system, -speed, -voltage)[0] * 0.01 == pytest.approx(-10.0 * torque * factor)


def test_a_self_locking_screw_holds_without_current_and_needs_torque_to_go_down() -> None:
    motor = DCMotor("motor", "slide", **SCREW, efficiency=0.35, stiffness=1e6, damping=2e3, slow=1.0)
    settled = simulate(System(lift(), (motor,)), 1.0, output_step=0.5, inputs=[0.0])
    n = 4e3 * math.pi
    # what it creeps is a part of `slow`; without friction it would fall with a quarter of g
    assert abs(settled["v.slide"][-1]) < 1.0 / n
    free = replace(motor, efficiency=0.99)
    assert abs(simulate(System(lift(), (free,)), 1.0, output_step=0.5, inputs=[0.0])["v.slide"][-1]) > 3.0 / n
    # steadily down: T = F (2 - 1/efficiency) / n, which is below 0
    force, w = 20.0 * 9.81, -200.0
    torque = force * (2.0 - 1.0 / 0.35) / n
    voltage = 2.3 * torque / 0.0235 + 0.0235 * w
    rates = rate_of(System(lift(), (motor,)), w / n, voltage, (force / 1e6, w))
    assert rates * [1.0, 1.0, 1.05e-6] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)


def test_limits_of_voltage_and_current() -> None:
    limited = DCMotor("motor", "shaft", 1.0, 0.1, voltage_limit=5.0, current_limit=2.0)
    assert rate_of(System(flywheel(), (limited,)), 0.0, 100.0)[0] * 0.01 == pytest.approx(0.2)
    assert rate_of(System(flywheel(), (limited,)), 40.0, 100.0)[0] * 0.01 == pytest.approx(0.1)  # (5 - 4) / 1 A
    assert rate_of(System(flywheel(), (limited,)), 90.0, 100.0)[0] * 0.01 == pytest.approx(-0.2)
    coiled = replace(limited, inductance=0.01, voltage_limit=30.0)
    system = System(flywheel(), (coiled,))
    run = simulate(system, 0.3, output_step=1e-3, inputs=lambda t: [30.0 if t < 0.15 else -30.0], **TIGHT)
    assert np.abs(run["motor.current"]).max() == pytest.approx(2.0, rel=1e-6)
    assert np.abs(run["motor.current"]).max() <= 2.0 + 1e-12
    assert np.abs(run["motor.voltage"]).max() <= 30.0
    # the amplifier lets the current come to its limit with a tenth of the time constant L/R, whatever the speed
    assert run["motor.current"][:9] == pytest.approx(2.0 * -np.expm1(-np.arange(9.0)), abs=1e-9)


# ── energy ────────────────────────────────────────────────────────────────────────────────────────────────────────────

LOSSY: dict[str, Any] = {"efficiency": 0.7, "viscous": 1e-4, "coulomb": 2e-3, "slow": 2.0}
KINDS: dict[str, dict[str, Any]] = {
    "first order": {},
    "second order": {"inductance": 0.02},
    "constants apart": {"back_emf": 0.06, "inductance": 0.02},
    "rotor": {"inertia": 2e-4},
    "lossy": LOSSY,
    "lossy and limited": {**LOSSY, "current_limit": 1.0, "voltage_limit": 4.0, "inertia": 2e-4},
    "lossy and limited coil": {**LOSSY, "current_limit": 1.0, "voltage_limit": 4.0, "inductance": 0.02},
    "elastic": {"inertia": 2e-4, "stiffness": 300.0, "damping": 0.5, **LOSSY},
    "with play": {"inertia": 2e-4, "stiffness": 300.0, "damping": 0.5, "backlash": 0.03, **LOSSY},
    "locking itself": {"inertia": 2e-4, "stiffness": 300.0, **LOSSY, "efficiency": 0.4, "inductance": 0.02},
}


def driven(kind: str, *others: Any) -> System:
    return System(pendulum(), (DCMotor("motor", "hinge", 1.0, 0.05, ratio=20.0, **KINDS[kind]), *others))


SPRING = Spring("spring", "bob", "world", 40.0, 0.3, 1.0, (0.0, 0.0, -0.5), (0.8, 0.0, 0.0))


ALL_IN = ("lossy and limited coil", "locking itself", "lossy and limited")  # what the others are parts of
SWEEP = [pytest.param(kind, marks=() if kind in ALL_IN else pytest.mark.slow) for kind in KINDS]


@each_case("kind", KINDS)
def test_power_is_accounted_for_at_every_state(kind: str) -> None:
    """Power on the joint = supplied - dissipated - d(stored)/dt, with the exact rate of what is stored."""
    made = plant(driven(kind))
    loaded = made.laws.rate.args[0]  # type: ignore[attr-defined]
    tree, rng = loaded.tree([]), np.random.default_rng(3)

    def effort(v: Any, x: Any, u: float) -> Effort:
        found: Effort = loaded.seen(tree, Instant(0.0, [0.3], v, x, [], [u], [])).efforts[0]
        return found

    for _ in range(40):
        v, u, x = rng.normal(size=1), float(rng.normal(scale=5.0)), rng.normal(size=made.nx)
        one = effort(v.tolist(), x.tolist(), u)
        kept = rate_along(lambda x, v=v, u=u: [effort(v.tolist(), x, u).stored], (x, one.rates))[0] if made.nx else 0.0
        power = sum(torque * v[k] for k, torque in one.torques.items())
        assert power == pytest.approx(one.supplied - one.dissipated - kept, rel=1e-12, abs=1e-12)
        assert one.dissipated >= 0.0 or kind == "constants apart"


@pytest.mark.parametrize("kind", SWEEP)
@pytest.mark.parametrize(
    "others", [pytest.param((), marks=pytest.mark.slow), (SPRING,)], ids=["alone", "with a spring"]
)
def test_energy_balances(kind: str, others: tuple[Any, ...]) -> None:
    system = driven(kind, *others)
    run = simulate(system, 0.6, output_step=0.02, q=[1.0], inputs=lambda t: [6.0 if t < 0.3 else -2.0], **TIGHT)
    assert run.outcome.ok
    assert audit(run, tolerance=1e-9).passed, audit(run, tolerance=1e-9)
    assert np.ptp(run["energy.supplied"]) > 0.1
    assert run["energy.dissipated"][-1] > 0.05
    assert np.all(np.diff(run["energy.dissipated"]) > -1e-12) or kind == "constants apart"


# ── derivatives ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", SWEEP)
def test_exact_derivatives_are_those_of_differences_and_finite_on_kinks(kind: str) -> None:
    system = driven(kind)
    made = plant(system)
    x = {"motor.current": 0.4, "motor.twist": 0.01, "motor.rotor": 7.0}
    x = {column.name: x[column.name] for column in made.x}
    for v, u in ((0.6, 3.0), (-0.4, 2.5), (1.7, -0.5)):
        near = linearize(made, [0.3], [v], x, [u])
        state, rate = np.array([0.0, v, *x.values()]), build(made.rate)
        for k in range(len(state)):
            step = 1e-6 * np.eye(len(state))[k]
            up, down = (rate(0.0, [0.3], state + sign * step, [], [u], []) for sign in (1.0, -1.0))
            assert near.A[:, k] == pytest.approx((up - down) / 2e-6, rel=1e-6, abs=1e-5)
        up, down = (rate(0.0, [0.3], state, [], [u + sign * 1e-6], []) for sign in (1.0, -1.0))
        assert near.B[:, 0] == pytest.approx((up - down) / 2e-6, rel=1e-6, abs=1e-5)
    # at rest, without power, at the edges of regions and of limits they are finite
    for v, u in ((0.0, 0.0), (0.1, 0.0), (0.0, 4.0), (2.0 / 20.0, 0.05 * 2.0), (0.0, 1.0)):
        near = linearize(made, [0.3], [v], [0.0] * made.nx, [u])
        assert np.isfinite(near.A).all()
        assert np.isfinite(near.B).all()


def test_the_smoothed_sign() -> None:
    speeds = np.linspace(-3.0, 3.0, 601)
    values = np.array([gentle_sign(float(s), 1.0) for s in speeds])
    assert np.all(np.diff(values) >= 0.0)
    assert np.array_equal(values[speeds >= 1.0], np.ones(np.sum(speeds >= 1.0)))
    assert np.abs(np.diff(values, 2)).max() < 5e-4  # no jump in slope
    assert np.array([gentle_secant(float(s), 1.0) for s in speeds]) * speeds == pytest.approx(values, abs=1e-15)
    assert gentle_secant(0.0, 2.0) == 0.75


# ── rotors ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_equations_of_a_system_have_the_reflected_inertia() -> None:
    robot = pendulum()
    motor = DCMotor("motor", "hinge", 1.0, 0.05, ratio=20.0, inertia=1e-3)
    system = System(robot, (motor, replace(motor, name="second", inertia=Parameter("J", 2e-3))))
    bare, loaded = (float(derive(model).mass_matrix([0.2])[0, 0]) for model in (robot, system))
    assert loaded - bare == pytest.approx(400.0 * 3e-3)
    assert [parameter.name for parameter in robot_with_rotors(system).parameters] == ["J"]
    keeping = derive(system, parameters=["J"])
    assert float(keeping.mass_matrix([0.2], [4e-3])[0, 0]) - bare == pytest.approx(400.0 * 5e-3)
    made = plant(system, parameters="all", account=True)
    assert [column.name for column in made.p] == ["J"]
    run = simulate(made, 0.3, q=[1.0], inputs=[1.0, 2.0], p=[4e-3], **TIGHT)
    assert audit(run, tolerance=1e-9).passed
    assert robot_with_rotors(System(robot)) is robot


@pytest.mark.slow
def test_an_elastic_transmission_goes_over_into_a_rigid_one() -> None:
    rigid = DCMotor("motor", "hinge", 1.0, 0.05, ratio=20.0, inertia=1e-3, efficiency=0.8, viscous=1e-4)
    soft = replace(rigid, stiffness=3e5, damping=300.0, efficiency=1.0)
    rigid = replace(rigid, efficiency=1.0)
    q = [simulate(System(pendulum(), (one,)), 0.5, q=[0.5], inputs=[4.0])["q.hinge"][-1] for one in (rigid, soft)]
    assert q[0] == pytest.approx(q[1], abs=2e-3)
    assert q[0] != pytest.approx(q[1], abs=1e-9)


def test_backlash_lets_the_joint_go_between_its_teeth() -> None:
    """Between the teeth nothing passes; beyond them the joint is held by the stiffness, from the edge on."""
    motor = DCMotor("motor", "hinge", 1.0, 0.05, ratio=20.0, inertia=1e-3, stiffness=500.0, damping=2.0, backlash=0.02)
    made = plant(System(pendulum(), (motor,)))
    loaded = made.laws.rate.args[0]  # type: ignore[attr-defined]
    for twist, slip, force in ((0.0099, 3.0, 0.0), (-0.01, 1.0, 0.0), (0.012, 0.0, 1.0), (-0.013, 0.5, -0.5)):
        at = Instant(0.0, [0.0], [0.1], [twist, 20.0 * (slip + 0.1)], [], [0.0], [])
        scene = loaded.seen(loaded.tree([]), at)
        assert scene.efforts[0].torques[0] == pytest.approx(force, abs=1e-12)


def test_a_rotor_as_a_body_moves_the_joint_as_armature_does_where_its_carrier_rests() -> None:
    system = System(pendulum(), (DCMotor("motor", "hinge", 1.0, 0.05, ratio=20.0, inertia=1e-3, **LOSSY),))
    geared = with_rotor_body(system, "motor", mass=0.2)
    assert geared.robot.joint_names == ("hinge", "motor_shaft")
    one = simulate(system, 0.5, output_step=0.05, q=[0.7], inputs=[3.0], **TIGHT)
    other = simulate(geared, 0.5, output_step=0.05, q=[0.7], inputs=[3.0], **TIGHT)
    assert other["q.hinge"] == pytest.approx(one["q.hinge"], abs=1e-9)
    assert audit(other, tolerance=1e-9).passed


def test_a_rotor_as_a_body_turns_what_carries_it() -> None:
    """A floating hull with a wheel behind a gear: the whole angular momentum stays 0 only if the rotor has its own."""
    builder = RobotBuilder("craft", (0.0, 0.0, 0.0)).body("hull", 1.0, inertia=(0.1, 0.1, 0.1)).root("hull", "free")
    builder.body("wheel", 0.1, inertia=(0.01, 0.01, 0.02)).joint("axle", "revolute", "hull", "wheel")
    motor = DCMotor("motor", "axle", 1.0, 0.05, ratio=10.0, inertia=1e-3)
    geared = with_rotor_body(System(builder.build(), (motor,)), "motor")
    run = simulate(geared, 0.5, output_step=0.1, inputs=[3.0], **TIGHT)
    hull, wheel, rotor = (run[f"v.{name}"] for name in ("hull_root.wz", "axle", "motor_shaft"))
    assert 0.1 * hull + 0.02 * (hull + wheel) + 1e-3 * (hull + rotor) == pytest.approx(np.zeros(6), abs=1e-10)
    assert rotor == pytest.approx(10.0 * wheel, abs=1e-9)
    assert abs(wheel[-1]) > 1.0
    assert audit(run, tolerance=1e-9).passed


# ── steps with stiff forces ───────────────────────────────────────────────────────────────────────────────────────────


@each_case("kind", KINDS)
def test_laws_for_the_end_of_a_step_are_those_of_the_state(kind: str) -> None:
    """Forces are the same; pivots are slopes where nothing rubs dry, and are never below 0."""
    made = plant(driven(kind))
    loaded = made.laws.rate.args[0]  # type: ignore[attr-defined]
    for v, u in ((0.7, 2.0), (-0.7, 2.0), (0.0, 0.0), (0.02, -9.0), (30.0, 1.0)):
        world = loaded.seen(loaded.tree([]), Instant(0.0, [0.3], [v], [0.4] * made.nx, [], [u], []))
        stiff = world.stiff()
        assert stiff
        for one in stiff.values():
            (joint,) = one.joints
            at = JointState(0.3, v)
            force, pivot = joint.law.linear(at, 1e-3)
            assert joint.law.force(at) == pytest.approx(world.efforts[0].torques[0], rel=1e-12)
            assert pivot >= 0.0
            if "stiffness" in KINDS[kind]:  # the rotor moves within the step
                assert joint.law.linear(at, 1e-12)[0] == pytest.approx(joint.law.force(at), rel=1e-6, abs=1e-6)
                continue
            assert joint.law.affine == (kind in ("first order", "second order", "constants apart", "rotor"))
            if "inductance" in KINDS[kind]:  # the current is that of the end of the step
                assert joint.law.linear(at, 1e-12)[0] == pytest.approx(joint.law.force(at), rel=1e-6, abs=1e-6)
            else:
                assert force == pytest.approx(joint.law.force(at), rel=1e-12)
            if kind == "second order":
                late = (0.02 * 0.4 + 1e-3 * (u - 0.05 * 20.0 * v)) / (0.02 + 1e-3)
                assert force == pytest.approx(20.0 * 0.05 * late, rel=1e-12)
            if kind in ("first order", "rotor"):
                assert pivot == pytest.approx(joint_slope(joint.law.force, at, 1e-3)[1], rel=1e-12)


@pytest.mark.parametrize("inductance", [0.0, 1e-4])
def test_a_step_at_whose_end_motors_act_does_not_mind_hard_braking(inductance: float) -> None:
    """Back-EMF, dry friction and windings with time constants far below the step: an explicit one would explode."""
    motor = DCMotor("motor", "hinge", 1.0, 0.5, None, inductance, ratio=100.0, efficiency=0.7, coulomb=0.05, slow=0.01)
    system = System(pendulum(), (motor,))
    assert 100.0**2 * 0.25 / 0.5 * 5e-3 > 10.0  # the slope times the step
    run = simulate(system, 2.0, output_step=0.1, step=5e-3, method="implicit_contact_2", q=[0.5], v=[3.0], inputs=[5.0])
    exact = simulate(system, 2.0, output_step=0.1, q=[0.5], v=[3.0], inputs=[5.0], rtol=1e-10)
    assert run["v.hinge"][5:] == pytest.approx(exact["v.hinge"][5:], abs=2e-4)


def test_an_elastic_drive_far_too_stiff_for_the_step_moves_as_it_does_with_small_steps() -> None:
    """A rotor of 1e-5 kg m^2 on 2e3 N m/rad through 50:1 swings at 45 Hz, one of 1e-8 at 1.4 kHz: steps of 1 ms."""
    for inertia, backlash in ((1e-5, 0.0), (1e-5, 1e-3), (1e-8, 0.0)):
        motor = DCMotor(
            *("motor", "hinge", 1.0, 0.05),
            inductance=1e-3,
            inertia=inertia,
            ratio=50.0,
            efficiency=0.8,
            coulomb=1e-3,
            stiffness=2e3,
            damping=0.5,
            backlash=backlash,
        )
        system = System(pendulum(), (motor,))
        at = {"q": [0.5], "inputs": [3.0], "output_step": 0.05}
        exact = simulate(system, 0.5, method="radau", rtol=1e-8, **at)
        moved = np.ptp(exact["q.hinge"])
        for method, share in (("implicit_contact_2", 0.04), ("extrapolated_contact", 0.02)):
            run = simulate(system, 0.5, method=method, step=1e-3, **at)
            assert run["q.hinge"] == pytest.approx(exact["q.hinge"], abs=share * moved)


# ── bad input ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@each_case(
    ("data", "sentence"),
    [
        ({"ratio": 0.0}, "ratio is 0; expected a finite number that is not 0"),
        ({"lead": 0.01}, "lead is 0.01 m and joint 'hinge' is revolute"),
        ({"efficiency": 0.4}, "back_efficiency is -0.5, so the rigid transmission locks itself"),
        ({"stiffness": 10.0}, "inertia is 0, but the transmission has a stiffness"),
        ({"backlash": 0.1}, "backlash is 0.1, but the transmission is rigid"),
        ({"joint": "hing"}, "has no such joint. Did you mean 'hinge'"),
    ],
)
def test_bad_motors(data: dict[str, Any], sentence: str) -> None:
    motor = replace(DCMotor("motor", "hinge", 1.0, 0.05), **data)
    with pytest.raises(ModelError, match=sentence) as caught:
        plant(System(pendulum(), (motor,)))
    assert len(caught.value.problems) == 1


def test_motors_on_joints_that_they_do_not_fit() -> None:
    with pytest.raises(ModelError, match="prismatic and lead is 0"):
        plant(System(lift(), (DCMotor("motor", "slide", 1.0, 0.05),)))
    builder = RobotBuilder("ball").body("ball", 1.0, inertia=(1.0, 1.0, 1.0))
    ball = builder.joint("socket", "spherical", "world", "ball").build()
    with pytest.raises(ModelError, match="'socket' is spherical with 3 velocities; expected a joint with one axis"):
        plant(System(ball, (DCMotor("motor", "socket", 1.0, 0.05),)))
    with pytest.raises(ModelError, match="stall_torque is -1"):
        DCMotor.from_nameplate("motor", "hinge", voltage=1.0, no_load_speed=1.0, stall_torque=-1.0)
    system = System(pendulum(), (DCMotor("motor", "hinge", 1.0, 0.05), SPRING))
    with pytest.raises(ModelError, match="inertia of the rotor is 0 kg m"):
        with_rotor_body(system, "motor")
    with pytest.raises(ModelError, match="is a Spring; expected a DCMotor"):
        with_rotor_body(system, "spring")
