"""A job: work that was asked for, waits, is done by a worker, and ends with a result."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

State = Literal["waiting", "working", "done", "cancelled", "failed"]
OnProgress = Callable[[Mapping[str, Any]], None]
OnPart = Callable[[Mapping[str, Any], bytes], None]


@dataclass(frozen=True)
class Result:
    """How a job ended."""

    state: Literal["done", "cancelled", "failed"]
    data: Any = None  # what the work returned; where it was cancelled, the part before if it keeps one
    sentence: str = ""  # why it failed or was cancelled
    warnings: tuple[str, ...] = ()
    progress: Mapping[str, Any] | None = None  # the last progress, with the time [s] of each phase


class Job:
    """A job in a pool. Its functions are called in a thread of the pool, one after the other."""

    def __init__(
        self,
        number: int,
        kind: str,
        data: Mapping[str, Any],
        calls: tuple[OnProgress | None, Callable[[Result], None] | None, OnPart | None],
        cancel: Callable[[Job], None],
        tell: Callable[[Job, Mapping[str, Any]], None],
    ) -> None:
        self.number, self.kind, self.data, self.state = number, kind, data, "waiting"
        self.progress: Mapping[str, Any] = {}
        self.result: Result | None = None
        self.is_cancelled = False  # whether it was asked to end
        self._on_progress, self._on_result, self._on_part = calls
        self._cancel, self._tell, self._ended, self._once = cancel, tell, threading.Event(), threading.Lock()

    def cancel(self) -> None:
        """Ends the job within a second, in whatever phase it is; a run keeps its part before. Returns at once."""
        self._cancel(self)

    def tell(self, message: Mapping[str, Any]) -> None:
        """Sends a message, data that JSON can express, to work that listens to messages, see `Report.heard`."""
        self._tell(self, message)

    def wait(self, seconds: float | None = None) -> Result | None:
        """Waits until the job has ended, for `seconds` at most; returns its result, or None if it still works."""
        self._ended.wait(seconds)
        return self.result

    def note(self, progress: Mapping[str, Any]) -> None:
        """Takes in progress of the worker."""
        self.progress = progress
        _told(self._on_progress, progress)

    def take(self, header: Mapping[str, Any], payload: bytes) -> None:
        """Takes in a part of the result."""
        _told(self._on_part, header, payload)

    def end(self, result: Result) -> None:
        """Takes in the result; a job ends once, and later results are ignored."""
        with self._once:
            if self.result is not None:
                return
            self.result, self.state = result, result.state
        _told(self._on_result, result)
        self._ended.set()


def _told(function: Callable[..., None] | None, *values: Any) -> None:
    """Calls a function of the one who asked; where it fails, the pool goes on and a warning says so."""
    if function is None:
        return
    try:
        function(*values)
    except Exception as error:
        warnings.warn(f"a function that follows a job raised {type(error).__name__}: {error}", stacklevel=2)
