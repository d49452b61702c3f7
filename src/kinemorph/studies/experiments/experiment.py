"""`experiment_of`: what a study does with each item, from a model, its measures and the options of its runs.

    experiment = experiment_of(model, measures, objects=space.objects, until=5.0)
    experiment.check(items)                 raises an error for names that fit nothing
    experiment.groups(items)                the indices of items that share a program
    experiment.compute(chunk)               the measures of some items
    experiment.packed                       everything as bytes, for workers
    experiment.aspects                      everything that determines results, as readable texts by name

What an item gives does not depend on the other items of its chunk, on their order, or on the process that computes it.
"""

from __future__ import annotations

import os
import time
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.formats.loading import load
from kinemorph.formats.sources import Base
from kinemorph.frozen import Fixed, dataclass
from kinemorph.model.elements.sensing.integrals import Integral
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.studies.experiments.aspects import Aspects, aspects_of
from kinemorph.studies.experiments.cases import Case, alike, case_of
from kinemorph.studies.experiments.collected import Collected, Places
from kinemorph.studies.experiments.function_models import (
    FAILURES,
    FunctionModel,
    failure,
    is_model,
    is_run,
    measure_results,
)
from kinemorph.studies.experiments.measures import Measure, Measures, measures_of
from kinemorph.studies.experiments.setups import NAMES, OPTIONS, FileModel, Run, Setup
from kinemorph.studies.experiments.simulated import Simulated
from kinemorph.studies.items import Indices, Items, Value, items_of, key_of, label_column, number_column, seed_of
from kinemorph.studies.outcomes import Chunk, Outcome
from kinemorph.studies.packing import Packed, packed
from kinemorph.words import did_you_mean, listed

ONLY = ""  # the label of the model of a study that has one
MOST_SETUPS = 64  # that a process keeps


@dataclass(frozen=True, eq=False)
class Experiment(Fixed):
    """What a study does with each item. Use `experiment_of` to make one.

    `models`    by the labels of the part "model"; under "" where there is only one
    `measures`  the numbers of each run; none where the model is a function that returns them
    `objects`   what the labels of choices stand for, by part
    `run`       how runs are carried out
    `loading`   arguments of `load` for model files, such as the base
    `depends`   what results depend on besides; None where the user says nothing about it
    """

    models: Mapping[str, Any]
    measures: tuple[Measure, ...]
    objects: Mapping[str, Mapping[str, Any]]
    run: Run
    loading: Mapping[str, Any] = field(default_factory=dict)
    depends: tuple[Any, ...] | None = None

    # ── models ────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _loaded(self) -> dict[str, Any]:
        """The models that were asked for so far, by label."""
        return {}

    def model(self, label: str = ONLY) -> Any:
        """The model of a label: a FileModel, FunctionModel, System, Robot, Dynamics or Plant."""
        if label not in self._loaded:
            self._loaded[label] = self._model(label)
        return self._loaded[label]

    def _model(self, label: str) -> Any:
        if label in self.models:
            given = self.models[label]
        elif label == ONLY:
            raise ModelError("model: None is given; expected a model, or a part 'model' of the space that chooses one.")
        elif self.models.keys() - {ONLY} and not os.path.exists(label):
            known = sorted(self.models.keys() - {ONLY})
            raise ModelError(f"there is no model '{label}'.{did_you_mean(label, known)} Known: {listed(known)}.")
        else:
            given = label
        if isinstance(given, (str, os.PathLike)):
            return FileModel(os.fspath(given), load(os.fspath(given), **self.loading))
        if self.loading:
            raise UnsupportedError(
                f"{listed(self.loading)}: model files are read in this way, but the model is {given!r:.60}. Give the "
                "path of its file, or call kinemorph.load with these arguments."
            )
        if isinstance(given, (FileModel, System, Robot, Dynamics, Plant)):
            return given
        if callable(given):
            return FunctionModel(given, self.objects)
        raise ModelError(
            f"model{f' {label!r}' if label else ''} is {given!r:.60}; expected a System, a Robot, the path of a model "
            "file, or a function of the values of an item."
        )

    # ── items that belong together ────────────────────────────────────────────────────────────────────────────────

    def groups(self, items: Items) -> list[Indices]:
        """The indices of items that share a program, in the order of their first items."""
        return [indices for _, indices in self._split(items, together=True)]

    def _split(self, items: Items, *, together: bool = False) -> Iterable[tuple[str, Indices]]:
        """(label of the model, indices) of the items of each case.

        With `together`, items that differ only in the arguments of a function are in one case.
        """
        for of_model in alike(items, {"model"}, ()):
            label = str(case_of(items, int(of_model[0]), {"model"}).chosen.get("model", ONLY))
            model = self.model(label)
            taken = {name for name in items.names if isinstance(model, FunctionModel) and model.takes(name)}
            others = {*items.names} - taken
            own = items if len(of_model) == items.count else items.taken(of_model)
            for indices in alike(own, others, () if together else taken):
                yield label, of_model[indices]

    @cached_property
    def _simulated(self) -> OrderedDict[Any, Simulated]:
        """The simulations of the last cases, by the label of the model and the case."""
        return OrderedDict()

    def _simulation(self, model: Any, case: Case, key: Any = None) -> Simulated:
        """The simulation of the items of a case; the last ones are kept, by the `key` of the model and the case."""
        kept = self._simulated
        place = (key, case)
        if key is None or place not in kept:
            given = [measure.given for measure in self.measures]
            integrals = tuple(measure for measure in given if isinstance(measure, Integral))
            sampled = any(measure.of_run for measure in self.measures)
            made = Simulated(Setup(model, case, self.objects, self.run, integrals, sampled), self.measures)
            if key is None:
                return made
            kept[place] = made
            while len(kept) > MOST_SETUPS:
                kept.popitem(last=False)
        kept.move_to_end(place)
        return kept[place]

    # ── checks ────────────────────────────────────────────────────────────────────────────────────────────────────

    def check(self, items: Items) -> dict[str, str]:
        """The units of parts and measures by name, as far as they are known.

        Raises KinemorphError, with one sentence, for names, choices and measures that do not fit the model.
        """
        self._check_columns(items)
        seen: set[Any] = set()
        units: dict[str, str] = {}
        for label, indices in self._split(items):
            case = case_of(items, int(indices[0]))
            facts = {(label, case.names), *case.labels}
            if facts <= seen:
                continue
            seen |= facts
            model = self.model(label)
            if isinstance(model, FunctionModel):
                self._check_function(model, items, int(indices[0]))
            else:
                simulation = self._simulation(model, _without(case, {"model"}), label)
                simulation.check()
                units |= simulation.units
        return units

    def _check_columns(self, items: Items) -> None:
        for column in items.columns:
            if column.name in NAMES and not column.labels:
                raise UnsupportedError(
                    f"part '{column.name}' has numbers; expected names. Write Choice('a', 'b') with the names of "
                    f"{'models' if column.name == 'model' else column.name + 's'}."
                ).concerning("part", column.name)

    def _check_function(self, model: FunctionModel, items: Items, k: int) -> None:
        """Checks the names of an item for a function; names that it does not take belong to the system it returns."""
        values = items[k]
        others = [name for name in values if not model.takes(name) and name != "model"]
        model.check([name for name in values if name not in others])
        if others:
            try:
                made = model.function(**model.arguments(values, items.seed(k) if model.seeded else None))
            except FAILURES as error:
                raise UnsupportedError(failure(error, f"the model function '{model.name}' failed with ")) from None
            if not is_model(made):
                raise model.unknown(others[0])
            self._simulation(made, case_of(items, k, {*others})).check()

    # ── computing ─────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the measures; empty where a function that is the model returns them."""
        return tuple(measure.name for measure in self.measures)

    def compute(self, chunk: Chunk, threads: int | None = 1) -> Outcome:
        """The measures of some items, and the causes of failures. The number of `threads` changes no result."""
        began = time.perf_counter()
        collected = Collected(chunk, self.names)
        sentences: list[str] = []
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("default")  # each sentence once, however many items cause it
            for label, indices in self._split(chunk.items):
                items = chunk.items if len(indices) == chunk.items.count else chunk.items.taken(indices)
                model, places = self.model(label), Places(collected, indices)
                if isinstance(model, FunctionModel):
                    sentences += self._compute_function(model, items, places, threads)
                else:
                    case = _without(case_of(items, 0), {"model"})
                    sentences += self._simulate(model, case, label, items, places, threads)
        sentences += [str(warning.message) for warning in warned]
        return collected.outcome(time.perf_counter() - began, sentences)

    def _compute_function(self, model: FunctionModel, items: Items, places: Places, threads: int | None) -> list[str]:
        """The measures of items of a model that is a function; returns sentences for the user."""
        results = model.results(items, places)
        made: dict[Any, list[int]] = {}  # equal systems are simulated together
        plain = []
        for k, result in enumerate(results):
            if is_model(result):
                made.setdefault(result, []).append(k)
            elif is_run(result):
                self._measured(result).measure_run(result, places, k)
            else:
                plain.append(k)
        chosen = plain if len(plain) < len(results) else slice(None)
        measure_results([results[k] for k in plain], self.measures, places.taken(chosen))
        sentences = []
        names = {name for name in items.names if not model.takes(name) and name != "model"}
        for system, rows in made.items():
            case = case_of(items, rows[0], names)
            sentences += self._simulate(system, case, None, items.taken(rows), places.taken(rows), threads)
        places.collected.batched = False  # every system that the function returns may be another one
        return sentences

    def _simulate(
        self, model: Any, case: Case, key: str | None, items: Items, places: Places, threads: int | None
    ) -> list[str]:
        """Simulates and measures the items of a case; where the model cannot be made for it, all of them fail."""
        try:
            simulation = self._simulation(model, case, key)
            _ = simulation.setup.alone
        except FAILURES as error:
            for k in range(items.count):
                places.fail(k, failure(error))
            return []
        return simulation.compute(items, places, threads)

    def _measured(self, run: Trajectory) -> Simulated:
        """The measures of a run that a function returned."""
        return Simulated(Setup(run.segments[-1].plant, Case((), ()), {}, Run(None, None, {})), self.measures)

    def run_of(self, values: Mapping[str, Value]) -> Trajectory:
        """The run of one item again, with all its samples. Raises UnsupportedError where the model gives no run."""
        columns = [
            label_column(name, [0], [value]) if isinstance(value, str) else number_column(name, [value])
            for name, value in values.items()
        ]
        items = items_of(columns) if columns else Items((), 1)
        case = case_of(items, 0)
        model = self.model(case.chosen.get("model", ONLY))
        if isinstance(model, FunctionModel):
            made = model.function(**model.arguments(values, seed_of(key_of(values))))
            if is_run(made):
                found: Trajectory = made
                return found
            if not is_model(made):
                raise UnsupportedError(f"the model function '{model.name}' returns numbers, so that there is no run.")
            case = case_of(items, 0, {name for name in values if not model.takes(name)})
            model = made
        numbers = {name: float(value) for name, value in values.items() if name in case.names}
        return self._simulation(model, _without(case, {"model"})).run(numbers)

    # ── for the store and other processes ─────────────────────────────────────────────────────────────────────────

    @property
    def _all_models(self) -> dict[str, Any]:
        """All models by label, also those that items name by the path of their file."""
        return {label: self.model(label) for label in {**self.models, **self._loaded}}

    @property
    def aspects(self) -> dict[str, str]:
        """Everything that determines results, as readable texts by name; see `aspects`."""
        return self._aspects.texts

    @property
    def not_followed(self) -> tuple[str, ...]:
        """The names of what determines results too and is in no aspect, unless the user says what they depend on."""
        return self._aspects.missed if self.depends is None else ()

    @cached_property
    def _aspects(self) -> Aspects:
        return aspects_of(self._all_models, self.measures, self.objects, self.run, self.depends or ())

    @cached_property
    def packed(self) -> Packed:
        """The experiment as bytes; model files are loaded first, so that workers need not have them."""
        models = {
            label: model.function if isinstance(model, FunctionModel) else model
            for label, model in self._all_models.items()
        }
        return packed(replace(self, models=models, loading={}, depends=None))


def _without(case: Case, parts: set[str]) -> Case:
    return Case(tuple(pair for pair in case.labels if pair[0] not in parts), case.names)


def experiment_of(
    model: Any,
    measures: Measures | None = None,
    *,
    objects: Mapping[str, Mapping[str, Any]] | None = None,
    until: float | None = None,
    run: Any = None,
    base: Base | None = None,
    package_dirs: Sequence[str | os.PathLike[str]] = (),
    depends: Sequence[Any] | None = None,
    **options: Any,
) -> Experiment:
    """What a study does with each item.

    `model`     a System, Robot, Dynamics or Plant, the path of a model file, a function of the values of an item, or
                models by label, {label: model}, for a part "model" of the space; None where that part has the models
    `measures`  {name: measure}, a list of measures, or one; see `measures`
    `objects`   what the labels of choices stand for: {part: {label: object}}, such as elements and models
    `until`     the end of the runs [s]; by default as the settings of the model say
    `run`       a run plan, its fields or its name: runs are then carried out as `system.run(run)` does. A model file
                is always run in this way
    `base`, `package_dirs`      of model files, as for `kinemorph.load`
    `depends`   files, folders, modules and data that results depend on too; see `sweep`
    `options`   further arguments of `simulate_batch`, such as method, step and q
    """
    for name in options:
        if name not in OPTIONS:
            raise UnsupportedError(
                f"there is no option '{name}' of the runs of a study.{did_you_mean(name, OPTIONS)} Known: "
                f"{listed(OPTIONS, 24)}."
            )
    loading: dict[str, Any] = {"base": base} if base is not None else {}
    loading |= {"package_dirs": [os.fspath(one) for one in package_dirs]} if package_dirs else {}
    known = {part: dict(labels) for part, labels in (objects or {}).items()}
    chosen = known.pop("model", {}) | (dict(model) if isinstance(model, Mapping) else {})
    if model is not None and not isinstance(model, Mapping):
        chosen[ONLY] = model
    several = isinstance(depends, (list, tuple, set, frozenset))
    besides = None if depends is None else tuple(depends) if several else (depends,)
    return Experiment(chosen, measures_of(measures), known, Run(until, run, options), loading, besides)
