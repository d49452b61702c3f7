"""The table of the French texts, by the English ones: one file for each subject, with its part of the table.

Spaces before colons and inside of guillemets are written as usual spaces; `Words` makes them spaces that do not break.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules


def _joined() -> dict[str, str]:
    """All parts of the table as one. Raises ValueError where two parts translate a text differently."""
    table: dict[str, str] = {}
    for one in sorted(found.name for found in iter_modules(__path__)):
        part: dict[str, str] = import_module(f"{__name__}.{one}").TEXTS
        differing = [key for key, text in part.items() if table.get(key, text) != text]
        if differing:
            raise ValueError(f"french.{one}: {differing} have another translation in an earlier file.")
        table |= part
    return table


FRENCH = _joined()
