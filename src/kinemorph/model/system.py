"""A system: a robot, the elements that act on it, and settings for runs.

Elements are frozen data (springs, contacts, motors, controllers); the laws that use this data are in
`mechanics.elements`, one per type. Functions that need only the robot accept a system too, through `as_robot`.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field, fields, is_dataclass, replace
from types import NoneType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import ModelError, Problem
from kinemorph.frozen import Fixed, dataclass
from kinemorph.model.configuration import neutral
from kinemorph.model.importable import check_importable
from kinemorph.model.input_reader import short
from kinemorph.model.robot import Robot, not_a_model
from kinemorph.model.run_plans import LOOP_METHOD_NAMES, RunPlan, RunPlans
from kinemorph.model.starts import Start, Starts, in_order
from kinemorph.shown import ShownSystem
from kinemorph.words import counted, did_you_mean, listed, quoted

if TYPE_CHECKING:
    from kinemorph.model.elements.phases.automaton import Automaton
    from kinemorph.model.modules.assembly import Assembly


@runtime_checkable
class Element(Protocol):
    """Anything that acts on a robot or measures it: frozen data with a unique name."""

    @property
    def name(self) -> str: ...


@dataclass(frozen=True)
class Settings:
    """The initial state of a run and the time that it lasts. Empty `q` and `v` mean the neutral configuration at rest.

    `stated_q` and `stated_v` name the values that are stated, as "drive" of q = {drive = 0.6}; None means all. Where
    there are constraints, the others follow in each run, for its parameters.
    """

    q: tuple[float, ...] = field(default=(), metadata={"kind": ("angle", "length")})
    v: tuple[float, ...] = field(default=(), metadata={"kind": ("rate", "speed")})
    time: float = field(default=10.0, metadata={"kind": "time"})  # [s] that a run lasts
    sample: float = field(default=0.01, metadata={"kind": "time"})  # time between stored states [s]
    max_step: float = field(default=math.inf, metadata={"kind": "time"})  # longest step that a method may choose [s]
    loops: str = LOOP_METHOD_NAMES[0]  # the method that keeps loops closed and other constraints satisfied
    stated_q: tuple[str, ...] | None = None
    stated_v: tuple[str, ...] | None = None
    ground: bool | None = None  # whether z = 0 is ground if the model has none; None: if it has a free base


@dataclass(frozen=True)
class FileData:
    """What a model file states for its own simulator. It does not act here; writers of its format write it again.

    `format`     the format of the file, such as "mjcf"
    `options`    options of its simulator by name, as text; those of flags are called "flag.NAME"
    `apart`      pairs of bodies, or "world", whose shapes never touch each other
    `pairs`      pairs of named shapes that touch, with the attributes of their contact
    `parts`      further attributes of parts, by the part, or by (body, shape). A part that was changed since has none
    `left_out`   what was left out when the file was read, as parts of sentences
    `soft`       whether constraints are soft there, so that states of the file may violate them
    """

    format: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    apart: tuple[tuple[str, str], ...] = ()
    pairs: tuple[tuple[str, str, Mapping[str, str]], ...] = ()
    parts: Mapping[Any, Mapping[str, str]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    soft: bool = False

    @property
    def kinds(self) -> list[str]:
        """What there is, in words; shapes have surfaces, which other formats can keep."""
        soft = sum(bool(attributes) for part, attributes in self.parts.items() if not isinstance(part, tuple))
        found = [counted(len(self.options), "option") + f" ({listed(self.options, 12)})"] if self.options else []
        counts = {"exclusion": len(self.apart), "contact pair": len(self.pairs), "soft part": soft}
        return found + [counted(count, word) for word, count in counts.items() if count]


@dataclass(frozen=True, repr=False)
class System(ShownSystem, Fixed):
    """A robot with its elements and settings. Elements have unique names; lists and arrays in them become tuples."""

    robot: Robot
    elements: tuple[Element, ...] = ()
    settings: Settings = field(default_factory=Settings)
    assembly: Assembly | None = None  # the modules that the robot is made of, if any: a run may dock and undock them
    automaton: Automaton | None = None  # the phases of a hybrid motion; None where there is only one
    runs: Mapping[str, RunPlan] = field(default_factory=RunPlans)  # options of runs, by name; `run` carries one out
    starts: Mapping[str, Start] = field(default_factory=Starts)  # states in which runs can begin, by name
    source: str = field(default="", compare=False)  # the URDF, xacro, SDF or MJCF file that it was loaded from, if any
    file_data: FileData = field(default_factory=FileData, compare=False)  # what this file states for its simulator

    def __post_init__(self) -> None:
        as_robot(self.robot)
        object.__setattr__(self, "elements", _tidied(self.elements))
        object.__setattr__(self, "runs", self.runs if isinstance(self.runs, RunPlans) else RunPlans(self.runs))
        starts = self.starts if isinstance(self.starts, Starts) else Starts(self.starts)
        object.__setattr__(self, "starts", starts)
        problems = [
            Problem("element", name, f"it is declared {count} times, expected once", "Rename all but one.", rule="name")
            for name, count in Counter(str(element.name) for element in self.elements).items()
            if count > 1
        ]
        problems += starts.problems(self.robot)
        for name, plan in self.runs.items():
            if plan.start and plan.start not in starts:
                known = f"one of {listed(starts, 20)}" if starts else "no start, as the model has none"
                found = f"start is '{plan.start}', expected {known}"
                hint = did_you_mean(plan.start, starts).strip() or f"Add [starts.{plan.start}]."
                problems.append(Problem("run", name, found, hint, "start"))
        for what, values, length in (("q", self.settings.q, self.robot.nq), ("v", self.settings.v, self.robot.nv)):
            if values and len(values) != length:
                found = f"initial {what} has {len(values)} entries, expected {length}"
                problems.append(Problem("settings", "", found, f"Give one number per entry of {what}.", what))
            if not np.all(np.isfinite(values)):
                found = f"initial {what} is {values}, expected finite numbers"
                problems.append(Problem("settings", "", found, "Replace the values that are not finite.", what))
        for what, value in (("time", self.settings.time), ("sample", self.settings.sample)):
            if not 0.0 < value < np.inf:
                found = f"{what} is {value} s, expected a finite time above 0"
                problems.append(Problem("settings", "", found, "Give a positive number of seconds.", what))
        if not self.settings.max_step > 0.0:
            found = f"max_step is {self.settings.max_step} s, expected a time above 0"
            problems.append(Problem("settings", "", found, "Give a positive number of seconds.", "max_step"))
        if self.settings.loops not in LOOP_METHOD_NAMES:
            found = f"loops is {self.settings.loops!r}, expected one of {listed(LOOP_METHOD_NAMES)}"
            hint = did_you_mean(str(self.settings.loops), LOOP_METHOD_NAMES).strip()
            problems.append(Problem("settings", "", found, hint or "Choose one of them.", "loops"))
        if problems:
            raise ModelError(problems)

    def __getstate__(self) -> dict[str, Any]:
        """The fields, for pickling; raises UnsupportedError where a function in an element cannot be imported."""
        check_importable(self.members, f"system '{self.name}'")
        return super().__getstate__()

    def __repr__(self) -> str:
        kinds = Counter(type(element).__name__ for element in self.elements)
        acting = "".join(f", {counted(count, kind)}" for kind, count in kinds.items())
        start = ", initial state given" if self.settings.q or self.settings.v else ""
        start += f", {counted(len(self.starts), 'start')}" if self.starts else ""
        return f"<System of {self.robot}{acting}{start}, {self.settings.time:g} s>"

    @property
    def name(self) -> str:
        """The robot's name."""
        return self.robot.name

    @property
    def members(self) -> tuple[Element, ...]:
        """All that acts on the robot: the elements, and the automaton where there is one."""
        return self.elements if self.automaton is None else (*self.elements, self.automaton)

    def element(self, name: str) -> Element:
        """The element of this name."""
        for element in self.elements:
            if element.name == name:
                return element
        names = [element.name for element in self.elements]
        raise ModelError(f"there is no element '{name}'; expected one of: {quoted(names)}.{did_you_mean(name, names)}")

    def initial_state(self) -> tuple[Array, Array]:
        """The initial configuration q, shape (nq,), and velocity v, shape (nv,)."""
        q = np.array(self.settings.q) if self.settings.q else neutral(self.robot)
        v = np.array(self.settings.v) if self.settings.v else np.zeros(self.robot.nv)
        return q, v

    def stated(self, group: str) -> tuple[str, ...] | None:
        """The names of the values of q or v (the `group`) that are stated; None where all of them are."""
        if not getattr(self.settings, group):
            return ()
        names: tuple[str, ...] | None = getattr(self.settings, f"stated_{group}")
        return None if names is None else tuple(name for name in names if name in getattr(self.robot, f"{group}_names"))

    def start(self, name: str) -> Start:
        """The start of this name, with configuration and velocity in order. Raises ModelError if there is none."""
        q, v = (values.tolist() for values in self.initial_state())
        return in_order(Starts(self.starts).called(name), self.robot, q, v)

    def starting_at(self, name: str) -> System:
        """The system whose settings have the configuration and velocity of the start of this name."""
        chosen, given = self.start(name), Starts(self.starts).called(name)
        state: dict[str, Any] = {"q": chosen.q, "v": chosen.v}
        numbers = {f"stated_{group}": given.numbers(group) for group in "qv"}
        state |= {key: tuple(one) if isinstance(one, dict) else None for key, one in numbers.items() if one is not None}
        return replace(self, settings=replace(self.settings, **state))


def _tidied(elements: Any) -> tuple[Element, ...]:
    """The elements, given as one element or an iterable, as a tuple; lists and arrays in them become tuples."""
    several = (elements,) if hasattr(elements, "name") or not isinstance(elements, Iterable) else tuple(elements)
    for element in several:
        if not hasattr(element, "name"):
            raise ModelError(
                f"{short(element)} is given as an element, expected an object with a name, such as a Spring. Put all "
                "elements into one tuple: (*feet, motor)."
            )
    return tuple(map(_plain, several))


def _plain(data: Any) -> Any:
    """The data with tuples in place of lists and arrays; the same object if there are no lists and arrays in it."""
    if type(data) in (float, str, bool, int, NoneType):  # the usual case
        return data
    if isinstance(data, np.ndarray):
        return _plain(data.tolist())
    if isinstance(data, (list, tuple)) and not hasattr(data, "_fields"):
        items = tuple(map(_plain, data))
        return data if isinstance(data, tuple) and all(map(operator.is_, items, data)) else items
    if not is_dataclass(data) or isinstance(data, type):
        return data
    held = {part.name: getattr(data, part.name) for part in fields(data) if part.init}
    plain = {name: _plain(value) for name, value in held.items()}
    return data if all(map(operator.is_, plain.values(), held.values())) else replace(data, **plain)


def as_robot(model: Robot | System, expected: str = "a Robot or a System") -> Robot:
    """The robot of a system, or the robot itself. Raises ModelError, which says what is `expected`."""
    if isinstance(model, System):
        return model.robot
    if isinstance(model, Robot):
        return model
    raise not_a_model(model, expected)


def start_of(model: Any, name: str) -> Start:
    """The start of this name of a model, as it was given. Raises ModelError where there is none, or no System."""
    if not isinstance(model, System):
        kind = type(model).__name__
        raise ModelError(f"'{name}' is the name of a start, and a {kind} has no starts. Give a System that has it.")
    return Starts(model.starts).called(name)


def configuration_of(model: Any, q: Any) -> Any:
    """q as it is given; where it is the name of a start, the configuration (nq,) of this start of the model."""
    return model.start(q).q if isinstance(q, str) and start_of(model, q) is not None else q
