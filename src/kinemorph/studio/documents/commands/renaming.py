"""The command that renames a part of a model file, together with everything that names the part."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import tomlkit
from tomlkit import TOMLDocument

from kinemorph.formats.toml import text as spell
from kinemorph.formats.toml.lines import Lines
from kinemorph.studio.documents.commands.command import Command, CommandError, Field, Keys
from kinemorph.studio.documents.commands.grid import rename_module
from kinemorph.studio.documents.commands.keys import GROUPS, KIND, NAME, check_free, part_keys
from kinemorph.studio.documents.commands.layout import found, put, renamed_header, same, spelled
from kinemorph.studio.schema.references import NAMED_BY, pointing_at


def rename_part(document: TOMLDocument, kind: str, name: str, to: str) -> str:
    """Gives a part another name, also where other parts, formulas and initial states name it."""
    if kind == "module":
        return rename_module(document, name, to)
    part_keys(document, kind, name)
    if to == name:
        return tomlkit.dumps(document)
    check_free(document, kind, to)
    group = GROUPS[kind]
    text = tomlkit.dumps(document)
    for path, value in list(pointing_at(document.unwrap(), group, name, to)):
        if isinstance(value, dict):  # a table whose keys are names
            old = found(tomllib.loads(text), path)
            for key, new in zip(old, value, strict=True):
                text = _renamed(text, (*path, key), new)
        else:
            text = _put(text, path, value)
    for section in (group, *(section for section, named in NAMED_BY.items() if named == group)):
        if name in (tomllib.loads(text).get(section) or {}):
            text = _renamed(text, (section, name), to)
    return text


def _put(text: str, path: Keys, value: Any) -> str:
    """The text with another value at a path."""
    document = tomlkit.parse(text)
    return put(document, path, value) or tomlkit.dumps(document)


def _renamed(text: str, keys: Keys, to: str) -> str:
    """The text in which the table or key at a path has another last name, at the same place."""
    name = str(keys[-1])
    if to == name:
        return text
    data = tomllib.loads(text)
    changed = renamed_header(text, keys, to)
    if changed == text:
        lines = text.split("\n")
        at = Lines(text).line(keys) - 1
        old = "|".join(re.escape(one) for one in (name, f'"{name}"', f"'{name}'", spell.key(name)))
        new = spell.key(to)
        lines[at] = re.sub(rf"((?:^|[{{,.])\s*)(?:{old})(?=\s*[=.])", lambda match: match[1] + new, lines[at], count=1)
        changed = "\n".join(lines)
    around = found(data, keys[:-1])
    kept = {to if key == name else key: value for key, value in around.items()}
    around.clear()
    around.update(kept)
    if not same(tomllib.loads(changed), data):
        raise CommandError(
            f"'{name}' in {spelled(keys[:-1])} cannot be renamed without moving other keys. Edit the text instead."
        )
    return changed


ROWS = (
    Command(
        "rename",
        "Renames a part, also where other parts, formulas and initial states name it.",
        rename_part,
        (KIND, NAME, Field("to", "name", "The new name.")),
        lambda kind, name, to: f"rename {kind} {name} to {to}",
    ),
)
