"""What `kinemorph demo --robot` makes: a built-in robot derived, verified and shown, and small equations to read.

Everything lands in one folder: pictures, `summary.md` for people, `summary.json` for programs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kinemorph.analysis.verification.verify import verify
from kinemorph.cli.emitted_forms import write_text
from kinemorph.deriving.dynamics import derive
from kinemorph.deriving.function_names import MAIN_FUNCTIONS
from kinemorph.display.canvas import save
from kinemorph.display.charts.figures import draw_mass_matrix, draw_op_counts, draw_topology
from kinemorph.display.equations.equations_of_motion import WrittenEquations, equations_of_motion
from kinemorph.display.equations.typesetting import draw_equations
from kinemorph.display.looks.postures import stance
from kinemorph.display.painting.draw import draw
from kinemorph.display.tables.summaries import Data, function_of, mass_matrix_figures, timed
from kinemorph.errors import KinemorphError
from kinemorph.model.library import build
from kinemorph.model.robot import Robot

Say = Callable[[str], Any]


def showcase(robot: Robot, folder: Path, say: Say = lambda message: None) -> Data:
    """Derives, verifies and draws a robot into a folder; tells `say` what it is doing. Returns the summary as data."""
    start = time.perf_counter()
    make_folder(folder)
    say(f"deriving {robot.name}")
    dynamics = derive(robot)
    q = stance(robot)
    made = [timed(lambda name=name: function_of(dynamics, name)) for name in MAIN_FUNCTIONS]  # type: ignore[misc]
    M = dynamics.mass_matrix(q)
    say(f"verifying {robot.name}")
    verification = verify(dynamics)
    say("drawing")
    pictures = {
        "robot.png": draw(robot, q),
        "mass_matrix.png": draw_mass_matrix(robot, dynamics.mass_matrix.program, M),
        "operations.png": draw_op_counts(
            [function.program for function, _ in made], title=f"{robot.name}: operations per function"
        ),
        "topology.png": draw_topology(robot),
    }
    small = build("double_pendulum")
    equations = equations_of_motion(small)
    pictures["double_pendulum.png"] = draw(small, stance(small))
    pictures["double_pendulum_equations.png"] = draw_equations(equations)
    files = [save(figure, folder / name) for name, figure in pictures.items()]
    files += [folder / "summary.md", folder / "summary.json"]
    data: Data = {
        "robot": robot.name,
        "nq": robot.nq,
        "nv": robot.nv,
        "bodies": len(robot.bodies),
        "functions": [row for _, row in made],
        "mass_matrix": mass_matrix_figures(M),
        "verification": verification.as_dict(),
        "equations": {"robot": small.name, "text": equations.text, "latex": equations.latex},
        "files": [str(path) for path in files],
        "passed": verification.passed,
        "seconds": time.perf_counter() - start,
    }
    write_text(folder / "summary.md", _markdown(data, str(verification), equations))
    write_text(folder / "summary.json", json.dumps(data, indent=2) + "\n")
    return data


def _markdown(data: Data, verification: str, equations: WrittenEquations) -> str:
    """The summary for people."""
    M = data["mass_matrix"]
    rows = [
        f"| {row['function']} | {row['ops']:,} | {row['flops']:,} | {1e3 * row['build_seconds']:.1f} "
        f"| {1e3 * row['compile_seconds']:.1f} |"
        for row in data["functions"]
    ]
    return "\n".join(
        [
            f"# {data['robot']}",
            "",
            f"{data['nv']} degrees of freedom, {data['bodies']} bodies. "
            f"Derived, verified and drawn in {data['seconds']:.1f} s.",
            "",
            "![robot](robot.png)",
            "",
            "## Functions",
            "",
            "| function | operations | flops | graph [ms] | compile [ms] |",
            "|---|---:|---:|---:|---:|",
            *rows,
            "",
            "![operations](operations.png)",
            "",
            "## Mass matrix",
            "",
            f"At the pose shown: condition number {M['condition']:.4g}, "
            f"eigenvalues from {M['smallest']:.4g} to {M['largest']:.4g}.",
            "",
            "![mass matrix](mass_matrix.png)",
            "",
            "## Verification",
            "",
            "```",
            verification,
            "```",
            "",
            "## Tree",
            "",
            "![tree](topology.png)",
            "",
            "## A small robot to read: the double pendulum",
            "",
            "![double pendulum](double_pendulum.png)",
            "",
            "![equations](double_pendulum_equations.png)",
            "",
            "```",
            equations.text.rstrip(),
            "```",
            "",
            ", ".join(equations.legend),
            "",
        ]
    )


def make_folder(folder: Path) -> None:
    """Makes a folder for what is shown. Raises KinemorphError with a sentence."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KinemorphError(
            f"cannot make the folder '{folder}': {error.strerror}. Choose another with --output."
        ) from error
