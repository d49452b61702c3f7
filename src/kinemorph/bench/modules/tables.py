"""The tables of `kinemorph bench modules` as text."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.bench.modules.scale import STAGES
from kinemorph.bench.tables import Column, grid, number, targets, text, three_digits
from kinemorph.bench.timing import Row
from kinemorph.display.tables.grid import Grid


def scale_grid(rows: Sequence[Row]) -> Grid:
    """The table of scale: for each shape, one line per size, then the exponents between the last two sizes."""

    def stage(name: str) -> Column:
        def cell(row: Row) -> str:
            if row["kind"] == "growth":
                return f"{row[name]:.2f}" + "*" * (name in row["steep"])
            return f"{row[name]:,}" if isinstance(row[name], int) else three_digits(row[name])

        return Column(name.replace("_us", " µs").replace("_", " "), cell)

    shape = Column("assembly", lambda row: row["shape"] + ", exponent" * (row["kind"] == "growth"), number=False)
    sizes = Column("modules", lambda row: str(row.get("modules") or f"{row['from']} to {row['to']}"))
    title = "scale: from a grid of cells to a run; * is not near linear"
    shown = (shape, sizes, Column("dof", lambda row: str(row.get("nv", ""))), *map(stage, STAGES))
    return grid(title, shown, [row for row in rows if row["kind"] in ("scale", "growth")])


def forward_grid(rows: Sequence[Row]) -> Grid:
    """The table of forward dynamics: operations, times per evaluation, and each peer's time divided by ours.

    Numbers in brackets are for states in a batch.
    """

    def both(header: str, prefix: str) -> Column:
        times = f"{prefix}scalar_us", f"{prefix}batched_us"
        return Column(header, lambda row: "{} ({})".format(*(three_digits(row[key]) for key in times)))

    def over(header: str, key: str) -> Column:
        ours = "scalar_us", "batched_us"
        return Column(
            header, lambda row: "{:.1f}x ({:.1f}x)".format(*(row[key] / row[one] for one in ours)) if row[key] else ""
        )

    shown: list[Column] = [text("assembly", "robot"), number("dof", "nv")]
    for prefix, name in {"": "ours", "measured_": "measured", "inputs_": "inputs"}.items():
        shown += [number(f"{name} ops", f"{prefix}ops", "{:,}"), both(f"{name} µs (batched)", prefix)]
    for peer, header in {"Pinocchio": "ratio (batched)", "MuJoCo": "ratio (batched) "}.items():
        key = f"{peer.lower()}_us"
        shown += [number(f"{peer} µs", key, three_digits), over(header, key)]
    shown.append(Column("differ by", lambda row: f"{row['difference']:.0e}, {row['mujoco_difference']:.0e}"))
    title = "forward dynamics: time per evaluation on one core; poses of dockings on the grid, measured, as inputs"
    return grid(title, (*shown, text("peer")), rows, "forward")


def redocking_grid(rows: Sequence[Row]) -> Grid:
    """The table of times from a docking or undocking to the first step of the new topology."""
    keys = {"cold ms": "cold_ms", "from disk ms": "disk_ms", "seen ms": "seen_ms"}
    times = [number(header, key, three_digits) for header, key in keys.items()]
    late = number("caught up after", "caught_up", "{:,.0f}")
    asked = targets(row for row in rows if row["kind"] == "redock")
    title = f"a new topology of nine modules: from the event to its first step; targets [ms]: {asked}"
    names = (text("contestant"), text("method"), text("change"))
    return grid(title, (*names, *times, late, text("carries over", "carries"), text("verdict")), rows, "redock")
