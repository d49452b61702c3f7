"""A job: the run that a program computes, as data. What cannot leave Python is refused here, by its name.

    job = make_job(robot, 5.0, method="newmark", q=[0.5, 0.0], parameters=["payload"])

The arguments are those of `simulate`, and mean the same. The state in a job is the initial state of that run, on the
constraints; the program may start from another one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack

import numpy as np

from kinemorph.codegen.graphs.program import Program, with_loops_for_one
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.errors import UnsupportedError
from kinemorph.frozen import Fixed
from kinemorph.mechanics.elements.law import law_of
from kinemorph.plants.programs import AT, Plant
from kinemorph.plants.robot_plant import Model
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.plants.user_laws import Column, Law
from kinemorph.programs.drawing import Drawing, carrier_program
from kinemorph.programs.user_code import UserCode, check_method, with_user_code
from kinemorph.simulation.integrators.asked_inputs import all_inputs, at_state, loop_builder, slope_at_state
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.march.exchange import completing, happening, indicating
from kinemorph.simulation.march.layout import Guards
from kinemorph.simulation.march.march import march
from kinemorph.simulation.march.start import start as start_of_march
from kinemorph.simulation.prepared import (
    TimedOptions,
    check_simple,
    lists_options,
    plant_options,
    prepared,
)
from kinemorph.simulation.running.dead_points import has_dead_points
from kinemorph.simulation.stepping.domains import Domain
from kinemorph.simulation.stepping.gimbal_lock import Gimbal
from kinemorph.simulation.stepping.plant_stepper import ROWS, ForeignMethod
from kinemorph.simulation.stepping.regular_functions import HeldInputs
from kinemorph.simulation.stepping.stepper import Stepper
from kinemorph.words import quoted

SAMPLES = ROWS  # samples in one call of the march of a program, as in `simulate`


class FirstState(Stepper):
    """A plant at the initial state of a job. Its march is not compiled here: it is written into a program."""

    def _compile(self, method: Method) -> None:
        """Compiles nothing."""


@dataclass(frozen=True, eq=False)
class Job(Fixed):
    """The run that a program computes: a plant at its initial state, with a method, sample times and guards."""

    name: str
    first: FirstState
    times: tuple[float, float]  # the start and the end of the run [s]
    spacing: float | tuple[float, ...]  # the time between samples [s], or all sample times after the start
    most_events: float  # the run ends after so many events; infinity where it does not
    user: UserCode | None = None  # what code of the user adds to the model
    drawing: Drawing | None = None  # the shapes that the program draws for EasyDyn's viewer

    @property
    def plant(self) -> Plant:
        """The plant, which the run advances."""
        return self.first.plant

    @property
    def method(self) -> Method:
        """The method that takes the steps."""
        method = self.first.method
        assert not isinstance(method, ForeignMethod)
        return method

    @property
    def guards(self) -> Guards | None:
        """The guards that the march watches; None where there are none."""
        return self.first.watch.marched if self.first.watch else None

    @cached_property
    def march(self) -> LoopProgram:
        """The march of the plant, with SAMPLES samples in one call."""
        first = self.first
        return march(self.plant, self.method, samples=SAMPLES, guards=self.guards, fixed=first.fixed, calls_c=True)

    @cached_property
    def start(self) -> LoopProgram:
        """The program that prepares the memory of the march for its first step."""
        return start_of_march(self.plant, self.method, self.guards)

    @cached_property
    def rate(self) -> Program | LoopProgram:
        """The program of the rates of the state, from which messages say what changes fastest."""
        plain = self.plant.rate
        if not self.plant.asked:
            return plain
        loop = loop_builder(self.plant, "rate", self.plant.ports, {"out": (self.plant.ns,)})
        loop.call(plain, [loop["out"]], [all_inputs(loop) if name == "u" else loop[name] for name in AT.split()])
        return loop.program()

    def columns(self, group: str) -> tuple[Column, ...]:
        """The columns of a group ("q", "v", "x", "m", "u", "p") of the plant, without inputs that user code gives."""
        columns: tuple[Column, ...] = getattr(self.plant, group)
        return columns[: self.plant.given] if group == "u" else columns

    @property
    def domains(self) -> list[Domain]:
        """The formulas that have a domain, which the program watches at every sample."""
        return self.first.domains.domains

    @property
    def gimbals(self) -> list[Gimbal]:
        """The gimbals with singular angles, which the program watches at every sample."""
        return self.first.gimbals.gimbals

    @cached_property
    def arguments(self) -> Program | None:
        """The program (t, q, p) -> the arguments of formulas that have a domain; None where there are none."""
        watch, sizes = self.first.domains, self.plant.sizes
        if not watch.domains:
            return None
        ports = {"t": (), "q": (sizes["nq"],), "p": (sizes["np"],)}
        return trace(watch.values, ports, name="arguments", outputs={"out": (len(watch.domains),)})

    @cached_property
    def carriers(self) -> Program | None:
        """The program (t, q, m, p) -> where the carriers of the drawing are; None without a drawing."""
        return None if self.drawing is None else carrier_program(self.plant, self.drawing)

    @property
    def exchange(self) -> dict[str, Program | LoopProgram]:
        """The programs by name that a driver calls besides the others where another integrator advances the plant.

        `flow` are the rates of y = [q, v, x], `slope` their directional derivatives; for the others see `exchange`.
        """
        model, flow = (self.plant, self.method), self.plant.flow
        named: dict[str, Program | LoopProgram] = {"flow": at_state(self.plant, flow)}
        named["slope"] = slope_at_state(self.plant, flow)
        named |= {"happen": happening(*model, self.guards), "complete": completing(*model, self.guards)}
        return named | ({"indicate": indicating(*model, self.guards)} if self.guards else {})

    def programs(self, prefix: str = "", *, exchange: bool = False) -> list[Program | LoopProgram]:
        """The programs that a driver calls, each with a name that begins with `prefix`; with those of `exchange`."""
        named: dict[str, Program | LoopProgram | None] = {"steps": self.march, "start": self.start, "rate": self.rate}
        named |= {"arguments": self.arguments, "carriers": self.carriers}
        named |= self.exchange if exchange else {}
        return [_renamed(program, f"{prefix}{name}") for name, program in named.items() if program is not None]


def _renamed(program: Program | LoopProgram, name: str) -> Program | LoopProgram:
    """A program with another name; loops over similar limbs stay with it."""
    made = replace(program, name=name)
    if isinstance(program, Program) and isinstance(made, Program) and program.for_one is not None:
        return with_loops_for_one(made, program.for_one)
    return made


@lists_options(TimedOptions)
def make_job(
    model: Model,
    until: float | None = None,
    *,
    forces: Law | None = None,
    inputs: Any = None,
    parameters: str | Sequence[str] | None = None,
    name: str | None = None,
    user: UserCode | bool | None = None,
    **options: Unpack[TimedOptions],
) -> Job:
    """The job of a program: the run that `simulate` would compute with the same arguments.

    `parameters`    names of parameters that the program keeps as inputs, or "all"; options of the program set them
    `name`          the name of the program, by default that of the model
    `user`          code of your own, which the program calls for forces on bodies: True, or a UserCode that declares
                    states, memory and the times of calls. The initial state is that of the model without this code

    Raises UnsupportedError for what cannot leave Python: controllers that are Python functions, inputs that are, resets
    of guards that cannot be compiled, modules that dock, and methods of other libraries; and for methods of Newmark
    with formulas, such as acos, whose domain may end within a step.
    """
    refused = "a program", ": it has the equations of one topology", "Leave it out, or use simulate."
    check_simple(options, *refused)
    _check_inputs(inputs)
    code = _user_code(user)
    whole: dict[str, Any] = {**options, "forces": forces, "inputs": inputs}
    asked = plant_options(model, whole) | {"parameters": parameters}
    plant = as_plant(model if code is None else with_user_code(model, code), **asked)
    _check_controllers(plant)
    run = prepared(model, until, plant, **whole)
    if isinstance(run.options.method, str) and ":" in run.options.method:
        raise UnsupportedError(
            f"method '{run.options.method}' belongs to another library, which a program cannot take along. Use a "
            "method of Kinemorph, such as 'dop853' or 'radau'; `kinemorph simulate --methods` lists them."
        )
    known = {group: tuple(one) for group, one in run.named.items() if one or run.given[group] is not None}
    plant = replace(plant, stated={**plant.stated, **known})  # a program keeps what is named here
    run = replace(run, plant=plant)
    first = FirstState.made(plant, run.options, run.guards, compiled=True)
    _check_dead_points(first)
    if code is not None:
        check_method(first.method)
    first.begin(run.t, **run.first, close=True, tick=False)
    run.check(first.state.q[None], first)
    most = math.inf if run.most_events is None else float(run.most_events)
    uniform = np.ndim(whole.get("output_step", 0.0)) == 0
    between: float | tuple[float, ...] = run.spacing if uniform else tuple(run.times[1:].tolist())
    return Job(name or plant.name, first, (run.t, float(run.times[-1])), between, most, code)


def _user_code(user: Any) -> UserCode | None:
    """The user's code that `make_job` is given: True is code without states of its own."""
    if isinstance(user, UserCode):
        return user
    if user is None or isinstance(user, bool):
        return UserCode() if user else None
    raise UnsupportedError(
        f"user is {user!r}; expected True or a UserCode, such as UserCode(states={{'pressure': 0.0}})."
    )


def _check_inputs(inputs: Any) -> None:
    """Raises UnsupportedError where inputs are a Python function, which a program cannot call."""
    if callable(inputs) or isinstance(inputs, HeldInputs):
        raise UnsupportedError(
            "inputs: a Python function is given, which a program cannot call. Give numbers, which the program keeps as "
            "inputs, or describe the function by elements such as a PID."
        )


def _check_controllers(plant: Plant) -> None:
    """Raises UnsupportedError where elements are Python functions, and names them."""
    called = not all(tick.compiled for tick in plant.ticks)
    found = [element for element in plant.elements if called and law_of(element).runs == "python"]
    if found:
        names = quoted([element.name for element in found])
        raise UnsupportedError(
            f"{type(found[0]).__name__} {names} of '{plant.name}' is a Python function, which a program cannot call. "
            "Use elements that are compiled, such as PD or PID, or leave it out and drive the inputs of the program."
        )


def _check_dead_points(first: FirstState) -> None:
    """Raises UnsupportedError where a method may step over the end of a formula's domain, which Python would notice."""
    if has_dead_points(first):
        domain = first.domains.domains[0]
        raise UnsupportedError(
            f"'{first.plant.name}': the {domain.op} of {domain.owner} has a domain, and method '{first.method.name}' "
            "may step over its end, which a program would not notice. Use another method, such as 'dop853'."
        )
