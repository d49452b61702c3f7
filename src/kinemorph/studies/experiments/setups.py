"""Setups: a model made ready for the items of one case, and how their values become arguments of a batch of runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.system_parameters import system_parameters
from kinemorph.analysis.identification.with_parameters import impossible_values, with_parameters
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import KinemorphError, ModelError, UnsupportedError
from kinemorph.model.parameter import Parameter, parameters_of
from kinemorph.model.robot import Robot
from kinemorph.model.starts import Start
from kinemorph.model.system import Settings, System, as_robot
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant as plant_of
from kinemorph.plants.robot_plant import shared_plant
from kinemorph.simulation.docking.changes import sorted_events
from kinemorph.simulation.integrators.methods import OUTSIDE
from kinemorph.simulation.planned_run import changed_plan, missing_contacts, on_ground, plan_of, prepared_run
from kinemorph.simulation.prepared import TimedOptions, plant_options, prepared, run_times, steps_of
from kinemorph.simulation.results.batch_run import BatchRun
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.running.phase_times import PhaseTimes
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.simulate_batch import batch_of, only_alone
from kinemorph.simulation.stepping.domains import DomainWatch
from kinemorph.simulation.stepping.gimbal_lock import GimbalWatch
from kinemorph.studies.experiments import body_masses
from kinemorph.studies.experiments.cases import Case
from kinemorph.studies.experiments.frictions import names_friction, with_frictions
from kinemorph.words import did_you_mean, listed

GROUPS = {"q.": "q", "v.": "v", "x.": "x", "u.": "u"}  # how names of initial values and inputs begin
NUMBERS = ("step", "rtol", "atol", "max_step", "until")  # options of a run that are numbers
NAMES = ("model", "run", "start", "method")  # parts whose labels choose a model or an option of its run
INSTEAD_OF = {"step": ("rtol", "atol"), "rtol": ("step",), "atol": ("step",)}  # options that exclude each other
# of the runs of a study, beside their end and their plan
OPTIONS = (*(name for name in TimedOptions.__annotations__ if name != "time"), "u", "most_steps")
# options that a run plan has too
OF_PLAN = ("method", "step", "rtol", "atol", "max_step", "output_step", "start", "q", "v", "x", "locked", "loops")
ENDS_ONLY = 1e9  # [s] the time between samples of runs of which only the final states count


class FileModel(NamedTuple):
    """A model that was loaded from a file: it is run as `kinemorph simulate` runs it."""

    path: str
    system: System


class Run(NamedTuple):
    """How the runs of a study are carried out: their end [s], a run plan or its name, and arguments of `simulate`."""

    until: float | None
    plan: Any
    options: Mapping[str, Any]


class Setup:
    """A model with the elements, the start, the run plan and the method that a case chooses.

    `model`         what is simulated: a System with everything that was added, or a Plant
    `arguments`     of `simulate_batch`, without the numbers that are varied
    `places`        (group, column) of each number that is varied; the group of options is "option"
    `notes`         sentences on what a planned run chose for the user
    `alone`         why items can only be simulated one by one, as a sentence; empty where batches can
    """

    def __init__(
        self,
        model: Any,
        case: Case,
        objects: Mapping[str, Mapping[str, Any]],
        run: Run,
        added: tuple[Any, ...] = (),
        sampled: bool = False,
    ) -> None:
        """`added` are elements that measures need; `sampled` says whether they need all samples of runs."""
        self.sampled = sampled
        chosen = {part: objects.get(part, {}).get(label, label) for part, label in case.labels}
        self.fixed = {part: float(choice) for part, choice in chosen.items() if isinstance(choice, Real)}
        chosen = {part: choice for part, choice in chosen.items() if part not in self.fixed}
        options = dict(run.options)
        if "method" in chosen:
            options["method"] = chosen["method"]
        plan = chosen.get("run", run.plan)
        planned = isinstance(model, FileModel) or plan is not None
        base = model.system if isinstance(model, FileModel) else model
        base = _with_choices(base, {part: choice for part, choice in chosen.items() if part not in NAMES}, added)
        if "start" in chosen:
            base, options["start"] = _with_start(base, case.chosen["start"], chosen["start"])
        names = (*case.names, *self.fixed)
        where = "".join(f", with {part} = '{label}'," for part, label in case.labels)
        self._nominal = base
        self._touching = False
        self._timed = run.until is not None  # whether somebody has chosen the end of the runs
        self.notes: tuple[str, ...] = ()
        if any(map(names_friction, names)) and isinstance(base, (System, Robot)):
            base = self._with_frictions(base, names, plan, planned)
        base, self.places, self.inertial = _placed(base, names, options, where)
        self.until = run.until
        if planned:
            base, options = self._planned(base, plan, options)
        self.notes += body_masses.notes_on_masses(dict.fromkeys(self.inertial, 0.0))
        self.notes += self._notes_on_end(base, planned)
        self.model: Any = base
        self.arguments: dict[str, Any] = {name: value for name, value in options.items() if value is not None}

    def _with_frictions(self, model: Any, names: tuple[str, ...], plan: Any, planned: bool) -> System:
        """The system with the contacts that its run adds, whose friction of these names are Parameters."""
        system = model if isinstance(model, System) else System(model)
        if planned and plan_of(system, plan).contacts:
            system = on_ground(system, plan_of(system, plan))
            made = missing_contacts(system)
            self._touching = bool(made)
            system = replace(system, elements=(*system.elements, *made))
        return with_frictions(system, names)

    def _planned(self, system: Any, plan: Any, options: dict[str, Any]) -> tuple[System, dict[str, Any]]:
        """The system and the arguments of a planned run, with options of the study in place of those of the plan."""
        if not isinstance(system, (System, Robot)):
            raise UnsupportedError(f"run: a {type(system).__name__} has no run plans. Give a System or a Robot.")
        whole = system if isinstance(system, System) else System(system)
        chosen = plan_of(whole, plan)
        self._timed = self._timed or chosen.time is not None
        given = {name: options.pop(name) for name in OF_PLAN if options.get(name) is not None}
        if options.get("u") is not None:
            given["inputs"] = options.pop("u")
        for group in "qv":  # an initial state that is varied is given, so that none is chosen
            varied = dict.fromkeys((column for where, column in self.places.values() if where == group), 0.0)
            if varied:
                values = given.get(group, chosen.numbers(group)) or {}
                if not isinstance(values, Mapping):
                    values = dict(zip(getattr(whole.robot, f"{group}_names"), values, strict=True))
                given[group] = {**varied, **values}
        if self._touching and chosen.time is None:
            given["time"] = whole.settings.time  # not the short time of a robot that nothing stops
        prepared = prepared_run(whole, changed_plan(chosen, **given))
        notes = [note for note in prepared.notes if self.until is None or note.options != ("time",)]
        self.notes = tuple(f"{whole.name} {note.told()}." for note in notes)
        arguments = dict(prepared.arguments)
        arguments["u"] = arguments.pop("inputs")
        events = (*arguments.pop("events"), *_several(options.pop("events", ())))
        if self.until is None:
            self.until = prepared.until
        return prepared.system, {**options, **arguments, "events": events}

    def _notes_on_end(self, model: Any, planned: bool) -> tuple[str, ...]:
        """A sentence on the end of the runs where neither the study nor the model states it."""
        usual = Settings().time
        end = self.until if planned else (model.settings if isinstance(model, System) else Settings()).time
        if self._timed or "until" in self.places or end != usual:
            return ()
        return (f"Runs of '{model.name}' end after {usual:g} s, since no other time is given. `until` chooses one.",)

    # ── what is simulated ─────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def plant(self) -> Plant:
        """The plant of the runs, which keeps the parameters that are varied."""
        given = self.arguments
        u = given.get("u") is not None or any(group == "u" for group, _ in self.places.values())
        start = given.get("start")
        if isinstance(start, str):
            u = u or self.model.start(start).numbers("u") is not None
        asked = plant_options(self.model, {**given, "p": self._group("p"), "inputs": u or None})
        return (plant_of if _several(given.get("events", ())) else shared_plant)(self.model, **asked)

    @cached_property
    def alone(self) -> str:
        """Why items can only be simulated one by one, as a sentence; empty where a batch can do it."""
        if sorted_events(self.arguments.get("events", ()))[0]:
            return f"Modules of '{self.model.name}' dock or undock in its runs, which a batch cannot carry out."
        if self.arguments.get("method") in OUTSIDE:
            return f"The method '{self.arguments['method']}' of another library works in single runs only."
        if callable(self.arguments.get("u")):
            return "The inputs u are a function in Python, which a batch cannot call."
        return only_alone(self.plant)

    @cached_property
    def _watched(self) -> bool:
        """Whether a run is watched from sample to sample, so that samples must not be left out."""
        return bool(DomainWatch(self.plant).domains or GimbalWatch(self.plant).gimbals)

    def check(self) -> None:
        """Raises KinemorphError for options and names that fit nothing."""
        plant, given = self.plant, self.arguments
        for name, (group, column) in self.places.items():
            if group != "option":
                try:
                    plant.index(group, column)
                except KinemorphError as error:
                    raise ModelError(f"part '{name}': {error}").concerning("part", name) from None
        for group in "qvxup":
            if isinstance(given.get(group), Mapping):
                for name in given[group]:
                    plant.index(group, name)
        _, options = self._arguments_for(dict.fromkeys(self.places, 1.0))
        steps = steps_of(self.model, plant, options)
        if steps.method not in OUTSIDE:
            _ = steps.chosen
        _ = self.times

    @property
    def times(self) -> Array:
        """The sample times [s] of the runs, shape (n,)."""
        return run_times(self.model, self.plant, self.begin, self.until, self.arguments.get("output_step"))[0]

    @property
    def begin(self) -> float:
        """The initial time [s]."""
        start = self.arguments.get("start", 0.0)
        return float(self.model.start(start).t) if isinstance(start, str) else start

    def impossible(self, values: Mapping[str, float]) -> str:
        """Why no body or joint has the inertial numbers of an item; empty where some can have them."""
        if not self.inertial:
            return ""
        known = {**self.fixed, **values}
        given = {name: known[name] for name in self.inertial}
        masses = {name: value for name, value in given.items() if name.endswith(body_masses.ENDING)}
        others = {name: value for name, value in given.items() if name not in masses}
        return body_masses.impossible_masses(masses) or impossible_values(self._nominal, others)

    # ── runs ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _group(self, group: str, values: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
        """The values of a group by name, fixed and varied ones; None where the group has no varied value."""
        varied = {column: name for name, (where, column) in self.places.items() if where == group}
        if not varied:
            return None
        base = self.arguments.get(group)
        if base is not None and not isinstance(base, Mapping):
            base = dict(zip((column.name for column in getattr(self.plant, group)), base, strict=False))
        known = {**self.fixed, **(values or {})}
        return {**(base or {}), **{column: known.get(name, 0.0) for column, name in varied.items()}}

    def _arguments_for(self, values: Mapping[str, Array | float]) -> tuple[float | None, dict[str, Any]]:
        """(the end [s], the arguments) of runs with these values by name; all runs have the same values of options."""
        arguments = dict(self.arguments)
        for group in "qvxup":
            named = self._group(group, values)
            if named is not None:
                arguments[group] = named
        known = {**self.fixed, **values}
        varied = [name for name, (group, _) in self.places.items() if group == "option"]
        options = {name: float(np.ravel(known[name])[0]) for name in varied}
        for other in (other for name in varied for other in INSTEAD_OF.get(name, ())):
            arguments.pop(other, None)
        until = options.pop("until", self.until)
        return until, {**arguments, **options}

    def batch(self, values: Mapping[str, Array], count: int, *, samples: bool, threads: int | None) -> BatchRun:
        """The runs of `count` items; `values` are (count,) by name, and values of options are equal.

        With `samples` they have all samples, otherwise only as many as are needed.
        """
        until, options = self._arguments_for(values)
        if not (samples or self.sampled or self._watched):
            options["output_step"] = ENDS_ONLY
        most_steps, options["inputs"] = options.pop("most_steps", None), options.pop("u", None)
        run = prepared(self.model, until, self.plant, **options)
        batch = batch_of(run, PhaseTimes(), most_steps=most_steps, threads=threads)
        if len(batch) < count:  # at most options are varied, so that all items are equal
            batch = batch[np.zeros(count, dtype=np.int64)]
        return batch

    def single(self, values: Mapping[str, float]) -> Trajectory:
        """The run of one item that a batch cannot carry out."""
        until, arguments = self._arguments_for(values)
        arguments["inputs"] = arguments.pop("u", None)
        arguments.pop("most_steps", None)
        return simulate(self.model, until, **arguments)


def _several(events: Any) -> tuple[Any, ...]:
    return tuple(events) if isinstance(events, (list, tuple)) else (events,)


# ── what is chosen ────────────────────────────────────────────────────────────────────────────────────────────────────


def _with_choices(model: Any, chosen: Mapping[str, Any], added: tuple[Any, ...]) -> Any:
    """The model with the elements that are chosen, or changed by the functions that are chosen, and with `added`."""
    if not chosen and not added:
        return model
    if not isinstance(model, (System, Robot)):
        kind, name = ("part", next(iter(chosen))) if chosen else ("measure", added[0].name)
        raise UnsupportedError(
            f"{kind} '{name}': an element cannot be added to a {type(model).__name__}. Give a System or a Robot as the "
            "model."
        ).concerning(kind, name)
    system = model if isinstance(model, System) else System(model)
    for part, choice in chosen.items():
        elements = choice if isinstance(choice, (tuple, list)) else (choice,)
        if all(hasattr(element, "name") and not isinstance(element, (str, System, Robot)) for element in elements):
            system = _with_elements(system, elements)
        elif callable(choice):
            changed = choice(system)
            if not isinstance(changed, System):
                raise UnsupportedError(
                    f"part '{part}': the function '{getattr(choice, '__name__', choice)}' returned {changed!r:.60}; "
                    "expected the changed System."
                ).concerning("part", part)
            system = changed
        else:
            raise UnsupportedError(
                f"part '{part}' has the choice {choice!r:.60}, but '{system.name}' has nothing of that name to choose."
                f"{did_you_mean(part, (*NAMES, *NUMBERS))} Give elements, {{label: element}}, functions that change "
                "the system, or one of the parts model, run, start and method."
            ).concerning("part", part)
    return _with_elements(system, added)


def _with_elements(system: System, elements: Any) -> System:
    """The system with these elements; each takes the place of one of the same name."""
    new = {element.name: element for element in elements}
    kept = [new.pop(element.name, element) for element in system.elements]
    return replace(system, elements=(*kept, *new.values()))


def _with_start(model: Any, label: str, start: Any) -> tuple[Any, str]:
    """The model with the start that is chosen, and the name of this start."""
    if isinstance(start, Start) and isinstance(model, System):
        return replace(model, starts={**model.starts, label: start}), label
    if not isinstance(model, System):
        raise UnsupportedError(
            f"part 'start': a {type(model).__name__} has no starts. Give a System that has them."
        ).concerning("part", "start")
    model.start(str(start))  # raises an error where there is no start of this name
    return model, str(start)


# ── names of numbers ──────────────────────────────────────────────────────────────────────────────────────────────────


def _placed(
    model: Any, names: tuple[str, ...], options: Mapping[str, Any], where: str
) -> tuple[Any, dict[str, tuple[str, str]], tuple[str, ...]]:
    """The model, (group, column) of each number by name, and the names of inertial numbers.

    Inertial numbers of a model, which it does not have as Parameters, become Parameters. Raises ModelError for a name
    that fits nothing; `where` names the choices of the case in its message.
    """
    places: dict[str, tuple[str, str]] = {}
    known = _parameters(model)
    inertial: dict[str, Parameter] = {}
    unknown = []
    for name in names:
        if name in NUMBERS:
            places[name] = "option", name
        elif name[:2] in GROUPS:
            places[name] = GROUPS[name[:2]], name[2:]
        else:
            places[name] = "p", name
            if name not in known:
                unknown.append(name)
    if unknown and isinstance(model, (System, Robot)):
        numbers = {**system_parameters(model), **body_masses.body_masses(model)}
        known_units = dict.fromkeys(body_masses.body_masses(model), "kg")
        inertial = {n: Parameter(n, numbers[n], known_units.get(n, "")) for n in unknown if n in numbers}
        unknown = [name for name in unknown if name not in inertial]
        known = [*known, *numbers]
    if unknown:  # friction and restitution of rigid contacts are parameters of every plant
        asked = {name: options[name] for name in ("locked", "loops") if options.get(name) is not None}
        of_plant = [column.name for column in shared_plant(model, **asked).p]
        known = [*known, *of_plant]
        for name in unknown:
            if name not in of_plant:
                raise _unknown(model, name, known, where)
    return _with_inertial(model, inertial), places, tuple(inertial)


def _with_inertial(model: Any, inertial: Mapping[str, Parameter]) -> Any:
    """The model with Parameters as inertial numbers, and as masses of whole bodies."""
    if not inertial:
        return model
    body_masses.check_masses(inertial)
    masses = {name: one for name, one in inertial.items() if name.endswith(body_masses.ENDING)}
    others = {name: one for name, one in inertial.items() if name not in masses}
    return with_parameters(body_masses.with_masses(model, masses) if masses else model, others)


def _parameters(model: Any) -> list[str]:
    """The names of the Parameters of a model."""
    if isinstance(model, Plant):
        return [column.name for column in model.p]
    robot = model.robot if isinstance(model, Dynamics) else as_robot(model)
    elements = model.elements if isinstance(model, System) else ()
    return [*dict.fromkeys(parameter.name for parameter in (*robot.parameters, *parameters_of(elements)))]


def _unknown(model: Any, name: str, known: list[str], where: str) -> ModelError:
    if names_friction(name):
        return ModelError(
            f"part '{name}': '{model.name}'{where} has no contact or body of that name that touches with friction."
            f"{did_you_mean(name, list(filter(names_friction, known)))} A System gets the contacts of its collision "
            'shapes with run={}, and a URDF stands on the ground with base = "free".'
        ).concerning("part", name)
    plain = [parameter for parameter in known if "." not in parameter] or known
    guess = did_you_mean(name, [*NUMBERS, *known])
    return ModelError(
        f"part '{name}': '{model.name}'{where} has no parameter of that name.{guess} Its parameters are "
        f"{listed(plain)}. Initial values are called q.NAME, v.NAME and x.NAME, inputs u.NAME, friction of contacts "
        f"ground.mu or NAME.mu, and options of the run {', '.join(NUMBERS)}."
    ).concerning("part", name)
