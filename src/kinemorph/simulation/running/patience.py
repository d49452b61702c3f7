"""Watching a run while it proceeds: whether it diverges, and whether it takes too many steps, and why."""

from __future__ import annotations

import time
import warnings

from kinemorph.errors import SlowRunWarning, users_level
from kinemorph.simulation.integrators.methods import NOTES
from kinemorph.simulation.running.stiffness import is_bounded_by_stability
from kinemorph.simulation.stepping.failures import for_stiff, is_stiff, runs_away
from kinemorph.simulation.stepping.gimbal_lock import GimbalWatch
from kinemorph.simulation.stepping.plant_stepper import PlantStepper

MANY = 1_000_000  # steps, after which a warning about the method is due
SOON = 300_000  # steps, after which a run may be found to be hopeless
HOPELESS = 100_000_000  # a stiff run that would take more steps to its end is ended
STIFF = "The system is stiff: motions that have decayed bound the steps of this method."


class Patience:
    """Watches a run: ends one that diverges, that is too stiff for its method to reach the end, or whose gimbal locks.

    It warns once of a run with very many steps, and says whether the system is stiff.
    """

    def __init__(self, stepper: PlantStepper, start: float, until: float) -> None:
        self.stepper, self.start, self.until = stepper, start, until
        self.over = stepper.fixed or NOTES.get(stepper.method.name) is None
        self.due = SOON  # the number of steps at which the run is looked at next
        self._last, self._began = (start, 0), time.perf_counter()  # (time [s], accepted steps) of the last look
        self._gimbals = GimbalWatch(stepper.plant)
        self._close: tuple[float, int] | None = (
            None  # (time [s], steps) since which a gimbal is near its singular angle
        )

    def look(self) -> str | None:
        """The reason to end the run now, or None; to be called regularly during the run."""
        stepper, state = self.stepper, self.stepper.state
        fast = runs_away(stepper.plant, (*state[:3], stepper.p), stepper.h if stepper.fixed else None)
        accepted, rejected = stepper.counts
        steps = accepted + rejected
        if fast is None and not stepper.fixed:
            fast = self._locks(steps)
        if fast is not None or self.over:
            return fast
        if steps < self.due:
            self._last = (state.t, accepted) if steps < SOON // 2 else self._last
            return None
        self.due = 2 * steps
        done = max((state.t - self.start) / (self.until - self.start), 1e-12)
        hopeless = steps > HOPELESS * done
        if not hopeless and steps < MANY:
            return None
        plant, method = stepper.plant.name, stepper.method.name
        step = (state.t - self._last[0]) / max(accepted - self._last[1], 1)
        self._last = (state.t, accepted)
        stiff = is_bounded_by_stability(stepper, step)
        taken = f"'{plant}': {steps:,} steps of '{method}' for {done:.2%} of the run"
        if stiff and hopeless:
            return (
                f"{taken}: all of it would take {steps / done:.1g} steps. {STIFF} {for_stiff(method)} To continue "
                "nevertheless, give this run as `start`."
            )
        if is_stiff(method) and not hopeless:
            self.over = True
            return None
        if stiff:
            advice = f"{STIFF} method='radau' takes far fewer steps."
        else:
            left = _duration((time.perf_counter() - self._began) * (1.0 / done - 1.0))
            advice = (
                f"The motion is fast rather than stiff at t = {state.t:.4g} s: accuracy bounds the steps to {step:.2g} "
                f"s, and the rest of the run takes about {left} at this pace. The run continues. Looser tolerances "
                "(rtol=, atol=) or a shorter run take fewer steps; Ctrl-C ends the run and keeps its results."
            )
        warnings.warn(f"{taken}. {advice}", SlowRunWarning, stacklevel=users_level())
        self.over = not stiff or steps >= MANY
        return None

    def _locks(self, steps: int) -> str | None:
        """The reason to end a run whose steps dwindle because a gimbal comes to its singular angle, or None.

        Damping of its turns becomes infinitely stiff there, so that a method that chooses its steps never gets to the
        angle. The run ends where it would take more than HOPELESS steps at the pace since the gimbal came near it.
        """
        t, q, *_ = self.stepper.state
        if not self._gimbals.is_close(q):
            self._close = None
        elif self._close is None:
            self._close = (t, steps)
        elif (steps - self._close[1]) * (self.until - self.start) > HOPELESS * (t - self._close[0]):
            return self._gimbals.near(t, q, self.stepper.p)
        return None


def _duration(seconds: float) -> str:
    """A time that is left, as text: "40 s", "3 min", "20 h", "12 days"."""
    for unit, size, most in (("s", 1.0, 120.0), ("min", 60.0, 7200.0), ("h", 3600.0, 172800.0)):
        if seconds < most:
            return f"{seconds / size:.2g} {unit}"
    return f"{seconds / 86400.0:.2g} days"
