"""Phrases for messages: lists of names, counts with a noun, and a guess at a misspelled name."""

from __future__ import annotations

from collections.abc import Iterable

MOST_SEARCHED = 5_000  # characters; in longer lists of names no guess is searched for
MOST_LISTED = 12  # names; of a longer list only these are shown, and the others are counted


def listed(names: Iterable[object], most: int = MOST_LISTED) -> str:
    """The names as `a, b, c`, or `a, b and 7 more` if there are more than `most`; `none` if there are no names."""
    texts = [str(name) for name in names]
    if len(texts) > most:
        return f"{', '.join(texts[:most])} and {len(texts) - most} more"
    return ", ".join(texts) or "none"


def quoted(names: Iterable[object], most: int = MOST_LISTED) -> str:
    """The names as `'a', 'b'`: like `listed`, with each name in quotes."""
    return listed([f"'{name}'" for name in names], most)


def counted(count: int, noun: str, plural: str = "") -> str:
    """The count with its noun: `1 joint`, `2 joints`. `plural` is needed if it is not the noun with an s."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """` Did you mean 'x'?` with the known name nearest to one that is not known; empty where none is near.

    Nothing is searched among very many names: a file may have thousands of names, and miss all of them.
    """
    spelled: dict[str, str] = {}
    size = len(str(name))
    for one in known:
        spelled[one.lower()] = one
        size += len(one)
        if size > MOST_SEARCHED:
            return ""
    import difflib  # imported only where something is wrong

    near = difflib.get_close_matches(str(name).lower(), spelled, n=1, cutoff=0.5)
    return f" Did you mean '{spelled[near[0]]}'?" if near else ""
