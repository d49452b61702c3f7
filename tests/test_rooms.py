"""The house itself: the rooms as the map draws them, and folders and files that stay small."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import kinemorph
from tables import rooms

PACKAGE = Path(kinemorph.__file__).parent
TESTS = Path(__file__).parent


def test_the_map_is_drawn_from_the_code() -> None:
    assert rooms.page() == rooms.PAGE.read_text(encoding="utf-8"), "run: python tests/tables/rooms.py"


def test_no_folder_holds_more_than_20_files_and_no_file_more_than_500_lines() -> None:
    assert not crowded_folders(PACKAGE)
    assert not long_files(PACKAGE)


def test_tests_lie_in_small_folders_and_files_too() -> None:
    assert not crowded_folders(TESTS)
    assert not long_files(TESTS)


def test_every_folder_of_tests_is_in_a_part_of_the_long_sweeps() -> None:
    said = (TESTS.parent / "Makefile").read_text(encoding="utf-8")
    folders = {path.relative_to(TESTS).parts[0] for path in TESTS.glob("*/**/test_*.py")}
    assert not {folder for folder in folders if f" tests/{folder}" not in said}


def crowded_folders(root: Path) -> dict[str, int]:
    """Folders with more than 20 Python files beside those that every folder may have, and how many these are."""
    counts = Counter(path.parent for path in root.rglob("*.py") if path.name not in ("__init__.py", "conftest.py"))
    return {str(folder.relative_to(root)): count for folder, count in counts.items() if count > 20}


def long_files(root: Path) -> dict[str, int]:
    """Python files of more than 500 lines, and their lines."""
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in root.rglob("*.py")}
    return {path.relative_to(root).as_posix(): size for path, size in sizes.items() if size > 500}


def test_every_folder_says_what_it_is() -> None:
    for folder in {path.parent for path in PACKAGE.rglob("*.py")}:
        assert len(rooms.sentence(folder)) > 20, folder
