"""Rows D1 and D5: what is no model is told in one sentence; poles without a state are those about an equilibrium."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import kinemorph
from kinemorph import library, tracking
from kinemorph.cli import app
from kinemorph.errors import KinemorphError, ModelError
from kinemorph.model.changes import merge_fixed, reroot
from kinemorph.model.system import Settings

PLANTS = "a Robot, a System, a Dynamics or a Plant"
SUBJECTS = "a Robot, a System, a Dynamics, a Trajectory or a BatchRun"
ENTRANCES: list[tuple[Callable[[Any], Any], str]] = [
    (lambda model: kinemorph.simulate(model, 1.0), PLANTS),
    (lambda model: kinemorph.simulate(model, 1.0, p={"m1": 1.0}), PLANTS),
    (lambda model: kinemorph.simulate_batch(model, 1.0), PLANTS),
    (lambda model: kinemorph.Stepper(model), PLANTS),
    (lambda model: kinemorph.poles(model), PLANTS),
    (lambda model: kinemorph.linearize(model), PLANTS),
    (lambda model: kinemorph.equilibrium(model), PLANTS),
    (lambda model: kinemorph.sensitivities(model, 1.0, "m1"), PLANTS),
    (lambda model: kinemorph.pole_sensitivities(model, "m1"), PLANTS),
    (lambda model: kinemorph.plants.plant(model), PLANTS),
    (lambda model: kinemorph.derive(model), "a Robot or a System"),
    (lambda model: kinemorph.System(model), "a Robot or a System"),
    (lambda model: kinemorph.draw(model), "a Robot or a System"),
    (lambda model: kinemorph.equations_of_motion(model), "a Robot or a System"),
    (lambda model: kinemorph.loops.mobility(model), "a Robot or a System"),
    (lambda model: tracking.scaled_bodies(model, {}), "a Robot or a System"),
    (lambda model: kinemorph.verify(model), "a Robot, a System or a Dynamics"),
    (lambda model: kinemorph.animate(model, "swing.gif"), SUBJECTS),
    (lambda model: kinemorph.replay(model), SUBJECTS),
    (lambda model: kinemorph.report(model), "a Robot, a System, a Dynamics, an Assembly or a Trajectory"),
    (lambda model: kinemorph.legs.standing_curve(model, [1.0]), "a System with contacts of feet"),
    (lambda robot: kinemorph.neutral(robot), "a Robot"),
    (lambda robot: kinemorph.integrate(robot, [0.0], [0.0]), "a Robot"),
    (lambda robot: kinemorph.random_configuration(robot, np.random.default_rng(0)), "a Robot"),
    (lambda robot: merge_fixed.merge_fixed(robot), "a Robot"),
    (lambda robot: reroot.reroot(robot, "base"), "a Robot"),
]


@pytest.mark.parametrize("number", range(len(ENTRANCES)))
def test_every_entrance_refuses_a_name_a_path_and_a_number_in_the_same_sentence(number: int) -> None:
    """Row D1: simulate("double_pendulum", 1.0) raised `TypeError: vars() argument must have __dict__ attribute`."""
    call, expected = ENTRANCES[number]
    cases = {
        "double_pendulum": ("'double_pendulum'", "Use kinemorph.library.build('double_pendulum')."),
        "arm.toml": ("'arm.toml'", "Use kinemorph.load('arm.toml')."),
        2.0: ("2.0, a float", "The model is the first argument."),
    }
    for given, (what, remedy) in cases.items():
        with pytest.raises(ModelError) as error:
            call(given)
        said = re.sub("^robot is", "model is", str(error.value))
        assert said == f"model is {what}; expected {expected}. {remedy}"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("crawler", "model is 'crawler'; expected {}. Use kinemorph.library.crawler()."),
        ("duble_pendulum", "There is no such robot in kinemorph.library. Did you mean 'double_pendulum'?"),
        ("x", "model is 'x'; expected {}. Use kinemorph.load(path) for a file."),
        (None, "model is None; expected {}. The model is the first argument."),
        (kinemorph.RobotBuilder("arm"), "model is a RobotBuilder; expected {}. Call build() on it first."),
    ],
)
def test_other_things_that_are_no_model(given: Any, sentence: str) -> None:
    with pytest.raises(ModelError, match=re.escape(sentence.format(PLANTS))):
        kinemorph.simulate(given, 1.0)


def test_only_runs_are_plotted() -> None:
    for call in (kinemorph.plot, kinemorph.plot_phase):
        with pytest.raises(KinemorphError, match=r"expected a Trajectory or a BatchRun. Simulate a model first: run ="):
            call(library.pendulum())  # type: ignore[operator]


@pytest.mark.parametrize("name", ["slider_crank", "flyball_governor"])
def test_poles_without_a_state_are_those_of_the_command_line(name: str) -> None:
    """Row D5: the slider-crank had 4.6e-8 rad/s in Python, about its initial state, and 0.225 Hz by `analyze`."""
    found = kinemorph.poles(getattr(library, name)())
    told = CliRunner().invoke(app, ["analyze", name, "poles", "--json"])
    listed = [(row["alpha"], row["omega"]) for row in json.loads(told.stdout)["poles"]]
    assert listed == [(value.real, value.imag) for value in found.values.tolist()] and not found.note
    assert f"linearized about {found.about};" in told.stderr and f"about {found.about}" in " ".join(str(found).split())


def test_which_state_poles_are_about() -> None:
    crank = kinemorph.poles(library.slider_crank())
    assert crank.frequency == pytest.approx([0.22545], abs=1e-5) and crank.about.startswith("the equilibrium at crank_")
    assert kinemorph.poles(library.pendulum()).about == "the equilibrium at the neutral configuration"
    assert kinemorph.poles(library.pendulum(), v=[0.0]).about == "the given state"
    rolling = kinemorph.poles(library.whipple_bicycle())
    assert rolling.about == "the steady motion of the initial state" and rolling.point.v[0] == 4.6
    spun = kinemorph.System(library.pendulum(), settings=Settings(v=(1.0,)))  # nothing accelerates, at this instant
    assert kinemorph.poles(spun).about.startswith("the equilibrium") and not kinemorph.poles(spun).point.v.any()
    falling = kinemorph.poles(library.rigid_ball())
    assert falling.about == "the initial state"
    assert "No equilibrium of 'rigid_ball' was found near it. The state" in falling.note


def test_values_of_parameters_by_name_are_taken_where_a_run_takes_them() -> None:
    """Row D5: poles(robot, p={"m1": 2}) said "expected one of none in p"."""
    robot, double = library.double_pendulum(), {"m1": 2.0}
    heavy = kinemorph.plants.plant(robot, parameters=["m1"])
    for analysis in (kinemorph.poles, kinemorph.linearize, kinemorph.equilibrium):
        assert np.array_equal(analysis(robot, p=double).q, analysis(heavy, p=double).q)
    assert kinemorph.poles(robot, p=double).omega[0] > kinemorph.poles(robot).omega[0] + 0.05


def test_one_word_says_how_long_a_run_lasts() -> None:
    """FINDINGS D12: `time` in Python, on the command line, in plans and in the settings of files."""
    robot = library.pendulum()
    first = kinemorph.simulate(robot, time=0.2, q=[0.3])
    assert first.t[-1] == 0.2 and kinemorph.simulate_batch(robot, time=0.2, q=[[0.3], [0.4]]).t[-1] == 0.2
    assert kinemorph.simulate(robot, time=0.2, start=first).t[-1] == 0.4
    assert kinemorph.simulate(kinemorph.System(robot, settings=Settings(time=0.3))).t[-1] == 0.3
    with pytest.raises(KinemorphError, match=r"until is 1.0 and time is 0.2; expected one of them. Give `until`, when"):
        kinemorph.simulate(robot, 1.0, time=0.2)


def test_the_kind_of_a_joint_is_called_kind_wherever_joints_are_declared() -> None:
    """FINDINGS D12: `joint(name, kind)`, `root(body, kind)` and `connect(a, b, kind)`."""
    builder = kinemorph.RobotBuilder("pair").add(kinemorph.Body.box("rod", 1.0, (0.1, 0.1, 0.5)))
    builder.connect("world", "rod", kind="spherical", name="ball")
    assert builder.build().joint("ball").kind == "spherical"
