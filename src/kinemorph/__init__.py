"""Kinemorph derives a robot's equations of motion, checks them, and compiles them for that one robot.

    import kinemorph

    robot = kinemorph.library.double_pendulum()
    dynamics = kinemorph.derive(robot)
    dynamics.mass_matrix([0.3, -0.5])

This file holds the public names and nothing else. A name is imported when it is first used, so `import kinemorph` stays
light: `HOMES` says where each one lives.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

HOMES: dict[str, str] = {
    # what the robot is
    "Robot": "kinemorph.model.robot",
    "RobotBuilder": "kinemorph.model.building.builder",
    "Body": "kinemorph.model.body",
    "Joint": "kinemorph.model.joint",
    "Parameter": "kinemorph.model.parameter",
    "System": "kinemorph.model.system",
    "reroot": "kinemorph.model.changes.reroot",
    "library": "kinemorph.model.library",
    # robots made of modules
    "modules": "kinemorph.modules",
    "Assembly": "kinemorph.model.modules.assembly",
    "ModuleType": "kinemorph.model.modules.module_types",
    "assemble": "kinemorph.formats.assemble",
    "snap": "kinemorph.model.modules.measured_poses",
    # what acts on it
    "elements": "kinemorph.model.elements",
    "ElementLaw": "kinemorph.mechanics.elements.law",
    "Effort": "kinemorph.mechanics.elements.law",
    "register": "kinemorph.mechanics.elements.law",
    "with_rotors": "kinemorph.mechanics.elements.drives.rotors",
    "with_rotor_body": "kinemorph.model.changes.rotor_body",
    # models in files
    "load": "kinemorph.formats.loading",
    "load_text": "kinemorph.formats.loading",
    "examine": "kinemorph.formats.loading",
    "save": "kinemorph.formats.loading",
    "from_dh": "kinemorph.formats.dh.reader",
    "merge_fixed": "kinemorph.model.changes.merge_fixed",
    # states in the conventions of other libraries
    "to_convention": "kinemorph.model.conventions.conversions",
    "from_convention": "kinemorph.model.conventions.conversions",
    "quat_wxyz_to_xyzw": "kinemorph.model.conventions.conversions",
    "quat_xyzw_to_wxyz": "kinemorph.model.conventions.conversions",
    # moving about its configuration space
    "neutral": "kinemorph.model.configuration",
    "integrate": "kinemorph.model.configuration",
    "difference": "kinemorph.model.configuration",
    "random_configuration": "kinemorph.model.configuration",
    # from a robot to numbers
    "derive": "kinemorph.deriving.dynamics",
    "trace": "kinemorph.codegen.graphs.tracing",
    # what happens
    "plant": "kinemorph.plants.robot_plant",
    "first_order": "kinemorph.plants.own_equations",
    "second_order": "kinemorph.plants.own_equations",
    "Projection": "kinemorph.plants.loop_methods",
    "Partitioning": "kinemorph.plants.loop_methods",
    "SingularPerturbation": "kinemorph.plants.loop_methods",
    "Baumgarte": "kinemorph.plants.loop_methods",
    "simulate": "kinemorph.simulation.simulate",
    "Held": "kinemorph.simulation.simulate",
    "Guard": "kinemorph.simulation.march.guards",
    "Dock": "kinemorph.simulation.docking.changes",
    "Undock": "kinemorph.simulation.docking.changes",
    "Stepper": "kinemorph.simulation.stepping.stepper",
    "Trajectory": "kinemorph.simulation.results.trajectory",
    "body_poses": "kinemorph.simulation.results.body_poses",
    "load_trajectory": "kinemorph.simulation.files.storage",
    "simulate_batch": "kinemorph.simulation.simulate_batch",
    # what they mean
    "verify": "kinemorph.analysis.verification.verify",
    "inverse_kinematics": "kinemorph.analysis.loops.inverse_kinematics",
    "close_loops": "kinemorph.analysis.loops.close_loops",
    "assembly_modes": "kinemorph.analysis.loops.assembly_modes",
    "mobility": "kinemorph.analysis.loops.mobility",
    "equilibrium": "kinemorph.analysis.small_motions.equilibrium",
    "linearize": "kinemorph.analysis.small_motions.linearize",
    "poles": "kinemorph.analysis.small_motions.poles",
    "with_gait": "kinemorph.analysis.with_gait",
    "gait_clusters": "kinemorph.analysis.gait_clusters",
    "sensitivities": "kinemorph.analysis.small_motions.sensitivities",
    "pole_sensitivities": "kinemorph.analysis.small_motions.pole_sensitivities",
    "audit": "kinemorph.analysis.audit",
    # what we see
    "draw": "kinemorph.display.painting.draw",
    "equations_of_motion": "kinemorph.display.equations.equations_of_motion",
    "plot": "kinemorph.display.charts.plot",
    "phase_portrait": "kinemorph.display.charts.phase_portrait",
    "pole_map": "kinemorph.display.charts.pole_map",
    "mode_shapes": "kinemorph.display.painting.mode_shapes",
    "assembly_tables": "kinemorph.display.tables.assembly_tables",
    "draw_plan": "kinemorph.display.charts.draw_plan",
    "draw_modules": "kinemorph.display.charts.draw_modules",
    "cluster_diagram": "kinemorph.display.charts.cluster_diagram",
    "animate": "kinemorph.display.painting.animate",
    "animate_mode": "kinemorph.display.painting.animate",
    "replay": "kinemorph.display.replays.replay",
    "view": "kinemorph.display.viewer.view",
    "errors": "kinemorph.errors",
}

NAMESPACES = frozenset({"elements", "errors", "library", "modules"})  # modules that are public themselves

__all__ = ["__version__", *HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph import errors as errors
    from kinemorph import modules as modules
    from kinemorph.analysis.audit import audit as audit
    from kinemorph.analysis.gait_clusters import gait_clusters as gait_clusters
    from kinemorph.analysis.loops.assembly_modes import assembly_modes as assembly_modes
    from kinemorph.analysis.loops.close_loops import close_loops as close_loops
    from kinemorph.analysis.loops.inverse_kinematics import inverse_kinematics as inverse_kinematics
    from kinemorph.analysis.loops.mobility import mobility as mobility
    from kinemorph.analysis.small_motions.equilibrium import equilibrium as equilibrium
    from kinemorph.analysis.small_motions.linearize import linearize as linearize
    from kinemorph.analysis.small_motions.pole_sensitivities import pole_sensitivities as pole_sensitivities
    from kinemorph.analysis.small_motions.poles import poles as poles
    from kinemorph.analysis.small_motions.sensitivities import sensitivities as sensitivities
    from kinemorph.analysis.verification.verify import verify as verify
    from kinemorph.analysis.with_gait import with_gait as with_gait
    from kinemorph.codegen.graphs.tracing import trace as trace
    from kinemorph.deriving.dynamics import derive as derive
    from kinemorph.display.charts.cluster_diagram import cluster_diagram as cluster_diagram
    from kinemorph.display.charts.draw_modules import draw_modules as draw_modules
    from kinemorph.display.charts.draw_plan import draw_plan as draw_plan
    from kinemorph.display.charts.phase_portrait import phase_portrait as phase_portrait
    from kinemorph.display.charts.plot import plot as plot
    from kinemorph.display.charts.pole_map import pole_map as pole_map
    from kinemorph.display.equations.equations_of_motion import equations_of_motion as equations_of_motion
    from kinemorph.display.painting.animate import animate as animate
    from kinemorph.display.painting.animate import animate_mode as animate_mode
    from kinemorph.display.painting.draw import draw as draw
    from kinemorph.display.painting.mode_shapes import mode_shapes as mode_shapes
    from kinemorph.display.replays.replay import replay as replay
    from kinemorph.display.tables.assembly_tables import assembly_tables as assembly_tables
    from kinemorph.display.viewer.view import view as view
    from kinemorph.formats.assemble import assemble as assemble
    from kinemorph.formats.dh.reader import from_dh as from_dh
    from kinemorph.formats.loading import examine as examine
    from kinemorph.formats.loading import load as load
    from kinemorph.formats.loading import load_text as load_text
    from kinemorph.formats.loading import save as save
    from kinemorph.mechanics.elements.drives.rotors import with_rotors as with_rotors
    from kinemorph.mechanics.elements.law import Effort as Effort
    from kinemorph.mechanics.elements.law import ElementLaw as ElementLaw
    from kinemorph.mechanics.elements.law import register as register
    from kinemorph.model import elements as elements
    from kinemorph.model import library as library
    from kinemorph.model.body import Body as Body
    from kinemorph.model.building.builder import RobotBuilder as RobotBuilder
    from kinemorph.model.changes.merge_fixed import merge_fixed as merge_fixed
    from kinemorph.model.changes.reroot import reroot as reroot
    from kinemorph.model.changes.rotor_body import with_rotor_body as with_rotor_body
    from kinemorph.model.configuration import difference as difference
    from kinemorph.model.configuration import integrate as integrate
    from kinemorph.model.configuration import neutral as neutral
    from kinemorph.model.configuration import random_configuration as random_configuration
    from kinemorph.model.conventions.conversions import from_convention as from_convention
    from kinemorph.model.conventions.conversions import quat_wxyz_to_xyzw as quat_wxyz_to_xyzw
    from kinemorph.model.conventions.conversions import quat_xyzw_to_wxyz as quat_xyzw_to_wxyz
    from kinemorph.model.conventions.conversions import to_convention as to_convention
    from kinemorph.model.joint import Joint as Joint
    from kinemorph.model.modules.assembly import Assembly as Assembly
    from kinemorph.model.modules.measured_poses import snap as snap
    from kinemorph.model.modules.module_types import ModuleType as ModuleType
    from kinemorph.model.parameter import Parameter as Parameter
    from kinemorph.model.robot import Robot as Robot
    from kinemorph.model.system import System as System
    from kinemorph.plants.loop_methods import Baumgarte as Baumgarte
    from kinemorph.plants.loop_methods import Partitioning as Partitioning
    from kinemorph.plants.loop_methods import Projection as Projection
    from kinemorph.plants.loop_methods import SingularPerturbation as SingularPerturbation
    from kinemorph.plants.own_equations import first_order as first_order
    from kinemorph.plants.own_equations import second_order as second_order
    from kinemorph.plants.robot_plant import plant as plant
    from kinemorph.simulation.docking.changes import Dock as Dock
    from kinemorph.simulation.docking.changes import Undock as Undock
    from kinemorph.simulation.files.storage import load_trajectory as load_trajectory
    from kinemorph.simulation.march.guards import Guard as Guard
    from kinemorph.simulation.results.body_poses import body_poses as body_poses
    from kinemorph.simulation.results.trajectory import Trajectory as Trajectory
    from kinemorph.simulation.simulate import Held as Held
    from kinemorph.simulation.simulate import simulate as simulate
    from kinemorph.simulation.simulate_batch import simulate_batch as simulate_batch
    from kinemorph.simulation.stepping.stepper import Stepper as Stepper


def __getattr__(name: str) -> Any:
    """Import a public name on first use (PEP 562) and keep it."""
    if name not in HOMES:
        raise AttributeError(f"module 'kinemorph' has no attribute '{name}'. Public names: {', '.join(HOMES)}.")
    home = import_module(HOMES[name])
    value = home if name in NAMESPACES else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES})
