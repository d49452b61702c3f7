"""A run, prepared: its model and its options, resolved and checked once for all that carry out runs.

    run = prepared(robot, 5.0, q={"elbow": 0.5}, output_step=0.01)
    run.plant, run.options, run.first, run.times, run.guards

`simulate`, `simulate_batch`, live runs, studies and programs begin with it. An option of runs is a row of `RunOptions`
and an entry in the docstring of `simulate`, which explains all of them.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack, cast

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import ModelError, OptionWarning, UnsupportedError, users_level
from kinemorph.frozen import dataclass
from kinemorph.model.robot import Robot
from kinemorph.model.starts import Start
from kinemorph.model.system import Settings, System, start_of
from kinemorph.plants.loop_methods import LoopMethod
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import Model, named_parameters, shared_plant
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.plants.sample_instants import instants
from kinemorph.plants.user_laws import Law
from kinemorph.simulation.docking.changes import Change, Dock, Undock, in_words, sorted_events
from kinemorph.simulation.foreign.stepper import stepper_at
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.march.guards import Guard
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.running.checks import warn_before
from kinemorph.simulation.running.execution import Progress
from kinemorph.simulation.running.ledger import Watch
from kinemorph.simulation.stepping.chosen_start import named_values, start_values
from kinemorph.simulation.stepping.plant_stepper import PlantStepper
from kinemorph.simulation.stepping.regular_functions import HeldInputs, Regular
from kinemorph.simulation.stepping.sample_clocks import Clockwork
from kinemorph.simulation.stepping.step_options import (
    StepOptions,
    check_positive,
    longest_step,
    step_options,
    warn_of_tolerances,
)
from kinemorph.words import did_you_mean

if TYPE_CHECKING:
    from kinemorph.simulation.running.docked_run import DockedRun

MOST_SAMPLES = 100_000_000  # samples of one run; a larger number is a mistake
NUMBER = (int, float, np.number)
F = TypeVar("F", bound=Callable[..., Any])


# ── options ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class StartOptions(TypedDict, total=False):
    """How any run begins and takes its steps, live runs too; see `simulate`."""

    q: Any
    v: Any
    x: Any
    p: Any
    m: Any
    method: str | Method | None
    step: float | None
    rtol: float | None
    atol: float | None
    max_step: float | None
    locked: str | Sequence[str]
    loops: str | LoopMethod | None


class TimedOptions(StartOptions, total=False):
    """The options of runs with an end, of one state or of many; see `simulate`."""

    time: float | None
    output_step: float | Sequence[float] | None
    events: Guard | Dock | Undock | Sequence[Guard | Dock | Undock]
    most_events: int | None
    start: float | str | Trajectory


class RunOptions(TimedOptions, total=False):
    """The options of one run; see `simulate`."""

    forces: Law | None
    inputs: Any
    callback: Callable[..., Any] | None
    every: float | None
    progress: Progress | None
    watch: Watch | None
    save: str | Path | None


DEFAULTS: dict[str, Any] = {"locked": (), "events": (), "start": 0.0}  # of options whose default is not None


def lists_options(options: type) -> Callable[[F], F]:
    """A decorator for functions with `**options`: their signature shows the names, types and defaults of the rows of a
    TypedDict, so that `help` and completion do too, and another name is a TypeError.
    """

    def made(function: F) -> F:
        own = inspect.signature(function)
        rows = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS.get(name), annotation=row.__forward_arg__
            )
            for name, row in options.__annotations__.items()
        ]
        whole = own.replace(parameters=[*list(own.parameters.values())[:-1], *rows])

        @wraps(function)
        def checked(*args: Any, **named: Any) -> Any:
            for name in named.keys() - whole.parameters.keys():
                hint = did_you_mean(name, whole.parameters)
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument '{name}'.{hint}")
            return function(*args, **named)

        checked.__signature__ = whole  # type: ignore[attr-defined]
        return cast(F, checked)

    return made


# ── what is prepared ──────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class Prepared:
    """A run that is ready to begin; made by `prepared`."""

    model: Any
    plant: Plant
    options: StepOptions
    given: Mapping[str, Any]  # q, v, x, p, m and u as the user gave them, the inputs of a start included
    begin: Any  # the initial time [s], the name of a start, or a run to continue
    chosen: Start | None  # the start of that name
    times: Array  # [s] of samples, shape (n,), from the start to the end
    spacing: float  # [s] between samples
    guards: tuple[Guard, ...]
    most_events: int | None
    driven: bool  # whether forces or inputs are given
    regular: tuple[Regular | None, Regular | None]  # the functions of held inputs and the callback
    docked: DockedRun | None  # the pieces of a run in which modules dock

    @property
    def t(self) -> float:
        """The initial time [s]."""
        return float(self.times[0])

    @property
    def before(self) -> Trajectory | None:
        """The run that is continued."""
        return self.begin if isinstance(self.begin, Trajectory) else None

    @cached_property
    def first(self) -> Mapping[str, Any]:
        """The initial values of one run by group: those given, else those of the start or at the end of the run before;
        None for those of the plant.
        """
        first, before = dict(self.given), self.before
        if before is not None:
            end = final_state(before, self.plant, placed=first["q"] is not None)
            if first["u"] is None and self.plant.u and before.segments[-1].u[-1:].any():
                warnings.warn(
                    f"start: the run of '{self.plant.name}' that is continued had inputs at its end, and none are "
                    "given now, so that they are 0. Give inputs= again, or inputs=run.u[-1] for those at its end.",
                    OptionWarning,
                    stacklevel=users_level(),
                )
            first |= {group: value for group, value in end.items() if first[group] is None}
        if self.regular[0]:
            first["u"] = None
        return first if self.chosen is None else start_values(self.plant, self.begin, self.chosen, first, self.t)

    @property
    def named(self) -> dict[str, Mapping[str, float]]:
        """The values of q and v by name that are given, or that the start states, or else the model."""
        return dict(zip("qv", named_values(self.plant, self.chosen or Start(), self.given), strict=True))

    def stepper(self) -> PlantStepper:
        """A stepper at the initial state of one run, where elements have not sampled yet."""
        return stepper_at(self.plant, self.options, self.guards, self.t, self.first)

    def check(self, q: Array | None, stepper: PlantStepper | None = None) -> None:
        """Warns about what is wrong before the first step; the arguments are those of `warn_before`."""
        warn_before(self.model, self.plant, q, driven=self.driven, stepper=stepper)


def prepared(
    model: Model, until: float | None = None, plant: Plant | None = None, **options: Unpack[RunOptions]
) -> Prepared:
    """The run of `simulate` with these options, ready to begin. A `plant` of the model may exist already.

    The plant of equal options is the same one for all runs, unless there are guards, which have to be traced for every
    run, because the variables that they read from their scope may have changed.
    """
    begin, events = options.get("start", 0.0), options.get("events", ())
    changes, guards = sorted_events(events) if events != () else ((), ())
    before = begin if isinstance(begin, Trajectory) else None
    chosen = start_of(model, begin) if isinstance(begin, str) else None
    inputs = options.get("inputs")
    if inputs is None and chosen is not None:
        inputs = chosen.numbers("u")
    most, forces = options.get("most_events"), options.get("forces")
    if most is not None:
        check_positive(most_events=most)
    docked = None
    if plant is None:
        asked = plant_options(model, {**options, "inputs": inputs})
        docked = _docked_run(model, asked, changes, guards, before)
        if docked and most is not None:
            raise UnsupportedError(
                f"most_events is {most}; a run in which modules dock or undock cannot end after a number of events. "
                "Leave it out, or end the run by a Guard with stop=True."
            )
        made = as_plant if guards else shared_plant
        plant = docked.plant if docked else made(model, **asked) if asked or not isinstance(model, Plant) else model
    begins = before.t[-1] if before is not None else begin if chosen is None else chosen.t
    times, spacing = run_times(model, plant, begins, until, options.get("output_step"), options.get("time"))
    steps, tolerances = steps_of(model, plant, options), (options.get("rtol"), options.get("atol"))
    if tolerances != (None, None):
        warn_of_tolerances(steps, *tolerances)
    given = {group: options.get(group) for group in ("q", "v", "x", "p", "m")} | {"u": inputs}
    return Prepared(
        *(model, plant, steps, given, begin, chosen, times, spacing, guards),
        most_events=most,
        driven=forces is not None or inputs is not None,
        regular=_regular_functions(inputs, options.get("callback"), options.get("every"), spacing, float(times[0])),
        docked=docked,
    )


def check_simple(options: TimedOptions, who: str, why: str, remedy: str) -> None:
    """Raises UnsupportedError for dockings, and for a run to continue, which `who`, such as "a batch", cannot do."""
    changes, _ = sorted_events(options.get("events", ()))
    if changes:
        raise UnsupportedError(f"events: {in_words(changes[0])} is given, which {who} cannot carry out{why}. {remedy}")
    if isinstance(options.get("start"), Trajectory):
        raise UnsupportedError(f"start: a run is given, which {who} cannot continue. {remedy}")


def plant_options(model: Model, options: Mapping[str, Any]) -> dict[str, Any]:
    """What the plant of a run is made with: arguments of `plants.robot_plant.plant`, from those of `simulate`.

    None are needed where the model is a plant, and the run adds nothing to it.
    """
    given = {name: options.get(name) for name in ("forces", "loops")} | {"locked": options.get("locked", ())}
    if isinstance(model, Plant):
        return given if any(value is not None and value != () for value in given.values()) else {}
    powered = given["forces"] is not None or options.get("inputs") is not None or exchanges_energy(model)
    return {**given, "account": powered, "parameters": named_parameters(model, options.get("p"))}


def steps_of(model: Model, plant: Plant, options: Mapping[str, Any]) -> StepOptions:
    """The options of steps; those of the last run with this plant are kept with it."""
    method, step, rtol, atol = (options.get(name) for name in ("method", "step", "rtol", "atol"))
    bounds = options.get("max_step"), model.settings.max_step if isinstance(model, System) else None
    named = method if method is None or isinstance(method, str) else id(method)
    asked = [named, *((type(one), one) for one in (step, rtol, atol, *bounds))]
    known: tuple[Any, StepOptions, Any] | None = plant.kept.get("options of steps")
    if known is None or known[0] != asked:
        found = step_options(plant, method, step, rtol, atol, longest_step(model, bounds[0], step))
        known = asked, found, method  # which is kept, so that no other one has its id
        plant.kept["options of steps"] = known
    return known[1]


def _docked_run(
    model: Any, asked: Mapping[str, Any], changes: Sequence[Change], guards: Sequence[Guard], before: Trajectory | None
) -> DockedRun | None:
    """A DockedRun if modules dock or undock in this run, or did so in the run `before` that it continues; else None."""
    if not changes and (before is None or not _docked_otherwise(model, before)):
        return None
    from kinemorph.simulation.running.docked_run import DockedRun

    return DockedRun(model, asked, changes, guards, before)


def _docked_otherwise(model: Any, run: Trajectory) -> bool:
    """Whether the dockings at the end of `run`, which `model` has to continue, differ from those of the model."""
    last = run.segments[-1].plant
    docked = [event for event in run.events if event.kind in ("dock", "undock")]
    if docked and last.dynamics is None:
        raise UnsupportedError(
            f"start: the run of '{run.name}' docks, and comes from a file without its model, because "
            f"{run.segments[-1].missing}; so what is docked at its end is not known. Give the system with which it "
            "began: load_trajectory(path, model=system)."
        )
    if not isinstance(model, System) or model.assembly is None or last.assembly is None:
        return False
    before, after = ({docking.name for docking in each.dockings} for each in (model.assembly, last.assembly))
    return before != after or any(column.name.partition(".")[0] in after for column in last.p)


def exchanges_energy(model: Any) -> bool:
    """Whether elements, damping or drives along the time act on a model, so that runs record the energy of these."""
    if isinstance(model, System) and model.elements:
        return True
    robot = model.robot if isinstance(model, (System, Dynamics)) else model
    if not isinstance(robot, Robot):
        return False
    return robot.is_timed or any(d != 0.0 for joint in robot.joints for d in joint.damping)


def _regular_functions(
    inputs: Any, callback: Any, every: float | None, spacing: float, start: float
) -> tuple[Regular | None, Regular | None]:
    """The user functions that are called at regular times: for held inputs, and the callback."""
    held = inputs if isinstance(inputs, HeldInputs) else HeldInputs(inputs) if callable(inputs) else None
    if every is not None or held:
        check_positive(every=every, **{"every of HeldInputs": held.every if held else None})
    if callback is not None and not callable(callback):
        raise UnsupportedError(f"callback is {callback!r}; expected a function callback(t, q, v, x).")
    return (
        Regular(held.law, "inputs", held.every or spacing, start) if held else None,
        Regular(callback, "callback", every or spacing, start) if callback else None,
    )


def final_state(run: Trajectory, plant: Plant, *, placed: bool = False) -> dict[str, Any]:
    """The last state of a run as the initial state of a plant: in each group, the values whose names the plant has.

    The system may change during a run; its last segment counts. Raises ModelError where the plant has coordinates that
    the run had and lost before its end, unless the user gives the configuration (`placed`).
    """
    last, end = run.segments[-1], {}
    for group in ("q", "v", "x", "m"):
        known = {column.name for column in getattr(plant, group)}
        pairs = zip(getattr(last.plant, group), getattr(last, group)[-1], strict=True)
        end[group] = {column.name: value for column, value in pairs if column.name in known}
    if plant.nq and not end["q"]:
        raise ModelError(
            f"start: '{plant.name}' has no coordinate of '{last.plant.name}', whose run it has to continue. Simulate "
            "the model of that run, or give a time as start."
        )
    passed = {column.name for segment in run.segments for column in segment.plant.q}
    gone = [column.name for column in plant.q if column.name not in end["q"] and column.name in passed]
    if gone and not placed:
        raise ModelError(
            f"start: coordinate '{gone[0]}' of '{plant.name}' is in the run, but not at its end, where the system is "
            f"'{last.plant.name}' with other joints. Continue with that system, as "
            "simulate(run.segments[-1].plant, start=run), or give q."
        )
    same = [column.name for column in last.plant.p] == [column.name for column in plant.p]
    return {**end, "p": last.p if same else None}


# ── when it is sampled ────────────────────────────────────────────────────────────────────────────────────────────────


def run_times(
    model: Any, plant: Plant, start: Any, until: Any, output_step: Any, time: Any = None
) -> tuple[Array, float]:
    """The sample times of a run [s], shape (n,), and the time between samples [s].

    The run ends at `until`, or lasts for `time` [s]. What is None is as the settings of the system say.
    """
    settings = model.settings if isinstance(model, System) else Settings()
    start = _seconds("start", start)
    if until is not None and time is not None:
        raise UnsupportedError(
            f"until is {until} and time is {time}; expected one of them. Give `until`, when the run ends, or `time`, "
            "how long it lasts."
        )
    lasts = settings.time if time is None else _seconds("time", time)
    until = start + lasts if until is None else _seconds("until", until)
    spacing = settings.sample if output_step is None else output_step
    times = Clockwork(plant).snapped(sample_times(start, until, spacing))
    return times, float(spacing) if isinstance(spacing, NUMBER) else float(times[1] - times[0])


def _seconds(name: str, value: Any) -> float:
    """A time [s] of any number type as a float; raises UnsupportedError where it is not a finite number."""
    if not isinstance(value, NUMBER) or isinstance(value, bool) or not math.isfinite(value):
        raise UnsupportedError(f"{name} is {value!r}; expected a finite number, the time in seconds.")
    return float(value)


def sample_times(start: float, until: float, output_step: float | Sequence[float]) -> Array:
    """The sample times of a run [s], shape (n,), ascending from `start` to `until`, both included.

    `output_step` is the time between samples [s], or a sequence of sample times.
    """
    if until <= start:
        raise UnsupportedError(
            f"until is {until:g} s and start {start:g} s; expected an end after the start. Enlarge until."
        )
    if isinstance(output_step, (bool, str)):
        raise UnsupportedError(
            f"output_step is {output_step!r}; expected a time in seconds, or a list of them. Give a number, without "
            "quotes."
        )
    if isinstance(output_step, NUMBER):
        spacing = float(output_step)
        if not 0.0 < spacing < math.inf:
            raise UnsupportedError(f"output_step is {spacing} s; expected a finite time above 0.")
        count = math.floor((until - start) / spacing * (1.0 + 1e-12) + 1e-9)
        if count > MOST_SAMPLES:
            raise UnsupportedError(
                f"output_step is {spacing:g} s, which gives {count:.2g} samples; expected at most {MOST_SAMPLES:.0e}. "
                "Enlarge output_step."
            )
        times: Array = instants(spacing, start).times(count + 1)
    else:
        try:
            times = np.unique(np.asarray(output_step, dtype=float))
        except (TypeError, ValueError):
            raise UnsupportedError(
                f"output_step is {output_step!r}; expected a time in seconds, or a list of them."
            ) from None
        if len(times) == 0 or times[0] < start or times[-1] > until or not np.isfinite(times).all():
            found = f"times from {times[0]:g} to {times[-1]:g} s" if len(times) else "no times"
            raise UnsupportedError(
                f"output_step has {found}; expected times between start = {start:g} s and until = {until:g} s."
            )
        times = times if times[0] == start else np.concatenate([[start], times])
    if until - times[-1] > 1e-9 * (until - start):
        times = np.append(times, until)
    else:
        times[-1] = until
    return times
