"""Plain texts of any origin, without characters that no format can show."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 4000  # characters of a text; the middle of a longer one is left out
LONG_WORD, EVERY = 28, 14  # a word of more letters may be broken after every so many of them
WORD = re.compile(rf"\S{{{LONG_WORD + 1},}}")
PLAIN_BREAKS = re.compile(r"(?<=[_/.:,;=])")


def plain(text: object, most: int = LONGEST) -> str:
    """A text of at most so many characters without control characters, lone surrogates and marks of direction.

    They become U+FFFD, the sign of a character that cannot be shown; line breaks and tabulators become spaces.
    """
    return shortened("".join(_shown(sign) for sign in str(text).replace("\r\n", "\n")), most)


def plain_lines(code: str) -> str:
    """A text of several lines, of which line breaks and tabulators are kept."""
    lines = code.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4).split("\n")
    return "\n".join("".join(_shown(sign) for sign in line) for line in lines)


def shortened(text: str, most: int = LONGEST) -> str:
    """A text without its middle where it has more than `most` characters."""
    half = (most - 3) // 2
    return text if len(text) <= most else f"{text[:half]} … {text[-half:]}"


def broken(text: str, mark: str) -> str:
    """A text with `mark`, which allows a line break, inside of words that are longer than LONG_WORD letters."""
    return WORD.sub(lambda found: mark.join(_parts(found[0])), text)


def _parts(word: str) -> list[str]:
    """The parts of a long word: after signs that join words, and after every EVERY letters of the rest."""
    return [part[k : k + EVERY] for part in PLAIN_BREAKS.split(word) for k in range(0, len(part), EVERY)]


def _shown(sign: str) -> str:
    kind = unicodedata.category(sign)
    if sign in "\n\t\v\f":
        return " "
    if kind in ("Cc", "Cs", "Cn", "Co") or sign in "\u2028\u2029" or "\u202a" <= sign <= "\u202e":
        return "\N{REPLACEMENT CHARACTER}"
    return sign
