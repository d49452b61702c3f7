"""The screenshots of docs/viewing.md: four robots in the replay and in the live viewer, seen by a browser without a
window.

    python tests/support/tools/screenshots.py [name ...]

writes docs/pictures/see_NAME_replay.png and see_NAME_viewer.png, for all of ROBOTS or for those named. It needs the
extra [dev] and Chromium. A script, not a test: look at what it makes.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import kinemorph
from kinemorph import elements
from kinemorph.analysis.loops.close_loops import close_loops
from kinemorph.bench.peers.chromium import ADVICE, find_chromium, launch
from kinemorph.display.replays.replay import replay
from kinemorph.display.viewer.view import view
from kinemorph.mechanics.constraints.stances import stance
from support.robots.robot_files import urdf_file

ROOT = Path(__file__).resolve().parents[3]
PICTURES, EXAMPLES = ROOT / "docs" / "pictures", ROOT / "examples"
# a window of 1200 x 750 on a coarse screen: pictures of 960 x 600 pixels
WINDOW = {"viewport": {"width": 1200, "height": 750}, "device_scale_factor": 0.8}
SETTLED = 2500  # [ms] that a page gets to draw what it was told


class Seen(NamedTuple):
    """A robot or run, how it is shown, and the time [s] at which the picture is taken; None for one to be posed."""

    subject: Any
    options: dict[str, Any]
    t: float | None = None
    layers: tuple[str, ...] = ()


def double_pendulum() -> Seen:
    """A run, with the way of its tip."""
    robot = kinemorph.library.double_pendulum()
    run = kinemorph.simulate(robot, 6.0, q=[2.2, 0.6], output_step=0.005)
    return Seen(run, {"trace": robot.frames[-1].name}, t=2.6)


def hexapod() -> Seen:
    """36 degrees of freedom standing on six feet, with the forces of the ground."""
    robot = kinemorph.library.hexapod36()
    joints = tuple(joint.name for joint in robot.joints if joint.kind == "revolute")
    start = np.array(stance(robot))
    start[2] += 0.02
    soil = {"normal": elements.EasyDynNormal(5e4, 5e5), "friction": elements.Regularized(0.8, 2e-4)}
    feet = [elements.Contact(f"foot {k}", f"foot{k}", **soil) for k in range(1, 7)]
    hold = elements.PD("hold", joints, kp=200.0, kd=4.0, reference=tuple(start[7:]))
    return Seen(kinemorph.simulate(kinemorph.System(robot, (*feet, hold)), 2.0, q=start, output_step=0.005), {}, t=1.8)


def arm() -> Seen:
    """The Panda of a URDF file with its meshes, to be posed."""
    path = urdf_file("panda.urdf")
    system = kinemorph.load(path, package_dirs=[path.parents[3]])
    q = np.zeros(system.robot.nq)
    q[:7] = (0.3, 0.3, 0.0, -1.8, 0.0, 2.1, 0.8)
    return Seen(system, {"q": q})


def four_bar() -> Seen:
    """Hoecken's linkage, turned by its motor against a brake; half the way of its pen is straight."""
    text = (EXAMPLES / "11_toml_closed_loop.toml").read_text(encoding="utf-8")
    system = kinemorph.load_text(text.replace("2 mN m s/rad", "80 mN m s/rad"), format="toml")
    start = close_loops(system, system.settings.q)
    run = kinemorph.simulate(system, 4.0, q=start.q, inputs={"drive": 0.02}, output_step=0.005)
    return Seen(run, {"trace": "pen"}, t=2.75, layers=("joints",))


ROBOTS: dict[str, Callable[[], Seen]] = {
    "double_pendulum": double_pendulum,
    "hexapod36": hexapod,
    "arm": arm,
    "four_bar": four_bar,
}


def shoot(browser: Any, name: str) -> None:
    """Takes both pictures of one robot."""
    seen = ROBOTS[name]()
    page = browser.new_page(**WINDOW)
    with tempfile.TemporaryDirectory() as folder:
        file = replay(seen.subject, Path(folder) / f"{name}.html", **seen.options).path
        page.goto(file.as_uri())
        page.evaluate("() => window.kinemorph.ready.then(() => true)")
        if seen.t is not None:
            page.evaluate("t => { kinemorph.pause(); kinemorph.setTime(t); }", seen.t)
        for layer in seen.layers:
            page.evaluate("key => { kinemorph.setLayer(key, true); }", layer)
        page.wait_for_timeout(SETTLED)
        keep(page.screenshot(), f"see_{name}_replay.png")
    page.close()
    page = browser.new_page(**WINDOW)
    with view(seen.subject, **seen.options) as viewer:
        page.goto(viewer.url)
        page.wait_for_selector("html[data-ready=true]")
        if seen.t is not None:
            viewer.time = seen.t
        if seen.layers:
            viewer.show(*seen.layers)
        page.wait_for_timeout(2 * SETTLED)
        keep(page.screenshot(timeout=120_000), f"see_{name}_viewer.png")
    page.close()


def keep(shot: bytes, name: str) -> None:
    """Writes a picture in 256 colors, those that differ most rather than those that there is most of."""
    from PIL import Image

    image = Image.open(io.BytesIO(shot)).convert("RGB")
    image = image.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)
    image.save(PICTURES / name, optimize=True)
    print(f"wrote {PICTURES / name}, {(PICTURES / name).stat().st_size / 1e3:.0f} kB")


def main() -> None:
    """All robots, or those named."""
    from playwright.sync_api import sync_playwright

    program = find_chromium()
    if program is None:
        sys.exit(ADVICE)
    with sync_playwright() as playwright:
        browser = launch(playwright, program)
        for name in sys.argv[1:] or ROBOTS:
            shoot(browser, name)
        browser.close()


if __name__ == "__main__":
    main()
