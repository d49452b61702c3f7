"""Wall time and processor time of the parts of a test: this process with its server, the workers, the browser."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Stopwatch:
    """Times named parts. A row is (name, wall time, processor time of the studio, that of the browser) [s]."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, float, float, float]] = []

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Times what is done inside."""
        start, before = time.monotonic(), processor_times()
        yield
        after = processor_times()
        self.rows.append((name, time.monotonic() - start, after[0] - before[0], after[1] - before[1]))

    @property
    def wall(self) -> float:
        """The wall time of all parts [s]."""
        return sum(row[1] for row in self.rows)

    def text(self) -> str:
        """All parts as a table, with their sum."""
        sums = ("all", *(sum(row[k] for row in self.rows) for k in (1, 2, 3)))
        lines = [f"{name:12} {wall:7.1f} {own:7.1f} {other:8.1f}" for name, wall, own, other in (*self.rows, sums)]
        return "\n".join([f"{'part':12} {'wall':>7} {'studio':>7} {'browser':>8}   [s]", *lines])


def processor_times() -> tuple[float, float]:
    """The processor time of this process and its Python children, and of all its other descendants [s].

    Both are 0 where there is no /proc.
    """
    tick, parents, times, names = os.sysconf("SC_CLK_TCK"), dict[int, int](), dict[int, float](), dict[int, str]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue  # it has ended
        fields, process = rest.split(), int(path.parent.name)
        parents[process], names[process] = int(fields[1]), name
        times[process] = sum(map(int, fields[11:15])) / tick  # with the children that have ended
    own = other = 0.0
    for process, spent in times.items():
        above, is_ours = process, True
        while above not in (os.getpid(), 0, 1):
            is_ours &= names[above].startswith("python")
            above = parents.get(above, 0)
        if above == os.getpid():
            own, other = (own + spent, other) if is_ours else (own, other + spent)
    return own, other
