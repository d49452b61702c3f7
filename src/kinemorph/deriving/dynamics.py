"""From a robot to functions: this file, `making` and `constraint_functions` join mechanics to codegen.

`derive(robot)` offers the equations of motion of one robot. Each function is mechanics run on graph nodes (`trace`),
and compiled when it is first used:

    M(q) a + h(q, v) = tau                                              where the robot is an open tree
    M(q) a + h(q, v) = tau + J(q)^T lambda,   J(q) a = gamma(q, v)      where loops close or joints follow others

Numbers are folded in by default, the fastest form; parameters that are named become a last input `p`. Recursions run on
reframed, regrouped links (mechanics.trees.reframing); kinematics and energies on the links as the user wrote them. Both
are the same robot, in the user's own q and v. What only tracing needs is imported there: functions made before start
fast.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

from kinemorph.algebra.groups import matrix_of
from kinemorph.codegen.backends import Precision
from kinemorph.codegen.building.compile import BACKENDS
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.graphs.tracing import Shape
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.deriving.constraint_functions import ConstraintFunctions
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.frozen import dataclass
from kinemorph.mechanics.constraints import closures
from kinemorph.mechanics.derivatives import axis_arrays
from kinemorph.mechanics.elements.drives.rotors import with_rotors
from kinemorph.mechanics.formulations.table import FORMULATIONS, FormulationName
from kinemorph.mechanics.recursions import kinematics, momentum, newton_euler
from kinemorph.mechanics.recursions.kinematics import Reference
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from kinemorph.model.system import System, as_robot
from kinemorph.shown import ShownEquations
from kinemorph.words import did_you_mean

if TYPE_CHECKING:
    from kinemorph.codegen.loops.branch_matrix import Forest

BackendName = Literal["llvm", "interpreter", "c"]

# the functions of a Dynamics: those of the state alone, their derivatives, those asked for by frame, those that show
# every body or link, those of loops and coupled joints
STATE_FUNCTIONS = (
    "mass_matrix",
    "inverse_dynamics",
    "forward_dynamics",
    "bias_forces",
    "coriolis_matrix",
    "gravity_forces",
    "energy",
    "forward_kinematics",
    "center_of_mass",
    "centroidal_matrix",
    "momentum",
    "configuration_rate",
)
DERIVATIVE_FUNCTIONS = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
FRAME_FUNCTIONS = ("pose", "jacobian", "jacobian_rate")
BODY_FUNCTIONS = ("joint_wrenches", "stacked_matrices")
CONSTRAINT_FUNCTIONS = (
    "constraint_error",
    "constraint_jacobian",
    "constraint_bias",
    "constraint_forces",
    "multiplier_wrenches",
)

MOST_PAIRS = 1000  # pairs of axes up to which their products are written out
MOST_COLUMNS = 20  # velocities up to which M X = B is written out for the columns of dABA,
MOST_FACTORS = 300  # and different factors from which it is written out again


def derive(
    robot: Robot | System,
    formulation: FormulationName = "newton_euler",
    *,
    parameters: str | Sequence[str] | None = None,
    wrenches: str | Sequence[str] = (),
    backend: BackendName = "llvm",
    precision: Precision = "float64",
) -> Dynamics:
    """The equations of motion of a robot, as functions of arrays.

    Those of a System have the inertia that its motors add to joints (`with_rotors`), and no other elements.

    `formulation`   "newton_euler" (recursive, fast), "lagrange" (from the energies, by dual numbers; a check) or
                    "closed_form" (the stacked matrices of the MODUROB paper; a check, see `stacked_matrices`)
    `parameters`    names of parameters to keep as the input `p`, or "all"; the others are folded in as numbers
    `wrenches`      bodies or frames at which outside wrenches act: inverse_dynamics, forward_dynamics and bias_forces
                    then take an input `wrenches` (k, 6), [force; moment] in each frame's own axes about its origin
    `backend`       "llvm" (machine code), "interpreter" (NumPy; slow, nothing to compile) or "c" (the C that
                    `export_c` writes, by this computer's C compiler; a check on it)
    `precision`     "float64" or "float32", of the arithmetic and of the arrays that functions give
    """
    robot = with_rotors(robot) if isinstance(robot, System) else as_robot(robot)
    row = FORMULATIONS.get(formulation)
    if row is None:
        raise UnsupportedError(f"formulation '{formulation}' is unknown. Choose one of {', '.join(FORMULATIONS)}.")
    if backend not in BACKENDS:
        raise UnsupportedError(f"backend '{backend}' is unknown. Choose one of {', '.join(BACKENDS)}.")
    if precision not in get_args(Precision):
        raise UnsupportedError(f"precision '{precision}' is unknown. Choose 'float64' or 'float32'.")
    wrenches = (wrenches,) if isinstance(wrenches, str) else wrenches
    if wrenches and not row.wrenches:
        raise UnsupportedError(
            f"formulation '{formulation}' takes no outside wrenches: it starts from the energies. Use 'newton_euler'."
        )
    for name in wrenches:
        robot.frame(name)
    return Dynamics(robot, formulation, _chosen_parameters(robot, parameters), tuple(wrenches), backend, precision)


def _chosen_parameters(robot: Robot, wanted: str | Sequence[str] | None) -> tuple[Parameter, ...]:
    if wanted is None:
        return ()
    known = {parameter.name: parameter for parameter in robot.parameters}
    if wanted == "all":
        return tuple(known.values())
    if isinstance(wanted, str):
        wanted = (wanted,)
    missing = [name for name in wanted if name not in known]
    if missing and not known:
        raise ModelError(f"parameters {', '.join(missing)}: robot '{robot.name}' has no parameters. Leave them out.")
    if missing:
        listed = ", ".join(f"'{name}'" for name in known)
        raise ModelError(
            [
                f"parameter '{name}': robot '{robot.name}' has none of that name; expected one of: {listed}."
                for name in missing
            ]
        )
    return tuple(known[name] for name in wanted)


# ── the functions of one robot ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False, repr=False)
class Dynamics(ConstraintFunctions, ShownEquations):
    """The equations of motion of one robot. Made by `derive`.

    Every function is a `CompiledFunction`: batch-first arrays in, `.raw(out, ...)` without checks, `.program` for the
    graph, `.source` for what was emitted. Where parameters were named, each takes `p` as its last input.
    """

    def __repr__(self) -> str:
        inputs = f", parameters {', '.join(p.name for p in self.parameters)}" if self.parameters else ""
        way = ", ".join([self.formulation, self.backend, *(["float32"] if self.precision == "float32" else [])])
        return f"<Dynamics of '{self.robot.name}': {self.robot.nv} dof, {way}{inputs}>"

    @cached_property
    def mass_matrix(self) -> CompiledFunction:
        """M(q), shape (nv, nv)."""
        if self._pairs_in_loops:
            return self._by_pairs("mass_matrix", ("q",), axis_arrays.momentum_arrays)
        return self._function("mass_matrix", ("q",), self._recursion.mass_matrix, shapes={"out": self._square})

    @cached_property
    def inverse_dynamics(self) -> CompiledFunction:
        """tau = ID(q, v, a), shape (nv,): the generalized forces that give the acceleration a."""
        return self._by_limbs("inverse_dynamics", ("q", "v", "a", "wrenches"), self._recursion.inverse_dynamics)

    @cached_property
    def bias_forces(self) -> CompiledFunction:
        """h(q, v), shape (nv,): Coriolis, centrifugal and gravity forces."""
        return self._by_limbs("bias_forces", ("q", "v", "wrenches"), self._recursion.bias_forces)

    @cached_property
    def forward_dynamics(self) -> CompiledFunction:
        """a = FD(q, v, tau), shape (nv,). Constraints of loops and coupled joints are kept at this acceleration."""
        return self._by_limbs("forward_dynamics", ("q", "v", "tau", "wrenches"), self.accelerations)

    def accelerations(
        self, tree: Tree, q: Any, v: Any, tau: Any, *loads: Any, locked: Collection[int] = ()
    ) -> Sequence[Any]:
        """FD(q, v, tau) over any scalar, on a tree that this formulation has prepared; see `forward_dynamics`.

        `locked` are velocity indices whose acceleration is 0, by whatever force that takes.
        """
        if not self.robot.is_open:
            return self._constrained(tree, q, v, tau, *loads, locked=locked).a
        found: Sequence[Any] = self._recursion.forward_dynamics(tree, q, v, tau, *loads, locked=locked)
        return found

    def inverse(self, tree: Tree, q: Any, v: Any, a: Any, *loads: Any) -> Sequence[Any]:
        """ID(q, v, a) over any scalar, on a tree that this formulation has prepared; see `inverse_dynamics`."""
        found: Sequence[Any] = self._recursion.inverse_dynamics(tree, q, v, a, *loads)
        return found

    @cached_property
    def coriolis_matrix(self) -> CompiledFunction:
        """C(q, v), shape (nv, nv), with Mdot - 2 C skew-symmetric."""
        from kinemorph.mechanics.recursions import coriolis

        return self._function("coriolis_matrix", ("q", "v"), coriolis.coriolis_matrix, shapes={"out": self._square})

    @cached_property
    def gravity_forces(self) -> CompiledFunction:
        """g(q), shape (nv,): the generalized forces that hold the robot still."""
        return self._function("gravity_forces", ("q",), newton_euler.gravity_forces)

    @cached_property
    def energy(self) -> CompiledFunction:
        """(kinetic, potential) energy [J] at (q, v), two outputs of shape ()."""

        def both(tree: Tree, q: Any, v: Any) -> dict[str, Any]:
            return {"kinetic": momentum.kinetic_energy(tree, q, v), "potential": momentum.potential_energy(tree, q)}

        return self._function("energy", ("q", "v"), both, written=True)

    @cached_property
    def stacked_matrices(self) -> CompiledFunction:
        """(S (6n, nv), T (6n, 6n), T_H0 (6n, 6), M, ad_Sqd, ad_V (6n, 6n each)) of the closed form at (q, v).

        For the n links in the order of `link_names`, as the user wrote them; see mechanics.formulations.closed_form.
        """
        from kinemorph.mechanics.formulations import closed_form

        n = 6 * len(self.link_names)
        shapes: dict[str, Shape] = {"S": (n, self.robot.nv), "T": (n, n), "T_H0": (n, 6)}
        shapes |= dict.fromkeys(("M", "ad_Sqd", "ad_V"), (n, n))

        def whole(tree: Tree, q: Any, v: Any) -> dict[str, Any]:
            return closed_form.dense_matrices(tree, closed_form.stacked(tree, q, v))

        return self._function("stacked_matrices", ("q", "v"), whole, written=True, shapes=shapes)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Links, parent first: each a body with all that is fixed to it; a joint of several steps has some between."""
        return tuple(link.name for link in self._cut_tree.links)

    @cached_property
    def joint_wrenches(self) -> CompiledFunction:
        """[force; moment] through all joints, fixed ones too, at (q, v, a), shape (joints + loops, 6) [N, N m].

        What the parent exerts on the child, in the order of `robot.joints`, then of `robot.loops`; each in the axes of
        the joint frame on the child, about its origin. See mechanics.constraints.reactions.

        Loops and coupled joints bear what forces leave to them, so such a robot's function takes tau as well:
        (q, v, a, tau) of a motion, as  a = FD(q, v, tau).  Where constraints repeat each other (`constraint_forces`:
        rank < nc) the motion does not decide who bears how much; these are the wrenches of least multipliers, and
        `multiplier_wrenches` tells which are decided.
        """
        from kinemorph.mechanics.constraints import reactions

        robot = self.robot

        def through(tree: Tree, q: Any, v: Any, a: Any, *others: Any) -> list[list[Any]]:
            if robot.is_open:
                return reactions.joint_wrenches(robot, tree, q, v, a, *others)
            tau, loads = (*others, None)[:2]
            multipliers = reactions.reaction_multipliers(tree, q, v, a, tau, closures.rows_of(tree, q, v), loads)
            return reactions.joint_wrenches(robot, tree, q, v, a, loads, multipliers)

        shape = (len(robot.joints) + len(robot.loops), 6)
        inputs = ("q", "v", "a", "wrenches") if robot.is_open else ("q", "v", "a", "tau", "wrenches")
        return self._built(self._program("joint_wrenches", inputs, through, True, {"out": shape}, merged=False))

    # ── derivatives ───────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def inverse_dynamics_derivatives(self) -> CompiledFunction:
        """(dq, dv, da) of ID(q, v, a), each (nv, nv); column k of dq is the derivative along the unit velocity v_k."""
        return self._derivatives("inverse_dynamics_derivatives", ("q", "v", "a", "wrenches"), ("dq", "dv", "da"))

    @cached_property
    def forward_dynamics_derivatives(self) -> CompiledFunction:
        """(dq, dv, dtau) of FD(q, v, tau), each (nv, nv); column k of dq is the derivative along unit velocity v_k."""
        name, outputs = "forward_dynamics_derivatives", ("dq", "dv", "dtau")
        if self.robot.is_open:
            return self._derivatives(name, ("q", "v", "tau", "wrenches"), outputs)
        # through the solves that keep the constraints, at constant rank
        from kinemorph.codegen.derivatives.differentiate import jacobian

        slopes = jacobian(self.forward_dynamics.program, "out", ("q", "v", "tau"), seeds=self._tangents)
        ports = tuple(Port(port, self._square) for port in outputs)
        return self._built(replace(slopes, name=f"{self.robot.name}.{name}", outputs=ports))

    def derivative(self, of: str | CompiledFunction, by: str) -> CompiledFunction:
        """The exact derivative of any function by one of its inputs, found on its graph.

        `of`    a function's name, or a function of a frame: `dynamics.derivative(dynamics.pose("tool"), "q")`
        `by`    "q" (along the unit velocities, so nv directions), "v", "a", "tau", "wrenches" or "p", the parameters

        An output of shape (m, n) gives one of shape (m, n, *by). Derivatives of ID and FD by q and v are cheaper by
        `inverse_dynamics_derivatives` and `forward_dynamics_derivatives`.
        """
        function = self._named(of) if isinstance(of, str) else of
        if not isinstance(function, CompiledFunction):
            frame = getattr(of, "__name__", "") if callable(of) else ""
            remedy = (
                f"Call it with a frame first: dynamics.{frame}('tool')."
                if frame in FRAME_FUNCTIONS
                else "Programs are differentiated by kinemorph.codegen.derivatives.differentiate.jacobian."
            )
            raise UnsupportedError(
                f"derivative: a {type(of).__name__} is given; expected the name of a function, or a function of these "
                f"dynamics. {remedy}"
            )
        program = function.program
        inputs = [port.name for port in program.inputs]
        if by not in inputs:
            hint = " Derive the robot with parameters=... to have p." if by == "p" else ""
            raise UnsupportedError(f"derivative of '{function.name}': it has the inputs {inputs}, not '{by}'.{hint}")
        if not isinstance(program, Program):
            raise UnsupportedError(
                f"derivative of '{function.name}': it runs in loops, since the robot has so many joints, and only "
                "straight-line programs are differentiated. Use inverse_dynamics_derivatives."
            )
        if not isinstance(of, str):
            return self._slope(program, by)
        key = f"{of} by {by}"
        if key not in self._made:
            self._made[key] = self._slope(program, by)
        return self._made[key]

    def _slope(self, program: Program, by: str) -> CompiledFunction:
        from kinemorph.codegen.derivatives.differentiate import jacobian

        outputs = tuple(port.name for port in program.outputs)
        return self._built(jacobian(program, outputs, by, seeds=self._tangents if by == "q" else None))

    def _named(self, name: str) -> CompiledFunction:
        known = (*STATE_FUNCTIONS, *BODY_FUNCTIONS, *CONSTRAINT_FUNCTIONS)
        if name not in known:
            listed = ", ".join(known)
            raise UnsupportedError(f"there is no function '{name}'.{did_you_mean(name, known)} Known: {listed}.")
        function: CompiledFunction = getattr(self, name)
        return function

    @cached_property
    def _tangents(self) -> dict[str, Callable[[Any], Any]]:
        """The directions in which a configuration moves: its rate at every unit velocity."""
        tree = self._cut_tree

        def rates(q: Any) -> list[Any]:
            units = ([float(i == k) for i in range(tree.nv)] for k in range(tree.nv))
            return [kinematics.configuration_rate(tree, q, unit) for unit in units]

        return {"q": rates}

    def _derivatives(self, name: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> CompiledFunction:
        if self._pairs_in_loops:
            forward = name == "forward_dynamics_derivatives"
            return self._by_pairs(
                name, inputs, axis_arrays.forward_derivative_arrays if forward else axis_arrays.derivative_arrays
            )
        if name == "forward_dynamics_derivatives" and self._columns_in_loops:
            return self._by_columns(name, inputs)
        function = getattr(self._recursion, name)

        def named(*state: Any) -> dict[str, Any]:
            return dict(zip(outputs, function(*state), strict=True))

        return self._function(name, inputs, named, shapes=dict.fromkeys(outputs, self._square))

    # ── kinematics ────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def forward_kinematics(self) -> CompiledFunction:
        """Poses of all bodies in the world, shape (bodies, 4, 4), in the order of `robot.body_names`."""

        def all_poses(tree: Tree, q: Any) -> list[Any]:
            return [matrix_of(pose) for pose in kinematics.forward_kinematics(tree, q, self.robot.body_names)]

        return self._function("forward_kinematics", ("q",), all_poses, written=True)

    def pose(self, frame: str) -> CompiledFunction:
        """The pose T_WF(q) of a body or frame, shape (4, 4)."""
        self.robot.frame(frame)

        def one_pose(tree: Tree, q: Any) -> Any:
            return matrix_of(kinematics.forward_kinematics(tree, q, [frame])[0])

        return self._of_frame(f"pose[{frame}]", ("q",), one_pose)

    def jacobian(self, frame: str, reference: Reference = "local") -> CompiledFunction:
        """J(q), shape (6, nv): the twist [linear; angular] of a body or frame is J v; see `kinematics`."""
        self.robot.frame(frame)

        def of_frame(tree: Tree, q: Any) -> Any:
            return kinematics.jacobian(tree, q, frame, reference)

        return self._of_frame(f"jacobian[{frame}, {reference}]", ("q",), of_frame)

    def jacobian_rate(self, frame: str, reference: Reference = "local") -> CompiledFunction:
        """dJ/dt at (q, v), shape (6, nv)."""
        self.robot.frame(frame)

        def of_frame(tree: Tree, q: Any, v: Any) -> Any:
            return kinematics.jacobian_rate(tree, q, v, frame, reference)

        return self._of_frame(f"jacobian_rate[{frame}, {reference}]", ("q", "v"), of_frame)

    @cached_property
    def center_of_mass(self) -> CompiledFunction:
        """Center of mass of all bodies in the world [m], shape (3,)."""
        return self._function("center_of_mass", ("q",), momentum.center_of_mass, written=True)

    @cached_property
    def centroidal_matrix(self) -> CompiledFunction:
        """A_G(q), shape (6, nv): the momentum about the center of mass is A_G v, [linear; angular], world axes."""
        return self._function("centroidal_matrix", ("q",), momentum.centroidal_matrix, written=True)

    @cached_property
    def momentum(self) -> CompiledFunction:
        """[linear; angular about the center of mass] momentum at (q, v), world axes, shape (6,)."""
        return self._function("momentum", ("q", "v"), momentum.total_momentum, written=True)

    @cached_property
    def configuration_rate(self) -> CompiledFunction:
        """qdot at (q, v), shape (nq,)."""
        return self._function("configuration_rate", ("q", "v"), kinematics.configuration_rate, written=True)

    # ── making them ───────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _square(self) -> Shape:
        return (self.robot.nv, self.robot.nv)

    def _recipe(self, name: str) -> tuple[Any, ...] | None:
        if self.backend != "llvm" or type(self) is not Dynamics:  # others read the program itself, or have their own
            return None
        limits = (MOST_PAIRS, MOST_COLUMNS, MOST_FACTORS)
        return (name, self.robot, self.formulation, self.parameters, self.wrenches, limits)

    def _by_limbs(self, name: str, inputs: tuple[str, ...], function: Callable[..., Any]) -> CompiledFunction:
        """A recursion along the links; on one state, limbs that are alike are computed side by side."""

        def make() -> Program:
            program = self._program(name, inputs, function, written=False, outputs=None)
            if self.formulation != "newton_euler" or self.parameters or not self.robot.is_open:
                return program
            from kinemorph.deriving import limb_lanes

            return limb_lanes.with_limbs_abreast(program, self.prepared(self._cut_tree), function, self.wrenches)

        return self._recalled(name, make)

    @cached_property
    def _forest(self) -> Forest | None:
        """Which axis hangs on which, for loops. They want every axis after the one it hangs on; robots that declare a
        child first, and formulations that have no use for loops, are written out.
        """
        from kinemorph.codegen.loops.branch_matrix import Forest

        parents = axis_arrays.axis_parents(self._cut_tree)
        ordered = all(parent < k for k, parent in enumerate(parents))
        return Forest(parents) if ordered and self.formulation == "newton_euler" else None

    @cached_property
    def _pairs_in_loops(self) -> bool:
        """Whether products of pairs of axes are loops: where written out they would be too many operations."""
        return self._forest is not None and self._forest.pairs > MOST_PAIRS

    @cached_property
    def _columns_in_loops(self) -> bool:
        """Whether the columns of M X = B are solved in loops: where they are many, and limbs so much alike that few
        loops serve all.
        """
        forest = self._forest
        return forest is not None and forest.size > MOST_COLUMNS and forest.factors <= MOST_FACTORS

    def _by_pairs(self, name: str, inputs: tuple[str, ...], arrays: Callable[..., Any]) -> CompiledFunction:
        """A matrix function of many joints: arrays by straight-line code, then the kernel of that name in loops."""

        def make() -> LoopProgram:
            from kinemorph.deriving import pair_loops

            stage = self._program(name, inputs, arrays, written=False, outputs=None)
            inside = axis_arrays.inside_places(self._cut_tree)
            program: LoopProgram = getattr(pair_loops, name)(stage, self._forest, inside, f"{self.robot.name}.{name}")
            return program

        return self._recalled(name, make)

    def _by_columns(self, name: str, inputs: tuple[str, ...]) -> CompiledFunction:
        """A solution for many columns: the system by straight-line code, then the kernel of that name in loops."""

        def make() -> LoopProgram:
            from kinemorph.deriving import column_loops
            from kinemorph.mechanics.derivatives.forward_derivatives import answering_bases
            from kinemorph.mechanics.trees.limbs import like_limbs

            tree = self.prepared(self._cut_tree)
            loaded = {tree.attachments[frame].link for frame in self.wrenches}
            limbs = [] if self.parameters else like_limbs(tree, loaded)
            shapes = column_loops.system_inputs(tree, limbs)
            answered = {"answered": (6 * len(answering_bases(tree)), 6)}
            system = self._program(
                name, (*shapes, *inputs[3:]), column_loops.system_of(limbs), False, answered, more=shapes
            )
            program: LoopProgram = getattr(column_loops, name)(
                system, self._forest, tree, limbs, f"{self.robot.name}.{name}"
            )
            return program

        return self._recalled(name, make)
