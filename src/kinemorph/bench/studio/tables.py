"""The tables of `kinemorph bench studio` as text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinemorph.bench.studio.watched_pages import PATIENCE
from kinemorph.bench.tables import VERDICT, grid, number, text
from kinemorph.bench.timing import Row
from kinemorph.display.tables.grid import Grid


def start_grid(rows: Sequence[Row]) -> Grid:
    """From the start of a process to its first picture, and the size of its page."""
    seconds = (number("ours s", "ours_s", _seconds), number("peer s", "peer_s", _seconds, "not run"))
    sizes = (number("ours kB", "ours_kb", "{:.0f}"), number("peer kB", "peer_kb", "{:.0f}", "not run"))
    shown = (text("model", "what"), *seconds, *sizes, text("peer"), text("target"), VERDICT)
    return grid("from the start to the first picture, and bytes of the page until then", shown, rows, "start")


def click_grid(rows: Sequence[Row]) -> Grid:
    """From a click to the draw call of the new scene."""
    times = (number("median ms", "median_ms", "{:.0f}"), number("95 % ms", "ms_95", "{:.0f}"))
    shown = (text("organism", "what"), number("clicks"), *times, text("target"), VERDICT)
    return grid("from a click on the grid to the draw call of the new scene", shown, rows, "click")


def live_grid(rows: Sequence[Row]) -> Grid:
    """A chain that moves live."""
    pairs = {"pictures/s": ("pictures", "{:.1f}"), "script ms": ("script_ms", "{:.2f}"), "bytes": ("bytes", "{:.0f}")}
    columns = [
        number(f"{side} {header}", f"{side}_{key}", form, "not run")
        for header, (key, form) in pairs.items()
        for side in ("ours", "peer")
    ]
    shown = (text("model", "what"), *columns, text("peer"), text("target"), VERDICT)
    return grid("live motion: pictures per second, and script time and bytes per picture", shown, rows, "live")


def _seconds(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else f"not within {PATIENCE:g} s"
