"""`kinemorph demo --robot`: derives, verifies and draws a robot; adds the equations of a robot small enough to read.

Everything is written to one folder: pictures, `summary.md` for people, `summary.json` for programs.
"""

from __future__ import annotations

import time
from pathlib import Path

from kinemorph.cli.demo.summary import (
    Say,
    function_lines,
    mass_matrix_line,
    studied,
    verification_lines,
    write_summary,
)
from kinemorph.cli.output_files import make_folder
from kinemorph.display.canvas import save
from kinemorph.display.charts.figures import draw_mass_matrix, draw_op_counts, draw_topology
from kinemorph.display.equations.equations_of_motion import equations_of_motion
from kinemorph.display.equations.typesetting import draw_equations
from kinemorph.display.painting.draw import draw
from kinemorph.display.tables.summaries import Data
from kinemorph.mechanics.constraints.stances import stance
from kinemorph.model.library import build
from kinemorph.model.robot import Robot


def robot_demo(robot: Robot, folder: Path, say: Say = lambda message: None) -> Data:
    """Derives, verifies and draws a robot, and writes all results to `folder`. Returns the summary as data.

    `say` is called with messages about the progress.
    """
    begun = time.perf_counter()
    make_folder(folder)
    q = stance(robot)
    found = studied(robot, q, say, robot.name, begun)
    say("drawing")
    small = build("double_pendulum")
    equations = equations_of_motion(small)
    programs, title = [function.program for function in found.functions], f"{robot.name}: operations per function"
    pictures = {
        "robot.png": draw(robot, q),
        "mass_matrix.png": draw_mass_matrix(robot, found.dynamics.mass_matrix.program, found.M),
        "operations.png": draw_op_counts(programs, title=title),
        "topology.png": draw_topology(robot),
        "double_pendulum.png": draw(small, stance(small)),
        "double_pendulum_equations.png": draw_equations(equations),
    }

    def page(data: Data) -> list[str]:
        return [
            *(f"# {robot.name}", ""),
            f"{robot.nv} degrees of freedom, {data['bodies']} bodies. "
            f"Derived, verified and drawn in {data['seconds']:.1f} s.",
            *("", "![robot](robot.png)", ""),
            *function_lines(data),
            *("![operations](operations.png)", "", "## Mass matrix", ""),
            mass_matrix_line(data, "At the pose shown"),
            *("", "![mass matrix](mass_matrix.png)", ""),
            *verification_lines(found),
            *("## Tree", "", "![tree](topology.png)", ""),
            *("## A small robot to read: the double pendulum", "", "![double pendulum](double_pendulum.png)", ""),
            *("![equations](double_pendulum_equations.png)", "", "```", equations.text.rstrip(), "```", ""),
            *(", ".join(equations.legend), ""),
        ]

    files = [save(figure, folder / name) for name, figure in pictures.items()]
    texts = {"robot": small.name, "text": equations.text, "latex": equations.latex}
    return write_summary(folder, found, files, page, equations=texts)
