"""Starts: states by name in which runs can begin, such as "home".

They come from keyframes of MJCF files, group states of SRDF files and tables [starts.NAME] of TOML files.
`simulate(system, start="home")`, `draw(system, "home")` and `--start home` take one of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

from kinemorph.errors import ModelError, Problem
from kinemorph.frozen import dataclass
from kinemorph.model.input_reader import short
from kinemorph.words import counted, did_you_mean, listed, quoted

if TYPE_CHECKING:
    from kinemorph.model.robot import Robot

R = TypeVar("R")
# numbers in order, or some of them by name: (("elbow", 0.5),)
Numbers: TypeAlias = tuple[float, ...] | tuple[tuple[str, float], ...]
GROUPS = ("q", "v", "x", "m", "u")  # the fields of a start with numbers in order or by name


@dataclass(frozen=True)
class Start:
    """A state in which runs can begin. Each group is numbers in order, or some of them by name; what is left out has
    the default of the system.

    `q`, `v`    configuration [rad or m] and velocity [rad/s or m/s]
    `x`         further continuous states, such as currents and activations
    `m`         memory of elements
    `u`         inputs, which stay constant during the run
    `t`         the time [s]
    """

    q: Numbers = field(default=(), metadata={"kind": ("angle", "length")})
    v: Numbers = field(default=(), metadata={"kind": ("rate", "speed")})
    x: Numbers = field(default=(), metadata={"kind": "number"})
    m: Numbers = field(default=(), metadata={"kind": "number"})
    u: Numbers = field(default=(), metadata={"kind": "number"})
    t: float = field(default=0.0, metadata={"kind": "time"})

    def __post_init__(self) -> None:
        for name in GROUPS:
            object.__setattr__(self, name, checked_numbers("start", name, getattr(self, name)))
        if not isinstance(self.t, (int, float)) or not math.isfinite(self.t):
            what = f"t is {short(self.t)}, expected a finite time in seconds"
            raise ModelError(Problem("start", "", what, "Correct the time.", "t"))

    def numbers(self, group: str) -> list[float] | dict[str, float] | None:
        """The numbers of a group as `simulate` takes them: a list, a dict by name, or None."""
        return given_numbers(getattr(self, group))

    def renamed(self, element: str, other: str) -> Start:
        """The start of a system in which an element has another name: its inputs, states and memory have it too."""
        new: dict[str, Any] = {}
        for group in ("x", "m", "u"):
            given = self.numbers(group)
            if isinstance(given, dict):
                new[group] = {
                    f"{other}{key[len(element) :]}" if f"{key}.".startswith(f"{element}.") else key: value
                    for key, value in given.items()
                }
        return replace(self, **new)


class NamedRecords(Mapping[str, R], Generic[R]):
    """Records of one kind by name. It cannot be changed, and equal ones have equal hashes."""

    record: ClassVar[type[Any]]
    kind: ClassVar[str]  # what one record is called: "run"

    def __init__(self, records: Mapping[str, R | Mapping[str, Any]] | None = None) -> None:
        found = {}
        for name, given in (records or {}).items():
            if not isinstance(name, str) or not name.strip() or not name.isprintable():
                what = f"the name is {short(name)}, expected printable text"
                raise ModelError(Problem(self.kind, "", what, "Rename it."))
            found[name] = given if isinstance(given, self.record) else self._made(name, given)
        self._records: dict[str, R] = found

    def __getitem__(self, name: str) -> R:
        return self._records[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)

    def __hash__(self) -> int:
        return hash(frozenset(self._records.items()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._records!r})"

    def called(self, name: str) -> R:
        """The record of this name. Raises ModelError, with a similar name, if there is none."""
        if name in self._records:
            return self._records[name]
        kind = self.kind
        known = f"expected one of: {quoted(self._records, 20)}" if self._records else f"the model has no {kind}s"
        hint = did_you_mean(name, self._records) or f" Add [{kind}s.{name}] to the model file."
        raise ModelError(f"there is no {kind} '{name}'; {known}.{hint}")

    def _made(self, name: str, data: Any) -> R:
        """The record of a dict of its fields. Raises ModelError for an unknown field."""
        if not isinstance(data, Mapping):
            what = f"it is {short(data)}, expected a {self.record.__name__} or a dict"
            raise ModelError(Problem(self.kind, name, what, "Give its fields."))
        known = [one.name for one in fields(self.record)]
        for key in data:
            if key not in known:
                what = f"the key {short(key)} is not known, expected one of {listed(known, 20)}"
                remedy = did_you_mean(key, known).strip() or "Leave it out."
                raise ModelError(Problem(self.kind, name, what, remedy, str(key)))
        made: R = self.record(**data)
        return made


class Starts(NamedRecords[Start]):
    """The starts of a system by name."""

    record = Start
    kind = "start"

    def problems(self, robot: Robot) -> list[Problem]:
        """What is wrong with configurations and velocities of these starts, for this robot."""
        return [
            problem
            for name, start in self.items()
            for group, known in (("q", robot.q_names), ("v", robot.v_names))
            for problem in _misfits(name, group, getattr(start, group), known)
        ]


def in_order(start: Start, robot: Robot, q: Sequence[float], v: Sequence[float]) -> Start:
    """The start with configuration (nq,) and velocity (nv,) in order; what it does not name has the values q and v."""
    new: dict[str, Any] = {}
    for group, names, usual in (("q", robot.q_names, q), ("v", robot.v_names, v)):
        given = start.numbers(group)
        if isinstance(given, dict):
            given = [given.get(name, float(value)) for name, value in zip(names, usual, strict=True)]
        new[group] = tuple(map(float, usual)) if given is None else tuple(given)
    return Start(**new, x=start.x, m=start.m, u=start.u, t=start.t)


def with_names(start: Start, robot: Robot) -> Start:
    """The start with configuration and velocity by name, so that it fits a robot with further coordinates."""
    new: dict[str, Any] = {}
    for group, names in (("q", robot.q_names), ("v", robot.v_names)):
        given = start.numbers(group)
        new[group] = dict(zip(names, given, strict=True)) if isinstance(given, list) else given
    return replace(start, **new)


def given_numbers(numbers: Any) -> list[float] | dict[str, float] | None:
    """Numbers of a record as `simulate` takes them: a list, a dict by name, or None where there are none."""
    if not numbers:
        return None
    return dict(numbers) if isinstance(numbers[0], tuple) else list(numbers)


def checked_numbers(kind: str, name: str, given: Any) -> Numbers:
    """Numbers in order as a tuple, or numbers by name as a tuple of pairs. Raises ModelError for anything else.

    `kind` is what the record is called that has them, `name` is that of its field.
    """
    try:
        if isinstance(given, Mapping):
            given = tuple(given.items())
        if given is None:
            return ()
        pairs = isinstance(given, Sequence) and bool(given) and isinstance(given[0], (tuple, list))
        found: Any = tuple((str(key), float(value)) for key, value in given) if pairs else tuple(map(float, given))
        if not all(map(math.isfinite, [value for _, value in found] if pairs else found)):
            raise ValueError
    except (TypeError, ValueError):
        what = f"{name} is {short(given)}, expected finite numbers in order or by name"
        raise ModelError(Problem(kind, "", what, "Correct the numbers.", name)) from None
    result: Numbers = found
    return result


def _misfits(name: str, group: str, given: Numbers, known: Sequence[str]) -> Iterator[Problem]:
    """What is wrong with the numbers of a start for coordinates or velocities with the names `known`."""
    numbers = given_numbers(given)
    if isinstance(numbers, list) and len(numbers) != len(known):
        what = f"{group} has {counted(len(numbers), 'entry', 'entries')}, expected {len(known)}"
        yield Problem("start", name, what, f"Give one number per entry of {group}, or some of them by name.", group)
    for key in numbers if isinstance(numbers, dict) else ():
        if key not in known:
            what = f"there is no {'coordinate' if group == 'q' else 'velocity'} '{key}', expected one of "
            what += listed(known, 20)
            yield Problem("start", name, what, did_you_mean(key, known).strip() or "Correct the name.", group)
