"""A self-test of the installation: a tiny program is compiled and run with every backend."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from kinemorph.codegen.building.compile import build, runnable_backends
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.disk_cache import switched_off
from kinemorph.errors import KinemorphError


def self_test() -> list[dict[str, Any]]:
    """Compiles (without the cache) and runs sin(x)^2 + cos(x)^2 - y = 1 - y with every backend.

    Returns one row per backend: its name, whether it passed, a note and the time [s].
    """
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
