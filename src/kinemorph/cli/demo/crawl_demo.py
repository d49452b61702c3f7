"""What `kinemorph demo` makes where no robot is named: an organism of nine modules, from its dockings to its way.

Assembled, written as tables, derived, verified, put on the ground and let crawl for a minute. Everything lands in one
folder: pictures, tables, a page that plays the run, `summary.md` for people and `summary.json` for programs.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.analysis.verification.verify import verify
from kinemorph.cli.demo.robot_demo import Say, make_folder
from kinemorph.cli.emitted_forms import write_text
from kinemorph.deriving.dynamics import derive
from kinemorph.deriving.function_names import MAIN_FUNCTIONS
from kinemorph.display.canvas import save
from kinemorph.display.charts.crawl_pictures import center_of_mass_path, draw_crawl
from kinemorph.display.painting.draw import write_still
from kinemorph.display.replays.replay import replay
from kinemorph.display.tables.assembly_tables import assembly_tables
from kinemorph.display.tables.summaries import Data, function_of, mass_matrix_figures, timed
from kinemorph.model.library.crawlers import LENGTH, crawler
from kinemorph.model.parameter import evaluate
from kinemorph.model.system import System
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate

SEEN = 21.2  # [s], when the picture is taken: one leg is up, another pushes
TABLES = ("aim", "dtl", "idtl", "paths")  # those of the paper

PAGE = """<!doctype html>
<meta charset="utf-8">
<title>{title}</title>
<style>body {{ font: 15px sans-serif; margin: 2em }} table {{ margin: 1.5em 0; border-collapse: collapse }}
caption {{ text-align: left; font-weight: bold }} th, td {{ padding: 0.2em 0.7em }}</style>
{tables}
"""


def crawl_showcase(folder: Path, say: Say = lambda message: None, until: float = 60.0) -> Data:
    """Assembles, derives, verifies the paper's organism and lets it crawl for `until` [s], into a folder; tells `say`
    what it is doing. Returns the summary as data.
    """
    start = time.perf_counter()
    make_folder(folder)
    say("assembling nine modules")
    system = crawler()
    assert system.assembly is not None
    robot, tables = system.robot, assembly_tables(system.assembly)
    say("deriving the organism")
    dynamics = derive(robot)
    made = [timed(lambda name=name: function_of(dynamics, name)) for name in MAIN_FUNCTIONS]  # type: ignore[misc]
    M = dynamics.mass_matrix(system.settings.q)
    say("verifying the organism")
    verification = verify(dynamics)
    say("compiling its steps on the ground")
    run = simulate(system, until, progress=lambda t, h, events: say(f"crawling: {t:.0f} of {until:.0f} s"))
    say("drawing")
    crawl = crawl_figures(system, run)
    title = f"nine modules crawl: {crawl['displacement']:.2f} m in {until:.0f} s"
    shown, base = ("q.*_hinge", "drive.*"), "m0_rear"
    replay(run, folder / "crawl.html", fps=30.0, columns=shown, trace=base, follow=base, title=title)
    files = [
        write_still(run, folder / "organism.png", min(SEEN, until), camera=(30, -35), title="nine modules crawl"),
        save(draw_crawl(run, title=title), folder / "crawl.png"),
        folder / "crawl.html",
    ]
    write_text(folder / "tables.txt", "\n".join(getattr(tables, name).text() for name in TABLES))
    write_text(folder / "tables.html", PAGE.format(title=robot.name, tables=tables.written("html")))
    files += [folder / name for name in ("tables.txt", "tables.html", "summary.md", "summary.json")]
    data: Data = {
        "robot": robot.name,
        "nq": robot.nq,
        "nv": robot.nv,
        "bodies": len(robot.bodies),
        "modules": len(system.assembly.modules),
        "functions": [row for _, row in made],
        "mass_matrix": mass_matrix_figures(M),
        "verification": verification.as_dict(),
        "crawl": crawl,
        "files": [str(path) for path in files],
        "passed": verification.passed and run.outcome.ok and crawl["peak_torque"] <= crawl["limit"],
        "seconds": time.perf_counter() - start,
    }
    listed = "\n\n".join(f"```\n{getattr(tables, name).text().rstrip()}\n```" for name in TABLES)
    write_text(folder / "summary.md", _markdown(data, str(verification), listed))
    write_text(folder / "summary.json", json.dumps(data, indent=2) + "\n")
    return data


def crawl_figures(system: System, run: Trajectory, drive: str = "drive") -> Data:
    """A crawl in figures: how far the center of mass went [m], torques of the drives [N m], speeds, work."""
    path = center_of_mass_path(system.robot, run.q)
    names = [name.removeprefix(f"{drive}.") for name in run.columns if name.startswith(f"{drive}.")]
    torques = np.array([run[f"{drive}.{name}"] for name in names])
    limit = min(float(evaluate(system.robot.joint(name).effort[0])) for name in names)
    full = np.abs(torques) >= limit * (1.0 - 1e-9)
    return {
        "time": float(run.t[-1] - run.t[0]),
        "displacement": float(np.linalg.norm(path[-1, :2] - path[0, :2])),
        "lengths": float(np.linalg.norm(path[-1, :2] - path[0, :2])) / LENGTH,
        "peak_torque": float(np.abs(torques).max()),
        "limit": limit,
        "at_limit": float(full.any(axis=0).mean()),  # part of the time
        "peak_speed": float(max(np.abs(run[f"v.{name}"]).max() for name in names)),
        "work": float(run["energy.supplied"][-1]),
        "steps": run.statistics.accepted,
        "stepping_seconds": run.statistics.seconds,
        "compile_seconds": run.statistics.compile_seconds,
    }


def _markdown(data: Data, verification: str, tables: str) -> str:
    """The summary for people."""
    crawl: dict[str, Any] = data["crawl"]
    M = data["mass_matrix"]
    return "\n".join(
        [
            "# Nine modules crawl",
            "",
            f"{data['modules']} Backbones, {data['bodies']} bodies, {data['nv']} degrees of freedom. Assembled, "
            f"derived, verified, simulated and drawn in {data['seconds']:.1f} s.",
            "",
            "![the organism](organism.png)",
            "",
            "## Its way",
            "",
            f"{crawl['displacement']:.2f} m in {crawl['time']:.0f} s, {crawl['lengths']:.1f} of its own lengths. "
            f"Torques of hinges reach {crawl['peak_torque']:.2f} N m of {crawl['limit']:g} N m; speeds "
            f"{crawl['peak_speed']:.2f} rad/s. {crawl['steps']:,} steps took {crawl['stepping_seconds']:.1f} s.",
            "",
            "![way, angles, torques](crawl.png)",
            "",
            "[Play it](crawl.html) in any browser.",
            "",
            "## Its tables",
            "",
            "As in the paper: the assembly incidence matrix, direct and indirect transformations, paths.",
            "",
            tables,
            "",
            "## Functions",
            "",
            "| function | operations | flops | graph [ms] | compile [ms] |",
            "|---|---:|---:|---:|---:|",
            *(
                f"| {row['function']} | {row['ops']:,} | {row['flops']:,} | {1e3 * row['build_seconds']:.1f} "
                f"| {1e3 * row['compile_seconds']:.1f} |"
                for row in data["functions"]
            ),
            "",
            f"Mass matrix in the initial configuration: condition number {M['condition']:.4g}, eigenvalues from "
            f"{M['smallest']:.4g} to {M['largest']:.4g}.",
            "",
            "## Verification",
            "",
            "```",
            verification,
            "```",
            "",
        ]
    )
