"""What determines the results of a study, and what of it has changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import unified_diff
from typing import Literal

CHOICE = "choice "  # begins the names of aspects that belong to one label: a study may get more of them, or fewer
MEASURE = "measure "  # begins the names of aspects that are measures
MOST_LINES = 3  # of a difference that a message shows
LONGEST = 160  # characters of such a line
Changed = Literal["refuse", "recompute"]  # what happens to results where an aspect has changed


def is_shared(name: str) -> bool:
    """Whether all items depend on this aspect, and not only those with one label of a choice."""
    return not name.startswith(CHOICE)


def difference(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """The first lines of the difference between aspects: "model: mass = 1 -> mass = 2"; empty where there is none.

    A label of a choice that only one of both has is no difference: no item with this label is in the other one.
    """
    lines = list(_lines(old, new))
    more = f"; and {len(lines) - MOST_LINES} more" if len(lines) > MOST_LINES else ""
    return "; ".join(lines[:MOST_LINES]) + more


def _lines(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    for name in sorted({*old, *new}):
        if name not in new or name not in old:
            if is_shared(name):
                yield f"{name} is no longer there" if name in old else f"{name} is new"
        elif old[name] != new[name]:
            yield from _changed(name, old[name], new[name])


def _changed(name: str, old: str, new: str) -> Iterator[str]:
    """Lines of a text that changed, in pairs of old and new ones."""
    lines = list(unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm=""))[2:]
    before = [line[1:].strip() for line in lines if line.startswith("-")]
    after = [line[1:].strip() for line in lines if line.startswith("+")]
    for k in range(max(len(before), len(after))):
        pair = [_short(texts[k]) if k < len(texts) else "nothing" for texts in (before, after)]
        yield f"{name}: {pair[0]} -> {pair[1]}"


def _short(line: str) -> str:
    """A line in quotation marks, which a text has already."""
    shown = line if len(line) <= LONGEST else f"{line[:LONGEST]}..."
    return shown if line.startswith("'") else f"'{shown}'"
