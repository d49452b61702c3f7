"""Constraints in your own words: what the motion of a robot keeps at 0, as text or as a Python function.

A text is an expression in the grammar of model files: numbers, + - * / **, brackets and functions, with the names

    t                       time [s]
    q.hip, q.root.x         coordinates, by their full names; v.hip, ... velocities; odd ones in `backquotes`
    l1                      parameters of the robot or of the model file, and what `known` says
    wish, gait.hip          signals of references (Sinusoid, SplinePath, MinimumJerk, Setpoint, Profile)

A function takes t and then what it `reads`, one by one; where it reads nothing in particular, all q as a list (and all
v). It is traced once, over any scalar: no `if` on numbers, but `where` (kinemorph.algebra.scalar).
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
    """phi(q, t) = 0, one number for each of `rows`: what keeps coordinates together, at all times or as time goes.

    `names` tell several rows apart (left out: 1, 2, ...); a function gives as many numbers as there are names, one
    where there are none. Whatever forces it takes act on the robot, without friction.
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
        """The element with meanings for the names in its text, where it has none of its own."""
        return replace(self, known=with_known(self.rows, self.known, names))

    def brief(self) -> Constraint:
        """The element without what a model file says in its table of parameters."""
        return replace(self, known=undeclared(self.known))


@dataclass(frozen=True)
class VelocityConstraint(Constraint):
    """A(q, t) v + b(q, t) = 0, one number for each of `rows`: linear in the velocities, and not integrable.

    Examples are rolling wheels and blades that do not slip. What can be written in positions belongs into a Constraint.
    """


# ── fields ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def as_rows(element: Any, *fields: str) -> None:
    """Lets rows be given as one text, as several, or as a function."""
    for name in fields:
        if not callable(getattr(element, name)):
            as_names(element, name)


def as_known(element: Any) -> None:
    """Lets `known` be given as a mapping."""
    given = element.known
    try:
        pairs = given.items() if isinstance(given, Mapping) else [(name, value) for name, value in given]
    except (TypeError, ValueError):
        what = f"known is {short(given)}; expected names, each with its number"
        raise ModelError(Problem("element", element.name, what, 'Write {"length": 0.3}.', "known")) from None
    plain = tuple((name, float(value) if isinstance(value, int) else value) for name, value in pairs)
    object.__setattr__(element, "known", plain)


def with_known(rows: Any, known: Known, names: Mapping[str, Value]) -> Known:
    """What is known, and what `names` say of the other names in texts."""
    found: dict[str, Value] = {}
    for text in () if callable(rows) else rows:
        try:
            found |= {name: names[name] for name in names_in(text) if name in names and name not in dict(known)}
        except (ExpressionError, TypeError):  # told where all names are known
            continue
    return (*known, *found.items())


def undeclared(known: Known) -> Known:
    """What is known, without parameters by their own names."""
    return tuple((name, value) for name, value in known if not (isinstance(value, Parameter) and value.name == name))
