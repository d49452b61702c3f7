"""Functions of one frame or body: the function itself, or its value at a state.

J = dynamics.jacobian("tool")      # a CompiledFunction, as all others
J(q)                               # its value
dynamics.jacobian(q, "tool")       # the same value in one call: the state first, then the frame
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, cast, overload

import numpy.typing as npt

from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.errors import ShapeError
from kinemorph.mechanics.recursions.kinematics import Reference


class FrameFunction(Protocol):
    """A method of `Dynamics` that takes a frame and returns a function, or takes a state too and returns its value."""

    @overload
    def __call__(self, frame: str, reference: Reference = ...) -> CompiledFunction: ...
    @overload
    def __call__(self, q: npt.ArrayLike, *others: Any, **named: Any) -> Any: ...


def of_frame(make: Callable[..., CompiledFunction]) -> FrameFunction:
    """A decorator for methods that make the function of a frame: f("tool") makes it, f(q, "tool") is f("tool")(q)."""

    @wraps(make)
    def called(self: Any, *given: Any, **named: Any) -> Any:
        first = next((k for k, value in enumerate(given) if isinstance(value, str)), len(given))
        which = {name: named.pop(name) for name in ("frame", "reference") if name in named}
        if first == len(given) and "frame" not in which:
            name = make.__name__
            raise ShapeError(
                f"{name}: no frame is named. Write dynamics.{name}(q, 'tool') for the value, dynamics.{name}('tool') "
                "for the function."
            )
        function = make(self, *given[first:], **which)
        return function(*given[:first], **named) if first or named else function

    return cast(FrameFunction, called)
