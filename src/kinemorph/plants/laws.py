"""The laws that a plant is made of, as data: functions over any scalar type, from which its programs are traced.

The letters t, q, v, x, m, u, p, base, w, s, z, h are those of `instant`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kinemorph.codegen.graphs.program import Program
from kinemorph.plants.user_laws import Law


class Asked(NamedTuple):
    """Inputs u that a foreign function gives: its name, the index of the first of them, and how many there are."""

    function: str
    first: int
    size: int


@dataclass(frozen=True)
class DiscreteLaws:
    """The laws of a whole step of a variational integrator, over any scalar; see `variational.Discrete`.

    action      (base, moved, w, h, p) -> the action [J s] of a step of h [s] with the displacement w (nv,), from the
                configuration at local coordinates `moved` (nv,) about `base`
    balance     (instant, z, momentum at the start, h, derivatives (nv,) of the action by `moved` and by w)
                -> residual (nv + nx,) of the discrete equations at z = [w, x at the end]; momentum (nv,) at the end
    momentum    (base, s, p) -> momentum M(q) v, shape (nv,), at the state s = [w, v, x] about `base`
    velocity    (base, s, momentum, p) -> v, shape (nv,), at which M(q) v is that momentum

    `instant` is a LocalInstant, p are the parameters.
    """

    action: Law
    balance: Law
    momentum: Law
    velocity: Law


@dataclass(frozen=True)
class Jumps:
    """The laws by which the memory m of elements changes, and by which states jump. `instant` is a LocalInstant.

    Where another argument comes first, it is an index, or indices, of the elements that change.
    """

    sample: Law  # (samplers, instant) -> m
    read: Law  # (sampler, instant) -> the signals that are arguments of a user function
    decide: Law  # (sampler, function, t, signals, m) -> m, in plain numbers
    ask: Law  # (sampler, instant) -> the signals and the memory that are arguments of a function in C
    receive: Law  # (sampler, instant, outputs, memory of the function) -> m after a function in C has returned
    settle: Law  # (members, instant) -> m, x
    guards: Law  # (instant) -> the guards' values
    awake: Law  # (instant) -> 1 for each guard that counts in the present phase, else 0
    switch: Law  # (guard, instant) -> q, v, x, m, energy that is lost [J], impulses of all constraints
    switch_one: Law  # (count, instant, guard) -> as `switch`, for a guard that is a number of the program
    switch_contacts: Law  # (instant, guard) -> as `switch`, for one of the guards of rigid contacts, likewise
    enter: Law | None = None  # (instant) -> m at the start of a run; None where it does not depend on the state


@dataclass(frozen=True)
class Laws:
    """The laws of a plant: functions over any scalar type, one for each program of `Plant`.

    `instant` is a LocalInstant, which also lists the letters; what each law returns is in the docstring of `programs`.
    """

    rate: Law  # (instant)
    residual: Law  # (instant, z)
    place: Law  # (base, s), finished=: whether quaternions are normalized
    drift: Law  # (s, h)
    chained: Law | None = None  # (s, displacement) -> w; None, as the next four, where the plant is not a robot
    aligned: Law | None = None  # (s) -> v with linear velocities in the axes of the base
    turned: Law | None = None  # (s with such v) -> v
    flying: Law | None = None  # (instant) -> the accelerations of free flight
    flown: Law | None = None  # (instant, h) -> s after free flight
    efforts: Law | None = None  # (instant); None where the plant is not a robot
    discrete: DiscreteLaws | None = None
    jumps: Jumps | None = None
    stored: Law | None = None  # (instant) -> energy that elements store [J], shape (1,)
    bodies: Law | None = None  # (instant) -> q, positions, rotations, velocities and angular velocities of all bodies
    places: Law | None = None  # (instant) -> the origins of all bodies and frames, see `forces.place_names`
    mechanical: Law | None = None  # (instant) -> kinetic energy, and potential energy with that of elements [J]
    reactions: Law | None = None  # (instant, a), view=: wrenches through joints; see `wrench_views`
    energy: Law | None = None  # (instant) -> kinetic, potential and stored energy [J], in one sum
    implicit: Law | None = None  # (instant, h, guess, passes, centered); see `implicit_step`
    time_step: Law | None = None  # (instant, h) -> s and m after a step; None without rigid contacts
    tells: bool = False  # whether `implicit` also tells the force that contacts lack, and how hard they press
    stiff: Law | None = None  # (Instant) -> tree, and its stiff forces by name
    powers: Law | None = None  # (Instant) -> |supplied| + |dissipated| power [W] of each element, by name
    # (program, law of Laws and its inputs, groups of which its outputs consist): adds loops over limbs for one state
    for_one: Callable[[Program, Law, Mapping[str, Sequence[str]]], Program] | None = None
    constraints: Law | None = None  # (instant) -> phi, rate, J, sizes; None where the motion is free
    holding: Law | None = None  # (instant) -> s with smaller constraint errors, and the error before
    dependence: Law | None = None  # (instant) -> J scaled, and margin of the dependent velocities
    flatness: Law | None = None  # (instant) -> 1 where the direction of a fast motion is not determined
    stabilized: Law | None = None  # (instant, z, forces, pushes) -> moving, left, phi, rate; see `constrained_motion`
