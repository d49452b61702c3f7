"""From the start of a process to its first picture in the browser, and the bytes that the page loads for it.

Ours is `kinemorph studio FILE`, the peer MuJoCo's web studio with the same robot as MJCF. The browser runs already. A
picture counts when it is complete on the graphics card and not of one color, and only when the page has the model,
because both pages draw before: MuJoCo's says so in a message, ours by an event.
"""

from __future__ import annotations

import importlib.util
import statistics
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinemorph.bench.studio.watched_pages import (
    PATIENCE,
    free_port,
    printed_address,
    running,
    wait_for_port,
    watched_page,
)
from kinemorph.bench.targets import judge_studio_start
from kinemorph.bench.timing import Row, Say
from kinemorph.formats.loading import save
from kinemorph.model.library.modular import organism9

if TYPE_CHECKING:
    from playwright.sync_api import Browser

REPEATS = 5
PEER_REPEATS = 2
# our page has the model when it has put its scene on the stage; the next picture shows it
SCENE_SET = """
probe.ready = false;
Object.defineProperty(window, "kinemorph", {
  configurable: true,
  set(opened) {
    Object.defineProperty(window, "kinemorph", { value: opened });
    opened.studio.on("picture", () => { probe.ready = true; });
  },
});
"""
MODEL_LOADED = """
probe.ready = false;
for (const name of ["log", "info", "warn", "error", "debug"]) {
  const say = console[name];
  console[name] = (...words) => {
    if (String(words[0]).includes("Model loaded and scene initialized")) probe.ready = true;
    return say.apply(console, words);
  };
}
"""


def start_rows(browser: Browser, folder: Path, *, quick: bool, note: Say) -> Iterator[Row]:
    """Yields one row: our time and MuJoCo's [s], and the bytes of both pages."""
    model = organism9()
    ours, peer = folder / "organism9.toml", folder / "organism9.xml"
    save(model, ours)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MJCF has no dockings; the bodies are the same
        save(model, peer)
    mine = [_our_start(browser, ours) for _ in range(1 if quick else REPEATS)]
    taken, size = statistics.median(seconds for seconds, _ in mine), mine[-1][1]
    theirs, their_size = _peer_start(browser, peer, 1 if quick else PEER_REPEATS, note)
    verdict = judge_studio_start(taken, theirs, size / 1e3)
    yield {
        "kind": "start",
        "what": "organism of nine modules",
        "ours_s": taken,
        "peer_s": theirs,
        "ours_kb": size / 1e3,
        "peer_kb": None if their_size is None else their_size / 1e3,
        "peer": "MuJoCo launch_web",
    } | verdict._asdict()


def _our_start(browser: Browser, path: Path) -> tuple[float, int]:
    """The time to the first picture [s], and the bytes of the page until then."""
    began = time.time()
    with (
        running(["-m", "kinemorph", "studio", path, "--no-open"]) as process,
        watched_page(browser, prepare=SCENE_SET) as page,
    ):
        page.goto(printed_address(process))
        seconds = _first_picture(page, began)
        if seconds is None:
            return PATIENCE, 0
        return seconds, page.loaded.files + page.loaded.messages


def _peer_start(browser: Browser, path: Path, repeats: int, note: Say) -> tuple[float | None, int | None]:
    """MuJoCo's time to the first picture [s], infinite where there was none in time, and the bytes of its page.

    Both are None where MuJoCo's studio is not installed.
    """
    if importlib.util.find_spec("mujoco") is None or importlib.util.find_spec("mujoco.studio") is None:
        note("MuJoCo's web studio is not installed, so there is nothing beside the start of ours.")
        return None, None
    found: list[float] = []
    size = 0
    for _ in range(repeats):
        began, port = time.time(), free_port()
        arguments = ["-m", "kinemorph.bench.peers.mujoco_studio", str(path), str(port)]
        with running(arguments) as process, watched_page(browser, prepare=MODEL_LOADED) as page:
            if not wait_for_port(port, process, PATIENCE):
                note("MuJoCo's web studio did not start.")
                return None, None
            page.goto(f"http://127.0.0.1:{port}/", wait_until="commit")
            seconds = _first_picture(page, began)
            size = page.loaded.files + page.loaded.messages
        if seconds is None:
            note(f"MuJoCo's canvas showed no picture within {PATIENCE:g} s.")
            return float("inf"), size
        found.append(seconds)
    return statistics.median(found), size


def _first_picture(page: Any, began: float) -> float | None:
    """The time from `began` (seconds since 1970) to the first picture [s]; None if there is none within a minute."""
    while time.time() - began < PATIENCE:
        page.wait_for_timeout(50)
        first = page.evaluate("window.probe?.first ?? null")
        if first is not None:
            return float(first) / 1e3 - began
    return None
