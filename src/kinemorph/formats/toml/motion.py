"""Reads the formulas of a TOML file by which things move: coordinates, dependents, positions and driven joints.

[coordinates.q0]                                  a coordinate: its unit, initial value and limits
[dependents]
gamma = "asin(lc * sin(q0) / lr)"                 a quantity that depends on coordinates and the time t
[bodies.rod]
position = "Trotz(q0) * Tdisp(0, -l0 / 2, 0)"     the position matrix of a body's center of mass
[joints.rotor]
driven = "50 * hip"                               the motion of a joint, by the coordinates of other joints
"""

from __future__ import annotations

from typing import Any

from kinemorph.algebra.notation import mth, trot, vec
from kinemorph.errors import Problem
from kinemorph.formats.blueprint import Blueprint
from kinemorph.formats.position_blueprint import PositionBlueprint
from kinemorph.formats.toml.fields import DEPENDENT, POSE_KEYS
from kinemorph.formats.toml.parameters import needs_of, report_circle
from kinemorph.formats.toml.values import At, Values
from kinemorph.model.expressions import ExpressionError, in_order
from kinemorph.model.input_reader import short
from kinemorph.model.joint import JOINT_KINDS
from kinemorph.model.parameter import TIME, Coordinate, Value
from kinemorph.model.positions.position_text import parse_position
from kinemorph.model.robot import Dependent

LAST_ROW = (0.0, 0.0, 0.0, 1.0)  # of a position matrix


def is_placed(data: dict[str, Any]) -> bool:
    """Whether a document describes a robot by coordinates and position matrices, and not by joints."""
    bodies = data.get("bodies")
    placed = isinstance(bodies, dict) and any(isinstance(body, dict) and "position" in body for body in bodies.values())
    return "coordinates" in data or placed


def joint_coordinates(joints: dict[str, Any]) -> dict[str, Value]:
    """The coordinates of all joints that are not driven, by name; `joints` is the table [joints]."""
    found: dict[str, Value] = {}
    for name, raw in joints.items():
        kind = raw.get("kind") if isinstance(raw, dict) and "driven" not in raw else None
        row = JOINT_KINDS.get(kind) if isinstance(kind, str) else None
        for suffix, unit in zip(row.q_names, row.q_units, strict=True) if row is not None and name else ():
            called = f"{name}.{suffix}" if suffix else name
            found[called] = Coordinate(called, 0.0, unit)
    return found


class Motion:
    """Reads formulas of one document. `names` are the values of all names that they may contain."""

    def __init__(self, values: Values, coordinates: dict[str, Value]) -> None:
        self.values = values
        self.names: dict[str, Value] = {**values.names, TIME.name: TIME, **coordinates}
        self.taken = {**dict.fromkeys(values.names, "parameter"), **dict.fromkeys(coordinates, "coordinate")}
        self.taken[TIME.name] = "time"

    def dependents(self, table: Any, blueprint: Blueprint) -> None:
        """Declares the dependents of the table [dependents], in the order of the file."""
        if not isinstance(table, dict):
            problem = f"'dependents' is {short(table)}, expected a table of formulas"
            self.values.error("structure", At(("dependents",), "", ""), problem, 'Write [dependents] and name = "...".')
            return
        formulas = {name: raw.get("formula", 0.0) if isinstance(raw, dict) else raw for name, raw in table.items()}
        for name in table:
            at = At(("dependents", name), f"dependent '{name}'", "")
            if not name.strip() or not name.isprintable():
                self.values.error("name", at, f"the name is {short(name)}, expected printable text", "Rename it.")
            elif name in self.taken:
                problem = f"there is a {self.taken[name]} of this name too, expected different names"
                self.values.error("name", at, problem, "Rename one of them.")
        ready, circle = in_order({name: needs_of(raw, table) for name, raw in formulas.items()})
        if circle:
            report_circle("dependents", circle, self.values)
            self.names |= {name: 0.0 for name in table if name not in ready}
        read: dict[str, Value] = {}
        for name in ready:
            at = At(("dependents", name), f"dependent '{name}'", "")
            if isinstance(table[name], dict) and "formula" not in table[name]:
                self.values.missing(at, "formula", DEPENDENT[0])
            place = at.key("formula") if isinstance(table[name], dict) else at
            self.names[name] = read[name] = self.values.value(formulas[name], place, "", self.names)
        for name, raw in table.items():
            at = At(("dependents", name), f"dependent '{name}'", "")
            data = self.values.table(raw, at, DEPENDENT[1:], skip=("formula",)) if isinstance(raw, dict) else {}
            line = self.values.lines.line(at.path)
            if name not in read:
                continue
            if isinstance(blueprint, PositionBlueprint):
                blueprint.dependent(line, name, read[name], data.get("unit", "rad"))
            else:
                blueprint.dependents.append(Dependent(name, read[name], data.get("unit", "rad")))

    def formulas(self, raw: Any, at: At) -> tuple[Value, ...]:
        """The formulas of a driven joint: one text or number, or a list of them."""
        if not isinstance(raw, list):
            return (self.values.value(raw, at, "", self.names),)
        return tuple(self.values.value(item, at.key(i), "", self.names) for i, item in enumerate(raw))

    def position(self, raw: Any, at: At) -> mth:
        """The position matrix of a text, or of four rows of four numbers and formulas."""
        if isinstance(raw, list):
            return self._matrix(raw, at)
        if not isinstance(raw, str):
            problem = f"position is {short(raw)}, expected a product of transforms as text"
            if isinstance(raw, dict) and not raw.keys().isdisjoint(POSE_KEYS):
                problem += ", not a pose"
            self.values.error(
                "structure",
                at,
                problem,
                'Write for example "Trotz(q0) * Tdisp(0, -0.5, 0)": a rotation by q0 about z, then a displacement [m].',
            )
            return mth()
        try:
            return parse_position(raw, self.names, hints=not self.values.findings.unlisted)
        except ExpressionError as error:
            problem_found = Problem.of(error.args[0], "Write products of Trotx, Troty, Trotz, Trotn, Tdisp and Tquat.")
            remedy = "Write ** for a power." if "^" in raw else problem_found.remedy
            self.values.error("number", at, f"position is {short(raw)}: {problem_found.what}", remedy)
            return mth()

    def _matrix(self, raw: list[Any], at: At) -> mth:
        rows = [
            [self.values.value(x, at.key(i).key(j), "", self.names) for j, x in enumerate(items)]
            for i, row in enumerate(self.values.items(raw, at, 4))
            for items in [self.values.items(row, at.key(i), 4)]
        ]
        if tuple(rows[3]) != LAST_ROW:
            problem = f"the last row of position is {short(raw[3] if len(raw) == 4 else raw)}, expected [0, 0, 0, 1]"
            self.values.error("rotation", at.key(3), problem, "Write [0, 0, 0, 1] as the last row.")
        return mth(trot([row[:3] for row in rows[:3]]), vec(*(row[3] for row in rows[:3])))
