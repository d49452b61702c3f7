"""Requests of the page itself: which documents there are, showing one, changing it, undo and redo."""

from __future__ import annotations

from typing import Any

from kinemorph.display.serving.channel import Channel
from kinemorph.studio.documents.document import Document
from kinemorph.studio.requests import request
from kinemorph.studio.session import Session


@request("hello")
def hello(session: Session, channel: Channel) -> dict[str, Any]:
    """What a page needs first: the folder, its documents, and which one to show."""
    return {"folder": session.folder.name, "documents": session.documents(), "first": session.first}


@request("show")
def show(session: Session, channel: Channel, *, document: str) -> dict[str, Any]:
    """Makes the page show a document."""
    return session.show(channel, document)


@request("edit")
def edit(
    session: Session, channel: Channel, *, document: str, command: dict[str, Any], base: int | None = None
) -> dict[str, Any]:
    """Changes a document by a command; the answer comes when the change is on the disk.

    With `base`, the revision that the command was made for, nothing is changed where the document has another one.
    """
    return _changed(session, document, lambda found: found.apply(command, base))


@request("undo")
def undo(session: Session, channel: Channel, *, document: str) -> dict[str, Any]:
    """Takes the last change back."""
    return _changed(session, document, Document.undo)


@request("redo")
def redo(session: Session, channel: Channel, *, document: str) -> dict[str, Any]:
    """Makes the change again that was taken back last."""
    return _changed(session, document, Document.redo)


def _changed(session: Session, name: str, change: Any) -> dict[str, Any]:
    """Changes a document, one change at a time, and tells all its pages.

    The picture of the change is sent before the change is on the disk, the new state and the answer are sent after it.
    """
    with session.edits:
        document = session.document(name)
        with document.saving_last():
            change(document)
            session.pictures.update(document, session.pages_of(document.name))
        return session.told(document)
