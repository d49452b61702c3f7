"""Projects: folders with model files. A session may have several of them open."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from kinemorph.display.serving.confined_paths import confined
from kinemorph.errors import ModelError, StorageError
from kinemorph.formats import BEGINNING, by_ending, recognize
from kinemorph.formats.sources import Source
from kinemorph.model.modules.catalog import standard_types
from kinemorph.model.modules.grids import FILLED, drawing_of, placed_in
from kinemorph.studio.documents.document import Document

MOST_FILES = 20_000  # model files that a project lists
DEEPEST = 6  # folders in each other that are searched
MODULES = 0.5  # of the words of a text, from which on it is taken for a grid of modules
PLAIN = (".xml", ".txt")  # endings that other files have too: such files are looked into


class ModelFile(NamedTuple):
    """A model file of a project: its path from the folder of the project, and its format."""

    name: str
    format: str
    size: int  # [bytes]


class Project:
    """A folder with model files, and the documents that are open in it. Links out of the folder are not followed."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(os.path.realpath(folder))
        if not self.folder.is_dir():
            raise StorageError(f"'{folder}' is not a folder. Name a folder with model files to open as a project.")
        self.documents: dict[str, Document] = {}
        self.unlisted = 0  # model files beyond MOST_FILES when they were listed last

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.name or str(self.folder)

    def model_files(self) -> list[ModelFile]:
        """The model files of the project, of all formats, sorted by name; hidden folders are left out."""
        found: list[ModelFile] = []
        unlisted = 0
        for root, folders, files in os.walk(self.folder):
            depth = len(Path(root).relative_to(self.folder).parts)
            folders[:] = sorted(one for one in folders if not one.startswith(".") and depth < DEEPEST)
            for file in sorted(files):
                row = _model_file(Path(root) / file, self.folder) if not file.startswith(".") else None
                if row is not None and len(found) < MOST_FILES:
                    found.append(row)
                else:
                    unlisted += row is not None
        self.unlisted = unlisted
        return sorted(found)

    def open(self, name: str) -> Document:
        """The document of a model file of the project, by its path from the folder; it is opened once.

        Raises StorageError for a file that is missing or outside the folder.
        """
        if name not in self.documents:
            path = self.path(name)
            if not path.is_file():
                raise StorageError(f"'{name}' is no file of the project '{self.name}'. Choose one of its model files.")
            self.documents[name] = Document(path, self.folder)
        return self.documents[name]

    def path(self, name: str) -> Path:
        """The path of a file of the project. Raises StorageError for a name that leads out of its folder."""
        try:
            path = confined(self.folder, name)
        except StorageError:
            path = self.folder
        if path == self.folder or any(part.startswith(".") for part in name.split("/")):  # hidden files are not shown
            raise StorageError(f"{name[:80]!r} is not in the folder of the project '{self.name}'. Name a file in it.")
        return path

    def close(self) -> None:
        """Closes all documents."""
        for document in self.documents.values():
            document.close()
        self.documents.clear()


def _model_file(path: Path, folder: Path) -> ModelFile | None:
    """The row of a file in the list of model files; None if it is not a model file."""
    if not path.is_file():  # a pipe would be waited for
        return None
    try:
        row = by_ending(path.name)
        size = path.stat().st_size
        if path.suffix.lower() in PLAIN:
            with path.open("rb") as file:
                row = recognize(Source(path.name, file.read(BEGINNING)))
            if path.suffix.lower() == ".xml" and not _has_tag(path, row.tag):
                return None
            if path.suffix.lower() == ".txt" and row.name == "grid" and not _has_modules(path):
                return None
    except (ModelError, OSError):
        return None
    if path.name.endswith(".sidecar.toml") or not Path(os.path.realpath(path)).is_relative_to(folder):
        return None
    return ModelFile(path.relative_to(folder).as_posix(), row.name, size)


def _has_tag(path: Path, tag: str) -> bool:
    """Whether an XML file begins with a tag."""
    with path.open("rb") as file:
        return f"<{tag}".encode() in file.read(BEGINNING)


def _has_modules(path: Path) -> bool:
    """Whether a text begins as a grid of modules does, perhaps with mistakes, and not as notes do."""
    with path.open("rb") as file:
        text = file.read(BEGINNING).decode("utf-8-sig", "replace")
    lines = text.splitlines()[: -1 if len(text) >= BEGINNING else None]  # the last one may have been cut
    cells = {cell: one for cell, one in drawing_of("\n".join(lines), []).cells.items() if one.text != FILLED}
    return len(placed_in(cells, standard_types(), [])) > MODULES * len(cells)
