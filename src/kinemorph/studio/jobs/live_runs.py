"""The live runs of a studio: one for each document, each in a process of its own, shown by all pages of the document.

A live run needs its process all the time, and at once. So it does not take one of the session's workers, on which runs
and analyses wait for their turn; it has a pool of one worker, which is kept for the next live run.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.studio.jobs.page_tasks import document_data
from kinemorph.studio.workers.job import Job, Result
from kinemorph.studio.workers.pool import Pool

if TYPE_CHECKING:
    from kinemorph.studio.session import Session

MOST = 3  # live runs at once
UNWATCHED = 20.0  # [s] after which a live run ends that no page shows
ANSWERS_WITHIN = 30.0  # [s]; a docking may have to derive and compile


class LiveRuns:
    """The live runs of one session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.runs: dict[str, StudioLiveRun] = {}  # by document
        self.lock = threading.RLock()
        self._idle: list[Pool] = []
        session.closing.append(self.close)

    def warm_up(self) -> None:
        """Starts a process ahead, so that the first live run does not wait for it."""
        with self.lock:
            if not self._idle and not self.runs and not self.session.stopped.is_set():
                self._idle.append(self._pool())

    def _pool(self) -> Pool:
        return Pool(1, load=self.session.loaded, nice=0)

    def start(self, document: str, name: str) -> dict[str, Any]:
        """Starts a live run of a document, in place of the one before; it begins paused, as the run `name` does."""
        self.stop(document)
        data = {**document_data(self.session, document), "run": name or None}
        with self.lock:
            if len(self.runs) >= MOST:
                raise UnsupportedError(
                    f"{MOST} live runs are on, of {', '.join(sorted(self.runs))}; more would not keep up with the "
                    "clock. Stop one of them first."
                )
            if document in self.runs:
                raise UnsupportedError(f"a live run of '{document}' is being started already. Wait until it is ready.")
            pool = self._idle.pop() if self._idle else self._pool()
            run = self.runs[document] = StudioLiveRun(self, document, pool, name)
        try:
            run.begin(data)
        except BaseException:
            self.ended(run)
            raise
        return run.state()

    def of(self, document: str) -> StudioLiveRun:
        """The live run of a document. Raises UnsupportedError where there is none."""
        found = self.runs.get(document)
        if found is None:
            raise UnsupportedError(f"there is no live run of '{document}'. Start one in the panel Live.")
        return found

    def state(self, document: str) -> dict[str, Any]:
        """The live run of a document as a page sees it that opens its panel; {"state": "off"} where there is none."""
        found = self.runs.get(document)
        return {"state": "off"} if found is None else found.state()

    def stop(self, document: str) -> None:
        """Ends the live run of a document, if there is one."""
        found = self.runs.get(document)
        if found is not None:
            found.end()

    def ended(self, run: StudioLiveRun) -> None:
        """Takes back the process of a run that has ended."""
        with self.lock:
            if self.runs.get(run.document) is run:
                del self.runs[run.document]
            if run.pool not in self._idle:
                self._idle.append(run.pool)

    def close(self) -> None:
        """Ends all processes."""
        with self.lock:
            pools = [*self._idle, *(run.pool for run in self.runs.values())]
            self._idle.clear()
            self.runs.clear()
        for pool in pools:
            pool.stop()


class StudioLiveRun:
    """One live run: it passes messages of pages on to its process, and what comes back on to the pages."""

    def __init__(self, owner: LiveRuns, document: str, pool: Pool, name: str) -> None:
        self.owner, self.document, self.pool, self.name = owner, document, pool, name
        self.ready: dict[str, Any] | None = None  # what the process has sent about the run; None while it is prepared
        self.status: dict[str, Any] = {}
        self._poses: tuple[dict[str, Any], bytes] | None = None  # the last picture, for pages that come later
        self._job: Job | None = None
        self._numbers, self._answers = itertools.count(1), dict[int, dict[str, Any] | None]()  # of questions that wait
        self._answered = threading.Condition()
        self._watched = time.monotonic()

    def begin(self, data: Mapping[str, Any]) -> None:
        """Starts the work."""
        self._job = self.pool.submit("live", data, self._progress, self._result, on_part=self._part)

    def state(self) -> dict[str, Any]:
        """The run as pages see it."""
        if self.ready is None:
            return {"state": "preparing"}
        return {"state": "on", "ready": self.ready, "status": self.status}

    def tell(self, message: Mapping[str, Any]) -> None:
        """Sends a message without waiting; if it cannot be carried out, pages show why."""
        if self._job is None or self.ready is None:
            raise UnsupportedError("the live run is still being prepared. Wait until it is ready.")
        self._job.tell(message)

    def ask(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Sends a message and waits for its answer. Raises KinemorphError where it was refused."""
        number = next(self._numbers)
        self._answers[number] = None
        try:
            self.tell({**message, "id": number})
            with self._answered:
                self._answered.wait_for(lambda: self._answers[number] is not None or self._is_over(), ANSWERS_WITHIN)
        finally:
            answer = self._answers.pop(number)  # an answer that comes later is dropped
        if answer is None:
            raise KinemorphError(f"the live run did not answer '{message.get('do')}' within {ANSWERS_WITHIN:g} s.")
        if "error" in answer:
            raise KinemorphError(answer["error"])
        return answer

    def end(self) -> None:
        """Ends the run; what was not kept is lost."""
        if self._job is not None:
            self._job.cancel()
            self._job.wait(5.0)

    def show(self, channel: Any) -> None:
        """Sends the last picture to a page that has come later."""
        if self._poses is not None:
            channel.post_bytes(*self._poses, latest=f"live {self.document}")

    # ── what comes back ───────────────────────────────────────────────────────────────────────────────────────────

    def _is_over(self) -> bool:
        return self._job is None or self._job.result is not None

    def _push(self, message: dict[str, Any], latest: str | None = None) -> None:
        about = {"push": "live", "document": self.document}
        self.owner.session.push({**about, **message}, document=self.document, latest=latest)

    def _progress(self, told: Mapping[str, Any]) -> None:
        if self.ready is None:
            self._push({"state": "preparing", "progress": dict(told)}, latest=f"live progress {self.document}")

    def _part(self, header: Mapping[str, Any], payload: bytes) -> None:
        kind, given = header["live"], {name: value for name, value in header.items() if name != "live"}
        if kind == "poses":
            self._poses = {"push": "poses", "document": self.document, **given}, payload
            self.owner.session.push_bytes(*self._poses, document=self.document, latest=f"live {self.document}")
        elif kind == "ready":
            self.ready = given
            self._push({"state": "on", "ready": given})
        elif kind == "status":
            self.status = given
            self._push({"state": "on", "status": given}, latest=f"live status {self.document}")
            self._leave_alone()
        elif given["id"] is None:
            self.owner.session.push(
                {"push": "message", "kind": "warning", "text": given["error"]}, document=self.document
            )
        else:
            with self._answered:
                if given["id"] in self._answers:
                    self._answers[given["id"]] = given
                    self._answered.notify_all()

    def _leave_alone(self) -> None:
        """Ends a run that no page has shown for some time."""
        if self.owner.session.pages_of(self.document):
            self._watched = time.monotonic()
        elif time.monotonic() - self._watched > UNWATCHED and self._job is not None:
            self._job.cancel()

    def _result(self, result: Result) -> None:
        self.owner.ended(self)
        with self._answered:
            self._answered.notify_all()
        self._push({"state": "off", "sentence": "" if result.state == "cancelled" else result.sentence})
