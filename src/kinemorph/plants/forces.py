"""What acts on a robot at one instant, over any scalar: the user's forces, elements, damping, states of their own.

Elements are evaluated once for each instant (mechanics.elements.instant.SystemInstant), and their loads on links are
handed to the recursions as outside wrenches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from kinemorph.algebra.scalar import plus
from kinemorph.algebra.vectors import sub
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.mechanics.elements.ensemble import Ensemble
from kinemorph.mechanics.elements.instant import Gathered, SystemInstant, generalized
from kinemorph.mechanics.elements.law import Stiff
from kinemorph.mechanics.elements.places import Motions
from kinemorph.mechanics.recursions.newton_euler import Wrench
from kinemorph.mechanics.trees import charts
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.configuration import neutral
from kinemorph.model.parameter import Parameter, evaluate
from kinemorph.plants.loop_methods import (
    LoopMethod,
    Projection,
)
from kinemorph.plants.user_laws import Law, checked_length, of_groups, split

PROJECTION = Projection()


class Acting(NamedTuple):
    """What acts at one instant: generalized forces (nv,) from outside and of damping, and what elements do."""

    pushed: list[Any]
    elements: Gathered
    damped: list[Any]
    stiff: tuple[Stiff, ...] = ()

    @property
    def tau(self) -> list[Any]:
        """All generalized forces but those of loads."""
        return summed(summed(self.pushed, self.elements.torques), self.damped)

    @property
    def loads(self) -> tuple[Mapping[int, Wrench], ...]:
        """As recursions take them: none, or one mapping."""
        return (self.elements.loads,) if self.elements.loads else ()


@dataclass(frozen=True, eq=False)
class Loaded:
    """A robot and what acts on it. Where x, u and p have several owners, they stand in this order:

    x       states of the user, states of elements, two for the account of energy
    u       inputs of the user (or one force per velocity), inputs of elements that nobody drives
    p       parameters of the robot, parameters of elements
    """

    dynamics: Dynamics
    elements: Ensemble
    parameters: tuple[Parameter, ...]
    forces: Law | None
    extra: int  # how many states the user has added
    state_rates: Law | None
    given: int  # how many inputs the user has named
    pushed: bool  # whether the first inputs are generalized forces
    still: tuple[int, ...]
    account: bool
    loops: LoopMethod = PROJECTION
    dependent: tuple[float, ...] | None = None  # 1 for velocities that follow from others; None where a run chooses

    @property
    def nv(self) -> int:
        return self.dynamics.robot.nv

    @cached_property
    def bare(self) -> Tree:
        """The links at nominal parameters, which say how configurations move."""
        return resolve(self.dynamics.robot)

    def tree(self, p: Any) -> Tree:
        """The links at parameters p."""
        return resolve(self.dynamics.robot, self._lookup(p))

    def prepared(self, tree: Tree) -> Tree:
        """The tree as recursions want it, tips of limbs turned to where forces act on them."""
        return self.dynamics.prepared(tree, self._tips)

    @cached_property
    def _tips(self) -> dict[int, Any]:
        """Points at which stiff forces act, by link of the nominal tree; of several on a link the last."""
        if not self.elements.members:
            return {}
        q, v = neutral(self.dynamics.robot).tolist(), [0.0] * self.nv
        lookup = {parameter.name: parameter.value for parameter in self.parameters}
        own = (self.elements.states, self.elements.memory, self.elements.open_inputs)
        x, m, u = ([0.0] * len(names) for names in own)
        world = SystemInstant(self.elements, self.bare, 0.0, q, v, x, m, u, lookup)
        return {force.link: force.point for stiff in world.stiff().values() for force in stiff.points}

    def _lookup(self, p: Any) -> dict[str, Any]:
        return {parameter.name: value for parameter, value in zip(self.parameters, p, strict=True)}

    def _state(self, tree: Tree, base: Any, s: Any) -> tuple[Any, list[Any], Any]:
        """(q, v, x); quaternions of any length, locked velocities zero."""
        w, v, x = split(s, self.nv)
        v = [0.0 if k in self.still else rate for k, rate in enumerate(v)]
        return charts.place(tree, base, w, finished=False), v, x

    def _of_user(self, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> dict[str, Any]:
        """What laws of the user may read; quaternions of length 1."""
        q = charts.finished(self.bare, q)
        return {"t": t, "q": q, "v": v, "x": x[: self.extra], "m": m, "u": u[: self.given], "p": p}

    # ── forces ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _seen(self, tree: Tree, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> SystemInstant:
        """The system as what acts in a step sees it."""
        own = x[self.extra : self.extra + len(self.elements.states)]
        return SystemInstant(self.elements, tree, t, q, v, own, m, u[self.given :], self._lookup(p))

    def _acting(
        self, tree: Tree, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any, *, stiff: bool = False
    ) -> Acting:
        """What acts, with loads on the links of `tree`; `stiff`: forces that a step may take at its end apart."""
        pushed: list[Any] = list(u[: self.nv]) if self.pushed else [0.0] * self.nv
        lookup = self._lookup(p)
        if self.forces is not None:
            given = self._of_user(t, q, v, x, m, u, p)
            law = checked_length(of_groups(self.forces, given, "forces"), self.nv, "the law of forces")
            pushed = summed(pushed, law)
        damping = [evaluate(d, lookup) for joint in self.dynamics.robot.joints for d in joint.damping]
        world = self._seen(tree, t, q, v, x, m, u, p)
        damped = [-d * rate for d, rate in zip(damping, v, strict=True)]
        apart = world.stiff() if stiff else {}
        return Acting(pushed, world.gathered(apart), damped, tuple(apart.values()))

    def _tau(self, tree: Tree, q: Any, v: Any, acting: Acting) -> list[Any]:
        """All generalized forces, those of loads included."""
        if not acting.elements.loads:
            return acting.tau
        return summed(acting.tau, generalized(Motions(tree, q, v), acting.elements.loads))

    def acting(self, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> dict[str, list[Any]]:
        """The generalized forces, by name."""
        tree = self.tree(p)
        q, v, x = self._state(tree, base, s)
        acting = self._acting(tree, t, q, v, x, m, u, p)
        return {"supplied": list(sub(self._tau(tree, q, v, acting), acting.damped)), "damping": acting.damped}

    def stored(self, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> Any:
        """Energy that elements hold [J]."""
        tree = self.tree(p)
        q, v, x = self._state(tree, base, s)
        return self._acting(tree, t, q, v, x, m, u, p).elements.stored

    def _extra_rates(
        self, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any, acting: Acting, driven: Any = 0.0
    ) -> list[Any]:
        """Rates of all but positions and velocities; `driven` [W] is what constraints that go with time supply."""
        rates: list[Any] = []
        if self.state_rates is not None:
            given = self._of_user(t, q, v, x, m, u, p)
            law = of_groups(self.state_rates, given, "state_rates")
            rates = checked_length(law, self.extra, "the law of state rates")
        rates = [*rates, *acting.elements.rates]
        if self.account:
            rates += [
                plus(power(acting.pushed, v) + acting.elements.supplied, driven),
                acting.elements.dissipated - power(acting.damped, v),
            ]
        return rates


def summed(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    """a + b, entry by entry."""
    return [one + other for one, other in zip(a, b, strict=True)]


def power(forces: Sequence[Any], v: Sequence[Any]) -> Any:
    """Of forces at velocities [W]."""
    return sum((force * rate for force, rate in zip(forces, v, strict=True)), 0.0)
