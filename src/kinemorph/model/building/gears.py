"""Gears and racks: couplings given by numbers of teeth, a ratio or a radius.

    gear   n_joint q[joint] = -n_leader q[leader]       n: numbers of teeth; + instead of - for an internal gear
    rack           q[joint] = radius q[leader]          q[joint] [m], q[leader] [rad]

Both become a coupling q[joint] = multiplier * q[leader] + offset. The angles are those of the joints, about their own
axes and relative to their own parents, so both joints should have the same parent, the body that carries the shafts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kinemorph.errors import Problem
from kinemorph.model.input_reader import Reader, short
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import Value, evaluate
from kinemorph.words import listed

Draft = dict[str, Any]


class Gearing(NamedTuple):
    """A gear or a rack: its name, and the units of the coordinates of joint and leader."""

    name: str
    units: tuple[str, str]


GEAR, RACK = Gearing("gear", ("rad", "rad")), Gearing("rack", ("m", "rad"))
GEARINGS = {"ratio": GEAR, "teeth": GEAR, "radius": RACK}  # by the argument that is given
WORDS = {"rad": "rotational", "m": "translational"}


def read_multiplier(reader: Reader, draft: Draft) -> Value:
    """The multiplier of a coupling, given as such or computed from ratio, teeth or radius."""
    given = [key for key in ("multiplier", *GEARINGS) if draft.get(key) is not None]
    if len(given) > 1:
        reader.at(given[1])
        reader.note(f"{listed(given)} are given together, expected one of them", "Leave the others out.")
        return 1.0
    key = given[0] if given else "ratio" if "ratio" in draft else "multiplier"
    internal = draft.get("internal", False)
    if internal is not True and internal is not False:
        reader.note(f"{reader.at('internal')} is {short(internal)}, expected True or False", "Leave it out for False.")
    if internal is True and GEARINGS.get(key) is not GEAR:
        problem = f"{reader.at('internal')} is given, but the coupling is not a gear"
        reader.note(problem, "Give ratio or teeth, or leave internal out.")
    if key == "multiplier":
        return reader.number(reader.at("multiplier"), draft.get("multiplier", 1.0))
    if not given:
        reader.note("a gear has neither ratio nor teeth, expected one of them", "Give ratio=... or teeth=(n1, n2).")
        return 1.0
    if key == "radius":
        return _positive(reader, reader.at(key), draft[key])
    sign = 1.0 if internal is True else -1.0
    if key == "ratio":
        return sign / _positive(reader, reader.at(key), draft[key])
    counts = reader.items(reader.at(key), draft[key], 2) or (1.0, 1.0)
    mine, leaders = (_positive(reader, f"{key}[{i}]", count) for i, count in enumerate(counts))
    return sign * leaders / mine


def _positive(reader: Reader, what: str, raw: Any) -> Value:
    before = len(reader.problems)
    value = reader.number(what, raw, instead=1.0)
    if len(reader.problems) == before and not float(evaluate(value)) > 0.0:
        remedy = "Give a positive number; to change the direction, reverse the axis of one joint."
        reader.note(f"{what} is {short(raw)}, expected a number above 0", remedy)
        return 1.0
    return value


def gearing_problems(drafts: Sequence[Draft], joints: Sequence[Joint]) -> list[Problem]:
    """Problems with gears between joints that do not turn, and with racks that do not slide.

    The couplings must have no other problems.
    """
    units = {joint.name: joint.table.q_units for joint in joints}
    found: list[Problem] = []
    for draft in drafts:
        mesh = next((mesh for key, mesh in GEARINGS.items() if draft.get(key) is not None), None)
        for role, unit in zip(("joint", "leader"), mesh.units if mesh else (), strict=False):
            if mesh and units[draft[role]] != (unit,):
                what = f"joint '{draft[role]}' is not {WORDS[unit]}, expected a {WORDS[unit]} {role} in a {mesh.name}"
                remedy = "Swap joint and leader, or give a multiplier."
                found.append(Problem("coupling", draft["joint"], what, remedy, role))
    return found
