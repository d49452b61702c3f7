"""Where models come from: the bytes of a file with its folder, the options of reading, and paths that stay inside.

A model may name other files: meshes, includes. They are searched in the model's own folder and in folders that the
caller names, and must lie inside one of these after all links are followed; anything else is refused.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

from kinemorph.formats import limits
from kinemorph.formats.findings import Findings
from kinemorph.frozen import dataclass

Base = Literal["fixed", "free"]
PACKAGE_MARKS = ("package.xml", "manifest.xml", "model.config")  # files that make a folder a package


@dataclass(frozen=True)
class Source:
    """A model file in memory. `name` is what messages call it; `folder` is None for text without a file."""

    name: str
    data: bytes
    folder: Path | None = None


@dataclass(frozen=True)
class Options:
    """How a file is read.

    `base` says how the root hangs on the world; None leaves it to the format (URDF: fixed). `package_dirs` are folders
    in which `package://` and `model://` names are searched and in which files that a model names may lie, besides its
    own folder. `sidecar` is the TOML file that adds what the format cannot say; None looks beside the model. `mendable`
    keeps comments and white space of the parsed document, so that a mended copy can be written.
    """

    base: Base | None = None
    merge_fixed: bool = False
    package_dirs: tuple[Path, ...] = ()
    sidecar: Path | None = None
    mendable: bool = False


def read_file(path: Path, findings: Findings) -> Source | None:
    """The bytes of a model file; None, with a finding, where it cannot be read."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):  # a pipe would be waited for
            what = "is a folder" if stat.S_ISDIR(status.st_mode) else "is no plain file"
            findings.error("file", 0, "", f"the file {what}", "Check the path.")
            return None
        size, data = status.st_size, b""
        if size <= limits.FILE_SIZE:
            data = _content(path, size)
            size = len(data)
        if size > limits.FILE_SIZE:
            problem = f"the file has {size} bytes, expected at most {limits.FILE_SIZE}"
            findings.error("file", 0, "", problem, "Split it, or leave out data that is not needed.")
            return None
        return Source(str(path), data, path.parent)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # no file has a zero byte in its name
        findings.error("file", 0, "", "the file does not exist", "Check the path.")
        return None
    except OSError as error:
        reason = error.strerror or str(error)
        findings.error("file", 0, "", f"the file cannot be read: {reason}", "Check the path and its permissions.")
        return None


# a file that has become a pipe since it was looked at is not waited for
READING = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def _content(path: Path, size: int) -> bytes:
    """The content of a file of that size, up to one byte more than allowed; some files do not report their size."""
    handle = os.open(path, READING)
    try:
        data = os.read(handle, (size or limits.FILE_SIZE) + 1)
        while len(data) != size and len(data) <= limits.FILE_SIZE and (more := os.read(handle, limits.FILE_SIZE)):
            data += more
        return data
    finally:
        os.close(handle)


def unused_sidecar(options: Options, what: str, findings: Findings) -> None:
    """Warns of a sidecar that was named for a format that has none."""
    if options.sidecar is not None:
        problem = f"the sidecar '{options.sidecar}' is not read: {what} has none"
        findings.warn("dropped", 0, "", problem, "Save the model as TOML, and add to that.")


def sidecar_name(model: str) -> str:
    """The name of the TOML file beside a model file that adds data its format cannot express."""
    return f"{os.path.splitext(os.path.basename(model))[0].strip('<>')}.sidecar.toml"


class Outside(ValueError):
    """A path that leaves the folders that may be read."""


def find_file(name: str, source: Source, options: Options) -> Path | None:
    """The path of a file that a model names; None where it is not found. Raises Outside for paths that lead elsewhere.

    `package://pkg/rest` and `model://pkg/rest` are searched as pkg/rest in every folder that may be read and in
    ROS_PACKAGE_PATH; then among the folders above the model's own and their neighbors, where a folder called pkg counts
    only if a package.xml or the like makes it a package: otherwise a model could name any folder of the disk.
    """
    scheme, mark, rest = name.partition("://")
    text = unquote(rest) if mark else name
    if "\0" in text:
        raise Outside(name)
    own = () if source.folder is None else (source.folder,)
    if mark and scheme in ("package", "model"):
        package, _, inner = text.partition("/")
        if package in ("", ".", "..") or "\\" in package:  # a package is a folder's name, never a path that leads out
            raise Outside(name)
        folders = [*options.package_dirs, *own, *_ros_folders()]
        roots = [folder / package for folder in folders]
        above = [parent for folder in own for parent in (folder.resolve(), *folder.resolve().parents)]
        roots += [folder for folder in above if folder.name == package and is_package(folder)]
        roots += [folder / package for folder in above if is_package(folder / package)]
        return _first_inside(inner, roots)
    if mark and scheme != "file":
        raise Outside(name)
    return _first_inside(text, [*own, *options.package_dirs])


def named_text(name: str, source: Source, options: Options) -> str:
    """The text of a file that a model names. Raises Outside, FileNotFoundError, or ValueError where it is too large."""
    path = find_file(name, source, options)
    if path is None:
        raise FileNotFoundError(name)
    size = path.stat().st_size
    if size > limits.FILE_SIZE:
        raise ValueError(f"file '{name}' has {size} bytes, expected at most {limits.FILE_SIZE}")
    return path.read_text(encoding="utf-8-sig")


def is_package(folder: Path) -> bool:
    """Whether a folder has a file that marks it as a package."""
    return any((folder / mark).is_file() for mark in PACKAGE_MARKS)


def _ros_folders() -> list[Path]:
    return [Path(folder) for folder in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if folder]


def _first_inside(text: str, roots: list[Path]) -> Path | None:
    """The first existing file `root / text` that lies in one of the roots after links are followed."""
    real_roots = [root.resolve() for root in roots]
    outside = False
    for root in roots:
        path = (root / text).resolve()
        if not any(path.is_relative_to(real) for real in real_roots):
            outside = True
        elif path.is_file():
            return path
    if outside:
        raise Outside(text)
    return None
