"""What `kinemorph demo` makes: a built-in robot derived, verified and shown, and small equations to read.

Everything lands in one folder: pictures, `summary.md` for people, `summary.json` for programs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.analysis.verification import verify
from kinemorph.deriving import derive
from kinemorph.display.canvas import save
from kinemorph.display.drawing import draw, poses_at
from kinemorph.display.emitting import write_text
from kinemorph.display.equations import WrittenEquations, equations_of_motion
from kinemorph.display.figures import draw_mass_matrix, draw_op_counts, draw_topology
from kinemorph.display.menu import MAIN_FUNCTIONS
from kinemorph.display.summaries import Data, function_of, mass_matrix_figures, timed
from kinemorph.display.typesetting import draw_equations
from kinemorph.errors import KinemorphError
from kinemorph.model.configuration import neutral
from kinemorph.model.library import build
from kinemorph.model.robot import Array, Robot

Say = Callable[[str], Any]

# joint angles that show a robot well, by the ending of the joint's name [rad]
STANCE: dict[str, dict[str, float]] = {
    "pendulum": {"q1": 0.6},
    "double_pendulum": {"q1": 0.5, "q2": 0.6},
    "crane": {"theta": 0.5},
    "scara": {"shoulder": 0.5, "elbow": -1.2, "lift": -0.1},
    "puma": {"joint2": 0.7, "joint3": -0.6, "joint5": 0.8},
    "hexapod24": {"thigh_joint": -0.45, "shank_joint": 1.35},
    "hexapod36": {"thigh_joint": -0.5, "shank_joint": 1.1, "foot_joint": 0.55},
    "humanoid": {
        "thigh_joint": -0.35, "shank_joint": 0.7, "ankle_joint": -0.35, "forearm_joint": -0.9,
        "shoulder_pitch_joint": -0.4, "left_shoulder_roll_joint": 0.25, "right_shoulder_roll_joint": -0.25,
    },
    "four_bar": {"q1": 0.6, "q2": 0.02989836, "q3": 1.6066907},
}  # fmt: skip


def stance(robot: Robot) -> Array:
    """A configuration that shows a robot well, shape (nq,): bent knees, free bases with their lowest frame at z = 0."""
    q = neutral(robot)
    for ending, angle in STANCE.get(robot.name, {}).items():
        for joint in robot.joints:
            if joint.name.endswith(ending) and joint.nq == 1:
                q[robot.q_slice(joint.name)] = angle
    if robot.name.startswith("chain"):
        q[:] = np.linspace(0.9, -0.3, robot.nq) * 2.0 / max(robot.nq, 2)
    free = [joint for joint in robot.joints if joint.kind == "free"]
    if free and robot.frames:
        lowest = min(float(poses_at(robot, q)[frame.name].p[2]) for frame in robot.frames)
        for joint in free:
            q[robot.q_slice(joint.name).start + 2] -= lowest
    return q


def showcase(robot: Robot, folder: Path, say: Say = lambda message: None) -> Data:
    """Derives, verifies and draws a robot into a folder; tells `say` what it is doing. Returns the summary as data."""
    start = time.perf_counter()
    _make_folder(folder)
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


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KinemorphError(
            f"cannot make the folder '{folder}': {error.strerror}. Choose another with --output."
        ) from error
