"""Tables of Denavit-Hartenberg parameters: one row per joint of a serial arm, in both conventions.

    standard   T = Rot(z, theta) Trans(z d) Trans(x a) Rot(x, alpha)     frame i at the far end of link i
    modified   T = Rot(x, alpha) Trans(x a) Rot(z, theta) Trans(z d)     frame i at the near end (Craig): a and alpha of
                                                                        a row are those of the link before

A revolute joint adds q to theta, a prismatic one to d; `offset` is added to the same. The frames of the bodies are the
frames of the table; mass data are given in them. `base` is the pose of frame 0 in the world, `tool` that of the frame
"tool" in the last one.

Most tables have no masses. Such a robot has no dynamics, and none is made up: its links are massless, and every joint
has an armature of 1 kg m^2 or 1 kg, so that M is the identity matrix and is not taken for that of an arm. A warning
[massless] says so.

A file is text with commas (`.dh`, `.dh.csv`): comments that set something, a line of column names with units, and a
line per joint. Columns that are left out are 0, or none for limits:

    # convention: modified
    # name: arm
    # tool: 0 0 0.1
    kind,      alpha [deg], a [mm], theta [deg], d [mm], mass
    revolute,  0,           0,      0,           333,    4.9
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from kinemorph.algebra.groups import IDENTITY, Pose, compose, inverse
from kinemorph.errors import ModelError, ModelWarning, users_level
from kinemorph.formats.blueprint import Blueprint
from kinemorph.formats.dh.rows import LIMITS, Convention, Row, screw_x, screw_z
from kinemorph.formats.dh.tables import COLUMNS, Table, read_table
from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Options, Source, unused_sidecar
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.model.topology import WORLD

KINDS = ("revolute", "prismatic")
MASSLESS = (
    "the table has no masses, so there are no dynamics: links are massless and every joint has an armature of 1, "
    "which makes M the identity matrix"
)


def from_dh(
    rows: Sequence[Row | Mapping[str, Any]],
    convention: Convention = "standard",
    *,
    name: str = "arm",
    base: Pose = IDENTITY,
    tool: Pose = IDENTITY,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
) -> Robot:
    """The robot of a Denavit-Hartenberg table: a fixed serial arm with bodies link1, link2, ... and a frame "tool".

    Rows are `Row`s or dictionaries of their fields. A table without masses gives a robot of which only the kinematics
    mean anything, with a ModelWarning; see the head of this file. Raises ModelError with every mistake found.
    """
    if convention not in ("standard", "modified"):
        raise ModelError(f"the convention is {convention!r}, expected 'standard' or 'modified'. Choose one.")
    known = {entry.name for entry in fields(Row)}
    read = []
    for number, row in enumerate(rows, 1):
        if isinstance(row, Row):
            read.append(row)
            continue
        strange = [key for key in row if key not in known]
        if strange:
            raise ModelError(f"row {number} has {strange}, expected only {sorted(known - {'line'})}. Rename them.")
        read.append(Row(**row))
    builder = RobotBuilder(name, gravity)
    if _without_dynamics(read):
        warnings.warn(f"{name}: {MASSLESS}. Give masses for dynamics. [massless]", ModelWarning, users_level())
    for part, data in _parts(read, convention, base, tool):
        getattr(builder, part)(**data)
    return builder.build()


def read(source: Source, options: Options, findings: Findings) -> System | None:
    """The system of a DH file."""
    table = read_table(source, findings)
    if table is None or findings.failed:
        return None
    rows = [_row(table, values, line) for values, line in table.rows]
    blueprint = Blueprint(findings, table.name, words={"body": "link"}, gravity=table.gravity)
    if _without_dynamics(rows):
        findings.warn("massless", rows[0].line, "", MASSLESS, "Add a column 'mass', with center of mass and inertia.")
    if options.base == "free":
        findings.error("structure", 0, "", "a free base is asked for, expected an arm that stands", "Leave base out.")
    unused_sidecar(options, "a DH table", findings)
    lines = {index: row.line for index, row in enumerate(rows)}
    convention: Convention = "modified" if table.convention == "modified" else "standard"
    count = {"body": 0, "joint": 0, "frame": len(rows) - 1}
    for part, data in _parts(rows, convention, table.base, table.tool):
        getattr(blueprint, part)(lines[count[part]], **data)
        count[part] += 1
    return blueprint.system()


def _row(table: Table, values: dict[str, float | str], line: int) -> Row:
    """A line of a file as a row."""
    numbers = {key: value for key, value in values.items() if key in COLUMNS and not COLUMNS[key].part}
    com = tuple(float(values.get(key, 0.0)) for key in ("cx", "cy", "cz"))
    xx, yy, zz, xy, xz, yz = (float(values.get(key, 0.0)) for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
    inertia = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    return Row(**numbers, com=com, inertia=inertia, line=line)  # type: ignore[arg-type]


def _without_dynamics(rows: Sequence[Row]) -> bool:
    """Whether a table has neither masses nor armatures."""
    return bool(rows) and all(not row.mass and not row.armature for row in rows)


def _parts(rows: Sequence[Row], convention: Convention, base: Pose, tool: Pose) -> list[tuple[str, dict[str, Any]]]:
    """What to declare, as (kind of part, data)."""
    parts: list[tuple[str, dict[str, Any]]] = []
    parent, before = WORLD, base
    bare = _without_dynamics(rows)
    for number, row in enumerate(rows, 1):
        link = row.link or f"link{number}"
        parts.append(("body", {"name": link, "mass": row.mass or 0.0, "com": row.com, "inertia": row.inertia}))
        turning = row.kind != "prismatic"
        theta, d = row.theta + (row.offset if turning else 0.0), row.d + (0.0 if turning else row.offset)
        across, along = screw_x(row.a, row.alpha), screw_z(d, theta)
        placement = compose(before, across, along) if convention == "modified" else before
        behind = IDENTITY if convention == "modified" else inverse(compose(along, across))
        data = {key: getattr(row, key) for key in LIMITS}
        if bare:
            data["armature"] = 1.0
        kind = row.kind if row.kind in KINDS else f"{row.kind}, no row of a DH table"
        place = {"placement": placement, "child_placement": behind}
        name = row.joint or f"joint{number}"
        parts.append(("joint", {"name": name, "kind": kind, "parent": parent, "child": link, **place, **data}))
        parent, before = link, IDENTITY
    if rows:
        parts.append(("frame", {"name": "tool", "body": parent, "placement": tool}))
    return parts
