"""Runs that are kept: .npz files beside the store, each under the digest of its content.

A file is written whole before the row that names it. Its name says whether it is damaged, and equal runs share a file.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from kinemorph.durable_files import write_whole
from kinemorph.errors import StorageError
from kinemorph.studies.store.failures import problem

NAME_BYTES = 16
FORMAT = ".npz"


class KeptRuns:
    """The kept runs of a store: in the folder beside its file, or in memory for a store in memory."""

    def __init__(self, store: Path | None) -> None:
        self.folder = None if store is None else store.with_name(store.name + ".runs")
        self._data: dict[str, bytes] = {}

    def write(self, data: bytes) -> str:
        """Keeps the bytes of an .npz file, and returns their name."""
        name = name_of(data)
        if self.folder is None:
            self._data[name] = data
        elif not self._has(name):
            write_whole(self.folder / name, data)
        return name

    def _has(self, name: str) -> bool:
        try:
            self.read(name)
        except StorageError:
            return False
        return True

    def has_file(self, name: str) -> bool:
        """Whether there is a file of a kept run, damaged or not."""
        return name in self._data if self.folder is None else self.path(name).is_file()

    def read(self, name: str) -> bytes:
        """The bytes of a kept run. Raises StorageError where its file is missing or damaged."""
        if self.folder is None:
            return self._data[name]
        path = self.path(name)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise problem(path, "this kept run is missing", "Compute the item again.") from None
        except OSError as error:
            raise problem(path, f"this kept run cannot be read: {error.strerror}", "Compute the item again.") from None
        if name_of(data) != name:
            raise problem(path, "this kept run is damaged", "Delete the file, and compute the item again.")
        return data

    def path(self, name: str) -> Path:
        """Where a kept run lies. Its name has no folders, whatever a damaged store says."""
        if self.folder is None:
            raise StorageError("A store in memory has no files of kept runs. Give the study a store: store='x.study'.")
        return self.folder / Path(name).name


def name_of(data: bytes) -> str:
    """The name of the file that has these bytes."""
    return hashlib.blake2b(data, digest_size=NAME_BYTES).hexdigest() + FORMAT
