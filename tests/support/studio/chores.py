"""Work for the tests of worker processes: each function behaves well or badly in one way."""

from __future__ import annotations

import os
import signal
import time
import warnings
from typing import Any

from kinemorph.codegen.work_clock import at_work
from kinemorph.studio.tasks.work import Report

CHORES = {
    name: f"support.studio.chores:{name}"
    for name in ("add", "count", "sleep", "crash", "fail", "swallow", "grow", "leave", "compile")
}


def add(data: dict[str, Any], report: Report) -> Any:
    """Adds numbers; it warns, and sends one part before."""
    warnings.warn("a note", stacklevel=2)
    print("a printed line does no harm")
    report.part({"numbers": len(data["numbers"])}, bytes(data["numbers"]))
    return sum(data["numbers"])


def count(data: dict[str, Any], report: Report) -> Any:
    """Reports very often, for a given time [s], until it is cancelled."""
    until = time.perf_counter() + data["seconds"]
    while time.perf_counter() < until:
        report("counting", fraction=0.5)
        time.sleep(0.01)
    return "counted"


def sleep(data: dict[str, Any], report: Report) -> Any:
    """Works for a given time [s] and reports nothing."""
    time.sleep(data["seconds"])
    return "slept"


def crash(data: dict[str, Any], report: Report) -> Any:
    """Ends its own process by a signal, as a fault in compiled code does."""
    os.kill(os.getpid(), signal.SIGSEGV)


def fail(data: dict[str, Any], report: Report) -> Any:
    """Raises an exception that nobody expected."""
    raise ZeroDivisionError("by zero")


def swallow(data: dict[str, Any], report: Report) -> Any:
    """Asks for one array that is far beyond any ceiling."""
    import numpy as np

    return float(np.ones(1 << 40).sum())


def grow(data: dict[str, Any], report: Report) -> Any:
    """Takes more and more memory in small pieces."""
    kept = []
    while True:
        kept.append(bytearray(1 << 20))
        time.sleep(1e-4)


def leave(data: dict[str, Any], report: Report) -> Any:
    """The process id of the worker."""
    return os.getpid()


def compile(data: dict[str, Any], report: Report) -> Any:
    """Derives and compiles, as far as the clock of such work can tell, and then runs."""
    with at_work("deriving", "a function"):
        time.sleep(0.3)
        with at_work("compiling", "its code"):
            time.sleep(0.2)
    report.enter("run")
    time.sleep(0.2)
    return None
