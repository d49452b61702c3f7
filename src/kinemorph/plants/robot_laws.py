"""The laws of a robot's plant, over any scalar:

    M(q) a + h(q, v) = tau + J(q)^T lambda,     tau = u + forces(t, q, v, x, m, u, p) + elements - damping v

What acts is in `forces`, what keeps constraints in `constrained_motion`; here are the laws that runs ask for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from kinemorph.algebra.dual import Dual
from kinemorph.algebra.scalar import is_zero
from kinemorph.algebra.vectors import add, sub
from kinemorph.codegen.graphs.program import Program
from kinemorph.mechanics.constraints.constrained import constrained_dynamics, held_rows
from kinemorph.mechanics.derivatives.branch_factor import branch_factor
from kinemorph.mechanics.elements.instant import SystemInstant
from kinemorph.mechanics.elements.law import Change
from kinemorph.mechanics.recursions.kinematics import tangent_of
from kinemorph.mechanics.steps.discrete_action import discrete_action
from kinemorph.mechanics.steps.implicit_forces import Under, point_slopes
from kinemorph.mechanics.steps.point_states import JointForce, PointForce
from kinemorph.mechanics.trees import charts
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.parameter import evaluate
from kinemorph.plants.constrained_motion import Kept
from kinemorph.plants.forces import summed
from kinemorph.plants.implicit_step import Damping, StepForces, half_moved, implicit_step
from kinemorph.plants.loop_methods import Baumgarte, Multipliers, SingularPerturbation
from kinemorph.plants.plant import Jumps, Laws
from kinemorph.plants.user_laws import LEVEL, Law, checked_length, split
from kinemorph.plants.variational import DiscreteLaws

if TYPE_CHECKING:
    from kinemorph.plants.limb_folding import Folded

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Motion(Kept):
    """The laws of a robot's plant."""

    @property
    def laws(self) -> Laws:
        """All of them."""
        discrete = DiscreteLaws(self.action, self.balance, self.momentum, self.velocity)
        jumps = Jumps(self.sampled, self.read, self.decided, self.settled, self.guard_values, self.switched)
        return Laws(
            *(self.rate, self.residual, self.place, self.drift, self.acting, discrete, jumps),
            stored=self.stored if self.elements.members else None,
            reactions=self.reactions,
            implicit=self.implicit,
            stiff=self.stiff if self.elements.members and not self.constrained else None,
            for_one=self.for_one,
            constraints=self.constraints if self.constrained else None,
            held=self.held if self.constrained and not isinstance(self.loops, Baumgarte | Multipliers) else None,
            dependence=self.dependence if self.partial else None,
            flat=self.flat if self.constrained and isinstance(self.loops, SingularPerturbation) else None,
            bound=self.bound if self.constrained else None,
        )

    # ── motion ────────────────────────────────────────────────────────────────────────────────────────────────────

    def rate(self, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> list[Any]:
        """ds/dt, by forward dynamics."""
        tree = self.tree(p)
        q, v, x = self._state(tree, base, s)
        ready = self.prepared(tree)
        drifting: Sequence[Any] = v  # how coordinates move; only fast ones have a velocity that is not v
        if self.constrained and self.on_stages:
            better = self._corrections(ready, t, q, v, x, m, u, p)
            q, v = charts.place(tree, q, better.moved, finished=False), summed(v, better.change)
            drifting = v
        elif self.constrained and isinstance(self.loops, SingularPerturbation):
            fast = self._corrections(ready, t, q, v, x, m, u, p, per_time=1.0 / self.loops.epsilon).change
            v, drifting = summed(v, self._corrections(ready, t, q, v, x, m, u, p).change), summed(v, fast)
        acting = self._acting(ready, t, q, v, x, m, u, p)
        solved = self._solved(ready, t, q, v, x, m, u, p, acting)
        rates = self._extra_rates(t, q, v, x, m, u, p, acting, solved.supplied)
        return [*charts.local_rate(tree, s[: self.nv], drifting), *solved.a, *rates]

    def for_one(self, program: Program, law: Law, outputs: Mapping[str, Sequence[str]]) -> Program:
        """The program of a law, with limbs that are alike side by side where it runs on one state; see `limbs`."""
        from kinemorph.plants.limb_folding import with_limbs_abreast

        return with_limbs_abreast(self._folded, program, law, outputs)

    @cached_property
    def _folded(self) -> Folded | None:
        """The same system with one limb of each kind."""
        from kinemorph.plants.limb_folding import folded

        return folded(self)

    def residual(self, t: Any, base: Any, s: Any, z: Any, m: Any, u: Any, p: Any) -> list[Any]:
        """What is left over at z = [a, dx/dt], by inverse dynamics; where loops close, against forward dynamics."""
        tree, nv = self.tree(p), self.nv
        ready = self.prepared(tree)
        q, v, x = self._state(tree, base, s)
        a = [0.0 if k in self.still else entry for k, entry in enumerate(z[:nv])]
        acting = self._acting(ready, t, q, v, x, m, u, p)
        driven: Any = 0.0
        if self.constrained:
            solved = self._solved(ready, t, q, v, x, m, u, p, acting)
            unmet, driven = sub(a, solved.a), solved.supplied
        elif self.dynamics.takes_wrenches:
            unmet = sub(self.dynamics.inverse(ready, q, v, a, *acting.loads), acting.tau)
        else:
            unmet = sub(self.dynamics.inverse(ready, q, v, a), self._tau(ready, q, v, acting))
        left = [z[k] if k in self.still else entry for k, entry in enumerate(unmet)]
        return [*left, *sub(z[nv:], self._extra_rates(t, q, v, x, m, u, p, acting, driven))]

    def place(self, base: Any, s: Any, *, finished: bool = True) -> list[Any]:
        """The configuration that s means."""
        return charts.place(self.bare, base, s[: self.nv], finished=finished)

    def drift(self, s: Any, h: Any) -> list[Any]:
        """w after the time h at constant velocity."""
        w, v, _ = split(s, self.nv)
        return charts.chained(self.bare, w, charts.steady(self.bare, [h * rate for rate in v]))

    def implicit(
        self, t: Any, base: Any, s: Any, h: Any, guess: Any, m: Any, u: Any, p: Any, passes: int, centered: bool = False
    ) -> tuple[list[Any], list[Any]]:
        """s after a step, and its accelerations: stiff forces of elements and damping at its end, all others at its
        start, or all where it is `centered`; see `implicit_step`.
        """
        tree = self.tree(p)
        q, v, x = self._state(tree, base, [*[0.0] * self.nv, *s[self.nv :]])
        first = None
        if centered:
            first, q = half_moved(self.bare, base, v, h)
            base, t = q, t + 0.5 * h
        ready = self.prepared(tree)
        acting = self._acting(ready, t, q, v, x, m, u, p, stiff=True)
        numbers = [evaluate(d, self._lookup(p)) for joint in self.dynamics.robot.joints for d in joint.damping]
        damping = [JointForce(j, Damping(d)) for j, d in enumerate(numbers) if not is_zero(d)]
        during = StepForces(
            summed(acting.pushed, acting.elements.torques),
            [force for stiff in acting.stiff for force in stiff.points],
            [*damping, *(force for stiff in acting.stiff for force in stiff.joints)],
            acting.elements.loads,
            self._extra_rates(t, q, v, x, m, u, p, acting),
        )
        under = None
        if self.constrained:
            found = self._conditions(ready, t, q, v, x, m, u, p)
            rows = held_rows(found.rows(self._wanted(found)), self.still)
            under = Under(
                self.dynamics.masses(ready, q),
                point_slopes(ready, ready.moves(q), during.points),
                lambda M, rest: constrained_dynamics(branch_factor(ready, M), rest, rows).a,
            )
        after, ends = implicit_step(ready, base, s, h, during, passes, guess, self.still, first, under)
        world = self._seen(ready, t, q, v, x, m, u, p)
        for index, (element, law, start, _) in enumerate(self.elements.members):
            late = law.late_rates(element, world.views[index], after[self.nv : 2 * self.nv], h)
            for k, rate in enumerate(late or (), self.extra + start):
                after[2 * self.nv + k] = x[k] + h * rate
        return after, ends.a

    def stiff(
        self, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any
    ) -> tuple[Tree, dict[str, PointForce], dict[str, JointForce]]:
        """The tree, and the stiff forces of elements on it by name."""
        tree = self.tree(p)
        points: dict[str, PointForce] = {}
        joints: dict[str, JointForce] = {}
        for index, stiff in self.world(tree, t, q, v, x, m, u, p).stiff().items():
            name = self.elements.members[index].element.name
            points |= _numbered(name, stiff.points)
            joints |= _numbered(name, stiff.joints)
        return tree, points, joints

    # ── memory ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _now(self, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> SystemInstant:
        tree = self.tree(p)
        q, v, x = self._state(tree, base, s)
        return self.world(tree, t, charts.finished(self.bare, q), v, x, m, u, p)

    def sampled(
        self, samplers: Sequence[tuple[int, int]], t: Any, base: Any, s: Any, m: Any, u: Any, p: Any
    ) -> list[Any]:
        """Memory after some elements have sampled, one after the other; each by its index and number of its clock."""
        memory = list(m)
        for index, clock in samplers:
            element, law, _, start = self.elements.members[index]
            world = self._now(t, base, s, memory, u, p)
            new = law.sample(element, world.views[index], clock)
            what = f"element '{element.name}': what it gives when it samples"
            memory[start : start + len(law.memory(element))] = checked_length(new, len(law.memory(element)), what)
        return memory

    def read(self, sampler: tuple[int, int], t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> list[Any]:
        """The signals that an element's Python function is given."""
        element, law = self.elements.members[sampler[0]][:2]
        world = self._now(t, base, s, m, u, p)
        return [world.signal(name) for name in law.reads(element)]

    def decided(self, sampler: tuple[int, int], t: float, values: Sequence[float], m: Sequence[float]) -> list[float]:
        """Memory after an element's Python function was called, in plain numbers."""
        element, law, _, start = self.elements.members[sampler[0]]
        end = start + len(law.memory(element))
        return [*m[:start], *law.decide(element, t, values, m[start:end], sampler[1]), *m[end:]]

    def settled(self, members: Sequence[int], t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> dict[str, Any]:
        """Memory and extra states after an accepted step."""
        world = self._now(t, base, s, m, u, p)
        changes = {}
        for index in members:
            element, law = self.elements.members[index][:2]
            changes[index] = law.settle(element, world.views[index])
        return self._changed(changes, s, m)

    def guard_values(self, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> list[Any]:
        """All guards of elements."""
        world = self._now(t, base, s, m, u, p)
        return [
            value
            for index, member in enumerate(self.elements.members)
            for value in member.law.guard_values(member.element, world.views[index])
        ]

    def switched(self, guard: int, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> dict[str, Any]:
        """Memory and extra states where a guard has fallen through zero."""
        index, number, _ = self.elements.guards[guard]
        element, law = self.elements.members[index][:2]
        world = self._now(t, base, s, m, u, p)
        return self._changed({index: law.switch(element, world.views[index], number)}, s, m)

    def _changed(self, changes: Mapping[int, Change], s: Any, m: Any) -> dict[str, Any]:
        """Memory with new entries, and x with what was lost added to the account."""
        memory, x = list(m), list(split(s, self.nv)[2])
        for index, change in changes.items():
            element, law, _, start = self.elements.members[index]
            memory[start : start + len(law.memory(element))] = list(change.memory)
            if self.account:
                x[-1] = x[-1] + change.lost
        return {"m": memory, "x": x}

    # ── whole steps: see `variational` ────────────────────────────────────────────────────────────────────────────

    def action(self, base: Any, moved: Any, w: Any, h: Any, p: Any) -> Any:
        """The action of a step; `moved` are local coordinates of its start, for derivatives by it."""
        tree = self.tree(p)
        return discrete_action(tree, charts.place(tree, base, moved, finished=False), w, h)

    def balance(
        self, t: Any, base: Any, s: Any, z: Any, begun: Any, h: Any, m: Any, u: Any, p: Any, by_start: Any, by_end: Any
    ) -> dict[str, Any]:
        """The discrete Euler-Lagrange equations with forces half-way, and the momentum at the end."""
        tree, nv = self.tree(p), self.nv
        w, ends, x = z[:nv], z[nv:], s[2 * nv :]
        half, way = charts.halfway(tree, w)
        v = [0.0 if k in self.still else entry / h for k, entry in enumerate(way)]
        x_half = [0.5 * (one + other) for one, other in zip(x, ends, strict=True)]
        there = (t + 0.5 * h, charts.place(tree, base, half, finished=False), v, x_half, m, u, p)
        acting = self._acting(tree, *there)
        impulse = [h * force for force in self._tau(tree, there[1], v, acting)]

        def half_moved(rates: Any) -> Any:
            """The velocity half-way as w changes at these rates."""
            dual = [Dual(one, rate, level=LEVEL) for one, rate in zip(w, rates, strict=True)]
            return charts.velocity(tree, half, [tangent_of(entry, LEVEL) for entry in charts.halfway(tree, dual)[0]])

        # the work of the impulse over the ways that start and end make half-way adds to the slopes of the action
        by_end = add(by_end, charts.pulled_back(tree, half_moved, impulse))
        by_start = add(by_start, charts.pulled_back(tree, lambda rates: charts.carried(tree, half, rates), impulse))
        after = charts.pulled_back(tree, lambda rates: charts.local_rate(tree, w, rates), by_end)
        # the end stays where it is while the start moves: w makes up for it
        before = sub(charts.pulled_back(tree, lambda rates: charts.carried(tree, w, rates), after), by_start)
        left = [way[k] if k in self.still else one - begun[k] for k, one in enumerate(before)]
        rates = self._extra_rates(*there, acting)
        grown = [end - (one + h * rate) for end, one, rate in zip(ends, x, rates, strict=True)]
        return {"left": [*left, *grown], "after": after}

    def _weightless(self, p: Any) -> Tree:
        return self.prepared(replace(self.tree(p), gravity=(0.0, 0.0, 0.0)))

    def momentum(self, base: Any, s: Any, p: Any) -> Sequence[Any]:
        """M(q) v."""
        q, v, _ = self._state(self.tree(p), base, s)
        return self.dynamics.inverse(self._weightless(p), q, [0.0] * self.nv, v)

    def velocity(self, base: Any, s: Any, begun: Any, p: Any) -> Sequence[Any]:
        """v with M(q) v equal to a given momentum."""
        q, _, _ = self._state(self.tree(p), base, s)
        return self.dynamics.accelerations(self._weightless(p), q, [0.0] * self.nv, begun, locked=self.still)


def _numbered(name: str, parts: Sequence[T]) -> dict[str, T]:
    """Parts of an element by name: its own, or with a number where it has several."""
    return {f"{name}.{k}" if len(parts) > 1 else name: part for k, part in enumerate(parts, start=1)}
