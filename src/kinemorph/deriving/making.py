"""What the functions of a robot are made of: the robot, how it is derived, and the way from a law to a function.

A law is mechanics: a function of a tree of links and of the state, over any scalar. Here it is run on graph nodes, with
parameters as inputs or folded in, on links as the user wrote them or as the formulation's recursions want them, and
compiled. `deriving.Dynamics` says which functions there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.codegen.backends import Precision
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import Shape, trace
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.codegen.storing.recipes import AnyProgram, recalled
from kinemorph.frozen import dataclass
from kinemorph.mechanics.formulations.table import FORMULATIONS, Formulation
from kinemorph.mechanics.recursions.newton_euler import loads_on_links
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot


@dataclass(frozen=True, eq=False, repr=False)
class RobotFunctions:
    """A robot, how it is derived, and how a law of mechanics becomes a function of arrays."""

    robot: Robot
    formulation: str
    parameters: tuple[Parameter, ...] = ()
    wrenches: tuple[str, ...] = ()
    backend: str = "llvm"
    precision: Precision = "float64"
    _made: dict[str, CompiledFunction] = field(default_factory=dict)

    @cached_property
    def nominal_parameters(self) -> npt.NDArray[np.float64]:
        """Nominal values of the named parameters, the input `p`, shape (np,)."""
        return np.array([parameter.value for parameter in self.parameters], dtype=float)

    @property
    def takes_wrenches(self) -> bool:
        """Whether its recursions take outside wrenches on links."""
        return self._recursion.wrenches

    def prepared(self, tree: Tree, points: Mapping[int, Any] | None = None) -> Tree:
        """The tree as this formulation's recursions want it; `points` by link are where forces act."""
        return self._recursion.prepare(tree, points)

    @cached_property
    def _recursion(self) -> Formulation:
        return FORMULATIONS[self.formulation]

    @cached_property
    def _cut_tree(self) -> Tree:
        """The links at nominal parameters: who hangs on whom, and how configurations move."""
        return resolve(self.robot)

    def _function(
        self,
        name: str,
        inputs: tuple[str, ...],
        function: Callable[..., Any],
        *,
        written: bool = False,
        shapes: Mapping[str, Shape] | None = None,
    ) -> CompiledFunction:
        """A function, traced and compiled. `written`: on the links as the user wrote them."""
        return self._recalled(name, lambda: self._program(name, inputs, function, written, shapes))

    def _built(self, program: AnyProgram) -> CompiledFunction:
        return build(program, self.backend, precision=self.precision)

    def _recalled(self, name: str, make: Callable[[], Program | LoopProgram]) -> CompiledFunction:
        """A function whose program need not be traced where it has been before."""
        recipe = self._recipe(name)
        return self._built(make() if recipe is None else recalled(recipe, make))

    def _recipe(self, name: str) -> tuple[Any, ...] | None:
        """All that a function's program depends on; None where it is to be traced each time."""
        return None

    def _of_frame(self, name: str, inputs: tuple[str, ...], function: Callable[..., Any]) -> CompiledFunction:
        """A function of one frame, made when it is first asked for."""
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = self._function(name, inputs, function, written=True)
        return made

    def _program(
        self,
        name: str,
        inputs: tuple[str, ...],
        function: Callable[..., Any],
        written: bool,
        outputs: Mapping[str, Shape] | None,
        merged: bool = True,
        more: Mapping[str, Shape] | None = None,
    ) -> Program:
        """The program of a function of a tree and the named inputs; `more` gives shapes of inputs that are no state."""
        robot = self.robot
        shapes = {"q": (robot.nq,), "wrenches": (len(self.wrenches), 6), "p": (len(self.parameters),), **(more or {})}
        names = [group for group in inputs if group != "wrenches" or self.wrenches]
        if self.parameters:
            names.append("p")

        def run(*arguments: Any) -> Any:
            given = dict(zip(names, arguments, strict=True))
            values = given.pop("p", ())
            lookup = {parameter.name: x for parameter, x in zip(self.parameters, values, strict=True)}
            tree = resolve(robot, lookup, merged=merged)
            if not written:
                tree = self.prepared(tree)
            pushed = given.pop("wrenches", None)
            if pushed is not None:
                return function(tree, *given.values(), loads_on_links(tree, self.wrenches, pushed))
            return function(tree, *given.values())

        groups = {group: shapes.get(group, (robot.nv,)) for group in names}
        return trace(run, groups, name=f"{robot.name}.{name}", outputs=outputs)
