"""Splices: the difference of two texts as one replaced piece, which can be applied and taken back exactly."""

from __future__ import annotations

from typing import NamedTuple


class Splice(NamedTuple):
    """A piece of a text that is replaced: `removed` stands at the index `start`, and `added` comes in its place."""

    start: int  # index of the first character
    removed: str
    added: str

    @property
    def inverse(self) -> Splice:
        """The splice that restores the text from before."""
        return Splice(self.start, self.added, self.removed)

    def applied(self, text: str) -> str:
        """The text after this splice. Raises ValueError if the removed piece is not at its place."""
        end = self.start + len(self.removed)
        if text[self.start : end] != self.removed:
            raise ValueError(f"the text at character {self.start} is not the one that this edit was made in")
        return text[: self.start] + self.added + text[end:]


def splice(old: str, new: str) -> Splice:
    """The shortest single splice that turns the text `old` into `new`."""
    start = _shared(old, new)
    tail = _shared(old[start:][::-1], new[start:][::-1])
    return Splice(start, old[start : len(old) - tail], new[start : len(new) - tail])


def _shared(one: str, other: str) -> int:
    """The number of characters with which both texts begin."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
