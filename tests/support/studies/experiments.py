"""Experiments of studies in tests: their items out of plain values, and their outcomes without workers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinemorph import library
from kinemorph.model.system import System
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.studies.experiments.experiment import Experiment
from kinemorph.studies.items import Items, items_of, label_column, number_column
from kinemorph.studies.outcomes import Chunk, Outcome, RunsKept

ITEMS = 19  # two batches of lanes and a part of one


def items(values: Mapping[str, Any]) -> Items:
    """Items with these values of each part, numbers or labels."""
    columns = []
    for name, given in values.items():
        if isinstance(given[0], str):
            labels = sorted({*given})
            columns.append(label_column(name, [labels.index(one) for one in given], labels))
        else:
            columns.append(number_column(name, given))
    return items_of(columns)


def computed(experiment: Experiment, given: Items, keep: RunsKept = "none") -> Outcome:
    """The outcome of all items as one chunk, after they were checked."""
    experiment.check(given)
    return experiment.compute(Chunk(np.arange(len(given)), given, keep))


def double_pendulum() -> System:
    return System(library.double_pendulum())


def swings() -> Items:
    return items(
        {
            "q.q1": np.linspace(0.1, 0.9, ITEMS),
            "v.q2": np.linspace(-1.0, 1.0, ITEMS),
            "m1": np.linspace(1.0, 1.4, ITEMS),
        }
    )


def span(run: Trajectory) -> float:
    """How far the first joint swings [rad]."""
    return float(np.ptp(run["q.q1"]))
