"""An expression tree as a printed formula: the one walk that LaTeX, typst and MathML share.

`formula(tree)` decides what a reader sees: where brackets are needed, what stands in a denominator, which functions
take an exponent on their name. The result consists of marks (`vocabulary.typography.marks`), which the backends
`latex`, `typst` and `mathml` write in their notations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction as Rational

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
from kinemorph.codegen.reading.names import latex_name
from kinemorph.vocabulary.typography.marks import (
    Apply,
    Cases,
    Digits,
    Fence,
    Fraction,
    Mark,
    Matrix,
    Named,
    Root,
    Scripts,
    Sign,
    Times,
    Word,
    raised,
    row,
)
from kinemorph.vocabulary.typography.symbol_reader import symbol_marks

# functions that take a single symbol without brackets, and an exponent on their name: sin^2 q
NAMED = {"sin": "sin", "cos": "cos", "tan": "tan", "log": "ln", "asin": "arcsin", "acos": "arccos"}
CONDITIONS = {"lt": "<", "le": "≤", "eq": "="}
FENCED = {"abs": ("|", "|"), "floor": ("⌊", "⌋")}
INVERSES = {"solve": (Sign("-", prefix=True), Digits("1")), "least_squares": (Sign("+", prefix=True),)}
WORDS = {"atan2": Word("atan2", "upright"), "sign": Word("sgn", "upright"), "min": Word("min", "function")}
WORDS |= {"max": Word("max", "function")}
DIGITS = 6  # significant digits of a decimal; the plain text has all digits
MINUS = Sign("-", prefix=True)


@dataclass(frozen=True)
class Wording:
    """What depends on the language of the reader: the decimal point or comma, and words in formulas."""

    decimal: str = "."
    condition: str = "if"
    otherwise: str = "otherwise"
    others: str = "all others"


ENGLISH = Wording()


def formula(tree: Tree, wording: Wording = ENGLISH) -> Mark:
    """A tree as a printed formula."""
    return _Writer(wording).tree(tree)


def matrix(entries: Sequence[Tree], columns: int, wording: Wording = ENGLISH) -> Matrix:
    """Trees, row by row, as a printed matrix with the given number of columns."""
    cells = [formula(entry, wording) for entry in entries]
    return Matrix(tuple(tuple(cells[i : i + columns]) for i in range(0, len(cells), columns)) if columns else ())


class _Writer:
    """Converts trees to marks."""

    def __init__(self, wording: Wording) -> None:
        self.wording = wording

    def tree(self, tree: Tree) -> Mark:
        if isinstance(tree, Number):
            return self.number(tree.value)
        if isinstance(tree, Symbol):
            return Named(tree.latex, tree.text)
        if isinstance(tree, Sum):
            return self.sum(tree)
        if isinstance(tree, Product):
            return self.product(tree.coefficient.value, tree.factors)
        if isinstance(tree, Power):
            if tree.exponent < 0:
                return self.product(Rational(1), (tree,))
            return self.power(tree.base, tree.exponent)
        if isinstance(tree, Array):
            return Matrix(tuple(tuple(map(self.tree, entries)) for entries in tree.rows))
        return self.call(tree)

    def number(self, value: Rational | float) -> Mark:
        """A number: a whole number, a fraction, or a decimal with a power of ten if necessary."""
        sign = [MINUS] if value < 0 else []
        size = abs(value)
        if isinstance(size, Rational):
            whole = Digits(str(size.numerator))
            return row(*sign, whole if size.denominator == 1 else Fraction(whole, Digits(str(size.denominator))))
        mantissa, _, exponent = f"{size:.{DIGITS}g}".partition("e")
        if not mantissa[0].isdigit():  # inf and nan
            return row(*sign, Sign("∞", prefix=True) if mantissa == "inf" else Word(mantissa, "upright"))
        digits = Digits(mantissa.replace(".", self.wording.decimal))
        if not exponent:
            return row(*sign, digits)
        return row(*sign, digits, Sign("⋅"), raised(Digits("10"), self.number(Rational(int(exponent)))))

    def sum(self, tree: Sum) -> Mark:
        first, *rest = tree.terms
        parts = [self.tree(first)]
        for term in rest:
            negative = is_negative(term)
            parts += [Sign("-" if negative else "+"), self.tree(scaled(-1.0, term) if negative else term)]
        return row(*parts)

    def product(self, value: Rational | float, factors: tuple[Tree, ...]) -> Mark:
        """The number and the factors one after the other, negative powers in a denominator."""
        powers = [split_power(factor) for factor in factors]
        below = [(base, -exponent) for base, exponent in powers if exponent < 0]
        above = [(base, exponent) for base, exponent in powers if exponent > 0]
        sign, size = ([MINUS], -value) if value < 0 else ([], value)
        if not below:
            front = [] if size == 1 else [self.number(size), Times()]
            return row(*sign, *front, self.factors(above, alone=False))
        top, bottom = (size.numerator, size.denominator) if isinstance(size, Rational) else (size, 1)
        return row(*sign, Fraction(self.part(top, above), self.part(bottom, below)))

    def part(self, value: int | float, factors: list[tuple[Tree, int]]) -> Mark:
        """A numerator or denominator: a number, left out if it is 1, and factors (base, exponent)."""
        if value == 1 and factors:
            return self.factors(factors, alone=True)
        front = self.number(Rational(value) if isinstance(value, int) else value)
        return row(front, Times(), self.factors(factors, alone=False)) if factors else front

    def factors(self, factors: list[tuple[Tree, int]], *, alone: bool) -> Mark:
        """Factors (base, exponent) one after the other, with a thin space after a function.

        `alone` says that nothing else is multiplied with them, so that a single sum needs no brackets.
        """
        if alone and len(factors) == 1 and factors[0][1] == 1:
            return self.tree(factors[0][0])
        parts: list[Mark] = []
        for i, (base, exponent) in enumerate(factors):
            if i:
                parts.append(Times(thin=isinstance(factors[i - 1][0], Call)))
            parts.append(self.power(base, exponent))
        return row(*parts)

    def power(self, base: Tree, exponent: int) -> Mark:
        """base^exponent, with the brackets that it needs."""
        if exponent == 1:
            return self.bracketed(base)
        if isinstance(base, Call) and base.name in NAMED:
            return self.call(base, exponent)
        return raised(self.bracketed(base, under=True), self.number(Rational(exponent)))

    def bracketed(self, tree: Tree, *, under: bool = False) -> Mark:
        """A tree as a factor, or with `under` as the base of a power, in brackets if necessary."""
        negative = isinstance(tree, Number) and tree.value < 0
        open_call = under and isinstance(tree, Call) and tree.name not in ("abs", *CONDITIONS)
        open_base = under and isinstance(tree, (Power, Number)) and not negative
        open_name = under and isinstance(tree, Symbol) and _has_exponent(tree)
        if negative or open_call or open_base or open_name or isinstance(tree, (Sum, Product)):
            return Fence("(", self.tree(tree), ")")
        return self.tree(tree)

    def call(self, call: Call, exponent: int = 1) -> Mark:
        """A call; an exponent other than 1 is written on the name of the function."""
        name, args = call.name, call.args
        if name in NAMED:
            head: Mark = Word(NAMED[name], "function")
            head = head if exponent == 1 else raised(head, self.number(Rational(exponent)))
            bare = isinstance(args[0], Symbol)
            return Apply(head, self.tree(args[0]) if bare else Fence("(", self.tree(args[0]), ")"))
        if name == "sqrt":
            return Root(self.tree(args[0]))
        if name == "exp":
            return Scripts(Word("e", "constant"), above=self.tree(args[0]))
        if name == "pow":
            return raised(self.bracketed(args[0], under=True), self.tree(args[1]))
        if name in FENCED:
            opening, closing = FENCED[name]
            return Fence(opening, self.tree(args[0]), closing)
        if name in CONDITIONS:
            return Fence("[", self.condition(call), "]")
        if name in INVERSES:
            return row(raised(self.tree(args[0]), row(*INVERSES[name])), Times(), self.tree(args[1]))
        if name == "where":
            words = (self.wording.condition, self.wording.otherwise)
            return Cases(self.condition(args[0]), self.tree(args[1]), self.tree(args[2]), words)
        listed: list[Mark] = []
        for i, arg in enumerate(args):
            listed += [Sign(","), self.tree(arg)] if i else [self.tree(arg)]
        return Apply(WORDS.get(name, Named(latex_name(name), name)), Fence("(", row(*listed), ")"))

    def condition(self, tree: Tree) -> Mark:
        """A tree as a condition: a comparison without brackets, or that a number is not zero."""
        if isinstance(tree, Call) and tree.name in CONDITIONS:
            return row(self.tree(tree.args[0]), Sign(CONDITIONS[tree.name]), self.tree(tree.args[1]))
        return row(self.tree(tree), Sign("≠"), Digits("0"))


def _has_exponent(symbol: Symbol) -> bool:
    """Whether the printed symbol ends with an exponent, so that a power of it needs brackets."""
    found = symbol_marks(symbol.latex, symbol.text)
    return isinstance(found, Scripts) and found.above is not None
