"""A replay as a live widget of a notebook: Python moves the picture, and reads what its user has changed.

    shown = replay(robot).widget()
    shown                       # the last line of a cell shows it
    shown.q = [0.3, -0.5]       # moves the robot, in all cells that show it

The scripts are those of replays (`stage.bundle`). They talk to the kernel by the notebook's own connection, so neither
a server nor a port is needed, also where the kernel runs on another computer. Needs the extra [notebook] (anywidget).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.display.looks.postures import posture
from kinemorph.display.replays.packing import packed_bytes
from kinemorph.display.replays.replay import Replay
from kinemorph.display.scenes.scene import LAYERS, Figure
from kinemorph.display.stage.bundle import bundle, style
from kinemorph.errors import MissingExtraError, UnsupportedError

try:
    import anywidget
    import traitlets
except ImportError:
    raise MissingExtraError("anywidget", "notebook") from None

HEIGHT = 480  # height in a cell [px]
SCRIPT = "notebooks/page/widget.js"


class StageWidget(anywidget.AnyWidget):
    """A live picture of robots or runs in a notebook, as `replay(subject).widget()` returns it.

    `time` [s], `playing`, `speed`, `loop`, `layers` {name: whether it is shown} and `height` [px] can be set and read;
    `observe` of ipywidgets calls a function when the user has changed one of them.
    """

    _esm = bundle(SCRIPT) + "\nexport default { render: renderWidget };\n"
    _css = style()
    _scene = traitlets.Bytes().tag(sync=True)
    _coordinates: traitlets.List[Any] = traitlets.List().tag(sync=True)
    layers = traitlets.Dict().tag(sync=True)
    time = traitlets.Float(0.0).tag(sync=True)
    playing = traitlets.Bool(False).tag(sync=True)
    speed = traitlets.Float(1.0).tag(sync=True)
    loop = traitlets.Bool(False).tag(sync=True)
    height = traitlets.Int(HEIGHT).tag(sync=True)

    def __init__(self, shown: Replay, *, height: int = HEIGHT) -> None:
        self.replay = shown
        super().__init__(height=height, **_state(shown))

    def __repr__(self) -> str:
        return f"<StageWidget '{self.replay.scene.title}'>"

    def show(self, shown: Replay) -> None:
        """Shows another replay in place of this one; the camera stays."""
        self.replay = shown
        with self.hold_sync():
            for name, value in _state(shown).items():
                setattr(self, name, value)

    @property
    def q(self) -> Array:
        """The configuration (nq,) of the robot; it can be set where the widget shows one robot without a run."""
        number, _ = self._posed()
        return np.array(self._coordinates[number], dtype=float)

    @q.setter
    def q(self, q: npt.ArrayLike) -> None:
        number, figure = self._posed()
        rows = list(self._coordinates)
        rows[number] = [float(x) for x in posture(figure.robot, q, self.q.tolist())]
        self._coordinates = rows

    def play(self) -> None:
        """Plays the run from the present time, or from its beginning if it is at its end."""
        if self.time >= float(self.replay.scene.times[-1]):
            self.time = float(self.replay.scene.times[0])
        self.playing = True

    def pause(self) -> None:
        """Stops playback."""
        self.playing = False

    def _posed(self) -> tuple[int, Figure]:
        """The only figure without a run, and its number."""
        posed = [(number, figure) for number, figure in enumerate(self.replay.scene.figures) if figure.poseable]
        if len(posed) != 1:
            found = "several robots" if posed else "a run, which has its own motion"
            raise UnsupportedError(f"q exists only for one robot without a run, but the widget shows {found}.")
        return posed[0]


def _state(shown: Replay) -> dict[str, Any]:
    """The traits of a widget that shows a replay."""
    scene = shown.scene
    return {
        "_scene": packed_bytes(scene, shown.camera, set()),
        "_coordinates": [figure.q[0].tolist() if figure.poseable else None for figure in scene.figures],
        "layers": {layer: LAYERS[layer].shown for layer in scene.layers},
        "time": float(scene.times[0]),
        "playing": False,
    }
