"""The data of `summaries` as tables for a terminal, printed with the library rich.

Each function takes the data that `--json` prints and returns tables and lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kinemorph.analysis.verification.verdict import Check, check_table, counts
from kinemorph.display.faces.grid import Data, Facts, Grid, Parts, grid_of
from kinemorph.display.faces.terminal import parts_of
from kinemorph.display.tables.element_tables import element_tables
from kinemorph.display.tables.phase_tables import phase_tables
from kinemorph.display.tables.summaries import PER_VELOCITY
from kinemorph.sheet import Sheet
from kinemorph.words import counted, listed

# ── robots ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _modules(data: Data | None) -> list[tuple[str, str]]:
    """A line about the modules that a robot is made of; none for a robot without modules."""
    if data is None:
        return []
    kinds = listed(f"{count} {kind}" for kind, count in data["kinds"].items())
    docked = f"{data['docked']} docked; base {data['base']}; see `kinemorph assemble`"
    return [("modules", f"{sum(data['kinds'].values())} ({kinds}), {docked}")]


def robot_tables(data: Data) -> Parts:
    """The tables of the command `info`: a robot's sizes, joints, bodies, frames, elements, phases and parameters, and
    the conventions.
    """
    massless = f" ({data['massless']} of them massless)" if data["massless"] else ""
    gravity = ", ".join(f"{value:g}" for value in data["gravity"])
    joints: dict[str, Any] = {"joint": "{name}", "kind": "{kind}", "parent": "{parent}", "child": "{child}"}
    joints |= {"axis": axes_text, "q": coordinates_text, "limits": _limits}
    none: dict[str, Any] = dict.fromkeys(("axis", "axis2", "order", "q_index")) | dict.fromkeys(
        ("q", "q_units", "limits"), ()
    )
    loops = [{**row, "kind": f"{row['kind']} (loop)", **none} for row in data["loops"]]
    moments = "moments of inertia about it [kg m^2]"
    bodies: dict[str, Any] = {
        "body": "{name}",
        "mass [kg]": "{mass:g}",
        "center of mass [m]": lambda row: _spaced(row["com"], "  "),
        moments: lambda row: "  ".join(f"{row['inertia'][k][k]:.4g}" for k in range(3)),
    }
    parts: Parts = [
        Facts(
            [
                ("robot", data["robot"]),
                *_origin(data.get("file")),
                *_modules(data.get("modules")),
                ("degrees of freedom", _freedom(data)),
                *freedom_rows(data.get("mobility")),
                ("bodies, joints", f"{len(data['bodies'])}{massless}, {len(data['joints'])}"),
                ("mass", f"{data['mass']:g} kg"),
                ("gravity", f"({gravity}) m/s^2"),
            ]
        ),
        grid_of("joints, in the order of q", [*data["joints"], *loops], joints),
        *per_velocity_tables(data["joints"]),
        grid_of("bodies", data["bodies"], bodies, ("mass [kg]",)),
    ]
    if data["frames"]:
        parts.append(grid_of("frames", data["frames"], {"frame": "{name}", "on body": "{body}"}))
    parts += coupling_tables(data["couplings"])
    if data.get("mobility"):
        rows: dict[str, Any] = {"constraint": "{name}", "rows": "{rows}"}
        rows |= {"redundant rows": lambda row: ", ".join(row["redundant"])}
        parts.append(grid_of("constraints", data["mobility"]["constraints"], rows, ("rows",)))
    parts += [*element_tables(data.get("elements", [])), *phase_tables(data.get("automaton"))]
    if data["dependents"]:
        columns = {"dependent": "{name}", "formula": "{formula}", "unit": "{unit}"}
        parts.append(grid_of("dependents", data["dependents"], columns))
    if data["parameters"]:
        columns = {"parameter": "{name}", "value": "{value:g}", "unit": "{unit}"}
        parts.append(grid_of("parameters", data["parameters"], columns, ("value",)))
    if data.get("settings"):
        start = [(key, _spaced(data["settings"][key])) for key in "qv" if data["settings"][key]]
        times = [
            (key, f"{data['settings'][key]:g} s") for key in ("time", "sample", "max_step") if key in data["settings"]
        ]
        parts += ["settings of a run", Facts([*start, *times]), ""]
    if data.get("starts"):
        starts = {name: ", ".join(_counted_key(*item) for item in one.items()) for name, one in data["starts"].items()}
        parts += ["starts", Facts(list(starts.items())), ""]
    if data.get("runs"):
        parts += ["runs", Facts([(name, _options(run)) for name, run in data["runs"].items()]), ""]
    conventions = [(topic.replace("_", " "), text) for topic, text in data["conventions"].items()]
    return [*parts, "conventions", Facts(conventions)]


def freedom_rows(found: Data | None) -> list[tuple[str, str]]:
    """Lines about loops, from the data of `Mobility.sheet`: the degrees of freedom and the independent joints."""
    if not found:
        return []
    doubt = "" if found["closed"] else " (but the loops do not close)"
    free = f"{found['dof']} with loops closed, {found['rank']} of {found['rows']} rows are independent{doubt}"
    condition = "not finite" if found["condition"] is None else f"{found['condition']:.3g}"
    return [
        ("mobility", free),
        ("independent", f"{', '.join(found['independent']) or 'none'}  (condition {condition})"),
    ]


def axes_text(row: Data) -> str:
    """The axis of a joint, both axes of a universal joint, or the order of the turns of a gimbal."""
    axes = [_spaced(row[key]) for key in ("axis", "axis2") if row[key]]
    return row["order"] or ", ".join(axes)


def _counted_key(key: str, value: Any) -> str:
    """A group of a start with the number of its values, "q (7)"; the time with its unit."""
    return f"t {value:g} s" if key == "t" else f"{key} ({len(value)})"


def _spaced(values: Iterable[float], gap: str = " ") -> str:
    return gap.join(f"{x:g}" for x in values)


def _options(run: Data) -> str:
    """The options of a planned run: "method rk4, step 0.001, q pivot 0.1"."""
    return ", ".join(f"{key} {_told(value)}" for key, value in run.items()) or "the defaults of simulate"


def _told(value: Any) -> str:
    """A value of a run as text: numbers in order or by name, rows, names."""
    if isinstance(value, dict):
        return " ".join(f"{key} {_told(one)}" for key, one in value.items() if one is not None)
    if isinstance(value, (list, tuple)):
        return " ".join(map(_told, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _origin(file: Data | None) -> list[tuple[str, str]]:
    """A line about the file from which a robot was loaded; none without a file."""
    if file is None:
        return []
    warnings = f", {counted(file['warnings'], 'warning')}" if file["warnings"] else ""
    return [("file", f"{file['path']}  ({file['format']}{warnings})")]


def per_velocity_tables(rows: Sequence[Data]) -> list[Grid]:
    """The table of velocity and effort limits, damping, friction and armature, in SI units, of the joints with any."""
    keys = [key for key in PER_VELOCITY if any(_is_given(value) for row in rows for value in row[key])]
    if not keys:
        return []
    cells = [
        [row["name"], *(" ".join(f"{value:.4g}" for value in row[key] if _is_given(value)) for key in keys)]
        for row in rows
    ]
    return [Grid("limits and losses, SI", ("joint", *keys), [row for row in cells if any(row[1:])], keys)]


def _is_given(value: float | None) -> bool:
    """Whether a limit or loss is given: neither None (no limit) nor 0 (no loss)."""
    return value is not None and value != 0.0


def coupling_tables(rows: Sequence[Data]) -> list[Grid]:
    """The table of joints that follow others: q = multiplier * q of the leader + offset."""
    columns = {"joint": "{joint}", "follows": "{leader}", "times": "{multiplier:g}", "plus": "{offset:g}"}
    return [grid_of("couplings", rows, columns, ("times", "plus"))] if rows else []


def _freedom(data: Data) -> str:
    """The degrees of freedom, such as `6  (q has 6 entries)`; for a robot with loops, those of its cut tree.

    q and v describe the cut tree; the robot itself has fewer degrees of freedom.
    """
    entries = f"(q has {counted(data['nq'], 'entry', 'entries')})"
    if not data["loops"]:
        return f"{data['nv']}  {entries}"
    return f"{data['nv']} dof of the cut tree, {counted(len(data['loops']), 'loop')}  {entries}"


def library_tables(rows: Sequence[Data]) -> Parts:
    """The table of the built-in robots, one row each."""
    columns: dict[str, Any] = {"robot": "{name}", "dof": "{dof}", "bodies": "{bodies}"}
    columns |= {"loops": lambda row: str(row["loops"] or ""), "mass [kg]": "{mass:g}"}
    columns |= {"joints": lambda row: ", ".join(row["kinds"]), "data, as in name:data": "{data}"}
    return [grid_of("built-in robots", rows, columns, ("dof", "bodies", "loops", "mass [kg]"))]


def coordinates_text(row: Data) -> str:
    """The place of a joint's coordinates in q: `q[3]`, or `q[0:7] x y z qw qx qy qz`; `-` for a fixed joint."""
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


def function_table(rows: Sequence[Data], title: str = "") -> Grid:
    """The table of functions with their inputs, outputs, operation counts and build times."""
    columns: dict[str, Any] = {
        "function": "{function}",
        "inputs": lambda row: ", ".join(f"{name} {_shape(shape)}" for name, shape in row["inputs"].items()),
        "output": lambda row: ", ".join(map(_shape, row["outputs"].values())),
        "ops": "{ops:,}",
        "flops": "{flops:,}",
        "graph": lambda row: f"{1e3 * row['build_seconds']:.1f} ms",
        "compile": lambda row: f"{1e3 * row['compile_seconds']:.1f} ms",
    }
    return grid_of(title, rows, columns, tuple(columns)[3:])


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "1"


def formulation_tables(data: Data) -> Parts:
    """The table of `verify --table`: one row per formulation with its error, operations and times."""

    def seconds(key: str) -> Callable[[Data], str]:
        return lambda row: "" if row["note"] else f"{1e3 * row[key]:,.0f} ms"

    def count(key: str) -> Callable[[Data], str]:
        return lambda row: "" if row["note"] else f"{row[key]:,}"

    def spent(key: str) -> Callable[[Data], str]:
        return lambda row: "" if row["note"] else f"{row[key]:.3g} us"

    columns: dict[str, Any] = {
        "formulation": "{formulation}",
        "error": lambda row: "" if row["note"] else "reference" if row["error"] is None else _error(row["error"]),
        "ops ID": count("id_ops"),
        "ops FD": count("fd_ops"),
        "derive": seconds("derive_s"),
        "compile": seconds("compile_s"),
        "run ID": spent("id_us"),
        "run FD": spent("fd_us"),
    }
    right = tuple(columns)[2:]
    if any(row["note"] for row in data["formulations"]):
        columns["note"] = "{note}"
    table = grid_of("", data["formulations"], columns, right)
    over = f"{data['states']} random states, seed {data['seed']}"
    return [table, f"{data['robot']} ({data['dof']} dof), {over}; CPU times of one core, {data['cpu']}"]


def _error(value: float | None) -> str:
    return "" if value is None else f"{value:.1e}"


def environment_tables(data: Data) -> Parts:
    """The tables of the command `doctor`: versions, compiler, cache, optional packages, self-test."""
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
    found += [("browser", data["browser"] or "no graphical browser: replays are written but not opened")]
    extras: dict[str, Any] = {
        "optional package": "{package}",
        "version": lambda row: row["version"] or "missing",
        "for": "{purpose}",
        "install": lambda row: "" if row["version"] else row["install"],
    }
    tests: dict[str, Any] = {
        "backend": "{backend}",
        "verdict": lambda row: "passed" if row["passed"] else "failed",
        "note": "{note}",
        "time": lambda row: f"{1e3 * row['seconds']:.0f} ms",
    }
    return [
        Facts(found),
        grid_of("optional packages", data["extras"], extras),
        grid_of("self-test: compile and run a tiny program", data["self_test"], tests, ("time",)),
    ]


def short_tables(data: Data) -> Parts:
    """The lines of the command `show` about a model: the most important ones of `info`."""
    loops = f" of the cut tree, {counted(data['loops'], 'loop')}" if data["loops"] else ""
    rows = [("robot", data["name"]), ("degrees of freedom", f"{data['dof']}{loops}"), ("bodies", data["bodies"])]
    rows += [("mass", f"{data['mass']:g} kg"), ("joints", ", ".join(data["kinds"]) or "none that move")]
    rows += [("viewer", data["url"])] if data.get("url") else []
    return [Facts(rows)]


def _cache(data: Data) -> str:
    """A line about the cache: `folder: 12 programs, 1.3 MB of at most 512 MB`, or why it cannot be used."""
    if not data["usable"]:
        return f"{data['folder']}: {data['problem']}" if data["folder"] else str(data["problem"])
    amount = f"{data['files']} programs, {_megabytes(data['bytes'])} of at most {_megabytes(data['limit'])}"
    return f"{data['folder']}: {amount}"


def _megabytes(size: int) -> str:
    return f"{size / 2**20:.3g} MB"


def cleared_tables(data: Data) -> Parts:
    """The lines of the command `doctor --clear-cache`: what was removed, and the cache after that."""
    removed = f"{data['removed_files']} files, {_megabytes(data['removed_bytes'])}"
    return [Facts([("removed", removed), ("cache", _cache(data))])]


def _crawl_rows(crawl: Data | None) -> list[tuple[str, str]]:
    """Lines about the distance and the torques of a crawling organism; none where the demo had no organism."""
    if crawl is None:
        return []
    way = f"{crawl['displacement']:.2f} m in {crawl['time']:.0f} s, {crawl['lengths']:.1f} of its own lengths"
    torques = f"up to {crawl['peak_torque']:.2f} N m of {crawl['limit']:g} N m"
    return [("crawled", way), ("torques", torques)]


def demo_tables(data: Data) -> Parts:
    """The tables of the command `demo`: functions, checks, mass matrix, and the files that it wrote."""
    M = data["mass_matrix"]
    figures = Facts(
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
    files = Facts([("wrote" if i == 0 else "", name) for i, name in enumerate(data["files"])])
    title = f"{data['robot']}: {data['nv']} degrees of freedom"
    checks = [Check(**row) for row in data["verification"]["checks"]]
    verified = parts_of(Sheet("Verification of", data["robot"], (check_table(checks), counts(checks))))
    return [function_table(data["functions"], title), *verified, figures, files]
