"""The tables of `kinemorph bench programs` as text."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.bench.tables import RATIO, VERDICT, grid, number, text, three_digits
from kinemorph.bench.timing import Row
from kinemorph.display.tables.grid import Grid


def programs_grid(rows: Sequence[Row]) -> Grid:
    """The double pendulum and hexapod24: times of programs in C beside PyDy's function and `simulate`."""
    shown = (text("problem"), text("contestant"), number("ms", "ms", three_digits))
    ends = (number("error", "error", "{:.1e}"), RATIO, text("target"), VERDICT)
    title = "programs in C: CPU time of a run, files and the start of the process included; peer / ours"
    return grid(title, (*shown, *ends), rows, "program")


def fmus_grid(rows: Sequence[Row]) -> Grid:
    """FMUs stepped from C: time of a step beside PythonFMU around Pinocchio."""
    shown = (text("problem"), text("contestant"), number("us per step", "us", three_digits))
    ends = (number("difference", "error", "{:.1e}"), RATIO, text("target"), VERDICT)
    return grid("FMUs, steps of 1 ms from a master in C; peer / ours", (*shown, *ends), rows, "fmu")
