"""The rows of the tables as text: one grid for a terminal, and shorter ones for a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinemorph.bench.targets import STANDING
from kinemorph.display.tables.grid import Grid

Row = dict[str, Any]


def machine_grid(data: Row) -> Grid:
    """What the times belong to."""
    shown = {**data, "peak_gflops": f"{data['peak_gflops']:.1f} GFLOP/s on one core, double precision"}
    return Grid("machine", ("what", "value"), [[key.replace("_", " "), str(value)] for key, value in shown.items()])


# ── speed ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def speed_grid(rows: Sequence[Row], peak_gflops: float) -> Grid:
    """Every row: times, ratio, share of the core's peak, target and verdict."""
    numbers = ("dof", "ours µs", "peer µs", "ratio", "of peak")
    columns = ("robot", "dof", "algorithm", "mode", *numbers[1:], "peer", "target", "verdict")
    lines = []
    for row in rows:
        figures = ["", "", "", ""]
        if row["ours_us"] is not None:
            figures = [_time(row["ours_us"]), _time(row["peer_us"]), _ratio(row["ratio"])]
            computing = row["gflops"] is not None and row["mode"] in ("scalar", "batched")
            figures.append(f"{row['gflops'] / peak_gflops:.0%}" if computing else "")
        names = [row["robot"], str(row["nv"]), row["algorithm"], row["mode"]]
        lines.append([*names, *figures, row.get("peer", ""), row["target"], row["verdict"]])
    return Grid("time per evaluation, peer / ours", columns, lines, numbers)


def speed_pages(rows: Sequence[Row]) -> list[Grid]:
    """One grid for each mode: robots down, algorithms across; `ours µs (ratio)`, a star where a target is missed."""
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
    return f"{_time(row['ours_us'])} ({_ratio(row['ratio'])}){star}"


# ── building ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def building_grid(rows: Sequence[Row]) -> Grid:
    """Times from a robot to compiled code."""
    numbers = ("dof", "ops", "trace ms", "cold ms", "lanes ms", "warm ms", "warm lanes ms")
    keys = ("trace_ms", "cold_ms", "cold_lanes_ms", "warm_ms", "warm_lanes_ms")
    lines = [
        [
            *(row["robot"], str(row["nv"]), row["algorithm"], f"{row['ops']:,}"),
            *(f"{row[key]:.1f}" for key in keys),
            row["verdict"],
        ]
        for row in rows
    ]
    columns = ("robot", "dof", "algorithm", *numbers[1:], "verdict")
    asked = ", ".join(dict.fromkeys(row["target"] for row in rows if row["target"])) or "none"
    return Grid(f"from a robot to machine code; targets [ms]: {asked}", columns, lines, numbers)


def growth_grid(rows: Sequence[Row]) -> Grid:
    """Building and evaluating chains of growing length."""
    sizes, times = ("links", "algorithm", "ops"), ("trace ms", "compile ms", "lanes ms", "scalar µs", "batched µs")
    columns = (*sizes, *times, "ns per link", "peak MB")
    lines = []
    for row in rows:
        taken = [f"{row[key]:.0f}" for key in ("trace_ms", "compile_ms", "lanes_ms")]
        taken += [_time(row[key]) for key in ("scalar_us", "batched_us")]
        memory = "" if row["memory_mb"] is None else f"{row['memory_mb']:.0f}"
        lines.append(
            [str(row["links"]), row["algorithm"], f"{row['ops']:,}", *taken, f"{row['ns_per_link']:.0f}", memory]
        )
    return Grid("growth with the number of links", columns, lines, ("links", *columns[2:]))


def loading_grid(rows: Sequence[Row]) -> Grid:
    """From a URDF to a model and to a function that runs: medians, with minima in brackets."""
    numbers = ("links", "dof", "kB", "Pinocchio ms", "read ms", "ratio", "load ms", "cold ms", "warm ms")
    lines = []
    for row in rows:
        keys = ("peer", "read", "load", "cold", "warm")
        cells = {key: f"{_time(row[f'{key}_ms'])} ({_time(row[f'{key}_min_ms'])})" for key in keys}
        sizes = [row["robot"], str(row["links"]), str(row["nv"]), f"{row['kilobytes']:.0f}"]
        ahead = [cells["peer"], cells["read"], f"{row['ratio']:.2f}x ({row['ratio_min']:.2f}x)"]
        lines.append([*sizes, *ahead, cells["load"], cells["cold"], cells["warm"], row["verdict"]])
    return Grid("loading a URDF: median (minimum) of repeats", ("robot", *numbers, "verdict"), lines, numbers)


def replaying_grid(rows: Sequence[Row]) -> Grid:
    """Replays: size, and times to make, to open and to play."""
    numbers = ("bodies", "frames", "kB", "export s", "first s", "load s", "frame ms", "95 % ms")
    keys = ("export_s", "first_export_s", "load_s", "frame_ms", "frame_ms_95")
    lines = [
        [
            *(row["scene"], str(row["bodies"]), str(row["frames"]), f"{row['kilobytes']:.0f}"),
            *("" if row[key] is None else f"{row[key]:.2f}" for key in keys),
            row["verdict"],
        ]
        for row in rows
    ]
    asked = ", ".join(dict.fromkeys(row["target"] for row in rows))
    return Grid(f"replays of 10 s; targets: {asked}", ("scene", *numbers, "verdict"), lines, numbers)


def simulating_grid(rows: Sequence[Row]) -> Grid:
    """Runs of ten seconds, at the accuracy asked for or the one reached."""
    numbers = ("dof", "error rad", "ms", "ratio")
    lines = [
        [
            *(row["problem"], str(row["dof"]), row["contestant"], row["method"], row["setting"]),
            f"{row['error']:.1e}" + ("" if row["reached"] else " (too much)"),
            f"{row['ms']:.3g}" if row["ms"] < 100 else f"{row['ms']:.0f}",
            _ratio(row["ratio"]),
        ]
        for row in rows
        if row["kind"] == "run"
    ]
    title = "10 s of motion, angles to 1e-8 rad: time, and how many times ours"
    return Grid(title, ("problem", "dof", "contestant", "method", "setting", *numbers[1:]), lines, numbers)


def batches_grid(rows: Sequence[Row]) -> Grid:
    """Batches: steps per second, all states together."""
    numbers = ("ms", "M states x steps/s")
    lines = [
        [
            *(row["problem"], row["contestant"], row["method"], row["setting"], f"{row['ms']:.0f}"),
            f"{row['states_steps_per_second'] / 1e6:.1f}",
        ]
        for row in rows
        if row["kind"] == "batch"
    ]
    return Grid("batches in one call", ("problem", "on", "method", "setting", *numbers), lines, numbers)


def standing_grid(rows: Sequence[Row]) -> Grid:
    """Hexapods on the ground at equal error: the step that we need for it, and both times."""
    sizes = ("MuJoCo ms", "error", "its run ms", "our step ms", "ours ms", "ratio", "batched")
    pairs: dict[tuple[str, str, float], dict[str, Row]] = {}
    for row in rows:
        if row["kind"] == "ground":
            mode = row["contestant"].rpartition(", ")[2]
            pairs.setdefault((row["problem"], row["component"], row["peer_step"]), {})[mode] = row
    lines = []
    for (problem, component, step), pair in pairs.items():
        one, many = pair["one robot"], pair["batched"]
        figures = [f"{1e3 * step:g}", f"{one['error']:.1e} {one['unit']}", _time(one["peer_ms"])]
        if one["reached"]:
            ratios = [_ratio(row["ratio"]) + "*" * (row["verdict"] != "met") for row in (one, many)]
            figures += [f"{1e3 * one['step']:.3g}", _time(one["ms"]), *ratios]
        else:
            figures += ["not reached", "", "", ""]
        lines.append([problem, component, *figures, one["method"] or ""])
    asked = f"{_ratio(STANDING['one robot'])} and {_ratio(STANDING['batched'])}"
    title = f"hexapods on the ground for 10 s, at MuJoCo's error; * misses its target ({asked})"
    return Grid(title, ("problem", "component", *sizes, "method"), lines, sizes)


def curves_grid(rows: Sequence[Row]) -> Grid:
    """Errors and times of all steps that were tried on the ground."""
    numbers = ("step ms", "position m", "orientation rad", "joints rad", "ms", "batched ms")
    lines = [
        [
            *(row["problem"], row["contestant"], row["method"], f"{1e3 * row['step']:.3g}"),
            *("fails" if error is None else f"{error:.1e}" for error in row["errors"].values()),
            *(_time(row["ms"]), _time(row["batched_ms"])),
        ]
        for row in rows
        if row["kind"] == "point"
    ]
    title = "hexapods on the ground: RMS error against a sixteenth of the step, and time for 10 s"
    return Grid(title, ("problem", "contestant", "method", *numbers), lines, numbers)


# ── loops ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def looped_grid(rows: Sequence[Row]) -> Grid:
    """Forward dynamics of robots with loops."""
    ways = {"constraintDynamics µs": "constrained", "lcaba µs": "lcaba"}
    numbers = ("dof", "loops", "ours µs", *ways, "ratio", "growth", "differs by")
    lines = []
    for row in rows:
        if row["kind"] != "speed":
            continue
        figures = [""] * 5
        if row["ours_us"] is not None:
            taken = [row["peer_ways_us"].get(way) for way in ways.values()]
            figures = [_time(row["ours_us"]), *("" if x is None else _time(x) for x in taken), _ratio(row["ratio"])]
            figures.append("" if row["growth"] is None else f"{row['growth']:.2f}")
        names = [row["robot"], str(row["nv"]), str(row["loops"]), row["mode"]]
        lines.append([*names, *figures, f"{row['difference']:.0e}", row.get("peer", ""), row["target"], row["verdict"]])
    columns = ("robot", "dof", "loops", "mode", *numbers[2:], "peer", "target", "verdict")
    return Grid("forward dynamics with closed loops: time per evaluation, faster peer / ours", columns, lines, numbers)


def loop_runs_grid(rows: Sequence[Row]) -> Grid:
    """Ten seconds of a four-bar: how far its loop opens, how wrong its crank is, how long it takes; and what we take
    to be at least as good in both.
    """
    numbers = ("loop error m", "angle error rad", "ms", "ours ms", "ratio")
    lines = []
    for row in rows:
        if row["kind"] != "run":
            continue
        figures = [_error(row["loop_error"]), _error(row["angle_error"]), _time(row["ms"])]
        if row["peer"]:
            beaten = row["ours_ms"] is not None
            figures += [_time(row["ours_ms"]), _ratio(row["ratio"])] if beaten else ["not reached", ""]
        else:
            figures += ["", ""]
        lines.append([row["contestant"], row["method"], row["setting"], *figures])
    title = "a four-bar for 10 s: errors, time, and our time for errors no larger than these"
    return Grid(title, ("contestant", "method", "setting", *numbers), lines, numbers)


def _error(error: float | None) -> str:
    return "fails" if error is None else f"{error:.1e}"


def _time(us: float) -> str:
    """A time with three figures."""
    return f"{us:.3g}" if us < 100 else f"{us:.0f}"


def _ratio(ratio: float) -> str:
    return f"{ratio:.1f}x" if ratio < 100 else f"{ratio:.0f}x"
