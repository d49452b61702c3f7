"""The largest sizes, rates and numbers that a server accepts, and an allowance that measures rates."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Limits:
    """The bounds of one server. What exceeds them is refused or slowed down; nothing else suffers from it."""

    header_bytes: int = 16_384  # of a request line with all its headers
    header_seconds: float = 10.0  # until the headers of a request are complete
    body_bytes: int = 64 * MEGABYTE  # of an uploaded file
    body_seconds: float = 60.0  # until an upload is complete
    message_bytes: int = 2 * MEGABYTE  # of a message from a page
    message_depth: int = 64  # of lists and objects inside each other in a message
    fragments: int = 256  # frames of one message from a page
    connections: int = 256  # open at a time
    channels: int = 32  # pages connected at a time
    questions: int = 64  # of one page that are not answered yet
    answers: int = 4  # of one page that are being made at a time
    threads: int = 32  # that make answers for all pages
    messages_per_second: float = 200.0  # from one page, on average
    messages_at_once: float = 400.0
    requests_per_second: float = 200.0  # over HTTP, on average; counted apart for those with and without a key
    requests_at_once: float = 1000.0
    waiting_messages: int = 4096  # for one page
    waiting_bytes: int = 256 * MEGABYTE  # for one page
    stalled_seconds: float = 30.0  # that a page may take to read one message


@dataclass
class Allowance:
    """A rate with a reserve: `rate` events per second on average, `reserve` of them at once."""

    rate: float
    reserve: float
    _left: float = field(init=False)
    _seen: float = field(init=False)

    def __post_init__(self) -> None:
        self._left, self._seen = self.reserve, time.monotonic()

    def wait(self) -> float:
        """Counts one event and returns how long it has to wait [s] to keep to the rate; 0 where it need not wait."""
        now = time.monotonic()
        self._left = min(self.reserve, self._left + (now - self._seen) * self.rate) - 1.0
        self._seen = now
        return max(0.0, -self._left / self.rate)

    def refuses(self) -> bool:
        """Counts one event, and returns True where it exceeds the rate; refused events are not counted."""
        refused = self.wait() > 0.0
        if refused:
            self._left += 1.0
        return refused
