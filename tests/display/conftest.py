"""One browser for all tests of a process that want one, a page of it for each. Without a browser they are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support.tools.browsing import Browser, started_browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    started = started_browser()
    yield started
    started.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Any]:
    """A new page of 960 x 640 pixels, closed afterwards."""
    with browser.page() as opened:
        yield opened
