"""Elements and automata in another size: their numbers, their texts and their functions.

Functions of the user get their arguments in the old units, and their results are scaled.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from kinemorph.errors import ModelError, Problem
from kinemorph.mechanics.elements.ensemble import Ensemble
from kinemorph.mechanics.scaling.parts import Words, scaled_part, units_of
from kinemorph.mechanics.scaling.signal_units import SignalUnits
from kinemorph.mechanics.scaling.values import Names, near, scaled_text, unit_factor
from kinemorph.model.elements.constraints.guides import PointOnSurface
from kinemorph.model.elements.constraints.own_constraints import Constraint, VelocityConstraint
from kinemorph.model.elements.constraints.prescribed import PrescribedMotion
from kinemorph.model.elements.contact.grounds import HeightFunction
from kinemorph.model.elements.control.c_functions import CController
from kinemorph.model.elements.control.functions import Continuous, SampledFunction
from kinemorph.model.elements.control.references import SplinePath
from kinemorph.model.elements.control.state_feedback import StateFeedback
from kinemorph.model.elements.forces.applied import Table
from kinemorph.model.elements.phases.automaton import Automaton, Edge
from kinemorph.model.expressions import names_in
from kinemorph.model.parameter import Parameter

POINT = ("x", "y", "z")  # names of a point's position [m] in the text of a surface
_Factors: TypeAlias = float | tuple[float, ...]  # that of a number, or one for each number of a list


class ScaledElements:
    """The elements of one system in another size; `names` has the factors of parameters."""

    def __init__(self, ensemble: Ensemble, names: Names) -> None:
        self.ensemble, self.names, self.scales = ensemble, names, names.scales
        self.signals = SignalUnits(ensemble)

    def scaled(self, element: Any) -> Any:
        """The element in the new size. Raises ModelError if it has numbers whose dimension is not known."""
        if isinstance(element, Automaton):
            edges = tuple(self._edge(element, edge) for edge in element.edges)
            return dataclasses.replace(element, edges=edges, known=self._known(element))
        _check_file(element)
        if isinstance(element, StateFeedback):
            what = "its gains mix states of many dimensions, so that they cannot be scaled"
            remedy = "Scale the system without it, and design it again with lqr."
            raise ModelError(Problem("StateFeedback", element.name, what, remedy, "gains"))
        words = {"joint": self.signals.joints(element), **self.signals.words(element)}
        new = scaled_part(element, words, self.names, skip=("known",))
        if isinstance(element, (Constraint, PointOnSurface, PrescribedMotion)):
            new = self._with_texts(element, new)
        return self._with_functions(element, new, words)

    def factor(self, unit: str) -> float:
        """The factor of a unit; 1 for a number without a unit."""
        return unit_factor(self.scales, unit)

    # ── texts ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _with_texts(self, element: Any, new: Any) -> Any:
        """A constraint with its text in the new units."""
        if isinstance(element, PrescribedMotion):
            if isinstance(element.motion, str):
                factor = self.factor(self.signals.joint(element.joint))
                new = dataclasses.replace(new, motion=self._text(element, element.motion, factor))
        else:
            field = "surface" if isinstance(element, PointOnSurface) else "rows"
            rows, own = getattr(element, field), POINT if field == "surface" else ()
            if not callable(rows):
                new = dataclasses.replace(new, **{field: tuple(self._text(element, row, None, own) for row in rows)})
        return dataclasses.replace(new, known=self._known(element))

    def _text(self, element: Any, text: str, factor: float | None, own: tuple[str, ...] = ()) -> str:
        """An expression of an element in the new units; see `scaled_text`. `own` are names of lengths."""
        known = {parameter.name: parameter for parameter in self.ensemble.robot.parameters} | dict(element.known)
        factors = {}
        for name in names_in(text):
            if name in own:
                factors[name] = self.scales.length
            elif name in self.ensemble.sources and (name not in known or name.startswith(("q.", "v."))):
                factors[name] = self.factor(self.signals.unit(name))
            elif isinstance(known.get(name), Parameter):
                factors[name] = self.names.factor(known[name])
            else:
                factors[name] = 1.0
        return scaled_text(text, factor, factors, self.scales)

    def _known(self, element: Any) -> tuple[tuple[str, Any], ...]:
        """The known names of an element: parameters are scaled, and numbers stay in the old units, as in its text."""
        return tuple(
            (name, self.names.new(value) if isinstance(value, Parameter) else value) for name, value in element.known
        )

    # ── functions ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _with_functions(self, element: Any, new: Any, words: Words) -> Any:
        """The element with its user functions, also those of its ground, in the new units."""
        time, length = self.factor("s"), self.scales.length
        if isinstance(getattr(new, "ground", None), HeightFunction):
            height = _rescaled(new.ground.height, (length, length), (length,))
            new = dataclasses.replace(new, ground=HeightFunction(height))
        if isinstance(element, (SampledFunction, Continuous)):
            return dataclasses.replace(new, law=self._law(element))
        for field in dataclasses.fields(element):
            function = getattr(element, field.name)
            if not callable(function):
                continue
            if isinstance(element, Constraint):
                scaled = _rescaled(function, self._arguments(element))
            elif isinstance(element, PointOnSurface):
                scaled = _rescaled(function, (time, length, length, length))
            elif field.name == "law":  # a profile: positions of its joints as functions of time
                scaled = _rescaled(function, (time,), [self.factor(unit) for unit in words["joint"]])
            else:
                units = units_of(field.metadata, words)
                if units is None:
                    raise ModelError(_unknown_function(element, field.name))
                scaled = _rescaled(function, (time,), [self.factor(unit) for unit in units])
            new = dataclasses.replace(new, **{field.name: scaled})
        return new

    def _law(self, element: Any) -> Callable[..., Any]:
        """The function of a controller: states and memory of its own stay the numbers that they are."""
        reads = [self.factor(self.signals.unit(self.ensemble.source(name))) for name in element.reads]
        outputs = [self.factor(unit) for unit in self.signals.outputs(element)]
        own = element.states if isinstance(element, Continuous) else element.memory
        kept = (1.0 / self.factor("s") if isinstance(element, Continuous) else 1.0) if own else None
        inputs: list[_Factors] = [self.factor("s"), *reads, *([1.0] if own else [])]
        return _rescaled(element.law, inputs, outputs, kept)

    def _arguments(self, element: Constraint) -> list[_Factors]:
        """The factors of the arguments of a constraint's function."""
        if element.reads:
            named = [self.factor(self.signals.unit(self.ensemble.source(name))) for name in element.reads]
            return [self.factor("s"), *named]
        groups = self._groups()
        return [groups["t"], groups["q"], *([groups["v"]] if isinstance(element, VelocityConstraint) else [])]

    def _groups(self) -> dict[str, _Factors]:
        robot = self.ensemble.robot
        q, v = (tuple(map(self.factor, units)) for units in (robot.q_units, robot.v_units))
        return {"t": self.factor("s"), "q": q, "v": v}

    # ── phases ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _edge(self, automaton: Automaton, edge: Edge) -> Edge:
        """An edge: its guard and condition keep their signs, and its reset gives scaled values."""
        reset: Any
        if callable(edge.reset):
            reset = self._by_groups(edge, "reset", edge.reset, self._groups())
        else:
            reset = tuple((name, self._text(automaton, text, self._state(name))) for name, text in edge.reset)
        tests = {key: self._test(automaton, edge, key) for key in ("guard", "when")}
        return dataclasses.replace(edge, reset=reset, **tests)

    def _test(self, automaton: Automaton, edge: Edge, key: str) -> Any:
        test = getattr(edge, key)
        if callable(test):
            return self._by_groups(edge, key, test)
        return test if test is None else self._text(automaton, test, None)

    def _state(self, name: str) -> float:
        """The factor of a coordinate, velocity, state or memory that an edge resets."""
        if name.startswith(("q.", "v.")):
            return self.factor(self.signals.unit(name))
        slots = {slot.name: slot for slot in (*self.ensemble.states, *self.ensemble.memory)}
        return self.factor(slots[name].unit)

    def _by_groups(
        self, edge: Edge, key: str, function: Callable[..., Any], results: Mapping[str, _Factors] | None = None
    ) -> Callable[..., Any]:
        """A function of some of t, q and v in the new units; `results` are the factors of a dict that it returns."""
        groups = self._groups()
        names = list(inspect.signature(function).parameters)
        other = [name for name in names if name not in groups]
        if other:
            what = f"{key} is a function of '{other[0]}', whose numbers have no units, so that it cannot be scaled"
            remedy = "Write it as a text, or as a function of t, q and v."
            raise ModelError(Problem("edge", edge.name, what, remedy, key))
        return _rescaled(function, [groups[name] for name in names], groups=results)


def _unknown_function(element: Any, field: str) -> Problem:
    what = f"{field} is a function whose arguments and result have no units, so that it cannot be scaled"
    return Problem(type(element).__name__, element.name, what, "Scale the system without it.", field)


def _check_file(element: Any) -> None:
    """Raises ModelError for a path or table whose numbers are still in a file, and for a controller in C."""
    if isinstance(element, CController):
        what = f"its function '{element.function}' is C with numbers in the units of this size"
        raise ModelError(Problem(type(element).__name__, element.name, what, "Scale the system without it.", "source"))
    held = [element, *(getattr(element, field.name) for field in dataclasses.fields(element))]
    for one in held:
        if isinstance(one, (SplinePath, Table)) and one.file:
            what = f"its numbers are in the file '{one.file}', which is not read yet"
            remedy = "Read it first, by from_csv."
            raise ModelError(Problem(type(element).__name__, element.name, what, remedy, "file"))


# ── functions ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Rescaled:
    """A function in other units: its arguments are divided by `inputs`, its results multiplied by `outputs`.

    `outputs` has one factor for all numbers of the result, or one for each. For a function that returns two lists, such
    as outputs and rates of states, `kept` is the factor of the second; else None. For a function that returns a dict of
    lists, `outputs` is empty and `groups` has pairs of a key and the factors of its list.
    """

    function: Callable[..., Any]
    inputs: tuple[_Factors, ...]
    outputs: tuple[float, ...]
    kept: float | None = None
    groups: tuple[tuple[str, _Factors], ...] = ()

    def __call__(self, *arguments: Any) -> Any:
        """The scaled result at the arguments."""
        found = self.function(*(_each(_over, x, by) for x, by in zip(arguments, self.inputs, strict=True)))
        if isinstance(found, Mapping):
            return {key: _each(_times, values, dict(self.groups)[key]) for key, values in found.items()}
        if self.kept is not None and isinstance(found, (tuple, list)) and len(found) == 2:
            return _each(_times, found[0], self.outputs), _each(_times, found[1], self.kept)
        return _each(_times, found, self.outputs)

    @property
    def __signature__(self) -> inspect.Signature:
        """The arguments of the user's function, by which laws see what it reads."""
        return inspect.signature(self.function)


def _rescaled(
    function: Callable[..., Any],
    inputs: Sequence[_Factors],
    outputs: Sequence[float] = (1.0,),
    kept: float | None = None,
    groups: Mapping[str, _Factors] | None = None,
) -> Callable[..., Any]:
    """The function in other units; a function that was rescaled before is not wrapped again."""
    new = Rescaled(function, tuple(inputs), tuple(outputs), kept, tuple((groups or {}).items()))
    if isinstance(function, Rescaled):
        new = Rescaled(
            function.function,
            tuple(map(_product, function.inputs, new.inputs)),
            tuple(_product(function.outputs, new.outputs)),  # type: ignore[arg-type]
            None if kept is None else kept * (function.kept or 1.0),
            tuple((key, _product(dict(function.groups)[key], by)) for key, by in new.groups),
        )
    factors = (*new.inputs, new.outputs, 1.0 if new.kept is None else new.kept, *(by for _, by in new.groups))
    unchanged = all(near(x, 1.0) for by in factors for x in (by if isinstance(by, tuple) else (by,)))
    return new.function if unchanged else new


def _product(a: _Factors, b: _Factors) -> _Factors:
    """The products of factors; a single one stands for all."""
    if not isinstance(a, tuple) and not isinstance(b, tuple):
        return a * b
    first, second = (x if isinstance(x, tuple) else (x,) for x in (a, b))
    count = max(len(first), len(second))
    first, second = (x * count if len(x) == 1 else x for x in (first, second))
    return tuple(x * y for x, y in zip(first, second, strict=True))


def _each(op: Callable[[Any, float], Any], value: Any, factors: _Factors) -> Any:
    """The op of a number, or of each number of a list, and its factor."""
    by = factors if isinstance(factors, tuple) else (factors,)
    if not isinstance(value, (list, tuple, np.ndarray)):
        return op(value, by[0])
    every = by * len(value) if len(by) == 1 else by
    return [op(x, factor) for x, factor in zip(value, every, strict=False)] if every else list(value)


def _times(x: Any, factor: float) -> Any:
    return x if factor == 1.0 or x is None or isinstance(x, str) else x * factor


def _over(x: Any, factor: float) -> Any:
    return x if factor == 1.0 else x / factor
