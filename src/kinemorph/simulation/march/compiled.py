"""The march as machine code, made once for each plant, method and set of guards: quick code at first, which runs at
once, and better code in the background while it runs (`CompiledFunction.used`).

A march that is made of plain data alone has a recipe, as its plant has: machine code that was compiled before, in this
process or in another one, is loaded without tracing anything.
"""

from __future__ import annotations

from typing import Any

from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.plants.programs import Plant
from kinemorph.plants.recipe import is_packaged
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.march.layout import ById, Guards
from kinemorph.simulation.march.march import march

MOST_GUARDED = 4  # compiled marches with guards that one plant caches


def compiled_march(
    plant: Plant, method: Method, *, samples: int, guards: Guards | None = None, fixed: bool = False
) -> CompiledFunction:
    """The march of a plant as machine code; `samples` is the number of samples in one call.

    It is cached with the plant, so that further runs start without compiling. Of the marches with guards, only the last
    few are cached.
    """

    def make() -> LoopProgram:
        return march(plant, method, samples=samples, guards=guards, fixed=fixed)

    built: dict[Any, CompiledFunction] = plant.kept.setdefault("marches", {})
    key = (ById(method), samples, fixed, ById(guards))
    if key not in built:
        plain = is_packaged(method) and (guards is None or guards.of_elements)
        what = ("march", type(method).__module__, method, samples, fixed, guards is not None)
        built[key] = build(plant.recalled(what, make) if plain else make(), grows=True)
        guarded = [known for known in built if known[-1].value is not None]
        for old in guarded[:-MOST_GUARDED]:
            del built[old]
    return built[key]
