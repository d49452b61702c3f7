r"""Equations in LaTeX, printed from expression trees with a table of spellings.

`latex(tree)` is one formula, without an environment; Matplotlib's mathtext accepts it too if it contains no `cases`.
`to_latex(program)` is a whole program as one `aligned` environment, for use in display math: named subexpressions
first, a line for every entry of a vector, matrices as `bmatrix`. With `environment="align*"` it needs no display math
around it and may break across pages.
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
    split_power,
    sum_pieces,
)
from kinemorph.codegen.reading.names import Symbols, entry_name, latex_name, port_name

# functions that take a single symbol without brackets, and an exponent on their name: \sin^{2} q
NAMED = {"sin": r"\sin", "cos": r"\cos", "tan": r"\tan", "log": r"\ln", "asin": r"\arcsin", "acos": r"\arccos"}
CONDITIONS = {"lt": "{} < {}", "le": r"{} \leq {}", "eq": "{} = {}"}  # as the condition of a choice
SPELL = {
    "sqrt": r"\sqrt{{{}}}",
    "exp": r"e^{{{}}}",
    "pow": r"{}^{{{}}}",
    "atan2": r"\mathrm{{atan2}}\left({}, {}\right)",
    "abs": r"\left|{}\right|",
    "sign": r"\mathrm{{sgn}}\left({}\right)",
    "floor": r"\left\lfloor {} \right\rfloor",
    "min": r"\min\left({}, {}\right)",
    "max": r"\max\left({}, {}\right)",
    **{name: rf"\left[{condition}\right]" for name, condition in CONDITIONS.items()},
    "solve": "{}^{{-1}} {}",
    "least_squares": "{}^{{+}} {}",
    "where": r"\begin{{cases}} {1} & \mathrm{{if}}\ {0} \\ {2} & \mathrm{{otherwise}} \end{{cases}}",
}
DIGITS = 6  # significant digits of a decimal; the plain text has all digits
LINE = 150  # characters of source after which a sum is continued on a new line


def to_latex(
    program: Program,
    symbols: Symbols | None = None,
    *,
    limit: int = LIMIT,
    parameters: Collection[str] = ("p",),
    environment: str = "aligned",
) -> str:
    """All equations of a program in one LaTeX environment.

    `symbols` names entries of inputs and outputs, `parameters` are the inputs that are written first in a product, and
    `limit` is the largest number of terms in a normal form (see `reading.equations`).
    """
    return as_latex(equations(program, symbols, limit=limit, parameters=parameters), symbols, environment=environment)


def as_latex(written: Equations, symbols: Symbols | None = None, *, environment: str = "aligned") -> str:
    """The result of `equations` in one LaTeX environment, as `to_latex` writes it."""
    symbols = symbols or {}
    lines = [_equation(symbol.latex, tree) for symbol, tree in written.definitions]
    trees = iter(written.trees)
    for port in written.program.outputs:
        entries = [next(trees) for _ in range(port.size)]
        if len(port.shape) == 2:
            lines.append(f"{port_name(port, symbols)[1]} &= {bmatrix(entries, port.shape[1])}")
        else:
            names = [entry_name(port, index, symbols)[1] for index in range(port.size)]
            lines += [_equation(name, tree) for name, tree in zip(names, entries, strict=True)]
    body = " \\\\\n".join(lines)
    return f"\\begin{{{environment}}}\n{body}\n\\end{{{environment}}}\n"


def _equation(name: str, tree: Tree) -> str:
    """The line `name &= tree`; a long sum is broken into several lines."""
    lines, line = [], ""
    for piece in sum_pieces(tree, latex) if isinstance(tree, Sum) else [latex(tree)]:
        if line and len(line) + len(piece) > LINE:
            lines.append(line)
            line = ""
        line += piece if line or not lines else "{}" + piece
    return f"{name} &= " + " \\\\\n&\\quad ".join([*lines, line])


def bmatrix(entries: list[Tree], columns: int) -> str:
    """A `bmatrix` of entries, row by row."""
    rows = [entries[i : i + columns] for i in range(0, len(entries), columns)] if columns else []
    body = " \\\\\n".join(" & ".join(latex(tree) for tree in row) for row in rows)
    return f"\\begin{{bmatrix}}\n{body}\n\\end{{bmatrix}}"


# ── trees ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def latex(tree: Tree) -> str:
    """A tree as a LaTeX formula, without an environment."""
    if isinstance(tree, Number):
        return _number(tree.value)
    if isinstance(tree, Symbol):
        return tree.latex
    if isinstance(tree, Sum):
        return "".join(sum_pieces(tree, latex))
    if isinstance(tree, Product):
        return _product(tree.coefficient.value, tree.factors)
    if isinstance(tree, Power):
        return _product(Fraction(1), (tree,)) if tree.exponent < 0 else _power(tree.base, tree.exponent)
    if isinstance(tree, Array):
        return bmatrix([entry for row in tree.rows for entry in row], len(tree.rows[0]))
    return _call(tree)


def _number(value: Fraction | float) -> str:
    if isinstance(value, Fraction):
        sign = "-" if value < 0 else ""
        small = value.denominator == 1
        return f"{value}" if small else f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"
    mantissa, _, exponent = f"{value:.{DIGITS}g}".partition("e")
    return f"{mantissa} \\cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def _product(value: Fraction | float, factors: tuple[Tree, ...]) -> str:
    """A product in LaTeX: the number and the factors one after the other, negative powers in a denominator."""
    above = [split_power(factor) for factor in factors]
    below = [(base, -exponent) for base, exponent in above if exponent < 0]
    above = [(base, exponent) for base, exponent in above if exponent > 0]
    size = -value if value < 0 else value
    sign = "-" if value < 0 else ""
    if not below:
        return sign + ("" if size == 1 else _number(size) + " ") + _row(above, alone=False)
    numerator, denominator = (size.numerator, size.denominator) if isinstance(size, Fraction) else (size, 1)
    top = _row_with(numerator, above)
    return f"{sign}\\frac{{{top}}}{{{_row_with(denominator, below)}}}"


def _row_with(value: int | float, factors: list[tuple[Tree, int]]) -> str:
    """A numerator or denominator: a number, left out if it is 1, and factors (base, exponent)."""
    front = "" if value == 1 and factors else _number(Fraction(value) if isinstance(value, int) else value)
    row = _row(factors, alone=not front)
    return f"{front} {row}".strip()


def _row(factors: list[tuple[Tree, int]], *, alone: bool) -> str:
    """Factors (base, exponent) one after the other, with a thin space after a function.

    `alone` says that nothing else is multiplied with them, so that a single sum needs no brackets.
    """
    if alone and len(factors) == 1 and factors[0][1] == 1:
        return latex(factors[0][0])
    row = ""
    for i, (base, exponent) in enumerate(factors):
        last = i == len(factors) - 1
        row += _power(base, exponent) + ("" if last else r" \, " if isinstance(base, Call) else " ")
    return row


def _power(base: Tree, exponent: int) -> str:
    """base^exponent in LaTeX, with the brackets that it needs."""
    if exponent == 1:
        return _bracketed(base)
    if isinstance(base, Call) and base.name in NAMED:
        return _call(base, exponent)
    return f"{_bracketed(base, raised=True)}^{{{exponent}}}"


def _bracketed(tree: Tree, *, raised: bool = False) -> str:
    """A tree as a factor, or with `raised` as the base of a power, in brackets if necessary."""
    negative = isinstance(tree, Number) and tree.value < 0
    open_call = raised and isinstance(tree, Call) and tree.name not in ("abs", "lt", "le", "eq")
    raised_symbol = raised and isinstance(tree, (Power, Number)) and not negative
    if negative or open_call or raised_symbol or isinstance(tree, (Sum, Product)):
        return rf"\left({latex(tree)}\right)"
    return latex(tree)


def _call(call: Call, exponent: int = 1) -> str:
    """A call in LaTeX; an exponent other than 1 is written on the name of the function."""
    name = call.name
    if name in NAMED:
        raised = "" if exponent == 1 else f"^{{{exponent}}}"
        arg = call.args[0]
        bare = isinstance(arg, Symbol)
        return NAMED[name] + raised + (f" {latex(arg)}" if bare else rf"\left({latex(arg)}\right)")
    args = [latex(arg) for arg in call.args]
    if name == "pow":
        args[0] = _bracketed(call.args[0], raised=True)
    if name == "where" and isinstance(call.args[0], Call) and call.args[0].name in CONDITIONS:
        condition = call.args[0]
        args[0] = CONDITIONS[condition.name].format(*(latex(arg) for arg in condition.args))
    elif name == "where":
        args[0] += r" \neq 0"
    return SPELL[name].format(*args) if name in SPELL else rf"{latex_name(name)}\left({', '.join(args)}\right)"
