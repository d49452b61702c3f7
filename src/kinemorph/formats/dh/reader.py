"""Tables of Denavit-Hartenberg parameters: one row per joint of a serial arm, in both conventions.

    standard   T = Rot(z, theta) Trans(z d) Trans(x a) Rot(x, alpha)     frame i at the far end of link i
    modified   T = Rot(x, alpha) Trans(x a) Rot(z, theta) Trans(z d)     frame i at the near end (Craig): a and alpha of
                                                                        a row belong to the previous link

A revolute joint adds q to theta, a prismatic one to d; `offset` is added to the same parameter. The frames of the
bodies are the frames of the table; mass data are given in these frames. `base` is the pose of frame 0 in the world,
`tool` is the pose of the frame "tool" in the last frame.

Most tables have no masses. Then the robot has kinematics only, and a warning [massless] says so.

A file (`.dh`, `.dh.csv`) is text with commas: comments with settings, a line of column names with units, and one line
per joint. Columns that are left out are 0; limits that are left out are infinite:

    # convention: modified
    # name: arm
    # tool: 0 0 0.1
    kind,      alpha [deg], a [mm], theta [deg], d [mm], mass
    revolute,  0,           0,      0,           333,    4.9
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from kinemorph.algebra.groups import IDENTITY, Pose, compose, inverse
from kinemorph.errors import ModelError
from kinemorph.formats.blueprint import Blueprint
from kinemorph.formats.dh.rows import LIMITS, Convention, Row, screw_x, screw_z
from kinemorph.formats.dh.tables import COLUMNS, Table, read_table
from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Options, Source, unused_sidecar
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.model.topology import WORLD
from kinemorph.words import did_you_mean, listed

KINDS = ("revolute", "prismatic")


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

    Rows are `Row`s or dictionaries of their fields. `base` is the pose of frame 0 in the world, `tool` that of the
    frame "tool" in the last frame, `gravity` the acceleration of free fall [m/s^2]. A table without masses gives a
    robot with kinematics only, and a ModelWarning. Raises ModelError with every problem found.
    """
    if convention not in ("standard", "modified"):
        raise ModelError(f"the convention is {convention!r}, expected 'standard' or 'modified'. Choose one of these.")
    known = {entry.name for entry in fields(Row)}
    read = []
    for number, row in enumerate(rows, 1):
        if isinstance(row, Row):
            read.append(row)
            continue
        strange = [key for key in row if key not in known]
        if strange:
            fields_known = listed(sorted(known - {"line"}), len(known))
            hint = did_you_mean(strange[0], known) or " Rename it, or leave it out."
            raise ModelError(f"row {number} has the key '{strange[0]}'; expected only {fields_known}.{hint}")
        read.append(Row(**row))
    wrong = [f"row {n}: the kind is {row.kind!r}" for n, row in enumerate(read, 1) if row.kind not in KINDS]
    if wrong:
        raise ModelError([f"{what}, expected 'revolute' or 'prismatic'. Choose one of these." for what in wrong])
    builder = RobotBuilder(name, gravity)
    for part, data in _parts(read, convention, base, tool):
        getattr(builder, part)(**data)
    return builder.build()


def read(source: Source, options: Options, findings: Findings) -> System | None:
    """The system of a DH file; None if it cannot be read, which is recorded as a finding."""
    table = read_table(source, findings)
    if table is None or findings.failed:
        return None
    rows = [_row(table, values, line) for values, line in table.rows]
    blueprint = Blueprint(findings, table.name, words={"body": "link"}, gravity=table.gravity)
    if options.base == "free":
        findings.error("structure", 0, "", "base is 'free', but a DH table describes a fixed arm", "Leave base out.")
    unused_sidecar(options, "a DH table", findings)
    lines = {index: row.line for index, row in enumerate(rows)}
    convention: Convention = "modified" if table.convention == "modified" else "standard"
    count = {"body": 0, "joint": 0, "frame": len(rows) - 1}
    for part, data in _parts(rows, convention, table.base, table.tool):
        getattr(blueprint, part)(lines[count[part]], **data)
        count[part] += 1
    return blueprint.system()


def _row(table: Table, values: dict[str, float | str], line: int) -> Row:
    """The row of a table whose cells are `values`, by column."""
    numbers = {key: value for key, value in values.items() if key in COLUMNS and not COLUMNS[key].part}
    com = tuple(float(values.get(key, 0.0)) for key in ("cx", "cy", "cz"))
    xx, yy, zz, xy, xz, yz = (float(values.get(key, 0.0)) for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
    inertia = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    return Row(**numbers, com=com, inertia=inertia, line=line)  # type: ignore[arg-type]


def _parts(rows: Sequence[Row], convention: Convention, base: Pose, tool: Pose) -> list[tuple[str, dict[str, Any]]]:
    """The parts of the robot, as pairs of the builder's method ("body", "joint" or "frame") and its arguments."""
    parts: list[tuple[str, dict[str, Any]]] = []
    parent, before = WORLD, base
    for number, row in enumerate(rows, 1):
        link = row.link or f"link{number}"
        parts.append(("body", {"name": link, "mass": row.mass or 0.0, "com": row.com, "inertia": row.inertia}))
        turning = row.kind != "prismatic"
        theta, d = row.theta + (row.offset if turning else 0.0), row.d + (0.0 if turning else row.offset)
        across, along = screw_x(row.a, row.alpha), screw_z(d, theta)
        placement = compose(before, across, along) if convention == "modified" else before
        behind = IDENTITY if convention == "modified" else inverse(compose(along, across))
        data = {key: getattr(row, key) for key in LIMITS}
        place = {"placement": placement, "child_placement": behind}
        name = row.joint or f"joint{number}"
        parts.append(("joint", {"name": name, "kind": row.kind, "parent": parent, "child": link, **place, **data}))
        parent, before = link, IDENTITY
    if rows:
        parts.append(("frame", {"name": "tool", "body": parent, "placement": tool}))
    return parts
