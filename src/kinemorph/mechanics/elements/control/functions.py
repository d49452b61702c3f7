"""The laws of controllers that are user functions."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.scalar import S
from kinemorph.errors import ControllerError, ShapeError, TracingError, told
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.control.channels import each
from kinemorph.mechanics.elements.control.sample_hold import (
    clocks_of,
    converted,
    held_count,
    held_slots,
    let_in,
    let_out,
    output_jumps,
    sampling_problems,
)
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Clock, Effort, ElementLaw, Jump, Slot, register
from kinemorph.model.elements.control.functions import Continuous, PythonController, Sampled
from kinemorph.model.input_reader import short
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.words import counted, listed


def names_of_outputs(element: Any) -> tuple[str, ...]:
    """The names of the function's outputs: `outputs` where given; else "" (the element's name) for one target in
    `drives`, and the names of the targets for several.
    """
    if element.outputs:
        names: tuple[str, ...] = element.outputs
        return names
    return ("",) if len(element.drives) == 1 else tuple(element.drives)


class FunctionLaw(ElementLaw[Any]):
    """The abstract base of laws of controllers that are user functions with named outputs."""

    kept = "memory"  # the field that names the memory of the function

    def problems(self, element: Any, robot: Robot) -> list[str]:
        found = self.function_problems(element)
        if not names_of_outputs(element):
            problem = "it drives nothing; expected names of the targets that its outputs drive"
            remedy = "Give `drives`, or `outputs` that other elements read."
            found.append(wrong(element.name, problem, remedy, "drives"))
        if element.outputs and element.drives and len(element.outputs) != len(element.drives):
            both = f"{counted(len(element.outputs), 'output')} and drives {counted(len(element.drives), 'target')}"
            problem = f"it has {both}; expected one output for each target"
            found.append(wrong(element.name, problem, "Name an output for each target, or leave `outputs` out."))
        if hasattr(element, "every"):
            found += sampling_problems(element)
        return found

    def function_problems(self, element: Any) -> list[str]:
        """A problem where the function cannot be called with the time, its signals and its memory; else none."""
        if not callable(element.law):
            problem = f"law is {short(element.law)}; expected a function law(t, ...) of t and the signals in `reads`"
            return [wrong(element.name, problem, "Give a function.", "law")]
        given = ["t", *element.reads, *([self.kept] if self.own(element) else [])]
        try:
            inspect.signature(element.law).bind(*given)
        except TypeError:
            expected = f"{counted(len(given), 'argument')}: {listed(given)}"
            problem = f"law has the arguments {inspect.signature(element.law)}; expected {expected}"
            return [wrong(element.name, problem, "Write it with these arguments.", "law")]
        except ValueError:  # a function written in C has no signature
            return []
        return []

    def reads(self, element: Any) -> tuple[str, ...]:
        names: tuple[str, ...] = element.reads
        return names

    def signals(self, element: Any) -> tuple[Slot, ...]:
        return tuple(Slot(name) for name in names_of_outputs(element))

    def drives(self, element: Any) -> Mapping[str, str]:
        return dict(zip(element.drives, names_of_outputs(element), strict=False))

    def own(self, element: Any) -> tuple[Slot, ...]:
        """The memory slots of the function."""
        return tuple(Slot(name, "", start) for name, start in getattr(element, self.kept))

    def asked(
        self, element: Any, function: Callable[..., Any], t: S, values: Sequence[S], kept: Sequence[S]
    ) -> tuple[list[S], list[S]]:
        """(outputs, memory) that `function` returns at time t for the signals `values` and its memory `kept`.

        Raises ShapeError where they have the wrong size.
        """
        try:
            found = function(t, *values, list(kept)) if self.own(element) else (function(t, *values), ())
        except TracingError as error:
            raise TracingError(f"element '{element.name}': {error}") from error
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            raise ShapeError(
                f"controller '{element.name}' returned {short(found)}; expected (outputs, {self.kept}), because it has "
                f"{self.kept}. Correct the function."
            )
        outputs = _listed(found[0])
        if any(one is None or isinstance(one, str) for one in outputs):
            raise ShapeError(
                f"controller '{element.name}' returned {short(found[0])} as outputs; expected numbers. "
                "Correct the function."
            )
        for what, values, count in (
            ("outputs", outputs, len(names_of_outputs(element))),
            (self.kept, _listed(found[1]), len(self.own(element))),
        ):
            if len(values) != count:
                raise ShapeError(
                    f"controller '{element.name}' returned {counted(len(values), 'number')} as {what}; expected "
                    f"{count}. Correct the function."
                )
        return outputs, _listed(found[1])


class ContinuousLaw(FunctionLaw):
    """A continuous controller: the user function is compiled, and runs whenever rates of the state are computed."""

    kept = "states"

    def states(self, element: Continuous) -> tuple[Slot, ...]:
        return self.own(element)

    def publish(self, element: Continuous, view: ElementView) -> Mapping[str, S]:
        return dict(zip(names_of_outputs(element), self._now(element, view)[0], strict=True))

    def effort(self, element: Continuous, view: ElementView) -> Effort:
        return Effort(rates=self._now(element, view)[1]) if element.states else Effort()

    def _now(self, element: Continuous, view: ElementView) -> tuple[list[S], list[S]]:
        return self.asked(element, element.law, view.t, [view.signal(name) for name in element.reads], view.x)


class SampledLaw(FunctionLaw):
    """A sampled controller: the user function is compiled, and runs at sample instants."""

    def jumps(self, element: Any) -> Sequence[Jump]:
        return output_jumps(element)

    def memory(self, element: Any) -> tuple[Slot, ...]:
        return (*held_slots(element, names_of_outputs(element)), *self.own(element))

    def clocks(self, element: Any) -> tuple[Clock, ...]:
        return clocks_of(element)

    def publish(self, element: Any, view: ElementView) -> Mapping[str, S]:
        names = names_of_outputs(element)
        return dict(zip(names, view.m[: len(names)], strict=True))

    def sample(self, element: Any, view: ElementView, clock: int) -> Sequence[S]:
        front = self.front(element)
        if clock == 1:  # the clock that releases delayed outputs
            return [*let_out(view.m[:front], len(names_of_outputs(element))), *view.m[front:]]
        values = [view.signal(name) for name in element.reads]
        found = self.asked(element, element.law, view.t, values, view.m[front:])
        return self.received(element, view.m, *found, view.value((element.lower, element.upper)))

    def front(self, element: Any) -> int:
        """The number of values in the memory before those of the function: held and delayed outputs."""
        return held_count(element, len(names_of_outputs(element)))

    def received(
        self, element: Any, m: Sequence[S], outputs: Sequence[S], kept: Sequence[S], bounds: tuple[Any, Any]
    ) -> list[S]:
        """The memory after a sample, from the memory m before it and what the function returned.

        `outputs` and `kept` are the outputs and the new memory of the function, `bounds` (lower, upper) limits.
        """
        n, front = len(outputs), self.front(element)
        lower, upper = each(bounds[0], n), each(bounds[1], n)
        ends = zip(outputs, lower, upper, strict=True)
        outputs = [converted(u, low, high, element.quantum) for u, low, high in ends]
        return [*let_in(m[:front], outputs), *kept]


class CalledLaw(SampledLaw):
    """A sampled controller whose function is called with plain floats; errors name the controller.

    `check`   the remedy where it returned a number that is not finite
    """

    check = "Check that it does not divide by 0."

    def decide(
        self,
        element: Any,
        function: Callable[..., Any],
        t: float,
        values: Sequence[float],
        memory: Sequence[float],
    ) -> Sequence[float]:
        bounds = evaluate_all((element.lower, element.upper))
        try:
            found = self.asked(element, function, t, values, memory[self.front(element) :])
            return self.received(element, memory, *found, bounds)
        except ControllerError:
            raise
        except ShapeError as error:
            raise ControllerError(str(error)) from error
        except Exception as error:
            raise ControllerError(f"controller '{element.name}' raised {told(error)}. Correct the function.") from error

    def asked(
        self,
        element: Any,
        function: Callable[..., Any],
        t: float,
        values: Sequence[float],
        kept: Sequence[float],
    ) -> tuple[list[float], list[float]]:
        outputs, kept = super().asked(element, function, t, values, kept)
        for what, numbers in (("output", outputs), ("memory", kept)):
            for k, x in enumerate(numbers):
                if not isinstance(x, (int, float, np.number)) or not math.isfinite(x):
                    remedy = self.check if isinstance(x, float) else "Correct the function."
                    number = f" {k}" if len(numbers) > 1 else ""
                    raise ControllerError(
                        f"controller '{element.name}' returned {short(x)} as {what}{number}; expected a finite number. "
                        f"{remedy}"
                    )
        return [float(x) for x in outputs], [float(x) for x in kept]


class PythonControllerLaw(CalledLaw):
    """A sampled controller whose function is any Python code."""

    runs = "python"


def _listed(values: Any) -> list[Any]:
    """A list with one number, or the entries of a sequence or array as a list."""
    if isinstance(values, np.ndarray):
        return list(values.ravel().tolist()) if values.dtype != object else list(values.ravel())
    return list(values) if isinstance(values, (list, tuple)) else [values]


register(Continuous, ContinuousLaw())
register(Sampled, SampledLaw())
register(PythonController, PythonControllerLaw())
