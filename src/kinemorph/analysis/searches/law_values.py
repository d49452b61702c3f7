"""Numbers of a plant at many states: its laws are compiled together; functions of a result are called in Python.

A text, or a function of some of t, q, v, x, m, u, p, is a law. A function of one other argument is a function of the
result, such as a Trajectory.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.program import Program
from kinemorph.errors import UnsupportedError
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import GROUPS, Law
from kinemorph.simulation.results.batch_run import BatchRun

Inputs = tuple[Any, ...]  # t (B,), base (B, nq), s (B, ns), m (B, nm), u (B, nu), p (B, np) of B states


@dataclass(frozen=True, eq=False)
class LawValues:
    """Laws of a plant by name, each of one number, compiled as one function of the state."""

    plant: Plant
    laws: Mapping[str, Law]

    @cached_property
    def program(self) -> Program:
        """The program of all laws, whose output "out" has one number for each."""
        return self.plant.observed(dict(self.laws))

    @cached_property
    def _compiled(self) -> CompiledFunction:
        return build(self.program)

    def at(self, inputs: Inputs) -> Array:
        """The values (B, n) of the n laws at B states; nan or inf where a law has no value."""
        count = len(inputs[1])
        if not self.laws or not count:
            return np.empty((count, len(self.laws)))
        (out,) = unchecked(self._compiled, inputs, (count,))
        return out


def unchecked(function: CompiledFunction, inputs: Inputs, lead: tuple[int, ...]) -> tuple[Array, ...]:
    """The outputs of a function, (*lead, *shape) each, which may be nan where a law has no value."""
    outs = tuple(np.empty((*lead, *port.shape)) for port in function.outputs)
    given = [np.asarray(part, dtype=float, order="C") for part in inputs]
    with np.errstate(all="ignore"):
        function.raw(outs if len(outs) > 1 else outs[0], *given)
    return outs


def final_inputs(batch: BatchRun, chosen: Any = slice(None)) -> Inputs:
    """The states at the ends of the runs of a batch, or of the `chosen` ones, as inputs of the plant's programs."""
    end = batch.final
    s = np.concatenate([np.zeros((len(batch), batch.plant.nv)), end.v, end.x], axis=1)
    return tuple(np.ascontiguousarray(part[chosen]) for part in (end.t, end.q, s, end.m, batch.u, batch.p))


def is_law(function: Callable[..., Any]) -> bool:
    """Whether a function is a law of a plant: all its arguments are names of groups."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return False
    return bool(names) and all(name in GROUPS for name in names)


def function_of_result(function: Callable[..., Any], what: str) -> Callable[[Any], Any]:
    """The function, if it can be called with one argument, the result; otherwise raises UnsupportedError.

    `what` is what messages call it.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of a function that is not written in Python
        return function
    try:
        signature.bind(None)
    except TypeError:
        raise UnsupportedError(
            f"{what} has the arguments {signature}; expected some of {', '.join(GROUPS)}, or one argument, which is "
            "the result."
        ) from None
    return function
