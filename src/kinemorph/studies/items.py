"""Items of a study: what one run gets, as a value for each part that is varied.

Items are kept as columns, so that a million of them take little memory. A column has numbers, or the indices of its
labels for a part with choices; an item to which a part does not apply has NaN or -1 there.

Every item has a key of its content: a digest of the names and values of the parts that apply to it. The key depends
neither on the order of parts and items nor on other items: an item is recognized in a larger or reordered study.
Its seed is a part of that key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.errors import UnsupportedError

Number = float
Value = Number | str  # a number, or the label of a choice
Indices = npt.NDArray[np.int64]
KEY_BYTES = 16


@dataclass(frozen=True, eq=False)
class Column:
    """The values of one part for n items: `numbers` (n,), which are indices of `labels` where there are labels.

    Where the part does not apply, a number is NaN, and an index is -1. `unit` is that of the numbers, or empty.
    """

    name: str
    numbers: npt.NDArray[Any]
    labels: tuple[str, ...] = ()
    unit: str = ""

    @property
    def applies(self) -> npt.NDArray[np.bool_]:
        """Which items have a value of this part, shape (n,)."""
        found: npt.NDArray[np.bool_] = self.numbers >= 0 if self.labels else ~np.isnan(self.numbers)
        return found

    def value(self, k: int) -> Value | None:
        """The value of item k, or None where the part does not apply."""
        number = self.numbers[k]
        if self.labels:
            return self.labels[number] if number >= 0 else None
        return None if np.isnan(number) else float(number)

    def taken(self, chosen: Any) -> Column:
        """The column of some of the items, by indices, a slice or a mask."""
        return Column(self.name, self.numbers[chosen], self.labels, self.unit)

    def texts(self) -> list[str]:
        """The values of all items as texts of which keys are made; empty where the part does not apply."""
        if self.labels:
            known = [f"{self.name}={label!r}\n" for label in self.labels] + [""]  # index -1 is the last one
            return [known[number] for number in self.numbers.tolist()]
        return [f"{self.name}={number!r}\n" if number == number else "" for number in self.numbers.tolist()]


def number_column(name: str, numbers: Any, unit: str = "") -> Column:
    """A column of numbers. Minus zero becomes zero, since they are the same number and must have the same key."""
    values: Array = np.asarray(numbers, dtype=float) + 0.0
    return Column(name, values, (), unit)


def label_column(name: str, indices: Any, labels: Sequence[str]) -> Column:
    """A column of choices: the indices of their labels, -1 where the part does not apply."""
    return Column(name, np.asarray(indices, dtype=np.int64), tuple(labels))


@dataclass(frozen=True, eq=False)
class Items:
    """n items as columns, one for each part that is varied, sorted by name.

    items[3]                the values of item 3 by name, without those of parts that do not apply to it
    items.taken([0, 5])     some of the items
    """

    columns: tuple[Column, ...]
    count: int

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, k: int) -> dict[str, Value]:
        values = ((column.name, column.value(k)) for column in self.columns)
        return {name: value for name, value in values if value is not None}

    def __iter__(self) -> Iterator[dict[str, Value]]:
        return (self[k] for k in range(self.count))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parts, sorted."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        """The column of a part."""
        return self.columns[self.names.index(name)]

    def taken(self, chosen: Any) -> Items:
        """Some of the items, by indices, a slice or a mask."""
        columns = tuple(column.taken(chosen) for column in self.columns)
        return Items(columns, len(np.arange(self.count)[chosen]))

    @cached_property
    def keys(self) -> list[bytes]:
        """The keys of all items, KEY_BYTES each."""
        texts = [column.texts() for column in self.columns]
        if not texts:
            return [key_of({})] * self.count
        return [_digest("".join(parts)) for parts in zip(*texts, strict=True)]

    def seed(self, k: int) -> int:
        """The seed of item k for random numbers: the first half of its key."""
        return seed_of(self.keys[k])


def items_of(columns: Sequence[Column]) -> Items:
    """Items from their columns, which have the same length and different names."""
    ordered = tuple(sorted(columns, key=lambda column: column.name))
    lengths = {len(column.numbers) for column in ordered}
    if len(lengths) > 1 or len({column.name for column in ordered}) < len(ordered):
        raise UnsupportedError(
            "items: columns of a study have different lengths or a name in common: "
            f"{', '.join(f'{column.name} ({len(column.numbers)})' for column in ordered)}."
        )
    return Items(ordered, lengths.pop() if lengths else 0)


def key_of(values: Mapping[str, Value]) -> bytes:
    """The key of one item, from its values by name."""
    columns = [
        label_column(name, [0], [value]) if isinstance(value, str) else number_column(name, [value])
        for name, value in sorted(values.items())
    ]
    return _digest("".join(column.texts()[0] for column in columns))


def seed_of(key: bytes) -> int:
    """The seed that belongs to the key of an item: 64 bits."""
    return int.from_bytes(key[:8], "little")


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=KEY_BYTES).digest()
