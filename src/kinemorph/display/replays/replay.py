"""Replays: a scene and the page that shows it, as one HTML text that loads nothing else.

In page/page.html the placeholders {{title}}, {{style}}, {{script}} and {{scene}} are replaced by the title, the style,
the scripts and the packed scene. The scripts are those of the stage (see `stage.bundle`); page/main.js opens it.
"""

from __future__ import annotations

import html
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy.typing as npt

from kinemorph.display.browsers import open_page
from kinemorph.display.cameras import Camera, CameraChoice
from kinemorph.display.replays.notebook_frame import framed
from kinemorph.display.replays.packing import pack
from kinemorph.display.scenes.building import Subjects, scene_of
from kinemorph.display.scenes.scene import Scene
from kinemorph.display.scenes.usual_view import replay_camera
from kinemorph.display.stage.bundle import bundle, display_file, style
from kinemorph.durable_files import write_whole
from kinemorph.errors import StorageError, UnsupportedError
from kinemorph.shown import ShownReplay

ENDINGS = (".html", ".htm")


@dataclass(frozen=True, eq=False)
class Replay(ShownReplay):
    """A scene as one HTML page that works offline in any browser: it plays runs, and has sliders for joints."""

    scene: Scene
    camera: Camera
    path: Path | None = None  # where it was saved

    @cached_property
    def html(self) -> str:
        """The HTML text of the whole page."""
        filled = {
            "title": html.escape(self.scene.title).encode("utf-8", "replace").decode(),
            "style": style("replays/page/page.css"),
            "script": f"(() => {{\n'use strict';\n{bundle('replays/page/main.js')}}})();",
            "scene": pack(self.scene, self.camera),
        }
        # all placeholders at once, so that the inserted texts are not searched for placeholders
        return re.sub(r"\{\{(\w+)\}\}", lambda place: filled[place[1]], display_file("replays/page/page.html"))

    @property
    def size(self) -> int:
        """The size of the page [bytes]."""
        return len(self.html.encode())

    def __repr__(self) -> str:
        frames = f"{len(self.scene.times):,} frames" if len(self.scene.times) > 1 else "no run"
        return f"<Replay '{self.scene.title}': {frames}, {size_text(self.size)}>"

    def _repr_html_(self) -> str:
        """The page in a frame, for notebooks; a large page has fewer frames there (see `notebook_frame`)."""
        return framed(self)

    def save(self, path: Path | str) -> Path:
        """Writes the page and returns its path. Missing folders are made; a failure leaves an older page unchanged."""
        target = html_path(path)
        write_whole(target, self.html)
        return target

    def open(self) -> Path:
        """Opens the page in the browser and returns its path; without a browser, prints what to do."""
        path = self.path
        if path is None or not path.exists():
            path = self.save(Path(tempfile.mkdtemp(prefix="kinemorph-")) / f"{_file_name(self.scene.title)}.html")
        if not open_page(path.resolve().as_uri()):
            print(f"No graphical browser was found. Open {path} in a browser on any machine.")
        return path


def replay(
    subject: Subjects,
    path: Path | str | None = None,
    *,
    q: npt.ArrayLike | None = None,
    fps: float = 60.0,
    columns: str | Sequence[str] | None = None,
    trace: str | Sequence[str] = (),
    spread: float | None = None,
    title: str | None = None,
    camera: CameraChoice = None,
    follow: str | None = None,
) -> Replay:
    """A self-contained HTML page that plays one or several runs offline, or shows a robot with joint sliders.

    Of a batch with many runs four are shown, and named by their indices; `replay(batch[[3, 8]])` shows those two.

    `path`      a file name that ends in .html, to write the page at once
    `q`         the configuration (nq,) of a robot; by default a typical one. Not for runs
    `fps`       frames per second of simulated time; between them the page interpolates
    `columns`   names, groups or patterns of a run's columns to plot below it; its energies by default
    `trace`     bodies or frames whose paths are drawn
    `spread`    distance between several figures [m]; 0 draws all of them in one place
    `camera`    the initial view: "front", "left", "iso", ... or (elevation, azimuth) [deg]
    `follow`    a body or frame that stays in the middle; by default that of a robot which travels very far

    A notebook shows the replay. `.save(path)` writes it, `.open()` opens it in the browser, `.widget()` shows it in a
    notebook such that Python moves the robot.
    """
    target = None if path is None else html_path(path)
    scene = scene_of(subject, q=q, fps=fps, columns=columns, trace=trace, spread=spread, title=title)
    made = Replay(scene, replay_camera(scene, camera, follow), target)
    if target is not None:
        made.save(target)
    return made


def html_path(path: Path | str) -> Path:
    """The path of a page; raises an error for a folder, and for a name that does not end in .html or .htm."""
    try:
        target = Path(path)
        folder = target.is_dir()
    except (OSError, TypeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StorageError(f"path {str(path)[:80]!r}: {reason}. Use a name that ends in .html.") from None
    if folder:
        raise StorageError(f"'{target}' is a folder; expected a file. Add a file name that ends in .html.")
    if target.suffix.lower() not in ENDINGS:
        raise UnsupportedError(f"'{target}': a replay is an HTML page. Use a name that ends in .html.")
    return target


def size_text(count: int) -> str:
    """A number of bytes as text, in kB or MB."""
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


def _file_name(title: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", title).strip("-").lower()[:60] or "replay"
