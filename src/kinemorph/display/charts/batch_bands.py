"""Many runs in one picture: each run as a line where there are few, else the median and bands of quantiles."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display import series
from kinemorph.display.charts.runs import STYLES
from kinemorph.display.series import Block, Family
from kinemorph.errors import UnsupportedError
from kinemorph.simulation.results.batch_run import BatchRun
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.words import counted

FEW = len(STYLES)  # runs that are drawn as lines: as many as there are line styles,
FEW_ALONE = 8  # or colors, where each axis has one column only
MOST_TIMES = 500  # at which quantiles are computed: more would not be seen
MIDDLE = (0.5, 0.9)  # shares of the runs that lie in each band, half of them on either side of the median
SHADES = (0.22, 0.16)  # how opaque each band is
CROWDED = 2  # columns on one axis from which on all axes show the widest band only


def first_run(batch: BatchRun) -> Trajectory:
    """The run that represents a batch: the first that reached the end, else the one that came farthest."""
    if not batch.done.any():
        raise UnsupportedError(
            f"no run in the batch of '{batch.name}' has samples to plot; expected one or more. See batch.failures."
        )
    return batch[int(np.argmax(batch.ok)) if batch.ok.any() else int(np.argmax(batch.done))]


def few_runs(batch: BatchRun, blocks: Sequence[Block]) -> dict[str, Trajectory] | None:
    """The runs of a small batch by name, to be drawn as lines; None where there are too many of them."""
    begun = np.flatnonzero(batch.done).tolist()
    alone = all(len(block.names) == 1 for block in blocks)
    if len(begun) > (FEW_ALONE if alone else FEW):
        return None
    return {f"run {batch.numbers[k]}": batch[k] for k in begun}


def shown_bands(blocks: Sequence[Block]) -> list[tuple[float, float]]:
    """(fraction of the runs inside the band, opacity of the band) for each band of a picture."""
    crowded = any(len(family.names) >= CROWDED for block in blocks for family in block.families)
    return list(zip(MIDDLE, SHADES, strict=True))[-1 if crowded else 0 :]


def draw_bands(
    axes: Any, batch: BatchRun, bands: Sequence[tuple[float, float]], family: Family, colors: Any, factor: float
) -> list[Array]:
    """Draws the median of every column of a family (columns that share an axis) and `bands` about it.

    Returns all curves, shape (n,) each. Values are multiplied by `factor`, for another unit.
    """
    places = np.unique(np.linspace(0, len(batch.t) - 1, MOST_TIMES).round().astype(int))
    t = batch.t[places]
    seen = []
    for name, label, color in zip(family.names, family.labels, colors, strict=True):
        values = factor * series.values(batch, name)[:, places]
        middle, *edges = _quantiles(values, [0.5, *(0.5 + side * 0.5 * part for part, _ in bands for side in (-1, 1))])
        for k, (_, shade) in enumerate(bands):
            axes.fill_between(t, edges[2 * k], edges[2 * k + 1], color=color, alpha=shade, linewidth=0)
        axes.plot(t, middle, color=color, linewidth=1.6, label=label)
        seen += [middle, *edges]
    return seen


def _quantiles(values: Array, parts: Sequence[float]) -> Array:
    """Quantiles over the runs that reached each time, shape (parts, n), of values (B, n); NaN where none did."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # for times that no run reached
        find = np.nanquantile if np.isnan(values).any() else np.quantile
        found: Array = find(values, parts, axis=0)
    return found


def batch_caption(batch: BatchRun, bands: Sequence[tuple[float, float]]) -> str:
    """A caption of one line: the number of runs, the method, and which part of the runs the bands contain."""
    shares = " and ".join(f"{100.0 * part:.0f} %" for part, _ in bands)
    return f"{len(batch):,} runs, {batch.statistics.method}: median, and the middle {shares} of the runs"


def batch_failures(batch: BatchRun, columns: int) -> list[str]:
    """Lines of at most `columns` characters: how many runs failed or were interrupted, and why the first one failed."""
    return [line for sentence in _problems(batch) for line in textwrap.wrap(sentence, columns)]


def _problems(batch: BatchRun) -> Iterator[str]:
    if batch.failures:
        k, message = next(iter(batch.failures.items()))
        count = f"{len(batch.failures):,} of {counted(len(batch), 'run')} failed"
        yield f"{count}, and are shown up to their failures. Run {batch.numbers[k]}: {message}"
    if batch.interrupted:
        left = sum(outcome.kind == "interrupted" for outcome in batch.outcomes)
        yield f"The batch was interrupted: {left:,} of {counted(len(batch), 'run')} did not reach the end."
