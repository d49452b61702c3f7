"""A store in place of another one, in a way that a crash at any moment loses neither.

The new file is complete beside the old one before anything else is touched: "x.study.next-damaged". From then on it is
the store: whoever opens it for writing first finishes the swap, and readers read the new file. The old file is kept as
"x.study.damaged", together with its journals, which would otherwise be applied to the new one.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from glob import escape
from pathlib import Path

from kinemorph.durable_files import replacing, settle_folder, storage_error
from kinemorph.studies.store.contents import Contents, write_contents
from kinemorph.studies.store.failures import store_error
from kinemorph.studies.store.layout import PAGE
from kinemorph.studies.store.pages import sides

NEXT = ".next-"


def write_file(path: Path, contents: Contents) -> None:
    """Writes a new store: other programs see it whole or not at all."""
    with replacing(path) as part:
        connection = sqlite3.connect(part, isolation_level=None)
        try:
            connection.execute(f"PRAGMA page_size = {PAGE}")
            connection.execute("PRAGMA synchronous = OFF")  # it is forced to the disk before it gets its name
            connection.execute("PRAGMA journal_mode = MEMORY")
            write_contents(connection, contents)
        except sqlite3.Error as error:
            raise store_error(path, error) from None
        finally:
            connection.close()


def pending_file(path: Path) -> Path | None:
    """The new file of a swap that was interrupted, or None."""
    return next(iter(sorted(path.parent.glob(f"{escape(path.name)}{NEXT}*"))), None)


def swapped(path: Path, contents: Contents, kind: str) -> Path:
    """Puts a new store in place of the file, which has no connection; returns the path under which the old one is kept.

    `kind` is the ending of that path, such as "damaged".
    """
    write_file(path.with_name(f"{path.name}{NEXT}{kind}"), contents)
    kept = finish_swap(path)
    assert kept is not None
    return kept


def finish_swap(path: Path) -> Path | None:
    """Puts the new file of a swap in its place, and returns the path under which the old one is kept, if any."""
    new = pending_file(path)
    if new is None:
        return None
    kept = _free(path.with_name(f"{path.name}.{new.name.rpartition(NEXT)[2]}"))
    try:
        if path.exists():
            try:
                os.link(path, kept)
            except OSError:  # the folder has no hard links
                shutil.copy2(path, kept)
        for side, old in zip(sides(path), sides(kept), strict=True):
            with contextlib.suppress(FileNotFoundError):
                os.replace(side, old)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{path}-shm")
        os.replace(new, path)
    except OSError as error:
        raise storage_error(path, error) from None
    settle_folder(path.parent)
    return kept


def _free(path: Path) -> Path:
    """This path, or the first one with a number that is not used."""
    found, number = path, 1
    while os.path.lexists(found):
        number += 1
        found = path.with_name(f"{path.name}-{number}")
    return found
