"""The ring of harmonic polynomials: sums of  coefficient * monomial * harmonic.

A monomial is a product of atoms to whole powers, `((atom, power), ...)`; atoms are numbers, which `normal_form`
assigns. A *form* is a polynomial as a dict from (monomial, harmonic) to coefficient. A harmonic is `("cos", angle)` or
`("sin", angle)`; an angle is a sum of multiples of monomials, `((monomial, multiple), ...)`; `("cos", ())` is 1.
Products of harmonics become sums at once,

    2 cos A cos B = cos(A-B) + cos(A+B)     2 sin A sin B = cos(A-B) - cos(A+B)     2 sin A cos B = sin(A+B) + sin(A-B)

so that sin^2 + cos^2 = 1 and the addition theorems hold automatically: equal functions get equal forms.

Rounding errors (*dust*). Two coefficients cancel if their sum is below 1e-13 of the larger one. When a form is finished
(`dusted`), coefficients below 1e-13 of the largest are removed too, except short decimals such as 1e-16, which were
written on purpose.
"""

from __future__ import annotations

import math
from functools import lru_cache

Monomial = tuple[tuple[int, int], ...]
Angle = tuple[tuple[Monomial, float], ...]
Harmonic = tuple[str, Angle]
Key = tuple[Monomial, Harmonic]
Form = dict[Key, float]

ONE: Harmonic = ("cos", ())
UNIT: Key = ((), ONE)
DUST = 1e-13
SHORT_DIGITS = 6


def constant(value: float) -> Form:
    """The form (a polynomial as a dict) of a constant; zero is the empty form."""
    return {UNIT: value} if value != 0.0 else {}


def constant_value(form: Form) -> float | None:
    """The number that a form (a polynomial as a dict) is equal to, or None if it is not a constant."""
    if not form:
        return 0.0
    return form[UNIT] if len(form) == 1 and UNIT in form else None


def tidy(value: float) -> float:
    """The value rounded to 14 digits, so that 0.1 + 0.2 and 0.3 are equal."""
    return float(f"{value:.14g}")


def accumulate(form: Form, key: Key, value: float) -> None:
    """Adds value * key to the form (a polynomial as a dict) in place; a coefficient that cancels up to rounding is
    removed.
    """
    old = form.get(key, 0.0)
    new = old + value
    if abs(new) <= DUST * max(abs(old), abs(value)):
        form.pop(key, None)
    else:
        form[key] = new


def add(a: Form, b: Form, factor: float = 1.0) -> Form:
    """The form a + factor * b; forms are polynomials as dicts, see this file's docstring."""
    result = dict(a)
    for key, value in b.items():
        accumulate(result, key, factor * value)
    return result


def scale(factor: float, form: Form) -> Form:
    """The form factor * form, for a nonzero factor; a form is a polynomial as a dict, see this file's docstring."""
    return {key: factor * value for key, value in form.items()}


def multiply(a: Form, b: Form) -> Form:
    """The form a * b; forms are polynomials as dicts, see this file's docstring."""
    result: Form = {}
    for (monomial_a, harmonic_a), value_a in a.items():
        for (monomial_b, harmonic_b), value_b in b.items():
            monomial = merge(monomial_a, monomial_b)
            for weight, harmonic in harmonic_product(harmonic_a, harmonic_b):
                accumulate(result, (monomial, harmonic), weight * value_a * value_b)
    return result


def dusted(form: Form) -> Form:
    """The form (a polynomial as a dict) without coefficients that are only rounding errors."""
    largest = max((abs(value) for value in form.values()), default=0.0)
    return {key: value for key, value in form.items() if abs(value) > DUST * largest or _is_short(value)}


def _is_short(value: float) -> bool:
    """Whether a value has at most SHORT_DIGITS significant digits."""
    return float(f"{value:.{SHORT_DIGITS}g}") == value


@lru_cache(maxsize=65536)
def merge(a: Monomial, b: Monomial) -> Monomial:
    """The product of two monomials."""
    powers = dict(a)
    for atom, power in b:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted((atom, power) for atom, power in powers.items() if power != 0))


@lru_cache(maxsize=65536)
def harmonic_product(a: Harmonic, b: Harmonic) -> tuple[tuple[float, Harmonic], ...]:
    """The product of two harmonics, as a sum of (weight, harmonic)."""
    if a == ONE or b == ONE:
        return ((1.0, b if a == ONE else a),)
    (kind_a, A), (kind_b, B) = a, b
    kind = "cos" if kind_a == kind_b else "sin"
    plus, minus = _PRODUCT_WEIGHTS[kind_a, kind_b]
    found = []
    for weight, angle in ((plus, combine(A, B, 1.0)), (minus, combine(A, B, -1.0))):
        sign, harmonic = canonical(kind, angle)
        if sign != 0.0:
            found.append((weight * sign, harmonic))
    return tuple(found)


# the weights of A+B and A-B in the product of two harmonics
_PRODUCT_WEIGHTS = {
    ("cos", "cos"): (0.5, 0.5),
    ("sin", "sin"): (-0.5, 0.5),
    ("sin", "cos"): (0.5, 0.5),
    ("cos", "sin"): (0.5, -0.5),
}


@lru_cache(maxsize=65536)
def combine(A: Angle, B: Angle, factor: float) -> Angle:
    """The angle A + factor * B."""
    multiples = dict(A)
    for monomial, multiple in B:
        multiples[monomial] = tidy(multiples.get(monomial, 0.0) + factor * multiple)
    return tuple(sorted((monomial, multiple) for monomial, multiple in multiples.items() if abs(multiple) > DUST))


def canonical(kind: str, angle: Angle) -> tuple[float, Harmonic]:
    """(sign, harmonic) equal to sin or cos of an angle, with the first multiple in it positive; sign 0 for sin 0."""
    if not angle:
        return (1.0, ONE) if kind == "cos" else (0.0, ONE)
    if angle[0][1] > 0.0:
        return 1.0, (kind, angle)
    flipped = tuple((monomial, -multiple) for monomial, multiple in angle)
    return (1.0 if kind == "cos" else -1.0), (kind, flipped)


def shifted(kind: str, angle: Angle, offset: float) -> Form:
    """The form of sin or cos of (angle + offset [rad]), by the addition theorem; exact for quarter turns."""
    turns = round(offset / (math.pi / 2))
    if abs(offset - turns * math.pi / 2) <= DUST * max(1.0, abs(offset)):
        sine, cosine = ((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0))[turns % 4]
    else:
        sine, cosine = math.sin(offset), math.cos(offset)
    # cos(A + d) = cos A cos d - sin A sin d,   sin(A + d) = sin A cos d + cos A sin d
    pairs = (("cos", cosine), ("sin", -sine)) if kind == "cos" else (("sin", cosine), ("cos", sine))
    form: Form = {}
    for name, weight in pairs:
        sign, harmonic = canonical(name, angle)
        accumulate(form, ((), harmonic), sign * weight)
    return form
