"""Opening a page in a graphical browser.

Where there is none, Python's `webbrowser` falls back on browsers for terminals, which would take over the terminal that
the user is typing in. So a browser is asked for first, text browsers do not count, and what is started has neither our
input nor our terminal: nothing can wait for a key.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import threading
import webbrowser
from pathlib import Path

# browsers that live in a terminal
TEXT = frozenset({"www-browser", "lynx", "links", "links2", "elinks", "w3m", "browsh", "carbonyl", "chawan", "cha"})
# browsers in a box of their own, which does not hold the folder for temporary files
BOXED = (Path("/snap/bin/firefox"), Path("/snap/bin/chromium"))


def graphical_browser() -> str | None:
    """The name of the browser that pages are opened in; None where none is graphical."""
    try:
        controller = webbrowser.get()
    except webbrowser.Error:
        return None
    if isinstance(controller, webbrowser.GenericBrowser) and not shutil.which(controller.name):
        return None  # BROWSER names a program that is not here
    name = str(getattr(controller, "name", "") or "the default browser")
    program = Path((shlex.split(name) or [name])[0]).name if sys.platform != "win32" else name
    return None if program in TEXT else name


def open_page(address: str) -> bool:
    """Opens a page in the browser, `file:///...` or `http://...`, and returns at once.

    False where there is no graphical browser, or where it cannot be started.
    """
    if graphical_browser() is None:
        return False
    # a session of its own has no terminal: should a text browser be started after all, it ends
    command = [sys.executable, "-I", "-m", "webbrowser", "-t", address]
    nothing = subprocess.DEVNULL
    try:
        child = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
    except OSError:
        return False
    threading.Thread(target=child.wait, daemon=True).start()  # somebody has to hear that it ended
    return True


def advice(path: Path) -> str:
    """What to do with a page that no browser could be found for."""
    return f"there is no graphical browser here: open {path} yourself, or copy it to a machine that has one"


def boxed() -> bool:
    """Whether the browser may be one that cannot see the folder for temporary files."""
    return any(path.exists() for path in BOXED)
