"""The rows of `kinemorph bench studio`: one run, one Chromium without a graphics card.

start   from the start of the process to the first picture in the browser, and the bytes of the page, beside MuJoCo 4
click   from a click on the topology grid to the draw call of the new scene, also while a run is computed
live    a chain of 50 links that moves: pictures per second, script time and bytes per picture, beside viser
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from kinemorph.bench.peers.chromium import ADVICE, find_chromium, launch
from kinemorph.bench.timing import Pace, Row, Say
from kinemorph.errors import KinemorphError


def compare(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields the rows. Raises KinemorphError without Playwright or Chromium."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise KinemorphError(
            "`bench studio` controls a browser by Playwright, which is not installed. Run: pip install playwright"
        ) from None
    program = find_chromium()
    if program is None:
        raise KinemorphError(f"`bench studio` measures pages, but {ADVICE}")
    from kinemorph.bench.studio.clicks import click_rows
    from kinemorph.bench.studio.first_pictures import start_rows
    from kinemorph.bench.studio.live_chain import live_rows

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = launch(driver, program)
        say("starting studios")
        yield from start_rows(browser, Path(folder), quick=quick, note=note)
        yield from click_rows(browser, Path(folder), quick=quick, say=say)
        say("moving a chain")
        yield from live_rows(browser, Path(folder, "chain"), quick=quick, note=note)
        browser.close()
