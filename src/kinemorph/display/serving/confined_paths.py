"""Files inside a folder, by names that come from a page: no name leads out of the folder or to a pipe or device.

A name is refused for its form, on every operating system alike; then the real path, with all links followed, has to lie
inside the real path of the folder. New files have names that every operating system can store.
"""

from __future__ import annotations

import re
import stat
from importlib.resources.abc import Traversable
from pathlib import Path

from kinemorph.errors import StorageError

LONGEST = 255  # bytes of one part of a name
DRIVE = re.compile(r"[A-Za-z]:[/\\]")
DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\..*)?")
BAD_SIGNS = re.compile(r"[\\\x00-\x1f\x7f]")
UNUSUAL_SIGNS = re.compile(r'[:*?"<>|]')  # that Windows cannot store
MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".gif": "image/gif",
    ".html": "text/html; charset=utf-8",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}


def confined(folder: Path | str, name: str, *, to_write: bool = False) -> Path:
    """The real path of the file or folder `name` inside `folder`; it need not exist.

    `name` is relative, with forward slashes, and already decoded. Raises StorageError for a name that leads out of the
    folder, by `..`, a link, or an absolute form of any operating system, and for a very long one. With `to_write`, also
    for a name that some operating system cannot store.
    """
    parts = _parts(name, portable=to_write)
    root = Path(folder).resolve()
    try:
        path = root.joinpath(*parts).resolve()
    except (OSError, RuntimeError, ValueError) as error:  # a link that leads to itself, a name that is too long
        raise _refused(name, f"cannot be found ({error})") from None
    if not path.is_relative_to(root):
        raise _refused(name, "leads out of the folder by a link")
    return path


def confined_file(folder: Path | str, name: str, *, to_write: bool = False) -> Path:
    """The real path of a regular file inside `folder`; with `to_write`, of one that exists or can be made.

    Raises StorageError as `confined` does, and for folders, pipes, sockets and devices.
    """
    path = confined(folder, name, to_write=to_write)
    try:
        mode = path.lstat().st_mode
    except OSError:
        if to_write and path.parent.is_dir():
            return path
        raise _refused(name, "does not exist") from None
    if not stat.S_ISREG(mode):
        raise _refused(name, "is a folder" if stat.S_ISDIR(mode) else "is a pipe, socket or device")
    return path


def ending_of(name: str) -> str:
    """The ending of a file name, in lower case: ".js"; empty where it has none."""
    _, dot, ending = name.rpartition(".")
    return dot + ending.lower() if "/" not in ending else ""


def served_file(folder: Traversable, name: str) -> bytes | None:
    """The content of a static file of a package; None where there is none, or where the name is refused."""
    try:
        parts = _parts(name, portable=True)
        if isinstance(folder, Path):
            return confined_file(folder, name).read_bytes()
        found = folder.joinpath(*parts)
        return found.read_bytes() if found.is_file() else None
    except (OSError, ValueError):
        return None


def _parts(name: str, *, portable: bool) -> list[str]:
    """The parts of a name; of a `portable` one, which every operating system can store."""
    if not isinstance(name, str) or not name:
        raise _refused(str(name), "is empty")
    if name.startswith("/") or DRIVE.match(name):
        raise _refused(name, "is absolute")
    if BAD_SIGNS.search(name) or (portable and UNUSUAL_SIGNS.search(name)):
        raise _refused(name, "has a backslash, a control character or another sign that not all file names may have")
    parts = name.split("/")
    for part in parts:
        if part in ("", ".", ".."):
            raise _refused(name, "has an empty part, '.' or '..'")
        if portable and (part.endswith((".", " ")) or part.startswith(" ") or DEVICES.fullmatch(part)):
            raise _refused(name, f"has the part '{part}', which Windows reads as something else")
        if len(part.encode("utf-8", "surrogatepass")) > LONGEST:
            raise _refused(name, f"has a part of more than {LONGEST} bytes")
    return parts


def _refused(name: str, reason: str) -> StorageError:
    shown = ascii(name if len(name) <= LONGEST else name[:LONGEST] + "...")
    return StorageError(f"the file name {shown} {reason}; expected a file inside the folder. Choose another name.")
