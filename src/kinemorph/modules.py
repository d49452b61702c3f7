"""Robots made of modules that dock: module types, assemblies, docking during a run, tables and plans.

from kinemorph.modules import Dock, assemble
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinemorph.lazy import lazy_names

HOMES: dict[str, str] = {
    # kinds of modules and assemblies
    "JOINT_MODULES": "kinemorph.model.modules.catalog",
    "PRISMATIC": "kinemorph.model.modules.catalog",
    "REVOLUTE": "kinemorph.model.modules.catalog",
    "Assembly": "kinemorph.model.modules.assembly",
    "Docking": "kinemorph.model.modules.assembly",
    "IncidenceMatrix": "kinemorph.model.modules.incidence",
    "JointModule": "kinemorph.model.modules.module_types",
    "Module": "kinemorph.model.modules.assembly",
    "ModuleType": "kinemorph.model.modules.module_types",
    "Port": "kinemorph.model.modules.module_types",
    "Residual": "kinemorph.model.modules.measured_poses",
    "Side": "kinemorph.model.modules.module_types",
    "Snapped": "kinemorph.model.modules.measured_poses",
    "Traversal": "kinemorph.model.modules.traversal",
    "active_wheel": "kinemorph.model.modules.catalog",
    "assembly_incidence": "kinemorph.model.modules.incidence",
    "backbone": "kinemorph.model.modules.catalog",
    "cube": "kinemorph.model.modules.catalog",
    "dyad_class": "kinemorph.model.modules.dyads",
    "dyad_classes": "kinemorph.model.modules.dyads",
    "ground_contacts": "kinemorph.model.modules.ground_contacts",
    "hinge_drives": "kinemorph.model.modules.drives",
    "hinges": "kinemorph.model.modules.drives",
    "on_ground": "kinemorph.model.modules.ground_contacts",
    "put_down": "kinemorph.model.modules.ground_contacts",
    "read_incidence": "kinemorph.model.modules.incidence_reading",
    "scout": "kinemorph.model.modules.catalog",
    "side_port": "kinemorph.model.modules.module_types",
    "snap": "kinemorph.model.modules.measured_poses",
    "standard_types": "kinemorph.model.modules.catalog",
    "traverse": "kinemorph.model.modules.traversal",
    # from a grid, a list, poses or a file
    "assemble": "kinemorph.formats.assemble",
    "reassembled": "kinemorph.formats.assemble",
    # what happens to them in a run
    "Dock": "kinemorph.simulation.docking.changes",
    "Undock": "kinemorph.simulation.docking.changes",
    # what we see of them
    "assembly_tables": "kinemorph.display.tables.assembly_tables",
    "draw_plan": "kinemorph.display.charts.draw_plan",
    "draw_modules": "kinemorph.display.charts.draw_modules",
}

__all__ = [*HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph.display.charts.draw_modules import draw_modules as draw_modules
    from kinemorph.display.charts.draw_plan import draw_plan as draw_plan
    from kinemorph.display.tables.assembly_tables import assembly_tables as assembly_tables
    from kinemorph.formats.assemble import assemble as assemble
    from kinemorph.formats.assemble import reassembled as reassembled
    from kinemorph.model.modules.assembly import Assembly as Assembly
    from kinemorph.model.modules.assembly import Docking as Docking
    from kinemorph.model.modules.assembly import Module as Module
    from kinemorph.model.modules.catalog import JOINT_MODULES as JOINT_MODULES
    from kinemorph.model.modules.catalog import PRISMATIC as PRISMATIC
    from kinemorph.model.modules.catalog import REVOLUTE as REVOLUTE
    from kinemorph.model.modules.catalog import active_wheel as active_wheel
    from kinemorph.model.modules.catalog import backbone as backbone
    from kinemorph.model.modules.catalog import cube as cube
    from kinemorph.model.modules.catalog import scout as scout
    from kinemorph.model.modules.catalog import standard_types as standard_types
    from kinemorph.model.modules.drives import hinge_drives as hinge_drives
    from kinemorph.model.modules.drives import hinges as hinges
    from kinemorph.model.modules.dyads import dyad_class as dyad_class
    from kinemorph.model.modules.dyads import dyad_classes as dyad_classes
    from kinemorph.model.modules.ground_contacts import ground_contacts as ground_contacts
    from kinemorph.model.modules.ground_contacts import on_ground as on_ground
    from kinemorph.model.modules.ground_contacts import put_down as put_down
    from kinemorph.model.modules.incidence import IncidenceMatrix as IncidenceMatrix
    from kinemorph.model.modules.incidence import assembly_incidence as assembly_incidence
    from kinemorph.model.modules.incidence_reading import read_incidence as read_incidence
    from kinemorph.model.modules.measured_poses import Residual as Residual
    from kinemorph.model.modules.measured_poses import Snapped as Snapped
    from kinemorph.model.modules.measured_poses import snap as snap
    from kinemorph.model.modules.module_types import JointModule as JointModule
    from kinemorph.model.modules.module_types import ModuleType as ModuleType
    from kinemorph.model.modules.module_types import Port as Port
    from kinemorph.model.modules.module_types import Side as Side
    from kinemorph.model.modules.module_types import side_port as side_port
    from kinemorph.model.modules.traversal import Traversal as Traversal
    from kinemorph.model.modules.traversal import traverse as traverse
    from kinemorph.simulation.docking.changes import Dock as Dock
    from kinemorph.simulation.docking.changes import Undock as Undock
else:
    __getattr__, __dir__ = lazy_names(__name__, HOMES)
