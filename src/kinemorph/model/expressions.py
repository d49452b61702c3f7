"""Expressions in model files: "0.5 * l1", "m1 * l1**2 / 12", "atan2(a, b) - pi / 2".

An expression consists of numbers, names of parameters, + - * / **, brackets, `pi`, and the ops of `vocabulary.ops` as
functions; operators have the precedence of Python. No text is ever run as Python code. A name is a word, or words
joined by dots ("q.hip"). Any other name stands between `backquotes`; a backquote inside it is doubled. Constant parts
become numbers. `written` turns a Value back into text that parses to the same Value.

    sum = product (("+" | "-") product)*        sign  = ("+" | "-")* power
    product = sign (("*" | "/") sign)*          power = atom ("**" sign)?
    atom = number | name | "pi" | function "(" sum ("," sum)* ")" | "(" sum ")"
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple, NoReturn

from kinemorph.errors import Problem
from kinemorph.model.parameter import Formula, Parameter, Value, applied
from kinemorph.vocabulary.ops import OPS
from kinemorph.words import did_you_mean

LONGEST = 20_000  # characters of an expression
DEEPEST = 60  # nested brackets and powers
TALLEST = 200  # depth of the tree of a formula, which grows with every further term of a sum
LARGEST = 20_000  # ops in a formula; shared parts count wherever they appear

_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_TOKEN = re.compile(
    rf"\s*(?:(?P<number>{_NUMBER})|(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)|`(?P<quoted>(?:[^`]|``)+)`"
    r"|(?P<sign>\*\*|[-+*/(),]))"
)
_WORD = re.compile(r"[^\W\d]\w*")
BINARY = {"+": "add", "-": "sub", "*": "mul", "/": "div"}


class Token(NamedTuple):
    """A piece of an expression; `kind` is "number", "name", "quoted", "sign" or "end"; `column` counts from 1."""

    kind: str
    text: str
    column: int


class ExpressionError(ValueError):
    """An expression cannot be parsed. The message says what is wrong, in which column, and, if known, the remedy."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(Problem("", "", what, remedy) if remedy else what)


def parse_expression(text: str, names: Mapping[str, Value], *, hints: bool = True) -> Value:
    """The Value of an expression, in which `names` gives the Value of each name. Raises ExpressionError.

    With `hints`, the error for an unknown name offers the known name nearest to it.
    """
    return _Parser(text, names, hints=hints).parse()


def names_in(text: str) -> tuple[str, ...]:
    """The names in an expression, each once, without names of functions. Raises ExpressionError."""
    tokens = _tokens(text)
    found = [
        token.text
        for token, after in pairwise(tokens)
        if token.kind == "quoted" or (token.kind == "name" and after.text != "(")
    ]
    return tuple(dict.fromkeys(found))


def _tokens(text: str) -> list[Token]:
    if len(text) > LONGEST:
        raise ExpressionError(f"the expression has {len(text)} characters, expected at most {LONGEST}")
    tokens, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            column = at + len(text[at:]) - len(text[at:].lstrip()) + 1
            raise ExpressionError(
                f"column {column}: found {text[column - 1]!r}, expected a number, a name or an operator"
            )
        kind = match.lastgroup or ""
        piece = match[kind].replace("``", "`") if kind == "quoted" else match[kind]
        tokens.append(Token(kind, piece, match.start(kind) + 1))
        at = match.end()
    return [*tokens, Token("end", "", end + 1)]


class _Parser:
    """A recursive-descent parser: each method reads one rule of the grammar above and returns its Value."""

    def __init__(self, text: str, names: Mapping[str, Value], *, hints: bool = True) -> None:
        self.tokens, self.names, self.hints = _tokens(text), names, hints
        self.at = self.depth = 0

    def parse(self) -> Value:
        value = self.sum()
        if self.here.kind != "end":
            self.refuse("the end, or an operator between two values")
        return value

    @property
    def here(self) -> Token:
        return self.tokens[self.at]

    def take(self, *signs: str) -> str:
        """Moves past the current sign and returns it if it is one of `signs`; otherwise returns an empty text."""
        token = self.here
        if token.kind == "sign" and token.text in signs:
            self.at += 1
            return token.text
        return ""

    def refuse(self, expected: str) -> NoReturn:
        found = repr(self.here.text) if self.here.kind != "end" else "the end"
        raise ExpressionError(f"column {self.here.column}: found {found}, expected {expected}")

    def sum(self) -> Value:
        value = self.product()
        while sign := self.take("+", "-"):
            value = self.apply(BINARY[sign], value, self.product())
        return value

    def product(self) -> Value:
        value = self.sign()
        while sign := self.take("*", "/"):
            value = self.apply(BINARY[sign], value, self.sign())
        return value

    def sign(self) -> Value:
        negative = False
        while sign := self.take("+", "-"):
            negative ^= sign == "-"
        value = self.power()
        return self.apply("neg", value) if negative else value

    def power(self) -> Value:
        base = self.atom()
        if not self.take("**"):
            return base
        self.deeper()
        value = self.apply("pow", base, self.sign())
        self.depth -= 1
        return value

    def atom(self) -> Value:
        token = self.here
        if token.kind in ("end", "sign") and token.text != "(":
            self.refuse("a number, a name or '('")
        self.at += 1
        if token.kind == "number":
            return float(token.text)
        if token.kind == "name" and self.take("("):
            return self.function(token)
        if token.kind == "sign":
            return self.bracket()[0]
        if token.text in self.names:
            return self.names[token.text]
        if token.text == "pi" and token.kind == "name":
            return math.pi
        what = f"column {token.column}: there is no parameter {token.text!r}, expected the name of a declared one"
        raise ExpressionError(what, did_you_mean(token.text, self.names if self.hints else ()).strip())

    def bracket(self, *, several: bool = False) -> list[Value]:
        """The values up to the closing bracket, after the opening one; with `several`, separated by commas."""
        self.deeper()
        values = [self.sum()]
        while several and self.take(","):
            values.append(self.sum())
        if not self.take(")"):
            self.refuse("')'")
        self.depth -= 1
        return values

    def function(self, token: Token) -> Value:
        op = OPS.get(token.text)
        if op is None:
            hint = did_you_mean(token.text, OPS).strip() if self.hints else ""
            what = f"column {token.column}: there is no function {token.text!r}"
            raise ExpressionError(what, hint or f"Known are {', '.join(OPS)}.")
        values = self.bracket(several=True)
        if len(values) != op.arity:
            raise ExpressionError(
                f"column {token.column}: {token.text} has {len(values)} arguments, expected {op.arity}"
            )
        return self.apply(op.name, *values)

    def apply(self, op: str, *values: Value) -> Value:
        value = applied(op, *values)
        if isinstance(value, Formula):
            depth, count = value.extent
            if depth > TALLEST or count > LARGEST:
                raise ExpressionError(
                    f"the formula has {count} operations, nested {depth} deep, expected at most {LARGEST}, "
                    f"{TALLEST} deep"
                )
        return value

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ExpressionError(f"column {self.here.column}: brackets and powers are nested more than {DEEPEST} deep")


# ── printing ──────────────────────────────────────────────────────────────────────────────────────────────────────────

SUM, PRODUCT, SIGN, POWER, ATOM = range(1, 6)  # precedence of a text: a higher number binds more tightly
# op: operator, precedence of the whole, least precedence of the left and of the right side without brackets
SPELL = {
    "add": (" + ", SUM, SUM, PRODUCT),
    "sub": (" - ", SUM, SUM, PRODUCT),
    "mul": (" * ", PRODUCT, PRODUCT, SIGN),
    "div": (" / ", PRODUCT, PRODUCT, SIGN),
    "pow": ("**", POWER, ATOM, SIGN),
}


def written(value: Value) -> str:
    """The text of a Value, which parses to the same Value. Raises ValueError if a formula is too large."""
    if isinstance(value, Formula):
        depth, count = value.extent
        if depth > TALLEST or count > LARGEST:
            raise ValueError(
                f"the formula has {count} operations, nested {depth} deep, expected at most {LARGEST}, {TALLEST} deep"
            )
    return _written(value)[0]


def _written(value: Value) -> tuple[str, int]:
    """The text of a Value and its precedence: SUM, PRODUCT, SIGN, POWER or ATOM."""
    if isinstance(value, Parameter):
        return _name(value.name), ATOM
    if not isinstance(value, Formula):
        return number(value), SIGN if math.copysign(1.0, value) < 0.0 else ATOM
    parts = [_written(arg) for arg in value.args]
    if value.op == "neg":
        return f"-{_bracketed(parts[0], SIGN)}", SIGN
    if value.op not in SPELL:
        return f"{value.op}({', '.join(text for text, _ in parts)})", ATOM
    sign, binds, left, right = SPELL[value.op]
    return f"{_bracketed(parts[0], left)}{sign}{_bracketed(parts[1], right)}", binds


def _bracketed(part: tuple[str, int], least: int) -> str:
    text, binds = part
    return text if binds >= least else f"({text})"


def _name(name: str) -> str:
    return name if _WORD.fullmatch(name) else f"`{name.replace('`', '``')}`"


def number(value: float) -> str:
    """The shortest text that reads back as the same float; "2" rather than "2.0"."""
    if math.isinf(value):
        return "1e999" if value > 0.0 else "-1e999"
    text = repr(float(value))
    return text.removesuffix(".0") if value or text[0] != "-" else text
