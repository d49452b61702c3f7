"""Columns: every value of a run by name, with its unit.

    t                                               time
    q.elbow  v.elbow  a.elbow                       coordinates, velocities, accelerations
    u.elbow  tau.elbow                              inputs; generalized forces, including damping
    current, height                                 further states and outputs, by their own names
    m.anchor                                        discrete memory
    energy.kinetic  energy.potential                of a robot
    energy.supplied  energy.dissipated              by forces and inputs; by damping
    energy.balance                                  kinetic + potential - supplied + dissipated - its first value
    loop_error                                      the largest error of loops and couplings

Further columns are known on request: they are computed where they are named, and are in no list; see `quantities`.

    reaction.knee.fz  position.tool.x               wrenches through joints; origins of bodies and frames

The name of a group alone, run["q"], gives all of its columns as an array (n, width), unless a column has that name.
A state or output whose name is already used gets the name of its group in front: "x.t", "y.loop_error".
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from kinemorph.algebra.arrays import Array
from kinemorph.errors import ShapeError
from kinemorph.mechanics.elements.ensemble import FORCE_UNITS
from kinemorph.plants.initial_values import ACCOUNT
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import Column
from kinemorph.simulation.results.quantities import COMPONENTS, ENERGIES, is_quantity, quantities, unit_of
from kinemorph.words import did_you_mean

ORDER = ("t", "q", "v", "a", "x", "u", "tau", "y", "m", *ENERGIES, "loop_error", *COMPONENTS)  # the order of groups
WHOLE = ("q", "v", "a", "x", "u", "m", "tau", "y")  # groups whose columns a run gives together, as run["q"]
LOOP_UNIT = "m or rad"


class Sampled(Protocol):
    """Samples that have columns: a segment of a run, or a batch of runs."""

    @property
    def plant(self) -> Plant:
        """The plant whose states the samples are."""

    @property
    def stored(self) -> Mapping[str, Array] | None:
        """The quantities that a file holds, by name; None for samples that are not from a file."""

    def has(self, group: str) -> bool:
        """Whether a quantity that is computed from the samples is available."""


class Source(NamedTuple):
    """Where the values of a column are stored: in the array `group` of a segment, as its column with index `place`."""

    column: Column
    group: str
    place: int

    @property
    def kind(self) -> str:
        """The group that the column is listed in; a stored quantity is an array of its own."""
        return self.group.partition(".")[0]


def sources(samples: Sampled) -> dict[str, Source]:
    """The columns of a segment or of a batch by name, in the order of the table in this file's docstring."""
    found: dict[str, Source] = {}
    for group, index, name, unit in _listed(samples):
        taken = name if name not in found else f"{group}.{name}"
        found[taken] = Source(Column(taken, unit), group, index)
    for name in filter(is_quantity, samples.stored or ()):
        found.setdefault(name, Source(Column(name, unit_of(name)), name, 0))
    return found


def requested_sources(samples: Sampled) -> dict[str, Source]:
    """The columns of a segment or of a batch that are computed where they are named, by name."""
    named = quantities(samples.plant.robot).items()
    return {name: Source(Column(name, unit), group, index) for name, (group, index, unit) in named}


def joined_sources(segments: Sequence[dict[str, Source]]) -> tuple[dict[str, Source], ...]:
    """For each of consecutive segments, its columns by the names that they have in the whole run.

    Columns of one name are joined. Where the unit changes (a revolute joint that becomes prismatic), the later column
    gets the unit in its name: "q.arm [m]".
    """
    units: dict[str, str] = {}
    found = []
    for mine in segments:
        named = {}
        for name, source in mine.items():
            unit = source.column.unit
            named_so = name if units.setdefault(name, unit) == unit else f"{name} [{unit}]"
            named[named_so] = source if named_so == name else source._replace(column=Column(named_so, unit))
        found.append(named)
    return tuple(found)


def all_columns(segments: Sequence[dict[str, Source]]) -> dict[str, Column]:
    """Every column of a run by name, ordered so that columns of one group stay together."""
    found = {name: source for mine in reversed(segments) for name, source in mine.items()}
    named = dict.fromkeys(name for mine in segments for name in mine)
    return {name: found[name].column for name in sorted(named, key=lambda name: ORDER.index(found[name].kind))}


def _listed(samples: Sampled) -> Iterator[tuple[str, int, str, str]]:
    """(group, index, name, unit) of every column of a segment or of a batch."""
    plant = samples.plant
    yield "t", 0, "t", "s"
    for group, columns in (("q", plant.q), ("v", plant.v)):
        for k, column in enumerate(columns):
            yield group, k, f"{group}.{column.name}", column.unit
    for k, column in enumerate(plant.v):
        yield "a", k, f"a.{column.name}", per_second(column.unit)
    for k, column in enumerate(plant.x):
        if column.name not in ACCOUNT:  # shown as energies
            yield "x", k, column.name, column.unit
    for k, column in enumerate(plant.u):
        yield "u", k, f"u.{column.name}", column.unit
    if samples.has("tau"):
        for k, column in enumerate(plant.v):
            yield "tau", k, f"tau.{column.name}", FORCE_UNITS.get(column.unit, "")
    for k, name in enumerate(plant.outputs if samples.has("y") else ()):
        yield "y", k, name, plant.output_units.get(name, "")
    for k, column in enumerate(plant.m):
        yield "m", k, f"m.{column.name}", column.unit
    for group, names in ENERGIES.items():
        for k, name in enumerate(names if samples.has(group) else ()):
            yield group, k, f"energy.{name}", "J"
    if samples.has("loop_error"):
        yield "loop_error", 0, "loop_error", LOOP_UNIT


def per_second(unit: str) -> str:
    """The unit of the time derivative of a quantity with this unit."""
    return f"{unit}^2" if unit.endswith("/s") else f"{unit or '1'}/s"


def is_group(owner: str, name: str, known: Container[str]) -> bool:
    """Whether `name` stands for all columns of a group, and not for one of the columns `known` of `owner`.

    Raises ShapeError where a coordinate has the name of another group, so that both may be meant.
    """
    if name not in WHOLE or name in known:
        return False
    if name != "q" and f"q.{name}" in known:
        raise ShapeError(
            f"'{name}' may be the coordinate '{name}' of {owner}, or its group of columns '{name}'. Write 'q.{name}' "
            f"or 'v.{name}' for the coordinate or its velocity; the attribute .{name} is the group."
        )
    return True


def unknown_column(owner: str, name: object, known: list[str], on_request: Collection[str] = ()) -> ShapeError:
    """The error for a column `name` that `owner` does not have.

    `known` are the names of its columns, `on_request` those of columns that are computed where they are named.
    """
    listed = ", ".join(known[:24]) + (", ..." if len(known) > 24 else "")
    more = f" On request: {example}, and others like it." if (example := next(iter(on_request), "")) else ""
    hint = did_you_mean(name, known) or did_you_mean(name, on_request)
    return ShapeError(f"{owner} has no column '{name}'.{hint} Known: {listed}.{more}")
