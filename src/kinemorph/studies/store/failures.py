"""Sentences for what SQLite and the operating system report."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from kinemorph.errors import Problem, StorageError

_KEPT = "What was recorded before is kept."
SENTENCES = {
    "SQLITE_FULL": ("the disk is full", f"{_KEPT} Make room, and continue the study."),
    "SQLITE_IOERR": ("the disk reports an error, or it is full", f"{_KEPT} Check the disk, and continue the study."),
    "SQLITE_READONLY": ("the file or its folder is read-only", "Allow writing, or copy the store to another folder."),
    "SQLITE_CANTOPEN": ("the file cannot be opened", "Check its permissions and those of its folder."),
    "SQLITE_PERM": ("the file cannot be opened", "Check its permissions and those of its folder."),
    "SQLITE_BUSY": ("another program uses the file", "Close other programs that have the store open, and try again."),
    "SQLITE_LOCKED": ("another program uses the file", "Close other programs that have the store open, and try again."),
    "SQLITE_NOMEM": ("there is not enough memory", _KEPT),
    "SQLITE_TOOBIG": ("a text or a run is too long", _KEPT),
    "SQLITE_CORRUPT": ("the file is damaged", "Open it again: what is good in it will be saved."),
    "SQLITE_NOTADB": ("the file is damaged", "Open it again: what is good in it will be saved."),
}  # for each result code of SQLite: the cause and the remedy
_TROUBLE = ("FULL", "IOERR", "READONLY", "CANTOPEN", "PERM", "BUSY", "LOCKED", "NOMEM", "AUTH", "INTERRUPT")
TROUBLE = frozenset(f"SQLITE_{code}" for code in _TROUBLE)  # all other codes mean that the file is damaged


def name_of(error: sqlite3.Error) -> str:
    """The name of SQLite's result code without its details, such as "SQLITE_FULL"; empty where there is none."""
    return "_".join((getattr(error, "sqlite_errorname", None) or "").split("_")[:2])


def is_trouble(error: sqlite3.Error) -> bool:
    """Whether an error says that the disk or another program is in the way, rather than that the file is damaged."""
    return name_of(error) in TROUBLE


def store_error(path: Path | None, error: sqlite3.Error, verb: str = "written") -> StorageError:
    """The StorageError for a store that SQLite cannot read or write."""
    cause, remedy = SENTENCES.get(name_of(error), (f"SQLite says '{error}'", _KEPT))
    return StorageError(Problem("", "", f"'{path or 'store'}' cannot be {verb}: {cause}", remedy, rule="file"))


def problem(path: Path, what: str, remedy: str) -> StorageError:
    """A StorageError about a store: "'x.study': it is empty. ..."."""
    return StorageError(Problem("", "", f"'{path}': {what}", remedy, rule="file"))
