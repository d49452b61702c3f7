"""Pairs of sines and cosines combined into products, if that is shorter.

    1 - cos 2A = 2 sin^2 A        cos(A-B) + cos(A+B) = 2 cos A cos B        sin(A+B) + sin(A-B) = 2 sin A cos B

The normal form contains only sums of harmonics (sines and cosines of angles); textbooks use the shorter form. Two terms
are joined if they differ in one harmonic only, their coefficients have the same absolute value, and the product has
fewer operations than the pair. Joined terms can be joined again: four harmonics give a product of three.
"""

from __future__ import annotations

from itertools import combinations

from kinemorph.codegen.reading.harmonics import ONE, Angle, Form, Harmonic, Monomial, canonical, combine, tidy

Waves = tuple[tuple[Harmonic, int], ...]  # harmonics to positive powers, sorted; () is 1
Term = tuple[float, Monomial, Waves]


def as_terms(form: Form) -> list[Term]:
    """The terms of a form (a polynomial as a dict), each with at most one harmonic, a sine or cosine of an angle."""
    return [
        (value, monomial, () if harmonic == ONE else ((harmonic, 1),))
        for (monomial, harmonic), value in sorted(form.items())
    ]


def joined(terms: list[Term]) -> list[Term]:
    """The terms of the sum after pairs of them are joined, until no pair would get shorter."""
    terms = list(terms)
    while True:
        best = _best_pair(terms)
        if best is None:
            return terms
        _, i, j, term = best
        terms = [other for k, other in enumerate(terms) if k not in (i, j)]
        terms.append(term)


def _best_pair(terms: list[Term]) -> tuple[int, int, int, Term] | None:
    """(operations saved, i, j, joined term) for the pair of terms i and j that saves most; None if no pair does."""
    # terms that can be joined are in one bucket: same monomial, same absolute value, same other harmonics
    buckets: dict[tuple[Monomial, float, Waves], list[tuple[int, Harmonic]]] = {}
    for i, (value, monomial, waves) in enumerate(terms):
        size = tidy(abs(value))
        buckets.setdefault((monomial, size, waves), []).append((i, ONE))
        for harmonic, power in waves:
            rest = _times(waves, harmonic, -1)
            if power == 1:
                buckets.setdefault((monomial, size, rest), []).append((i, harmonic))
    best: tuple[int, int, int, Term] | None = None
    for (monomial, _, rest), members in buckets.items():
        for (i, a), (j, b) in combinations(members, 2):
            if i == j or a[0] != b[0]:
                continue
            factor, first, second = _join(a, b, 1.0 if terms[i][0] * terms[j][0] > 0 else -1.0)
            waves = _times(_times(rest, first, 1), second, 1)
            saving = _cost(a) + _cost(b) + 1 - _cost(first) - (1 if first == second else _cost(second) + 1)
            if factor != 0.0 and saving > 0 and (best is None or saving > best[0]):
                best = (saving, i, j, (terms[i][0] * factor, monomial, waves))
    return best


def _join(a: Harmonic, b: Harmonic, sign: float) -> tuple[float, Harmonic, Harmonic]:
    """(factor, first, second) with a + sign * b = factor * first * second, for two harmonics of one kind."""
    kind, A = a
    B = b[1]
    mean, half = _half(combine(A, B, 1.0)), _half(combine(A, B, -1.0))
    # cos A + cos B = 2 cos m cos h,  cos A - cos B = -2 sin m sin h
    # sin A + sin B = 2 sin m cos h,  sin A - sin B = 2 cos m sin h
    kinds = {("cos", 1.0): ("cos", "cos"), ("cos", -1.0): ("sin", "sin")}.get((kind, sign))
    kinds = kinds or {1.0: ("sin", "cos"), -1.0: ("cos", "sin")}[sign]
    sign_m, first = canonical(kinds[0], mean)
    sign_h, second = canonical(kinds[1], half)
    return (-2.0 if kinds == ("sin", "sin") else 2.0) * sign_m * sign_h, first, second


def _half(angle: Angle) -> Angle:
    return tuple((monomial, multiple / 2.0) for monomial, multiple in angle)


def _times(waves: Waves, harmonic: Harmonic, power: int) -> Waves:
    """The product waves * harmonic ** power of sines and cosines of angles."""
    if harmonic == ONE:
        return waves
    powers = dict(waves)
    powers[harmonic] = powers.get(harmonic, 0) + power
    return tuple(sorted((wave, exponent) for wave, exponent in powers.items() if exponent != 0))


def _cost(harmonic: Harmonic) -> int:
    """The number of operations in a harmonic as written: the function, and the sums and multiples in its angle."""
    angle = harmonic[1]
    return 0 if harmonic == ONE else len(angle) + sum(abs(multiple) != 1.0 for _, multiple in angle)
