"""Stances: when each foot of a run stands on the ground, and with which forces.

    found = stances(run)
    found["front_left"][0].duty, found["front_left"][0].impulse, print(found), found.plot()

A stance lasts from the touchdown of a foot to its liftoff, a stride from one touchdown to the next, and the duty factor
is the share of the stance in the stride. Stances that begin before the run or end after it are left out.

Touchdown and liftoff are the times of events where the run located them, and otherwise zeros of the depth of the
contact, interpolated between samples. An impulse is the time integral of the force on the foot over the stance: the
difference of `Integral` states where the system has them (`with_measures`), with the accuracy of the run; otherwise the
trapezoidal rule over the samples. Impulses of impacts are added to both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.legs.limbs import Feet, GroundContact, Limb, finite_number, force_signals, limbs, plant_of_run
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.mechanics.elements.contact.rigid_contacts import ROWS, tangents_of
from kinemorph.model.elements.contact.contact_laws import Rigid
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.grounds import Plane
from kinemorph.model.elements.sensing.integrals import Integral
from kinemorph.model.parameter import evaluate
from kinemorph.model.topology import WORLD
from kinemorph.sheet import Facts, Field, Note, Sheet, Table, fields, hidden, said
from kinemorph.shown import ShownStances
from kinemorph.simulation.results.event import Event
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.words import did_you_mean, quoted

INTEGRATED = Field("integrated", "impulses", form={True: "integrated with the run", False: "summed up from samples"})
MEANS = (*fields("leg"), Field("", "stances"), Field("", "stance", "s", 4), Field("", "duty", form=".3f"))
MEANS += tuple(Field("", f"impulse {axis}", "N s", 3) for axis in "xyz")
MEANS += tuple(Field("", f"peak force {axis}", "N", 3) for axis in "xyz")


@dataclass(frozen=True, eq=False)
class Stance:
    """One stance of one leg. Forces and impulses are on the foot, in world axes.

    `number`        the number of the stance among those of its leg, from 0
    `touchdown`     [s], and `liftoff` [s]
    `stride`        the time to the next touchdown of this foot [s]; NaN for the last stance of a leg
    `impulse`       the time integral of the force [N s], shape (3,)
    `peak`          the force component of largest magnitude along each axis, with its sign [N], shape (3,)
    `t`, `force`    the samples of the stance: times (n,) [s] and forces (n, 3) [N]
    """

    leg: str
    number: int
    touchdown: float
    liftoff: float
    stride: float
    impulse: Array
    peak: Array
    t: Array = field(repr=False)
    force: Array = field(repr=False)

    @property
    def duration(self) -> float:
        """The time from touchdown to liftoff [s]."""
        return self.liftoff - self.touchdown

    @property
    def duty(self) -> float:
        """The duty factor: the share of the stance in its stride; NaN for the last stance of a leg."""
        return self.duration / self.stride


@dataclass(frozen=True)
class MeanStance:
    """Means over the stances of one leg: times [s], duty factor, impulse [N s] and peak force [N] along x, y, z."""

    leg: str
    count: int
    duration: float
    stride: float
    duty: float
    impulse: tuple[float, float, float]
    peak: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Stances(ShownStances):
    """The stances of a run, made by `stances`: all of them in order of touchdown, or by leg, as found["front_left"].

    `legs` are the names of all legs, also of those without a whole stance. `integrated` says whether impulses are
    differences of `Integral` states, and not sums over samples.
    """

    name: str
    legs: tuple[str, ...]
    all: tuple[Stance, ...]
    integrated: bool

    def __len__(self) -> int:
        """The number of stances of all legs."""
        return len(self.all)

    def __iter__(self) -> Iterator[Stance]:
        return iter(self.all)

    def __getitem__(self, leg: str) -> tuple[Stance, ...]:
        """The stances of one leg, in order of time."""
        if leg not in self.legs:
            raise ModelError(
                f"'{self.name}' has no leg {leg!r}; expected one of: {quoted(self.legs)}.{did_you_mean(leg, self.legs)}"
            )
        return tuple(one for one in self.all if one.leg == leg)

    def means(self) -> dict[str, MeanStance]:
        """The means over the stances of each leg that has stances, by its name."""
        found = {}
        for leg in self.legs:
            mine = self[leg]
            if not mine:
                continue
            whole = [one for one in mine if np.isfinite(one.stride)]
            stride, duty = (
                float(np.mean([getattr(one, key) for one in whole])) if whole else float("nan")
                for key in ("stride", "duty")
            )
            (ix, iy, iz), (px, py, pz) = (
                np.mean([getattr(one, key) for one in mine], axis=0).tolist() for key in ("impulse", "peak")
            )
            duration = float(np.mean([one.duration for one in mine]))
            found[leg] = MeanStance(leg, len(mine), duration, stride, duty, (ix, iy, iz), (px, py, pz))
        return found

    def as_dict(self) -> dict[str, Any]:
        """The stances as nested dicts and lists, ready for JSON; forces at samples are left out."""
        return self.sheet().data()

    def sheet(self) -> Sheet:
        """The means of each leg; for programs all stances."""
        keys = ("leg", "number", "touchdown", "liftoff", "stride", "duty", "impulse", "peak")
        means = [(leg, one.count, one.duration, one.duty, *one.impulse, *one.peak) for leg, one in self.means().items()]
        told = said("{n} stance of {m} legs.", "{n} stances of {m} legs.", n=len(self), m=len(self.legs))
        return Sheet(
            "Stances of",
            self.name,
            (
                Note(told),
                Facts([(INTEGRATED, self.integrated)]),
                hidden(legs=self.legs),
                hidden(stances=[{key: getattr(one, key) for key in keys} for one in self.all]),
                Table("", MEANS, means, "Means"),
            ),
            "run",
        )


def stances(run: Trajectory, feet: Feet = None, *, after: float = 0.0, shortest: float = 0.0) -> Stances:
    """The stances of every leg of a run, for any robot with contacts between its feet and the ground.

    `feet`      the contacts of the feet, where not every contact with the ground is a leg of its own; see `limbs`
    `after`     stances that begin before this time [s] are left out, so that the first strides do not count
    `shortest`  [s]; a foot that leaves the ground for a shorter time counts as standing, and a stance that is shorter
                is left out: contacts that chatter

    A run of a batch is batch[k]. The more samples a run has, the better are times and peaks: 100 samples in a stance
    give times to about 1 % of the time between samples.
    """
    plant, robot = plant_of_run(run, "stances", after)
    finite_number("stances", "shortest", shortest, "a time of at least 0 s", least=0.0)
    legs = limbs(robot, plant.elements, feet)
    found: list[Stance] = []
    exact = all(_integrals(contact, plant.elements) is not None for leg in legs for contact in leg.contacts)
    for leg in legs:
        force = np.sum([contact_force(run, contact) for contact in leg.contacts], axis=0)
        total = _summed(run.t, force)
        if exact:
            total = np.sum([_impulses(run, contact, plant.elements) for contact in leg.contacts], axis=0)
        pieces = _merged(run.t, _standing(run, leg), shortest)
        times = [(_instant(run, leg, first), _instant(run, leg, last)) for first, last in pieces]
        kept = [k for k, (down, _) in enumerate(times) if down >= after]
        for number, k in enumerate(kept):
            (first, last), (down, up) = pieces[k], times[k]
            impulse = total[last] - total[first - 1] + _of_impacts(run, leg, down, up)
            inside = slice(first, last)
            stride = times[k + 1][0] - down if k + 1 < len(times) else float("nan")
            peak = np.take_along_axis(force[inside], np.abs(force[inside]).argmax(axis=0)[None], axis=0)[0]
            found.append(Stance(leg.name, number, down, up, stride, impulse, peak, run.t[inside], force[inside]))
    found.sort(key=lambda one: one.touchdown)
    return Stances(run.name, tuple(leg.name for leg in legs), tuple(found), exact)


def contact_force(run: Trajectory, contact: GroundContact) -> Array:
    """The force of the ground on a foot [N] at every sample, in world axes, shape (n, 3)."""
    columns = [run[name] if name else np.zeros(len(run.t)) for name in force_signals(contact)]
    return np.stack(columns, axis=1)


# ── when a foot stands ────────────────────────────────────────────────────────────────────────────────────────────────


def _standing(run: Trajectory, leg: Limb) -> npt.NDArray[np.bool_]:
    """Whether the foot touches the ground, at every sample, shape (n,)."""
    touching = np.zeros(len(run.t), dtype=bool)
    for contact in leg.contacts:
        if isinstance(contact, Contact):
            touching |= run[f"{contact.name}.touching"] > 0.5
        else:
            touching |= _phases_of(run, contact)
    return touching


def _phases_of(run: Trajectory, contact: GroundContact) -> npt.NDArray[np.bool_]:
    """Whether an element acts in the phase of each sample, shape (n,); an element that no phase names acts always."""
    automaton = run.segments[0].plant.automaton
    if automaton is None:
        return np.ones(len(run.t), dtype=bool)
    mine = [k for k, phase in enumerate(automaton.phases) if contact.name in phase.elements]
    return np.isin(np.round(run["phase"]), mine or range(len(automaton.phases)))


def _merged(t: Array, standing: npt.NDArray[np.bool_], shortest: float) -> list[tuple[int, int]]:
    """The stances as (first sample on the ground, first sample after it), of those that begin and end in the run."""
    changes = np.flatnonzero(standing[1:] != standing[:-1]) + 1
    if len(standing) and standing[0]:
        changes = changes[1:]  # it began before the run
    pairs = [(int(a), int(b)) for a, b in zip(changes[::2], changes[1::2], strict=False)]
    merged: list[tuple[int, int]] = []
    for first, last in pairs:
        if merged and t[first] - t[merged[-1][1]] < shortest:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    if len(changes) % 2 and merged and t[changes[-1]] - t[merged[-1][1]] < shortest:
        merged.pop()  # it goes on after the end of the run
    return [(first, last) for first, last in merged if t[last] - t[first - 1] >= shortest]


def _instant(run: Trajectory, leg: Limb, sample: int) -> float:
    """The time [s] at which a foot touched down or lifted off, between this sample and the one before."""
    before, now = float(run.t[sample - 1]), float(run.t[sample])
    if before == now:  # the state jumped
        return now
    names = [contact.name for contact in leg.contacts]
    events = [event.t for event in run.events if before < event.t <= now and event.name.rpartition(".")[0] in names]
    if events:
        return float(events[0])
    depths = [run[f"{name}.depth"] for name in names if f"{name}.depth" in run.columns]
    if depths:
        a, b = (max(float(depth[k]) for depth in depths) for k in (sample - 1, sample))
        if a * b < 0.0:
            return before + (now - before) * a / (a - b)
    return 0.5 * (before + now)


# ── impulses ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _integrals(contact: GroundContact, elements: tuple[Any, ...]) -> tuple[str, ...] | None:
    """The names of the integrals of the force along x, y and z; None where the system does not have all of them."""
    plain = [one for one in elements if isinstance(one, Integral) and one.of == "value" and not one.times]
    known = {one.signals[0]: one.name for one in plain if len(one.signals) == 1 and one.weights == (1.0,)}
    wanted = force_signals(contact)
    return tuple(known.get(name, "") for name in wanted) if all(not name or name in known for name in wanted) else None


def _impulses(run: Trajectory, contact: GroundContact, elements: tuple[Any, ...]) -> Array:
    """The integrals of the force [N s] at every sample, shape (n, 3)."""
    names = _integrals(contact, elements) or ()
    return np.stack([run[name] if name else np.zeros(len(run.t)) for name in names], axis=1)


def _summed(t: Array, force: Array) -> Array:
    """The integral of a force (n, 3) over times (n,) by the trapezoidal rule, 0 at the first sample, shape (n, 3)."""
    steps = 0.5 * np.diff(t)[:, None] * (force[1:] + force[:-1])
    return np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])


def _of_impacts(run: Trajectory, leg: Limb, down: float, up: float) -> Array:
    """The sum of the impulses [N s] of impacts of this foot from touchdown to liftoff, in world axes, shape (3,)."""
    found = np.zeros(3)
    for event in run.events:
        if down <= event.t <= up and event.numbers:
            for contact in leg.contacts:
                found += _impulse_of(event, contact)
    return found


def _impulse_of(event: Event, contact: GroundContact) -> Array:
    """The impulse [N s] of an event on the foot of a contact, in world axes, shape (3,)."""
    start, found = f"impulse.{contact.name}.", np.zeros(3)
    for number in event.numbers:
        if number.name.startswith(start):
            found += number.value * _direction(contact, number.name.rpartition(".")[2])
    return found


def _direction(contact: GroundContact, row: str) -> Array:
    """The world direction, shape (3,), of a constraint row of a contact: "x", "normal", "tangent_1"."""
    if not isinstance(contact, Contact):
        return np.array([float(axis == row) for axis in "xyz"])
    assert isinstance(contact.normal, Rigid)
    if not isinstance(contact.ground, Plane) or contact.ground.on != WORLD:
        raise UnsupportedError(
            f"contact '{contact.name}' has impacts on ground that is not a fixed plane, so that the directions of "
            "their impulses are not known. Choose feet on a Plane of the world."
        )
    normal = np.array([evaluate(x) for x in contact.ground.normal], dtype=float)
    normal /= np.linalg.norm(normal)
    directions = dict(zip(ROWS, (normal, *tangents_of(normal.tolist())), strict=True))
    return np.array(directions[row], dtype=float)
