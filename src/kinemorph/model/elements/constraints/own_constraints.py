"""Constraints defined by the user: quantities that stay 0, given as text or as a Python function.

A text is an expression as in model files: numbers, + - * / **, brackets and functions, with the names

    t                       time [s]
    q.hip, q.root.x         coordinates by their full names, and velocities, v.hip; unusual names in `backquotes`
    l1                      parameters of the robot or of the model file, and names in `known`
    wish, gait.hip          signals of references (Sinusoid, FourierSeries, SplinePath, MinimumJerk, Setpoint, Profile)

A function takes t, then each signal in `reads` as one argument; if `reads` is empty, it takes t and the list of all q
(and, for a VelocityConstraint, the list of all v). It is traced once: use `where` (kinemorph.algebra.scalar) instead of
`if` on numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from kinemorph.errors import ModelError, Problem
from kinemorph.model.elements.control.wiring import Names, as_names
from kinemorph.model.expressions import ExpressionError, names_in
from kinemorph.model.input_reader import short
from kinemorph.model.parameter import Parameter, Value

Function: TypeAlias = Callable[..., Any]
Known: TypeAlias = tuple[tuple[str, Value], ...]  # may be given as a mapping


@dataclass(frozen=True)
class Constraint:
    """A constraint phi(q, t) = 0 on positions, with one scalar equation for each of `rows`.

    `names` are the names of several rows (default: 1, 2, ...). A function returns as many numbers as there are names,
    or one number if there are none. The constraint forces act on the robot, without friction.
    """

    name: str
    rows: Names | Function
    reads: Names = ()
    names: Names = ()
    known: Known = ()

    def __post_init__(self) -> None:
        as_rows(self, "rows")
        as_names(self, "reads", "names")
        as_known(self)

    def knowing(self, names: Mapping[str, Value]) -> Constraint:
        """The element, with the values from `names` added to `known` for further names that its text contains."""
        return replace(self, known=with_known(self.rows, self.known, names))

    def brief(self) -> Constraint:
        """The element as it is written to a model file: `known` without the parameters that the file declares.

        The file has these in its table [parameters].
        """
        return replace(self, known=undeclared(self.known))


@dataclass(frozen=True)
class VelocityConstraint(Constraint):
    """A constraint A(q, t) v + b(q, t) = 0, linear in the velocities, with one scalar equation for each of `rows`.

    It is for constraints that cannot be written in terms of positions, such as rolling wheels and blades that do not
    slip; use `Constraint` for those that can.
    """


# ── fields ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def as_rows(element: Any, *fields: str) -> None:
    """Converts these fields of an element, given as one text or several, to tuples; functions are unchanged."""
    for name in fields:
        if not callable(getattr(element, name)):
            as_names(element, name)


def as_known(element: Any) -> None:
    """Converts the field `known` of an element, given as a mapping or pairs, to a tuple of (name, value)."""
    given = element.known
    try:
        pairs = given.items() if isinstance(given, Mapping) else [(name, value) for name, value in given]
    except (TypeError, ValueError):
        what = f"known is {short(given)}; expected a dict from names to numbers"
        raise ModelError(
            Problem("element", element.name, what, 'Give names and numbers, such as {"length": 0.3}.', "known")
        ) from None
    plain = tuple((name, float(value) if isinstance(value, int) else value) for name, value in pairs)
    object.__setattr__(element, "known", plain)


def with_known(rows: Any, known: Known, names: Mapping[str, Value]) -> Known:
    """The entries of `known`, and those entries of `names` that the texts `rows` use and `known` does not have."""
    found: dict[str, Value] = {}
    for text in () if callable(rows) else rows:
        try:
            found |= {name: names[name] for name in names_in(text) if name in names and name not in dict(known)}
        except (ExpressionError, TypeError):  # reported later, when the text is parsed
            continue
    return (*known, *found.items())


def undeclared(known: Known) -> Known:
    """The entries of `known`, without parameters that are listed under their own names: a file declares these."""
    return tuple((name, value) for name, value in known if not (isinstance(value, Parameter) and value.name == name))
