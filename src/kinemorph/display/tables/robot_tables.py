"""The data of `summaries` as tables for a terminal, printed with the library rich.

Each function takes the data that `--json` prints and returns tables and lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kinemorph.analysis.verification.verdict import Check, check_table, counts
from kinemorph.display.faces.grid import Data, Facts, Grid, Parts, grid_of
from kinemorph.display.faces.terminal import parts_of
from kinemorph.sheet import Sheet

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
