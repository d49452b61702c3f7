"""New files of a project: from templates, from the library, dropped by the user, or converted to TOML.

A name is a path from the folder of the project. It may contain folders, which are made; it never leads out of the
folder, and never replaces a file.
"""

from __future__ import annotations

import warnings
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from kinemorph.durable_files import write_whole
from kinemorph.errors import KinemorphError, ModelWarning, StorageError
from kinemorph.formats import ENDINGS
from kinemorph.words import listed

if TYPE_CHECKING:
    from kinemorph.model.system import System
    from kinemorph.studio.documents.projects import Project

MOST_FILES = 5000  # files of a project, after which no more are taken in
LARGEST_PROJECT = 2_000_000_000  # bytes of all files together
LONGEST_NAME, LONGEST_PART, DEEPEST = 240, 100, 8  # characters of a name and of a part of it; folders in each other
# endings of files that belong to models: meshes with their pictures, data, and descriptions of packages
OTHERS = (
    *(".stl", ".obj", ".mtl", ".dae", ".ply", ".glb", ".gltf", ".bin", ".msh"),
    *(".png", ".jpg", ".jpeg", ".csv", ".tsv", ".json", ".yaml", ".yml", ".config", ".c", ".h", ".npz"),
)
# a file without modules as `kinemorph assemble --model` would write it; NAME stands for the name of the organism
EMPTY_GRID = """\
# A robot for Kinemorph. Numbers are in SI with radians; texts may have units: "5 mm", "30 deg", "250 g".
kinemorph = 1
name      = "NAME"

# Docked modules: their types, and their dockings. See docs/assemblies.md of Kinemorph.

[assembly]
grid = '''
'''

# How a run starts and how long it lasts [s].

[settings]
time = 1
"""
DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}  # of Windows


def add_file(project: Project, name: str, data: bytes) -> str:
    """Stores a new file in a project and returns its name. A file that has this content already stays as it is.

    Raises StorageError for a name that is not allowed, a file that exists with another content, or too many files.
    """
    path = new_path(project, name, any_kind=True)
    if path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data:
        return name
    return add_new(project, name, data)


def add_new(project: Project, name: str, data: bytes) -> str:
    """Stores a new file in a project and returns its name. Raises StorageError as `add_file`, also for equal files."""
    path = new_path(project, name, any_kind=True)
    _check_room(project, len(data))
    _write(path, name, data)
    return name


def new_path(project: Project, name: str, *, any_kind: bool = False) -> Path:
    """The path of a new file of a project. Raises StorageError if its name is not allowed.

    `any_kind` also allows files that belong to models, such as meshes.
    """
    parts = PurePosixPath(name).parts
    wrong = [part for part in parts if not _is_allowed(part)]
    if not parts or wrong or len(name) > LONGEST_NAME or len(parts) > DEEPEST or name != "/".join(parts):
        raise StorageError(
            f"the name of the new file is {name[:80]!r}; expected a name such as 'arm.toml' or 'robots/arm.toml', "
            "without hidden folders, colons and other special characters. Choose another name."
        )
    endings = (*ENDINGS, *(OTHERS if any_kind else ()))
    if not name.lower().endswith(endings):
        raise StorageError(
            f"'{name[:80]}' is not a file of a model; expected a name that ends in one of {listed(endings, 40)}. "
            "Leave it out."
        )
    path: Path = project.path(name)
    return path


def _is_allowed(part: str) -> bool:
    """Whether a part of a path may be the name of a file or folder on every system."""
    return (
        0 < len(part) <= LONGEST_PART
        and part.isprintable()
        and part == part.strip()
        and not part.startswith(".")
        and not part.endswith(".")
        and not any(mark in part for mark in '/\\:*?"<>|')
        and part.split(".")[0].lower() not in DEVICES
    )


def _check_room(project: Project, size: int) -> None:
    """Raises StorageError if a project has too many files, or too large ones, for another one of `size` bytes."""
    count, total = 1, size
    for path in project.folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            count, total = count + 1, total + path.stat().st_size
        if count > MOST_FILES or total > LARGEST_PROJECT:
            raise StorageError(
                f"the folder '{project.folder.name}' would have more than {MOST_FILES} files or "
                f"{LARGEST_PROJECT / 1e9:g} GB. Open a smaller folder as the project."
            )


def _write(path: Path, name: str, data: bytes) -> None:
    """Writes a new file, and makes its folders. Raises StorageError if it exists or cannot be written."""
    if path.exists():
        raise StorageError(f"there is a file '{name}' already. Choose another name.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"the folder of '{name}' cannot be made: {error.strerror}. Choose another name.") from None
    write_whole(path, data)


def free_name(project: Project, stem: str, ending: str = ".toml") -> str:
    """A name that no file of the project has: the stem with the ending, or with a number between them."""
    number = 1
    while (project.folder / (name := f"{stem}{f'_{number}' if number > 1 else ''}{ending}")).exists():
        number += 1
    return name


def save_model(project: Project, system: System, name: str) -> list[str]:
    """Writes a system as a new TOML file; returns sentences about what the file cannot contain."""
    from kinemorph.formats.loading import save

    path = new_path(project, name)
    if path.exists():
        raise StorageError(f"there is a file '{name}' already. Choose another name.")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        save(system, path)
    return [str(one.message) for one in caught]


def convert(project: Project, name: str, wish: str = "") -> tuple[str, list[str]]:
    """Writes a model file of any format as TOML beside it.

    Returns the name of the new file, and a sentence for everything that was not carried over, each with the name of
    the part. Raises KinemorphError if the file cannot be read.
    """
    from kinemorph.formats.loading import load
    from kinemorph.formats.urdf.foreign_tags import foreign_tags

    source = project.path(name)
    if name.lower().endswith(".toml"):
        raise KinemorphError(f"'{name}' is a TOML file already. Edit it, or copy it under another name.")
    ending = next((end for end in sorted(ENDINGS, key=len, reverse=True) if name.lower().endswith(end)), "")
    target = wish or free_name(project, name[: len(name) - len(ending)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        system = load(source, package_dirs=(project.folder,))
    lost = save_model(project, system, target)
    foreign = foreign_tags(source) if source.suffix.lower() == ".urdf" else []
    return target, [*(str(one.message) for one in caught), *foreign, *lost]
