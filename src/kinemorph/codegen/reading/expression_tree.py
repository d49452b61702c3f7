"""Expression trees of readable equations, which the text and LaTeX backends print.

    Number    1/12, 9.81             Sum       terms added up            Power   base to a whole power
    Symbol    m_2                    Product   a number and factors      Call    sin, sqrt, where, ...
    Array     trees in rows, as an argument of a call on arrays (solve, least_squares)

A tree is frozen and hashable, so equal subexpressions are equal values. Sums and products are flat and sorted to be
easy to read: in a product the number comes first, then parameters, functions and variables (`m_2 l_1 sin(q_2) v_1^2`);
in a sum the terms of the last variable port come first. The constructors `number`, `total`, `product` do the sorting.

The order of a symbol is `(rank, family, index)`. The rank is 0 for parameters and 2 or more for variables (calls have
rank 1); symbols of one family (`l_1`, `l_2`) are next to each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

NEAR = 1e-13  # relative distance within which a float counts as the rational it is close to
PARAMETER, FUNCTION, VARIABLE = 0, 1, 2


class _Hashed:
    """A tree that computes its hash once: large sums are looked up thousands of times while they are collected."""

    def __getstate__(self) -> dict[str, object]:
        """The fields without the hash, which another process computes anew: hashes of names differ there."""
        return {name: value for name, value in vars(self).items() if name != "_hash"}

    def kept_hash(self) -> int:
        """The hash of the kind of tree and of its fields."""
        own = vars(self)
        if "_hash" not in own:
            own["_hash"] = hash((type(self), *own.values()))
        return own["_hash"]  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Number(_Hashed):
    """A number: a Fraction if the value is a small rational, else a float."""

    value: Fraction | float
    __hash__ = _Hashed.kept_hash


@dataclass(frozen=True)
class Symbol:
    """A name, in plain text and in LaTeX; `order` sorts symbols (see the top of this file)."""

    text: str
    latex: str
    order: tuple[int, int, int] = (PARAMETER, 0, 0)


@dataclass(frozen=True)
class Sum(_Hashed):
    """Two or more terms, added up."""

    terms: tuple[Tree, ...]
    __hash__ = _Hashed.kept_hash


@dataclass(frozen=True)
class Product(_Hashed):
    """A nonzero coefficient times one or more factors; no factor is a Number or a Product."""

    coefficient: Number
    factors: tuple[Tree, ...]
    __hash__ = _Hashed.kept_hash


@dataclass(frozen=True)
class Power(_Hashed):
    """A base to a whole exponent, which is not 0 or 1."""

    base: Tree
    exponent: int
    __hash__ = _Hashed.kept_hash


@dataclass(frozen=True)
class Call(_Hashed):
    """A call of an op or block, other than arithmetic, with its arguments."""

    name: str
    args: tuple[Tree, ...]
    __hash__ = _Hashed.kept_hash


@dataclass(frozen=True)
class Array:
    """An array of trees, as the argument of a call. An array with one column is a vector."""

    rows: tuple[tuple[Tree, ...], ...]


Tree = Number | Symbol | Sum | Product | Power | Call | Array


# ── constructors ──────────────────────────────────────────────────────────────────────────────────────────────────────


def number(value: float) -> Number:
    """The value as a person writes it: a whole number, small fraction (1/12), short decimal (9.81), or all digits."""
    if value != value or value in (float("inf"), float("-inf")):
        return Number(value)
    whole = round(value)
    if abs(value - whole) <= NEAR * abs(value) and abs(whole) < 10**9:
        return Number(Fraction(whole))
    near = Fraction(value).limit_denominator(64)
    decimal = near.denominator in (5, 10, 20, 25, 40, 50)
    if abs(float(near) - value) <= NEAR * abs(value) and not decimal and abs(near.numerator) <= 16:
        return Number(near)
    short = float(f"{value:.13g}")
    return Number(short if len(f"{short!r}".rstrip("0")) < 12 else value)


def total(terms: Iterable[Tree]) -> Tree:
    """The sum of the terms, flat and sorted; equal terms are not merged."""
    flat: list[Tree] = []
    for term in terms:
        flat.extend(term.terms if isinstance(term, Sum) else (term,))
    flat = sorted((term for term in flat if term != ZERO), key=_place_in_sum)
    if not flat:
        return ZERO
    lead = next((i for i, term in enumerate(flat) if not is_negative(term)), 0)
    flat.insert(0, flat.pop(lead))  # a sum starts with a term without a minus, if there is one
    return flat[0] if len(flat) == 1 else Sum(tuple(flat))


def product(coefficient: float, powers: Iterable[tuple[Tree, int]]) -> Tree:
    """coefficient * base^exponent * ..., sorted. The bases are distinct, and none is a Number or a Product."""
    factors = [base if exponent == 1 else Power(base, exponent) for base, exponent in powers if exponent != 0]
    if coefficient == 0.0 or not factors:
        return number(coefficient)
    if coefficient == 1.0 and len(factors) == 1:
        return factors[0]
    return Product(number(coefficient), tuple(sorted(factors, key=_place_in_product)))


def parts(tree: Tree) -> tuple[float, dict[Tree, int]]:
    """(coefficient, {base: exponent}) of a tree, the arguments of `product`."""
    if isinstance(tree, Number):
        return float(tree.value), {}
    if isinstance(tree, Product):
        return float(tree.coefficient.value), dict(split_power(factor) for factor in tree.factors)
    return 1.0, dict([split_power(tree)])


def split_power(tree: Tree) -> tuple[Tree, int]:
    """(base, exponent) of a factor; the exponent is 1 unless it is a Power."""
    return (tree.base, tree.exponent) if isinstance(tree, Power) else (tree, 1)


def scaled(factor: float, tree: Tree) -> Tree:
    """factor * tree; a sum is multiplied term by term."""
    if isinstance(tree, Sum):
        return total(scaled(factor, term) for term in tree.terms)
    coefficient, powers = parts(tree)
    return product(factor * coefficient, powers.items())


def is_negative(tree: Tree) -> bool:
    """Whether the tree is printed with a minus sign in front."""
    if isinstance(tree, Product):
        return tree.coefficient.value < 0
    return isinstance(tree, Number) and tree.value < 0


def sum_pieces(tree: Sum, spell: Callable[[Tree], str]) -> Iterator[str]:
    """The terms of a sum as text, each after its sign; `spell` writes a tree."""
    first, *rest = tree.terms
    yield spell(first)
    for term in rest:
        yield f" - {spell(scaled(-1.0, term))}" if is_negative(term) else f" + {spell(term)}"


def opens_negative(tree: Sum) -> bool:
    """Whether the first term of a sum is negative, when its terms are sorted without regard to signs."""
    return is_negative(min(tree.terms, key=_place_in_sum))


ZERO = Number(Fraction(0))


# ── order ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=65536)
def rank(tree: Tree) -> int:
    """The highest rank of the symbols and calls in a tree, without those inside a call; -1 for a number."""
    if isinstance(tree, Number):
        return -1
    if isinstance(tree, Symbol):
        return tree.order[0]
    if isinstance(tree, Call):
        return FUNCTION
    return max(rank(child) for child in children(tree))


def children(tree: Tree) -> tuple[Tree, ...]:
    """The direct subtrees of a tree; none for a leaf."""
    if isinstance(tree, Sum):
        return tree.terms
    if isinstance(tree, Product):
        return (tree.coefficient, *tree.factors)
    if isinstance(tree, Power):
        return (tree.base,)
    if isinstance(tree, Array):
        return tuple(entry for row in tree.rows for entry in row)
    return tree.args if isinstance(tree, Call) else ()


def rebuilt(tree: Tree, fresh: Sequence[Tree]) -> Tree:
    """A tree of the same kind with the subtrees `fresh` in place of its children, in the same order."""
    if isinstance(tree, Sum):
        return Sum(tuple(fresh))
    if isinstance(tree, Product):
        return Product(tree.coefficient, tuple(fresh[1:]))
    if isinstance(tree, Power):
        return Power(fresh[0], tree.exponent)
    if isinstance(tree, Array):
        entries = iter(fresh)
        return Array(tuple(tuple(next(entries) for _ in row) for row in tree.rows))
    return Call(tree.name, tuple(fresh)) if isinstance(tree, Call) else tree


@lru_cache(maxsize=65536)
def symbols_of(tree: Tree) -> tuple[tuple[int, int, int], ...]:
    """The `order` of every symbol in the tree, from left to right."""
    if isinstance(tree, Symbol):
        return (tree.order,)
    return tuple(order for child in children(tree) for order in symbols_of(child))


def _place_in_product(factor: Tree) -> tuple[object, ...]:
    """The sort key of a factor in a product."""
    base, exponent = split_power(factor)
    return rank(base), isinstance(base, Sum), symbols_of(base), exponent, repr(base) if isinstance(base, Call) else ""


@lru_cache(maxsize=65536)
def _place_in_sum(term: Tree) -> tuple[object, ...]:
    """The sort key of a term in a sum: variables of the last port first, then terms without variables, numbers last."""
    top = rank(term)
    orders = tuple(sorted(symbols_of(term)))
    open_variables = tuple(order for order in orders if order[0] == top >= VARIABLE)
    return -max(top, min(top + 1, FUNCTION)), open_variables, orders, repr(term)


# ── operation count ───────────────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=65536)
def expression_ops(tree: Tree) -> int:
    """The number of operations in a tree, as written: each + - * /, power and function is one; a minus sign is none."""
    inner = sum(expression_ops(child) for child in children(tree))
    if isinstance(tree, Number):
        return int(isinstance(tree.value, Fraction) and tree.value.denominator != 1)
    if isinstance(tree, Sum):
        return inner + len(tree.terms) - 1
    if isinstance(tree, Product):
        value = abs(tree.coefficient.value)
        unit = isinstance(value, Fraction) and value.numerator == 1  # m/12 is one division, without a product with 1
        upright = unit and all(split_power(factor)[1] < 0 for factor in tree.factors)
        reciprocals = sum(split_power(factor)[1] == -1 for factor in tree.factors)  # a/b is one operation, like a*b
        return inner + len(tree.factors) - int(unit) + int(upright) - reciprocals
    return inner + int(isinstance(tree, (Power, Call)))
