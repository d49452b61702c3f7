"""The machine on which times are measured: CPU, its peak speed, its cores, and the versions of all libraries."""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
from pathlib import Path
from typing import Any

from kinemorph.bench.peers.pinocchio_cpp import compiler
from kinemorph.bench.timing import Pace, peak_flops
from kinemorph.codegen.backends.llvm.engine import llvm_target
from kinemorph.codegen.backends.threads import default_threads
from kinemorph.errors import CompileError

PACKAGES = ("kinemorph", "numpy", "scipy", "llvmlite", "pin", "mujoco", "drake", "exudyn")


def machine(pace: Pace) -> dict[str, Any]:
    """The machine and the versions of all libraries, by name; `peak_gflops` is measured on one core."""
    target = llvm_target()
    try:
        built_with = _first_line([compiler(), "--version"])
    except CompileError:
        built_with = "none"
    return {
        "cpu": cpu_name(),
        "cores": default_threads(),
        "simd_bits": target["simd_bits"],
        "peak_gflops": peak_flops(pace) / 1e9,
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "llvm": target["version"],
        "c++": built_with,
        **{package: _version(package) for package in PACKAGES},
    }


def cpu_name() -> str:
    """The name of the CPU; its architecture where the system does not tell the name."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    if platform.system() == "Darwin":
        return _first_line(["sysctl", "-n", "machdep.cpu.brand_string"])
    return platform.processor() or platform.machine()


def _first_line(command: list[str]) -> str:
    try:
        printed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        return "unknown"
    return next(iter(printed.splitlines()), "unknown")


def _version(package: str) -> str:
    if package == "kinemorph":
        from kinemorph import __version__

        return __version__
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "missing"
