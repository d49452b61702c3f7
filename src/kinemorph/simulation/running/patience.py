"""Watching a run while it proceeds: whether it diverges, and whether it takes too many steps, and why.

Many steps are taken because the system is stiff, or because its motion is fast and the run is long. Small deviations
from a motion follow d(ds)/dt = A ds, where A is the slope of the rate. A motion of A that decays by the rate k bounds
the steps of an explicit method to a few 1/k, also after it has decayed. Where steps are near this bound, the system is
stiff for this method: an implicit method takes longer steps. Where they are far below the bound, accuracy decides, and
an implicit method would need as many steps.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.compile import build
from kinemorph.errors import SlowRunWarning, users_level
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.integrators.methods import NOTES
from kinemorph.simulation.running.chatter import step_matrix
from kinemorph.simulation.stepping.failures import for_stiff, is_stiff, runs_away
from kinemorph.simulation.stepping.plant_stepper import ForeignMethod, PlantStepper

MANY = 1_000_000  # steps, after which a warning about the method is due
SOON = 300_000  # steps, after which a run may be found to be hopeless
HOPELESS = 100_000_000  # a stiff run that would take more steps to its end is ended
STIFF = "The system is stiff: motions that have decayed bound the steps of this method."
NEAR = 0.4  # of the stability bound: steps that are at least as long on average are bounded by stability
DECAYS = 0.5  # of the magnitude of an eigenvalue: a larger negative real part is a decay, not an oscillation
SHIFT = 1e-7  # of a state variable, or of 1 where it is smaller, for differences of the rate


class Patience:
    """Watches a run: ends one that diverges, that is too stiff for its method to reach the end, or whose gimbal locks.

    It warns once of a run with very many steps, and says whether the system is stiff.
    """

    def __init__(self, stepper: PlantStepper, start: float, until: float) -> None:
        self.stepper, self.start, self.until = stepper, start, until
        self.over = stepper.fixed or NOTES.get(stepper.method.name) is None
        self.due = SOON  # the number of steps at which the run is looked at next
        self._last, self._began = (start, 0), time.perf_counter()  # (time [s], accepted steps) of the last look
        self._close: tuple[float, int] | None = (
            None  # (time [s], steps) since which a gimbal is near its singular angle
        )

    def look(self) -> str | None:
        """The reason to end the run now, or None; to be called regularly during the run."""
        stepper, state = self.stepper, self.stepper.state
        fast = runs_away(stepper.plant, (*state[:3], stepper.p), stepper.h if stepper.fixed else None)
        accepted, rejected = stepper.counts
        steps = accepted + rejected
        if fast is None and not stepper.fixed and stepper.gimbals.gimbals:
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
        stiff = _is_bounded_by_stability(stepper, step)
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
        if not self.stepper.gimbals.is_close(q):
            self._close = None
        elif self._close is None:
            self._close = (t, steps)
        elif (steps - self._close[1]) * (self.until - self.start) > HOPELESS * (t - self._close[0]):
            return self.stepper.gimbals.near(t, q, self.stepper.p)
        return None


def _duration(seconds: float) -> str:
    """A time that is left, as text: "40 s", "3 min", "20 h", "12 days"."""
    for unit, size, most in (("s", 1.0, 120.0), ("min", 60.0, 7200.0), ("h", 3600.0, 172800.0)):
        if seconds < most:
            return f"{seconds / size:.2g} {unit}"
    return f"{seconds / 86400.0:.2g} days"


# ── stiffness ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _is_bounded_by_stability(stepper: PlantStepper, step: float) -> bool:
    """Whether steps of the mean size `step` [s] are near the stability bound of the stepper's method.

    The docstring of this file explains the bound. Only explicit methods have one.
    """
    bound = _stability_bound(stepper.method)
    return bound is not None and step * _fastest_decay(stepper) >= NEAR * bound


def _fastest_decay(stepper: PlantStepper) -> float:
    """The fastest rate [1/s] at which small deviations from the present state decay; 0 where none do."""
    A = _slope(stepper)
    if not np.isfinite(A).all():
        return 0.0
    values = np.linalg.eigvals(A)
    decaying = values[-values.real >= DECAYS * np.abs(values)]
    return float(np.abs(decaying).max(initial=0.0))


def _stability_bound(method: Method | ForeignMethod) -> float | None:
    """The largest h k for which steps of h [s] do not amplify a decay of the rate k [1/s]; None without a bound."""

    def growth(z: float) -> float:
        step = None if isinstance(method, ForeignMethod) else step_matrix(method, np.diag([0.0, -z]), 1.0)
        return -1.0 if step is None else float(np.abs(np.linalg.eigvals(step)).max())

    if growth(1.0) < 0.0:
        return None
    z = 0.0
    while growth(z + 0.1) <= 1.0 + 1e-9 and z < 100.0:
        z += 0.1
    return z


def _slope(stepper: PlantStepper) -> Array:
    """The derivative of ds/dt with respect to the state s, in local coordinates, shape (ns, ns), by central
    differences.
    """
    t, base, s, *others = stepper.inputs
    rate, s = build(stepper.plant.rate), np.array(s, dtype=float)
    A = np.zeros((len(s), len(s)))
    for k in range(len(s)):
        shift = np.zeros(len(s))
        shift[k] = SHIFT * max(1.0, abs(s[k]))
        sides = np.zeros((2, len(s)))
        for out, moved in zip(sides, (s + shift, s - shift), strict=True):
            rate.raw(out, np.array(float(t)), np.ascontiguousarray(base), moved, *others)
        A[:, k] = (sides[0] - sides[1]) / (2.0 * shift[k])
    return A
