"""A worker that is killed in any phase of its work gives a sentence, and the next job works."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from kinemorph.studio.workers.pool import Pool
from support.studio.chores import CHORES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    found = Pool(2, warm=False, work=CHORES)
    assert found.wait_until_warm()
    yield found
    found.stop()


@pytest.mark.filterwarnings("ignore:a note")
@pytest.mark.parametrize("phase", ["derive", "compile", "run"])
def test_a_worker_that_is_killed_in_a_phase(pool: Pool, phase: str) -> None:
    """The work tells its phases; in the one that is meant, its process is ended by the operating system."""
    assert pool.wait_until_warm()
    killed: list[int] = []

    def kill(progress: dict[str, Any]) -> None:
        if progress["phase"] == phase and not killed:
            killed.extend(pool.processes)
            for process in killed:
                os.kill(process, signal.SIGKILL)

    job = pool.submit("compile", {}, on_progress=kill)
    result = job.wait(30.0)
    assert killed and result is not None and result.state == "failed"
    assert f"has ended unexpectedly (SIGKILL, phase '{phase}')" in result.sentence
    assert "start the work again" in result.sentence
    until = time.monotonic() + 30.0
    while set(killed) & set(pool.processes):
        assert time.monotonic() < until, "processes that were killed are still in the pool"
        time.sleep(0.02)
    assert pool.ask("add", {"numbers": [1]}, 30.0) == 1
