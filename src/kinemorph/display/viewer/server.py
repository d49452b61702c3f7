"""The web server of a viewer: viser, reachable from this computer only, without its banner and its sharing service."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kinemorph.errors import MissingExtraError, UnsupportedError

HOST = "127.0.0.1"  # no other computer can reach it
FIRST_PORT, TRIED = 8080, 200
ONE_BY_ONE = threading.RLock()  # servers start one after the other: they share the console and the search for a port


def start(port: int | None, title: str) -> Any:
    """Starts a server with an empty scene on a port; None means the first free one from 8080 on.

    Raises UnsupportedError where the port is taken, and MissingExtraError where viser is not installed.
    """
    try:
        import viser
    except ImportError:
        raise MissingExtraError("viser", "view") from None

    class Server(viser.ViserServer):  # type: ignore[misc,unused-ignore]
        def request_share_url(self, verbose: bool = True) -> str | None:
            """Returns None always: sharing, which would send the page to a public server, is switched off."""
            return None

    with quiet():
        chosen = _free_port() if port is None else _checked(port)
        server = Server(host=HOST, port=chosen, label=title, verbose=False)
    if port not in (None, 0) and server.get_port() != port:  # another program took the port meanwhile
        stop(server)
        raise _taken(chosen)
    server.gui.configure_theme(
        show_logo=False, show_share_button=False, control_width="medium", brand_color=(35, 110, 160)
    )
    return server


def stop(server: Any) -> None:
    """Stops a server and its threads, and frees its port."""
    with quiet():
        server.stop()


@contextmanager
def quiet() -> Iterator[None]:
    """A context in which the server, which prints with rich's console, is silent."""
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
    return 0  # the operating system chooses one


def _checked(port: Any) -> int:
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65_535:
        raise UnsupportedError(f"port is {port!r}; expected a whole number from 0 to 65535, or None for a free port.")
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
        f"port {port} is taken by another program or not allowed; expected a free port. Leave `port` out to get the "
        "next free one, or stop the viewer that uses it."
    )
