"""The table of `kinemorph bench simulate --files` as text."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.bench.tables import Column, number, ratio, text, three_digits
from kinemorph.bench.tables import grid as made
from kinemorph.bench.targets import FILES
from kinemorph.bench.timing import Row
from kinemorph.display.tables.grid import Grid


def files_grid(rows: Sequence[Row]) -> Grid:
    """The table of robots from files: settings, times and ratios at equal error, single and batched."""

    def entry(header: str, prefix: str) -> Column:
        keys = [f"{prefix}{key}" for key in ("method", "setting")]
        return Column(header, lambda row: ", ".join(row[key] for key in keys) if row[keys[0]] else "not reached", False)

    def judged(header: str, key: str, mode: str) -> Column:
        def cell(row: Row) -> str:
            return "" if row[key] is None else ratio(row[key]) + ("" if row[key] >= FILES[mode] else "*")

        return Column(header, cell)

    shown = (
        *(text("file", "problem"), number("dof"), number("contacts")),
        *(number("horizon s", "horizon", "{:.1f}"), number("models apart", "apart", "{:.0e}")),
        *(entry("MuJoCo", "peer_"), number("its ms", "peer_ms", three_digits)),
        *(entry("ours", ""), number("ours ms", "ms", three_digits), judged("ratio", "ratio", "one robot")),
        *(number("its batch ms", "peer_batch_ms", three_digits), number("our batch ms", "batch_ms", three_digits)),
        judged("batched", "batch_ratio", "batched"),
    )
    files = [row for row in rows if row["kind"] == "file"]
    error = f"{files[0]['wanted']:g}" if files else ""
    least = f"{ratio(FILES['one robot'])} and {ratio(FILES['batched'])}"
    title = f"5 s of robots from files, every component of q and v to {error}; * misses its target ({least})"
    return made(title, shown, files)
