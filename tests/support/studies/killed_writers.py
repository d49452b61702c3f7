"""Kills processes that write to a store, and looks at what they leave.

    python tests/support/studies/killed_writers.py FOLDER TIMES SEED

A child process continues a study and reports each result after `record` has returned. It is killed (SIGKILL) at a
random moment: of the whole, or of what follows the opening of the store, where items are declared for a short time. The
store has to have everything that was reported. Prints how many moments fell into the making of the store, the
declaration of items, and the recording.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from kinemorph.studies.store import journals
from kinemorph.studies.store.export import write_export
from kinemorph.studies.store.store import open_store
from support.studies.stores import ASPECTS, assert_equal, complete, filled_store, natural_outcome, some_items

COUNT, AT_A_TIME = 400, 4
LONGEST = 0.4  # [s] after which a process is killed at the latest
SHORT = 2e-3  # [s] the same after it has opened the store, in one of four cases


def work(path: Path, report: int) -> None:
    """Continues a study, and reports the numbers that are recorded."""
    with open_store(path) as store:
        os.write(report, b"open\n")
        numbers = store.declare(some_items(COUNT))
        store.check_aspects(ASPECTS)
        os.write(report, b"declared\n")
        waiting = store.without_result(numbers)
        for start in range(0, len(waiting), AT_A_TIME):
            some = waiting[start : start + AT_A_TIME]
            store.record([natural_outcome(some)])
            os.write(report, "".join(f"{number}\n" for number in some).encode())


def killed(path: Path, seconds: float, *, opened: bool) -> list[str]:
    """What a process reports that is killed after some time [s], of its life or since it has opened the store."""
    source, report = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        try:
            work(path, report)
        finally:
            os._exit(0)
    os.close(report)
    with os.fdopen(source) as file:
        first = file.readline() if opened else ""
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return [*first.split(), *file.read().split()]


def main(folder: Path, times: int, seed: int) -> None:
    """Kills so many writers of one store after another, beginning anew when a study is complete."""
    random.seed(seed)
    with filled_store(folder / "whole.study", COUNT) as store:
        expected = store.table()
    write_export(expected, folder / "whole.csv")
    moments: Counter[str] = Counter()
    reported: set[int] = set()
    path = folder / "killed0.study"
    mounts = journals.MOUNTS
    for trial in range(times):
        journals.MOUNTS = mounts if random.random() < 0.6 else folder / "unknown"
        opened = random.random() < 0.25
        lines = killed(path, random.uniform(0.0, SHORT if opened else LONGEST), opened=opened)
        moments["recording" if "declared" in lines else "declaring" if "open" in lines else "opening"] += 1
        reported |= {int(line) for line in lines if line.isdigit()}
        if not path.exists():
            assert not reported
            continue
        with open_store(path, "read") as store:
            table = store.table()
            assert not store.notes, store.notes
        assert len(set(table.numbers.tolist())) == len(table) <= COUNT
        assert reported <= set(table.numbers[table.states != 0].tolist())
        if trial == times - 1 or len(reported) == COUNT:
            with open_store(path) as store:
                complete(store, COUNT)
                assert_equal(store.table(), expected)
                write_export(store.table(), folder / "killed.csv")
                assert not store.notes, store.notes
            assert (folder / "killed.csv").read_bytes() == (folder / "whole.csv").read_bytes()
            path, reported = folder / f"killed{trial + 1}.study", set()
    print(dict(sorted(moments.items())))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
