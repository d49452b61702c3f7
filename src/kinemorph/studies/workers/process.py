"""The main program of a worker process: it waits for functions, calls them, and sends back what they return.

Frames arrive on stdin and leave on what was stdout. The payload of a frame is pickled, which only ever happens between
a process and the workers that it has started. See `child` for how the process ends with its owner.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import threading
import time
from collections.abc import Mapping
from typing import Any, BinaryIO

from kinemorph.codegen.work_clock import watched_by
from kinemorph.errors import told
from kinemorph.studies.workers.child import opened_pipes
from kinemorph.studies.workers.frames import read_frame, write_frame
from kinemorph.studies.workers.memory import BEYOND_CEILING, bound_addresses, resident

EVERY = 0.1  # [s] between two looks at the memory in use


class Worker:
    """This process: its pipes and the calls that wait."""

    def __init__(self, source: BinaryIO, target: BinaryIO) -> None:
        self.source, self.target, self.process = source, target, os.getpid()
        self._calls: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._sending, self._is_making = threading.Lock(), False

    def send(self, header: Mapping[str, Any], payload: bytes = b"") -> None:
        """Sends a frame; where the owner has gone, the process ends, and so does a copy that an item has forked."""
        if os.getpid() != self.process:
            os._exit(0)
        try:
            with self._sending:
                write_frame(self.target, header, payload)
        except OSError:
            os._exit(0)

    def listen(self) -> None:
        """Reads calls in a thread of its own. A closed pipe ends the process."""
        while (frame := read_frame(self.source)) is not None:
            self._calls.put(frame.payload)
        os._exit(0)

    def making(self, doing: str, name: str) -> None:
        """Says when compilation begins and ends, because its time does not count as time of items."""
        if bool(doing) != self._is_making:
            self._is_making = bool(doing)
            self.send({"making": self._is_making})

    def serve(self) -> None:
        """Answers one call after the other, until the process ends."""
        while True:
            self._answer(self._calls.get())

    def _answer(self, call: bytes) -> None:
        try:
            function, args, kwargs = pickle.loads(call)
            result = function(*args, **kwargs)
            del function, args, kwargs
            self.send({"done": True}, pickle.dumps(result, protocol=5))
        except MemoryError:
            os._exit(BEYOND_CEILING)
        except BaseException as error:
            self.send({"failed": told(error)})


def watch_memory(ceiling: int) -> None:
    """Ends the process where it uses more memory [bytes] than its ceiling."""
    while resident() <= ceiling:
        time.sleep(EVERY)
    os._exit(BEYOND_CEILING)


def main() -> None:
    """Runs this process as a worker; its first frame is its configuration."""
    opened = opened_pipes()
    if opened is None:
        return
    source, target, configuration = opened
    worker = Worker(source, target)
    threading.Thread(target=worker.listen, name="listen", daemon=True).start()
    import kinemorph.studies.workers.work  # noqa: F401  (every call needs it)

    if configuration["memory"] is not None:
        bound_addresses(configuration["memory"])
        watch = threading.Thread(target=watch_memory, args=(configuration["memory"],), name="memory", daemon=True)
        watch.start()
    worker.send({"ready": True, "memory": resident()})
    with watched_by(worker.making) if configuration["seconds"] is not None else contextlib.nullcontext():
        worker.serve()
