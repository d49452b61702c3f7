"""Normal forms: every output of a program as a harmonic polynomial over atoms.

An atom is an input, the result of an op that is not polynomial (`sqrt`, `exp`, `where`, ...; its arguments are normal
forms themselves), or the divisor of a quotient, a *group*. Numbers and monomials that are common to all terms are taken
out of a divisor first, so that divisors that differ only by these are the same atom. A group with a positive power is
multiplied out, and a square of a square root is its argument, which turns most nested fractions into simple ones.

The forms grow fast with the size of a program. `normal_forms` raises `FormTooLong` when one exceeds the limit.
"""

from __future__ import annotations

from collections.abc import Callable

from kinemorph.codegen.graphs.graph import Node
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.reading.harmonics import (
    ONE,
    UNIT,
    Angle,
    Form,
    Key,
    Monomial,
    accumulate,
    add,
    constant,
    constant_value,
    dusted,
    merge,
    multiply,
    scale,
    shifted,
    tidy,
)
from kinemorph.errors import CompileError, UnsupportedError

Frozen = tuple[tuple[Key, float], ...]
Atom = tuple[object, ...]  # ("input", k) or (op or "group", frozen form, ...)
WORK_PER_TERM = 100  # the largest number of pairs of terms in a product, for each term that the limit allows


class FormTooLong(UnsupportedError):
    """Raised if a normal form has more terms than the caller allows."""


def normal_forms(program: Program, limit: int) -> tuple[Atoms, list[Form]]:
    """The atoms of a program, and one normal form for every output entry, without rounding errors.

    `limit` is the largest number of terms of a form.
    """
    atoms = Atoms(program.name, limit)
    nodes = program.graph.nodes
    forms: dict[int, Form] = {}
    for i in program.order:
        forms[i] = atoms.form_of(nodes[i], forms)
    return atoms, [dusted(_signed(forms, ref)) for ref in program.refs]


class Atoms:
    """The atoms of one program by number, and the arithmetic of its forms.

    An atom is a variable of the polynomials: an input, the result of an op that is not polynomial, such as `sqrt`, or a
    divisor (a group). A form is a polynomial in atoms and in sines and cosines of them: a dict from each term to its
    coefficient (see `harmonics`). `name` is that of the program; `limit` is the largest number of terms of a form.
    """

    def __init__(self, name: str, limit: int) -> None:
        self.name = name
        self.limit = limit
        self.entries: list[Atom] = []
        self.index: dict[Atom, int] = {}

    def form_of(self, node: Node, forms: dict[int, Form]) -> Form:
        """The form of a graph node; `forms` are the forms of earlier nodes by id."""
        op, *rest = node
        if op == "const":
            return constant(rest[0])
        if op == "input":
            return self.atom("input", rest[0])
        args = [_signed(forms, ref) for ref in rest]
        rule = _RULES.get(op)
        form = self.opaque(op, *args) if rule is None else rule(self, *args)
        if len(form) > self.limit:
            raise self.too_long(len(form))
        return form

    def too_long(self, count: int) -> FormTooLong:
        """The error for a form with too many terms."""
        return FormTooLong(
            f"program '{self.name}': a normal form has {count} terms; at most {self.limit} are allowed. "
            "Raise `limit`, or use `equations`, which names subexpressions instead."
        )

    # ── atoms ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def intern(self, entry: Atom) -> int:
        """The number of an atom, which is added if it is new."""
        found = self.index.setdefault(entry, len(self.entries))
        if found == len(self.entries):
            self.entries.append(entry)
        return found

    def atom(self, *entry: object) -> Form:
        """The form (polynomial as a dict) of a single atom, given by its number."""
        return {(((self.intern(entry), 1),), ONE): 1.0}

    def opaque(self, op: str, *args: Form) -> Form:
        """The form (polynomial as a dict) of an op that is not polynomial, such as a square root: a single atom."""
        return self.atom(op, *(freeze(dusted(arg)) for arg in args))

    # ── arithmetic ────────────────────────────────────────────────────────────────────────────────────────────────

    def times(self, a: Form, b: Form) -> Form:
        """The form (polynomial as a dict) of a * b, with divisors multiplied out where possible; see `reduced`."""
        if len(a) * len(b) > WORK_PER_TERM * self.limit:
            raise self.too_long(len(a) * len(b))
        for factor, other in ((a, b), (b, a)):
            found = self._as_group(factor)
            if found is None:
                continue
            number, monomial, group = found
            over = {key: value for key, value in other.items() if dict(key[0]).get(group, 0) < 0}
            if over:  # factor * (x / group + rest) = x + factor * rest
                raised: Form = {(merge(monomial, ((group, 1),)), ONE): number}
                rest = {key: value for key, value in other.items() if key not in over}
                return self.reduced(add(multiply(raised, over), multiply(factor, rest)))
        return self.reduced(multiply(a, b))

    def _as_group(self, form: Form) -> tuple[float, Monomial, int] | None:
        """(number, monomial, atom) with form = number * monomial * atom, if the form is a multiple of a known divisor.

        Else None. A divisor is an atom of its own, called a group; see the docstring of this file.
        """
        if not form:
            return None
        number, monomial, rest = split(form)
        group = self.index.get(("group", freeze(rest)))
        return None if group is None else (number, monomial, group)

    def reduced(self, form: Form) -> Form:
        """The form (polynomial as a dict) with groups, that is divisors, of positive power multiplied out.

        Even powers of square roots are replaced by powers of their arguments.
        """
        result: Form = {}
        for (monomial, harmonic), value in form.items():
            found = next(((atom, power) for atom, power in monomial if self._excess(atom, power) != 0), None)
            if found is None:
                accumulate(result, (monomial, harmonic), value)
                continue
            atom, power = found
            excess = self._excess(atom, power)
            entry = self.entries[atom]
            root = 2 if entry[0] == "sqrt" else 1
            rest = merge(monomial, ((atom, -root * excess),))
            replaced = self.power(dict(entry[1]), excess)  # type: ignore[call-overload]
            result = add(result, self.times({(rest, harmonic): value}, replaced))
        return result

    def _excess(self, atom: int, power: int) -> int:
        """The power e of an atom's argument x that is split off from atom^power and expanded; 0 where nothing is.

        A group g is a sum x that occurs as a divisor: its negative powers stay, and positive ones are expanded,
        g^power = x^e with e = power. A square root:  sqrt(x)^power = x^e sqrt(x)^(power - 2 e), with e = power / 2
        rounded toward 0. For all other atoms e is 0.
        """
        kind = self.entries[atom][0]
        if kind == "group":
            return max(power, 0)
        return int(power / 2) if kind == "sqrt" else 0

    def power(self, form: Form, exponent: int) -> Form:
        """The form `form ** exponent` for a whole exponent, which may be negative."""
        base = form if exponent >= 0 else self.reciprocal(form)
        result = constant(1.0)
        for _ in range(abs(exponent)):
            result = self.times(result, base)
        return result

    def reciprocal(self, form: Form) -> Form:
        """The form 1 / form: common numbers and monomials are taken out, and the sum that remains becomes a group."""
        if not form:
            raise CompileError(
                f"program '{self.name}' divides by an expression that is zero for all inputs. Check the divisors in "
                "the traced function."
            )
        number, monomial, rest = split(form)
        inverse = tuple((atom, -power) for atom, power in monomial)
        if rest != {UNIT: 1.0}:
            inverse = merge(inverse, ((self.intern(("group", freeze(rest))), -1),))
        return self.reduced({(inverse, ONE): 1.0 / number})

    def quotient(self, a: Form, b: Form) -> Form:
        """The form a / b; a quotient of two multiples of the same sum cancels."""
        if a and b:
            number_a, monomial_a, rest_a = split(a)
            number_b, monomial_b, rest_b = split(b)
            if freeze(rest_a) == freeze(rest_b):
                inverse = tuple((atom, -power) for atom, power in monomial_b)
                return self.reduced({(merge(monomial_a, inverse), ONE): number_a / number_b})
        return self.times(a, self.reciprocal(b))

    def raised(self, a: Form, b: Form) -> Form:
        """The form (polynomial as a dict) of a ** b; if b is a constant whole number, the power is multiplied out."""
        exponent = constant_value(b)
        if exponent is not None and exponent == int(exponent) and abs(exponent) <= 64:
            return self.power(a, int(exponent))
        return self.opaque("pow", a, b)

    def wave(self, kind: str, arg: Form) -> Form:
        """The form of sin or cos (`kind`) of a form.

        The terms without sines and cosines are the angle, the constant is its offset, and all other terms together are
        one more atom of the angle.
        """
        offset = arg.get(UNIT, 0.0)
        plain = {monomial: value for (monomial, harmonic), value in arg.items() if harmonic == ONE and monomial}
        multiples = {monomial: tidy(value) for monomial, value in plain.items()}
        waves = {key: value for key, value in arg.items() if key[1] != ONE}
        if waves:
            number, monomial, rest = split(waves)
            inner = merge(monomial, ((self.intern(("wave", freeze(rest))), 1),))
            multiples[inner] = tidy(number)
        angle: Angle = tuple(sorted(multiples.items()))
        return shifted(kind, angle, offset)


def _signed(forms: dict[int, Form], ref: int) -> Form:
    """The form of node `ref`, or minus the form of node -`ref` where `ref` is negative."""
    return forms[ref] if ref >= 0 else scale(-1.0, forms[-ref])


def freeze(form: Form) -> Frozen:
    """A form as a hashable value, with coefficients rounded to 14 digits."""
    return tuple(sorted((key, tidy(value)) for key, value in form.items()))


def split(form: Form) -> tuple[float, Monomial, Form]:
    """(number, monomial, rest) with form = number * monomial * rest.

    In the rest, the lowest power of every atom is 0 and the first coefficient is 1.
    """
    powers: dict[int, list[int]] = {}
    for monomial, _ in form:
        for atom, power in monomial:
            powers.setdefault(atom, []).append(power)
    common: dict[int, int] = {}
    for atom, found in powers.items():
        least = min(found) if len(found) == len(form) else min(0, *found)
        if least != 0:
            common[atom] = least
    content = tuple(sorted(common.items()))
    inverse = tuple((atom, -power) for atom, power in content)
    rest = {(merge(monomial, inverse), harmonic): value for (monomial, harmonic), value in form.items()}
    number = rest[min(rest)]
    return number, content, {key: value / number for key, value in rest.items()}


_RULES: dict[str, Callable[..., Form]] = {
    "add": lambda atoms, a, b: add(a, b),
    "sub": lambda atoms, a, b: add(a, b, -1.0),
    "mul": Atoms.times,
    "div": Atoms.quotient,
    "neg": lambda atoms, a: scale(-1.0, a),
    "pow": Atoms.raised,
    "sin": lambda atoms, a: atoms.wave("sin", a),
    "cos": lambda atoms, a: atoms.wave("cos", a),
}
