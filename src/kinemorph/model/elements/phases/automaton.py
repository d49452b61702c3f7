"""Hybrid automata as data: phases of a motion, and the edges that lead from one phase to another.

    Phase   which elements act in it, and which joints are locked
    Edge    the guard that ends one phase, and how the state jumps before the next one begins

The robot is the same in all phases, as a rule with a floating base: an element that holds a foot acts in some phases
and sleeps in the others, so that no phase needs equations of its own. The present phase is memory of the run, and
its number is the column "phase". An element that no phase names acts in all phases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from kinemorph.errors import ModelError, Problem
from kinemorph.model.elements.constraints.own_constraints import Known, as_known, undeclared, with_known
from kinemorph.model.elements.contact.contact_laws import Coulomb
from kinemorph.model.elements.contact.impact_laws import Energetic, ImpactLaw, Newton, Plastic, Poisson
from kinemorph.model.elements.control.wiring import Names, as_names
from kinemorph.model.input_reader import short
from kinemorph.model.parameter import Value
from kinemorph.words import did_you_mean, quoted

Quantity: TypeAlias = str | Callable[..., Any]  # a text with names of signals, or a function of t, q, v, x, m, u, p
IMPACTS = ("plastic", "none")
LAWS = (Plastic, Newton, Poisson, Energetic)
Pairs: TypeAlias = tuple[tuple[str, str], ...]  # may be given as a mapping


@dataclass(frozen=True)
class Phase:
    """A phase of a hybrid motion.

    `elements`  names of elements that act in this phase. An element that some phase names sleeps in the phases that do
                not name it: it exerts no force, imposes no constraint and causes no event
    `locked`    names of joints of one axis, or of single velocities, that do not move in this phase
    """

    name: str
    elements: Names = ()
    locked: Names = ()

    def __post_init__(self) -> None:
        as_names(self, "elements", "locked")


@dataclass(frozen=True)
class Edge:
    """A transition from the phase `source` to the phase `target`, where `guard` falls through zero.

    `guard`     a number that is above 0 until the phase ends: a text such as "foot.z - 0.01" with names of coordinates
                ("q.hip"), velocities, parameters and signals of elements, or a function of some of t, q, v, x, m, u, p
    `when`      a number of the same kind; the edge is taken only if it is above 0 at that instant
    `relabel`   exchanges names, such as left and right: {"left_hip": "right_hip", "right_hip": "left_hip"} gives the
                left hip the state of the right one. Names are those of joints, of coordinates or of elements; a minus
                sign before the second name changes the sign of its values: {"root.y": "-root.y"}
    `reset`     new values after the exchange, {"v.hip": "-0.5 * v.hip"}, or a function of some of t, q, v, x, m, u, p
                that returns {"v": [...]}, with values for some of q, v, x and m
    `impact`    "plastic": velocities jump, by impulses, to velocities that satisfy all constraints and locked joints
                of the target; "none": they do not change; or a law of impacts, as Energetic(0.5): the points that the
                target's `Hold`s hold collide with their surfaces, which push and never pull, so that points bounce,
                slide and lift. All other constraints and locked joints hold on
    `friction`  Coulomb(mu), the friction during an impact with a law; None for smooth surfaces
    `during`    the phase whose constraints and locked joints take part in the impact, by default the target: at the
                heel strike of a walker with knees both knees are locked, and one of them is released after the impact.
                Points that may bounce or slide are held in this phase only, and not in the target
    `stop`      whether the run ends here

    In this order: names are exchanged, values are reset, the target phase begins (points are held where they are now),
    velocities jump by the impact.
    """

    name: str
    source: str
    target: str
    guard: Quantity = ""
    when: Quantity | None = None
    relabel: Pairs = ()
    reset: Pairs | Callable[..., Any] = ()
    impact: Literal["plastic", "none"] | ImpactLaw = "plastic"
    during: str = ""
    stop: bool = False
    friction: Coulomb | None = None

    def __post_init__(self) -> None:
        if self.guard is None or self.guard == "":
            what = "it has no guard, so that nothing would end its phase"
            remedy = (
                'Give a number that falls through zero there, as guard="foot.z - 0.01" or a function of t, q and v.'
            )
            raise ModelError(Problem("edge", self.name, what, remedy, "guard"))
        if not (self.impact in IMPACTS if isinstance(self.impact, str) else isinstance(self.impact, LAWS)):
            what = f"impact is {short(self.impact)}; expected {quoted(IMPACTS)} or a law of impacts"
            raise ModelError(Problem("edge", self.name, what, "Write impact=Energetic(0.5), for example.", "impact"))
        if self.friction is not None and (self.law is None or not isinstance(self.friction, Coulomb)):
            what = f"friction is {short(self.friction)} and impact is {short(self.impact)}; expected Coulomb and a law"
            remedy = 'Write impact=Plastic(), friction=Coulomb(0.6); impact="plastic" holds points as glue does.'
            raise ModelError(Problem("edge", self.name, what, remedy, "friction"))
        for key in ("relabel", "reset"):
            given = getattr(self, key)
            if not (key == "reset" and callable(given)):
                object.__setattr__(self, key, _pairs(self, key, given))

    @property
    def law(self) -> ImpactLaw | None:
        """The law of the impact; None where velocities do not change, or satisfy all constraints afterwards."""
        return None if isinstance(self.impact, str) else self.impact

    @property
    def only_marks(self) -> bool:
        """Whether the edge only marks an instant, such as an apex: neither the phase nor the state changes."""
        changes = self.relabel or self.reset or self.stop or self.impact != "none"
        return self.source == self.target and not changes

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """All expressions of the edge that are given as text, with the names of their fields: guard, when, reset."""
        new = () if callable(self.reset) else tuple(("reset", text) for _, text in self.reset)
        given = (("guard", self.guard), ("when", self.when), *new)
        return tuple((key, text) for key, text in given if isinstance(text, str))


@dataclass(frozen=True)
class Automaton:
    """A hybrid automaton: its phases, its edges, and the phase in which runs begin, by default the first one.

    `known` gives the values of further names in the texts of edges.
    """

    phases: tuple[Phase, ...]
    edges: tuple[Edge, ...] = ()
    initial: str = ""
    known: Known = ()
    name: str = field(default="", init=False)  # empty, so that events have the names of edges

    def __post_init__(self) -> None:
        for key, kind in (("phases", Phase), ("edges", Edge)):
            given = getattr(self, key)
            several = (given,) if isinstance(given, kind) else tuple(given)
            for one in several:
                if not isinstance(one, kind):
                    what = f"{key} has {short(one)}; expected objects of the type {kind.__name__}"
                    raise ModelError(Problem("automaton", "", what, f"Write {kind.__name__}(...).", key))
            object.__setattr__(self, key, several)
        as_known(self)
        problems = [*self._repeated("phases"), *self._repeated("edges"), *self._unknown()]
        if not self.phases:
            problems.append(Problem("automaton", "", "it has no phases", "Give at least one Phase.", "phases"))
        if problems:
            raise ModelError(problems)

    def _repeated(self, key: str) -> list[Problem]:
        names = [one.name for one in getattr(self, key)]
        return [
            Problem("automaton", "", f"{key} has '{name}' {names.count(name)} times", "Rename all but one.", key)
            for name in dict.fromkeys(names)
            if names.count(name) > 1
        ]

    def _unknown(self) -> list[Problem]:
        known = [phase.name for phase in self.phases]
        named = [("edge", edge.name, key) for edge in self.edges for key in ("source", "target", "during")]
        values = [getattr(edge, key) for edge in self.edges for key in ("source", "target", "during")]
        return [
            Problem(
                *part[:2],
                f"{part[2]} is '{name}', but there is no such phase",
                f"{did_you_mean(name, known)} Known: {quoted(known)}.".strip(),
                part[2],
                "name",
            )
            for part, name in zip([*named, ("automaton", "", "initial")], [*values, self.initial], strict=True)
            if name not in known and (name or part[2] in ("source", "target"))
        ]

    def number(self, phase: str) -> int:
        """The number of a phase: its index in `phases`."""
        return [one.name for one in self.phases].index(phase)

    @property
    def first(self) -> int:
        """The number of the phase in which runs begin."""
        return self.number(self.initial) if self.initial else 0

    def acts_in(self, element: str) -> tuple[int, ...] | None:
        """The numbers of the phases in which an element acts; None where no phase names it, so that it always acts."""
        found = tuple(k for k, phase in enumerate(self.phases) if element in phase.elements)
        return found or None

    def knowing(self, names: Mapping[str, Value]) -> Automaton:
        """The automaton, with the values from `names` added to `known` for further names that its texts contain."""
        texts = tuple(text for edge in self.edges for _, text in edge.texts)
        return _replaced(self, with_known(texts, self.known, names))

    def brief(self) -> Automaton:
        """The automaton as it is written to a model file: `known` without the parameters that the file declares."""
        return _replaced(self, undeclared(self.known))


def _replaced(automaton: Automaton, known: Known) -> Automaton:
    return replace(automaton, known=known)


def _pairs(edge: Edge, key: str, given: Any) -> Pairs:
    """A mapping or pairs of names as a tuple of pairs."""
    try:
        return tuple((str(a), str(b)) for a, b in (given.items() if isinstance(given, Mapping) else given))
    except (TypeError, ValueError):
        example = {"relabel": '{"left": "right", "right": "left"}', "reset": '{"v.hip": "-v.hip"}'}[key]
        what = f"{key} is {short(given)}; expected a dict from names to texts"
        raise ModelError(Problem("edge", edge.name, what, f"Write {example}.", key)) from None
