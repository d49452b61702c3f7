"""Position matrices as text: "Trotz(q0) * Tdisp(0, -l0 / 2, 0)".

The grammar is that of `model.expressions` with the transforms of the EasyDyn paper as further functions. Transforms can
only be multiplied with each other; their arguments are expressions:

    Trotx(angle) Troty(angle) Trotz(angle)      a rotation about an axis [rad]
    Trotn(x, y, z, angle)                       a rotation about the unit vector (x, y, z)
    Tdisp(x, y, z)                              a displacement [m]
    Tquat(e0, e1, e2, e3)                       the rotation of a unit quaternion, e0 is its real part
    mth(r11, r12, r13, r21, ... r33, x, y, z)   a whole matrix: the rows of its rotation, then its displacement [m]

Names are those of coordinates, dependents and parameters, and t, the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kinemorph.algebra.notation import COUNTS, NAMES, Factor, mth
from kinemorph.model.expressions import PLAIN, ExpressionError, Parser, Spelling, Token, written
from kinemorph.model.parameter import Value

KINDS = {name: kind for kind, name in NAMES.items()}  # kinds of factors by the names of transforms
ARGUMENTS = {**COUNTS, NAMES["matrix"]: 12}  # number of arguments of each transform


class PositionParser(Parser):
    """A parser of products of transforms."""

    def parse(self) -> Any:
        """The homogeneous matrix (`mth`) that the text spells as a product of transforms.

        Raises ExpressionError, also for an expression that gives a number.
        """
        found = super().parse()
        if not isinstance(found, mth):
            raise ExpressionError(
                "it is a number, expected a product of transforms", "Write for example Trotz(q0) * Tdisp(0, -0.5, 0)."
            )
        return found

    def function(self, token: Token) -> Any:
        if token.text not in ARGUMENTS:
            if token.text not in self.functions:
                self.no_function(token, (*ARGUMENTS, *self.functions))
            return super().function(token)
        values = self.arguments(token, ARGUMENTS[token.text])
        if any(isinstance(value, mth) for value in values):
            what = f"column {token.column}: an argument of {token.text} is a transform, expected a number or a formula"
            raise ExpressionError(what, "Multiply transforms with *.")
        return mth(factors=[Factor(KINDS[token.text], tuple(values))])

    def apply(self, op: str, *values: Any) -> Any:
        if not any(isinstance(value, mth) for value in values):
            return super().apply(op, *values)
        if op == "mul" and all(isinstance(value, mth) for value in values):
            return values[0] * values[1]
        what = f"before column {self.here.column}: '{op}' is applied to a transform, expected products of transforms"
        raise ExpressionError(what, "Use transforms only as factors of other transforms.")


def parse_position(text: str, names: Mapping[str, Value], *, hints: bool = True) -> mth:
    """The product of transforms of a text, in which `names` gives the Value of each name. Raises ExpressionError.

    With `hints`, the error for an unknown name offers the known name nearest to it.
    """
    found: mth = PositionParser(text, names, hints=hints).parse()
    return found


def written_position(
    factors: Sequence[Factor], names: Mapping[Value, str] | None = None, spelling: Spelling = PLAIN
) -> str:
    """The text of a product of transforms, which parses to the same factors. Raises ValueError if it is too large.

    `names` and `spelling` are as for `written`.
    """
    texts = [
        f"{NAMES[factor.kind]}({', '.join(written(x, names, spelling) for x in factor.values)})" for factor in factors
    ]
    return " * ".join(texts or ["Tdisp(0, 0, 0)"])
