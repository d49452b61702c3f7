"""Reads TOML, the native format of model files, which can express everything that a System contains.

    kinemorph = 1                                   the version of the format
    [parameters] [bodies.*] [joints.*]              the robot; see docs/model_file.md
    [frames.*] [couplings.*] [elements.*] [phases.*] [edges.*] [settings] [starts.*] [runs.*]

or, instead of joints, coordinates and the positions of bodies

    [coordinates.*] [dependents]

or, instead of bodies and joints, modules that are docked; see docs/assemblies.md

    [assembly] [modules.*] [[dockings]] [[poses]] [module_types.*]

Parts of the robot have the order of the file. Root joints are joints whose parent is "world". A joint that closes a
loop is written like any other.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from kinemorph.formats.blueprint import Blueprint
from kinemorph.formats.findings import Findings
from kinemorph.formats.position_blueprint import PositionBlueprint
from kinemorph.formats.repairs import TomlRepairs
from kinemorph.formats.sources import Options, Source
from kinemorph.formats.toml import fields as rows
from kinemorph.formats.toml.assemblies import Docked, Organisms
from kinemorph.formats.toml.documents import Document, parse
from kinemorph.formats.toml.fields import JOINT
from kinemorph.formats.toml.motion import is_placed
from kinemorph.formats.toml.parts import Parts
from kinemorph.formats.toml.sidecar import extend
from kinemorph.model.modules.catalog import standard_types
from kinemorph.model.modules.module_types import ModuleType
from kinemorph.model.system import System
from kinemorph.model.topology import WORLD


def read(source: Source, options: Options, findings: Findings) -> System | None:
    """The system of a TOML file; None if it cannot be read, which is recorded as a finding."""
    opened = _opened(source, options, findings)
    if opened is None:
        return None
    document, parts, top, name = opened
    organism = not document.data.keys().isdisjoint(rows.ORGANISM)
    kind = PositionBlueprint if is_placed(document.data) and not organism else Blueprint
    blueprint = kind(findings, name, line=document.lines.line(("name",)), gravity=top.get("gravity"))
    if organism:
        blueprint.made = Organisms(parts).system(name, top.get("gravity"))
        if blueprint.made is None:
            return None
    elif options.base is not None and kind is PositionBlueprint:
        problem = f"base is '{options.base}', but positions place all bodies, so base has no effect"
        findings.warn("root", 0, "", problem, "Leave base out.")
    elif options.base is not None:
        _rehang(document.data, options.base, findings)
    parts.declare(blueprint)
    if options.sidecar is not None:  # a sidecar that is not named belongs to a file of another format
        extend(blueprint, source, options, findings)
    if blueprint.made is None and kind is Blueprint:
        _roots(document.data, blueprint, options)
    return blueprint.system()


Kept: TypeAlias = MutableMapping[str, dict[str, ModuleType]]  # module types, by the tables that they were read from


def read_docked(source: Source, findings: Findings, kept: Kept | None = None) -> Docked | None:
    """The docked modules of a TOML file, without the robot that they make up: a tenth of the time of `read`.

    None if the text cannot be read, which is recorded as a finding. `kept` stores module types from one call to the
    next, because checking those takes most of the time. Modules that are not connected give an assembly and a problem.
    """
    opened = _opened(source, Options(), findings)
    if opened is None or opened.document.data.keys().isdisjoint(rows.ORGANISM):
        return None
    return Organisms(opened.parts, _types(opened.parts, kept)).docked(opened.name, unchecked=True)


def read_module_types(source: Source, findings: Findings, kept: Kept | None = None) -> dict[str, ModuleType]:
    """All module types of a TOML file by letter, the built-in ones too; wrong ones are left out, with findings."""
    opened = _opened(source, Options(), findings)
    return standard_types() if opened is None else _types(opened.parts, kept)


def _types(parts: Parts, kept: Kept | None) -> dict[str, ModuleType]:
    """The module types of a file, from `kept` if they are there; they are added to it if nothing is wrong with them."""
    key = repr([parts.data.get(table) for table in ("module_types", "parameters")])
    if kept is not None and key in kept:
        return kept[key]
    before = parts.values.error_count
    found = Organisms(parts).types()
    if kept is not None and parts.values.error_count == before:
        kept.clear()
        kept[key] = found
    return found


class _Opened(NamedTuple):
    """A parsed file, the reader of its parts, the keys at its top, and the name of its robot."""

    document: Document
    parts: Parts
    top: dict[str, Any]
    name: str


def _opened(source: Source, options: Options, findings: Findings) -> _Opened | None:
    """A file whose parts can be read; None if the text is not a model file, which is recorded as a finding."""
    document = parse(source, findings)
    if document is None:
        return None
    parts = Parts(document, source, options, findings, TomlRepairs(source, findings))
    if not parts.checked():
        return None
    parts.parameters()
    top = parts.top()
    return _Opened(document, parts, top, top.get("name") or Path(source.name).stem.strip("<>") or "robot")


def _rehang(data: dict[str, Any], base: str, findings: Findings) -> None:
    """Makes the root joint fixed or free, as `base` says, if the file has exactly one root joint of these kinds."""
    joints = _table(data, "joints")
    roots = {name: joint for name, joint in joints.items() if _plain(joint) and joint.get("parent") == WORLD}
    hung = [name for name, joint in roots.items() if joint.get("kind") in ("fixed", "free")]
    if len(hung) == 1:
        per = {field.name for field in JOINT if field.form.startswith("per_")}  # keys that a fixed joint cannot have
        joints[hung[0]] = {key: value for key, value in roots[hung[0]].items() if key not in per} | {"kind": base}
    elif roots:
        what = "several root joints that are fixed or free" if hung else "no root joint that is fixed or free"
        problem = f"base is '{base}', but the file has {what}, so base has no effect"
        findings.warn("root", 0, "", problem, "Leave base out, or change the root joints in the file.")


def _plain(joint: Any) -> bool:
    """Whether a joint is a table whose kind and parent are texts."""
    return isinstance(joint, dict) and all(isinstance(joint.get(key), str) for key in ("kind", "parent"))


def _roots(data: dict[str, Any], blueprint: Blueprint, options: Options) -> None:
    """Declares a root joint for each body without a parent joint; reports these bodies if the caller names no base.

    If the file chooses joints to cut, joints may be reversed; then the builder finds the roots.
    """
    if blueprint.builder.has_cuts:
        return
    bodies, joints = _table(data, "bodies"), _table(data, "joints")
    children = [joint.get("child") for joint in joints.values() if isinstance(joint, dict)]
    carried = {child for child in children if isinstance(child, str)} | {child for _, child in blueprint.ends.values()}
    for name in bodies:
        line = blueprint.lines.get(("body", name))
        if name in carried or line is None:  # without a line, the body has a finding already
            continue
        if options.base is not None:
            blueprint.joint(line, f"{name}_root", options.base, WORLD, name)
        elif name != WORLD:
            problem = "it is not the child of any joint, expected exactly one joint"
            remedy = f'Add [joints.{name}_root] with kind = "fixed" or "free", parent = "{WORLD}" and child = "{name}".'
            blueprint.findings.error("root", line, f"body '{name}'", problem, remedy)


def _table(data: dict[str, Any], key: str) -> dict[str, Any]:
    """The table `key` of a document; empty if it is missing or not a table."""
    table = data.get(key)
    return table if isinstance(table, dict) else {}
