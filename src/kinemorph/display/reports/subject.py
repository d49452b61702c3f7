"""What a report is about: a model, and runs of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.display.equations.equations_of_motion import symbolic_dynamics
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.frozen import dataclass
from kinemorph.mechanics.formulations.table import FormulationName
from kinemorph.model.modules.assembly import Assembly
from kinemorph.model.robot import Robot, not_a_model
from kinemorph.model.system import Settings, System
from kinemorph.simulation.results.trajectory import Trajectory

if TYPE_CHECKING:
    from kinemorph.analysis.small_motions.equilibrium import Equilibrium
    from kinemorph.display.reports.signing.verdicts import SignedModel


@dataclass(frozen=True)
class ReportSettings:
    """Choices that chapters follow.

    `states` and `seed` are those of random states at which equations are checked; `formulation` is that by which the
    printed equations of motion are derived. `columns` are names, groups or patterns of columns of runs that are shown,
    too, such as "reaction.knee.*".
    """

    states: int = 8
    seed: int = 0
    columns: tuple[str, ...] = ()
    formulation: FormulationName = "newton_euler"


@dataclass(frozen=True, eq=False)
class Subject:
    """The model and the runs of a report, which every chapter gets.

    `runs`       {name: run}; names are those of files, or numbers
    `settings`   choices of the whole report
    """

    model: System
    runs: Mapping[str, Trajectory]
    settings: ReportSettings = ReportSettings()

    @property
    def robot(self) -> Robot:
        """The robot of the model."""
        return self.model.robot

    @property
    def assembly(self) -> Assembly | None:
        """The modules that the robot is made of; None for a robot without modules."""
        return self.model.assembly

    @cached_property
    def dynamics(self) -> Dynamics:
        """The derived equations of the robot, interpreted: a report calls each function a few times only."""
        return derive(self.robot, backend="interpreter")

    @cached_property
    def symbolic(self) -> Dynamics:
        """The derived equations of the robot with its parameters, and g where gravity is a number, as symbols."""
        return symbolic_dynamics(self.robot)

    @cached_property
    def formulated(self) -> Dynamics:
        """The equations as in `symbolic`, derived by the formulation of the settings."""
        name = self.settings.formulation
        return self.symbolic if name == "newton_euler" else symbolic_dynamics(self.robot, name)

    @cached_property
    def degrees_of_freedom(self) -> int | None:
        """The degrees of freedom with closed loops and coupled joints; None where the loops cannot be closed."""
        if not (self.robot.loops or self.robot.couplings):
            return self.robot.nv
        from kinemorph.analysis.loops.mobility import mobility

        found = mobility(self.model)
        return found.dof if found.closed else None

    @cached_property
    def equilibrium(self) -> Equilibrium | KinemorphError:
        """The equilibrium near the initial state of the model; the error where none can be searched for."""
        from kinemorph.analysis.small_motions.equilibrium import equilibrium

        try:
            return equilibrium(self.model, self.model.settings.q or None)
        except KinemorphError as error:
            return error

    @cached_property
    def signed(self) -> SignedModel:
        """The model and its runs with their signature."""
        from kinemorph.display.reports.signing.verdicts import sign

        return sign(self.model, self.runs, states=self.settings.states, seed=self.settings.seed)


def subject_of(*given: Any, names: Sequence[str] = (), settings: ReportSettings | None = None) -> Subject:
    """The subject of a report about a Robot, a System or an Assembly, runs of it, or runs alone.

    `names` are those of the runs. Runs alone have to know their system: those of `simulate` do.
    """
    runs = [one for one in given if isinstance(one, Trajectory)]
    models = [one for one in given if not isinstance(one, Trajectory)]
    for one in models:
        _system(one)
    if len(models) > 1:
        raise UnsupportedError(
            f"a report is about one model, but {len(models)} are given. Write a report for each of them."
        )
    if not given:
        raise UnsupportedError("a report needs a model or a run, but nothing is given. Pass a Robot, System or run.")
    model = _system(models[0]) if models else _system_of_runs(runs)
    called = names or [f"{number}" for number in range(1, len(runs) + 1)]
    return Subject(model, dict(zip(called, runs, strict=True)), settings or ReportSettings())


def _system(model: Any) -> System:
    """The system of a model of any kind."""
    if isinstance(model, System):
        return model
    if isinstance(model, Robot):
        return System(model)
    if isinstance(model, Dynamics):
        return System(model.robot)
    if isinstance(model, Assembly):
        return model.system()
    raise not_a_model(model, "a Robot, a System, a Dynamics, an Assembly or a Trajectory")


def _system_of_runs(runs: Sequence[Trajectory]) -> System:
    """The system of the first run, from its plant."""
    plant = runs[0].segments[0].plant
    if plant.robot is None:
        raise UnsupportedError(
            f"the run '{runs[0].name}' does not know its robot. Give its model before the run: report(model, run)."
        )
    start = runs[0].segments[0]
    settings = Settings(tuple(map(float, start.q[0])), tuple(map(float, start.v[0])), float(runs[0].t[-1]))
    robot = start.robot or plant.robot
    return System(robot, tuple(plant.elements), settings, plant.assembly, plant.automaton)
