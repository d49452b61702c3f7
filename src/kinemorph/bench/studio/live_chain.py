"""A chain of 50 links that moves live in the studio's page and in viser's: the same poses, in the same browser.

pictures per second   while poses come 60 times a second, in windows of the same size, without a graphics card
script                the median time of the page's script for one picture and for the message before it, without the
                      work of the graphics card
bytes                 what the page receives for one set of poses, while they come so slowly that none is left out
"""

from __future__ import annotations

import math
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinemorph.bench.peers.viser_viewer import ViserViewer
from kinemorph.bench.studio.watched_pages import free_port, wait_until, watched_page
from kinemorph.bench.targets import judge_live
from kinemorph.bench.timing import Row, Say
from kinemorph.display.looks.poses import Poses
from kinemorph.display.looks.quaternions import quaternions_of
from kinemorph.display.scenes.building import scene_of
from kinemorph.errors import MissingExtraError
from kinemorph.model.library.textbook import chain
from kinemorph.studio.open_studio import open_studio

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LINKS = 50
RATE, SECONDS, QUICK_SECONDS = 60.0, 8.0, 2.0  # sets of poses per second, and for how long [s]
SLOW_RATE, SLOW_COUNT = 4.0, 12  # sets of poses per second, and their number, while bytes are counted
WARM_UP, FEWEST, MOST_ROUNDS = 3.0, 40, 8  # [s] before measuring, as often as needed for this number of pictures
LARGEST = """(() => {
  const boxes = [...document.querySelectorAll("canvas")].map((one) => one.getBoundingClientRect());
  const { width, height } = boxes.sort((a, b) => b.width * b.height - a.width * a.height)[0];
  return `${Math.round(width)} x ${Math.round(height)}`;
})()"""
WIDE = "if (location.protocol.startsWith('http')) localStorage.setItem('side', 20);"  # most of the page for the picture
Show = Callable[[int], None]  # shows the poses with an index


class Shown(NamedTuple):
    """What was measured in a page.

    Pictures per second, script time per picture [ms], bytes per set of poses, and the size of the picture [px].
    """

    pictures: float
    script_ms: float
    bytes: float
    size: str


def live_rows(browser: Browser, folder: Path, *, quick: bool, note: Say) -> Iterator[Row]:
    """Yields one row: the chain in the studio, beside viser."""
    robot = chain(LINKS)
    times = np.arange(0.0, 4.0, 1.0 / RATE)
    bends = 0.05 * np.sin(2.0 * np.pi * 0.5 * times)[:, None] * np.cos(np.arange(robot.nq) / 4.0)
    poses = Poses(robot, bends)
    positions = np.stack([poses.p[name] for name in robot.body_names], axis=1)
    quaternions = np.stack([quaternions_of(poses.R[name]) for name in robot.body_names], axis=1)
    seconds = QUICK_SECONDS if quick else SECONDS
    with open_studio(robot, folder=folder, open=False) as studio, watched_page(browser, prepare=WIDE) as page:
        name = f"{robot.name}.toml"

        def show(row: int) -> None:
            """Sends what a live run sends for one picture; see `studio.tasks.live_tasks`."""
            header = {"push": "poses", "document": name, "t": float(times[row]), "coordinates": True}
            payload = np.asarray(bends[row], dtype="<f4").tobytes()
            studio.session.push_bytes(header, payload, document=name, latest=f"live {name}")

        page.goto(studio.url)
        wait_until(page, "probe.first !== null && window.kinemorph?.studio?.state?.good_revision >= 0")
        page.get_by_role("tab", name="Live").click()
        page.wait_for_timeout(1500)
        ours = _measured(page, show, len(times), seconds)
    try:
        viewer = ViserViewer(scene_of(robot).figures[0], free_port())
    except MissingExtraError as error:
        note(str(error))
        theirs = None
    else:
        with watched_page(browser) as page:
            page.goto(viewer.url)
            wait_until(page, "window.probe.first !== null")
            page.wait_for_timeout(1500)
            theirs = _measured(page, lambda row: viewer.show(positions[row], quaternions[row]), len(times), seconds)
        viewer.stop()
    row: Row = {"kind": "live", "what": f"chain of {LINKS}", "peer": "viser"}
    for key in Shown._fields:
        row[f"ours_{key}"] = getattr(ours, key)
        row[f"peer_{key}"] = getattr(theirs, key, None)
    yield row | judge_live(ours.script_ms, *_ratios(ours, theirs))._asdict()


def _ratios(ours: Shown, theirs: Shown | None) -> tuple[float | None, float | None]:
    """Our bytes over those of the peer, and our pictures per second over its."""
    if theirs is None:
        return None, None
    return ours.bytes / theirs.bytes, ours.pictures / theirs.pictures


def _measured(page: Any, show: Show, count: int, seconds: float) -> Shown:
    for _ in range(MOST_ROUNDS):  # shaders are compiled, and pages find out how fine their pictures can be
        _stream(page, show, count, RATE, WARM_UP)
        if page.evaluate("probe.pictures.length") >= FEWEST:
            break
    before = page.loaded.messages
    _stream(page, show, count, SLOW_RATE, SLOW_COUNT / SLOW_RATE)
    size = (page.loaded.messages - before) / SLOW_COUNT
    page.evaluate("probe.pictures.length = probe.scripts.length = probe.messages.length = 0")
    _stream(page, show, count, RATE, seconds)
    pictures, scripts, messages = page.evaluate("[probe.pictures, probe.scripts, probe.messages]")
    script = statistics.median(scripts or [math.nan]) + statistics.median(messages or [0.0])
    return Shown(len(pictures) / seconds, script, size, page.evaluate(LARGEST))


def _stream(page: Any, show: Show, count: int, rate: float, seconds: float) -> None:
    """Shows sets of poses at a rate for some time [s]; the page's events are handled meanwhile."""

    def send() -> None:
        began = time.monotonic()
        for number in range(round(rate * seconds)):
            time.sleep(max(began + number / rate - time.monotonic(), 0.0))
            show(number % count)

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    while sender.is_alive():
        page.wait_for_timeout(50)
    page.wait_for_timeout(300)
