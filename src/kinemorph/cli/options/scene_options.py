"""What options ask to see in 3-D: replays, moving pictures, the live viewer; checked before any work is done.

One vocabulary for all verbs: --html, --gif, --mp4, --png and --open say what is made, --camera, --follow, --trace,
--speed and --fps how it looks. An option that would change nothing is refused.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinemorph.cli.application import say, told, working
from kinemorph.cli.options import option_values
from kinemorph.codegen.backends.identifiers import identifier
from kinemorph.errors import KinemorphError, MissingExtraError

if TYPE_CHECKING:
    from kinemorph.display.scenes.building import Subject
    from kinemorph.display.scenes.scene import Scene
    from kinemorph.display.viewer.view import Viewer

SPEED_HELP = "Of --gif and --mp4: 0.1 is ten times slower than life."
HtmlPath = Annotated[
    Path | None, typer.Option(metavar="PATH", help="Write a replay: one .html file that any browser plays.")
]
GifPath = Annotated[Path | None, typer.Option(metavar="PATH", help="Write a moving picture: .gif.")]
Mp4Path = Annotated[Path | None, typer.Option(metavar="PATH", help="Write a video: .mp4; needs the extra 'video'.")]
Open = Annotated[bool, typer.Option("--open", metavar="", help="Open the replay in the browser.")]
Speed = Annotated[float | None, typer.Option(help=SPEED_HELP, show_default="1")]


@dataclass(frozen=True, kw_only=True)
class Sights:
    """What is to be seen of models or runs, and how."""

    html: Path | None = None
    gif: Path | None = None
    mp4: Path | None = None
    png: Path | None = None
    open: bool = False
    view: bool = False
    port: int | None = None
    camera: str | None = None
    follow: str | None = None
    trace: list[str] = field(default_factory=list)
    speed: float | None = None
    fps: float | None = None

    def __post_init__(self) -> None:
        for name, endings in (("html", (".html", ".htm")), ("gif", (".gif",)), ("mp4", (".mp4",)), ("png", (".png",))):
            option_values.picture(getattr(self, name), f"--{name}", endings)
        option_values.above_zero(self.speed, "--speed")
        option_values.above_zero(self.fps, "--fps")
        looks = {"speed": self.speed, "fps": self.fps, "follow": self.follow, "trace": self.trace or None}
        for name, value in {"camera": self.camera, **looks, "port": self.port}.items():
            of = LOOKS[name]
            if value is not None and not any(getattr(self, option) for option in of):
                listed = ", ".join(f"--{option}" for option in of)
                one = "Give it" if len(of) == 1 else "Give one of them"
                raise KinemorphError(f"--{name} says how to show what {listed} asks for. {one} as well.")
        for wanted, package, module, extra in (
            (self.mp4, "imageio-ffmpeg", "imageio_ffmpeg", "video"),
            (self.view, "viser", "viser", "view"),
        ):
            if wanted and find_spec(module) is None:  # before a long run, not after it
                raise MissingExtraError(package, extra)
        option_values.camera(self.camera)

    @property
    def asked(self) -> list[str]:
        """The options that ask to see something."""
        return [f"--{name}" for name in ("html", "gif", "mp4", "png", "open", "view") if getattr(self, name)]

    def write(
        self, subjects: Mapping[str, Subject], *, q: Any = None, columns: list[str] | None = None, title: str = ""
    ) -> list[Path]:
        """Writes the files, and opens the replay where that is asked for; with --view, the viewer opens instead."""
        made = []
        if self.html is not None or (self.open and not self.view):
            made.append(page := self._replay(subjects, q, columns, title))
            if self.open and not self.view:
                _opened(page, temporary=self.html is None)
        for path in (self.gif, self.mp4):
            if path is not None:
                made.append(self._film(subjects, path))
        if self.png is not None:
            made.append(self._picture(subjects, q))
        return made

    def serve(self, subjects: Mapping[str, Subject], *, q: Any = None, columns: list[str] | None = None) -> Viewer:
        """The live viewer, running."""
        from kinemorph.display.browsers import open_page
        from kinemorph.display.viewer.view import view

        # it says its address on stdout, which is for data
        with told(), working("staging"), contextlib.redirect_stdout(sys.stderr):
            viewer = view(
                _one_or_all(subjects), q=q, columns=columns or None, port=self.port, **self._looks("fps", "trace")
            )
        _say_notes(viewer.scene)
        if self.open and not open_page(viewer.url):
            say("note: no browser with windows is here: open that address in one")
        return viewer

    # ── one by one ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _replay(self, subjects: Mapping[str, Subject], q: Any, columns: list[str] | None, title: str) -> Path:
        from kinemorph.display.replays.replay import replay

        path = self.html
        if path is None:
            path = Path(tempfile.mkdtemp(prefix="kinemorph-")) / f"{identifier(title or next(iter(subjects)))}.html"
        with told(), working("writing the replay"):
            made = replay(_one_or_all(subjects), q=q, columns=columns or None, **self._looks("fps", "trace"))
            made.save(path)
        _say_notes(made.scene)
        return path

    def _film(self, subjects: Mapping[str, Subject], path: Path) -> Path:
        from kinemorph.display.painting.animate import animate

        with told(), working("painting") as tell:
            painted = lambda done, total: tell(f"painting frame {done} of {total}")  # noqa: E731
            subject: Any = _one_or_all(subjects)
            return animate(subject, path, progress=painted, **self._looks("fps", "speed", "trace"))

    def _picture(self, subjects: Mapping[str, Subject], q: Any) -> Path:
        from kinemorph.display.canvas import save
        from kinemorph.display.painting.draw import draw

        (subject,) = subjects.values()
        assert self.png is not None
        with told(), working("drawing"):
            return save(draw(subject, q, **self._looks()), self.png)  # type: ignore[arg-type]

    def _looks(self, *names: str) -> dict[str, Any]:
        """The options on how it looks, as far as they are given: those named, camera and follow."""
        given: dict[str, Any] = {name: getattr(self, name) for name in names}
        given |= {"camera": option_values.camera(self.camera), "follow": self.follow}
        return {name: value for name, value in given.items() if value not in (None, [])}


# what each option on looks is about
LOOKS: dict[str, tuple[str, ...]] = {
    "camera": ("html", "open", "gif", "mp4", "png", "view"),
    "follow": ("html", "open", "gif", "mp4", "view"),
    "trace": ("html", "open", "gif", "mp4", "view"),
    "fps": ("html", "open", "gif", "mp4", "view"),
    "speed": ("gif", "mp4"),
    "port": ("view",),
}


def _one_or_all(subjects: Mapping[str, Subject]) -> Any:
    """The only one by itself, so that it is called as it calls itself; several by name."""
    return next(iter(subjects.values())) if len(subjects) == 1 else dict(subjects)


def _say_notes(scene: Scene) -> None:
    """What a scene could not show."""
    for note in scene.notes:
        say(f"note: {note}")


def _opened(page: Path, *, temporary: bool) -> None:
    """Opens a page in a browser with windows; without one, says where the page is."""
    from kinemorph.display import browsers

    if not browsers.open_page(page.resolve().as_uri()):
        say(f"note: {browsers.advice(page)}")
    elif temporary and browsers.boxed():
        say("note: a browser out of a snap does not see temporary files; if the page is missing, name one by --html")
