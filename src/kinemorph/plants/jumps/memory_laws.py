"""How the memory of a robot's elements changes: laws over any scalar type.

sample      at the ticks of clocks, for the elements that sample then, one after the other
settle      after an accepted step, for the elements that settle
switch      where a guard of an element has fallen through zero, for that element; at an edge of an automaton the
            whole state may jump (see `phases`)
enter       at the start of a run, for the elements whose memory depends on the initial state
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from kinemorph.algebra.scalar import absolute, less, minus, plus, where
from kinemorph.mechanics.elements.contact.rigid_contacts import GUARDS, RigidContactLaw
from kinemorph.mechanics.elements.control.functions import SampledLaw
from kinemorph.mechanics.elements.instant import SystemInstant
from kinemorph.mechanics.elements.law import Change, ElementLaw
from kinemorph.mechanics.trees import charts
from kinemorph.plants.constrained_motion import seen
from kinemorph.plants.instant import Instant, LocalInstant
from kinemorph.plants.jumps import contact_jumps, phases
from kinemorph.plants.laws import Jumps
from kinemorph.plants.loaded_robot import LoadedRobot
from kinemorph.plants.user_laws import checked_length, split

Sampler = tuple[int, int]  # an element by its index, and the number of its clock


def jumps(loaded: LoadedRobot) -> Jumps:
    """All laws by which the memory of a robot's elements changes."""
    laws = (sample, read, decide, ask, receive, settle, guards, awake, switch, switch_one, switch_contacts)
    found = Jumps(*(partial(law, loaded) for law in laws))
    enters = bool(loaded.rigid) or any(
        type(member.law).entered is not ElementLaw.entered for member in loaded.elements.members
    )
    return replace(found, enter=partial(enter, loaded)) if enters else found


def _instant(loaded: LoadedRobot, at: LocalInstant) -> Instant:
    """An instant with the configuration q in place of local coordinates, with normalized quaternions."""
    now = loaded.instant(at)
    return now._replace(q=charts.finished(loaded.bare, now.q))


def _now(loaded: LoadedRobot, at: LocalInstant) -> SystemInstant:
    """The system at an instant, as its elements see it, with normalized quaternions."""
    return seen(loaded, loaded.tree(at.p, at.t), _instant(loaded, at))


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
    """The signals that an element's user function gets as arguments."""
    element, law = loaded.elements.members[sampler[0]][:2]
    now = _now(loaded, at)
    return [now.signal(name) for name in law.reads(element)]


def decide(
    loaded: LoadedRobot,
    sampler: Sampler,
    function: Callable[..., Any],
    t: float,
    values: Sequence[float],
    m: Sequence[float],
) -> list[float]:
    """The memory after a call of an element's user function with the signals `values`, in plain numbers."""
    element, law, _, start = loaded.elements.members[sampler[0]]
    end = start + len(law.memory(element))
    return [*m[:start], *law.decide(element, function, t, values, m[start:end]), *m[end:]]


def ask(loaded: LoadedRobot, sampler: Sampler, at: LocalInstant) -> dict[str, Any]:
    """The signals `reads` and the `memory` of its own that an element's function in C gets as arguments."""
    element, law, _, start = loaded.elements.members[sampler[0]]
    assert isinstance(law, SampledLaw)
    own = at.m[start + law.front(element) : start + len(law.memory(element))]
    found = {"reads": read(loaded, sampler, at), "memory": list(own)}
    return {name: values for name, values in found.items() if values}


def receive(
    loaded: LoadedRobot, sampler: Sampler, at: LocalInstant, drives: Sequence[Any], memory_after: Sequence[Any] = ()
) -> dict[str, Any]:
    """The memory after an element's function in C has returned the outputs `drives` and its own `memory_after`."""
    index = sampler[0]
    element, law, _, start = loaded.elements.members[index]
    assert isinstance(law, SampledLaw)
    view = _now(loaded, at).views[index]
    new = law.received(element, view.m, drives, memory_after, view.value((element.lower, element.upper)))
    return {"m": [*at.m[:start], *new, *at.m[start + len(new) :]]}


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
    now, found = _now(loaded, at), []
    of_contacts = iter(contact_jumps.contact_guards(loaded, _instant(loaded, at)) if loaded.rigid else ())
    for index, member in enumerate(loaded.elements.members):
        if member == loaded.elements.automaton:
            found += phases.edge_values(loaded, now, _instant(loaded, at))
        elif isinstance(member.law, RigidContactLaw):
            points = len(member.law.guards(member.element)) // len(GUARDS)
            found += [value for _ in range(points) for value in next(of_contacts)]
        else:
            found += member.law.guard_values(member.element, now.views[index])
    return found


def awake(loaded: LoadedRobot, at: LocalInstant) -> list[Any]:
    """1 for each guard of elements that counts in the present phase, else 0, in the order of `guards`."""
    now = _now(loaded, at)
    edges = phases.awake_edges(loaded, now, _instant(loaded, at))
    return [
        edges[number] if loaded.elements.members[index] == loaded.elements.automaton else now.activity(index)
        for index, number, _ in loaded.elements.guards
    ]


def switch(loaded: LoadedRobot, guard: int, at: LocalInstant) -> dict[str, Any]:
    """The state after the guard with this index has fallen through zero: q, v, x and m, energy lost [J], impulses."""
    index, number, _ = loaded.elements.guards[guard]
    member = loaded.elements.members[index]
    now = _instant(loaded, at)
    if member == loaded.elements.automaton:
        return phases.taken_edge(loaded, number, now)
    if isinstance(member.law, RigidContactLaw):
        return contact_jumps.contact_jump(loaded, now)
    changed = _changed(loaded, {index: member.law.switch(member.element, _now(loaded, at).views[index], number)}, at)
    nothing = [0.0] * len(loaded.constraint_names)
    return {"q": now.q, "v": now.v, "x": changed["x"], "m": changed["m"], "lost": 0.0, "impulses": nothing}


def switch_one(loaded: LoadedRobot, count: int, at: LocalInstant, guard: Any) -> dict[str, Any]:
    """As `switch`, for one of the first `count` guards, whose index is a number that the program takes as an input.

    So one program serves all elements, and they share the motion of the robot.
    """
    now, memory, lost = _now(loaded, at), list(at.m), 0.0
    for number, (index, own, _) in enumerate(loaded.elements.guards[:count]):
        element, law, _, start = loaded.elements.members[index]
        if isinstance(law, RigidContactLaw):
            continue
        here, change = less(absolute(minus(guard, float(number))), 0.5), law.switch(element, now.views[index], own)
        for k, value in enumerate(change.memory, start):
            memory[k] = where(here, value, memory[k])
        lost = plus(lost, where(here, change.lost, 0.0))
    after, x = _instant(loaded, at), list(split(at.s, loaded.nv)[2])
    if loaded.account:
        x[-1] = x[-1] + lost
    nothing = [0.0] * len(loaded.constraint_names)
    return {"q": after.q, "v": after.v, "x": x, "m": memory, "lost": lost, "impulses": nothing}


def switch_contacts(loaded: LoadedRobot, at: LocalInstant, guard: Any) -> dict[str, Any]:
    """As `switch`, for any guard of rigid contacts: they share one jump, whichever of them has fallen through zero."""
    return contact_jumps.contact_jump(loaded, _instant(loaded, at))


def enter(loaded: LoadedRobot, at: LocalInstant) -> list[Any]:
    """The memory at the start of a run: points are held where they are."""
    now, memory = _now(loaded, at), list(at.m)
    for index, (element, law, _, start) in enumerate(loaded.elements.members):
        new = law.entered(element, now.views[index])
        memory[start : start + len(new or ())] = new or ()
    if loaded.rigid:
        memory = contact_jumps.contact_memory(loaded, _instant(loaded, at)._replace(m=memory))
    return memory


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
