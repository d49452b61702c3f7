"""Expressions in model files: "0.5 * l1", "m1 * l1**2 / 12", "atan2(a, b) - pi / 2".

An expression consists of numbers, names of parameters, + - * / **, brackets, `pi`, the ops of `vocabulary.ops` as
functions, and `atan` of one value; operators have the precedence of Python. No text is ever run as Python code. A name
is a word, or words joined by dots ("q.hip"). Any other name stands between `backquotes`; a backquote inside it is
doubled. Constant parts become numbers. `written` turns a Value back into text that parses to the same Value. `Parser`
can be extended by other functions and other spellings (`positions.position_text`, `formats.cagem`).

    sum = product (("+" | "-") product)*        sign  = ("+" | "-")* power
    product = sign (("*" | "/") sign)*          power = atom ("**" sign)?
    atom = number | name | "pi" | function "(" sum ("," sum)* ")" | "(" sum ")"
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, NoReturn

from kinemorph.errors import Problem
from kinemorph.model.parameter import Coordinate, Formula, Parameter, Value, applied
from kinemorph.vocabulary.ops import OPS
from kinemorph.words import counted, did_you_mean, listed

LONGEST = 20_000  # characters of an expression
DEEPEST = 60  # nested brackets and powers
TALLEST = 200  # depth of the tree of a formula, which grows with every further term of a sum
MOST_LISTED = 16  # names that a message lists
LARGEST = 20_000  # ops in a formula; shared parts count wherever they appear

_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_TOKEN = re.compile(
    rf"\s*(?:(?P<number>{_NUMBER})|(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)|`(?P<quoted>(?:[^`]|``)+)`"
    r"|(?P<sign>\*\*|[-+*/(),]))"
)
ARCTAN = "atan"  # of one argument; it becomes atan2(x, 1)
_WORD = re.compile(r"[^\W\d]\w*")


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
    value: Value = Parser(text, names, hints=hints).parse()
    return value


def names_in(text: str, pattern: re.Pattern[str] = _TOKEN) -> tuple[str, ...]:
    """The names in an expression, each once, without names of functions. Raises ExpressionError.

    `pattern` describes the tokens, as `Parser.pattern` does.
    """
    tokens = _tokens(text, pattern)
    found = [
        token.text
        for token, after in pairwise(tokens)
        if token.kind == "quoted" or (token.kind == "name" and after.text != "(")
    ]
    return tuple(dict.fromkeys(found))


def in_order(needs: Mapping[str, Collection[str]]) -> tuple[list[str], list[str]]:
    """The names in an order in which each follows the names that it needs; then the names of a circle, if there is one.

    Names that are not keys of `needs` are known already. In a circle, each name needs the next, and the last is the
    first; names that depend on a circle are in neither list.
    """
    missing = {name: len([need for need in dict.fromkeys(wanted) if need in needs]) for name, wanted in needs.items()}
    waiters: dict[str, list[str]] = {}
    for name, wanted in needs.items():
        for need in dict.fromkeys(wanted):
            waiters.setdefault(need, []).append(name)
    found, ready = [], deque(name for name in needs if not missing[name])
    while ready:
        found.append(ready.popleft())
        for waiter in waiters.get(found[-1], ()):
            missing[waiter] -= 1
            if not missing[waiter]:
                ready.append(waiter)
    here = next((name for name in needs if missing[name]), None)
    path: dict[str, None] = {}
    while here is not None and here not in path:
        path[here] = None
        here = next(need for need in needs[here] if missing.get(need))
    names = list(path)
    return found, [] if here is None else [*names[names.index(here) :], here]


def _tokens(text: str, pattern: re.Pattern[str] = _TOKEN) -> list[Token]:
    if len(text) > LONGEST:
        raise ExpressionError(
            f"the expression has {len(text)} characters, expected at most {LONGEST}", "Write a shorter formula."
        )
    tokens, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = pattern.match(text, at)
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


class Parser:
    """A recursive-descent parser: each method reads one rule of the grammar above and returns its Value.

    A subclass may spell operators and constants differently, and may override `function` and `apply` for values of
    other types.
    """

    pattern: ClassVar[re.Pattern[str]] = _TOKEN  # its groups are the kinds of tokens
    products: ClassVar[Mapping[str, str]] = {"*": "mul", "/": "div"}
    powers: ClassVar[tuple[str, ...]] = ("**",)
    constants: ClassVar[Mapping[str, float]] = {"pi": math.pi}
    other_names: ClassVar[Mapping[str, str]] = {}  # other names of functions

    def __init__(self, text: str, names: Mapping[str, Any], *, hints: bool = True) -> None:
        self.tokens, self.names, self.hints = _tokens(text, self.pattern), names, hints
        self.at = self.depth = 0

    def parse(self) -> Any:
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

    def sum(self) -> Any:
        value = self.product()
        while sign := self.take("+", "-"):
            value = self.apply("add" if sign == "+" else "sub", value, self.product())
        return value

    def product(self) -> Any:
        value = self.sign()
        while sign := self.take(*self.products):
            value = self.apply(self.products[sign], value, self.sign())
        return value

    def sign(self) -> Any:
        negative = False
        while sign := self.take("+", "-"):
            negative ^= sign == "-"
        value = self.power()
        return self.apply("neg", value) if negative else value

    def power(self) -> Any:
        base = self.atom()
        if not self.take(*self.powers):
            return base
        self.deeper()
        value = self.apply("pow", base, self.sign())
        self.depth -= 1
        return value

    def atom(self) -> Any:
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
        if token.kind == "name" and token.text in self.constants:
            return self.constants[token.text]
        kinds = "coordinate, dependent or parameter" if self.has_coordinates else "parameter"
        what = f"column {token.column}: there is no {kinds} {token.text!r}, expected the name of a declared one"
        hint = did_you_mean(token.text, self.names if self.hints else ()).strip()
        known = f"Known: {listed(self.names, MOST_LISTED)}." if self.has_coordinates and self.hints else ""
        raise ExpressionError(what, hint or known)

    @property
    def has_coordinates(self) -> bool:
        """Whether names of coordinates, or of the time, are known."""
        return any(isinstance(value, Coordinate) for value in self.names.values())

    def bracket(self, *, several: bool = False) -> list[Any]:
        """The values up to the closing bracket, after the opening one; with `several`, separated by commas."""
        self.deeper()
        values = [self.sum()]
        while several and self.take(","):
            values.append(self.sum())
        if not self.take(")"):
            self.refuse("')'")
        self.depth -= 1
        return values

    def function(self, token: Token) -> Any:
        if token.text == ARCTAN:
            return self.apply("atan2", *self.arguments(token, 1), 1.0)
        op = OPS.get(self.other_names.get(token.text, token.text))
        if op is None:
            self.no_function(token, self.functions)
        return self.apply(op.name, *self.arguments(token, op.arity))

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of all functions."""
        return (*OPS, ARCTAN, *self.other_names)

    def no_function(self, token: Token, known: Collection[str]) -> NoReturn:
        """Raises the error for an unknown function; `known` are the names of all functions."""
        hint = did_you_mean(token.text, known).strip() if self.hints else ""
        what = f"column {token.column}: there is no function {token.text!r}"
        raise ExpressionError(what, hint or f"Known are {', '.join(known)}.")

    def arguments(self, token: Token, count: int) -> list[Any]:
        """The arguments of the function `token`, which has `count` of them."""
        values = self.bracket(several=True)
        if len(values) != count:
            what = f"column {token.column}: {token.text} has {len(values)} arguments, expected {count}"
            raise ExpressionError(what, f"Give {counted(count, 'argument')}.")
        return values

    def apply(self, op: str, *values: Any) -> Any:
        value = applied(op, *values)
        if isinstance(value, Formula):
            depth, count = value.extent
            if depth > TALLEST or count > LARGEST:
                raise ExpressionError(
                    f"the formula has {count} operations and a nesting depth of {depth}; expected at most {LARGEST} "
                    f"operations and a depth of {TALLEST}",
                    "Write a shorter formula, or compute a part of it and write its value.",
                )
        return value

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ExpressionError(
                f"column {self.here.column}: brackets and powers are nested more than {DEEPEST} levels deep",
                "Write a simpler formula.",
            )


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


class Spelling(NamedTuple):
    """How operators and functions are written: `operators` as SPELL, `functions` are names by op."""

    operators: Mapping[str, tuple[str, int, int, int]]
    functions: Mapping[str, str]


PLAIN = Spelling(SPELL, {name: name for name in OPS})


def written(value: Value, names: Mapping[Value, str] | None = None, spelling: Spelling = PLAIN) -> str:
    """The text of a Value, which parses to the same Value. Raises ValueError if a formula is too large.

    `names` are texts for some formulas, parameters and coordinates, such as `name_text` returns. Raises ValueError also
    for an op that the spelling does not have.
    """
    if isinstance(value, Formula):
        depth, count = value.extent
        if depth > TALLEST or count > LARGEST:
            raise ValueError(
                f"the formula has {count} operations and a nesting depth of {depth}; expected at most {LARGEST} "
                f"operations and a depth of {TALLEST}"
            )
    return _written(value, names or {}, spelling)[0]


def _written(value: Value, names: Mapping[Value, str], spelling: Spelling) -> tuple[str, int]:
    """The text of a Value and its precedence: SUM, PRODUCT, SIGN, POWER or ATOM."""
    if names and isinstance(value, (Formula, Parameter)) and value in names:
        return names[value], ATOM
    if isinstance(value, Parameter):
        return name_text(value.name), ATOM
    if not isinstance(value, Formula):
        return number(value), SIGN if math.copysign(1.0, value) < 0.0 else ATOM
    parts = [_written(arg, names, spelling) for arg in value.args]
    if value.op == "neg":
        return f"-{_bracketed(parts[0], SIGN)}", SIGN
    if value.op not in spelling.operators:
        if value.op not in spelling.functions:
            raise ValueError(f"the function '{value.op}' cannot be written in this format")
        return f"{spelling.functions[value.op]}({', '.join(text for text, _ in parts)})", ATOM
    sign, binds, left, right = spelling.operators[value.op]
    return f"{_bracketed(parts[0], left)}{sign}{_bracketed(parts[1], right)}", binds


def _bracketed(part: tuple[str, int], least: int) -> str:
    text, binds = part
    return text if binds >= least else f"({text})"


def name_text(name: str) -> str:
    """The text of a name in an expression, in backquotes if it is not a word."""
    return name if _WORD.fullmatch(name) else f"`{name.replace('`', '``')}`"


def number(value: float) -> str:
    """The shortest text that reads back as the same float; "2" rather than "2.0"."""
    if math.isinf(value):
        return "1e999" if value > 0.0 else "-1e999"
    text = repr(float(value))
    return text.removesuffix(".0") if value or text[0] != "-" else text
