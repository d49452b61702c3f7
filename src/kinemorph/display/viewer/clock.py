"""The playback clock: it runs from the first time to the last, at a speed, once or repeatedly.

A thread shows the time that it is now, up to 60 times a second. Where showing takes longer, fewer times are shown; the
run never falls behind.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

FRAME = 1.0 / 60.0  # [s]
SCRUBBED = 0.25  # [s], time stands still so long after it was set from outside


class Clock:
    """`show` is called whenever playback has changed the time, `ended` when it comes to the end."""

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
        self.round = False  # begins again at the end
        self._show, self._ended, self._failed = show, ended, failed
        self._now = first
        self._playing = self._closed = False
        self._held_until = 0.0
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    @property
    def now(self) -> float:
        """[s]"""
        return self._now

    @property
    def playing(self) -> bool:
        return self._playing

    def play(self) -> None:
        """Continues playback; starts again where the end is reached."""
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
        """Sets the time [s], within the first and the last, and holds playback for `hold` [s]; returns the time."""
        with self._changed:
            self._now = min(max(now, self.first), self.last)
            self._held_until = time.perf_counter() + hold
            self._changed.notify()
            return self._now

    def close(self) -> None:
        """Ends the thread."""
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
            except Exception as error:  # a thread that dies in silence would look like a frozen page
                self._playing = False
                self._failed(error)

    def _play(self) -> None:
        """Shows time after time until it is paused or ends."""
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
