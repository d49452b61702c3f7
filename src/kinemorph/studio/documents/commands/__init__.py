"""The commands by which documents are edited, as one table: `COMMANDS` has a row for each verb.

A command is plain data: {"verb": "set", "path": "bodies.arm.mass", "value": 2}. A new verb is a row in ROWS of one of
the files of this folder; see command.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinemorph.studio.documents.commands import dockings, grid, keys, renaming
from kinemorph.studio.documents.commands.command import Command, CommandError, checked, shown
from kinemorph.words import did_you_mean, listed

FILES = (keys, renaming, grid, dockings)  # the files of this folder that have commands
COMMANDS: dict[str, Command] = {row.verb: row for file in FILES for row in file.ROWS}


def command_of(command: Mapping[str, Any]) -> tuple[Command, dict[str, Any]]:
    """(row, fields): the row of a command, and its checked fields by name. Raises CommandError for a wrong command."""
    if not isinstance(command, Mapping):
        raise CommandError(f"{shown(command)} is given as a command, expected a table with the key 'verb'.")
    verb = command.get("verb")
    row = COMMANDS.get(verb) if isinstance(verb, str) else None
    if row is None:
        raise CommandError(
            f"the verb of a command is {shown(verb)}, expected one of {listed(COMMANDS, 40)}."
            + (did_you_mean(verb, COMMANDS) or " Choose one of them.")
        )
    return row, checked(row, command)
