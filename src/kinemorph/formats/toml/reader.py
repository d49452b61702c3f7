"""TOML: the native model file, which holds everything that a System can.

    kinemorph = 1                                   the mark of the format
    [parameters] [bodies.*] [joints.*]              the robot; see docs/model_file.md
    [frames.*] [couplings.*] [elements.*] [settings]

or, in place of bodies and joints, modules that are docked; see docs/assemblies.md

    [assembly] [modules.*] [[dockings]] [[poses]] [module_types.*]

The order of the file is the order of the robot. Roots are joints whose parent is "world". What closes a loop is a joint
like any other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kinemorph.formats.blueprint import Blueprint
from kinemorph.formats.findings import Findings
from kinemorph.formats.repairs import TomlRepairs
from kinemorph.formats.sources import Options, Source
from kinemorph.formats.toml import fields as rows
from kinemorph.formats.toml.assemblies import Organisms
from kinemorph.formats.toml.documents import parse
from kinemorph.formats.toml.fields import JOINT
from kinemorph.formats.toml.parts import Parts
from kinemorph.formats.toml.sidecar import extend
from kinemorph.model.system import System
from kinemorph.model.topology import WORLD


def read(source: Source, options: Options, findings: Findings) -> System | None:
    """The system of a TOML file."""
    document = parse(source, findings)
    if document is None:
        return None
    parts = Parts(document, source, options, findings, TomlRepairs(source, findings))
    if not parts.checked():
        return None
    parts.parameters()
    top = parts.top()
    name = top.get("name") or Path(source.name).stem.strip("<>") or "robot"
    blueprint = Blueprint(findings, name, line=document.lines.line(("name",)), gravity=top.get("gravity"))
    if not document.data.keys().isdisjoint(rows.ORGANISM):
        blueprint.made = Organisms(parts).system(name, top.get("gravity"))
        if blueprint.made is None:
            return None
    elif options.base is not None:
        _rehang(document.data, options.base, findings)
    parts.declare(blueprint)
    if options.sidecar is not None:  # one that lies beside belongs to a file that cannot say everything itself
        extend(blueprint, source, options, findings)
    if blueprint.made is None:
        _roots(document.data, blueprint, options)
    return blueprint.system()


def _rehang(data: dict[str, Any], base: str, findings: Findings) -> None:
    """Makes the root fixed or free as the caller asks, where the file has exactly one root of these kinds."""
    joints = _table(data, "joints")
    roots = {name: joint for name, joint in joints.items() if _plain(joint) and joint.get("parent") == WORLD}
    hung = [name for name, joint in roots.items() if joint.get("kind") in ("fixed", "free")]
    if len(hung) == 1:
        per = {field.name for field in JOINT if field.form.startswith("per_")}  # what one kind has and the other lacks
        joints[hung[0]] = {key: value for key, value in roots[hung[0]].items() if key not in per} | {"kind": base}
    elif roots:
        what = "several roots that are fixed or free" if hung else "no root that is fixed or free"
        problem = f"the base is asked to be {base}, but the file has {what}; all stay as they are"
        findings.warn("root", 0, "", problem, "Leave base out, or change the root joints in the file.")


def _plain(joint: Any) -> bool:
    """Whether a joint is a table whose kind and parent are words."""
    return isinstance(joint, dict) and all(isinstance(joint.get(key), str) for key in ("kind", "parent"))


def _roots(data: dict[str, Any], blueprint: Blueprint, options: Options) -> None:
    """Bodies without a parent joint become roots of the kind that the caller asks for; otherwise they give findings.

    Where cuts are chosen, a body may hang by a joint that has it as its parent; then the builder reports problems.
    """
    if blueprint.builder.has_cuts:
        return
    bodies, joints = _table(data, "bodies"), _table(data, "joints")
    children = [joint.get("child") for joint in joints.values() if isinstance(joint, dict)]
    carried = {child for child in children if isinstance(child, str)} | {child for _, child in blueprint.ends.values()}
    for name in bodies:
        line = blueprint.lines.get(("body", name))
        if name in carried or line is None:  # or it has a finding already
            continue
        if options.base is not None:
            blueprint.joint(line, f"{name}_root", options.base, WORLD, name)
        elif name != WORLD:
            problem = "no joint has it as its child, expected one joint to carry it"
            remedy = f'Add [joints.{name}_root] with kind = "fixed" or "free", parent = "{WORLD}" and child = "{name}".'
            blueprint.findings.error("root", line, f"body '{name}'", problem, remedy)


def _table(data: dict[str, Any], key: str) -> dict[str, Any]:
    table = data.get(key)
    return table if isinstance(table, dict) else {}
