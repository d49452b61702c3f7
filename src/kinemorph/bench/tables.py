"""How measured rows become tables of text: columns, and the functions that make tables from them.

A column is a header and a function from a row to the text of a cell; columns of numbers are aligned to the right. The
tables themselves are in `result_tables`; only those of the machine and of speeds are here. `speed_grid` is the complete
table of speeds for a terminal, `speed_pages` a shorter one for a Markdown page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from kinemorph.bench.timing import Row
from kinemorph.display.faces.grid import Grid

MakeGrid = Callable[[Sequence[Row]], Grid]  # makes a table of text from rows


class Column(NamedTuple):
    """A column of a table: its header, the function that makes the cell of a row, and whether cells are numbers."""

    header: str
    cell: Callable[[Row], str]
    number: bool = True


def text(header: str, key: str | None = None) -> Column:
    """A column of texts, from the value of a row under `key` (by default the header); empty where it is missing."""
    return Column(header, lambda row: str(row.get(key or header) or ""), number=False)


def number(header: str, key: str | None = None, form: str | Callable[[Any], str] = "{}", missing: str = "") -> Column:
    """A column of numbers, from the value of a row under `key` (by default the header).

    `form` is a format or a function that writes a number; `missing` is written for None.
    """
    written = form.format if isinstance(form, str) else form
    return Column(header, lambda row: missing if row[key or header] is None else written(row[key or header]))


def grid(title: str, columns: Iterable[Column], rows: Iterable[Row], kind: str | None = None) -> Grid:
    """The table of the rows whose "kind" is `kind`, or of all rows."""
    columns = tuple(columns)
    lines = [[column.cell(row) for column in columns] for row in rows if kind is None or row["kind"] == kind]
    headers = tuple(column.header for column in columns)
    return Grid(title, headers, lines, tuple(column.header for column in columns if column.number))


def table(title: str | Callable[[Sequence[Row]], str], *columns: Column, kind: str | None = None) -> MakeGrid:
    """A function that makes a table of the rows whose "kind" is `kind`, or of all rows.

    `title` may depend on the rows.
    """
    return lambda rows: grid(title if isinstance(title, str) else title(rows), columns, rows, kind)


def three_digits(value: float) -> str:
    """A time as text, with three significant digits."""
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def ratio(value: float) -> str:
    """A ratio of times as text, as `7.3x`."""
    return f"{value:.1f}x" if value < 100 else f"{value:.0f}x"


def targets(rows: Iterable[Row]) -> str:
    """The different targets of the rows as text, separated by commas."""
    return ", ".join(dict.fromkeys(row["target"] for row in rows if row["target"]))


def machine_grid(data: Row) -> Grid:
    """The table that describes the machine on which the times were measured."""
    shown = {**data, "peak_gflops": f"{data['peak_gflops']:.1f} GFLOP/s on one core, double precision"}
    return Grid("machine", ("what", "value"), [[key.replace("_", " "), str(value)] for key, value in shown.items()])


# ── speed ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

ROBOT, DOF = text("robot"), number("dof", "nv")
TIMES = (number("ours µs", "ours_us", three_digits), number("peer µs", "peer_us", three_digits))
TIME = number("ms", "ms", three_digits)
ENTRY = (text("contestant"), text("method"), text("setting"))
RATIO, TARGET, VERDICT = number("ratio", "ratio", ratio), text("target"), text("verdict")


def speed_grid(rows: Sequence[Row], peak_gflops: float) -> Grid:
    """The complete table of speeds: times, ratio, share of the core's peak speed, target and verdict of every row."""

    def of_peak(row: Row) -> str:
        computing = row.get("gflops") is not None and row["mode"] in ("scalar", "batched")
        return f"{row['gflops'] / peak_gflops:.0%}" if computing else ""

    shown = (ROBOT, DOF, text("algorithm"), text("mode"), *TIMES, RATIO, Column("of peak", of_peak))
    return grid("time per evaluation, peer / ours", (*shown, text("peer"), TARGET, VERDICT), rows)


def speed_pages(rows: Sequence[Row]) -> list[Grid]:
    """One table of speeds per mode, with a line per robot and a column per algorithm.

    A cell is `our time in µs (ratio)`, with a star where a target is missed.
    """
    robots, algorithms, modes = (
        list(dict.fromkeys(row[key] for row in rows)) for key in ("robot", "algorithm", "mode")
    )
    cells = {(row["robot"], row["algorithm"], row["mode"]): row for row in rows}
    dof = {row["robot"]: row["nv"] for row in rows}
    grids = []
    for mode in modes:
        lines = [
            [f"{robot} ({dof[robot]})", *(_cell(cells.get((robot, algorithm, mode))) for algorithm in algorithms)]
            for robot in robots
        ]
        title = f"{mode}: ours in µs (peer / ours); * misses its target"
        grids.append(Grid(title, ("robot (dof)", *algorithms), lines, tuple(algorithms)))
    return grids


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    if row["ours_us"] is None:
        return "differs"
    star = "*" if row["verdict"].startswith("missed") else ""
    return f"{three_digits(row['ours_us'])} ({ratio(row['ratio'])}){star}"
