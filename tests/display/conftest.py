"""One browser for all tests of a process that want one, and a page of it for each. Without a browser they are skipped.

Playwright's calls leave an event loop running in this thread, in which no test could start one of its own; so the loop
is put aside whenever no page is open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from kinemorph.bench.chromium import ADVICE, find_chromium, launch


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """(browser, its event loop)."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    program = find_chromium()
    if program is None:
        pytest.skip(ADVICE)
    driver = playwright.sync_playwright().start()
    loop = asyncio.get_running_loop()
    try:
        started = launch(driver, program)
        asyncio._set_running_loop(None)
        yield started, loop
        asyncio._set_running_loop(loop)
        started.close()
    finally:
        driver.stop()
        asyncio._set_running_loop(None)


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A new page of 960 x 640 pixels; `page.requests` and `page.complaints` list what it asked for and logged."""
    started, loop = browser
    asyncio._set_running_loop(loop)
    context = started.new_context(viewport={"width": 960, "height": 640})
    opened = context.new_page()
    opened.requests, opened.complaints = [], []
    opened.on("request", lambda request: opened.requests.append(request.url))
    opened.on("pageerror", lambda error: opened.complaints.append(str(error)))
    opened.on(
        "console",
        lambda message: opened.complaints.append(message.text) if message.type in ("error", "warning") else None,
    )
    try:
        yield opened
    finally:
        context.close()
        asyncio._set_running_loop(None)
