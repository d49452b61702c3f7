"""The items of a study as pictures need them: values of parts and measures, and which items are done or failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.display.canvas import raised
from kinemorph.errors import UnsupportedError
from kinemorph.studies.items import Column, Indices, Items
from kinemorph.studies.outcomes import State
from kinemorph.words import did_you_mean, quoted

WIDE = 30.0  # a part whose values span more than this factor may have a logarithmic axis


@dataclass(frozen=True, eq=False)
class PlottedItems:
    """n items of a study with k measures.

    `numbers` (n,)       the numbers of the items in their study
    `items`              the values of the parts
    `names`              the names of the measures
    `measures` (n, k)    NaN where an item failed or waits
    `states` (n,)        a State for each item, 0 where it waits
    `units`              the units of measures that have one
    """

    name: str
    numbers: Indices
    items: Items
    names: tuple[str, ...]
    measures: Array
    states: npt.NDArray[np.int8]
    units: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def done(self) -> npt.NDArray[np.bool_]:
        """Which items have measures, shape (n,)."""
        found: npt.NDArray[np.bool_] = self.states == State.DONE
        return found

    @property
    def failed(self) -> npt.NDArray[np.bool_]:
        """Which items failed, shape (n,)."""
        found: npt.NDArray[np.bool_] = self.states == State.FAILED
        return found

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts that have different values in different items."""
        return tuple(column.name for column in self.items.columns if _varies(column))

    @property
    def is_measured(self) -> bool:
        """Whether any item has a measure: a study may keep runs only."""
        return bool(self.names) and bool(self.done.any())

    def column(self, part: str, option: str = "plot") -> Column:
        """The column of a part. Raises UnsupportedError where there is no such part; `option` is named first."""
        if part not in self.items.names:
            raise UnsupportedError(
                f"{option}: the study has no part '{part}'.{did_you_mean(part, self.items.names)} Parts: "
                f"{quoted(self.items.names)}."
            )
        return self.items.column(part)

    def measure(self, name: str | None = None) -> tuple[str, Array]:
        """(name, values (n,)) of a measure, by default of the first one. Raises UnsupportedError for other names."""
        if not self.names and self.done.any():
            raise UnsupportedError(
                f"plot: '{self.name}' has no measures to show. Name measures when items are computed."
            )
        if not self.is_measured:
            raise UnsupportedError(
                f"plot: none of the {len(self):,} items of '{self.name}' has a result to show. See study.failed, and "
                "resume the study if items wait."
            )
        chosen = self.names[0] if name is None else name
        if chosen not in self.names:
            raise UnsupportedError(
                f"plot: the study has no measure '{chosen}'.{did_you_mean(chosen, self.names)} Measures: "
                f"{quoted(self.names)}."
            )
        return chosen, np.where(self.done, self.measures[:, self.names.index(chosen)], np.nan)

    def label(self, measure: str) -> str:
        """The name of a measure with its unit."""
        return _with_unit(measure, self.units.get(measure, ""))

    def taken(self, chosen: Any) -> PlottedItems:
        """Some of the items, by indices or a mask."""
        return replace(
            self,
            numbers=self.numbers[chosen],
            items=self.items.taken(chosen),
            measures=self.measures[chosen],
            states=self.states[chosen],
        )

    def where(self, values: Mapping[str, float | str]) -> PlottedItems:
        """The items that have given values of some parts. A number means the nearest one that the study has."""
        chosen = np.ones(len(self), dtype=bool)
        for part, value in values.items():
            column = self.column(part, "where")
            if column.labels:
                if value not in column.labels:
                    raise UnsupportedError(
                        f"where: '{part}' is {value!r}; expected one of {quoted(column.labels)}."
                        f"{did_you_mean(value, column.labels)}"
                    )
                chosen &= column.numbers == column.labels.index(str(value))
            elif isinstance(value, str):
                raise UnsupportedError(f"where: '{part}' is {value!r}; expected a number, since the part has numbers.")
            else:
                known = column.numbers[column.applies]
                nearest = known[np.argmin(np.abs(known - value))] if len(known) else np.nan
                chosen &= column.numbers == nearest
        if not chosen.any():
            wanted = ", ".join(f"{part} = {value}" for part, value in values.items())
            raise UnsupportedError(f"where: no item of '{self.name}' has {wanted}. Choose values that occur together.")
        return self.taken(chosen)

    def best(self, values: Array, largest: bool) -> int:
        """The index of the item with the largest or smallest of some values (n,), NaN left out."""
        return int(np.nanargmax(values) if largest else np.nanargmin(values))


def _with_unit(name: str, unit: str) -> str:
    return f"{name} [{raised(unit)}]" if unit else name


def _varies(column: Column) -> bool:
    """Whether different items have different values, or some have none."""
    applies = column.applies
    known = column.numbers[applies]
    return bool(len(known)) and bool((known != known[0]).any() or not applies.all())


@dataclass(frozen=True, eq=False)
class PartAxis:
    """A part as an axis of a picture: its values as places (n,), NaN where the part does not apply.

    Places are numbers, decadic logarithms where `log` is set, or the indices of `labels`.
    """

    name: str
    places: Array
    labels: tuple[str, ...] = ()
    unit: str = ""
    log: bool = False

    @property
    def label(self) -> str:
        """The name of the part with its unit."""
        return _with_unit(self.name, self.unit)

    @property
    def distinct(self) -> Array:
        """The places that occur, sorted."""
        found: Array = np.unique(self.places[~np.isnan(self.places)])
        return found

    def shown(self, places: Array) -> Array:
        """Places as numbers on the axis of a picture."""
        numbers: Array = 10.0**places if self.log else places
        return numbers


def axis_of(column: Column, log: bool | None = None) -> PartAxis:
    """The axis of a part. `log` is found from the values where it is None: wide ranges, evenly spread over decades."""
    if column.labels:
        used = sorted({int(k) for k in np.unique(column.numbers) if k >= 0}, key=lambda k: column.labels[k])
        used = [k for k in range(len(column.labels)) if k in used]  # in the order in which they are declared
        places = np.full(len(column.numbers), np.nan)
        for place, k in enumerate(used):
            places[column.numbers == k] = place
        return PartAxis(column.name, places, tuple(column.labels[k] for k in used), column.unit)
    numbers: Array = np.asarray(column.numbers, dtype=float)
    spread = _over_decades(numbers) if log is None else log and bool((numbers[~np.isnan(numbers)] > 0.0).all())
    return PartAxis(column.name, np.log10(numbers) if spread else numbers, (), column.unit, spread)


def _over_decades(numbers: Array) -> bool:
    """Whether values are positive, span a wide range, and are spread evenly over its decades."""
    known = numbers[~np.isnan(numbers)]
    if not len(known) or known.min() <= 0.0 or known.max() < WIDE * known.min():
        return False
    low, high, middle = known.min(), known.max(), float(np.median(known))
    even = abs(np.log(middle / low) / np.log(high / low) - 0.5)
    return bool(even < abs((middle - low) / (high - low) - 0.5))


def cells(axes: Sequence[PartAxis]) -> tuple[Array, Indices]:
    """(places (m, d) that occur, and for each item the index of its place (n,); -1 where a part does not apply)."""
    places = np.column_stack([axis.places for axis in axes])
    applies = ~np.isnan(places).any(axis=1)
    index = np.full(len(places), -1, dtype=np.int64)
    found, inverse = np.unique(places[applies], axis=0, return_inverse=True)
    index[applies] = inverse.reshape(-1)
    return found, index
