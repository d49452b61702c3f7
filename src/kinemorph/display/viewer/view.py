"""A viewer in the browser: a robot with sliders, or runs that play.

    viewer = view(robot)        # prints its address and returns at once
    viewer.q = [0.3, -0.5]
    viewer.stop()

The page is served by this computer and reachable from this computer only, by an address with a random token. The viewer
runs until it is stopped or the program ends; `block=True` or `wait()` keep a script running.
"""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from html import escape
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.display.browsers import open_page
from kinemorph.display.cameras import Camera, CameraChoice
from kinemorph.display.scenes.building import TRACE_COLORS, Subjects, scene_of, traces_of
from kinemorph.display.scenes.pose_interpolation import Glide
from kinemorph.display.scenes.scene import LAYERS, Figure, Layer, Scene
from kinemorph.display.scenes.usual_view import replay_camera
from kinemorph.display.serving.until_stopped import UntilStopped
from kinemorph.display.viewer.clock import Clock
from kinemorph.display.viewer.pages import Pages
from kinemorph.display.viewer.posture import Posture
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.model.robot import Robot
from kinemorph.words import did_you_mean, listed

HEIGHT = 560  # height of the frame in a notebook [px]


def view(
    subject: Subjects,
    *,
    q: npt.ArrayLike | None = None,
    fps: float = 60.0,
    columns: str | Sequence[str] | None = None,
    trace: str | Sequence[str] = (),
    spread: float | None = None,
    title: str | None = None,
    camera: CameraChoice = None,
    follow: str | None = None,
    port: int | None = None,
    block: bool = False,
    open: bool = False,
) -> Viewer:
    """Shows a robot, a system or a run, or several, in the browser; needs the extra [view].

    A robot or system gets a slider for every joint, a run plays. Prints the address of the page and returns at once.

    `q`         the initial configuration (nq,) of a robot, or the name of a start of a system; by default a typical one
    `fps`       frames per second of simulated time; between them the viewer interpolates
    `columns`   names, groups or patterns of a run's columns to be plotted; its energies by default
    `trace`     bodies or frames whose paths are drawn
    `spread`    distance between several figures [m]; 0 draws all of them in one place
    `camera`    "front", "back", "left", "right", "top", "iso", or (elevation, azimuth) [deg]
    `follow`    a body or frame that the camera follows
    `port`      the port of the page on this computer; by default the next free one from 8080 on
    `block`     whether to wait until Ctrl-C is pressed
    `open`      whether to open the page in the browser
    """
    scene = scene_of(subject, q=q, fps=fps, columns=columns, trace=trace, spread=spread, title=title, z_up=True)
    viewer = Viewer(scene, replay_camera(scene, camera, follow), port=port)
    print(f"viewer at {viewer.url}", flush=True)
    if open and not open_page(viewer.url):
        print("No graphical browser was found. Open that address in a browser on this computer.", flush=True)
    if block:
        viewer.wait()
    return viewer


class Viewer(UntilStopped):
    """A running viewer, as `view` returns it: sets the robot's configuration or plays a run, and shows layers."""

    def __init__(self, scene: Scene, camera: Camera, *, port: int | None = None) -> None:
        self.scene = scene
        self._lock = threading.RLock()
        self._stopped = threading.Event()
        self._message = ""
        self._revisions = {"q": 0, "clock": 0, "layers": 0}  # how often each of them was changed, by whomever
        self._clock = Clock(float(scene.times[0]), float(scene.times[-1]))
        shown: dict[Layer, bool] = {layer: LAYERS[layer].shown for layer in scene.layers}
        self._layers = shown | {"traces": True}
        self._glides = [Glide(figure) for figure in scene.figures]
        self._postures = {
            number: Posture(figure, self._say) for number, figure in enumerate(scene.figures) if figure.poseable
        }
        self._pages = Pages(scene, camera, port, self._state, self._change)
        self._server = self._pages.server
        self.port: int = self._server.port
        atexit.register(self._end_with_program)

    # ── the page ──────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def url(self) -> str:
        """The address of the page, with the token that lets a browser in."""
        return self._server.url

    @property
    def running(self) -> bool:
        """Whether the viewer is still running."""
        return not self._stopped.is_set()

    def stop(self) -> None:
        """Stops the viewer, ends its threads and frees its port. It may be called more than once."""
        if self._stopped.is_set():
            return
        self._stopped.set()
        atexit.unregister(self._end_with_program)
        self._clock.pause()
        self._server.stop()

    def _end_with_program(self) -> None:
        """Stops the viewer at the end of the program, with a warning if no page was ever opened."""
        if self.running and not self._pages.visited:
            print(
                f"the program ends, and with it the viewer at {self._server.origin}, whose page was never opened. "
                "Pass block=True to keep it running.",
                file=sys.stderr,
            )
        self.stop()

    def _check_running(self) -> None:
        if not self.running:
            raise UnsupportedError(f"the viewer of '{self.scene.title}' was stopped. Start another one with view(...).")

    def __repr__(self) -> str:
        return f"<Viewer '{self.scene.title}' at {self._server.origin}{'' if self.running else ', stopped'}>"

    def _repr_html_(self) -> str:
        if not self.running:
            return f"<p>viewer of {escape(self.scene.title)}, stopped</p>"
        return (
            f'<iframe src="{self._server.frame_url}" title="{escape(self.scene.title)}" width="100%" height="{HEIGHT}" '
            'style="border:1px solid #d5d9df;border-radius:6px"></iframe>'
        )

    # ── what pages show, and what their users change ──────────────────────────────────────────────────────────────

    def _state(self) -> dict[str, Any]:
        with self._lock:
            clock = self._clock
            return {
                "q": [
                    self._postures[number].q.tolist() if number in self._postures else None
                    for number in range(len(self.scene.figures))
                ],
                "clock": {"time": clock.now, "playing": clock.playing, "speed": clock.speed, "loop": clock.loop},
                "layers": dict(self._layers),
                "message": self._message,
                "revisions": dict(self._revisions),
            }

    def _change(self, args: dict[str, Any]) -> dict[str, Any]:
        """Takes over what a user has changed on a page; a message about an earlier request disappears.

        `args["known"]` are the revisions of what the page shows. What was changed since then, by the program or on
        another page, stays, and that part of the report is dropped: its page gets the newer state, or has it already.
        Returns the new revisions of what was taken over.
        """
        self._check_running()
        take = {"q": self._take_configurations, "layers": self._take_layers, "clock": self._take_clock}
        with self._lock:
            known = self._revisions if args.get("known") is None else _table(args["known"])
            taken = [name for name in take if name in args and known.get(name) == self._revisions[name]]
            if taken:
                self._message = ""
            for name in taken:
                take[name](args[name])
                self._revisions[name] += 1
            return {"revisions": {name: self._revisions[name] for name in taken}}

    def _take_configurations(self, rows: Any) -> None:
        for number, q in enumerate(_rows(rows, len(self.scene.figures))):
            if q is not None and number in self._postures:
                self._postures[number].set(q)

    def _take_layers(self, layers: Any) -> None:
        for name, on in _table(layers).items():
            self._set_layer(name, bool(on))

    def _take_clock(self, wishes: Any) -> None:
        clock, wished = self._clock, _table(wishes)
        if "speed" in wished:
            clock.speed = _checked_speed(wished["speed"])
        if "loop" in wished:
            clock.loop = bool(wished["loop"])
        if "time" in wished:
            clock.set(_checked_time(wished["time"]))
        if "playing" in wished:
            clock.play() if wished["playing"] else clock.pause()

    @contextmanager
    def _setting(self, name: str) -> Iterator[None]:
        """A context in which the program sets "q", the "clock" or "layers"; afterwards all pages show it."""
        with self._lock:
            yield
            self._revisions[name] += 1
        self._pages.tell()

    def _say(self, sentence: str) -> None:
        self._message = sentence

    # ── configuration of a robot ──────────────────────────────────────────────────────────────────────────────────

    @property
    def q(self) -> Array:
        """The configuration (nq,) of the robot; it can be set where the viewer shows one robot without a run."""
        return np.array(self._posture().q)

    @q.setter
    def q(self, q: npt.ArrayLike) -> None:
        self._check_running()
        with self._setting("q"):
            self._message = ""
            self._posture().set(q)

    def set_joint(self, name: str, value: float) -> None:
        """Moves the slider `name` to a value [rad] or [m]: coupled joints follow, loops are closed again."""
        self._check_running()
        posture = self._posture()
        rows = {slider.name: number for number, slider in enumerate(posture.sliders)}
        if name not in rows:
            raise UnsupportedError(
                f"there is no slider '{name}'; expected one of: {listed(rows)}." + did_you_mean(name, rows)
            )
        if not _is_finite(value):
            raise ShapeError(f"the value of '{name}' is {value!r}; expected a finite number [rad] or [m].")
        with self._setting("q"):
            self._message = ""
            posture.turn(rows[name], float(value))

    def _posture(self) -> Posture:
        if len(self._postures) != 1:
            found = "several robots" if self._postures else "a run, which has its own motion"
            raise UnsupportedError(
                f"q and the sliders exist only for one robot without a run, but the viewer shows {found}. Open "
                "another viewer with one robot alone."
            )
        (posture,) = self._postures.values()
        return posture

    # ── playback of a run ─────────────────────────────────────────────────────────────────────────────────────────

    @property
    def time(self) -> float:
        """The time of the run that is shown [s]; it can be set."""
        return self._clock.now

    @time.setter
    def time(self, t: float) -> None:
        self._check_running()
        with self._setting("clock"):
            self._clock.set(_checked_time(t))

    @property
    def playing(self) -> bool:
        """Whether a run is being played."""
        return self._clock.playing

    def play(self) -> None:
        """Continues playback; at the end of the run it starts again."""
        self._check_running()
        with self._setting("clock"):
            self._clock.play()

    def pause(self) -> None:
        """Pauses playback."""
        with self._setting("clock"):
            self._clock.pause()

    @property
    def speed(self) -> float:
        """Simulated time over real time during playback; negative speeds play backward. It can be set."""
        return self._clock.speed

    @speed.setter
    def speed(self, speed: float) -> None:
        self._check_running()
        with self._setting("clock"):
            self._clock.speed = _checked_speed(speed)

    @property
    def loop(self) -> bool:
        """Whether playback repeats. It can be set."""
        return self._clock.loop

    @loop.setter
    def loop(self, on: bool) -> None:
        with self._setting("clock"):
            self._clock.loop = bool(on)

    # ── poses, layers, traces ─────────────────────────────────────────────────────────────────────────────────────

    def pose(self, figure: str | int = 0, body: str | int = 0) -> tuple[Array, Array]:
        """(position (3,) [m], unit quaternion (4,) wxyz) of a body in its robot's own world, as sent to the page.

        `figure` is the robot and `body` the body, each by its name or index. Where the viewer shows several robots side
        by side, the distance by which it moves each of them aside is not included.
        """
        at = self._figure(figure)
        names = self.scene.figures[at].bodies
        if isinstance(body, str) and body not in names:
            raise UnsupportedError(
                f"there is no body '{body}'; expected one of: {listed(names)}.{did_you_mean(body, names)}"
            )
        number = names.index(body) if isinstance(body, str) else body
        with self._lock:
            if at in self._postures:
                positions, quaternions = self._postures[at].positions, self._postures[at].quaternions
            else:
                positions, quaternions = self._glides[at].at(*self._moment(self._clock.now))
            return positions[number].copy(), quaternions[number].copy()

    @property
    def layers(self) -> dict[Layer, bool]:
        """The layers of the scene, {name: whether it is shown}."""
        return dict(self._layers)

    def show(self, *layers: Layer) -> None:
        """Shows the named layers."""
        self._check_running()
        with self._setting("layers"):
            for layer in layers:
                self._set_layer(layer, True)

    def hide(self, *layers: Layer) -> None:
        """Hides the named layers."""
        self._check_running()
        with self._setting("layers"):
            for layer in layers:
                self._set_layer(layer, False)

    def _set_layer(self, name: str, on: bool) -> None:
        for layer in self._layers:
            if layer == name:
                self._layers[layer] = on
                return
        raise UnsupportedError(
            f"there is no layer '{name}' in this scene; expected one of: {listed(self._layers)}."
            + did_you_mean(name, self._layers)
        )

    def trace(self, name: str) -> None:
        """Draws the path of a body or a frame: of a run, or as a posed robot is moved from now on."""
        self._check_running()
        known = list(dict.fromkeys(point for figure in self.scene.figures for point in _points(figure.robot)))
        if name not in known:
            raise UnsupportedError(
                f"there is no body or frame '{name}' to trace; expected one of: {listed(known)}."
                + did_you_mean(name, known)
            )
        with self._lock:
            self.scene = replace(self.scene, figures=tuple(_traced(figure, name) for figure in self.scene.figures))
        self._pages.show(self.scene)

    @property
    def message(self) -> str:
        """The message on the page about the last request, where it could not be met; empty otherwise."""
        return self._message

    def _figure(self, figure: str | int) -> int:
        names = [one.name for one in self.scene.figures]
        if isinstance(figure, str) and figure not in names:
            raise UnsupportedError(
                f"there is no figure '{figure}'; expected one of: {listed(names)}.{did_you_mean(figure, names)}"
            )
        return names.index(figure) if isinstance(figure, str) else range(len(names))[figure]

    def _moment(self, t: float) -> tuple[int, float]:
        """(index of the scene's time at or before t [s], fraction of the time to the next one, from 0 to 1)."""
        times = self.scene.times
        if len(times) == 1:
            return 0, 0.0
        frame = int(np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2))
        return frame, float(np.clip((t - times[frame]) / (times[frame + 1] - times[frame]), 0.0, 1.0))


def _traced(figure: Figure, name: str) -> Figure:
    """The figure with the path of a body or frame, if its robot has it."""
    if name not in _points(figure.robot):
        return figure
    (trace,) = traces_of(figure.robot, [name])
    color = TRACE_COLORS[len(figure.traces) % len(TRACE_COLORS)]
    return replace(figure, traces=(*figure.traces, replace(trace, color=color)))


def _points(robot: Robot) -> list[str]:
    """The names of all frames and bodies, whose paths can be drawn."""
    return [*(frame.name for frame in robot.frames), *robot.body_names]


def _rows(value: Any, count: int) -> list[Any]:
    """Configurations of figures as a page sends them: a list with an entry for each figure."""
    if value is None:
        return []
    if not isinstance(value, list) or len(value) != count:
        raise ShapeError(f"q: the page sent {str(value)[:80]}; expected a list of {count} configurations.")
    return value


def _table(value: Any) -> dict[str, Any]:
    """A table as a page sends it."""
    if value is not None and not isinstance(value, dict):
        raise ShapeError(f"the page sent {str(value)[:80]}; expected names with values.")
    return value or {}


def _checked_time(t: Any) -> float:
    if not _is_finite(t):
        raise ShapeError(f"time is {t!r}; expected a finite number of seconds.")
    return float(t)


def _checked_speed(speed: Any) -> float:
    if not _is_finite(speed) or speed == 0.0:
        raise ShapeError(f"speed is {speed!r}; expected a finite number other than 0, where 1 is real time.")
    return float(speed)


def _is_finite(value: Any) -> bool:
    """Whether a value is a finite real number."""
    return isinstance(value, Real) and bool(np.isfinite(float(value)))
