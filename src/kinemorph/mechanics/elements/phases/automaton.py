"""The law of a hybrid automaton: the present phase as memory, its edges as guards, its locked joints as constraints.

The values of guards and the jump of the state at an edge need the motion of the whole robot: see `plants.jumps.phases`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kinemorph.algebra.scalar import S, times
from kinemorph.errors import ModelError, Problem
from kinemorph.mechanics.elements.constraints.constraint_texts import text_problems
from kinemorph.mechanics.elements.constraints.row_forces import RowForces
from kinemorph.mechanics.elements.contact.rigid_contacts import is_rigid
from kinemorph.mechanics.elements.ensemble import Ensemble
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Slot, register
from kinemorph.mechanics.elements.phases.relabeling import relabeling_problems, reset_target
from kinemorph.model.elements.field_problems import number_problems
from kinemorph.model.elements.phases.automaton import Automaton, Edge
from kinemorph.model.elements.phases.holds import Hold
from kinemorph.model.robot import Robot
from kinemorph.words import did_you_mean, quoted


class AutomatonLaw(RowForces):
    """Phases as memory, edges as guards; a joint that some phase locks has a constraint row on its velocities."""

    def memory(self, element: Automaton) -> tuple[Slot, ...]:
        return (Slot("phase", "", float(element.first)),)

    def signals(self, element: Automaton) -> tuple[Slot, ...]:
        return (Slot("phase"), *(Slot(f"lock.{name}.force", f"tau.{name}") for name in _locks(element)))

    def publish(self, element: Automaton, view: ElementView) -> Mapping[str, S]:
        forces = super().publish(element, view) if _locks(element) else {}
        return {"phase": view.instant.phase, **forces}

    def guards(self, element: Automaton) -> tuple[str, ...]:
        return tuple(edge.name for edge in element.edges)

    def problems(self, element: Automaton, robot: Robot) -> list[str]:
        found: list[Any] = [
            _problem(edge, one, str(one.key)) for edge in element.edges for one in number_problems(edge)
        ]
        known = robot.v_names
        for phase in element.phases:
            for name in phase.locked:
                if name not in known:
                    what = f"it locks '{name}', but robot '{robot.name}' has no such velocity"
                    remedy = f"{did_you_mean(name, known)} Name joints of one axis, or velocities: {quoted(known)}."
                    found.append(Problem("phase", phase.name, what, remedy.strip(), "locked", "name"))
        return found

    def problems_among(self, element: Automaton, ensemble: Ensemble) -> list[str]:
        found: list[Any] = []
        known = [member.element.name for member in ensemble.members if member.element is not element]
        for phase in element.phases:
            for name in phase.elements:
                if name not in known:
                    remedy = f"{did_you_mean(name, known)} Known: {quoted(known)}.".strip()
                    what = f"it names the element '{name}', but there is no such element"
                    found.append(Problem("phase", phase.name, what, remedy, "elements", "name"))
        for edge in element.edges:
            for key, text in edge.texts:
                problems = text_problems(element, text, ensemble, v=True, any_signal=True)
                found += [_problem(edge, Problem.of(problem), key) for problem in problems]
            found += [_problem(edge, problem, "relabel") for problem in relabeling_problems(edge, ensemble)]
            found += [_problem(edge, problem, "reset") for problem in _reset_problems(edge, ensemble)]
            found += _impact_problems(edge, ensemble)
        return found

    def row_names(self, element: Automaton) -> tuple[Sequence[str], Sequence[str]]:
        return (), tuple(f"lock.{name}" for name in _locks(element))

    def velocity_rows(self, element: Automaton, view: ElementView) -> Sequence[S]:
        instant, names = view.instant, view.robot.v_names
        return [
            times(instant.in_phases(phases), instant.v[names.index(name)]) for name, phases in _locks(element).items()
        ]


def _locks(element: Automaton) -> dict[str, tuple[int, ...]]:
    """The velocities that some phase locks, each with the numbers of the phases that lock it."""
    names = dict.fromkeys(name for phase in element.phases for name in phase.locked)
    return {name: tuple(k for k, one in enumerate(element.phases) if name in one.locked) for name in names}


def _reset_problems(edge: Edge, ensemble: Ensemble) -> list[Problem]:
    if callable(edge.reset):
        return []
    found = []
    for name, _ in edge.reset:
        try:
            reset_target(name, ensemble)
        except ModelError as error:
            found.append(Problem.of(error.problems[0]))
    return found


def colliding(edge: Edge, ensemble: Ensemble) -> list[Hold]:
    """The points that collide at an edge with a law of impacts: those that its phase holds along their normals."""
    automaton = ensemble.automaton
    assert automaton is not None
    phase = automaton.element.phases[automaton.element.number(edge.during or edge.target)]
    held = [one.element for one in ensemble.members if isinstance(one.element, Hold)]
    return [hold for hold in held if hold.name in phase.elements and hold.normal.removeprefix("-") in hold.axes]


def _impact_problems(edge: Edge, ensemble: Ensemble) -> list[Problem]:
    found = []
    if edge.law is not None and not colliding(edge, ensemble):
        phase = edge.during or edge.target
        what = f"impact is {type(edge.law).__name__}, but phase '{phase}' names no Hold with its normal among its axes"
        remedy = (
            'Add Hold("foot", body, point, axes="xyz", normal="z") for each point that collides, or name its phase.'
        )
        found.append(Problem("edge", edge.name, what, remedy, "impact"))
    rigid = [one.element.name for one in ensemble.members if is_rigid(one.element)]
    if edge.law is not None and rigid:
        what = f"impact is {type(edge.law).__name__}, and the system has rigid contacts ({quoted(rigid)})"
        remedy = 'Write impact="plastic": rigid contacts take part by their own law; or leave them out.'
        found.append(Problem("edge", edge.name, what, remedy, "impact"))
    return found


def _problem(edge: Edge, problem: Problem, key: str) -> Problem:
    """A problem of one field of an edge."""
    return Problem("edge", edge.name, problem.what, problem.remedy, key)


register(Automaton, AutomatonLaw())
