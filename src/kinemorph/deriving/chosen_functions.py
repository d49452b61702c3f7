"""Functions that are chosen by words, such as the name of a frame: the function itself, or its value at a state.

J = dynamics.jacobian("tool")                            # a CompiledFunction, as all others
J(q)                                                     # its value
dynamics.jacobian(q, "tool")                             # the same value in one call: the state first, then the words
dynamics.joint_wrenches(q, v, a, reference="world")      # words may have defaults: joint_wrenches(q, v, a)
dynamics.joint_wrenches(reference="world")               # a CompiledFunction; joint_wrenches() with all defaults
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, cast, overload

import numpy.typing as npt

from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.errors import ShapeError
from kinemorph.mechanics.constraints.wrench_views import WrenchPart, WrenchReference
from kinemorph.mechanics.recursions.kinematics import Reference


class FrameFunction(Protocol):
    """A method of `Dynamics` that takes a frame and returns a function, or takes a state too and returns its value."""

    @overload
    def __call__(self, frame: str, reference: Reference = ...) -> CompiledFunction: ...
    @overload
    def __call__(self, q: npt.ArrayLike, *others: Any, **named: Any) -> Any: ...


class WrenchFunction(Protocol):
    """A method of `Dynamics` that returns a function of all joints, or takes a state and returns its value."""

    @overload
    def __call__(self, reference: WrenchReference = ..., part: WrenchPart = ...) -> CompiledFunction: ...
    @overload
    def __call__(self, q: npt.ArrayLike, *others: Any, **named: Any) -> Any: ...


def of_frame(make: Callable[..., CompiledFunction]) -> FrameFunction:
    """A decorator for methods that make the function of a frame: f("tool") makes it, f(q, "tool") is f("tool")(q)."""
    return cast(FrameFunction, _by_words(make))


def of_joints(make: Callable[..., CompiledFunction]) -> WrenchFunction:
    """A decorator for methods that make a function of all joints: f() makes it, f(q, v, a, reference="world") is its
    value.
    """
    return cast(WrenchFunction, _by_words(make))


def _by_words(make: Callable[..., CompiledFunction]) -> Callable[..., Any]:
    """The method that makes a function from words and, where a state is given too, calls it.

    The words are the parameters of `make`; those without a default have to be given.
    """
    _, *parameters = inspect.signature(make).parameters.values()
    words = [parameter.name for parameter in parameters]
    needed = [parameter.name for parameter in parameters if parameter.default is parameter.empty]

    @wraps(make)
    def called(self: Any, *given: Any, **named: Any) -> Any:
        first = next((k for k, value in enumerate(given) if isinstance(value, str)), len(given))
        which = {name: named.pop(name) for name in words if name in named}
        if len(given) - first < len(needed) and not set(needed) <= which.keys():
            name = make.__name__
            raise ShapeError(
                f"{name}: no {needed[0]} is named. Write dynamics.{name}(q, 'tool') for the value, "
                f"dynamics.{name}('tool') for the function."
            )
        function = make(self, *given[first:], **which)
        return function(*given[:first], **named) if first or named else function

    return called
