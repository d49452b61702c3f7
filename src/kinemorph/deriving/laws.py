"""The equations of motion over any scalar type: the laws that `Dynamics` compiles, and that plants put together.

M and h are those of a formulation; mechanics.constraints.constrained solves for accelerations under constraints.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kinemorph.deriving.making import Maker
from kinemorph.errors import UnsupportedError
from kinemorph.frozen import dataclass
from kinemorph.mechanics.constraints import driven_constraints
from kinemorph.mechanics.constraints.constrained import (
    MOST_ELIMINATED,
    Constrained,
    ConstraintRows,
    constrained_dynamics,
    eliminated_out,
    shared_out,
    with_locked_rows,
)
from kinemorph.mechanics.derivatives.branch_factor import branch_factor, ways_in, ways_to_root
from kinemorph.mechanics.trees.tree import Tree


@dataclass(frozen=True, eq=False, repr=False)
class Laws:
    """The equations of motion of one robot over any scalar type, on a tree that `prepared` returned.

    `loads` is one dict of outside wrenches by link, or nothing. Made by `Dynamics.laws`.
    """

    maker: Maker

    @property
    def takes_wrenches(self) -> bool:
        """Whether the recursions of the formulation take outside wrenches on links."""
        return self.maker.recursion.wrenches

    def prepared(self, tree: Tree, points: Mapping[int, Any] | None = None) -> Tree:
        """The tree in the form that this formulation's recursions take; `points` are where forces act, by link."""
        return self.maker.recursion.prepare(tree, points)

    def accelerations(
        self, tree: Tree, q: Any, v: Any, tau: Any, *loads: Any, locked: Collection[int] = ()
    ) -> Sequence[Any]:
        """The accelerations FD(q, v, tau), shape (nv,); `locked` are velocity indices with acceleration 0."""
        if not self.maker.is_open:
            return self.constrained(tree, q, v, tau, *loads, locked=locked).a
        found: Sequence[Any] = self.maker.recursion.forward_dynamics(tree, q, v, tau, *loads, locked=locked)
        return found

    def inverse(self, tree: Tree, q: Any, v: Any, a: Any, *loads: Any) -> Sequence[Any]:
        """The generalized forces ID(q, v, a), shape (nv,), that produce the acceleration a."""
        found: Sequence[Any] = self.maker.recursion.inverse_dynamics(tree, q, v, a, *loads)
        return found

    def rest(self, tree: Tree, q: Any, v: Any, tau: Any, *loads: Any) -> list[Any]:
        """The forces tau - h(q, v), shape (nv,), with the bias forces h."""
        bias = self.maker.recursion.bias_forces(tree, q, v, *loads)
        return [force - other for force, other in zip(tau, bias, strict=True)]

    def masses(self, tree: Tree, q: Any) -> Sequence[Sequence[Any]]:
        """The mass matrix M(q), shape (nv, nv)."""
        M: Sequence[Sequence[Any]] = self.maker.recursion.mass_matrix(tree, q)
        return M

    def under(self, tree: Tree, q: Any, rest: Any, rows: ConstraintRows, *, shared: bool = False) -> Constrained:
        """The solution of  M(q) a - J^T lambda = rest,  J a = wanted;  `rows` has J and `wanted`.

        `shared` asks for multipliers of least norm. See mechanics.constraints.constrained.
        """
        M = self.masses(tree, q)
        ways = ways_to_root(tree) if tree.driving is None else ways_in(M)
        if shared or eliminated_out(ways, rows.J) > MOST_ELIMINATED:
            return shared_out(M, rest, rows)
        return constrained_dynamics(branch_factor(tree, M), rest, rows)

    def constrained(
        self,
        tree: Tree,
        q: Any,
        v: Any,
        tau: Any,
        *loads: Any,
        locked: Collection[int] = (),
        shared: bool = False,
    ) -> Constrained:
        """The accelerations and multipliers of a robot with constraints.

        `locked` are velocities with acceleration 0: each adds a row after the rows of the robot. `shared` asks for
        multipliers of least norm.
        """
        robot = self.maker.robot
        if self.maker.precision == "float32":
            raise UnsupportedError(
                f"robot '{robot.name}' has closed chains or coupled joints, and float32 is not precise "
                "enough to find redundant constraints. Use precision='float64'."
            )
        rows = with_locked_rows(driven_constraints.constraint_rows(tree, q, v), locked, robot.nv)
        return self.under(tree, q, self.rest(tree, q, v, tau, *loads), rows, shared=shared)

    def constraint_forces(self, *state: Any) -> dict[str, Any]:
        """The multipliers of least norm, shape (nc,), and the rank of J at (tree, q, v, tau, *loads)."""
        solved = self.constrained(*state, shared=True)
        return {"multipliers": solved.multipliers, "rank": solved.rank}
