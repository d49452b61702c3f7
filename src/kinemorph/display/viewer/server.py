"""The web server of a viewer: viser on this computer only, on a free port, without its banner and without sharing."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kinemorph.errors import MissingExtraError, UnsupportedError

HOST = "127.0.0.1"  # no other computer can reach it
FIRST_PORT, TRIED = 8080, 200
ONE_BY_ONE = threading.RLock()  # there is one console, and one next free port


def start(port: int | None, title: str) -> Any:
    """A running server with an empty scene. Without a port, the first free one from 8080 on.

    With a port that is taken, UnsupportedError; without viser, MissingExtraError.
    """
    try:
        import viser
    except ImportError:
        raise MissingExtraError("viser", "view") from None

    class Server(viser.ViserServer):  # type: ignore[misc,unused-ignore]
        def request_share_url(self, verbose: bool = True) -> str | None:
            """Sharing would carry the page to a server outside; no button asks for it, and none would get it."""
            return None

    with quiet():
        chosen = _free_port() if port is None else _checked(port)
        server = Server(host=HOST, port=chosen, label=title, verbose=False)
    if port not in (None, 0) and server.get_port() != port:  # taken between our look and the server's
        stop(server)
        raise _taken(chosen)
    server.gui.configure_theme(
        show_logo=False, show_share_button=False, control_width="medium", brand_color=(35, 110, 160)
    )
    return server


def stop(server: Any) -> None:
    """Ends a server and its threads, and frees its port."""
    with quiet():
        server.stop()


@contextmanager
def quiet() -> Iterator[None]:
    """Silences the server, which prints through rich's console."""
    import rich

    with ONE_BY_ONE:
        console = rich.get_console()
        before, console.quiet = console.quiet, True
        try:
            yield
        finally:
            console.quiet = before


# ── ports ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _free_port() -> int:
    for port in range(FIRST_PORT, FIRST_PORT + TRIED):
        if _is_free(port):
            return port
    return 0  # whichever the system gives


def _checked(port: Any) -> int:
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65_535:
        raise UnsupportedError(f"port is {port!r}; expected a whole number up to 65535, or None for the next free one.")
    if port and not _is_free(port):
        raise _taken(port)
    return port


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def _taken(port: int) -> UnsupportedError:
    return UnsupportedError(
        f"port {port} is taken by another program or not allowed; expected a free one. Leave `port` out to get the "
        "next free port, or stop the viewer that uses it."
    )
