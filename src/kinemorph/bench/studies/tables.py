"""The tables of `kinemorph bench studies` as text."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.bench.tables import RATIO, VERDICT, grid, number, text, three_digits
from kinemorph.bench.timing import Row
from kinemorph.display.tables.grid import Grid


def trivial_grid(rows: Sequence[Row]) -> Grid:
    """The trivial sweep: time and memory for each item, beside other tools."""
    shown = (text("contestant"), number("items", "items", "{:,}"), number("us per item", "us", three_digits))
    ends = (number("MB", "mb", "{:.0f}"), RATIO, text("target"), VERDICT)
    title = "a sweep of a function that costs nothing, two worker processes; best peer / ours"
    return grid(title, (*shown, *ends), rows, "trivial")


def gaits_grid(rows: Sequence[Row]) -> Grid:
    """Gaits of the crawler, by one worker and by several."""
    shown = (text("contestant"), number("gaits", "items", "{:,}"), number("s", "seconds", three_digits))
    ends = (number("ms per gait", "ms", three_digits), number("scaling", "scaling", "{:.2f}x"), text("target"), VERDICT)
    return grid("gaits of the crawler, 1 s in steps of 1 ms; one worker / several", (*shown, *ends), rows, "gaits")
