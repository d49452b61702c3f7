"""Programs of guards: values of laws and guards, which guards count in the present phase, resets of the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kinemorph.codegen.graphs.program import Program
from kinemorph.errors import ShapeError
from kinemorph.plants.instant import Instant, LocalInstant
from kinemorph.plants.user_laws import Law, checked_length, of_groups, one_number, split

if TYPE_CHECKING:
    from kinemorph.plants.programs import Plant

AT = "t base s m u p"  # the inputs of `Plant.rate`
CHANGED = ("q", "v", "x", "m")  # the groups that a reset may change


def observed(plant: Plant, laws: Mapping[str, Law], name: str, switches: Sequence[int]) -> Program:
    """See `Plant.observed`."""

    def values(at: LocalInstant) -> list[Any]:
        read = values_of(plant, laws, at)
        own = plant.laws.jumps.guards(at) if switches and plant.laws.jumps else ()
        return [*read, *(own[k] for k in switches)]

    return plant.traced(name, values, AT, {"out": str(len(laws) + len(switches))})


def values_of(plant: Plant, laws: Mapping[str, Law], at: LocalInstant) -> list[Any]:
    """The number that each of the laws returns at an instant of a plant."""
    now = _instant(plant, at)._asdict()
    return [one_number(of_groups(law, now, f"'{key}'"), key) for key, law in laws.items()]


def awake(plant: Plant, laws: int, switches: Sequence[int]) -> Program | None:
    """The program (t, base, s, m, u, p) -> out: 1 for each guard that counts in the present phase, else 0.

    The first `laws` of them are guards of the user, which always count; then those of elements with the indices
    `switches`. None where all guards always count.
    """
    if plant.automaton is None or not switches:
        return None

    def values(at: LocalInstant) -> list[Any]:
        assert plant.laws.jumps is not None
        own = plant.laws.jumps.awake(at)
        return [*[1.0] * laws, *(own[k] for k in switches)]

    return plant.traced("awake", values, AT, {"out": str(laws + len(switches))})


def resetting(plant: Plant, reset: Law | None, name: str) -> Program:
    """The program of the state after a guard of the user, with the outputs of `Plant.switching`.

    `reset` is the law of the guard with this `name`; without it, the state stays the same.
    """

    def after(at: LocalInstant) -> dict[str, Any]:
        now = _instant(plant, at)._asdict()
        arrays = {group: _array(values) if group != "t" else values for group, values in now.items()}
        changed = {} if reset is None else of_groups(reset, arrays, f"'{name}', reset")
        if not isinstance(changed, Mapping) or not set(changed) <= set(CHANGED):
            raise ShapeError(
                f"the value is {changed!r}; expected a dict of new values for q, v, x or m, as {{'v': [0.0, 1.0]}}."
            )
        for group, values in changed.items():
            now[group] = checked_length(values, len(getattr(plant, group)), f"law '{name}', reset, {group},")
        q = plant.laws.place(now["q"], [0.0] * plant.ns)
        nothing = [0.0] * len(plant.constraint_names)
        return {**{group: now[group] for group in CHANGED}, "q": q, "lost": 0.0, "impulses": nothing}

    outputs = {"q": "nq", "v": "nv", "x": "nx", "m": "nm", "lost": "", "impulses": "nc"}
    return plant.traced(f"reset of {name}", after, AT, outputs)


def _array(values: Sequence[Any]) -> npt.NDArray[np.object_]:
    """Numbers of any scalar type as an array, which a reset gets in runs too, so that it may calculate -0.8 * v."""
    found = np.empty(len(values), dtype=object)
    found[:] = list(values)
    return found


def _instant(plant: Plant, at: LocalInstant) -> Instant:
    """An instant with the configuration q in place of local coordinates."""
    _, v, x = split(at.s, plant.nv)
    return Instant(at.t, plant.laws.place(at.base, at.s), v, x, at.m, at.u, at.p)
