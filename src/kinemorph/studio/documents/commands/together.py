"""Several commands as one edit, which one Undo takes back."""

from __future__ import annotations

from typing import Any

import tomlkit
from tomlkit import TOMLDocument

from kinemorph.studio.documents.commands.command import Command, CommandError, Field, shown


def together(document: TOMLDocument, label: str, commands: Any) -> str:
    """Carries out commands one after the other; where one of them is refused, nothing changes."""
    from kinemorph.studio.documents.commands import command_of

    if not isinstance(commands, list):
        raise CommandError(f"command 'together': commands is {shown(commands)}, expected a list of commands. Give one.")
    for command in commands:
        row, fields = command_of(command)
        if row.on_text or row.verb == "together":
            raise CommandError(f"command 'together' cannot have the verb '{row.verb}' in it. Apply it alone.")
        text = row.patch(document, **fields)
        document = document if text is None else tomlkit.parse(text)
    return tomlkit.dumps(document)


ROWS = (
    Command(
        "together",
        "Carries out several commands as one edit.",
        together,
        (
            Field("label", "name", "What the edit is called."),
            Field("commands", "value", "The commands, one after the other."),
        ),
        lambda label, commands: label,
    ),
)
