"""A headless Chromium, in which pages are timed and tested; Playwright controls it.

    python -m kinemorph.bench.peers.chromium

prints the path of the browser; if none is found, it prints how to install one and exits with 1.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
ADVICE = (
    "no Chromium is found. Install one (Debian and Ubuntu: apt-get install chromium; elsewhere: python -m playwright "
    "install chromium), or name it in the environment variable CHROMIUM."
)
OPTIONS = (
    "--no-sandbox",  # the sandbox does not work for root
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"),  # WebGL without a GPU
    # no requests to other servers
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"),
    "--disable-quic",
)


def find_chromium() -> str | None:
    """The path of Chromium: from the variable CHROMIUM, on PATH, or installed by Playwright; None if there is none."""
    named = os.environ.get("CHROMIUM")
    if named:
        return shutil.which(named)
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return found
    return _playwrights_own()


def _playwrights_own() -> str | None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def launch(playwright: Playwright, program: str) -> Browser:
    """Starts a headless browser; `program` is the path of Chromium."""
    return playwright.chromium.launch(executable_path=program, args=list(OPTIONS))


if __name__ == "__main__":
    program = find_chromium()
    print(program or ADVICE)
    sys.exit(0 if program else 1)
