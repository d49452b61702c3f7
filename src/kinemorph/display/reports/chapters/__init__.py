"""The chapters of a report, one file each, which is called like the key of its section and has one function:

    def chapter(subject: Subject, words: Words) -> Section | None

It returns None where the subject has nothing that the chapter could show. KEYS is the order in a report.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TypeAlias

from kinemorph.display.faces.document import Section
from kinemorph.display.faces.grid import Grid
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.subject import Subject
from kinemorph.errors import UnsupportedError
from kinemorph.words import did_you_mean

Chapter: TypeAlias = Callable[[Subject, Words], Section | None]

KEYS = (
    "description",
    "conventions",
    "modules",
    "inertias",
    "position_matrices",
    "velocities",
    "accelerations",
    "equations",
    "elements",
    "equilibrium",
    "poles",
    "curves",
    "energy_audit",
    "listings",
    "errata",
    "verification",
)


def chapter_table() -> Grid:
    """The keys of all chapters, and the first line of the description of each."""
    modules = {key: import_module(f"{__name__}.{key}") for key in KEYS}
    rows = [[key, (module.__doc__ or "").strip().splitlines()[0].rstrip(".")] for key, module in modules.items()]
    return Grid("chapters, in the order of a report", ("chapter", "contents"), rows)


def chosen_chapters(keys: Sequence[str] | None = None) -> dict[str, Chapter]:
    """{key: chapter} of the chapters with these keys, in the order in which they are given; of all by default."""
    chosen = {}
    for key in KEYS if keys is None else keys:
        if key not in KEYS:
            raise UnsupportedError(
                f"there is no chapter '{key}'; expected one of: {', '.join(KEYS)}.{did_you_mean(key, KEYS)}"
            )
        chosen[key] = import_module(f"{__name__}.{key}").chapter
    if not chosen:
        raise UnsupportedError(f"no chapter is chosen; expected at least one of: {', '.join(KEYS)}.")
    return chosen
