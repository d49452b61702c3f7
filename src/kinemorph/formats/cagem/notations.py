"""How MuPAD and Maxima spell expressions, as parsers that extend the closed grammar of `model.expressions`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from kinemorph.model.expressions import ARCTAN, ATOM, POWER, SPELL, ExpressionError, Parser, Spelling, Token
from kinemorph.model.positions.position_text import PositionParser

_NUMBER = r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
_NAME = r"(?P<name>%?[^\W\d]\w*(?:\[\d+\])?)"
ARCTANS = (ARCTAN, "arctan")
FUNCTIONS = {"asin": "arcsin", "acos": "arccos", "atan2": "arctan", "log": "ln"}  # names of ops in MuPAD
SAME = ("sin", "cos", "tan", "sqrt", "exp", "abs", "sign", "floor", "min", "max")  # ops that MuPAD calls alike
# MuPAD needs brackets around a negative exponent
WRITTEN = Spelling(SPELL | {"pow": ("^", POWER, ATOM, ATOM)}, {**FUNCTIONS, **{name: name for name in SAME}})


class MupadFormula(Parser):
    """A parser of formulas in the notation of MuPAD."""

    pattern: ClassVar[re.Pattern[str]] = re.compile(rf"\s*(?:{_NUMBER}|{_NAME}|(?P<sign>\*\*|[-+*/^(),]))")
    powers: ClassVar[tuple[str, ...]] = ("^", "**")
    constants: ClassVar[Mapping[str, float]] = {"PI": math.pi, "E": math.e, "TRUE": 1.0, "FALSE": 0.0}
    other_names: ClassVar[Mapping[str, str]] = {"arcsin": "asin", "arccos": "acos", "ln": "log"}

    def function(self, token: Token) -> Any:
        if token.text not in ARCTANS:
            return super().function(token)
        values = self.bracket(several=True)  # arctan(y / x), or arctan(y, x)
        if len(values) > 2:
            what = f"column {token.column}: {token.text} has {len(values)} arguments, expected 1 or 2"
            raise ExpressionError(what, "Give 1 argument, or y and x.")
        return self.apply("atan2", *values, *([1.0] if len(values) == 1 else []))


class MupadPosition(MupadFormula, PositionParser):
    """A parser of position matrices in the notation of MuPAD."""


class MaximaFormula(MupadFormula):
    """A parser of formulas in the notation of Maxima, where a point multiplies matrices."""

    pattern: ClassVar[re.Pattern[str]] = re.compile(rf"\s*(?:{_NUMBER}|{_NAME}|(?P<sign>\*\*|[-+*/^(),.]))")
    products: ClassVar[Mapping[str, str]] = {"*": "mul", "/": "div", ".": "mul"}
    constants: ClassVar[Mapping[str, float]] = {"%pi": math.pi, "%e": math.e, "true": 1.0, "false": 0.0}


class MaximaPosition(MaximaFormula, PositionParser):
    """A parser of position matrices in the notation of Maxima."""


class Notation(NamedTuple):
    """The notation of a computer algebra system.

    `sign` assigns a value, `end` is the pattern that ends a statement, `first` is the first index of bodies,
    coordinates and dependents. `blocks` are words that begin code, with the words that end it.
    """

    name: str
    sign: str
    end: str
    comment: str
    first: int
    formula: type[Parser]
    position: type[PositionParser]
    blocks: Mapping[str, tuple[str, ...]]


_BLOCKS = {"proc": ("end_proc", "end"), "for": ("end_for",), "while": ("end_while",), "repeat": ("end_repeat",)}
_BLOCKS |= {"if": ("end_if",), "case": ("end_case",)}
MUPAD = Notation(
    *("MuPAD", ":=", r":(?!=)|;", r"//[^\n]*|/\*.*?\*/|\#[^\n#]*\#", 0),
    MupadFormula,
    MupadPosition,
    _BLOCKS,
)
MAXIMA = Notation(
    *("Maxima", ":", r"[;$]", r"/\*.*?\*/", 1),
    MaximaFormula,
    MaximaPosition,
    dict.fromkeys(("if", "for", "while", "do", "block", "lambda", "load", "batch"), ()),
)


def notation_of(name: str, text: str) -> Notation:
    """The notation of a file, by its ending; that of a text without a file by the way it assigns its first value."""
    if name.lower().endswith((".mu", ".mac")):
        return MAXIMA if name.lower().endswith(".mac") else MUPAD
    return MUPAD if re.search(r"\w\s*(\[\s*\d+\s*\])?\s*:=", text) else MAXIMA
