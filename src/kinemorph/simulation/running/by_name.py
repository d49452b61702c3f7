"""States read by name, `q["m3_hinge"]`, in runs whose coordinates come and go.

Where modules dock and undock, the place of a coordinate in q changes and its name does not. Laws of guards are traced
anew for every plant of such a run: they read by name only, and a guard sleeps where a root that it reads is not there.
Functions that Python calls get arrays that know names, too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.errors import ModelError
from kinemorph.plants.plant import Plant
from kinemorph.plants.user_laws import GROUPS, Law, of_groups
from kinemorph.simulation.stepping.stepper import State
from kinemorph.words import did_you_mean

ROOT = "_root"  # how names of coordinates go on that appear and vanish


class Asleep(Exception):
    """A law reads a coordinate that is not there now."""


class ByName:
    """The numbers of a group, floats or what a law is traced with, read by name."""

    def __init__(self, values: Sequence[Any], names: Sequence[str], group: str, roots: Collection[str]) -> None:
        self._values, self._places = values, {name: k for k, name in enumerate(names)}
        self._group, self._roots = group, roots

    def __getitem__(self, name: str) -> Any:
        place = self._places.get(name) if isinstance(name, str) else None
        if place is not None:
            return self._values[place]
        group, known = self._group, list(self._places)
        if not isinstance(name, str):
            shown = known[0] if known else "name"
            raise ModelError(
                f"a law reads {group}[{name!r}]; in a run that docks, places change. Read by name, as "
                f"{group}['{shown}']; known: {', '.join(known) or 'none'}."
            )
        if name.partition(".")[0] in self._roots:
            raise Asleep(name)
        raise ModelError(
            f"a law reads {group}['{name}'], which there is not.{did_you_mean(name, known)} "
            f"Known: {', '.join(known) or 'none'}."
        )

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Any:
        raise ModelError(
            f"a law goes over all of {self._group}; in a run that docks, how many there are changes. Read by name."
        )


class NamedArray(npt.NDArray[np.float64]):
    """An array whose numbers are found by name as well."""

    names: tuple[str, ...]

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return np.asarray(self)[key]
        if key not in self.names:
            raise ModelError(f"there is no '{key}' now.{did_you_mean(key, self.names)} Known: {', '.join(self.names)}.")
        return np.asarray(self)[self.names.index(key)]


def named_array(values: npt.ArrayLike, names: Sequence[str]) -> NamedArray:
    """Numbers, shape (n,), with their names."""
    array = np.asarray(values, dtype=float).view(NamedArray)
    array.names = tuple(names)
    return array


def names_of(plant: Plant, group: str) -> list[str]:
    """The names of a group of a plant."""
    return [column.name for column in getattr(plant, group)]


def named_state(plant: Plant, state: State) -> State:
    """A state whose arrays know names."""
    q, v, x = (named_array(getattr(state, group), names_of(plant, group)) for group in "qvx")
    return State(state.t, q, v, x)


def law_by_name(law: Law, plant: Plant, modules: Collection[str], what: str) -> Law:
    """A law of named groups as one of all of a plant's groups in order. Raises Asleep where it is called in a plant
    that has not got what it reads.
    """
    roots = {f"{module}{ROOT}" for module in modules}
    names = {group: names_of(plant, group) for group in GROUPS if group != "t"}

    def read(t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> Any:
        groups = zip(names, (q, v, x, m, u, p), strict=True)
        given = {"t": t, **{group: ByName(values, names[group], group, roots) for group, values in groups}}
        return of_groups(law, given, what)

    return read


def on_top_of(plant: Plant, group: str, given: Any, now: npt.ArrayLike) -> Any:
    """Values that are given in order as they are; those that are given by name in place of what is there now."""
    if not isinstance(given, Mapping):
        return given
    values = np.array(now, dtype=float)
    for name, value in given.items():
        values[plant.index(group, name)] = value
    return values
