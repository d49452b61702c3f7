"""`kinemorph analyze` of motions that repeat: orbits, branches, diagrams and basins, and options that do not fit."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from support.tools.command_line import parsed, run


def test_an_orbit_is_that_of_the_closed_form() -> None:
    """The rimless wheel: multiplier cos^2(2 alpha) = 1/2 and the rate after a strike."""
    data = parsed("analyze", "rimless_wheel", "orbit")
    assert data["found"] and data["stable"] and data["edges"] == ["strike"]
    assert data["multipliers"][0]["real"] == pytest.approx(0.5, abs=1e-8)
    assert data["coordinates"] == [{"name": "v.pitch", "unit": "rad/s", "value": pytest.approx(1.0954628396, abs=1e-8)}]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pendulum", "orbit"), "needs to know how a cycle of 'pendulum' ends. Give --period"),
        (("pendulum", "orbit", "--over", "g=1:2"), "--over is not used by 'analyze orbit'"),
        (("pendulum", "poles", "--edges", "2"), "--edges is not used by 'analyze poles'"),
        (("compass_walker", "basin"), "--over is given 0 times; 'analyze basin' expects 1 or 2 ranges"),
        (("compass_walker", "diagram", "--over", "slope"), "--over is 'slope'; expected a name with two numbers"),
        (("compass_walker", "diagram", "--over", "slope=5deg:3deg"), "expected the lower number first"),
        (("compass_walker", "diagram", "--over", "slope=1:2:one"), "--over is 'slope=1:2:one'; expected a name"),
        (("compass_walker", "continuation", "--over", "slope=a:1"), "--over slope is 'a'; expected a finite number"),
    ],
)
def test_options_that_do_not_fit_are_named(arguments: tuple[str, ...], message: str) -> None:
    result = run("analyze", *arguments)
    assert result.exit_code == 2 and message in " ".join(result.stderr.split()), result.stderr


def test_a_static_gait_from_the_command_line(tmp_path: Path) -> None:
    """003-15: torques and foot loads of every posture; the foot carries the weight."""
    turn, picture = ("analyze", "bolt_like", "static", "--over", "crank_joint=0:180deg:5"), tmp_path / "static.png"
    data = parsed(*turn, "--plot", str(picture))
    assert data["holds"] and len(data["torques"]["crank_joint"]) == 5 and picture.stat().st_size > 0
    assert data["loads"]["stance.z"] == pytest.approx([data["margins"]["stance load"]] * 5, rel=1e-9)
    tables = run(*turn)
    assert tables.exit_code == 0 and "torque of crank_joint" in tables.stdout
    refused = run("analyze", "bolt_like", "static")
    assert refused.exit_code == 2 and "'analyze static' expects 1 or 2 ranges" in " ".join(refused.stderr.split())


@pytest.mark.slow
def test_branches_diagrams_and_basins_of_a_walker(tmp_path: Path) -> None:
    walker, picture = ("analyze", "compass_walker"), tmp_path / "walker.png"
    branch = parsed(*walker, "continuation", "--over", "slope=2.8deg:4.6deg", "--plot", str(picture))
    (doubling,) = branch["special"]
    assert doubling["kind"] == "doubling" and math.degrees(doubling["value"]) == pytest.approx(4.3908983, abs=1e-7)
    assert picture.stat().st_size > 0
    diagram = parsed(*walker, "diagram", "--over", "slope=3deg:4.8deg:7")
    assert [row["cycles"] for row in diagram["values"]] == [1] * 5 + [2] * 2
    basin = parsed(*walker, "basin", "--over", "v.left=-1.2:-0.6:5")
    assert len(basin["labels"]) == 5 and {-1, 1} <= set(basin["labels"])
    outside = run(*walker, "continuation", "--over", "slope=4deg:5deg")
    assert outside.exit_code == 2 and "expected a range that contains 0.0523599" in outside.stderr
    tables = run(*walker, "orbit")
    assert tables.exit_code == 0 and "0.579952332" in tables.stdout
