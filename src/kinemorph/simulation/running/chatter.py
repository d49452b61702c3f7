"""Whether an explicit step was too large for stiff forces, and how small it has to be.

Beyond its stability limit an explicit method does not fail at contacts: the ground pushes a foot out in one step and
releases it in the next. All numbers are finite, and all of them are wrong. So the limit is computed at states of the
run: the stiff forces there are linearized (mechanics.steps.frozen_stiffness), which gives a linear motion that decays,
and one step of the method multiplies its state by a matrix. Where the largest eigenvalue of this matrix is above 1,
errors grow.

A force that saturates, as dry friction does, bounds these errors, and a motion that only passes such a state hardly
feels them. So a few steps are taken from there, once of the size of the run and once of a stable size, and only a
difference of velocities that matters in this run is reported.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array, evenly
from kinemorph.errors import ChatterWarning, StepError, users_level
from kinemorph.mechanics.steps.frozen_stiffness import Frozen, frozen
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.pair_contacts import PairContact
from kinemorph.plants.instant import Instant
from kinemorph.plants.user_laws import Law
from kinemorph.simulation.integrators.explicit import ExplicitRungeKutta
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.integrators.rosenbrock import Rosenbrock
from kinemorph.simulation.integrators.symplectic import Partitioned
from kinemorph.simulation.results.segment import Segment
from kinemorph.simulation.stepping.failures import SENSELESS, SHORTER
from kinemorph.simulation.stepping.plant_stepper import ForeignMethod
from kinemorph.simulation.stepping.step_options import StepOptions
from kinemorph.simulation.stepping.stepper import Stepper
from kinemorph.words import quoted

GROWTH = 1.05  # per step: errors that grow faster, twice as large after 14 steps, are instability
MOST_STATES = 32  # states of a run that are checked
STEPS = 8  # steps of the run that are taken again from a state, and as much time with stable steps
SHARE = 0.02  # of the largest speed of a joint in the run: a smaller difference of velocities does not matter
KINKED = 0.1  # the same, where steps of a linearly implicit method are compared with shorter ones
FEW_STATES = 8  # states of a run at which this is done
FINER = 4.0  # the stable steps are this much shorter than the largest stable ones
MOST_STEPS = 20_000  # of the stable size


@dataclass(frozen=True)
class Felt:
    """What a step that is too large does to a run: a velocity some steps after one state, and with stable steps."""

    after: float  # [s]
    name: str  # of the velocity
    unit: str
    value: float
    stable: float


Feels = Callable[[int, float], Felt | None]  # (index of a state, largest stable step [s]) -> what the run feels


@dataclass(frozen=True)
class Chatter:
    """A step size that was too large: the time at which this was first found, and the largest stable step size."""

    t: float  # [s]
    name: str  # the force that is too stiff
    method: str
    step: float  # [s]
    growth: float  # factor by which errors grow in a step
    limit: float  # [s] the largest step that is stable at all states that were checked
    felt: Felt | None = None  # what it does to the run; None where this was not computed

    def __str__(self) -> str:
        seen = ""
        if self.felt is not None:
            seen = (
                f": {self.felt.after:.2g} s later v '{self.felt.name}' is {self.felt.value:.3g} {self.felt.unit}, and "
                f"{self.felt.stable:.3g} {self.felt.unit} with stable steps"
            )
        return (
            f"'{self.name}' at t = {self.t:.6g} s is too stiff for steps of {self.step:.3g} s of '{self.method}': "
            f"small errors grow by a factor of {self.growth:.3g} per step, and the motion is not accurate there{seen}. "
            f"Take steps of at most {self.limit:.2g} s, or method='implicit_contact'."
        )


def find_chatter(
    method: Method, step: float, times: Array, at: Callable[[int], Frozen], feels: Feels | None = None
) -> Chatter | None:
    """The first of the `times` [s], shape (n,), at which the step size of a run was too large; None where it never was.

    `at(k)` gives the linearized robot at times[k]. `feels(k, limit)` says what the step size does to the run from there
    on, or None where this does not matter; without it, all states count. If there are many times, a few of them are
    checked, evenly spaced. Only explicit methods have a stability limit; for others the result is None.
    """
    if step_matrix(method, np.zeros((2, 2)), step) is None:
        return None
    found, limit = None, step
    for k in evenly(len(times), MOST_STATES):
        stiff = at(int(k))
        growth, motion = largest_growth(method, stiff, limit)
        if growth > GROWTH:
            stable = stable_step(method, stiff, limit)
            felt = feels(int(k), stable) if feels and found is None else None
            if feels and found is None and felt is None:
                continue
            if found is None:
                found = Chatter(float(times[k]), stiff.stiffest(motion), method.name, step, growth, limit, felt)
            limit = stable
    return found and replace(found, limit=limit)


def warn_of_chatter(
    segments: Sequence[Segment], method: Method | ForeignMethod, options: StepOptions, *, failed: bool
) -> bool:
    """Warns if the fixed step size of a run was too large for its stiff forces; returns whether it warned. If the run
    `failed`, it advises the step that the outcome does, unless that is still too large.
    """
    if options.step is None or isinstance(method, ForeignMethod):
        return False
    step = float(options.step)
    for segment in segments:
        law = segment.plant.laws.stiff
        if law is None or not np.isfinite(segment.v).all():  # the outcome of the run reports states that are not finite
            continue

        def at(k: int, segment: Segment = segment, law: Law = law) -> Frozen:
            groups = (segment.q, segment.v, segment.x, segment.m, segment.u)
            q, v, x, m, u = (group[k].tolist() for group in groups)
            tree, stiff = law(Instant(float(segment.t[k]), q, v, x, m, u, segment.p.tolist()))
            return frozen(tree, q, v, stiff, step)

        found = find_chatter(method, step, segment.t, at, _feels(segment, options))
        if found is not None:
            found = replace(found, limit=min(found.limit, step / SHORTER)) if failed else found
            warnings.warn(str(found), ChatterWarning, stacklevel=users_level())
            return True
    return False


def warn_of_kinks(segments: Sequence[Segment], method: Method | ForeignMethod, options: StepOptions) -> bool:
    """Warns if steps of a linearly implicit method were too large for contacts; returns whether it warned.

    Such a step takes the forces of contacts as they are at its start, and their derivatives there: it does not see that
    bodies meet or part within it. Its steps are stable, so a few of them are taken again, and compared with short ones.
    """
    step = float(options.step or 0.0)
    for segment in segments if step and isinstance(method, Rosenbrock) else ():
        feels = _feels(segment, options, KINKED) if segment.plant.touches else None
        if feels is None or not np.isfinite(segment.v).all():
            continue
        for k in evenly(len(segment.t), FEW_STATES):
            felt = feels(int(k), step)
            if felt is None:
                continue
            names = quoted([one.name for one in segment.plant.elements if isinstance(one, (Contact, PairContact))])
            warnings.warn(
                f"steps of {step:.3g} s of '{method.name}' are too large for the contacts of '{segment.plant.name}' "
                f"({names}): {felt.after:.2g} s after t = {segment.t[k]:.6g} s v '{felt.name}' is {felt.value:.3g} "
                f"{felt.unit}, and {felt.stable:.3g} {felt.unit} with steps of {step / FINER:.2g} s. Take "
                f"method='implicit_contact' (--method implicit_contact), or smaller steps.",
                ChatterWarning,
                stacklevel=users_level(),
            )
            return True
    return False


def _feels(segment: Segment, options: StepOptions, share: float = SHARE) -> Feels | None:
    """The `feels` of `find_chatter` for a segment of a run; None for a run that diverges.

    `share` of the largest speed of a joint is the smallest difference of velocities that matters. The result is None
    too where controllers in Python would be called again.
    """
    largest = np.abs(segment.v).max(axis=0)
    if not all(tick.compiled for tick in segment.plant.ticks) or (largest > SENSELESS).any():
        return None
    made: list[Stepper] = []
    step = float(options.step or 0.0)

    def velocities(k: int, size: float, until: float) -> Array:
        if not made:
            made.append(Stepper.made(segment.plant, options))
        stepper = made[0]
        groups = {name: getattr(segment, name)[k] for name in "qvxum"}
        stepper.begin(float(segment.t[k]), **groups, p=segment.p, tick=False)
        stepper.h = size
        try:
            return stepper.advance(until).v
        except StepError:
            return np.full(segment.plant.nv, np.nan)

    def feels(k: int, limit: float) -> Felt | None:
        after = STEPS * step
        finer = max(limit / FINER, after / MOST_STEPS)
        rough, smooth = (velocities(k, size, float(segment.t[k]) + after) for size in (step, finer))
        off = np.abs(rough - smooth) / np.maximum(largest, 1e-300)
        worst = int(np.argmax(np.where(np.isfinite(off), off, np.inf)))
        if off[worst] <= share:
            return None
        column = segment.plant.v[worst]
        return Felt(after, column.name, column.unit, float(rough[worst]), float(smooth[worst]))

    return feels


def largest_growth(method: Method, stiff: Frozen, h: float) -> tuple[float, Array]:
    """(the largest factor by which a motion of the linearized robot grows in a step of h [s], that motion (2 nv,)).

    A motion is [w, v], displacements (nv,) and velocities (nv,).

    The factor is 1 where the method has no stability limit.
    """
    step = step_matrix(method, stiff.system(), h)
    if step is None:
        return 1.0, np.zeros(2 * len(stiff.M))
    values, vectors = np.linalg.eig(step)
    worst = int(np.argmax(np.abs(values)))
    return float(abs(values[worst])), vectors[:, worst]


def stable_step(method: Method, stiff: Frozen, h: float) -> float:
    """The largest step size below h [s], to 1 %, at which no motion grows by more than the factor GROWTH per step."""
    low, high = 0.0, h
    while high - low > 0.01 * high and high > 1e-12:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if largest_growth(method, stiff, middle)[0] <= GROWTH else (low, middle)
    return low


def step_matrix(method: Method, A: Array, h: float) -> Array | None:
    """The matrix (2 nv, 2 nv) by which one step of h [s] multiplies y = [w, v], displacements and velocities.

    The motion is dy/dt = A y. The result is None if the method is implicit.
    """
    if isinstance(method, ExplicitRungeKutta):
        return _runge_kutta(method, h * A)
    if isinstance(method, Partitioned):
        return _partitioned(method, h * A)
    return None


def _runge_kutta(method: ExplicitRungeKutta, A: Array) -> Array:
    one: Array = np.eye(len(A))
    slopes: list[Array] = []
    for row in method.tableau.a:
        slopes.append(A @ (one + sum((a * K for a, K in zip(row, slopes, strict=True)), 0.0 * one)))
    return one + sum((b * K for b, K in zip(method.tableau.b, slopes, strict=True)), 0.0 * one)


def _partitioned(method: Partitioned, A: Array) -> Array:
    n = len(A) // 2
    whole: Array = np.eye(2 * n)
    upper, lower = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, 2 * n))
    upper[:n], lower[n:] = A[:n], A[n:]
    for kind, share in method.parts:
        part: Any = share * (upper if kind == "drift" else lower)
        # an implicit kick is solved by iterations, which converge only where each of them reduces the error
        whole = np.linalg.solve(np.eye(2 * n) - part, whole) if kind == "implicit" else whole + part @ whole
    return whole
