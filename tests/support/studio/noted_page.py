"""A page as the session sees it, without a browser: it asks questions and keeps what it is sent."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from kinemorph.display.serving.channel import Channel
from kinemorph.studio.session import Session


class NotedPage(Channel):
    """The channel of a page that keeps its messages; binary data are under the key "payload"."""

    def __init__(self, session: Session | None = None) -> None:
        """With a session, the page connects to it."""
        self.notes: dict[str, Any] = {}
        self.messages: list[dict[str, Any]] = []
        self.session, self.is_gone = session, False
        if session is not None:
            session.opened(self)

    @property
    def closed(self) -> bool:
        return self.is_gone

    def post(self, message: dict[str, Any], latest: str | None = None) -> None:
        self.messages.append(message)

    def post_bytes(self, header: dict[str, Any], payload: Any, latest: str | None = None) -> None:
        self.messages.append({**header, "payload": payload() if callable(payload) else payload})

    def ask(self, question: str, **arguments: Any) -> Any:
        """The answer of the session."""
        assert self.session is not None
        return self.session.answer(self, question, arguments)

    @property
    def told(self) -> list[str]:
        """The sentences that the page shows."""
        return [one["text"] for one in list(self.messages) if one.get("push") == "message"]

    def until(self, fits: Callable[[dict[str, Any]], object], seconds: float = 30.0) -> dict[str, Any]:
        """The first message that fits; it may still have to come."""
        found: list[dict[str, Any]] = []
        wait_for(lambda: found.extend([one for one in list(self.messages) if fits(one)][:1]) or found, seconds)
        return found[0]

    def end_of(self, task: int, seconds: float = 60.0) -> dict[str, Any]:
        """The last message of a task."""
        return self.until(lambda one: one.get("task") == task and one["state"] != "working", seconds)


def wait_for(is_so: Callable[[], object], seconds: float = 20.0) -> None:
    """Waits until something is so."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
