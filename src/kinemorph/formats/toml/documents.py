"""Parses TOML, with limits on size, nesting and count that are checked before, and finds the line of every key."""

from __future__ import annotations

import re
import tomllib
from typing import Any, NamedTuple

from kinemorph.formats import limits
from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Source
from kinemorph.formats.toml.lines import Lines
from kinemorph.formats.toml.values import At, Values
from kinemorph.model.input_reader import short

_POSITION = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_WORD = re.compile(r"'([^']*)'")
_TABLE = re.compile(r"\((?:'[^']*'(?:, )?,?)+\)")
QUOTES = 'Put words, expressions and quantities in quotes, such as "l1" or "5 mm"; write true and false in lower case.'
# parts of messages of the parser, and the remedy for the usual cause
REMEDIES = (
    ("invalid value", QUOTES),
    ("unclosed inline table", QUOTES),
    ("unclosed array", "Put commas between the items, ] at the end, and words and quantities in quotes."),
    ("after a statement", "Put one key on each line, words and quantities in quotes, and write decimal points."),
    ("illegal character '\\n'", "Close the quotes."),
    ("expected '='", "Write key = value."),
    ("twice", "Rename one of the two, or merge them."),
)


class Document(NamedTuple):
    """A parsed text with the lines of its keys."""

    data: dict[str, Any]
    lines: Lines


def parse(source: Source, findings: Findings) -> Document | None:
    """The document of a TOML file; None if it is not well-formed or beyond a limit, which is recorded as a finding."""
    try:
        text = source.data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = source.data.count(b"\n", 0, error.start) + 1
        findings.error("syntax", line, "", "the text is not encoded in UTF-8", "Save the file in UTF-8.")
        return None
    if not _within_limits(text, findings):
        return None
    lines = Lines(text)
    if lines.depth > limits.NESTING:
        problem = f"brackets or keys are nested deeper than {limits.NESTING}, the largest depth allowed"
        findings.error("file", lines.number, "", problem, "Nest fewer tables and lists in each other.")
        return None
    if lines.too_many:
        problem = (
            f"the file has more than {limits.TOML_KEYS} keys, or more than {limits.TOML_PARTS} parts of dotted keys"
        )
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


def has_version(data: dict[str, Any], mark: str, version: int, values: Values) -> bool:
    """Whether the key `mark` of a document says that the file has this version; if not, it is recorded as a finding."""
    given = data.get(mark)
    if given == version and not isinstance(given, bool):
        return True
    found = "is missing" if given is None else f"is {short(given)}"
    problem = f"the key '{mark}', which gives the version of the format, {found}, expected {version}"
    values.error("structure", At((mark,), "", ""), problem, f"Write {mark} = {version} on the first line.")
    return False


def _table_name(match: re.Match[str]) -> str:
    """The name of a table as it is written, [bodies.arm], for the ('bodies', 'arm') in a message of the parser."""
    return f"[{'.'.join(_WORD.findall(match[0]))}]"


def _within_limits(text: str, findings: Findings) -> bool:
    """Whether size and counts of a text are within the limits; False if not, which is recorded as a finding."""
    if len(text) > limits.TOML_SIZE:
        problem = f"the file has {len(text)} characters, expected at most {limits.TOML_SIZE} in TOML"
        findings.error("file", 0, "", problem, "Move meshes to separate files.")
        return False
    for what, mark, most in (
        ("keys", "=", limits.TOML_KEYS),
        ("values", ",", limits.ELEMENTS),
        ("lines", "\n", limits.ELEMENTS),
    ):
        count = text.count(mark)
        if count > most:
            problem = f"the file has {count} {what}, expected at most {most}"
            findings.error("file", 0, "", problem, "Move meshes to separate files.")
            return False
    return True
