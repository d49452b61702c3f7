"""Whether the energy of a run balances: a finite motion may still be wrong.

Kinetic, potential and stored energy, less the supplied and plus the dissipated energy, is constant in an exact motion.
Where steps are too large for contacts, gains or the motion itself, it is not, long before any number becomes infinite.
The error is compared with the energy that the run exchanged: of the kinetic, potential, supplied and dissipated energy,
the one with the largest difference between its largest and smallest value.

Where bodies fly off late in a run, this says little about its beginning. So the error until each sample is compared
with the energy exchanged until then. Where a drive supplies much energy that friction dissipates, these two are no
measure for the rest. So at the end the error is also compared with the kinetic, potential and stored energy that the
robot itself has exchanged, with a small allowance for the supplied and dissipated energy. Both are compared at
a larger share. A method of first order that starts from rest errs by 1/(n + 1) of what was exchanged in its first n
steps, however small they are, so that much is allowed.

Where nothing supplies energy, kinetic, potential and stored energy never grow together. In methods for contact they may
(see `linearly_implicit`), and the balance hides it: what a contact does not store counts as dissipated, also where that
is negative. So the growth is compared with what was exchanged too.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array, evenly
from kinemorph.errors import EnergyWarning, users_level
from kinemorph.mechanics.steps.frozen_stiffness import frozen
from kinemorph.model.elements.contact.contacts_from_shapes import REST
from kinemorph.plants.initial_values import SUPPLIED
from kinemorph.plants.instant import Instant
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.linearly_implicit import LinearlyImplicit
from kinemorph.simulation.results.derived_columns import recomputer
from kinemorph.simulation.results.event import Event
from kinemorph.simulation.results.segment import Segment
from kinemorph.simulation.stepping.step_options import StepOptions

SHARE = 0.1  # of the exchanged energy: a larger error of the balance is reported
MOVING = 0.1  # of the largest kinetic energy: a steady motion exchanges at least this much
PART = 0.2  # of a part of that energy, until a sample or without supply and dissipation: a larger error is reported
NEVER_MAKES = "implicit_contact_2"  # the method that is advised where contacts make energy
FAINT = 1e-3  # of the energy supplied and dissipated: an error that large is that of the account
TRACE = 1e-4  # of what the robot exchanges in the whole run: a smaller error, as just after the start, does not matter
BEGINNING = 1.1  # times 1/(n + 1) is the share that may be missing after n steps: see the top
ROUNDING = 1e-9  # of the largest energy: a run that exchanges less is at rest
MOST_SAMPLES = 256  # samples of a run that are checked
MADE = 0.005  # of the exchanged energy: where contacts make more, it is reported
LOOSE = 1e-4  # relative tolerance; methods that control errors more tightly need no check


@dataclass(frozen=True)
class EnergyError:
    """The largest error of an energy balance."""

    t: float  # [s], where the balance changes fastest
    error: float  # [J]
    exchanged: float  # [J]
    element: str | None  # the element whose work is accounted for worst there, see `_culprit`
    until: float | None = None  # [s]; where given, `exchanged` is what had been exchanged until then
    own: bool = False  # whether `exchanged` is without the supplied and dissipated energy
    limit: float = SHARE  # the share up to which nothing is reported

    @property
    def share(self) -> float:
        """The error as a share of the exchanged energy."""
        return self.error / self.exchanged

    @property
    def excess(self) -> float:
        """The share, relative to its limit."""
        return self.share / self.limit

    @property
    def sentence(self) -> str:
        """How large the error is, and what it is compared with, in words."""
        until = "" if self.own or self.until is None else f" until t = {self.until:.4g} s"
        which = "the kinetic or the potential energy, with that of springs," if self.own else "one of these energies"
        return (
            "kinetic + potential - supplied + dissipated energy, which an exact motion keeps constant, changes by "
            f"{self.error:.3g} J ({self.share:.0%} of {self.exchanged:.3g} J, the most that {which} changes{until})"
        )


class Account(NamedTuple):
    """Samples of a run between two events, and their energies as `run_energies` gives them; None where unknown."""

    part: Segment
    energies: Array | None


def accounts(segments: Sequence[Segment], events: Sequence[Event]) -> list[list[Account]]:
    """The samples of each segment, divided at events, with their energies; at most MOST_SAMPLES, evenly chosen."""
    cuts = np.unique(np.array([event.t for event in events], dtype=float))
    return [[Account(part, run_energies(part)) for part in _between(segment, cuts)] for segment in segments]


def energy_error(segments: Sequence[Segment], events: Sequence[Event], step: float | None = None) -> EnergyError | None:
    """The error of the energy balance of a run; None where supplied energy is not recorded, or nothing moves.

    `step` [s] is the fixed size of its steps.
    """
    return _worst_error(accounts(segments, events), step)


def _worst_error(
    known: Sequence[Sequence[Account]], step: float | None, *, settling: bool = True, first_order: bool = False
) -> EnergyError | None:
    """The largest error of an energy balance, as a share of what was exchanged.

    Events may change the energy, so the samples between two events are checked separately. Where events follow each
    other closely, hardly anything is exchanged in between; errors below FAINT of the exchange of the segment are left
    out there. So are those of a robot that settles on the ground (`_settling`), unless `settling` counts.
    """
    worst: EnergyError | None = None
    for parts in known:
        least = FAINT * _exchanged(parts) if len(parts) > 1 else 0.0
        if parts and not settling:
            least = max(least, _settling(parts[0].part.plant))
        for one in parts:
            found = _error_of(*one, step, first_order)
            if found is not None and found.error >= least and (worst is None or found.excess > worst.excess):
                worst = found
    return worst


def _settling(plant: Plant) -> float:
    """The energy [J] of a free robot that sinks to the depth at which it rests on the ground; 0 for other plants."""
    robot = plant.robot
    if robot is None or not robot.is_free or not plant.touches:
        return 0.0
    return robot.total_weight * REST


def warn_of_energy(known: Sequence[Sequence[Account]], options: StepOptions, method: object = None) -> bool:
    """Warns where the energy error of a run is more than SHARE of the exchanged energy; returns whether it warned."""
    step = options.step
    found = _worst_error(known, step, settling=False, first_order=getattr(method, "order", None) == 1)
    if found is None or found.excess <= 1.0:
        return False
    where = f", most of it near t = {found.t:.4g} s"
    where += f", by '{found.element}' above all" if found.element else ""
    if isinstance(method, LinearlyImplicit) and step is None:
        finer = {"rtol": 0.1 * options.rtol, "atol": 0.1 * options.atol}
        words = ", ".join(f"{name}={value:.2g}" for name, value in finer.items())
        marked = " ".join(f"--{name} {value:.2g}" for name, value in finer.items())
        remedy = f"Take smaller tolerances (method='{method.name}', {words}; --method {method.name} {marked})."
    elif step is None:
        remedy = "Take a smaller tolerance (rtol=, --rtol)."
    else:
        remedy = f"Take smaller steps (step={step / 4:.2g}, --step {step / 4:.2g})."
    name = next(one.part.plant.name for parts in known for one in parts)
    warnings.warn(
        f"the energy of '{name}' does not balance: {found.sentence}{where}. The motion is not accurate. {remedy}",
        EnergyWarning,
        stacklevel=users_level(),
    )
    return True


def warn_of_made_energy(known: Sequence[Sequence[Account]], step: float | None, method: object) -> bool:
    """Warns where contacts made more than MADE of the energy that a run exchanged; returns whether it warned.

    Only methods for contact are checked, and only runs in which nothing supplies energy.
    """
    if not isinstance(method, LinearlyImplicit):
        return False
    for parts in known:
        exchanged = _exchanged(parts) if parts and parts[0].part.plant.touches else 0.0
        for part, columns in parts if exchanged else ():
            if columns is None or columns[:, 2].any():
                continue
            total = columns[:, 0] + columns[:, 1]
            grown = total - np.minimum.accumulate(total)
            if grown.max() <= MADE * exchanged:
                continue
            k = int(np.argmax(np.diff(total))) + 1
            who = _culprit(part, k, step)
            by = f", by '{who}' above all" if who else ""
            warnings.warn(
                f"contacts of '{part.plant.name}' make energy: kinetic and potential energy grow by {grown.max():.3g} "
                f"J, {grown.max() / exchanged:.1%} of the {exchanged:.3g} J that were exchanged, near t = "
                f"{part.t[k]:.4g} s{by}. Take smaller steps, or method='{NEVER_MAKES}' (--method {NEVER_MAKES}), "
                "which never does so.",
                EnergyWarning,
                stacklevel=users_level(),
            )
            return True
    return False


def _between(segment: Segment, cuts: Array) -> list[Segment]:
    """Evenly chosen samples of a segment, at most MOST_SAMPLES, divided at the times `cuts` [s]."""
    rows = evenly(len(segment.t), MOST_SAMPLES)
    parts = np.split(rows, np.searchsorted(segment.t[rows], cuts, side="right")) if len(cuts) else [rows]
    if len(parts) == 1 and len(rows) == len(segment.t):
        return [segment] if len(rows) > 1 else []
    names = ("t", "q", "v", "x", "m", "u")
    return [
        replace(segment, **{name: getattr(segment, name)[part] for name in names}) for part in parts if len(part) > 1
    ]


def run_energies(part: Segment) -> Array | None:
    """The kinetic, potential, supplied and dissipated energy [J] at all samples, shape (n, 4).

    None where forces act and the plant has no account of their work, or where a number is not finite.
    """
    plant = part.plant
    known = SUPPLIED in [column.name for column in plant.x]
    if plant.dynamics is None or part.stored is not None or not all(map(_finite, (part.q, part.v, part.x))):
        return None
    energies = recomputer(plant)
    if not known and (np.any(part.u) or plant.laws.stored is not None):
        return None
    accounted = energies.accounted(part) if known else np.zeros((len(part.t), 2))
    found = np.hstack([energies.mechanical(part), accounted])
    return found if _finite(found) else None


def _error_of(part: Segment, columns: Array | None, step: float | None, first_order: bool) -> EnergyError | None:
    if columns is None:
        return None
    mechanical, (supplied, dissipated) = columns[:, :2], columns[:, 2:].T
    balance = mechanical.sum(axis=1) - supplied + dissipated
    exchanged = exchanged_energy(columns)
    if exchanged <= ROUNDING * max(1e-300, float(np.abs(mechanical).max())):
        return None
    errors = np.maximum.accumulate(np.abs(balance - balance[0]))
    error, last = float(errors[-1]), len(balance) - 1
    why: tuple[float | None, bool] = (None, False)
    own = max(float(np.ptp(mechanical, axis=0).max()), MOVING * float(mechanical[:, 0].max()))
    least = max(TRACE * own, ROUNDING * float(np.abs(mechanical).max()))
    begun = np.zeros(len(part.t))
    if first_order and step is not None:
        begun = BEGINNING / (1.0 + np.round((part.t - part.t[0]) / step))
    limit = max(SHARE, float(begun[-1]))
    if least < error <= limit * exchanged:
        turned = float(np.abs(np.diff(supplied)).sum() + np.abs(np.diff(dissipated)).sum())
        allowed = np.max([*(_ranges(column) for column in columns.T), MOVING * _most(mechanical[:, 0])], axis=0)
        allowed[-1] = min(allowed[-1], own + FAINT / PART * turned)
        late = np.flatnonzero((errors > np.maximum(PART, begun) * allowed) & (errors > least))
        if len(late):
            last = int(late[0])
            error, exchanged = float(errors[last]), float(allowed[last])
            why, limit = (float(part.t[last]), last == len(balance) - 1), SHARE
    k = int(np.argmax(np.abs(np.diff(balance[: last + 1])))) + 1
    t = float(part.t[k])
    culprit = _culprit(part, k, step) if error > limit * exchanged else None
    return EnergyError(t, error, exchanged, culprit, *why, limit)


def _most(values: Array) -> Array:
    """The largest of the values up to each sample, shape (n,)."""
    most: Array = np.maximum.accumulate(values)
    return most


def _ranges(values: Array) -> Array:
    """The range of the values up to each sample, shape (n,)."""
    return _most(values) + _most(-values)


def exchanged_energy(energies: Array) -> float:
    """The energy [J] that a run exchanged, from its kinetic, potential, supplied, dissipated energy, shape (n, 4)."""
    return max(float(np.ptp(energies, axis=0).max()), MOVING * float(np.abs(energies[:, 0]).max()))


def _exchanged(parts: Sequence[Account]) -> float:
    """The energy [J] that a segment exchanged; 0 where it is not known."""
    known = [one.energies for one in parts if one.energies is not None]
    return exchanged_energy(np.concatenate(known)) if known else 0.0


def _finite(values: Array) -> bool:
    return bool(np.isfinite(values).all())


def _culprit(part: Segment, k: int, step: float | None) -> str | None:
    """The name of the element whose work is accounted for worst between the samples k - 1 and k, or None.

    In a step of h, a force of stiffness K and damping C changes by (C + h K) v, and its work is uncertain by h times
    v (C + h K) v. A constant force is accounted for exactly, however much work it does. The element for which this is
    largest is the culprit; where no force is stiff, the element that does most work.
    """
    law = part.plant.laws.stiff
    h = float(part.t[k] - part.t[k - 1]) if step is None else step
    uncertain: dict[str, float] = {}
    for row in (k - 1, k):
        if law is None:
            break
        at = _instant(part, row)
        tree, stiff = law(at)
        v = part.v[row]
        for share in frozen(tree, at.q, at.v, stiff, h).shares:
            name = _element_of(part, share.name)
            uncertain[name] = uncertain.get(name, 0.0) + h * float(v @ (share.C + h * share.K) @ v)
    if any(value > 0.0 for value in uncertain.values()):
        return max(uncertain, key=lambda name: uncertain[name])
    return _busiest(part, k)


def _element_of(part: Segment, share: str) -> str:
    """The name of the element that a stiff force belongs to: "feet" for "feet.2"."""
    names = {element.name for element in part.plant.elements}
    return share if share in names else share.rpartition(".")[0]


def _busiest(part: Segment, k: int) -> str | None:
    """The name of the element with the largest power (supplied, dissipated or stored) at sample k, or None."""
    if part.plant.laws.powers is None:
        return None
    powers: dict[str, float] = part.plant.laws.powers(_instant(part, k))
    return max(powers, key=lambda name: powers[name], default=None)


def _instant(part: Segment, k: int) -> Instant:
    """The system at sample k."""
    q, v, x, m, u = (group[k].tolist() for group in (part.q, part.v, part.x, part.m, part.u))
    return Instant(float(part.t[k]), q, v, x, m, u, part.p.tolist())
