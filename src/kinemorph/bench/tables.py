"""The tables as text: the columns of each table, and the functions that make their cells from measured rows.

A column is a header and a function from a row to the text of a cell; columns of numbers are aligned to the right.
`speed_grid` is the complete table of speeds for a terminal, `speed_pages` a shorter one for a Markdown page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from kinemorph.bench.targets import COCKROACH, REAL_TIME, STANDING
from kinemorph.bench.timing import Row
from kinemorph.display.tables.grid import Grid


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
RATIO, VERDICT = number("ratio", "ratio", ratio), text("verdict")


def speed_grid(rows: Sequence[Row], peak_gflops: float) -> Grid:
    """The complete table of speeds: times, ratio, share of the core's peak speed, target and verdict of every row."""

    def of_peak(row: Row) -> str:
        computing = row.get("gflops") is not None and row["mode"] in ("scalar", "batched")
        return f"{row['gflops'] / peak_gflops:.0%}" if computing else ""

    shown = (ROBOT, DOF, text("algorithm"), text("mode"), *TIMES, RATIO, Column("of peak", of_peak))
    return grid("time per evaluation, peer / ours", (*shown, text("peer"), text("target"), VERDICT), rows)


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


# ── building ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def building_grid(rows: Sequence[Row]) -> Grid:
    """The table of the times from a robot to compiled code."""
    keys = ("trace_ms", "cold_ms", "cold_lanes_ms", "warm_ms", "warm_lanes_ms")
    headers = ("trace ms", "cold ms", "lanes ms", "warm ms", "warm lanes ms")
    times = [number(header, key, "{:.1f}") for header, key in zip(headers, keys, strict=True)]
    title = f"from a robot to machine code; targets [ms]: {targets(rows) or 'none'}"
    return grid(title, (ROBOT, DOF, text("algorithm"), number("ops", form="{:,}"), *times, VERDICT), rows)


def growth_grid(rows: Sequence[Row]) -> Grid:
    """The table of the times to build and to evaluate functions of longer and longer chains."""
    built = [number(f"{stage} ms", f"{stage}_ms", "{:.0f}") for stage in ("trace", "compile", "lanes")]
    evaluated = [number(f"{mode} µs", f"{mode}_us", three_digits) for mode in ("scalar", "batched")]
    ends = (number("ns per link", "ns_per_link", "{:.0f}"), number("peak MB", "memory_mb", "{:.0f}"))
    sizes = (number("links"), text("algorithm"), number("ops", form="{:,}"))
    return grid("growth with the number of links", (*sizes, *built, *evaluated, *ends), rows)


def loading_grid(rows: Sequence[Row]) -> Grid:
    """The table of the times from a URDF to a model and to a compiled function: medians, with minima in brackets."""

    def time(header: str, key: str) -> Column:
        return Column(header, lambda row: " ".join((form(row[f"{key}_ms"]), f"({form(row[f'{key}_min_ms'])})")))

    form = three_digits
    ahead = Column("ratio", lambda row: f"{row['ratio']:.2f}x ({row['ratio_min']:.2f}x)")
    sizes = (ROBOT, number("links"), DOF, number("kB", "kilobytes", "{:.0f}"))
    times = (time("Pinocchio ms", "peer"), time("read ms", "read"), ahead)
    ready = [time(f"{key} ms", key) for key in ("load", "cold", "warm")]
    return grid("loading a URDF: median (minimum) of repeats", (*sizes, *times, *ready, VERDICT), rows)


def replaying_grid(rows: Sequence[Row]) -> Grid:
    """The table of replay pages: size, and times to make, to open and to play them."""
    keys = {"export s": "export_s", "first s": "first_export_s", "load s": "load_s", "frame ms": "frame_ms"}
    times = [number(header, key, "{:.2f}") for header, key in {**keys, "95 % ms": "frame_ms_95"}.items()]
    sizes = (text("scene"), number("bodies"), number("frames"), number("kB", "kilobytes", "{:.0f}"))
    return grid(f"replays of 10 s; targets: {targets(rows)}", (*sizes, *times, VERDICT), rows)


# ── runs ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

ENTRY = (text("contestant"), text("method"), text("setting"))
TIME = number("ms", "ms", three_digits)


def simulating_grid(rows: Sequence[Row]) -> Grid:
    """The table of runs of ten seconds, at the required accuracy, or at the best one that was reached."""
    error = Column("error rad", lambda row: f"{row['error']:.1e}" + ("" if row["reached"] else " (too much)"))
    title = "10 s of motion, angles to 1e-8 rad: time, and ratio to our time"
    return grid(title, (text("problem"), number("dof"), *ENTRY, error, TIME, RATIO), rows, "run")


def batches_grid(rows: Sequence[Row]) -> Grid:
    """The table of batches: steps per second, summed over all states of a batch."""
    speed = Column("M states x steps/s", lambda row: f"{row['states_steps_per_second'] / 1e6:.1f}")
    shown = (text("problem"), text("on", "contestant"), *ENTRY[1:], number("ms", form="{:.0f}"), speed)
    return grid("batches in one call", shown, rows, "batch")


def terrain_grid(rows: Sequence[Row]) -> Grid:
    """The table of quadrupeds on terrain: times of one gait and of a batch of gaits on one core.

    It also has the ratios of these times to those on a plane, and MuJoCo's time for the batch.
    """
    shown = (
        *(text("problem"), text("method"), text("gaits", "setting")),
        *(number("one ms", "ms", three_digits), number("over plane", "over_plane", ratio)),
        *(number("batch ms", "batch_ms", three_digits), number("batch over plane", "batch_over_plane", ratio)),
        *(number("MuJoCo ms", "peer_ms", three_digits), number("ratio", "ratio", ratio), text("verdict")),
    )
    title = f"trotting quadrupeds on one core; targets of the map: {targets(rows_of(rows, 'terrain'))}"
    return grid(title, shown, rows, "terrain")


def rows_of(rows: Iterable[Row], kind: str) -> list[Row]:
    """The rows whose "kind" is `kind`."""
    return [row for row in rows if row["kind"] == kind]


def standing_grid(rows: Sequence[Row]) -> Grid:
    """The table that compares hexapods on the ground at equal error."""
    return equal_error_grid(rows, "ground", "hexapods on the ground for 10 s", STANDING)


def cockroach_grid(rows: Sequence[Row]) -> Grid:
    """The table that compares cockroaches on the ground at equal error."""
    title = f"a cockroach for 0.96 s, at least {REAL_TIME:g} times real time"
    return equal_error_grid(rows, "cockroach", title, COCKROACH, Column("real time", _pace))


def _pace(row: Row) -> str:
    return "" if row["real_time"] is None else f"{row['real_time']:.0f}x"


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


def curves_grid(rows: Sequence[Row]) -> Grid:
    """The table of errors and times of robots on the ground, for all step sizes that were tried."""

    def error(header: str, name: str) -> Column:
        return Column(header, lambda row: _error(row["errors"][name]))

    components = {"position m": "base position", "orientation rad": "base orientation", "joints rad": "joint angles"}
    step = Column("step ms", lambda row: f"{1e3 * row['step']:.3g}")
    errors = [error(header, name) for header, name in components.items()]
    title = "robots on the ground: RMS error against a sixteenth of the step, and time for the whole run"
    times = (TIME, number("batched ms", "batched_ms", three_digits))
    return grid(title, (text("problem"), *ENTRY[:2], step, *errors, *times), rows, "point")


# ── loops ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def looped_grid(rows: Sequence[Row]) -> Grid:
    """The table of times of forward dynamics of robots with loops."""

    def peer(header: str, algorithm: str) -> Column:
        times: Callable[[Row], Any] = lambda row: row.get("peer_ways_us", {}).get(algorithm)  # noqa: E731
        return Column(header, lambda row: "" if times(row) is None else three_digits(times(row)))

    peers = (peer("constraintDynamics µs", "constrained"), peer("lcaba µs", "lcaba"))
    names = (ROBOT, DOF, number("loops"), text("mode"))
    ends = (number("growth", form="{:.2f}"), number("differs by", "difference", "{:.0e}"), text("peer"))
    title = "forward dynamics with closed loops: time per evaluation, faster peer / ours"
    return grid(title, (*names, TIMES[0], *peers, RATIO, *ends, text("target"), VERDICT), rows, "speed")


def loop_runs_grid(rows: Sequence[Row]) -> Grid:
    """The table of ten seconds of a four-bar: the gap of its loop, the error of its crank, and the time of the run.

    For each run of a peer it also has the time of our fastest run whose errors are not larger.
    """
    ours = Column(
        "ours ms",
        lambda row: "" if not row["peer"] else three_digits(row["ours_ms"]) if row["ours_ms"] else "not reached",
    )
    errors = (
        number("loop error m", "loop_error", _error, "fails"),
        number("angle error rad", "angle_error", _error, "fails"),
    )
    title = "a four-bar for 10 s: errors, time, and our time for errors no larger than these"
    return grid(title, (*ENTRY, *errors, TIME, ours, RATIO), rows, "run")


def _error(error: float | None) -> str:
    return "fails" if error is None else f"{error:.1e}"
