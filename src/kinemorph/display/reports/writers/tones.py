"""The colors of verdicts in tables: words such as "passed" and "failed", in any language."""

from __future__ import annotations

from kinemorph.display.faces.grid import VERDICTS
from kinemorph.display.faces.languages.words import Words

TONES = {"green": "success", "yellow": "doubt", "bold red": "warning"}


def tone_of(cell: str, words: Words) -> str:
    """The tone of a cell: "success", "doubt" or "warning"; "" for a cell that is no verdict."""
    first = cell.partition(":")[0].strip()
    return next((TONES[color] for word, color in VERDICTS.items() if words(word) == first), "")
