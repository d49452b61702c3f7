"""Options for replays, films, pictures and the live viewer. They are checked before any work is done.

They are the same for all verbs: --html, --gif, --mp4, --van, --png, --open and --view say what to make; --camera,
--follow, --trace, --speed and --fps say how it looks. An option that would have no effect is an error.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from kinemorph.cli.application import flag, option, reported_warnings, say, working
from kinemorph.cli.options import option_values
from kinemorph.codegen.backends.identifiers import identifier
from kinemorph.errors import KinemorphError, MissingExtraError
from kinemorph.words import listed

if TYPE_CHECKING:
    from kinemorph.display.scenes.building import Subject
    from kinemorph.display.scenes.scene import Scene
    from kinemorph.display.viewer.view import Viewer


@dataclass(frozen=True, kw_only=True)
class SceneOptions:
    """Which 3-D replays, films and pictures to make of models or runs, and how they look."""

    html: Annotated[Path | None, option("Write a replay: one .html file that any browser plays.", "PATH")] = None
    open: Annotated[bool, flag("--open", "Open the replay in the browser.")] = False
    gif: Annotated[Path | None, option("Write an animation: .gif.", "PATH")] = None
    mp4: Annotated[Path | None, option("Write a video: .mp4; needs the extra 'video'.", "PATH")] = None
    van: Annotated[
        Path | None, option("Write the frames for EasyDyn's viewer EasyAnim: .van, with the shapes as .vol.", "PATH")
    ] = None
    van_meshes: Annotated[
        bool,
        flag("--van-meshes", "Write all corners of shapes to --van, not boxes: often 20 times as large."),
    ] = False
    png: Annotated[Path | None, option("Write a picture of a model: .png.", "PATH")] = None
    view: Annotated[bool, flag("--view", "Serve the live viewer until Ctrl-C; needs the extra 'view'.")] = False
    port: Annotated[int | None, option("Port of the viewer.", default="a free one", min=1, max=65535)] = None
    camera: Annotated[
        str | None, option("front, back, left, right, top, iso, or elevation,azimuth in degrees.", "PLACE")
    ] = None
    follow: Annotated[str | None, option("Keep this body in the middle of the picture.", "BODY")] = None
    trace: Annotated[list[str] | None, option("Draw the path of this body or frame. May be repeated.", "NAME")] = None
    speed: Annotated[
        float | None, option("Playback speed of --gif and --mp4; 0.1 is ten times slower than real time.", default="1")
    ] = None
    fps: Annotated[float | None, option("Pictures per second.", default="60; 30 for --gif and --mp4")] = None

    def __post_init__(self) -> None:
        endings_of = {"html": (".html", ".htm"), "gif": (".gif",), "mp4": (".mp4",), "van": (".van",), "png": (".png",)}
        for name, endings in endings_of.items():
            option_values.picture(getattr(self, name), f"--{name}", endings)
        option_values.above_zero(self.speed, "--speed")
        option_values.above_zero(self.fps, "--fps")
        looks = {"speed": self.speed, "fps": self.fps, "follow": self.follow, "trace": self.trace}
        looks["van-meshes"] = self.van_meshes or None
        for name, value in {"camera": self.camera, **looks, "port": self.port}.items():
            of = LOOKS[name]
            if value is not None and not any(getattr(self, option) for option in of):
                outputs = listed(f"--{option}" for option in of)
                one = f"Give {outputs}" if len(of) == 1 else "Give one of these options"
                raise KinemorphError(
                    f"--{name} changes only the output of {outputs}, which is not given. {one} as well."
                )
        for wanted, package, module, extra in (
            (self.mp4, "imageio-ffmpeg", "imageio_ffmpeg", "video"),
            (self.view, "starlette", "starlette", "view"),
        ):
            if wanted and find_spec(module) is None:  # before a long run, not after it
                raise MissingExtraError(package, extra)
        option_values.camera(self.camera)

    @property
    def asked(self) -> list[str]:
        """The names of the options given that ask for an output, such as --html."""
        return [f"--{name}" for name in ("html", "gif", "mp4", "van", "png", "open", "view") if getattr(self, name)]

    def write(
        self, subjects: Mapping[str, Subject], *, q: Any = None, columns: list[str] | None = None, title: str = ""
    ) -> list[Path]:
        """Writes the files that the options ask for (--html, --gif, --mp4, --van, --png) and returns their paths.

        --open opens the replay in the browser; with --view, the method `serve` opens the live viewer there instead.

        `subjects` are models or runs by name; `q` (nq,) is the configuration of a model; `columns` of a run are plotted
        below its replay.
        """
        made = []
        if self.html is not None or (self.open and not self.view):
            made.append(page := self._replay(subjects, q, columns, title))
            if self.open and not self.view:
                _opened(page, temporary=self.html is None)
        for path in (self.gif, self.mp4, self.van):
            if path is not None:
                made.append(self._film(subjects, path))
        if self.png is not None:
            made.append(self._picture(subjects, q))
        return made

    def serve(self, subjects: Mapping[str, Subject], *, q: Any = None, columns: list[str] | None = None) -> Viewer:
        """Starts the live viewer of these models or runs, and opens it in the browser if --open is given."""
        from kinemorph.display.browsers import open_page
        from kinemorph.display.viewer.view import view

        # the viewer prints its address to stdout, which is for data
        with reported_warnings(), working("building the scene"), contextlib.redirect_stdout(sys.stderr):
            viewer = view(
                _one_or_all(subjects), q=q, columns=columns or None, port=self.port, **self._looks("fps", "trace")
            )
        _say_notes(viewer.scene)
        if self.open and not open_page(viewer.url):
            say("note: no graphical browser was found; open this address in one")
        return viewer

    # ── one function per kind of output ───────────────────────────────────────────────────────────────────────────────

    def _replay(self, subjects: Mapping[str, Subject], q: Any, columns: list[str] | None, title: str) -> Path:
        """Writes the replay to the path of --html, or to a temporary folder, and returns its path."""
        from kinemorph.display.replays.replay import replay

        path = self.html
        if path is None:
            path = Path(tempfile.mkdtemp(prefix="kinemorph-")) / f"{identifier(title or next(iter(subjects)))}.html"
        with reported_warnings(), working("writing the replay"):
            made = replay(_one_or_all(subjects), q=q, columns=columns or None, **self._looks("fps", "trace"))
            made.save(path)
        _say_notes(made.scene)
        return path

    def _film(self, subjects: Mapping[str, Subject], path: Path) -> Path:
        """Writes the animation or video `path` and returns its path."""
        from kinemorph.display.painting.animate import animate

        with reported_warnings(), working("painting") as tell:
            painted = lambda done, total: tell(f"painting frame {done} of {total}")  # noqa: E731
            subject: Any = _one_or_all(subjects)
            looks = self._looks("fps", "speed", "trace")
            if path == self.van:  # the viewer has a camera of its own
                looks = {name: looks[name] for name in ("fps", "speed") if name in looks}
                looks["meshes"] = self.van_meshes
            made = animate(subject, path, progress=painted, **looks)
        if self.van_meshes and path == self.van:
            say(f"note: {made} takes {made.stat().st_size / 1e6:.1f} MB; without --van-meshes, boxes take far less")
        return made

    def _picture(self, subjects: Mapping[str, Subject], q: Any) -> Path:
        """Writes the picture of --png and returns its path."""
        from kinemorph.display.canvas import save
        from kinemorph.display.painting.draw import draw

        (subject,) = subjects.values()
        assert self.png is not None
        with reported_warnings(), working("drawing"):
            return save(draw(subject, q, **self._looks()), self.png)  # type: ignore[arg-type]

    def _looks(self, *names: str) -> dict[str, Any]:
        """Keyword arguments for the looks of an output: camera, follow, and the options `names`, where given."""
        given: dict[str, Any] = {name: getattr(self, name) for name in names}
        given |= {"camera": option_values.camera(self.camera), "follow": self.follow}
        return {name: value for name, value in given.items() if value not in (None, [])}


# for each option that changes the looks: the outputs that it applies to
LOOKS: dict[str, tuple[str, ...]] = {
    "camera": ("html", "open", "gif", "mp4", "png", "view"),
    "follow": ("html", "open", "gif", "mp4", "view"),
    "trace": ("html", "open", "gif", "mp4", "view"),
    "fps": ("html", "open", "gif", "mp4", "van", "view"),
    "speed": ("gif", "mp4", "van"),
    "van-meshes": ("van",),
    "port": ("view",),
}


def _one_or_all(subjects: Mapping[str, Subject]) -> Any:
    """The only model or run, which then keeps its own name; a dictionary by name if there are several."""
    return next(iter(subjects.values())) if len(subjects) == 1 else dict(subjects)


def _say_notes(scene: Scene) -> None:
    """Prints the notes of a scene, which name what it could not show."""
    for note in scene.notes:
        say(f"note: {note}")


def _opened(page: Path, *, temporary: bool) -> None:
    """Opens a page in a graphical browser; if there is none, prints where the page is. `temporary`: the page lies in
    a temporary folder.
    """
    from kinemorph.display import browsers

    if not browsers.open_page(page.resolve().as_uri()):
        say(f"note: {browsers.advice(page)}")
    elif temporary and browsers.boxed():
        say(
            "note: a browser that is installed as a snap cannot read temporary files; if the page is not shown, name a "
            "file with --html"
        )
