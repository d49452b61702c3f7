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
    model = json_schema()  # an element of a choice is written as in a model file
    choices: Schema = {
        "anyOf": [
            list_schema({"type": ["string", "number", "boolean"]}),
            {
                "type": "object",
                "additionalProperties": {"anyOf": [PLAIN, model["properties"]["elements"]["additionalProperties"]]},
            },
        ]
    }
    wanted: Schema = {"type": "object", "additionalProperties": {"anyOf": [PLAIN, list_schema(PLAIN)]}}
    part = _with(rows.PART, choices=choices, when=wanted)
    part["oneOf"] = [{"required": [key]} for key in rows.PART_FORMS]
    space = table_schema(rows.SPACE)
    space["properties"]["parts"] = {"type": "object", "additionalProperties": part, "minProperties": 1}
    space["required"] = ["parts"]
    best = table_schema(part_fields(BestRuns), part=BestRuns)
    texts: Schema = {"type": "object", "additionalProperties": TEXT}
    special: dict[Field, Schema] = {
        rows.RUN: {"anyOf": [TEXT, run_schema()]},
        rows.WORKER: {
            "anyOf": [{"type": "integer", "minimum": 0}, {"enum": [*rows.WORKERS]}, {**TEXT, "pattern": "://"}]
        },
        rows.KEEP: {"anyOf": [{"enum": [*rows.KEPT]}, best]},
        rows.MEASURES: texts,
    }
    schema = _with(rows.TOP, **{field.name: found | key_annotations(field) for field, found in special.items()})
    schema["properties"]["space"] = space
    for key, kind in rows.KINDS.items():
        schema["properties"][key] = table_schema(part_fields(kind), part=kind)
    by_measure: Schema = {"type": "object", "additionalProperties": NUMBER}
    schema["properties"]["monte_carlo"]["properties"]["error"] = {"anyOf": [NUMBER, by_measure]} | key_annotations(
        rows.ERROR
    )
    schema["properties"][rows.MARK]["const"] = rows.VERSION
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Kinemorph study file",
        "description": "A model, what is varied of it, and what is measured. Numbers are in SI with radians.",
        **schema,
        "required": [rows.MARK, "space"],
        "$defs": model["$defs"],
    }


def _with(fields: tuple[Field, ...], **special: Schema) -> Schema:
    """The schema of a table with these keys; `special` has the schemas of keys that model files do not have."""
    schema = table_schema([field for field in fields if field.name not in special])
    explained = {field.name: key_annotations(field) for field in fields}
    schema["properties"] |= {name: found | explained.get(name, {}) for name, found in special.items()}
    return schema
