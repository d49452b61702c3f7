"""Writes a model file under a temporary name and then renames it, so that no program reads an incomplete file."""

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
    """Inside this context, `write_text` stores texts by path in the dictionary yielded, and writes no files."""
    texts: dict[Path, str] = {}
    token = _memory.set(texts)
    try:
        yield texts
    finally:
        _memory.reset(token)


def write_text(path: Path, text: str, findings: Findings) -> bool:
    """Writes a text to a temporary file in the same folder, then renames it to `path`. A missing folder is made.

    Returns False, with a finding, if that fails.
    """
    temporary = ""
    try:
        data = text.encode()
        memory = _memory.get()
        if memory is not None:
            memory[path] = text
            return True
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
        return True
    except UnicodeEncodeError:
        problem = "a name or text in the model has a character that UTF-8 cannot encode"
        findings.error("name", 0, "", problem, "Rename the part.")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        findings.error("file", 0, "", f"the file cannot be written: {reason}", "Check the folder and its permissions.")
    if temporary and os.path.exists(temporary):
        os.unlink(temporary)
    return False


def _mode(path: Path) -> int:
    """The permissions for a file: those of the file that it replaces, or the defaults for a new file."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
