"""The values of the names that a CAGeM file assigns, in whatever order it assigns them.

A name that the file invents, and whose value is a number, becomes a parameter of the robot. A name whose value depends
on coordinates or on the time becomes a dependent quantity, like the p[i] of CAGeM.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from kinemorph.algebra.notation import mth
from kinemorph.errors import Problem
from kinemorph.formats import limits
from kinemorph.formats.cagem.keys import DEPENDENT, INDEXED, PLAIN, RESERVED
from kinemorph.formats.cagem.notations import Notation
from kinemorph.formats.cagem.statements import Statement
from kinemorph.formats.findings import Findings
from kinemorph.model.expressions import ExpressionError, in_order, names_in
from kinemorph.model.input_reader import short
from kinemorph.model.parameter import TIME, Coordinate, Parameter, Value, coordinates_of, evaluate
from kinemorph.words import did_you_mean

_COORDINATE = re.compile(r"q\[(\d+)\]")
MATRICES = ("T0G", "TrefG")


class Definitions:
    """The assignments of one file, by key ("mass[0]"), and their values."""

    def __init__(self, assigned: Sequence[Statement], notation: Notation, findings: Findings) -> None:
        self.notation, self.findings = notation, findings
        self.statements: dict[str, Statement] = {}
        for one in assigned:
            if self._is_new(one):
                self.statements[one.key] = one
        self.needs = {key: self._names_in(one) for key, one in self.statements.items()}
        self.values: dict[str, Any] = {}  # Values and mth; without values that cannot be read

    def line(self, key: str) -> int:
        """The line of an assignment; 0 if there is none."""
        found = self.statements.get(key)
        return 0 if found is None else found.line

    def error(self, rule: str, key: str, problem: str, remedy: str) -> None:
        """Records an error on the line of an assignment."""
        self.findings.error(rule, self.line(key), key, problem, remedy)

    def _is_new(self, one: Statement) -> bool:
        """Whether a name may be assigned, and is not assigned already; if not, a finding is recorded."""
        if one.key in self.statements:
            problem = f"it is assigned on line {self.line(one.key)} already, expected one value"
            self.findings.error("name", one.line, one.key, problem, "Remove one of the two, or rename one.")
            return False
        if one.name in RESERVED:
            problem = (
                f"'{one.name}' stands for {'the time' if one.name == 't' else 'a constant, or a result of the motion'}"
            )
            self.findings.error("name", one.line, one.key, problem, "Use another name; initial values are qi and qdi.")
            return False
        if (one.place is not None) != (one.name in INDEXED):
            what = "has an index, but is not a key with one" if one.place is not None else "has no index, expected one"
            hint = did_you_mean(one.name, [*INDEXED, *PLAIN]).strip()
            remedy = hint or f"Keys with an index are {', '.join(INDEXED)}."
            self.findings.error("unknown", one.line, one.key, f"'{one.name}' {what}", remedy)
            return False
        return True

    def _names_in(self, one: Statement) -> tuple[str, ...]:
        """The names in the value of an assignment, without those of functions and constants such as PI."""
        if one.refused or one.text.startswith('"'):
            return ()
        try:
            names = names_in(one.text, self.notation.formula.pattern)
        except ExpressionError:
            return ()  # reported when the value is read
        constants = self.notation.formula.constants
        return tuple(name for name in names if name not in constants or name in self.statements)

    # ── counts ────────────────────────────────────────────────────────────────────────────────────────────────────

    def indices(self, kind: str, count_key: str) -> range:
        """The indices of all bodies, dependent quantities or coordinates (`kind`), as many as the key `count_key` says.

        If that key is missing, they are the indices that the file uses. Indices out of range are recorded as findings.
        """
        used: dict[int, str] = {}  # and the assignments that use them
        for key, one in self.statements.items():
            if one.place is not None and INDEXED[one.name] == kind:
                used.setdefault(one.place, key)
            if kind == "coordinate":
                for match in filter(None, map(_COORDINATE.fullmatch, self.needs[key])):
                    used.setdefault(int(match[1]), key)
        first = self.notation.first
        count = self._count(count_key)
        if count is None:
            count = next(n for n in range(len(used) + 1) if first + n not in used)  # indices have no gap
        allowed = range(first, first + count)
        for index, key in used.items():
            if index not in allowed:
                given = (
                    f"{count_key} is {count}"
                    if count_key in self.statements
                    else f"{count_key} is not given, and none is left out"
                )
                known = f"indices of a {kind} are {first} to {first + count - 1}" if count else f"there is no {kind}"
                name = f"q[{index}]" if kind == "coordinate" and f"q[{index}]" in self.needs[key] else key
                problem = f"{name} is out of range: {given}, so {known}"
                self.error("structure", key, problem, f"Correct the index, or {count_key}.")
        return allowed

    def _count(self, key: str) -> int | None:
        """The whole number of a key; None if it is not given."""
        one = self.statements.get(key)
        if one is None:
            return None
        if one.refused:
            return None
        if not re.fullmatch(r"\d{1,6}", one.text) or int(one.text) > limits.BODIES:
            problem = f"it is {short(one.text)}, expected a whole number up to {limits.BODIES}"
            self.error("number", key, problem, "Write a number such as 2.")
            return None
        return int(one.text)

    # ── values ────────────────────────────────────────────────────────────────────────────────────────────────────

    def evaluate(self, coordinates: Mapping[str, Coordinate]) -> None:
        """Reads all values; `coordinates` are those of the robot, by their names in the file ("q[0]")."""
        names: dict[str, Any] = {**coordinates, TIME.name: TIME}
        ready, circle = in_order(self.needs)
        if circle:
            problem = f"it depends on itself: {' -> '.join(circle[:12])}"
            self.error(
                "structure", circle[0], problem, "Define one of them by an expression that does not contain the others."
            )
        for key in ready:
            one = self.statements[key]
            if one.refused:
                continue
            if one.text.startswith('"') or one.name == "title":
                self._text(one)
                continue
            if any(need in self.statements and need not in self.values for need in self.needs[key]):
                continue  # what it depends on has an error
            try:
                parser = self.notation.position if one.name in MATRICES else self.notation.formula
                value = parser(one.text, names, hints=not self.findings.unlisted).parse()
            except ExpressionError as error:
                self._refuse(one, error, [need for need in self.needs[key] if need not in names])
                continue
            if self.is_constant(key) and isinstance(value, (int, float)):
                value = Parameter(key, float(value))
            self.values[key] = value
            if not isinstance(value, mth):
                names[key] = value

    def _text(self, one: Statement) -> None:
        if one.name != "title":
            problem = f"its value is the text {short(one.text)}, which has no meaning here"
            self.findings.warn("dropped", one.line, one.key, problem, "Leave it out.")
        elif not re.fullmatch(r'"(?:[^"\\]|\\.)*"', one.text, re.DOTALL):
            self.error("structure", one.key, f"it is {short(one.text)}, expected text", "Put it in quotes.")
        else:
            self.values[one.key] = one.text[1:-1]

    def _refuse(self, one: Statement, error: ExpressionError, unknown: Sequence[str]) -> None:
        """Reports a value that cannot be read; `unknown` are names in it that have no value."""
        usual = "Write numbers, names and + - * / ^; matrices as products of Trotx, Troty, Trotz and Tdisp."
        problem = Problem.of(error.args[0], usual)
        given = "" if not unknown or "[" in unknown[0] else f" Or give it a value: {unknown[0]} {self.notation.sign} 1"
        self.error("number", one.key, f"{short(one.text)}: {problem.what}", problem.remedy + (given and f"{given}."))

    def is_constant(self, key: str) -> bool:
        """Whether a name is one that the file invents: not a key of CAGeM, and without an index."""
        one = self.statements[key]
        return one.place is None and one.name not in PLAIN

    def dependents(self) -> dict[str, Value]:
        """The formulas of dependent quantities by key: p[i], and invented names whose values depend on coordinates or
        the time.
        """
        return {
            key: value
            for key, value in self.values.items()
            if self.statements[key].name == DEPENDENT or (self.is_constant(key) and coordinates_of(value))
        }

    def value(self, key: str, default: Value = 0.0) -> Value:
        """The value of a key that must not depend on coordinates; `default` if the key is missing.

        A value that depends on coordinates is recorded as an error, and replaced by `default`.
        """
        value = self.values.get(key, default)
        if coordinates_of(value):
            moving = ", ".join(one.name for one in coordinates_of(value))
            self.error("data", key, f"it depends on {moving}, expected a constant", "Use only constants.")
            return default
        return value  # type: ignore[no-any-return]

    def number(self, key: str, default: float) -> float:
        """The number of a key, with the nominal values of constants."""
        return float(evaluate(self.value(key, default)))

    def unused(self) -> list[Statement]:
        """The constants that no other value names."""
        used = {name for needs in self.needs.values() for name in needs}
        used |= {key for key, one in self.statements.items() if one.refused}
        return [one for key, one in self.statements.items() if self.is_constant(key) and key not in used]
