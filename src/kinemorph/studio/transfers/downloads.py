"""Files that pages download and upload: results by a name that the session gave, models into the project."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinemorph.display.serving.site import Download
from kinemorph.studio.documents.new_files import add_file

if TYPE_CHECKING:
    from kinemorph.studio.session import Session

KEPT = 64  # downloads that are offered at a time; older ones are forgotten
LARGEST = 32 * 2**20  # [bytes] of all downloads that are kept in memory; the newest one is always kept


class Offers:
    """The downloads that a session offers, each by a random name."""

    def __init__(self) -> None:
        self.offered: OrderedDict[str, Download] = OrderedDict()
        self.lock = threading.Lock()  # files are offered by all threads that make answers

    def add(self, content: bytes | Path, media: str, file_name: str, *, shown: bool = False) -> dict[str, Any]:
        """Offers a file, and returns what the page needs: the address, the file's name and its size [bytes].

        A file that is `shown` opens in a tab instead of being saved; see `Download`.
        """
        name = secrets.token_urlsafe(12)
        with self.lock:
            self.offered[name] = Download(content, media, file_name, shown)
            while len(self.offered) > KEPT or (len(self.offered) > 1 and self._bytes() > LARGEST):
                self.offered.popitem(last=False)
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        return {"address": f"/download/{name}", "name": file_name, "size": size}

    def _bytes(self) -> int:
        """The size of the downloads that are in memory; a report that is saved and shown counts once."""
        contents = {id(one.content): one.content for one in self.offered.values() if isinstance(one.content, bytes)}
        return sum(map(len, contents.values()))


def downloaded(session: Session, name: str) -> Download | None:
    """The download of a name; None if there is none."""
    return session.offers.offered.get(name)


def uploaded(session: Session, name: str, data: bytes) -> Any:
    """Stores a file that a page sends in the project, and returns its name there."""
    with session.edits:
        stored = add_file(session.project, name, data)
    session.push({"push": "project", "documents": session.documents()})
    return {"document": stored}
