"""Sentences of other rooms in the language of a report: their numbers and quoted names are taken out and put back.

The note "off by 1.2e-09 J where 3 J were exchanged" has the key "off by {a} J where {b} J were exchanged".
"""

from __future__ import annotations

import re

from kinemorph.display.faces.languages.words import Words

VALUE = re.compile(r"'[^']*'|(?<![\w.'])[-+]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?(?![\w.]*[A-Za-z_])")
SENTENCES = re.compile(r"(?<=[.]) (?=[A-Z])")  # between two sentences of a message
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def key_of(text: str) -> tuple[str, dict[str, str]]:
    """The key of a sentence, with {a}, {b}, ... for its numbers and quoted names, and these by their letters."""
    values: dict[str, str] = {}

    def taken(found: re.Match[str]) -> str:
        letter = LETTERS[len(values) % len(LETTERS)]
        values[letter] = found[0]
        return f"{{{letter}}}"

    return VALUE.sub(taken, text.replace("{", "(").replace("}", ")")), values


def sentence(words: Words, text: str) -> str:
    """An English sentence in the language of `words`, with its numbers and names."""
    if not text or words.language.table is None:
        return text
    key, values = key_of(text)
    stated = {letter: value if f"={{{letter}}}" in key else _value(words, value) for letter, value in values.items()}
    return words(key, **stated)  # what stands behind an equals sign is code


def translated(words: Words, message: str) -> str | None:
    """A message of several sentences in the language of `words`; None where one of them has no translation."""
    table, parts = words.language.table, SENTENCES.split(message)
    if table is not None and not all(key_of(part)[0] in table for part in parts):
        return None
    return " ".join(sentence(words, part) for part in parts)


def _value(words: Words, value: str) -> str:
    """A number with the signs of the language, or a name in its quotes."""
    if value.startswith("'"):
        return words.quoted(value[1:-1])
    return words.number(float(value.replace(",", "")), "g" if "e" not in value else ".1e")
