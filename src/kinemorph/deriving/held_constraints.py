"""Constraints phi(q) = 0 that elements of a system impose, such as a Constraint that the user writes: rows like those
of loops, in all functions of a Dynamics that satisfy constraints.

Rows that depend on the time, on signals or on the memory of elements, and rows on velocities, belong to runs only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinemorph.codegen.graphs.tracing import trace
from kinemorph.errors import ModelError
from kinemorph.mechanics.elements.ensemble import Ensemble, ensemble
from kinemorph.mechanics.elements.instant import SystemInstant
from kinemorph.mechanics.elements.law import law_of
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import HeldRows, Tree
from kinemorph.model.parameter import Lookup
from kinemorph.model.robot import Robot
from kinemorph.model.system import Element, System


def held_elements(model: Robot | System) -> tuple[Element, ...]:
    """The elements of a system whose constraints are functions of q alone and always hold; none of a Robot."""
    if not isinstance(model, System) or model.automaton is not None:  # in whose phases elements may sleep
        return ()
    return tuple(element for element in model.elements if _is_held(model.robot, element))


def held_rows(robot: Robot, elements: Sequence[Element], lookup: Lookup) -> HeldRows:
    """The rows phi(q) of elements, at parameters with the values of `lookup`."""
    cast = ensemble(robot, elements)
    return HeldRows(cast.position_rows, lambda tree, q: _rows(cast, tree, 0.0, q, lookup))


def _rows(cast: Ensemble, tree: Tree, t: Any, q: Sequence[Any], lookup: Lookup) -> list[Any]:
    joints = tree.of_joints
    return SystemInstant(cast, joints, t, q, [0.0] * joints.nv, [], [], [], lookup).position_rows()


def _is_held(robot: Robot, element: Element) -> bool:
    try:
        law = law_of(element)
        positions, velocities = law.row_names(element)
        if not positions or velocities or law.memory(element) or law.states(element) or law.inputs(element):
            return False
        cast = ensemble(robot, [element])
    except ModelError:  # it reads signals of other elements, or has no law
        return False
    from kinemorph.codegen.derivatives.differentiate import sparse_jacobian

    tree = resolve(robot)

    def rows(t: Any, q: Any) -> list[Any]:
        return _rows(cast, tree, t, tree.at_time(t).all_joints(q).q, {})

    program = trace(rows, {"t": (), "q": (robot.nq,)}, name="rows", outputs={"out": (len(positions),)})
    return not len(sparse_jacobian(program, "out", "t").rows)
