"""Attributes of XML elements as checked values: numbers, vectors, words. Mistakes give findings; reading continues."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from kinemorph.formats.findings import Findings, Repair
from kinemorph.formats.xml_documents import Node, line_of
from kinemorph.model.input_reader import short


class At(NamedTuple):
    """A place in a document: where findings about a node go. `element` is what messages call the part: "link 'arm'"."""

    findings: Findings
    node: Node
    element: str

    def error(self, rule: str, problem: str, remedy: str, repair: Repair | None = None) -> None:
        """Records what keeps the model from being loaded."""
        self.findings.error(rule, line_of(self.node), self.element, problem, remedy, repair)

    def warn(self, rule: str, problem: str, remedy: str, repair: Repair | None = None) -> None:
        """Records a questionable value, or something that is left out."""
        self.findings.warn(rule, line_of(self.node), self.element, problem, remedy, repair)


class Tally:
    """Warnings that may hold for many parts: one for each kind and file, at the first part, with their number."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str, str], tuple[At, str, str]] = {}  # by file, rule and kind
        self._repairs: dict[tuple[str, str, str], list[Repair | None]] = {}  # one entry per part

    def add(self, at: At, rule: str, problem: str, remedy: str, kind: str = "", repair: Repair | None = None) -> None:
        """Counts one more part; `kind` is the problem itself where none is given."""
        key = (at.findings.file, rule, kind or problem)
        self._first.setdefault(key, (at, problem, remedy))
        self._repairs.setdefault(key, []).append(repair)

    def report(self) -> None:
        """One warning per kind, whose repair mends all parts."""
        for key, (at, problem, remedy) in self._first.items():
            count, repairs = len(self._repairs[key]), [repair for repair in self._repairs[key] if repair]
            more = f" ({count} times in this file)" if count > 1 else ""
            at.warn(key[1], problem + more, remedy, partial(_mend, repairs) if repairs else None)


def _mend(repairs: Iterable[Repair]) -> None:
    for repair in repairs:
        repair()


class Values:
    """Reads attributes; `element` in its methods is what messages call the part: "link 'arm'"."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings

    def at(self, node: Node, element: str) -> At:
        """The place of a node."""
        return At(self.findings, node, element)

    def word(self, node: Node, attribute: str, element: str, *, instead: str = "") -> str:
        """Text that must be there and must not be empty."""
        text = node.get(attribute)
        if text is None or not text.strip():
            found = "is missing" if text is None else "is empty"
            problem = f"<{node.tag}>: attribute '{attribute}' {found}, expected text"
            self.at(node, element).error("structure", problem, f'Write <{node.tag} {attribute}="...">.')
            return instead
        return str(text)

    def number(self, node: Node, attribute: str, element: str, default: float | None = None) -> float:
        """A finite number; the default where the attribute is missing, a finding where there is no default."""
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
        """As many finite numbers, with white space between."""
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
        """As many finite numbers out of a text; `attribute` as for `real`."""
        try:
            found = tuple([float(part) for part in text.split()])
            if len(found) == count and "_" not in text and math.isfinite(sum(found)):
                return found
        except ValueError:
            pass
        parts, mended = text.split(), mended_numbers(text, count)
        if mended:
            problem = f"{what} is {short(text)}, expected {count} numbers with decimal points and spaces between"
            remedy = f"Write {short(mended)}."
            self.at(node, element).error("number", problem, remedy, replacement(node, attribute, mended))
            return (0.0,) * count
        if len(parts) != count:
            problem = f"{what} is {short(text)} with {len(parts)} numbers, expected {count}"
            remedy = "Write them with spaces between." if "," in text else f"Write exactly {count}."
            self.at(node, element).error("number", problem, remedy)
            return (0.0,) * count
        return tuple(self.real(node, part, what, element) for part in parts)

    def real(self, node: Node, text: str, what: str, element: str, attribute: str | None = None) -> float:
        """One finite number out of a text; 0, with a finding, for anything else.

        `attribute` is where the text stands ("" for the element itself), so that it can be mended; None where it is
        a part of a longer one.
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
                remedy = "Call the file .xacro, so that its macros are expanded."
            elif "," in text:
                remedy = f"Write a point for the decimal comma: {short(text.replace(',', '.'))}."
                mended = mended_numbers(text, 1)
                repair = replacement(node, attribute, mended) if mended else None
        problem = f"{what} is {short(text)}, expected {expected}"
        self.at(node, element).error("number", problem, remedy, repair)
        return 0.0

    def missing(self, node: Node, attribute: str, element: str, expected: str) -> None:
        """Reports a missing attribute."""
        problem = f"<{node.tag}>: attribute '{attribute}' is missing, expected {expected}"
        self.at(node, element).error("structure", problem, f'Write <{node.tag} {attribute}="...">.')


# ── repairs ───────────────────────────────────────────────────────────────────────────────────────────────────────────

_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")  # 1,234: the one or the other
_BETWEEN = re.compile(r"\s*[,;]\s*|\s+")


def mended_numbers(text: str, count: int) -> str:
    """The same numbers with decimal points and spaces between; empty where they can be read in more than one sense.

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
    """A repair that writes another text: into an attribute, or into the element itself for "". None for None."""

    def repair() -> None:
        if attribute:
            node.set(attribute, text)
        else:
            del node[:]  # comments within the text
            node.text = text

    return None if attribute is None else repair
