"""Gears and racks: couplings given by their wheels.

    gear   n_joint q[joint] = -n_leader q[leader]       + where one wheel lies within the other
    rack           q[joint] = radius q[leader]          [m] by [rad]

Either becomes the multiplier of a coupling q[joint] = multiplier * q[leader] + offset. Angles are those of the joints,
about their own axes and against their own parents, so both wheels must hang on the body that carries their shafts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kinemorph.errors import Problem
from kinemorph.model.input_reader import Reader, short
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import Value, evaluate

Draft = dict[str, Any]


class Gearing(NamedTuple):
    """A kind of meshing: its name, and the units of the coordinates of joint and leader."""

    name: str
    units: tuple[str, str]


GEAR, RACK = Gearing("gear", ("rad", "rad")), Gearing("rack", ("m", "rad"))
GEARINGS = {"ratio": GEAR, "teeth": GEAR, "radius": RACK}  # by the key that says how they mesh
WORDS = {"rad": "turning", "m": "sliding"}


def read_multiplier(reader: Reader, draft: Draft) -> Value:
    """The multiplier of a coupling: a number, or the one that follows from ratio, teeth or radius."""
    given = [key for key in ("multiplier", *GEARINGS) if draft.get(key) is not None]
    if len(given) > 1:
        reader.at(given[1])
        reader.note(f"{' and '.join(given)} are given, expected one of them", "Leave the others out.")
        return 1.0
    key = given[0] if given else "ratio" if "ratio" in draft else "multiplier"
    internal = draft.get("internal", False)
    if internal is not True and internal is not False:
        reader.note(f"{reader.at('internal')} is {short(internal)}, expected True or False", "Leave it out for False.")
    if internal is True and GEARINGS.get(key) is not GEAR:
        problem = f"{reader.at('internal')} says how a gear meshes, but there is no gear"
        reader.note(problem, "Give ratio or teeth, or leave it out.")
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
        remedy = "Turn the axis of one joint for the other direction."
        reader.note(f"{what} is {short(raw)}, expected above 0", remedy)
        return 1.0
    return value


def gearing_problems(drafts: Sequence[Draft], joints: Sequence[Joint]) -> list[Problem]:
    """Gears between joints that do not turn, and racks that do not slide. The couplings have no other problem."""
    units = {joint.name: joint.table.q_units for joint in joints}
    found: list[Problem] = []
    for draft in drafts:
        mesh = next((mesh for key, mesh in GEARINGS.items() if draft.get(key) is not None), None)
        for role, unit in zip(("joint", "leader"), mesh.units if mesh else (), strict=False):
            if mesh and units[draft[role]] != (unit,):
                what = f"joint '{draft[role]}' is not {WORDS[unit]}, expected a {WORDS[unit]} {role} in a {mesh.name}"
                found.append(Problem("coupling", draft["joint"], what, "Swap the two, or give a multiplier.", role))
    return found
