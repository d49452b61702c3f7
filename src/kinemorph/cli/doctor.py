"""What `kinemorph doctor` finds out about this installation: versions, the CPU that code is made for, the cache of
compiled code, a browser, a self-test.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from typing import Any

import kinemorph
from kinemorph.codegen.backends.llvm.target import llvm_target
from kinemorph.codegen.building.self_test import self_test
from kinemorph.codegen.storing.cache import LIMIT, OFF, VARIABLE, CodeCache, cache_folder
from kinemorph.display.browsers import graphical_browser

Data = dict[str, Any]

CORE = ("numpy", "scipy", "llvmlite", "matplotlib", "typer", "rich")
# packages that are optional: which extra brings them, and what for
EXTRAS: dict[str, tuple[str, str]] = {
    "viser": ("view", "the live viewer"),
    "trimesh": ("view", "mesh files of models"),
    "imageio-ffmpeg": ("video", "videos, .mp4"),
    "sympy": ("sympy", "checking printed equations by computer algebra"),
    "scikit-sundae": ("stiff", "the methods of SUNDIALS"),
    "pin": ("bench", "tests and times against Pinocchio"),
    "mujoco": ("dev", "tests against MuJoCo"),
    "hypothesis": ("dev", "property tests"),
}


def environment() -> Data:
    """The installation as data; `ok` is false where a core package is missing or the self-test fails."""
    core = {package: _version(package) for package in CORE}
    extras = [
        {
            "package": package,
            "version": _version(package),
            "purpose": purpose,
            "install": f"pip install 'kinemorph[{extra}]'",
        }
        for package, (extra, purpose) in EXTRAS.items()
    ]
    test = self_test()
    return {
        "kinemorph": kinemorph.__version__,
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "core": core,
        "llvm": llvm_target(),
        "cache": cache(),
        "extras": extras,
        "browser": graphical_browser(),
        "self_test": test,
        "ok": all(core.values()) and all(row["passed"] for row in test),
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def cache() -> Data:
    """Where compiled code is kept, how much [byte], and why not where it is not."""
    folder = cache_folder()
    store = CodeCache(folder) if folder else None
    files, size = store.size() if store else (0, 0)
    problem = store.problem() if store else _no_folder()
    return {
        "folder": str(folder) if folder else None,
        "usable": problem is None,
        "problem": problem,
        "files": files,
        "bytes": size,
        "limit": LIMIT,
    }


def _no_folder() -> str:
    if os.environ.get(VARIABLE, "").lower() in OFF:
        return f"switched off by {VARIABLE}"
    return f"no home folder is known; set {VARIABLE} to a folder"


def clear_cache() -> Data:
    """Empties the cache; its state afterwards, with what was removed."""
    folder = cache_folder()
    files, size = CodeCache(folder).clear() if folder else (0, 0)
    return {**cache(), "removed_files": files, "removed_bytes": size}
