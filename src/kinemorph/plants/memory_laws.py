"""How the memory of a robot's elements changes: laws over any scalar, the first argument of each some choice.

sample      at the ticks of clocks: the elements that sample, one after the other
settle      after an accepted step: the elements that settle
switch      where a guard of an element has fallen through zero: that guard
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
    """All laws of memory."""
    return Jumps(*(partial(law, loaded) for law in (sample, read, decide, settle, guards, switch)))


def _now(loaded: LoadedRobot, at: LocalInstant) -> SystemInstant:
    """The system as its elements see it, with quaternions of length 1."""
    tree = loaded.tree(at.p)
    now = loaded.instant(tree, at)
    return seen(loaded, tree, now._replace(q=charts.finished(loaded.bare, now.q)))


def sample(loaded: LoadedRobot, samplers: Sequence[Sampler], at: LocalInstant) -> dict[str, Any]:
    """Memory after some elements have sampled, one after the other."""
    memory = list(at.m)
    for index, clock in samplers:
        element, law, _, start = loaded.elements.members[index]
        new = law.sample(element, _now(loaded, at._replace(m=memory)).views[index], clock)
        what = f"element '{element.name}': what it gives when it samples"
        memory[start : start + len(law.memory(element))] = checked_length(new, len(law.memory(element)), what)
    return {"m": memory}


def read(loaded: LoadedRobot, sampler: Sampler, at: LocalInstant) -> list[Any]:
    """The signals that an element's Python function is given."""
    element, law = loaded.elements.members[sampler[0]][:2]
    now = _now(loaded, at)
    return [now.signal(name) for name in law.reads(element)]


def decide(loaded: LoadedRobot, sampler: Sampler, t: float, values: Sequence[float], m: Sequence[float]) -> list[float]:
    """Memory after an element's Python function was called, in plain numbers."""
    element, law, _, start = loaded.elements.members[sampler[0]]
    end = start + len(law.memory(element))
    return [*m[:start], *law.decide(element, t, values, m[start:end], sampler[1]), *m[end:]]


def settle(loaded: LoadedRobot, members: Sequence[int], at: LocalInstant) -> dict[str, Any]:
    """Memory and extra states after an accepted step."""
    now = _now(loaded, at)
    changes = {}
    for index in members:
        element, law = loaded.elements.members[index][:2]
        changes[index] = law.settle(element, now.views[index])
    return _changed(loaded, changes, at)


def guards(loaded: LoadedRobot, at: LocalInstant) -> list[Any]:
    """The values of all guards of elements."""
    now = _now(loaded, at)
    return [
        value
        for index, member in enumerate(loaded.elements.members)
        for value in member.law.guard_values(member.element, now.views[index])
    ]


def switch(loaded: LoadedRobot, guard: int, at: LocalInstant) -> dict[str, Any]:
    """Memory and extra states where a guard has fallen through zero."""
    index, number, _ = loaded.elements.guards[guard]
    element, law = loaded.elements.members[index][:2]
    now = _now(loaded, at)
    return _changed(loaded, {index: law.switch(element, now.views[index], number)}, at)


def _changed(loaded: LoadedRobot, changes: Mapping[int, Change], at: LocalInstant) -> dict[str, Any]:
    """Memory with new entries, and x with the energy that was lost added to the account."""
    memory, x = list(at.m), list(split(at.s, loaded.nv)[2])
    for index, change in changes.items():
        element, law, _, start = loaded.elements.members[index]
        memory[start : start + len(law.memory(element))] = list(change.memory)
        if loaded.account:
            x[-1] = x[-1] + change.lost
    return {"m": memory, "x": x}
