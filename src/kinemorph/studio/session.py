"""The state of one studio: its folder, its open documents, its connected pages and its workers.

All pages of a studio share one session. A page shows one document at a time; it gets the new state whenever that
document changes, whoever changed it. Questions are answered in threads: `edits` makes changes of documents happen one
after the other.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinemorph.display.serving.channel import Channel
from kinemorph.errors import UnsupportedError
from kinemorph.formats.toml.fields import ORGANISM
from kinemorph.model.system import System
from kinemorph.studio import requests
from kinemorph.studio.documents.document import Document
from kinemorph.studio.documents.projects import Project
from kinemorph.studio.jobs.page_tasks import PageTasks
from kinemorph.studio.transfers.downloads import Offers
from kinemorph.studio.transfers.pictures import Pictures

if TYPE_CHECKING:
    from kinemorph.studio.jobs.live_runs import LiveRuns
    from kinemorph.studio.jobs.run_results import Results
    from kinemorph.studio.workers.pool import Pool

START_WORKERS = 2.0  # time between the first page and the start of workers [s]: its first picture has the processor
QUIET, LONGEST_QUIET = 0.3, 2.0  # time without an edit after which the model of docked modules is read [s]
LOOK_AGAIN = 0.5  # time between two looks at the files of open documents [s]
LIST_AGAIN = 2.0  # time between two looks at the folder [s]; in large folders
SPARED = 50.0  # times as long as such a look takes


class Session:
    """A studio that is open on a folder."""

    def __init__(self, folder: Path, first: str | None = None, loaded: tuple[Path, ...] = ()) -> None:
        self.project = Project(folder)
        self.first = first  # the document that a new page shows
        self.loaded = loaded  # Python files of the user, which workers execute too
        self.channels: dict[Channel, str | None] = {}  # the connected pages, and which document each one shows
        self.edits = threading.RLock()
        self.pictures = Pictures(self)
        self.offers = Offers()
        self.tasks = PageTasks(self)
        self.closing: list[Callable[[], None]] = []  # called when the studio stops
        self._pool: Pool | None = None
        self._warming: threading.Timer | None = None  # starts the workers
        self._reading: set[str] = set()  # names of documents whose models are being read
        self._read_in: dict[str, float] = {}  # how long the last reading and its picture took, by document [s]
        self._listed: list[tuple[str, str]] = []  # names and formats of the model files when they were listed last
        self._list_again = 0.0  # when they are listed again [s]
        self._results: Results | None = None
        self._live_runs: LiveRuns | None = None
        self.stopped = threading.Event()
        threading.Thread(target=self._watch, name="watching files", daemon=True).start()

    @property
    def folder(self) -> Path:
        """The folder of the project."""
        return self.project.folder

    @property
    def workers(self) -> Pool:
        """The processes in which long work is computed; they start after the first page, or when first needed.

        Raises UnsupportedError after the studio was stopped, since processes that start then would never be ended.
        """
        from kinemorph.studio.workers.pool import Pool

        with self.edits:
            if self._pool is None:
                if self.stopped.is_set():
                    raise UnsupportedError("the studio has been stopped. Open it again.")
                self._pool = Pool(load=self.loaded)
            return self._pool

    @property
    def results(self) -> Results:
        """The runs of this project and their results."""
        from kinemorph.studio.jobs.run_results import Results

        with self.edits:
            if self._results is None:
                self._results = Results(self)
            return self._results

    @property
    def live_runs(self) -> LiveRuns:
        """The live runs, one for each document at most."""
        from kinemorph.studio.jobs.live_runs import LiveRuns

        with self.edits:
            if self._live_runs is None:
                self._live_runs = LiveRuns(self)
            return self._live_runs

    # ── documents ─────────────────────────────────────────────────────────────────────────────────────────────────

    def documents(self) -> list[dict[str, Any]]:
        """The model files of the project as data for pages: name, format and size [bytes]."""
        return [row._asdict() for row in self.project.model_files()]

    def document(self, name: str) -> Document:
        """A document by the path of its file in the folder; it is opened if it is not open yet."""
        with self.edits:
            return self.project.open(name)

    def model(self, name: str) -> System:
        """The last good model of a document. Raises UnsupportedError if there has been none yet."""
        model = self.document(name).model
        if model is None:
            raise UnsupportedError(
                f"'{name}' has mistakes and has not been a whole model yet. Correct what is marked in the panel Text."
            )
        return model

    def show(self, channel: Channel, name: str) -> dict[str, Any]:
        """Makes a page show a document, and returns the state of the document."""
        document = self.document(name)
        with self.edits:
            self.channels[channel] = name
            document.changed_outside()
        self.pictures.update(document, [channel])
        self._read_later(document)
        return state_of(document)

    def edited(self, document: Document) -> dict[str, Any]:
        """Shows all pages of a document that it has changed, and returns its new state."""
        self.pictures.update(document, self.pages_of(document.name))
        return self.told(document)

    def told(self, document: Document) -> dict[str, Any]:
        """Tells all pages the state of a document whose picture they have already, and returns it."""
        state = state_of(document)
        self.push({"push": "document", "state": state}, document=document.name)
        self._read_later(document)
        return state

    def _read_later(self, document: Document) -> None:
        """Reads the model in the background, then tells the pages its findings and shows it.

        While one reading is under way, further edits wait for it; only the newest text is read then.
        """
        with self.edits:
            if document.name in self._reading:
                return
            self._reading.add(document.name)

        def read() -> None:
            told = -1
            while True:
                with self.edits:
                    if told == document.revision:
                        self._reading.discard(document.name)
                        return
                    told = document.revision
                if self._is_assembled(document):
                    continue
                began = time.monotonic()
                with self._shown_failures(document):
                    if document.read().revision == document.revision:
                        self.push({"push": "document", "state": state_of(document)}, document=document.name)
                        self.pictures.update(document, self.pages_of(document.name), whole=True)
                self._read_in[document.name] = time.monotonic() - began

        threading.Thread(target=read, name=f"reading {document.name}", daemon=True).start()

    def _is_assembled(self, document: Document) -> bool:
        """Waits a moment if docked modules are being edited, and says whether there was another edit meanwhile.

        Their picture does not need the model, and reading it at once would slow the next click down: the longer that
        takes, the longer the wait.
        """
        revision = document.revision
        if document.last_model is None or document.data.keys().isdisjoint(ORGANISM):
            return False
        self.stopped.wait(min(max(QUIET, 2.0 * self._read_in.get(document.name, 0.0)), LONGEST_QUIET))
        return document.revision != revision

    @contextmanager
    def _shown_failures(self, document: Document) -> Iterator[None]:
        """A mistake of this program in a thread of its own is shown on the pages; the thread continues its work."""
        try:
            yield
        except Exception as error:
            sys.excepthook(type(error), error, error.__traceback__)
            text = f"The program made a mistake with '{document.name}' ({type(error).__name__}: {error})."
            self.push({"push": "message", "kind": "error", "text": text}, document=document.name)

    def _watch(self) -> None:
        """Looks again and again at the files of open documents: other programs may have changed or removed them.

        Edits that could not be written, because the disk was full or the folder was read-only, are written as soon as
        that is possible.
        """
        while not self.stopped.wait(LOOK_AGAIN):
            with self.edits:
                for document in list(self.project.documents.values()):
                    with self._shown_failures(document):
                        self._look_at(document)
            self._look_at_folder()

    def _look_at_folder(self) -> None:
        """Tells all pages where other programs have added model files to the folder, or removed some."""
        began = time.monotonic()
        if began < self._list_again or not self.pages_of():
            return
        documents = self.documents()
        names = [(one["name"], one["format"]) for one in documents]
        self._list_again = time.monotonic() + max(LIST_AGAIN, SPARED * (time.monotonic() - began))
        if self._listed not in ([], names):
            self.push({"push": "project", "documents": documents})
        self._listed = names

    def _look_at(self, document: Document) -> None:
        """Tells the pages of a document what has become of its file."""
        problem = document.problem
        if document.changed_outside() is not None:
            text = f"'{document.name}' was changed by another program; Undo brings your version back."
        elif document.is_unwritten and document.save():
            text = f"'{document.name}' is saved now, with all edits."
        elif document.problem != problem:
            text = document.problem or f"The file of '{document.name}' is there again."
        else:
            return
        self.edited(document)
        self.push({"push": "message", "kind": "warning", "text": text}, document=document.name)

    # ── pages ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def opened(self, channel: Channel) -> None:
        """Notes a page that has connected. After the first one, workers are started ahead, behind its first picture."""
        with self.edits:
            self.channels[channel] = None
            if self._warming is None:
                self._warming = threading.Timer(START_WORKERS, self._warm_up)
                self._warming.daemon = True
                self._warming.start()

    def _warm_up(self) -> None:
        """Starts the workers, so that they are ready before they are needed."""
        with suppress(UnsupportedError):  # the studio was stopped meanwhile
            _ = self.workers

    def closed(self, channel: Channel) -> None:
        """Forgets a page that has gone."""
        with self.edits:
            self.channels.pop(channel, None)
        self.pictures.forget(channel)

    def answer(self, channel: Channel, ask: str, arguments: dict[str, Any]) -> Any:
        """The answer to a question of a page; see `requests`."""
        return requests.answer(self, channel, ask, arguments)

    def pages_of(self, document: str | None = None) -> list[Channel]:
        """The connected pages; with a name, those that show this document."""
        with self.edits:
            return [page for page, shown in self.channels.items() if document is None or shown == document]

    def push(self, message: dict[str, Any], *, document: str | None = None, latest: str | None = None) -> None:
        """Sends a message to all pages, or to those that show a document; see `Channel.post`."""
        for page in self.pages_of(document):
            page.post(message, latest=latest)

    def push_bytes(
        self, header: dict[str, Any], payload: bytes, *, document: str | None = None, latest: str | None = None
    ) -> None:
        """Sends a message with binary data to all pages, or to those that show a document."""
        for page in self.pages_of(document):
            page.post_bytes(header, payload, latest=latest)

    def stop(self) -> None:
        """Ends the workers and whatever panels have started, and closes the documents."""
        with self.edits:
            self.stopped.set()
            pool = self._pool
        for end in self.closing:
            end()
        if pool is not None:
            pool.stop()
        self.project.close()


GRID = ["assembly", "grid"]
EMPTY = {"problem": "The grid has no modules yet", "remedy": "Choose a kind in the panel Assemble and click a cell."}


def state_of(document: Document) -> dict[str, Any]:
    """What a page knows of a document: `Document.state`, and the names in its last good model."""
    model = document.last_model
    data = document.data
    state = document.state()
    assembly = data.get("assembly")
    grid = assembly.get("grid") if isinstance(assembly, dict) else None
    if isinstance(grid, str) and not grid.strip(" .\n"):  # a model that has just been made has no mistake
        invitation = EMPTY | {"severity": "invitation"}
        state["findings"] = [one | invitation if one["path"] == GRID else one for one in state["findings"]]
    return state | {
        "document": document.name,
        "title": str(data.get("name") or Path(document.name).stem),
        "assembly": not data.keys().isdisjoint(ORGANISM),
        "toml": document.is_toml,
        "bodies": list(model.robot.body_names) if model is not None else [],
        "joints": [joint.name for joint in model.robot.joints] if model is not None else [],
    }
