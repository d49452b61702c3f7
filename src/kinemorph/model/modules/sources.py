"""`assemble`: an assembly from what people have, a grid of cells or a list of docked sides.

assemble("B>0 Bv1 B<2")                                 a grid, seen from above (`grids`)
assemble([(0, 1, 3, 2), (1, 2, 5, 3)], modules="B")     docked sides: module, module, side, side (`docked_sides`)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from kinemorph.errors import ModelError
from kinemorph.model.modules.assembly import Assembly
from kinemorph.model.modules.catalog import standard_types
from kinemorph.model.modules.grids import grid_assembly
from kinemorph.model.modules.module_types import ModuleType
from kinemorph.model.reading import short

Types: TypeAlias = Mapping[str, ModuleType] | Iterable[ModuleType] | ModuleType | None


def assemble(
    source: Any,
    *,
    types: Types = None,
    name: str | None = None,
    base: str | int | None = None,
    planar: bool = False,
    several: bool = False,
) -> Assembly:
    """An assembly of modules from a grid in text; see docs/assemblies.md.

    `types`     kinds of modules beside the built-in ones, which they replace where their letters are the same
    `name`      of the assembly, "organism" where none is given
    `base`      the module where kinematics begin, by name or number; the first where none is given
    `planar`    whether to hold it to the paper's organisms: a tree, docked upright at sides 2 to 5
    `several`   whether modules may be apart, as several organisms in one world

    Raises ModelError with one sentence for every mistake.
    """
    known = known_types(types)
    called = module_name(base) if base is not None else None
    if isinstance(source, str):
        return grid_assembly(source, known, name=name or "organism", base=called, planar=planar, several=several)
    raise ModelError(f"{short(source)} is given to assemble; expected a grid in text.")


def known_types(types: Types) -> dict[str, ModuleType]:
    """Kinds of modules by letter: the built-in ones and those given."""
    if isinstance(types, ModuleType):
        types = (types,)
    if types is None:
        given: dict[str, ModuleType] = {}
    elif isinstance(types, Mapping):
        given = {str(letter): kind for letter, kind in types.items()}
    else:
        given = {kind.letter: kind for kind in types}
    return standard_types() | given


def module_name(name: str | int) -> str:
    """The name of a module: a number k stands for "m<k>"."""
    return f"m{name}" if isinstance(name, int) else str(name)
