"""Pictures of identified parameters: forces as measured and as predicted, intervals, and what residuals look like."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.identified import Identified, Prediction
from kinemorph.display.canvas import GROUND, INK, LINES, PALE, Figure, blank, plain_axes, save
from kinemorph.errors import UnsupportedError

WIDTH = 9.0  # [inch]
ROW = 1.25  # [inch], the height of the curves of one channel
LEAST_HEIGHT = 3.4  # [inch]
LINE = 0.17  # [inch], the height of the line of one parameter
CURVE = 4000  # samples that a curve has at most
LAGS = 100  # samples up to which autocorrelations are shown
BAND = 1.96  # deviations that 95 % of the values of a normal variable are within


def plot_identified(
    result: Identified,
    what: str = "forces",
    *,
    title: str | None = None,
    path: Path | str | None = None,
    **options: Any,
) -> Figure:
    """The picture of an identification.

    "forces"        measured and predicted forces of every channel, of the recordings used and of those predicted
    "parameters"    every base parameter with its interval, in units of its own deviation from the model's value
    "residuals"     the spectrum of the residuals of every channel, and their autocorrelation
    """
    if what not in PICTURES:
        raise UnsupportedError(f"what is '{what}'; expected one of {', '.join(PICTURES)}.")
    figure = PICTURES[what](result, **options)
    shown = title or f"{what} of {result.robot.name.replace('_', ' ')}, identified"
    height = figure.get_figheight()
    figure.text(0.5, 1.0 - 0.12 / height, shown, ha="center", va="top", fontsize=13, color=INK)
    if path is not None:
        save(figure, path)
    return figure


def plot_forces(result: Identified, *, recording: str | None = None) -> Figure:
    """Measured and predicted forces over time, one row for each channel; `recording` chooses one by name."""
    every = {one.name: one for one in (*result.fits, *result.validation)}
    if recording is not None and recording not in every:
        raise UnsupportedError(f"there is no recording '{recording}'. Known: {', '.join(every)}.")
    chosen = [every[recording]] if recording is not None else [result.fits[0], *result.validation[:1]]
    names = result.rows.channels
    height = max(LEAST_HEIGHT, ROW * len(names) + 1.0)
    figure = blank(WIDTH, height)
    grid = figure.subplots(len(names), len(chosen), sharex="col", sharey="row", squeeze=False)
    for column, one in enumerate(chosen):
        kept = slice(None, None, max(1, len(one.t) // CURVE))
        for k, name in enumerate(names):
            axes = grid[k, column]
            _plain(axes)
            axes.plot(one.t[kept], one.measured[kept, k], color=LINES[0], linewidth=0.8, label="measured")
            axes.plot(one.t[kept], one.predicted[kept, k], color=LINES[1], linewidth=1.0, label="predicted")
            axes.plot(one.t[kept], one.residuals[kept, k], color=PALE, linewidth=0.6, label="difference")
            axes.set_title(f"{100.0 * one.errors[name]:.1f} %", fontsize=7, color=PALE, loc="right", pad=2)
            if column == 0:
                axes.set_ylabel(name.removeprefix("tau.").replace("_", " "), fontsize=7, color=INK)
        used = "used" if one in result.fits else "not used"
        grid[0, column].set_title(f"{one.name} ({used}), {100.0 * one.error:.2f} %", fontsize=9, color=INK, loc="left")
        grid[-1, column].set_xlabel("time [s]", fontsize=8, color=INK)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=3, fontsize=8, frameon=False)
    figure.subplots_adjust(
        left=0.1, right=0.98, top=1.0 - 0.62 / height, bottom=0.75 / height, hspace=0.35, wspace=0.06
    )
    return figure


def plot_parameters(result: Identified) -> Figure:
    """Base parameters with their intervals, relative to the model's values, and the share of the data in each."""
    names = [name if len(name) < 46 else f"{name[:43]}..." for name in result.base.names]
    nominal = result.base.combinations @ result.nominal
    scale = np.maximum(np.abs(nominal), np.abs(result.base_values))
    scale = np.where(scale > 0.0, scale, 1.0)
    change, spread = (result.base_values - nominal) / scale, result.quantile * result.base_deviations / scale
    height = max(LEAST_HEIGHT, LINE * len(names) + 1.5)
    figure = blank(WIDTH, height)
    axes: Any = figure.add_axes((0.4, 0.75 / height, 0.52, 1.0 - 1.35 / height))
    _plain(axes)
    places = np.arange(len(names))
    colors = [LINES[0] if share >= 0.5 else PALE for share in result.base_shares]
    axes.axvline(0.0, color=GROUND, linewidth=1.0, zorder=0)
    axes.hlines(places, np.clip(change - spread, -2.0, 2.0), np.clip(change + spread, -2.0, 2.0), colors, linewidth=1.6)
    axes.scatter(np.clip(change, -2.0, 2.0), places, c=colors, s=10, zorder=3)
    for place, share in zip(places, result.base_shares, strict=True):
        axes.text(2.15, place, f"{100.0 * share:.0f} %", fontsize=6, color=PALE, va="center")
    axes.set_xlim(-2.1, 2.1)
    axes.set_yticks(places, names, fontsize=6)
    axes.invert_yaxis()
    axes.set_ylim(len(names) - 0.4, -0.6)
    percent = f"{100.0 * result.confidence:g} %"
    text = f"(identified - model) / larger of both, with {percent} intervals; right: share of the data"
    axes.set_xlabel(text, fontsize=8, color=INK)
    return figure


def plot_residuals(result: Identified) -> Figure:
    """The spectrum of the residuals of every channel, and their autocorrelation with the band of independent ones."""
    from matplotlib.ticker import LogLocator
    from scipy.signal import welch

    fit = result.fits[0]
    rate = (len(fit.t) - 1) / (fit.t[-1] - fit.t[0])
    figure = blank(WIDTH, 3.8)
    left: Any = figure.add_axes((0.08, 0.15, 0.4, 0.66))
    right: Any = figure.add_axes((0.56, 0.15, 0.4, 0.66))
    for k, name in enumerate(fit.channels):
        color = LINES[k % len(LINES)]
        frequencies, power = welch(fit.residuals[:, k], fs=rate, nperseg=min(512, len(fit.t)))
        left.loglog(frequencies[1:], power[1:], color=color, linewidth=1.0, label=name.removeprefix("tau."))
        right.plot(_autocorrelations(fit, k), color=color, linewidth=1.0)
    band = BAND / np.sqrt(len(fit.t))
    right.axhspan(-band, band, color=GROUND, zorder=0)
    for axes, x, y in ((left, "frequency [Hz]", "power of residuals"), (right, "lag [samples]", "autocorrelation")):
        _plain(axes)
        axes.set_xlabel(x, fontsize=8, color=INK)
        axes.set_ylabel(y, fontsize=8, color=INK)
    left.yaxis.set_major_locator(LogLocator())
    left.legend(fontsize=6, frameon=False, ncols=2)
    return figure


def _autocorrelations(fit: Prediction, channel: int) -> Array:
    x = fit.residuals[:, channel] - fit.residuals[:, channel].mean()
    power = float(x @ x) or 1.0
    return np.array([1.0, *(float(x[lag:] @ x[:-lag]) / power for lag in range(1, min(LAGS, len(x) // 4)))])


def _plain(axes: Any) -> None:
    plain_axes(axes)
    axes.tick_params(labelsize=7)


PICTURES: dict[str, Callable[..., Figure]] = {
    "forces": plot_forces,
    "parameters": plot_parameters,
    "residuals": plot_residuals,
}
