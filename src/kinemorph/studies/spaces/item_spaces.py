"""What all spaces have in common: items, and the objects behind labels. Also listed items, and unions of spaces."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinemorph.errors import UnsupportedError
from kinemorph.frozen import Fixed, dataclass
from kinemorph.studies.items import Column, Items, Value, items_of, label_column, number_column
from kinemorph.studies.spaces.distinct import distinct
from kinemorph.studies.spaces.parts import float_of, is_number, label_of, text_of
from kinemorph.words import counted


class ItemSpace(ABC):
    """Items of a study, and the objects behind the labels of their choices.

    len(space)          how many items there are; those of a grid are counted, not made
    space + other       the items of both, each once
    """

    @property
    @abstractmethod
    def items(self) -> Items:
        """The items, each once."""

    @property
    @abstractmethod
    def objects(self) -> dict[str, dict[str, Any]]:
        """For every part with labels, the objects behind them: {part: {label: object}}."""

    @property
    def size(self) -> int:
        """How many items there are."""
        return len(self.items)

    def __len__(self) -> int:
        if self.size > sys.maxsize:
            raise UnsupportedError(f"space: it has more items than `len` can tell. Use `size`: it is {self.size:.3e}.")
        return self.size

    def __bool__(self) -> bool:
        return True  # without counting items

    def values(self, item: Mapping[str, Value]) -> dict[str, Any]:
        """The values of one item by name, with objects in place of their labels."""
        objects = self.objects
        return {name: objects[name][str(value)] if name in objects else value for name, value in item.items()}

    def __add__(self, other: ItemSpace) -> ItemSpace:
        if not isinstance(other, ItemSpace):
            return NotImplemented
        return union_of([self, other])


@dataclass(frozen=True, eq=False)
class ListedSpace(ItemSpace, Fixed):
    """A space whose items are listed one by one, or are those of other spaces."""

    listed: Items
    labeled: dict[str, dict[str, Any]]

    @property
    def items(self) -> Items:
        return self.listed

    @property
    def objects(self) -> dict[str, dict[str, Any]]:
        return self.labeled

    def __repr__(self) -> str:
        return f"ListedSpace({counted(len(self.listed), 'item')} of {', '.join(self.listed.names)})"


def listed_space(items: Sequence[Mapping[str, Any]]) -> ListedSpace:
    """A space with exactly these items. Values are numbers, texts, or objects that have a name.

    A part that an item does not name does not apply to it. An item that is given twice is there once.
    """
    rows = list(items) if isinstance(items, Sequence) and not isinstance(items, str) else items
    if not isinstance(rows, list) or not rows or not all(isinstance(row, Mapping) for row in rows):
        raise UnsupportedError(
            f"space: its items are {text_of(items)}, expected a list of at least one mapping of names to values. "
            'Write Space.of([{"mass": 1.0}, {"mass": 2.0}]).'
        )
    columns, objects = [], {}
    for name in dict.fromkeys(name for row in rows for name in row):
        if not isinstance(name, str) or not name or not name.isprintable():
            raise UnsupportedError(
                f"space: a part is called {text_of(name)}, expected a printable text. "
                "Give it the name of what it varies."
            )
        given = [row.get(name) for row in rows]
        if all(value is None or is_number(value) for value in given):
            columns.append(_listed_numbers(name, given))
        else:
            column, objects[name] = _listed_labels(name, given)
            columns.append(column)
    return ListedSpace(distinct(items_of(columns) if columns else Items((), len(rows))), objects)


def _listed_numbers(name: str, given: list[Any]) -> Column:
    for k, value in enumerate(given):
        if value is not None and not np.isfinite(float_of(value)):
            raise UnsupportedError(
                f"part '{name}': item {k} has the value {text_of(value)}, expected a finite number. "
                "Leave the part out of items to which it does not apply."
            )
    return number_column(name, [np.nan if value is None else value for value in given])


def _listed_labels(name: str, given: list[Any]) -> tuple[Column, dict[str, Any]]:
    objects: dict[str, Any] = {}
    indices: list[int] = []
    index: dict[str, int] = {}
    for k, value in enumerate(given):
        if value is None:
            indices.append(-1)
            continue
        label = label_of(value)
        if not label or not label.isprintable():
            raise UnsupportedError(
                f"part '{name}': item {k} has the value {text_of(value)}, which has no printable name. "
                "Use a Space with Choice({label: value}) for it."
            )
        _add_object(name, objects, label, value)
        indices.append(index.setdefault(label, len(index)))
    return label_column(name, indices, list(index)), objects


def _add_object(name: str, objects: dict[str, Any], label: str, value: Any) -> None:
    """Adds an object to those of a part; refuses another object with the same label."""
    known = objects.setdefault(label, value)
    if known is value or (type(known) is type(value) and not isinstance(known, np.ndarray) and known == value):
        return
    raise UnsupportedError(
        f"part '{name}': the label '{label}' stands for two different objects, {text_of(known)} and {text_of(value)}. "
        "Give them different labels."
    )


def union_of(spaces: Sequence[ItemSpace]) -> ListedSpace:
    """The items of several spaces in the order of these, each once."""
    objects: dict[str, dict[str, Any]] = {}
    for space in spaces:
        for name, labeled in space.objects.items():
            for label, value in labeled.items():
                _add_object(name, objects.setdefault(name, {}), label, value)
    pieces = [space.items for space in spaces]
    names = dict.fromkeys(name for items in pieces for name in items.names)
    columns = [_joined(name, pieces) for name in names]
    return ListedSpace(distinct(items_of(columns) if columns else pieces[0]), objects)


def _joined(name: str, pieces: Sequence[Items]) -> Column:
    """The column of a part for the items of several spaces."""
    having = [items.column(name) for items in pieces if name in items.names]
    if len({bool(column.labels) for column in having}) > 1:
        raise UnsupportedError(
            f"part '{name}': it has numbers in one space and labels in another. Use the same kind of part in both."
        )
    labels = list(dict.fromkeys(label for column in having for label in column.labels))
    numbers = []
    for items in pieces:
        if name not in items.names:
            numbers.append(np.full(items.count, -1 if labels else np.nan))
            continue
        column = items.column(name)
        index = np.array([labels.index(label) for label in column.labels] + [-1])  # index -1 is the last one
        numbers.append(index[column.numbers] if labels else column.numbers)
    joined = np.concatenate(numbers)
    return label_column(name, joined, labels) if labels else number_column(name, joined, having[0].unit)
