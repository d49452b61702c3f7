"""Modules that dock: module types, assemblies of modules, and the robots that they make up."""

from kinemorph.model.modules.assembly import Assembly, Docking, Module
from kinemorph.model.modules.catalog import (
    JOINT_MODULES,
    PRISMATIC,
    REVOLUTE,
    active_wheel,
    backbone,
    cube,
    scout,
    standard_types,
)
from kinemorph.model.modules.drives import hinge_drives, hinges
from kinemorph.model.modules.dyads import dyad_class, dyad_classes
from kinemorph.model.modules.ground_contacts import ground_contacts, on_ground, put_down
from kinemorph.model.modules.incidence import IncidenceMatrix, assembly_incidence
from kinemorph.model.modules.incidence_reading import read_incidence
from kinemorph.model.modules.measured_poses import Residual, Snapped, snap
from kinemorph.model.modules.module_types import JointModule, ModuleType, Port, Side, side_port
from kinemorph.model.modules.traversal import Traversal, traverse

__all__ = [
    "JOINT_MODULES",
    "PRISMATIC",
    "REVOLUTE",
    "Assembly",
    "Docking",
    "IncidenceMatrix",
    "JointModule",
    "Module",
    "ModuleType",
    "Port",
    "Residual",
    "Side",
    "Snapped",
    "Traversal",
    "active_wheel",
    "assembly_incidence",
    "backbone",
    "cube",
    "dyad_class",
    "dyad_classes",
    "ground_contacts",
    "hinge_drives",
    "hinges",
    "on_ground",
    "put_down",
    "read_incidence",
    "scout",
    "side_port",
    "snap",
    "standard_types",
    "traverse",
]
