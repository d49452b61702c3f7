"""What `kinemorph doctor` finds out about this installation: versions, the CPU that code is made for, the cache of
compiled code, a browser, a self-test.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

import kinemorph
from kinemorph.codegen.cache import LIMIT, OFF, VARIABLE, CodeCache, cache_folder, switched_off
from kinemorph.codegen.compile import build, runnable_backends
from kinemorph.codegen.tracing import trace
from kinemorph.display.browsers import graphical_browser
from kinemorph.errors import KinemorphError

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
# the widest vector registers by CPU feature [bit], widest first
REGISTERS: tuple[tuple[str, int], ...] = (("avx512f", 512), ("avx", 256), ("sve", 128), ("neon", 128), ("sse2", 128))


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


def llvm_target() -> Data:
    """LLVM's version and the CPU it compiles for."""
    try:
        import llvmlite.binding as binding
    except ImportError as error:
        return {"problem": f"llvmlite cannot be imported: {error}. Run: pip install llvmlite"}
    features: Mapping[str, bool] = binding.get_host_cpu_features()
    bits = simd_bits(features)
    return {
        "version": ".".join(map(str, binding.llvm_version_info)),
        "triple": binding.get_process_triple(),
        "cpu": binding.get_host_cpu_name(),
        "simd_bits": bits,
        "simd_doubles": bits // 64,
        "fma": bool(features.get("fma")) or bool(features.get("neon")),
    }


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


def simd_bits(features: Mapping[str, bool]) -> int:
    """The width of the widest vector registers [bit]; 64 where there are none."""
    return next((bits for feature, bits in REGISTERS if features.get(feature)), 64)


def self_test() -> list[Data]:
    """Compiles (not from the cache) and runs a tiny program with every backend: sin(x)^2 + cos(x)^2 - y is 1 - y."""
    program = trace(lambda x, y: x.sin() * x.sin() + x.cos() * x.cos() - y, {"x": (), "y": ()}, name="self_test")
    rows = []
    for backend in runnable_backends():
        start = time.perf_counter()
        try:
            with switched_off():
                found = build(program, backend)(np.array([0.3, 2.0]), np.array([0.25, 0.5]))
            error = float(np.max(np.abs(found - [0.75, 0.5])))
            passed, note = error < 1e-15, f"error {error:.0e}"
        except (KinemorphError, ImportError, OSError, RuntimeError) as problem:
            passed, note = False, str(problem)
        rows.append({"backend": backend, "passed": passed, "note": note, "seconds": time.perf_counter() - start})
    return rows
