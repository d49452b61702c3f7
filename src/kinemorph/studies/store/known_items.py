"""The items that a store has, in the memory of its writer: about 40 bytes for each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kinemorph.studies.items import Indices
from kinemorph.studies.store.table import KEY, WAITING, Keys

_SORTABLE = f"S{KEY.itemsize}"


class KnownItems:
    """The keys of items by number, and their states.

    `keys` (m,)         the key of each number below m
    `is_known` (m,)     whether a number is used; damaged items leave gaps
    `states` (m,)       0 while an item is waiting
    """

    def __init__(self, numbers: Indices, keys: Keys, states: npt.NDArray[np.int8]) -> None:
        count = int(numbers[-1]) + 1 if len(numbers) else 0
        self.keys: Keys = np.zeros(count, dtype=KEY)
        self.is_known = np.zeros(count, dtype=bool)
        self.states = np.full(count, WAITING, dtype=np.int8)
        self.keys[numbers], self.is_known[numbers], self.states[numbers] = keys, True, states
        self._order: Indices = _order_of(numbers, keys)  # numbers of all known items in the order of their keys

    def numbered(self, keys: Keys) -> tuple[Indices, Indices]:
        """Numbers for keys, and the places of those that are new, each once and in the order of their numbers.

        Known keys have their number; new ones get the gaps first, in their order, and then the next numbers.
        """
        wanted, first, same = np.unique(keys.view(_SORTABLE), return_index=True, return_inverse=True)
        numbers = np.full(len(wanted), -1, dtype=np.int64)
        if len(self._order):
            known = self.keys[self._order].view(_SORTABLE)
            places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
            found = known[places] == wanted
            numbers[found] = self._order[places[found]]
        new = np.flatnonzero(numbers < 0)
        new = new[np.argsort(first[new])]
        gaps = np.flatnonzero(~self.is_known)[: len(new)]
        count = len(self.keys)
        numbers[new] = np.concatenate([gaps, np.arange(count, count + len(new) - len(gaps))])
        return numbers[same.reshape(-1)], first[new]

    def add(self, numbers: Indices, keys: Keys) -> None:
        """Adds new items, in the order of their numbers."""
        if not len(numbers):
            return
        more = max(int(numbers[-1]) + 1 - len(self.keys), 0)
        self.keys = np.concatenate([self.keys, np.zeros(more, dtype=KEY)])
        self.is_known = np.concatenate([self.is_known, np.zeros(more, dtype=bool)])
        self.states = np.concatenate([self.states, np.full(more, WAITING, dtype=np.int8)])
        self.keys[numbers], self.is_known[numbers] = keys, True
        new = _order_of(numbers, keys)
        known = self.keys[self._order].view(_SORTABLE)
        places = np.searchsorted(known, self.keys[new].view(_SORTABLE))
        self._order = np.insert(self._order, places, new)

    def has(self, numbers: Indices) -> npt.NDArray[np.bool_]:
        """Which of these numbers are those of known items."""
        inside = (numbers >= 0) & (numbers < len(self.keys))
        inside[inside] = self.is_known[numbers[inside]]
        return inside


def _order_of(numbers: Indices, keys: Keys) -> Indices:
    found: Indices = numbers[np.argsort(keys.view(_SORTABLE), kind="stable")]
    return found
