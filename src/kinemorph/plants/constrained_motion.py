"""How the motion of a robot keeps its constraints, over any scalar:

    M(q) a + h(q, v) = tau + J(q)^T lambda,     J a = gamma

J are the constraints of loops, coupled joints and elements (`constraints`), kept in one of the ways of `loop_methods`:
what moves in place of the free motion, and what is done after a step, differ; the equations are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from kinemorph.algebra.scalar import div, is_zero, less, less_equal, minimum, minus, plus, sqrt, times, where
from kinemorph.algebra.vectors import dot, sub
from kinemorph.mechanics.constraints import closures
from kinemorph.mechanics.constraints.constrained import Rows, constrained_dynamics, held_rows, masked, span_of
from kinemorph.mechanics.constraints.reactions import joint_wrenches, loosened, reaction_multipliers
from kinemorph.mechanics.elements.instant import SystemInstant
from kinemorph.mechanics.recursions.newton_euler import Wrench
from kinemorph.mechanics.trees import charts
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.plants.constraints import Conditions, conditions
from kinemorph.plants.forces import Acting, Loaded, summed
from kinemorph.plants.loop_methods import (
    Baumgarte,
    Partitioning,
    Projection,
    SingularPerturbation,
)

NEAR = 2e-5  # of a row's length: so near to a singular configuration a row amplifies rounding more than it says
FLAT = 0.01  # likewise, radians for a linkage in line: so near, the fast motion does not know where to go


class Corrections(NamedTuple):
    """A displacement and a change of velocity, (nv,) each, that bring a state onto constraints; these as they were
    found; and 1 for each row of them that can be met, else 0.
    """

    moved: list[Any]
    change: list[Any]
    found: Conditions
    counts: list[Any]


class Solved(NamedTuple):
    """Accelerations (nv,), multipliers (nc,) of all constraints, and the power [W] of those that go with time."""

    a: Sequence[Any]
    multipliers: Sequence[Any] = ()
    supplied: Any = 0.0


@dataclass(frozen=True, eq=False)
class Kept(Loaded):
    """The same under constraints."""

    @cached_property
    def constrained(self) -> bool:
        """Whether anything constrains the motion of the tree."""
        return not self.dynamics.robot.is_open or bool(self.elements.constraint_names)

    @property
    def on_stages(self) -> bool:
        """Whether every look at the motion is taken on the constraints, and not only the ends of steps."""
        return isinstance(self.loops, Partitioning) or (isinstance(self.loops, Projection) and self.loops.stages)

    @property
    def chooses(self) -> bool:
        """Whether runs choose which velocities depend on the others; memory ends with the choice, (nv,) numbers."""
        return self.partial and self.dependent is None

    @property
    def partial(self) -> bool:
        """Whether some velocities follow from the others."""
        return self.constrained and isinstance(self.loops, Partitioning | SingularPerturbation)

    # ── accelerations and corrections ─────────────────────────────────────────────────────────────────────────────────

    def world(self, tree: Tree, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> SystemInstant:
        """The system as its elements see it, on a tree; sensors may ask for accelerations."""
        own = x[self.extra : self.extra + len(self.elements.states)]
        lookup = self._lookup(p)

        def accelerations() -> Sequence[Any]:
            ready = self.prepared(self.tree(p))
            acting = self._acting(ready, t, q, v, x, m, u, p)
            return self._solved(ready, t, q, v, x, m, u, p, acting).a

        def reactions() -> Mapping[str, Sequence[Any]]:
            wrenches = self._wrenches(t, q, v, accelerations(), x, m, u, p)
            robot = self.dynamics.robot
            return dict(zip((joint.name for joint in (*robot.joints, *robot.loops)), wrenches, strict=True))

        def multipliers() -> Mapping[str, Any]:
            ready = self.prepared(self.tree(p))
            acting = self._acting(ready, t, q, v, x, m, u, p)
            names = self.elements.constraint_names  # their rows come last
            forces = self._solved(ready, t, q, v, x, m, u, p, acting).multipliers
            return dict(zip(names, forces[len(forces) - len(names) :], strict=True))

        later = (accelerations, reactions, multipliers)
        return SystemInstant(self.elements, tree, t, q, v, own, m, u[self.given :], lookup, *later)

    def _solved(self, tree: Tree, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any, acting: Acting) -> Solved:
        """FD under what acts and what constrains; a formulation without wrenches gets their generalized forces."""
        takes = self.dynamics.takes_wrenches
        forces = (acting.tau, *acting.loads) if takes else (self._tau(tree, q, v, acting),)
        if not self.constrained:
            return Solved(self.dynamics.accelerations(tree, q, v, *forces, locked=self.still))
        found = self._conditions(tree, t, q, v, x, m, u, p)
        rest = self.dynamics.rest(tree, q, v, *forces)
        rows = held_rows(found.rows(self._wanted(found)), self.still)
        a, multipliers, *_ = self.dynamics.under(tree, q, rest, rows)
        multipliers = multipliers[: len(found.rate)]
        power: Any = 0.0
        for force, rate in zip(multipliers, found.driven, strict=True):
            power = minus(power, times(force, rate))
        return Solved(a, multipliers, power)

    def _conditions(
        self, tree: Tree, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any, *, bias: bool = True
    ) -> Conditions:
        """All constraints at an instant; see `conditions`."""

        def seen(t: Any, q: Any, v: Any) -> SystemInstant:
            return self._seen(tree, t, q, v, x, m, u, p)

        return conditions(tree, t, q, v, seen if self.elements.constraint_names else None, bias=bias, near=NEAR)

    def _wanted(self, found: Conditions) -> list[Any]:
        """What J a is to be, shape (nc,)."""
        if not isinstance(self.loops, Baumgarte):
            return found.gamma
        pull, damp = self.loops.beta**2, 2.0 * self.loops.alpha
        return [g - damp * r - pull * e for g, r, e in zip(found.gamma, found.rate, found.filled(), strict=True)]

    def constraints(self, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> dict[str, Any]:
        """phi (nh,), the rates (nc,) of all rows, J (nc, nv), and the sizes of rows (nc,)."""
        tree = self.prepared(self.tree(p))
        q, v, x = self._state(tree, base, s)
        found = self._conditions(tree, t, q, v, x, m, u, p, bias=False)
        return {"phi": found.phi, "rate": found.rate, "J": found.J, "sizes": found.sizes}

    def _corrections(
        self, tree: Tree, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any, per_time: float = 0.0
    ) -> Corrections:
        """What brings q and v onto the constraints.

        `per_time` [1/s]: the velocity is to take so much of the error phi away in each unit of time.
        """
        found = self._conditions(tree, t, q, v, x, m, u, p, bias=False)
        everything = found.rows([-(rate + per_time * e) for rate, e in zip(found.rate, found.filled(), strict=True)])
        placed = len(found.phi)
        positions = Rows(found.J[:placed], [-e for e in found.phi], found.weights[:placed], found.opening)
        nothing = [0.0] * self.nv
        if isinstance(self.loops, Partitioning | SingularPerturbation):
            metric = masked([times(mask, float(k not in self.still)) for k, mask in enumerate(self._dependent(m))])
            moved, changed = (constrained_dynamics(metric, nothing, rows) for rows in (positions, everything))
        else:
            moved, changed = (
                self.dynamics.under(tree, q, nothing, held_rows(rows, self.still)) for rows in (positions, everything)
            )
        return Corrections(moved.a, changed.a, found, changed.counts)

    def _dependent(self, m: Any) -> Sequence[Any]:
        """1 for each velocity that follows from the others, else 0, shape (nv,)."""
        return self.dependent if self.dependent is not None else m[len(m) - self.nv :]

    def held(self, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> dict[str, Any]:
        """s with constraints kept better, `out` (ns,), and the `error` that it had, good up to 1."""
        tree = self.tree(p)
        q, v, x = self._state(tree, base, s)
        ready = self.prepared(tree)
        if isinstance(self.loops, SingularPerturbation):
            change = self._corrections(ready, t, q, v, x, m, u, p, per_time=1.0 / self.loops.epsilon).change
            return {"out": [*s[: self.nv], *summed(v, change), *x], "error": 0.0}
        assert isinstance(self.loops, Projection | Partitioning)
        better = self._corrections(ready, t, q, v, x, m, u, p)
        w = summed(s[: self.nv], charts.local_rate(tree, s[: self.nv], better.moved))
        error = better.found.error(self.loops.tolerance, better.counts)
        return {"out": [*w, *summed(v, better.change), *x], "error": error}

    def dependence(self, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> dict[str, Any]:
        """How well the dependent velocities follow from the others: `margin`, 1 at best and 0 where they do not; and J,
        (nc, nv), rows and columns of comparable size, to choose others by. Masses do not enter: a light body would
        outweigh all others, wherever it stands.

        The margin is the least share, of what a row says that earlier ones do not, that dependent velocities make up.
        """
        tree = self.prepared(self.tree(p))
        q, v, x = self._state(tree, base, s)
        found = self._conditions(tree, t, q, v, x, m, u, p, bias=False)
        rows = found.rows([0.0] * len(found.rate))
        free = self._unit_squares(tree, found)
        whole = span_of(masked(free), rows)
        some = span_of(masked([times(mask, one) for mask, one in zip(self._dependent(m), free, strict=True)]), rows)
        margin: Any = less_equal(whole.rank, some.rank)
        for all_of_it, size in zip(whole.sizes, some.sizes, strict=True):
            made_up = div(all_of_it, size) if not is_zero(size) else 1.0  # sizes are 1 / what is left
            margin = where(size, minimum(margin, made_up), margin)
        J = [
            [div(times(x, sqrt(one)), size) for x, one in zip(row, free, strict=True)]
            for row, size in zip(found.J, found.sizes, strict=True)
        ]
        return {"J": J, "margin": margin}

    def flat(self, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> Any:
        """1 so near to a singular configuration that no choice of dependent velocities decides them well, else 0."""
        tree = self.prepared(self.tree(p))
        q, v, x = self._state(tree, base, s)
        found = self._conditions(tree, t, q, v, x, m, u, p, bias=False)
        rows = found.rows([0.0] * len(found.rate))
        known = len(found.weights) - len(self.elements.constraint_names)  # rows of loops come first
        plain = closures.constraint_weights(tree, found.J[:known], found.sizes, found.opening, FLAT)
        metric = masked(self._unit_squares(tree, found))
        clear = span_of(metric, rows._replace(weights=[*plain, *found.weights[known:]]), FLAT)
        return less(clear.rank, span_of(metric, rows).rank)

    def _unit_squares(self, tree: Tree, found: Conditions) -> list[Any]:
        """The squares of comparable velocities, shape (nv,); 0 for locked ones."""
        reaches = closures.velocity_reaches(tree, found.sizes)
        return [0.0 if k in self.still else times(reach, reach) for k, reach in enumerate(reaches)]

    def bound(self, t: Any, base: Any, s: Any, z: Any, forces: Any, pushes: Any, m: Any, u: Any, p: Any) -> Any:
        """The stabilized form of index 2 (Gear, Gupta, Leimkuhler), with multipliers as unknowns: `forces` (nc,) in

            M a + h = tau + J^T forces,     dq/dt moves at  v + J^T pushes,     0 = phi,     0 = d phi/dt

        `pushes` (nh,) are zero but for errors of a method. Gives `moving` (nv,), how coordinates move; `left` (nv +
        nx,), what is left over at z = [a, dx/dt]; `phi` (nh,) and `rate` (nc,).
        """
        tree, nv = self.tree(p), self.nv
        ready = self.prepared(tree)
        q, v, x = self._state(tree, base, s)
        a = [0.0 if k in self.still else entry for k, entry in enumerate(z[:nv])]
        found = self._conditions(ready, t, q, v, x, m, u, p)
        acting = self._acting(ready, t, q, v, x, m, u, p)
        takes = self.dynamics.takes_wrenches
        tau = acting.tau if takes else self._tau(ready, q, v, acting)
        unmet = sub(self.dynamics.inverse(ready, q, v, a, *(acting.loads if takes else ())), tau)
        left, moving = [], []
        for k in range(nv):
            column = [row[k] for row in found.J]
            held = k in self.still
            left.append(z[k] if held else minus(unmet[k], dot(column, forces)))
            moving.append(0.0 if held else plus(v[k], dot(column[: len(found.phi)], pushes)))
        driven: Any = 0.0
        for force, rate in zip(forces, found.driven, strict=True):
            driven = minus(driven, times(force, rate))
        left += sub(z[nv:], self._extra_rates(t, q, v, x, m, u, p, acting, driven))
        return {"moving": moving, "left": left, "phi": found.phi, "rate": found.rate}

    # ── reactions ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def reactions(self, t: Any, base: Any, s: Any, a: Any, m: Any, u: Any, p: Any) -> list[list[Any]]:
        """The wrench through every joint, loops last, shape (joints + loops, 6), at accelerations a."""
        q, v, x = self._state(self.tree(p), base, s)
        return self._wrenches(t, q, v, a, x, m, u, p)

    def _wrenches(self, t: Any, q: Any, v: Any, a: Any, x: Any, m: Any, u: Any, p: Any) -> list[list[Any]]:
        robot = self.dynamics.robot
        tree = resolve(robot, self._lookup(p), merged=False)
        acting = self._acting(tree, t, q, v, x, m, u, p)
        loads = acting.elements.loads
        if not self.constrained:
            return joint_wrenches(robot, tree, q, v, a, loads)
        found = self._conditions(tree, t, q, v, x, m, u, p, bias=False)
        multipliers = reaction_multipliers(tree, q, v, a, acting.tau, found.rows([]), loads, self.still)
        own = len(closures.constraint_names(robot))
        carried = self._carried(tree, t, q, v, x, m, u, p, multipliers[own:])
        return joint_wrenches(robot, tree, q, v, a, loads, multipliers[:own], carried)

    def _carried(
        self, tree: Tree, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any, multipliers: Any
    ) -> dict[int, Wrench]:
        """What the constraints of elements do to each body and all that it carries, by link of the unmerged tree."""
        if not multipliers:
            return {}
        loose, links, at_rest = loosened(tree, self.dynamics.robot.body_names)
        standing = [0.0] * (loose.nv - self.nv)
        J = self._conditions(loose, t, [*q, *at_rest], [*v, *standing], x, m, u, p, bias=False).J
        found: dict[int, Wrench] = {}
        for n, link in enumerate(links):
            columns = range(self.nv + 6 * n, self.nv + 6 * n + 6)
            a, b, c, d, e, f = (dot([row[k] for row in J], multipliers) for k in columns)
            found[link] = ((a, b, c), (d, e, f))
        return found
