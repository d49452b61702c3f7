"""Changes of a TOML document that keep its comments and layout: values by tomlkit, whole tables as pieces of the text.

A table is a section of the text: its header, the comment directly above the header, and its keys. New tables are put
behind the last one of their group: [bodies.hand] behind all [bodies.*]. Every function that moves text checks that the
data of the new text are exactly those that were asked for.
"""

from __future__ import annotations

import copy
import itertools
import math
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError

from kinemorph.formats.toml import text as spell
from kinemorph.formats.toml.lines import Lines, Path
from kinemorph.studio.documents.commands.command import CommandError, Keys, shown
from kinemorph.words import did_you_mean, listed


def spelled(keys: Sequence[str | int]) -> str:
    """A path as text, for messages and headers: bodies.arm.mass, dockings[2].turn."""
    text = ""
    for key in keys:
        text += f"[{key}]" if isinstance(key, int) else f"{'.' if text else ''}{spell.key(key)}"
    return text


# ── values ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def written(value: Any) -> str:
    """The TOML text of a value; a text of several lines is written between three quotes, beginning on a new line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return spell.number(value)
    if isinstance(value, str):
        plain = all(letter.isprintable() or letter in "\n\t" for letter in value)
        if "\n" in value and plain and "'''" not in value and not value.endswith("'"):
            return f"'''\n{value}'''"
        return spell.text(value)
    if isinstance(value, Mapping):
        return spell.inline({key: written(item) for key, item in value.items()}) if value else "{}"
    return spell.wrapped([written(item) for item in value])


def item_of(value: Any) -> Any:
    """The tomlkit item of a value, written as `written` writes it."""
    return tomlkit.parse(f"x = {written(value)}\n")["x"]


def found(document: Any, keys: Keys) -> Any:
    """What stands at a path of a document. Raises CommandError, with the known names, if there is nothing."""
    place = document
    for depth, key in enumerate(keys):
        inside = spelled(keys[:depth]) or "the file"
        if isinstance(place, Mapping) and isinstance(key, str):
            if key not in place:
                hint = did_you_mean(key, place) or " Correct the name, or add it first."
                raise CommandError(f"{inside} has no '{key}', expected one of {listed(place)}.{hint}")
        elif isinstance(place, list) and isinstance(key, int):
            if not 0 <= key < len(place):
                raise CommandError(f"{inside} has {len(place)} items, but item {key} is named. Count from 0.")
        else:
            raise CommandError(f"{inside} is {shown(plain(place))}, so it has no {key!r}. Correct the path.")
        place = place[key]
    return place


def plain(place: Any) -> Any:
    """The data of a tomlkit item, or the data themselves."""
    return place.unwrap() if hasattr(place, "unwrap") else place


def has(document: Any, keys: Keys) -> bool:
    """Whether a path of a document exists."""
    try:
        found(document, keys)
    except CommandError:
        return False
    return True


def put(document: TOMLDocument, keys: Keys, value: Any) -> str | None:
    """Sets a key to a value. Missing tables around it are made. Returns the new text where tables are made or moved."""
    parent, last = keys[:-1], keys[-1]
    data = document.unwrap()
    if isinstance(last, str) and not has(data, parent):
        return added(document, parent, {last: value})
    place = found(document, parent)
    if isinstance(last, int) or isinstance(place, list):
        found(document, keys)
    elif not isinstance(place, Mapping):
        raise CommandError(f"{spelled(parent)} is {shown(plain(place))}, so it has no '{last}'. Correct the path.")
    if _is_section(place, last):
        rest = tomlkit.parse(removed(document, keys))
        return added(rest, keys, value) if isinstance(value, Mapping) else put(rest, keys, value) or tomlkit.dumps(rest)
    if isinstance(value, Mapping) and not parent and not has(data, keys):
        return added(document, keys, value)
    if not has(data, keys) and isinstance(last, str):
        return _put_last(document, keys, value)
    place[last] = item_of(value)
    return None


def _put_last(document: TOMLDocument, keys: Keys, value: Any) -> str | None:
    """Adds a key behind the last one of its table: comments behind that may belong to the next table."""
    text, data = tomlkit.dumps(document), document.unwrap()
    known, lines = sections(text), text.split("\n")
    ends = [section.end for section in known if section.path == keys[:-1]]
    for at in ends if len(keys) > 1 else [one.first for one in known[:1]]:
        while at > 0 and not lines[at - 1].strip():
            at -= 1
        piece = f"{spell.key(str(keys[-1]))} = {written(value)}"
        new = "\n".join([*lines[:at], piece, *(lines[at:] or [""])])
        if same(_data(new), _with(data, keys, value)):
            return new
    found(document, keys[:-1])[keys[-1]] = item_of(value)  # such as a key of an inline table
    return None


def _is_section(place: Any, key: str | int) -> bool:
    """Whether what stands at a key is a table with a header of its own, or an array of such tables."""
    if isinstance(key, int):
        return isinstance(place, tomlkit.items.AoT)
    item = place.get(key) if isinstance(place, Mapping) else None
    return isinstance(item, (tomlkit.items.Table, tomlkit.items.AoT, tomlkit.container.OutOfOrderTableProxy))


# ── tables ────────────────────────────────────────────────────────────────────────────────────────────────────────────


class Section(NamedTuple):
    """A table in the lines of a text: its path, the lines from `first` (its comment) to `end`, and its header line."""

    path: Path
    first: int  # index of a line, counted from 0
    header: int
    end: int  # behind its last key
    array: bool  # whether it is an item of an array of tables


class _Headers(Lines):
    """The headers of all tables of a text, in its order: (index of the line, path, number of brackets)."""

    def __init__(self, text: str) -> None:
        self.headers: list[tuple[int, Path, int]] = []
        super().__init__(text)

    def _header(self, key: list[str], brackets: int) -> Path:
        path = super()._header(key, brackets)
        self.headers.append((self.number - 1, path, brackets))
        return path


def sections(text: str) -> list[Section]:
    """The tables of a TOML text, in its order."""
    lines = text.split("\n")
    headers = _Headers(text).headers
    starts = [number for number, _, _ in headers] + [len(lines)]
    ends = []
    for number, following in itertools.pairwise(starts):
        end = following
        while end > number + 1 and _is_remark(lines[end - 1]):
            end -= 1
        ends.append(end)
    found_sections = []
    for place, (number, path, brackets) in enumerate(headers):
        first = number
        while first > (ends[place - 1] if place else 0) and lines[first - 1].lstrip().startswith("#"):
            first -= 1
        if first == 0 and number > 0:  # the comment at the beginning of a file belongs to the file
            first = number
        found_sections.append(Section(path, first, number, ends[place], brackets > 1))
    return found_sections


def _is_remark(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def added(document: TOMLDocument, keys: Keys, value: Mapping[str, Any], like: str | None = None) -> str:
    """The text with a new table at a path that is not there yet, behind the last table of its group.

    `like` is the text of the table, header included; by default it is written from the value. A path whose parent is an
    array of tables, with the length of the array as its index, adds a table to it.
    """
    text, data = tomlkit.dumps(document), document.unwrap()
    place, last = (found(data, keys[:-1]) if has(data, keys[:-1]) else {}), keys[-1]
    array = isinstance(last, int)
    if array and not keys[1:]:
        raise CommandError(f"the path is {shown(list(keys))}, expected a name first. Correct the path.")
    if not isinstance(place, list if array else Mapping) or (array and last != len(place)):
        raise CommandError(f"{spelled(keys)} cannot be added to {shown(place)}. Correct the path.")
    wanted = _with(data, keys, value)
    where = _place(document, keys)
    if where is not None:
        where[last] = item_of(value)
        return tomlkit.dumps(document)
    header = [key for key in keys if isinstance(key, str)]
    head = f"[[{spelled(header)}]]" if array else f"[{spelled(header)}]"
    piece = like or "\n".join([head, *(f"{spell.key(key)} = {written(item)}" for key, item in value.items())])
    lines = text.rstrip("\n").split("\n")
    known = sections(text)
    for group in (keys[:-1], keys[:1], ()):
        inside = [section for section in known if section.path[: len(group)] == group] if group else []
        at = inside[-1].end if inside else len(lines)
        new = "\n".join([*lines[:at], "", *piece.rstrip("\n").split("\n"), *_gap(lines[at:])]) + "\n"
        if same(_data(new), wanted):
            return new
    raise CommandError(f"{spelled(keys)} cannot be added without moving other tables. Edit the text instead.")


def _place(document: TOMLDocument, keys: Keys) -> Any:
    """The inline table or table of keys in which a new table is written as a value; None where it gets a header."""
    if len(keys) < 2 or isinstance(keys[-1], int):
        return None
    place = found(document, keys[:-1]) if has(document, keys[:-1]) else None
    inline = isinstance(place, tomlkit.items.InlineTable)
    values = isinstance(place, tomlkit.items.Table) and not place.is_super_table() and keys[0] == "parameters"
    return place if inline or values else None


def _gap(rest: list[str]) -> list[str]:
    """The lines behind a new table, with an empty line before them."""
    return ["", *rest] if rest and rest[0].strip() else rest


def removed(document: TOMLDocument, keys: Keys) -> str:
    """The text without what stands at a path: a key, an item of a list, or a table with all tables below it."""
    data = document.unwrap()
    found(data, keys)
    wanted = _without(data, keys)
    parent, last = keys[:-1], keys[-1]
    place = found(document, parent)
    if not _is_section(place, last):
        try:
            del place[last]
            text = tomlkit.dumps(document)
            if same(_data(text), wanted):
                return text
        except (TOMLKitError, KeyError):
            pass
        raise CommandError(f"{spelled(keys)} cannot be removed here. Edit the text instead.")
    text = tomlkit.dumps(document)
    lines = text.split("\n")
    for section in reversed(sections(text)):
        if section.path[: len(keys)] == keys:
            end = section.end
            while end < len(lines) - 1 and not lines[end].strip():
                end += 1
            del lines[section.first : end]
    new = "\n".join(lines).rstrip("\n") + "\n"
    for trial in (new, f"{new}\n[{spelled(parent)}]\n" if parent else new):  # an empty group may have to stay
        if same(_data(trial), wanted) or same(_data(trial), _without_empty(wanted, parent)):
            return trial
    raise CommandError(f"{spelled(keys)} cannot be removed without other tables. Edit the text instead.")


def copied(document: TOMLDocument, keys: Keys, name: str) -> str:
    """The text with a copy of the table or value at a path under another name in the same table."""
    value = copy.deepcopy(plain(found(document.unwrap(), keys)))
    other = (*keys[:-1], name)
    place = found(document, keys[:-1])
    if not _is_section(place, keys[-1]):
        place[name] = item_of(value)
        return tomlkit.dumps(document)
    text = tomlkit.dumps(document)
    lines = text.split("\n")
    pieces = []
    for section in sections(text):
        if section.path[: len(keys)] == keys:
            own = tuple(key for key in (*other, *section.path[len(keys) :]) if isinstance(key, str))
            remark = lines[section.header].partition("]")[2].lstrip("]")
            brackets = ("[[", "]]") if section.array else ("[", "]")
            pieces.append("\n".join([spelled(own).join(brackets) + remark, *lines[section.header + 1 : section.end]]))
    return added(document, other, value, like="\n\n".join(pieces))


def renamed_header(text: str, keys: Keys, name: str) -> str:
    """The text in which the headers of the table at a path, and of those below it, have another last name."""
    lines = text.split("\n")
    for section in sections(text):
        if section.path[: len(keys)] == keys:
            own = tuple(key for key in (*keys[:-1], name, *section.path[len(keys) :]) if isinstance(key, str))
            remark = _behind_header(lines[section.header])
            brackets = ("[[", "]]") if section.array else ("[", "]")
            lines[section.header] = spelled(own).join(brackets) + remark
    return "\n".join(lines)


def _behind_header(line: str) -> str:
    """What follows the closing brackets of a header in its line, such as a comment."""
    quote = ""
    for place, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote and line[place - 1] != "\\" else quote
        elif letter in "\"'":
            quote = letter
        elif letter == "]":
            return line[place:].lstrip("]")
    return ""


# ── data ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _data(text: str) -> Any:
    """The data of a text; None if it is not TOML."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None


def _with(data: Mapping[str, Any], keys: Keys, value: Any) -> dict[str, Any]:
    """A copy of data with a value at a path."""
    new: Any = copy.deepcopy(dict(data))
    place = new
    for key in keys[:-1]:
        place = place.setdefault(key, {}) if isinstance(place, dict) else place[key]
    if isinstance(place, list):
        place.append(value)
    else:
        place[keys[-1]] = value
    return dict(new)


def _without(data: Mapping[str, Any], keys: Keys) -> dict[str, Any]:
    """A copy of data without what stands at a path."""
    new: Any = copy.deepcopy(dict(data))
    place = found(new, keys[:-1])
    del place[keys[-1]]
    return dict(new)


def _without_empty(data: Mapping[str, Any], keys: Keys) -> dict[str, Any]:
    """A copy of data without the tables at a path and around it that are empty."""
    new = dict(data)
    while keys and not found(new, keys):
        new, keys = _without(new, keys), keys[:-1]
    return new


def same(one: Any, other: Any) -> bool:
    """Whether two data are equal, also where a number is nan."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
