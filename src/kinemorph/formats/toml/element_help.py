"""Explanations of the keys of elements, taken from the docstrings of their dataclasses.

A docstring explains a field in a list, one line for each field with its name in backquotes and at least two spaces
after it, or in a sentence that has the name in backquotes.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

_ENTRY = re.compile(r"^ *((?:`\w+`(?:, | and )?)+) {2,}(\S.*(?:\n {9,}\S.*)*)", re.MULTILINE)
_NAME = re.compile(r"`(\w+)`")
_SENTENCE = re.compile(r"(?<=\.)\s+(?=[A-Z`(])")


def key_help(part: type[Any]) -> dict[str, str]:
    """For every field of a dataclass that its docstring explains, the explanation in one line."""
    text = inspect.getdoc(part) or ""
    found: dict[str, str] = {}
    for entry in _ENTRY.finditer(text):
        found |= dict.fromkeys(_NAME.findall(entry[1]), _one_line(entry[2]))
    for sentence in _SENTENCE.split(" ".join(_ENTRY.sub("", text).split())):
        for name in _NAME.findall(sentence):
            found.setdefault(name, sentence)
    return found


def title(part: type[Any]) -> str:
    """The first sentence of the docstring of a dataclass; empty if it has none of its own."""
    text = part.__doc__ or ""
    return "" if text.startswith(f"{part.__name__}(") else _one_line(text.partition("\n\n")[0])


def _one_line(text: str) -> str:
    """A text in one line."""
    return " ".join(text.split())
