"""Studies whose processes are killed at random moments: nothing that was reported is lost (VALIDATION 13).

The caller is a forked process with workers of its own; every computation and every reported number is written to files,
so that what was computed again can be counted.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.small_study import Squares, append, numbered_items

from kinemorph.errors import KinemorphError
from kinemorph.studies.dispatch.carry_out import carry_out
from kinemorph.studies.dispatch.tally import Tally
from kinemorph.studies.outcomes import Outcome
from kinemorph.studies.store.store import Store, open_store
from kinemorph.studies.workers.open_workers import open_workers

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
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


def exported(place: Place) -> bytes:
    """Everything that is determined by the study, as bytes."""
    with open_store(place.store, "read") as store:
        table = store.table()
    parts = (table.numbers, table.keys, table.items.column("x").numbers, table.measures, table.states)
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts) + repr(sorted(table.causes.items())).encode()


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


def wait_until_ended(processes: Sequence[int], seconds: float = 5.0) -> bool:
    until = time.monotonic() + seconds
    while any(map(is_running, processes)):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def wait_for_work(place: Place, seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not place.told() and time.monotonic() < until:
        time.sleep(0.005)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    place = Place(tmp_path_factory.mktemp("undisturbed"))
    study(place, 0, {-1: ""})
    return exported(place)


def kill_and_resume(place: Place, workers: Any, victims: str, moment: float, undisturbed: bytes) -> None:
    """Kills the caller, a worker or the scheduler of a study at a moment [s], lets it go on, and looks at everything."""
    caller = forked(lambda: study(place, workers))
    time.sleep(moment)
    children = workers_of(caller)
    if victims == "caller":
        os.kill(caller, signal.SIGKILL)
        os.waitpid(caller, 0)
        assert wait_until_ended(children), "a worker has outlived its caller"
    else:
        for child in children[:1] if victims == "scheduler" else random.sample(children, min(len(children), 1)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(caller, 0)
        assert os.waitstatus_to_exitcode(status) in ((0,) if victims == "worker" else (0, 3))
    told, began = place.told(), len(place.computed())
    tally = study(place, 0, {-1: ""})
    assert told <= place.told()
    assert not told & set(place.computed()[began:]), "an item that was reported was computed again"
    assert tally.total == COUNT - len(place.told()) + tally.done
    assert exported(place) == undisturbed


def test_killed_at_five_moments_nothing_is_lost(tmp_path: Path, undisturbed: bytes) -> None:
    chance = random.Random(28)
    for k, victims in enumerate(("caller", "worker", "caller", "worker", "caller")):
        (folder := tmp_path / str(k)).mkdir()
        kill_and_resume(Place(folder), 2, victims, chance.uniform(0.05, 0.8), undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_killed_at_many_moments_nothing_is_lost(seed: int, tmp_path: Path, undisturbed: bytes) -> None:
    chance = random.Random(seed)
    for k, victims in enumerate(("caller", "worker") * 5):
        (folder := tmp_path / str(k)).mkdir()
        kill_and_resume(Place(folder), 2, victims, chance.uniform(0.0, 1.0), undisturbed)


def test_ctrl_c_ends_the_study_and_its_workers_and_it_resumes(tmp_path: Path, undisturbed: bytes) -> None:
    place = Place(tmp_path)
    caller = forked(lambda: study(place, 1))
    wait_for_work(place)
    children = workers_of(caller)
    os.kill(caller, signal.SIGINT)
    _, status = os.waitpid(caller, 0)
    assert os.waitstatus_to_exitcode(status) == 2 and 0 < len(place.told()) < COUNT
    assert children and not any(map(is_running, children))
    study(place, 0, {-1: ""})
    assert exported(place) == undisturbed


@pytest.mark.skipif(sys.platform != "linux", reason="the operating system ends such workers on Linux only")
def test_a_worker_in_the_midst_of_c_code_ends_with_its_caller(tmp_path: Path) -> None:
    place = Place(tmp_path)
    caller = forked(lambda: study(place, 1, {3: "spin"}))
    until = time.monotonic() + 20.0
    while 3 not in place.computed() and time.monotonic() < until:
        time.sleep(0.005)
    children = workers_of(caller)
    os.kill(caller, signal.SIGKILL)
    os.waitpid(caller, 0)
    assert children and wait_until_ended(children, 1.0)
