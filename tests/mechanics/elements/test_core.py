"""The core of elements: places on bodies, wiring by names, loads in every formulation, memory that changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph import Parameter, RobotBuilder, System, derive, library, simulate
from kinemorph.codegen.building.compile import build
from kinemorph.elements import Effort, ElementLaw
from kinemorph.errors import ModelError
from kinemorph.mechanics.elements.instant import ElementView, generalized
from kinemorph.mechanics.elements.law import Change, Clock, Push, Slot, Wrench
from kinemorph.mechanics.elements.places import Frame, Motions, point_of
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.configuration import random_configuration
from kinemorph.model.elements import ELEMENT_KINDS
from kinemorph.model.elements.control.controllers import PD, PID
from kinemorph.model.elements.control.references import Sinusoid
from kinemorph.model.elements.drives.actuators import Actuator
from kinemorph.model.elements.drives.motors import DCMotor
from kinemorph.model.elements.forces.springs import Spring
from kinemorph.model.elements.sensing.sensors import Encoder
from kinemorph.plants import plant, robot_laws
from kinemorph.plants.instant import Instant

POINT = (0.1, -0.2, 0.3)


def moving(name: str = "hexapod24") -> tuple[Any, np.ndarray, np.ndarray]:
    robot = library.build(name)
    rng = np.random.default_rng(1)
    return robot, random_configuration(robot, rng), rng.normal(size=robot.nv)


# ── places ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_points_and_frames_move_as_kinematics_says() -> None:
    robot, q, v = moving()
    dynamics = derive(robot)
    body = robot.body_names[-1]
    for tree in (resolve(robot), dynamics.laws.prepared(resolve(robot))):
        motions = Motions(tree, q.tolist(), v.tolist())
        frame, point = Frame(motions, motions.attachment(body)), point_of(motions, body, POINT)
        T = dynamics.pose(body)(q)
        twist = dynamics.jacobian(body)(q) @ v
        assert np.allclose(np.array(frame.pose.R), T[:3, :3], atol=1e-13)
        assert np.allclose(point.position, T[:3, :3] @ POINT + T[:3, 3], atol=1e-13)
        assert np.allclose(frame.velocity, twist[:3], atol=1e-12)
        assert np.allclose(frame.turning, twist[3:], atol=1e-12)
        assert np.allclose(point.out(point.velocity), T[:3, :3] @ (twist[:3] + np.cross(twist[3:], POINT)), atol=1e-12)
        assert np.allclose(point.into(point.out((1.0, 2.0, 3.0))), (1.0, 2.0, 3.0), atol=1e-13)


def test_loads_on_links_are_generalized_forces_by_the_jacobian() -> None:
    robot, q, _ = moving()
    dynamics = derive(robot)
    body = robot.body_names[-1]
    tree = resolve(robot)
    motions = Motions(tree, q.tolist(), [0.0] * robot.nv)
    at = motions.attachment(body)
    force, moment = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.1, -0.7])
    R, p = np.array(at.pose.R), np.array(at.pose.p)
    load = (tuple(R @ force), tuple(R @ moment + np.cross(p, R @ force)))
    expected = dynamics.jacobian(body)(q).T @ np.concatenate([force, moment])
    assert np.allclose(generalized(motions, {at.link: load}), expected, atol=1e-13)


# ── a kind of one's own ───────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Thruster:
    """Pushes and turns a body in its own axes; the strength is an input."""

    name: str
    body: str
    direction: tuple[float, float, float] = (1.0, 0.0, 0.0)
    strength: Any = 1.0


class ThrusterLaw(ElementLaw[Thruster]):
    def inputs(self, element: Thruster) -> tuple[Slot, ...]:
        return (Slot("throttle", "", 1.0),)

    def signals(self, element: Thruster) -> tuple[Slot, ...]:
        return (Slot("thrust", "N"),)

    def _thrust(self, element: Thruster, view: ElementView) -> Any:
        return view.value(element.strength) * view.input("throttle")

    def publish(self, element: Thruster, view: ElementView) -> Mapping[str, Any]:
        return {"thrust": self._thrust(element, view)}

    def effort(self, element: Thruster, view: ElementView) -> Effort:
        frame = view.frame(element.body)
        force = [self._thrust(element, view) * c for c in element.direction]
        moment = [0.1 * f for f in force]
        power = sum(f * v for f, v in zip(force, frame.velocity, strict=True))
        power = power + sum(n * w for n, w in zip(moment, frame.turning, strict=True))
        return Effort(wrenches=(Wrench(frame, force, moment),), supplied=power)


kinemorph.elements.register(Thruster, ThrusterLaw())


def thrusters(**options: Any) -> System:
    robot = moving()[0]
    bodies = robot.body_names
    return System(
        robot,
        (
            Thruster("nose", bodies[0], (1.0, 2.0, 3.0), **options),
            Thruster("foot", bodies[-1], (0.5, -1.0, 2.0)),
            Spring("rope", bodies[3], bodies[-2], 40.0, 0.1, 2.0, POINT, (0.0, 0.1, 0.0)),
        ),
    )


def test_rate_and_residual_agree_and_loads_act_as_outside_wrenches() -> None:
    robot, q, v = moving()
    made = plant(thrusters())
    s = np.concatenate([np.zeros(robot.nv), v])
    u = np.array([0.7, -0.4])
    rate = build(made.rate)(0.0, q, s, [], u, [])
    left = build(made.residual)(0.0, q, s, rate[robot.nv :], [], u, [])
    assert np.abs(left).max() < 1e-10
    # the same loads as generalized forces, through derive()
    assert made.efforts is not None
    supplied, damping = build(made.efforts)(0.0, q, s, [], u, [])
    a = derive(robot).forward_dynamics(q, v, supplied + damping)
    assert np.allclose(rate[robot.nv : 2 * robot.nv], a, rtol=1e-10, atol=1e-10)
    assert np.abs(supplied).max() > 0.1


def test_a_formulation_without_wrenches_gets_generalized_forces() -> None:
    robot, q, v = moving("double_pendulum")
    rope = Spring("rope", robot.body_names[0], "world", 40.0, 0.1, 2.0, POINT, POINT)
    loaded = plant(System(robot, (rope,))).laws.rate.args[0]  # type: ignore[attr-defined]
    other = replace(loaded, dynamics=derive(robot, "lagrange"))
    at = Instant(0.0, q.tolist(), v, [], [], [0.0, 0.0], []).local
    rate = robot_laws.rate(loaded, at)
    assert np.allclose(robot_laws.rate(other, at), rate, rtol=1e-12, atol=1e-12)
    assert np.abs(robot_laws.residual(other, at, rate[robot.nv :])).max() < 1e-12


def test_the_energy_of_an_own_kind_is_accounted_for() -> None:
    run = simulate(thrusters(), 0.3, v=moving()[2], rtol=1e-12, atol=1e-12)
    assert run.outcome.ok
    assert kinemorph.audit(run, tolerance=1e-9).passed
    assert np.allclose(run["nose.thrust"], 1.0)


def test_reactions_of_joints_feel_the_loads() -> None:
    """A spring that pulls a hanging arm: the wrench through its joint holds weight and pull."""
    robot = library.build("pendulum")
    body = robot.body_names[0]
    system = System(robot, (Spring("pull", body, "world", 100.0, 0.0, 0.0, (0.0, 0.0, 0.0), (0.0, 3.0, 0.0)),))
    free, pulled = (simulate(model, 0.01, q=[0.0], output_step=0.01) for model in (robot, system))
    joint = robot.joints[0].name
    difference = pulled.reactions(joint)[0] - free.reactions(joint)[0]
    assert np.linalg.norm(difference[:3]) == pytest.approx(300.0, rel=0.2)


def test_parameters_of_elements_are_inputs_after_those_of_the_robot() -> None:
    strength = Parameter("strength", 2.0)
    made = plant(thrusters(strength=strength), parameters="all")
    assert made.p[-1].name == "strength"
    only = plant(thrusters(strength=strength), parameters=["strength"])
    assert [column.name for column in only.p] == ["strength"]
    rows = [simulate(only, 0.05, p=[value]).v[-1] for value in (2.0, 4.0)]
    assert not np.allclose(rows[0], rows[1])
    assert np.allclose(rows[0], simulate(thrusters(strength=2.0), 0.05).v[-1], atol=1e-12)


# ── wiring ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Gain:
    """Publishes a multiple of what it reads and drives a target with it."""

    name: str
    reads: str
    drives: str = ""
    factor: float = 2.0


class GainLaw(ElementLaw[Gain]):
    def signals(self, element: Gain) -> tuple[Slot, ...]:
        return (Slot(""),)

    def reads(self, element: Gain) -> tuple[str, ...]:
        return (element.reads,)

    def drives(self, element: Gain) -> Mapping[str, str]:
        return {element.drives: ""} if element.drives else {}

    def publish(self, element: Gain, view: ElementView) -> Mapping[str, Any]:
        return {"": element.factor * view.signal(element.reads)}


kinemorph.elements.register(Gain, GainLaw())


def test_signals_drive_joints_and_inputs_of_elements() -> None:
    robot = library.build("double_pendulum")
    joint, other = (joint.name for joint in robot.joints)
    chain = (Gain("one", f"q.{joint}"), Gain("two", "one", joint, -3.0), Gain("c", f"v.{other}", "drive", -1.0))
    system = System(robot, (*chain, Actuator("drive", other)))
    made = plant(system)
    q, v = np.array([0.3, 0.2]), np.array([0.1, -0.5])
    supplied, _ = build(made.efforts)(0.0, q, np.concatenate([np.zeros(2), v]), [], np.zeros(made.nu), [])
    assert supplied == pytest.approx([-6.0 * q[0], -v[1]])
    assert made.nu == 2  # no input is open: forces per velocity stay
    run = simulate(system, 1.0, q=q, v=v, rtol=1e-12, atol=1e-12)
    assert kinemorph.audit(run, tolerance=1e-9).passed
    assert run["two"] == pytest.approx(-6.0 * run["q." + joint])


@pytest.mark.parametrize(
    ("elements", "says"),
    [
        ((Gain("a", "q.nowhere"),), r"'a': it reads 'q.nowhere', but there is no such signal.*Known: "),
        ((Gain("a", "t", "drivee"), Actuator("drive", "q1")), r"'a': it drives 'drivee'.*Did you mean 'drive'"),
        (
            (Gain("a", "t", "drive"), Gain("b", "t", "drive"), Actuator("drive", "q1")),
            r"element 'b': it drives 'drive', and so does 'a'",
        ),
        ((Gain("t", "t"),), r"element 't': this name is reserved"),
        ((Actuator("drive", "q9"),), r"element 'drive': joint is 'q9', and robot 'double_pendulum' has no such joint"),
        ((Spring("s", "link1", "link7", -1.0),), r"(?s)stiffness is -1; expected.*body_b is 'link7'"),
    ],
)
def test_bad_wiring_is_named(elements: Sequence[Any], says: str) -> None:
    with pytest.raises(ModelError, match=says):
        plant(System(library.build("double_pendulum"), tuple(elements)))


def test_circles_of_signals_are_named() -> None:
    with pytest.raises(ModelError, match=r"in a circle: one -> two -> one"):
        _ = plant(System(library.build("double_pendulum"), (Gain("one", "two", "q1"), Gain("two", "one")))).rate


def test_an_element_without_a_law_is_named() -> None:
    @dataclass(frozen=True)
    class Mystery:
        name: str

    with pytest.raises(ModelError, match=r"element 'm': no law is registered for its kind, Mystery"):
        plant(System(library.build("pendulum"), (Mystery("m"),)))


def test_built_in_kinds_are_found_by_name_and_by_class() -> None:
    assert ELEMENT_KINDS["spring"] is Spring is kinemorph.elements.Spring
    with pytest.raises(AttributeError, match=r"has no attribute 'Sprung'\. Did you mean 'Spring'"):
        _ = kinemorph.elements.Sprung


# ── memory ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Ratchet:
    """A spring on a joint whose rest moves to where it is stretched beyond a limit: it remembers, and loses energy."""

    name: str
    joint: str
    stiffness: float = 50.0
    limit: float = 0.2
    located: bool = True


class RatchetLaw(ElementLaw[Ratchet]):
    def memory(self, element: Ratchet) -> tuple[Slot, ...]:
        return (Slot("rest", "rad"),)

    def effort(self, element: Ratchet, view: ElementView) -> Effort:
        joint = view.hinge(element.joint)
        stretch = joint.q - view.m[0]
        return Effort(
            torques={joint.place: -element.stiffness * stretch}, stored=0.5 * element.stiffness * stretch * stretch
        )

    def settles(self, element: Ratchet) -> bool:
        return True

    def _yielded(self, element: Ratchet, view: ElementView, beyond: Any) -> Change:
        q = view.hinge(element.joint).q
        stretch = q - view.m[0]
        lost = 0.5 * element.stiffness * stretch * stretch
        return Change(((beyond > 0.0).where(q, view.m[0]),), (beyond > 0.0).where(lost, 0.0))

    def settle(self, element: Ratchet, view: ElementView) -> Change:
        return self._yielded(element, view, abs(view.hinge(element.joint).q - view.m[0]) - element.limit)

    def guards(self, element: Ratchet) -> tuple[str, ...]:
        return ("slips",) if element.located else ()

    def guard_values(self, element: Ratchet, view: ElementView) -> Sequence[Any]:
        return (element.limit - abs(view.hinge(element.joint).q - view.m[0]),) if element.located else ()

    def switch(self, element: Ratchet, view: ElementView, guard: int) -> Change:
        q = view.hinge(element.joint).q
        stretch = q - view.m[0]
        return Change((q,), 0.5 * element.stiffness * stretch * stretch)


kinemorph.elements.register(Ratchet, RatchetLaw())


@pytest.mark.parametrize("options", [{"rtol": 1e-12, "atol": 1e-12}, {"method": "rk4", "step": 1e-3}])
def test_memory_changes_at_events_or_after_steps_and_the_loss_is_booked(options: Mapping[str, Any]) -> None:
    robot = library.build("pendulum")
    system = System(robot, (Ratchet("ratchet", robot.joints[0].name),))
    run = simulate(system, 3.0, q=[0.0], v=[6.0], **options)
    assert run.outcome.ok
    rests = np.unique(run["m.ratchet.rest"])
    assert len(rests) > 3
    assert run["energy.dissipated"][-1] > 1.0
    assert np.abs(run["energy.balance"]).max() < (1e-9 if "rtol" in options else 1e-5)
    assert ("switch" in {event.kind for event in run.events}) == ("rtol" in options)
    if "rtol" in options:
        steps = np.diff(run["m.ratchet.rest"])
        assert np.allclose(np.abs(steps[steps != 0.0]), 0.2, atol=1e-9)  # located, not after a step


def test_settling_elements_settle_in_adaptive_runs_too_where_they_have_no_guards() -> None:
    robot = library.build("pendulum")
    system = System(robot, (Ratchet("ratchet", robot.joints[0].name, located=False),))
    run = simulate(system, 3.0, q=[0.0], v=[6.0], rtol=1e-10, atol=1e-10)
    assert run.outcome.ok and not run.events
    assert len(np.unique(run["m.ratchet.rest"])) > 2
    batch = kinemorph.simulate_batch(system, 3.0, q=[[0.0], [0.0]], v=[[6.0], [3.0]], method="rk4", step=1e-3)
    single = simulate(system, 3.0, q=[0.0], v=[6.0], method="rk4", step=1e-3)
    assert batch.ok.all()
    assert np.allclose(batch.q[0], single.q, atol=1e-12)
    assert np.array_equal(batch.m[0], single.m)


def test_memory_may_differ_from_state_to_state_in_a_batch() -> None:
    robot = library.build("pendulum")
    system = System(robot, (Ratchet("ratchet", robot.joints[0].name),))
    rests = np.array([0.0, 0.1, -0.1])
    batch = kinemorph.simulate_batch(system, 1.0, q=[0.0], m={"ratchet.rest": rests}, method="rk4", step=1e-3)
    for k, rest in enumerate(rests):
        single = simulate(system, 1.0, q=[0.0], m=[rest], method="rk4", step=1e-3)
        assert np.allclose(batch.q[k], single.q, atol=1e-12)
        assert np.array_equal(batch.m[k], single.m)


@dataclass(frozen=True)
class Counter:
    """Counts its ticks and notes when they were."""

    name: str
    every: float
    phase: float = 0.0


class CounterLaw(ElementLaw[Counter]):
    def memory(self, element: Counter) -> tuple[Slot, ...]:
        return Slot("count"), Slot("time", "s", -1.0)

    def clocks(self, element: Counter) -> tuple[Clock, ...]:
        return (Clock(element.every, element.phase),)

    def sample(self, element: Counter, view: ElementView, clock: int) -> Sequence[Any]:
        return view.m[0] + 1.0, view.t


kinemorph.elements.register(Counter, CounterLaw())


def test_clocks_tick_at_their_own_instants_whatever_the_steps_are() -> None:
    robot = library.build("pendulum")
    system = System(robot, (Counter("slow", 0.07), Counter("fast", 0.02, 0.005)))
    for options in ({}, {"method": "rk4", "step": 3e-3}, {"method": "radau"}, {"method": "scipy:RK45"}):
        run = simulate(system, 1.0, q=[0.3], output_step=0.01, **options)  # type: ignore[arg-type]
        assert run.outcome.ok, run.outcome
        for name, every, phase in (("slow", 0.07, 0.0), ("fast", 0.02, 0.005)):
            expected = np.floor((run.t - phase) / every + 1e-9) + 1.0
            assert np.array_equal(run[f"m.{name}.count"], np.maximum(expected, 0.0)), options
            last = phase + (np.maximum(expected, 1.0) - 1.0) * every
            assert np.allclose(run[f"m.{name}.time"], np.where(expected > 0.0, last, -1.0), rtol=1e-15, atol=0.0), (
                options
            )


def test_a_push_on_the_world_has_no_effect() -> None:
    robot = library.build("pendulum")
    motions = Motions(resolve(robot), [0.3], [0.0])
    push = Push(point_of(motions, "world", POINT), (1.0, 2.0, 3.0))
    assert push.point.position == POINT
    assert tuple(push.point.velocity) == (0.0, 0.0, 0.0)


def test_units_of_signals_are_those_of_what_they_measure_and_drive() -> None:
    """An encoder on a slide reads meters, a PID that drives a motor gives volts; a state is shown once."""
    robot = RobotBuilder("lift").body("load", 1.0).joint("slide", "prismatic", "world", "load").build()
    members = (
        DCMotor("motor", "slide", 1.0, 0.02, inductance=1e-3, lead=0.01),
        Encoder("encoder", "slide", resolution=1e-4, every=0.01),
        PID("pid", reads="encoder.position", drives="motor", kp=1.0, every=0.01),
        Sinusoid("wish", amplitude=0.1, joints=("slide",)),
        PD("pd", ("slide",), kp=1.0, kd=1.0, reference="wish"),
    )
    run = simulate(System(robot, members), 0.02)
    units = {name: column.unit for name, column in run.columns.items()}
    expected = {"encoder.position": "m", "encoder.velocity": "m/s", "pid": "V", "pid.error": "m", "pd": "N"}
    expected |= {
        f"wish.slide{end}": unit for end, unit in (("", "m"), (".velocity", "m/s"), (".acceleration", "m/s^2"))
    }
    assert {name: units.get(name) for name in (*expected, "motor.current")} == expected | {"motor.current": "A"}
    assert not any(name.startswith("y.") for name in units)


@dataclass(frozen=True)
class Odd:
    name: str
    given: Any


class OddLaw(ElementLaw[Odd]):
    """One that does not give what it should."""

    def signals(self, element: Odd) -> tuple[Slot, ...]:
        return (Slot("level"),)

    def effort(self, element: Odd, view: ElementView) -> Any:
        return element.given


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (None, "element 'odd': `effort` of OddLaw returns None; expected an Effort"),
        (Effort(rates=(1.0,)), "returns 1 rate; expected 0, one for each of its `states`"),
        (Effort(pushes=((0.0, 1.0),)), "returns pushes of another type; expected Push"),  # type: ignore[arg-type]
        (Effort(wrenches=((0.0, 1.0),)), "returns wrenches of another type; expected Wrench"),  # type: ignore[arg-type]
        (Effort(), "`publish` of OddLaw returns no 'level'; expected a value for each of its `signals`"),
    ],
)
def test_laws_of_users_that_give_something_else_are_named(given: Any, says: str) -> None:
    kinemorph.elements.register(Odd, OddLaw())
    with pytest.raises(ModelError, match=says):
        simulate(System(library.build("double_pendulum"), (Odd("odd", given),)), 0.1)["odd.level"]
