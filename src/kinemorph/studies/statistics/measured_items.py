"""Items that are drawn by a statistical method, and the measures that a sweep gives them.

A method draws items one after the other, some of them twice, and asks for more when it has seen the first ones. Here
the items are measured by `sweep`, each once, and all in one store, so that a study that was interrupted goes on. The
measures that a store has already suffice to tell what the study has found so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.studies.experiments.experiment import experiment_of
from kinemorph.studies.items import Items
from kinemorph.studies.outcomes import State
from kinemorph.studies.spaces.distinct import distinct
from kinemorph.studies.spaces.parts import is_number, is_whole
from kinemorph.studies.spaces.space import Space
from kinemorph.studies.store.table import WAITING
from kinemorph.studies.sweeps.study import Study
from kinemorph.studies.sweeps.sweep import OpenSweep, repeat_warnings
from kinemorph.studies.sweeps.sweep_options import divided
from kinemorph.words import did_you_mean, listed

GO_ON = "Unless it is still running, start it again with its store to go on."  # with a study that is not finished


class MeasuredItems:
    """Measures of items that are asked for in stages.

    `space`         the items are from it
    `names`         of the measures; empty before the first stage where a function that is the model returns them
    `study_of`      gives a study that has these items, computed or waiting, from distinct ones
    """

    def __init__(self, space: Space, names: tuple[str, ...], study_of: Callable[[Items], Study]) -> None:
        self.space, self.names = space, names
        self._study_of = study_of
        self._study: Study | None = None

    @property
    def study(self) -> Study:
        """The study of all items that were measured."""
        assert self._study is not None
        return self._study

    def values(self, items: Items) -> tuple[Array, npt.NDArray[np.int8]]:
        """The measures (n, k) of items, NaN for those that failed, and their states (n,): 0 means not computed."""
        self._study = self._study_of(distinct(items))
        table = self._study.table
        self.names = tuple(table.names) or self.names  # a store learns them from the first result
        row_of = {key: row for row, key in enumerate(table.keys.tolist())}
        rows = np.array([row_of.get(key, -1) for key in items.keys], dtype=np.int64)
        states = np.append(table.states, np.int8(WAITING))[rows]  # the last row is that of items that are not there
        known = np.full((len(table) + 1, len(self.names)), np.nan)
        known[:-1, : len(table.names)] = table.measures
        values: Array = known[rows]
        if len(states) and bool(np.all(states == State.FAILED)):
            cause = next(iter(table.causes.values()), "")
            raise KinemorphError(
                f"study: all of its first {len(states)} items failed: nothing can be estimated. {cause}"
            )
        if not self.names:
            raise KinemorphError(
                "study: none of its items has a measure: nothing can be estimated. Name measures, or start a study "
                "again that was interrupted before its first result."
            )
        return values, states


@contextmanager
def measured_items(model: Any, space: Space, measures: Any, options: Mapping[str, Any]) -> Iterator[MeasuredItems]:
    """Items of a space that are measured by one sweep with these options, which has ended after the context."""
    how, of_runs = divided(options)
    experiment = experiment_of(model, measures, objects=space.objects, **of_runs)
    with OpenSweep(experiment, how) as opened:
        yield MeasuredItems(space, experiment.names, opened.study)
    repeat_warnings(opened.warnings)  # failures are in the notes of the study


def stored_items(space: Space, study: Study, names: tuple[str, ...]) -> MeasuredItems:
    """Items of a space with the measures of these names that a study has; items that it does not have are waiting."""
    return MeasuredItems(space, names, lambda items: study)


def space_of(space: Space | Mapping[str, Any], what: str, count: int) -> Space:
    """The space of a statistical method, which draws its own items: parts by name suffice, and get `count` items."""
    if isinstance(space, Space):
        return space
    if isinstance(space, Mapping):
        return Space(space, design="random", count=count)
    raise UnsupportedError(
        f"{what}: the space is {type(space).__name__}, expected a Space or a mapping of names to parts. "
        'Write {"mass": Normal(1.0, 0.1)}.'
    )


def check_varies(space: Space, what: str) -> None:
    """Refuses a space all of whose parts are fixed."""
    if not space.dimensions:
        raise UnsupportedError(
            f"{what}: none of the parts {listed(space.parts)} varies. Use a Range or a distribution."
        )


def alpha_of(confidence: float, what: str) -> float:
    """The permitted probability of a miss."""
    if not is_number(confidence) or not 0.0 < confidence < 1.0:
        raise UnsupportedError(
            f"{what}: confidence is {confidence!r}, expected a number between 0 and 1, such as 0.95."
        )
    return 1.0 - confidence


def seed_of_study(seed: int | None, space: Space, what: str) -> int:
    """The seed of a study: that of its space by default."""
    if seed is None:
        return space.seed
    if not is_whole(seed) or seed < 0:
        raise UnsupportedError(f"{what}: seed is {seed!r}, expected a whole number of 0 or more.")
    return int(seed)


def check_measure(name: str, names: tuple[str, ...], what: str) -> None:
    """Refuses the name of a measure that the study does not have."""
    if name not in names:
        raise UnsupportedError(
            f"{what}: there is no measure '{name}'. The measures are {listed(names)}.{did_you_mean(name, names)}"
        )
