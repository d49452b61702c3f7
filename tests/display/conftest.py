"""A page of the browser for each test that wants one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support.tools.browsing import Browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Any]:
    """A new page of 960 x 640 pixels, closed afterwards."""
    with browser.page() as opened:
        yield opened
