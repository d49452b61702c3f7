"""Commands as data: a verb, the fields that a command with this verb has, and the function that patches the document.

A file of commands has a tuple ROWS of `Command`, which the table COMMANDS of this folder collects:

    def place(document: TOMLDocument, cell: Cell, kind: str, front: str) -> None: ...

    ROWS = (
        Command("place", "Puts a module into a cell of the grid.", place, (
            Field("cell", "cell", "Row and column of the cell, counted from 0."),
            Field("kind", "text", "Letter of the kind of module."),
            Field("front", "choice", "Direction of the front.", inner=(">", "^", "<", "v"), default=">"),
        )),
    )

The function gets the parsed document, whose comments and layout stay, and the checked fields by name. It changes the
document, or returns the whole new text. It raises CommandError where the command cannot be carried out; then nothing
changes. A document that a command leaves wrong as a model is allowed: the reader finds what is wrong with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from kinemorph.errors import KinemorphError
from kinemorph.words import did_you_mean, listed

Keys: TypeAlias = tuple[str | int, ...]  # the path of a key in a document: ("bodies", "arm", "shapes", 0, "radius")
Cell: TypeAlias = tuple[int, int]  # row and column in a grid, counted from 0; negative above and left of it

REQUIRED: Any = object()  # the default of a field that has to be given
LONGEST = 60  # characters of a value in a message
DEEPEST = 64  # lists and tables in each other in a value
LARGEST = 2**63 - 1  # whole number in a TOML file
LONGEST_TEXT = 10_000_000  # characters


class CommandError(KinemorphError):
    """A command is wrong, or cannot be carried out; nothing was changed."""


class Field(NamedTuple):
    """A field of a command: its name, its form (a key of FORMS), one sentence of help, and its default."""

    name: str
    form: str
    help: str
    default: Any = REQUIRED
    inner: tuple[str, ...] = ()  # the words of the form "choice"


class Command(NamedTuple):
    """A row of COMMANDS. `patch` takes the parsed document and the fields by name; `label` tells what was done.

    A command with `on_text` gets the text of the document in place of the parsed document, and returns the new text;
    it can be applied to a text that is not well-formed, and to documents of every format.
    """

    verb: str
    help: str
    patch: Callable[..., str | None]
    fields: tuple[Field, ...] = ()
    label: Callable[..., str] | None = None  # of the fields by name: "mass of bodies.arm = 2"; the verb if it is None
    on_text: bool = False

    def as_data(self) -> dict[str, Any]:
        """The command's help and fields, for pages and docs."""
        fields = [
            {
                "name": field.name,
                "form": field.form,
                "help": field.help,
                "required": field.default is REQUIRED,
                **({"choices": list(field.inner)} if field.inner else {}),
                **({} if field.default in (REQUIRED, None) else {"default": field.default}),
            }
            for field in self.fields
        ]
        return {"verb": self.verb, "help": self.help, "fields": fields}


# ── checks ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def checked(row: Command, command: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a command by name, checked, with defaults filled in. Raises CommandError for a wrong field."""
    names = [field.name for field in row.fields]
    for name in command:
        if name not in names and name != "verb":
            raise CommandError(
                f"command '{row.verb}' has no field '{str(name)[:LONGEST]}', expected {listed(names)}."
                + (did_you_mean(name, names) or " Leave it out.")
            )
    found: dict[str, Any] = {}
    for field in row.fields:
        if field.name not in command or (command[field.name] is None and field.default is not REQUIRED):
            if field.default is REQUIRED:
                raise CommandError(
                    f"command '{row.verb}' has no field '{field.name}', expected {FORMS[field.form].expected}. "
                    f"Give it: {field.help}"
                )
            found[field.name] = field.default
            continue
        given = command[field.name]
        try:
            found[field.name] = FORMS[field.form].read(given, field)
        except ValueError as error:
            reason = f" ({error})" if str(error) else ""
            expected = f"one of {listed(field.inner)}" if field.inner else FORMS[field.form].expected
            raise CommandError(
                f"command '{row.verb}': {field.name} is {shown(given)}{reason}, expected {expected}. {field.help}"
            ) from None
    return found


def shown(value: Any) -> str:
    """A value as it is shown in a message, shortened."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


class Form(NamedTuple):
    """A form of fields: the function that checks a value and returns it for `patch`, and what it expects."""

    read: Callable[[Any, Field], Any]
    expected: str


def _name(value: Any, field: Field) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > 200:
        raise ValueError
    return value


def _text(value: Any, field: Field) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise ValueError
    return value


def _choice(value: Any, field: Field) -> str:
    if value not in field.inner:
        raise ValueError
    return str(value)


def _flag(value: Any, field: Field) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def _whole(value: Any, field: Field) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST:
        raise ValueError
    return value


def _names(value: Any, field: Field) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise ValueError
    return tuple(_name(item, field) for item in value)


def _cell(value: Any, field: Field) -> Cell:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise ValueError
    row, column = (_whole(item, field) for item in value)
    if max(abs(row), abs(column)) > 10_000:
        raise ValueError
    return row, column


def _cells(value: Any, field: Field) -> tuple[Cell, ...]:
    if not isinstance(value, (list, tuple)):
        raise ValueError
    return tuple(_cell(item, field) for item in value)


def _keys(value: Any, field: Field) -> Keys:
    """The path of a key: a list of names and indices, or a text of names with points between them."""
    if isinstance(value, str):
        value = dotted(value)
    if not isinstance(value, (list, tuple)) or not 0 < len(value) <= DEEPEST:
        raise ValueError
    return tuple(
        _whole(key, field) if isinstance(key, int) and not isinstance(key, bool) else _name(key, field) for key in value
    )


def dotted(text: str) -> list[str]:
    """The names of a dotted key as TOML writes it: bodies."left arm".mass has three. Raises ValueError."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        table: Any = tomlkit.parse(f"{text} = 0\n").unwrap()
    except (TOMLKitError, ValueError, RecursionError):
        raise ValueError from None
    names = []
    while isinstance(table, dict) and len(table) == 1:
        (name,) = table
        names.append(name)
        table = table[name]
    if table != 0 or "\n" in text:
        raise ValueError
    return names


def _value(value: Any, field: Field) -> Any:
    """A value that TOML can hold: a text, number, truth value, list or table, without null."""
    _check_value(value, 0)
    return value


def _check_value(value: Any, depth: int) -> None:
    if depth > DEEPEST:
        raise ValueError("too many lists and tables in each other")
    if isinstance(value, bool):
        return
    if isinstance(value, str):
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise ValueError("a character that UTF-8 cannot encode")
    elif isinstance(value, int):
        if abs(value) > LARGEST:
            raise ValueError("a whole number with too many digits")
    elif isinstance(value, float):
        if math.isnan(value):
            raise ValueError("not a number")
    elif isinstance(value, (list, tuple)):
        for item in value:
            _check_value(item, depth + 1)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise ValueError("a key that is not a text")
            _check_value(item, depth + 1)
    else:
        raise ValueError


FORMS: dict[str, Form] = {
    "name": Form(_name, "a name: printable text of at most 200 characters"),
    "names": Form(_names, "a list of names"),
    "text": Form(_text, "a text"),
    "choice": Form(_choice, "one of several words"),
    "flag": Form(_flag, "true or false"),
    "whole": Form(_whole, "a whole number"),
    "cell": Form(_cell, "[row, column], counted from 0; negative above and left of the grid"),
    "cells": Form(_cells, "a list of cells [row, column]"),
    "keys": Form(_keys, 'the path of a key, such as "bodies.arm.mass" or ["bodies", "arm", "mass"]'),
    "value": Form(_value, "a number, text, truth value, list or table"),
}
