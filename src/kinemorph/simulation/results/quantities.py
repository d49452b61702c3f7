"""Quantities of a robot that are computed where they are named: in columns of runs, and in texts that name signals.

    reaction.JOINT.fx fy fz [N], mx my mz [N m]     the wrench that the parent exerts on the child through a joint, or
                                                    through one that closes a loop, in the joint frame on the child
    position.PLACE.x y z [m]                        the origin of a body or a frame, in world axes

Both have one rule for names: GROUP.PART.COMPONENT. Texts name energies too, as columns do: energy.kinetic.
"""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import Any, NamedTuple

from kinemorph.mechanics.constraints.wrench_views import IN_JOINT
from kinemorph.model.robot import Robot
from kinemorph.plants.forces import place_names
from kinemorph.plants.initial_values import ACCOUNT
from kinemorph.plants.instant import Instant
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import Law

REACTION, POSITION = "reaction", "position"
COMPONENTS = {
    REACTION: {**dict.fromkeys(("fx", "fy", "fz"), "N"), **dict.fromkeys(("mx", "my", "mz"), "N m")},
    POSITION: dict.fromkeys("xyz", "m"),
}
ENERGIES = {"energy": ("kinetic", "potential"), "account": ("supplied", "dissipated", "balance")}  # by group


class Quantity(NamedTuple):
    """A component of a quantity: its group, its index in all components of the group, and its unit."""

    group: str
    place: int
    unit: str


def quantities(robot: Robot | None) -> dict[str, Quantity]:
    """The quantities of a robot by name; none where there is no robot."""
    if robot is None:
        return {}
    parts = {REACTION: [*robot.joint_names, *(loop.name for loop in robot.loops)], POSITION: place_names(robot)}
    found: dict[str, Quantity] = {}
    for group, names in parts.items():
        places = count()
        for part in names:
            for component, unit in COMPONENTS[group].items():
                found[f"{group}.{part}.{component}"] = Quantity(group, next(places), unit)
    return found


def unit_of(name: str) -> str:
    """The unit of a quantity, by its name."""
    return COMPONENTS[name.partition(".")[0]][name.rpartition(".")[2]]


def is_quantity(name: str) -> bool:
    """Whether a name is spelled like that of a quantity."""
    group, component = name.partition(".")[0], name.rpartition(".")[2]
    return component in COMPONENTS.get(group, ())


def quantity_laws(plant: Plant) -> dict[str, Law]:
    """The quantities and energies of a robot's plant as laws by name, functions of (t, q, v, x, m, u, p)."""
    if plant.robot is None:
        return {}
    last: list[Any] = [(None, {})]  # the configuration of the last instant, and the values at it by group

    def component(group: str, place: int, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> Any:
        at, known = last[0]
        if at is not q:
            last[0] = _, known = q, {}
        if group not in known:
            known[group] = _values(group, plant.laws, Instant(t, q, v, x, m, u, p))
        return known[group][place]

    found: dict[str, Law] = {name: partial(component, *one[:2]) for name, one in quantities(plant.robot).items()}
    energies = {f"energy.{name}": partial(component, "energy", k) for k, name in enumerate(ENERGIES["energy"])}
    states = [column.name for column in plant.x]
    counted = {f"energy.{name}": state for name, state in zip(ENERGIES["account"], ACCOUNT, strict=False)}
    read = {name: partial(_state, states.index(state)) for name, state in counted.items() if state in states}
    return {**energies, **read, **found}


def _state(place: int, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> Any:
    return x[place]


def _values(group: str, laws: Any, at: Instant) -> list[Any]:
    """All components of a group at an instant; laws of robots have them."""
    if group == "energy":
        return list(laws.mechanical(at.local))
    nv = len(at.v)
    if group == REACTION:
        rows = laws.reactions(at.local, laws.rate(at.local)[nv : 2 * nv], view=IN_JOINT)
    else:
        rows = laws.places(at.local)
    return [entry for row in rows for entry in row]
