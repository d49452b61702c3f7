"""Opening a page in a graphical browser.

Where there is none, Python's `webbrowser` falls back to text browsers, which would take over the user's terminal. So it
is checked first whether a graphical browser exists, and the browser is started without standard input and without a
terminal: it can never wait for a key.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import threading
import webbrowser
from pathlib import Path

# text browsers, which run in a terminal
TEXT = frozenset({"www-browser", "lynx", "links", "links2", "elinks", "w3m", "browsh", "carbonyl", "chawan", "cha"})
# sandboxed browsers, which cannot read the folder for temporary files
BOXED = (Path("/snap/bin/firefox"), Path("/snap/bin/chromium"))


def graphical_browser() -> str | None:
    """The name of the browser that opens pages; None where there is no graphical browser."""
    try:
        controller = webbrowser.get()
    except webbrowser.Error:
        return None
    if isinstance(controller, webbrowser.GenericBrowser) and not shutil.which(controller.name):
        return None  # the environment variable BROWSER names a program that does not exist
    name = str(getattr(controller, "name", "") or "the default browser")
    program = Path((shlex.split(name) or [name])[0]).name if sys.platform != "win32" else name
    return None if program in TEXT else name


def open_page(address: str) -> bool:
    """Opens a page, `file:///...` or `http://...`, in the browser without waiting for it.

    Returns False where there is no graphical browser or it cannot be started.
    """
    if graphical_browser() is None:
        return False
    # a new session has no terminal, so a text browser that is started nevertheless ends immediately
    command = [sys.executable, "-I", "-m", "webbrowser", "-t", address]
    nothing = subprocess.DEVNULL
    try:
        child = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
    except OSError:
        return False
    threading.Thread(target=child.wait, daemon=True).start()  # waiting for its end leaves no zombie process
    return True


def advice(path: Path) -> str:
    """A sentence that says what to do with the page at `path` where there is no graphical browser."""
    return f"there is no graphical browser here: open {path} yourself, or copy it to a machine that has one"


def boxed() -> bool:
    """Whether a sandboxed browser is installed, which cannot read the folder for temporary files."""
    return any(path.exists() for path in BOXED)
