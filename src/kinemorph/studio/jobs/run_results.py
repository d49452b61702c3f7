"""The runs of a project: those that are computed now, and the results of earlier ones, which stay across restarts.

A result is a saved trajectory and a JSON file beside it, in the hidden folder of the project. It also has the text of
the model as it was, so that it can be shown, audited and exported after the model has changed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinemorph.display.serving.channel import Channel
from kinemorph.durable_files import write_whole
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.studio.documents.document import HIDDEN
from kinemorph.studio.jobs.page_tasks import document_data
from kinemorph.studio.workers.job import Job, Result

if TYPE_CHECKING:
    from kinemorph.studio.session import Session

KEPT = 40  # results of one project; the oldest are deleted first
ENDED = ("done", "failed", "cancelled")


@dataclass
class RunResult:
    """One run of a document: what was asked for, how it stands, and what has come back."""

    number: int
    document: str
    run: str  # the name of the run in the file; empty for the default run
    label: str
    revision: int  # of the document, when the run was started
    data: dict[str, Any]  # the model, the run or its plan, and the path of the saved trajectory
    state: str = "waiting"  # "waiting", "working", "done", "failed" or "cancelled"
    sentence: str = ""  # why it failed or was cancelled
    warnings: list[str] = field(default_factory=list)
    found: dict[str, Any] = field(default_factory=dict)  # what `run_tasks.result_data` returns, and notes
    progress: dict[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """The file of the trajectory."""
        return Path(self.data["save"])

    @property
    def is_kept(self) -> bool:
        """Whether there is a trajectory: also a cancelled run has one, up to where it came."""
        return self.state in ENDED and self.path.is_file() and not self.path.is_symlink()

    def as_data(self) -> dict[str, Any]:
        """The result as pages see it."""
        names = ("number", "document", "run", "label", "revision", "state", "sentence", "warnings", "progress")
        return {**{name: getattr(self, name) for name in names}, **self.found, "kept": self.is_kept}

    def source(self) -> dict[str, Any]:
        """What a worker needs to load the run."""
        if not self.is_kept:
            raise UnsupportedError(f"run '{self.label}' has no samples to show. Start it again.")
        return {**self.data, "label": self.label, "number": self.number}


class Results:
    """The runs of one session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.folder, self.is_temporary = _writable(session.folder / HIDDEN / "runs")
        self.runs: dict[int, RunResult] = {}
        self.jobs: dict[int, Job] = {}  # of runs that have not ended
        self.lock = threading.RLock()
        self._restore()
        self._last = max(self.runs, default=0)
        session.closing.append(self.close)

    def of(self, document: str) -> list[RunResult]:
        """The runs of a document, the newest first."""
        with self.lock:
            return [run for _, run in sorted(self.runs.items(), reverse=True) if run.document == document]

    def run(self, number: int) -> RunResult:
        """A run by its number. Raises UnsupportedError if there is none."""
        found = self.runs.get(number) if isinstance(number, int) else None
        if found is None:
            raise UnsupportedError(f"there is no run with the number {number!r:.40}; it has been deleted.")
        return found

    def start(
        self, document: str, run: str, plan: Mapping[str, Any] | None, columns: list[str] | None = None
    ) -> RunResult:
        """Starts a run of a document, by the name of the run in the file or by a plan; it may have to wait."""
        found = self._new(document, run, run or "default run", plan=plan, columns=columns)
        pages = self.session.pages_of(document)
        known = self.session.pictures.common_surfaces(pages)
        try:
            with self.lock:  # so that the job is known before it ends
                self.jobs[found.number] = self.session.workers.submit(
                    "run",
                    {**found.data, "known": sorted(known)},
                    lambda now: self._progress(found, now),
                    lambda result: self._end(found, result),
                    on_part=lambda header, payload: self._show(found, pages, header, payload),
                )
        except BaseException:
            self._drop(found.number)
            raise
        self._forget_oldest()
        self._tell(found)
        return found

    def add(self, document: str, label: str, run: str, make: Callable[[str], Mapping[str, Any]]) -> RunResult:
        """Adds a run that was computed live: `make` writes it to a path, and returns what pages show.

        `run` is the name of the run as which it began.
        """
        found = self._new(document, run, label)
        try:
            found.found, found.state = dict(make(found.data["save"])), "done"
        except BaseException:
            self._drop(found.number)
            raise
        self._store(found)
        self._forget_oldest()
        self._tell(found)
        return found

    def _new(
        self,
        document: str,
        run: str,
        label: str,
        *,
        plan: Mapping[str, Any] | None = None,
        columns: list[str] | None = None,
    ) -> RunResult:
        """A run of the document as it is now, with a number of its own; numbers of deleted runs are not used again."""
        revision, data = self.session.document(document).revision, document_data(self.session, document)
        with self.lock:
            self._last += 1
            number = self._last
            data |= {"run": run or None, "plan": plan, "save": str(self.folder / f"{number}.npz"), "columns": columns}
            found = self.runs[number] = RunResult(number, document, run, f"{label} #{number}", revision, data)
        return found

    def cancel(self, number: int) -> None:
        """Cancels a run; it keeps its samples so far."""
        job = self.jobs.get(self.run(number).number)
        if job is not None:
            job.cancel()

    def remove(self, number: int) -> None:
        """Deletes a result and its files; a run that is computed is cancelled first."""
        self.cancel(number)
        self._drop(number)

    def _drop(self, number: int) -> None:
        """Takes a run out of the list and deletes its files; nothing happens if another thread has done so."""
        with self.lock:
            found = self.runs.pop(number, None)
        if found is not None:
            _delete(found)
            self.session.push({"push": "run removed", "number": number}, document=found.document)

    def close(self) -> None:
        """Deletes the results if their folder is a temporary one."""
        if self.is_temporary:
            shutil.rmtree(self.folder, ignore_errors=True)

    # ── while a run is computed ───────────────────────────────────────────────────────────────────────────────────

    def _progress(self, found: RunResult, now: Mapping[str, Any]) -> None:
        found.state, found.progress = "working", dict(now)
        message = {"push": "run progress", "number": found.number, "progress": found.progress}
        self.session.push(message, document=found.document, latest=f"run {found.number}")

    def _show(self, found: RunResult, pages: list[Channel], header: Mapping[str, Any], payload: bytes) -> None:
        """Passes a scene or frames of a run on to the pages that were there when it began."""
        still = [page for page in self.session.pages_of(found.document) if page in pages]
        about = {"document": found.document, "revision": found.revision, "run": found.number}
        self.session.pictures.pass_on(still, {**header, **about}, payload)

    def _end(self, found: RunResult, result: Result) -> None:
        found.state, found.sentence, found.warnings = result.state, result.sentence, list(result.warnings)
        found.progress = dict(result.progress or {})
        if isinstance(result.data, dict):
            found.found = {key: value for key, value in result.data.items() if key != "path"}
            outcome = found.found["summary"]["outcome"]
            found.sentence = outcome["message"] or found.sentence
            if result.state == "done" and not outcome["ok"]:
                found.state = "failed"
        with self.lock:
            self.jobs.pop(found.number, None)
            is_deleted = found.number not in self.runs
        if is_deleted:
            _delete(found)  # the worker may have saved what it had after the run was deleted
            return
        if found.found or not found.is_kept or self.session.stopped.is_set():
            self._store(found)
            self._tell(found)
            return
        # the worker has ended, but the file has what was saved until then
        data = {"results": [found.source()]}
        self.session.workers.submit("run_details", data, on_result=lambda more: self._look(found, more))

    def _look(self, found: RunResult, result: Result) -> None:
        """Takes in what was found in the file of a run whose worker has ended."""
        if isinstance(result.data, dict):
            found.found = {key: value for key, value in result.data.items() if key != "figures"}
        self._store(found)
        self._tell(found)

    def _tell(self, found: RunResult) -> None:
        self.session.push({"push": "run", "run": found.as_data()}, document=found.document)

    # ── files ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _store(self, found: RunResult) -> None:
        """Writes the JSON file of a result; where that fails, the result stays until the studio stops."""
        try:
            write_whole(found.path.with_suffix(".json"), json.dumps(asdict(found)).encode())
        except (KinemorphError, OSError) as error:
            text = f"Run '{found.label}' is not kept after the studio stops: {error}"
            self.session.push({"push": "message", "kind": "warning", "text": text}, document=found.document)

    def _restore(self) -> None:
        """Reads the results of earlier sessions; damaged files are left out."""
        for path in sorted(self.folder.glob("*.json")):
            with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
                found = RunResult(**json.loads(path.read_text(encoding="utf-8")))
                places = {"path": self.session.project.path(found.document), "folder": self.session.folder}
                places["save"] = path.with_suffix(".npz")  # never those of the file: the project may have been moved
                found.data |= {name: str(place) for name, place in places.items()}
                if found.state in ENDED and found.number == int(path.stem):
                    self.runs[found.number] = found

    def _forget_oldest(self) -> None:
        with self.lock:
            ended = [number for number, run in sorted(self.runs.items()) if run.state in ENDED]
            oldest = ended[: max(0, len(self.runs) - KEPT)]
        for number in oldest:
            self._drop(number)


def _delete(found: RunResult) -> None:
    """Deletes the files of a run, as far as there are any."""
    for path in (found.path, found.path.with_suffix(".json")):
        with contextlib.suppress(OSError):
            path.unlink()


def _writable(folder: Path) -> tuple[Path, bool]:
    """The folder for results, and whether it is a temporary one, because the project cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder, False
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="kinemorph-runs-")), True
