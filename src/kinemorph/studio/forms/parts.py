"""The parts of a model file: all of them as a tree, data to begin a new one with, and the names that parts refer to.

A section is a key at the top of a file that holds parts: a table of named tables, such as [bodies.*], an array of
tables, such as [[dockings]], or a single table, such as [settings]. Sections follow from the schema.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kinemorph.errors import ModelError
from kinemorph.formats.toml.fields import WORDS
from kinemorph.formats.toml.schema import Schema
from kinemorph.model import elements
from kinemorph.model.elements import ELEMENT_KINDS
from kinemorph.studio.schema.references import POINTED_AT
from kinemorph.studio.schema.schema_walk import (
    alternatives,
    blank,
    edited_as,
    is_section,
    resolved,
    variants,
    whole_schema,
)
from kinemorph.words import did_you_mean, listed

if TYPE_CHECKING:
    from kinemorph.model.system import System

Path = tuple[str | int, ...]
OWN = "own kinds"  # of elements that a Python file of the user has registered


def sections(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All sections of a file, present or not: their titles, their shape, and their parts.

    The shape is "named" for named parts, "rows" for an array of tables, "values" for values by name, and "single" for a
    table that is a part itself.
    """
    found = []
    for key, schema in whole_schema()["properties"].items():
        if is_section(schema):
            found.append(_section(key, schema, data.get(key)))
    return found


def part_around(data: Mapping[str, Any], path: Path) -> Path:
    """The path of the part that holds a value: the model itself, a section that is one part, or a part of a section."""
    shape = next((one["shape"] for one in sections(data) if path[:1] == (one["key"],)), "")
    return () if not shape else path[:1] if shape in ("single", "values") else path[:2]


def _section(key: str, schema: Schema, value: Any) -> dict[str, Any]:
    """A section with its parts."""
    plain = resolved(schema)
    shape = "rows" if edited_as(plain) == "list" else "single" if edited_as(plain) == "table" else "named"
    inside = plain.get("items") or plain.get("additionalProperties") or {}
    if shape == "named" and edited_as(alternatives(inside)[0]) == "number":
        shape = "values"
    named = list(value.items()) if isinstance(value, dict) and shape != "single" else []
    rows = list(enumerate(value)) if isinstance(value, list) else []
    return {
        **{"key": key, "title": key.replace("_", " "), "word": WORDS.get(key, key.removesuffix("s").replace("_", " "))},
        **{"shape": shape, "present": value is not None, "help": plain.get("description", "")},
        "kinds": _grouped(variants(inside)) if key == "elements" else variants(inside),
        "parts": [
            {"name": _shown(name, part), "path": [key, name], "kind": _kind(part)} for name, part in named + rows
        ],
    }


def _grouped(kinds: list[dict[str, str]]) -> list[dict[str, str]]:
    """Kinds of elements by subject, such as "forces", then by name; those that a user has registered come last."""
    for row in kinds:
        place = ELEMENT_KINDS[row["kind"]].__module__.removeprefix(f"{elements.__name__}.")
        row["group"] = place.split(".")[0] if place != ELEMENT_KINDS[row["kind"]].__module__ else OWN
    return sorted(kinds, key=lambda row: (row["group"] == OWN, row["group"], row["kind"]))


def _shown(name: str | int, part: Any) -> str:
    """The name of a part in the tree; a row of an array is named after its number and its ends."""
    if isinstance(name, str):
        return name
    ends = [str(part[key]) for key in ("a", "b") if key in part] if isinstance(part, dict) else []
    return f"{name + 1}{': ' if ends else ''}{' - '.join(ends)}"


def _kind(part: Any) -> str:
    """The kind of a part as its file says it."""
    kind = part.get("kind") if isinstance(part, dict) else None
    return kind if isinstance(kind, str) else ""


def new_part(data: Mapping[str, Any], section: str, kind: str = "") -> Any:
    """Data to begin a new part of a section with: the keys that it needs, which refer to parts that the file has.

    `kind` chooses one of several kinds, such as "spring" of [elements.*]. Raises ModelError for an unknown one.
    """
    plain = resolved(_known_section(section))
    inside = plain.get("items") or plain.get("additionalProperties") or plain
    ways = alternatives(inside)
    if variants(inside):
        known = {way["properties"]["kind"]["const"]: way for way in ways}
        if kind not in known:
            hint = did_you_mean(kind, known)
            raise ModelError(f"the kind of the new part is '{kind}', expected one of: {listed(known)}.{hint}")
        ways = [known[kind]]
    made = blank(ways[0])
    if isinstance(made, dict):
        for key, value in made.items():
            used = [one for other, one in made.items() if other != key]
            made[key] = _guess(key, value, data, used)
    return made


def _known_section(section: str) -> Schema:
    """The schema of a section. Raises ModelError if there is no such section."""
    known = {key: schema for key, schema in whole_schema()["properties"].items() if is_section(schema)}
    if section not in known:
        hint = did_you_mean(section, known)
        raise ModelError(f"there is no section '{section}', expected one of: {listed(known)}.{hint}")
    found: Schema = known[section]
    return found


def _guess(key: str, value: Any, data: Mapping[str, Any], used: list[Any]) -> Any:
    """A value to begin with: the last part of the file that such a key may name, else the blank value.

    Parts that another key of the same table names already come last.
    """
    names = names_for(key, data)
    if value not in ("", []) or not names:
        return value
    name = next((name for name in names if name not in used), names[0])
    return [name] if value == [] else name


def names_for(key: str, data: Mapping[str, Any], model: System | None = None) -> list[str]:
    """The names that the value of a key may be: those of all parts that such a key points at; the latest come first.

    With a model also names that the file does not spell out follow: the bodies and movable joints of its modules.
    """
    found: list[str] = []
    for section, keys in POINTED_AT.items():
        table = data.get(section)
        if key in keys and isinstance(table, Mapping):
            found += reversed([str(name) for name in table])
        if key in keys and model is not None and section == "bodies":
            found += [body.name for body in model.robot.bodies]
        if key in keys and model is not None and section == "joints":
            found += [joint.name for joint in model.robot.joints if joint.kind not in ("fixed", "free")]
    if key in ("parent", "body", "body_a", "body_b", "on", "reference", "center"):
        found.append("world")
    return list(dict.fromkeys(found))


# ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def free_name(data: Mapping[str, Any], section: str, wish: str) -> str:
    """A name that no part of a section has: the wish itself, or the wish with a number."""
    table = data.get(section)
    taken = table if isinstance(table, Mapping) else {}
    stem = re.sub(r"_?\d+$", "", wish) or wish
    return next(name for name in (wish, *(f"{stem}_{i}" for i in range(2, len(taken) + 3))) if name not in taken)


def checked_name(data: Mapping[str, Any], section: str, name: str) -> str:
    """The name of a new part: as wished, or a free one if there is no wish. Raises ModelError for a name in use."""
    if not name:
        word = WORDS.get(section, section.removesuffix("s")).replace(" ", "_")
        return free_name(data, section, word)
    table = data.get(section)
    if isinstance(table, Mapping) and name in table:
        free = free_name(data, section, name)
        raise ModelError(f"{section} has a part '{name}' already. Choose another name, such as '{free}'.")
    return name
