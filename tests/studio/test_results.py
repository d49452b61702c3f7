"""The list of runs of a project: numbers, files that are deleted, runs that cannot be started (000-24, 000-29)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kinemorph.errors import UnsupportedError
from kinemorph.formats.toml import template_files
from kinemorph.studio.jobs import run_results as results_module
from kinemorph.studio.jobs.run_results import Results
from kinemorph.studio.session import Session
from kinemorph.studio.workers.job import Job, Result

TEMPLATES = Path(next(iter(template_files.__path__)))
SUMMARY = {"summary": {"outcome": {"message": "", "ok": True}}, "columns": [], "eventCount": 0}


class Pool:
    """A pool whose jobs end when the test says so; it refuses further ones where it is full."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.is_full = False

    def submit(self, kind: str, data: Any, progress: Any = None, on_result: Any = None, *, on_part: Any = None) -> Job:
        if self.is_full:
            raise UnsupportedError(f"'{kind}' cannot be started, since 100 jobs are waiting.")
        calls = (progress, on_result, on_part)
        job = Job(len(self.jobs) + 1, kind, data, calls, lambda job: None, lambda job, message: None)
        self.jobs.append(job)
        return job

    def stop(self) -> None:
        """Nothing is left to stop."""

    def end_last(self, state: Any = "done") -> None:
        """Writes the file of the last run, and ends its job."""
        Path(self.jobs[-1].data["save"]).write_bytes(b"samples")
        self.jobs[-1].end(Result(state, SUMMARY))


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    shutil.copy(TEMPLATES / "arm.toml", tmp_path / "arm.toml")
    made = Session(tmp_path)
    made._pool = Pool()  # type: ignore[assignment]
    yield made
    made.stop()


@pytest.fixture
def pool(session: Session) -> Pool:
    return session._pool  # type: ignore[return-value]


def kept(content: bytes) -> Callable[[str], dict[str, Any]]:
    """What writes a run that was computed live."""

    def make(path: str) -> dict[str, Any]:
        Path(path).write_bytes(content)
        return dict(SUMMARY)

    return make


def test_no_two_runs_have_the_same_number_and_file(session: Session, pool: Pool) -> None:
    """Runs that are computed and live runs that are kept, in turn, and after the newest one was deleted."""
    results, numbers = session.results, []
    for k in range(3):
        numbers.append(results.start("arm.toml", "", None).number)
        pool.end_last()
        numbers.append(results.add("arm.toml", "live", "", kept(b"live %d" % k)).number)
    results.remove(numbers[-1])
    numbers.append(results.add("arm.toml", "live", "", kept(b"last")).number)
    assert len(set(numbers)) == len(numbers)
    assert results.run(numbers[1]).path.read_bytes() == b"live 0"
    again = Results(session)
    assert [run.number for run in again.of("arm.toml")] == sorted((set(numbers) - {numbers[5]}), reverse=True)


def test_the_oldest_results_are_deleted_whoever_adds_the_next(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results_module, "KEPT", 3)
    for _ in range(5):
        session.results.add("arm.toml", "live", "", kept(b"samples"))
    assert [run.number for run in session.results.of("arm.toml")] == [5, 4, 3]
    assert sorted(path.name for path in session.results.folder.iterdir()) == [
        f"{number}.{ending}" for number in (3, 4, 5) for ending in ("json", "npz")
    ]


def test_a_run_that_cannot_be_started_is_not_listed(session: Session, pool: Pool) -> None:
    pool.is_full = True
    with pytest.raises(UnsupportedError, match="100 jobs are waiting"):
        session.results.start("arm.toml", "", None)
    assert session.results.of("arm.toml") == []


def test_nothing_is_left_of_a_run_that_is_deleted_while_it_is_computed(session: Session, pool: Pool) -> None:
    """Its worker saves what it has after that."""
    number = session.results.start("arm.toml", "", None).number
    session.results.remove(number)
    pool.end_last("cancelled")
    assert list(session.results.folder.iterdir()) == []
    with pytest.raises(UnsupportedError, match="has been deleted"):
        session.results.remove(number)


@pytest.mark.parametrize("wrong", [{"document": 5}, {"data": []}, {"number": 8}, {"state": "waiting"}, {"more": 1}])
def test_files_of_results_that_are_damaged_are_left_out(session: Session, wrong: dict[str, Any]) -> None:
    number = session.results.add("arm.toml", "live", "", kept(b"samples")).number
    path = session.results.folder / f"{number}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | wrong))
    assert Results(session).of("arm.toml") == []
