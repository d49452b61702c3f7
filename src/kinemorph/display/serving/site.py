"""A site: what a server shows. Its functions are called in worker threads, so they may take their time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinemorph.errors import UnsupportedError

if TYPE_CHECKING:
    from kinemorph.display.serving.channel import Channel


@dataclass(frozen=True)
class Download:
    """A file that a page offers for download: its bytes or its path, its media type, and the name to save it under.

    `shown` says that a browser opens it in a tab instead of saving it: an HTML document such as a report, which can run
    no script there and load nothing, whatever it contains.
    """

    content: bytes | Path
    media_type: str
    file_name: str
    shown: bool = False


def _no_answer(channel: Channel, ask: str, args: dict[str, Any]) -> Any:
    raise UnsupportedError(f"the page asked '{ask}', but this site answers no questions. Reload the page.")


def _nothing(channel: Channel) -> None:
    """Does nothing when a page connects or disconnects."""


@dataclass(frozen=True)
class Site:
    """A page with everything that it needs.

    `title`     the name of the site, shown in messages
    `index`     the HTML text of the page
    `folders`   folders of static files by the first segment of their address: {"stage": ...} serves /stage/stage.js
    `texts`     static files that functions make, by their addresses, such as "stage/stage.js"; they go before folders
    `answer`    a function of (channel, ask, args) that returns the answer to a question as data for JSON; a
                KinemorphError that it raises is shown on the page as a sentence
    `opened`    a function that is called with the channel of each page that connects, before its first question
    `closed`    a function that is called with the channel of each page that disconnects
    `download`  a function of a name (text after /download/) that returns a Download, or None where there is none
    `upload`    a function of a name (text after /upload/) and the bytes, that returns data for JSON, or None where
                the site accepts no such file
    `framed`    whether a notebook may show the page in a frame, see `Server.frame_url`

    Names come from outside: pass them to `confined_paths` before they become paths.
    """

    title: str
    index: str
    folders: Mapping[str, Traversable] = field(default_factory=dict)
    texts: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    answer: Callable[[Channel, str, dict[str, Any]], Any] = _no_answer
    opened: Callable[[Channel], None] = _nothing
    closed: Callable[[Channel], None] = _nothing
    download: Callable[[str], Download | None] | None = None
    upload: Callable[[str, bytes], Any] | None = None
    framed: bool = False
