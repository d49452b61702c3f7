"""Texts with names of coordinates, velocities, states, parameters and signals, as laws of a plant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kinemorph.errors import ModelError, Problem
from kinemorph.model.expressions import ExpressionError, name_text, names_in, parse_expression
from kinemorph.model.parameter import Parameter, Value, evaluate, parameters_of
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import GROUPS, Law, of_groups
from kinemorph.simulation.results.quantities import quantity_laws
from kinemorph.words import did_you_mean, listed

PLACEHOLDER = "value of "  # the prefix of the names of placeholders


def named_law(
    plant: Plant, text: str | Law, *, others: Mapping[str, Law] | None = None, what: str = "condition"
) -> Law:
    """The law of a text such as "0.6 * stance.z.force - foot.x"; a function is a law already.

    Names are "t", coordinates "q.hip", velocities "v.hip", inputs "u.hip", states, parameters that the plant keeps,
    parameters of its robot and elements, and signals of its elements. As in columns of runs, they are also energies
    "energy.kinetic", reactions of joints "reaction.hip.fz", and positions of bodies and frames "position.foot.x".
    `others` are functions of (t, q, v, x, m, u, p) for further names, or in place of the functions for these; `what` is
    what messages call the text.
    """
    if callable(text):
        return text
    known_readers = {**readers(plant), **(others or {})}
    own = plant.robot.parameters if plant.robot else ()
    fixed: dict[str, Value] = {one.name: one for one in (*parameters_of(tuple(plant.elements)), *own)}
    try:
        used = names_in(text)
        unknown = [name for name in used if name not in known_readers and name not in fixed and name != "pi"]
        if unknown:
            known = [*dict.fromkeys([*known_readers, *fixed])]
            raise ModelError(
                f"{what} '{text}' names '{unknown[0]}', but '{plant.name}' has no such coordinate, velocity, state, "
                f"parameter or signal.{did_you_mean(unknown[0], known)} Known: {listed([*map(_spelled, known)], 24)}."
            )
        read = [name for name in used if name in known_readers]
        formula = parse_expression(text, {**fixed, **{name: Parameter(PLACEHOLDER + name, 0.0) for name in read}})
    except ExpressionError as error:
        problem = Problem.of(error.args[0])
        raise ModelError(f"{what} '{text}': {problem.what}. {problem.remedy}") from None

    def law(t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> Any:
        return evaluate(formula, {PLACEHOLDER + name: known_readers[name](t, q, v, x, m, u, p) for name in read})

    return law


def _spelled(name: str) -> str:
    """A name as a text contains it: words that are joined by dots as they are, others in backquotes."""
    return name if all(map(str.isidentifier, name.split("."))) else name_text(name)


def readers(plant: Plant) -> dict[str, Callable[..., Any]]:
    """By name, functions of (t, q, v, x, m, u, p) that return one number."""
    found: dict[str, Callable[..., Any]] = {"t": lambda t, *_: t}
    groups = {"q": (1, "q."), "v": (2, "v."), "x": (3, ""), "u": (5, "u."), "p": (6, "")}
    for group, (place, prefix) in groups.items():
        for k, column in enumerate(getattr(plant, group)):
            found[prefix + column.name] = lambda *at, place=place, k=k: at[place][k]
    for name, law in plant.outputs.items():
        found.setdefault(name, lambda *at, law=law, name=name: of_groups(law, dict(zip(GROUPS, at, strict=True)), name))
    for name, law in quantity_laws(plant).items():
        found.setdefault(name, law)
    return found
