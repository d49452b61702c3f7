"""Equations as plain text, in Python syntax: `tau1 = m1*l1**2*a1 + g*m1*sin(q1)`.

The functions are named as in the op vocabulary; comparisons are written as operators, and `where(c, a, b)` as a call.
An array, as `solve` takes it, is a list of rows, a vector a list.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.reading.equations import LIMIT, Equations, equations
from kinemorph.codegen.reading.expression_tree import (
    Array,
    Call,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    Tree,
    is_negative,
    scaled,
    split_power,
)
from kinemorph.codegen.reading.names import Symbols, entry_name

INFIX = {"lt": "({} < {})", "le": "({} <= {})", "eq": "({} == {})"}


def to_text(
    program: Program,
    symbols: Symbols | None = None,
    *,
    limit: int = LIMIT,
    parameters: Collection[str] = ("p",),
) -> str:
    """One line `name = expression` for every named subexpression and every entry of every output."""
    return as_text(equations(program, symbols, limit=limit, parameters=parameters), symbols)


def as_text(written: Equations, symbols: Symbols | None = None) -> str:
    """Equations that are already found, as `to_text` writes them."""
    lines = [f"{symbol.text} = {text(tree)}" for symbol, tree in written.definitions]
    trees = iter(written.trees)
    for port in written.program.outputs:
        for index in range(port.size):
            lines.append(f"{entry_name(port, index, symbols or {})[0]} = {text(next(trees))}")
    return "\n".join(lines) + "\n"


def text(tree: Tree) -> str:
    """A tree in Python syntax."""
    if isinstance(tree, Number):
        return number_text(tree)
    if isinstance(tree, Symbol):
        return tree.text
    if isinstance(tree, Sum):
        first, *rest = tree.terms
        return text(first) + "".join(
            f" - {text(scaled(-1.0, term))}" if is_negative(term) else f" + {text(term)}" for term in rest
        )
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
    """A whole number, `p/q`, or a decimal."""
    return str(number.value) if isinstance(number.value, Fraction) else repr(number.value)


def _product(tree: Product) -> str:
    """a*b/(c*d), with the parts of a fraction on their sides."""
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
    """A base of a product: sums and powers in brackets."""
    return f"({text(tree)})" if isinstance(tree, (Sum, Product, Power)) or _is_pow(tree) else text(tree)


def _base(tree: Tree) -> str:
    """Base or exponent of a power: only names and calls stand bare."""
    bare = isinstance(tree, Symbol) or (isinstance(tree, Call) and not _is_pow(tree))
    return text(tree) if bare else f"({text(tree)})"


def _is_pow(tree: Tree) -> bool:
    return isinstance(tree, Call) and tree.name == "pow"
