"""A closed chain in independent velocities: the laws of mechanics.constraints.reduced_dynamics as compiled functions.

    reduction = dynamics.reduced("crank")          # or chosen automatically, so that J_z is well conditioned
    reduction.independent, reduction.dependent     # ('crank',), ('coupler', 'rocker')
    reduction.reduced_dynamics(q, v_q, tau)        # a_q
    reduction.fast_dynamics(q, v_q)                # v_z, which closes open loops

Made by `Dynamics.reduced`. Redundant constraint rows, and rows that are zero, are not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.tracing import Shape
from kinemorph.deriving import parameter_functions
from kinemorph.deriving.independent_velocities import assembled, chosen_partition, velocity_places
from kinemorph.deriving.making import Law, Maker
from kinemorph.errors import UnsupportedError
from kinemorph.frozen import dataclass
from kinemorph.mechanics.constraints import reduced_dynamics as perturbation
from kinemorph.mechanics.constraints.closures import constraint_names
from kinemorph.mechanics.constraints.reduced_dynamics import Partition
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.robot import Robot


@dataclass(frozen=True, eq=False, repr=False)
class Reduction:
    """The equations of a robot with loops in independent velocities v_q (n,). Made by `Dynamics.reduced`.

    `independent`, `dependent`   names of the velocities v_q (n,) and v_z (nz,), in the order of `v_names`
    `rows`                       names of the nz constraints that determine v_z
    `actuated`                   names of the velocities at which tau (k,) acts
    `epsilon`                    [s] the time constant of the fast dynamics
    `at`                         the closed configuration (nq,) at which the choice was made

    Every function is a `CompiledFunction` of q (nq,), v_q (n,) and tau (k,), batched like the functions of Dynamics.
    J_q and J_z are the columns of v_q and v_z of the Jacobian of `rows`. All functions need a regular J_z:
    `condition(q)` shows how near a dead point is. Equation numbers are those of Kamidi, Williams and Ben-Tzvi.
    """

    robot: Robot
    parts: Partition
    names: tuple[str, ...]  # the names of all constraint rows
    actuated: tuple[str, ...]
    epsilon: float
    at: Array
    maker: Maker

    def __repr__(self) -> str:
        split = f"{', '.join(self.independent)} independent, {', '.join(self.dependent)} dependent"
        return f"<Reduction of '{self.robot.name}': {split}, epsilon {self.epsilon:g} s>"

    @property
    def independent(self) -> tuple[str, ...]:
        """The names of the independent velocities v_q."""
        return tuple(self.robot.v_names[k] for k in self.parts.independent)

    @property
    def dependent(self) -> tuple[str, ...]:
        """The names of the dependent velocities v_z."""
        return tuple(self.robot.v_names[k] for k in self.parts.dependent)

    @property
    def rows(self) -> tuple[str, ...]:
        """The names of the constraints that determine the dependent velocities."""
        return tuple(self.names[i] for i in self.parts.rows)

    def condition(self, q: npt.ArrayLike) -> Any:
        """cond(J_z) at q, shape () or that of a batch: 1 at best, and unbounded at dead points, where v_z is free."""
        return np.linalg.cond(self.dependent_jacobian(q))

    # ── constraints ───────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def closure_error(self) -> CompiledFunction:
        """The errors phi(q) of the constraints `rows`, shape (nz,) [m or rad]."""
        return self._made("closure_error", ("q",), perturbation.closure_error)

    @cached_property
    def independent_jacobian(self) -> CompiledFunction:
        """J_q(q), shape (nz, n): the columns of the constraint Jacobian for the n independent velocities."""
        shape = (len(self.dependent), len(self.independent))
        return self._made("independent_jacobian", ("q",), lambda *at: perturbation.split_jacobian(*at)[0], shape)

    @cached_property
    def dependent_jacobian(self) -> CompiledFunction:
        """J_z(q), shape (nz, nz): the columns of the constraint Jacobian for the nz dependent velocities."""
        shape = (len(self.dependent), len(self.dependent))
        return self._made("dependent_jacobian", ("q",), lambda *at: perturbation.split_jacobian(*at)[1], shape)

    @cached_property
    def stacked_jacobian(self) -> CompiledFunction:
        """Gamma = [J; S_q] at q, shape (nv, nv), equation 5; S_q selects the independent velocities, v_q = S_q v."""
        return self._made("stacked_jacobian", ("q",), perturbation.stacked_jacobian, (self.robot.nv,) * 2)

    @cached_property
    def velocity_map(self) -> CompiledFunction:
        """The map rho(q) from independent to all velocities, v = rho v_q, shape (nv, n), equation 6."""
        return self._made("velocity_map", ("q",), perturbation.velocity_map, self._tall)

    @cached_property
    def velocity_map_rate(self) -> CompiledFunction:
        """The rate d rho/dt of the velocity map at (q, v_q), shape (nv, n)."""
        return self._made("velocity_map_rate", ("q", "v_q"), perturbation.velocity_map_rate, self._tall)

    # ── dynamics ──────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def reduced_mass_matrix(self) -> CompiledFunction:
        """The reduced mass matrix H(q) = rho^T M rho, shape (n, n), equation 7.

        rho is the velocity map, and M the mass matrix of the open tree.
        """
        law: Law = perturbation.reduced_mass_matrix
        return self._made("reduced_mass_matrix", ("q",), lambda *at: law(*at, self.maker.recursion), self._square)

    @cached_property
    def reduced_coriolis_matrix(self) -> CompiledFunction:
        """The reduced Coriolis matrix C(q, v_q) = rho^T (M d rho/dt + C' rho), shape (n, n), equation 7.

        rho is the velocity map, and M and C' are the mass matrix and the Coriolis matrix of the open tree.
        dH/dt - 2 C is skew-symmetric.
        """
        law: Law = perturbation.reduced_coriolis_matrix
        inputs = ("q", "v_q")
        return self._made("reduced_coriolis_matrix", inputs, lambda *at: law(*at, self.maker.recursion), self._square)

    @cached_property
    def reduced_gravity_forces(self) -> CompiledFunction:
        """The reduced gravity forces rho^T g', shape (n,), equation 7: with the velocity map rho and g' of the tree."""
        return self._made("reduced_gravity_forces", ("q",), perturbation.reduced_gravity_forces)

    @cached_property
    def reduced_regressor(self) -> CompiledFunction:
        """rho^T Y at (q, v_q, a_q), shape (n, columns): rho^T tau = rho^T Y theta, whatever the loops transmit.

        Y and its columns are those of `Dynamics.regressor`, at the velocities v = rho v_q and the accelerations
        a = rho a_q + (d rho/dt) v_q. With forces tau at the actuated joints alone, rho^T tau is `input_map(q) @ tau`.
        """
        law = parameter_functions.reduced_regressor(self.maker)
        return self._made("reduced_regressor", ("q", "v_q", "a_q"), law, self._wide)

    @cached_property
    def reduced_momentum_regressor(self) -> CompiledFunction:
        """P (`momentum`) and H (`rest`) at (q, v_q), each (n, columns): rho^T tau = d/dt (P theta) + H theta.

        They are those of `Dynamics.momentum_regressor` along the independent velocities; accelerations are not needed.
        """
        law = parameter_functions.reduced_momentum_regressor(self.maker)
        return self._made("reduced_momentum_regressor", ("q", "v_q"), law, self._wide, ("momentum", "rest"))

    @cached_property
    def input_map(self) -> CompiledFunction:
        """The matrix rho^T B at q, shape (n, k): the generalized forces along v_q of unit forces at the actuated
        joints.

        rho is the velocity map, and B maps forces at actuated joints to the generalized forces of the tree.
        """

        def law(tree: Tree, q: Any, parts: Partition) -> Any:
            rho = perturbation.velocity_map(tree, q, parts)
            return [[rho[j][k] for j in self._driven] for k in range(len(parts.independent))]

        return self._made("input_map", ("q",), law, (len(self.independent), len(self.actuated)))

    @cached_property
    def fast_dynamics(self) -> CompiledFunction:
        """v_z = -J_z^-1 (phi / epsilon + J_q v_q) at (q, v_q), shape (nz,), equation 4: it closes open loops."""
        law: Law = perturbation.fast_dynamics
        return self._made("fast_dynamics", ("q", "v_q"), lambda *at: law(*at, self.epsilon))

    @cached_property
    def reduced_dynamics(self) -> CompiledFunction:
        """The acceleration a_q of v_q at (q, v_q, tau), shape (n,), equation 8:  H a_q = -C v_q - g + rho^T B tau.

        H, C and g are the reduced mass matrix, Coriolis matrix and gravity forces. The matrix B maps tau to the
        generalized forces of the tree; `input_map` is rho^T B.
        """
        return self._made("reduced_dynamics", ("q", "v_q", "tau", "wrenches"), self._accelerations)

    @cached_property
    def perturbed_dynamics(self) -> CompiledFunction:
        """The velocity v (nv,) and the acceleration a_q (n,) at (q, v_q, tau), with v_z of the fast dynamics in v.

        These are all rates of the state (q, v_q): an ordinary differential equation, whose solution follows the
        mechanism and closes its loops.
        """

        def law(tree: Tree, q: Any, v_q: Any, tau: Any, *others: Any) -> Any:
            parts = others[-1]
            v: list[Any] = [0.0] * self.robot.nv
            fast = perturbation.fast_dynamics(tree, q, v_q, parts, self.epsilon)
            for k, rate in zip((*parts.independent, *parts.dependent), (*v_q, *fast), strict=True):
                v[k] = rate
            return {"v": v, "a": self._accelerations(tree, q, v_q, tau, *others)}

        return self._made("perturbed_dynamics", ("q", "v_q", "tau", "wrenches"), law)

    def _accelerations(self, tree: Tree, q: Any, v_q: Any, tau: Any, *others: Any) -> Any:
        *loads, parts = others
        forces: list[Any] = [0.0] * self.robot.nv
        for k, force in zip(self._driven, tau, strict=True):
            forces[k] = force
        return perturbation.reduced_dynamics(tree, q, v_q, forces, parts, self.maker.recursion, *loads)

    # ── making them ───────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _driven(self) -> tuple[int, ...]:
        return tuple(self.robot.v_names.index(name) for name in self.actuated)

    @property
    def _square(self) -> Shape:
        return (len(self.independent), len(self.independent))

    @property
    def _tall(self) -> Shape:
        return (self.robot.nv, len(self.independent))

    @property
    def _wide(self) -> Shape:
        return (len(self.independent), len(parameter_functions.column_names(self.robot)))

    def _made(
        self,
        name: str,
        inputs: tuple[str, ...],
        law: Law,
        shape: Shape | None = None,
        outputs: tuple[str, ...] = ("out",),
    ) -> CompiledFunction:
        """The compiled function of a law of (tree, *inputs, loads, partition); `shape` is that of each of `outputs`."""
        sizes = {"v_q": (len(self.independent),), "a_q": (len(self.independent),), "tau": (len(self.actuated),)}
        shapes = dict.fromkeys(outputs, shape) if shape else None
        maker = self.maker
        return maker.built(maker.program(name, inputs, lambda *given: law(*given, self.parts), shapes, sizes=sizes))


def reduced(
    maker: Maker,
    independent: str | Sequence[str] | None,
    actuated: str | Sequence[str] | None,
    at: npt.ArrayLike | None,
    epsilon: float,
) -> Reduction:
    """The equations of a robot with closed chains in independent velocities; see `Dynamics.reduced`."""
    if not (np.isfinite(epsilon) and epsilon > 0.0):
        raise UnsupportedError(f"reduced: epsilon is {epsilon} s; expected a finite number above 0.")
    robot, tree = maker.robot, maker.tree
    if robot.is_timed:
        moved = ", ".join(f"'{joint.name}'" for joint in robot.driven)
        raise UnsupportedError(
            f"reduced: the time moves joints of robot '{robot.name}' (driven are {moved}), so that its velocities are "
            "not a map of independent ones; expected joints that only others move. Use forward_dynamics."
        )
    places = velocity_places(robot, robot.v_names if actuated is None else actuated, "reduced: actuated")
    if independent is not None:
        velocity_places(robot, independent, "reduced: independent")
    closed = assembled(robot, tree, at, "reduced")
    parts = chosen_partition(robot, tree, closed, independent, places)
    names = tuple(robot.v_names[k] for k in places)
    return Reduction(robot, parts, (*constraint_names(robot), *tree.held.names), names, float(epsilon), closed, maker)
