"""The memory of a process, and a ceiling for it."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

DEFAULT = 4 << 30  # bytes that a worker may use, where the machine has at least twice as many
BEYOND_CEILING = 77  # the exit status of a worker that needed too much memory
ROOM = 1 << 30  # bytes of addresses beyond the ceiling, which libraries reserve and do not use


def default_ceiling() -> int:
    """The bytes of memory that a worker may use: 4 GiB, or half of the machine's memory if that is less."""
    try:
        return min(DEFAULT, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
    except (AttributeError, ValueError, OSError):  # Windows
        return DEFAULT


def resident() -> int:
    """The bytes of memory that this process uses; on systems without /proc, the most that it has used so far.

    0 where the operating system does not say.
    """
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    with contextlib.suppress(ImportError):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return 0


def bound_addresses(ceiling: int) -> None:
    """Lets the operating system refuse memory far beyond the ceiling, so that a large array raises MemoryError.

    Where it cannot, as on Windows, only the watch over `resident` holds.
    """
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + ceiling + ROOM, resource.RLIM_INFINITY))
