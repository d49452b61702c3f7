"""The verbs sweep and study: a study file from start to end, its results in all forms, and bad input."""

from __future__ import annotations

import csv
import io
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from kinemorph.cli.study_runs import progress_text
from kinemorph.errors import StudyWarning
from kinemorph.studies import Range, Space, load_study, sweep
from kinemorph.studies.dispatch.tally import Tally
from support.tools.command_line import parsed, run

MODEL = """
kinemorph = 1
name = "pendulum"

[parameters]
mass = 1.0

[bodies.rod]
mass = "mass"
com = [0, 0, -0.5]
inertia = [0.1, 0.1, 0.01]

[joints.hinge]
kind = "revolute"
parent = "world"
child = "rod"
axis = [0, 1, 0]
"""
STUDY = """
kinemorph_study = 1
name = "swings"
model = "pendulum.toml"
until = 0.1

[space.parts.mass]
range = [1.0, 2.0]
points = 3

[space.parts."q.hinge"]
values = [0.2, 0.4]

[measures]
angle = "q.hinge"
speed = "v.hinge"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model, a study file, and the results of the study."""
    folder = tmp_path_factory.mktemp("studies")
    (folder / "pendulum.toml").write_text(MODEL)
    (folder / "swings.toml").write_text(STUDY)
    data = parsed("sweep", str(folder / "swings.toml"), "--workers", "here")
    assert (data["items"], data["done"], data["waiting"]) == (6, 6, 0)
    assert data["store"] == str(folder / "swings.study")
    return folder


def test_a_finished_study_is_not_computed_again(folder: Path) -> None:
    before = (folder / "swings.study").stat().st_size
    data = parsed("study", str(folder / "swings.study"), "resume", "--workers", "here", "--quiet")
    assert data["done"] == 6 and [row["name"] for row in data["parts"]] == ["mass", "q.hinge"]
    assert (folder / "swings.study").stat().st_size == before


def test_status_and_the_best_items(folder: Path) -> None:
    store = str(folder / "swings.study")
    text = run("study", store).stdout
    lines = [line.split() for line in text.splitlines()]
    assert lines[1:5] == [["items", "6"], ["done", "6"], ["failed", "0"], ["waiting", "0"]]
    assert ["mass", "1", "2"] in lines and "smallest" in text and "q.hinge" in text
    rows = parsed("study", store, "best", "--measure", "speed", "--count", "2")
    speeds = sorted(load_study(store)["speed"])
    assert [row["measures"]["speed"] for row in rows] == speeds[:2] and len(rows[0]["key"]) == 32
    largest = parsed("study", store, "best", "--measure", "speed", "--largest", "--count", "1")
    assert largest[0]["measures"]["speed"] == speeds[-1]
    assert "largest angle" in run("study", store, "best", "--measure", "angle", "--largest").stdout
    assert parsed("study", store, "failed") == []
    assert "items that failed: none" in run("study", store, "failed").stdout


def test_pictures_and_tables_are_written(folder: Path, tmp_path: Path) -> None:
    store, picture, table = str(folder / "swings.study"), tmp_path / "new" / "map.svg", tmp_path / "swings.csv"
    assert parsed("study", store, "plot", "--where", "mass=1.4", "--output", str(picture)) == {"files": [str(picture)]}
    assert "q.hinge" in picture.read_text()
    assert run("study", store, "export", "--output", str(table)).exit_code == 0
    rows = list(csv.DictReader(io.StringIO(table.read_text())))
    assert len(rows) == 6 and {float(row["q.hinge"]) for row in rows} == {0.2, 0.4}
    assert run("study", store, "export").stdout == table.read_text()


def test_what_a_statistical_study_has_found_is_told_by_its_store(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "pendulum.toml", tmp_path)
    for kind, options in (("monte_carlo", "count = 8"), ("sensitivity", 'method = "morris"\ncount = 4')):
        file, store, page = (tmp_path / f"{kind}{ending}" for ending in (".toml", ".study", ".html"))
        file.write_text(f"{STUDY}\n[{kind}]\n{options}\n")
        found = parsed("sweep", str(file), "--workers", "here")
        assert {row["measure"] for row in found["results"]} == {"angle", "speed"} and found["found"]
        told = parsed("study", str(store))
        assert {name: told[name] for name in found} == found
        assert run("study", str(store), "show", "--output", str(page)).exit_code == 0
        assert page.read_text(encoding="utf-8").count('<td class="text">speed</td>') == len(found["results"]) // 2
    assert run("study", str(store), "plot", "--kind", "sensitivity").exit_code == 0
    (tmp_path / "pendulum.toml").unlink()
    without = run("study", str(store))
    assert without.exit_code == 0 and "do not follow from its results" in " ".join(without.stderr.split())


def test_a_statistical_study_that_was_ended_before_its_first_result_tells_that_its_items_wait(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(campaign: object) -> None:
        raise KeyboardInterrupt

    shutil.copy(folder / "pendulum.toml", tmp_path)
    (tmp_path / "draws.toml").write_text(f"{STUDY}\n[monte_carlo]\nerror = {{ angle = 0.1 }}\n")
    monkeypatch.setattr("kinemorph.studies.dispatch.carry_out._Campaign._send", interrupted)
    assert run("sweep", str(tmp_path / "draws.toml"), "--workers", "here").exit_code == 130
    told = parsed("study", str(tmp_path / "draws.study"))
    assert [(row["measure"], row["value"], row["items"]) for row in told["results"]] == [
        ("angle", None, 0),
        ("speed", None, 0),
    ]
    assert told["waiting"] == 100 and told["notes"][0].startswith("The study is not finished")


@pytest.mark.slow
def test_pages_and_replays_are_written(folder: Path, tmp_path: Path) -> None:
    store, page, item = str(folder / "swings.study"), tmp_path / "swings.html", tmp_path / "item.html"
    assert run("study", store, "show", "--output", str(page)).exit_code == 0
    assert page.read_text(encoding="utf-8").count("<tr>") == 7
    assert run("study", store, "show", "--item", "3", "--output", str(item)).exit_code == 0
    assert item.stat().st_size > 50_000  # no run was kept: it was computed again


def test_a_changed_model_is_refused_by_what_changed(folder: Path, tmp_path: Path) -> None:
    for name in ("pendulum.toml", "swings.toml", "swings.study"):
        shutil.copy(folder / name, tmp_path / name)
    (tmp_path / "pendulum.toml").write_text(MODEL.replace("-0.5", "-0.6"))
    refused = run("study", str(tmp_path / "swings.study"), "resume", "--workers", "here")
    assert refused.exit_code == 2 and "-0.6" in refused.stderr and "--recompute" in refused.stderr
    (tmp_path / "pendulum.toml").unlink()
    refused = run("study", str(tmp_path / "swings.study"), "resume")
    assert refused.exit_code == 2 and "swings.toml:4: model names the file 'pendulum.toml'" in refused.stderr


BAD = {
    "no file": (("study", "no.study"), "no.study': there is no such file"),
    "study file": (("study", "{}/swings.toml"), "is a study file; expected a file of results"),
    "no store": (("study", "{}/pendulum.study"), "there is no such file"),
    "no study file": (("sweep", "{}/no.toml"), "the file does not exist"),
    "model": (("sweep", "{}/pendulum.toml"), "is a model, expected a study file"),
    "what": (("study", "{}/swings.study", "bset"), "'bset' is not one of 'status', 'best'"),
    "unused": (("study", "{}/swings.study", "--x", "mass"), "--x is not used by 'status', only by plot"),
    "item": (("study", "{}/swings.study", "best", "--item", "0"), "--item is not used by 'best', only by show"),
    "measures": (
        ("study", "{}/swings.study", "best"),
        "several measures: 'angle', 'speed'. Name one of them by --measure",
    ),
    "measure": (("study", "{}/swings.study", "best", "--measure", "sped"), "Did you mean 'speed'"),
    "kind": (("study", "{}/swings.study", "plot", "--kind", "cuve"), "Did you mean 'curve'"),
    "where": (("study", "{}/swings.study", "plot", "--where", "mass"), "--where is 'mass'; expected a part"),
    "ending": (("study", "{}/swings.study", "plot", "--output", "a.txt"), "ends in .png, .svg, .pdf"),
    "results": (("sweep", "{}/swings.study"), "is a file of results; expected a study file"),
    "number": (("study", "{}/swings.study", "show", "--item", "9"), "has no item 9; expected 0 to 5"),
    "workers": (("sweep", "{}/swings.toml", "--workers", "two"), "--workers is 'two'; expected a number of processes"),
    "limit": (("sweep", "{}/swings.toml", "--limit-seconds", "-1"), "--limit-seconds is -1 s; expected"),
    "folder": (("sweep", "{}/swings.toml", "--store", "{}"), "--store '{}' cannot be written: it is a folder"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence(folder: Path, case: str) -> None:
    arguments, sentence = BAD[case]
    result = run(*(one.format(folder) for one in arguments))
    assert result.exit_code == 2 and sentence.format(folder) in " ".join(result.stderr.split()), result.stderr
    assert result.stderr.count("error:") == 1 and not result.stdout


def test_a_study_of_python_says_how_to_go_on(tmp_path: Path) -> None:
    from kinemorph.studies import Range, Space, sweep

    sweep(_twice, Space({"x": Range(0.0, 1.0, points=2)}), store=tmp_path / "a.study", workers=0)
    refused = run("study", str(tmp_path / "a.study"), "resume")
    assert refused.exit_code == 2 and "keeps no study file, since it was made by Python" in refused.stderr


def _twice(x: float) -> float:
    return 2.0 * x


def _never(x: float) -> float:
    raise ValueError(f"{x} is refused")


def test_json_has_all_items_that_failed_and_tables_say_how_many_more(tmp_path: Path) -> None:
    path = str(tmp_path / "never.study")
    with pytest.warns(StudyWarning):
        sweep(_never, Space({"x": Range(0.0, 1.0, points=12)}), store=path, workers=0)
    assert len(parsed("study", path, "failed")) == 12
    assert "2 more items failed; --count lists more" in run("study", path, "failed").stderr


def test_progress_has_rate_failures_and_time_left() -> None:
    assert progress_text(Tally(2000, 1197, 3, 0, 0, 5.0)) == "1,200 of 2,000 items   240 /s   3 failed   4 s left"
    assert progress_text(Tally(10)) == "0 of 10 items   0 /s"
    assert progress_text(Tally(10_000, 100, 0, 1, 7, 200.0)).endswith("0.5 /s   7 run again   5:30 h left")
    assert progress_text(Tally(1000, 100, 0, 0, 0, 20.0)).endswith("5 /s   3:00 min left")


def test_ctrl_c_before_or_after_the_items_says_how_to_resume_too(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kinemorph.studies.sweeps.sweep.sweep", interrupted)
    there = run("sweep", str(folder / "swings.toml"))
    assert there.exit_code == 130 and "interrupted. Resume with: kinemorph study " in there.stderr
    none = run("sweep", str(folder / "swings.toml"), "--store", str(tmp_path / "a.study"))
    assert none.exit_code == 130 and "interrupted. There were no results yet." in none.stderr


@pytest.mark.slow
def test_ctrl_c_says_how_to_resume(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "pendulum.toml", tmp_path)
    long = STUDY.replace("until = 0.1", "until = 60.0").replace("points = 3", "points = 2000")
    (tmp_path / "long.toml").write_text(long)
    command = [sys.executable, "-m", "kinemorph", "sweep", "long.toml", "--workers", "1"]
    started = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    store = tmp_path / "long.study"
    deadline = time.monotonic() + 120.0
    while time.monotonic() < deadline and not (store.exists() and (load_study(store).table.states > 0).any()):
        time.sleep(0.2)
    os.kill(started.pid, signal.SIGINT)
    _, said = started.communicate(timeout=60.0)
    assert started.returncode == 130 and "Resume with: kinemorph study long.study resume" in said
    done = load_study(store).status.done
    assert 0 < done < 4000
    assert parsed("study", str(store), "resume", "--workers", "1")["done"] == 4000


def test_check_reads_study_files(folder: Path, tmp_path: Path) -> None:
    good = run("check", str(folder / "swings.toml"))
    assert good.exit_code == 0 and "swings.toml: no findings" in good.stdout
    shutil.copy(folder / "pendulum.toml", tmp_path)
    (tmp_path / "bad.toml").write_text(STUDY.replace("points", "pionts"))
    bad = run("check", str(tmp_path))
    assert bad.exit_code == 1 and "bad.toml:9: error: part 'mass': the key 'pionts' is not known" in bad.stdout
    assert "2 files: 1 with errors" in bad.stderr
    (tmp_path / "bad.toml").write_text(STUDY.replace('"v.hinge"', '"2*(v.hinge"'))
    assert "bad.toml:16: error: measure 'speed': column 11: found the end" in run("check", str(tmp_path)).stdout


@pytest.mark.parametrize(
    ("right", "wrong", "sentence"),
    [
        ('"v.hinge"', '"v.hing"', "bad.toml:16: measure 'speed': the text 'v.hing' names 'v.hing'"),
        ("parts.mass", "parts.mas", "bad.toml:7: part 'mas': 'pendulum' has no parameter"),
        ('"q.hinge"]', '"q.hing"]', "bad.toml:11: part 'q.hing': plant 'pendulum' has no coordinate 'hing'"),
    ],
)
def test_names_that_the_model_does_not_have_are_told_with_their_line(
    folder: Path, tmp_path: Path, right: str, wrong: str, sentence: str
) -> None:
    shutil.copy(folder / "pendulum.toml", tmp_path)
    (tmp_path / "bad.toml").write_text(STUDY.replace(right, wrong))
    refused = run("sweep", str(tmp_path / "bad.toml"), "--workers", "here")
    assert refused.exit_code == 2 and sentence in " ".join(refused.stderr.split()), refused.stderr


def test_no_run_of_a_changed_model_is_shown(folder: Path, tmp_path: Path) -> None:
    for name in ("pendulum.toml", "swings.toml", "swings.study"):
        shutil.copy(folder / name, tmp_path / name)
    (tmp_path / "pendulum.toml").write_text(MODEL.replace("-0.5", "-0.6"))
    refused = run("study", str(tmp_path / "swings.study"), "show", "--item", "1")
    said = " ".join(refused.stderr.split())
    assert refused.exit_code == 2 and "its model has changed" in said and "item 1" in said and "cannot be shown" in said
