"""Equations as plain text, in Python syntax: `tau1 = m1*l1**2*a1 + g*m1*sin(q1)`.

Functions have the names of the op vocabulary; comparisons are written as operators, and `where(c, a, b)` as a call.
An array, for example an argument of `solve`, is a list of rows; a vector is a list.
"""

from __future__ import annotations

from fractions import Fraction

from kinemorph.codegen.reading.equations import Equations
from kinemorph.codegen.reading.expression_tree import (
    Array,
    Call,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    Tree,
    split_power,
    sum_pieces,
)
from kinemorph.codegen.reading.names import Symbols, entry_name

INFIX = {"lt": "({} < {})", "le": "({} <= {})", "eq": "({} == {})"}


def as_text(written: Equations, symbols: Symbols | None = None) -> str:
    """The result of `equations` as text: a line `name = expression` for each subexpression and each output entry."""
    lines = [f"{symbol.text} = {text(tree)}" for symbol, tree in written.definitions]
    trees = iter(written.trees)
    for port in written.program.outputs:
        for index in range(port.size):
            lines.append(f"{entry_name(port, index, symbols or {})[0]} = {text(next(trees))}")
    return "\n".join(lines) + "\n"


def text(tree: Tree) -> str:
    """A tree as text, in Python syntax."""
    if isinstance(tree, Number):
        return number_text(tree)
    if isinstance(tree, Symbol):
        return tree.text
    if isinstance(tree, Sum):
        return "".join(sum_pieces(tree, text))
    if isinstance(tree, Product):
        return _product(tree)
    if isinstance(tree, Power):
        if tree.exponent < 0:
            return _product(Product(Number(Fraction(1)), (tree,)))
        return f"{_factor(tree.base)}**{tree.exponent}"
    if isinstance(tree, Array):
        vector = all(len(row) == 1 for row in tree.rows)
        rows = [", ".join(map(text, row)) for row in tree.rows]
        return f"[{', '.join(row if vector else f'[{row}]' for row in rows)}]"
    if tree.name == "pow":
        return f"{_base(tree.args[0])}**{_base(tree.args[1])}"
    args = [text(arg) for arg in tree.args]
    return INFIX[tree.name].format(*args) if tree.name in INFIX else f"{tree.name}({', '.join(args)})"


def number_text(number: Number) -> str:
    """A number as text: a whole number, a fraction `p/q`, or a decimal."""
    return str(number.value) if isinstance(number.value, Fraction) else repr(number.value)


def _product(tree: Product) -> str:
    """A product as text, a*b/(c*d); numerator and denominator of its coefficient are written on their sides."""
    value = tree.coefficient.value
    above, below = [], []
    if isinstance(value, Fraction):
        if abs(value.numerator) != 1:
            above.append(str(abs(value.numerator)))
        if value.denominator != 1:
            below.append(str(value.denominator))
    else:
        above.append(repr(abs(value)))
    for factor in tree.factors:
        base, exponent = split_power(factor)
        side = above if exponent > 0 else below
        side.append(_factor(base) if abs(exponent) == 1 else f"{_factor(base)}**{abs(exponent)}")
    joined = "*".join(above) or "1"
    if below:
        joined += "/" + (below[0] if len(below) == 1 else f"({'*'.join(below)})")
    return f"-{joined}" if value < 0 else joined


def _factor(tree: Tree) -> str:
    """A tree as a factor of a product: sums, products and powers are in brackets."""
    return f"({text(tree)})" if isinstance(tree, (Sum, Product, Power)) or _is_pow(tree) else text(tree)


def _base(tree: Tree) -> str:
    """A tree as the base or exponent of a power: everything but names and calls is in brackets."""
    bare = isinstance(tree, Symbol) or (isinstance(tree, Call) and not _is_pow(tree))
    return text(tree) if bare else f"({text(tree)})"


def _is_pow(tree: Tree) -> bool:
    return isinstance(tree, Call) and tree.name == "pow"
