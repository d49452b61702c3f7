"""The initial values of a run that begins at a start of its system, by name.

What the user gives takes the place of the values of the start; the others follow the values that it names. A start may
leave loops open, because keyframes of other simulators do: their constraints are soft. It is then brought onto the
constraints, and a warning says how far it was away from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import KinemorphError, ShapeError
from kinemorph.mechanics.constraints.closures import constraint_owners
from kinemorph.model.elements import Constraint
from kinemorph.model.starts import GROUPS, Start
from kinemorph.model.system import start_of
from kinemorph.plants.programs import Plant
from kinemorph.simulation.stepping.initial_state import closed_start, stated
from kinemorph.simulation.stepping.violations import row_gaps, tell_moved

TOLD = 1e-9  # relative to the size of the loop: a start that is farther away from closed loops gives a warning


def start_values(plant: Plant, name: str, start: Start, given: Mapping[str, Any], t: float) -> dict[str, Any]:
    """The values of q, v, x, m, u and p in which a run begins at t [s]: those given, else those of the start.

    `given` has the values of each group as the user gave them, or None. Raises ShapeError, with the name of the start,
    for values that the plant does not have, and where no configuration near the start closes its loops.
    """
    try:
        found = {group: _overlaid(plant, group, start, given[group]) for group in GROUPS}
        found["p"] = given["p"]
        whole = any(given[group] is not None and not isinstance(given[group], Mapping) for group in "qv")
        if plant.laws.constraints is not None and not whole:  # a state that is given in full is judged as ever
            found |= _closed(plant, name, start, found, given, t)
    except KinemorphError as error:
        raise ShapeError(f"start '{name}': {error}") from None
    return found


def state_at(model: Any, plant: Plant, t: float, **given: Any) -> dict[str, Any]:
    """The values of q, v, x, m, u and p as they are given; where q is the name of a start, those of this start."""
    name = given["q"]
    if not isinstance(name, str):
        return given
    return start_values(plant, name, start_of(model, name), {**given, "q": None}, t)


def _overlaid(plant: Plant, group: str, start: Start, given: Any) -> Any:
    """The values of one group: those of the start, with those that are given in their place."""
    numbers = start.numbers(group)
    if numbers is None or not (given is None or isinstance(given, Mapping)):
        return given
    if not given:
        return numbers
    names = [column.name for column in getattr(plant, group)]
    whole = dict(zip(names, plant.initial(group, numbers).tolist(), strict=True))
    return {**(numbers if isinstance(numbers, dict) else whole), **given}


def named_values(plant: Plant, start: Start, given: Mapping[str, Any]) -> tuple[Mapping[str, float], ...]:
    """The values of q and of v by name that are given, and those that the start states, or else the model."""
    found = []
    for group in "qv":
        numbers, mine = start.numbers(group), given[group]
        if numbers is None or not (mine is None or isinstance(mine, Mapping)):
            known = stated(plant, group, mine)
        else:
            known = {**(numbers if isinstance(numbers, dict) else {}), **(mine or {})}
        found.append(known if isinstance(known, Mapping) else {})
    return tuple(found)


def _closed(
    plant: Plant, name: str, start: Start, found: Mapping[str, Any], given: Mapping[str, Any], t: float
) -> dict[str, Array]:
    """The q (nq,) and v (nv,) on the constraints that are nearest to the values found.

    Named values are kept; where a start states too many, only those that are given by name.
    """
    q, v, x, m, u, p = (plant.initial(group, found[group]) for group in "qvxmup")
    # an empty dict names no value, so that all of them may follow
    mine = tuple(given[group] if isinstance(given[group], Mapping) else {} for group in "qv")
    for kept in (named_values(plant, start, given), mine):
        try:
            state = closed_start(plant, t, (q, v, x, m, u, p), (*kept, found["m"]), enters=True)
            break
        except ShapeError:
            if kept == mine:
                raise
    phi, _, _, sizes = plant.compiled("constraints")(t, q, np.concatenate([0.0 * v, v, x]), m, u, p)
    of_robot = len(constraint_owners(plant.robot)) if plant.robot else 0
    own = [element.name for element in plant.elements if isinstance(element, Constraint)]
    rows = enumerate(plant.constraint_names[: len(phi)])
    counts = [k < of_robot or any(row == one or row.startswith(f"{one}.") for one in own) for k, row in rows]
    apart = np.where(counts, phi / sizes[: len(phi)], 0.0)  # points that are held, and contacts, hold at the beginning
    if kept[0] == mine[0] and float(np.abs(apart).max(initial=0.0)) > TOLD and not state.note:
        tell_moved(f"start '{name}' of '{plant.name}'", row_gaps(plant, apart, sizes), state.q - q)
    return {"q": state.q, "v": state.v}
