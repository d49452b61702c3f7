"""Words for messages: lists of names, counts with their noun, the nearest name to one that does not exist."""

from __future__ import annotations

from collections.abc import Iterable

MOST_SEARCHED = 5_000  # characters of names
MOST_LISTED = 12  # names


def listed(names: Iterable[object], most: int = MOST_LISTED) -> str:
    """`a, b, c`, or `a, b and 7 more` where there are more than `most`; `none` where there is none."""
    texts = [str(name) for name in names]
    if len(texts) > most:
        return f"{', '.join(texts[:most])} and {len(texts) - most} more"
    return ", ".join(texts) or "none"


def quoted(names: Iterable[object], most: int = MOST_LISTED) -> str:
    """`'a', 'b'`: as `listed`, each name in quotes."""
    return listed([f"'{name}'" for name in names], most)


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 body`, `2 bodies`; the plural adds an s where none is given."""
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
