"""Runs in worker processes: the same bits as everywhere else, samples that stream, results that are kept."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import library, load, load_trajectory, save
from kinemorph.studio.panels.same_in_python import call, script
from kinemorph.studio.workers.pool import Pool

PLAN = """
[runs.swing]
time        = 2.0
method      = "ode45"
rtol        = 1e-9
atol        = 1e-11
output_step = 0.02
q           = { q1 = 2.0 }
v           = { q1 = "30 deg/s" }

[runs.endless]
time        = 1e7
output_step = 10.0
rtol        = 1e-12
atol        = 1e-12
q           = [2.0]
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    save(library.pendulum(), folder / "swing.toml")
    with (folder / "swing.toml").open("a") as file:
        file.write(PLAN)
    return folder


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    found = Pool(1, warm=False)
    assert found.wait_until_warm()
    yield found
    found.stop()


def job(project: Path, name: str, file: str, **more: Any) -> dict[str, Any]:
    """The data of a run of the model."""
    path = project / "swing.toml"
    model = {"text": path.read_text(), "path": str(path), "folder": str(project)}
    return {**model, "run": name, "save": str(project / file), **more}


def arrays(path: Path) -> list[bytes]:
    """The samples in a file, bit by bit."""
    run = load_trajectory(path, load(path.parent / "swing.toml"))
    return [getattr(run, group).tobytes() for group in "tqvxu"]


def test_a_run_is_bitwise_the_same_in_a_worker_on_the_command_line_and_in_a_script(pool: Pool, project: Path) -> None:
    """Three processes, one result; the script is the one that the panel shows.

    None of them is the process of this test, which may still hold the model as another test compiled it.
    """
    result = pool.ask("run", job(project, "swing", "worker.npz"), 60.0)
    assert result["summary"]["outcome"]["ok"] and result["summary"]["samples"] == 101
    lines = ["import kinemorph as km", 'system = km.load("swing.toml")', 'run = system.run("swing")']
    (project / "script.py").write_text(script(*lines, call("run.save", "script.npz")))
    command = ("-m", "kinemorph", "simulate", "swing.toml", "--run", "swing", "--save", "command.npz")
    for arguments in (command, ("script.py",)):
        subprocess.run([sys.executable, *arguments], cwd=project, check=True, capture_output=True, timeout=60.0)
    worker, command, scripted = (arrays(project / f"{name}.npz") for name in ("worker", "command", "script"))
    assert worker == command == scripted


@pytest.mark.slow
def test_a_run_streams_reports_and_keeps_its_part_when_it_is_cancelled(pool: Pool, project: Path) -> None:
    """Progress five times a second, cancelled within a second, and a file of what was computed before."""
    parts: list[tuple[dict[str, Any], bytes]] = []
    moments: list[tuple[float, float]] = []
    working = pool.submit(
        "run",
        job(project, "endless", "endless.npz"),
        lambda now: moments.append((time.perf_counter(), now.get("t") or 0.0)) if now["phase"] == "run" else None,
        on_part=lambda header, payload: parts.append((dict(header), payload)),
    )
    while len(moments) < 6:
        assert working.result is None
        time.sleep(0.02)
    began = time.perf_counter()
    working.cancel()
    result = working.wait(10.0)
    assert time.perf_counter() - began < 1.0
    assert result is not None and result.state == "cancelled"
    assert max(after[0] - before[0] for before, after in pairwise(moments)) < 0.3
    assert len({t for _, t in moments}) >= len(moments) - 1
    assert [header["push"] for header, _ in parts][:2] == ["scene", "frames"]
    header, payload = parts[1]
    numbers = np.frombuffer(payload)
    assert len(numbers) == header["count"] * (1 + header["coordinates"] + header["series"])
    kept = load_trajectory(project / "endless.npz")
    assert kept.outcome.kind == "interrupted" and kept.t[-1] >= moments[-2][1]
    assert result.data["summary"]["samples"] == len(kept)


@pytest.mark.slow
def test_a_run_that_fails_gives_its_sentence_and_the_part_before(pool: Pool, project: Path) -> None:
    save(library.double_pendulum(), project / "wild.toml")
    plan = {"time": 100.0, "method": "euler", "step": 0.5, "q": [2.0, 0.5]}
    data = {**job(project, "", "failed.npz"), "text": (project / "wild.toml").read_text(), "plan": plan}
    result = pool.ask("run", data, 60.0)
    outcome = result["summary"]["outcome"]
    assert outcome["kind"] == "failed" and outcome["message"] and os.path.exists(project / "failed.npz")


@pytest.mark.slow
def test_results_are_compared_audited_and_exported(pool: Pool, project: Path) -> None:
    """Runs by two methods differ by little, a run and itself by nothing; a conservative one passes its audit."""
    plans = {"one.npz": {"time": 1.0, "q": [2.0]}, "two.npz": {"time": 1.0, "q": [2.0], "method": "radau"}}
    found = []
    for number, (file, plan) in enumerate(plans.items()):
        data = {**job(project, "", file), "plan": plan}
        pool.ask("run", data, 60.0)
        found.append({**data, "label": file, "number": number})
    compared = pool.ask("run_comparison", {"results": found}, 60.0)
    rows = {row["name"]: row for row in compared["rows"]}
    assert set(rows) == {"q.q1", "v.q1"} and not compared["bitwise"]
    assert all(0.0 < row["largest"] < 1e-5 < row["range"] for row in rows.values())
    assert pool.ask("run_comparison", {"results": [found[0], {**found[0], "label": "again"}]}, 60.0)["bitwise"]
    assert pool.ask("run_audit", {"results": found[:1]}, 60.0)["passed"]
    for ending in (".csv", ".res", ".npz"):
        target = project / f"export{ending}"
        assert pool.ask("run_export", {"results": found[:1], "target": str(target)}, 60.0)["size"] > 0
        assert load_trajectory(target).t[-1] == 1.0
