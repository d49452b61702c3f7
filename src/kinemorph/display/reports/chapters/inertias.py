"""The bodies with their masses and inertias, and the joints between them."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.display.faces.document import Block, Grid, Paragraph, Section, Table
from kinemorph.display.faces.languages.words import INFINITY, MINUS, Words
from kinemorph.display.reports.subject import Subject
from kinemorph.display.tables.robot_tables import axes_text, coordinates_text, coupling_tables, per_velocity_tables
from kinemorph.display.tables.summaries import Data, robot_summary

FEW = 6  # names that are listed in a cell
MOMENTS = ("Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # of the moments in the matrix


def chapter(subject: Subject, words: Words) -> Section | None:
    """The tables of bodies, joints, limits and losses, and couplings."""
    data = robot_summary(subject.robot)
    if not data["bodies"]:
        return None
    blocks: list[Block] = [_bodies(data, words), *_joints(data, words)]
    losses = [grid._replace(rows=_alike(grid.rows, words)) for grid in per_velocity_tables(data["joints"])]
    keys = (words.grid(grid) for grid in (*losses, *coupling_tables(data["couplings"])))
    return Section("inertias", words("Bodies and joints"), (*blocks, *map(Table, keys)))


def _alike(rows: Sequence[Sequence[str]], words: Words) -> list[list[str]]:
    """The rows of a table in which names with the same values share a row."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name, *values in rows:
        found.setdefault(tuple(values), []).append(name)
    return [[words.listed(names, FEW), *values] for values, names in found.items()]


def _bodies(data: Data, words: Words) -> Table:
    """The table of masses, centers of mass and matrices of inertia, without columns that are zero for all bodies."""
    rows = [
        [
            body["name"],
            words.number(body["mass"], 6),
            words.numbers(body["com"]),
            *(words.number(body["inertia"][i][j]) for i, j in PLACES),
        ]
        for body in data["bodies"]
    ]
    shown = [k for k, (i, j) in enumerate(PLACES) if i == j or any(body["inertia"][i][j] for body in data["bodies"])]
    kept = [*range(3), *(3 + k for k in shown)]
    total = [words("total"), words.number(data["mass"], 6), *[""] * (len(kept) - 2)]
    columns = (words("body"), words("mass [kg]"), words("center of mass [m]"), *MOMENTS)
    note = words("Moments and products of inertia [kg m²] are about the center of mass, in the axes of the body.")
    names = tuple(columns[k] for k in kept)
    return Table(
        Grid(
            words("Masses, centers of mass and inertias"),
            names,
            [*([row[k] for k in kept] for row in rows), total],
            (words("mass [kg]"), *MOMENTS),
            heads=1,
            feet=1,
            note=note,
        )
    )


def _joints(data: Data, words: Words) -> list[Block]:
    """The table of joints in the order of q, and of those that close loops."""
    columns = ("joint", "kind", "parent", "child", "axis", "coordinates", "limits")
    rows = [
        [
            *(row["name"], words(row["kind"]), row["parent"], row["child"]),
            *(words.localized(axes_text(row)), coordinates_text(row), _limits(row, words)),
        ]
        for row in data["joints"]
    ]
    rows += [[row["name"], words(row["kind"]), row["parent"], row["child"], "", "", ""] for row in data["loops"]]
    kept = [k for k in range(len(columns)) if k < 4 or any(row[k] for row in rows)]
    grid = Grid("Joints", tuple(columns[k] for k in kept), [[row[k] for k in kept] for row in rows], heads=1)
    blocks: list[Block] = [Table(words.grid(grid))]
    if data["loops"]:
        told = words.counted(
            len(data["loops"]),
            "The last joint of this table closes a loop and has no coordinate: it is kept by constraints.",
            "The last {n} joints of this table close loops and have no coordinates: they are kept by constraints.",
        )
        blocks.append(Paragraph(told, "note"))
    return blocks


def _limits(row: Data, words: Words) -> str:
    """The limits of a joint, such as −1.5 … 1.5 rad; empty where there are none."""
    found = []
    for (low, high), unit in zip(row["limits"], row["q_units"], strict=True):
        if low is not None or high is not None:
            lower = f"{MINUS}{INFINITY}" if low is None else words.number(low)
            found.append(f"{lower} … {INFINITY if high is None else words.number(high)} {unit}")
    return ", ".join(found)
