"""The conversation with one page: its questions arrive as JSON and are answered in worker threads, at its own pace.

page to server    {"id": 7, "ask": "tables", "args": {...}}
server to page    {"id": 7, "result": ...} or {"id": 7, "error": "sentence", "findings": [...]}
server to page    {"push": "document", ...} without a question; binary frames have such a header too

A page with too many questions, or one that reads too slowly, delays only itself.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from kinemorph.display.serving.channel import ENDED, TOO_SLOW, Channel
from kinemorph.display.serving.limits import Allowance, Limits
from kinemorph.display.serving.messages import error_message, read_message, written
from kinemorph.display.serving.site import Site
from kinemorph.errors import KinemorphError, UnsupportedError

POLICY = 1008  # the code of a WebSocket that is closed because of what the page sent
LONGEST_NAME = 100  # characters of the name of a question
LONG_TEXT = 10_000  # characters of a message that is read in a worker thread, so that other pages need not wait


class Conversations:
    """The conversations of a site with all its pages."""

    def __init__(self, site: Site, limits: Limits, threads: ThreadPoolExecutor) -> None:
        self.site, self.limits, self._threads = site, limits, threads
        self.channels: set[Channel] = set()

    async def converse(self, websocket: WebSocket) -> None:
        """Talks with one page until it disconnects."""
        await websocket.accept()
        if len(self.channels) >= self.limits.channels:
            await websocket.close(TOO_SLOW, f"{self.limits.channels} pages are connected already. Close some of them.")
            return
        channel = Channel(asyncio.get_running_loop(), self.limits)
        self.channels.add(channel)
        sending = asyncio.create_task(self._send_all(websocket, channel))
        answering: set[asyncio.Task[None]] = set()
        reading = asyncio.create_task(self._read_all(websocket, channel, answering))
        try:
            await asyncio.wait((sending, reading), return_when=asyncio.FIRST_COMPLETED)
            if channel.ending is not None:
                await asyncio.wait((sending,), timeout=1.0)  # so that the page gets the reason
        finally:
            self.channels.discard(channel)
            channel.leave()
            for task in (sending, reading, *answering):
                task.cancel()
            await asyncio.gather(sending, reading, *answering, return_exceptions=True)
            await self.in_thread(self._told, self.site.closed, channel)

    # ── to the page ───────────────────────────────────────────────────────────────────────────────────────────────

    async def _send_all(self, websocket: WebSocket, channel: Channel) -> None:
        try:
            while (waiting := await channel.next()) is not None:
                frame = await self.in_thread(waiting.frame) if callable(waiting.payload) else waiting.frame()
                async with asyncio.timeout(self.limits.stalled_seconds):
                    if isinstance(frame, str):
                        await websocket.send_text(frame)
                    else:
                        await websocket.send_bytes(frame)
            async with asyncio.timeout(1.0):
                await websocket.close(*(channel.ending or (ENDED, "")))
        except (TimeoutError, WebSocketDisconnect, RuntimeError, OSError):
            return  # the page has gone, or does not read: its connection is ended
        except Exception as error:
            _report(error)

    # ── from the page ─────────────────────────────────────────────────────────────────────────────────────────────

    async def _read_all(self, websocket: WebSocket, channel: Channel, answering: set[asyncio.Task[None]]) -> None:
        await self.in_thread(self._told, self.site.opened, channel)
        allowance = Allowance(self.limits.messages_per_second, self.limits.messages_at_once)
        room = asyncio.Semaphore(self.limits.answers)
        while True:
            received = await websocket.receive()
            if received["type"] != "websocket.receive":
                return
            await asyncio.sleep(allowance.wait())
            text = received.get("text")
            try:
                long = text is not None and len(text) > LONG_TEXT
                read = self.in_thread(_question, text, self.limits.message_depth) if long else None
                number, ask, args = await read if read else _question(text, self.limits.message_depth)
            except KinemorphError as error:
                channel.close(POLICY, str(error))
                return
            if len(answering) >= self.limits.questions:
                crowded = f"more than {self.limits.questions} questions wait for an answer. Ask again later."
                channel.post({"id": number, "error": crowded})
                continue
            task = asyncio.create_task(self._answer(channel, room, number, ask, args))
            answering.add(task)
            task.add_done_callback(answering.discard)

    async def _answer(
        self, channel: Channel, room: asyncio.Semaphore, number: Any, ask: str, args: dict[str, Any]
    ) -> None:
        async with room:
            message = await self.in_thread(answer_of, self.site, channel, ask, args)
        channel.post({"id": number, **message})

    def _told(self, function: Callable[[Channel], None], channel: Channel) -> None:
        """Calls `opened` or `closed` of the site; an error is shown on the page."""
        try:
            function(channel)
        except KinemorphError as error:
            channel.post({"push": "refused", **error_message(error)})
        except Exception as error:
            channel.post({"push": "refused", "error": _unexpected(error)})

    async def in_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a function that is called in a worker thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)


def answer_of(site: Site, channel: Channel, ask: str, args: dict[str, Any]) -> dict[str, Any]:
    """The answer to a question as a message: its result, or the sentence of an error."""
    try:
        message = {"result": site.answer(channel, ask, args)}
        written(message)  # an answer that is no data for JSON is an error of this question
    except KinemorphError as error:
        return error_message(error)
    except Exception as error:
        return {"error": _unexpected(error)}
    return message


def _question(text: str | None, deepest: int) -> tuple[Any, str, dict[str, Any]]:
    """The number, the name and the arguments of a question; raises UnsupportedError where the text is none."""
    if text is None:
        raise UnsupportedError("the page sent a binary frame; expected a question as text. Reload the page.")
    message = read_message(text, deepest)
    if isinstance(message, dict):
        number, ask, args = message.get("id"), message.get("ask"), message.get("args", {})
        known = isinstance(ask, str) and 0 < len(ask) <= LONGEST_NAME and isinstance(args, dict)
        if known and isinstance(number, int) and not isinstance(number, bool):
            return number, str(ask), args
    raise UnsupportedError(
        'the page sent a message that is no question; expected {"id": number, "ask": name, "args": {...}}. '
        "Reload the page."
    )


def _unexpected(error: Exception) -> str:
    """The sentence for an error that is a mistake of the program; it is also printed with its traceback."""
    _report(error)
    return f"the program made a mistake ({type(error).__name__}: {error}). Nothing was changed by it knowingly."


def _report(error: Exception) -> None:
    sys.excepthook(type(error), error, error.__traceback__)
