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
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder
from importlib.metadata import PackageNotFoundError, distributions, version
from importlib.util import find_spec
from itertools import accumulate

STANDARD = tuple(os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib"))
SITES = {"site-packages", "dist-packages"}  # folders in which distributions are installed
PACKAGE = __name__.partition(".")[0]


def place_of(module: str) -> str | None:
    """The file of a module, or the folder of one without a file. Modules that are not imported yet are not run."""
    loaded = sys.modules.get(module)
    if loaded is not None:
        return getattr(loaded, "__file__", None) or next(iter(getattr(loaded, "__path__", ())), None)
    folders, spec = None, None
    for name in accumulate(module.split("."), "{}.{}".format):
        try:
            spec = find_spec(name) if folders is None else PathFinder.find_spec(name, folders)
        except (ImportError, ValueError):
            return None
        if spec is None:
            return None
        folders = spec.submodule_search_locations
    return spec and (spec.origin or next(iter(folders or ()), None))


def is_own(module: str | None) -> bool:
    """Whether a module is the user's own. Functions that `exec` made have no module, and are the user's own."""
    return module is None or _is_own(module, place_of(module))


@cache
def _is_own(module: str, place: str | None) -> bool:
    top = module.partition(".")[0]
    if top == PACKAGE:
        return False
    if place is None or not os.path.isabs(place):
        return top not in sys.stdlib_module_names
    return not package_text(top) if _site(place) else not os.path.realpath(place).startswith(STANDARD)


def _site(place: str) -> str:
    """The folder of installed distributions that a place lies in; empty for none."""
    parts = os.path.realpath(place).split(os.sep)
    return os.sep.join(parts[: min(k for k, part in enumerate(parts) if part in SITES) + 1]) if SITES & {*parts} else ""


@cache
def package_text(module: str) -> str:
    """The distribution of a module with its version, "numpy 2.1.0"; empty for what is not an installed distribution."""
    top = module.partition(".")[0]
    place = os.path.realpath(place_of(top) or "")
    site = _site(place)
    if top == PACKAGE or not site:
        return ""
    try:
        return f"{top} {version(top)}"
    except PackageNotFoundError:  # its distribution has another name, and a list of files
        line = os.path.relpath(place, site).replace(os.sep, "/") + ("/" if os.path.isdir(place) else ",")
        own = (one for one in distributions(path=[site]) if f"\n{line}" in f"\n{one.read_text('RECORD')}")
        return ", ".join(sorted(f"{one.name} {one.version}" for one in own))


def is_binary(module: str | None) -> bool:
    """Whether a module was compiled, from C, so that it has no source here."""
    return module is not None and (place_of(module) or "").endswith(tuple(EXTENSION_SUFFIXES))


def file_text(path: str) -> str:
    """The content of a file as a short text: its digest."""
    with open(path, "rb") as file:
        return f"file {hashlib.file_digest(file, 'sha256').hexdigest()[:16]}"
