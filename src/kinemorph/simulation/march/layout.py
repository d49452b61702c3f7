"""The array that a march keeps between two calls of machine code, the guards it watches, and why it comes back."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.loop_program import View
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.method import Method, Shape

HUGE = 1e300  # a number beyond it counts as infinite


class Status(IntEnum):
    """Why a march has come back."""

    GOING = 0  # all samples are done
    EVENT = 1  # a guard has changed its sign
    STUCK = 2  # steps have become too small to count
    INFINITE = 3  # a state is not finite
    UNSOLVED = 4  # the method's own equations were not solved, at the smallest step
    BUDGET = 5  # as many steps were tried as allowed in one call
    TICK = 6  # a Python function has to sample now, or a sampled value is not finite
    LOST = 7  # velocities that were named as independent do not decide the others


class Layout:
    """Where each array stands in the memory of a march."""

    def __init__(self, shapes: Mapping[str, Shape]) -> None:
        self.shapes = dict(shapes)
        self.starts: dict[str, int] = {}
        self._parts: dict[str, slice] = {}
        self.size = 0
        for name, shape in self.shapes.items():
            self.starts[name] = self.size
            self.size += math.prod(shape)
            self._parts[name] = slice(self.starts[name], self.size)

    def view(self, memory: View, name: str) -> View:
        """The array in a loop program's memory."""
        shape = self.shapes[name]
        flat = memory.part(self.starts[name], math.prod(shape))
        return View(flat.array, shape, flat.offset)

    def array(self, memory: Array, name: str) -> Array:
        """The array in numbers, a view that can be written to; memory of shape (..., size)."""
        flat = memory[..., self._parts[name]]
        shape = self.shapes[name]
        return flat if len(shape) == 1 else flat.reshape((*memory.shape[:-1], *shape))


@dataclass(frozen=True, eq=False)
class Guards:
    """Functions whose change of sign is an event: a program of the inputs of `rate`, traced when it is first asked for,
    and the direction in which each of them counts.
    """

    make: Callable[[], Program]
    directions: tuple[int, ...]  # +1 rising, -1 falling, 0 both
    of_elements: bool = False  # whether they are those of the plant's elements, and no others

    @cached_property
    def program(self) -> Program:
        """The guards' values, shape (count,), from the inputs of `rate`."""
        return self.make()

    @property
    def count(self) -> int:
        """The number of guards."""
        return len(self.directions)


def layout(plant: Plant, method: Method, guards: Guards | None = None) -> Layout:
    """The layout of the memory of a march."""
    ns, nq = plant.ns, plant.nq
    return Layout(
        {
            "t": (),
            "t_low": (),  # what t has lost to rounding
            "h": (),
            "base": (nq,),
            "s": (ns,),
            "fresh": (),
            "t_old": (),
            "h_old": (),
            "base_old": (nq,),
            "s_old": (ns,),
            "new": (ns,),
            "dense": (method.degree, ns),
            "prepared": (),
            "again": (),  # whether the last try was rejected
            "error_old": (),  # of the last step that was accepted
            "sides": (guards.count if guards else 0,),  # the sign of each guard where it last had one
            "m": (len(plant.m),),  # memory during the last step
            "m_next": (len(plant.m),),  # and from now on
            "clock": (len(plant.ticks),),  # number of the next tick of each clock
            "accepted": (),
            "rejected": (),
            **{f"own_{name}": shape for name, shape in method.memory(plant).items()},
        }
    )
