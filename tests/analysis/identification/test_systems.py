"""Identification of systems: rotors and friction of motors and elements, offsets, joints that the time moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph import elements
from kinemorph.analysis.identification.identify import identify
from kinemorph.analysis.identification.recording import Recording
from kinemorph.analysis.identification.runs.parametrized import parametrized
from kinemorph.analysis.identification.system_parameters import system_parameters
from kinemorph.analysis.identification.with_parameters import with_parameters
from kinemorph.deriving.dynamics import derive
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.system import System
from kinemorph.notation import TIME, sin
from kinemorph.simulation.simulate import simulate


def driven_arm() -> System:
    """Two hinges: the shoulder has a geared motor with friction and an offset, the elbow friction of an element."""
    builder = RobotBuilder("arm").add(
        Body.box("upper", 3.0, (0.1, 0.2, 0.5), center=(0.02, 0.03, 0.25)),
        Body.box("fore", 1.0, (0.05, 0.1, 0.3), center=(0.0, 0.02, 0.15)),
    )
    builder.joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0), damping=0.2, armature=0.05)
    builder.joint("elbow", "revolute", "upper", "fore", axis=(1, 0, 0), translation=(0, 0, 0.5), damping=0.05)
    parts = (
        elements.DCMotor("motor", "shoulder", 1.0, 0.05, inertia=1e-3, ratio=-20.0, viscous=1e-3, coulomb=0.01),
        elements.JointFriction("rub", ("elbow",), coulomb=0.1, viscous=0.03, smoothing=1e-9),
    )
    return with_parameters(System(builder.build(), parts), {"shoulder.offset": 0.4})


def test_recorded_runs_of_a_system_have_the_forces_of_its_parameters() -> None:
    """The force of a motor is n K i, without the friction of its shaft; the parameters count all friction once."""
    system = driven_arm()
    run = simulate(system, 1.5, v=[2.0, 3.0], inputs=lambda t: [30.0 * np.sin(3.0 * t)], output_step=0.01, rtol=1e-9)
    recording = Recording.of(run)
    assert recording.tau is not None
    np.testing.assert_allclose(recording.tau[:, 0], -20.0 * 0.05 * run["motor.current"], atol=1e-9)
    assert np.abs(recording.tau[:, 1]).max() < 1e-9
    values = system_parameters(system)
    named = ("shoulder.armature", "shoulder.viscous", "shoulder.coulomb", "shoulder.offset")
    np.testing.assert_allclose([values[name] for name in named], [0.45, 0.6, 0.2, 0.4], rtol=1e-12)
    np.testing.assert_allclose([values["elbow.viscous"], values["elbow.coulomb"]], [0.08, 0.1], rtol=1e-12)
    dynamics = derive(system, backend="interpreter")
    predicted = dynamics.regressor(run.q, run.v, run.a) @ np.array([values[n] for n in dynamics.regressor_columns])
    fast = np.abs(run.v).min(axis=1) > 0.05
    assert fast.sum() > 50 and np.abs(predicted - recording.tau)[fast].max() < 1e-7
    again = system_parameters(with_parameters(system, values))
    np.testing.assert_allclose([again[name] for name in values], list(values.values()), atol=1e-12)


def test_numbers_that_become_parameters_do_not_change_the_motion() -> None:
    """A column of friction begins with all the friction that its joint has, of joint, element and motor."""
    system = driven_arm()
    changed, found = parametrized(system, ["elbow.coulomb", "elbow.viscous", "shoulder.viscous", "shoulder.offset"])
    np.testing.assert_allclose([one.value for one in found], [0.1, 0.08, 0.6, 0.4], rtol=1e-12)
    before, after = system_parameters(system), system_parameters(changed)
    np.testing.assert_allclose([after[name] for name in before], list(before.values()), atol=1e-12)


def test_rotors_and_friction_of_motors_are_those_of_the_identified_system() -> None:
    system = driven_arm()
    dynamics, values = derive(system), system_parameters(system)
    t: Any = np.arange(1000) * 0.01
    w = np.array([1.0, 1.7])
    phases = np.array([0.3, 1.0])
    q = np.sin(t[:, None] * w + phases) + 0.3 * np.sin(3.0 * t[:, None] * w)
    v = w * np.cos(t[:, None] * w + phases) + 0.9 * w * np.cos(3.0 * t[:, None] * w)
    a = -(w**2) * np.sin(t[:, None] * w + phases) - 2.7 * w**2 * np.sin(3.0 * t[:, None] * w)
    tau = dynamics.regressor(q, v, a) @ np.array([values[name] for name in dynamics.regressor_columns])
    noisy = tau + 1e-3 * np.random.default_rng(0).normal(size=tau.shape)
    result = identify(system, Recording("arm", t, q, v, a, noisy))
    assert result.error < 1e-3 and result.known["shoulder.armature"] == values["shoulder.armature"]
    for name in ("shoulder.viscous", "shoulder.coulomb", "shoulder.offset", "elbow.viscous", "elbow.coulomb"):
        assert abs(result.values[name] - values[name]) < 2e-3, name
    found = system_parameters(result.model)
    np.testing.assert_allclose([found[name] for name in result.columns], result.theta, atol=1e-9)


@pytest.mark.slow
def test_joints_that_the_time_moves_are_part_of_the_motion() -> None:
    builder = RobotBuilder("led").add(
        Body.rod("upper", 1.0, 0.5, axis="x", center=(0.25, 0.02, 0.0), radius=0.02),
        Body.rod("fore", 0.8, 0.4, axis="x", center=(0.2, 0.0, 0.03), radius=0.02),
    )
    builder.joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0))
    placed: Any = {"axis": (0, 0, 1), "translation": (0.5, 0.0, 0.0)}
    robot = builder.joint("elbow", "revolute", "upper", "fore", driven=sin(3.0 * TIME), **placed).build()
    dynamics = derive(robot)
    t: Any = np.arange(801) * 0.01
    q = (np.sin(2.0 * t) + 0.4 * np.sin(5.0 * t))[:, None]
    v = (2.0 * np.cos(2.0 * t) + 2.0 * np.cos(5.0 * t))[:, None]
    a = (-4.0 * np.sin(2.0 * t) - 10.0 * np.sin(5.0 * t))[:, None]
    theta = dynamics.regressor_parameters
    tau = dynamics.regressor(t, q, v, a) @ theta + 1e-4 * np.random.default_rng(1).normal(size=(801, 1))
    for form in ("torques", "momentum"):
        result = identify(robot, Recording("led", t, q, v, a, tau), form=form, friction=("viscous",))
        true = result.base.combinations @ [theta[dynamics.regressor_columns.index(name)] for name in result.columns]
        assert np.allclose(result.base_values, true, atol=2e-3) and result.error < 1e-3, form
