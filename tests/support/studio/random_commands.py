"""Random commands for documents, which fit what the document holds at the moment, or are wrong on purpose."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kinemorph.studio.documents.commands.keys import GROUPS
from kinemorph.studio.documents.document import Document

VALUES = (0.5, 1, -2.5, "5 mm", "30 deg", "l1", [0, 0, 1], True, "x", {"mass": 1}, "B>0 B>1", [1.0, "a"], 1e300, "")
NAMES = ("arm", "m0", "left knee", "a.b", "q", "new", "x1", "ümlaut", 'quo"te')


def paths_in(data: Any, before: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all keys and items of a document."""
    pairs: Any = data.items() if isinstance(data, Mapping) else enumerate(data) if isinstance(data, list) else ()
    for key, value in pairs:
        yield (*before, key)
        yield from paths_in(value, (*before, key))


def random_command(document: Document, dice: random.Random) -> dict[str, Any]:
    """One command; about one in five is wrong, and many leave a wrong model."""
    data = document.data
    paths = list(paths_in(data)) or [("name",)]
    path = list(dice.choice(paths))
    kind, group = dice.choice(list(GROUPS.items()))
    table = data.get(group)
    known = list(table) if isinstance(table, Mapping) and table else list(NAMES)
    cells = [[dice.randrange(-1, 5), dice.randrange(-1, 5)] for _ in range(dice.randrange(1, 4))]
    text = document.text
    start = dice.randrange(len(text) + 1)
    makers: dict[str, Callable[[], dict[str, Any]]] = {
        "set": lambda: {"path": path, "value": dice.choice(VALUES)},
        "set new": lambda: {
            "verb": "set",
            "path": [*path[:1], dice.choice(NAMES), "mass"],
            "value": dice.choice(VALUES),
        },
        "unset": lambda: {"path": path},
        "add": lambda: {"path": [group, dice.choice(NAMES)], "value": {"mass": 1, "com": [0, 0, dice.random()]}},
        "insert": lambda: {"path": path, "value": dice.choice(VALUES), "index": dice.choice([None, 0, 2])},
        "parameter": lambda: {"name": dice.choice([*known, "l1"]), "value": dice.choice(VALUES)},
        "remove": lambda: {"kind": kind, "name": dice.choice(known)},
        "copy": lambda: {"kind": kind, "name": dice.choice(known), "to": dice.choice(NAMES)},
        "rename": lambda: {"kind": kind, "name": dice.choice(known), "to": dice.choice(NAMES)},
        "set_text": lambda: {"text": text[:start] + dice.choice(["\n", "# é", "=", "x = 1\n", ""]) + text[start:]},
        "place": lambda: {"cell": cells[0], "kind": dice.choice("BSWQ"), "front": dice.choice(">^<v")},
        "paint": lambda: {"cells": cells, "kind": "B", "front": dice.choice(">^<v")},
        "erase": lambda: {"cells": cells},
        "turn": lambda: {"cells": cells, "quarters": dice.randrange(-2, 3)},
        "move": lambda: {"cells": cells, "by": [dice.randrange(-2, 3), dice.randrange(-2, 3)]},
        "mirror": lambda: {"cells": cells, "axis": dice.choice("xy")},
        "rename_module": lambda: {"module": dice.choice(["m0", "m1", "head"]), "name": dice.choice(NAMES)},
        "ground": lambda: {"on": dice.choice([True, False])},
    }
    verb = dice.choice(list(makers))
    command: dict[str, Any] = {"verb": verb} | makers[verb]()
    if dice.random() < 0.03:
        command[dice.choice(["verb", "path", "name", "wrong"])] = dice.choice([None, 3, "nothing", [], {}])
    return command
