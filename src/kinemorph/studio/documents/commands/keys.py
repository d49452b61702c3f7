"""Commands that set, add and remove keys, tables, items of lists and parameters, in any part of a model file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tomlkit import TOMLDocument, dumps, parse

from kinemorph.formats.toml import fields as rows
from kinemorph.studio.documents.commands.command import Command, CommandError, Field, Keys, shown
from kinemorph.studio.documents.commands.layout import added, copied, found, has, item_of, plain, put, removed, spelled

# the tables of a model file that hold one table for each part, by the word for the part
GROUPS = {word: group for group, word in rows.WORDS.items()} | {
    "run": "runs",
    "module": "modules",
    "module type": "module_types",
}
PATH = Field("path", "keys", 'The key, such as "bodies.arm.mass" or ["bodies", "arm", "shapes", 0, "radius"].')
KIND = Field("kind", "choice", "The kind of part.", inner=tuple(GROUPS))
NAME = Field("name", "name", "The name of the part.")


def set_key(document: TOMLDocument, path: Keys, value: Any) -> str | None:
    """Sets a key; tables around it that are missing are made."""
    return put(document, path, value)


def unset_key(document: TOMLDocument, path: Keys) -> str:
    """Removes a key, a table or an item of a list."""
    return removed(document, path)


def add_table(document: TOMLDocument, path: Keys, value: Mapping[str, Any]) -> str:
    """Adds a table with its keys."""
    if not isinstance(value, Mapping):
        raise CommandError(f"command 'add': value is {shown(value)}, expected a table of keys. Use 'set' for a value.")
    if has(document, path):
        raise CommandError(f"there is a {spelled(path)} already. Choose another name, or change it with 'set'.")
    return added(document, path, value)


def insert_item(document: TOMLDocument, path: Keys, value: Any, index: int | None) -> str:
    """Inserts an item into a list, or a table at the end of an array of tables; a missing list is made."""
    data = document.unwrap()
    items = found(data, path) if has(data, path) else []
    if not isinstance(items, list):
        raise CommandError(f"{spelled(path)} is {shown(items)}, expected a list. Use 'set' to replace it.")
    place = len(items) if index is None else index
    if not 0 <= place <= len(items):
        raise CommandError(f"index is {place}, expected 0 to {len(items)}, the length of {spelled(path)}.")
    tables = isinstance(value, Mapping) and path[0] in rows.ORGANISM_ROWS
    if tables and place == len(items):
        if not items:  # the first table of an array: its header makes the array
            text = dumps(document).rstrip("\n")
            keys = "".join(f"{line}\n" for line in added(document, ("x",), value).rsplit("[x]\n", 1)[1].splitlines())
            return f"{text}\n\n[[{spelled(path)}]]\n{keys}"
        return added(document, (*path, place), value)
    if not has(data, path):
        return put(document, path, [value]) or dumps(document)
    found(document, path).insert(place, item_of(value))
    return dumps(document)


def set_parameter(document: TOMLDocument, name: str, value: Any) -> str | None:
    """Sets the value of a parameter; its unit and symbol stay. A new parameter is added."""
    keys: Keys = ("parameters", name)
    old = plain(found(document, keys)) if has(document, keys) else None
    if isinstance(old, Mapping) and not isinstance(value, Mapping):
        return put(document, (*keys, "value"), value)
    return put(document, keys, value)


def remove_part(document: TOMLDocument, kind: str, name: str) -> str:
    """Removes a part; references to it stay, and are findings then."""
    return removed(document, part_keys(document, kind, name))


def copy_part(document: TOMLDocument, kind: str, name: str, to: str) -> str:
    """Copies a part under a new name."""
    keys = part_keys(document, kind, name)
    check_free(document, kind, to)
    return copied(document, keys, to)


def together(document: TOMLDocument, label: str, commands: Any) -> str:
    """Carries out commands one after the other; where one of them is refused, nothing changes."""
    from kinemorph.studio.documents.commands import command_of

    if not isinstance(commands, list):
        raise CommandError(f"command 'together': commands is {shown(commands)}, expected a list of commands. Give one.")
    for command in commands:
        row, fields = command_of(command)
        if row.on_text or row.verb == "together":
            raise CommandError(f"command 'together' cannot have the verb '{row.verb}' in it. Apply it alone.")
        document = parse(row.patch(document, **fields) or dumps(document))
    return dumps(document)


def part_keys(document: TOMLDocument, kind: str, name: str) -> Keys:
    """The path of a part. Raises CommandError, with a similar name, if the file has no such part."""
    group = GROUPS[kind]
    if group not in document:
        raise CommandError(f"the file has no {kind} '{name}', because it has no [{group}]. Choose another part.")
    found(document, (group, name))
    return (group, name)


def check_free(document: TOMLDocument, kind: str, name: str) -> None:
    """Raises CommandError if a part of this kind has the name already."""
    if has(document, (GROUPS[kind], name)):
        raise CommandError(f"there is a {kind} '{name}' already. Choose another name.")


def _set_label(path: Keys, value: Any) -> str:
    return f"{spelled(path)} = {shown(value)}"


ROWS = (
    Command(
        "set",
        "Sets a key to a value; tables around it that are missing are made.",
        set_key,
        (PATH, Field("value", "value", 'The new value: 2, "5 mm", "l1 / 2", [0, 0, 1], or a table.')),
        _set_label,
    ),
    Command(
        "unset",
        "Removes a key, so that its default holds; also a table, or an item of a list.",
        unset_key,
        (PATH,),
        lambda path: f"remove {spelled(path)}",
    ),
    Command(
        "add",
        "Adds a table, such as a body or an element, with its keys.",
        add_table,
        (
            Field("path", "keys", 'The new table, such as "bodies.hand".'),
            Field("value", "value", 'The keys of the table, such as {"mass": 1}.', {}),
        ),
        lambda path, value: f"add {spelled(path)}",
    ),
    Command(
        "insert",
        "Inserts an item into a list, or a row into an array of tables such as [[dockings]].",
        insert_item,
        (
            Field("path", "keys", 'The list, such as "elements.drive.joints" or "dockings".'),
            Field("value", "value", "The new item."),
            Field("index", "whole", "Place of the new item, counted from 0; at the end if it is left out.", None),
        ),
        lambda path, value, index: f"insert {shown(value)} into {spelled(path)}",
    ),
    Command(
        "parameter",
        "Sets the value of a parameter, or adds a parameter; its unit and symbol stay.",
        set_parameter,
        (
            Field("name", "name", "The name of the parameter."),
            Field("value", "value", 'A number, a quantity such as "30 cm", or an expression.'),
        ),
        lambda name, value: f"{name} = {shown(value)}",
    ),
    Command(
        "remove",
        "Removes a part; what refers to it is shown as a finding.",
        remove_part,
        (KIND, NAME),
        lambda kind, name: f"remove {kind} {name}",
    ),
    Command(
        "copy",
        "Copies a part under a new name.",
        copy_part,
        (KIND, NAME, Field("to", "name", "The name of the copy.")),
        lambda kind, name, to: f"copy {kind} {name} to {to}",
    ),
    Command(
        "together",
        "Carries out several commands as one edit, which one Undo takes back.",
        together,
        (
            Field("label", "name", "What the edit is called."),
            Field("commands", "value", "The commands, in their order."),
        ),
        lambda label, commands: label,
    ),
    Command(
        "set_text",
        "Replaces the whole text of the file; a text that is not well-formed is kept and shown with its findings.",
        lambda document, text: text,
        (Field("text", "text", "The new text."),),
        lambda text: "edit the text",
        on_text=True,
    ),
)
