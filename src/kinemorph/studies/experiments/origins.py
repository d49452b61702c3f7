"""Where code is from: the user's own counts by what it says, installed packages by their versions.

The user's own is every module that belongs neither to this package nor to the standard library nor to an installed
distribution. Packages that are installed editable lie in the user's folders, and so are the user's own.
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec, PathFinder
from importlib.metadata import PackageNotFoundError, distributions, version
from importlib.util import find_spec

STANDARD = tuple(os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib"))
SITES = ("site-packages", "dist-packages")  # folders in which distributions are installed
PACKAGE = __name__.partition(".")[0]


class FileContent(str):
    """The path of a file that counts by its content."""


def place_of(module: str) -> str | None:
    """The file of a module, or the folder of one without a file. A module that is not imported yet is not run."""
    found = sys.modules.get(module)
    try:
        spec = None if found else _spec(module)
    except (ImportError, ValueError):
        return None
    file = getattr(found, "__file__", None) or (spec and spec.origin)
    folders = getattr(found, "__path__", None) or (spec and spec.submodule_search_locations) or ()
    return file or next(iter(folders), None)


def _spec(module: str) -> ModuleSpec | None:
    """What is known of a module without running it; `find_spec` would run the packages that it is in."""
    package = module.rpartition(".")[0]
    above = _spec(package) if package else None
    if not package:
        return find_spec(module)
    return PathFinder.find_spec(module, above.submodule_search_locations or ()) if above else None


def is_own(module: str | None) -> bool:
    """Whether a module is the user's own. Functions that `exec` made have no module, and are the user's own."""
    top = (module or "").partition(".")[0]
    return not top or (top != PACKAGE and _is_own(top, place_of(top)))


@cache
def _is_own(top: str, place: str | None) -> bool:
    if place is None or not os.path.isabs(place):
        return top not in sys.stdlib_module_names
    place = os.path.realpath(place)
    return not package_text(top) if _site(place) else not place.startswith(STANDARD)


def _site(place: str) -> str:
    """The folder of installed distributions that a place lies in; empty for none."""
    return next((place[: place.index(site) + len(site)] for site in SITES if os.sep + site + os.sep in place), "")


@cache
def package_text(module: str) -> str:
    """The distribution of a module with its version, "numpy 2.1.0"; empty for what is not an installed distribution."""
    top = module.partition(".")[0]
    place = os.path.realpath(place_of(top) or "")
    if top == PACKAGE or not _site(place):
        return ""
    try:
        return f"{top} {version(top)}"
    except PackageNotFoundError:  # its distribution has another name, and a list of files
        file = os.path.relpath(place, _site(place)).replace(os.sep, "/") + ("/" if os.path.isdir(place) else ",")
        mine = (one for one in distributions(path=[_site(place)]) if f"\n{file}" in f"\n{one.read_text('RECORD')}")
        return ", ".join(sorted(f"{one.name} {one.version}" for one in mine))


def is_binary(module: str | None) -> bool:
    """Whether a module was compiled, from C, so that it has no source here."""
    return module is not None and (place_of(module) or "").endswith(tuple(EXTENSION_SUFFIXES))


def file_text(path: str) -> str:
    """The content of a file as a short text: its digest; "not found" where there is none."""
    if not os.path.isfile(path):
        return "not found"
    with open(path, "rb") as file:
        return f"file {hashlib.file_digest(file, 'sha256').hexdigest()[:16]}"
