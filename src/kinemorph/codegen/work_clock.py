"""The time spent on deriving and compiling, and a progress line that shows it to a user who waits.

All code that traces, differentiates or compiles runs inside the context `at_work`. Each thread has a clock of the time
that it has spent there, so that this time is not counted as simulation. After two seconds a line on stderr names the
program that is being made and the time so far. The line is shown in terminals and notebooks only, is updated regularly
and is removed when the work ends; the environment variable KINEMORPH_PROGRESS=off switches it off.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator

VARIABLE = "KINEMORPH_PROGRESS"
OFF = ("off", "0")
PATIENCE = 2.0  # [s] of work after which the line appears
EVERY = 0.5  # [s] between two changes of the line
PAUSE = 0.2  # [s] without work after which the next work starts from zero

Report = Callable[[str], None]  # shows a line of text; "" removes it
Watch = Callable[[str, str], None]  # takes what begins, "deriving" or "compiling", and the name of the program


class _Clock(threading.local):
    """The work of one thread: how many contexts are open, since when, and the time in those that are closed [s]."""

    depth = 0
    began = 0.0
    total = 0.0


_CLOCK = _Clock()


def seconds_at_work() -> float:
    """The time [s] that this thread has spent on deriving and compiling since it was started."""
    return _CLOCK.total + (time.perf_counter() - _CLOCK.began if _CLOCK.depth else 0.0)


@contextlib.contextmanager
def at_work(doing: str, name: str) -> Iterator[None]:
    """A context whose time counts as work: `doing` is "deriving" or "compiling", `name` is the name of the program."""
    if not _CLOCK.depth:
        _CLOCK.began = time.perf_counter()
    _CLOCK.depth += 1
    line, watches = _LINE, _WATCHES
    work = line.enter(f"{doing} {name}") if line.can_be_seen() else None
    if watches is not None:
        watches.enter(doing, name)
    try:
        yield
    finally:
        if watches is not None:
            watches.leave(doing, name)
        if work and line is _LINE:  # else this is a process that was forked inside
            line.leave(work)
        _CLOCK.depth -= 1
        if not _CLOCK.depth:
            _CLOCK.total += time.perf_counter() - _CLOCK.began


@contextlib.contextmanager
def reported_by(report: Report) -> Iterator[None]:
    """A context in which `report(text)` shows the progress line, for programs that write to the terminal themselves."""
    before, _LINE.report = _LINE.report, report
    try:
        yield
    finally:
        _LINE.report = before


@contextlib.contextmanager
def watched_by(watch: Watch) -> Iterator[None]:
    """A context in which `watch(doing, name)` is called whenever work begins or ends, in any thread of this process.

    It names the work that is under way then, the newest where there are several; both texts are empty where there is
    none. Unlike the progress line, it is called without delay.
    """
    global _WATCHES
    before, _WATCHES = _WATCHES, _Watched(watch)
    try:
        yield
    finally:
        _WATCHES = before


class _Watched:
    """The works that are under way in a context `watched_by`, the newest last."""

    def __init__(self, watch: Watch) -> None:
        self._watch, self._works, self._changing = watch, [("", "")], threading.Lock()

    def enter(self, doing: str, name: str) -> None:
        """Records that work begins."""
        with self._changing:
            self._works.append((doing, name))
            self._watch(doing, name)

    def leave(self, doing: str, name: str) -> None:
        """Records that work has ended."""
        with self._changing:
            last = len(self._works) - 1 - self._works[::-1].index((doing, name))
            del self._works[last]
            self._watch(*self._works[-1])


_WATCHES: _Watched | None = None


class _Line:
    """The progress line, one for all threads: a thread of its own shows it while others are at work."""

    def __init__(self) -> None:
        self.report: Report | None = None
        self._changed = threading.Condition()
        self._works: list[list[str]] = []  # what is being made, the newest last
        self._began = self._ended = self._spent = 0.0  # [s]; _spent is the time of the works before this one
        self._shown = False
        self._ticking = False

    def can_be_seen(self) -> bool:
        """Whether anyone would see the progress line: it is not switched off, and there is a place to show it."""
        if os.environ.get(VARIABLE, "").lower() in OFF:
            return False
        return self.report is not None or _is_seen()

    def enter(self, name: str) -> list[str]:
        """Records that work begins, with the text to show; returns the record, which has to be passed to `leave`."""
        work = [name]
        with self._changed:
            if not self._works:
                self._began = time.perf_counter()
                if self._began - self._ended > PAUSE:
                    self._spent = 0.0
            self._works.append(work)
            if not self._ticking:
                self._ticking = True
                threading.Thread(target=self._tick, name="kinemorph work clock", daemon=True).start()
        return work

    def leave(self, work: list[str]) -> None:
        """Records that the work has ended; the line is removed before the caller can write anything else."""
        with self._changed:
            self._works = [other for other in self._works if other is not work]
            if not self._works:
                self._ended = time.perf_counter()
                self._spent += self._ended - self._began
                if self._shown:
                    self._show("")

    def _tick(self) -> None:
        """Shows the line at regular times, until no work is recorded."""
        with self._changed:
            while self._works or time.perf_counter() - self._ended < PAUSE:
                spent = self._spent + (time.perf_counter() - self._began if self._works else 0.0)
                if self._works and spent >= PATIENCE:
                    self._show(f"{spent:.0f} s so far, {self._works[-1][0]}")
                self._changed.wait(EVERY if spent >= PATIENCE else min(EVERY, PATIENCE - spent))
            self._ticking = False

    def _show(self, text: str) -> None:
        self._shown = bool(text)
        with contextlib.suppress(OSError, ValueError):  # a closed stderr is no reason to stop
            (self.report or _on_stderr)(text)


def _is_seen() -> bool:
    """Whether stderr is a terminal or the output of a notebook's cell."""
    stream = sys.stderr
    if type(stream).__module__.startswith("ipykernel"):
        return True
    try:
        return stream is not None and stream.isatty()
    except (AttributeError, ValueError):
        return False


def _on_stderr(text: str) -> None:
    """Writes text over the line where the cursor is, and leaves the cursor at its start."""
    width = min(shutil.get_terminal_size().columns, 100) - 1
    text = f"kinemorph: {text}" if text else ""
    text = text if len(text) <= width else f"{text[: width - 3]}..."
    sys.stderr.write(f"\r{text:{width}}\r")
    sys.stderr.flush()


_LINE = _Line()


def _start_again() -> None:
    """Resets the progress line in a forked process, which has no thread that shows it."""
    global _LINE
    _LINE = _Line()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_again)
