"""Studies whose processes are killed at random moments: nothing that was reported is lost (VALIDATION 13)."""

from __future__ import annotations

import os
import random
import signal
import sys
from pathlib import Path

import pytest

from support.studies.killed_studies import (
    COUNT,
    Place,
    exported,
    forked,
    is_running,
    kill_and_resume,
    study,
    wait_for,
    workers_of,
)

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    place = Place(tmp_path_factory.mktemp("undisturbed"))
    study(place, 0, {-1: ""})
    return exported(place)


def test_killed_at_five_moments_nothing_is_lost(tmp_path: Path, undisturbed: bytes) -> None:
    chance = random.Random(28)
    for k, victims in enumerate(("caller", "worker", "caller", "worker", "caller")):
        (folder := tmp_path / str(k)).mkdir()
        workers = 1 if victims == "caller" else 2
        kill_and_resume(Place(folder), workers, victims, chance.uniform(0.05, 0.8), undisturbed)


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
    wait_for(place.told)
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
    wait_for(lambda: 3 in place.computed())
    children = workers_of(caller)
    os.kill(caller, signal.SIGKILL)
    os.waitpid(caller, 0)
    assert children and wait_for(lambda: not any(map(is_running, children)), 1.0)
