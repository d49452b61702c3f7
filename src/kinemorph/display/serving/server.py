"""A running server: `start(site)` listens on this computer only and returns at once.

    server = start(site)
    print(server.url)       # http://127.0.0.1:8080/?token=...
    server.stop()

The server runs in a daemon thread, so it ends with the program.
"""

from __future__ import annotations

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

from kinemorph.display.serving.limits import Limits
from kinemorph.display.serving.ports import is_loopback, listening_socket
from kinemorph.display.serving.site import Download, Site
from kinemorph.display.serving.until_stopped import UntilStopped
from kinemorph.errors import MissingExtraError, UnsupportedError

__all__ = ["Download", "Server", "Site", "start"]

HOST = "127.0.0.1"
PATIENCE = 10.0  # until a server has started [s]
STOPPING = 3.0  # until its thread has ended [s]
PACKAGES = ("starlette", "uvicorn", "websockets")


def start(
    site: Site,
    port: int | None = None,
    host: str = HOST,
    *,
    other_computers: bool = False,
    extra: str = "view",
    limits: Limits | None = None,
) -> Server:
    """Starts a server and returns it as soon as it answers.

    `port`              the port; None means the first free one from 8080 on, 0 any free one
    `host`              the address to listen on; one that other computers can reach needs `other_computers=True`
    `other_computers`   whether other computers may reach the server; whoever knows its token can use it then, and the
                        connection is not encrypted
    `extra`             the extra that a message about a missing package names

    Raises UnsupportedError where the port is taken, and MissingExtraError where a package is not installed.
    """
    host = HOST if host == "localhost" else host
    if not is_loopback(host) and not other_computers:
        raise UnsupportedError(
            f"host is {host!r}, which other computers can reach; expected 127.0.0.1. Forward the port with "
            "`ssh -L`, or pass other_computers=True where everyone who gets the token may use the server."
        )
    _check_packages(extra)
    listener = listening_socket(port, host)
    try:
        return Server(site, listener, host, limits or Limits())
    except BaseException:
        listener.close()
        raise


def _check_packages(extra: str) -> None:
    for package in PACKAGES:
        try:
            import_module(package)
        except ImportError:
            raise MissingExtraError(package, extra) from None


class Server(UntilStopped):
    """A running server, as `start` returns it."""

    def __init__(self, site: Site, listener: socket.socket, host: str, limits: Limits) -> None:
        import uvicorn

        from kinemorph.display.serving.application import application
        from kinemorph.display.serving.connections import BoundedServer, bounded
        from kinemorph.display.serving.conversation import Conversations
        from kinemorph.display.serving.guards import THIS_COMPUTER, Guards, Keys

        self.site, self.limits = site, limits
        self.host: str = host
        self.port: int = listener.getsockname()[1]
        self._keys = Keys(f"kinemorph_{self.port}")
        self._threads = ThreadPoolExecutor(limits.threads, thread_name_prefix="kinemorph page")
        self._conversations = Conversations(site, limits, self._threads)
        open_to_all = not is_loopback(host)
        guarded = Guards(
            application(site, self._conversations),
            self._keys,
            limits,
            hosts=THIS_COMPUTER | ({host.lower(), socket.gethostname().lower()} if open_to_all else set()),
            any_address=open_to_all,
            framed=site.framed,
        )
        http, web_socket = bounded(limits)
        self._server = BoundedServer(
            uvicorn.Config(
                guarded,
                interface="asgi3",
                http=http,
                ws=web_socket,
                loop="asyncio",
                lifespan="off",
                log_config=None,
                proxy_headers=False,
                server_header=False,
                ws_max_size=limits.message_bytes,
                ws_per_message_deflate=False,  # a small frame cannot become a large message
                h11_max_incomplete_event_size=limits.header_bytes,
                timeout_graceful_shutdown=2,
            )
        )
        self._stopped = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(
            target=self._run, args=(listener,), name=f"kinemorph server {self.port}", daemon=True
        )
        self._thread.start()
        self._wait_until_started()

    def _run(self, listener: socket.socket) -> None:
        try:
            self._server.run(sockets=[listener])
        except BaseException as error:
            self._failure = error
        finally:
            listener.close()
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._stopped.set()

    def _wait_until_started(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while not self._server.started:
            if self._stopped.is_set() or time.monotonic() > deadline:
                self._server.should_exit = True
                reason = f": {self._failure}" if self._failure else ""
                raise UnsupportedError(f"the server did not start on port {self.port}{reason}. Try another port.")
            time.sleep(0.002)

    # ── addresses ─────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def origin(self) -> str:
        """The scheme, host and port of the server, without the token: http://127.0.0.1:8080."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def token(self) -> str:
        """The secret that lets a page in; a program may send it as the header `Authorization: Bearer TOKEN`."""
        return self._keys.token

    @property
    def url(self) -> str:
        """The address of the page, with its token. Everyone who knows it can use the page."""
        return f"{self.origin}/?token={self._keys.token}"

    @property
    def frame_url(self) -> str:
        """The address of the page for a frame in a notebook, where browsers keep cookies back.

        It holds a key of its own, and only a site with `framed` answers it.
        """
        return f"{self.origin}/frame/{self._keys.frame}/"

    # ── life ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def running(self) -> bool:
        """Whether the server still answers."""
        return not self._stopped.is_set()

    def stop(self) -> None:
        """Disconnects all pages, stops the server and frees its port. It may be called more than once."""
        for channel in tuple(self._conversations.channels):
            channel.close()
        self._server.should_exit = True
        if self._thread is not threading.current_thread():
            self._thread.join(STOPPING)

    def __repr__(self) -> str:
        return f"<Server of '{self.site.title}' at {self.origin}{'' if self.running else ', stopped'}>"
