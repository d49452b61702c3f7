"""Names that an edge of an automaton exchanges or resets, as indices of q, v, and of states x and memory m of elements.

A relabeling is a permutation with signs: new value k = sign * old value index.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kinemorph.algebra.scalar import S
from kinemorph.errors import ModelError, Problem
from kinemorph.mechanics.elements.ensemble import Ensemble
from kinemorph.model.elements.phases.automaton import Edge
from kinemorph.model.robot import Robot
from kinemorph.words import did_you_mean, listed

Signed = tuple[int, float]  # the index of the old value, and its sign


class Relabeling(NamedTuple):
    """For each entry of q, v, x and m (x and m of elements only), the index and the sign of the old value."""

    q: tuple[Signed, ...]
    v: tuple[Signed, ...]
    x: tuple[Signed, ...]
    m: tuple[Signed, ...]

    @property
    def trivial(self) -> bool:
        """Whether nothing changes."""
        return all(part == _unchanged(len(part)) for part in self)


def relabeling(edge: Edge, ensemble: Ensemble) -> Relabeling:
    """The relabeling of an edge; raises ModelError where a name is not known or its parts do not match."""
    robot = ensemble.robot
    sizes = (robot.nq, robot.nv, len(ensemble.states), len(ensemble.memory))
    maps = [list(_unchanged(size)) for size in sizes]
    for new, text in edge.relabel:
        sign, old = -1.0 if text.startswith("-") else 1.0, text.removeprefix("-").strip()
        targets, sources = _ranges(new, ensemble), _ranges(old, ensemble)
        if [len(part) for part in targets] != [len(part) for part in sources]:
            what = f"relabel gives '{new}' the values of '{old}', but they differ in the number of their values"
            raise ModelError(Problem("automaton", "", what, "Exchange parts of the same kind."))
        for group, (into, out_of) in enumerate(zip(targets, sources, strict=True)):
            for k, index in zip(into, out_of, strict=True):
                maps[group][k] = (index, sign)
    for letter, part in zip("qvxm", maps, strict=True):
        if sorted(index for index, _ in part) != list(range(len(part))):
            what = f"relabel gives the values of one name of {letter} to several names, or to none"
            raise ModelError(Problem("automaton", "", what, 'Exchange in both directions: {"a": "b", "b": "a"}.'))
    return Relabeling(*map(tuple, maps))


def relabeled(values: Sequence[S], part: Sequence[Signed]) -> list[S]:
    """The values after a permutation with signs; values beyond its length stay the same."""
    new = [values[index] if sign > 0.0 else -values[index] for index, sign in part]
    return [*new, *values[len(part) :]]


def relabeling_problems(edge: Edge, ensemble: Ensemble) -> Iterator[Problem]:
    """The problem of the relabeling of an edge; nothing where it is right."""
    try:
        relabeling(edge, ensemble)
    except ModelError as error:
        yield Problem.of(error.problems[0])


def reset_target(name: str, ensemble: Ensemble) -> tuple[str, int]:
    """(group, index) of a value that an edge resets: "q.hip", "v.hip", or a state or memory of an element by name."""
    robot = ensemble.robot
    known = {f"q.{one}": ("q", k) for k, one in enumerate(robot.q_names)}
    known |= {f"v.{one}": ("v", k) for k, one in enumerate(robot.v_names)}
    known |= {slot.name: ("x", k) for k, slot in enumerate(ensemble.states)}
    known |= {slot.name: ("m", k) for k, slot in enumerate(ensemble.memory) if slot.name != "phase"}
    if name not in known:
        what = f"reset names '{name}', which is no coordinate, velocity, state or memory"
        remedy = f"{did_you_mean(name, [*known])} Known: {listed([*known], 16)}.".strip()
        raise ModelError(Problem("automaton", "", what, remedy))
    return known[name]


def _unchanged(count: int) -> tuple[Signed, ...]:
    return tuple((k, 1.0) for k in range(count))


def _ranges(name: str, ensemble: Ensemble) -> tuple[Sequence[int], ...]:
    """The indices in q, v, x and m of a joint, a coordinate or an element."""
    robot = ensemble.robot
    for member in ensemble.members:
        if member.element.name == name and name:
            x, m = len(member.law.states(member.element)), len(member.law.memory(member.element))
            return (), (), range(member.x, member.x + x), range(member.m, member.m + m)
    return (*_in_robot(name, robot, ensemble), (), ())


def _in_robot(name: str, robot: Robot, ensemble: Ensemble) -> tuple[Sequence[int], Sequence[int]]:
    joints = [joint.name for joint in robot.joints if not joint.driven]
    if name in joints:
        q, v = robot.q_slice(name), robot.v_slice(name)
        return range(q.start, q.stop), range(v.start, v.stop)
    if name in robot.q_names or name in robot.v_names:
        return [k for k, one in enumerate(robot.q_names) if one == name], [
            k for k, one in enumerate(robot.v_names) if one == name
        ]
    elements = [member.element.name for member in ensemble.members if member.element.name]
    known = [*dict.fromkeys([*joints, *robot.q_names, *elements])]  # a joint with one axis and its coordinate share one
    what = f"relabel names '{name}', which is no joint, coordinate or element"
    remedy = f"{did_you_mean(name, known)} Known: {listed(known, 16)}.".strip()
    raise ModelError(Problem("automaton", "", what, remedy))
