"""The progress of a study: how many items have results so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias


class Tally(NamedTuple):
    """The progress of a study after a commit; all results that it counts are in the store.

    `total`             items to compute
    `done`, `failed`    items with measures, and those that failed
    `lost_chunks`       chunks that were in flight when a worker died, was ended, or broke
    `again`             items of these chunks, which are computed again
    `seconds`           the time since the start [s]
    `is_interrupted`    whether Ctrl-C has ended the study
    `warnings`          the sentences of warnings in the workers, each once
    `what`              what is counted: "items", or "runs to be kept", which are computed again
    """

    total: int
    done: int = 0
    failed: int = 0
    lost_chunks: int = 0
    again: int = 0
    seconds: float = 0.0
    is_interrupted: bool = False
    warnings: tuple[str, ...] = ()
    what: str = "items"

    @property
    def finished(self) -> int:
        """The number of items that have a result."""
        return self.done + self.failed

    @property
    def rate(self) -> float:
        """Items per second."""
        return self.finished / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float:
        """An estimate of the time that is left [s]; inf as long as nothing is known."""
        left = self.total - self.finished
        return 0.0 if not left else left / self.rate if self.finished else float("inf")


Progress: TypeAlias = Callable[[Tally], None]  # is called after results were stored
