"""A replay inside a notebook: the page in an HTML frame, with fewer frames of the run where the page would be large.

The output of a notebook is stored in its file and sent to the browser whenever it is opened. So a page above MOST_BYTES
gets only every second or third frame of the run; the page interpolates between them. A page that is still too large,
because of its meshes, is left out: a sentence says how to see it.
"""

from __future__ import annotations

import html
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.html import FONT, note
from kinemorph.display.looks.quaternions import without_jumps
from kinemorph.display.scenes.scene import Figure, Scene

if TYPE_CHECKING:
    from kinemorph.display.replays.replay import Replay

MOST_BYTES = 8_000_000  # largest page in a notebook
LEAST_FPS = 8.0  # least frames per second; with fewer, interpolation would not show the true motion
TRIES = 3  # attempts to make the page small enough
HEIGHT = 520  # height of the HTML frame [px]


def framed(replay: Replay) -> str:
    """A replay as HTML for a notebook: an HTML frame, and a note where frames of the run are left out."""
    whole, shown = replay.size, fitting(replay)
    if shown is None:
        words = (
            f"This replay has {_megabytes(whole)}, more than the {_megabytes(MOST_BYTES)} that a notebook should hold. "
            "replay.open() opens it in the browser, replay.save('run.html') writes it."
        )
        return f'<div style="{FONT}">{note(words, "doubt")}</div>'
    page, title = html.escape(shown.html), html.escape(shown.scene.title)
    frame = (
        f'<iframe srcdoc="{page}" title="{title}" sandbox="allow-scripts allow-downloads" allowfullscreen="" '
        f'style="width:100%;height:{HEIGHT}px;border:none"></iframe>'
    )
    if shown is replay:
        return frame
    words = (
        f"Shown with {_rate(shown.scene):.3g} frames per second instead of {_rate(replay.scene):.3g}, so that the "
        f"notebook grows by {_megabytes(shown.size)}, not {_megabytes(whole)}. replay.save('run.html') writes all."
    )
    return f'{frame}<div style="{FONT}">{note(words)}</div>'


def fitting(replay: Replay, most: int | None = None) -> Replay | None:
    """The replay, or one with fewer frames, whose page has at most `most` bytes (by default MOST_BYTES).

    None where that would take fewer than LEAST_FPS frames per second.
    """
    most = MOST_BYTES if most is None else most
    every, shown = 1, replay
    for _ in range(TRIES):
        if shown.size <= most:
            return shown
        every = max(every + 1, math.ceil(every * shown.size / most))
        if _rate(replay.scene) / every < LEAST_FPS:
            return None
        shown = replace(replay, scene=thinned(replay.scene, every))
    return shown if shown.size <= most else None


def thinned(scene: Scene, every: int) -> Scene:
    """The scene with only every `every`-th of its times, and the last one."""
    count = len(scene.times)
    kept = np.unique([*range(0, count, every), count - 1])
    return replace(
        scene,
        times=scene.times[kept],
        figures=tuple(_thinned(figure, kept) for figure in scene.figures),
        series=tuple(series._replace(values=series.values[kept]) for series in scene.series),
    )


def _thinned(figure: Figure, kept: Array) -> Figure:
    def some(rows: Any) -> Any:
        return None if rows is None else rows[kept]

    marks = [replace(m, vectors=some(m.vectors), shifts=some(m.shifts), shown=some(m.shown)) for m in figure.marks]
    parts = [part if part.shown is None else replace(part, shown=part.shown[kept]) for part in figure.parts]
    return replace(
        figure,
        q=figure.q[kept],
        positions=figure.positions[kept],
        quaternions=without_jumps(figure.quaternions[kept]),
        parts=tuple(parts),
        marks=tuple(marks),
    )


def _rate(scene: Scene) -> float:
    """The frames per second of a scene; 0 for a scene with one time."""
    return (len(scene.times) - 1) / scene.duration if scene.duration > 0.0 else 0.0


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.3g} MB"
