"""The requests of the panel Runs, on a session without a browser: runs start, stream, end and stay."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kinemorph import library, load_trajectory, save
from kinemorph.errors import UnsupportedError
from kinemorph.studio import requests
from kinemorph.studio.session import Session
from support.studio.noted_page import NotedPage

PLANS = """
[runs.swing]
time = 0.5
q    = { q1 = 2.0 }

[runs.endless]
time        = 1e5
output_step = 0.1
rtol        = 1e-12
q           = [2.0, 0.5]
"""
MODEL = "swing.toml"


class Studio:
    """A session with one page that shows the model."""

    def __init__(self, folder: Path) -> None:
        self.session, self.page = Session(folder, MODEL), NotedPage()
        self.session.channels[self.page] = MODEL

    def ask(self, name: str, **arguments: Any) -> Any:
        return requests.answer(self.session, self.page, name, arguments)

    def until(self, fits: Callable[[dict[str, Any]], bool], seconds: float = 30.0) -> dict[str, Any]:
        """The first message to the page that fits."""
        return self.page.until(fits, seconds)

    def ended(self, number: int) -> dict[str, Any]:
        """The last state of a run."""
        working = ("waiting", "working")
        found: dict[str, Any] = self.until(
            lambda one: one["push"] == "run" and one["run"]["number"] == number and one["run"]["state"] not in working
        )["run"]
        return found

    def task(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The result of work that the panel asks for."""
        number = self.ask(name, **arguments)["task"]
        return self.until(lambda one: one.get("task") == number and one["state"] != "working")


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    folder = tmp_path_factory.mktemp("project")
    save(library.double_pendulum(), folder / MODEL)
    with (folder / MODEL).open("a") as file:
        file.write(PLANS)
    found = Studio(folder)
    yield found
    found.session.stop()


@pytest.mark.slow
def test_a_run_is_started_shown_compared_audited_exported_and_kept(studio: Studio) -> None:
    listed = studio.ask("runs", document=MODEL)
    assert listed["runs"] == ["swing", "endless"] and listed["default"] == {"time": 1.0}
    names = {one["name"] for one in listed["methods"]["methods"]}
    aliases = {one["name"]: one["method"] for one in listed["methods"]["aliases"]}
    assert {"dop853", "radau", "scipy:LSODA"} <= names
    matlab = {"ode45", "ode23", "ode113", "ode15s", "ode23s", "ode23t", "ode23tb"}  # SEEDS 000-29
    assert matlab < set(aliases)
    assert set(aliases.values()) <= names
    first, second = (studio.ask("start_run", document=MODEL, run=run)["number"] for run in ("swing", ""))
    done, brief = studio.ended(first), studio.ended(second)
    assert done["state"] == brief["state"] == "done"
    assert done["summary"]["end"] == 0.5 and brief["summary"]["end"] == 1.0
    assert any("starts at rest" in note for note in brief["notes"])
    scenes = [one for one in studio.page.messages if one["push"] == "scene"]
    assert {one["run"] for one in scenes} == {first, second} and any(not one["growing"] for one in scenes)
    assert studio.task("show_run", numbers=[first], columns=["q"])["state"] == "done"
    table = studio.task("compare_runs", numbers=[first, second])["data"]
    assert {row["name"] for row in table["rows"]} == {"q.q1", "q.q2", "v.q1", "v.q2"}
    assert studio.task("audit_run", number=first)["data"]["passed"]
    offer = studio.task("export_run", number=first, ending=".csv")["data"]
    assert offer["name"] == f"swing-swing-{first}.csv" and offer["size"] > 1000
    kept = studio.ask("keep_run", number=first)["name"]
    assert load_trajectory(studio.session.folder / kept).t[-1] == 0.5
    again = Studio(studio.session.folder)  # results stay across restarts
    assert [one["number"] for one in again.ask("runs", document=MODEL)["results"]] == [second, first]
    again.session.stop()
    studio.ask("remove_run", number=second)
    with pytest.raises(UnsupportedError, match="no run with the number"):
        studio.ask("show_run", numbers=[second])
    for numbers, columns in (([[1]], None), (["1"], None), ([first], [1])):
        with pytest.raises(UnsupportedError, match=r"no run with the number|expected names of columns"):
            studio.ask("show_run", numbers=numbers, columns=columns)


@pytest.mark.slow
def test_a_cancelled_run_is_kept_and_a_click_is_answered_while_it_computes(
    studio: Studio, record_property: Callable[[str, object], None]
) -> None:
    """Other questions are answered within 100 ms while a run computes."""
    number = studio.ask("start_run", document=MODEL, run="endless")["number"]
    studio.until(lambda one: one["push"] == "frames" and one["run"] == number)
    waits = []
    for _ in range(20):
        began = time.perf_counter()
        studio.ask("parts", document=MODEL)
        waits.append(time.perf_counter() - began)
        time.sleep(0.02)
    record_property("figure", ("studio", "longest answer while a run computes [ms]", 1e3 * max(waits)))
    assert sorted(waits)[-2] < 0.1
    began = time.perf_counter()
    studio.ask("cancel_run", number=number)
    found = studio.ended(number)
    assert time.perf_counter() - began < 2.0
    assert found["state"] == "cancelled" and found["kept"] and found["summary"]["samples"] > 100
    progress = [one["progress"] for one in studio.page.messages if one["push"] == "run progress"]
    assert {"read", "prepare", "run"} <= {phase for one in progress for phase in one["spent"]}


@pytest.mark.slow
def test_a_killed_worker_leaves_a_sentence_its_checkpoint_and_a_studio_that_works(studio: Studio) -> None:
    """The file that a run writes while it computes is there after its process was killed."""
    number = studio.ask("start_run", document=MODEL, run="endless")["number"]
    studio.until(lambda one: one["push"] == "frames" and one["run"] == number)
    for process in studio.session.workers.processes:
        os.kill(process, signal.SIGKILL)
    found = studio.ended(number)
    assert found["state"] == "failed" and found["kept"] and found["summary"]["outcome"]["kind"] == "unfinished"
    assert "has ended unexpectedly (SIGKILL, phase 'run')" in found["sentence"]
    assert studio.ended(studio.ask("start_run", document=MODEL, run="swing")["number"])["state"] == "done"
