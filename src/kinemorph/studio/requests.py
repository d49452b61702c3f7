"""The table of all questions that a page may ask, by name.

    @request("tables")
    def tables(session, channel, *, document: str) -> dict: ...

A file of `panels/` defines the requests of its panel with this decorator; `all_requests` imports these files. The
arguments come from a page, so they are checked here against the signature: their names, and the types of those that
are annotated with a plain type. The function returns data for JSON, or raises a KinemorphError, which the page shows.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.resources import files
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeVar

from kinemorph.errors import UnsupportedError
from kinemorph.words import did_you_mean, listed

CHECKED = (str, int, float, bool, list, dict, NoneType)


class Request(NamedTuple):
    """A question: its function, the keyword arguments it takes with their types, and which of them it needs."""

    function: Callable[..., Any]
    takes: dict[str, tuple[type, ...]]
    needs: tuple[str, ...]


REQUESTS: dict[str, Request] = {}
FIRST = "kinemorph.studio.panels.editing"  # has the questions that a page asks first


Function = TypeVar("Function", bound=Callable[..., Any])


def request(name: str) -> Callable[[Function], Function]:
    """A decorator that adds a function `(session, channel, *, ...)` to the table under a name."""

    def register(function: Function) -> Function:
        hints = typing.get_type_hints(function)
        given = [one for one in inspect.signature(function).parameters.values() if one.kind is one.KEYWORD_ONLY]
        REQUESTS[name] = Request(
            function,
            {one.name: _types(hints.get(one.name, Any)) for one in given},
            tuple(one.name for one in given if one.default is one.empty),
        )
        return function

    return register


@cache
def all_requests() -> Mapping[str, Request]:
    """The whole table, with the requests of all panels."""
    for entry in sorted(one.name for one in files("kinemorph.studio.panels").iterdir() if one.name.endswith(".py")):
        import_module(f"kinemorph.studio.panels.{entry.removesuffix('.py')}")
    return REQUESTS


def answer(session: Any, channel: Any, ask: str, arguments: Mapping[str, Any]) -> Any:
    """The answer to a question. Raises UnsupportedError for an unknown question or wrong arguments."""
    import_module(FIRST)
    table = REQUESTS if ask in REQUESTS else all_requests()  # the first picture does not wait for all panels
    if ask not in table:
        raise UnsupportedError(
            f"question is {ask[:80]!r}; expected one of: {listed(table)}.{did_you_mean(ask[:80], table)}"
        )
    found = table[ask]
    for name, value in arguments.items():
        if name not in found.takes:
            raise UnsupportedError(f"'{ask}' has no argument {name[:80]!r}; expected: {listed(found.takes) or 'none'}.")
        allowed = found.takes[name]
        if allowed and not _is_one(value, allowed):
            wanted = " or ".join(_WORDS[kind] for kind in allowed)
            raise UnsupportedError(f"argument {name} of '{ask}' is {str(value)[:80]!r}; expected {wanted}.")
    missing = [name for name in found.needs if name not in arguments]
    if missing:
        raise UnsupportedError(f"'{ask}' lacks the argument {missing[0]}; expected: {listed(found.needs)}.")
    return found.function(session, channel, **arguments)


_WORDS = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
    NoneType: "null",
}


def _types(hint: Any) -> tuple[type, ...]:
    """The plain types that an annotation admits; empty if anything is admitted."""
    if typing.get_origin(hint) in (typing.Union, UnionType):
        parts = [_types(one) for one in typing.get_args(hint)]
        return () if () in parts else tuple(kind for part in parts for kind in part)
    plain = typing.get_origin(hint) or hint
    return (plain,) if plain in CHECKED else ()


def _is_one(value: Any, allowed: tuple[type, ...]) -> bool:
    """Whether a value from JSON has one of the types; whole numbers are numbers, true and false are not."""
    if isinstance(value, bool):
        return bool in allowed
    return isinstance(value, allowed) or (isinstance(value, int) and float in allowed)
