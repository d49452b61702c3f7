"""Stores whose layout has another version are refused: they are neither read nor repaired."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from kinemorph.studies.store.failures import problem
from kinemorph.studies.store.layout import VERSION, passes
from kinemorph.studies.store.pages import is_our_header, version_of


def refuse_other_versions(path: Path) -> None:
    """Raises StorageError for a store of another version, which is not one whose header alone is damaged."""
    with open(path, "rb") as file:
        header = file.read(100)
    version = version_of(header)
    if not is_our_header(header) or version == VERSION or _states_this_version(path):
        return
    what = f"its layout has version {version}, but this Kinemorph knows version {VERSION}"
    remedy = "Update Kinemorph: pip install --upgrade kinemorph"
    raise problem(path, what, remedy if version > VERSION else "Open it with the version of Kinemorph that wrote it.")


def _states_this_version(path: Path) -> bool:
    """Whether a row of the file, which is not damaged, says that the layout has this version."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        rows = connection.execute("SELECT * FROM study WHERE name = 'schema'").fetchall()
    except sqlite3.Error:
        return False
    finally:
        connection.close()
    return any(passes(row) and row[1] == str(VERSION) for row in rows)
