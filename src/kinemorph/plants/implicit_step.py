"""A whole step with stiff forces at its end, as a law of a plant: mechanics.steps.implicit_forces, with rates of x.

    w, v+ = free flight over the time h from v + h a,     x+ = x + h dx/dt

The letters are those of `LocalInstant`; v+ and x+ are the velocities and the further states at the end of the step.
The accelerations a are those beyond free flight; see mechanics.steps.free_flight.

Forces that are not stiff, and the rates of x, are those at the start of the step. The step starts at its base, where w
is 0, so that w costs no operations. A centered step flies for h/2 from v, computes a there at the time t + h/2, and
flies for h/2 from v + h a: this is leapfrog, except for stiff forces. The law of a plant is

    (t, base, s, h, guess, m, u, p, passes, centered) -> s at the end, a
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kinemorph.mechanics.recursions.newton_euler import Wrench
from kinemorph.mechanics.steps.free_flight import flight
from kinemorph.mechanics.steps.implicit_forces import Ends, Under, implicit_accelerations
from kinemorph.mechanics.steps.pair_forces import PairForce
from kinemorph.mechanics.steps.point_states import JointForce, PointForce
from kinemorph.mechanics.trees import charts
from kinemorph.mechanics.trees.driven import AllJoints
from kinemorph.mechanics.trees.tree import Tree


@dataclass(frozen=True)
class StepForces:
    """The forces on a tree during a step, and the rates dx/dt of the further states x."""

    tau: Sequence[Any]  # generalized forces at the start, (nv,)
    points: Sequence[PointForce] = ()  # stiff forces at points, evaluated at the end
    joints: Sequence[JointForce] = ()  # stiff forces at joints, evaluated at the end
    pairs: Sequence[PairForce] = ()  # stiff forces between two links, evaluated at the end
    wrenches: Mapping[int, Wrench] = field(default_factory=dict)  # on links, at the start
    rates: Sequence[Any] = ()  # dx/dt at the start, (nx,)


@dataclass(frozen=True)
class Damping:
    """Viscous damping with the coefficient d, a torque -d v of a joint, which is linear in its velocity v."""

    d: Any  # [N m s/rad or N s/m]
    affine: bool = True

    def force(self, joint: Any) -> Any:
        """The damping torque [N m] or force [N] at the state of a joint."""
        return -self.d * joint.velocity

    def linear(self, joint: Any, h: Any) -> tuple[Any, Any]:
        """The damping torque or force, and h d, which it adds to the joint's inertia in a step of h [s]."""
        return self.force(joint), h * self.d


@dataclass(frozen=True)
class StepStart:
    """The start of a step: the configuration `base` (nq,), v (nv,) with 0 for locked velocities, and x (nx,).

    For a centered step, `base` and v are those at its middle, and `first` is the displacement up to there: see
    `half_flown`. `every` has all joints at (base, v), `flying` are their accelerations in free flight.
    """

    base: Sequence[Any]
    v: Sequence[Any]
    x: Sequence[Any]
    first: Sequence[Any] | None
    every: AllJoints
    flying: Sequence[Any]


def implicit_step(
    tree: Tree,
    space: Tree,
    start: StepStart,
    h: Any,
    acting: StepForces,
    passes: int,
    guess: Sequence[Any] | None = None,
    locked: Collection[int] = (),
    under: Under | None = None,
) -> tuple[list[Any], Ends]:
    """The state s = [w, v, x] at the end of a step of h [s], and the accelerations and forces of all joints.

    The step starts at s = [0, v, x], that is at the configuration `base` (nq,); see `LocalInstant` for the letters.

    `space` has the links whose joints have coordinates in q. The iteration has `passes` passes and starts from the
    accelerations `guess` (nv,), those of the step before. `locked` are velocity indices that stay 0. `under` is needed
    for constraints, for driven joints, and for forces between two links that both move.
    """
    every, nv = start.every, space.nv
    ends = implicit_accelerations(
        *(tree.of_joints, every.q, every.v, acting.tau, h, acting.points, acting.joints, acting.pairs),
        passes=passes,
        guess=None if guess is None else every.accelerations(guess),
        flying=start.flying,
        wrenches=acting.wrenches,
        locked=locked,
        centered=start.first is not None,
        under=under,
    )
    kicked = [rate + h * a for rate, a in zip(start.v, ends.a[:nv], strict=True)]
    w, after = flight(tree, kicked, h if start.first is None else 0.5 * h, locked)
    if start.first is not None:
        w = charts.chained(space, start.first, w)
    grown = [one + h * rate for one, rate in zip(start.x, acting.rates, strict=True)]
    return [*w, *after, *grown], ends
