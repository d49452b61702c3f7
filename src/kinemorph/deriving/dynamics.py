"""`derive(robot)`: the equations of motion of one robot, as functions of arrays.

    M(q) a + h(q, v) = tau                                              of an open tree
    M(q) a + h(q, v) = tau + J(q)^T lambda,   J(q) a = gamma(q, v)      of a robot with closed chains or coupled joints

Each function is a law of mechanics, which a `Maker` compiles at its first use. Parameters are constants by default, the
fastest form; parameters that are named become a last input `p`. Recursions run on reframed, regrouped links
(mechanics.trees.reframing); kinematics and energies on the links as the user wrote them. Both are the same robot, in
the user's own q and v. M and h are those of the formulation, so every formulation covers closed chains;
mechanics.constraints.constrained solves for a and lambda.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.groups import matrix_of
from kinemorph.codegen.backends import Precision
from kinemorph.codegen.building.compile import check_target
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.tracing import Shape
from kinemorph.deriving import body_functions, parameter_functions
from kinemorph.deriving.chosen_functions import of_frame, of_joints
from kinemorph.deriving.function_names import BODY_FUNCTIONS, CONSTRAINT_FUNCTIONS, STATE_FUNCTIONS
from kinemorph.deriving.held_constraints import held_elements
from kinemorph.deriving.laws import Laws
from kinemorph.deriving.making import Maker, chosen_parameters
from kinemorph.errors import UnsupportedError
from kinemorph.frozen import Fixed, dataclass
from kinemorph.mechanics.constraints import closures
from kinemorph.mechanics.constraints.wrench_views import WrenchPart, WrenchReference, wrench_view
from kinemorph.mechanics.elements.drives.rotors import robot_with_rotors
from kinemorph.mechanics.formulations import driven_dynamics
from kinemorph.mechanics.formulations.table import FORMULATIONS, FormulationName
from kinemorph.mechanics.recursions import kinematics, momentum, newton_euler
from kinemorph.mechanics.recursions.kinematics import Reference
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from kinemorph.model.system import Element, System, as_robot
from kinemorph.shown import ShownEquations
from kinemorph.words import did_you_mean

if TYPE_CHECKING:
    from kinemorph.deriving.reduction import Reduction
    from kinemorph.model.elements.contact.impact_laws import ImpactLaw

BackendName = Literal["llvm", "interpreter", "c"]


def derive(
    robot: Robot | System,
    formulation: FormulationName = "newton_euler",
    *,
    parameters: str | Sequence[str] | None = None,
    wrenches: str | Sequence[str] = (),
    backend: BackendName = "llvm",
    precision: Precision = "float64",
    few_calls: bool = False,
    constraints: Sequence[Element] | None = None,
) -> Dynamics:
    """The equations of motion of a robot, as functions of arrays.

    The equations of a System include the rotor inertia of its motors (`robot_with_rotors`) and the constraints
    phi(q) = 0 of its elements, such as a Constraint, which count like loops; and no other elements.

    `formulation`   "newton_euler" (recursive, fast), "lagrange" (from the energies, by dual numbers; a check),
                    "dalembert" (from the positions of the bodies, by dual numbers; a check), "closed_form" (the
                    stacked matrices of the MODUROB paper), "incidence" (the kinematic graph in world axes, after
                    Escalera et al.) or "quasicoordinates" (angular velocities, after Nelson & Quinn); the last three
                    are checks with `block_matrices` to read
    `parameters`    names of parameters to keep as the input `p`, or "all"; the others become constants
    `wrenches`      bodies or frames at which outside wrenches act: inverse_dynamics, forward_dynamics and bias_forces
                    then take an input `wrenches` (k, 6), [force; moment] in each frame's own axes about its origin
    `backend`       "llvm" (machine code), "interpreter" (NumPy; slow, nothing to compile) or "c" (the C code that
                    `export_c` writes, compiled by this computer's C compiler, to check it)
    `precision`     "float64" or "float32", for the arithmetic and for the arrays that functions return
    `few_calls`     compiles functions in the least time instead of for speed; see codegen.building.compile.build
    `constraints`   elements with constraints phi(q) = 0; by default those of the System
    """
    held = held_elements(robot) if constraints is None else tuple(constraints)
    robot = robot_with_rotors(robot) if isinstance(robot, System) else as_robot(robot)
    row = FORMULATIONS.get(formulation)
    if row is None:
        raise UnsupportedError(f"formulation '{formulation}' is unknown. Choose one of {', '.join(FORMULATIONS)}.")
    check_target(backend, precision)
    wrenches = (wrenches,) if isinstance(wrenches, str) else wrenches
    if wrenches and not row.wrenches:
        raise UnsupportedError(
            f"formulation '{formulation}' takes no outside wrenches: it starts from the energies. Use 'newton_euler'."
        )
    for name in wrenches:
        robot.frame(name)
    kept = chosen_parameters(robot, parameters, held)
    return Dynamics(robot, formulation, kept, tuple(wrenches), backend, precision, few_calls, held)


# ── the functions of one robot ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False, repr=False)
class Dynamics(Fixed, ShownEquations):
    """The equations of motion of one robot. Made by `derive`.

    Every function is a `CompiledFunction`: batch-first arrays in, `.raw(out, ...)` without checks, `.program` for the
    graph, `.source` for the emitted code. Where parameters were named, each takes `p` as its last input.
    """

    robot: Robot
    formulation: str
    parameters: tuple[Parameter, ...] = ()
    wrenches: tuple[str, ...] = ()
    backend: str = "llvm"
    precision: Precision = "float64"
    few_calls: bool = False
    constraints: tuple[Element, ...] = ()  # elements with constraints phi(q) = 0
    _made: dict[str, CompiledFunction] = field(default_factory=dict)  # functions chosen by words, and derivatives

    def __repr__(self) -> str:
        inputs = f", parameters {', '.join(p.name for p in self.parameters)}" if self.parameters else ""
        way = ", ".join([self.formulation, self.backend, *(["float32"] if self.precision == "float32" else [])])
        return f"<Dynamics of '{self.robot.name}': {self.robot.nv} dof, {way}{inputs}>"

    @cached_property
    def _maker(self) -> Maker:
        given = (self.formulation, self.parameters, self.wrenches, self.backend, self.precision, self.few_calls)
        return Maker(self.robot, *given, self.constraints)

    @cached_property
    def laws(self) -> Laws:
        """The equations of motion over any scalar type, which the functions below compile."""
        return Laws(self._maker)

    @cached_property
    def nominal_parameters(self) -> npt.NDArray[np.float64]:
        """The nominal values of the named parameters, which are the input `p`, shape (np,)."""
        return np.array([parameter.value for parameter in self.parameters], dtype=float)

    @property
    def link_names(self) -> tuple[str, ...]:
        """The names of the links, parents first: bodies with all bodies fixed to them, links between joint axes."""
        return tuple(link.name for link in self._maker.tree.links)

    # ── dynamics ──────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def mass_matrix(self) -> CompiledFunction:
        """The mass matrix M(q), shape (nv, nv)."""
        return self._maker.mass_matrix()

    @cached_property
    def inverse_dynamics(self) -> CompiledFunction:
        """tau = ID(q, v, a), shape (nv,): the generalized forces that produce the acceleration a."""
        return self._maker.by_limbs("inverse_dynamics", ("q", "v", "a", "wrenches"), self.laws.inverse)

    @cached_property
    def bias_forces(self) -> CompiledFunction:
        """The bias forces h(q, v), shape (nv,): Coriolis, centrifugal and gravity forces."""
        maker = self._maker
        return maker.by_limbs("bias_forces", ("q", "v", "wrenches"), maker.recursion.bias_forces)

    @cached_property
    def forward_dynamics(self) -> CompiledFunction:
        """The acceleration a = FD(q, v, tau), shape (nv,), which satisfies closed chains and coupled joints."""
        return self._maker.by_limbs("forward_dynamics", ("q", "v", "tau", "wrenches"), self.laws.accelerations)

    @cached_property
    def coriolis_matrix(self) -> CompiledFunction:
        """The Coriolis matrix C(q, v), shape (nv, nv), for which dM/dt - 2 C is skew-symmetric."""
        law = driven_dynamics.state_coriolis_matrix
        return self._maker.function("coriolis_matrix", ("q", "v"), law, {"out": self._square})

    @cached_property
    def gravity_forces(self) -> CompiledFunction:
        """The gravity forces g(q), shape (nv,): the generalized forces that balance gravity at rest."""
        return self._maker.function("gravity_forces", ("q",), newton_euler.gravity_forces)

    @cached_property
    def energy(self) -> CompiledFunction:
        """The kinetic and the potential energy [J] at (q, v), two outputs of shape ()."""
        return body_functions.energy(self._maker)

    @cached_property
    def block_matrices(self) -> CompiledFunction:
        """The matrices of the equations of motion at (q, v), blocks of six rows [linear; angular] for each of n links.
        Of formulation "incidence" they are B (6n, 6 arcs), C (6n, 6n), S (6n, nv), Ad, M, M_rate and ad (6n, 6n each)
        in world axes; of "quasicoordinates" those of docs/quasicoordinates.md; of all others S (6n, nv), T (6n, 6n),
        T_H0 (6n, 6), M, ad_Sqd and ad_V (6n, 6n each) of the closed form; see `body_functions.block_matrices`.
        """
        return body_functions.block_matrices(self._maker)

    @cached_property
    def coordinate_sets(self) -> CompiledFunction:
        """M and b of M x = forces - b at (q, v) in absolute, relative and true coordinates: docs/quasicoordinates."""
        return body_functions.coordinate_sets(self._maker)

    @of_joints
    def joint_wrenches(self, reference: WrenchReference = "joint", part: WrenchPart = "whole") -> CompiledFunction:
        """The wrench [force; moment] through every joint, also fixed ones, at (q, v, a), shape (joints + loops, 6).

        Each is the wrench [N, N m] that the parent exerts on the child, in the order of `robot.joints`, then of
        `robot.loops`, in the axes and about the origin of `reference`: the joint frame on the child, the child, the
        parent or the world. `part` is the whole wrench, the actuation along the joint's freedoms, or the constraint,
        which has no power there. joint_wrenches(q, v, a, reference=, part=) is its value; see docs/dynamics.md.

        With closed chains or coupled joints the wrenches depend on tau too: such functions take (q, v, a, tau) with
        a = FD(q, v, tau).  Where constraints are redundant (`constraint_forces`: rank < nc), the motion does not tell
        how they share the load; these are the wrenches of the smallest multipliers (see `multiplier_wrenches`).
        """
        view = wrench_view(reference, part, "joint_wrenches")
        return self._once(f"joint_wrenches{view.label}", partial(body_functions.joint_wrenches, self._maker, view))

    @cached_property
    def regressor(self) -> CompiledFunction:
        """Y(q, v, a), shape (nv, columns), with tau = Y theta: forces are linear in the parameters theta.

        `regressor_columns` names the columns: for each body that moves m [kg], the first moments h = m c [kg m] and the
        inertia I about the origin of the body's frame [kg m^2], in its axes; for each velocity its armature, its
        viscous and Coulomb friction and a constant offset. `regressor_parameters` are the values theta of this robot.
        """
        return parameter_functions.regressor(self._maker)

    @cached_property
    def regressor_entries(self) -> CompiledFunction:
        """The entries of `regressor` at (q, v, a) that `regressor_pattern` lists, shape (entries,): all others are 0.

        The entries of a row are consecutive, and so are a matrix (states, entries of the row) in a batch.
        """
        return parameter_functions.regressor_entries(self._maker, self.regressor_pattern)

    @cached_property
    def regressor_pattern(self) -> parameter_functions.Pattern:
        """The rows and the columns of the entries of `regressor` that are not always 0, row by row."""
        return parameter_functions.regressor_pattern(self._maker)

    @cached_property
    def momentum_regressor(self) -> CompiledFunction:
        """P (`momentum`) and H (`rest`) at (q, v), each (nv, columns), with tau = d/dt (P theta) + H theta.

        No accelerations are needed. P theta = M v is the generalized momentum; H theta are the forces that do not
        change it: of gravity, of friction, of offsets, and those that the motion itself needs.
        """
        return parameter_functions.momentum_regressor(self._maker)

    @cached_property
    def energy_regressor(self) -> CompiledFunction:
        """E (`energy`) and D (`loss`) at (q, v), each (columns,), with tau . v = d/dt (E . theta) + D . theta.

        E . theta is the kinetic and potential energy [J], D . theta the power [W] of friction and offsets.
        """
        return parameter_functions.energy_regressor(self._maker)

    def wrench_regressor(
        self, joints: str | Sequence[str] | None = None, reference: WrenchReference = "joint"
    ) -> CompiledFunction:
        """W(q, v, a), shape (joints, 6, columns): the whole wrenches through joints, see `joint_wrenches`, are W theta.

        By default it is the joint of a free base, whose wrench is the sum of the outside wrenches on the robot. Bodies
        that are fixed to the world have no columns. A joint has to carry loops entirely or not at all.
        """
        view = wrench_view(reference, "whole", "wrench_regressor")
        chosen = parameter_functions.wrench_joints(self.robot, joints)
        key = f"wrench_regressor{view.label}[{', '.join(joint.name for joint in chosen)}]"
        return self._once(key, partial(parameter_functions.wrench_regressor, self._maker, chosen, view.reference))

    @cached_property
    def regressor_columns(self) -> tuple[str, ...]:
        """The names of the columns of `regressor`, such as "forearm.Ixx" and "elbow.viscous"."""
        return parameter_functions.column_names(self.robot)

    @cached_property
    def regressor_parameters(self) -> npt.NDArray[np.float64]:
        """The parameters theta of this robot, shape (columns,), in the order of `regressor_columns`.

        The viscous friction of a velocity is the `damping` of its joint, the Coulomb friction its `friction`; offsets
        are 0. `inverse_dynamics` contains no friction: Y theta differs from it by the friction of the joints.
        """
        return parameter_functions.parameter_values(self.robot)

    @cached_property
    def motion(self) -> CompiledFunction:
        """The motion of all bodies at (q, v, a) in world axes, by d'Alembert's principle from their positions alone.

        T0G (bodies, 4, 4) are the poses of the bodies' axes with the center of mass G as origin; vG and aG (bodies, 3)
        the velocity and acceleration of G; omega and omegad (bodies, 3) the angular velocity and acceleration.
        """
        return body_functions.motion(self._maker)

    @cached_property
    def partial_velocities(self) -> CompiledFunction:
        """The partial velocities of all bodies at q in world axes: d and theta, each (bodies, nv, 3).

        The center of mass of a body moves at the sum of d_j v_j, and the body turns at the sum of theta_j v_j, where
        the time moves no joint.
        """
        return body_functions.partial_velocities(self._maker)

    # ── derivatives ───────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def inverse_dynamics_derivatives(self) -> CompiledFunction:
        """The derivatives (dq, dv, da) of ID(q, v, a), each (nv, nv); column k of dq is along the unit velocity v_k."""
        return self._maker.derivatives("inverse_dynamics_derivatives", ("q", "v", "a", "wrenches"), ("dq", "dv", "da"))

    @cached_property
    def forward_dynamics_derivatives(self) -> CompiledFunction:
        """The derivatives (dq, dv, dtau) of FD(q, v, tau), each (nv, nv); column k of dq is along unit velocity v_k."""
        name, inputs, outputs = "forward_dynamics_derivatives", ("q", "v", "tau", "wrenches"), ("dq", "dv", "dtau")
        if self._maker.is_open:
            return self._maker.derivatives(name, inputs, outputs)
        return self._maker.graph_derivatives(name, inputs, self.laws.accelerations, outputs)

    def derivative(self, of: str | CompiledFunction, by: str) -> CompiledFunction:
        """The exact derivative of any function with respect to one of its inputs, by differentiating its graph.

        `of`    a function's name, or a function of a frame: `dynamics.derivative(dynamics.pose("tool"), "q")`
        `by`    "q" (along the unit velocities, so nv directions), "v", "a", "tau", "wrenches" or "p", the parameters

        The derivative has the shape of the output followed by that of the input, (nv,) in the case of q. For ID and FD,
        `inverse_dynamics_derivatives` and `forward_dynamics_derivatives` are cheaper.
        """
        if not isinstance(of, str):
            return self._maker.derivative(of, by)
        known = (*STATE_FUNCTIONS, *BODY_FUNCTIONS, *CONSTRAINT_FUNCTIONS)
        if of not in known:
            listed = ", ".join(known)
            raise UnsupportedError(f"there is no function '{of}'.{did_you_mean(of, known)} Known: {listed}.")
        function = getattr(self, of)
        function = function if isinstance(function, CompiledFunction) else function()
        return self._once(f"{of} by {by}", lambda: self._maker.derivative(function, by))

    # ── kinematics ────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def forward_kinematics(self) -> CompiledFunction:
        """Poses of all bodies in the world, shape (bodies, 4, 4), in the order of `robot.body_names`."""
        bodies = self.robot.body_names
        return self._maker.function("forward_kinematics", ("q",), lambda *at: _poses(*at, *bodies), written=True)

    @of_frame
    def pose(self, frame: str) -> CompiledFunction:
        """The pose T_WF(q) of a body or frame F in the world W, shape (4, 4).

        pose(frame) gives the compiled function of q; pose(q, frame) gives its value at q.
        """
        return self._of_frame("pose", ("q",), lambda *at: _poses(*at)[0], frame)

    @of_frame
    def jacobian(self, frame: str, reference: Reference = "local") -> CompiledFunction:
        """The Jacobian J(q), shape (6, nv): the twist [linear; angular] of a body or frame is J v.

        jacobian(frame, reference) gives the compiled function of q, jacobian(q, frame, reference) its value at q.
        """
        return self._of_frame("jacobian", ("q",), kinematics.jacobian, frame, reference)

    @of_frame
    def jacobian_rate(self, frame: str, reference: Reference = "local") -> CompiledFunction:
        """The time derivative dJ/dt of `jacobian`, shape (6, nv): a function of (q, v), or its value."""
        return self._of_frame("jacobian_rate", ("q", "v"), driven_dynamics.state_jacobian_rate, frame, reference)

    def _of_frame(self, name: str, inputs: tuple[str, ...], law: Callable[..., Any], *how: str) -> CompiledFunction:
        """A compiled function of one frame; `how` is the frame's name, and where needed the reference ("world")."""
        key = f"{name}[{', '.join(how)}]"
        self.robot.frame(how[0])
        of = partial(self._maker.function, key, inputs, lambda *state: law(*state, *how), written=True)
        return self._once(key, of)

    def _once(self, key: str, make: Callable[[], CompiledFunction]) -> CompiledFunction:
        """The function that `make` returns; it is made at the first call with this key."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    @cached_property
    def center_of_mass(self) -> CompiledFunction:
        """The center of mass of all bodies in the world [m], shape (3,)."""
        return self._maker.function("center_of_mass", ("q",), momentum.center_of_mass, written=True)

    @cached_property
    def centroidal_matrix(self) -> CompiledFunction:
        """A_G(q), shape (6, nv), in world axes: the momentum [linear; angular about the center of mass] is A_G v."""
        return self._maker.function("centroidal_matrix", ("q",), momentum.centroidal_matrix, written=True)

    @cached_property
    def momentum(self) -> CompiledFunction:
        """The momentum [linear; angular about the center of mass] at (q, v) in world axes, shape (6,) [N s, N m s]."""
        return self._maker.function("momentum", ("q", "v"), momentum.total_momentum, written=True)

    @cached_property
    def configuration_rate(self) -> CompiledFunction:
        """The rate dq/dt at (q, v), shape (nq,)."""
        return self._maker.function("configuration_rate", ("q", "v"), kinematics.configuration_rate, written=True)

    # ── closed chains and coupled joints ──────────────────────────────────────────────────────────────────────────

    @cached_property
    def constraint_error(self) -> CompiledFunction:
        """The constraint errors phi(q), shape (nc,) [m or rad], of closed chains and coupled joints; see `closures`."""
        return self._of_constraints("constraint_error", ("q",), closures.constraint_error)

    @cached_property
    def constraint_jacobian(self) -> CompiledFunction:
        """The constraint Jacobian J(q), shape (nc, nv): d phi/dt = J v."""
        return self._of_constraints("constraint_jacobian", ("q",), closures.constraint_jacobian)

    @cached_property
    def constraint_bias(self) -> CompiledFunction:
        """The bias gamma(q, v) = -(dJ/dt) v, shape (nc,): accelerations with J a = gamma satisfy the constraints."""
        return self._of_constraints("constraint_bias", ("q", "v"), closures.constraint_bias)

    @cached_property
    def constraint_forces(self) -> CompiledFunction:
        """The multipliers (nc,) [N or N m] and the rank () of J at (q, v, tau); J^T multipliers act on the tree.

        Where constraints are redundant (rank < nc) the multipliers are those of least norm.
        """
        return self._of_constraints("constraint_forces", ("q", "v", "tau", "wrenches"), self.laws.constraint_forces)

    @cached_property
    def multiplier_wrenches(self) -> CompiledFunction:
        """The wrench through each joint for a unit of each multiplier, shape (joints + loops, 6, nc), at q.

        Order and axes are those of `joint_wrenches`. Multipliers N with J^T N = 0 do not change the motion: the motion
        determines an entry of a wrench where `multiplier_wrenches(q) @ N` is 0.
        """
        return body_functions.multiplier_wrenches(self._maker)

    def _of_constraints(self, name: str, inputs: tuple[str, ...], law: Callable[..., Any]) -> CompiledFunction:
        self._maker.check_closed(name)
        return self._maker.function(name, inputs, law)

    def reduced(
        self,
        independent: str | Sequence[str] | None = None,
        *,
        actuated: str | Sequence[str] | None = None,
        at: npt.ArrayLike | None = None,
        epsilon: float = 0.01,
    ) -> Reduction:
        """The equations of a robot with closed chains in independent velocities. See `Reduction`.

        `independent`   independent joints or velocities; by default a choice that determines the others well
        `actuated`      joints or velocities at which tau acts; all by default
        `at`            the choice is made at a closed configuration near this one (nq,); by default near neutral
        `epsilon`       [s] the time constant with which the fast dynamics close open loops: as exp(-t / epsilon)
        """
        from kinemorph.deriving.reduction import reduced

        self._maker.check_closed("reduced")
        return reduced(self._maker, independent, actuated, at, epsilon)

    def actuation(
        self,
        joints: str | Sequence[str],
        weights: npt.ArrayLike | None = None,
        *,
        at: npt.ArrayLike | None = None,
    ) -> CompiledFunction:
        """Inverse dynamics with actuators: (tau (k,), residual (nv,), rank ()) at (q, v, a).

        tau are the forces at the named joints that, with the forces of the constraints, produce the acceleration a.
        Among several solutions, tau has the least sum of weight * tau^2; without a solution, it comes nearest to a. The
        residual is a - FD(q, v, tau); the rank is the number of motions that the actuators drive at q.

        `joints`     joints (all their velocities) or velocities that have an actuator
        `weights`    one number above 0 for each of tau; 1 by default
        `at`         a configuration (nq,) at which they have to drive every motion; by default one near neutral
        """
        from kinemorph.deriving.actuation import actuation

        return actuation(self._maker, joints, weights, at)

    def impact(
        self, frames: str | Sequence[str], law: ImpactLaw | None = None, *, friction: float = 0.0, axes: str = "zxy"
    ) -> CompiledFunction:
        """The impact (v (nv,), impulses (n, axes) [N s], loss () [J]) at (q, v) of the origins of frames on the ground.

        Without a law they stand still after it, as feet that stick: [M -J^T; J 0] [v+; impulses] = [M v; 0]. With a law
        (`kinemorph.elements`) they bounce, open and slide, by Coulomb's law with the coefficient `friction`. Loops and
        coupled joints hold on. `axes` are world axes, the normal first: "zx" for a robot in the plane of x and z.
        """
        from kinemorph.deriving.impact_functions import impact_function

        return impact_function(self._maker, frames, law, friction, axes)

    @property
    def _square(self) -> Shape:
        return (self.robot.nv, self.robot.nv)


def _poses(tree: Tree, q: Any, *frames: str) -> list[Any]:
    return [matrix_of(pose) for pose in kinematics.forward_kinematics(tree, q, frames)]
