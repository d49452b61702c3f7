"""Plants whose limbs are alike, elements included: the rate of one state has limbs as lanes, and is the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph.codegen.building.compile import build
from kinemorph.model.elements import PD, Actuator, Contact, Spring
from kinemorph.model.elements.contact.contact_laws import Anchor, EasyDynNormal, Regularized
from kinemorph.model.library.choosing import choose
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.simulate import simulate

LEGS = range(1, 7)
STICKING, SLIDING = Anchor(0.8, 0.6, 1e4, 50.0), Regularized(0.8, 0.01)


def hexapod() -> Robot:
    """The built-in one, each joint with a damping of its own."""
    robot = choose("hexapod24").robot
    joints = [replace(j, damping=(0.01 * k,)) if j.kind == "revolute" else j for k, j in enumerate(robot.joints)]
    return replace(robot, joints=tuple(joints))


def feet(**data: Any) -> list[Spring]:
    """Springs of different stiffness from each foot to the ground."""
    return [Spring(f"foothold{k}", f"foot{k}", "world", 100.0 + k, 0.1, 1.0, **data) for k in LEGS]


def motors(robot: Robot) -> list[Actuator]:
    hinges = [joint.name for joint in robot.joints if joint.kind == "revolute"]
    return [Actuator(f"motor of {name}", name, control="position", gain=10.0, damping=0.5) for name in hinges]


def states(model: Plant, count: int) -> list[np.ndarray]:
    """Inputs of `rate`."""
    rng = np.random.default_rng(2)
    given = {name: rng.normal(size=(count, *shape)) for name, shape in model.ports.items()}
    given["base"] = np.array([model.start["q"]] * count)
    given["s"] *= 0.3
    return list(given.values())


def standing(robot: Robot, grip: Any = STICKING) -> list[Any]:
    """Feet on the ground, with memory of where they stick, and motors; every foot at another point of its shank."""
    at = {k: (0.001 * k, 0.002, 0.0) for k in LEGS}
    contacts = [Contact(f"c{k}", f"foot{k}", EasyDynNormal(2e4, 200.0), grip, point=at[k]) for k in LEGS]
    return [*contacts, *motors(robot)]


SYSTEMS: dict[str, Any] = {
    "bare": lambda robot: [],
    "feet": lambda robot: feet(),
    "feet and motors": lambda robot: [*feet(), *motors(robot)],
    "leg by leg": lambda robot: [e for k in range(6) for e in (feet()[k], *motors(robot)[3 * k : 3 * k + 3])],
    "standing": standing,
    "a spring on the body": lambda robot: [Spring("tether", "trunk", "world", 50.0), *feet()],
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_rate_of_one_state(name: str) -> None:
    robot = hexapod()
    model = plant(System(robot, SYSTEMS[name](robot)))
    program = model.rate
    assert program.for_one is not None and program.for_one.ops < 0.5 * program.ops
    inputs = states(model, 3)
    exact = build(program, "interpreter")(*inputs)
    ours = np.array([build(program)(*(array[k] for array in inputs)) for k in range(3)])
    assert np.abs(ours - exact).max() <= 1e-11 * np.abs(exact).max()


def uneven(elements: Sequence[Any], **changes: Any) -> list[Any]:
    return [replace(elements[0], **changes), *elements[1:]]


@pytest.mark.parametrize(
    "elements",
    [
        [*feet(), Spring("strut", "foot1", "foot2", 5.0)],  # between two legs
        feet()[:5],  # a leg without
        [Spring(f"strut{k}", f"foot{k}", "trunk", 5.0) for k in LEGS],  # every leg pushes the body as well
        uneven(feet(), body_b="trunk"),
        uneven(motors(hexapod()), gain=11.0),  # a number that is no Value
        uneven(motors(hexapod()), control="velocity"),
    ],
)
def test_systems_that_cannot_be_folded_are_written_out(elements: Sequence[Any]) -> None:
    assert plant(System(hexapod(), elements)).rate.for_one is None


def test_laws_of_the_whole_state_are_written_out() -> None:
    robot = hexapod()
    assert plant(robot).rate.for_one is not None
    for options in ({"forces": lambda q: [0.0] * 24}, {"locked": robot.joint_names[3]}):
        assert plant(robot, **options).rate.for_one is None


@pytest.mark.parametrize("account", [False, True])
def test_the_account_of_energy_is_summed_over_limbs(account: bool) -> None:
    """Dampers, motors, a controller of all joints, springs of limbs and of the body: powers, entry by entry."""
    robot = hexapod()
    hinges = tuple(joint.name for joint in robot.joints if joint.kind == "revolute")
    controller = PD("pd", hinges, kp=tuple(np.linspace(1.0, 2.0, 18)), kd=0.3, reference=0.1)
    model = plant(System(robot, [Spring("tether", "trunk", "world", 50.0), controller, *feet()]), account=account)
    program = model.rate
    assert program.for_one is not None and program.for_one.ops < 0.5 * program.ops
    inputs = states(model, 3)
    exact = build(program, "interpreter")(*inputs)
    ours = np.array([build(program)(*(array[k] for array in inputs)) for k in range(3)])
    assert np.abs(ours - exact).max() <= 1e-11 * np.abs(exact).max()
    if account:
        assert np.abs(exact[:, -2:]).min() > 1e-3
        assert ours[:, -2:] == pytest.approx(exact[:, -2:], rel=1e-11)


@pytest.mark.parametrize("passes, shares", [(2, (1.0,)), (1, (1.0, 0.5))])
@pytest.mark.slow
def test_whole_implicit_steps(passes: int, shares: tuple[float, ...]) -> None:
    robot = hexapod()
    model = plant(System(robot, standing(robot)), account=passes == 2)
    program = model.implicit_step(passes, shares)
    assert program.for_one is not None and program.for_one.ops < 0.4 * program.ops
    given = dict(zip(model.ports, states(model, 3), strict=True))
    given["base"][:, 2] = np.array([0.1, 0.14, 0.3])  # deep in the ground, at it, above it
    given |= {"h": np.full(3, 1e-3), "guess": np.random.default_rng(0).normal(size=(3, model.nv))}
    inputs = [given[port.name] for port in program.inputs]
    exact, function = build(program, "interpreter")(*inputs), build(program)
    for k in range(3):
        for ours, theirs in zip(function(*(array[k] for array in inputs)), exact, strict=True):
            assert np.abs(ours - theirs[k]).max() <= 1e-11 * np.abs(theirs[k]).max()


@pytest.mark.parametrize(
    "method, elements", [("rk4", lambda robot: feet()), ("implicit_contact", lambda robot: standing(robot, SLIDING))]
)
@pytest.mark.slow
def test_a_run_is_the_same(method: str, elements: Any) -> None:
    """One robot by lanes against the same written out; and twice the same bits."""
    robot = hexapod()
    model = plant(System(robot, elements(robot)))
    runs = [simulate(model, 0.1, method=method, step=0.002) for _ in range(2)]
    assert np.array_equal(runs[0].q, runs[1].q)
    straight = replace(model, laws=replace(model.laws, for_one=None))
    plain = simulate(straight, 0.1, method=method, step=0.002)
    assert not np.array_equal(runs[0].q, plain.q)  # other code
    assert np.abs(runs[0].q - plain.q).max() < 1e-10
