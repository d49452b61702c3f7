"""One worker process: it imports ahead, waits for jobs, and reports five times a second while it works on one.

Frames of JSON arrive on stdin and leave on what was stdout; anything that is printed goes to stderr. The process ends
itself as soon as its stdin is closed, which happens when the server stops, and also when the server is killed.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Mapping
from typing import Any, BinaryIO

from kinemorph.codegen.work_clock import watched_by
from kinemorph.errors import KinemorphError
from kinemorph.studies.workers.child import opened_pipes
from kinemorph.studies.workers.frames import read_frame, write_frame
from kinemorph.studies.workers.memory import BEYOND_CEILING, bound_addresses, resident
from kinemorph.studio.tasks.work import Cancelled, Report, work_named
from kinemorph.studio.workers.user_python import load_python

EVERY = 0.15  # [s] between two reports, so that five arrive in every second
LONGEST = 4000  # characters of a message about an unexpected error


def beyond(ceiling: int) -> str:
    """The sentence for work that needs more memory than a worker may use."""
    return (
        f"The work was ended because it needs more than {ceiling / 2**20:,.0f} MiB of memory, the most that a worker "
        "may use. Store fewer samples, choose a smaller model, or start the studio with a higher limit."
    )


class Worker:
    """The state of this process: its pipes, its ceiling and the job that it works on."""

    def __init__(self, source: BinaryIO, target: BinaryIO, configuration: Mapping[str, Any]) -> None:
        self.source, self.target = source, target
        self.ceiling, self.work = int(configuration["memory"]), configuration["work"]
        self.report: Report | None = None  # of the present job
        self._jobs: list[dict[str, Any]] = []
        self._cancelled: set[int] = set()
        self._sending, self._asked = threading.Lock(), threading.Condition()

    def send(self, header: Mapping[str, Any], payload: bytes = b"") -> None:
        """Sends a frame; where the server has gone, the process ends."""
        try:
            with self._sending:
                write_frame(self.target, header, payload)
        except OSError:
            os._exit(0)

    def listen(self) -> None:
        """Reads frames in a thread of its own: queues jobs, cancels them, passes messages on to the present one.

        A closed pipe ends the process.
        """
        while (frame := read_frame(self.source)) is not None:
            with self._asked:
                if "cancel" in frame.header:
                    self._cancelled.add(frame.header["cancel"])
                    if self.report is not None and self.report.job in self._cancelled:
                        self.report.cancelled = True
                elif "tell" in frame.header:
                    if self.report is not None and self.report.job == frame.header["tell"]:
                        self.report.hear(frame.header["message"])
                else:
                    self._jobs.append(frame.header)
                    self._asked.notify()
        os._exit(0)

    def beat(self) -> None:
        """Reports in a thread of its own, and ends the process where it uses too much memory."""
        while True:
            time.sleep(EVERY)
            used, report = resident(), self.report
            if used > self.ceiling:
                os._exit(BEYOND_CEILING)
            if report is not None:
                self.send({"job": report.job, "progress": {**report.now(), "memory": used}})

    def serve(self) -> None:
        """Works on one job after the other, until the process ends."""
        while True:
            with self._asked:
                while not self._jobs:
                    self._asked.wait()
                ask = self._jobs.pop(0)
            answer = self._answer(ask)
            try:
                self.send(answer)
            except (TypeError, ValueError) as error:  # data that JSON cannot express
                failed = f"The result of '{ask['kind']}' cannot be sent: {error}."
                ended = {key: value for key, value in answer.items() if key not in ("done", "cancelled")}
                self.send({**ended, "failed": failed})

    def _answer(self, ask: Mapping[str, Any]) -> dict[str, Any]:
        """Does the work of a job; returns the frame that ends it."""
        report, noted = Report(ask["job"], self.send), []
        with self._asked:
            self.report, report.cancelled = report, report.job in self._cancelled
        try:
            with warnings.catch_warnings(record=True) as noted, watched_by(report.making):
                warnings.simplefilter("always")
                found = work_named(ask["kind"], self.work)(ask["data"], report)
            ending: dict[str, Any] = {"cancelled" if report.cancelled else "done": found}
        except Cancelled:
            ending = {"cancelled": None}
        except KinemorphError as error:
            ending = {"failed": str(error)}
        except MemoryError:
            ending = {"failed": beyond(self.ceiling)}
        except Exception as error:  # a mistake in this package: its place is said, and the worker goes on
            print(traceback.format_exc(), file=sys.stderr)
            ending = {"failed": f"The work ended with an unexpected {type(error).__name__}: {error}."[:LONGEST]}
        with self._asked:
            self.report = None
        said = list(dict.fromkeys(str(each.message) for each in noted))
        return {**ending, "job": report.job, "warnings": said, "progress": report.now(), "memory": resident()}


WARMING = """kinemorph = 1
name = "warming"
[bodies.rod]
mass = 1.0
com = [0.0, 0.0, -0.5]
inertia = [0.1, 0.1, 0.01]
[joints.hinge]
kind = "revolute"
parent = "world"
child = "rod"
axis = "y"
"""


def warm_up() -> None:
    """Imports what runs need, and carries out a short run, so that compilers and caches are ready."""
    try:
        from kinemorph.studio.tasks import run_result_tasks  # noqa: F401
        from kinemorph.studio.tasks.run_tasks import run

        with tempfile.TemporaryDirectory(prefix="kinemorph-") as place:
            files = {"path": f"{place}/warming.toml", "folder": place, "save": f"{place}/warming.npz"}
            run({"text": WARMING, "plan": {"time": 0.1}, **files}, Report(0, lambda header, payload: None))
    except Exception:  # such as a full disk: jobs will say so themselves
        traceback.print_exc()


def main() -> None:
    """Runs this process as a worker; its first frame is its configuration."""
    opened = opened_pipes()
    if opened is None:
        return
    source, target, configuration = opened
    worker = Worker(source, target, configuration)
    threading.Thread(target=worker.listen, name="listen", daemon=True).start()
    with contextlib.suppress(AttributeError, OSError):
        os.nice(configuration["nice"])  # clicks come before runs
    began = time.perf_counter()
    try:
        load_python(configuration["load"])
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)  # a plain end would wait for the thread that reads
    if configuration["warm"]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warm_up()
    bound_addresses(worker.ceiling)
    threading.Thread(target=worker.beat, name="beat", daemon=True).start()
    worker.send({"ready": round(time.perf_counter() - began, 3), "memory": resident()})
    worker.serve()
