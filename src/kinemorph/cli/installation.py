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
from kinemorph.sheet import Facts, Field, Sheet, Table, shown

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


def installation_sheet(data: Data) -> Sheet:
    """The data of `installation`: versions, the compiler, the cache, optional packages and the self-test."""
    llvm = data["llvm"]
    lines = {
        "python": f"{data['python']}  {data['executable']}",
        "platform": data["platform"],
        **{package: version or "missing" for package, version in data["core"].items()},
        "llvm": llvm.get("problem") or llvm["version"],
    }
    if "problem" not in llvm:
        fused = ", fused multiply-add" if llvm["fma"] else ""
        lines["target"] = f"{llvm['cpu']}, {llvm['triple']}"
        lines["SIMD width"] = f"{llvm['simd_bits']} bit, {llvm['simd_doubles']} doubles{fused}"
    lines["cache"] = _cache_line(data["cache"])
    lines["browser"] = data["browser"] or "no graphical browser: replays are written but not opened"
    extras = [
        (row["package"], row["version"] or "missing", row["purpose"], "" if row["version"] else row["install"])
        for row in data["extras"]
    ]
    tests = [(row["backend"], row["passed"], row["note"], 1e3 * row["seconds"]) for row in data["self_test"]]
    verdict = {True: "passed", False: "failed"}
    columns = (*shown("backend"), *shown("verdict", form=verdict), *shown("note"), Field("", "time", "ms", ".0f"))
    heads = (*shown("optional package"), *shown("version", form="word"), *shown("for", "install"))
    parts = (
        _facts(lines),
        Table("", heads, extras, "Optional packages"),
        Table("", columns, tests, "Self-test: compile and run a tiny program"),
    )
    return Sheet("Installation of kinemorph", data["kinemorph"], parts)


def cleared_sheet(data: Data) -> Sheet:
    """The data of `clear_cache`: what was removed, and the cache after that."""
    removed = f"{data['removed_files']} files, {_megabytes(data['removed_bytes'])}"
    return Sheet("Cache of", "compiled code", [_facts({"removed": removed, "cache": _cache_line(data)})])


def _facts(lines: dict[str, str]) -> Facts:
    return Facts([(Field("", head, form="name"), text) for head, text in lines.items()])


def _cache_line(data: Data) -> str:
    """The cache: `folder: 12 programs, 1.3 MB of at most 512 MB`, or why it cannot be used."""
    if not data["usable"]:
        return f"{data['folder']}: {data['problem']}" if data["folder"] else str(data["problem"])
    amount = f"{data['files']} programs, {_megabytes(data['bytes'])} of at most {_megabytes(data['limit'])}"
    return f"{data['folder']}: {amount}"


def _megabytes(size: int) -> str:
    return f"{size / 2**20:.3g} MB"


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
