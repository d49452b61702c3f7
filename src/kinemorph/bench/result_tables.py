"""The tables of `kinemorph bench`: a title, and the columns that are shown of measured rows.

Functions named `*_grid` make a table from rows; most of them show the rows of one kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kinemorph.bench.modules.scale import STAGES
from kinemorph.bench.studio.watched_pages import PATIENCE
from kinemorph.bench.tables import (
    DOF,
    ENTRY,
    RATIO,
    ROBOT,
    TARGET,
    TIME,
    TIMES,
    VERDICT,
    Column,
    grid,
    number,
    ratio,
    table,
    targets,
    text,
    three_digits,
)
from kinemorph.bench.targets import COCKROACH, REAL_TIME, STANDING
from kinemorph.bench.timing import Row
from kinemorph.display.faces.grid import Grid


def _rows_of(rows: Iterable[Row], kind: str) -> list[Row]:
    """The rows whose "kind" is `kind`."""
    return [row for row in rows if row["kind"] == kind]


def _error(error: float | None) -> str:
    return "fails" if error is None else f"{error:.1e}"


DIFFERENCE, PEER = number("differs by", "difference", "{:.0e}"), text("peer")

# ── building ──────────────────────────────────────────────────────────────────────────────────────────────────────────

BUILT = {
    "trace ms": "trace_ms",
    "cold ms": "cold_ms",
    "lanes ms": "cold_lanes_ms",
    "warm ms": "warm_ms",
    "warm lanes ms": "warm_lanes_ms",
}
OPS = number("ops", form="{:,}")

# the times from a robot to compiled code
building_grid = table(
    lambda rows: f"from a robot to machine code; targets [ms]: {targets(rows) or 'none'}",
    *(ROBOT, DOF, text("algorithm"), OPS),
    *(number(header, key, "{:.1f}") for header, key in BUILT.items()),
    VERDICT,
)
# the times to build and to evaluate functions of longer and longer chains
growth_grid = table(
    "growth with the number of links",
    *(number("links"), text("algorithm"), OPS),
    *(number(f"{stage} ms", f"{stage}_ms", "{:.0f}") for stage in ("trace", "compile", "lanes")),
    *(number(f"{mode} µs", f"{mode}_us", three_digits) for mode in ("scalar", "batched")),
    *(number("ns per link", "ns_per_link", "{:.0f}"), number("peak MB", "memory_mb", "{:.0f}")),
)


def _median(header: str, key: str) -> Column:
    """The median of a time [ms], with its minimum in brackets."""
    return Column(header, lambda row: f"{three_digits(row[f'{key}_ms'])} ({three_digits(row[f'{key}_min_ms'])})")


# the times from a URDF to a model and to a compiled function
loading_grid = table(
    "loading a URDF: median (minimum) of repeats",
    *(ROBOT, number("links"), DOF, number("kB", "kilobytes", "{:.0f}")),
    *(_median("Pinocchio ms", "peer"), _median("read ms", "read")),
    Column("ratio", lambda row: f"{row['ratio']:.2f}x ({row['ratio_min']:.2f}x)"),
    *(_median(f"{key} ms", key) for key in ("load", "cold", "warm")),
    VERDICT,
)
REPLAYED = {
    "export s": "export_s",
    "first s": "first_export_s",
    "load s": "load_s",
    "frame ms": "frame_ms",
    "95 % ms": "frame_ms_95",
}
# replay pages: size, and times to make, to open and to play them
replaying_grid = table(
    lambda rows: f"replays of 10 s; targets: {targets(rows)}",
    *(text("scene"), number("bodies"), number("frames"), number("kB", "kilobytes", "{:.0f}")),
    *(number(header, key, "{:.2f}") for header, key in REPLAYED.items()),
    VERDICT,
)

# ── runs ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

# runs of ten seconds, at the required accuracy, or at the best one that was reached
simulating_grid = table(
    "10 s of motion, angles to 1e-8 rad: time, and ratio to our time",
    *(text("problem"), number("dof"), *ENTRY),
    Column("error rad", lambda row: f"{row['error']:.1e}" + ("" if row["reached"] else " (too much)")),
    *(TIME, RATIO),
    kind="run",
)
# batches: steps per second, summed over all states of a batch
batches_grid = table(
    "batches in one call",
    *(text("problem"), text("on", "contestant"), *ENTRY[1:], number("ms", form="{:.0f}")),
    Column("M states x steps/s", lambda row: f"{row['states_steps_per_second'] / 1e6:.1f}"),
    kind="batch",
)
# quadrupeds on terrain: times of one gait and of a batch of gaits on one core, their ratios to those on a plane, and
# MuJoCo's time for the batch
terrain_grid = table(
    lambda rows: f"trotting quadrupeds on one core; targets of the map: {targets(_rows_of(rows, 'terrain'))}",
    *(text("problem"), text("method"), text("gaits", "setting")),
    *(number("one ms", "ms", three_digits), number("over plane", "over_plane", ratio)),
    *(number("batch ms", "batch_ms", three_digits), number("batch over plane", "batch_over_plane", ratio)),
    *(number("MuJoCo ms", "peer_ms", three_digits), RATIO, VERDICT),
    kind="terrain",
)


def standing_grid(rows: Sequence[Row]) -> Grid:
    """The table that compares hexapods on the ground at equal error."""
    return equal_error_grid(rows, "ground", "hexapods on the ground for 10 s", STANDING)


def cockroach_grid(rows: Sequence[Row]) -> Grid:
    """The table that compares cockroaches on the ground at equal error."""
    title = f"a cockroach for 0.96 s, at least {REAL_TIME:g} times real time"
    return equal_error_grid(rows, "cockroach", title, COCKROACH, number("real time", "real_time", "{:.0f}x"))


def equal_error_grid(rows: Sequence[Row], kind: str, title: str, asked: Mapping[str, float], *more: Column) -> Grid:
    """The table of comparisons at equal error, from rows of one kind; `asked` are the least ratios of both modes.

    A row gives MuJoCo's step size, error and run time, our step size at which our error is as large, our run time, and
    the ratio of the two run times.
    """
    many = {_comparison(row): row for row in rows if row["kind"] == kind and "batched" in row["contestant"]}

    def reached(header: str, cell: Callable[[Row], str], missing: str = "") -> Column:
        return Column(header, lambda row: cell(row) if row["reached"] else missing)

    def judged(row: Row) -> str:
        return f"{ratio(row['ratio'])}{'' if row['verdict'] == 'met' else '*'}"

    shown = (
        *(text("problem"), text("component")),
        Column("MuJoCo ms", lambda row: f"{1e3 * row['peer_step']:g}"),
        Column("error", lambda row: f"{row['error']:.1e} {row['unit']}"),
        number("its run ms", "peer_ms", three_digits),
        reached("our step ms", lambda row: f"{1e3 * row['step']:.3g}", "not reached"),
        reached("ours ms", lambda row: three_digits(row["ms"])),
        reached("ratio", judged),
        reached("batched", lambda row: judged(many[_comparison(row)])),
        *(*more, text("method")),
    )
    least = f"{ratio(asked['one robot'])} and {ratio(asked['batched'])}"
    full = f"{title}, at MuJoCo's error; * misses its target ({least})"
    return grid(full, shown, [row for row in rows if row not in many.values()], kind)


def _comparison(row: Row) -> tuple[Any, ...]:
    return row["problem"], row["component"], row["peer_step"]


def _component(header: str, name: str) -> Column:
    return Column(header, lambda row: _error(row["errors"][name]))


# errors and times of robots on the ground, for all step sizes that were tried
curves_grid = table(
    "robots on the ground: RMS error against a sixteenth of the step, and time for the whole run",
    *(text("problem"), *ENTRY[:2]),
    Column("step ms", lambda row: f"{1e3 * row['step']:.3g}"),
    _component("position m", "base position"),
    _component("orientation rad", "base orientation"),
    _component("joints rad", "joint angles"),
    *(TIME, number("batched ms", "batched_ms", three_digits)),
    kind="point",
)


# ── loops ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _peer_way(header: str, algorithm: str) -> Column:
    """The time of one of Pinocchio's algorithms [µs], where it was measured."""
    times: Callable[[Row], Any] = lambda row: row.get("peer_ways_us", {}).get(algorithm)  # noqa: E731
    return Column(header, lambda row: "" if times(row) is None else three_digits(times(row)))


def _as_accurate(row: Row) -> str:
    """The time of our fastest run whose errors are not larger than those of a peer's run."""
    if not row["peer"]:
        return ""
    return three_digits(row["ours_ms"]) if row["ours_ms"] else "not reached"


looped_grid = table(
    "forward dynamics with closed loops: time per evaluation, faster peer / ours",
    *(ROBOT, DOF, number("loops"), text("mode"), TIMES[0]),
    *(_peer_way("constraintDynamics µs", "constrained"), _peer_way("lcaba µs", "lcaba"), RATIO),
    *(number("growth", form="{:.2f}"), DIFFERENCE, PEER, TARGET, VERDICT),
    kind="speed",
)
# ten seconds of a four-bar: the gap of its loop, the error of its crank, and the time of the run
loop_runs_grid = table(
    "a four-bar for 10 s: errors, time, and our time for errors no larger than these",
    *ENTRY,
    number("loop error m", "loop_error", _error, "fails"),
    number("angle error rad", "angle_error", _error, "fails"),
    *(TIME, Column("ours ms", _as_accurate), RATIO),
    kind="run",
)

# ── assemblies of modules ─────────────────────────────────────────────────────────────────────────────────────────────


def _stage(name: str) -> Column:
    """The time or the size of a stage; in rows of growth, its exponent."""

    def cell(row: Row) -> str:
        if row["kind"] == "growth":
            return f"{row[name]:.2f}" + "*" * (name in row["steep"])
        return f"{row[name]:,}" if isinstance(row[name], int) else three_digits(row[name])

    return Column(name.replace("_us", " µs").replace("_", " "), cell)


def scale_grid(rows: Sequence[Row]) -> Grid:
    """The table of scale: for each shape, one line per size, then the exponents between the last two sizes."""
    shape = Column("assembly", lambda row: row["shape"] + ", exponent" * (row["kind"] == "growth"), number=False)
    sizes = Column("modules", lambda row: str(row.get("modules") or f"{row['from']} to {row['to']}"))
    title = "scale: from a grid of cells to a run; * is not near linear"
    shown = (shape, sizes, Column("dof", lambda row: str(row.get("nv", ""))), *map(_stage, STAGES))
    return grid(title, shown, [row for row in rows if row["kind"] in ("scale", "growth")])


def _both(header: str, prefix: str) -> Column:
    """The times for one state, and in brackets for states in a batch [µs]."""
    times = f"{prefix}scalar_us", f"{prefix}batched_us"
    return Column(header, lambda row: "{} ({})".format(*(three_digits(row[key]) for key in times)))


def _over(header: str, key: str) -> Column:
    """A peer's time divided by ours, and in brackets by ours in a batch."""
    return Column(header, lambda row: _ratios(row[key], row))


def _ratios(peer_us: float | None, row: Row) -> str:
    return f"{peer_us / row['scalar_us']:.1f}x ({peer_us / row['batched_us']:.1f}x)" if peer_us else ""


# forward dynamics: operations, times per evaluation, and each peer's time divided by ours
forward_grid = table(
    "forward dynamics: time per evaluation on one core; poses of dockings on the grid, measured, as inputs",
    *(text("assembly", "robot"), number("dof", "nv")),
    *(number("ours ops", "ops", "{:,}"), _both("ours µs (batched)", "")),
    *(number("measured ops", "measured_ops", "{:,}"), _both("measured µs (batched)", "measured_")),
    *(number("inputs ops", "inputs_ops", "{:,}"), _both("inputs µs (batched)", "inputs_")),
    *(number("Pinocchio µs", "pinocchio_us", three_digits), _over("ratio (batched)", "pinocchio_us")),
    *(number("MuJoCo µs", "mujoco_us", three_digits), _over("ratio (batched) ", "mujoco_us")),
    Column("differ by", lambda row: f"{row['difference']:.0e}, {row['mujoco_difference']:.0e}"),
    PEER,
    kind="forward",
)
# the times from a docking or undocking to the first step of the new topology
redocking_grid = table(
    lambda rows: (
        "a new topology of nine modules: from the event to its first step; targets [ms]: "
        f"{targets(_rows_of(rows, 'redock'))}"
    ),
    *(text("contestant"), text("method"), text("change")),
    number("cold ms", "cold_ms", three_digits),
    number("from disk ms", "disk_ms", three_digits),
    number("seen ms", "seen_ms", three_digits),
    *(number("caught up after", "caught_up", "{:,.0f}"), text("carries over", "carries"), VERDICT),
    kind="redock",
)

# ── walks, impacts and rigid contact ──────────────────────────────────────────────────────────────────────────────────

# walks at equal error: MuJoCo's step size, loops, error and time, and our run
amru5_grid = table(
    "10 s of AMRU5 walking, at MuJoCo's error",
    Column("MuJoCo ms", lambda row: f"{1e3 * row['peer_step']:g}"),
    *(number("loops open mm", "peer_gap", lambda gap: f"{1e3 * gap:.2g}"), number("error m", "error", "{:.1e}")),
    *(number("its run ms", "peer_ms", three_digits), text("our method", "method")),
    number("our step ms", "step", lambda step: f"{1e3 * step:g}", "not reached"),
    *(number("our error m", "our_error", "{:.1e}"), number("ours ms", "ms", three_digits)),
    *(RATIO, TARGET, VERDICT),
    kind="walk",
)
# one leg in SymPy
leg_grid = table(
    "one leg of AMRU5: time to derive and compile, and per call from Python",
    *(text("one leg", "what"), PEER),
    *(number("peer ms", "peer_ms", three_digits), number("ours ms", "ms", "{:.3g}")),
    *(RATIO, TARGET, VERDICT),
    kind="leg",
)
first_grid = table(
    "CPU time to the first step, in a new process",
    *(text("problem"), text("method")),
    *(number("cold s", "cold_s", "{:.2f}"), number("again s", "warm_s", "{:.2f}")),
    *(TARGET, VERDICT),
    kind="first",
)
# walks of the compass: error, time per step of the gait, and how many times faster than Drake
compass_grid = table(
    "ten steps of the compass at an error of 1e-9: CPU time per step, and Drake's time divided by ours",
    *(*ENTRY, number("error", form="{:.1e}"), number("µs per step", "us_per_step", "{:.3g}")),
    *(RATIO, TARGET, VERDICT),
    kind="walk",
)
impacts_grid = table(
    "velocities after a plastic impact of the feet: time per evaluation, impulseDynamics / ours",
    ROBOT,
    DOF,
    text("mode"),
    *TIMES,
    RATIO,
    DIFFERENCE,
    PEER,
    TARGET,
    VERDICT,
    kind="impact",
)
basin_grid = table(
    "basin of attraction of the gait: wall-clock time",
    *(ROBOT, number("starts", form="{:,}"), number("cycles"), number("cores")),
    *(number("walk", form="{:.1%}"), number("fell", form="{:.1%}")),
    *(number("s", "seconds", "{:.1f}"), number("CPU s", "cpu_s", "{:.1f}")),
    *(TARGET, VERDICT),
    kind="basin",
)
# errors and times, and our fastest run that is as accurate as each run of a peer
rigid_grid = table(
    "rigid contact: error, CPU time of a run, and ratio to our time at no larger error",
    *(text("problem"), text("contestant"), text("setting")),
    number("error m, rad", "error", "{:.1e}", "fails"),
    *(TIME, text("ours, as accurate", "ours"), RATIO),
)

# ── identification and tracking ───────────────────────────────────────────────────────────────────────────────────────

regressors_grid = table(
    "the regressor Y of tau = Y theta: time per state, computeJointTorqueRegressor / ours",
    ROBOT,
    DOF,
    text("form", "algorithm"),
    text("mode"),
    *TIMES,
    RATIO,
    DIFFERENCE,
    PEER,
    TARGET,
    VERDICT,
    kind="regressor",
)
triangles_grid = table(
    "samples to triangles: CPU time per sample, (computeJointTorqueRegressor and dgeqrf) / ours",
    *(ROBOT, DOF, number("samples", form="{:,}"), *TIMES, RATIO, number("MB", "memory_mb", "{:.0f}")),
    *(DIFFERENCE, PEER, TARGET, VERDICT),
    kind="triangle",
)
# a recorded fly: time per frame, and the distances that are left
tracking_grid = table(
    "a recorded fly, 24 points beyond the hips: CPU time, SeqIKPy / ours",
    *(text("contestant"), number("frames"), number("ms per frame", "ms_per_frame", three_digits)),
    *(number("distance µm", "rms_um", "{:.1f}"), RATIO, TARGET, VERDICT),
    kind="track",
)

# ── programs, the studio and studies ──────────────────────────────────────────────────────────────────────────────────

# the double pendulum and hexapod24: times of programs in C beside PyDy's function and `simulate`
programs_grid = table(
    "programs in C: CPU time of a run, files and the start of the process included; peer / ours",
    text("problem"),
    text("contestant"),
    TIME,
    number("error", form="{:.1e}"),
    RATIO,
    TARGET,
    VERDICT,
    kind="program",
)
# the time of a step beside PythonFMU around Pinocchio
fmus_grid = table(
    "FMUs, steps of 1 ms from a master in C; peer / ours",
    *(text("problem"), text("contestant"), number("us per step", "us", three_digits)),
    *(number("difference", "error", "{:.1e}"), RATIO, TARGET, VERDICT),
    kind="fmu",
)


def _seconds(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else f"not within {PATIENCE:g} s"


def _both_sides(header: str, key: str, form: str) -> tuple[Column, Column]:
    """The columns of a number of ours and of the peer's."""
    return number(f"ours {header}", f"ours_{key}", form, "not run"), number(
        f"peer {header}", f"peer_{key}", form, "not run"
    )


# from the start of a process to its first picture, and the size of its page
start_grid = table(
    "from the start to the first picture, and bytes of the page until then",
    text("model", "what"),
    *(number("ours s", "ours_s", _seconds), number("peer s", "peer_s", _seconds, "not run")),
    *(number("ours kB", "ours_kb", "{:.0f}"), number("peer kB", "peer_kb", "{:.0f}", "not run")),
    *(PEER, TARGET, VERDICT),
    kind="start",
)
click_grid = table(
    "from a click on the grid to the draw call of the new scene",
    *(text("organism", "what"), number("clicks")),
    *(number("median ms", "median_ms", "{:.0f}"), number("95 % ms", "ms_95", "{:.0f}")),
    *(TARGET, VERDICT),
    kind="click",
)
# a chain that moves live
live_grid = table(
    "live motion: pictures per second, and script time and bytes per picture",
    text("model", "what"),
    *_both_sides("pictures/s", "pictures", "{:.1f}"),
    *_both_sides("script ms", "script_ms", "{:.2f}"),
    *_both_sides("bytes", "bytes", "{:.0f}"),
    *(PEER, TARGET, VERDICT),
    kind="live",
)
# time and memory for each item, beside other tools
trivial_grid = table(
    "a sweep of a function that costs nothing, two worker processes; best peer / ours",
    *(text("contestant"), number("items", form="{:,}"), number("us per item", "us", three_digits)),
    *(number("MB", "mb", "{:.0f}"), RATIO, TARGET, VERDICT),
    kind="trivial",
)
gaits_grid = table(
    "gaits of the crawler, 1 s in steps of 1 ms; one worker / several",
    *(text("contestant"), number("gaits", "items", "{:,}"), number("s", "seconds", three_digits)),
    *(number("ms per gait", "ms", three_digits), number("scaling", form="{:.2f}x"), TARGET, VERDICT),
    kind="gaits",
)
