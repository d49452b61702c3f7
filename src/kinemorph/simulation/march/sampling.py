"""The code of one tick: elements sample one after the other, in compiled laws and in functions in C.

A function in C is called by a foreign call. Its arguments and the memory after it come from two programs of the plant:

    asking      (t, base, s, m, u, p) -> (reads, memory)
    function    (t, reads, memory) -> (drives, memory_after)        foreign; its name is `controller_name`
    receiving   (t, base, s, m, u, p, drives, memory_after) -> m    rounds, limits and holds the outputs
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import View
from kinemorph.mechanics.elements.control.functions import names_of_outputs
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.programs import AT, Plant
from kinemorph.plants.sample_instants import Tick

Sampler = tuple[int, int]  # an element by its index, and the number of its clock


def controller_name(index: int) -> str:
    """The name of the foreign function of an element in C, by its index among the elements."""
    return f"controller_{index}"


def write_samples(loop: LoopBuilder, plant: Plant, tick: Tick, here: LocalInstant, new: View) -> None:
    """Writes code for the memory `new` (nm,) after all stages of a tick, from the views of the instant `here`."""
    memory: View = here.m  # the memory before each stage
    for stage in tick.stages:
        for samplers in (stage.samplers,) if stage.runs == "compiled" else ((one,) for one in stage.samplers):
            if memory is new:
                memory = loop.scratch("staged_memory", (len(plant.m),))
                loop.copy(memory, new)
            if stage.runs == "compiled":
                loop.call(plant.sampling(samplers), [new], [*here._replace(m=memory)])
            else:
                _call_c(loop, plant, samplers[0], here._replace(m=memory), new)
            memory = new


def _call_c(loop: LoopBuilder, plant: Plant, sampler: Sampler, here: LocalInstant, new: View) -> None:
    """Writes a foreign call of an element's function in C, and code for the memory after it."""
    sizes = _sizes(plant.elements[sampler[0]])
    given = {name: loop.scratch(f"c_{name}_{sampler[0]}", (size,)) for name, size in sizes.items() if size}
    ins = [given[name] for name in ("reads", "memory") if name in given]
    outs = [given[name] for name in ("drives", "memory_after") if name in given]
    if ins:
        loop.call(asking(plant, sampler, sizes), ins, [*here])
    loop.foreign(controller_name(sampler[0]), [here.t, *ins], outs)
    loop.call(receiving(plant, sampler, sizes), [new], [*here, *outs])


def asking(plant: Plant, sampler: Sampler, sizes: Mapping[str, int]) -> Program:
    """The program of the arguments of a function in C; one of which there are no numbers is left out."""
    assert plant.laws.jumps is not None
    outputs = {name: str(sizes[name]) for name in ("reads", "memory") if sizes[name]}
    return plant.traced("ask", partial(plant.laws.jumps.ask, sampler), AT, outputs)


def receiving(plant: Plant, sampler: Sampler, sizes: Mapping[str, int]) -> Program:
    """The program of the memory (nm,) after a function in C has returned."""
    assert plant.laws.jumps is not None
    more = "".join(f" {name}:{sizes[name]}" for name in ("drives", "memory_after") if sizes[name])
    return plant.traced("receive", partial(plant.laws.jumps.receive, sampler), AT + more, {"m": "nm"})


def _sizes(element: Any) -> dict[str, int]:
    """How many numbers a foreign call passes for an element that is a function in C, by name."""
    kept = len(element.memory)
    return {"reads": len(element.reads), "memory": kept, "drives": len(names_of_outputs(element)), "memory_after": kept}
