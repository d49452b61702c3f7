"""Collecting: common factors are taken out of a sum of many terms, so that it has the brackets a person would write.

A term is a coefficient and factors to whole powers. The common factor (a *cube*: a product of powers) that saves the
most operations is taken out first. What remains of the terms in the bracket is collected in the same way, and the
bracket becomes a factor itself. This is repeated until nothing more is saved:

    m l^2 a + m l b + c   ->   m l (l a + b) + c

Equal brackets are equal factors, so  a (x + y) + b (x + y)  becomes  (a + b) (x + y)  in the next repetition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations

from kinemorph.codegen.reading.expression_tree import (
    FUNCTION,
    NEAR,
    VARIABLE,
    Sum,
    Tree,
    expression_ops,
    number,
    opens_negative,
    parts,
    product,
    rank,
    scaled,
    total,
)

Powers = frozenset[tuple[int, int]]  # (factor, exponent); factors are numbered by the collector
Term = tuple[float, Powers]

PAIRS_UP_TO = 24  # terms; for more, only candidates that contain a single factor are tried, in almost linear time
# A sum grouped by variables is easier to read than the shortest sum. How many operations it may have, relative to that:
SORTING_WORTH = 1.4  # with terms that contain variables of different ports separated
GROUPING_WORTH = 1.25  # with one bracket for every product of variables of a port


def collected(terms: Iterable[tuple[float, Mapping[Tree, int]]]) -> Tree:
    """The sum of the terms as a tree with common factors taken out; grouped by variables if that is not much longer.

    A term is (coefficient, {base: exponent}).
    """
    collector = _Collector()
    numbered = [(value, collector.numbered(powers)) for value, powers in terms]
    shortest = collector.bracketed(numbered)
    ranks: dict[int, list[Term]] = {}
    for value, powers in numbered:
        ranks.setdefault(max(collector.rank(powers), FUNCTION), []).append((value, powers))
    grouped = total(collector.by_variables(part, level) for level, part in ranks.items())
    return grouped if expression_ops(grouped) <= SORTING_WORTH * expression_ops(shortest) else shortest


class _Collector:
    """Gives every factor a number, so that common factors are found with small sets of integers."""

    def __init__(self) -> None:
        self.bases: list[Tree] = []
        self.costs: list[int] = []
        self.ranks: list[int] = []
        self.index: dict[Tree, int] = {}

    def numbered(self, powers: Mapping[Tree, int]) -> Powers:
        """{base: exponent} with numbers in place of the bases; new bases get new numbers."""
        for base in powers:
            if base not in self.index:
                self.index[base] = len(self.bases)
                self.bases.append(base)
                self.costs.append(expression_ops(base))
                self.ranks.append(rank(base))
        return frozenset((self.index[base], power) for base, power in powers.items())

    def tree(self, term: Term) -> Tree:
        """A term as a tree."""
        return product(term[0], [(self.bases[i], power) for i, power in term[1]])

    def rank(self, powers: Powers) -> int:
        """The highest rank of the factors: 0 for parameters, 1 for calls, 2 or more for variables; -1 if there are
        none.
        """
        return max((self.ranks[i] for i, _ in powers), default=-1)

    # ── brackets ──────────────────────────────────────────────────────────────────────────────────────────────────

    def by_variables(self, terms: list[Term], level: int) -> Tree:
        """The sum with one bracket for every product of variables of rank `level`; as `bracketed` if much shorter."""
        free = self.bracketed(terms)
        if level < VARIABLE:
            return free
        groups: dict[Powers, list[Term]] = {}
        for value, powers in terms:
            head = frozenset((i, power) for i, power in powers if self.ranks[i] == level)
            groups.setdefault(head, []).append((value, powers - head))
        strict = total(self.tree(self.times(head, self.bracketed(part))) for head, part in groups.items())
        return strict if expression_ops(strict) <= GROUPING_WORTH * expression_ops(free) else free

    def bracketed(self, terms: list[Term], depth: int = 0) -> Tree:
        """The sum of the terms with common factors taken out, the best one first.

        A factor is taken out if it saves more than `depth` operations; `depth` is the nesting depth of the bracket.
        """
        while len(terms) > 1:
            ranked = [(*self.gain(cube, terms), tuple(sorted(cube))) for cube in common(terms)]
            gain, _, _, _, best = max(ranked, default=(0, 0, 0, 0, ()))
            if gain <= depth:
                break
            cube = frozenset(best)
            inside = [(value, divided(powers, cube)) for value, powers in terms if divides(cube, powers)]
            terms = [term for term in terms if not divides(cube, term[1])]
            terms.append(self.times(cube, self.bracketed(inside, depth + 1)))
        factor = common_number([value for value, _ in terms])
        inner = total(self.tree((value / factor, powers)) for value, powers in terms)
        if factor == 1.0:
            return inner
        if isinstance(inner, Sum) and opens_negative(inner):
            factor, inner = -factor, scaled(-1.0, inner)
        return product(factor, [(inner, 1)])

    def times(self, cube: Powers, bracket: Tree) -> Term:
        """cube * bracket as a term, with the sign taken out of the bracket: x - y and y - x become the same factor."""
        sign = 1.0
        if isinstance(bracket, Sum) and opens_negative(bracket):
            sign, bracket = -1.0, scaled(-1.0, bracket)
        value, powers = parts(bracket)
        return sign * value, multiplied(cube, self.numbered(powers))

    # ── what a bracket saves ──────────────────────────────────────────────────────────────────────────────────────

    def gain(self, cube: Powers, terms: list[Term]) -> tuple[int, int, int, int]:
        """How good it is to take the cube out of all terms that it divides; tuples are compared, larger is better.

        The tuple is (operations saved, number of terms, -number of factors, -rank). A bracket that contains a bracket
        counts as one more operation.
        """
        reached = [term for term in terms if divides(cube, term[1])]
        before = sum(self.ops(value, powers) for value, powers in reached)
        after = sum(self.ops(value, divided(powers, cube)) for value, powers in reached)
        nested = any(isinstance(self.bases[i], Sum) for _, powers in reached for i, _ in divided(powers, cube))
        saved = before - after - self.ops(1.0, cube) - 1 - int(nested)
        return saved, len(reached), -len(cube), -self.rank(cube)

    def ops(self, value: float, powers: Powers) -> int:
        """The operations of one term. Powers cost nothing here, so that x^2 + x y gets no bracket."""
        return max(len(powers) - int(abs(value) == 1.0), 0) + sum(self.costs[i] for i, _ in powers)


def common(terms: list[Term]) -> set[Powers]:
    """Candidates for the common factor to take out: the greatest common factor of every pair of terms.

    If there are many terms, it is for each factor the greatest common factor of all terms that contain it.
    """
    if len(terms) <= PAIRS_UP_TO:
        pairs = list(combinations((powers for _, powers in terms), 2))
        found = {shared(a, b) for a, b in pairs} | {a & b for a, b in pairs}  # x^2 and x^3 share x^2, or nothing
    else:
        found, holding = set(), defaultdict(list)
        for _, powers in terms:
            for i, power in powers:
                holding[i, power > 0].append(powers)
        for holders in holding.values():
            closure = holders[0]
            for powers in holders[1:]:
                closure = shared(closure, powers)
            found.add(closure if len(holders) > 1 else frozenset())
    return found - {frozenset()}


def shared(a: Powers, b: Powers) -> Powers:
    """The greatest common factor of a and b: every base with the smaller power, if both powers have the same sign."""
    other = dict(b)
    pairs = ((i, power, other.get(i, 0)) for i, power in a)
    return frozenset((i, min(p, r) if p > 0 else max(p, r)) for i, p, r in pairs if p * r > 0)


def divides(cube: Powers, powers: Powers) -> bool:
    """Whether the cube can be taken out of the powers without changing the sign of an exponent."""
    if cube <= powers:
        return True
    own = dict(powers)
    for i, power in cube:  # a loop, because this is called for every candidate and every term
        held = own.get(i, 0)
        if not (0 < power <= held or held <= power < 0):
            return False
    return True


def multiplied(a: Powers, b: Powers, sign: int = 1) -> Powers:
    """The product of powers a * b for sign 1, a / b for sign -1."""
    powers = dict(a)
    for i, power in b:
        powers[i] = powers.get(i, 0) + sign * power
    return frozenset((i, power) for i, power in powers.items() if power != 0)


def divided(a: Powers, b: Powers) -> Powers:
    """The product of powers a / b."""
    return multiplied(a, b, -1)


def common_number(values: list[float]) -> float:
    """The number to take out of a sum: the smallest coefficient, if it occurs twice and divides all others; else 1."""
    least = min((abs(value) for value in values), default=1.0)
    ratios = [abs(value) / least for value in values]
    whole = all(abs(ratio - round(ratio)) <= NEAR * ratio and ratio < 1000.0 for ratio in ratios)
    short = len(str(number(least).value)) <= 8
    return least if whole and short and sum(ratio < 1.5 for ratio in ratios) > 1 and len(values) > 1 else 1.0
