"""Models that are functions: they get the values of an item by name, and return measures or a system to simulate."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from kinemorph.errors import KinemorphError, UnsupportedError, told
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.studies.experiments.collected import Places
from kinemorph.studies.experiments.measures import Measure, number_of
from kinemorph.studies.items import Items, Value, seed_of
from kinemorph.words import did_you_mean, listed

VALUE = "value"  # the name of the measure of a function that returns a number
SEED = "seed"  # the argument that gets the seed of an item
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
FAILURES = (Exception, SystemExit)  # of a user's function: they concern one item


class FunctionModel:
    """A function as a model, and which of its arguments a study can give."""

    def __init__(self, function: Callable[..., Any], objects: Mapping[str, Mapping[str, Any]]) -> None:
        self.function, self.objects = function, objects

    @property
    def name(self) -> str:
        """The name of the function, for messages."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    @cached_property
    def _signature(self) -> inspect.Signature | None:
        try:
            return inspect.signature(self.function)
        except (TypeError, ValueError):  # of a function that is not written in Python
            return None

    def takes(self, name: str) -> bool:
        """Whether an argument of this name can be given."""
        if self._signature is None:
            return True
        kinds = {parameter.name: parameter.kind for parameter in self._signature.parameters.values()}
        named = kinds.get(name) in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        return named or (inspect.Parameter.VAR_KEYWORD in kinds.values() and name != "model")

    @property
    def seeded(self) -> bool:
        """Whether the function has an argument for the seed of an item."""
        return self._signature is not None and SEED in self._signature.parameters

    def check(self, names: Iterable[str]) -> None:
        """Raises UnsupportedError where an argument that the function needs is not among the names."""
        given = {*names, SEED}
        for parameter in self._signature.parameters.values() if self._signature else ():
            is_optional = parameter.default is not parameter.empty or parameter.kind in VARIADIC
            if parameter.name not in given and not is_optional:
                raise UnsupportedError(
                    f"the model function '{self.name}' needs a value of '{parameter.name}', which the space does not "
                    f"give. Its parts are {listed(sorted(given - {SEED}))}. Add a part of that name, or give the "
                    "argument a default."
                )

    def unknown(self, name: str, others: Iterable[str] = ()) -> UnsupportedError:
        """The error for a name that is no argument of the function."""
        known = [*(self._signature.parameters if self._signature else ()), *others]
        return UnsupportedError(
            f"the space names '{name}', but the model function '{self.name}' has no such argument."
            f"{did_you_mean(name, known)} Its arguments are {listed(known)}."
        )

    def arguments(self, values: Mapping[str, Value], seed: int | None = None) -> dict[str, Any]:
        """The arguments for one item: its values, with the objects behind labels, and its seed."""
        given = {name: self._object(name, value) for name, value in values.items() if self.takes(name)}
        return {**given, SEED: seed} if self.seeded and SEED not in given else given

    def _object(self, name: str, value: Value) -> Any:
        return self.objects.get(name, {}).get(value, value) if isinstance(value, str) else value

    def results(self, items: Items, places: Places) -> list[Any]:
        """What the function returns for items that have values of the same parts; None where it failed."""
        columns: dict[str, Sequence[Any]] = {}
        for column in items.columns:
            if not self.takes(column.name) or not column.applies[0]:
                continue
            if column.labels:
                known = [self._object(column.name, label) for label in column.labels]
                columns[column.name] = [known[k] for k in column.numbers.tolist()]
            else:
                columns[column.name] = column.numbers.tolist()
        if self.seeded and SEED not in columns:
            columns[SEED] = [seed_of(key) for key in items.keys]
        names, function, found = tuple(columns), self.function, []
        rows: Iterable[tuple[Any, ...]] = zip(*columns.values(), strict=True) if names else [()] * items.count
        for k, row in enumerate(rows):
            try:
                found.append(function(**dict(zip(names, row, strict=True))))
            except FAILURES as error:
                found.append(None)
                places.fail(k, failure(error, f"the model function '{self.name}' failed with "))
        return found


def failure(error: BaseException, what: str = "") -> str:
    """Why an item failed: the message of an error of this package; else `what` failed, with the line of user code."""
    return str(error) if isinstance(error, KinemorphError) else f"{what}{told(error)}."


def is_model(result: object) -> bool:
    """Whether a function returned something to be simulated."""
    return isinstance(result, (System, Robot, Plant))


def is_run(result: object) -> bool:
    """Whether a function returned a finished run."""
    return isinstance(result, Trajectory)


def measure_results(results: Sequence[Any], measures: Sequence[Measure], places: Places) -> None:
    """Stores the numbers that a function returned for items."""
    collected = places.collected
    for k, result in zip(places.indices.tolist(), results, strict=True):
        if k in collected.causes:
            continue
        if type(result) is float and not measures and result - result == 0.0:  # the usual case: a finite number
            collected.column(VALUE)[k] = result
            continue
        try:
            for name, number in _numbers(result, measures).items():
                collected.column(name)[k] = number
        except KinemorphError as error:
            collected.fail(k, str(error))


def _numbers(result: Any, measures: Sequence[Measure]) -> dict[str, float]:
    """The measures of one item by name; raises UnsupportedError where one is missing or not a number."""
    by_name = isinstance(result, Mapping)
    if not measures:
        named = result if by_name else {VALUE: result}
        return {str(name): number_of(value, str(name)) for name, value in named.items()}
    found = {}
    for measure in measures:
        if callable(measure.given):
            found[measure.name] = number_of(called(measure, result), measure.name)
        elif by_name and measure.given in result:
            found[measure.name] = number_of(result[measure.given], measure.name)
        elif not by_name and len(measures) == 1:
            found[measure.name] = number_of(result, measure.name)
        else:
            what = f"the numbers {listed(map(str, result))}" if by_name else f"{result!r:.60}"
            hint = did_you_mean(measure.given, map(str, result)) if by_name else ""
            raise UnsupportedError(f"measure '{measure.name}' is missing: the model function returned {what}.{hint}")
    return found


def called(measure: Measure, result: Any) -> Any:
    """What the function of a measure returns for a result; raises UnsupportedError where it fails."""
    try:
        return measure.of(result)
    except FAILURES as error:
        raise UnsupportedError(f"measure '{measure.name}' failed with {told(error)}.") from None
