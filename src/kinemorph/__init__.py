"""Kinemorph derives a robot's equations of motion, checks them, and compiles them for that one robot.

    import kinemorph

    robot = kinemorph.library.double_pendulum()
    dynamics = kinemorph.derive(robot)
    dynamics.mass_matrix([0.3, -0.5])

This file only lists the public names. A name is imported when it is first used, so that `import kinemorph` stays fast;
`HOMES` gives the file that defines each name. More public names are grouped by subject in `kinemorph.library`,
`elements`, `modules`, `loops`, `orbits`, `legs`, `identification`, `conventions`, `plants`, `programs` and `studies`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinemorph.lazy import lazy_names

__version__ = "0.1.0"

HOMES: dict[str, str] = {
    # what the robot is
    "Robot": "kinemorph.model.robot",
    "RobotBuilder": "kinemorph.model.building.builder",
    "PositionBuilder": "kinemorph.model.positions.position_builder",
    "Body": "kinemorph.model.body",
    "Joint": "kinemorph.model.joint",
    "Parameter": "kinemorph.model.parameter",
    "System": "kinemorph.model.system",
    "Element": "kinemorph.model.system",
    "library": "kinemorph.library:module",
    "reroot": "kinemorph.model.changes.reroot",
    "merge_fixed": "kinemorph.model.changes.merge_fixed",
    "scaled": "kinemorph.mechanics.scaling.scaled",
    # models in files
    "load": "kinemorph.formats.loading",
    "load_text": "kinemorph.formats.loading",
    "examine": "kinemorph.formats.loading",
    "save": "kinemorph.formats.loading",
    # moving about the configuration space
    "neutral": "kinemorph.model.configuration",
    "integrate": "kinemorph.model.configuration",
    "difference": "kinemorph.model.configuration",
    "random_configuration": "kinemorph.model.configuration",
    # from a robot to functions
    "derive": "kinemorph.deriving.dynamics",
    "Dynamics": "kinemorph.deriving.dynamics",
    # what happens
    "simulate": "kinemorph.simulation.simulate",
    "simulate_batch": "kinemorph.simulation.simulate_batch",
    "Stepper": "kinemorph.simulation.stepping.stepper",
    "Guard": "kinemorph.simulation.march.guards",
    "HeldInputs": "kinemorph.simulation.stepping.regular_functions",
    "Trajectory": "kinemorph.simulation.results.trajectory",
    "BatchRun": "kinemorph.simulation.results.batch_run",
    "load_trajectory": "kinemorph.simulation.files.storage",
    # what it means
    "verify": "kinemorph.analysis.verification.verify",
    "audit": "kinemorph.analysis.audit",
    "inverse_kinematics": "kinemorph.analysis.loops.inverse_kinematics",
    "equilibrium": "kinemorph.analysis.small_motions.equilibrium",
    "linearize": "kinemorph.analysis.small_motions.linearize",
    "lqr": "kinemorph.analysis.feedback.lqr",
    "kalman": "kinemorph.analysis.feedback.kalman",
    "poles": "kinemorph.analysis.small_motions.poles",
    "sensitivities": "kinemorph.analysis.small_motions.sensitivities",
    "pole_sensitivities": "kinemorph.analysis.small_motions.pole_sensitivities",
    "optimize": "kinemorph.analysis.optimizing.optimize",
    # what we see
    "draw": "kinemorph.display.painting.draw",
    "plot": "kinemorph.display.charts.plot",
    "animate": "kinemorph.display.painting.animate",
    "animate_mode": "kinemorph.display.painting.animate",
    "replay": "kinemorph.display.replays.replay",
    "view": "kinemorph.display.viewer.view",
    "equations_of_motion": "kinemorph.display.equations.equations_of_motion",
    "plot_phase": "kinemorph.display.charts.plot_phase",
    "plot_poles": "kinemorph.display.charts.plot_poles",
    "draw_modes": "kinemorph.display.painting.draw_modes",
    "report": "kinemorph.display.reports.report",
    "open_studio": "kinemorph.studio.open_studio",
    # further names, by subject
    "notation": "kinemorph.notation:module",
    "elements": "kinemorph.elements:module",
    "modules": "kinemorph.modules:module",
    "loops": "kinemorph.loops:module",
    "orbits": "kinemorph.orbits:module",
    "legs": "kinemorph.legs:module",
    "identification": "kinemorph.identification:module",
    "tracking": "kinemorph.tracking:module",
    "live": "kinemorph.live:module",
    "conventions": "kinemorph.conventions:module",
    "plants": "kinemorph.plants:module",
    "programs": "kinemorph.programs:module",
    "studies": "kinemorph.studies:module",
    "codegen": "kinemorph.codegen:module",
    "errors": "kinemorph.errors:module",
}
__all__ = ["__version__", *HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph import codegen as codegen
    from kinemorph import conventions as conventions
    from kinemorph import elements as elements
    from kinemorph import errors as errors
    from kinemorph import identification as identification
    from kinemorph import legs as legs
    from kinemorph import library as library
    from kinemorph import live as live
    from kinemorph import loops as loops
    from kinemorph import modules as modules
    from kinemorph import notation as notation
    from kinemorph import orbits as orbits
    from kinemorph import plants as plants
    from kinemorph import programs as programs
    from kinemorph import studies as studies
    from kinemorph import tracking as tracking
    from kinemorph.analysis.audit import audit as audit
    from kinemorph.analysis.feedback.kalman import kalman as kalman
    from kinemorph.analysis.feedback.lqr import lqr as lqr
    from kinemorph.analysis.loops.inverse_kinematics import inverse_kinematics as inverse_kinematics
    from kinemorph.analysis.optimizing.optimize import optimize as optimize
    from kinemorph.analysis.small_motions.equilibrium import equilibrium as equilibrium
    from kinemorph.analysis.small_motions.linearize import linearize as linearize
    from kinemorph.analysis.small_motions.pole_sensitivities import pole_sensitivities as pole_sensitivities
    from kinemorph.analysis.small_motions.poles import poles as poles
    from kinemorph.analysis.small_motions.sensitivities import sensitivities as sensitivities
    from kinemorph.analysis.verification.verify import verify as verify
    from kinemorph.deriving.dynamics import Dynamics as Dynamics
    from kinemorph.deriving.dynamics import derive as derive
    from kinemorph.display.charts.plot import plot as plot
    from kinemorph.display.charts.plot_phase import plot_phase as plot_phase
    from kinemorph.display.charts.plot_poles import plot_poles as plot_poles
    from kinemorph.display.equations.equations_of_motion import equations_of_motion as equations_of_motion
    from kinemorph.display.painting.animate import animate as animate
    from kinemorph.display.painting.animate import animate_mode as animate_mode
    from kinemorph.display.painting.draw import draw as draw
    from kinemorph.display.painting.draw_modes import draw_modes as draw_modes
    from kinemorph.display.replays.replay import replay as replay
    from kinemorph.display.reports.report import report as report
    from kinemorph.display.viewer.view import view as view
    from kinemorph.formats.loading import examine as examine
    from kinemorph.formats.loading import load as load
    from kinemorph.formats.loading import load_text as load_text
    from kinemorph.formats.loading import save as save
    from kinemorph.mechanics.scaling.scaled import scaled as scaled
    from kinemorph.model.body import Body as Body
    from kinemorph.model.building.builder import RobotBuilder as RobotBuilder
    from kinemorph.model.changes.merge_fixed import merge_fixed as merge_fixed
    from kinemorph.model.changes.reroot import reroot as reroot
    from kinemorph.model.configuration import difference as difference
    from kinemorph.model.configuration import integrate as integrate
    from kinemorph.model.configuration import neutral as neutral
    from kinemorph.model.configuration import random_configuration as random_configuration
    from kinemorph.model.joint import Joint as Joint
    from kinemorph.model.parameter import Parameter as Parameter
    from kinemorph.model.positions.position_builder import PositionBuilder as PositionBuilder
    from kinemorph.model.robot import Robot as Robot
    from kinemorph.model.system import Element as Element
    from kinemorph.model.system import System as System
    from kinemorph.simulation.files.storage import load_trajectory as load_trajectory
    from kinemorph.simulation.march.guards import Guard as Guard
    from kinemorph.simulation.results.batch_run import BatchRun as BatchRun
    from kinemorph.simulation.results.trajectory import Trajectory as Trajectory
    from kinemorph.simulation.simulate import simulate as simulate
    from kinemorph.simulation.simulate_batch import simulate_batch as simulate_batch
    from kinemorph.simulation.stepping.regular_functions import HeldInputs as HeldInputs
    from kinemorph.simulation.stepping.stepper import Stepper as Stepper
    from kinemorph.studio.open_studio import open_studio as open_studio
else:
    __getattr__, __dir__ = lazy_names(__name__, HOMES)
