"""`with_parameters`: the changed model has the forces of its new parameters, and model files keep them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kinemorph import elements
from kinemorph.analysis.identification.with_parameters import with_parameters
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import ModelError, ModelWarning
from kinemorph.formats.loading import load, save
from kinemorph.model import library
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.simulation.simulate import simulate
from support.robots.random_robots import random_body, random_robot, random_states


def arm(**joint: float) -> Robot:
    """Two hinges in the vertical plane, with general bodies."""
    rng = np.random.default_rng(3)
    builder = RobotBuilder("arm")
    builder.add(random_body(rng, "upper")).add(random_body(rng, "fore"))
    builder.joint("shoulder", "revolute", "world", "upper", axis=(0.0, 1.0, 0.0), **joint)
    return builder.joint(
        "elbow", "revolute", "upper", "fore", axis=(0.0, 1.0, 0.0), translation=(0.4, 0.0, 0.0), **joint
    ).build()


def new_values(robot: Robot, seed: int) -> dict[str, float]:
    """Parameters of other bodies and rotors, by name."""
    rng = np.random.default_rng(seed)
    dynamics = derive(robot, backend="interpreter")
    other = dict(zip(dynamics.regressor_columns, dynamics.regressor_parameters.tolist(), strict=True))
    for name in [name.removesuffix(".m") for name in other if name.endswith(".m")]:
        host = RobotBuilder("one").add(random_body(rng, name)).joint("j", "revolute", "world", name).build()
        one = derive(host, backend="interpreter")
        found = dict(zip(one.regressor_columns, one.regressor_parameters.tolist(), strict=True))
        other |= {key: value for key, value in found.items() if key.startswith(f"{name}.")}
    return {
        key: float(rng.uniform(0.1, 1.0)) if key.endswith(".armature") else value
        for key, value in other.items()
        if not key.endswith((".viscous", ".coulomb", ".offset"))
    }


@pytest.mark.parametrize("seed", [1, 2, 5])
def test_the_changed_model_has_the_forces_of_the_regressor(seed: int) -> None:
    robot = random_robot(seed, most=8, symbolic=seed == 5)
    values = new_values(robot, seed)
    changed = with_parameters(robot, values)
    q, v, a, _ = random_states(robot, seed, 3)
    before = derive(robot, backend="interpreter")
    theta = np.array([values.get(name, 0.0) for name in before.regressor_columns])
    tau = derive(changed, backend="interpreter").inverse_dynamics(q, v, a)
    wanted = before.regressor(q, v, a) @ theta
    assert np.abs(tau - wanted).max() < 1e-12 * np.abs(wanted).max()
    assert {one.name for one in changed.robot.parameters} <= {one.name for one in robot.parameters}
    assert all(isinstance(changed.robot.body(name[:-2]).mass, float) for name in values if name.endswith(".m"))


def test_friction_and_offsets_act_in_runs_as_in_the_regressor() -> None:
    robot = arm()
    friction = {"viscous": (0.3, 0.2), "coulomb": (0.8, 0.4), "offset": (0.25, -0.5), "armature": (0.02, 0.03)}
    values = {f"{joint}.{key}": x[k] for key, x in friction.items() for k, joint in enumerate(("shoulder", "elbow"))}
    changed = with_parameters(robot, values)
    dynamics = derive(robot, backend="interpreter")
    theta = dynamics.regressor_parameters.copy()
    for name, value in values.items():
        theta[dynamics.regressor_columns.index(name)] = value
    u = np.array([2.0, -1.0])
    run = simulate(changed, 0.4, inputs=lambda t: u, v=[3.0, -4.0], rtol=1e-10)
    fast = np.abs(run.v).min(axis=1) > 0.5  # there the friction of the element has its full size
    assert fast.sum() > 5
    tau = np.einsum("nij,j->ni", dynamics.regressor(run.q, run.v, run.a), theta)
    assert np.abs(tau - u)[fast].max() < 1e-5


def test_values_that_do_not_change_leave_the_model_as_it_is() -> None:
    robot = library.puma()
    dynamics = derive(robot, backend="interpreter")
    all_of_them = zip(dynamics.regressor_columns, dynamics.regressor_parameters.tolist(), strict=True)
    same = {name: value for name, value in all_of_them if not name.endswith((".viscous", ".coulomb", ".offset"))}
    assert with_parameters(robot, same).robot == robot
    assert with_parameters(robot, {}) == System(robot)


def test_an_element_that_holds_friction_is_changed_and_not_doubled() -> None:
    both = elements.JointFriction("rub", ("shoulder", "elbow"), coulomb=0.7, viscous=0.1, breakaway=1.5)
    changed = with_parameters(System(arm(), (both,)), {"elbow.coulomb": 0.2, "elbow.viscous": 0.5})
    assert changed.elements == (elements.JointFriction("rub", ("shoulder", "elbow"), breakaway=1.5),)
    shoulder, elbow = changed.robot.joints
    assert (shoulder.friction, shoulder.damping) == ((0.7,), (0.1,))
    assert (elbow.friction, elbow.damping) == ((0.2,), (0.5,))
    again = with_parameters(changed, {"elbow.offset": 0.3})
    assert with_parameters(again, {"elbow.offset": 0.4}).elements[-1] == elements.AppliedEffort(
        "elbow offset", "elbow", -0.4
    )
    assert with_parameters(again, {"elbow.offset": 0.0}).elements == changed.elements


def test_motors_keep_their_share_of_armature_and_friction() -> None:
    motor = elements.DCMotor("m", "elbow", 1.0, 0.05, inertia=1e-4, ratio=20.0, viscous=1e-4, coulomb=0.01)
    system = System(arm(), (motor,))
    changed = with_parameters(system, {"elbow.armature": 0.1, "elbow.viscous": 0.5, "elbow.coulomb": 0.9})
    elbow = changed.robot.joint("elbow")
    np.testing.assert_allclose(
        (*elbow.armature, *elbow.damping, *elbow.friction), (0.06, 0.46, 0.7), rtol=1e-12, atol=1e-12
    )
    values = dict(zip(derive(changed).regressor_columns, derive(changed).regressor_parameters, strict=True))
    assert values["elbow.armature"] == pytest.approx(0.1)
    with pytest.raises(ModelError, match=r"'elbow': armature is 0\.01, expected at least 0\.04, which its motors have"):
        with_parameters(system, {"elbow.armature": 0.01})


@pytest.mark.parametrize(("ending", "lost"), [("toml", ""), ("urdf", "armature"), ("xml", "AppliedEffort")])
@pytest.mark.slow
def test_files_keep_the_parameters_or_name_what_they_leave_out(tmp_path: Path, ending: str, lost: str) -> None:
    robot = arm()
    values = new_values(robot, 4) | {"elbow.coulomb": 0.4, "elbow.viscous": 0.6, "shoulder.offset": 0.2}
    changed = with_parameters(robot, values)
    path = tmp_path / f"arm.{ending}"
    if lost:
        with pytest.warns(ModelWarning, match=lost):
            save(changed, path)
    else:
        save(changed, path)
    read = load(path)
    one, other = derive(changed), derive(read)
    kept = [name for name in one.regressor_columns if not (ending == "urdf" and name.endswith("armature"))]
    first, second = (dict(zip(d.regressor_columns, d.regressor_parameters, strict=True)) for d in (one, other))
    np.testing.assert_allclose([second[name] for name in kept], [first[name] for name in kept], rtol=1e-9, atol=1e-12)
    elbow = read.robot.joint("elbow")
    assert (elbow.friction, elbow.damping) == ((0.4,), (0.6,))
    if ending != "xml":
        assert read.elements == changed.elements


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"uper.m": 1.0}, r"parameter 'uper\.m': it is not a parameter of robot 'arm'.* 'upper\.m'"),
        ({"upper.m": np.nan}, r"parameter 'upper\.m': its value is nan, expected a finite number"),
        ({"upper.m": -1.0}, r"body 'upper': mass is -1 kg, expected more than 0.*feasible_parameters"),
        ({"upper.Ixx": 50.0}, r"body 'upper': principal moments are .*triangle inequality fails"),
        ({"elbow.coulomb": -0.1}, r"joint 'elbow': coulomb is -0\.1, expected at least 0"),
    ],
)
def test_impossible_values_are_named(values: dict[str, float], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        with_parameters(arm(), values)


def test_offsets_of_ball_joints_and_two_frictions_are_refused() -> None:
    ball = RobotBuilder("ball").add(Body.sphere("bob", 1.0, 0.1)).joint("b", "spherical", "world", "bob").build()
    with pytest.raises(ModelError, match=r"joint 'b\.wx': its offset is 1, but only joints with one axis"):
        with_parameters(ball, {"b.wx.offset": 1.0})
    two = [elements.JointFriction(name, ("elbow",), coulomb=0.1) for name in ("one", "two")]
    with pytest.raises(ModelError, match="joint 'elbow': the elements 'one' and 'two' both act on it"):
        with_parameters(System(arm(), tuple(two)), {"elbow.viscous": 1.0})


def test_parameters_stay_inputs_of_the_forces() -> None:
    """With Parameters in place of numbers, forces for other values of them are those of a model with these numbers."""
    names = ("fore.m", "fore.hx", "fore.Iyy", "elbow.armature")
    own = dict(zip(derive(arm()).regressor_columns, derive(arm()).regressor_parameters, strict=True))
    changed = {name: 1.1 * own[name] + 0.01 for name in names}
    kept = with_parameters(arm(), {name: Parameter(name, own[name]) for name in names})
    assert [one.name for one in kept.robot.parameters] == [*names]
    numbers = with_parameters(arm(), changed)
    q, v, a = np.random.default_rng(1).normal(size=(3, 5, 2))
    found = derive(kept.robot, parameters="all").inverse_dynamics(q, v, a, [changed[name] for name in names])
    np.testing.assert_allclose(found, derive(numbers.robot).inverse_dynamics(q, v, a), rtol=1e-12, atol=1e-12)
