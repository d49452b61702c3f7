"""`kinemorph demo`: an organism of nine modules is assembled, derived, verified, and crawls on the ground for a minute.

Everything is written to one folder: pictures, tables, a page that plays the run, `summary.md` for people and
`summary.json` for programs.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from kinemorph.cli.demo.summary import (
    Say,
    function_lines,
    mass_matrix_line,
    studied,
    verification_lines,
    write_summary,
)
from kinemorph.cli.output_files import make_folder, write_text
from kinemorph.display.canvas import save
from kinemorph.display.charts.crawl_pictures import center_of_mass_path, draw_crawl
from kinemorph.display.painting.draw import write_still
from kinemorph.display.replays.replay import replay
from kinemorph.display.tables.assembly_tables import assembly_tables
from kinemorph.display.tables.summaries import Data
from kinemorph.model.library.modular import LENGTH, crawler
from kinemorph.model.parameter import evaluate
from kinemorph.model.system import System
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate

SEEN = 21.2  # [s], time in the run at which the picture is taken: one leg is up, another pushes
TABLES = ("aim", "dtl", "idtl", "paths")  # the tables of the paper

PAGE = """<!doctype html>
<meta charset="utf-8">
<title>{title}</title>
<style>body {{ font: 15px sans-serif; margin: 2em }} table {{ margin: 1.5em 0; border-collapse: collapse }}
caption {{ text-align: left; font-weight: bold }} th, td {{ padding: 0.2em 0.7em }}</style>
{tables}
"""


def crawl_demo(folder: Path, say: Say = lambda message: None, until: float = 60.0) -> Data:
    """Assembles, derives and verifies the paper's organism and simulates its crawl for `until` [s].

    All results are written to `folder`. `say` is called with messages about the progress. Returns the summary as data.
    """
    begun = time.perf_counter()
    make_folder(folder)
    say("assembling nine modules")
    system = crawler()
    assert system.assembly is not None
    tables = assembly_tables(system.assembly)
    found = studied(system.robot, system.settings.q, say, "the organism", begun)
    say("compiling the simulation on the ground")
    run = simulate(system, until, progress=lambda t, h, events: say(f"crawling: {t:.0f} of {until:.0f} s"))
    say("drawing")
    crawl = crawl_numbers(system, run)
    title = f"nine modules crawl: {crawl['displacement']:.2f} m in {until:.0f} s"
    shown, base = ("q.*_hinge", "drive.*"), "m0_rear"
    replay(run, folder / "crawl.html", fps=30.0, columns=shown, trace=base, follow=base, title=title)
    files = [
        write_still(run, folder / "organism.png", min(SEEN, until), camera=(30, -35), title="nine modules crawl"),
        save(draw_crawl(run, title="nine modules crawl"), folder / "crawl.png"),  # which says the distance itself
        *(folder / name for name in ("crawl.html", "tables.txt", "tables.html")),
    ]
    texts = [getattr(tables, name).text() for name in TABLES]
    write_text(folder / "tables.txt", "\n".join(texts))
    write_text(folder / "tables.html", PAGE.format(title=system.robot.name, tables=tables.written("html")))

    def page(data: Data) -> list[str]:
        return [
            *("# Nine modules crawl", ""),
            f"{data['modules']} Backbones, {data['bodies']} bodies, {data['nv']} degrees of freedom. Assembled, "
            f"derived, verified, simulated and drawn in {data['seconds']:.1f} s.",
            *("", "![the organism](organism.png)", "", "## Its path", ""),
            f"{crawl['displacement']:.2f} m in {crawl['time']:.0f} s, {crawl['lengths']:.1f} of its own lengths. "
            f"Torques of hinges reach {crawl['peak_torque']:.2f} N m of {crawl['limit']:g} N m; speeds "
            f"{crawl['peak_speed']:.2f} rad/s. {crawl['steps']:,} steps took {crawl['stepping_seconds']:.1f} s.",
            *("", "![path, angles, torques](crawl.png)", "", "[Play it](crawl.html) in any browser.", ""),
            *("## Its tables", ""),
            "As in the paper: the assembly incidence matrix, direct and indirect transformations, paths.",
            *("", "\n\n".join(f"```\n{text.rstrip()}\n```" for text in texts), ""),
            *function_lines(data),
            mass_matrix_line(data, "Mass matrix in the initial configuration"),
            "",
            *verification_lines(found),
        ]

    passed, modules = run.outcome.ok and crawl["peak_torque"] <= crawl["limit"], len(system.assembly.modules)
    return write_summary(folder, found, files, page, modules=modules, crawl=crawl, passed=passed)


def crawl_numbers(system: System, run: Trajectory, drive: str = "drive") -> Data:
    """Numbers that describe a crawl: displacement of the center of mass [m], peak torque of the drives [N m] and its
    limit, peak joint speed [rad/s], work of the drives [J], steps and computing times [s].

    `drive` is the name of the element that drives the joints.
    """
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
        "at_limit": float(full.any(axis=0).mean()),  # fraction of the time in which some torque is at its limit
        "peak_speed": float(max(np.abs(run[f"v.{name}"]).max() for name in names)),
        "work": float(run["energy.supplied"][-1]),
        "steps": run.statistics.accepted,
        "stepping_seconds": run.statistics.seconds,
        "compile_seconds": run.statistics.compile_seconds,
    }
