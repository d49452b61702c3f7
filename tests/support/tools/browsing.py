"""Pages of a browser for tests.

Playwright's calls leave an event loop running in this thread, in which no test could start one of its own; so the loop
is put aside whenever no page is open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kinemorph.bench.peers.chromium import ADVICE, find_chromium, launch


class Browser:
    """A Chromium without a window."""

    def __init__(self, program: str) -> None:
        from playwright.sync_api import sync_playwright

        self.driver = sync_playwright().start()
        self.loop = asyncio.get_running_loop()
        self.chromium = launch(self.driver, program)
        self.open = 0  # pages
        asyncio._set_running_loop(None)

    @contextmanager
    def page(self, width: int = 960, height: int = 640, **options: Any) -> Iterator[Any]:
        """A new page; `page.requests` and `page.complaints` list what it asked for, and what it logged as wrong.

        `options` are Playwright's options of pages, such as has_touch=True.
        """
        asyncio._set_running_loop(self.loop)
        self.open += 1
        page: Any = self.chromium.new_page(viewport={"width": width, "height": height}, **options)
        page.requests, page.complaints = [], []
        page.on("request", lambda request: page.requests.append(request.url))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on(
            "console", lambda said: page.complaints.append(said.text) if said.type in ("error", "warning") else None
        )
        try:
            yield page
        finally:
            page.close()
            self.open -= 1
            if not self.open:
                asyncio._set_running_loop(None)

    def close(self) -> None:
        asyncio._set_running_loop(self.loop)
        self.chromium.close()
        self.driver.stop()
        asyncio._set_running_loop(None)


def started_browser() -> Browser:
    """A browser, or the test is skipped and says what to install."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    program = find_chromium()
    if program is None:
        pytest.skip(ADVICE)
    return Browser(program)
