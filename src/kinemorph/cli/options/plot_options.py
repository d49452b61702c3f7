"""Curves that options ask for: plots over time and phase portraits of runs, checked before any work is done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinemorph.cli.application import working
from kinemorph.cli.options import option_values
from kinemorph.errors import KinemorphError

if TYPE_CHECKING:
    from kinemorph.simulation.results.trajectory import Trajectory

PLOT_HELP = "Write a plot over time: .png, .svg or .pdf."
COLUMNS_HELP = "What to plot: columns, groups or patterns, with commas: q,v.elbow,'energy*'."
PlotPath = Annotated[Path | None, typer.Option(metavar="PATH", help=PLOT_HELP)]
Columns = Annotated[str | None, typer.Option(metavar="NAMES", help=COLUMNS_HELP)]
Degrees = Annotated[bool, typer.Option("--degrees", metavar="", help="Angles of plots in degrees.")]


class Plots:
    """Plots and phase portraits of a run, alone or over others."""

    def __init__(
        self,
        plot: Path | None,
        columns: str | None,
        degrees: bool,
        *,
        phase: Path | None = None,
        joint: str | None = None,
        difference: bool = False,
        alone: bool = False,
    ) -> None:
        """`alone` says whether --columns means something without --plot."""
        if columns is not None and plot is None and not alone:
            raise KinemorphError(f"--columns '{columns}' says what --plot and --html show. Give one of them as well.")
        if degrees and plot is None and phase is None:
            raise KinemorphError("--degrees is for the angles of a plot. Give --plot as well.")
        if joint is not None and phase is None:
            raise KinemorphError(f"--joint '{joint}' says what --phase shows. Give --phase as well.")
        if difference and plot is None:
            raise KinemorphError("--difference adds to a plot how far runs are apart. Give --plot as well.")
        self.plot, self.phase = option_values.picture(plot, "--plot"), option_values.picture(phase, "--phase")
        self.names = option_values.names(columns)
        self.degrees, self.joint, self.difference = degrees, joint, difference

    def write(
        self, trajectory: Trajectory, *, compare: dict[str, Trajectory] | None = None, name: str | None = None
    ) -> list[Path]:
        """Draws and writes them; `name` is that of the run among those it is compared with."""
        made = []
        common: dict[str, Any] = {"degrees": self.degrees, "compare": compare or None, "name": name}
        if self.plot is not None:
            from kinemorph.display.charts.plot import plot

            with working("plotting"):
                plot(trajectory, *self.names, difference=self.difference, path=self.plot, **common)
            made.append(self.plot)
        if self.phase is not None:
            from kinemorph.display.charts.phase_portrait import phase_portrait

            phase_portrait(trajectory, self.joint, path=self.phase, **common)
            made.append(self.phase)
        return made
