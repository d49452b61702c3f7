"""The connected pages of a viewer: they get its scene and its state, and report what their users change.

server to page    a binary frame {"push": "scene", "again": whether the page shows this scene already} with the scene
server to page    {"push": "state", "q": [...], "clock": {...}, "layers": {...}, "message": "...", "revisions": {...}}
page to server    {"ask": "change", "args": {some of "q", "clock", "layers"; "known": {...}}}, or {"ask": "state"}

`revisions` count the changes of "q", "clock" and "layers". A page says with `known` which of them it has; what was
changed since then is newer than its report, which is dropped. The answer has the revisions of what was taken over.
"""

from __future__ import annotations

import html
import threading
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from kinemorph.display.cameras import Camera
from kinemorph.display.replays.packing import packed_bytes
from kinemorph.display.scenes.scene import Scene
from kinemorph.display.serving.channel import Channel
from kinemorph.display.serving.server import Server, start
from kinemorph.display.serving.site import Site
from kinemorph.display.stage.bundle import joined
from kinemorph.errors import UnsupportedError

State = dict[str, Any]


class Pages:
    """The pages of one viewer, on a server of their own.

    `state` is a function that returns what the pages show, `changed` one that takes over what a user has changed
    and returns the answer for that page.
    """

    def __init__(
        self,
        scene: Scene,
        camera: Camera,
        port: int | None,
        state: Callable[[], State],
        changed: Callable[[State], State],
    ) -> None:
        self._camera, self._state, self._changed = camera, state, changed
        self._channels: set[Channel] = set()
        self._lock = threading.RLock()
        self._scene = scene
        self.visited = False  # whether a page was ever opened
        page = files(__package__).joinpath("page")
        index = page.joinpath("index.html").read_text(encoding="utf-8")
        title = html.escape(scene.title).encode("utf-8", "replace").decode()
        site = Site(
            title=scene.title,
            index=index.replace("{{title}}", title),
            folders={"viewer": page, "stage": files("kinemorph.display").joinpath("stage")},
            texts={"stage/stage.js": lambda: joined("stage/stage.js")},
            answer=self._answer,
            opened=self._opened,
            closed=self._closed,
            framed=True,
        )
        self.server: Server = start(site, port)

    def show(self, scene: Scene) -> None:
        """Shows another scene on all pages; their cameras stay."""
        with self._lock:
            self._scene = scene
            for channel in self._channels:
                self._send(channel, again=True)

    def tell(self, but: Channel | None = None) -> None:
        """Sends the state to all pages, but not to the one from which it comes."""
        with self._lock:
            for channel in self._channels:
                if channel is not but:
                    channel.post({"push": "state", **self._state()}, latest="state")

    def _send(self, channel: Channel, *, again: bool) -> None:
        # packed when it is sent: what a replaced scene would have brought is not known to the page
        channel.post_bytes({"push": "scene", "again": again}, lambda: self._packed(channel), latest="scene")
        channel.post({"push": "state", **self._state()}, latest="state")

    def _packed(self, channel: Channel) -> bytes:
        known: set[str] = channel.notes.setdefault("surfaces", set())
        return packed_bytes(self._scene, self._camera, known)

    # ── called by the server ──────────────────────────────────────────────────────────────────────────────────────

    def _opened(self, channel: Channel) -> None:
        with self._lock:
            self.visited = True
            self._channels.add(channel)
            self._send(channel, again=False)

    def _closed(self, channel: Channel) -> None:
        with self._lock:
            self._channels.discard(channel)

    def _answer(self, channel: Channel, ask: str, args: State) -> State:
        if ask == "state":
            return self._state()
        if ask != "change":
            raise UnsupportedError(f"the page asked '{ask[:40]}'; expected 'state' or 'change'. Reload the page.")
        taken = self._changed(args)
        self.tell(but=channel)
        return taken
