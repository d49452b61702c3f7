"""Modules that dock: kinds of modules, assemblies of them, and the robots that they make up."""

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
from kinemorph.model.modules.footing import ground_contacts, put_down
from kinemorph.model.modules.module_types import JointModule, ModuleType, Port, Side, side_port
from kinemorph.model.modules.sources import assemble

__all__ = [
    "JOINT_MODULES",
    "PRISMATIC",
    "REVOLUTE",
    "Assembly",
    "Docking",
    "JointModule",
    "Module",
    "ModuleType",
    "Port",
    "Side",
    "active_wheel",
    "assemble",
    "backbone",
    "cube",
    "ground_contacts",
    "put_down",
    "scout",
    "side_port",
    "standard_types",
]
