"""The rows of `kinemorph bench replay`: the time to make, to open and to play a replay page, and its size.

export   from a run to the file: the scene, its compression, and the page, written to disk
load     from the beginning of navigation to the first picture, opened from disk in a headless Chromium
frame    the time of the page's script for one picture while it plays, without the work of the GPU

Runs are 10 s long and sampled at 60 pictures per second. The first is a chain of 50 links that swings, the second the
hexapod of 36 degrees of freedom, set down on six feet and pushed, with the forces at its feet.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kinemorph.bench.peers.chromium import ADVICE, find_chromium, launch
from kinemorph.bench.standing.kinemorph_run import elements
from kinemorph.bench.standing.problem import standing
from kinemorph.bench.targets import judge_replay
from kinemorph.bench.timing import Pace, Row, Say, timed
from kinemorph.display.replays.replay import replay
from kinemorph.model.library.textbook import chain
from kinemorph.model.system import System
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SECONDS, FPS = 10.0, 60.0
REPEATS = 5
PICTURES, LONGEST_S = 100, 10  # pictures to play, and the longest time for them [s]
LINKS = 50


def swinging_chain() -> Trajectory:
    """A run of a chain of 50 links that is released sideways."""
    robot = chain(LINKS)
    q = np.zeros(robot.nq)
    q[0], q[1:] = 1.0, 0.02
    return simulate(robot, SECONDS, q=q, rtol=1e-5, atol=1e-7, output_step=1.0 / FPS)


def pushed_hexapod() -> Trajectory:
    """A run of a hexapod that is set down on its feet and pushed."""
    problem = standing("hexapod36", "pushed")
    system = System(problem.robot, elements(problem))
    return simulate(system, SECONDS, q=problem.q, method="implicit_contact", step=0.004, output_step=1.0 / FPS)


SCENES: dict[str, Callable[[], Trajectory]] = {"chain of 50": swinging_chain, "hexapod36 pushed": pushed_hexapod}


def compare(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields one row per scene. Times in a browser are None if Chromium or Playwright is not installed."""
    repeats = 2 if quick else REPEATS
    with tempfile.TemporaryDirectory() as folder:
        made: list[tuple[Row, Path]] = []
        for name, run in SCENES.items():
            say(f"simulating {name}")
            made.append(_exported(name, run(), Path(folder, f"{len(made)}.html"), repeats))
        say("opening pages")
        measured = _in_browser([path for _, path in made], repeats, note)
        for (row, _), times in zip(made, measured, strict=True):
            verdict = judge_replay(row["export_s"], times["load_s"], times["frame_ms"])
            yield row | times | verdict._asdict()


def _exported(name: str, run: Trajectory, path: Path, repeats: int) -> tuple[Row, Path]:
    seconds = []
    for _ in range(repeats):
        taken, made = timed(lambda: replay(run, path, fps=FPS), time.perf_counter)
        seconds.append(taken)
    figure = made.scene.figures[0]
    row = {
        "scene": name,
        "bodies": len(figure.bodies),
        "frames": len(made.scene.times),
        "kilobytes": made.size / 1e3,
        "export_s": statistics.median(seconds),
        "first_export_s": seconds[0],
    }
    return row, path


def _in_browser(paths: list[Path], repeats: int, note: Say) -> list[Row]:
    """For each page, the time to the first picture [s], and the script time per picture [ms].

    The script time is given as median and 95th percentile. All times are None without Chromium or Playwright.
    """
    missing = [{"load_s": None, "frame_ms": None, "frame_ms_95": None} for _ in paths]
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        note("Playwright is not installed, so pages are made but not opened. Run: pip install playwright")
        return missing
    program = find_chromium()
    if program is None:
        note(f"pages are made but not opened: {ADVICE}")
        return missing
    with sync_playwright() as driver:
        browser = launch(driver, program)
        found = [_page_times(browser, path, repeats) for path in paths]
        browser.close()
    return found


def _page_times(browser: Browser, path: Path, repeats: int) -> Row:
    loads: list[float] = []
    for _ in range(repeats + 1):  # the first page also starts parts of the browser
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(path.as_uri())
        loads.append(page.evaluate("kinemorph.ready.then(() => performance.now())") / 1e3)
        if len(loads) <= repeats:
            page.close()
    page.evaluate("kinemorph.frameMilliseconds.length = 0; kinemorph.play()")
    for _ in range(LONGEST_S):  # without a GPU there are few pictures per second
        page.wait_for_timeout(1e3)
        frames = np.array(page.evaluate("kinemorph.frameMilliseconds"))
        if len(frames) >= PICTURES or not page.evaluate("kinemorph.playing"):
            break
    page.close()
    return {
        "load_s": statistics.median(loads[1:]),
        "frame_ms": float(np.median(frames)),
        "frame_ms_95": float(np.quantile(frames, 0.95)),
    }
