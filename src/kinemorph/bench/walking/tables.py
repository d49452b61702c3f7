"""The tables of `kinemorph bench walk` as text."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.bench.tables import Column, grid, number, ratio, text, three_digits
from kinemorph.bench.timing import Row
from kinemorph.display.tables.grid import Grid


def walks_grid(rows: Sequence[Row]) -> Grid:
    """The table of walks at equal error: MuJoCo's step size, loops, error and time, and our run."""
    shown = (
        Column("MuJoCo ms", lambda row: f"{1e3 * row['peer_step']:g}"),
        *(number("loops open mm", "peer_gap", lambda gap: f"{1e3 * gap:.2g}"), number("error m", "error", "{:.1e}")),
        *(number("its run ms", "peer_ms", three_digits), text("our method", "method")),
        number("our step ms", "step", lambda step: f"{1e3 * step:g}", "not reached"),
        *(number("our error m", "our_error", "{:.1e}"), number("ours ms", "ms", three_digits)),
        *(number("ratio", "ratio", ratio), text("target"), text("verdict")),
    )
    return grid("10 s of AMRU5 walking, at MuJoCo's error", shown, rows, "walk")


def leg_grid(rows: Sequence[Row]) -> Grid:
    """The table of one leg in SymPy."""
    shown = (
        *(text("one leg", "what"), text("peer")),
        *(number("peer ms", "peer_ms", three_digits), number("ours ms", "ms", "{:.3g}")),
        *(number("ratio", "ratio", ratio), text("target"), text("verdict")),
    )
    return grid("one leg of AMRU5: time to derive and compile, and per call from Python", shown, rows, "leg")


def first_grid(rows: Sequence[Row]) -> Grid:
    """The table of the time to the first step."""
    shown = (
        *(text("problem"), text("method")),
        *(number("cold s", "cold_s", "{:.2f}"), number("again s", "warm_s", "{:.2f}")),
        *(text("target"), text("verdict")),
    )
    return grid("CPU time to the first step, in a new process", shown, rows, "first")
