"""A real Dask cluster on this machine: a scheduler and worker processes that come, work, are lost, and go."""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kinemorph.errors import KinemorphError, MissingExtraError, UnsupportedError
from kinemorph.studies.dispatch.carry_out import carry_out
from kinemorph.studies.dispatch.tally import Tally
from kinemorph.studies.workers.open_workers import open_workers
from support.studies.killed_studies import (
    COUNT,
    Place,
    exported,
    is_running,
    kill_and_resume,
    study,
    wait_for,
    workers_of,
)
from support.studies.small_study import MemoryStore, Squares, numbered_items


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"kinemorph\[cluster\]"), open_workers("dask"):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "tcp://no.such.host:8786", "tcp://127.0.0.1", "http://x:1"])
def test_an_address_that_nobody_answers_is_told_within_seconds(address: str) -> None:
    pytest.importorskip("distributed")
    began = time.monotonic()
    with pytest.raises(UnsupportedError, match=f"no Dask scheduler answers at '{address}'"), open_workers(address):
        pass
    assert time.monotonic() - began < 8.0


class Cluster:
    """A scheduler and workers, started by the commands of Dask."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        options = ("--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
        self.scheduler = self._start("scheduler", *options)
        self.workers: list[subprocess.Popen[bytes]] = []

    def _start(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *options]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with open(self.folder / f"{what}.log", "a") as log:
            return subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=self.folder)

    def add_worker(self) -> None:
        """Starts one more worker process with its nanny."""
        self.workers.append(self._start("worker", self.address, "--nthreads", "1", "--no-dashboard"))

    def wait_for_workers(self) -> None:
        """Waits until the scheduler answers and has its workers."""
        from distributed import Client

        with Client(self.address, timeout=30.0) as client:
            client.wait_for_workers(len(self.workers), timeout=30.0)

    def end(self) -> None:
        """Ends everything that is left."""
        for process in (*self.workers, self.scheduler):
            left = workers_of(process.pid)
            process.kill()
            process.wait()
            wait_for(lambda: not any(map(is_running, left)), 10.0)  # noqa: B023


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    pytest.importorskip("distributed")
    made = Cluster(tmp_path)
    for _ in range(3):
        made.add_worker()
    yield made
    made.end()


@pytest.mark.slow
def test_a_cluster_of_three_workers_loses_one_gets_another_and_finishes(cluster: Cluster) -> None:
    store, (numbers, items) = MemoryStore(), numbered_items(3000)
    happened: list[str] = []

    def watch(tally: Tally) -> None:
        """Kills a worker and its nanny at a third of the work, and adds one at half of it."""
        if tally.finished > 1000 and not happened:
            happened.append("lost")
            gone = cluster.workers[0]
            for process in (*workers_of(gone.pid), gone.pid):
                os.kill(process, signal.SIGKILL)
        if tally.finished > 1500 and len(happened) == 1:
            happened.append("added")
            cluster.add_worker()

    cluster.wait_for_workers()
    with open_workers(cluster.address) as crew:
        assert crew.count == 3
        tally = carry_out(Squares({-1: "pause", 637: "kill"}), store, numbers, items, crew, progress=watch)
    assert happened == ["lost", "added"]
    assert store.causes == {637: "It killed its worker (signal SIGKILL) each of the 3 times it was tried alone."}
    assert tally.done == 2999 and store.squares == {k: float(k * k) for k in range(3000) if k != 637}


@pytest.mark.slow
def test_a_cluster_of_our_own_keeps_limits_and_can_be_reached_from_this_machine_only() -> None:
    pytest.importorskip("distributed")
    store, (numbers, items) = MemoryStore(), numbered_items(500)
    with open_workers("dask", seconds=1.0, memory=128 << 20) as crew:
        crew_: Any = crew
        assert re.fullmatch(r"tcp://127\.0\.0\.1:\d+", crew_.address)
        process = crew_._cluster._child.process.pid
        everything = [process, *workers_of(process)]
        listening = subprocess.run(["ss", "-ltnpH"], capture_output=True, text=True).stdout
        for line in listening.splitlines():
            if any(f"pid={one}," in line for one in everything):
                assert line.split()[3].startswith("127.0.0.1:"), line
        carry_out(Squares({4: "sleep", 9: "memory"}), store, numbers, items, crew)
        everything += workers_of(process)
    assert store.causes == {
        4: "It took longer than 1 s, the limit for one item.",
        9: "It needed more memory than 128 MiB, the limit for a worker.",
    }
    assert len(store.squares) == 498 and not any(map(is_running, everything))


@pytest.mark.slow
def test_a_scheduler_that_is_killed_ends_the_study_with_a_sentence(cluster: Cluster, tmp_path: Path) -> None:
    place = Place(tmp_path)
    cluster.wait_for_workers()

    def kill() -> None:
        wait_for(place.told)
        cluster.scheduler.kill()

    thread = threading.Thread(target=kill)
    thread.start()
    with pytest.raises(KinemorphError, match=r"does not answer any more.*goes on from there"):
        study(place, cluster.address, {119: "sleep"})
    thread.join()
    told, began = place.told(), len(place.computed())
    assert 0 < len(told) < COUNT
    study(place, 0)
    assert len(place.told()) == COUNT and not told & set(place.computed()[began:])


@pytest.mark.slow
@pytest.mark.parametrize("victims", ["caller", "worker", "scheduler"])
@pytest.mark.parametrize("seed", range(20))
def test_dask_killed_at_random_moments_nothing_is_lost(victims: str, seed: int, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    chance = random.Random(seed)
    (whole := tmp_path / "whole").mkdir()
    study(Place(whole), 0, {-1: ""})
    (killed := tmp_path / "killed").mkdir()
    kill_and_resume(Place(killed), "dask", victims, chance.uniform(1.0, 9.0), exported(Place(whole)))
