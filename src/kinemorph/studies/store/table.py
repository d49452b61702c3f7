"""All items of a store with their results, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.studies.items import KEY_BYTES, Indices, Items

Keys = npt.NDArray[np.void]  # (n,), KEY_BYTES each
KEY = np.dtype(f"V{KEY_BYTES}")
TOGETHER = 20_000  # rows that are read, written or checked at a time
WAITING = 0  # the state of an item without a result; others are those of `State`


@dataclass(frozen=True, eq=False)
class Table:
    """n items with their results, in the order of their numbers.

    `numbers` (n,)          the numbers of the items, ascending
    `keys` (n,)             their keys, 16 bytes each; `table.key(k)` is that of row k as bytes
    `items`                 their values
    `names`                 the names of the measures
    `measures` (n, k)       NaN where an item is waiting or failed
    `states` (n,)           0 while an item is waiting, otherwise a State
    `causes`                why items failed, by number
    `runs`                  the names of kept runs, by number
    `units`                 the units of measures that have one, by name
    """

    numbers: Indices
    keys: Keys
    items: Items
    names: tuple[str, ...]
    measures: Array
    states: npt.NDArray[np.int8]
    causes: Mapping[int, str]
    runs: Mapping[int, str]
    units: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.numbers)

    def key(self, k: int) -> bytes:
        """The key of the item in row k."""
        return bytes(self.keys[k].tobytes())

    def measure(self, name: str) -> Array:
        """One measure of all items, shape (n,)."""
        found: Array = self.measures[:, self.names.index(name)]
        return found

    def arranged(self, names: Sequence[str]) -> Table:
        """The table with its measures in the order of these names, which are all of them."""
        if tuple(names) == self.names:
            return self
        columns = [self.names.index(name) for name in names]
        return replace(self, names=tuple(names), measures=self.measures[:, columns])

    def rows(self, numbers: Any) -> Indices:
        """The rows of the items with these numbers, all of which the table has."""
        found: Indices = np.searchsorted(self.numbers, numbers)
        return found


def keys_of(items: Items) -> Keys:
    """The keys of items as an array, shape (n,). Their Python objects live only for some items at a time."""
    pieces = [b"".join(items.taken(slice(k, k + TOGETHER)).keys) for k in range(0, len(items), TOGETHER)]
    return np.frombuffer(b"".join(pieces), dtype=KEY)
