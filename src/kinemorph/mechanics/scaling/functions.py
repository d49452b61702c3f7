"""User functions of a scaled system: they get their arguments in the old units, and their results are scaled."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from kinemorph.mechanics.scaling.values import near

Factors: TypeAlias = float | tuple[float, ...]  # that of a number, or one for each number of a list


@dataclass(frozen=True)
class Rescaled:
    """A function in other units: its arguments are divided by `inputs`, its results multiplied by `outputs`.

    `outputs` has one factor for all numbers of the result, or one for each. For a function that returns two lists, such
    as outputs and rates of states, `kept` is the factor of the second; else None. For a function that returns a dict of
    lists, `outputs` is empty and `groups` has pairs of a key and the factors of its list.
    """

    function: Callable[..., Any]
    inputs: tuple[Factors, ...]
    outputs: tuple[float, ...]
    kept: float | None = None
    groups: tuple[tuple[str, Factors], ...] = ()

    def __call__(self, *arguments: Any) -> Any:
        """The scaled result at the arguments."""
        found = self.function(*(_each(_over, x, by) for x, by in zip(arguments, self.inputs, strict=True)))
        if isinstance(found, Mapping):
            return {key: _each(_times, values, dict(self.groups)[key]) for key, values in found.items()}
        if self.kept is not None and isinstance(found, (tuple, list)) and len(found) == 2:
            return _each(_times, found[0], self.outputs), _each(_times, found[1], self.kept)
        return _each(_times, found, self.outputs)

    @property
    def __signature__(self) -> inspect.Signature:
        """The arguments of the user's function, by which laws see what it reads."""
        return inspect.signature(self.function)


def rescaled(
    function: Callable[..., Any],
    inputs: Sequence[Factors],
    outputs: Sequence[float] = (1.0,),
    kept: float | None = None,
    groups: Mapping[str, Factors] | None = None,
) -> Callable[..., Any]:
    """The function in other units; a function that was rescaled before is not wrapped again."""
    new = Rescaled(function, tuple(inputs), tuple(outputs), kept, tuple((groups or {}).items()))
    if isinstance(function, Rescaled):
        new = Rescaled(
            function.function,
            tuple(map(_product, function.inputs, new.inputs)),
            tuple(_product(function.outputs, new.outputs)),  # type: ignore[arg-type]
            None if kept is None else kept * (function.kept or 1.0),
            tuple((key, _product(dict(function.groups)[key], by)) for key, by in new.groups),
        )
    factors = (*new.inputs, new.outputs, 1.0 if new.kept is None else new.kept, *(by for _, by in new.groups))
    unchanged = all(near(x, 1.0) for by in factors for x in (by if isinstance(by, tuple) else (by,)))
    return new.function if unchanged else new


def _product(a: Factors, b: Factors) -> Factors:
    """The products of factors; a single one stands for all."""
    if not isinstance(a, tuple) and not isinstance(b, tuple):
        return a * b
    first, second = (x if isinstance(x, tuple) else (x,) for x in (a, b))
    count = max(len(first), len(second))
    first, second = (x * count if len(x) == 1 else x for x in (first, second))
    return tuple(x * y for x, y in zip(first, second, strict=True))


def _each(op: Callable[[Any, float], Any], value: Any, factors: Factors) -> Any:
    """The op of a number, or of each number of a list, and its factor."""
    by = factors if isinstance(factors, tuple) else (factors,)
    if not isinstance(value, (list, tuple, np.ndarray)):
        return op(value, by[0])
    every = by * len(value) if len(by) == 1 else by
    return [op(x, factor) for x, factor in zip(value, every, strict=False)] if every else list(value)


def _times(x: Any, factor: float) -> Any:
    return x if factor == 1.0 or x is None or isinstance(x, str) else x * factor


def _over(x: Any, factor: float) -> Any:
    return x if factor == 1.0 else x / factor
