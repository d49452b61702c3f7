"""Reads attributes of XML elements as numbers, vectors and words. Wrong values give findings, and reading continues."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from kinemorph.formats.findings import Findings, Repair
from kinemorph.formats.xml_documents import Node, line_of
from kinemorph.model.input_reader import short
from kinemorph.words import counted


class At(NamedTuple):
    """A node of a document, with the findings that record messages about it. `element` is its part: "link 'arm'"."""

    findings: Findings
    node: Node
    element: str

    def error(self, rule: str, problem: str, remedy: str, repair: Repair | None = None) -> None:
        """Records an error on the line of the node; see `Findings.error`."""
        self.findings.error(rule, line_of(self.node), self.element, problem, remedy, repair)

    def warn(self, rule: str, problem: str, remedy: str, repair: Repair | None = None) -> None:
        """Records a warning on the line of the node; see `Findings.warn`."""
        self.findings.warn(rule, line_of(self.node), self.element, problem, remedy, repair)


class Tally:
    """Collects warnings that may apply to many parts, and reports each kind once per file: for the first part, with
    the number of parts.
    """

    def __init__(self) -> None:
        self._first: dict[tuple[str, str, str], tuple[At, str, str]] = {}  # by file, rule and kind
        self._repairs: dict[tuple[str, str, str], list[Repair | None]] = {}  # one entry per part

    def add(self, at: At, rule: str, problem: str, remedy: str, kind: str = "", repair: Repair | None = None) -> None:
        """Counts one more part with a warning of this kind; without `kind`, warnings of the same text are one kind."""
        key = (at.findings.file, rule, kind or problem)
        self._first.setdefault(key, (at, problem, remedy))
        self._repairs.setdefault(key, []).append(repair)

    def report(self) -> None:
        """Records one warning per kind; its repair corrects all parts."""
        for key, (at, problem, remedy) in self._first.items():
            count, repairs = len(self._repairs[key]), [repair for repair in self._repairs[key] if repair]
            more = f" ({count} times in this file)" if count > 1 else ""
            at.warn(key[1], problem + more, remedy, partial(_repair_all, repairs) if repairs else None)


def _repair_all(repairs: Iterable[Repair]) -> None:
    """Applies several repairs."""
    for repair in repairs:
        repair()


class Values:
    """Reads attributes of XML elements. In its methods, `element` is the part that messages name: "link 'arm'".

    `optional` values are those without effect on the motion, such as shapes and colors: what is wrong with them gives a
    warning, and their reader leaves out the part. `faults` counts wrong values.
    """

    def __init__(self, findings: Findings, *, optional: bool = False) -> None:
        self.findings, self.optional, self.faults = findings, optional, 0

    def wrong(
        self, node: Node, element: str, rule: str, problem: str, remedy: str, repair: Repair | None = None
    ) -> None:
        """Reports a wrong value: an error, or a warning if the value is optional."""
        self.faults += 1
        if self.optional:
            self.at(node, element).warn(rule, f"{problem}: it is left out", remedy, repair)
        else:
            self.at(node, element).error(rule, problem, remedy, repair)

    def at(self, node: Node, element: str) -> At:
        """A node with the findings of this file, to record messages about it."""
        return At(self.findings, node, element)

    def word(self, node: Node, attribute: str, element: str, *, instead: str = "") -> str:
        """The text of a required attribute; `instead` if it is missing or empty, which is recorded as a finding."""
        text = node.get(attribute)
        if text is None or not text.strip():
            found = "is missing" if text is None else "is empty"
            problem = f"<{node.tag}>: attribute '{attribute}' {found}, expected text"
            self.wrong(node, element, "structure", problem, f'Write <{node.tag} {attribute}="...">.')
            return instead
        return str(text)

    def number(self, node: Node, attribute: str, element: str, default: float | None = None) -> float:
        """The finite number in an attribute; the default if it is missing; a finding if there is no default."""
        text = node.get(attribute)
        if text is None:
            if default is None:
                self.missing(node, attribute, element, "a number")
                return 0.0
            return default
        try:
            value = float(text)
            if value - value == 0.0 and "_" not in text:  # finite, the usual case
                return value
        except ValueError:
            pass
        return self.real(node, text, f"<{node.tag}> {attribute}", element, attribute)

    def numbers(
        self, node: Node, attribute: str, count: int, element: str, default: tuple[float, ...] | None = None
    ) -> tuple[float, ...]:
        """The `count` finite numbers in an attribute, separated by white space; the default if it is missing."""
        text = node.get(attribute)
        if text is None:
            if default is None:
                self.missing(node, attribute, element, f"{count} numbers")
                return (0.0,) * count
            return default
        return self.reals(node, text, count, f"<{node.tag}> {attribute}", element, attribute)

    def reals(
        self, node: Node, text: str, count: int, what: str, element: str, attribute: str | None = None
    ) -> tuple[float, ...]:
        """The `count` finite numbers in a text; any other text gives zeros, and a finding. Arguments as for `real`."""
        try:
            found = tuple([float(part) for part in text.split()])
            if len(found) == count and "_" not in text and math.isfinite(sum(found)):
                return found
        except ValueError:
            pass
        parts, corrected = text.split(), corrected_numbers(text, count)
        if corrected:
            problem = f"{what} is {short(text)}, expected {count} numbers with decimal points, separated by spaces"
            remedy = f"Write {short(corrected)}."
            self.wrong(node, element, "number", problem, remedy, replacement(node, attribute, corrected))
            return (0.0,) * count
        if len(parts) != count:
            problem = f"{what} is {short(text)} with {counted(len(parts), 'number')}, expected {count}"
            remedy = "Separate the numbers by spaces." if "," in text else f"Write exactly {count} numbers."
            self.wrong(node, element, "number", problem, remedy)
            return (0.0,) * count
        return tuple(self.real(node, part, what, element) for part in parts)

    def real(self, node: Node, text: str, what: str, element: str, attribute: str | None = None) -> float:
        """The finite number in a text; 0 for any other text, which is recorded as a finding.

        `what` names the value in messages. `attribute` is the attribute that contains the text ("" for the text of the
        element), so that it can be repaired; None if the text is only a part of it.
        """
        repair = None
        try:
            value = float(text)
            if math.isfinite(value) and "_" not in text:
                return value
            expected, remedy = "a finite number", "Write a finite number."
        except ValueError:
            expected, remedy = "a number", "Write a number such as 0.5."
            if "${" in text:
                remedy = "Give the file the ending .xacro, so that its macros are expanded."
            elif "," in text:
                remedy = f"Write a point for the decimal comma: {short(text.replace(',', '.'))}."
                corrected = corrected_numbers(text, 1)
                repair = replacement(node, attribute, corrected) if corrected else None
        problem = f"{what} is {short(text)}, expected {expected}"
        self.wrong(node, element, "number", problem, remedy, repair)
        return 0.0

    def missing(self, node: Node, attribute: str, element: str, expected: str) -> None:
        """Reports a missing attribute; `expected` says what it should contain."""
        problem = f"<{node.tag}>: attribute '{attribute}' is missing, expected {expected}"
        self.wrong(node, element, "structure", problem, f'Write <{node.tag} {attribute}="...">.')


# ── repairs ───────────────────────────────────────────────────────────────────────────────────────────────────────────

_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")  # 1,234 may mean 1.234 or 1234
_BETWEEN = re.compile(r"\s*[,;]\s*|\s+")


def corrected_numbers(text: str, count: int) -> str:
    """The numbers of a text with decimal points, separated by spaces; empty if the text has not exactly one meaning.

    `1,5` is `1.5`; `0,5 1 2,25` is `0.5 1 2.25`; `0, 0, 1` is `0 0 1`.
    """
    if "," not in text and ";" not in text:
        return ""
    parts = text.split()
    decimal = len(parts) == count and all(
        _PLAIN.fullmatch(part) or (_COMMA.fullmatch(part) and not _THOUSANDS.fullmatch(part)) for part in parts
    )
    split = _BETWEEN.split(text.strip())
    listed = len(split) == count and all(_PLAIN.fullmatch(part) for part in split)
    if decimal == listed:
        return ""
    return " ".join(parts).replace(",", ".") if decimal else " ".join(split)


def replacement(node: Node, attribute: str | None, text: str) -> Repair | None:
    """A repair that writes a text into an attribute, or into the element itself if `attribute` is "".

    None if `attribute` is None, because the text is then only a part of a value.
    """

    def repair() -> None:
        if attribute:
            node.set(attribute, text)
        else:
            del node[:]  # removes comments inside the text
            node.text = text

    return None if attribute is None else repair
