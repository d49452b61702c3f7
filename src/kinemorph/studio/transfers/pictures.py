"""Which 3-D scene each page sees.

A page gets scenes in parts: every surface is sent to it once, and is known by its content from then on. After an edit
of docked modules, the poses of the modules are enough for a picture, so that it is there before the model is read.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kinemorph.display.replays.packing import packed_bytes
from kinemorph.display.scenes.module_scene import module_scene
from kinemorph.display.scenes.scene import Scene
from kinemorph.display.scenes.usual_view import replay_camera
from kinemorph.display.serving.channel import Channel
from kinemorph.errors import KinemorphError
from kinemorph.studio.assembling.assembly_view import assembly_view

if TYPE_CHECKING:
    from kinemorph.studio.documents.document import Document
    from kinemorph.studio.session import Session


MOST_SURFACES = 300  # that a page stores for later scenes


class Pictures:
    """The scenes of all pages of a session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.known: dict[Channel, set[str]] = {}  # content keys of the surfaces that each page has
        self.lock = threading.RLock()

    def update(self, document: Document, pages: Sequence[Channel], *, whole: bool = False) -> None:
        """Sends the scene of a document to pages.

        `whole` says that its model has been read. Without it, docked modules are shown by their poses, which follow
        from the text alone, and other models as they were read last.
        """
        scene = self._scene(document, whole=whole) if pages else None
        for page in pages:
            if scene is not None:
                self.send(page, scene, {"document": document.name, "revision": document.revision})

    def send(self, channel: Channel, scene: Scene, about: dict[str, object], push: str = "scene") -> None:
        """Sends a scene to a page, without the surfaces that the page has already."""
        with self.lock:
            if channel.closed:  # it was forgotten, and would not be forgotten again
                return
            known = self.known.setdefault(channel, set())
            payload = packed_bytes(scene, replay_camera(scene, None, None), known, most=MOST_SURFACES)
            channel.post_bytes({"push": push, **about}, payload)

    def common_surfaces(self, pages: Sequence[Channel]) -> set[str]:
        """The content keys of the surfaces that all of some pages have, so that a worker need not send them again."""
        with self.lock:
            known = [self.known.get(page, set()) for page in pages]
            return set.intersection(*known) if known else set()

    def pass_on(self, pages: Sequence[Channel], header: Mapping[str, Any], payload: bytes) -> None:
        """Sends what a worker has packed to pages; `header` lists the surfaces in it, which they have from then on."""
        about = {key: value for key, value in header.items() if key != "surfaces"}
        with self.lock:
            for page in (page for page in pages if not page.closed):
                self.known.setdefault(page, set()).update(header.get("surfaces", ()))
                page.post_bytes(about, payload)

    def forget(self, channel: Channel) -> None:
        """Forgets what a page knew that has gone."""
        with self.lock:
            self.known.pop(channel, None)

    def _scene(self, document: Document, *, whole: bool) -> Scene | None:
        """The scene of a document; None where nothing can be shown yet."""
        model = document.last_model
        if document.is_toml and (not whole or document.good_revision != document.revision):
            view = assembly_view(document.text, document.name)
            if view.assembly is not None:
                return module_scene(view.assembly, view.poses)
        if not whole or model is None:
            return None
        from kinemorph.display.scenes.building import scene_of  # the first picture of modules does not wait for it

        try:
            return scene_of(model, z_up=True)
        except KinemorphError as error:
            self.session.push({"push": "message", "kind": "warning", "text": str(error)}, document=document.name)
            return None
