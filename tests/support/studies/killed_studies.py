"""Studies that are killed: callers in processes of their own, and a look at everything that they leave behind.

Every computation and every reported number is written to files, so that what was computed again can be counted.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.errors import KinemorphError
from kinemorph.studies.dispatch.carry_out import carry_out
from kinemorph.studies.dispatch.tally import Tally
from kinemorph.studies.outcomes import Outcome
from kinemorph.studies.store.store import Store, open_store
from kinemorph.studies.store.table import Table
from kinemorph.studies.workers.open_workers import open_workers
from support.studies.small_study import Squares, append, numbered_items

COUNT = 120
ASPECTS = {"model": "squares"}


class Place:
    """The files of one study: its store, what was computed and what was reported."""

    def __init__(self, folder: Path) -> None:
        self.store, self.log = folder / "squares.study", str(folder / "computed")
        self.reported = str(folder / "reported")

    def lines(self, file: str) -> list[str]:
        return Path(file).read_text().splitlines() if os.path.exists(file) else []

    def computed(self) -> list[int]:
        """The numbers of items whose computation began, in their order."""
        return [int(line.split()[1]) for line in self.lines(self.log)]

    def told(self) -> set[int]:
        """The numbers of items that were reported as stored."""
        return {int(number) for line in self.lines(self.reported) for number in line.split()}


class Reported:
    """A store that writes down which numbers it has recorded, after it has."""

    def __init__(self, store: Store, file: str) -> None:
        self.store, self.file = store, file

    def record(self, outcomes: Sequence[Outcome]) -> None:
        self.store.record(outcomes)
        append(self.file, " ".join(str(number) for outcome in outcomes for number in outcome.numbers))


def study(place: Place, workers: Any = 2, deeds: dict[int, str] | None = None) -> Tally:
    """A study of squares from where its store is, in this process."""
    numbers, items = numbered_items(COUNT)
    with open_store(place.store) as store:
        numbers = store.declare(items)
        store.check_aspects(ASPECTS)
        left = store.without_result(numbers)
        experiment = Squares({-1: "pause", **(deeds or {})}, log=place.log)
        with open_workers(workers) as crew:
            return carry_out(experiment, Reported(store, place.reported), left, items.taken(left), crew)


def contents(table: Table) -> bytes:
    """Everything in a table that is determined by the study, as bytes."""
    values = [column.numbers for column in table.items.columns]
    parts = (table.numbers, table.keys, *values, table.measures, table.states)
    return (
        b"".join(np.ascontiguousarray(part).tobytes() for part in parts) + repr(sorted(table.causes.items())).encode()
    )


def exported(place: Place) -> bytes:
    """Everything that is determined by the study, as bytes."""
    with open_store(place.store, "read") as store:
        return contents(store.table())


def forked(function: Callable[[], Any]) -> int:
    """The id of a process that calls a function and ends with status 0, 2 after Ctrl-C, or 1 after an error."""
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with open(os.devnull, "w") as nothing:
            os.dup2(nothing.fileno(), 2)
        status = 2 if function().is_interrupted else 0
    except KinemorphError:
        status = 3
    finally:
        os._exit(status)


def is_running(process: int) -> bool:
    with contextlib.suppress(OSError, IndexError):
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    return False


def workers_of(process: int) -> list[int]:
    """The ids of the processes that a process has started, directly or not."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                if parent == process:
                    found += [int(entry.name), *workers_of(int(entry.name))]
    return found


def wait_for(condition: Callable[[], Any], seconds: float = 30.0) -> bool:
    """Waits until a condition holds; returns whether it does."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    return True


def kill_and_resume(place: Place, workers: Any, victims: str, moment: float, undisturbed: bytes) -> None:
    """Kills the caller, a worker or the scheduler of a study at a moment [s], resumes it, and looks at everything."""
    caller = forked(lambda: study(place, workers))
    time.sleep(moment)
    children = workers_of(caller)
    if victims == "caller":
        os.kill(caller, signal.SIGKILL)
        os.waitpid(caller, 0)
        assert wait_for(lambda: not any(map(is_running, children)), 20.0), "a worker has outlived its caller"
    else:
        if victims == "worker" and workers == "dask":
            children = children[1:]  # the first one has the scheduler
        for child in children[:1] if victims == "scheduler" else random.sample(children, min(len(children), 1)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(caller, 0)
        assert os.waitstatus_to_exitcode(status) in ((0,) if victims == "worker" else (0, 3))
    told, began = place.told(), len(place.computed())
    tally = study(place, 0, {-1: ""})
    assert told <= place.told()
    assert not told & set(place.computed()[began:]), "an item that was reported was computed again"
    assert tally.total <= COUNT - len(told)  # what was stored in the last moment need not have been reported
    assert exported(place) == undisturbed
