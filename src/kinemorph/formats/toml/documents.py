"""TOML without its dangers: limits on size, nesting and count before it is parsed, and a line for every key."""

from __future__ import annotations

import re
import tomllib
from typing import Any, NamedTuple

from kinemorph.formats import limits
from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Source
from kinemorph.formats.toml.lines import Lines

_POSITION = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_WORD = re.compile(r"'([^']*)'")
_TABLE = re.compile(r"\((?:'[^']*'(?:, )?,?)+\)")
QUOTES = 'Put words, expressions and quantities in quotes, such as "l1" or "5 mm"; true and false are written small.'
# what the parser says, and what people mostly did
REMEDIES = (
    ("invalid value", QUOTES),
    ("unclosed inline table", QUOTES),
    ("unclosed array", "Put commas between the items, ] at the end, and words and quantities in quotes."),
    ("after a statement", "Put one key on a line, words and quantities in quotes, and a point for a decimal comma."),
    ("illegal character '\\n'", "Close the quotes."),
    ("expected '='", "Write key = value."),
    ("twice", "Give one of the two another name, or put them together."),
)


class Document(NamedTuple):
    """A parsed text with the lines of its keys."""

    data: dict[str, Any]
    lines: Lines


def parse(source: Source, findings: Findings) -> Document | None:
    """The document; None, with findings, where the text is no TOML that may be read."""
    try:
        text = source.data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = source.data.count(b"\n", 0, error.start) + 1
        findings.error("syntax", line, "", "the text is not UTF-8, expected TOML in UTF-8", "Save it as UTF-8.")
        return None
    if not _within_limits(text, findings):
        return None
    lines = Lines(text)
    if lines.depth > limits.NESTING:
        problem = f"brackets or keys lie deeper than {limits.NESTING} inside one another"
        findings.error("file", lines.number, "", problem, "Flatten the file.")
        return None
    if lines.too_many:
        problem = f"the file has more than {limits.TOML_KEYS} keys, or {limits.TOML_PARTS} parts of them"
        findings.error("file", lines.number, "", problem, "Split the file.")
        return None
    try:
        return Document(tomllib.loads(text), lines)
    except (ValueError, OverflowError, RecursionError) as error:
        reason = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "a number has too many digits"
        match = _POSITION.search(reason)
        line = int(match[1]) if match and match[1] else text.count("\n") + 1 if match else 0
        reason = _POSITION.sub("", reason).strip().rstrip(".")
        reason = _TABLE.sub(_table_name, reason)
        reason = reason[:1].lower() + reason[1:200]
        remedy = next((remedy for words, remedy in REMEDIES if words in reason), "Correct it near this line.")
        findings.error("syntax", line, "", f"the text is not well-formed TOML: {reason}", remedy)
        return None


def _table_name(match: re.Match[str]) -> str:
    """[bodies.arm] for what the parser calls ('bodies', 'arm')."""
    return f"[{'.'.join(_WORD.findall(match[0]))}]"


def _within_limits(text: str, findings: Findings) -> bool:
    if len(text) > limits.TOML_SIZE:
        problem = f"the file has {len(text)} characters, expected at most {limits.TOML_SIZE} in TOML"
        findings.error("file", 0, "", problem, "Put meshes into files of their own.")
        return False
    for what, mark, most in (
        ("keys", "=", limits.TOML_KEYS),
        ("values", ",", limits.ELEMENTS),
        ("lines", "\n", limits.ELEMENTS),
    ):
        count = text.count(mark)
        if count > most:
            problem = f"the file has {count} {what}, expected at most {most}"
            findings.error("file", 0, "", problem, "Put meshes into files of their own.")
            return False
    return True
