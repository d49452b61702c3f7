"""The tables of `kinemorph bench identify` as text."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.bench.tables import DOF, RATIO, ROBOT, TIMES, VERDICT, grid, number, text
from kinemorph.bench.timing import Row
from kinemorph.display.tables.grid import Grid


def regressors_grid(rows: Sequence[Row]) -> Grid:
    """The table of regressors."""
    shown = (ROBOT, DOF, text("form", "algorithm"), text("mode"), *TIMES, RATIO)
    ends = (number("differs by", "difference", "{:.0e}"), text("peer"), text("target"), VERDICT)
    title = "the regressor Y of tau = Y theta: time per state, computeJointTorqueRegressor / ours"
    return grid(title, (*shown, *ends), rows, "regressor")


def triangles_grid(rows: Sequence[Row]) -> Grid:
    """The table of triangles."""
    shown = (ROBOT, DOF, number("samples", "samples", "{:,}"), *TIMES, RATIO, number("MB", "memory_mb", "{:.0f}"))
    ends = (number("differs by", "difference", "{:.0e}"), text("peer"), text("target"), VERDICT)
    title = "samples to triangles: CPU time per sample, (computeJointTorqueRegressor and dgeqrf) / ours"
    return grid(title, (*shown, *ends), rows, "triangle")
