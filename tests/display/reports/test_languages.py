"""The words of reports: every text has a translation, numbers have the signs of the language."""

from __future__ import annotations

import ast
import string
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import kinemorph
from kinemorph.display.faces.grid import VERDICTS, Grid
from kinemorph.display.faces.languages.french import FRENCH
from kinemorph.display.faces.languages.words import Words
from kinemorph.errors import LanguageWarning, UnsupportedError

REPORTS = Path(kinemorph.__file__).parent / "display" / "reports"
EN, FR = Words("en"), Words("fr")
CALLED = {"words": 1, "self.words": 1, "words.counted": 3, "self": 1}  # functions of keys, and the last argument of one


def keys_in(path: Path) -> Iterator[str]:
    """The keys that a file passes to `words` as literal texts."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call) or ast.unparse(node.func) not in CALLED:
            continue
        given = {word.arg: word.value for word in node.keywords}
        context = given.get("context")
        ending = f" @{context.value}" if isinstance(context, ast.Constant) else ""
        for argument in node.args[: CALLED[ast.unparse(node.func)]]:
            literals = [
                one for one in ast.walk(argument) if isinstance(one, ast.Constant) and isinstance(one.value, str)
            ]
            if not any(isinstance(one, (ast.Subscript, ast.Compare, ast.JoinedStr)) for one in ast.walk(argument)):
                yield from (f"{one.value}{ending}" for one in literals)


def test_every_literal_text_has_a_translation() -> None:
    files = [path for path in REPORTS.rglob("*.py") if "french" not in path.parts]
    missing = {key: path.name for path in files for key in keys_in(path) if key not in FRENCH}
    assert not missing


def test_translations_take_the_same_values() -> None:
    for key, text in FRENCH.items():
        named = [{name for _, name, _, _ in string.Formatter().parse(one) if name} for one in (key, text)]
        assert named[1] <= named[0], key


def test_verdicts_of_tables_have_translations() -> None:
    assert all(word in FRENCH for word in VERDICTS)


def test_a_missing_translation_warns_and_stays_english() -> None:
    with pytest.warns(LanguageWarning, match="'a text that nobody wrote'"):
        assert FR("a text that nobody wrote") == "a text that nobody wrote"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert EN("a text that nobody wrote") == "a text that nobody wrote"


@pytest.mark.parametrize(
    ("value", "digits", "english", "french"),
    [
        (0.5, 4, "0.5", "0,5"),
        (-1.25e-9, 4, "\u22121.25·10⁻⁹", "\u22121,25·10⁻⁹"),
        (1234567.0, 3, "1.23·10⁶", "1,23·10⁶"),
        (2.0, ".3f", "2.000", "2,000"),
        (-0.0, 4, "0", "0"),
        (float("inf"), 4, "∞", "∞"),
        (float("nan"), 4, "–", "–"),
    ],
)
def test_numbers_have_the_signs_of_the_language(value: float, digits: int | str, english: str, french: str) -> None:
    assert (EN.number(value, digits), FR.number(value, digits)) == (english, french)


def test_numbers_in_texts_and_names_beside_them() -> None:
    assert (
        FR.localized("0.5 m, 12.25 kg; version 1.2.3, leg1.2, v0.1") == "0,5 m, 12,25 kg; version 1.2.3, leg1.2, v0.1"
    )
    assert EN.localized("0.5 m") == "0.5 m"
    assert FR("{names} and {n} more", names="a, b", n=12345) == "a, b et 12\u202f345 autres"
    assert EN.integer(12345) == "12,345" and EN.integer(1234) == "1234"


def test_french_typography() -> None:
    assert FR.quoted("x") == "«\u00a0x\u00a0»"
    assert FR(": ") == "\u00a0: "


def test_a_table_is_translated_by_its_columns() -> None:
    grid = Grid("bodies", ("name", "total mass"), [["arm 0.5", "0.5"], ["passed", "1.25"]], ("total mass",))
    shown = FR.grid(grid)
    assert shown.title == "corps" and shown.columns == ("nom", "masse totale") and shown.right == ("masse totale",)
    assert shown.rows == [["arm 0.5", "0,5"], ["passed", "1,25"]]
    assert FR.grid(grid._replace(rows=[["passed", "0.5"]]), translated=("name",)).rows == [["réussi", "0,5"]]


def test_an_unknown_language_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match=r"'de'; expected one of: en \(English\), fr \(français\)"):
        Words("de")
