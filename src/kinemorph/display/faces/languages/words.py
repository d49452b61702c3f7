"""Texts and numbers of a report in one language.

The English text is the key, and the table of another language maps it to its own text:

    words = Words("fr")
    words("mass of {body}", body="forearm")   # 'masse de forearm'
    words.number(0.5)                         # '0,5'

Where one English text needs two translations, `context` tells them apart: the key is then "free @joint". A key without
a translation stays English and gives a LanguageWarning; a test makes sure that there is none.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any

from kinemorph.display.canvas import raised
from kinemorph.display.faces.grid import Grid
from kinemorph.display.faces.languages.french import FRENCH
from kinemorph.errors import LanguageWarning, UnsupportedError, users_level
from kinemorph.frozen import dataclass
from kinemorph.words import did_you_mean

MINUS, TIMES, INFINITY = "\N{MINUS SIGN}", "\N{MIDDLE DOT}", "\N{INFINITY}"
SPACE, THIN_SPACE = "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}"
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
DECIMAL = re.compile(r"(?<![\w.,])([-+−]?\d+)\.(\d+)(?![\w.]*[.]\d)")  # a decimal number within a text
MOST_LISTED = 12  # names of a list that are written; the others are counted


@dataclass(frozen=True, eq=False)
class Language:
    """A language: its table of texts, the sign of decimals, the separator of thousands, and its rule of plurals.

    `spaced`   puts the spaces of its typography into a text of the table
    """

    code: str
    name: str
    table: Mapping[str, str] | None
    decimal: str
    thousands: str
    singular: Callable[[int], bool]
    spaced: Callable[[str], str]


def _french_spaces(text: str) -> str:
    """A French text with curved apostrophes, and with no-break spaces before high signs and inside of quotes."""
    text = text.replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")
    text = text.replace(" :", f"{SPACE}:").replace("« ", f"«{SPACE}").replace(" »", f"{SPACE}»")
    for sign in ";?!%":
        text = text.replace(f" {sign}", f"{THIN_SPACE}{sign}")
    return text


LANGUAGES = {
    "en": Language("en", "English", None, ".", ",", lambda count: count == 1, lambda text: text),
    "fr": Language("fr", "français", FRENCH, ",", THIN_SPACE, lambda count: abs(count) < 2, _french_spaces),
}


class Words:
    """All texts and numbers of a report in one language, "en" or "fr"."""

    def __init__(self, language: str = "en") -> None:
        if language not in LANGUAGES:
            known = ", ".join(f"{code} ({one.name})" for code, one in LANGUAGES.items())
            raise UnsupportedError(
                f"the language of a report is '{language}'; expected one of: {known}."
                f"{did_you_mean(language, LANGUAGES)}"
            )
        self.language = LANGUAGES[language]
        self.code = language

    def __call__(self, text: str, /, *, context: Any = "", **values: Any) -> str:
        """The text of a key in this language, with values in the places of their names in braces.

        Numbers among the values are written as `number` and `integer` write them; texts stay as they are.
        """
        key = f"{text} @{context}" if context else text
        found = text if self.language.table is None else self.language.table.get(key)
        if found is None:
            warnings.warn(
                f"the text {key!r} of a report has no translation to {self.language.name} and stays English. Add it "
                "to the table of that language.",
                LanguageWarning,
                stacklevel=users_level(),
            )
            found = text
        return self.filled(self.language.spaced(found), **values)

    def filled(self, text: str, **values: Any) -> str:
        """A text of this language with values in the places of their names in braces."""
        return text.format(**{name: self._value(value) for name, value in values.items()}) if values else text

    def _value(self, value: Any) -> str:
        if isinstance(value, bool):
            return self("yes" if value else "no")
        if isinstance(value, int):
            return self.integer(value)
        return value if isinstance(value, str) else self.number(float(value))

    def counted(self, count: int, one: str, many: str, **values: Any) -> str:
        """The text for a count: words.counted(3, "{n} joint", "{n} joints"), by the rule of this language."""
        return self(one if self.language.singular(count) else many, n=count, **values)

    def number(self, value: Any, digits: int | str = 4) -> str:
        """A number with so many significant digits, or in a format such as "g", "+.3f", ".2e"; -1.5e-9 as −1.5·10⁻⁹."""
        value = float(value) + 0.0
        if value != value:
            return "–"
        if value in (float("inf"), float("-inf")):
            return INFINITY if value > 0.0 else MINUS + INFINITY
        text = format(value, f".{digits}g" if isinstance(digits, int) else digits)
        mantissa, _, exponent = text.partition("e")
        power = f"{TIMES}10{str(int(exponent)).translate(RAISED)}" if int(exponent or 0) else ""
        signed = mantissa.replace("-", MINUS).replace(".", self.language.decimal)
        return signed.replace("%", f"{SPACE}%") + power

    def numbers(self, values: Iterable[Any], digits: int | str = 4) -> str:
        """Several numbers with commas between them, or with semicolons where a comma is the sign of decimals."""
        return self.separated(self.number(value, digits) for value in values)

    def separated(self, numbers: Iterable[str]) -> str:
        """Written numbers with commas between them, or with semicolons where a comma is the sign of decimals."""
        return (self("; ") if self.language.decimal == "," else ", ").join(numbers)

    def unit(self, unit: str) -> str:
        """A unit with raised powers: m/s²."""
        return raised(unit)

    def integer(self, value: int) -> str:
        """A whole number with separated thousands: 12,345 in English."""
        text = f"{value:,}" if abs(value) >= 10_000 else f"{value}"
        return text.replace(",", self.language.thousands).replace("-", MINUS)

    def localized(self, text: str) -> str:
        """A text in which numbers with a decimal point, "0.5 m", have the sign of decimals of this language."""
        if self.language.decimal == ".":
            return text
        return DECIMAL.sub(lambda found: f"{found[1]}{self.language.decimal}{found[2]}", text)

    def quoted(self, name: str) -> str:
        """A name in the quotation marks of this language."""
        return self("“{name}”", name=name)

    def listed(self, names: Iterable[object], most: int = MOST_LISTED) -> str:
        """Names with commas between them; of a long list the first ones, and the number of the others."""
        texts = [str(name) for name in names]
        if not texts:
            return self("none")
        if len(texts) > most:
            return self("{names} and {n} more", names=", ".join(texts[:most]), n=len(texts) - most)
        return ", ".join(texts)

    def grid(self, grid: Grid, translated: Iterable[str] = (), numbers: Iterable[str] | None = None) -> Grid:
        """A table in this language: its title, the names of its columns and groups, and its note are keys.

        `translated`   names of columns whose cells are keys as well; empty cells stay empty
        `numbers`      names of columns whose cells contain numbers, those aligned to the right by default
        """
        translated, figures = set(translated), set(grid.right if numbers is None else numbers)
        columns = [self(name) if name else "" for name in grid.columns]
        rows = [
            [
                self(cell) if name in translated and cell else self.localized(cell) if name in figures else cell
                for name, cell in zip(grid.columns, row, strict=True)
            ]
            for row in grid.rows
        ]
        named = dict(zip(grid.columns, columns, strict=True))
        return grid._replace(
            title=self(grid.title) if grid.title else "",
            columns=tuple(columns),
            rows=rows,
            right=tuple(named[name] for name in grid.right),
            groups=tuple((self(name) if name else "", count) for name, count in grid.groups),
            note=self(grid.note) if grid.note else "",
        )


class PlainWords(Words):
    """English texts and numbers in ASCII, as a terminal and programs show them."""

    def number(self, value: Any, digits: int | str = 4) -> str:
        """A number with so many significant digits, or in a format: -1.5e-09."""
        value = float(value) + 0.0
        text = format(value, f".{digits}g" if isinstance(digits, int) else digits)
        return text.replace("%", " %") if isfinite(value) else "not finite"

    def integer(self, value: int) -> str:
        """A whole number with separated thousands."""
        return f"{value:,}"

    def unit(self, unit: str) -> str:
        """A unit as it is: m/s^2."""
        return unit

    def listed(self, names: Iterable[object], most: int | None = None) -> str:
        """All names with commas between them: nothing is left out in a terminal."""
        return ", ".join(map(str, names))

    def quoted(self, name: str) -> str:
        """A name in quotes."""
        return f"'{name}'"
