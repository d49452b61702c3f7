"""`plot_study`: the picture of a study, of Monte Carlo estimates or of sensitivities, by its kind.

    study.plot()                                     a curve, a map or parallel lines, by how many parts vary
    study.plot("map", "distance", x="mass", y="gait", where={"stiffness": 20.0})
    study.plot("parallel", largest=True)            the best items are those with the largest measure
    study.plot("convergence")                        the best item so far
    study.plot("histogram", "work", path="work.svg")

Options of all kinds: `title`, `path` (a file to write: .png, .svg or .pdf) and `where` (values of parts: only items
with these values are shown). Other options are those of the functions that draw a kind.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.display.canvas import Figure, save, shortened
from kinemorph.display.charts.studies import frames
from kinemorph.display.charts.studies.convergence_plots import best_so_far, estimate_so_far
from kinemorph.display.charts.studies.histograms import MEAN, Mark, histogram, shares
from kinemorph.display.charts.studies.parallel_lines import parallel_lines
from kinemorph.display.charts.studies.plotted_items import PlottedItems
from kinemorph.display.charts.studies.response_curves import response_curve
from kinemorph.display.charts.studies.response_maps import response_map
from kinemorph.display.charts.studies.sensitivity_plots import morris_plane, sensitivity_bars
from kinemorph.errors import UnsupportedError
from kinemorph.studies.statistics.intervals import is_truth
from kinemorph.studies.statistics.monte_carlo import MonteCarlo
from kinemorph.studies.statistics.sensitivity import Sensitivity
from kinemorph.studies.sweeps.study import Study
from kinemorph.words import did_you_mean, listed

SHARES = (0.05, 0.5, 0.95)  # quantiles of a histogram
SEVERAL = 3  # parts from which on the default picture has parallel lines


def plot_study(
    subject: Study | MonteCarlo | Sensitivity,
    kind: str | None = None,
    measure: str | None = None,
    *,
    where: Mapping[str, float | str] | None = None,
    path: Path | str | None = None,
    **options: Any,
) -> Figure:
    """A Matplotlib Figure of a study.

    `kind`       "curve", "map", "parallel", "convergence" or "histogram"; for sensitivities also "sensitivity". By
                 default the one that suits the study
    `measure`    its name; by default the first one
    `where`      {part: value}: only items with these values
    `path`       a file to write: .png, .svg or .pdf
    """
    study = subject if isinstance(subject, Study) else subject.study
    own = OWN.get(type(subject), {})
    known = {**KINDS, **own}
    shown = plotted(study)
    if where:
        shown = shown.where(where)
    chosen = kind or next(iter(own), usual_kind(shown))
    if chosen not in known:
        raise UnsupportedError(f"plot: kind is {kind!r}; expected one of {listed(known)}.{did_you_mean(kind, known)}")
    if chosen in own:
        if where:
            raise UnsupportedError(f"plot: where chooses items, but {chosen!r} shows all of them. Leave where out.")
        draw: Callable[..., Figure] = own[chosen]
        given: Any = subject
    else:
        draw, given = KINDS[chosen], shown
    parameters = inspect.signature(draw).parameters.values()
    allowed = [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    for name in options:
        if name not in allowed:
            raise UnsupportedError(
                f"plot: {chosen!r} has no option '{name}'.{did_you_mean(name, allowed)} Its options: {listed(allowed)}."
            )
    figure = draw(given, measure, **options)
    if path is not None:
        save(figure, path)
    return figure


def plotted(study: Study) -> PlottedItems:
    """The items of a study as pictures need them."""
    table = study.table
    return PlottedItems(study.name, table.numbers, table.items, table.names, table.measures, table.states, table.units)


def usual_kind(shown: PlottedItems) -> str:
    """The kind of picture that suits a study."""
    count = len(shown.parts)
    return "histogram" if not count else "curve" if count == 1 else "map" if count < SEVERAL else "parallel"


# ── distributions ─────────────────────────────────────────────────────────────────────────────────────────────────────


def measure_histogram(shown: PlottedItems, measure: str | None = None, *, title: str | None = None) -> Figure:
    """The distribution of a measure over the items of a study, with its mean and quantiles.

    These are those of the items, and have no intervals: the items of a design are not independent draws.
    """
    name, column = shown.measure(measure)
    values = column[np.isfinite(column)]
    texts: dict[str, Any] = {"measure": shown.label(name), "heading": frames.heading(name, shown.name, title)}
    texts["captions"] = [frames.counts(shown)]
    mean = float(np.mean(values))
    marks = [Mark(MEAN, mean, mean, mean)]
    if is_truth(values):
        return shares(marks[0], **texts)
    for share in SHARES:
        value = float(np.quantile(values, share))
        marks.append(Mark(f"{100.0 * share:g} %", value, value, value))
    return histogram(values, marks, **texts)


def drawn_histogram(found: MonteCarlo, measure: str | None = None, *, title: str | None = None) -> Figure:
    """The distribution of a measure in a Monte Carlo study, with confidence intervals as bands."""
    name = _measure(found, measure)
    label = plotted(found.study).label(name)
    texts: dict[str, Any] = {"measure": label, "heading": frames.heading(name, found.study.name, title)}
    values, percent = found.finished(name), f"{100.0 * found.confidence:g} %"
    texts["captions"] = [f"{len(values):,} items; {percent} confidence intervals", *found.notes]
    mean = Mark(MEAN, found[name].value, found[name].low, found[name].high)
    if name in found.probabilities:
        return shares(mean, **texts)
    quantiles = found.quantiles(name, SHARES)
    marks = [Mark(f"{100.0 * share:g} %", one.value, one.low, one.high) for share, one in quantiles.items()]
    return histogram(values, [*marks, mean], **texts)


def drawn_convergence(found: MonteCarlo, measure: str | None = None, *, title: str | None = None) -> Figure:
    """How a Monte Carlo estimate and its confidence interval developed with the number of items."""
    name = _measure(found, measure)
    what = "probability" if name in found.probabilities else "mean"
    last = found[name]
    told = f"{what} after {last.count:,} items: {last.value:.4g}, between {last.low:.4g} and {last.high:.4g} with "
    curve = found.convergence(name)
    return estimate_so_far(
        curve.counts.astype(float),
        curve.value,
        curve.low,
        curve.high,
        measure=f"{what} of {plotted(found.study).label(name) if what == 'mean' else name}",
        heading=frames.heading(f"{what} of {name}", found.study.name, title),
        captions=[f"{told}{100.0 * found.confidence:g} % confidence", *found.notes],
        goal=found.errors.get(name),
    )


def drawn_sensitivity(found: Sensitivity, measure: str | None = None, *, title: str | None = None) -> Figure:
    """Sobol indices as bars, or the plane of Morris."""
    name = _measure(found, measure)
    indices = found[name]
    heading = frames.heading(f"sensitivity of {name}", "" if title else found.study.name, title)
    told = [
        f"{found.count:,} points of the design; lines are {100.0 * found.confidence:g} % confidence intervals",
        *found.notes,
    ]
    if found.method == "morris":
        return morris_plane(found.parts, indices["mu_star"], indices["sigma"], heading=heading, captions=told)
    bars = {"alone (first order)": indices["first"], "with interactions (total)": indices["total"]}
    return sensitivity_bars(
        found.parts, bars, heading=heading, captions=told, label=f"share of the variance of {shortened(name)}"
    )


def is_found(found: MonteCarlo | Sensitivity, measure: str | None = None) -> bool:
    """Whether a measure, by default the first one, has estimates or indices; a study that began only has none yet."""
    name = found.measures[0] if measure is None else measure
    if isinstance(found, MonteCarlo):
        return found[name].count > 0
    return bool(np.isfinite(found[name]["sigma" if found.method == "morris" else "total"].value).any())


def _measure(found: MonteCarlo | Sensitivity, measure: str | None) -> str:
    """The name of a measure; results refuse names that they do not have, and those of which they found nothing."""
    name = found.measures[0] if measure is None else measure
    if not is_found(found, name):
        raise UnsupportedError(
            f"plot: '{name}' has neither estimates nor indices to show. {' '.join(found.notes)} To see its items, "
            "choose another kind of picture, such as 'curve'."
        )
    return name


KINDS: dict[str, Callable[..., Figure]] = {
    "curve": response_curve,
    "map": response_map,
    "parallel": parallel_lines,
    "convergence": best_so_far,
    "histogram": measure_histogram,
}
OWN: dict[type, dict[str, Callable[..., Figure]]] = {
    MonteCarlo: {"histogram": drawn_histogram, "convergence": drawn_convergence},
    Sensitivity: {"sensitivity": drawn_sensitivity},
}
