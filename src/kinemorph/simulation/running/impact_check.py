"""Whether impacts on the ground, and between bodies, were shorter than a step of fixed size.

An elastic contact that begins and ends within one step has no time to push a body back: the body rests on the ground
after the step, and its kinetic energy counts as dissipated. The energy balances, so this is looked for separately.
Where a contact comes down in a run, the impact is computed for one mass, that which the contact feels there. This is
done only if the energy of a rebound could matter, by the largest kinetic energy of the run.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array, evenly
from kinemorph.errors import ImpactWarning, users_level
from kinemorph.mechanics.elements.contact.normal_forces import NormalLaw, normal_law, number
from kinemorph.mechanics.elements.contact.spheres import nearest
from kinemorph.mechanics.elements.contact.touching_points import touched_along
from kinemorph.mechanics.steps.frozen_stiffness import felt_mass
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.elements.contact.contact_laws import Rigid
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.pair_contacts import PairContact
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.simulation.results.body_poses import frame_matrices
from kinemorph.simulation.results.segment import Segment
from kinemorph.simulation.running.energy_check import SHARE, exchanged_energy, run_energies

MOST_SAMPLES = 512  # samples of a run that are checked
PARTS = 200  # steps in which an impact is computed until its greatest depth, about


class Rebound(NamedTuple):
    """An impact of a mass on a contact: how long it lasts [s], and the velocity [m/s] after it."""

    duration: float
    speed: float


class Hit(NamedTuple):
    """An impact in a run."""

    name: str  # of the contact
    t: float  # [s], the last sample before it
    speed: float  # [m/s]
    mass: float  # [kg], that which the contact feels
    rebound: Rebound


@lru_cache(maxsize=256)  # many contacts of a robot have the same law
def rebound(law: NormalLaw, mass: float, speed: float) -> Rebound:
    """The impact of a mass [kg] at a speed [m/s], by small steps of its equation of motion."""
    h = law.depth_of(0.5 * mass * speed**2) / speed / PARTS  # from the greatest depth, without damping
    x, v, t = 0.0, speed, 0.0
    while t < 100.0 * PARTS * h:
        v -= h * law.force(x, v) / mass
        x, t = x + h * v, t + h
        if x <= 0.0:
            return Rebound(t, -v)
    return Rebound(t, 0.0)  # it creeps out


def short_hits(segment: Segment, step: float) -> Iterator[Hit]:
    """The hardest impact on each contact of a run, where it lasts less than a step [s] and its rebound matters."""
    robot = segment.robot
    elements = [element for element in segment.plant.elements if isinstance(element, (Contact, PairContact))]
    contacts = [element for element in elements if not isinstance(element.normal, Rigid)]
    n = len(segment.t)
    energies = run_energies(segment) if contacts and n > 2 else None
    if robot is None or energies is None:
        return
    rows = evenly(n, MOST_SAMPLES)
    most, least = float(energies[:, 0].max()), SHARE * exchanged_energy(energies)
    total = robot.total_mass
    if not (most > least and total > 0.0):
        return
    for contact in contacts:
        law = normal_law(contact.normal)
        speed = math.sqrt(2.0 * most / total)
        if 0.5 * total * rebound(law, total, speed).speed ** 2 > least:
            hit = _hardest(robot, contact.name, law, segment.t[rows], segment.q[rows], _meetings(robot, contact))
            if hit and hit.rebound.duration < step and 0.5 * hit.mass * hit.rebound.speed**2 > least:
                yield hit


class Approach(NamedTuple):
    """How far two surfaces are apart at n samples, and where they would touch."""

    height: Array  # [m], (n,), below 0 where they touch
    normal: Array  # along which the first is pushed, in world axes, (n, 3)
    places: Sequence[tuple[str, Array]]  # the bodies, each with the points that would touch in its axes [m], (n, 3)


Meetings = Callable[[Array, Array], Iterator[Approach]]  # of samples t (n,) [s] and q (n, nq)


def _meetings(robot: Robot, contact: Contact | PairContact) -> Meetings:
    """The function that gives the approaches of a contact: one for each touching point, or that of a pair."""
    if isinstance(contact, PairContact):
        return partial(_of_pair, robot, contact)
    return partial(_on_ground, robot, contact)


def _on_ground(robot: Robot, contact: Contact, t: Array, q: Array) -> Iterator[Approach]:
    (pose,) = frame_matrices(robot, q, [contact.body], t).swapaxes(0, 1)
    for points, heights, normals in touched_along(contact, pose):
        yield Approach(heights, normals, [(contact.body, points)])


def _of_pair(robot: Robot, contact: PairContact, t: Array, q: Array) -> Iterator[Approach]:
    poses = frame_matrices(robot, q, [contact.body_a, contact.body_b], t).swapaxes(0, 1)
    ends = ((contact.point_a, contact.end_a), (contact.point_b, contact.end_b))
    axes = [
        [list((pose[:, :3] @ np.array([*evaluate_all(end), 1.0], dtype=float)).T) for end in two if end is not None]
        for pose, two in zip(poses, ends, strict=True)
    ]
    near = nearest(*axes)
    spots = [np.stack(list(spot), axis=-1) for spot in (near.a, near.b)]
    apart = spots[0] - spots[1]
    distance = np.maximum(np.linalg.norm(apart, axis=-1), 1e-12)
    places = [
        (body, np.einsum("nji,nj->ni", pose[:, :3, :3], spot - pose[:, :3, 3]))
        for body, pose, spot in zip((contact.body_a, contact.body_b), poses, spots, strict=True)
    ]
    radii = number(contact.radius_a) + number(contact.radius_b)
    yield Approach(distance - radii, apart / distance[:, None], places)


def _hardest(robot: Robot, name: str, law: NormalLaw, t: Array, q: Array, meetings: Meetings) -> Hit | None:
    """The hardest impact on a contact, from samples t (n,) [s] and q (n, nq); None where it never comes down."""
    found: Hit | None = None
    for height, normal, places in meetings(t, q):
        falls = -np.diff(height) / np.diff(t)  # [m/s], before each sample but the first
        ahead = height[1:-1] - falls[:-1] * np.diff(t)[1:]  # where it would be at the next sample
        hits = np.flatnonzero((falls[:-1] > 0.0) & (height[1:-1] > 0.0) & (ahead <= 0.0))
        if not len(hits):
            continue
        k = int(hits[np.argmax(falls[hits])])
        speed = float(falls[k])
        if found is None or speed > found.speed:
            k += 1
            at = [(body, points[k].tolist()) for body, points in places]
            mass = felt_mass(resolve(robot).at_time(float(t[k])), q[k].tolist(), at, normal[k].tolist())
            if math.isfinite(mass):
                found = Hit(name, float(t[k]), speed, mass, rebound(law, mass, speed))
    return found


def warn_of_impacts(segments: Sequence[Segment], step: float | None) -> bool:
    """Warns where an impact began and ended within one step of fixed size [s]; returns whether it did."""
    for segment in segments if step is not None else ():
        hits = list(short_hits(segment, float(step or 0.0)))
        if not hits:
            continue
        worst = max(hits, key=lambda hit: hit.mass * hit.rebound.speed**2)
        better = worst.rebound.duration / 20.0
        warnings.warn(
            f"the impact of '{worst.name}' after t = {worst.t:.4g} s, at {worst.speed:.3g} m/s, lasts "
            f"{worst.rebound.duration:.2g} s, less than a step of {step:.3g} s: the body should leave at "
            f"{worst.rebound.speed:.3g} m/s, and its rebound is lost. Take smaller steps (step={better:.1g}, --step "
            f"{better:.1g}), or a softer contact.",
            ImpactWarning,
            stacklevel=users_level(),
        )
        return True
    return False
