"""Pulls: springs to a target that is an input. Laws at instants, closed forms, and work of moving inputs (000-24)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, HeldInputs, RobotBuilder, System, audit, elements, load, load_text, save, simulate
from kinemorph.elements import PD, Pull, Setpoint
from kinemorph.errors import ModelError
from kinemorph.formats.toml.templates import TEMPLATES
from kinemorph.mechanics.steps.pair_forces import PairState, relative
from kinemorph.model.configuration import integrate, random_configuration
from kinemorph.plants import plant
from kinemorph.simulation.stepping.stepper import Stepper
from support.cases.element_laws import ROBOTS, Instant

POINT = (0.1, -0.2, 0.05)
HAND = Pull("hand", 40.0, damping=1.0)  # on any body
TARGET = {"e.x": 0.7, "e.y": -0.4, "e.z": 0.3, "e.share": 0.6}


def any_body(robot: Any, body: str) -> dict[str, float]:
    """The inputs with which a pull on any body is that of POINT on a body."""
    grip = dict(zip(("e.point_x", "e.point_y", "e.point_z"), POINT, strict=True))
    return TARGET | grip | {"e.body": float(robot.body_names.index(body))}


def states(robot: Any, count: int = 3) -> Any:
    rng = np.random.default_rng(8)
    for _ in range(count):
        yield 0.0, random_configuration(robot, rng), rng.normal(size=robot.nv)


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("chosen", [False, True])
def test_power_is_accounted_for_and_slopes_are_differences(robot: str, chosen: bool) -> None:
    model = ROBOTS[robot]()
    pull = Pull("e", 40.0, "" if chosen else "tool", 2.0, (0.0, 0.0, 0.0) if chosen else POINT)
    instant = Instant(model, [pull], any_body(model, "tool") if chosen else TARGET)
    for t, q, v in states(model):
        gap, scale = instant.power_gap(t, q, v)
        assert abs(gap) <= 1e-13 * max(scale, 1.0)
        exact, by_steps = instant.slopes(t, q, v), instant.differences(t, q, v)
        assert np.abs(exact - by_steps).max() <= 2e-7 * max(1.0, np.abs(exact).max())
        assert float(instant.world(t, q, v).gathered().dissipated) > 0.0


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_pull_on_any_body_is_that_on_this_body_and_that_of_a_spring_of_no_length(robot: str) -> None:
    model = ROBOTS[robot]()
    for body in model.body_names:
        one = Instant(model, [Pull("e", 40.0, body, 2.0, POINT)], TARGET)
        other = Instant(model, [Pull("e", 40.0, damping=2.0)], any_body(model, body))
        place = tuple(TARGET[f"e.{axis}"] for axis in "xyz")
        spring = Instant(model, [elements.Spring("e", body, "world", 24.0, point_a=POINT, point_b=place)])
        plain = Instant(model, [replace(one.cast.members[0].element, damping=0.0)], TARGET)
        for t, q, v in states(model):
            mine = np.array(one.forces(t, q, v), dtype=float)
            assert np.array(other.forces(t, q, v), dtype=float) == pytest.approx(mine, abs=1e-12)
            assert np.array(plain.forces(t, q, v)) == pytest.approx(np.array(spring.forces(t, q, v)), abs=1e-12)


def test_joint_forces_are_slopes_of_the_energy_in_plain_trigonometry() -> None:
    """Two links in a plane, with their kinematics by hand: tau = -dU/dq - c (dp/dq)^T dp/dt."""
    builder = RobotBuilder("two")
    for name in ("upper", "lower"):
        builder.add(Body.rod(name, 1.0, 0.5, (0.25, 0.0, 0.0), axis="x"))
    builder.joint("one", "revolute", "world", "upper", axis=(0, 0, 1))
    builder.joint("two", "revolute", "upper", "lower", translation=(0.5, 0, 0), axis=(0, 0, 1))
    k, c, share, r, x0, y0 = 30.0, 1.5, 0.7, 0.3, 0.2, 0.6
    inputs = {"e.x": x0, "e.y": y0, "e.share": share}
    instant = Instant(builder.build(), [Pull("e", k, "lower", c, (r, 0.0, 0.0))], inputs)

    def place(q: Any) -> Any:
        return np.array([0.5 * np.cos(q[0]) + r * np.cos(q[0] + q[1]), 0.5 * np.sin(q[0]) + r * np.sin(q[0] + q[1])])

    q, v, h = np.array([0.4, 0.9]), np.array([0.8, -1.7]), 1e-6
    J = np.stack([(place(q + h * unit) - place(q - h * unit)) / (2 * h) for unit in np.eye(2)], axis=1)
    force = -share * (k * (place(q) - (x0, y0)) + c * J @ v)
    assert np.array(instant.forces(0.0, q, v), dtype=float) == pytest.approx(J.T @ force, rel=1e-8)


@pytest.mark.parametrize("method", ["dop853", "implicit_contact"])
def test_a_mass_that_is_pulled_and_let_go_moves_as_a_damped_oscillator(method: str) -> None:
    """x'' = -(k x + c x') / m, and after the release with constant velocity; in implicit steps to their first order."""
    m, k, c, until = 2.0, 50.0, 3.0, 0.7
    ball = RobotBuilder("ball", gravity=(0, 0, 0)).add(Body.sphere("ball", m, 0.1)).root("ball", "free").build()
    step = None if method == "dop853" else 1e-4
    stepper = Stepper(System(ball, (Pull("hand", k, "ball", c),)), method=method, step=step, v={"ball_root.vx": 0.4})
    stepper.push({"hand.x": 0.3, "hand.share": 1.0})
    stepper.advance(until)
    decay = c / (2 * m)
    w = np.sqrt(k / m - decay**2)
    a, b = -0.3, (0.4 - decay * 0.3) / w
    wave = np.exp(-decay * until) * (a * np.cos(w * until) + b * np.sin(w * until))
    speed = -decay * wave + np.exp(-decay * until) * w * (b * np.cos(w * until) - a * np.sin(w * until))
    tight = 1e-7 if step is None else 1e-3
    assert stepper.state.q[0] == pytest.approx(0.3 + wave, abs=tight)
    stepper.push({"hand.share": 0.0})
    stepper.advance(1.0)
    assert stepper.state.v[0] == pytest.approx(speed, abs=tight * 5)
    assert stepper.state.q[0] == pytest.approx(0.3 + wave + speed * (1.0 - until), abs=tight)


@pytest.mark.parametrize("method", ["dop853", pytest.param("scipy:LSODA", marks=pytest.mark.slow)])
def test_work_of_moving_inputs_closes_the_balance_of_energy(method: str) -> None:
    """The target jumps, the share and the body change: all of it is counted, to 1e-6 of what is turned over."""
    model = ROBOTS["arm"]()
    rng = np.random.default_rng(4)

    def hand(t: float) -> dict[str, float]:
        grip = {"hand.body": float(rng.integers(3)), "hand.point_x": 0.1}
        return grip | {"hand.x": rng.normal(), "hand.z": 0.3 * rng.normal(), "hand.share": rng.uniform()}

    run = simulate(
        System(model, (HAND,)), 0.5, inputs=HeldInputs(hand, every=0.0137), method=method, rtol=1e-9, atol=1e-11
    )
    turned_over = np.abs(np.diff(run.energy.supplied)).sum() + run.energy.dissipated[-1]
    assert turned_over > 10.0
    assert np.abs(run.energy.balance).max() < 1e-6 * turned_over
    assert audit(run).passed


def test_constant_inputs_supply_nothing() -> None:
    """What the spring stores and the damper takes is all that leaves the robot."""
    given = {"hand.x": 0.5, "hand.share": 1.0, "hand.body": 2.0}
    run = simulate(System(ROBOTS["arm"](), (HAND,)), 0.5, inputs=given, rtol=1e-9, atol=1e-11)
    assert np.all(run.energy.supplied == 0.0) and run.energy.dissipated[-1] > 0.1
    assert np.ptp(run.energy.kinetic) > 0.1
    assert np.abs(run.energy.balance).max() < 1e-8


@pytest.mark.parametrize("robot", ["arm", "floater"])
def test_the_law_for_the_end_of_a_step_is_that_of_the_state(robot: str) -> None:
    model = ROBOTS[robot]()
    instant = Instant(model, [Pull("e", 40.0, "tool", 2.0, POINT)], TARGET)
    for t, q, v in states(model):
        world = instant.world(t, q, v)
        (pair,) = world.stiff()[0].pairs
        velocity = relative(pair, world.motions.sight, {pair.links[0]: world.motions.twist(pair.links[0])})
        late = pair.law.force(PairState(velocity, 0.0))
        now = [world.signal(f"e.force_{axis}") for axis in "xyz"]
        assert np.array(late, dtype=float) == pytest.approx(np.array(now, dtype=float), abs=1e-12)


@pytest.mark.parametrize("robot", ["arm", "floater"])
def test_force_and_point_are_signals_and_the_point_of_the_element_is_added(robot: str) -> None:
    """By hand: F = -share (k (p - target) + c dp/dt), where p and dp/dt are those of the pull on a given body."""
    model = ROBOTS[robot]()
    one = Instant(model, [Pull("e", 40.0, "tool", 2.0, (0.2, -0.2, 0.0))], TARGET)
    other = Instant(model, [Pull("e", 40.0, "", 2.0, (0.1, 0.0, -0.05))], any_body(model, "tool"))
    h, target = 1e-6, np.array([TARGET[f"e.{axis}"] for axis in "xyz"])

    def place(instant: Any, t: float, q: Any, v: Any) -> Any:
        world = instant.world(t, q, v)
        return np.array([[world.signal(f"e.{what}_{axis}") for axis in "xyz"] for what in ("force", "point")], float)

    for t, q, v in states(model):
        force, point = place(one, t, q, v)
        assert np.array([force, point]) == pytest.approx(place(other, t, q, v), abs=1e-12)
        back, forth = (place(one, t, moved(model, q, v, step), v)[1] for step in (-h, h))
        speed = (forth - back) / (2 * h)
        assert force == pytest.approx(-0.6 * (40.0 * (point - target) + 2.0 * speed), abs=1e-6)


def moved(robot: Any, q: Any, v: Any, h: float) -> Any:
    """The configuration after a short time h [s] with the velocity v."""
    return np.array(integrate(robot, q, np.asarray(v) * h), dtype=float)


def test_units_of_a_pull_in_a_model_file() -> None:
    text = """
[elements.hand]
kind = "pull"
stiffness = "2 N/mm"
damping = "3 N s/m"
body = "forearm"
point = ["10 cm", 0, "-5 mm"]
"""
    system = load_text(TEMPLATES["arm"].text + text, "toml")
    assert system.elements[-1] == Pull("hand", 2000.0, "forearm", 3.0, (0.1, 0.0, -0.005))
    assert [(c.name, c.unit) for c in plant(system).u if c.name.startswith("hand.")] == [
        *((f"hand.{axis}", "m") for axis in "xyz"), ("hand.share", ""),
    ]  # fmt: skip


def test_inputs_of_hands_leave_the_forces_of_joints_as_inputs() -> None:
    model = ROBOTS["arm"]()
    pulled = plant(System(model, (Pull("hand", 1.0),)))
    names = [column.name for column in pulled.u]
    assert names[: model.nv] == list(model.v_names) and names[model.nv] == "hand.x" and len(names) == model.nv + 8
    motor = elements.DCMotor("motor", "hinge", 1.0, 0.1)
    assert [column.name for column in plant(System(model, (motor, Pull("hand", 1.0, "tool")))).u][:2] == [
        "motor",
        "hand.x",
    ]


def test_a_set_point_from_inputs_moves_as_one_that_is_constant() -> None:
    """The position is an input, begins at the value of the set point, and can be set at any time."""
    model = ROBOTS["arm"]()

    def held(point: Setpoint) -> System:
        return System(model, (point, PD("hold", "hinge", 50.0, 5.0, reference="goal")))

    still, given = held(Setpoint("goal", 0.4, "hinge")), held(Setpoint("goal", 0.2, "hinge", from_inputs=True))
    assert [(c.name, c.unit) for c in plant(given).u][-1] == ("goal", "rad")
    options: dict[str, Any] = {"output_step": 0.05, "rtol": 1e-10, "atol": 1e-12}
    assert plant(given).start["u"][-1] == 0.2
    moved = simulate(given, 0.2, inputs={"goal": 0.4}, **options)
    assert moved.q == pytest.approx(simulate(still, 0.2, **options).q, abs=1e-9)


@pytest.mark.parametrize(
    ("pull", "sentence"),
    [
        (Pull("e", 1.0, "toool"), r"body is 'toool'.*Did you mean 'tool'"),
        (Pull("e", -1.0, "tool"), r"stiffness is -1; expected a finite number of at least 0"),
        (Pull("e", 1.0, "tool", -2.0), r"damping is -2; expected"),
    ],
)
def test_wrong_data_are_named(pull: Pull, sentence: str) -> None:
    with pytest.raises(ModelError, match=sentence):
        plant(System(ROBOTS["arm"](), (pull,)))


def test_pulls_and_set_points_survive_a_model_file(tmp_path: Any) -> None:
    pulls = (Pull("hand", 40.0, "tool", 2.0, POINT), Pull("other", 3.0))
    system = System(ROBOTS["arm"](), (*pulls, Setpoint("goal", 0.1, "hinge", from_inputs=True)))
    save(system, tmp_path / "arm.toml")
    assert load(tmp_path / "arm.toml").elements == system.elements
