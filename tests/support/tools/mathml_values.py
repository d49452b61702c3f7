"""Computes presentational MathML: what a reader would compute who reads the formula aloud and knows school algebra.

It shares no code with the writer. A row is read as a flat list of tokens, so that a formula that is broken over several
lines, with brackets that open on one and close on another, is computed like one that is not.
"""

from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree

NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
TIMES, APPLY = "\u2062", "\u2061"
FUNCTIONS: dict[str, Any] = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "ln": math.log,
    "arcsin": math.asin,
    "arccos": math.acos,
    "atan2": math.atan2,
    "sgn": lambda x: float((x > 0) - (x < 0)),
    "min": min,
    "max": max,
}
CLOSING = {"(": ")", "|": "|", "⌊": "⌋", "[": "]"}
Token = tuple[str, Any]


def symbol_key(text: str) -> str:
    """The name under which `values` has the symbol that is written as this MathML element."""
    return _key(ElementTree.fromstring(f'<math xmlns="http://www.w3.org/1998/Math/MathML">{text}</math>')[0])


def computed_rows(text: str, values: dict[str, float]) -> dict[str, float]:
    """`values` by symbol key, and the values of all equations in a `math` element with a table."""
    known = dict(values)
    name, tokens = "", []
    for line in ElementTree.fromstring(text)[0]:
        left, _, right = line[:3]
        if len(left):
            if name:
                known[name] = _Parser(tokens, known).whole()
            name, tokens = _key(left[0]), []
        tokens += _tokens(right)
    known[name] = _Parser(tokens, known).whole()
    return known


def computed(text: str, values: dict[str, float]) -> float:
    """The value of a formula, given as elements without a `math` element around them."""
    root = ElementTree.fromstring(f'<math xmlns="http://www.w3.org/1998/Math/MathML">{text}</math>')
    return _Parser(_tokens(root), values).whole()


def _key(element: Any) -> str:
    inner = "".join(map(_key, element))
    return f"{element.tag.removeprefix(NAMESPACE)}[{(element.text or '').strip()}{inner}]"


def _tokens(element: Any) -> list[Token]:
    """The tokens of an element, from left to right."""
    kind = element.tag.removeprefix(NAMESPACE)
    if kind in ("math", "mrow", "mtd") and not _is_cases(element):
        return [token for child in element for token in _tokens(child)]
    if kind == "mrow":
        return [("cases", element[1])]
    if kind == "mspace":
        return []
    if kind == "mn":
        return [("number", float(element.text))]
    if kind == "mo":
        return [("sign", element.text)]
    if kind == "mfrac":
        return [("fraction", (element[0], element[1]))]
    if kind == "msqrt":
        return [("root", element)]
    if kind == "msup":
        return [*_tokens(element[0]), ("exponent", element[1])]
    if kind == "msubsup":
        return [("symbol", f"msub[{_key(element[0])}{_key(element[1])}]"), ("exponent", element[2])]
    if kind == "mi" and element.text in FUNCTIONS:
        return [("function", element.text)]
    return [("symbol", _key(element))]


def _is_cases(element: Any) -> bool:
    return len(element) == 2 and element[0].text == "{"


class _Parser:
    """Sums of products of powers, from left to right."""

    def __init__(self, tokens: list[Token], values: dict[str, float]) -> None:
        self.tokens, self.values, self.place = tokens, values, 0

    def inner(self, element: Any) -> float:
        return _Parser(_tokens(element), self.values).whole()

    def peek(self) -> Token:
        return self.tokens[self.place] if self.place < len(self.tokens) else ("end", None)

    def take(self) -> Token:
        self.place += 1
        return self.tokens[self.place - 1]

    def whole(self) -> float:
        value = self.comparison()
        assert self.peek()[0] == "end", self.tokens[self.place :]
        return value

    def comparison(self) -> float:
        value = self.sum()
        if self.peek() in (("sign", "<"), ("sign", "≤"), ("sign", "="), ("sign", "≠")):
            sign, other = self.take()[1], self.sum()
            return float({"<": value < other, "≤": value <= other, "=": value == other, "≠": value != other}[sign])
        return value

    def sum(self) -> float:
        factor = -1.0 if self.peek() == ("sign", "−") else 1.0
        self.place += factor < 0
        value = factor * self.product()
        while self.peek() in (("sign", "+"), ("sign", "−")):
            factor = 1.0 if self.take()[1] == "+" else -1.0
            value += factor * self.product()
        return value

    def product(self) -> float:
        value = self.power()
        while self.peek() in (("sign", TIMES), ("sign", "⋅"), ("sign", "/")):
            value = value / self.power() if self.take()[1] == "/" else value * self.power()
        return value

    def power(self) -> float:
        kind, what = self.take()
        if kind == "function":
            exponent = self.inner(self.take()[1]) if self.peek()[0] == "exponent" else 1.0
            assert self.take() == ("sign", APPLY)
            opening = self.peek() == ("sign", "(")
            arguments = self.bracket() if opening else [self.primary(*self.take())]
            return float(FUNCTIONS[what](*arguments)) ** exponent
        value = self.primary(kind, what)
        while self.peek()[0] == "exponent":
            value = value ** self.inner(self.take()[1])
        return value

    def bracket(self) -> list[float]:
        """The values in brackets, separated by commas."""
        opening = self.take()[1]
        found = [self.comparison()]
        while self.peek() == ("sign", ","):
            self.take()
            found.append(self.comparison())
        assert self.take() == ("sign", CLOSING[opening])
        return found

    def primary(self, kind: str, what: Any) -> float:
        if kind == "number":
            return float(what)
        if kind == "symbol":
            return math.e if what == "mi[e]" and what not in self.values else self.values[what]
        if kind == "fraction":
            return self.inner(what[0]) / self.inner(what[1])
        if kind == "root":
            return math.sqrt(_Parser([t for child in what for t in _tokens(child)], self.values).whole())
        if kind == "cases":
            (chosen, test), (otherwise, _) = what
            holds = _Parser([t for child in test[0][1:] for t in _tokens(child)], self.values).whole()
            return self.inner(chosen) if holds else self.inner(otherwise)
        assert kind == "sign", (kind, what)
        self.place -= 1
        (value,) = self.bracket()
        return {"(": value, "[": value, "|": abs(value), "⌊": math.floor(value)}[what]
