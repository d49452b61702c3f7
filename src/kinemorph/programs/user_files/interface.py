"""The interface of user code: the names of bodies, states, inputs and parameters, and what a new model changes in them.

An interface is written into each program, one line per name. When a program is written again, the lines of the old one
say what has changed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import NamedTuple

from kinemorph.codegen.backends.identifiers import comment, identifier
from kinemorph.programs.job import Job
from kinemorph.programs.user_code import NAME
from kinemorph.words import quoted

LINE = "interface: "  # the beginning of a line about one name
COUNT = "COUNT"  # the last name of each group, the number of its members

# prefix of names in the program -> what one of them is called in messages
GROUPS = {
    "BODY": "body",
    "Q": "coordinate",
    "V": "velocity",
    "X": "state of the model",
    "M": "memory of elements",
    "U": "input",
    "P": "parameter",
    "STATE": "state of user code",
    "MEMORY": "memory of user code",
}


class Entry(NamedTuple):
    """One name of a group: as an identifier of the program, as it is in the model, and its unit."""

    word: str
    name: str
    unit: str


class Interface(NamedTuple):
    """All names that user code may use, by group, its functions, and the names of what each function returns."""

    name: str  # of the program
    groups: dict[str, tuple[Entry, ...]]  # by the keys of GROUPS
    functions: dict[str, tuple[str, ...]]

    @property
    def lines(self) -> list[str]:
        """One line of text for each name and each function, for the comment at the top of the interface."""
        named = [f"{GROUPS[group]} {comment(entry.name)}" for group, found in self.groups.items() for entry in found]
        return [f"{LINE}{text}" for text in (*named, *(f"function {name}" for name in self.functions))]

    @property
    def digest(self) -> str:
        """Sixteen letters that differ for different interfaces."""
        return hashlib.sha256("\n".join(self.lines).encode()).hexdigest()[:16]

    @property
    def first_state(self) -> int:
        """The index in x of the first state of the user's code."""
        return next((k for k, one in enumerate(self.groups["X"]) if one.name.startswith(f"{NAME}.")), 0)

    @property
    def first_memory(self) -> int:
        """The index in m of the first number of the user's memory."""
        return next((k for k, one in enumerate(self.groups["M"]) if one.name.startswith(f"{NAME}.")), 0)


def interface_of(job: Job, name: str) -> Interface:
    """The interface of a job with user code; `name` is that of the program."""
    assert job.user is not None and job.plant.robot is not None
    names = {
        "BODY": [(body, "") for body in job.plant.robot.body_names],
        **{group.upper(): [(one.name, one.unit) for one in job.columns(group)] for group in "qvxmup"},
        "STATE": [(state, "") for state in job.user.states],
        "MEMORY": [(memory, "") for memory in job.user.memory],
    }
    own = {
        one.function: tuple(
            column.name.removeprefix(f"{NAME}.") for column in job.plant.u[one.first : one.first + one.size]
        )
        for one in job.plant.asked
    }
    return Interface(name, {group: _entries(found) for group, found in names.items()}, own)


def _entries(found: Iterable[tuple[str, str]]) -> tuple[Entry, ...]:
    """Names with their units as entries, whose identifiers are all different."""
    entries: list[Entry] = []
    taken = {COUNT}
    for name, unit in found:
        word = identifier(name, taken)
        taken.add(word)
        entries.append(Entry(word, name, unit))
    return tuple(entries)


def written_lines(text: str) -> list[str]:
    """The lines of the interface in the text of a file that contains one."""
    return [line[line.index(LINE) :].rstrip() for line in text.splitlines() if re.match(rf"[\s*%#/]*{LINE}", line)]


def changes(old: Iterable[str], new: Iterable[str]) -> str:
    """What differs between the lines of an old interface and a new one, in words."""
    before, after = ([line.removeprefix(LINE) for line in lines] for lines in (old, new))
    gone, added = [x for x in before if x not in after], [x for x in after if x not in before]
    return "; ".join(f"{what} {quoted(names)}" for what, names in (("gone:", gone), ("new:", added)) if names)
