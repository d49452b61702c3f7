"""The house itself: the rooms as the map draws them, and folders and files that stay small."""

from __future__ import annotations

from pathlib import Path

import kinemorph
from tables import rooms

PACKAGE = Path(kinemorph.__file__).parent


def test_the_map_is_drawn_from_the_code() -> None:
    assert rooms.page() == rooms.PAGE.read_text(encoding="utf-8"), "run: python tests/tables/rooms.py"


def test_no_folder_holds_more_than_20_files_and_no_file_more_than_500_lines() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    crowded = {folder: len(list(folder.glob("*.py"))) for folder in folders}
    assert not {
        str(folder): count for folder, count in crowded.items() if count > 20 + (folder / "__init__.py").exists()
    }
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in PACKAGE.rglob("*.py")}
    assert not {str(path): size for path, size in sizes.items() if size > 500}


def test_every_folder_says_what_it_is() -> None:
    for folder in {path.parent for path in PACKAGE.rglob("*.py")}:
        assert len(rooms.sentence(folder)) > 20, folder
