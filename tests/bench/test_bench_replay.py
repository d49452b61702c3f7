"""`kinemorph bench replay`: its rows and what it says where pages cannot be opened. No time is judged."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kinemorph.bench.replays import page_times
from kinemorph.bench.result_tables import replaying_grid
from kinemorph.bench.targets import judge_replay
from kinemorph.model import library
from kinemorph.simulation.simulate import simulate
from support.tools.command_line import run


def command(*arguments: str) -> Any:
    return run("bench", "replay", *arguments)


def test_pages_are_made_where_there_is_no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_times, "SCENES", {"pendulum": lambda: simulate(library.pendulum(), 0.5, q=[1.0])})
    monkeypatch.setattr(page_times, "find_chromium", lambda: None)
    monkeypatch.setattr("kinemorph.bench.machine.machine", lambda pace: {"peak_gflops": 1.0})
    result = command("--quick", "--json")
    assert result.exit_code == 0, result.stderr
    (row,) = json.loads(result.stdout)
    assert (row["scene"], row["bodies"], row["frames"]) == ("pendulum", 1, 31)
    assert row["kilobytes"] > 10.0 and row["export_s"] > 0.0 and row["load_s"] is None
    assert row["target"] == "export 5 s"
    assert "no Chromium is found" in result.stderr
    grid = replaying_grid([row])
    assert "export 5 s" in grid.title and grid.rows[0][:3] == ["pendulum", "1", "31"] and grid.rows[0][-1] == "met"


def test_what_is_promised() -> None:
    assert judge_replay(4.9, 1.9, 4.9).verdict == "met"
    assert judge_replay(5.1, 2.1, 5.1).verdict == "missed: export 5 s, load 2 s, frame 5 ms"
    assert judge_replay(4.9, None, None) == ("export 5 s", "met")


def test_other_robots_are_refused() -> None:
    result = command("--robot", "panda")
    assert result.exit_code == 2 and "`bench replay` has its own robots" in result.stderr
