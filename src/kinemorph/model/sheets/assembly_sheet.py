"""What an assembly of modules and a module type have to show."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from kinemorph.algebra.rotations import log_so3
from kinemorph.algebra.vectors import norm
from kinemorph.model.parameter import evaluate
from kinemorph.sheet import Facts, Field, Part, Sheet, Table, hidden, shown

if TYPE_CHECKING:
    from kinemorph.model.modules.assembly import Assembly, Docking
    from kinemorph.model.modules.module_types import ModuleType

MODULES = (
    *(Field("name", "module", form="name"), Field("letter", "letter", form="name"), Field("type", "type", form="name")),
    *(Field("position", "position", "m", 6), Field("free_sides", ""), *shown("free sides")),
)
DOCKINGS = (
    *(Field("a", "module", form="name"), Field("side_a", "side")),
    *(Field("b", "docked to", form="name"), Field("side_b", "its side")),
    *(Field("turn", ""), *shown("quarter turns", form=5), Field("joint", "joint", form="word")),
    *(Field("apart", ""), Field("", "apart", "mm", ".3f"), Field("turned", ""), Field("", "turned", "deg", ".3f")),
)


def assembly_sheet(assembly: Assembly) -> Sheet:
    """The modules of an assembly by kind, what is docked to what, and its organisms."""
    kinds = Counter(f"{module.type.letter} ({module.type.name})" for module in assembly.modules)
    groups = assembly.organisms
    facts = Facts(
        [
            (Field("", "modules"), len(assembly.modules)),
            (Field("", "kinds", form="name"), [f"{count} {kind}" for kind, count in kinds.items()]),
            (Field("", "dockings"), len(assembly.dockings)),
            (Field("tree", "rings", form={True: "none", False: "with rings"}), assembly.is_tree),
            (Field("", "organisms", form="name"), [" ".join(group) for group in groups] if len(groups) > 1 else None),
            (Field("base", "base module", form="name"), assembly.base),
        ]
    )
    dockings = Table("dockings", DOCKINGS, [_docking(one) for one in assembly.dockings], "Dockings")
    parts = (facts, module_table(assembly), dockings, hidden(organisms=[list(group) for group in groups]))
    return Sheet("Assembly", assembly.name, parts, key="assembly")


def module_table(assembly: Assembly) -> Table:
    """The modules with their places in the world and the sides at which others can dock."""
    poses, rows = assembly.poses(), []
    for module in assembly.modules:
        free = assembly.free_sides(module.name)
        place = [float(x) for x in poses[module.name].p]
        rows.append((module.name, module.type.letter, module.type.name, place, free, list(map(str, free))))
    return Table("modules", MODULES, rows, "Modules and their free sides")


def _docking(one: Docking) -> tuple[object, ...]:
    apart, turned = float(norm(one.offset.p)), float(norm(log_so3(one.offset.R)))
    joint = None if one.joint is None else one.joint.kind
    offset = (apart, 1e3 * apart or None, turned, math.degrees(turned) or None)
    return one.a, one.side_a, one.b, one.side_b, one.turn, one.turn or None, joint, *offset


def module_type_sheet(kind: ModuleType) -> Sheet:
    """The size of a module type, its parts with their masses and ports, and its joints."""
    facts = Facts(
        [
            (Field("letter", "letter", form="name"), kind.letter),
            (Field("", "ports"), len(kind.ports)),
            (Field("size", "size", "m", 4), [float(edge) for edge in kind.size]),
        ]
    )
    carried = [[str(port.side) for port in kind.ports if port.body == part.name] for part in kind.bodies]
    bodies = [(part.name, float(evaluate(part.mass)), sides) for part, sides in zip(kind.bodies, carried, strict=True)]
    joints = [(one.name, one.kind, one.parent, one.child, one.name == kind.hinge) for one in kind.joints]
    hinge = shown("bends it", form={True: "the hinge", False: ""})
    columns = (*shown("joint"), *shown("kind", form="word"), *shown("parent", "child"), *hinge)
    parts: list[Part] = [
        facts,
        Table("", (*shown("part"), Field("", "mass", "kg", 4), *shown("ports")), bodies, "Parts"),
        Table("", columns, joints, "Joints"),
    ]
    return Sheet("Kind of module", kind.name, parts)
