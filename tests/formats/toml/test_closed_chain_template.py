"""The template of closed chains as model files: both files of the page are the four-bar of the library."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import kinemorph
from kinemorph.formats.toml.templates import TEMPLATES
from kinemorph.mechanics.constraints.closures import constraint_error
from kinemorph.mechanics.constraints.newton_closing import assembled, loop_gaps
from kinemorph.mechanics.recursions.composite_bodies import mass_matrix
from kinemorph.mechanics.recursions.newton_euler import bias_forces
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.elements import Actuator, Constraint
from kinemorph.model.library import four_bar, slider_crank
from kinemorph.model.robot import Robot
from kinemorph.model.system import System

PAGE = Path(__file__).parents[3] / "docs" / "ckc_template.md"
FILES = dict(re.findall(r"^```toml\n# (\S+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE))
CLOSED = (0.6, 0.02989836, 1.6066907)
START = "q = { drive = 0.6 }"


def loaded(name: str) -> System:
    return kinemorph.load_text(FILES[name], "toml")


@pytest.mark.parametrize("name", FILES)
def test_bodies_and_joints_are_those_of_the_library(name: str) -> None:
    ours, theirs = (resolve(robot) for robot in (loaded(name).robot, four_bar()))
    rng = np.random.default_rng(2)
    q, v = rng.normal(size=(2, 3)).tolist()
    assert np.allclose(mass_matrix(ours, q), mass_matrix(theirs, q), rtol=1e-14)
    assert np.allclose(bias_forces(ours, q, v), bias_forces(theirs, q, v), rtol=1e-13)
    assert np.allclose(loaded(name).settings.q, CLOSED, atol=1e-7)


def test_one_file_is_cut_and_the_other_has_its_rows() -> None:
    separated, by_hand = loaded("separated.toml"), loaded("by_hand.toml")
    assert [loop.name for loop in separated.robot.loops] == ["closure"] and not by_hand.robot.loops
    q = np.random.default_rng(3).normal(size=3).tolist()
    ours, theirs = (constraint_error(resolve(robot), q) for robot in (separated.robot, four_bar()))
    assert np.allclose(ours, theirs, atol=1e-14)
    phi, motor = by_hand.elements
    assert isinstance(phi, Constraint) and phi.names == ("x", "z") and isinstance(motor, Actuator)


# ── starts ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def start(text: str) -> System:
    model = TEMPLATES["four_bar"].text
    assert START in model
    return kinemorph.load_text(model.replace(START, f"q = {text}"), "toml")


def test_what_is_not_named_follows_from_the_loops() -> None:
    system = start("{ drive = 0.6 }")
    assert system.settings.q[0] == 0.6 and np.allclose(system.settings.q, CLOSED, atol=1e-7)
    assert not loop_gaps(system.robot, system.settings.q)
    assert start("{ pivot = '120 deg' }").settings.q[2] == pytest.approx(2.0 * np.pi / 3.0, abs=1e-15)


@pytest.mark.parametrize(
    ("text", "gap", "remedy"),
    [
        ("[0.6, 0.5, 1.0]", "0.817", "Name only the coordinates that you know"),
        ("{ drive = 0.6, knee = 3 }", "2.13", "Name other coordinates"),
    ],
)
def test_a_start_that_is_open_says_where_and_by_how_much(text: str, gap: str, remedy: str) -> None:
    with pytest.warns(kinemorph.errors.ModelWarning) as told:
        system = start(text)
    (message,) = (str(warning.message) for warning in told)
    assert f"the initial configuration leaves loops open: 'closure' by {gap} m or rad" in message and remedy in message
    assert message.endswith("[start]") and re.search(r":6\d: settings:", message)
    assert system.settings.q[0] == 0.6
    with pytest.raises(kinemorph.errors.ShapeError, match="'closure' by"):
        kinemorph.simulate(system, 0.1)


def test_rounding_is_not_worth_a_word(recwarn: pytest.WarningsRecorder) -> None:
    start("[0.6, 0.02989836, 1.6066907]")
    assert not recwarn.list


@pytest.mark.parametrize("robot", [four_bar(), slider_crank()], ids=lambda robot: robot.name)
def test_closed_configurations_keep_what_is_kept(robot: Robot) -> None:
    first = robot.joint_names[0]
    start = np.zeros(robot.nq)
    start[robot.q_slice(first)] = 0.4
    q = assembled(robot, start.tolist(), [first])
    assert q is not None and q[robot.q_slice(first)] == 0.4
    assert np.abs(constraint_error(resolve(robot), q.tolist())).max() < 1e-12
    assert assembled(robot, start.tolist(), robot.joint_names) is None
