"""Notebook cards of assemblies and kinds of modules: a plan or picture, and tables of modules and dockings."""

from __future__ import annotations

from collections import Counter

from kinemorph.display.charts.draw_plan import draw_plan
from kinemorph.display.faces.thumbnails import Kept, Picture, figure_picture
from kinemorph.display.html import card, escaped, listed, note, number, table
from kinemorph.display.notebooks.model_cards import counted, pictured
from kinemorph.display.painting.draw import draw
from kinemorph.errors import KinemorphError
from kinemorph.model.modules.assembly import Assembly, Module
from kinemorph.model.modules.module_types import ModuleType

MOST_DRAWN = 200  # modules; the plan of a larger assembly is not drawn on its card

_PLANS, _PORTRAITS = Kept(), Kept()


def assembly_card(assembly: Assembly) -> str:
    """The card of an assembly: its plan, its modules by kind, and its dockings."""
    kinds = Counter(f"{module.type.letter} ({module.type.name})" for module in assembly.modules)
    several = [f"{len(assembly.organisms)} organisms"] if len(assembly.organisms) > 1 else []
    rings = [] if assembly.is_tree else ["with rings"]
    figures = [counted(len(assembly.modules), "module"), f"{len(assembly.dockings)} docked", *several, *rings]
    based = [f"base {assembly.base}"] if assembly.modules else []
    picture, why = pictured(_plan(assembly), f"the plan of {assembly.name}")
    jointed = any(docking.joint for docking in assembly.dockings)
    rows = [
        [*map(escaped, (d.a, d.side_a, d.b, d.side_b)), *(["" if d.joint is None else d.joint.kind] * jointed)]
        for d in assembly.dockings
    ]
    columns = ("module", "side", "docked to", "its side", *["joint"] * jointed)
    parts = [
        listed("modules", [f"{count} {kind}" for kind, count in kinds.items()]),
        table("dockings", columns, rows, count=len(rows), folded=len(rows) > 12) if rows else "",
        note("assembly.robot() returns the robot; assembly.system(elements) returns a System to simulate and analyze."),
        why,
    ]
    return card("Assembly", assembly.name, [*figures, *based], parts, picture=picture)


def module_type_card(kind: ModuleType) -> str:
    """The card of a kind of module: its picture, parts, joints and ports."""
    picture, why = pictured(_portrait(kind), f"a {kind.name}")
    carried = {part.name: [port.side for port in kind.ports if port.body == part.name] for part in kind.bodies}
    rows = [
        [escaped(part.name), number(float(part.mass)), escaped(", ".join(map(str, carried[part.name])))]
        for part in kind.bodies
    ]
    joints = [
        f"{joint.name} ({joint.kind}): {joint.parent} to {joint.child}{', the hinge' * (joint.name == kind.hinge)}"
        for joint in kind.joints
    ]
    size = " x ".join(number(1e3 * float(edge)) for edge in kind.size)
    figures = [f"letter {kind.letter}", counted(len(kind.ports), "port"), f"{size} mm"]
    parts = [table("parts", ("part", "mass [kg]", "ports"), rows, count=len(rows)), listed("joints", joints), why]
    return card("Kind of module", kind.name, figures, parts, picture=picture)


def _portrait(kind: ModuleType) -> Picture:
    """The picture of one module of this kind, or a note that says why it cannot be drawn."""

    def make() -> Picture:
        alone = Assembly(kind.name, (Module("m0", kind),))
        try:
            return figure_picture(draw(alone.robot(root="fixed"), title="", camera="iso", size=4.0))
        except KinemorphError as error:
            return Picture(note=str(error))

    found: Picture = _PORTRAITS.of(kind, make)
    return found


def _plan(assembly: Assembly) -> Picture:
    """The plan of an assembly, or a note that says why it is not drawn."""
    if not assembly.modules:
        return Picture()
    if len(assembly.modules) > MOST_DRAWN:
        count = len(assembly.modules)
        return Picture(note=f"No plan: {count} modules are too many for a small one. Call draw_plan(assembly).")

    def make() -> Picture:
        try:
            return figure_picture(draw_plan(assembly))
        except KinemorphError as error:
            return Picture(note=str(error))

    found: Picture = _PLANS.of(assembly, make)
    return found
