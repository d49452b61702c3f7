"""The tables of `kinemorph bench hybrid` as text."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.bench.tables import DOF, ENTRY, RATIO, ROBOT, TIMES, VERDICT, grid, number, text
from kinemorph.bench.timing import Row
from kinemorph.display.tables.grid import Grid


def walks_grid(rows: Sequence[Row]) -> Grid:
    """The table of walks of the compass: error, time per step of the gait, and how many times faster than Drake."""
    numbers = (number("error", form="{:.1e}"), number("µs per step", "us_per_step", "{:.3g}"), RATIO)
    title = "ten steps of the compass at an error of 1e-9: CPU time per step, and Drake's time divided by ours"
    return grid(title, (*ENTRY, *numbers, text("target"), VERDICT), rows, "walk")


def impacts_grid(rows: Sequence[Row]) -> Grid:
    """The table of plastic impact maps."""
    shown = (ROBOT, DOF, text("mode"), *TIMES, RATIO, number("differs by", "difference", "{:.0e}"), text("peer"))
    title = "velocities after a plastic impact of the feet: time per evaluation, impulseDynamics / ours"
    return grid(title, (*shown, text("target"), VERDICT), rows, "impact")


def basin_grid(rows: Sequence[Row]) -> Grid:
    """The table of the basin of attraction."""
    shares = (number("walk", form="{:.1%}"), number("fell", form="{:.1%}"))
    counts = (number("starts", form="{:,}"), number("cycles"), number("cores"))
    shown = (
        ROBOT,
        *counts,
        *shares,
        number("s", "seconds", "{:.1f}"),
        number("CPU s", "cpu_s", "{:.1f}"),
        text("target"),
        VERDICT,
    )
    return grid("basin of attraction of the gait: wall-clock time", shown, rows, "basin")
