"""Elements and automata in another size: their numbers, their texts and their functions."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from kinemorph.errors import ModelError, Problem
from kinemorph.mechanics.elements.ensemble import Ensemble
from kinemorph.mechanics.scaling.functions import Factors, rescaled
from kinemorph.mechanics.scaling.parts import Words, scaled_part, units_of
from kinemorph.mechanics.scaling.signal_units import SignalUnits
from kinemorph.mechanics.scaling.values import Names, scaled_text, unit_factor
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
            height = rescaled(new.ground.height, (length, length), (length,))
            new = dataclasses.replace(new, ground=HeightFunction(height))
        if isinstance(element, (SampledFunction, Continuous)):
            return dataclasses.replace(new, law=self._law(element))
        for field in dataclasses.fields(element):
            function = getattr(element, field.name)
            if not callable(function):
                continue
            if isinstance(element, Constraint):
                scaled = rescaled(function, self._arguments(element))
            elif isinstance(element, PointOnSurface):
                scaled = rescaled(function, (time, length, length, length))
            elif field.name == "law":  # a profile: positions of its joints as functions of time
                scaled = rescaled(function, (time,), [self.factor(unit) for unit in words["joint"]])
            else:
                units = units_of(field.metadata, words)
                if units is None:
                    raise ModelError(_unknown_function(element, field.name))
                scaled = rescaled(function, (time,), [self.factor(unit) for unit in units])
            new = dataclasses.replace(new, **{field.name: scaled})
        return new

    def _law(self, element: Any) -> Callable[..., Any]:
        """The function of a controller: states and memory of its own stay the numbers that they are."""
        reads = [self.factor(self.signals.unit(self.ensemble.source(name))) for name in element.reads]
        outputs = [self.factor(unit) for unit in self.signals.outputs(element)]
        own = element.states if isinstance(element, Continuous) else element.memory
        kept = (1.0 / self.factor("s") if isinstance(element, Continuous) else 1.0) if own else None
        inputs: list[Factors] = [self.factor("s"), *reads, *([1.0] if own else [])]
        return rescaled(element.law, inputs, outputs, kept)

    def _arguments(self, element: Constraint) -> list[Factors]:
        """The factors of the arguments of a constraint's function."""
        if element.reads:
            named = [self.factor(self.signals.unit(self.ensemble.source(name))) for name in element.reads]
            return [self.factor("s"), *named]
        groups = self._groups()
        return [groups["t"], groups["q"], *([groups["v"]] if isinstance(element, VelocityConstraint) else [])]

    def _groups(self) -> dict[str, Factors]:
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
        self, edge: Edge, key: str, function: Callable[..., Any], results: Mapping[str, Factors] | None = None
    ) -> Callable[..., Any]:
        """A function of some of t, q and v in the new units; `results` are the factors of a dict that it returns."""
        groups = self._groups()
        names = list(inspect.signature(function).parameters)
        other = [name for name in names if name not in groups]
        if other:
            what = f"{key} is a function of '{other[0]}', whose numbers have no units, so that it cannot be scaled"
            remedy = "Write it as a text, or as a function of t, q and v."
            raise ModelError(Problem("edge", edge.name, what, remedy, key))
        return rescaled(function, [groups[name] for name in names], groups=results)


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
