"""Reading states by name, `q["m3_hinge"]`, in runs whose coordinates appear and vanish.

Where modules dock and undock, the index of a coordinate in q changes and its name does not. Laws of guards are traced
again for every plant of such a run, and read by name only. A guard is inactive while it reads a root joint that does
not exist. Functions that are called in Python get arrays that can be read by index and by name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.errors import ModelError
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import GROUPS, Law, of_groups
from kinemorph.simulation.stepping.plant_stepper import State
from kinemorph.words import did_you_mean

ROOT = "_root"  # the end of the names of joints whose coordinates appear and vanish


class Asleep(Exception):
    """Raised where a law reads the coordinate of a root joint that does not exist in this topology."""


class ByName:
    """The values of one group, floats or traced expressions, which can be read by name only.

    A group is q, v, x, m, u or p: coordinates, velocities, further states, memory, inputs or parameters. `roots` are
    the names of all possible root joints; reading one that does not exist at present raises Asleep.
    """

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
                f"a law reads {group}[{name!r}]; in a run with docking events, indices change. Read by name, as "
                f"{group}['{shown}']; known: {', '.join(known) or 'none'}."
            )
        if name.partition(".")[0] in self._roots:
            raise Asleep(name)
        raise ModelError(
            f"a law reads {group}['{name}'], which does not exist.{did_you_mean(name, known)} "
            f"Known: {', '.join(known) or 'none'}."
        )

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Any:
        raise ModelError(
            f"a law iterates over {self._group}, whose length changes in a run with docking events. Read its values by "
            f"name, as {self._group}['{next(iter(self._places), 'name')}']."
        )


class NamedArray(np.ndarray[tuple[int, ...], np.dtype[np.float64]]):
    """An array that can be read by index and by name."""

    names: tuple[str, ...]

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return np.asarray(self)[key]
        if key not in self.names:
            raise ModelError(
                f"'{key}' is read, which does not exist in this topology.{did_you_mean(key, self.names)} "
                f"Known: {', '.join(self.names)}."
            )
        return np.asarray(self)[self.names.index(key)]


def named_array(values: npt.ArrayLike, names: Sequence[str]) -> NamedArray:
    """An array of values, shape (n,), which can be read by their names too."""
    array = np.asarray(values, dtype=float).view(NamedArray)
    array.names = tuple(names)
    return array


def names_of(plant: Plant, group: str) -> list[str]:
    """The names of the columns of one group of a plant: q, v, x, m, u or p."""
    return [column.name for column in getattr(plant, group)]


def named_state(plant: Plant, state: State) -> State:
    """A state whose arrays can be read by name."""
    q, v, x = (named_array(getattr(state, group), names_of(plant, group)) for group in "qvx")
    return State(state.t, q, v, x)


def law_by_name(law: Law, plant: Plant, modules: Collection[str], what: str) -> Law:
    """A law that reads its arguments by name, wrapped as a function of (t, q, v, x, m, u, p) of one plant.

    `modules` are the names of the modules, and `what` names the law in messages. The wrapped law raises Asleep where it
    reads the coordinate of a root joint that the plant does not have.
    """
    roots = {f"{module}{ROOT}" for module in modules}
    names = {group: names_of(plant, group) for group in GROUPS if group != "t"}

    def read(t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> Any:
        groups = zip(names, (q, v, x, m, u, p), strict=True)
        given = {"t": t, **{group: ByName(values, names[group], group, roots) for group, values in groups}}
        return of_groups(law, given, what)

    return read


def on_top_of(plant: Plant, group: str, given: Any, now: npt.ArrayLike) -> Any:
    """The new values of a group (q, v, x, m, u or p) of a plant.

    If `given` is a dict by name, these are the values `now` with the named ones replaced; else they are `given`.
    """
    if not isinstance(given, Mapping):
        return given
    values = np.array(now, dtype=float)
    for name, value in given.items():
        values[plant.index(group, name)] = value
    return values
