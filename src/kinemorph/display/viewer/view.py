"""A viewer in the browser: a robot with sliders, or runs that play.

    viewer = view(robot)        # prints its address and returns at once
    viewer.q = [0.3, -0.5]
    viewer.stop()

The page is served by this computer and reachable from this computer only. The viewer runs until it is stopped or the
program ends; `block=True` or `wait()` keep a script running.
"""

from __future__ import annotations

import atexit
import sys
import threading
import time
from collections.abc import Callable, Sequence
from html import escape, unescape
from numbers import Real
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.display.browsers import open_page
from kinemorph.display.cameras import CameraChoice, camera_of
from kinemorph.display.scenes.building import Subjects, scene_of
from kinemorph.display.scenes.scene import Layer, Scene
from kinemorph.display.scenes.usual_view import followed_body
from kinemorph.display.viewer import server as serving
from kinemorph.display.viewer.clock import Clock
from kinemorph.display.viewer.ground_and_light import furnish
from kinemorph.display.viewer.layers_panel import Showing, plain
from kinemorph.display.viewer.nodes import Actor, actors_of
from kinemorph.display.viewer.robot_panel import Posture
from kinemorph.display.viewer.run_panel import Player
from kinemorph.errors import KinemorphError, ShapeError, UnsupportedError
from kinemorph.words import did_you_mean, listed

PANEL = 350  # width of the controls [px]
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

    `q`         the initial configuration (nq,) of a robot; by default a typical one
    `fps`       frames per second of simulated time; between them the viewer interpolates
    `columns`   names, groups or patterns of a run's columns to be shown as numbers and curves; its energies by default
    `trace`     bodies or frames whose paths are drawn; more can be added on the page
    `spread`    distance between several figures [m]; 0 draws all of them in one place
    `camera`    "front", "back", "left", "right", "top", "iso", or (elevation, azimuth) [deg]
    `follow`    a body or frame that the camera follows
    `port`      the port of the page on this computer; by default the next free one from 8080 on
    `block`     whether to wait until Ctrl-C is pressed
    `open`      whether to open the page in the browser
    """
    scene = scene_of(subject, q=q, fps=fps, columns=columns, trace=trace, spread=spread, title=title)
    seen = camera_of(camera, follow or followed_body(scene), *(figure.robot for figure in scene.figures))
    viewer = Viewer(scene, port=port, place=(seen.elevation, seen.azimuth), follow=seen.follow)
    print(f"viewer at {viewer.url}", flush=True)
    if open and not open_page(viewer.url):
        print("No graphical browser was found. Open that address in a browser on this computer.", flush=True)
    if block:
        viewer.wait()
    return viewer


class Viewer:
    """A running viewer, as `view` returns it: sets the robot's configuration or plays a run, and shows layers."""

    def __init__(self, scene: Scene, *, port: int | None, place: tuple[float, float], follow: str | None) -> None:
        self.scene = scene
        self._lock = threading.RLock()
        self._stopped = threading.Event()
        self._server = serving.start(port, scene.title)
        self.port: int = self._server.get_port()
        try:
            self._build(place, follow)
        except BaseException:
            self.stop()
            raise
        self._visited = False
        self._server.on_client_connect(self._visit)
        atexit.register(self._end_with_program)

    def _build(self, place: tuple[float, float], follow: str | None) -> None:
        server, scene = self._server, self.scene
        self._clock = Clock(float(scene.times[0]), float(scene.times[-1]), self._show, self._ended, self._failed)
        self._follow = follow
        self._welcomed: set[int] = set()  # ids of the pages whose cameras have been placed
        gui = server.gui
        gui.main_panel.dock_right()
        gui.main_panel.set_width(PANEL)
        with server.atomic():
            grid, self._away = furnish(server, scene, self._seen(), place)
            self._line = gui.add_markdown("", visible=False)
            self._actors = actors_of(server, scene)
            self._showing = Showing(scene, self._actors, grid)
            self._player = Player(scene, self._clock, self._show) if len(scene.times) > 1 else None
            self._postures = [Posture(actor, self._say) for actor in self._actors if actor.figure.poseable]
            tabs = gui.add_tab_group()
            if self._player is not None:
                with tabs.add_tab("Run"):
                    self._player.build(gui, self._guarded)
            for posture in self._postures:
                with tabs.add_tab("Pose" if len(self._postures) == 1 else posture.name):
                    posture.build(gui, self._guarded)
            with tabs.add_tab("Show"):
                self._showing.build(gui, self._guarded)
            self._showing.build_notes(gui)
            self._name_figures()
            for posture in self._postures:
                posture.set(posture.q)
            for actor in self._actors:  # a run of one sample has no player, so its figure is placed here
                if self._player is None and not actor.figure.poseable:
                    actor.move(actor.figure.positions[0], actor.figure.quaternions[0])
            self._show()
        if follow is not None:
            server.on_client_connect(self._welcome)

    def _seen(self) -> Array:
        """The box (2, 3) [m] that the camera shows initially: around all figures, or around the followed body."""
        for figure in self.scene.figures:
            if self._follow in figure.bodies:
                middle = figure.positions[0, figure.bodies.index(self._follow)] + figure.offset
                reach = 0.36 * figure.size
                return np.stack([middle - reach, middle + reach])
        return self.scene.box

    def _name_figures(self) -> None:
        """Adds the names of several figures above them."""
        if len(self._actors) < 2:
            return
        top = float(self.scene.box[1, 2])
        for actor in self._actors:
            x, y, _ = actor.figure.offset + actor.figure.positions.mean(axis=(0, 1))
            at = (float(x), float(y), top + 0.04 * actor.figure.size)
            name = f"/name of {actor.figure.name.replace('/', '|')}"
            self._server.scene.add_label(name, actor.figure.name, position=at, anchor="bottom-center")

    # ── the page ──────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{serving.HOST}:{self.port}"

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
        if hasattr(self, "_clock"):
            self._clock.close()
        serving.stop(self._server)

    def _visit(self, client: Any) -> None:
        self._visited = True

    def _end_with_program(self) -> None:
        """Stops the viewer at the end of the program, with a warning if no page was ever opened."""
        if self.running and not self._visited:
            print(
                f"the program ends, and with it the viewer at {self.url}, whose page was never opened. "
                "Pass block=True to keep it running.",
                file=sys.stderr,
            )
        self.stop()

    def _check_running(self) -> None:
        if not self.running:
            raise UnsupportedError(f"the viewer of '{self.scene.title}' was stopped. Start another one with view(...).")

    def wait(self) -> None:
        """Waits until the viewer is stopped, by Ctrl-C here or by `stop` in another thread."""
        try:
            while not self._stopped.is_set():  # takes no lock: Ctrl-C could leave it locked forever
                time.sleep(0.1)
        except KeyboardInterrupt:
            self.stop()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Viewer '{self.scene.title}' at {self.url}{'' if self.running else ', stopped'}>"

    def _repr_html_(self) -> str:
        if not self.running:
            return f"<p>viewer of {escape(self.scene.title)}, stopped</p>"
        return (
            f'<iframe src="{self.url}" title="{escape(self.scene.title)}" width="100%" height="{HEIGHT}" '
            'style="border:1px solid #d5d9df;border-radius:6px"></iframe>'
        )

    # ── configuration of a robot ──────────────────────────────────────────────────────────────────────────────────

    @property
    def q(self) -> Array:
        """The configuration (nq,) of the robot; it can be set where the viewer shows one robot without a run."""
        return np.array(self._posture().q)

    @q.setter
    def q(self, q: npt.ArrayLike) -> None:
        self._check_running()
        with self._lock, self._server.atomic():
            self._posture().set(q)
            self._keep_in_sight()

    def set_joint(self, name: str, value: float) -> None:
        """Moves the slider `name` to a value [rad] or [m]: coupled joints follow, loops are closed again."""
        self._check_running()
        posture = self._posture()
        rows = {knob.label: number for number, knob in enumerate(posture.knobs)}
        if name not in rows:
            raise UnsupportedError(
                f"there is no slider '{name}'; expected one of: {listed(rows)}." + did_you_mean(name, rows)
            )
        knob = posture.knobs[rows[name]]
        shown = float(np.degrees(value)) if knob.unit == "deg" else float(value)
        with self._lock, self._server.atomic():
            posture.turn(rows[name], shown)
            self._keep_in_sight()

    def _posture(self) -> Posture:
        if len(self._postures) != 1:
            found = "several robots" if self._postures else "a run, which has its own motion"
            raise UnsupportedError(
                f"q and the sliders exist only for one robot without a run, but the viewer shows {found}. Open "
                "another viewer with one robot alone."
            )
        return self._postures[0]

    # ── playback of a run ─────────────────────────────────────────────────────────────────────────────────────────

    @property
    def time(self) -> float:
        """The time of the run that is shown [s]; it can be set."""
        return self._clock.now

    @time.setter
    def time(self, t: float) -> None:
        self._check_running()
        if not _is_finite(t):
            raise ShapeError(f"time is {t!r}; expected a finite number of seconds.")
        self._clock.set(float(t))
        self._show()
        self._tell()

    @property
    def playing(self) -> bool:
        """Whether a run is being played."""
        return self._clock.playing

    def play(self) -> None:
        """Continues playback; at the end of the run it starts again."""
        self._check_running()
        self._clock.play()
        self._tell()

    def pause(self) -> None:
        """Pauses playback."""
        self._clock.pause()
        self._tell()

    @property
    def speed(self) -> float:
        """Simulated time over real time during playback; negative speeds play backward. It can be set."""
        return self._clock.speed

    @speed.setter
    def speed(self, speed: float) -> None:
        self._check_running()
        if not _is_finite(speed) or speed == 0.0:
            raise ShapeError(f"speed is {speed!r}; expected a finite number other than 0, where 1 is real time.")
        self._clock.speed = float(speed)
        if self._player is not None:
            self._player.set_speed(float(speed))

    @property
    def loop(self) -> bool:
        """Whether playback repeats. It can be set."""
        return self._clock.round

    @loop.setter
    def loop(self, on: bool) -> None:
        self._clock.round = bool(on)
        if self._player is not None:
            self._player.tell_loop()

    # ── poses, layers, traces ─────────────────────────────────────────────────────────────────────────────────────

    def pose(self, figure: str | int = 0, body: str | int = 0) -> tuple[Array, Array]:
        """(position (3,) [m], unit quaternion (4,) wxyz) of a body in its robot's own world, as sent to the page.

        `figure` is the robot and `body` the body, each by its name or index. Where the viewer shows several robots side
        by side, the distance by which it moves each of them aside is not included.
        """
        actor = self._actor(figure)
        names = actor.figure.bodies
        if isinstance(body, str) and body not in names:
            raise UnsupportedError(
                f"there is no body '{body}'; expected one of: {listed(names)}.{did_you_mean(body, names)}"
            )
        number = names.index(body) if isinstance(body, str) else body
        with self._lock:
            return actor.positions[number].copy(), actor.quaternions[number].copy()

    @property
    def layers(self) -> dict[Layer, bool]:
        """The layers of the scene, {name: whether it is shown}."""
        return dict(self._showing.layers)

    def show(self, *layers: Layer) -> None:
        """Shows the named layers."""
        self._check_running()
        for layer in layers:
            with self._lock, self._server.atomic():
                self._showing.set(layer, True)

    def hide(self, *layers: Layer) -> None:
        """Hides the named layers."""
        self._check_running()
        for layer in layers:
            with self._lock, self._server.atomic():
                self._showing.set(layer, False)

    def trace(self, name: str) -> None:
        """Draws the path of a body or a frame."""
        self._check_running()
        with self._lock, self._server.atomic():
            self._showing.add_trace(name)

    @property
    def message(self) -> str:
        """The message at the top of the panel about a failed request; empty where there is none."""
        return unescape(str(self._line.content))

    def _actor(self, figure: str | int) -> Actor:
        names = [actor.figure.name for actor in self._actors]
        if isinstance(figure, str) and figure not in names:
            raise UnsupportedError(
                f"there is no figure '{figure}'; expected one of: {listed(names)}.{did_you_mean(figure, names)}"
            )
        return self._actors[names.index(figure) if isinstance(figure, str) else figure]

    # ── sending one time ──────────────────────────────────────────────────────────────────────────────────────────

    def _show(self) -> None:
        """Sends the scene at the time of the clock to the page, as one change."""
        if self._player is None or self._stopped.is_set():
            return
        with self._lock, self._server.atomic():
            frame, part = self._moment(self._clock.now)
            for actor in self._actors:
                actor.move(*actor.glide.at(frame, part), frame, part)
            self._keep_in_sight()
            self._player.tell(seldom=self._clock.playing)

    def _moment(self, t: float) -> tuple[int, float]:
        """(index of the scene's time at or before t [s], fraction of the time to the next one, from 0 to 1)."""
        times = self.scene.times
        frame = int(np.clip(np.searchsorted(times, t, side="right") - 1, 0, max(len(times) - 2, 0)))
        return frame, float(np.clip((t - times[frame]) / (times[frame + 1] - times[frame]), 0.0, 1.0))

    def _keep_in_sight(self) -> None:
        """Moves the cameras of all pages with the followed body; each keeps the direction that its user chose."""
        if self._follow is not None:
            for client in self._server.get_clients().values():
                away = (
                    client.camera.position - client.camera.look_at if client.client_id in self._welcomed else self._away
                )
                self._look(client, away)

    def _welcome(self, client: Any) -> None:
        """Places the camera of a page that has just connected."""
        with self._lock:
            self._look(client, self._away)
            self._welcomed.add(client.client_id)

    def _look(self, client: Any, away: Array) -> None:
        for actor in self._actors:
            if self._follow in actor.figure.bodies:
                middle = actor.positions[actor.figure.bodies.index(self._follow)] + actor.figure.offset
                with client.atomic():
                    client.camera.position = middle + away
                    client.camera.look_at = middle
                return

    def _tell(self) -> None:
        if self._player is not None:
            with self._lock:
                self._player.tell()

    def _ended(self) -> None:
        self._tell()

    # ── messages and errors ───────────────────────────────────────────────────────────────────────────────────────

    def _say(self, sentence: str) -> None:
        """Shows a message at the top of the panel; an empty text removes it."""
        self._line.content = plain(sentence)
        self._line.visible = bool(sentence)

    def _guarded(self, action: Callable[[Any], None]) -> Callable[[Any], None]:
        """An event handler for the page that runs `action` under a lock, sends its changes together, and shows its
        errors on the page.
        """

        def guarded(event: Any) -> None:
            if self._stopped.is_set():
                return
            try:
                with self._lock, self._server.atomic():
                    if event.client is not None:
                        self._say("")
                    action(event)
            except Exception as error:
                self._failed(error)

        return guarded

    def _failed(self, error: BaseException) -> None:
        """Shows an error of an event handler or of the clock on the page; unexpected ones also on stderr."""
        if self._stopped.is_set():
            return
        self._say(str(error) if isinstance(error, KinemorphError) else f"{type(error).__name__}: {error}")
        if not isinstance(error, KinemorphError):
            sys.excepthook(type(error), error, error.__traceback__)


def _is_finite(value: Any) -> bool:
    """Whether a value is a finite real number."""
    return isinstance(value, Real) and bool(np.isfinite(float(value)))
