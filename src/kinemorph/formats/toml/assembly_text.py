"""Writes docked modules as tables of a TOML file: as a grid if that is possible, otherwise as a list of dockings."""

from __future__ import annotations

from typing import Any

from kinemorph.algebra.groups import IDENTITY
from kinemorph.errors import ModelError
from kinemorph.formats.findings import Findings
from kinemorph.formats.toml import text as spell
from kinemorph.formats.toml.writer import Entries, body_entries, joint_entries, lines_of
from kinemorph.model.modules.assembly import Assembly, Docking
from kinemorph.model.modules.catalog import JOINT_MODULES, standard_types
from kinemorph.model.modules.grid_text import grid_of
from kinemorph.model.modules.module_types import ModuleType, Port
from kinemorph.model.modules.organisms import VIRTUAL
from kinemorph.model.robot import Robot
from kinemorph.model.system import System

NOTE = "# Docked modules: their types, and their dockings. See docs/assemblies.md of Kinemorph.\n\n"


def organism_sections(system: System, findings: Findings) -> list[str] | None:
    """The sections of a file for an assembly; None, with a warning, if reading them would give another robot."""
    assembly = system.assembly
    assert assembly is not None
    options = robot_options(assembly, system.robot)
    letters: dict[str, ModuleType] = {}
    shared = [m.type for m in assembly.modules if letters.setdefault(m.type.letter, m.type) != m.type]
    if options is None or shared:
        why = (
            "the robot differs from the one that its assembly would give"
            if options is None
            else f"two module types have the letter {shared[0].letter!r}"
        )
        problem = f"{why}, so bodies and joints are written, and no assembly"
        remedy = "Make the robot again from its assembly." if options is None else "Give every type another letter."
        findings.warn("dropped", 0, f"robot '{system.name}'", problem, remedy)
        return None
    known = standard_types()
    own = [kind for letter, kind in letters.items() if known.get(letter) != kind]
    return [*_assembly(assembly, options, known | letters), *(text for kind in own for text in _type(kind))]


def robot_options(assembly: Assembly, robot: Robot) -> dict[str, Any] | None:
    """The arguments base, dyads and root of `Assembly.robot` that give this robot; None if there are none."""
    first = robot.joints[0]
    letters = [joint.name.removeprefix("virtual_") for joint in robot.joints if joint.name.startswith("virtual_")]
    bodies = {*robot.body_names}
    dyads = "adapted" if any(name in bodies for name in assembly.names) else "halves"
    if letters and all(letter in VIRTUAL for letter in letters):
        child = robot.joint(f"virtual_{letters[-1]}").child
        root: Any = letters[0] if len(letters) == 1 else tuple(letters)
    else:
        root, child = first.kind, first.child
    base = next((name for name in assembly.names if child == name or child.startswith(f"{name}_")), "")
    options = {"base": base or assembly.base, "dyads": dyads, "root": root}
    try:
        same = assembly.robot(**options, gravity=robot.gravity) == robot
    except ModelError:
        return None
    return options if same else None


def _assembly(assembly: Assembly, options: dict[str, Any], types: dict[str, ModuleType]) -> list[str]:
    """The section [assembly], with a grid or followed by sections for modules and dockings."""
    entries: Entries = {}
    if assembly.modules[0].name != options["base"]:
        entries["base"] = spell.text(options["base"])
    if options["dyads"] != "halves":
        entries["dyads"] = spell.text(options["dyads"])
    if options["root"] != "free":
        root = options["root"]
        entries["root"] = spell.text(root) if isinstance(root, str) else spell.array(map(spell.text, root))
    if len(assembly.organisms) > 1:
        entries["several"] = "true"
    grid = grid_of(assembly, types) if options["base"] == assembly.base else None
    if grid is not None:
        quoted = f"'''\n{grid}'''"
        return [f"{NOTE}[assembly]\n{lines_of({**entries, 'grid': quoted})}"]
    return [f"{NOTE}[assembly]\n{lines_of(entries)}", *docking_sections(assembly)]


def docking_sections(assembly: Assembly) -> list[str]:
    """The sections [modules.*] and [[dockings]] of an assembly, which describe it also where no grid does."""
    sections = []
    for module in assembly.modules:
        place = {} if module.at is None else spell.pose(module.at) or {"translation": "[0.0, 0.0, 0.0]"}
        data = {"type": spell.text(module.type.letter), **place}
        sections.append(f"[modules.{spell.key(module.name)}]\n{lines_of(data)}")
    return [*sections, *(f"[[dockings]]\n{lines_of(_docking(docking))}" for docking in assembly.dockings)]


def _docking(docking: Docking) -> Entries:
    """The keys of a docking in [[dockings]]."""
    entries = {}
    for key in ("a", "side_a", "b", "side_b"):
        value = getattr(docking, key)
        entries[key] = str(value) if isinstance(value, int) else spell.text(value)
    if docking.turn:
        entries["turn"] = str(docking.turn)
    joint = docking.joint
    if joint is not None:
        entries["joint"] = spell.text(joint.kind)
        usual = JOINT_MODULES[joint.kind]
        if joint.axis != usual.axis:
            entries["axis"] = spell.axis(joint.axis)
        for key in ("lower", "upper", "velocity", "effort", "damping"):
            if getattr(joint, key) != getattr(usual, key):
                entries[key] = spell.number(getattr(joint, key))
    if docking.offset != IDENTITY:
        entries["offset"] = spell.inline(spell.pose(docking.offset))
    return entries


def _type(kind: ModuleType) -> list[str]:
    """The tables of a module type that is not built in."""
    place = f"module_types.{spell.key(kind.letter)}"
    entries = {"name": spell.text(kind.name), "pitch": spell.number(kind.pitch)}
    if kind.cells != (1, 1, 1):
        entries["cells"] = spell.array(map(str, kind.cells))
    if kind.hinge:
        entries["hinge"] = spell.text(kind.hinge)
    tables = [f"[{place}]\n{lines_of(entries)}"]
    for body in kind.bodies:
        tables.append(f"[{place}.bodies.{spell.key(body.name)}]\n{lines_of(body_entries(body))}")
    for joint in kind.joints:
        tables.append(f"[{place}.joints.{spell.key(joint.name)}]\n{lines_of(joint_entries(joint))}")
    return [*tables, *(f"[{place}.ports.{spell.key(str(p.side))}]\n{lines_of(_port(p))}" for p in kind.ports)]


def _port(port: Port) -> Entries:
    """The keys of a port."""
    return {"body": spell.text(port.body), **spell.pose(port.pose)}
