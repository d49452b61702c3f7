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
    "RobotBuilder": "kinemorph.model.builder",
    "Body": "kinemorph.model.body",
    "Joint": "kinemorph.model.joint",
    "Parameter": "kinemorph.model.parameter",
    "System": "kinemorph.model.system",
    "reroot": "kinemorph.model.rerooting",
    "library": "kinemorph.model.library",
    # robots made of modules
    "modules": "kinemorph.model.modules",
    "Assembly": "kinemorph.model.modules.assembly",
    "ModuleType": "kinemorph.model.modules.module_types",
    "assemble": "kinemorph.model.modules.sources",
    "snap": "kinemorph.model.modules.measured_poses",
    # what acts on it
    "elements": "kinemorph.model.elements",
    "ElementLaw": "kinemorph.mechanics.elements.law",
    "Effort": "kinemorph.mechanics.elements.law",
    "register": "kinemorph.mechanics.elements.law",
    "with_rotors": "kinemorph.mechanics.elements.rotors",
    "with_rotor_body": "kinemorph.model.rotors",
    # models in files
    "load": "kinemorph.loading",
    "load_text": "kinemorph.loading",
    "examine": "kinemorph.loading",
    "save": "kinemorph.loading",
    "from_dh": "kinemorph.model.formats.denavit_hartenberg.reader",
    "merge_fixed": "kinemorph.model.merging",
    # states in the conventions of other libraries
    "to_convention": "kinemorph.model.conversions",
    "from_convention": "kinemorph.model.conversions",
    "quat_wxyz_to_xyzw": "kinemorph.model.conversions",
    "quat_xyzw_to_wxyz": "kinemorph.model.conversions",
    # moving about its configuration space
    "neutral": "kinemorph.model.configuration",
    "integrate": "kinemorph.model.configuration",
    "difference": "kinemorph.model.configuration",
    "random_configuration": "kinemorph.model.configuration",
    # from a robot to numbers
    "derive": "kinemorph.deriving",
    "trace": "kinemorph.codegen.tracing",
    # what happens
    "plant": "kinemorph.plants.robots",
    "first_order": "kinemorph.plants.equations",
    "second_order": "kinemorph.plants.equations",
    "Projection": "kinemorph.plants.loop_methods",
    "Partitioning": "kinemorph.plants.loop_methods",
    "SingularPerturbation": "kinemorph.plants.loop_methods",
    "Baumgarte": "kinemorph.plants.loop_methods",
    "simulate": "kinemorph.simulation.run",
    "Held": "kinemorph.simulation.run",
    "Guard": "kinemorph.simulation.events",
    "Dock": "kinemorph.simulation.docking",
    "Undock": "kinemorph.simulation.docking",
    "Stepper": "kinemorph.simulation.stepper",
    "Trajectory": "kinemorph.simulation.trajectory",
    "body_poses": "kinemorph.simulation.whereabouts",
    "load_trajectory": "kinemorph.simulation.storage",
    "simulate_batch": "kinemorph.simulation.batch",
    # what they mean
    "verify": "kinemorph.analysis.verification",
    "inverse_kinematics": "kinemorph.analysis.reaching",
    "close_loops": "kinemorph.analysis.closing",
    "assembly_modes": "kinemorph.analysis.branches",
    "mobility": "kinemorph.analysis.freedoms",
    "equilibrium": "kinemorph.analysis.equilibria",
    "linearize": "kinemorph.analysis.linearization",
    "poles": "kinemorph.analysis.modes",
    "with_gait": "kinemorph.analysis.gait_following",
    "gait_clusters": "kinemorph.analysis.clusters",
    "sensitivities": "kinemorph.analysis.sensitivity",
    "pole_sensitivities": "kinemorph.analysis.pole_sensitivity",
    "audit": "kinemorph.analysis.auditing",
    # what we see
    "draw": "kinemorph.display.drawing",
    "equations_of_motion": "kinemorph.display.equations",
    "plot": "kinemorph.display.plots",
    "phase_portrait": "kinemorph.display.portraits",
    "pole_map": "kinemorph.display.pole_maps",
    "mode_shapes": "kinemorph.display.mode_pictures",
    "assembly_tables": "kinemorph.display.module_tables",
    "draw_plan": "kinemorph.display.plans",
    "draw_modules": "kinemorph.display.module_graphs",
    "cluster_diagram": "kinemorph.display.cluster_pictures",
    "animate": "kinemorph.display.animation",
    "animate_mode": "kinemorph.display.animation",
    "replay": "kinemorph.display.replays.pages",
    "view": "kinemorph.display.viewer.viewers",
    "errors": "kinemorph.errors",
}

__all__ = ["__version__", *HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph import errors as errors
    from kinemorph.analysis.auditing import audit as audit
    from kinemorph.analysis.branches import assembly_modes as assembly_modes
    from kinemorph.analysis.closing import close_loops as close_loops
    from kinemorph.analysis.clusters import gait_clusters as gait_clusters
    from kinemorph.analysis.equilibria import equilibrium as equilibrium
    from kinemorph.analysis.freedoms import mobility as mobility
    from kinemorph.analysis.gait_following import with_gait as with_gait
    from kinemorph.analysis.linearization import linearize as linearize
    from kinemorph.analysis.modes import poles as poles
    from kinemorph.analysis.pole_sensitivity import pole_sensitivities as pole_sensitivities
    from kinemorph.analysis.reaching import inverse_kinematics as inverse_kinematics
    from kinemorph.analysis.sensitivity import sensitivities as sensitivities
    from kinemorph.analysis.verification import verify as verify
    from kinemorph.codegen.tracing import trace as trace
    from kinemorph.deriving import derive as derive
    from kinemorph.display.animation import animate as animate
    from kinemorph.display.animation import animate_mode as animate_mode
    from kinemorph.display.cluster_pictures import cluster_diagram as cluster_diagram
    from kinemorph.display.drawing import draw as draw
    from kinemorph.display.equations import equations_of_motion as equations_of_motion
    from kinemorph.display.mode_pictures import mode_shapes as mode_shapes
    from kinemorph.display.module_graphs import draw_modules as draw_modules
    from kinemorph.display.module_tables import assembly_tables as assembly_tables
    from kinemorph.display.plans import draw_plan as draw_plan
    from kinemorph.display.plots import plot as plot
    from kinemorph.display.pole_maps import pole_map as pole_map
    from kinemorph.display.portraits import phase_portrait as phase_portrait
    from kinemorph.display.replays.pages import replay as replay
    from kinemorph.display.viewer.viewers import view as view
    from kinemorph.loading import examine as examine
    from kinemorph.loading import load as load
    from kinemorph.loading import load_text as load_text
    from kinemorph.loading import save as save
    from kinemorph.mechanics.elements.law import Effort as Effort
    from kinemorph.mechanics.elements.law import ElementLaw as ElementLaw
    from kinemorph.mechanics.elements.law import register as register
    from kinemorph.mechanics.elements.rotors import with_rotors as with_rotors
    from kinemorph.model import elements as elements
    from kinemorph.model import library as library
    from kinemorph.model import modules as modules
    from kinemorph.model.body import Body as Body
    from kinemorph.model.builder import RobotBuilder as RobotBuilder
    from kinemorph.model.configuration import difference as difference
    from kinemorph.model.configuration import integrate as integrate
    from kinemorph.model.configuration import neutral as neutral
    from kinemorph.model.configuration import random_configuration as random_configuration
    from kinemorph.model.conversions import from_convention as from_convention
    from kinemorph.model.conversions import quat_wxyz_to_xyzw as quat_wxyz_to_xyzw
    from kinemorph.model.conversions import quat_xyzw_to_wxyz as quat_xyzw_to_wxyz
    from kinemorph.model.conversions import to_convention as to_convention
    from kinemorph.model.formats.denavit_hartenberg.reader import from_dh as from_dh
    from kinemorph.model.joint import Joint as Joint
    from kinemorph.model.merging import merge_fixed as merge_fixed
    from kinemorph.model.modules.assembly import Assembly as Assembly
    from kinemorph.model.modules.measured_poses import snap as snap
    from kinemorph.model.modules.module_types import ModuleType as ModuleType
    from kinemorph.model.modules.sources import assemble as assemble
    from kinemorph.model.parameter import Parameter as Parameter
    from kinemorph.model.rerooting import reroot as reroot
    from kinemorph.model.robot import Robot as Robot
    from kinemorph.model.rotors import with_rotor_body as with_rotor_body
    from kinemorph.model.system import System as System
    from kinemorph.plants.equations import first_order as first_order
    from kinemorph.plants.equations import second_order as second_order
    from kinemorph.plants.loop_methods import Baumgarte as Baumgarte
    from kinemorph.plants.loop_methods import Partitioning as Partitioning
    from kinemorph.plants.loop_methods import Projection as Projection
    from kinemorph.plants.loop_methods import SingularPerturbation as SingularPerturbation
    from kinemorph.plants.robots import plant as plant
    from kinemorph.simulation.batch import simulate_batch as simulate_batch
    from kinemorph.simulation.docking import Dock as Dock
    from kinemorph.simulation.docking import Undock as Undock
    from kinemorph.simulation.events import Guard as Guard
    from kinemorph.simulation.run import Held as Held
    from kinemorph.simulation.run import simulate as simulate
    from kinemorph.simulation.stepper import Stepper as Stepper
    from kinemorph.simulation.storage import load_trajectory as load_trajectory
    from kinemorph.simulation.trajectory import Trajectory as Trajectory
    from kinemorph.simulation.whereabouts import body_poses as body_poses


def __getattr__(name: str) -> Any:
    """Import a public name on first use (PEP 562) and keep it."""
    if name not in HOMES:
        raise AttributeError(f"module 'kinemorph' has no attribute '{name}'. Public names: {', '.join(HOMES)}.")
    home = import_module(HOMES[name])
    value = (
        home if HOMES[name].endswith(f".{name}") else getattr(home, name)
    )  # `library`, `elements`, `modules` are modules
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES})
