"""HTTP and WebSocket connections with bounds: on their number, on the time that headers take, on frames per message.

They are uvicorn's, which has no bounds on connections that send nothing, on slowly sent headers, and on pages that
never read the end of a closed connection. Nothing is logged: addresses contain the token.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from kinemorph.display.serving.limits import Limits

TOO_BIG = 1009  # the code of a WebSocket that is closed because of a message that is too large
FAREWELL = 2.0  # time for the last bytes of a closed WebSocket to leave [s]
PARTING = 0.3  # time for the last bytes of all connections to leave when the server stops [s]

SILENT = logging.getLogger("kinemorph.display.serving")
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False
SILENT.setLevel(logging.CRITICAL)


class BoundedHTTP(H11Protocol):
    """An HTTP connection that ends where its headers take too long, or where too many connections are open."""

    limits = Limits()

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.logger, self.access_log = SILENT, False
        self._hurry: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.abort()
        else:
            self._expect_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._expect_headers()
        elif self._hurry is not None:
            self._hurry.cancel()
            self._hurry = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._hurry is not None:
            self._hurry.cancel()
        super().connection_lost(exc)

    def _expect_headers(self) -> None:
        if self._hurry is None:
            self._hurry = self.loop.call_later(self.limits.header_seconds, self._too_slow)

    def _too_slow(self) -> None:
        self._hurry = None
        if self.conn.their_state is h11.IDLE and self.transport.get_protocol() is self:
            self.transport.abort()


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """A WebSocket that is cut where the page does not read its end, or sends a message in very many frames."""

    limits = Limits()

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.logger = self.conn.logger = SILENT

    def handle_cont(self, event: Any) -> None:
        if len(self.frames) >= self.limits.fragments:
            self.conn.fail(TOO_BIG, "too many frames")
            self.handle_parser_exception()
            return
        super().handle_cont(event)

    async def run_asgi(self) -> None:
        try:
            await super().run_asgi()
        finally:
            self.loop.call_later(FAREWELL, self.transport.abort)


class BoundedServer(uvicorn.Server):
    """A server that stops soon, also where a page does not read the end of its connection."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Closes all connections, and cuts those that are still open after a moment."""
        asyncio.get_running_loop().call_later(PARTING, self._cut)
        await super().shutdown(sockets)

    def _cut(self) -> None:
        for connection in tuple(self.server_state.connections):
            connection.transport.abort()


def bounded(limits: Limits) -> tuple[type[BoundedHTTP], type[BoundedWebSocket]]:
    """The two kinds of connections of a server with these limits."""
    http = type("BoundedHTTP", (BoundedHTTP,), {"limits": limits})
    web_socket = type("BoundedWebSocket", (BoundedWebSocket,), {"limits": limits})
    return http, web_socket
