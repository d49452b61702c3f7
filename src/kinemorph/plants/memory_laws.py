"""How the memory of a robot's elements changes: laws over any scalar type.

sample      at the ticks of clocks, for the elements that sample then, one after the other
settle      after an accepted step, for the elements that settle
switch      where a guard of an element has fallen through zero, for that element
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from kinemorph.mechanics.elements.instant import SystemInstant
from kinemorph.mechanics.elements.law import Change
from kinemorph.mechanics.trees import charts
from kinemorph.plants.constrained_motion import seen
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.laws import Jumps
from kinemorph.plants.loaded_robot import LoadedRobot
from kinemorph.plants.user_laws import checked_length, split

Sampler = tuple[int, int]  # an element by its index, and the number of its clock


def jumps(loaded: LoadedRobot) -> Jumps:
    """All laws by which the memory of a robot's elements changes."""
    return Jumps(*(partial(law, loaded) for law in (sample, read, decide, settle, guards, switch)))


def _now(loaded: LoadedRobot, at: LocalInstant) -> SystemInstant:
    """The system at an instant, as its elements see it, with normalized quaternions."""
    tree = loaded.tree(at.p, at.t)
    now = loaded.instant(at)
    return seen(loaded, tree, now._replace(q=charts.finished(loaded.bare, now.q)))


def sample(loaded: LoadedRobot, samplers: Sequence[Sampler], at: LocalInstant) -> dict[str, Any]:
    """The memory after the elements of `samplers` have sampled, one after the other."""
    memory = list(at.m)
    for index, clock in samplers:
        element, law, _, start = loaded.elements.members[index]
        new = law.sample(element, _now(loaded, at._replace(m=memory)).views[index], clock)
        what = f"element '{element.name}': its sampling law"
        memory[start : start + len(law.memory(element))] = checked_length(new, len(law.memory(element)), what)
    return {"m": memory}


def read(loaded: LoadedRobot, sampler: Sampler, at: LocalInstant) -> list[Any]:
    """The signals that an element's Python function gets as arguments."""
    element, law = loaded.elements.members[sampler[0]][:2]
    now = _now(loaded, at)
    return [now.signal(name) for name in law.reads(element)]


def decide(loaded: LoadedRobot, sampler: Sampler, t: float, values: Sequence[float], m: Sequence[float]) -> list[float]:
    """The memory after a call of an element's Python function with the signals `values`, in plain numbers."""
    element, law, _, start = loaded.elements.members[sampler[0]]
    end = start + len(law.memory(element))
    return [*m[:start], *law.decide(element, t, values, m[start:end], sampler[1]), *m[end:]]


def settle(loaded: LoadedRobot, members: Sequence[int], at: LocalInstant) -> dict[str, Any]:
    """The memory and the extra states after an accepted step.

    `members` are the elements whose memory may change after each step, such as contacts that begin to stick.
    """
    now = _now(loaded, at)
    changes = {}
    for index in members:
        element, law = loaded.elements.members[index][:2]
        changes[index] = law.settle(element, now.views[index])
    return _changed(loaded, changes, at)


def guards(loaded: LoadedRobot, at: LocalInstant) -> list[Any]:
    """The values of all guards of elements, in the order of the elements."""
    now = _now(loaded, at)
    return [
        value
        for index, member in enumerate(loaded.elements.members)
        for value in member.law.guard_values(member.element, now.views[index])
    ]


def switch(loaded: LoadedRobot, guard: int, at: LocalInstant) -> dict[str, Any]:
    """The memory and the extra states after the guard with this index has fallen through zero."""
    index, number, _ = loaded.elements.guards[guard]
    element, law = loaded.elements.members[index][:2]
    now = _now(loaded, at)
    return _changed(loaded, {index: law.switch(element, now.views[index], number)}, at)


def _changed(loaded: LoadedRobot, changes: Mapping[int, Change], at: LocalInstant) -> dict[str, Any]:
    """(m, x): the memory with the `changes` of elements; further states x with the energy that these changes lose.

    That energy is added to the state of x that counts dissipated energy, if the plant has it.
    """
    memory, x = list(at.m), list(split(at.s, loaded.nv)[2])
    for index, change in changes.items():
        element, law, _, start = loaded.elements.members[index]
        memory[start : start + len(law.memory(element))] = list(change.memory)
        if loaded.account:
            x[-1] = x[-1] + change.lost
    return {"m": memory, "x": x}
