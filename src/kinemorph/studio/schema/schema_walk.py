"""The JSON schema of model files, as a form needs it: which of several ways a value is written, and what is inside."""

from __future__ import annotations

from functools import cache
from typing import Any

from kinemorph.formats.toml.schema import Schema, json_schema


@cache
def whole_schema() -> Schema:
    """The JSON schema of model files, made once."""
    return json_schema()


def resolved(schema: Schema) -> Schema:
    """A schema with its reference followed; its description is its own, not that of the schema that it refers to."""
    while "$ref" in schema:
        target: Any = whole_schema()
        for key in schema["$ref"].removeprefix("#/").split("/"):
            target = target[key]
        general = {key: value for key, value in target.items() if key != "description"}
        schema = {**general, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


def alternatives(schema: Schema) -> list[Schema]:
    """The ways in which a value may be written, with the annotations of the schema around them."""
    plain = resolved(schema)
    several = plain.get("anyOf") or plain.get("oneOf")
    if not several:
        return [plain]
    notes = {key: plain[key] for key in ("description", "x-kind", "default") if key in plain}
    return [{**one, **{k: v for k, v in notes.items() if k not in one}} for way in several for one in alternatives(way)]


def fitting(schema: Schema, value: Any) -> Schema:
    """The way in which a value is written, or the most similar one if it has mistakes."""
    ways = alternatives(schema)
    return ways[0] if len(ways) == 1 or value is None else max(ways, key=lambda way: _likeness(way, value))


def _likeness(schema: Schema, value: Any) -> int:
    """How well a value fits a schema: 3 in every respect, 2 by its type and its `kind`, 1 by its type, else 0."""
    if fits(schema, value):
        return 3
    if not has_type(schema, value):
        return 0
    kind = schema.get("properties", {}).get("kind", {}).get("const")
    return 2 if kind is not None and isinstance(value, dict) and value.get("kind") == kind else 1


def fits(schema: Schema, value: Any) -> bool:
    """Whether the structure of a value is that of a schema."""
    several = alternatives(schema)
    if len(several) > 1:
        return any(fits(one, value) for one in several)
    plain = several[0]
    if "const" in plain:
        return bool(value == plain["const"])
    if "enum" in plain:
        return value in plain["enum"]
    if plain.get("not") == {} or not has_type(plain, value):
        return False
    if isinstance(value, list):
        return plain.get("minItems", 0) <= len(value) <= plain.get("maxItems", len(value)) and all(
            fits(inner_schema(plain, place) or {}, item) for place, item in enumerate(value)
        )
    if isinstance(value, dict):
        inner = {key: inner_schema(plain, key) for key in value}
        return all(key in value for key in plain.get("required", ())) and all(
            one is not None and fits(one, value[key]) for key, one in inner.items()
        )
    return True


def has_type(schema: Schema, value: Any) -> bool:
    """Whether the type of a value is one that a schema allows; only the type, not what is in it."""
    if "enum" in schema or "const" in schema:
        return isinstance(value, str)
    allowed = schema.get("type", ())
    allowed = (allowed,) if isinstance(allowed, str) else allowed
    return not allowed or any(_TYPES[name](value) for name in allowed)


_TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
}


def inner_schema(schema: Schema, key: str | int) -> Schema | None:
    """The schema of a key of a table or of an item of a list; None if there may be none."""
    if isinstance(key, int):
        row = schema.get("prefixItems", ())
        return None if key < 0 else row[key] if key < len(row) else schema.get("items")
    found = schema.get("properties", {}).get(key, schema.get("additionalProperties", {} if _is_any(schema) else None))
    return found if isinstance(found, dict) else None


def inner_value(value: Any, key: str | int) -> Any:
    """The item of a value from a document; None if there is none."""
    if isinstance(value, dict):
        return value.get(key)
    return value[key] if isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value) else None


def _is_any(schema: Schema) -> bool:
    """Whether a schema allows every value."""
    return not {"type", "enum", "const", "anyOf", "oneOf", "not", "properties"} & schema.keys()


def is_section(schema: Schema) -> bool:
    """Whether a key at the top of a file is a table or an array of tables, which have forms of their own."""
    plain = resolved(schema)
    return plain.get("type") == "object" or "properties" in resolved(plain.get("items", {}))


def edited_as(schema: Schema) -> str:
    """How a value with this schema is edited."""
    if "enum" in schema or "const" in schema:
        return "choice"
    allowed = schema.get("type")
    if allowed == "object":
        return "table" if "properties" in schema else "names"
    if isinstance(allowed, list):
        return "number" if "number" in allowed else "label"
    return {"array": "list", "boolean": "flag", "integer": "integer", "string": "text"}.get(str(allowed), "data")


def blank(schema: Schema) -> Any:
    """A value to begin with: the default, zeros, empty texts, the first choice; tables have the keys they need."""
    plain = alternatives(schema)[0]
    if plain.get("default") is not None and fits(plain, plain["default"]):
        return plain["default"]
    kind = edited_as(plain)
    if kind == "choice":
        return plain["const"] if "const" in plain else plain["enum"][0]
    if kind == "list":
        return [blank(inner_schema(plain, place) or {}) for place in range(plain.get("minItems", 0))]
    if kind == "table":
        return {key: blank(plain["properties"][key]) for key in plain.get("required", ())}
    return {"names": {}, "number": 0, "integer": 0, "flag": False}.get(kind, "")


def variants(schema: Schema) -> list[dict[str, str]]:
    """The kinds that a part may have, such as those of elements, each with its help; empty if there is only one."""
    ways = [way for way in alternatives(schema) if is_variant(way)]
    kinds = [{"kind": way["properties"]["kind"]["const"], "help": way.get("description", "")} for way in ways]
    return kinds if len(kinds) > 1 else []


def is_variant(schema: Schema) -> bool:
    """Whether a schema is that of a table of one kind, which its key `kind` names."""
    return "const" in schema.get("properties", {}).get("kind", {})
