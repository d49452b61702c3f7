"""Starting tasks: a page asks for work, gets the number of its task at once, then progress, then the result.

    {"push": "task", "task": 7, "state": "working", "progress": {...}}    five times a second
    {"push": "task", "task": 7, "state": "done", "data": {...}}           once; "failed" and "cancelled" have a sentence

A file that a task makes is offered as a download: "file" has its address, its name and its size. The work of a page
that has gone is cancelled.
"""

from __future__ import annotations

import json
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kinemorph.display.serving.channel import Channel
from kinemorph.errors import UnsupportedError
from kinemorph.studio.workers.job import Job, OnPart, Result

if TYPE_CHECKING:
    from kinemorph.studio.session import Session

KEPT = 12  # large results of tasks that a session keeps, for questions about them
KNOWN_WITHIN = 10.0  # [s] after which the number of a task that was submitted is known


class Made:
    """What a task has made: `task` is its number, `data` its result, `file` the offer of its file, or {}."""

    def __init__(self) -> None:
        self.task = 0
        self.data: Any = None
        self.file: dict[str, Any] = {}
        self.content = b""


def document_data(session: Session, document: str) -> dict[str, Any]:
    """The model of a document as data for a task: its text, the path of its file, and the folder of the project."""
    found = session.document(document)
    return {"text": found.text, "path": str(found.path), "folder": str(session.folder)}


class PageTasks:
    """The tasks of all pages of a session, and their latest large results."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.jobs: dict[int, Job] = {}  # of tasks that have not ended
        self.results: OrderedDict[int, bytes] = OrderedDict()  # as compressed JSON, by the number of the task

    def start(
        self,
        channel: Channel,
        kind: str,
        data: Mapping[str, Any],
        finish: Callable[[Made], Any] | None = None,
        *,
        on_part: OnPart | None = None,
    ) -> dict[str, Any]:
        """Starts work of a kind in `tasks.work.WORK` for a page; returns {"task": its number}.

        `finish` turns what was made into the data that the page gets, such as the first part of a large result; by
        default the page gets the result itself. Parts of the result are files that are offered, unless `on_part` takes
        them.
        """
        made, begun = Made(), threading.Event()

        def send(message: dict[str, Any], latest: str | None = None) -> None:
            channel.post({"push": "task", "task": made.task, **message}, latest=latest)

        def progress(told: Mapping[str, Any]) -> None:
            begun.wait(KNOWN_WITHIN)
            if channel.closed:
                self.cancel(made.task)
            send({"state": "working", "progress": dict(told)}, latest=f"task {made.task}")

        def part(header: Mapping[str, Any], payload: bytes) -> None:
            made.content = payload
            made.file = {**self.session.offers.add(payload, header["media"], header["file"]), "media": header["media"]}

        def ended(result: Result) -> None:
            begun.wait(KNOWN_WITHIN)
            self.jobs.pop(made.task, None)
            message: dict[str, Any] = {"state": result.state, "sentence": result.sentence}
            message["warnings"] = list(result.warnings)
            if result.state == "done":
                made.data = result.data
                message["data"] = result.data if finish is None else finish(made)
                message["file"] = made.file or None
            send(message)

        job = self.session.workers.submit(kind, data, progress, ended, on_part=on_part or part)
        made.task = job.number
        if job.result is None:
            self.jobs[job.number] = job
        begun.set()
        return {"task": job.number}

    def cancel(self, task: int) -> None:
        """Cancels a task; nothing happens where it has ended."""
        job = self.jobs.get(task)
        if job is not None:
            job.cancel()

    def keep(self, made: Made) -> None:
        """Keeps the whole result of a task; the oldest of more than KEPT results is forgotten.

        Formulas as lists take some hundred times the memory of their compressed text, so it is this text that is kept.
        """
        self.results[made.task] = zlib.compress(json.dumps(made.data).encode(), 3)
        while len(self.results) > KEPT:
            self.results.popitem(last=False)

    def kept(self, task: int) -> Any:
        """The result of a task that was kept. Raises UnsupportedError where it was forgotten."""
        if task not in self.results:
            raise UnsupportedError(f"the result of task {task} is no longer kept. Start it again.")
        return json.loads(zlib.decompress(self.results[task]))
