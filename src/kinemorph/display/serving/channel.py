"""Messages to one page. Any thread may post them; they wait in a bounded queue until the page has read those before.

A message with a key (`latest`) replaces the message of the same key that is still waiting, so a slow page gets the
newest picture and none of those before. A page for which too much is waiting is disconnected: when it connects again,
it gets the present state.
"""

from __future__ import annotations

import asyncio
import itertools
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from kinemorph.display.serving.limits import Limits
from kinemorph.display.serving.messages import written

TOO_SLOW = 1013  # the code of a WebSocket that is closed because it should try again later
ENDED = 1001  # the code of a WebSocket that is closed because the server stops
LONGEST_REASON = 123  # bytes that a WebSocket has for the reason of its end

Payload = bytes | Callable[[], bytes]


class Waiting(NamedTuple):
    """One message in the queue: its text, or the header and the payload of a binary frame."""

    text: str
    payload: Payload | None
    size: int

    def frame(self) -> str | bytes:
        """What is sent: the text, or the bytes of a frame with the length of its header in front."""
        if self.payload is None:
            return self.text
        header = self.text.encode()
        payload = self.payload() if callable(self.payload) else self.payload
        return b"".join((struct.pack("<I", len(header)), header, payload))


class Channel:
    """The server's end of the connection to one page.

    `notes` is a dictionary in which a site may keep what it knows of this page.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, limits: Limits | None = None) -> None:
        self.notes: dict[str, Any] = {}
        self.ending: tuple[int, str] | None = None  # code and reason with which the server ends the connection
        self._loop, self._limits = loop, limits or Limits()
        self._lock = threading.Lock()
        self._waiting: dict[Any, Waiting] = {}  # in the order in which they are sent
        self._numbers = itertools.count()
        self._bytes = 0
        self._closed = False
        self._woken = asyncio.Event()

    @property
    def closed(self) -> bool:
        """Whether the page is no longer connected; what is posted then is dropped."""
        return self._closed

    def post(self, message: dict[str, Any], latest: str | None = None) -> None:
        """Sends a message; with `latest`, it replaces a waiting message of the same key."""
        text = written(message)
        self._put(Waiting(text, None, len(text)), latest)

    def post_bytes(self, header: dict[str, Any], payload: Payload, latest: str | None = None) -> None:
        """Sends one binary frame: uint32 length of the JSON header (little endian), header, payload.

        `payload` may be a function that makes the bytes; it is called in a worker thread when the frame is sent, and
        never for a frame that a newer one of the same key has replaced.
        """
        text = written(header)
        size = len(text) + (0 if callable(payload) else len(payload))
        self._put(Waiting(text, payload, size), latest)

    def close(self, code: int = ENDED, reason: str = "") -> None:
        """Ends the connection with a sentence for the page, of at most 123 bytes; what is waiting is dropped."""
        with self._lock:
            if self._closed:
                return
            self._closed, self.ending = True, (code, reason.encode()[:LONGEST_REASON].decode(errors="ignore"))
            self._waiting.clear()
            self._bytes = 0
        self._wake()

    # ── the queue ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _put(self, waiting: Waiting, latest: str | None) -> None:
        key: Any = next(self._numbers) if latest is None else latest
        with self._lock:
            if self._closed:
                return
            before = self._waiting.get(key)
            self._bytes += waiting.size - (before.size if before else 0)
            self._waiting[key] = waiting  # a replaced message keeps its place in the queue
            full = len(self._waiting) > self._limits.waiting_messages or self._bytes > self._limits.waiting_bytes
        if full:
            self.close(TOO_SLOW, "The page reads too slowly. It is connected again with the present state.")
        else:
            self._wake()

    def _wake(self) -> None:
        with suppress(RuntimeError):  # the server has stopped meanwhile
            self._loop.call_soon_threadsafe(self._woken.set)

    async def next(self) -> Waiting | None:
        """The next message to be sent, as soon as there is one; None when the connection ends."""
        while True:
            with self._lock:
                if self._closed:
                    return None
                if self._waiting:
                    waiting = self._waiting.pop(next(iter(self._waiting)))
                    self._bytes -= waiting.size
                    return waiting
                self._woken.clear()
            await self._woken.wait()

    def leave(self) -> None:
        """Marks the page as disconnected."""
        with self._lock:
            self._closed = True
            self._waiting.clear()
            self._bytes = 0
