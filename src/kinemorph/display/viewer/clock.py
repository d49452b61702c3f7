"""The playback clock: it runs from the first time of a run to the last, at a speed, once or repeatedly.

It is computed when it is read, so it needs no thread. Pages play by themselves, and get its time when it is set.
"""

from __future__ import annotations

import time


class Clock:
    """A clock from time `first` to `last` [s]; `loop` says whether playback starts again at the end."""

    def __init__(self, first: float, last: float) -> None:
        self.first, self.last = first, last
        self._speed, self._loop = 1.0, False
        self._time, self._since = first, 0.0  # the time of the run [s] at a moment of the wall clock [s]
        self._playing = False

    @property
    def now(self) -> float:
        """The current time [s]."""
        return self._at(time.perf_counter())[0]

    @property
    def playing(self) -> bool:
        """Whether the clock is running."""
        return self._at(time.perf_counter())[1]

    def _at(self, wall: float) -> tuple[float, bool]:
        """(time of the run [s], whether it is being played) at a moment of the wall clock [s]."""
        if not self._playing:
            return self._time, False
        now = self._time + self._speed * (wall - self._since)
        if self._loop:
            return self.first + (now - self.first) % (self.last - self.first), True
        if now >= self.last and self._speed > 0.0:
            return self.last, False
        if now <= self.first and self._speed < 0.0:
            return self.first, False
        return now, True

    @property
    def speed(self) -> float:
        """Simulated time over real time; negative speeds play backward."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        self._hold()
        self._speed = speed

    @property
    def loop(self) -> bool:
        """Whether playback starts again at the end."""
        return self._loop

    @loop.setter
    def loop(self, on: bool) -> None:
        self._hold()
        self._loop = on

    def play(self) -> None:
        """Continues playback; at the end of the run it starts again."""
        if self.last <= self.first:
            return
        self._hold()
        if self._time == (self.last if self._speed > 0.0 else self.first):
            self._time = self.first if self._speed > 0.0 else self.last
        self._playing = True

    def pause(self) -> None:
        """Pauses playback."""
        self._hold()
        self._playing = False

    def set(self, now: float) -> None:
        """Sets the time [s], limited to the run; playback continues from there."""
        self._hold()
        self._time = min(max(now, self.first), self.last)

    def _hold(self) -> None:
        """Makes the present moment the one from which the time is computed."""
        wall = time.perf_counter()
        self._time, self._playing = self._at(wall)
        self._since = wall
