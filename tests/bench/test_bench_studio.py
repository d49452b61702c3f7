"""`kinemorph bench studio`: its rows, its targets, and what it says without a browser. No time is judged."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from kinemorph.bench import result_tables
from kinemorph.bench.studio import clicks, compare
from kinemorph.bench.studio.first_pictures import start_rows
from kinemorph.bench.studio.live_chain import live_rows
from kinemorph.bench.targets import CLICK_MS, judge_click, judge_live, judge_studio_start
from support.tools.browsing import started_browser
from support.tools.command_line import run


def test_what_is_promised() -> None:
    assert judge_studio_start(1.0, 3.1, 499.0) == ("3x sooner, 500 kB", "met")
    assert judge_studio_start(1.0, 2.9, 501.0).verdict == "missed: 3x sooner, 500 kB"
    assert judge_studio_start(5.0, math.inf, 100.0).verdict == "met"
    assert judge_studio_start(1.0, None, 100.0) == ("500 kB", "met")
    assert [judge_click(count, 99.0).verdict for count in CLICK_MS] == ["missed", "met", "met"]
    assert judge_click("computing", 101.0) == ("100 ms", "missed")
    assert judge_live(1.9, 0.24, 1.6).verdict == "met"
    assert judge_live(2.1, 0.26, 1.4).verdict == "missed: script 2 ms, 0.25 of the bytes, 1.5x the pictures"
    assert judge_live(1.0, None, None) == ("script 2 ms", "met")


def test_rows_become_tables() -> None:
    start = {"kind": "start", "what": "nine", "ours_s": 1.0, "peer_s": math.inf, "ours_kb": 90.0, "peer_kb": None}
    row = {**start, "peer": "peer", "target": "3x sooner", "verdict": "met"}
    assert result_tables.start_grid([row]).rows == [
        ["nine", "1.00", "not within 60 s", "90", "not run", "peer", "3x sooner", "met"]
    ]
    assert not result_tables.click_grid([row]).rows and not result_tables.live_grid([row]).rows


def test_without_a_browser_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "find_chromium", lambda: None)
    result = run("bench", "studio", "--quick")
    assert result.exit_code == 2 and "no Chromium is found" in result.stderr


@pytest.mark.slow
def test_rows_of_a_quick_run(tmp_path: Path) -> None:
    """Each part gives rows with times, whatever they are; the runs of the other tab are computed meanwhile."""
    browser: Any = started_browser()
    said: list[str] = []
    try:
        with browser.page():  # keeps the browser's loop in this thread
            (start,) = start_rows(browser.chromium, tmp_path, quick=True, note=said.append)
            rows = list(clicks.click_rows(browser.chromium, tmp_path, quick=True, say=said.append))
            (live,) = live_rows(browser.chromium, tmp_path / "chain", quick=True, note=said.append)
    finally:
        browser.close()
    assert start["ours_s"] > 0.0 and 50.0 < start["ours_kb"] < 500.0
    assert [row["what"].split()[0] for row in rows] == ["9", "50", "200", "9"]
    assert all(row["clicks"] == clicks.QUICK_CLICKS and row["ms_95"] >= row["median_ms"] > 0.0 for row in rows)
    assert rows[-1]["computing"] == ["working"]
    assert live["ours_pictures"] > 0.0 and live["ours_bytes"] > 28.0 and live["ours_script_ms"] > 0.0
    assert result_tables.click_grid(rows).rows and result_tables.live_grid([live]).rows
