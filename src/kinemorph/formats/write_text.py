"""Writes the text of a model file, to the disk or into memory; a failure is recorded as a finding."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from kinemorph.durable_files import write_whole
from kinemorph.errors import StorageError
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
    """Writes a text to `path` in one step, so that no program reads an incomplete file. A missing folder is made.

    Returns False, with a finding, if that fails.
    """
    try:
        data = text.encode()
    except UnicodeEncodeError:
        problem = "a name or text in the model has a character that UTF-8 cannot encode"
        findings.error("name", 0, "", problem, "Rename the part.")
        return False
    memory = _memory.get()
    if memory is not None:
        memory[path] = text
        return True
    try:
        write_whole(path, data)
    except StorageError as error:
        findings.problem("error", 0, "", error.args[0])
        return False
    return True
