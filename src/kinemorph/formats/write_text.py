"""Writing model files: complete under their name, or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from kinemorph.formats.findings import Findings

_memory: ContextVar[dict[Path, str] | None] = ContextVar("memory", default=None)


@contextmanager
def in_memory() -> Iterator[dict[Path, str]]:
    """Collects the texts that are written inside the context, by path; no file is touched."""
    texts: dict[Path, str] = {}
    token = _memory.set(texts)
    try:
        yield texts
    finally:
        _memory.reset(token)


def write_text(path: Path, text: str, findings: Findings) -> bool:
    """Writes a text under a temporary name in the same folder, then renames it; False, with a finding, on failure."""
    temporary = ""
    try:
        data = text.encode()
        memory = _memory.get()
        if memory is not None:
            memory[path] = text
            return True
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
        return True
    except UnicodeEncodeError:
        findings.error("name", 0, "", "a name or a text has a character that UTF-8 cannot hold", "Rename it.")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        findings.error("file", 0, "", f"the file cannot be written: {reason}", "Check the folder and its permissions.")
    if temporary and os.path.exists(temporary):
        os.unlink(temporary)
    return False


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced, or those of a new file."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
