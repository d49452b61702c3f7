"""`open_studio`: starts a studio on a folder or a model, and returns at once."""

from __future__ import annotations

import atexit
import gc
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from kinemorph.display.browsers import open_page
from kinemorph.display.serving.server import Server, start
from kinemorph.display.serving.site import Site
from kinemorph.display.serving.until_stopped import UntilStopped
from kinemorph.errors import StorageError
from kinemorph.formats.loading import save
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.studio.documents.document import Document
from kinemorph.studio.downloads import downloaded, uploaded
from kinemorph.studio.session import Session
from kinemorph.studio.user_python import load_python

SWITCH = 0.0005  # time after which a thread lets others run [s]: a click does not wait for a model that is being read
YOUNG = 10_000  # new objects after which Python looks for garbage: a click makes thousands, which counting frees
HEIGHT = 760  # of the frame in a notebook [px]


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
    studio = Studio(Session(place, first, load_python(load)), port)
    print(f"studio at {studio.url}", flush=True)
    if open and not open_page(studio.url):
        print("No graphical browser was found. Open that address in a browser on this computer.", flush=True)
    return studio


class Studio(UntilStopped):
    """A running studio, as `open_studio` returns it."""

    def __init__(self, session: Session, port: int | None = None) -> None:
        self.session = session
        folders = {
            "studio": files("kinemorph.studio").joinpath("page"),
            "stage": files("kinemorph.display").joinpath("stage"),
            "serving": files("kinemorph.display.serving").joinpath("page"),
        }
        site = Site(
            title="Kinemorph studio",
            index=_with_scripts(folders["studio"].joinpath("index.html").read_text(encoding="utf-8"), folders),
            folders=folders,
            answer=session.answer,
            opened=session.opened,
            closed=session.closed,
            download=lambda name: downloaded(session, name),
            upload=lambda name, data: uploaded(session, name, data),
        )
        self.server: Server = start(site, port)
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(min(self._interval, SWITCH))
        self._thresholds = gc.get_threshold()
        gc.freeze()  # what was imported is no garbage; to search all of it would hold a click up
        gc.set_threshold(max(YOUNG, self._thresholds[0]), *self._thresholds[1:])
        atexit.register(self.stop)

    @property
    def url(self) -> str:
        """The address of the page, with the token that admits a browser."""
        return self.server.url

    @property
    def running(self) -> bool:
        """Whether the studio still answers."""
        return self.server.running

    @property
    def folder(self) -> Path:
        """The folder of the project."""
        return self.session.folder

    def document(self, name: str) -> Document:
        """A document of the folder, by the path of its file there; `document.apply(command)` edits it."""
        return self.session.document(name)

    def stop(self) -> None:
        """Stops the studio and all its processes, and frees its port. It may be called more than once."""
        atexit.unregister(self.stop)
        sys.setswitchinterval(self._interval)
        gc.set_threshold(*self._thresholds)
        gc.unfreeze()
        self.server.stop()
        self.session.stop()

    def __repr__(self) -> str:
        return f"<Studio of '{self.folder}' at {self.server.origin}>"


def _with_scripts(index: str, folders: Mapping[str, Traversable]) -> str:
    """The page's HTML with links to all scripts, so that a browser loads them together, not one after the other."""
    paths = [f"/{name}/{path}" for name, folder in folders.items() for path in sorted(_scripts(folder))]
    links = "".join(f'<link rel="modulepreload" href="{path}">\n' for path in paths)
    return index.replace("<script ", f"{links}<script ", 1)


def _scripts(folder: Traversable) -> Iterator[str]:
    """The paths of all scripts in a folder and the folders in it."""
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from (f"{entry.name}/{path}" for path in _scripts(entry))
        elif entry.name.endswith(".js"):
            yield entry.name


def _place(model: Path | str | Robot | System | None, folder: Path | str | None) -> tuple[Path, str | None]:
    """The folder of the project, and the name of the document that is shown first."""
    if isinstance(model, (Robot, System)):
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
