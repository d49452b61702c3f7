"""All elements of a system: the indices of their numbers in the states x, the memory m and the inputs u, and the
connections of their signals.

These are computed once, from names; `instant` has the values at one state.

    targets     signals may drive a joint with one velocity, a velocity, an element with one input, or "element.input"
    sources     elements may read "t", "q.hip", "v.hip", an element with one signal, or "element.signal"; in `reads`,
                "one|other" is the first of these signals that exists
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from kinemorph.errors import ModelError, Problem
from kinemorph.frozen import Fixed
from kinemorph.mechanics.elements.checks import nearest, wrong
from kinemorph.mechanics.elements.law import Clock, ElementLaw, Slot, law_of
from kinemorph.model.elements.control.wiring import channel_names, choices, measured
from kinemorph.model.elements.field_problems import number_problems, type_problems
from kinemorph.model.elements.phases.automaton import Automaton
from kinemorph.model.parameter import Parameter, parameters_of
from kinemorph.model.robot import Robot
from kinemorph.words import did_you_mean, listed

RESERVED = (
    "t",
    "q",
    "v",
    "a",
    "u",
    "m",
    "tau",
    "energy",
    "world",
    "phase",
)  # names with a meaning in signals and columns


def instead(name: str) -> str:
    """The name that an element of a file gets, or the beginning of that of its state, if its own name is reserved."""
    owner, point, rest = name.partition(".")
    return f"{owner}~2{point}{rest}" if owner in RESERVED else name


class Member(NamedTuple):
    """An element, its law, and the indices at which its states begin in x and its memory in m."""

    element: Any
    law: ElementLaw[Any]
    x: int
    m: int


class Tick(NamedTuple):
    """A clock and the elements that sample at its ticks: (index of the member, number of its clock), in order."""

    clock: Clock
    samplers: tuple[tuple[int, int], ...]


FORCE_UNITS = {"rad/s": "N m", "m/s": "N"}  # unit of a velocity -> unit of the generalized force along it
UNITS = ("q_units", "v_units")  # the columns of the joint table with units
RATES = (("", ""), (".velocity", "/s"), (".acceleration", "/s^2"))  # signals of a reference, and their units
_COORDINATES = ("q.", "v.", "a.", "tau.")  # first letters of the signals of the robot that a unit may refer to


@dataclass(frozen=True, eq=False)
class Ensemble(Fixed):
    """The elements of a system, with their signals connected. Made by `ensemble`, which checks all names."""

    robot: Robot
    members: tuple[Member, ...]
    driven: Mapping[int, tuple[str, ...]]  # velocity index -> the signals whose sum is a generalized force there
    wired: Mapping[tuple[int, str], str]  # (member, input) -> the signal that drives it
    open_inputs: tuple[tuple[int, str], ...]  # undriven (member, input) pairs

    @cached_property
    def states(self) -> tuple[Slot, ...]:
        """The continuous states of all elements, with their full names, in the order of x."""
        return tuple(
            _full(member.element, slot._replace(unit=self.unit(slot.unit)))
            for member in self.members
            for slot in member.law.states(member.element)
        )

    @cached_property
    def memory(self) -> tuple[Slot, ...]:
        """The discrete memory of all elements, with full names, in the order of m."""
        return tuple(slot for _, slot in self.owned_memory)

    @cached_property
    def owned_memory(self) -> tuple[tuple[int, Slot], ...]:
        """The discrete memory of all elements, each entry with the index of the member that owns it."""
        return tuple(
            (index, _full(member.element, slot._replace(unit=self.unit(slot.unit))))
            for index, member in enumerate(self.members)
            for slot in member.law.memory(member.element)
        )

    @cached_property
    def inputs(self) -> tuple[Slot, ...]:
        """The inputs of elements that no signal drives, with their full names, in the order of u."""
        found = []
        for index, name in self.open_inputs:
            element, law = self.members[index][:2]
            slots = law.inputs(element)
            slot = next(slot for slot in slots if slot.name == name)
            full = element.name if len(slots) == 1 else f"{element.name}.{name}"
            found.append(slot._replace(name=full, unit=self.unit(slot.unit)))
        return tuple(found)

    @cached_property
    def signals(self) -> dict[str, tuple[int, Slot]]:
        """The signals that elements publish: full name -> (index of the member, slot)."""
        found = {
            _joined(member.element, slot.name): (index, slot)
            for index, member in enumerate(self.members)
            for slot in member.law.signals_on(member.element, self.robot)
        }
        for name, (index, slot) in found.items():
            unit = found[slot.unit][1].unit if slot.unit in found else slot.unit  # a unit may name an earlier signal
            unit = self._units.get(unit, "" if unit.startswith(_COORDINATES) else unit)
            found[name] = (index, slot._replace(unit=unit or self._fed.get(name, "")))
        for name, unit in self._followed(found):
            if name in found and not found[name][1].unit:
                found[name] = (found[name][0], found[name][1]._replace(unit=unit))
        return found

    def _followed(self, found: Mapping[str, tuple[int, Slot]]) -> Iterator[tuple[str, str]]:
        """(signal, unit) for signals that controllers follow or add to outputs: they have the unit of the other side.

        `found` are the signals with the units that are known without it.
        """
        controllers = [member.element for member in self.members if hasattr(member.element, "drives")]
        for element in controllers:
            for field in ("reference", "feedforward"):
                if not isinstance(getattr(element, field, None), tuple):
                    continue
                outputs = [_joined(element, channel) for channel in channel_names(element)]
                others = measured(element) if field == "reference" else outputs
                for choice, other in zip(choices(element, field), others, strict=False):
                    unit = self._units.get(other) or (found[other][1].unit if other in found else "")
                    names = choice.split("|") if isinstance(choice, str) and unit else ()
                    for source in [name for name in names if name in found][:1]:
                        yield from ((f"{source}{word}", f"{unit}{per}") for word, per in RATES)

    @cached_property
    def _units(self) -> dict[str, str]:
        """The units of "q.hip", "v.hip", "a.hip" and "tau.hip", by these names."""
        robot = self.robot
        units = {group: [unit for joint in robot.driven for unit in getattr(joint.motion, group)] for group in UNITS}
        of_q = dict(zip((f"q.{name}" for name in robot.all_q_names), (*robot.q_units, *units["q_units"]), strict=True))
        for name, unit in zip(robot.all_v_names, (*robot.v_units, *units["v_units"]), strict=True):
            of_q |= {f"v.{name}": unit, f"a.{name}": f"{unit}^2", f"tau.{name}": FORCE_UNITS.get(unit, "")}
        return of_q

    @cached_property
    def _fed(self) -> dict[str, str]:
        """For each signal that drives a target, by its full name, the unit of that target."""
        names = self.robot.all_v_names
        found = {source: self._units[f"tau.{names[k]}"] for k, sources in self.driven.items() for source in sources}
        for (index, name), source in self.wired.items():
            element, law = self.members[index][:2]
            unit = next(slot.unit for slot in law.inputs(element) if slot.name == name)
            found[source] = self._units.get(unit, unit)
        return found

    def unit(self, unit: str) -> str:
        """The unit of a slot, which may be the name of the signal whose unit it has."""
        if unit in self.signals:
            return self.signals[unit][1].unit
        return self._units.get(unit, "" if "." in unit else unit)  # units have no dots, unlike names

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The full names of all signals that may be read."""
        return (*self.signals, *_of_robot(self.robot))

    def source(self, choice: str) -> str:
        """The full name of the signal that a text such as "gait.hip|gait" refers to.

        The text lists alternatives, separated by `|`; the first alternative that is the name of a signal is returned.
        """
        return next(name for name in choice.split("|") if name in self.sources)

    @cached_property
    def ticks(self) -> tuple[Tick, ...]:
        """All different clocks with the elements that use them, in the order of the first element that uses each."""
        found: dict[Clock, list[tuple[int, int]]] = {}
        for index, member in enumerate(self.members):
            for number, clock in enumerate(member.law.clocks(member.element)):
                found.setdefault(clock, []).append((index, number))
        return tuple(Tick(clock, tuple(samplers)) for clock, samplers in found.items())

    @cached_property
    def guards(self) -> tuple[tuple[int, int, str], ...]:
        """(index of the member, number of its guard, full name) for all guards."""
        return tuple(
            (index, number, _joined(member.element, name))
            for index, member in enumerate(self.members)
            if not self._switched_by_edges(index)
            for number, name in enumerate(member.law.guards(member.element))
        )

    def _switched_by_edges(self, index: int) -> bool:
        """Whether the edges of the automaton take the place of the events of a member."""
        return self.members[index].law.switched_by_edges and self.acts_in[index] is not None

    def settlers(self, *, located: bool) -> tuple[int, ...]:
        """The indices of members whose memory changes after accepted steps.

        Where the method locates events (`located`), members with guards are left out: their events change the memory.
        """
        return tuple(
            index
            for index, (element, law, *_) in enumerate(self.members)
            if law.settles(element) and not (located and law.guards(element)) and not self._switched_by_edges(index)
        )

    @cached_property
    def position_rows(self) -> tuple[str, ...]:
        """The full names of the constraint rows on positions, in the order of `SystemInstant.position_rows`."""
        return self._rows(0)

    @cached_property
    def velocity_rows(self) -> tuple[str, ...]:
        """The full names of the constraint rows on velocities only, in the order of `SystemInstant.velocity_rows`."""
        return self._rows(1)

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """The full names of all constraint rows: those on positions, then those on velocities only."""
        return (*self.position_rows, *self.velocity_rows)

    def _rows(self, which: int) -> tuple[str, ...]:
        return tuple(
            _joined(member.element, name)
            for member in self.members
            for name in member.law.row_names(member.element)[which]
        )

    @cached_property
    def automaton(self) -> Member | None:
        """The hybrid automaton among the members; None where the system has only one phase."""
        return next((member for member in self.members if isinstance(member.element, Automaton)), None)

    @cached_property
    def acts_in(self) -> tuple[tuple[int, ...] | None, ...]:
        """For each member the numbers of the phases in which it acts; None where it acts in all phases."""
        automaton = self.automaton
        if automaton is None:
            return (None,) * len(self.members)
        return tuple(automaton.element.acts_in(member.element.name) for member in self.members)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters in the data of the elements."""
        return parameters_of(tuple(member.element for member in self.members))


def ensemble(robot: Robot, elements: Sequence[Any]) -> Ensemble:
    """The elements on a robot, with their signals connected. Raises ModelError with all problems that are found."""
    problems: list[str] = []
    broken: set[str] = set()  # names of elements with problems, whose signals are not known
    members = []
    x = m = 0
    for element in elements:
        law = law_of(element)
        found = type_problems(element)
        ill_typed = bool(found)
        found += _further(found, number_problems(element))
        if not ill_typed:  # else the law could not read it
            try:
                found += _further(found, _problems(element, law.problems(element, robot)))
            except TypeError:  # it may compare what is out of bounds
                if not found:
                    raise
        problems += found
        if found:
            broken.add(str(element.name))
            continue
        members.append(Member(element, law, x, m))
        if element.name in RESERVED:
            problem = "this name is reserved for signals and columns of every run"
            problems.append(wrong(element.name, problem, "Give it another name."))
        x, m = x + len(law.states(element)), m + len(law.memory(element))
    driven, wired = _wired(robot, members, problems, broken)
    inputs = [(k, slot.name) for k, (element, law, *_) in enumerate(members) for slot in law.inputs(element)]
    made = Ensemble(robot, tuple(members), driven, wired, tuple(key for key in inputs if key not in wired))
    known = made.sources
    for element, law, *_ in members:
        for choice in law.reads(element):
            name = choice.split("|")[-1]
            if not any(one in known or _owner(one) in broken for one in choice.split("|")):
                hint = did_you_mean(name, known) or did_you_mean(name, {_owner(one) for one in known})
                remedy = f"{hint} Known: {listed(_nearby(name, known), 16)}.".strip()
                problem = wrong(element.name, f"it reads '{name}', but there is no such signal", remedy, "reads")
                problems += [problem] if problem not in problems else []
        problems += _problems(element, law.problems_among(element, made))
    if problems:
        raise ModelError(problems)
    return made


def _further(found: Sequence[Problem], more: Sequence[Problem]) -> list[Problem]:
    """Those of more problems whose field has none among `found`."""
    told = {problem.key for problem in found} - {""}
    return [problem for problem in more if problem.key not in told]


def _problems(element: Any, found: Sequence[str]) -> list[Problem]:
    """The problems that a law finds; a plain sentence of a user law becomes a problem of the whole element."""
    remedy = f"Change the data of this {type(element).__name__}."
    return [
        p if isinstance(p, Problem) else Problem("element", element.name, p.rstrip("."), remedy, rule="element")
        for p in found
    ]


def _wired(
    robot: Robot, members: Sequence[Member], problems: list[str], broken: Container[str]
) -> tuple[dict[int, tuple[str, ...]], dict[tuple[int, str], str]]:
    """(index in v -> signals whose sum drives it, (member, input) -> the one signal that drives it).

    Problems that are found are added to `problems`; targets on elements in `broken` are skipped.
    """
    inputs = {name: (index, slot) for index, member in enumerate(members) for name, slot in _inputs(member)}
    velocities = dict(_velocities(robot))
    driven: dict[int, tuple[str, ...]] = {}
    wired: dict[tuple[int, str], str] = {}
    for element, law, *_ in members:
        for target, signal in law.drives(element).items():
            source = _joined(element, signal)
            if target in velocities and target not in inputs:
                driven[velocities[target]] = (*driven.get(velocities[target], ()), source)
            elif target not in inputs and _owner(target) in broken:
                continue
            elif target not in inputs:
                known = [*inputs, *velocities]
                problem = (
                    f"it drives '{target}', which is neither an element with an input nor a joint with one velocity"
                )
                problems.append(wrong(element.name, problem, nearest(target, known), "drives"))
            elif (place := (inputs[target][0], inputs[target][1].name)) in wired:
                problem = f"it drives '{target}', and so does '{wired[place]}'; expected only one signal to drive it"
                remedy = "Remove one of them, or let one read the other's signal and drive the sum."
                problems.append(wrong(element.name, problem, remedy, "drives"))
            else:
                wired[place] = source
    return driven, wired


def _inputs(member: Member) -> Iterator[tuple[str, Slot]]:
    element, law = member[:2]
    slots = law.inputs(element)
    for slot in slots:
        yield f"{element.name}.{slot.name}", slot
        if len(slots) == 1:
            yield element.name, slot


def _velocities(robot: Robot) -> Iterator[tuple[str, int]]:
    yield from zip(robot.all_v_names, range(len(robot.all_v_names)), strict=True)
    for joint in robot.joints:
        part = robot.v_slice(joint.name)
        if part.stop - part.start == 1:
            yield joint.name, part.start


def _of_robot(robot: Robot) -> list[str]:
    return ["t", *(f"q.{name}" for name in robot.all_q_names), *(f"v.{name}" for name in robot.all_v_names)]


def _full(element: Any, slot: Slot) -> Slot:
    return slot._replace(name=_joined(element, slot.name))


def _joined(element: Any, name: str) -> str:
    return ".".join(part for part in (str(element.name), name) if part)


def _owner(name: str) -> str:
    """The name of the element that a signal or an input belongs to: the first part of its name."""
    return name.partition(".")[0]


def _nearby(name: str, known: Sequence[str]) -> Sequence[str]:
    """The known signals of the element that `name` begins with; all known signals where there is no such element."""
    return [one for one in known if _owner(one) == _owner(name)] or known
