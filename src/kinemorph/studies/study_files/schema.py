"""The JSON schema of study files, by which editors complete and explain keys and mark errors.

It is made from the tables that reader and writer use (`study_fields`), and from the dataclasses of plans.
"""

from __future__ import annotations

from kinemorph.formats.toml.schema import (
    NUMBER,
    Schema,
    json_schema,
    key_annotations,
    list_schema,
    run_schema,
    table_schema,
)
from kinemorph.model.elements.fields import Field, part_fields
from kinemorph.studies.outcomes import BestRuns
from kinemorph.studies.study_files import study_fields as rows

TEXT: Schema = {"type": "string"}
PLAIN: Schema = {"type": ["string", "number", "boolean"]}


def study_schema() -> Schema:
    """The schema of a study file, as JSON data (draft 2020-12)."""
    model = json_schema()
    best = table_schema(part_fields(BestRuns), part=BestRuns)
    special: dict[Field, Schema] = {
        rows.RUN: {"anyOf": [TEXT, run_schema()]},
        rows.WORKER: {
            "anyOf": [{"type": "integer", "minimum": 0}, {"enum": [*rows.WORKERS]}, {**TEXT, "pattern": "://"}]
        },
        rows.KEEP: {"anyOf": [{"enum": [*rows.KEPT]}, best]},
        rows.MEASURES: _table_of(TEXT),
    }
    schema = _with(rows.TOP, **{field.name: found | key_annotations(field) for field, found in special.items()})
    schema["properties"]["space"] = _space_schema(model["properties"]["elements"]["additionalProperties"])
    for key, kind in rows.KINDS.items():
        schema["properties"][key] = table_schema(part_fields(kind), part=kind)
    error = {"anyOf": [NUMBER, _table_of(NUMBER)]} | key_annotations(rows.ERROR)
    schema["properties"]["monte_carlo"]["properties"]["error"] = error
    schema["properties"][rows.MARK]["const"] = rows.VERSION
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Kinemorph study file",
        "description": "A model, what is varied of it, and what is measured. Numbers are in SI with radians.",
        **schema,
        "required": [rows.MARK, "space"],
        "$defs": model["$defs"],
    }


def _space_schema(element: Schema) -> Schema:
    """The schema of the table [space]; `element` is that of an element of a choice, as in a model file."""
    choices: Schema = {"anyOf": [list_schema(PLAIN), _table_of({"anyOf": [PLAIN, element]})]}
    part = _with(rows.PART, choices=choices, when=_table_of({"anyOf": [PLAIN, list_schema(PLAIN)]}))
    part["oneOf"] = [{"required": [key]} for key in rows.PART_FORMS]
    space = table_schema(rows.SPACE)
    space["properties"]["parts"] = {**_table_of(part), "minProperties": 1}
    space["required"] = ["parts"]
    return space


def _table_of(value: Schema) -> Schema:
    """The schema of a table with any keys, whose values have the same schema."""
    return {"type": "object", "additionalProperties": value}


def _with(fields: tuple[Field, ...], **special: Schema) -> Schema:
    """The schema of a table with these keys; `special` has the schemas of keys that model files do not have."""
    schema = table_schema([field for field in fields if field.name not in special])
    explained = {field.name: key_annotations(field) for field in fields}
    schema["properties"] |= {name: found | explained.get(name, {}) for name, found in special.items()}
    return schema
