"""The facts that `kinemorph doctor` reports: versions, the CPU for which code is compiled, the cache of compiled code,
the browser that shows pages, and a self-test.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import sys
from typing import Any

import kinemorph
from kinemorph.codegen.backends.llvm.engine import llvm_target
from kinemorph.codegen.building.self_test import self_test
from kinemorph.disk_cache import LIMIT, OFF, VARIABLE, CodeCache, cache_folder
from kinemorph.display.browsers import graphical_browser

Data = dict[str, Any]

CORE = ("numpy", "scipy", "llvmlite", "matplotlib", "typer", "rich")
# optional packages: the extra of kinemorph that installs each, and its purpose
EXTRAS: dict[str, tuple[str, str]] = {
    "mujoco-core": ("mujoco", "MJCF models"),
    "xacro": ("xacro", "xacro models"),
    "trimesh": ("view", "mesh files .ply, .off and .glb"),
    "networkx": ("view", "scenes of several meshes"),
    "starlette": ("view", "the live viewer and the studio"),
    "uvicorn": ("view", "their web server"),
    "websockets": ("view", "their connection to pages"),
    "anywidget": ("notebook", "live pictures in notebooks"),
    "imageio-ffmpeg": ("video", "videos, .mp4"),
    "h5py": ("hdf5", "runs in HDF5, .h5"),
    "pyarrow": ("parquet", "tables of studies in Parquet, .parquet"),
    "dask": ("cluster", "studies on a Dask cluster"),
    "distributed": ("cluster", "studies on a Dask cluster"),
    "scikit-sundae": ("stiff", "the methods of SUNDIALS"),
    "c3d": ("c3d", "recordings of markers in C3D files"),
    "sympy": ("sympy", "checking printed equations by computer algebra"),
    "typst": ("report", "reports as PDF"),
    "ziglang": ("fmu", "binaries of FMUs for other systems"),
    "pin": ("bench", "tests and times against Pinocchio"),
    "mujoco": ("dev", "tests against MuJoCo"),
    "hypothesis": ("dev", "property tests"),
}
SAME = {"mujoco-core": "mujoco"}  # packages that contain another one


def installation() -> Data:
    """The facts about this installation, for JSON. "ok" is false if a required package is missing or too old, or if
    the self-test fails.
    """
    core = {package: _version(package) for package in CORE}
    extras = [
        {
            "package": package,
            "version": _version(package) or (_version(SAME[package]) if package in SAME else None),
            "purpose": purpose,
            "install": f"pip install 'kinemorph[{extra}]'",
        }
        for package, (extra, purpose) in EXTRAS.items()
    ]
    test, old = self_test(), outdated()
    return {
        "kinemorph": kinemorph.__version__,
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "core": core,
        "outdated": old,
        "llvm": llvm_target(),
        "cache": cache(),
        "extras": extras,
        "browser": graphical_browser(),
        "self_test": test,
        "ok": all(core.values()) and not old and all(row["passed"] for row in test),
    }


def _version(package: str) -> str | None:
    """The installed version of a package; None where it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def outdated() -> list[str]:
    """One sentence for Python, and for each package, whose version is older than kinemorph requires."""
    try:
        about = importlib.metadata.metadata("kinemorph")
    except importlib.metadata.PackageNotFoundError:  # run from a folder, not installed
        return []
    found = []
    for text in [f"Python{about['Requires-Python'] or ''}", *(about.get_all("Requires-Dist") or ())]:
        for name, least in re.findall(r"^([\w.-]+)\s*>=\s*([\d.]+)", text):
            version = platform.python_version() if name == "Python" else _version(name)
            if version is not None and _numbers(version) < _numbers(least):
                found.append(f"{name} {version} is installed; expected {least} or later. Install a newer version.")
    return found


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: 2.0.1rc1 gives (2, 0, 1)."""
    return tuple(int(part) for part in re.findall(r"\d+", re.match(r"[\d.]*", version)[0]))  # type: ignore[index]


def cache() -> Data:
    """The state of the cache of compiled code: folder, files, size [byte], and the reason if it cannot be used."""
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
    """The reason why there is no folder for the cache."""
    if os.environ.get(VARIABLE, "").lower() in OFF:
        return f"switched off by {VARIABLE}"
    return f"no home folder is known; set {VARIABLE} to a folder"


def clear_cache() -> Data:
    """Deletes all files of the cache. Returns its state afterwards, and the number and size [byte] of deleted files."""
    folder = cache_folder()
    files, size = CodeCache(folder).clear() if folder else (0, 0)
    return {**cache(), "removed_files": files, "removed_bytes": size}
