"""Parts of a space: what is varied, and the values that it may take.

    Range(0.5, 2.0)                  all numbers of an interval; in a grid, `points` of them
    Range(1e-3, 10.0, log=True)      the same, uniform in the logarithm
    Values([0.1, 0.2, 0.5])          these numbers
    Choice("trot", "wave")           texts
    Choice({"soft": k1, "hard": k2}) any objects, such as models or elements, under labels

A part maps numbers of the unit interval to its values, so that every design can use every part. Parts with labels have
indices of these labels as values.
"""

from __future__ import annotations

import dataclasses
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.errors import Problem
from kinemorph.frozen import dataclass
from kinemorph.studies.items import Column, Value, label_column, number_column

LEAST_RATIO = 1e-12  # how much the ratio of two points of a logarithmic grid differs from 1, at least
SHOWN_DIGITS = 15  # significant digits of the numbers of a grid: 0.3, not 0.30000000000000004, and so has its key


class Part(ABC):
    """One thing that is varied. A part whose values are not numbers has `labels`, and indices of them as values."""

    labels: tuple[str, ...] = ()

    @abstractmethod
    def problems(self, name: str) -> list[Problem]:
        """What is wrong with the part, which is called `name` in its space."""

    @abstractmethod
    def at(self, unit: Array) -> npt.NDArray[Any]:
        """The values at numbers of the unit interval, shape (n,): numbers, or indices of labels.

        Uniform numbers give the distribution of the part.
        """

    @property
    def size(self) -> int | None:
        """How many values the part has in a grid; None if it cannot be a part of a grid."""
        return None

    @property
    def listed(self) -> bool:
        """Whether the part has a list of values, so that a condition can name some of them."""
        return False

    def grid(self) -> npt.NDArray[Any]:
        """All values of the part in a grid, shape (size,): numbers, or indices of labels; none where it has no size."""
        return np.empty(0)

    def column(self, name: str, values: npt.NDArray[Any]) -> Column:
        """The column of items with these values."""
        return label_column(name, values, self.labels) if self.labels else number_column(name, values)


@dataclass(frozen=True)
class Range(Part):
    """All numbers from `low` to `high`, uniformly, or uniformly in their logarithm.

    `points` is how many of them a grid has, with both ends; other designs do not use it.
    """

    low: float
    high: float
    log: bool = False
    points: int | None = None

    def problems(self, name: str) -> list[Problem]:
        found = number_problems(name, low=self.low, high=self.high)
        if not found and not self.low < self.high:
            shown = f"the range has low = {text_of(self.low)} and high = {text_of(self.high)}, expected low < high"
            found.append(Problem("part", name, shown, "Swap them, or use Choice(value) for a fixed value.", "low"))
        elif not found and self.log and not self.low > 0:
            shown = f"low is {text_of(self.low)} in a logarithmic range, expected a number above 0"
            found.append(Problem("part", name, shown, "Raise low, or leave log out.", "low"))
        if self.points is not None and (not is_whole(self.points) or self.points < 2):
            shown = f"points is {self.points!r}, expected a whole number of 2 or more"
            found.append(Problem("part", name, shown, "Use Choice(value) for a fixed value.", "points"))
        elif not found and self.points is not None and not self._is_wide(self.points):
            shown = f"points is {self.points}, but the range from {self.low!r} to {self.high!r} has not so many numbers"
            found.append(Problem("part", name, shown, "Widen the range, or use fewer points.", "points"))
        return found

    def _is_wide(self, points: int) -> bool:
        """Whether so many points of the range are different numbers of 64 bits."""
        if self.log:
            return math.log(self.high) - math.log(self.low) >= LEAST_RATIO * points
        return self.high - self.low >= 4.0 * math.ulp(max(abs(self.low), abs(self.high))) * points

    def at(self, unit: Array) -> Array:
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            return np.clip(np.exp(low * (1.0 - unit) + high * unit), self.low, self.high)
        return np.clip(self.low * (1.0 - unit) + self.high * unit, self.low, self.high)

    @property
    def size(self) -> int | None:
        return self.points

    def grid(self) -> Array:
        assert self.points is not None
        inner = self.at(np.arange(1, self.points - 1) / (self.points - 1)).tolist()
        rounded = np.array([self.low, *(float(f"{value:.{SHOWN_DIGITS}g}") for value in inner), self.high], dtype=float)
        is_rising = bool((np.diff(rounded) > 0.0).all())
        return rounded if is_rising else np.array([self.low, *inner, self.high], dtype=float)


Uniform = Range  # the name that a Range has among distributions


@dataclass(frozen=True)
class Values(Part):
    """These numbers, all equally often."""

    numbers: tuple[float, ...]

    def __post_init__(self) -> None:
        given: Any = self.numbers
        if isinstance(given, np.ndarray):
            given = given.tolist()
        plain = isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping))
        vars(self)["numbers"] = tuple(given) if plain else given

    def problems(self, name: str) -> list[Problem]:
        if not isinstance(self.numbers, tuple) or not self.numbers:
            shown = f"its values are {text_of(self.numbers)}, expected a list with at least one number"
            return [Problem("part", name, shown, "Write Values([1.0, 2.0]).", "values")]
        return number_problems(name, *self.numbers) or _twice(name, self.numbers, "value")

    def at(self, unit: Array) -> Array:
        return self.grid()[index_at(unit, len(self.numbers))]

    @property
    def size(self) -> int:
        return len(self.numbers)

    @property
    def listed(self) -> bool:
        return True

    def grid(self) -> Array:
        return np.array(self.numbers, dtype=float)


@dataclasses.dataclass(frozen=True, init=False)
class Choice(Part):
    """One of some values, all equally often: Choice("trot", "wave"), or Choice({label: value}) for any objects.

    Choices that are all plain numbers are a column of numbers. Other choices are known by their labels: texts and paths
    are their own labels, a number's label is its text, and objects that have a name are called by it. The labels, not
    the objects, are in the keys of items.
    """

    labels: tuple[str, ...]
    options: tuple[Any, ...]

    def __init__(self, *options: Any) -> None:
        pairs = [*options[0].items()] if len(options) == 1 and isinstance(options[0], Mapping) else None
        if pairs is not None:
            labels, options = tuple(label_of(label) for label, _ in pairs), tuple(value for _, value in pairs)
        else:
            labels = () if all(map(is_number, options)) else tuple(map(label_of, options))
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "options", options)

    def problems(self, name: str) -> list[Problem]:
        if not self.options:
            return [Problem("part", name, "it has no choices, expected at least one", "Write Choice(a, b).", "choices")]
        if not self.labels:
            return number_problems(name, *self.options) or _twice(name, self.options, "choice")
        for label, value in zip(self.labels, self.options, strict=True):
            if not label or not label.isprintable():
                shown = f"the choice {text_of(value)} has no printable name that could be its label"
                return [Problem("part", name, shown, 'Write Choice({"label": value}).', "choices")]
        return _twice(name, self.labels, "choice")

    def at(self, unit: Array) -> npt.NDArray[Any]:
        return self.grid()[index_at(unit, len(self.options))]

    @property
    def size(self) -> int:
        return len(self.options)

    @property
    def listed(self) -> bool:
        return True

    def grid(self) -> npt.NDArray[Any]:
        return np.arange(len(self.options)) if self.labels else np.array(self.options, dtype=float)

    @property
    def objects(self) -> dict[str, Any]:
        """The objects behind the labels; empty for numbers."""
        return dict(zip(self.labels, self.options, strict=True)) if self.labels else {}


# ── values and their texts ────────────────────────────────────────────────────────────────────────────────────────────


def is_number(value: object) -> bool:
    """Whether a value is a plain number. True and False are not: they are choices with these labels."""
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def is_whole(value: object) -> bool:
    """Whether a value is a whole number."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def label_of(value: object) -> str:
    """The label of a choice: the text itself, the text of a number or a path, or the name of an object; else empty."""
    if isinstance(value, str):
        return value
    if is_number(value):
        number = float_of(value)  # the same label for 1 and 1.0
        return repr(number).removesuffix(".0") if math.isfinite(number) else str(value)
    if isinstance(value, (bool, np.bool_)):
        return str(value)
    if isinstance(value, os.PathLike):
        return str(os.fspath(value)).replace(os.sep, "/")
    name = getattr(value, "name", "") or getattr(value, "__name__", "")
    return name if isinstance(name, str) and name != "<lambda>" else ""


def known_value(value: object) -> Value:
    """A value as items have it: a number, or a label."""
    return float_of(value) if is_number(value) else label_of(value)


def float_of(value: Any) -> float:
    """A number of 64 bits; infinite where a whole number is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def text_of(value: object) -> str:
    """A value as it is shown in messages, not too long."""
    text = f"{value:.15g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def number_problems(name: str, *numbers: Any, **fields: Any) -> list[Problem]:
    """The problem of the first of some values of a part that is not a finite number."""
    for key, value in [*(("", number) for number in numbers), *fields.items()]:
        found = f"{key} is {text_of(value)}" if key else f"one of its values is {text_of(value)}"
        if not is_number(value):
            return [Problem("part", name, f"{found}, expected a number", "Write a plain number.", key, "number")]
        if not math.isfinite(float_of(value)):
            return [Problem("part", name, f"{found}, expected a finite number", "Write one.", key, "number")]
    return []


def _twice(name: str, values: tuple[Any, ...], noun: str) -> list[Problem]:
    """The problem of a part that has a value twice; whole numbers and fractions count as numbers of 64 bits."""
    seen: set[Any] = set()
    for value in values:
        known = float_of(value) if is_number(value) else value
        if known in seen:
            shown = f"the {noun} {text_of(value)} is given twice, expected different ones"
            return [Problem("part", name, shown, "Remove one of them.", f"{noun}s", "name")]
        seen.add(known)
    return []


def index_at(unit: Array, count: int) -> npt.NDArray[np.int64]:
    """The indices of `count` equal parts of the unit interval in which numbers lie."""
    return np.minimum((unit * count).astype(np.int64), count - 1)
