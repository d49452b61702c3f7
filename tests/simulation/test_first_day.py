"""What a newcomer stumbled over on the first day, where no other file has a test of it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from kinemorph import Body, RobotBuilder, System, elements, load, simulate
from kinemorph.cli import app
from kinemorph.errors import ParseError
from kinemorph.simulation.running.by_name import NamedArray


def test_arrays_with_names_are_arrays_of_every_numpy() -> None:
    """As a subclass of an alias, they could not be made with NumPy 2.5: every run died at import."""
    assert issubclass(NamedArray, np.ndarray) and NamedArray.__mro__[1] is np.ndarray


@pytest.mark.parametrize("step", ["2e-2", "5e-2"])
def test_options_that_a_verb_advises_are_its_own(tmp_path: Path, step: str) -> None:
    """`kinemorph gait` advised --rtol, an option that it does not have."""
    grid = tmp_path / "snake.grid"
    grid.write_text("B>0 B>1 B>2\n")
    run = CliRunner().invoke(app, ["gait", str(grid), "--time", "0.5", "--step", step])
    known = CliRunner().invoke(app, ["gait", "--help"], env={"COLUMNS": "200"}).output
    advised = set(re.findall(r"--[a-z-]+", run.output))
    assert advised and all(option in known for option in advised), run.output


def test_the_name_of_a_robot_of_the_library_is_no_file() -> None:
    with pytest.raises(ParseError, match=r"build it with kinemorph\.library\.puma\(\)"):
        load("puma")


def test_the_torque_under_a_controller_is_tau_and_not_the_input() -> None:
    """The input u of a joint is what `inputs` gives; tau is all that acts there. docs/simulation.md says so."""
    builder = RobotBuilder("arm").add(Body.box("rod", 1.0, (0.05, 0.05, 0.5), (0, 0, -0.25)))
    robot = builder.joint("j", "revolute", "world", "rod", axis=(0, 1, 0)).build()
    run = simulate(System(robot, (elements.PD("hold", ("j",), kp=20.0, kd=1.0, reference=0.5),)), 0.2)
    held = 20.0 * (0.5 - run["q.j"]) - 1.0 * run["v.j"]
    assert run["tau.j"] == pytest.approx(held, abs=1e-9) and np.abs(run["tau.j"]).max() == pytest.approx(10.0)
    assert "u.j" not in run.columns or not run["u.j"].any()
    page = Path(__file__).parents[2] / "docs" / "simulation.md"
    assert "The total applied force or torque at the joint" in page.read_text(encoding="utf-8")
