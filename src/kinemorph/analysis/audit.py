"""An audit of a run: whether its samples obey the conservation laws of the motion.

    energy balance          kinetic + potential - supplied + dissipated energy is constant
    momentum                a floating robot's linear momentum grows by m g t; its angular momentum about the center of
                            mass is constant, and so is the component along gravity of the one about the
                            world's origin
    momentum of a joint     the momentum (M v)_k of a tree's first joint is constant where no force acts along it
    changes of the system   robots that dock or undock in the air keep their total linear and angular momentum
    quaternions, loops      quaternions keep length 1, loops stay closed

Each error is relative to the energy or momentum that is exchanged in the run, and judged by what the run's method and
its settings promise (`method_tolerance`). A check that does not apply is skipped, with the reason.
Samples between two resets are checked separately: an impact may change energy and momentum. Where the system changes
during a run, each system is checked by the laws that apply to it, and the worst error counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.conserved_momenta import Conserved, Ledger, conserved, floats, momentum_leap
from kinemorph.analysis.verification.verdict import Check, Judged, check_parts, judged
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.sheet import Note, Sheet
from kinemorph.simulation.integrators.methods import METHODS
from kinemorph.simulation.results.trajectory import Segment, Trajectory

UNIT_LENGTH = 1e-12  # largest error of a quaternion's length
CLOSED = 1e-6  # [m or rad], largest gap of a loop
LEAST, MOST = 1e-6, 1e-2  # the relative tolerance of energy and momentum is never outside of these


@dataclass(frozen=True)
class Audit(Judged):
    """The checks of one run, made by `audit`. As a bool it is True where no check failed.

    `basis` is a sentence that says where the tolerance of energy and momentum comes from.
    """

    name: str
    checks: tuple[Check, ...]
    basis: str = ""

    def sheet(self) -> Sheet:
        """The tolerance by which energy and momentum are judged, one row per check, and how many of them passed."""
        parts = (Note(self.basis, "note", "basis"), *check_parts(self.checks))
        return Sheet("Audit of", self.name, parts, "run")


def method_tolerance(trajectory: Trajectory) -> tuple[float, str]:
    """The relative tolerance of energy and momentum by which a run is judged, and a sentence that says why.

    A method that chooses its steps promises an error of rtol in each; the errors of all steps add up. A fixed step h of
    a method of order p is judged by (h w)^p, where w = max |a| / max |v| is the rate at which the motion changes. The
    tolerance is at least LEAST and at most MOST.
    """
    done, settings = trajectory.statistics, trajectory.settings
    step, rtol, order = settings.get("step"), settings.get("rtol"), getattr(METHODS.get(done.method), "order", None)
    if isinstance(step, float) and order is not None:
        speed = max((float(np.abs(segment.v).max(initial=0.0)) for segment in trajectory.segments), default=0.0)
        change = max((float(np.abs(segment.a).max(initial=0.0)) for segment in trajectory.segments), default=0.0)
        ratio = step * change / speed if speed > 0.0 else 0.0
        tolerance = min(max(ratio**order, LEAST), MOST) if ratio < 1.0 else MOST
        why = f"a step of {step:g} s, of order {order}, in a motion that changes at a rate of {ratio / step:.3g} 1/s"
    elif isinstance(rtol, float) and step is None:
        tolerance = min(max(rtol * done.accepted, LEAST), MOST)
        why = f"rtol {rtol:g} in each of {done.accepted} steps"
    else:
        tolerance, why = LEAST, "a method whose error is not known"
    return tolerance, f"Energy and momentum are judged by a relative tolerance of {tolerance:.1e}, from {why}."


def audit(trajectory: Trajectory, *, tolerance: float | None = None) -> Audit:
    """Checks a run against the conservation laws.

    `tolerance` is the relative tolerance of energy and momentum; by default that of the run's method
    (`method_tolerance`).
    """
    if not isinstance(trajectory, Trajectory):
        raise ShapeError(
            f"audit was given a {type(trajectory).__name__}; expected a Trajectory. Pass the result of simulate."
        )
    if tolerance is not None and not 0.0 < tolerance < np.inf:
        raise UnsupportedError(f"audit: tolerance is {tolerance}; expected a finite number above 0.")
    segments = [segment for segment in trajectory.segments if len(segment.t)]
    if not segments:
        raise ShapeError("audit: the run has no samples; expected at least one. Choose a smaller output_step.")
    basis = "" if tolerance is None else f"Energy and momentum are judged by the relative tolerance {tolerance:.1e}."
    if tolerance is None:
        tolerance, basis = method_tolerance(trajectory)
    checks = [_ending(trajectory), _finite(segments)]
    if checks[1].passed:
        checks += [
            _energy(segments, tolerance, trajectory.settings.get("step")),
            *_momenta(segments, tolerance),
            *_changes(segments, LEAST),
            _quaternions(segments),
            _loops(segments),
        ]
    return Audit(trajectory.name, tuple(checks), basis)


def _ending(trajectory: Trajectory) -> Check:
    done = trajectory.statistics
    span = trajectory.segments[-1].t[-1] - trajectory.segments[0].t[0]
    mean = f", {span / done.accepted:.3g} s on average" if done.accepted else ""
    note = f"{done.method}: {done.accepted} steps{mean}, {done.rejected} rejected, {len(trajectory.events)} events"
    if trajectory.outcome.message:
        note += f". {trajectory.outcome.message}"
    status = trajectory.outcome.ok
    return Check("ending", "the run ended as requested", "passed" if status else "failed", note=note)


def _finite(segments: list[Segment]) -> Check:
    for segment in segments:
        rows = np.concatenate([segment.q, segment.v, segment.x], axis=1)
        bad = np.argwhere(~np.isfinite(rows))
        if len(bad):
            row, k = bad[0]
            plant = segment.plant
            names = [*(f"q.{c.name}" for c in plant.q), *(f"v.{c.name}" for c in plant.v), *(c.name for c in plant.x)]
            note = f"'{names[k]}' is {rows[row, k]} at t = {segment.t[row]:.9g} s"
            return Check("finite", "every sample is a finite number", "failed", note=note)
    return Check("finite", "every sample is a finite number", "passed")


def _energy(segments: list[Segment], tolerance: float, step: Any) -> Check:
    name, says = "energy balance", "kinetic + potential - supplied + dissipated energy is constant"
    if not all(segment.has("energy") for segment in segments):
        return Check(name, says, "skipped", note="the plant is made of equations, not of a robot: it has no energy")
    if not all(segment.has("account") for segment in segments):
        note = "the energy that forces supply and dissipate was not recorded. Make the plant with account=True"
        return Check(name, says, "skipped", note=note)
    worst = largest = scale = 0.0
    for segment in segments:
        (kinetic, potential), (supplied, dissipated) = segment.energy.T, segment.account.T
        total = kinetic + potential - supplied + dissipated
        error = float(np.abs(total - total[0]).max())
        exchanged = max(float(kinetic.max()), *(float(np.ptp(part)) for part in (potential, supplied, dissipated)))
        relative = error / exchanged if exchanged > 0.0 else error
        if worst == worst and not relative < worst:  # nan counts as the worst
            worst, largest, scale = relative, error, exchanged
    note = f"off by {largest:.2e} J where {scale:.3g} J were exchanged"
    if worst > tolerance and isinstance(step, float):
        note += f". The step size was {step:g} s; a smaller step, or rtol instead of step, reduces the error"
    return judged(name, says, worst, tolerance, note)


def _momenta(segments: list[Segment], tolerance: float) -> list[Check]:
    """The checks of conserved momenta, one for each momentum; the segment with the largest error counts."""
    if not all(segment.plant.dynamics is not None and segment.has("tau") for segment in segments):
        equations = "the plant is made of equations, not of a robot"
        note = "the robot of the run is not known" if segments[0].has("energy") else equations
        return [Check("momentum", "momentum is conserved", "skipped", note=note)]
    ledgers = [Ledger.of(segment) for segment in segments]
    systems: dict[int, list[Ledger]] = {}
    for ledger in ledgers:
        systems.setdefault(id(ledger.segment.plant), []).append(ledger)
    laws: dict[str, list[tuple[Conserved, Ledger]]] = {}
    reasons: dict[str, None] = {}
    for mine in systems.values():
        kept, reason = conserved(mine)
        reasons |= {} if kept else {reason: None}
        for name, law in kept.items():
            laws.setdefault(name, []).extend((law, ledger) for ledger in mine)
    if not laws:
        return [Check("momentum", "momentum is conserved", "skipped", note="; ".join(reasons))]
    return [_worst_drift(name, pairs, len(ledgers), tolerance) for name, pairs in laws.items()]


def _worst_drift(name: str, pairs: Sequence[tuple[Conserved, Ledger]], count: int, tolerance: float) -> Check:
    """The check of one momentum, over all segments, out of `count`, whose system has to conserve it."""
    worst, note = 0.0, ""
    for law, ledger in pairs:
        drift, scale, unit = law.drift(ledger)
        relative = drift / scale if scale > 0.0 else drift
        if worst == worst and not relative < worst:  # nan counts as the worst
            worst, note = relative, f"off by {drift:.2e} {unit} where it is up to {scale:.3g} {unit}"
    some = (
        f". It is checked in {len(pairs)} of {count} segments; the systems of the others do not have to conserve it"
        if len(pairs) < count
        else ""
    )
    return judged(name, pairs[0][0].says, worst, tolerance, note + some)


def _changes(segments: list[Segment], tolerance: float) -> list[Check]:
    """The check that no change of the system makes linear momentum, or angular momentum about the world's origin, jump.

    The list is empty where the system never changes.
    """
    name, says = "changes of the system", "linear and angular momentum are the same just before and after"
    meetings = [(a, b) for a, b in pairwise(segments) if a.plant is not b.plant]
    if not meetings:
        return []
    if any(one.plant.robot is None or not floats(one.plant.robot) for pair in meetings for one in pair):
        return [Check(name, says, "skipped", note="one of the systems is connected to the ground or has no robot")]
    worst, note = 0.0, ""
    for before, after in meetings:
        for off, scale, unit in momentum_leap(before, after):
            relative = off / scale if scale > 0.0 else off
            if worst == worst and not relative < worst:  # nan counts as the worst
                worst, note = (
                    relative,
                    f"off by {off:.2e} {unit} where it is {scale:.3g} {unit}, t = {after.t[0]:.6g} s",
                )
    return [judged(name, says, worst, tolerance, note)]


def _quaternions(segments: list[Segment]) -> Check:
    name, says = "quaternions", "every quaternion has length 1"  # of spherical and free joints
    worst: float | None = None
    for segment in segments:
        for place in segment.plant.manifold:
            if place.kind in ("spherical", "free"):
                first = place.q + (3 if place.kind == "free" else 0)
                lengths: Array = np.linalg.norm(segment.q[:, first : first + 4], axis=1)
                worst = max(worst or 0.0, float(np.abs(lengths - 1.0).max()))
    if worst is None:
        return Check(name, says, "skipped", note="the robot has no quaternions")
    return judged(name, says, worst, UNIT_LENGTH)


def _loops(segments: list[Segment]) -> Check:
    name, says = "loops", "loops stay closed and coupled joints follow their leaders [m or rad]"
    errors = [float(segment.loop_error.max()) for segment in segments if segment.has("loop_error")]
    if not errors:
        return Check(name, says, "skipped", note="the robot has no loops or coupled joints")
    return judged(name, says, max(errors), CLOSED)
