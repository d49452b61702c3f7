"""The verb optimize: a model file at rest and in runs, its picture, and bad input."""

from __future__ import annotations

from pathlib import Path

import pytest

from kinemorph import Parameter, RobotBuilder, System, save
from kinemorph.elements import PD, Integral, TorsionSpring
from support.tools.command_line import parsed, run


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model file of a level arm that a controller and a spring hold."""
    builder = RobotBuilder("arm").body("rod", mass=2.0, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    robot = builder.joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0)).build()
    spring = TorsionSpring("spring", "hinge", Parameter("stiffness", 3.0), Parameter("rest", 0.1), damping=0.5)
    holding = PD("holding", "hinge", kp=10.0, kd=1.0, reference=0.3)
    path = tmp_path_factory.mktemp("arm") / "arm.toml"
    save(System(robot, (holding, spring, Integral("effort", "holding", of="square"))), path)
    return str(path)


@pytest.mark.slow
def test_a_model_file_at_rest(arm: str, tmp_path: Path) -> None:
    """The controller holds 0.2 rad of error with 10 N m/rad."""
    picture = tmp_path / "designs.png"
    asked = ("optimize", arm, "--cost", "effort", "--over", "stiffness=0:50", "--over", "rest=-1:1")
    data = parsed(*asked, "--condition", "q.hinge=-0.1:0.1", "--plot", str(picture))
    assert data["found"] and data["cost"] == pytest.approx(4.0, rel=1e-6)
    assert [row["name"] for row in data["values"]] == ["stiffness", "rest"] and picture.stat().st_size > 5000


def test_a_condition_that_nothing_meets_is_a_failure(arm: str) -> None:
    asked = ("optimize", arm, "--cost", "effort", "--over", "rest=-1:1", "--search", "random", "--population", "2")
    failed = run(*asked, "--condition", "q.hinge=2:")
    assert failed.exit_code == 1 and "Condition 'q.hinge' is broken" in " ".join(failed.stderr.split())
    text = run(*asked, "--condition", "q.hinge=-2:2").stdout
    shown = [" ".join(line.split()) for line in text.splitlines()]
    assert shown[0] == "Least cost of arm" and shown[1].startswith("Least cost of 'arm': ")
    assert {"Chosen", "name value lower upper", "Conditions", "condition value margin"} <= {*shown}
    assert any(line.startswith("q.hinge ") for line in shown)


def test_runs_of_a_model_file(arm: str) -> None:
    asked = ("--at", "run", "--until", "1", "--search", "random", "--population", "5", "--seed", "2")
    one, two = (parsed("optimize", arm, "--cost", "effort / t", "--over", "stiffness=1:9:log", *asked) for _ in "ab")
    assert one["found"] and one["designs"] == 5 and one["values"] == two["values"]


BAD = {
    "range": (("--over", "stiffness=3"), "--over is 'stiffness=3'; expected a name with two numbers"),
    "parameter": (("--over", "stifness=1:2"), "stifness"),
    "condition": (
        ("--over", "stiffness=1:2", "--condition", "q.hinge"),
        "--condition is 'q.hinge'; expected a",
    ),
    "cost": (("--over", "stiffness=1:2", "--cost", "efort"), "Did you mean 'effort'"),
    "until": (("--over", "stiffness=1:2", "--until", "3"), "--until is not used with --at equilibrium"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence(arm: str, case: str) -> None:
    options, sentence = BAD[case]
    cost = () if "--cost" in options else ("--cost", "effort")
    result = run("optimize", arm, *cost, *options)
    assert result.exit_code == 2 and sentence in " ".join(result.stderr.split()), result.stderr
