"""Pages of a browser that are measured from inside, by probe.js, and from outside, by the bytes that they load."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinemorph.errors import KinemorphError

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WIDTH, HEIGHT = 1280, 800  # of a page [px]
PATIENCE = 60.0  # longest time to wait for anything in a page [s]


@dataclass
class Loaded:
    """What a page has loaded so far [bytes]: files as they were transferred, and messages of its WebSockets."""

    files: int = 0
    messages: int = 0


@contextmanager
def watched_page(browser: Browser, width: int = WIDTH, height: int = HEIGHT, *, prepare: str = "") -> Iterator[Any]:
    """A new page with the probe; `page.loaded` counts what it loads. `prepare` is a further script for the probe."""
    page: Any = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(1e3 * PATIENCE)
    page.loaded = loaded = Loaded()
    page.add_init_script(files(__package__).joinpath("probe.js").read_text(encoding="utf-8") + prepare)
    devtools = page.context.new_cdp_session(page)
    devtools.send("Network.enable")
    devtools.send("Network.setCacheDisabled", {"cacheDisabled": True})

    def finished(event: dict[str, Any]) -> None:
        loaded.files += int(event["encodedDataLength"])

    def received(payload: str | bytes) -> None:
        loaded.messages += len(payload)

    devtools.on("Network.loadingFinished", finished)
    page.on("websocket", lambda channel: channel.on("framereceived", received))
    try:
        yield page
    finally:
        page.close()


def wait_until(page: Any, condition: str) -> None:
    """Waits until an expression is true in a page; the page's own rules would not let it wait by itself."""
    end = time.monotonic() + PATIENCE
    while not page.evaluate(condition):
        if time.monotonic() > end:
            raise KinemorphError(f"the page did not get so far within {PATIENCE:g} s that {condition}.")
        page.wait_for_timeout(10)


@contextmanager
def running(arguments: Sequence[str | Path]) -> Iterator[subprocess.Popen[str]]:
    """A process of this Python, which is ended at the end; its outputs can be read together."""
    command = [sys.executable, *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


@contextmanager
def studio_process(subject: Path) -> Iterator[str]:
    """The address of a studio on a folder or file, in a process of its own, as `kinemorph studio` starts it."""
    with running(["-m", "kinemorph", "studio", subject, "--no-open"]) as process:
        yield printed_address(process)


def printed_address(process: subprocess.Popen[str]) -> str:
    """The address that a studio prints when it can be reached."""
    said: list[str] = []
    for line in process.stdout or ():
        said.append(line.strip())
        if "http://" in line:
            return line[line.index("http://") :].split()[0]
    raise KinemorphError(f"the studio ended without an address: {' '.join(said) or 'it printed nothing'}.")


def free_port() -> int:
    """A port of this computer on which nothing listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for_port(port: int, process: subprocess.Popen[str], seconds: float) -> bool:
    """Waits until something listens on a port of this computer; False if the process ends or the time is over."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1.0).close()
            return True
        except OSError:
            time.sleep(0.01)
    return False
