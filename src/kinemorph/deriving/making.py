"""How a law of mechanics becomes a compiled function of one robot.

A law is a function of a tree of links and of the state, over any scalar type. A `Maker` traces it, with parameters as
inputs or as constants, on links as the user wrote them or in the form that the formulation's recursions take, and
compiles the program:

    law ──► program (straight-line, or with loops where the robot is large) ──► CompiledFunction

A program that was compiled before is recalled from disk and not traced again (`codegen.storing.recipes`). `Dynamics`
lists the functions. Modules that only tracing needs are imported where they are used, so that recalled functions start
fast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kinemorph.codegen.backends import Precision
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.program import Port, Program, Runnable
from kinemorph.codegen.graphs.tracing import Shape, trace
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.codegen.storing.recipes import recalled
from kinemorph.deriving.driven_functions import state_law
from kinemorph.deriving.function_names import BODY_FUNCTIONS, FRAME_FUNCTIONS, MASS_FUNCTIONS
from kinemorph.deriving.held_constraints import held_rows
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.frozen import dataclass
from kinemorph.mechanics.derivatives import axis_arrays
from kinemorph.mechanics.formulations.driven_dynamics import state_formulation
from kinemorph.mechanics.formulations.formulation import Formulation
from kinemorph.mechanics.recursions.kinematics import configuration_rate
from kinemorph.mechanics.recursions.newton_euler import loads_on_links
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.parameter import Lookup, Parameter, parameters_of
from kinemorph.model.robot import Robot
from kinemorph.model.system import Element

if TYPE_CHECKING:
    from kinemorph.codegen.loops.branch_matrix import Forest

Inputs = tuple[str, ...]
Outputs = Mapping[str, Shape] | None  # shapes by name; None means the shapes that the law returns
Law = Callable[..., Any]

MOST_PAIRS = 1000  # pairs of axes up to which their products are unrolled
MOST_COLUMNS = 20  # velocities up to which M X = B is unrolled in the derivatives of forward dynamics
MOST_FACTORS = 300  # different factors above which M X = B is unrolled for more velocities too
MOST_FOR_SPEED = 100_000  # ops up to which a function is compiled for speed, at some 70 us for each op


def chosen_parameters(robot: Robot, wanted: str | Sequence[str] | None, more: Any = ()) -> tuple[Parameter, ...]:
    """The parameters of a robot, and of `more` data, that `wanted` names, or all for "all"; ModelError for others."""
    if wanted is None:
        return ()
    known = {parameter.name: parameter for parameter in (*parameters_of(more), *robot.parameters)}
    if wanted == "all":
        return tuple(known.values())
    if isinstance(wanted, str):
        wanted = (wanted,)
    missing = [name for name in wanted if name not in known]
    if missing and not known:
        raise ModelError(
            f"parameters {', '.join(missing)}: robot '{robot.name}' has no parameters. Leave parameters= out, or "
            f"give a number of the robot or of its elements as Parameter('{missing[0].split('.')[-1]}', value)."
        )
    if missing:
        listed = ", ".join(f"'{name}'" for name in known)
        raise ModelError(
            [
                f"parameter '{name}': robot '{robot.name}' has no parameter of that name; expected one of: {listed}."
                for name in missing
            ]
        )
    return tuple(known[name] for name in wanted)


@dataclass(frozen=True, eq=False, repr=False)
class Maker:
    """Makes the compiled functions of one robot; its fields are all data that the programs depend on."""

    robot: Robot
    formulation: str
    parameters: tuple[Parameter, ...] = ()
    wrenches: tuple[str, ...] = ()
    backend: str = "llvm"
    precision: Precision = "float64"
    few_calls: bool = False
    constraints: tuple[Element, ...] = ()  # elements with rows phi(q) = 0, beside the loops of the robot

    @property
    def is_open(self) -> bool:
        """Whether nothing constrains the robot: no loop, no coupling and no element."""
        return self.robot.is_open and not self.constraints

    def check_closed(self, name: str) -> None:
        """Raises UnsupportedError if the function `name` needs constraints and there are none."""
        if self.is_open:
            raise UnsupportedError(
                f"{name}: robot '{self.robot.name}' is an open tree without constraints. Use this function for robots "
                "with closed chains or coupled joints, or for a System with elements whose constraints read only "
                "coordinates; other constraints hold in runs."
            )

    def resolved(self, lookup: Lookup | None = None, *, merged: bool = True) -> Tree:
        """The tree of links as the user wrote them, with all constraints, at parameters with the values of `lookup`."""
        tree, elements = resolve(self.robot, lookup, merged=merged), self.constraints
        return replace(tree, held=held_rows(self.robot, elements, lookup or {})) if elements else tree

    @cached_property
    def recursion(self) -> Formulation:
        """The functions of the formulation: how it computes inverse dynamics, the mass matrix and so on from a tree.

        For a robot with driven joints they take and return values of the state (q, v).
        """
        return state_formulation(self.robot, self.formulation)

    @cached_property
    def tree(self) -> Tree:
        """The tree of links at nominal parameters, as the user wrote them; closed chains are cut open."""
        return self.resolved()

    @cached_property
    def prepared_tree(self) -> Tree:
        """The tree of links at nominal parameters, in the form that the formulation's recursions take."""
        return self.recursion.prepare(self.tree)

    # ── from laws to functions ────────────────────────────────────────────────────────────────────────────────────

    def function(
        self,
        name: str,
        inputs: Inputs,
        law: Law,
        outputs: Outputs = None,
        *,
        written: bool = False,
        merged: bool = True,
        sizes: Mapping[str, Shape] | None = None,
    ) -> CompiledFunction:
        """A law as a compiled function of straight-line code; `written`, `merged` and `sizes` as for `program`."""
        kinds: dict[str, Any] = {"written": written, "merged": merged, "sizes": sizes}
        return self._recalled(name, lambda: self.program(name, inputs, law, outputs, **kinds))

    def by_limbs(self, name: str, inputs: Inputs, law: Law) -> CompiledFunction:
        """A recursion along the links as a compiled function; on one state, similar limbs are computed side by side."""

        def make() -> Program:
            program = self.program(name, inputs, law)
            if self.formulation != "newton_euler" or self.parameters or not self.is_open or self.robot.is_timed:
                return program
            from kinemorph.deriving.limb_lanes import with_limbs_abreast

            return with_limbs_abreast(program, self.prepared_tree, law, self.wrenches)

        return self._recalled(name, make)

    def mass_matrix(self) -> CompiledFunction:
        """The function of the mass matrix M(q), shape (nv, nv)."""
        if self._pairs_in_loops:
            return self._by_pairs("mass_matrix", ("q",), axis_arrays.momentum_arrays)
        return self.unrolled_mass_matrix("mass_matrix")

    def unrolled_mass_matrix(self, name: str = "unrolled_mass_matrix") -> CompiledFunction:
        """The function of the mass matrix as straight-line code, which dual numbers pass, also of large robots."""
        return self.function(name, ("q",), self.recursion.mass_matrix, {"out": (self.robot.nv, self.robot.nv)})

    def derivatives(self, name: str, inputs: Inputs, outputs: tuple[str, ...]) -> CompiledFunction:
        """The function of the derivatives of inverse or forward dynamics, one matrix (nv, nv) for each output.

        The robot has to be an open tree.
        """
        forward = name == "forward_dynamics_derivatives"
        if self._pairs_in_loops:
            arrays = axis_arrays.forward_derivative_arrays if forward else axis_arrays.derivative_arrays
            return self._by_pairs(name, inputs, arrays)
        if forward and self._columns_in_loops:
            return self._by_columns(name, inputs)
        law = getattr(self.recursion, name)

        def named(*state: Any) -> dict[str, Any]:
            return dict(zip(outputs, law(*state), strict=True))

        return self.function(name, inputs, named, dict.fromkeys(outputs, (self.robot.nv, self.robot.nv)))

    def graph_derivatives(self, name: str, inputs: Inputs, law: Law, outputs: tuple[str, ...]) -> CompiledFunction:
        """The derivatives of a law with nv results with respect to its first inputs, (nv, nv) each, by differentiation
        of its graph.

        There is one output for each of these inputs. For robots with constraints; their rank is taken as constant.
        """

        def make() -> Program:
            slopes = self.slopes(self.program(name, inputs, law), inputs[: len(outputs)])
            ports = tuple(Port(port, (self.robot.nv, self.robot.nv)) for port in outputs)
            return replace(slopes, name=f"{self.robot.name}.{name}", outputs=ports)

        return self._recalled(name, make)

    def built(self, program: Runnable) -> CompiledFunction:
        """The program as a compiled function; a very long one is compiled in the least time instead of for speed."""
        few_calls = self.few_calls or program.ops > MOST_FOR_SPEED
        return build(program, self.backend, precision=self.precision, few_calls=few_calls)

    def program(
        self,
        name: str,
        inputs: Inputs,
        law: Law,
        outputs: Outputs = None,
        *,
        written: bool = False,
        merged: bool = True,
        sizes: Mapping[str, Shape] | None = None,
    ) -> Program:
        """The program of a law of a tree and the named inputs.

        `written`   whether the tree has the links as the user wrote them
        `merged`    whether bodies that are fixed to each other are one link
        `sizes`     the shapes of inputs whose shape is not (nv,)
        """
        self._check_masses(name)
        robot = self.robot
        shapes: dict[str, Shape] = {"t": (), "q": (robot.nq,)}
        shapes |= {"wrenches": (len(self.wrenches), 6), "p": (len(self.parameters),), **(sizes or {})}
        names = [group for group in inputs if group != "wrenches" or self.wrenches]
        if robot.driven:
            law = state_law(name, law)
        if robot.is_timed:
            names.insert(0, "t")
        if self.parameters:
            names.append("p")

        def run(*arguments: Any) -> Any:
            given = dict(zip(names, arguments, strict=True))
            values = given.pop("p", ())
            lookup = {parameter.name: x for parameter, x in zip(self.parameters, values, strict=True)}
            if "t" in given:
                lookup["t"] = given.pop("t")
            tree = self.resolved(lookup, merged=merged)
            if not written:
                tree = self.recursion.prepare(tree)
            pushed = given.pop("wrenches", None)
            if pushed is not None:
                return law(tree, *given.values(), loads_on_links(tree, self.wrenches, pushed))
            return law(tree, *given.values())

        groups = {group: shapes.get(group, (robot.nv,)) for group in names}
        return trace(run, groups, name=f"{robot.name}.{name}", outputs=outputs)

    def _recalled(self, name: str, make: Callable[[], Program | LoopProgram]) -> CompiledFunction:
        """A function whose program is not traced again where it was compiled before, by any process.

        Backends other than "llvm" need the graph, so they always trace.
        """
        self._check_masses(name)
        if self.backend != "llvm":
            return self.built(make())
        limits = (MOST_PAIRS, MOST_COLUMNS, MOST_FACTORS)
        recipe = (name, self.robot, self.formulation, self.parameters, self.wrenches, limits, self.constraints)
        return self.built(recalled(recipe, make))

    def _check_masses(self, name: str) -> None:
        """Raises ModelError if a function needs masses and the robot has none."""
        if name.partition("[")[0] in MASS_FUNCTIONS:
            self.robot.check_masses(name)

    # ── exact derivatives of graphs ───────────────────────────────────────────────────────────────────────────────

    def derivative(self, function: object, by: str) -> CompiledFunction:
        """The exact derivative of a function of the robot with respect to one input; see `Dynamics.derivative`."""
        if not isinstance(function, CompiledFunction):
            name = getattr(function, "__name__", "")
            remedy = "For a Program, use kinemorph.codegen.derivatives.differentiate.jacobian."
            if name in (*FRAME_FUNCTIONS, *BODY_FUNCTIONS):
                word = "'tool'" if name in FRAME_FUNCTIONS else ""
                remedy = f"Give the function that its words choose, dynamics.{name}({word})."
            raise UnsupportedError(
                f"derivative: a {type(function).__name__} is given; expected the name of a function, or a function of "
                f"these dynamics. {remedy}"
            )
        inputs = [port.name for port in function.inputs]
        if by not in inputs:
            hint = " Derive the robot with parameters=... to have the input p." if by == "p" else ""
            raise UnsupportedError(f"derivative of '{function.name}': it has the inputs {inputs}, not '{by}'.{hint}")
        program = function.program
        if not isinstance(program, Program):
            raise UnsupportedError(
                f"derivative of '{function.name}': the robot has so many joints that this function is a loop program, "
                "and only straight-line programs can be differentiated. Use inverse_dynamics_derivatives."
            )
        return self.built(self.slopes(program, (by,)))

    def slopes(self, program: Program, by: tuple[str, ...]) -> Program:
        """The program of the derivatives of all outputs with respect to the inputs `by`.

        Derivatives with respect to q are along the unit velocities, so that they have nv columns.
        """
        from kinemorph.codegen.derivatives.differentiate import jacobian

        tree = self.tree.of_state

        def rates(q: Any) -> list[Any]:
            units = ([float(i == k) for i in range(tree.nv)] for k in range(tree.nv))
            return [configuration_rate(tree, q, unit) for unit in units]

        outputs = tuple(port.name for port in program.outputs)
        return jacobian(program, outputs, by, seeds={"q": rates} if "q" in by else None)

    # ── large robots ──────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _forest(self) -> Forest | None:
        """Which joint axis is carried by which, for programs with loops over all axes; None without such programs.

        Only "newton_euler" has such programs. They need every axis after the axis that carries it: for robots that
        declare a child before its parent it is None, too.
        """
        from kinemorph.codegen.loops.branch_matrix import Forest

        parents = axis_arrays.axis_parents(self.tree)
        ordered = all(parent < k for k, parent in enumerate(parents))
        return Forest(parents) if ordered and self.formulation == "newton_euler" else None

    @property
    def _pairs_in_loops(self) -> bool:
        """Whether products of pairs of axes are loops, because they would be too many operations if unrolled."""
        if self.robot.nv**2 <= MOST_PAIRS or self.robot.driven:
            return False
        return self._forest is not None and self._forest.pairs > MOST_PAIRS

    @property
    def _columns_in_loops(self) -> bool:
        """Whether the columns of M X = B are solved in loops: if there are many, and limbs are so similar that few
        loops suffice for all.
        """
        if self.robot.nv <= MOST_COLUMNS or self.robot.driven:
            return False
        return self._forest is not None and self._forest.factors <= MOST_FACTORS

    def _by_pairs(self, name: str, inputs: Inputs, arrays: Law) -> CompiledFunction:
        """A matrix function of many joints: straight-line code for `arrays`, then the loops of `pair_loops`."""

        def make() -> Any:
            from kinemorph.deriving import pair_loops

            stage = self.program(name, inputs, arrays)
            inside = axis_arrays.inside_places(self.tree)
            return getattr(pair_loops, name)(stage, self._forest, inside, f"{self.robot.name}.{name}")

        return self._recalled(name, make)

    def _by_columns(self, name: str, inputs: Inputs) -> CompiledFunction:
        """A solution for many columns: straight-line code for the system, then the loops of `column_loops`."""

        def make() -> Any:
            from kinemorph.deriving import column_loops
            from kinemorph.mechanics.derivatives.forward_derivatives import answering_bases
            from kinemorph.mechanics.trees.limbs import like_limbs

            tree = self.prepared_tree
            loaded = {tree.attachments[frame].link for frame in self.wrenches}
            limbs = [] if self.parameters else like_limbs(tree, loaded)
            sizes = column_loops.system_inputs(tree, limbs)
            answered = {"answered": (6 * len(answering_bases(tree)), 6)}
            law = column_loops.system_of(limbs)
            system = self.program(name, (*sizes, *inputs[3:]), law, answered, sizes=sizes)
            return getattr(column_loops, name)(system, self._forest, tree, limbs, f"{self.robot.name}.{name}")

        return self._recalled(name, make)
