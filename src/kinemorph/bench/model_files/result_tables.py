"""Tables of robots from files: at equal error, and where nothing is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from kinemorph.bench.tables import Column, grid, number, ratio, table, text, three_digits
from kinemorph.bench.targets import FILES
from kinemorph.bench.timing import Row
from kinemorph.display.faces.grid import Grid

BY_DEFAULT = "file by default"  # the kind of rows that are not compared at equal error


def _setting(header: str, prefix: str) -> Column:
    """The method and the setting of a contestant, whose keys have a prefix."""
    method, setting = f"{prefix}method", f"{prefix}setting"
    return Column(header, lambda row: f"{row[method]}, {row[setting]}" if row[method] else "not reached", False)


def _starred(header: str, key: str, mode: str) -> Column:
    """A ratio, with a star where it misses the target of files in a mode."""
    return number(header, key, lambda value: ratio(value) + ("" if value >= FILES[mode] else "*"))


def _files_title(rows: Sequence[Row]) -> str:
    files = [row for row in rows if row["kind"] == "file"]
    error = f"{files[0]['wanted']:g}" if files else ""
    least = f"{ratio(FILES['one robot'])} and {ratio(FILES['batched'])}"
    return f"5 s of robots from files, every component of q and v to {error}; * misses its target ({least})"


# robots from files: settings, times and ratios at equal error, single and batched
files_grid = table(
    _files_title,
    *(text("file", "problem"), number("dof"), number("contacts")),
    *(number("horizon s", "horizon", "{:.1f}"), number("models apart", "apart", "{:.0e}")),
    *(_setting("MuJoCo", "peer_"), number("its ms", "peer_ms", three_digits)),
    *(_setting("ours", ""), number("ours ms", "ms", three_digits), _starred("ratio", "ratio", "one robot")),
    *(number("its batch ms", "peer_batch_ms", three_digits), number("our batch ms", "batch_ms", three_digits)),
    _starred("batched", "batch_ratio", "batched"),
    kind="file",
)


def _defaults_title(rows: Sequence[Row]) -> str:
    medians = []
    for what, fixed in (("fixed", True), ("free", False)):
        own = [row for row in rows if row["default_ratio"] and row["fixed"] is fixed]
        pairs = [(median(row[key] for row in own)) for key in ("default_ratio", "default_batch_ratio")] if own else []
        medians += [f"{len(own)} with a {what} base: {ratio(pairs[0])}, batched {ratio(pairs[1])}"] if pairs else []
    whose = f"medians of {'; '.join(medians) or 'no file'}"
    return f"5 s of robots from files by default, beside MuJoCo at the step of the file; {whose}"


def defaults_grid(rows: Sequence[Row]) -> Grid:
    """Robots from files: times and errors of both where nothing is chosen."""
    shown = (
        *(
            text("file", "problem"),
            Column("base", lambda row: {True: "fixed", False: "free"}.get(row["fixed"], ""), False),
        ),
        *(number("horizon s", "horizon", "{:.1f}"), number("its step ms", "file_step", lambda step: f"{1e3 * step:g}")),
        *(number("its error", "file_error", "{:.1e}"), text("ours", "default_method")),
        *(number("our error", "default_error", "{:.1e}"), number("its ms", "file_ms", three_digits)),
        *(number("with contacts of bodies", "whole_ms", three_digits), number("ours ms", "default_ms", three_digits)),
        *(number("ratio", "default_ratio", ratio), number("its batch ms", "file_batch_ms", three_digits)),
        *(number("our batch ms", "default_batch_ms", three_digits), number("batched", "default_batch_ratio", ratio)),
    )
    own = [row for row in rows if row["kind"] in ("file", BY_DEFAULT)]
    return grid(_defaults_title(own), shown, own)
