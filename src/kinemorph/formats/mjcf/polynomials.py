"""Equalities of MuJoCo that are polynomials of joints or tendons, as the texts of constraints and back."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from kinemorph.model.expressions import name_text, number

ORDERS = 5  # coefficients of MuJoCo's polynomials
NUMBER, NAME = r"-?[\d.]+(?:e[+-]?\d+)?", r"(?:[\w.]+|`(?:[^`]|``)+`)"
TERM = rf"{NUMBER} \* {NAME}"
SUM = rf"\({TERM}(?: \+ {TERM})*(?: - \({NUMBER}\))?\)"


class Polynomial(NamedTuple):
    """A constraint y = c0 + c1 x + c2 x^2 + ... of one or two `sides`, y and x.

    Each side is a sum of factors times joint coordinates, given as pairs (factor, joint), minus its rest.
    """

    sides: Sequence[Sequence[tuple[float, str]]]
    rests: Sequence[float]
    coefficients: Sequence[float]

    @property
    def row(self) -> str:
        """The text of the constraint."""
        left, *right = (f"({_sum(side, rest)})" for side, rest in zip(self.sides, self.rests, strict=False))
        powers = ["", *right, *(f"{right[0]}**{n}" for n in range(2, ORDERS) if right)]
        pairs = zip(self.coefficients, powers, strict=False)
        terms = [f"{number(c)} * {x}" if x else number(c) for c, x in pairs if c]
        return f"{left} - ({' + '.join(terms) or '0'})"

    @classmethod
    def of(cls, row: str) -> Polynomial | None:
        """The polynomial whose `row` is this text; None if there is none."""
        found = re.fullmatch(rf"({SUM}) - \((.*)\)", row)
        if found is None:
            return None
        left, right = found[1], re.search(SUM, found[2])
        inside = found[2] if right is None else found[2].replace(right[0], "x")
        coefficients = [0.0] * ORDERS
        for term in inside.split(" + "):
            part = re.fullmatch(rf"({NUMBER})( \* x(?:\*\*(\d))?)?", term)
            if part is None:
                return None
            coefficients[min(int(part[3] or bool(part[2])), ORDERS - 1)] = float(part[1])
        read = [_read(text) for text in (left, *([] if right is None else [right[0]]))]
        made = cls([side for side, _ in read], [rest for _, rest in read], coefficients)
        return made if made.row == row else None

    def measured_from(self, rests: Sequence[float]) -> list[float]:
        """The coefficients of the same constraint, with other rests of its sides."""
        shift = rests[1] - self.rests[1] if len(self.sides) > 1 else 0.0
        found = [0.0] * ORDERS
        for power, c in enumerate(self.coefficients):
            for k in range(power + 1):
                found[k] += c * math.comb(power, k) * shift ** (power - k)
        found[0] += self.rests[0] - rests[0]
        return found


def _sum(side: Sequence[tuple[float, str]], rest: float) -> str:
    """The text of a sum of factors times joint coordinates, minus a constant."""
    terms = [f"{number(factor)} * {name_text(f'q.{joint}')}" for factor, joint in side]
    return " + ".join(terms) + (f" - ({number(rest)})" if rest else "")


def _read(text: str) -> tuple[list[tuple[float, str]], float]:
    """(pairs of factor and joint, rest) of a sum in parentheses."""
    rest = re.search(rf" - \(({NUMBER})\)\)$", text)
    pairs = re.findall(rf"({NUMBER}) \* ({NAME})", text)
    names = [name[1:-1].replace("``", "`") if name[0] == "`" else name for _, name in pairs]
    side = [(float(factor), name.removeprefix("q.")) for (factor, _), name in zip(pairs, names, strict=True)]
    return side, float(rest[1]) if rest else 0.0
