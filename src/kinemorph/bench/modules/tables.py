"""The rows of `kinemorph bench modules` as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinemorph.bench.modules.scale import STAGES
from kinemorph.display.tables.grid import Grid

Row = dict[str, Any]


def modules_grids(rows: Sequence[Row]) -> list[Grid]:
    """Scale, forward dynamics, and a new topology."""
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        kinds.setdefault("scale" if row["kind"] == "growth" else row["kind"], []).append(row)
    return [_scale(kinds.get("scale", [])), _forward(kinds.get("forward", [])), _redock(kinds.get("redock", []))]


def _scale(rows: Sequence[Row]) -> Grid:
    """Sizes, then the exponents between the last two of them."""
    numbers = ("modules", "dof", *(stage.replace("_us", " µs").replace("_", " ") for stage in STAGES))
    lines = []
    for row in rows:
        if row["kind"] == "scale":
            figures = [f"{row[s]:,}" if isinstance(row[s], int) else _time(row[s]) for s in STAGES]
            lines.append([row["shape"], str(row["modules"]), str(row["nv"]), *figures])
            continue
        steep = [f"{row[stage]:.2f}" + "*" * (stage in row["steep"]) for stage in STAGES]
        lines.append([f"{row['shape']}, exponent", f"{row['from']} to {row['to']}", "", *steep])
    title = "scale: from a grid of cells to a run; * is not near linear"
    return Grid(title, ("assembly", *numbers), lines, numbers)


def _forward(rows: Sequence[Row]) -> Grid:
    """Forward dynamics: operations, times per evaluation of one state (in a batch), and peer / ours."""
    ways = {"": "ours", "measured_": "measured", "inputs_": "inputs"}
    own = ("dof", *(f"{name} {what}" for name in ways.values() for what in ("ops", "µs (batched)")))
    theirs = ("Pinocchio µs", "ratio (batched)", "MuJoCo µs", "ratio (batched) ", "differ by")
    lines = []
    for row in rows:
        figures = []
        for way in ways:
            figures.append(f"{row[f'{way}ops']:,}")
            figures.append(f"{_time(row[f'{way}scalar_us'])} ({_time(row[f'{way}batched_us'])})")
        for peer in ("pinocchio_us", "mujoco_us"):
            figures += _over(row[peer], row["scalar_us"], row["batched_us"])
        differences = f"{row['difference']:.0e}, {row['mujoco_difference']:.0e}"
        lines.append([row["robot"], str(row["nv"]), *figures, differences, row["peer"]])
    title = "forward dynamics: time per evaluation on one core; poses of dockings on the grid, measured, as inputs"
    return Grid(title, ("assembly", *own, *theirs, "peer"), lines, (*own, *theirs))


def _redock(rows: Sequence[Row]) -> Grid:
    """A new topology: from the event to the first step of it."""
    numbers = ("cold ms", "from disk ms", "seen ms", "caught up after")
    lines = []
    for row in rows:
        taken = [_time(row[key]) for key in ("cold_ms", "disk_ms", "seen_ms")]
        late = "" if row["caught_up"] is None else f"{row['caught_up']:,.0f}"
        names = [row["contestant"], row["method"], row["change"]]
        lines.append([*names, *taken, late, row["carries"], row["verdict"]])
    asked = ", ".join(dict.fromkeys(row["target"] for row in rows if row["target"]))
    title = f"a new topology of nine modules: from the event to its first step; targets [ms]: {asked}"
    return Grid(title, ("contestant", "method", "change", *numbers, "carries over", "verdict"), lines, numbers)


def _time(value: float) -> str:
    """A time with three figures."""
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def _over(value: float | None, scalar: float, batched: float) -> list[str]:
    """A peer's time, and how many times ours it is."""
    return ["", ""] if value is None else [_time(value), f"{value / scalar:.1f}x ({value / batched:.1f}x)"]
