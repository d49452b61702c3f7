"""Cases: what items have in common that are computed by one program."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from kinemorph.studies.items import Indices, Items


class Case(NamedTuple):
    """The choices that some items share, as (part, label), and the names of the numbers that they have.

    An item is computed by the program of its own case. Therefore its result does not depend on other items, not even on
    which parts these have.
    """

    labels: tuple[tuple[str, str], ...]
    names: tuple[str, ...]

    @property
    def chosen(self) -> dict[str, str]:
        """The labels by part."""
        return dict(self.labels)


def case_of(items: Items, k: int, among: Collection[str] | None = None) -> Case:
    """The case of item k, of the parts `among`, or of all."""
    labels, names = [], []
    for column in items.columns:
        value = column.value(k)
        if value is not None and (among is None or column.name in among):
            if isinstance(value, str):
                labels.append((column.name, value))
            else:
                names.append(column.name)
    return Case(tuple(labels), tuple(names))


def alike(items: Items, labels: Collection[str], applying: Collection[str]) -> Iterator[Indices]:
    """The indices of items that agree in the labels of some parts, and in whether other parts apply to them.

    The groups are in the order of their first items, and the indices of each ascend.
    """
    if not items.count:
        return
    code = np.zeros(items.count, dtype=np.int64)
    for column in items.columns:
        if column.name in labels and column.labels:
            code = code * (len(column.labels) + 1) + column.numbers + 1
        elif column.name in labels or column.name in applying:
            code = code * 2 + column.applies
        code = np.unique(code, return_inverse=True)[1] if code.max() > 2**31 else code
    _, first, place = np.unique(code, return_index=True, return_inverse=True)
    ordered = np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place))[:-1])
    yield from (ordered[k] for k in np.argsort(first))
