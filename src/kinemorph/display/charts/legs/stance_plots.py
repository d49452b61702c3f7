"""Forces of the ground on each leg over its stances: every stance as a thin line, and their mean as a thick one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.legs.stances import Stance, Stances
from kinemorph.display.canvas import INK, LINES, PALE, Figure, blank, factor_out, plain_axes, save
from kinemorph.errors import UnsupportedError

AXES = "xyz"
SHARES = np.linspace(0.0, 1.0, 101)  # of a stance
COLUMNS = 3  # panels beside each other


def plot_stances(
    stances: Stances,
    *,
    legs: Sequence[str] = (),
    title: str | None = None,
    path: Path | str | None = None,
) -> Figure:
    """A figure with one panel for each leg: the force along x, y and z [N] over the share of the stance.

    `legs` are the names of the legs to show, by default all that have stances, and `path` is a file to write (.png,
    .svg or .pdf).
    """
    shown = [leg for leg in (legs or stances.legs) if stances[leg]]
    if not shown:
        raise UnsupportedError(
            f"run '{stances.name}' has no whole stance to plot. Simulate longer: a foot has to touch down and lift off."
        )
    rows = -(-len(shown) // COLUMNS)
    columns = min(len(shown), COLUMNS)
    figure = blank(1.0 + 2.9 * columns, 0.9 + 2.1 * rows)
    figure.subplots_adjust(0.1, 0.12, 0.97, 1.0 - 0.75 / (0.9 + 2.1 * rows), wspace=0.12, hspace=0.35)
    panels: Any = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for number, axes in enumerate(panels.flat):
        if number < len(shown):
            _panel(axes, shown[number], stances[shown[number]])
        else:
            axes.set_visible(False)
    for axes in panels[:, 0]:
        axes.set_ylabel("force [N]", fontsize=9, color=INK)
    factor_out(panels[0, 0])
    for axes in panels[1:, 0]:
        axes.set_ylabel(panels[0, 0].get_ylabel(), fontsize=9, color=INK)
    for number in range(len(shown)):
        below = number + columns
        if below >= len(shown):
            panels.flat[number].set_xlabel("share of the stance", fontsize=9, color=INK)
            panels.flat[number].tick_params(labelbottom=True)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=9, frameon=False, loc="upper right", ncols=3)
    heading = title or f"ground forces of {stances.name.replace('_', ' ')}"
    figure.text(0.1, 0.985, heading, fontsize=13, color=INK, va="top")
    if path is not None:
        save(figure, path)
    return figure


def _panel(axes: Any, leg: str, mine: Sequence[Stance]) -> None:
    """Draws the forces of all stances of one leg, and their mean."""
    plain_axes(axes)
    every = np.stack([_over_shares(one) for one in mine])
    for k, axis in enumerate(AXES):
        axes.plot(SHARES, every[:, :, k].T, color=LINES[k], linewidth=0.5, alpha=0.35)
        axes.plot(SHARES, every[:, :, k].mean(axis=0), color=LINES[k], linewidth=1.8, label=f"$F_{axis}$")
    axes.axhline(0.0, color=PALE, linewidth=0.8, zorder=0)
    axes.set_title(leg.replace("_", " "), fontsize=9, color=INK)


def _over_shares(stance: Stance) -> Array:
    """The force of a stance at the shares SHARES of its duration, shape (101, 3) [N]."""
    share = (stance.t - stance.touchdown) / stance.duration
    return np.stack([np.interp(SHARES, share, stance.force[:, k]) for k in range(3)], axis=1)
