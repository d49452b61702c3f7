"""The playback clock: it runs from the first time of a run to the last, at a speed, once or repeatedly.

A thread shows the current time up to 60 times a second. Where showing takes longer, times are skipped, so that playback
never lags behind.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

FRAME = 1.0 / 60.0  # time between frames [s]
SCRUBBED = 0.25  # pause of playback after a user has set the time [s]


class Clock:
    """A clock from time `first` to `last` [s], driven by a thread.

    `show` is called whenever playback has changed the time, `ended` when it reaches the end, and `failed` with the
    error where `show` or `ended` raises one.
    """

    def __init__(
        self,
        first: float,
        last: float,
        show: Callable[[], None],
        ended: Callable[[], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        self.first, self.last = first, last
        self.speed = 1.0
        self.round = False  # whether playback starts again at the end
        self._show, self._ended, self._failed = show, ended, failed
        self._now = first
        self._playing = self._closed = False
        self._held_until = 0.0
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    @property
    def now(self) -> float:
        """The current time [s]."""
        return self._now

    @property
    def playing(self) -> bool:
        """Whether the clock is running."""
        return self._playing

    def play(self) -> None:
        """Continues playback; at the end of the run it starts again."""
        if self.last <= self.first:
            return
        with self._changed:
            if self._closed:
                return
            if (self.speed > 0.0 and self._now >= self.last) or (self.speed < 0.0 and self._now <= self.first):
                self._now = self.first if self.speed > 0.0 else self.last
            self._playing = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="kinemorph clock", daemon=True)
                self._thread.start()
            self._changed.notify()

    def pause(self) -> None:
        """Pauses playback."""
        with self._changed:
            self._playing = False
            self._changed.notify()

    def set(self, now: float, *, hold: float = 0.0) -> float:
        """Sets the time [s], limited to the run, and stops playback for `hold` [s]; returns the time."""
        with self._changed:
            self._now = min(max(now, self.first), self.last)
            self._held_until = time.perf_counter() + hold
            self._changed.notify()
            return self._now

    def close(self) -> None:
        """Stops playback and ends the thread."""
        with self._changed:
            self._closed, self._playing = True, False
            self._changed.notify()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=2.0)

    def _run(self) -> None:
        while not self._closed:
            with self._changed:
                while not self._playing and not self._closed:
                    self._changed.wait()
            try:
                self._play()
            except Exception as error:  # a thread that ends without a message would look like a frozen page
                self._playing = False
                self._failed(error)

    def _play(self) -> None:
        """Advances and shows the time until playback is paused or reaches the end."""
        before = time.perf_counter()
        while self._playing:
            with self._changed:
                self._changed.wait(timeout=max(0.0, FRAME - (time.perf_counter() - before)))
                wall = time.perf_counter()
                passed, before = wall - before, wall
                if not self._playing:
                    return
                if wall < self._held_until:
                    continue
                now = self._now + self.speed * passed
                over = now > self.last if self.speed > 0.0 else now < self.first
                if over and self.round:
                    now = self.first + (now - self.first) % (self.last - self.first)
                    over = False
                self._now = min(max(now, self.first), self.last)
                self._playing = not over
            self._show()
            if over:
                self._ended()
