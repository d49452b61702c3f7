"""Items that are drawn by a statistical method, and the measures that a sweep gives them.

A method draws items one after the other, some of them twice, and asks for more when it has seen the first ones. Here
the items are measured by `sweep`, each once, and all in one store, so that a study that was interrupted goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.studies.items import Items
from kinemorph.studies.outcomes import State
from kinemorph.studies.spaces.distinct import distinct
from kinemorph.studies.spaces.item_spaces import ListedSpace
from kinemorph.studies.spaces.space import Space
from kinemorph.words import did_you_mean, listed

if TYPE_CHECKING:
    from kinemorph.studies.sweeps.study import Study


class MeasuredItems:
    """Measures of items by a sweep. `study` is that of the last sweep; it has all items that were measured so far."""

    def __init__(self, model: Any, space: Space, measures: Any, store: Any, options: Mapping[str, Any]) -> None:
        self.model, self.space, self.measures, self.store, self.options = model, space, measures, store, options
        self.names: tuple[str, ...] = ()
        self.study: Study | None = None

    def values(self, items: Items) -> tuple[Array, Array]:
        """The measures (n, k) of items, NaN for those that failed, and their states (n,): 0 means not computed."""
        from kinemorph.studies.sweeps.sweep import sweep

        listed_items = ListedSpace(distinct(items), self.space.objects)
        self.study = sweep(self.model, listed_items, self.measures, store=self.store, **self.options)
        table = self.study.table
        self.names = tuple(table.names)
        row_of = {key: row for row, key in enumerate(table.keys.tolist())}
        rows = np.array([row_of[key] for key in items.keys], dtype=np.int64)
        states = np.asarray(table.states)[rows]
        values = np.where((states == State.DONE)[:, None], np.asarray(table.measures)[rows], np.nan)
        if len(states) and bool(np.all(states == State.FAILED)):
            cause = next(iter(table.causes.values()), "")
            raise KinemorphError(
                f"study: all of its first {len(states)} items failed: nothing can be estimated. {cause}"
            )
        return values, states


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
    if not 0.0 < confidence < 1.0:
        raise UnsupportedError(
            f"{what}: confidence is {confidence!r}, expected a number between 0 and 1, such as 0.95."
        )
    return 1.0 - confidence


def check_measure(name: str, names: tuple[str, ...], what: str) -> None:
    """Refuses the name of a measure that the study does not have."""
    if name not in names:
        raise UnsupportedError(
            f"{what}: there is no measure '{name}'. The measures are {listed(names)}.{did_you_mean(name, names)}"
        )
