"""Forms of model files: the fields of every table, made from the JSON schema of the format.

No form is written by hand. `form` walks the schema and the data of a document together: the schema gives keys, kinds,
help, defaults and choices, the document gives values as they are written, with their units. A field is plain data:

    path          the keys that lead to the value in the document
    label         the key in words; the name of its control is made of the labels around it
    kind          how the value is edited: number, integer, flag, text, choice, list, table, names or data
    text          what stands in the control of a single value
    present       whether the file has this key; if not, `default` or `inherited` says which value counts
    fields        the fields of a table, or of the items of a list
    alternatives  the ways in which this key may be written, each with a value to begin with
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from kinemorph.errors import ModelError
from kinemorph.formats.toml.schema import Schema
from kinemorph.model import units
from kinemorph.model.modules.catalog import KINDS
from kinemorph.studio.documents.commands.layout import spelled, written
from kinemorph.studio.schema.schema_walk import (
    alternatives,
    blank,
    edited_as,
    fitting,
    has_type,
    inner_schema,
    inner_value,
    is_section,
    is_variant,
    resolved,
    variants,
    whole_schema,
)
from kinemorph.words import did_you_mean, listed

Path: TypeAlias = tuple[str | int, ...]
Field: TypeAlias = dict[str, Any]

LONGEST_LIST = 40  # items; a longer list is edited as text
DEEPEST = 12  # levels of tables in tables that a form shows; deeper ones are edited as text
COORDINATES = {"prismatic": 1, "m": 1, "revolute": 0, "rad": 0, "spherical": 0, "universal": 0, "gimbal": 0}
SINGLE = ("number", "integer", "flag", "text", "label", "choice", "data")
SPATIAL = ("x", "y", "z")
# keys of a run, and the keys of [settings] that count where a run leaves them out
FROM_SETTINGS = {
    **{"time": "time", "output_step": "sample", "max_step": "max_step", "loops": "loops", "q": "q", "v": "v"},
}


def form(data: Mapping[str, Any], path: Sequence[str | int]) -> Field:
    """The form of a part of a document: its fields with their values. `path` is empty for the keys at the top.

    Raises ModelError if the document has no such part.
    """
    place: Path = tuple(path)
    schema, value = schema_at(data, place)
    if value is None:
        raise ModelError(f"the file has no part '{spelled(place)}'; choose a part that is listed.")
    if not place:
        schema = {**schema, "properties": {k: v for k, v in schema["properties"].items() if not is_section(v)}}
        value = {key: item for key, item in value.items() if key in schema["properties"]}
    field = _field(schema, value, place, data, label=_words(place[-1]) if place else "model")
    return field | {"title": spelled(place) or "model", "variants": variants(schema)}


def schema_at(data: Mapping[str, Any], path: Path) -> tuple[Schema, Any]:
    """The schema and the value at a path of a document. The value is None where the document has none.

    Raises ModelError where no file may have such a key.
    """
    schema, value = whole_schema(), data
    for depth, key in enumerate(path):
        chosen = fitting(schema, value)
        found = inner_schema(chosen, key)
        if found is None:
            known = list(chosen.get("properties", {}))
            hint = did_you_mean(str(key), known)
            where = f"'{spelled(path[:depth])}'" if depth else "the file"
            raise ModelError(f"{where} has no key '{key}'.{hint} Keys: {listed(known)}.")
        schema = found
        value = inner_value(value, key)
    return schema, value


def field(schema: Schema, value: Any, path: Path, data: Mapping[str, Any]) -> Field:
    """The field of a value that a document has or may have."""
    return _field(schema, value, path, data, label=_words(path[-1]))


def of_kind(data: Mapping[str, Any], path: Path, kind: str) -> dict[str, Any]:
    """The table at a path as one of another kind: keys that this kind has too stay, keys that it needs are added.

    Raises ModelError for an unknown kind.
    """
    schema, value = schema_at(data, path)
    ways = {way["properties"]["kind"]["const"]: way for way in alternatives(schema) if is_variant(way)}
    if kind not in ways:
        raise ModelError(f"kind is '{kind}', expected one of: {listed(ways)}.{did_you_mean(kind, ways)}")
    known = ways[kind]["properties"]
    old = value if isinstance(value, dict) else {}
    return {**blank(ways[kind]), **{key: one for key, one in old.items() if key in known}, "kind": kind}


def leaves(field: Field) -> Iterator[Field]:
    """All single fields of a form, also those in tables and lists."""
    if field["kind"] in SINGLE:
        yield field
    for one in field.get("fields", ()):
        yield from leaves(one)


def read(field: Field, text: str) -> Any:
    """The value that a text in the control of a field stands for. The value in the file remains if its text is equal.

    Raises ModelError with a sentence for a text that cannot be such a value.
    """
    if field["present"] and text == field["text"]:
        return field["value"]
    kind, name = field["kind"], field["label"]
    if kind == "number":
        return _read_number(field, text.strip())
    if kind == "integer":
        try:
            return int(text)
        except ValueError:
            raise ModelError(f"{name} is '{text}', expected a whole number. Write one such as 2.") from None
    if kind == "flag":
        if text not in ("true", "false"):
            raise ModelError(f"{name} is '{text}', expected true or false. Write one of them.")
        return text == "true"
    if kind == "choice":
        if text not in field["choices"]:
            hint = did_you_mean(text, field["choices"])
            raise ModelError(f"{name} is '{text}', expected one of: {listed(field['choices'])}.{hint}")
        return text
    if kind == "label":
        return int(text) if text.isdecimal() else text
    if kind == "data":
        try:
            return tomllib.loads(f"value = {text}")["value"]
        except ValueError as error:
            raise ModelError(f"{name} cannot be read: {error}. Write a value in TOML, with texts in quotes.") from None
    return text


def value_text(value: Any, kind: str) -> str:
    """What stands in the control of a single value."""
    if value is None:
        return ""
    if kind == "data":
        return written(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


# ── fields ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _field(
    schema: Schema,
    value: Any,
    path: Path,
    data: Mapping[str, Any],
    *,
    label: str,
    required: bool = False,
    quantity: str = "",
    depth: int = 0,
) -> Field:
    """The field of a value with its schema; `quantity` is the kind of quantity of the list around it."""
    chosen = fitting(schema, value)
    kind = edited_as(chosen)
    if depth > DEEPEST or (isinstance(value, list) and len(value) > LONGEST_LIST):
        kind = "data"
    elif value is not None and not has_type(chosen, value):
        kind = "data"  # a value of a wrong type is shown as it is written
    quantity = _quantity(chosen.get("x-kind"), path, data) or quantity
    unit = _unit(quantity)
    help = chosen.get("description", "").replace("`", "")
    field: Field = {
        **{"path": list(path), "label": label, "kind": kind, "help": "" if help == f"[{unit}]" else help},
        **{"required": required, "present": value is not None, "value": value, "unit": unit},
        **{"quantity": quantity, "default": chosen.get("default"), "inherited": inherited(data, path)},
    }
    ways = alternatives(schema)
    if len(ways) > 1:
        field["alternatives"] = [_way(way, way is chosen or way == chosen) for way in ways]
    if kind in SINGLE:
        field["text"] = value_text(value, kind)
    if kind == "choice":
        field["choices"] = list(chosen.get("enum", [chosen.get("const")]))
    elif kind == "list":
        items = value or []
        field["least"], field["most"] = chosen.get("minItems", 0), chosen.get("maxItems")
        labels = SPATIAL if field["most"] == field["least"] == 3 else tuple(str(i + 1) for i in range(len(items)))
        field["fields"] = [
            _field(
                *(inner_schema(chosen, i) or {}, item, (*path, i), data),
                label=labels[i] if i < len(labels) else str(i + 1),
                quantity=quantity,
                depth=depth + 1,
            )
            for i, item in enumerate(items)
        ]
        field["blank"] = blank(inner_schema(chosen, len(items)) or {})
    elif kind in ("table", "names"):
        field["fields"] = list(_table_fields(chosen, value or {}, path, data, quantity, depth))
        kinds = [one["kind"] for one in variants(schema)]
        for one in field["fields"]:
            if one["path"][-1] == "kind" and kinds:
                one |= {"choices": kinds, "variant": True}
        if kind == "names":
            field["blank"] = blank(chosen["additionalProperties"])
    return field


def _table_fields(
    schema: Schema, value: dict[str, Any], path: Path, data: Mapping[str, Any], quantity: str, depth: int
) -> Iterator[Field]:
    """The fields of a table: those of the schema, then keys that the schema does not know."""
    needed = schema.get("required", ())
    for key, inner in schema.get("properties", {}).items():
        if resolved(inner).get("not") == {}:
            continue  # a Python function, which no file can contain
        yield _field(
            *(inner, value.get(key), (*path, key), data),
            label=_words(key),
            required=key in needed,
            quantity=quantity,
            depth=depth + 1,
        )
    for key, item in value.items():
        if key not in schema.get("properties", {}):
            inner = schema.get("additionalProperties") or {}
            yield _field(*(inner, item, (*path, key), data), label=_words(key), quantity=quantity, depth=depth + 1) | {
                "known": bool(inner),
                "removable": True,
            }


def _way(schema: Schema, chosen: bool) -> Field:
    """One of the ways in which a value may be written: its title, a value to begin with, and whether it is the one."""
    kind = edited_as(schema)
    const = schema.get("properties", {}).get("kind", {}).get("const")
    count = schema.get("minItems") if schema.get("minItems") == schema.get("maxItems") else None
    titles = {"choice": "a choice", "list": f"a list of {count}" if count else "a list", "names": "values by name"}
    titles |= {"number": "a number", "table": "a table", "data": "other data", "label": "a name", "flag": "yes or no"}
    inner = edited_as(resolved(inner_schema(schema, 0) or {})) if kind == "list" else ""
    title = const or f"{titles.get(kind, f'a {kind}')}{' of lists' if inner == 'list' and not count else ''}"
    if inner == "list" and count:
        title = f"a matrix with {count} rows"
    return {"title": title, "kind": kind, "blank": blank(schema), "chosen": chosen, "variant": const is not None}


def _words(key: str | int) -> str:
    """A key as a label."""
    return str(key).replace("_", " ")


# ── quantities ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _quantity(kind: str | list[str] | None, path: Path, data: Mapping[str, Any]) -> str:
    """The kind of quantity of a value; where it depends on a joint or a coordinate, that of its rotation or shift."""
    if not isinstance(kind, list):
        return kind or ""
    around: Any = data
    for key in path[:-1]:
        around = inner_value(around, key)
    about = (around.get("kind") or around.get("unit") or "") if isinstance(around, dict) else ""
    if len(path) > 1 and path[0] == "coordinates" and not about:
        about = "rad"
    return kind[COORDINATES[about]] if about in COORDINATES else ""


def _unit(quantity: str) -> str:
    """The usual unit of a kind of quantity; empty for plain numbers."""
    usual = units.KINDS.get(quantity, ("",))[0]
    return "" if usual == "1" else usual


def _read_number(field: Field, text: str) -> int | float | str:
    """A number, or the text of a quantity or an expression. Raises ModelError for a unit of another kind."""
    if not text:
        raise ModelError(f"{field['label']} is empty, expected a number. Write one, or remove the key.")
    try:
        number = tomllib.loads(f"value = {text}")["value"]
        if isinstance(number, (int, float)) and not isinstance(number, bool):
            return number
    except ValueError:
        pass  # a quantity or an expression
    if units.is_quantity(text):
        try:
            units.quantity(text, field["quantity"])
        except ValueError as error:
            usual = f" [{field['unit']}]" if field["unit"] else ""
            raise ModelError(f"{field['label']}: {error}. Correct the unit, or write a plain number{usual}.") from None
    return text


def inherited(data: Mapping[str, Any], path: tuple[str | int, ...]) -> dict[str, Any] | None:
    """The value that counts for a key that a file leaves out, and where it comes from; None if there is no such value.

    A module type that is `like` a built-in one has the data of that type; a run has the duration and the initial
    state of [settings].
    """
    if len(path) != 3:
        return None
    section, name, key = path
    table = data.get(section) if isinstance(section, str) else None
    part = table.get(name) if isinstance(table, Mapping) else None
    if not isinstance(part, Mapping) or key in part:
        return None
    if section == "module_types" and part.get("like") in KINDS:
        known = inspect.signature(KINDS[part["like"]]).parameters.get(str(key))
        if known is not None and isinstance(known.default, (int, float, str)):
            return {"value": known.default, "source": f"the built-in type {part['like']}"}
    settings = data.get("settings")
    named = FROM_SETTINGS.get(str(key), "")
    if section == "runs" and isinstance(settings, Mapping) and named in settings:
        return {"value": settings[named], "source": "[settings]"}
    return None
