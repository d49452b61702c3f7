"""What everything that runs until it is stopped has in common: servers, viewers and studios."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class UntilStopped(ABC):
    """A base class for objects that run until `stop`: a `with` block stops them, and `wait` keeps a script running."""

    @property
    @abstractmethod
    def running(self) -> bool:
        """Whether it is still running."""

    @abstractmethod
    def stop(self) -> None:
        """Stops it. It may be called more than once."""

    def wait(self) -> None:
        """Waits until it is stopped, by Ctrl-C here or by `stop` in another thread."""
        try:
            while self.running:  # takes no lock: Ctrl-C could leave it locked forever
                time.sleep(0.1)
        except KeyboardInterrupt:
            self.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()
