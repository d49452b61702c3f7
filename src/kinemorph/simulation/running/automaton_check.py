"""What is wrong with a hybrid automaton, told before a run: phases, edges and relabelings that cannot be meant.

unreachable     a phase that no edges lead to from the first phase
at once         two edges that leave one phase with the same guard and condition, so that only the first is taken
contradicting   constraint rows of one phase that no motion, or no configuration, satisfies together
no symmetry     a relabeling after which the robot has other equations of motion
begun           a guard below zero, or at zero and falling, at the start of the run, which cannot fall through zero
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import AutomatonWarning, users_level
from kinemorph.mechanics.elements.ensemble import ensemble
from kinemorph.mechanics.elements.phases.relabeling import relabeled, relabeling
from kinemorph.mechanics.formulations.driven_dynamics import state_formulation
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.configuration import Dice, random_configuration
from kinemorph.model.elements.phases.automaton import Automaton, Edge
from kinemorph.model.robot import Robot
from kinemorph.plants.programs import Plant
from kinemorph.simulation.march.guards import FALLEN, Watch
from kinemorph.words import quoted

SEED = 5  # of random states
ROUNDING = 1e-9  # relative: larger differences of equations of motion, and larger residuals of rows, are no rounding
PLACES = 5  # random states at which guards are compared
AWAY = 0.1  # [rad or m] by which a configuration is moved, away from singular ones


def warn_of_automaton(plant: Plant, watch: Watch | None = None, state: tuple[Any, ...] | None = None) -> None:
    """Warns of each problem of a plant's automaton, which is examined once; its guards are examined at each start.

    `watch` are the guards of the run and `state` is (t, base, s, m, u, p) at its start; None where they are not known.
    """
    automaton = plant.automaton
    if automaton is None:
        return
    kept = plant.kept
    if "automaton problems" not in kept:
        kept["automaton problems"] = [*_unreachable(automaton), *_asymmetric(plant, automaton)]
    if state is not None and "contradicting rows" not in kept:
        kept["contradicting rows"] = list(_contradicting(plant, automaton, state))
    at_once = f"edges at once, values {'un' if watch is None or state is None else ''}known"
    if at_once not in kept:
        kept[at_once] = list(_at_once(plant, automaton, watch, state))
    found = [*kept["automaton problems"], *kept[at_once], *kept.get("contradicting rows", ())]
    if watch is not None and state is not None:
        found += _begun(automaton, watch, state)
    for sentence in found:
        warnings.warn(f"'{plant.name}': {sentence}", AutomatonWarning, stacklevel=users_level())


def _unreachable(automaton: Automaton) -> Iterator[str]:
    first = automaton.phases[automaton.first].name
    reached, waiting = {first}, [first]
    while waiting:
        here = waiting.pop()
        new = {edge.target for edge in automaton.edges if edge.source == here and not edge.stop} - reached
        reached |= new
        waiting += new
    ends = {name for edge in automaton.edges if edge.source in reached for name in (edge.target, edge.during)}
    lost = [phase.name for phase in automaton.phases if phase.name not in reached | ends]
    for name in lost:
        yield (
            f"phase '{name}' cannot be reached: no edges lead to it from '{first}', in which runs begin. Add an edge "
            "with this target, or remove the phase."
        )


def _at_once(plant: Plant, automaton: Automaton, watch: Watch | None, state: tuple[Any, ...] | None) -> Iterator[str]:
    """Edges whose guards are equal, or proportional at random states near the start: they fall through zero at once."""
    pairs = [(a, b) for a, b in combinations(automaton.edges, 2) if a.source == b.source and _same(a.when, b.when)]
    values = _guard_values(plant, watch, state) if pairs and watch is not None and state is not None else {}
    for one, other in pairs:
        if _same(one.guard, other.guard) or _proportional(values.get(one.name), values.get(other.name)):
            yield (
                f"edges '{one.name}' and '{other.name}' leave phase '{one.source}' with the same guard, so that only "
                f"'{one.name}' is taken. Give them conditions (when=) that exclude each other."
            )


def _guard_values(plant: Plant, watch: Watch, state: tuple[Any, ...]) -> dict[str, Array]:
    """By the name of an edge, the values of its guard at random states near the start, shape (states,)."""
    t, base, s, *others = state
    dice = Dice(SEED)
    rows = []
    for _ in range(PLACES):
        moved = np.asarray(s, dtype=float) + [AWAY * dice.uniform(-1.0, 1.0) for _ in range(plant.ns)]
        rows.append(watch.values(t + AWAY * dice.uniform(0.0, 1.0), base, moved, *others))
    values = np.array(rows)
    return {edge.name: values[:, k] for edge, k in watch.edges if edge is not None}


def _proportional(one: Array | None, other: Array | None) -> bool:
    """Whether two guards differ by a factor above 0 only; guards that do not change among the states do not count."""
    if one is None or other is None or not np.isfinite([*one, *other]).all() or not min(np.ptp(one), np.ptp(other)):
        return False
    factor = float(one @ other) / float(other @ other)
    return factor > 0.0 and bool(np.abs(one - factor * other).max() <= ROUNDING * np.abs(one).max())


def _same(one: Any, other: Any) -> bool:
    """Whether two guards or conditions are equal, apart from spaces."""
    texts = isinstance(one, str) and isinstance(other, str)
    return "".join(one.split()) == "".join(other.split()) if texts else one == other


def _asymmetric(plant: Plant, automaton: Automaton) -> Iterator[str]:
    """Relabelings after which mass matrix or bias forces are others, at random states of a robot without loops."""
    robot = plant.robot
    edges = [edge for edge in automaton.edges if edge.relabel]
    if robot is None or robot.loops or not edges:
        return
    cast = ensemble(robot, (*plant.elements, automaton))
    for edge in edges:
        names = relabeling(edge, cast)
        worst, place = _difference(robot, names.q, names.v)
        if worst > ROUNDING:
            pairs = quoted([name for name, _ in edge.relabel])
            yield (
                f"the relabeling of edge '{edge.name}' ({pairs}) is no symmetry of the robot: it changes the equation "
                f"of motion of '{robot.v_names[place]}' by {worst:.2g} of its size. Give both sides equal masses, "
                "lengths and axes, or exchange other names."
            )


def _difference(robot: Robot, q_map: Sequence[Any], v_map: Sequence[Any]) -> tuple[float, int]:
    """The largest relative change of a row of [M, h] by a relabeling, at random states, and the index of this row."""
    dice, row, tree = Dice(SEED), state_formulation(robot), resolve(robot)
    found = (0.0, 0)
    for _ in range(3):
        q = random_configuration(robot, dice).tolist()
        v = [dice.uniform(-1.0, 1.0) for _ in range(robot.nv)]
        new_q, new_v = relabeled(q, q_map), relabeled(v, v_map)
        P = np.zeros((robot.nv, robot.nv))
        for k, (index, sign) in enumerate(v_map):
            P[k, index] = sign
        old = np.array(row.mass_matrix(tree, q), dtype=float), np.array(row.bias_forces(tree, q, v), dtype=float)
        new = (
            np.array(row.mass_matrix(tree, new_q), dtype=float),
            np.array(row.bias_forces(tree, new_q, new_v), dtype=float),
        )
        for expected, given in ((P @ old[0] @ P.T, new[0]), ((P @ old[1])[:, None], new[1][:, None])):
            sizes = np.maximum(np.abs(expected).max(axis=1), np.abs(given).max(axis=1))
            off = np.abs(given - expected).max(axis=1) / np.where(sizes > 0.0, sizes, 1.0)
            found = max(found, (float(off.max()), int(off.argmax())))
    return found


def _contradicting(plant: Plant, automaton: Automaton, state: tuple[Any, ...]) -> Iterator[str]:
    """Phases whose rows contradict each other near the initial configuration: J w = -phi or J v = -rate unsolvable."""
    if plant.constraints is None:
        return
    t, base, s, m, u, p = state
    slot = next(k for k, column in enumerate(plant.m) if column.name == "phase")
    dice = Dice(SEED)
    away = [AWAY * dice.uniform(-1.0, 1.0) for _ in range(plant.nv)]
    q = np.array(plant.laws.place(list(base), [*away, *s[plant.nv :]]), dtype=float)
    still = np.concatenate([np.zeros(2 * plant.nv), s[2 * plant.nv :]])
    for number, phase in enumerate(automaton.phases):
        memory = np.array(m)
        memory[slot] = number
        if plant.laws.jumps is not None and plant.laws.jumps.enter is not None:
            memory = np.array(plant.compiled("entering")(t, q, still, memory, u, p))
        phi, rate, J, sizes = plant.compiled("constraints")(t, q, still, memory, u, p)
        J, count = J / sizes[:, None], len(phi)
        for rows, right in ((J[:count], phi / sizes[:count]), (J, rate / sizes)):
            names = _unsolvable(rows, right, plant.constraint_names)
            if names:
                yield (
                    f"in phase '{phase.name}' the constraints {quoted(names)} contradict each other: they act on the "
                    "same motion and require different values. Remove one of them from the phase."
                )
                break


def _unsolvable(J: Array, right: Array, names: Sequence[str]) -> list[str]:
    """The names of the rows in which J z = right cannot be solved; none where it can."""
    if not len(J):
        return []
    z = np.linalg.lstsq(J, right, rcond=ROUNDING)[0]
    left = np.abs(J @ z - right)
    size = max(float(np.abs(right).max()), ROUNDING)
    return [name for name, residual in zip(names, left, strict=False) if residual > 1e-6 * size and residual > ROUNDING]


def _begun(automaton: Automaton, watch: Watch, state: tuple[Any, ...]) -> Iterator[str]:
    """Edges that leave the first phase and whose guards are below zero at the start, or at zero and falling."""
    for edge, value in watch.fallen(*state):
        falls = " and falls" if value >= -FALLEN else ""
        if falls and edge.only_marks:  # runs may begin at an apex
            continue
        begin = "Begin at another state" if edge.target == edge.source else f"Begin in phase '{edge.target}'"
        yield (
            f"the guard of edge '{edge.name}'{_text(edge)} is {value:.3g}{falls} at the start of the run, expected a "
            f"number above 0: the edge is taken only where it falls through zero. {begin}, change the sign of the "
            "guard, or give the edge a condition (when=)."
        )


def _text(edge: Edge) -> str:
    return f" ({edge.guard})" if isinstance(edge.guard, str) else ""
