"""The functions of a robot with loops or coupled joints, and of its actuators.

    M(q) a + h(q, v) = tau + J(q)^T lambda,   J(q) a = gamma(q, v)

M and h are those of the formulation, so every formulation covers loops; mechanics.constraints.constrained solves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.tracing import Shape
from kinemorph.deriving.making import RobotFunctions
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.frozen import dataclass
from kinemorph.mechanics.constraints import closures
from kinemorph.mechanics.constraints.constrained import (
    MOST_ELIMINATED,
    Constrained,
    Rows,
    constrained_dynamics,
    eliminated_out,
    held_rows,
    shared_out,
)
from kinemorph.mechanics.derivatives.branch_factor import branch_factor, ways_to_root
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.configuration import neutral

if TYPE_CHECKING:
    from kinemorph.deriving.reduction import Reduction


@dataclass(frozen=True, eq=False, repr=False)
class ConstraintFunctions(RobotFunctions):
    """What loops and coupled joints ask for, motion under it, and forces at actuators."""

    @cached_property
    def constraint_error(self) -> CompiledFunction:
        """phi(q), shape (nc,) [m or rad]: how far loops are open and coupled joints off; see `closures`."""
        return self._of_constraints("constraint_error", ("q",), closures.constraint_error)

    @cached_property
    def constraint_jacobian(self) -> CompiledFunction:
        """J(q), shape (nc, nv): d phi/dt = J v."""
        return self._of_constraints("constraint_jacobian", ("q",), closures.constraint_jacobian)

    @cached_property
    def constraint_bias(self) -> CompiledFunction:
        """gamma(q, v) = -(dJ/dt) v, shape (nc,): the constraints hold on where J a = gamma."""
        return self._of_constraints("constraint_bias", ("q", "v"), closures.constraint_bias)

    @cached_property
    def constraint_forces(self) -> CompiledFunction:
        """(multipliers (nc,) [N or N m], rank ()) at (q, v, tau): J^T multipliers acts on the tree.

        Where constraints repeat each other (rank < nc) the multipliers are those of least norm.
        """

        def forces(*state: Any) -> dict[str, Any]:
            solved = self._constrained(*state, shared=True)
            return {"multipliers": solved.multipliers, "rank": solved.rank}

        return self._of_constraints("constraint_forces", ("q", "v", "tau", "wrenches"), forces)

    @cached_property
    def multiplier_wrenches(self) -> CompiledFunction:
        """What a unit of each multiplier puts through each joint, shape (joints + loops, 6, nc), at q.

        In the order and axes of `joint_wrenches`. Multipliers N with J^T N = 0 are not seen in the motion: an entry of
        a wrench is decided by it where `multiplier_wrenches(q) @ N` is 0.
        """
        from kinemorph.mechanics.constraints import reactions

        self._check_closed("multiplier_wrenches")
        robot = self.robot
        rows = len(closures.constraint_error(self._cut_tree, neutral(robot).tolist()))
        shape = (len(robot.joints) + len(robot.loops), 6, rows)

        def shares(tree: Tree, q: Any) -> list[Any]:
            return reactions.multiplier_wrenches(robot, tree, q)

        return self._built(self._program("multiplier_wrenches", ("q",), shares, True, {"out": shape}, merged=False))

    def _of_constraints(self, name: str, inputs: tuple[str, ...], function: Callable[..., Any]) -> CompiledFunction:
        self._check_closed(name)
        return self._function(name, inputs, function)

    def _check_closed(self, name: str) -> None:
        if self.robot.is_open:
            raise UnsupportedError(
                f"{name}: robot '{self.robot.name}' is an open tree; it has no loops and no coupled joints."
            )

    def _constrained(
        self, tree: Tree, q: Any, v: Any, tau: Any, *loads: Any, locked: Collection[int] = (), shared: bool = False
    ) -> Constrained:
        """The accelerations and multipliers of a robot with constraints, by this formulation's M and h.

        `locked` are velocities that have no acceleration, rows of their own after those of the robot; `shared` asks for
        multipliers of least norm.
        """
        if self.precision == "float32":
            raise UnsupportedError(
                f"robot '{self.robot.name}' has loops or coupled joints, and float32 cannot tell which of their "
                "constraints repeat others. Use float64."
            )
        rest = self.rest(tree, q, v, tau, *loads)
        return self.under(tree, q, rest, held_rows(closures.rows_of(tree, q, v), locked), shared=shared)

    def rest(self, tree: Tree, q: Any, v: Any, tau: Any, *loads: Any) -> list[Any]:
        """tau - h(q, v) over any scalar, shape (nv,)."""
        bias = self._recursion.bias_forces(tree, q, v, *loads)
        return [force - held for force, held in zip(tau, bias, strict=True)]

    def masses(self, tree: Tree, q: Any) -> Sequence[Sequence[Any]]:
        """M(q) over any scalar, on a tree that this formulation has prepared."""
        M: Sequence[Sequence[Any]] = self._recursion.mass_matrix(tree, q)
        return M

    def under(self, tree: Tree, q: Any, rest: Any, rows: Rows, *, shared: bool = False) -> Constrained:
        """Solves  M(q) a - J^T lambda = rest,  J a = wanted  over any scalar; see mechanics.constraints.constrained."""
        M = self.masses(tree, q)
        if shared or eliminated_out(ways_to_root(tree), rows.J) > MOST_ELIMINATED:
            return shared_out(M, rest, rows)
        return constrained_dynamics(branch_factor(tree, M), rest, rows)

    def reduced(
        self,
        independent: str | Sequence[str] | None = None,
        *,
        actuated: str | Sequence[str] | None = None,
        at: npt.ArrayLike | None = None,
        epsilon: float = 0.01,
    ) -> Reduction:
        """A robot with loops in independent velocities: reduced and fast dynamics. See `Reduction`.

        `independent`   joints or velocities to go by; by default such that the others are well decided
        `actuated`      joints or velocities at which tau acts; all by default
        `at`            a configuration (nq,) near which the choice is made; it is closed first. By default the neutral
        `epsilon`       [s], how fast the fast dynamics close loops that are open: as exp(-t / epsilon)
        """
        from kinemorph.deriving import independent_velocities
        from kinemorph.deriving.reduction import Reduction

        self._check_closed("reduced")
        if not (np.isfinite(epsilon) and epsilon > 0.0):
            raise UnsupportedError(f"reduced: epsilon is {epsilon} s; expected a finite number above 0.")
        robot, tree = self.robot, self._cut_tree
        driven = robot.v_names if actuated is None else actuated
        places = independent_velocities.velocity_places(robot, driven, "reduced: actuated")
        if independent is not None:
            independent_velocities.velocity_places(robot, independent, "reduced: independent")
        closed = independent_velocities.assembled(robot, tree, at, "reduced")
        parts = independent_velocities.chosen_partition(robot, tree, closed, independent, places)
        names = tuple(robot.v_names[k] for k in places)

        def make(name: str, inputs: tuple[str, ...], law: Any, outputs: Any, sizes: Mapping[str, Shape]) -> Any:
            return self._built(self._program(name, inputs, law, False, outputs or None, more=sizes))

        rows = closures.constraint_names(robot)
        return Reduction(robot, parts, rows, names, float(epsilon), closed, self._recursion, make)

    def actuation(
        self,
        joints: str | Sequence[str],
        weights: npt.ArrayLike | None = None,
        *,
        at: npt.ArrayLike | None = None,
    ) -> CompiledFunction:
        """Inverse dynamics with actuators: (tau (k,), residual (nv,), rank ()) at (q, v, a).

        tau are the forces at the named joints that give the acceleration a, together with those of the constraints. Of
        all that do, the ones with the least sum of weight tau^2; where none do, those that come nearest. The residual
        is what they leave of it, a - FD(q, v, tau); rank is how many motions they drive at q.

        `joints`     joints (all their velocities) or velocities that have an actuator
        `weights`    one number above 0 for each of tau; 1 by default
        `at`         a configuration (nq,) at which they have to drive every motion; by default some near the neutral
        """
        from kinemorph.deriving import independent_velocities
        from kinemorph.mechanics.constraints import actuation as driving

        robot = self.robot
        places = independent_velocities.velocity_places(robot, joints, "actuation")
        if not places:
            raise ModelError(f"actuation: no joint is named. Name some of robot '{robot.name}': {robot.v_names}.")
        costs = driving.checked_weights(weights, [robot.v_names[k] for k in places])
        independent_velocities.check_driven(robot, self._cut_tree, places, at)

        def needed(tree: Tree, q: Any, v: Any, a: Any, *loads: Any) -> dict[str, Any]:
            rest = self.rest(tree, q, v, [0.0] * tree.nv, *loads)
            rows = Rows([], [], []) if robot.is_open else closures.rows_of(tree, q, v)
            return driving.actuation(tree, self.masses(tree, q), rest, rows, a, places, costs)

        shapes: dict[str, Shape] = {"tau": (len(places),), "residual": (robot.nv,), "rank": ()}
        inputs = ("q", "v", "a", "wrenches")
        return self._built(self._program("actuation", inputs, needed, False, shapes))
