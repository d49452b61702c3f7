"""Rates without contacts that are above the ground (`plants.contacts.distant_contacts`): which one is called.

Robots from files have many contacts, which cost more than the robot itself; so a step first asks how many of them may
touch, and then calls the lightest program that has these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import View
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.laws import Laws
from kinemorph.plants.programs import AT, Plant


def call_by_clearance(
    loop: LoopBuilder,
    plant: Plant,
    at: Sequence[View],
    program: Program,
    lighter: Callable[[Plant], Sequence[Program]],
    outs: Sequence[View],
    ins: Sequence[View],
) -> None:
    """Writes the call of a program of a plant, or of a lighter one without contacts that are above the ground.

    `at` are views of the inputs of `Plant.near`, which decides; `lighter` gives the lighter programs of a plant.
    """
    if plant.near is None or plant.asked:  # inputs that foreign functions give are asked for once in a call
        loop.call(program, outs, ins)
        return
    level = loop.scratch("level_0")
    loop.call(plant.near, [level], at)
    _call_at_level(loop, level, (*lighter(plant), program), outs, ins, 1)


def _call_at_level(
    loop: LoopBuilder, level: View, programs: Sequence[Program], outs: Sequence[View], ins: Sequence[View], depth: int
) -> None:
    """Writes the call of the program whose index is `level`."""
    if len(programs) == 1:
        loop.call(programs[0], outs, ins)
        return
    with loop.if_(level):
        lower = loop.scratch(f"level_{depth}")
        loop.let(lower, lambda one: one - 1.0, level)
        _call_at_level(loop, lower, programs[1:], outs, ins, depth + 1)
    with loop.otherwise():
        loop.call(programs[0], outs, ins)


@lru_cache(maxsize=16)
def lighter_rates(plant: Plant) -> tuple[Program, ...]:
    """Programs as `Plant.rate` without contacts that are above the ground, the lightest first."""

    def rate(laws: Laws, at: LocalInstant) -> dict[str, Any]:
        return {"out": laws.rate(at)}

    found = []
    for k, laws in enumerate(plant.laws.lighter):
        program = plant.traced(f"lighter_rate_{k}", laws.rate, AT, {"out": "ns"})
        found.append(laws.for_one(program, rate, {"out": ("s",)}) if laws.for_one else program)
    return tuple(found)


@lru_cache(maxsize=16)
def lighter_residuals(plant: Plant) -> tuple[Program, ...]:
    """Programs as `Plant.residual` without contacts that are above the ground, the lightest first."""
    inputs = "t base s z:nz m u p"
    laws = enumerate(plant.laws.lighter)
    return tuple(plant.traced(f"lighter_residual_{k}", one.residual, inputs, {"out": "nz"}) for k, one in laws)
