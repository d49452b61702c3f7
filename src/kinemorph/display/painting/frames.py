"""Frames that are painted when they are asked for, so that a long film never lies in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

Progress = Callable[[int, int], None]  # (frames done, frames in all)


@dataclass(frozen=True)
class Frames:
    """`count` frames: `paint(k)` makes number k, `progress` is told after each that is taken in turn."""

    paint: Callable[[int], Image]
    count: int
    progress: Progress | None = None

    def __iter__(self) -> Iterator[Image]:
        for number in range(self.count):
            yield self.paint(number)
            if self.progress:
                self.progress(number + 1, self.count)
