"""Options for plots over time and phase portraits of runs. They are checked before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from kinemorph.cli.application import flag, option, working
from kinemorph.cli.options import option_values
from kinemorph.errors import KinemorphError

if TYPE_CHECKING:
    from kinemorph.simulation.results.trajectory import Trajectory


@dataclass(frozen=True)
class PlotOptions:
    """Which plots of a run to write, and what to show in them."""

    plot: Annotated[Path | None, option("Write a plot over time: .png, .svg or .pdf.", "PATH")] = None
    columns: Annotated[
        str | None,
        option("What to plot: columns, groups or patterns, separated by commas: q,v.elbow,'energy*'.", "NAMES"),
    ] = None
    degrees: Annotated[bool, flag("--degrees", "Plot angles in degrees.")] = False
    difference: Annotated[bool, flag("--difference", "Also plot the difference between the runs.")] = False
    phase: Annotated[Path | None, option("Write a phase portrait.", "PATH")] = None
    joint: Annotated[str | None, option("Joint of the phase portrait.", default="the first joint")] = None

    def __post_init__(self) -> None:
        if self.degrees and self.plot is None and self.phase is None:
            raise KinemorphError("--degrees is for the angles in a plot, but there is no plot. Give --plot as well.")
        if self.joint is not None and self.phase is None:
            raise KinemorphError(
                f"--joint is '{self.joint}', but there is no phase portrait to show it. Give --phase as well."
            )
        if self.difference and self.plot is None:
            raise KinemorphError(
                "--difference adds the difference between runs to a plot, but there is no plot. Give --plot as well."
            )
        option_values.picture(self.plot, "--plot")
        option_values.picture(self.phase, "--phase")

    @property
    def names(self) -> list[str]:
        """The columns, groups and patterns that --columns names."""
        return option_values.names(self.columns)

    def write(
        self,
        trajectory: Trajectory,
        *,
        default: Sequence[str] = (),
        compare: dict[str, Trajectory] | None = None,
        name: str | None = None,
    ) -> list[Path]:
        """Writes the plots of a run and returns their paths.

        `default` are the columns to plot if --columns is not given. `compare` are other runs for the same plot, by
        name; `name` is what the plot calls this run beside them.
        """
        made = []
        common: dict[str, Any] = {"degrees": self.degrees, "compare": compare or None, "name": name}
        if self.plot is not None:
            from kinemorph.display.charts.plot import plot

            with working("plotting"):
                plot(trajectory, *(self.names or default), difference=self.difference, path=self.plot, **common)
            made.append(self.plot)
        if self.phase is not None:
            from kinemorph.display.charts.plot_phase import plot_phase

            plot_phase(trajectory, self.joint, path=self.phase, **common)
            made.append(self.phase)
        return made
