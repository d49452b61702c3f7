"""Phrases for messages: lists of names, counts with a noun, and a guess at a misspelled name."""

from __future__ import annotations

from collections.abc import Iterable

MOST_SEARCHED = 5_000  # characters; in longer lists of names no guess is searched for
FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # how formulas begin in cells of spreadsheets
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


def as_sentence(text: str) -> str:
    """The text with a capital first letter, and all others as they are: names in it keep their case."""
    return f"{text[:1].upper()}{text[1:]}"


def guarded(text: str) -> str:
    """A text for a cell of a table, with an apostrophe before what spreadsheets would compute: '=1+1 for =1+1."""
    return f"'{text}" if text.lstrip("'").startswith(FORMULAS) else text


def unguarded(cell: str) -> str:
    """The text that `guarded` wrote into a cell."""
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(FORMULAS) else cell


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """` Did you mean 'x'?` with the known name most similar to `name`; empty if no known name is similar enough.

    Two names are similar if about one letter in five differs, or fewer, or if one name contains the other, which is at
    least a third as long. In names of up to four letters, one letter may differ, but not the first. A long list of
    names is not searched, because a file may have thousands of names and use thousands of unknown ones.
    """
    spelled: dict[str, str] = {}
    text = str(name).lower()
    size = len(text)
    for one in known:
        spelled[one.lower()] = one
        size += len(one)
        if size > MOST_SEARCHED:
            return ""
    import difflib  # imported only if something is wrong

    for guess in difflib.get_close_matches(text, spelled, n=5, cutoff=0.5):
        shorter, longer = sorted((text, guess), key=len)
        least = 0.65 if len(text) < 5 and guess[0] == text[0] else 0.8
        if (len(shorter) > 2 and shorter in longer) or difflib.get_close_matches(text, [guess], cutoff=least):
            return f" Did you mean '{spelled[guess]}'?"
    return ""
