"""The panel Model: all parts of a model file as a tree, and the form of the part that is chosen.

A form is made from the schema (see `studio.forms`). Mistakes stand at their fields: each finding of the reader is given
to the field on its line.
"""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kinemorph.display.serving.channel import Channel
from kinemorph.errors import ModelWarning
from kinemorph.formats.loading import saved_texts
from kinemorph.formats.toml.lines import Lines
from kinemorph.studio.documents.document import Document
from kinemorph.studio.forms import form as forms
from kinemorph.studio.forms import parts
from kinemorph.studio.panels.editing import edit
from kinemorph.studio.panels.same_in_python import assign, call, command, same, script
from kinemorph.studio.requests import request
from kinemorph.studio.session import Session

Field = dict[str, Any]


@request("parts")
def parts_of(session: Session, channel: Channel, *, document: str) -> dict[str, Any]:
    """All parts of a document by section, each with the number of its findings."""
    found = session.document(document)
    sections = parts.sections(shown_data(found))
    if found.is_toml:
        lines = Lines(found.text)
        for section in sections:
            for part in section["parts"]:
                part["findings"] = len(list(_within(found, lines, tuple(part["path"]))))
    python = script("import kinemorph as km", "", assign("system", call("km.load", document)))
    told = same(python, command("check", document))
    return {"revision": found.revision, "sections": sections, "editable": found.is_toml, "same": told}


@request("form")
def form_of(session: Session, channel: Channel, *, document: str, path: list[Any]) -> Field:
    """The form of a part of a document, with the findings at their fields and names to choose from."""
    found = session.document(document)
    data = shown_data(found)
    form = forms.form(data, path)
    if found.is_toml:
        _place_findings(form, found)
    for field in _all(form):
        if field.get("kind") in ("text", "label", "list") or _may_be(field, "text"):
            key = next((key for key in reversed(field["path"]) if isinstance(key, str)), "")
            field["names"] = parts.names_for(key, data, found.last_model)
            blanks = [one["blank"] for one in field.get("alternatives") or () if one["kind"] == "list"]
            is_text = field.get("kind") == "text" and [] in blanks  # others are lists of numbers
            field["several"] = is_text or (field.get("kind") == "list" and field.get("blank") == "")
    return form | {"revision": found.revision}


def shown_data(document: Document) -> dict[str, Any]:
    """The data of a document; of one that is not TOML, those of the TOML file to which its model is converted."""
    if document.is_toml or document.last_model is None:
        return document.data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # what is lost is reported when it is converted
        texts = saved_texts(document.last_model, "toml", Path(document.name).stem)
    return tomllib.loads(next(text for name, text in texts.items() if name.endswith(".toml")))


def _may_be(field: Field, kind: str) -> bool:
    """Whether a field may be written as another kind of value, such as a text in place of a number."""
    return any(one["kind"] == kind for one in field.get("alternatives") or ())


@request("set_field")
def set_field(
    session: Session,
    channel: Channel,
    *,
    document: str,
    path: list[Any],
    text: str,
) -> dict[str, Any]:
    """Sets the value of a field to what its control shows; the text is read as the kind of the field asks for."""
    with session.edits:
        data = session.document(document).data
        field = _single_field(data, tuple(path))
        value = forms.read(field, text)
        if field["present"] and value == field["value"] and type(value) is type(field["value"]):
            return session.edited(session.document(document))
        state: dict[str, Any] = edit(
            session, channel, document=document, command={"verb": "set", "path": path, "value": value}
        )
        return state


@request("set_kind")
def set_kind(session: Session, channel: Channel, *, document: str, path: list[Any], kind: str) -> dict[str, Any]:
    """Gives a part or a table in it, such as an element or a shape, another kind; keys that both kinds have stay."""
    with session.edits:
        value = forms.of_kind(session.document(document).data, tuple(path), kind)
        state: dict[str, Any] = edit(
            session, channel, document=document, command={"verb": "set", "path": path, "value": value}
        )
        return state


@request("add_part")
def add_part(
    session: Session, channel: Channel, *, document: str, section: str, name: str = "", kind: str = ""
) -> dict[str, Any]:
    """Adds a part to a section with the keys that it needs, and returns its path with the new state."""
    with session.edits:
        data = session.document(document).data
        shape = next((one["shape"] for one in parts.sections(data) if one["key"] == section), "")
        value = parts.new_part(data, section, kind)
        if shape == "rows":
            path: list[str | int] = [section, len(data.get(section, ()))]
            command = {"verb": "insert", "path": [section], "value": value}
        elif shape == "single":
            path = [section]
            command = {"verb": "add", "path": path, "value": value}
        else:
            path = [section, parts.checked_name(data, section, name)]
            command = {"verb": "add" if isinstance(value, dict) else "set", "path": path, "value": value}
        state = edit(session, channel, document=document, command=command)
        return {"path": path, "state": state}


def _single_field(data: dict[str, Any], path: tuple[str | int, ...]) -> Field:
    """The field of a single value, from the form of the part around it; of a value that is not there yet too."""
    for field in forms.leaves(forms.form(data, parts.part_around(data, path))):
        if tuple(field["path"]) == path:
            return field
    return forms.field(*forms.schema_at(data, path), path, data)


def _within(document: Document, lines: Lines, path: tuple[str | int, ...]) -> Iterator[Field]:
    """The findings of a document in a part: those on the lines from its first key to its last one."""
    data: Any = document.data
    for key in path:
        data = data[key]
    own = {lines.line(path)} | {lines.line((*path, *inner)) for inner in _paths(data, ())}
    yield from (finding for finding in known_findings(document) if finding["line"] in own)


def _paths(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """The paths of all values in a value."""
    inside: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield (*path, key)
        yield from _paths(item, (*path, key))


def _place_findings(form: Field, document: Document) -> None:
    """Gives every finding in a form to the first field on its line; those on the line of the header to the form."""
    lines, by_line = Lines(document.text), dict[int, Field]()
    for field in _all(form):
        if field["present"] and lines.has(tuple(field["path"])):
            by_line.setdefault(lines.line(tuple(field["path"])), field)
    for finding in known_findings(document):
        if finding["line"] in by_line:
            by_line[finding["line"]].setdefault("findings", []).append(finding)


def known_findings(document: Document) -> list[Field]:
    """The findings of the current text, if it has been read already; pages get a message when that has happened."""
    state = document.state()
    found: list[Field] = state["findings"] if state["read_revision"] == document.revision else []
    return found


def _all(field: Field) -> Iterator[Field]:
    """A field and all fields in it."""
    yield field
    for one in field.get("fields", ()):
        yield from _all(one)
