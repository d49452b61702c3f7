"""`open_studio`: starts a studio on a folder or a model, and returns at once.

The server starts first. What reads and draws models is imported by a thread, while the browser loads the page; the
first question of a page waits for it. So nothing may be imported at the top of this file that imports NumPy.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from kinemorph.display.browsers import open_page
from kinemorph.display.serving.server import Server, start
from kinemorph.display.serving.site import Site
from kinemorph.display.serving.until_stopped import UntilStopped
from kinemorph.display.stage.bundle import joined
from kinemorph.errors import StorageError
from kinemorph.lazy import uncollected
from kinemorph.studio.transfers.downloads import downloaded, uploaded
from kinemorph.studio.workers.user_python import load_python

if TYPE_CHECKING:
    from kinemorph.model.robot import Robot
    from kinemorph.model.system import System
    from kinemorph.studio.documents.document import Document
    from kinemorph.studio.session import Session

SWITCH = 0.0005  # time after which a thread lets others run [s]: a click does not wait for a model that is being read
YOUNG = 10_000  # new objects after which Python looks for garbage: a click makes thousands, which counting frees


def open_studio(
    model: Path | str | Robot | System | None = None,
    *,
    folder: Path | str | None = None,
    port: int | None = None,
    open: bool = True,
    load: Sequence[Path | str] = (),
) -> Studio:
    """Opens the studio in the browser and returns at once; needs the extra [studio].

        studio = open_studio("robots/")          # a folder with model files
        studio = open_studio(library.scara())    # a robot, which is written to a new folder
        studio.stop()

    `model`     a folder, a model file, a robot or a system; by default the present folder
    `folder`    where a robot or system is written; by default a new temporary folder
    `port`      the port of the page on this computer; by default the next free one from 8080 on
    `open`      whether to open the page in the browser
    `load`      Python files that are executed first, also in the processes that compute runs

    The page is served by this computer and reachable from this computer only. The studio runs until it is stopped or
    the program ends; `wait()` keeps a script running.
    """
    place, first = _place(model, folder)
    studio = Studio(place, first, load_python(load), port)
    print(f"studio at {studio.url}", flush=True)
    if open and not open_page(studio.url):
        print("No graphical browser was found. Open that address in a browser on this computer.", flush=True)
    return studio


class Studio(UntilStopped):
    """A running studio, as `open_studio` returns it."""

    def __init__(
        self, folder: Path, first: str | None = None, loaded: tuple[Path, ...] = (), port: int | None = None
    ) -> None:
        """The arguments before `port` are those of `Session`."""
        self.folder = Path(os.path.realpath(folder))
        folders = {
            "studio": files("kinemorph.studio").joinpath("page"),
            "stage": files("kinemorph.display").joinpath("stage"),
            "serving": files("kinemorph.display.serving").joinpath("page"),
        }
        site = Site(
            title="Kinemorph studio",
            index=folders["studio"].joinpath("index.html").read_text(encoding="utf-8"),
            folders=folders,
            texts={"stage/stage.js": lambda: joined("stage/stage.js")},
            answer=lambda channel, ask, arguments: self.session.answer(channel, ask, arguments),
            opened=lambda channel: self.session.opened(channel),
            closed=lambda channel: self.session.closed(channel),
            download=lambda name: downloaded(self.session, name),
            upload=lambda name, data: uploaded(self.session, name, data),
        )
        self._opening: Future[Session] = Future()
        self.server: Server = start(site, port)
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(min(self._interval, SWITCH))
        self._thresholds = gc.get_threshold()
        gc.set_threshold(max(YOUNG, self._thresholds[0]), *self._thresholds[1:])
        atexit.register(self.stop)
        threading.Thread(target=self._open, args=(first, loaded), name="opening a studio", daemon=True).start()

    def _open(self, first: str | None, loaded: tuple[Path, ...]) -> None:
        """Opens the session; pages wait for it, and are shown the error where there is one."""
        try:
            with uncollected():  # hardly anything that is imported is garbage
                from kinemorph.studio.session import Session
            gc.freeze()  # what was imported is no garbage; to search all of it would hold a click up
            self._opening.set_result(Session(self.folder, first, loaded))
        except BaseException as error:
            self._opening.set_exception(error)

    @property
    def session(self) -> Session:
        """The state that all pages share; available within a second after the start."""
        return self._opening.result()

    @property
    def url(self) -> str:
        """The address of the page, with the token that admits a browser."""
        return self.server.url

    @property
    def running(self) -> bool:
        """Whether the studio still answers."""
        return self.server.running

    def document(self, name: str) -> Document:
        """A document of the folder, by the path of its file there; `document.apply(command)` edits it."""
        return self.session.document(name)

    def stop(self) -> None:
        """Stops the studio and all its processes, and frees its port. It may be called more than once."""
        atexit.unregister(self.stop)
        sys.setswitchinterval(self._interval)
        gc.set_threshold(*self._thresholds)
        self.server.stop()
        if self._opening.exception() is None:
            self.session.stop()
        gc.unfreeze()

    def __repr__(self) -> str:
        return f"<Studio of '{self.folder}' at {self.server.origin}>"


def _place(model: Path | str | Robot | System | None, folder: Path | str | None) -> tuple[Path, str | None]:
    """The folder of the project, and the name of the document that is shown first."""
    if model is not None and not isinstance(model, (str, os.PathLike)):
        from kinemorph.formats.loading import save

        place = Path(tempfile.mkdtemp(prefix="kinemorph-studio-")) if folder is None else Path(folder)
        path = place / f"{model.name}.toml"
        save(model, path)
        return place, path.name
    path = Path("." if model is None else model)
    if path.is_dir():
        return path, None
    if path.is_file():
        return path.parent, path.name
    raise StorageError(f"'{path}' does not exist; expected a folder, or a model file. Make the folder first.")
