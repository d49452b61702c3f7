"""Measures of a study: numbers of each run, by name.

A measure is the name of an Integral, a text with names of signals at the end of the run, a law f(t, q, v, ...) there,
an Integral, which is added to the model, or a function of the whole run, a Trajectory. The texts "max(COLUMN)" and
"min(COLUMN)" are such functions: the extreme value of a column of the run, at its samples.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from kinemorph.analysis.searches.law_values import function_of_result, is_law
from kinemorph.errors import UnsupportedError
from kinemorph.model.elements.sensing.integrals import Integral
from kinemorph.plants.programs import Plant
from kinemorph.simulation.results.columns import sources, unknown_column
from kinemorph.simulation.results.quantities import quantities
from kinemorph.simulation.results.segment import Segment

EXTREME = re.compile(r"\s*(max|min)\s*\(\s*([^(),]*[^(),\s])\s*\)\s*")
Given: TypeAlias = str | Integral | Callable[..., Any]
Measures: TypeAlias = Given | Iterable[Given] | Mapping[str, Given]
EXPECTED = (
    "expected the name of an Integral, a text such as 'work / q.x', an Integral, a law f(t, q, v), or a function of "
    "the run"
)


@dataclass(frozen=True, eq=False)
class Measure:
    """One number of a run, with its name; `given` is what the user gave for it."""

    name: str
    given: Given

    @property
    def of_run(self) -> bool:
        """Whether it is a function of the whole run, which is called in Python."""
        return self.extreme is not None or (callable(self.given) and not is_law(self.given))

    @property
    def extreme(self) -> tuple[str, str] | None:
        """("max" or "min", name of a column), where the measure is such a text."""
        found = EXTREME.fullmatch(self.given) if isinstance(self.given, str) else None
        return (found[1], found[2].replace("`", "")) if found else None

    def of(self, result: Any) -> Any:
        """What a function of the whole run, or such a text, gives for a result."""
        if self.extreme is None:
            return self.given(result)  # type: ignore[operator]
        which, name = self.extreme
        return (np.nanmax if which == "max" else np.nanmin)(result[name])

    def check(self, plant: Plant) -> None:
        """Raises ShapeError where the text names a column that runs of a plant do not have."""
        name = self.extreme[1] if self.extreme else "t"
        known, more = sources(Segment.empty(plant)), quantities(plant.robot)
        if name not in known and name not in more and not name.startswith("energy."):  # a run says why it has none
            raise unknown_column(f"measure '{self.name}': a run of '{plant.name}'", name, [*known], more)

    @property
    def law(self) -> Any:
        """The text or the law of the final state; None for a function of the run."""
        return self.given.name if isinstance(self.given, Integral) else None if self.of_run else self.given


def measures_of(given: Measures | None) -> tuple[Measure, ...]:
    """The measures that a user gives: {name: measure}, a list of measures, or one; raises UnsupportedError for others.

    A measure without a name of its own is called by its text, or by the name of its function or Integral.
    """
    if given is None:
        return ()
    if isinstance(given, Mapping):
        pairs = [*given.items()]
    elif isinstance(given, (str, Integral)) or callable(given) or not isinstance(given, Iterable):
        pairs = [(_name(given), given)]
    else:
        pairs = [(_name(measure), measure) for measure in given]
    found: dict[str, Measure] = {}
    for name, measure in pairs:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise UnsupportedError(f"measures: a measure has the name {name!r:.60}; expected text. Name it.")
        if not (isinstance(measure, (str, Integral)) or callable(measure)):
            raise UnsupportedError(f"measure '{name}' is {measure!r:.60}; {EXPECTED}.")
        if name in found:
            raise UnsupportedError(f"measure '{name}' is given twice. Give measures with names: {{'name': measure}}.")
        found[name] = Measure(name, measure)
        if found[name].of_run and callable(measure):
            function_of_result(measure, f"measure '{name}': the function")
    return tuple(found.values())


def _name(given: Any) -> str:
    if isinstance(given, str):
        return given
    if isinstance(given, Integral):
        return given.name
    name = str(getattr(given, "__name__", ""))
    if callable(given) and name in ("", "<lambda>"):
        raise UnsupportedError("measures: a function has no name of its own. Name it: {'speed': lambda run: ...}.")
    if not name:
        raise UnsupportedError(f"measures: {given!r:.60} is given; {EXPECTED}.")
    return name


def number_of(value: Any, name: str) -> float:
    """The number that a measure returned; raises UnsupportedError for anything but a finite number."""
    shape = np.shape(value) if isinstance(value, (np.ndarray, list, tuple)) else ()
    if shape:
        raise UnsupportedError(f"measure '{name}' has the shape {shape}; expected one number.")
    if isinstance(value, np.ndarray):
        value = value[()]
    if not isinstance(value, (Real, np.number, np.bool_)) or isinstance(value, np.complexfloating):
        raise UnsupportedError(f"measure '{name}' is {value!r:.60}; expected one number.")
    try:
        number = float(value)
    except OverflowError:  # of a whole number or a fraction that is too large
        raise UnsupportedError(f"measure '{name}' is beyond the largest float; expected a finite number.") from None
    if not np.isfinite(number):
        raise UnsupportedError(f"measure '{name}' is {number}; expected a finite number.")
    return number
