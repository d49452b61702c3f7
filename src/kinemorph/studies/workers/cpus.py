"""The number of CPUs that this process may use."""

from __future__ import annotations

import os


def cpus() -> int:
    """The number of CPUs that this process may use, which is less than that of the machine in many containers."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
