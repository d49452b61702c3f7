"""Real time: where a live run should be by the clock, how late it is, and the pace that it keeps.

A run that cannot keep up is not chased: where it stays more than LATE behind the clock, although it has computed for
CHASE, the time that is missing beyond LATE is given up and counted as lost. So a run that is too slow moves slower than
real time by a factor that it states, and never has more to catch up with than before. CHASE is for a computer that was
busy with something else for a moment: a run that is fast enough makes up for that.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

from kinemorph.errors import UnsupportedError
from kinemorph.simulation.stepping.step_options import check_positive

LATE = 0.05  # [s] of the clock by which a run may be late
CHASE = 0.25  # [s] of the clock for which a run tries to make up for a delay
SLOWEST, FASTEST = 1e-3, 100.0  # [s] of the run in 1 s of the clock
WINDOW = 1.0  # [s] of the clock over which the pace is measured

Clock = Callable[[], float]  # the present time [s] of a clock that never goes back


def check_speed(speed: float) -> None:
    """Raises UnsupportedError for a speed that is not a number in the range of live runs."""
    check_positive(speed=speed)
    if not SLOWEST <= speed <= FASTEST:
        raise UnsupportedError(f"speed is {speed:g}; expected {SLOWEST:g} to {FASTEST:g} s of the run in 1 s.")


class Pacer:
    """The relation of the time of a run to the clock. It runs from `begin` to `stop`."""

    def __init__(self, clock: Clock, speed: float = 1.0) -> None:
        """`speed` is the time [s] of the run that passes in 1 s of the clock."""
        check_speed(speed)
        self.clock, self.speed = clock, float(speed)
        self.elapsed = 0.0  # [s] of the clock during which the run was on, before the present start
        self.lost = 0.0  # [s] of the clock that were given up because the run was late
        self.lag = 0.0  # [s] of the clock by which the run was late when it was last looked at
        self._start: tuple[float, float] | None = None  # (clock, time of the run) that belong together
        self._began = 0.0  # when the run was started last, by the clock
        self._seen: deque[tuple[float, float]] = deque()  # (clock, time of the run) within the last WINDOW
        self._late_at = -math.inf  # when the run has given up time, by the clock
        self._late_since = math.inf  # since when it has been late, by the clock

    @property
    def runs(self) -> bool:
        """Whether the run is in step with the clock; else it is paused."""
        return self._start is not None

    def begin(self, t: float) -> None:
        """Lets the run, now at the time t [s], go on from here in step with the clock."""
        now = self.clock()
        if self._start is None:
            self._began = now
        self._start = (now, t)
        self._seen.clear()
        self._late_at, self._late_since = -math.inf, math.inf  # how late it was before says nothing of what follows

    def stop(self) -> None:
        """Pauses the run."""
        self.elapsed, self.lag, self._start = self.running_time(), 0.0, None

    def set_speed(self, speed: float, t: float) -> None:
        """Lets the run, now at the time t [s], go on with another speed."""
        check_speed(speed)
        self.speed = float(speed)
        if self._start is not None:
            self.begin(t)

    def running_time(self) -> float:
        """The time [s] of the clock during which the run was on."""
        return self.elapsed + (0.0 if self._start is None else self.clock() - self._began)

    def due(self) -> float:
        """The time [s] of the run that belongs to the present time of the clock."""
        if self._start is None:
            return -math.inf
        began, t = self._start
        return t + self.speed * (self.clock() - began)

    def look(self, t: float) -> None:
        """Measures how late the run is, which has reached the time t [s]; gives up what is missing beyond LATE."""
        if self._start is None:
            return
        now = self.clock()
        self.lag = max((self.due() - t) / self.speed, 0.0)
        self._seen.append((now, t))
        while len(self._seen) > 2 and now - self._seen[0][0] > WINDOW:
            self._seen.popleft()
        self._late_since = min(self._late_since, now) if self.lag > LATE else math.inf
        if self.late or now - self._late_since > CHASE:
            self._give_up(now, t)

    def _give_up(self, now: float, t: float) -> None:
        """Gives up the time that the run is late by more than LATE; it is at the time t [s], and the clock at `now`."""
        if self.lag > LATE:
            self.lost += self.lag - LATE
            self._start, self._late_at = (now, t + self.speed * LATE), now

    @property
    def late(self) -> bool:
        """Whether the run has given up time within the last WINDOW: it is slower than it should be."""
        return self._start is not None and self.clock() - self._late_at < WINDOW

    @property
    def factor(self) -> float:
        """The pace of the run within the last WINDOW, as a share of the speed that it should have: 1 in real time."""
        if len(self._seen) < 2:
            return 1.0
        (began, first), (now, last) = self._seen[0], self._seen[-1]
        return (last - first) / max((now - began) * self.speed, 1e-9)
