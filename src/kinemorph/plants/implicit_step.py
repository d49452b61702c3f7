"""A whole step with stiff forces at its end, as a law of a plant: mechanics.steps.implicit_forces, and x along with it.

    v+ = v + h a,     w = where a steady motion at v+ leads in the time h,     x+ = x + h dx/dt

Forces that are not stiff, and the rates of x, are those at the start of the step. The step begins at its base: w is 0
in s, and nothing is spent on it. A centered step moves for h/2 at v, finds a there at the time t + h/2, and moves for
h/2 at v+: leapfrog, but for stiff forces. The law of a plant is

    (t, base, s, h, guess, m, u, p, passes, centered) -> s at the end, a
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kinemorph.mechanics.recursions.newton_euler import Wrench
from kinemorph.mechanics.steps.implicit_forces import Ends, Under, implicit_accelerations
from kinemorph.mechanics.steps.pair_forces import PairForce
from kinemorph.mechanics.steps.point_states import JointForce, PointForce
from kinemorph.mechanics.trees import charts
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.plants.user_laws import split


@dataclass(frozen=True)
class StepForces:
    """What acts on a tree during a step."""

    tau: Sequence[Any]  # generalized forces at the start, (nv,)
    points: Sequence[PointForce] = ()  # at the end, as are those of joints and pairs
    joints: Sequence[JointForce] = ()
    pairs: Sequence[PairForce] = ()
    wrenches: Mapping[int, Wrench] = field(default_factory=dict)  # on links, at the start
    rates: Sequence[Any] = ()  # dx/dt at the start, (nx,)


@dataclass(frozen=True)
class Damping:
    """A torque -d v of a joint. Its slope is the same everywhere."""

    d: Any  # [N m s/rad or N s/m]
    affine: bool = True

    def force(self, joint: Any) -> Any:
        """The torque or force."""
        return -self.d * joint.velocity

    def linear(self, joint: Any, h: Any) -> tuple[Any, Any]:
        """The torque or force, and its pivot."""
        return self.force(joint), h * self.d


def implicit_step(
    tree: Tree,
    base: Sequence[Any],
    s: Sequence[Any],
    h: Any,
    acting: StepForces,
    passes: int,
    guess: Sequence[Any] | None = None,
    locked: Collection[int] = (),
    first: Sequence[Any] | None = None,
    under: Under | None = None,
) -> tuple[list[Any], Ends]:
    """(s at the end of the step, its accelerations and forces), from s = [0, v, x] at the configuration `base`.

    The iteration starts from the accelerations `guess`, those of the step before. A centered step has `base` at its
    middle, and `first` is the displacement up to there: see `half_moved`. `under` are constraints on the accelerations.
    """
    _, v, x = split(s, tree.nv)
    v = [0.0 if k in locked else rate for k, rate in enumerate(v)]
    ends = implicit_accelerations(
        *(tree, base, v, acting.tau, h, acting.points, acting.joints, acting.pairs),
        passes=passes,
        guess=guess,
        wrenches=acting.wrenches,
        locked=locked,
        centered=first is not None,
        under=under,
    )
    after = [rate + h * a for rate, a in zip(v, ends.a, strict=True)]
    if first is None:
        w = charts.steady(tree, [h * rate for rate in after])
    else:
        w = charts.chained(tree, first, charts.steady(tree, [0.5 * h * rate for rate in after]))
    grown = [one + h * rate for one, rate in zip(x, acting.rates, strict=True)]
    return [*w, *after, *grown], ends


def half_moved(tree: Tree, base: Sequence[Any], v: Sequence[Any], h: Any) -> tuple[Sequence[Any], Sequence[Any]]:
    """(w, configuration) after half a step at v; quaternions of any length."""
    w = charts.steady(tree, [0.5 * h * rate for rate in v])
    return w, charts.place(tree, base, w, finished=False)
