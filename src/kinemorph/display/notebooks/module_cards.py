"""Notebook cards of assemblies and kinds of modules: a plan or picture, and tables of modules and dockings."""

from __future__ import annotations

from kinemorph.display.charts.draw_plan import draw_plan
from kinemorph.display.faces.card import card_of_sheet
from kinemorph.display.faces.thumbnails import Kept, Picture, figure_picture
from kinemorph.display.html import note
from kinemorph.display.notebooks.model_cards import pictured
from kinemorph.display.painting.draw import draw
from kinemorph.errors import KinemorphError
from kinemorph.model.modules.assembly import Assembly, Module
from kinemorph.model.modules.module_types import ModuleType

MOST_DRAWN = 200  # modules; the plan of a larger assembly is not drawn on its card

_PLANS, _PORTRAITS = Kept(), Kept()


def assembly_card(assembly: Assembly) -> str:
    """The card of an assembly: its sheet beside its plan."""
    picture, why = pictured(_plan(assembly), f"the plan of {assembly.name}")
    told = note(
        "assembly.robot() returns the robot; assembly.system(elements) returns a System to simulate and analyze."
    )
    return card_of_sheet(assembly.sheet(), told, why, picture=picture)


def module_type_card(kind: ModuleType) -> str:
    """The card of a kind of module: its sheet beside its picture."""
    picture, why = pictured(_portrait(kind), f"a {kind.name}")
    return card_of_sheet(kind.sheet(), why, picture=picture)


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
