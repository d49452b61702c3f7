"""The data of `summaries` as tables for a terminal, by rich.

Each function takes what `--json` would print and gives things to show. `rendered` turns them into text: colored for a
terminal (unless NO_COLOR is set), plain and wide for a pipe.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import IO, TYPE_CHECKING, Any

from kinemorph.display.tables.element_tables import element_tables
from kinemorph.display.tables.summaries import PER_VELOCITY, Data

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

PIPE_WIDTH = 140  # columns where nobody says how many there are
MARKS = {
    "passed": "green",
    "failed": "bold red",
    "skipped": "yellow",
    "ok": "green",
    "missing": "yellow",
    "met": "green",
    "missed": "yellow",
}


def rendered(parts: Iterable[RenderableType], stream: IO[str]) -> str:
    """Things to show as text for a stream."""
    from rich.console import Console

    terminal = stream.isatty()
    width = None if terminal else PIPE_WIDTH
    console = Console(file=io.StringIO(), force_terminal=terminal, width=width, highlight=False, markup=False)
    if terminal:
        console.width = Console(file=stream).width
    for part in parts:
        console.print(part)
    buffer: Any = console.file
    lines = [line.rstrip() for line in buffer.getvalue().splitlines()]
    return "\n".join(lines) + "\n"


def _table(*columns: str, title: str = "", right: Sequence[str] = ()) -> Table:
    """A table with a thin line below its head; the columns named in `right` hold numbers."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left", title_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return table


def pairs(rows: Iterable[tuple[str, Any]]) -> Table:
    """Two columns: what, and its value."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 3))
    for what, value in rows:
        grid.add_row(Text(what, style="cyan"), str(value))
    return grid


def plain_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str]) -> Table:
    """A table of ready texts; one that begins with a verdict is marked."""
    table = _table(*columns, title=title, right=right)
    for row in rows:
        table.add_row(*(_mark(text) for text in row))
    return table


def _mark(status: str) -> RenderableType:
    from rich.text import Text

    return Text(status, style=MARKS.get(status.partition(":")[0], ""))


# ── robots ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _modules(data: Data | None) -> list[tuple[str, str]]:
    """The modules that a robot is made of."""
    if data is None:
        return []
    kinds = ", ".join(f"{count} {kind}" for kind, count in data["kinds"].items())
    docked = f"{data['docked']} docked; base {data['base']}; see `kinemorph assemble`"
    return [("modules", f"{sum(data['kinds'].values())} ({kinds}), {docked}")]


def robot_tables(data: Data) -> list[RenderableType]:
    """Sizes, joints, bodies, frames and parameters of a robot, and the conventions."""
    gravity = ", ".join(f"{value:g}" for value in data["gravity"])
    parts: list[RenderableType] = [
        pairs(
            [
                ("robot", data["robot"]),
                *_origin(data.get("file")),
                *_modules(data.get("modules")),
                ("degrees of freedom", _freedom(data)),
                *_mobility(data.get("mobility")),
                ("bodies, joints", f"{len(data['bodies'])}, {len(data['joints'])}"),
                ("mass", f"{data['mass']:g} kg"),
                ("gravity", f"({gravity}) m/s^2"),
            ]
        )
    ]
    joints = _table("joint", "kind", "parent", "child", "axis", "q", "limits", title="joints, in the order of q")
    for row in data["joints"]:
        axis = "" if row["axis"] is None else " ".join(f"{x:g}" for x in row["axis"])
        joints.add_row(row["name"], row["kind"], row["parent"], row["child"], axis, _coordinates(row), _limits(row))
    for loop in data["loops"]:
        joints.add_row(loop["name"], f"{loop['kind']} (loop)", loop["parent"], loop["child"], "", "-", "")
    parts.append(joints)
    parts += _per_velocity(data["joints"])
    moments = "moments of inertia about it [kg m^2]"
    bodies = _table("body", "mass [kg]", "center of mass [m]", moments, title="bodies", right=("mass [kg]",))
    for row in data["bodies"]:
        about = "  ".join(f"{row['inertia'][k][k]:.4g}" for k in range(3))
        bodies.add_row(row["name"], f"{row['mass']:g}", "  ".join(f"{x:g}" for x in row["com"]), about)
    parts.append(bodies)
    if data["frames"]:
        frames = _table("frame", "on body", title="frames")
        for row in data["frames"]:
            frames.add_row(row["name"], row["body"])
        parts.append(frames)
    parts += (
        _couplings(data["couplings"]) + _constraints(data.get("mobility")) + element_tables(data.get("elements", []))
    )
    if data["parameters"]:
        parameters = _table("parameter", "value", "unit", title="parameters", right=("value",))
        for row in data["parameters"]:
            parameters.add_row(row["name"], f"{row['value']:g}", row["unit"])
        parts.append(parameters)
    if data.get("settings"):
        start = [(key, " ".join(f"{x:g}" for x in data["settings"][key])) for key in "qv" if data["settings"][key]]
        times = [(key, f"{data['settings'][key]:g} s") for key in ("duration", "sample")]
        parts += ["settings of a run", pairs([*start, *times]), ""]
    parts += ["conventions", pairs((topic.replace("_", " "), text) for topic, text in data["conventions"].items())]
    return parts


def _origin(file: Data | None) -> list[tuple[str, str]]:
    """The file that a robot came from."""
    if file is None:
        return []
    doubts = f", {file['warnings']} warning{'s' if file['warnings'] > 1 else ''}" if file["warnings"] else ""
    return [("file", f"{file['path']}  ({file['format']}{doubts})")]


def _per_velocity(rows: Sequence[Data]) -> list[RenderableType]:
    """Limits of velocity and effort, losses and rotor inertia, in SI, of the joints that have any."""
    keys = [key for key in PER_VELOCITY if any(_is_told(value) for row in rows for value in row[key])]
    if not keys:
        return []
    table = _table("joint", *keys, title="limits and losses, SI", right=keys)
    for row in rows:
        cells = [" ".join(f"{value:.4g}" for value in row[key] if _is_told(value)) for key in keys]
        if any(cells):
            table.add_row(row["name"], *cells)
    return [table]


def _is_told(value: float | None) -> bool:
    """Whether a number is not the default: no limit, no loss."""
    return value is not None and value != 0.0


def _couplings(rows: Sequence[Data]) -> list[RenderableType]:
    """Joints that follow others: q = multiplier * q of the leader + offset."""
    if not rows:
        return []
    table = _table("joint", "follows", "times", "plus", title="couplings", right=("times", "plus"))
    for row in rows:
        table.add_row(row["joint"], row["leader"], f"{row['multiplier']:g}", f"{row['offset']:g}")
    return [table]


def _mobility(data: Data | None) -> list[tuple[str, str]]:
    """What loops and couplings leave of the degrees of freedom."""
    from kinemorph.display.tables.loop_reports import freedom_rows

    return [] if data is None else freedom_rows(data)


def _constraints(data: Data | None) -> list[RenderableType]:
    from kinemorph.display.tables.loop_reports import constraint_table

    return [] if data is None else [constraint_table(data)]


def _freedom(data: Data) -> str:
    """`6  (q has 6 entries)`; a robot with loops has fewer than its tree, which is what q and v describe."""
    entries = f"(q has {data['nq']} {'entry' if data['nq'] == 1 else 'entries'})"
    loops = len(data["loops"])
    if not loops:
        return f"{data['nv']}  {entries}"
    return f"{data['nv']} dof of the cut tree, {loops} loop{'s' if loops > 1 else ''}  {entries}"


def library_tables(rows: Sequence[Data]) -> list[RenderableType]:
    """The built-in robots, one row each."""
    numbers = ("dof", "bodies", "loops", "mass [kg]")
    table = _table("robot", *numbers, "joints", "data, as in name:data", title="built-in robots", right=numbers)
    for row in rows:
        sizes = (str(row["dof"]), str(row["bodies"]), str(row["loops"] or ""), f"{row['mass']:g}")
        table.add_row(row["name"], *sizes, ", ".join(row["kinds"]), row["data"])
    return [table]


def _coordinates(row: Data) -> str:
    """Where a joint's coordinates lie in q: `q[3]`, or `q[0:7] x y z qw qx qy qz`."""
    first, names = row["q_index"], [name.removeprefix(f"{row['name']}.") for name in row["q"]]
    if len(names) < 2:
        return f"q[{first}]" if names else "-"
    return f"q[{first}:{first + len(names)}] {' '.join(names)}"


def _limits(row: Data) -> str:
    shown = []
    for (low, high), unit in zip(row["limits"], row["q_units"], strict=True):
        if low is not None or high is not None:
            shown.append(
                f"{'-inf' if low is None else f'{low:.4g}'} .. {'inf' if high is None else f'{high:.4g}'} {unit}"
            )
    return ", ".join(shown)


# ── functions and checks ──────────────────────────────────────────────────────────────────────────────────────────────


def function_table(rows: Sequence[Data], title: str = "") -> RenderableType:
    """Operation counts and times of functions."""
    numbers = ("ops", "flops", "graph", "compile")
    table = _table("function", "inputs", "output", *numbers, title=title, right=numbers)
    for row in rows:
        inputs = ", ".join(f"{name} {_shape(shape)}" for name, shape in row["inputs"].items())
        outputs = ", ".join(_shape(shape) for shape in row["outputs"].values())
        times = [f"{1e3 * row[key]:.1f} ms" for key in ("build_seconds", "compile_seconds")]
        table.add_row(row["function"], inputs, outputs, f"{row['ops']:,}", f"{row['flops']:,}", *times)
    return table


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "1"


def check_tables(data: Data) -> list[RenderableType]:
    """A Verification: one row per check, then the verdict."""
    table = _table("check", "verdict", "worst", "tolerance", "what it says", right=("worst", "tolerance"))
    for row in data["checks"]:
        figures = ["" if row[key] is None else f"{row[key]:.1e}" for key in ("worst", "tolerance")]
        table.add_row(
            row["name"], _mark(row["status"]), *figures, row["note"] if row["status"] != "passed" else row["says"]
        )
    count = {
        status: sum(row["status"] == status for row in data["checks"]) for status in ("passed", "failed", "skipped")
    }
    verdict = ", ".join(f"{number} {status}" for status, number in count.items())
    over = f"{data['states']} random states, seed {data['seed']}"
    return [table, f"{data['robot']} ({data['formulation']}, {data['backend']}): {verdict}, over {over}"]


def environment_tables(data: Data) -> list[RenderableType]:
    """What `doctor` found."""
    llvm = data["llvm"]
    found = [("kinemorph", data["kinemorph"]), ("python", f"{data['python']}  {data['executable']}")]
    found += [("platform", data["platform"])]
    found += [(package, version or "missing") for package, version in data["core"].items()]
    if "problem" in llvm:
        found += [("llvm", llvm["problem"])]
    else:
        lanes = f"{llvm['simd_bits']} bit, {llvm['simd_doubles']} doubles" + (
            ", fused multiply-add" if llvm["fma"] else ""
        )
        found += [("llvm", llvm["version"]), ("target", f"{llvm['cpu']}, {llvm['triple']}"), ("SIMD width", lanes)]
    found += [("cache", _cache(data["cache"]))]
    found += [("browser", data["browser"] or "none with windows: replays are written, not opened")]
    extras = _table("optional package", "version", "for", "install", title="optional packages")
    for row in data["extras"]:
        missing = row["version"] is None
        extras.add_row(
            row["package"],
            _mark("missing") if missing else row["version"],
            row["purpose"],
            row["install"] if missing else "",
        )
    test = _table(
        "backend", "verdict", "note", "time", title="self-test: compile and run a tiny program", right=("time",)
    )
    for row in data["self_test"]:
        status = "passed" if row["passed"] else "failed"
        test.add_row(row["backend"], _mark(status), row["note"], f"{1e3 * row['seconds']:.0f} ms")
    return [pairs(found), extras, test]


def short_tables(data: Data) -> list[RenderableType]:
    """What `show` says of a model: the least of what `info` says."""
    loops = f" of the cut tree, {data['loops']} loop{'s' * (data['loops'] > 1)}" if data["loops"] else ""
    rows = [("robot", data["name"]), ("degrees of freedom", f"{data['dof']}{loops}"), ("bodies", data["bodies"])]
    rows += [("mass", f"{data['mass']:g} kg"), ("joints", ", ".join(data["kinds"]) or "none that move")]
    rows += [("viewer", data["url"])] if data.get("url") else []
    return [pairs(rows)]


def _cache(data: Data) -> str:
    """One line on the cache: `folder: 12 programs, 1.3 MB of at most 512 MB`, or why there is none."""
    if not data["usable"]:
        return f"{data['folder']}: {data['problem']}" if data["folder"] else str(data["problem"])
    amount = f"{data['files']} programs, {_megabytes(data['bytes'])} of at most {_megabytes(data['limit'])}"
    return f"{data['folder']}: {amount}"


def _megabytes(size: int) -> str:
    return f"{size / 2**20:.3g} MB"


def cleared_tables(data: Data) -> list[RenderableType]:
    """What `doctor --clear-cache` did."""
    removed = f"{data['removed_files']} files, {_megabytes(data['removed_bytes'])}"
    return [pairs([("removed", removed), ("cache", _cache(data))])]


def _crawl_rows(crawl: Data | None) -> list[tuple[str, str]]:
    """How far an organism went, where one did."""
    if crawl is None:
        return []
    way = f"{crawl['displacement']:.2f} m in {crawl['time']:.0f} s, {crawl['lengths']:.1f} of its own lengths"
    torques = f"up to {crawl['peak_torque']:.2f} N m of {crawl['limit']:g} N m"
    return [("crawled", way), ("torques", torques)]


def demo_tables(data: Data) -> list[RenderableType]:
    """What `demo` did: functions, mass matrix, checks, files."""
    M = data["mass_matrix"]
    figures = pairs(
        [
            (
                "mass matrix",
                f"at the pose shown: condition number {M['condition']:.3g}, "
                f"eigenvalues {M['smallest']:.3g} to {M['largest']:.3g}",
            ),
            *_crawl_rows(data.get("crawl")),
            ("time", f"{data['seconds']:.1f} s in all"),
        ]
    )
    files = pairs([("wrote" if i == 0 else "", name) for i, name in enumerate(data["files"])])
    checks = check_tables(data["verification"])
    return [
        function_table(data["functions"], f"{data['robot']}: {data['nv']} degrees of freedom"),
        *checks,
        figures,
        files,
    ]
