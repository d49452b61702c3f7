"""Code of a user in a program: what it adds to the model, as data, and how the model takes it.

    user_efforts    forces and moments on bodies, generalized forces
    user_rates      rates of states that the user declares
    user_sample     new values of memory that the user declares, at regular times
    user_save       is called at regular times, and returns nothing to the model

In the model it is an element, the last one, whose inputs these functions give (see
`simulation.integrators.asked_inputs`). Its states are columns `x.user.NAME` of the run, its memory `m.user.NAME`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kinemorph.algebra.scalar import S
from kinemorph.algebra.vectors import dot, matvec_transposed
from kinemorph.codegen.backends.identifiers import identifier
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Clock, Effort, ElementLaw, Push, Slot, Wrench, register
from kinemorph.mechanics.trees.motions import ZERO3
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import Model
from kinemorph.simulation.integrators.linearly_implicit import LinearlyImplicit
from kinemorph.simulation.integrators.variational import Variational

NAME = "user"  # of the element; names of its states and memory begin with it
EFFORTS, RATES, SAMPLE, SAVE = "user_efforts", "user_rates", "user_sample", "user_save"
SAMPLES, SAVES = "samples", "saves"  # memory that counts the calls of user_sample and of user_save


@dataclass(frozen=True)
class UserCode:
    """What code of a user adds to a program, besides forces: states, memory, and the times of calls.

    `states`         names of further continuous states, with their initial values; `user_rates` gives their rates
    `memory`         names of numbers that `user_sample` changes, with their initial values; they are held in between
    `sample_every`   the time [s] between calls of `user_sample`; None where there are none
    `save_every`     the time [s] between calls of `user_save`; None where there are none
    `source`         a file with the user's functions that goes into the program in place of a template, as for FMUs

    Steps of the method end at the times of these calls.
    """

    states: Mapping[str, float] = field(default_factory=dict)
    memory: Mapping[str, float] = field(default_factory=dict)
    sample_every: float | None = None
    save_every: float | None = None
    source: str | Path | None = None

    def __post_init__(self) -> None:
        for what in ("states", "memory"):
            object.__setattr__(self, what, _named_numbers(what, getattr(self, what)))
        for what in ("sample_every", "save_every"):
            every = getattr(self, what)
            if every is not None and not (_is_number(every) and 0.0 < every < math.inf):
                raise ModelError(f"user code: {what} is {every!r}; expected a time above 0 [s]. Give one, or None.")
        if self.memory and self.sample_every is None:
            raise ModelError(
                f"user code: memory '{next(iter(self.memory))}' is given without sample_every, the time between the "
                "calls of user_sample, which changes it. Give sample_every, or states instead of memory."
            )
        for name in (SAMPLES, SAVES):
            if name in self.memory:
                raise ModelError(f"user code: memory '{name}' counts calls already. Choose another name.")

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of the functions that the user writes."""
        wanted = {EFFORTS: True, RATES: self.states, SAMPLE: self.sample_every, SAVE: self.save_every}
        return tuple(name for name, present in wanted.items() if present)


def _named_numbers(what: str, given: Any) -> dict[str, float]:
    """The names and initial values of states or memory; raises ModelError where they cannot be used."""
    if not isinstance(given, Mapping):
        raise ModelError(f"user code: {what} is {given!r}; expected a dict of initial values by name.")
    words: dict[str, str] = {}
    for name, value in given.items():
        if not isinstance(name, str) or not name.strip():
            raise ModelError(f"user code: {what} has the name {name!r}; expected a text. Give it a name.")
        if not _is_number(value) or not math.isfinite(value):
            raise ModelError(f"user code: {what} '{name}' begins at {value!r}; expected a finite number. Give one.")
        word = identifier(name)
        if word in words:
            raise ModelError(
                f"user code: {what} '{words[word]}' and '{name}' would both be called '{word}' in the program. Rename "
                "one of them."
            )
        words[word] = name
    return {name: float(value) for name, value in given.items()}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# ── the element ───────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class AskedCode:
    """The element of a user's code: the bodies and velocities of the robot, and what the user declares."""

    name: str
    bodies: tuple[str, ...]
    velocities: tuple[str, ...]
    states: tuple[tuple[str, float], ...]
    memory: tuple[tuple[str, float], ...]
    clocks: tuple[tuple[str, float], ...]  # the functions that are called at regular times, and the times between calls


class AskedCodeLaw(ElementLaw[AskedCode]):
    """Forces, rates and memory that functions of the user give, by way of the inputs of the element."""

    def foreign_inputs(self, element: AskedCode) -> Mapping[str, int]:
        counts = {EFFORTS: 6 * len(element.bodies) + len(element.velocities), RATES: len(element.states)}
        sizes = {SAMPLE: len(element.memory) + 1, SAVE: 1}
        counts |= {function: sizes[function] for function, _ in element.clocks}
        return {function: count for function, count in counts.items() if count}

    def inputs(self, element: AskedCode) -> tuple[Slot, ...]:
        found = [
            Slot(f"{what}.{body}.{axis}", unit)
            for what, unit in (("force", "N"), ("moment", "N m"))
            for body in element.bodies
            for axis in "xyz"
        ]
        found += [Slot(f"generalized.{name}", f"tau.{name}") for name in element.velocities]
        found += [Slot(f"rate.{name}") for name, _ in element.states]
        for function, _ in element.clocks:
            own = [name for name, _ in element.memory] if function == SAMPLE else []
            found += [Slot(f"{function}.{name}") for name in (*own, "done")]
        return tuple(found)

    def states(self, element: AskedCode) -> tuple[Slot, ...]:
        return tuple(Slot(name, "", start) for name, start in element.states)

    def memory(self, element: AskedCode) -> tuple[Slot, ...]:
        counts = [SAMPLES if function == SAMPLE else SAVES for function, _ in element.clocks]
        return tuple(Slot(name, "", start) for name, start in (*element.memory, *((name, 0.0) for name in counts)))

    def clocks(self, element: AskedCode) -> tuple[Clock, ...]:
        return tuple(Clock(every) for _, every in element.clocks)

    def sample(self, element: AskedCode, view: ElementView, clock: int) -> Sequence[S]:
        function, n = element.clocks[clock][0], len(element.memory)
        memory = list(view.m)
        if function == SAMPLE:
            memory[:n] = [view.input(f"{SAMPLE}.{name}") for name, _ in element.memory]
        memory[n + clock] = memory[n + clock] + view.input(f"{function}.done")
        return memory

    def effort(self, element: AskedCode, view: ElementView) -> Effort:
        pushes, wrenches = [], []
        power: S = 0.0
        for body in element.bodies:
            force, moment = ([view.input(f"{what}.{body}.{axis}") for axis in "xyz"] for what in ("force", "moment"))
            point, frame = view.point(body), view.frame(body)
            pushed, turned = point.into(force), matvec_transposed(frame.pose.R, moment)
            pushes.append(Push(point, pushed))
            wrenches.append(Wrench(frame, ZERO3, turned))
            power = power + dot(pushed, point.velocity) + dot(turned, frame.turning)
        torques = {k: view.input(f"generalized.{name}") for k, name in enumerate(element.velocities)}
        for k, torque in torques.items():
            power = power + torque * view.instant.v[k]
        rates = [view.input(f"rate.{name}") for name, _ in element.states]
        return Effort(pushes=pushes, wrenches=wrenches, torques=torques, rates=rates, supplied=power)


register(AskedCode, AskedCodeLaw())


def with_user_code(model: Model, user: UserCode) -> System:
    """The system with an element for code of the user. Raises UnsupportedError for plants, which have no elements."""
    if isinstance(model, Plant):
        raise UnsupportedError(
            f"user: '{model.name}' is a plant already, and user code acts on the bodies of a robot. Give the robot or "
            "the system that it was made from."
        )
    robot = model if isinstance(model, Robot) else model.robot
    system = model if isinstance(model, System) else System(robot)
    for element in system.elements:
        if element.name == NAME:
            raise ModelError(
                f"element '{NAME}' of '{robot.name}' has the name under which states of user code appear. Rename it."
            )
    clocks = ((SAMPLE, user.sample_every), (SAVE, user.save_every))
    asked = AskedCode(
        NAME,
        tuple(robot.body_names),
        tuple(robot.v_names),
        tuple(user.states.items()),
        tuple(user.memory.items()),
        tuple((function, float(every)) for function, every in clocks if every is not None),
    )
    return replace(system, elements=(*system.elements, asked))


def check_method(method: object) -> None:
    """Raises UnsupportedError for methods that cannot ask a user's functions where they need them."""
    name = getattr(method, "name", "")
    why = ""
    if isinstance(method, Variational):
        why = "balances the whole step at once"
    elif isinstance(method, LinearlyImplicit) and method.centered:
        why = "evaluates forces at a state in the middle of the step that only its own equations know"
    if why:
        raise UnsupportedError(
            f"method '{name}' {why}, and cannot ask user code for forces there. Use another method, such as 'dop853', "
            "'newmark', 'radau' or 'implicit_contact'."
        )
