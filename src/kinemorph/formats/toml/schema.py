"""The JSON schema of TOML model files, by which editors complete and explain keys and mark errors.

It is made from the tables that reader and writer use (`fields`), so it always agrees with them. It describes only the
structure of a file; units, names and masses are checked when the file is loaded. Numbers have the keyword `x-kind`,
the kind of quantity as in `model.units.KINDS`; keys that may be left out have a `default` where it is a plain value.

Keys of elements are explained by the docstrings of their dataclasses: in a list with one line for each field, which has
its name in backquotes and at least two spaces after it, or in a sentence that has the name in backquotes.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

from kinemorph.formats.toml import fields as rows
from kinemorph.formats.toml.values import AXES, MOMENTS
from kinemorph.model.elements import ELEMENT_KINDS
from kinemorph.model.elements.fields import Field, element_fields, part_fields
from kinemorph.model.shapes import Surface
from kinemorph.model.units import KINDS

Schema = dict[str, Any]

NUMBER: Schema = {"$ref": "#/$defs/number"}
POSE: Schema = {"$ref": "#/$defs/pose"}
_ENTRY = re.compile(r"^ *((?:`\w+`(?:, | and )?)+) {2,}(\S.*(?:\n {9,}\S.*)*)", re.MULTILINE)
_NAME = re.compile(r"`(\w+)`")
_SENTENCE = re.compile(r"(?<=\.)\s+(?=[A-Z`(])")


def json_schema() -> Schema:
    """The schema of a model file, as JSON data (draft 2020-12). It holds for sidecars, too, except for tables that give
    further numbers of joints of the model file, which have no kind.
    """
    tables: Schema = {
        key: {"type": "object", "additionalProperties": table_schema(fields)} for key, fields in rows.TABLES.items()
    }
    tables["parameters"]["additionalProperties"] = {"anyOf": [NUMBER, table_schema(rows.PARAMETER)]}
    tables["dependents"]["additionalProperties"] = {"anyOf": [NUMBER, table_schema(rows.DEPENDENT)]}
    tables["bodies"]["additionalProperties"]["not"] = {
        "anyOf": [{"required": ["solid", "com"]}, {"required": ["solid", "inertia"]}]
    }
    elements = [
        table_schema(element_fields(element), kind=kind, part=element) for kind, element in ELEMENT_KINDS.items()
    ]
    tables["elements"] = {"type": "object", "additionalProperties": {"oneOf": elements}}
    tables["settings"] = table_schema(rows.SETTINGS)
    tables["automaton"] = table_schema(rows.AUTOMATON)
    tables["starts"] = {"type": "object", "additionalProperties": table_schema(rows.START)}
    tables["runs"] = {"type": "object", "additionalProperties": run_schema()}
    tables |= _organism_tables()
    top = {field.name: FORMS[field.form](field) | key_annotations(field) for field in rows.TOP if field.form in FORMS}
    top[rows.MARK]["const"] = rows.VERSION
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Kinemorph model file",
        "description": "A robot, the elements that act on it, and settings of runs. Numbers are in SI with radians.",
        "type": "object",
        "properties": {**top, **tables},
        "required": [rows.MARK],
        "additionalProperties": False,
        "$defs": _definitions(),
    }


def run_schema() -> Schema:
    """The schema of the options of a run."""
    run = table_schema(rows.RUN)
    run["properties"] |= {key: list_schema(table_schema(fields)) for key, fields in rows.RUN_ROWS.items()}
    return run


def _organism_tables() -> Schema:
    """The schemas of the tables for docked modules, by name."""
    found: Schema = {"assembly": table_schema(rows.ASSEMBLY)}
    for key, fields in rows.ORGANISM_TABLES.items():
        plain = [field for field in fields if field.form in FORMS]
        found[key] = {"type": "object", "additionalProperties": table_schema(plain)}
    kind = found["module_types"]["additionalProperties"]["properties"]
    kind |= {key: {"$ref": f"#/properties/{key}"} for key in ("bodies", "joints")}
    kind["ports"] = {"type": "object", "additionalProperties": table_schema(rows.PORT)}
    return found | {key: list_schema(table_schema(fields)) for key, fields in rows.ORGANISM_ROWS.items()}


def _definitions() -> Schema:
    """The schemas of number, pose, shape, solid and surface, to which others refer."""
    shapes = [table_schema(fields, kind=kind) for kind, (_, fields) in rows.SHAPES.items()]
    solids = [table_schema(solid.fields, kind=kind) for kind, solid in rows.SOLIDS.items()]
    pose = table_schema(rows.POSE)
    return {
        "number": {
            "description": 'A number in SI, a quantity such as "5 mm", or an expression such as "0.5 * l1".',
            "type": ["number", "string"],
        },
        "pose": {**pose, "not": _several_turns()},
        "shape": {"oneOf": [*shapes, table_schema(rows.MESH_FILE, kind="mesh"), table_schema(rows.MESH, kind="mesh")]},
        "solid": {"oneOf": solids},
        "surface": table_schema(part_fields(Surface), part=Surface),
    }


def table_schema(fields: Sequence[Field], *, kind: str = "", part: type[Any] | None = None) -> Schema:
    """The schema of a table with the keys `fields`; `kind` is the value of its key `kind`, if it has one.

    `part` is the dataclass that the table describes, whose docstring explains the table and its keys.
    """
    if part is not None:
        explained = _key_help(part)
        fields = [field._replace(help=field.help or explained.get(field.name, "")) for field in fields]
    properties: Schema = {"kind": {"const": kind}} if kind else {}
    properties |= {field.name: FORMS[field.form](field) | key_annotations(field) for field in fields}
    schema: Schema = {"description": _title(part)} if part is not None and _title(part) else {}
    schema |= {"type": "object", "properties": properties, "additionalProperties": False}
    if "placement" in properties:
        schema["properties"] |= {field.name: FORMS[field.form](field) | key_annotations(field) for field in rows.POSE}
        schema["not"] = _several_turns()
    required = [*(["kind"] if kind else []), *(field.name for field in fields if field.required)]
    return {**schema, "required": required} if required else schema


def _several_turns() -> Schema:
    """The schema of a pose with more than one form of rotation, which is not allowed."""
    pairs = [("rpy", "rotation"), ("rpy", "quaternion"), ("rotation", "quaternion")]
    return {"anyOf": [{"required": list(pair)} for pair in pairs]}


def key_annotations(field: Field) -> Schema:
    """The annotations of a key: its description with the unit of plain numbers, its kind of quantity, its default."""
    kind = field.kind if isinstance(field.kind, str) else ""
    unit = f" [{KINDS[kind][0]}]" if kind not in ("", "number") and "[" not in field.help else ""
    text = f"{field.help.removesuffix('.')}{unit}.".lstrip() if field.help.endswith(".") else field.help
    if _limits(field):
        text = f"{text} Give {field.bounds.words(whole=field.form == 'whole')}.".lstrip()
    said: Schema = {"description": text} if text else {}
    if field.kind and field.kind != "number":
        said["x-kind"] = list(field.kind) if isinstance(field.kind, tuple) else field.kind
    return said if field.default is None else said | {"default": field.default}


def list_schema(items: Schema, counts: int | Sequence[int] | None = None) -> Schema:
    """The schema of a list; `counts` are its possible lengths."""
    schema: Schema = {"type": "array", "items": items}
    if counts is None:
        return schema
    several = (counts,) if isinstance(counts, int) else counts
    return {**schema, "minItems": min(several), "maxItems": max(several)}


def _inertia(field: Field) -> Schema:
    """The schema of an inertia: three moments, a matrix, or a table of moments and products."""
    table: Schema = {
        "type": "object",
        "properties": dict.fromkeys(MOMENTS, NUMBER),
        "required": list(MOMENTS[:3]),
        "additionalProperties": False,
    }
    return {"anyOf": [list_schema(NUMBER, 3), list_schema(list_schema(NUMBER, 3), 3), table]}


def _per(field: Field) -> Schema:
    """The schema of one number, or a list with one for each coordinate."""
    return {"anyOf": [NUMBER, list_schema(NUMBER)]}


def _row(field: Field) -> Schema:
    """The schema of a list in which each item has its own form."""
    items = [FORMS[row.form](row) for row in field.inner]
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}


def _part(field: Field) -> Schema:
    """The schema of a part of an element: a table of one of several kinds; a single kind need not be named."""
    tables = [table_schema(part_fields(part), kind=kind, part=part) for kind, part in field.inner.items()]
    if len(tables) > 1:
        return {"oneOf": tables}
    tables[0]["required"] = [key for key in tables[0]["required"] if key != "kind"]
    return tables[0]


def _inner(field: Field, row: Field) -> Schema:
    """The schema of the items of a list, or of one of several forms; their numbers have the bounds of the field."""
    return FORMS[row.form](row._replace(bounds=field.bounds))


def _limits(field: Field) -> Schema:
    """The bounds of a number; a quantity or an expression in a text is checked when the file is loaded."""
    words = {"least": "minimum", "above": "exclusiveMinimum", "most": "maximum", "below": "exclusiveMaximum"}
    return {word: x for key, word in words.items() if (x := getattr(field.bounds, key)) is not None}


# the schema of each form of `Field`
FORMS: dict[str, Callable[[Field], Schema]] = {
    "value": lambda field: NUMBER | _limits(field),
    "literal": lambda field: NUMBER | _limits(field),
    "whole": lambda field: {"type": "integer"} | _limits(field),
    "flag": lambda field: {"type": "boolean"},
    "text": lambda field: {"type": "string"},
    "label": lambda field: {"type": ["string", "integer"]},
    "labels": lambda field: {"anyOf": [{"type": ["string", "integer"]}, list_schema({"type": ["string", "integer"]})]},
    "choice": lambda field: {"enum": list(field.inner)},
    "vector": lambda field: list_schema(NUMBER | _limits(field), 3),
    "angles": lambda field: list_schema(NUMBER, 3),
    "matrix": lambda field: list_schema(list_schema(NUMBER, 3), 3),
    "inertia": _inertia,
    "axis": lambda field: {"anyOf": [{"enum": [*AXES, *(f"+{axis}" for axis in "xyz")]}, list_schema(NUMBER, 3)]},
    "pose": lambda field: dict(POSE),
    "numbers": lambda field: list_schema(NUMBER, field.inner),
    "points": lambda field: list_schema(list_schema(NUMBER, 3)),
    "faces": lambda field: list_schema(list_schema({"type": "integer", "minimum": 0}, 3)),
    "per_coordinate": _per,
    "per_velocity": _per,
    "formulas": _per,
    "position": lambda field: {"anyOf": [{"type": "string"}, list_schema(list_schema(NUMBER, 4), 4)]},
    "shapes": lambda field: list_schema({"$ref": "#/$defs/shape"}),
    "solid": lambda field: {"$ref": "#/$defs/solid"},
    "surface": lambda field: {"$ref": "#/$defs/surface"},
    "state": lambda field: {"anyOf": [list_schema(NUMBER), {"type": "object", "additionalProperties": NUMBER}]},
    "list": lambda field: list_schema(_inner(field, field.inner[0]), field.inner[1]),
    "row": _row,
    "part": _part,
    "either": lambda field: {"anyOf": [_inner(field, row) for row in field.inner]},
    "function": lambda field: {"not": {}},
    "starts": lambda field: {
        "anyOf": [
            {"type": "object", "additionalProperties": NUMBER},
            {"type": "string"},
            list_schema({"type": "string"}),
        ]
    },
    "texts": lambda field: {"type": "object", "additionalProperties": {"type": "string"}},
    "any": lambda field: {},
}


# ── help ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _key_help(part: type[Any]) -> dict[str, str]:
    """For every field of a dataclass that its docstring explains, the explanation in one line."""
    text = inspect.getdoc(part) or ""
    found: dict[str, str] = {}
    for entry in _ENTRY.finditer(text):
        found |= dict.fromkeys(_NAME.findall(entry[1]), _one_line(entry[2]))
    for sentence in _SENTENCE.split(" ".join(_ENTRY.sub("", text).split())):
        for name in _NAME.findall(sentence):
            found.setdefault(name, sentence)
    return found


def _title(part: type[Any]) -> str:
    """The first sentence of the docstring of a dataclass; empty if it has none of its own."""
    text = part.__doc__ or ""
    return "" if text.startswith(f"{part.__name__}(") else _one_line(text.partition("\n\n")[0])


def _one_line(text: str) -> str:
    """A text in one line."""
    return " ".join(text.split())
