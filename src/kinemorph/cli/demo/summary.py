"""What all demos do: derive the functions of a robot, verify them, and write a summary."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.verification.verdict import Check, Verification, check_parts
from kinemorph.analysis.verification.verify import verify
from kinemorph.cli.output_files import write_text
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.deriving.function_names import MAIN_FUNCTIONS
from kinemorph.display.tables.summaries import Data, function_of, function_table, mass_matrix_figures, timed
from kinemorph.model.robot import Robot
from kinemorph.sheet import Facts, Field, Sheet

Say = Callable[[str], Any]


class Studied(NamedTuple):
    """A robot that was derived and verified: its main functions, their operation counts, and the mass matrix M at one
    configuration, shape (nv, nv).
    """

    robot: Robot
    dynamics: Dynamics
    functions: list[CompiledFunction]
    counts: list[Data]
    M: Array
    verification: Verification
    begun: float  # [s], `time.perf_counter()` at the start of the demo


def studied(robot: Robot, q: Any, say: Say, name: str, begun: float) -> Studied:
    """Derives and verifies a robot, and evaluates its mass matrix at q, shape (nq,).

    `say` is called with messages about the progress, which call the robot `name`. `begun` [s] is when the demo started.
    """
    say(f"deriving {name}")
    dynamics = derive(robot)
    made = [timed(lambda one=one: function_of(dynamics, one)) for one in MAIN_FUNCTIONS]  # type: ignore[misc]
    M = dynamics.mass_matrix(q)
    say(f"verifying {name}")
    functions, counts = [function for function, _ in made], [row for _, row in made]
    return Studied(robot, dynamics, functions, counts, M, verify(dynamics), begun)


def write_summary(
    folder: Path, found: Studied, files: Sequence[Path], page: Callable[[Data], list[str]], **more: Any
) -> Data:
    """Writes `summary.json` with the data of a demo and `summary.md` with the lines that `page(data)` returns.

    `files` are the other files of the demo. `more` are further data; `passed` among them says whether the checks of
    this demo passed. Returns the data.
    """
    robot = found.robot
    files = [*files, folder / "summary.md", folder / "summary.json"]
    data: Data = {
        "robot": robot.name,
        "nq": robot.nq,
        "nv": robot.nv,
        "bodies": len(robot.bodies),
        "functions": found.counts,
        "mass_matrix": mass_matrix_figures(found.M),
        "verification": found.verification.as_dict(),
        **more,
        "files": [str(path) for path in files],
        "passed": found.verification.passed and more.get("passed", True),
        "seconds": time.perf_counter() - found.begun,
    }
    write_text(folder / "summary.md", "\n".join(page(data)))
    write_text(folder / "summary.json", json.dumps(data, indent=2) + "\n")
    return data


def function_lines(data: Data) -> list[str]:
    """The section of the summary about operation counts and compile times of functions, as lines of Markdown."""
    return [
        *("## Functions", ""),
        "| function | operations | flops | graph [ms] | compile [ms] |",
        "|---|---:|---:|---:|---:|",
        *(
            f"| {row['function']} | {row['ops']:,} | {row['flops']:,} | {1e3 * row['build_seconds']:.1f} "
            f"| {1e3 * row['compile_seconds']:.1f} |"
            for row in data["functions"]
        ),
        "",
    ]


def mass_matrix_line(data: Data, where: str) -> str:
    """A sentence about the mass matrix; `where` names the configuration."""
    M = data["mass_matrix"]
    return (
        f"{where}: condition number {M['condition']:.4g}, eigenvalues from {M['smallest']:.4g} to {M['largest']:.4g}."
    )


def verification_lines(found: Studied) -> list[str]:
    """The section of the summary about the verification, as lines of Markdown."""
    return ["## Verification", "", "```", str(found.verification), "```", ""]


def demo_sheet(data: Data) -> Sheet:
    """What a demo found: functions, checks, the mass matrix at the pose shown, how far it crawled, and its files."""
    M, crawl = data["mass_matrix"], data.get("crawl")
    rows: list[tuple[Field, Any]] = [
        (Field("", "degrees of freedom"), data["nv"]),
        (Field("", "condition number of the mass matrix at the pose shown", form=3), M["condition"]),
        (Field("", "its smallest eigenvalue", form=3), M["smallest"]),
        (Field("", "its largest eigenvalue", form=3), M["largest"]),
    ]
    if crawl is not None:
        way = f"{crawl['displacement']:.2f} m in {crawl['time']:.0f} s, {crawl['lengths']:.1f} of its own lengths"
        torques = f"up to {crawl['peak_torque']:.2f} N m of {crawl['limit']:g} N m"
        rows += [(Field("", "crawled", form="name"), way), (Field("", "torques", form="name"), torques)]
    rows.append((Field("", "time in all", "s", ".1f"), data["seconds"]))
    files = [(Field("", "wrote", form="name"), name) for name in data["files"]]
    checks = [Check(**row) for row in data["verification"]["checks"]]
    parts = (function_table(data["functions"]), *check_parts(checks), Facts(rows), Facts(files))
    return Sheet("Demo of", data["robot"], parts)
