"""Hybrid automata in TOML files: read, written, in the schema, and with a finding on the right line where wrong."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from tomlkit import parse

from kinemorph import library
from kinemorph.errors import ModelWarning, ParseError
from kinemorph.formats.loading import load, load_text, save
from kinemorph.formats.toml.schema import json_schema
from kinemorph.model.elements.phases.automaton import Automaton, Edge, Phase
from kinemorph.model.system import System
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.simulate import simulate
from support.tools.each_case import each_case

WALKERS = ("rimless_wheel", "simplest_walker", "compass_walker", "kneed_walker", "slip_runner")
BALL = """kinemorph = 1
name = "ball"

[parameters]
bounce = 0.8

[bodies.ball]
mass = 1

[joints.z]
kind = "prismatic"
parent = "world"
child = "ball"

[elements.grip]
kind = "hold"
body = "ball"

[phases.held]
elements = ["grip"]

[phases.free]

[edges.drop]
source = "held"
target = "free"
guard = "0.5 - t"

[edges.bounce]
source = "free"
target = "free"
guard = "q.z"
reset = { "v.z" = "-bounce * v.z" }
impact = "none"

[settings.q]
z = 1
"""


@each_case("name", WALKERS)
def test_walkers_come_back_from_their_files(name: str, tmp_path: Path) -> None:
    system: System = getattr(library, name)()
    (path,) = save(system, tmp_path / f"{name}.toml")
    assert load(path) == system
    Draft202012Validator(json_schema()).validate(parse(path.read_text()).unwrap())


def test_a_ball_that_is_held_and_bounces_is_read_and_runs() -> None:
    ball = load_text(BALL, "toml")
    run = simulate(ball, 1.6)
    fall = np.sqrt(2.0 / 9.81)
    times = [event.t for event in run.events]
    assert [event.name for event in run.events] == ["drop", "bounce"]
    assert times == pytest.approx([0.5, 0.5 + fall], abs=1e-9)
    assert run.events[1].after["v"][0] == pytest.approx(0.8 * 9.81 * fall)
    other = simulate(plant(ball, parameters="bounce"), 1.6, p={"bounce": 0.5})
    assert other.events[1].after["v"][0] == pytest.approx(0.5 * 9.81 * fall)


@pytest.mark.parametrize(
    ("old", "new", "mark", "said"),
    [
        (
            'target = "free"\nguard = "0.5',
            'target = "fre"\nguard = "0.5',
            'target = "fre"',
            "edge 'drop': target is 'fre'.*'free'",
        ),
        ('source = "held"\n', "", "[edges.drop]", "edge 'drop'.*source"),
        ('guard = "q.z"', 'guard = "q.zz"', 'guard = "q.zz', "edge 'bounce': 'q.zz' names 'q.zz'"),
        ('guard = "q.z"', 'guard = "q.z +"', 'guard = "q.z +', "edge 'bounce'"),
        ('elements = ["grip"]', 'elements = ["gripp"]', "elements =", "phase 'held': .*'gripp'.*'grip'"),
        ('elements = ["grip"]', 'locked = ["y"]', "locked =", "phase 'held': it locks 'y'"),
        ('"v.z" = "-bounce', '"v.y" = "-bounce', "reset =", "edge 'bounce': reset names 'v.y'"),
        ('{ "v.z" = "-bounce * v.z" }', '"-v.z"', "reset =", "edge 'bounce'.*reset.*table"),
        ('impact = "none"', 'impact = "elastic"', "impact =", "edge 'bounce'.*impact.*plastic"),
        ('impact = "none"', 'inpact = "none"', "inpact =", "edge 'bounce'.*inpact.*impact"),
        ('impact = "none"', 'relabel = { z = "x" }', "relabel =", "edge 'bounce': relabel names 'x'"),
        ("[settings.q]", '[automaton]\ninitial = "fee"\n\n[settings.q]', "initial =", "initial is 'fee'.*'free'"),
    ],
)
def test_what_is_wrong_is_found_on_its_line(old: str, new: str, mark: str, said: str) -> None:
    text = BALL.replace(old, new, 1)
    line = text[: text.index(mark)].count("\n") + 1
    with pytest.raises(ParseError, match=said) as raised:
        load_text(text, "toml")
    assert [finding.line for finding in raised.value.findings if finding.severity == "error"] == [line]


def test_edges_without_phases_are_refused() -> None:
    text = BALL.replace('[phases.held]\nelements = ["grip"]\n\n[phases.free]\n', "")
    with pytest.raises(ParseError, match="no phases; expected at least one"):
        load_text(text, "toml")


def test_the_first_phase_of_a_run_is_kept(tmp_path: Path) -> None:
    ball = load_text(BALL.replace("[settings.q]", '[automaton]\ninitial = "free"\n\n[settings.q]'), "toml")
    assert ball.automaton is not None and ball.automaton.first == 1
    (path,) = save(ball, tmp_path / "ball.toml")
    assert load(path) == ball
    assert simulate(ball, 0.3).q[-1, 0] == pytest.approx(1.0 - 0.5 * 9.81 * 0.09)


@pytest.mark.parametrize("ending", ["urdf", "xml"])
def test_other_formats_say_that_phases_are_left_out(ending: str, tmp_path: Path) -> None:
    with pytest.warns(ModelWarning, match="automaton: .* cannot express phases and edges"):
        save(load_text(BALL, "toml"), tmp_path / f"ball.{ending}")


def test_functions_of_edges_are_left_out_with_a_warning(tmp_path: Path) -> None:
    ball = load_text(BALL, "toml")
    edge = Edge("fall", "free", "free", lambda q: q[0])
    other = System(ball.robot, (), ball.settings, automaton=Automaton((Phase("free"),), (edge,)))
    with pytest.warns(ModelWarning, match="edge 'fall': its guard is a Python function"):
        (path,) = save(other, tmp_path / "ball.toml")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load(path).automaton is None


def test_phases_name_only_elements_that_the_file_has(tmp_path: Path) -> None:
    """Controllers that are Python functions are left out with a warning, and so are their names in phases."""
    path = tmp_path / "hopper.toml"
    with pytest.warns(ModelWarning, match="'placing'"):
        save(library.raibert_hopper(), path)
    found = load(path)
    assert found.automaton is not None
    assert {name for phase in found.automaton.phases for name in phase.elements} <= {e.name for e in found.elements}
