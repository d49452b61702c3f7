"""The verb gait: clusters of maps, robots that follow a gait, files, bad input."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kinemorph import simulate
from kinemorph.simulation.files.storage import load_trajectory
from support.tools.command_line import parsed, run
from support.tools.each_case import each_case


def test_gait_maps_counts_clusters() -> None:
    asked = ("gait", "maps", "--r", "3.83", "--coupling", "ring", "--epsilon", "0.5", "--seeds", "40")
    data = parsed(*asked)
    assert (data["map"], data["starts"], data["count"], data["steps"]) == ("logistic", 40, 6, 20_000)
    assert sum(row["starts"] for row in data["outcomes"]) == 40
    assert data["outcomes"][0]["kind"] == "3 clusters, period 2" and data["outcomes"][0]["sizes"]
    text = run(*asked).stdout
    shown = " ".join(text.split())
    assert "f(x) r x (1 - x) r 3.83 coupling ring epsilon 0.5 starts 40 steps 20,000" in shown
    assert all(word in shown for word in ("outcome starts share", "3 clusters, period 2", "in phase, period 3"))


def test_a_robot_follows_a_gait(tmp_path: Path) -> None:
    saved, plot = tmp_path / "run.npz", tmp_path / "run.png"
    common = ("--time", "1", "--method", "heun", "--step", "0.01", "--output-step", "0.05")
    asked = ("gait", "double_pendulum", "--kind", "maps", "--every", "0.2", "--amplitude", "20deg", *common)
    data = parsed(*asked, "--save", str(saved), "--plot", str(plot), "--degrees", "--gains", "40,4")
    gait = data["gait"]
    assert gait["kind"] == "maps" and [row["joint"] for row in gait["joints"]] == ["q1", "q2"]
    assert gait["distance"] is None and all(row["effort"] > 0.0 for row in gait["joints"])
    assert data["files"] == [str(saved), str(plot)] and plot.stat().st_size > 10_000
    back = load_trajectory(saved)
    assert abs(back["gait.q1"]).max() <= 0.35 and "gait_pd.q2" in back.columns
    assert gait["joints"][0]["off"] == pytest.approx(abs(back["gait.q1"] - back["q.q1"]).max())


def test_a_gait_without_a_distance_is_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A robot with a fixed base was run again with half the step size, to check a distance that it does not have."""
    module, calls = sys.modules[simulate.__module__], []
    monkeypatch.setattr(module, "simulate", lambda *given, **options: calls.append(1) or simulate(*given, **options))
    parsed("gait", "double_pendulum", "--time", "0.1", "--method", "heun", "--step", "0.01", "--gains", "40,4")
    assert len(calls) == 1


def test_a_gait_begins_where_the_robot_is(tmp_path: Path) -> None:
    """A robot away from the offset of its gait was pulled there with full effort at t = 0."""
    saved = tmp_path / "run.npz"
    common = ("--time", "0.2", "--method", "heun", "--step", "0.01", "--save", str(saved))
    parsed("gait", "double_pendulum", "--offset", "20deg", "--q", "q2=0.5", "--gains", "40,4", *common)
    back = load_trajectory(saved)
    for joint, initial in (("q1", 0.0), ("q2", 0.5)):
        assert back[f"gait.{joint}"][0] == back[f"q.{joint}"][0] == initial


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rhythmic", "serpenoid", "oscillators", "maps"])
def test_a_robot_that_is_free_tells_how_far_it_went(kind: str) -> None:
    data = parsed("gait", "hexapod24", "--kind", kind, "--time", "0.5")
    assert len(data["gait"]["joints"]) == 18
    assert data["gait"]["displacement"][2] == pytest.approx(-0.5 * 9.81 * 0.25, rel=0.05)
    assert max(row["off"] for row in data["gait"]["joints"]) < 0.05
    text = run("gait", "hexapod24", "--kind", kind, "--time", "0.5")
    assert "distance from its initial position" in text.stdout and "it falls" in text.stderr


@pytest.mark.slow
def test_stiff_gains_of_long_chains_take_a_method_for_stiff_equations() -> None:
    result = run("gait", "chain:12", "--time", "1", "--kind", "serpenoid", "--amplitude", "10deg")
    assert result.exit_code == 0 and "rodas" in result.stdout and "gains are stiff" in result.stderr


@each_case(
    ("arguments", "sentence"),
    [
        (("maps", "--time", "3"), "--time is not used by 'gait maps'"),
        (("puma", "--seeds", "3"), "--seeds is not used by a gait of kind 'rhythmic'"),
        (("puma", "--map", "tent"), "--map is not used by a gait of kind 'rhythmic'"),
        (("puma", "--kind", "maps", "--map", "tant"), "--map is 'tant'; expected one of logistic, tent, sine, cubic."),
        (
            ("puma", "--kind", "maps", "--epsilon", "2"),
            "epsilon is 2; expected a number from 0 to 1. Give 0 where each map follows its own value",
        ),
        (("puma", "--joints", "joint7"), "has no joint 'joint7'. Did you mean 'joint6'?"),
        (("puma", "--gains=-3"), "--gains is '-3'; expected kp, or kp and kd"),
        (("puma", "--amplitude", "wide"), "--amplitude is 'wide'; expected a finite number"),
        (("puma", "--ramp=-1"), "--ramp is -1; expected a finite number of at least 0"),
        (("puma", "--frequency", "0"), "--frequency is 0 Hz; expected a finite number above 0"),
        (("maps", "--map", "logstic"), "map is 'logstic'; expected one of logistic, tent, sine, cubic."),
        (("maps", "--r", "5"), "r is 5; expected a number from 0 to 4"),
        (("maps", "--over", "r"), "--over is 'r', but there is no --picture"),
        (
            ("maps", "--picture", "clusters.txt"),
            "--picture is 'clusters.txt'; expected a file name that ends in .png, .svg, .pdf",
        ),
        (("nobody",), "there is no robot 'nobody'"),
    ],
)
def test_bad_input_is_a_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    result = run("gait", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert sentence in result.stderr and result.stderr.count("error:") == 1
