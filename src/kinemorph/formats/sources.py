"""Sources of models: the bytes of a file with its folder, the options for reading it, and the search for other files.

A model may name other files, such as meshes and includes. They are searched in the model's own folder and in folders
that the caller names. After links are followed, a file must be inside the model's root (`model_root`), the folder that
contains all files of a model, or inside one of the folders that the caller names; otherwise it is not read.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import field, replace
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

from kinemorph.formats import limits
from kinemorph.formats.findings import Findings
from kinemorph.frozen import dataclass
from kinemorph.words import did_you_mean

Base = Literal["fixed", "free"]
_PACKAGE_NAME = re.compile(rb"<name>\s*([^<\s]+)\s*</name>")
PACKAGE_MARKS = ("package.xml", "manifest.xml", "model.config")  # a folder with one of these files is a package
ROOT_MARKS = (*PACKAGE_MARKS, ".git")  # a folder with one of these is the root of the models in it
MOST_FOLDERS = 20_000  # that are searched for packages


@dataclass(frozen=True)
class Source:
    """A model file in memory. `name` is its name in messages; `folder` is None for a text that is not in a file.

    `numbered` is an attribute with which a text says on which line an element is, where its own lines do not count.
    """

    name: str
    data: bytes
    folder: Path | None = None
    numbered: str = ""


@dataclass(frozen=True)
class Options:
    """How a file is read.

    `base`          how the root body is connected to the world; None leaves it to the format (URDF: fixed)
    `merge_fixed`   whether bodies that fixed joints connect are merged
    `package_dirs`  folders, besides the model's own, in which files may be that the model names; `package://` and
                    `model://` names are searched there. Relative ones are relative to the working folder
    `sidecar`       the TOML file with data that the format cannot express; None searches in the folder of the model
    `arguments`     pairs (name, value) for the arguments that a xacro file declares, in place of their defaults
    `allow_c`       whether controllers in C may be compiled and run
    `root`          the folder that contains all files of the model, for files that another one includes; None: it is
                    found from the folder of the file
    `srdf`          the SRDF file of a URDF; None searches in the folder of the model
    `repairable`    whether comments and white space of the document are kept, so that a repaired copy can be written
    """

    base: Base | None = None
    merge_fixed: bool = False
    package_dirs: tuple[Path, ...] = ()
    sidecar: Path | None = None
    repairable: bool = False
    arguments: tuple[tuple[str, str], ...] = ()
    allow_c: bool = False
    root: Path | None = None
    srdf: Path | None = None
    _packages: dict[Path, list[tuple[str, Path]]] = field(default_factory=dict, compare=False)  # see `packages`

    def __post_init__(self) -> None:
        object.__setattr__(self, "package_dirs", tuple(Path(os.path.abspath(folder)) for folder in self.package_dirs))


def read_file(path: Path, findings: Findings) -> Source | None:
    """The bytes of a model file; None if it cannot be read, which is recorded as a finding."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):  # reading from a pipe could wait forever
            what = "it is a folder" if stat.S_ISDIR(status.st_mode) else "it is a device or a pipe"
            findings.error("file", 0, "", f"{what}, expected a file", "Name a model file.")
            return None
        size, data = status.st_size, b""
        if size <= limits.FILE_SIZE:
            data = _content(path, size)
            size = len(data)
        if size > limits.FILE_SIZE:
            problem = f"the file has {size} bytes, expected at most {limits.FILE_SIZE}"
            findings.error("file", 0, "", problem, "Split the file, or remove data that are not needed.")
            return None
        return Source(str(path), data, path.parent)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: the name has a zero byte
        findings.error("file", 0, "", "the file does not exist", f"Check the path.{_in_library(path)}")
        return None
    except OSError as error:
        reason = error.strerror or str(error)
        findings.error("file", 0, "", f"the file cannot be read: {reason}", "Check the path and its permissions.")
        return None


def _in_library(path: Path) -> str:
    """A sentence on how to build the library robot whose name is, or resembles, that of a missing file; else empty."""
    from kinemorph.model.library.choosing import CHOICE

    if path.suffix or path.parent != Path("."):
        return ""
    if path.name in CHOICE:
        return f" '{path.name}' is a robot of the library: build it with kinemorph.library.{path.name}()."
    hint = did_you_mean(path.name, CHOICE)
    return f"{hint} Robots of the library are built by functions of kinemorph.library, such as puma()." if hint else ""


# non-blocking, in case the file has been replaced by a pipe after `os.stat`
READING = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def _content(path: Path, size: int) -> bytes:
    """The content of a file, at most one byte more than allowed. `size` [byte] is what the operating system reports,
    which is 0 for some files that are not empty.
    """
    handle = os.open(path, READING)
    try:
        data = os.read(handle, (size or limits.FILE_SIZE) + 1)
        while len(data) != size and len(data) <= limits.FILE_SIZE and (more := os.read(handle, limits.FILE_SIZE)):
            data += more
        return data
    finally:
        os.close(handle)


def unused_sidecar(options: Options, what: str, findings: Findings) -> None:
    """Warns if the caller names a sidecar for a format without sidecars; `what` is the kind of file: "a DH table"."""
    if options.sidecar is not None:
        problem = f"the sidecar '{options.sidecar}' is not read, because {what} cannot have one"
        findings.warn("dropped", 0, "", problem, "Save the model as TOML, and add the data of the sidecar there.")


def sidecar_name(model: str) -> str:
    """The name of the sidecar of a model file: `arm.sidecar.toml` for `arm.urdf`."""
    return f"{os.path.splitext(os.path.basename(model))[0].strip('<>')}.sidecar.toml"


class Outside(ValueError):
    """Raised for a path that is outside the folders that may be read."""


def find_file(name: str, source: Source, options: Options, *, folder: bool = False) -> Path | None:
    """The path of a file that a model names; None if it is not found. Raises Outside if it may not be read.

    With `folder`, it is a folder and not a file.

    `package://pkg/rest` and `model://pkg/rest` are searched as pkg/rest in every folder that may be read and in
    ROS_PACKAGE_PATH. Then the folders that contain the model are searched for pkg, but beyond the model's root a folder
    called pkg is used only if it has a file such as package.xml. Otherwise a model could read from any folder of the
    disk. A folder that contains the model, or is in or below `package_dirs` or ROS_PACKAGE_PATH, may have another name
    than its package.xml gives the package.
    """
    scheme, mark, rest = name.partition("://")
    text = unquote(rest) if mark else name
    if "\0" in text:
        raise Outside(name)
    own = () if source.folder is None else (source.folder,)
    if mark and scheme in ("package", "model"):
        package, _, inner = text.partition("/")
        if package in ("", ".", "..") or "\\" in package:  # a package is the name of a folder, not a path
            raise Outside(name)
        folders = [*options.package_dirs, *own, *_ros_folders()]
        roots = [folder / package for folder in folders]
        roots += [folder for folder in options.package_dirs if package_name(folder) == package]
        above = [parent for folder in own for parent in (folder.resolve(), *folder.resolve().parents)]
        roots += [folder for folder in above if is_package(folder) and package in (folder.name, package_name(folder))]
        roots += [folder / package for folder in above if is_package(folder / package)]
        found = _first_inside(inner, roots, folder)
        found = found or _first_inside(inner, [at for name, at in packages(options) if name == package], folder)
        if found is not None or not own:
            return found
        root = options.root or model_root(own[0])
        within = [folder for folder in above if folder.is_relative_to(root)]
        more = [folder for folder in within if folder.name == package] + [folder / package for folder in within]
        return _first_inside(inner, more, folder)
    if mark and scheme != "file":
        raise Outside(name)
    try:
        return _first_inside(text, [*own, *options.package_dirs], folder)
    except Outside:
        if not own or (root := options.root or model_root(own[0])) == own[0].resolve():
            raise
        return _first_inside(text, [*own, *options.package_dirs], folder, (root,))


def rooted(options: Options, source: Source) -> Options:
    """The options with the root of the model whose main file is `source`, for reading the files that it includes."""
    return options if source.folder is None or options.root else replace(options, root=model_root(source.folder))


def model_root(folder: Path) -> Path:
    """The folder that contains all files of a model whose file is in `folder`, with links followed.

    It is the nearest folder at or above that of the file which is a package or a repository (ROOT_MARKS); without such
    a mark, it is the folder above. The root of the file system, a home folder, a folder that contains home folders and
    the folder for temporary files are never taken: then it is the folder of the file itself.
    """
    folder = folder.resolve()
    for place in (folder, *folder.parents):
        if _is_shared(place):
            break
        if any((place / mark).exists() for mark in ROOT_MARKS):
            return place
    return folder if _is_shared(folder) or _is_shared(folder.parent) else folder.parent


def _is_shared(folder: Path) -> bool:
    """Whether a folder is for more than models: the root of the file system, a home folder, a folder that contains home
    folders, or the folder for temporary files.
    """
    if folder.parent == folder or folder == Path(tempfile.gettempdir()).resolve():
        return True
    try:
        home = Path.home().resolve()
    except (RuntimeError, OSError):  # a user without a home folder
        return False
    return home.is_relative_to(folder) or (folder.parent == home.parent and home.parent != home.parent.parent)


def named_text(name: str, source: Source, options: Options) -> str:
    """The text of a file that a model names. Raises Outside, FileNotFoundError, or ValueError if it is too large."""
    path = find_file(name, source, options)
    if path is None:
        raise FileNotFoundError(name)
    size = path.stat().st_size
    if size > limits.FILE_SIZE:
        raise ValueError(f"file '{name}' has {size} bytes, expected at most {limits.FILE_SIZE}")
    return path.read_text(encoding="utf-8-sig")


def is_package(folder: Path) -> bool:
    """Whether a folder is a package: it has a file such as package.xml."""
    return any((folder / mark).is_file() for mark in PACKAGE_MARKS)


def package_name(folder: Path) -> str:
    """The name that package.xml in a folder gives its package, whatever the folder is called; empty if it has none."""
    try:
        with (folder / PACKAGE_MARKS[0]).open("rb") as file:
            found = _PACKAGE_NAME.search(file.read(10_000))
    except (OSError, ValueError):
        return ""
    return found[1].decode(errors="replace") if found else ""


def packages(options: Options) -> list[tuple[str, Path]]:
    """(name in package.xml, folder) of all packages below `package_dirs` and the folders of ROS_PACKAGE_PATH."""
    known, tops = options._packages, (*options.package_dirs, *_ros_folders())
    known.update({top: list(_packages_in(top)) for top in tops if top not in known})
    return [package for top in tops for package in known[top]]


def _packages_in(top: Path) -> Iterator[tuple[str, Path]]:
    """(name, folder) of the packages in a folder. As in ROS, none is in another one, in a hidden folder or a link."""
    for count, (folder, inner, files) in enumerate(os.walk(top)):
        inner[:] = sorted(name for name in inner if not name.startswith(".")) if count < MOST_FOLDERS else []
        if PACKAGE_MARKS[0] in files:
            inner.clear()
            yield package_name(Path(folder)), Path(folder)


def _ros_folders() -> list[Path]:
    """The folders in the environment variable ROS_PACKAGE_PATH."""
    return [Path(folder) for folder in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if folder]


def _first_inside(text: str, roots: list[Path], folder: bool, more: tuple[Path, ...] = ()) -> Path | None:
    """The first existing file, or folder, `root / text` that is in one of the roots after links are followed.

    It may be in one of the folders `more`, too. None if there is none. Raises Outside if a path leads out of all these.
    """
    real_roots = [*[root.resolve() for root in roots], *more]
    outside = False
    for root in roots:
        path = (root / text).resolve()
        if not any(path.is_relative_to(real) for real in real_roots):
            outside = True
        elif path.is_dir() if folder else path.is_file():
            return path
    if outside:
        raise Outside(text)
    return None
