"""Constraints that are written as text: the meaning of their names, and their values at an instant.

A name is looked up in this order: a name of the law itself ("x" of a point), "t", a coordinate "q.hip", a velocity
"v.hip", a name in the element's `known`, a parameter of the robot, a signal of a reference. The text becomes a Formula
with placeholders for the names, which scalars of any kind can replace.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from kinemorph.algebra.scalar import S
from kinemorph.errors import Problem
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.ensemble import Ensemble
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.model.expressions import ExpressionError, names_in, parse_expression
from kinemorph.model.parameter import Formula, Parameter, Value, evaluate
from kinemorph.model.robot import Robot
from kinemorph.words import did_you_mean, listed

PLACEHOLDER = "value of "  # the prefix of the names of placeholders


def text_value(
    element: Any, text: str, view: ElementView, own: Mapping[str, S] | None = None, *, any_signal: bool = False
) -> S:
    """The value of an expression at this instant; `own` are the names of the law itself, with their values.

    With `any_signal` it may name every signal, also those that depend on more than the time.
    """
    own, instant = own or {}, view.instant
    meanings = _meanings(element, text, instant.ensemble, own, any_signal)
    formula = parse_expression(text, meanings)
    read = {
        value.name: own[name] if name in own else read_now(name, view)
        for name, value in meanings.items()
        if isinstance(value, Parameter) and value.name.startswith(PLACEHOLDER)
    }
    return evaluate(formula, {**instant.lookup, **read})


def text_at(element: Any, text: str, ensemble: Ensemble, given: Mapping[str, float]) -> float:
    """The value of an expression where its names have the plain numbers `given`; used for checks."""
    formula = parse_expression(text, _meanings(element, text, ensemble, given))
    return float(evaluate(formula, {PLACEHOLDER + name: value for name, value in given.items()}))


def text_problems(
    element: Any, text: str, ensemble: Ensemble, own: tuple[str, ...] = (), *, v: bool, any_signal: bool = False
) -> list[str]:
    """The first problem of an expression, or none.

    `own` are the names of the law; `v`: whether it may name velocities; `any_signal` is that of `text_value`.
    """
    try:
        meanings = _meanings(element, text, ensemble, dict.fromkeys(own, 0.0), any_signal)
        for name in names_in(text):
            if name not in meanings and name != "pi":
                what, remedy = _unknown(name, element, ensemble, own, v=v)
                return [wrong(element.name, f"'{text}' names '{name}', {what}", remedy)]
            if not v and name in _velocities(ensemble.robot):
                what = f"'{text}' names the velocity '{name}'; a constraint on positions can only name coordinates"
                return [wrong(element.name, what, "Use a VelocityConstraint.")]
        formula = parse_expression(text, meanings)
    except ExpressionError as error:
        problem = Problem.of(error.args[0])
        return [wrong(element.name, f"'{text}': {problem.what}", problem.remedy)]
    if not all(map(math.isfinite, _literals(formula))):
        what = f"'{text}' has a number that is not finite; expected finite numbers"
        return [wrong(element.name, what, "Check that it does not divide by 0.")]
    return []


def reads_time_or_place(name: str, ensemble: Ensemble) -> bool:
    """Whether a constraint may read the signal `name`: the time, a coordinate, a velocity, or that of a reference."""
    if name in ensemble.signals:
        return ensemble.members[ensemble.signals[name][0]].law.timed
    return name in ensemble.sources


def _meanings(
    element: Any, text: str, ensemble: Ensemble, own: Mapping[str, S], any_signal: bool = False
) -> dict[str, Value]:
    """The values or placeholders of the names in a text; unknown names are left out."""
    parameters = {parameter.name: parameter for parameter in (*ensemble.parameters, *ensemble.robot.parameters)}
    known: dict[str, Value] = {**parameters, **dict(element.known)}
    of_robot = ("t", *_coordinates(ensemble.robot), *_velocities(ensemble.robot))
    found: dict[str, Value] = {}
    for name in names_in(text):
        if name in own or name in of_robot:
            found[name] = Parameter(PLACEHOLDER + name, 0.0)
        elif name in known:
            found[name] = known[name]
        elif name in ensemble.signals and (any_signal or reads_time_or_place(name, ensemble)):
            found[name] = Parameter(PLACEHOLDER + name, 0.0)
    return found


def _unknown(name: str, element: Any, ensemble: Ensemble, own: tuple[str, ...], *, v: bool) -> tuple[str, str]:
    """(why a name is not known, what to do about it)."""
    robot, joint = ensemble.robot, name.partition(".")[2]
    if joint in (loop.name for loop in robot.loops):
        return "whose joint closes a loop and has no coordinate", "Name other joints of the loop."
    if name in ensemble.signals:
        what = "a signal that depends on more than time; expected coordinates, parameters or signals of references"
        return what, "Use only these in a constraint."
    known = [*own, "t", *_coordinates(robot), *(_velocities(robot) if v else ()), *dict(element.known)]
    known += [one.name for one in (*robot.parameters, *ensemble.parameters) if one.name not in known]
    known += [signal for signal in ensemble.signals if reads_time_or_place(signal, ensemble)]
    bare = [one for one in known if one == f"q.{name}"]
    hint = f" Did you mean '{bare[0]}'?" if bare else did_you_mean(name, known)
    kinds = "coordinate, velocity, parameter" if v else "coordinate, parameter"
    return f"but there is no such {kinds} or reference", f"{hint} Known: {listed(known, 16)}.".strip()


def read_now(name: str, view: ElementView) -> S:
    """The value of a signal; coordinates of a quaternion are those of the quaternion scaled to length 1."""
    group, _, rest = name.partition(".")
    names = view.robot.all_q_names
    return view.instant.finished_q[names.index(rest)] if group == "q" and rest in names else view.signal(name)


def _coordinates(robot: Robot) -> tuple[str, ...]:
    return tuple(f"q.{name}" for name in robot.all_q_names)


def _velocities(robot: Robot) -> tuple[str, ...]:
    return tuple(f"v.{name}" for name in robot.all_v_names)


def _literals(value: Value) -> Iterator[float]:
    """The numbers in a formula."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Formula):
            waiting += one.args
        elif not isinstance(one, Parameter):
            yield float(one)
