"""Where a model file names its parts: in keys that hold names, in signals such as "q.hip", in formulas, and as keys.

joint = "hip"                       a name
reads = ["q.hip", "wave.hip"]       signals: the part may be the first name, or follow a group or an element
mass = "hip / 2"                    a formula, in which "hip" is a parameter
guard = "q.hip - 0.2"               a formula of signals
q = { hip = 0.3 }                   values by name
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kinemorph.formats.toml.schema import Schema
from kinemorph.model import units
from kinemorph.model.expressions import name_text
from kinemorph.studio.schema.schema_walk import edited_as, fitting, inner_schema, whole_schema

Path = tuple[str | int, ...]

# for each section, the keys whose values are names of its parts, or begin with such a name and a point
POINTED_AT: dict[str, frozenset[str]] = {
    "bodies": frozenset({"body", "body_a", "body_b", "parent", "child", "reference", "on", "bodies", "center"}),
    "frames": frozenset({"body", "body_a", "body_b", "on", "center", "along", "normal", "axes"}),
    "joints": frozenset({"joint", "joints", "leader", "locked", "hinge"}),
    "elements": frozenset({"reference", "reads", "drives", "signal", "signals", "elements", "feedforward", "inputs"}),
    "phases": frozenset({"source", "target", "during", "initial", "phase"}),
    "modules": frozenset({"a", "b", "base", "module"}),
}
NAMED_BY = {"couplings": "joints"}  # sections whose parts have the names of the parts of another section
SIGNALS = frozenset({"reads", "drives", "reference", "feedforward", "signal", "signals", "inputs", "times", "phase"})
FORMULAS = frozenset({"guard", "when", "reset", "rows", "motion", "surface"})  # texts with signals and parameters
MOTIONS = frozenset({"driven", "position", "formula"})  # texts with coordinates and parameters
BY_NAME = ("q", "v", "x", "inputs", "reset", "relabel", "memory")  # tables whose keys are names or signals
COORDINATES = ("joints", "coordinates")  # sections whose names are those of coordinates
PLAIN = ("parameters", "dependents")  # sections whose names stand alone in formulas
TOKEN = re.compile(r"`[^`]+`|[^\W\d]\w*(?:\.\w+)*")


class Renaming(NamedTuple):
    """A part of a section that gets another name."""

    section: str
    old: str
    new: str
    shadowed: bool  # whether a parameter or dependent has the old name too: then that is what formulas mean

    def name(self, text: str) -> str:
        """A reference with the new name; what follows a point or a bracket, as in "hip.x", stays."""
        at_start = text == self.old or text.startswith((f"{self.old}.", f"{self.old}["))
        return self.new + text[len(self.old) :] if at_start else text

    def signal(self, text: str) -> str:
        """A signal with the new name: the name comes first, or for a joint after a group or element, as in "q.hip"."""
        changed = self.name(text)
        first, mark, rest = text.partition(".")
        if changed != text or not mark or self.section not in COORDINATES:
            return changed
        return f"{first}.{self.name(rest)}"

    def formula(self, text: str) -> str:
        """A formula with the new name."""

        def changed(match: re.Match[str]) -> str:
            token = match[0].strip("`")
            if self.section in PLAIN:
                found = self.new if token == self.old else token
            else:
                found = token if self.shadowed and token == self.old else self.signal(token)
            return match[0] if found == token else found if TOKEN.fullmatch(found) else name_text(found)

        return TOKEN.sub(changed, text)


def pointing_at(data: Mapping[str, Any], section: str, old: str, new: str) -> Iterator[tuple[Path, Any]]:
    """The values of a file that contain the name of a part, each with its path and the value with the new name.

    Tables whose keys are such names come last; their values are those from before.
    """
    tables = []
    shadowed = any(old in (data.get(other) or {}) for other in PLAIN) and section not in PLAIN
    by = Renaming(section, old, new, shadowed)
    for path, value, schema in _values(data, (), whole_schema()):
        if path == (section, old):
            continue
        changed = _changed(by, path, value, schema)
        if changed != value and isinstance(value, dict):
            tables.append((path, changed))
        elif changed != value:
            yield path, changed
    yield from tables


def _changed(by: Renaming, path: Path, value: Any, schema: Schema) -> Any:
    """A value with the new name; the value itself if it does not name the part."""
    key = next((part for part in reversed(path) if isinstance(part, str)), "")
    if isinstance(value, dict):
        if key not in BY_NAME or by.section in PLAIN or len(path) < 2:
            return value
        return {by.signal(name): one for name, one in value.items()}
    if not isinstance(value, str):
        return value
    if by.section == "bodies" and key == "reference":
        return by.new if path[0] == "bodies" and value == by.old else value
    if key in POINTED_AT.get(by.section, ()) and key not in SIGNALS:
        return by.name(value)
    if key in SIGNALS and path[0] == "elements":
        return value if by.section in (*PLAIN, "bodies", "modules") else by.signal(value)
    inside = path[-2] if len(path) > 1 else ""
    if inside == "relabel":
        return value if by.section in PLAIN else by.name(value)
    if key in FORMULAS or inside == "reset":
        return by.formula(value)
    moves = key in MOTIONS or path[0] == "dependents"
    if by.section in PLAIN or (moves and by.section in COORDINATES):
        is_number = moves or path[0] == "parameters" or edited_as(schema) == "number"
        return by.formula(value) if is_number and not units.is_quantity(value) else value
    return value


def _values(value: Any, path: Path, schema: Schema) -> Iterator[tuple[Path, Any, Schema]]:
    """All values of a document, tables before what is in them, with their paths and schemas."""
    chosen = fitting(schema, value)
    yield path, value, chosen
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in items:
        yield from _values(one, (*path, key), inner_schema(chosen, key) or {})
