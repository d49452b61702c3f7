"""`sweep`: runs a model over a space of values, and keeps the measures of every run.

    study = sweep(system, Space({"mass": Range(0.5, 2.0)}, design="sobol", count=256), {"work": "work"},
                  until=5.0, store="masses.study")
    study.best("work", 3)

A sweep that was ended, by Ctrl-C, by a kill or by a power cut, continues where it was when it is called again with the
same store: an item that has a result is not computed again.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.errors import StorageError, StudyWarning, UnsupportedError, users_level
from kinemorph.model.run_plans import RunPlan
from kinemorph.studies.dispatch.carry_out import Recorder, carry_out
from kinemorph.studies.dispatch.tally import Progress, Tally
from kinemorph.studies.experiments.aspects import cpu_text
from kinemorph.studies.experiments.experiment import Experiment, experiment_of
from kinemorph.studies.items import Indices, Items
from kinemorph.studies.outcomes import BestRuns, Outcome, RunsKept, State
from kinemorph.studies.spaces.item_spaces import ItemSpace
from kinemorph.studies.store.aspects import Changed
from kinemorph.studies.store.store import Store, open_store
from kinemorph.studies.sweeps.study import Study, best_numbers
from kinemorph.studies.sweeps.sweep_options import Keep, SweepOptions
from kinemorph.studies.workers.crew import Crew
from kinemorph.studies.workers.open_workers import Workers, open_workers
from kinemorph.words import counted, listed

NO_RUNS = (
    "No run is kept of {}: their model gives numbers and no runs, or fails when a run is computed again. Each call "
    "with this keep tries them again."
)
NAMED = 8  # things that are not followed, which a warning names
OTHER_CPU = 1e-9  # relative difference of results on kinds of CPU that round differently


def sweep(
    model: Any,
    space: ItemSpace | Items,
    measures: Any = (),
    *,
    store: str | Path | None = None,
    until: float | None = None,
    run: str | RunPlan | dict[str, Any] | None = None,
    keep: Keep = None,
    workers: Workers = None,
    seconds: float | None = None,
    memory: int | None = None,
    resume: bool = True,
    changed: Changed = "refuse",
    progress: Progress | None = None,
    name: str = "",
    facts: Mapping[str, str] | None = None,
    depends: Sequence[Any] | None = None,
    **options: Any,
) -> Study:
    """Runs a model for every item of a space, and returns the study with the measures of all runs.

        sweep(system, Space({"mass": Range(0.5, 2.0, points=9), "u.hip": Values([1.0, 2.0])}), {"work": "work"},
              until=2.0, store="masses.study")
        sweep("robot.toml", space, {"speed": "q.x / t"}, run="walk")
        sweep(function, space)

    `model`         a System, Robot or Plant, which is simulated until the time `until` [s]; a model file, whose runs
                    are those of `kinemorph simulate`; or a function of the values by name, which returns a System or
                    its measures: a number, or a dict of numbers
    `space`         a `Space`. Its names are those of Parameters, of initial values and inputs ("q.hip", "v.hip",
                    "x.NAME", "u.hip"), of masses ("rod.mass") and inertial numbers ("rod.hx"), and
                    "model", "start", "run", "gait", "method", "step", "rtol", "atol", "max_step", "until"
    `measures`      {name: measure}, a list of measures, or one: the name of an Integral, a text with names of signals
                    at the end of a run, a law f(t, q, v, ...), or a function of the run that returns a number
    `store`         the file of the study (.study); without one it is kept in memory
    `until`         the end of the runs [s]; by default as the settings of the model say, otherwise 10 s
    `run`           a run plan, or the name of one in the model file
    `keep`          which runs are kept as files: "all", "failed", or `BestRuns(5, "work")`
    `workers`       a number of processes, by default one for each CPU; 0 for this process; "dask", or the address of a
                    Dask scheduler; or an Executor of concurrent.futures
    `seconds`       the longest time of one item [s], after which it counts as failed
    `memory`        the most memory of a worker process [bytes]
    `resume`        False refuses a store that has results already
    `changed`       if the model, a measure or an option is another one than that of the store: "refuse", or
                    "recompute" all items; a copy of the old store is kept
    `progress`      a function that is called with a `Tally` after results were stored
    `name`          of the study, for titles; by default that of its file
    `facts`         texts by name that the store keeps, such as the study file; they determine no results
    `depends`       what results depend on besides what the study finds by itself: paths of files and folders, which
                    count by their content, modules, functions, or data such as a version; [] says that there is nothing

    Further options are those of `simulate_batch`, and `base` and `package_dirs` of model files as for `load`:
    `base="free"` lets a URDF stand or fall on the ground. Ctrl-C ends the sweep and returns what is done; calling it
    again with the same store continues it. An item that fails has a cause, and the others continue.
    """
    items = space if isinstance(space, Items) else _items_of(space)
    objects = {} if isinstance(space, Items) else space.objects
    how = SweepOptions(store, keep, workers, seconds, memory, resume, changed, progress, name, facts)
    experiment = experiment_of(model, measures, objects=objects, until=until, run=run, depends=depends, **options)
    with OpenSweep(experiment, how) as opened:
        study = opened.study(items)
    repeat_warnings(opened.warnings)
    _warn_of_failures(study)
    return study


@contextmanager
def _opened_store(experiment: Experiment, options: SweepOptions) -> Iterator[Store]:
    """The store of a sweep, whose results belong to the experiment."""
    with open_store(options.store, mode="write") as store:
        if not options.resume and store.has_results:
            raise StorageError(
                f"'{options.store}' has results already, but resume is False. Choose another file, delete it, or leave "
                "resume out to continue the study."
            )
        store.check_aspects(experiment.aspects, changed=options.changed)
        if options.store is not None and experiment.not_followed:
            _warn_of_what_is_not_followed(store, experiment.not_followed)
        _record_cpu(store)
        if options.stored_facts:
            store.write_facts(options.stored_facts)
        yield store


def _record_cpu(store: Store) -> None:
    """Records the kind of CPU; warns where earlier results are from another one."""
    here, there = cpu_text(), store.facts.get("cpu")
    if there is not None and there != here and store.has_results:
        warnings.warn(
            f"'{store.path}' has results from another kind of CPU ({there}; here {here}). They agree with those from "
            f"here to about {OTHER_CPU:g} of their size, not to the last bit, and less where motion is chaotic.",
            StudyWarning,
            stacklevel=users_level(),
        )
    elif there != here:
        store.write_facts({"cpu": here})


def _warn_of_what_is_not_followed(store: Store, names: Sequence[str]) -> None:
    """Names code and files whose change the store would not notice."""
    warnings.warn(
        f"'{store.path}' will not notice changes behind {listed(names, NAMED)}, which cannot be followed. Name the "
        "files and modules behind it, depends=['gains.csv', module], or depends=[] if there are none.",
        StudyWarning,
        stacklevel=users_level(),
    )


class OpenSweep(ExitStack):
    """A sweep as a context: items are given in stages, and experiment, store and workers stay between them."""

    def __init__(self, experiment: Experiment, options: SweepOptions) -> None:
        super().__init__()
        self.experiment, self.options = experiment, options
        self.warnings: dict[str, None] = {}  # sentences of the warnings in all stages, each once

    def study(self, items: Items) -> Study:
        """Computes items that have no result yet; returns the study with them and all earlier items of the store."""
        units = self.experiment.check(items)
        numbers = self._store.declare(items, units)
        tally = self._computed(numbers, items)
        self.warnings |= dict.fromkeys(tally.warnings)
        return Study(self._store, self._store.table(), self.experiment, tally)

    @cached_property
    def _store(self) -> Store:
        """The store, which is opened after the first items were checked: bad ones leave no file."""
        return self.enter_context(_opened_store(self.experiment, self.options))

    @cached_property
    def _crew(self) -> Crew:
        how = self.options
        return self.enter_context(open_workers(how.workers, memory=how.memory, seconds=how.seconds))

    def _computed(self, numbers: Indices, items: Items) -> Tally:
        """Computes the items that wait for a result, and the runs that the rule wants and the store does not have."""
        rows = dict(zip(numbers[::-1].tolist(), range(len(numbers) - 1, -1, -1), strict=True))  # by number, the first

        def compute(recorder: Recorder, wanted: Indices, keep: RunsKept, what: str = "items") -> Tally:
            chosen = items.taken([rows[number] for number in wanted.tolist()])
            progress = self.options.progress
            return carry_out(
                self.experiment, recorder, wanted, chosen, self._crew, keep=keep, progress=progress, what=what
            )

        tally = Tally(0)
        waiting, keep = self._store.without_result(numbers), self.options.keep
        if len(waiting):
            tally = compute(self._store, waiting, self.options.returned_runs)
        missing, runs = _without_run(self._store, numbers, keep), _Runs(self._store)
        asked = missing[~np.isin(missing, waiting)] if keep == "all" else missing  # others gave none just now
        if len(asked) and not tally.is_interrupted:
            again = compute(runs, asked, "all", "runs to be kept")
            tally = tally._replace(is_interrupted=again.is_interrupted)
        lacking = len(missing) - len(runs.kept)
        if lacking and not tally.is_interrupted:
            self.warnings[NO_RUNS.format(counted(lacking, "item"))] = None
        return tally


def _items_of(space: Any) -> Items:
    if not isinstance(space, ItemSpace):
        raise UnsupportedError(
            f"space is {space!r:.80}; expected a Space, such as Space({{'mass': Range(0.5, 2.0)}}, design='sobol', "
            "count=64)."
        )
    return space.items


class _Runs:
    """A recorder that takes only the runs of outcomes: their measures are in the store already.

    `kept` are the numbers of the items whose runs it has taken.
    """

    def __init__(self, store: Store) -> None:
        self.store, self.kept = store, set[int]()

    def record(self, outcomes: Sequence[Outcome]) -> None:
        """Keeps the runs of items that have a result."""
        runs = {number: data for outcome in outcomes for number, data in outcome.runs.items()}
        self.store.attach_runs(runs)
        self.kept |= runs.keys()


def _without_run(store: Store, numbers: Indices, keep: Keep) -> Indices:
    """The items whose runs the rule keeps, and that have none: those of earlier sweeps, lost ones, and the best ones.

    Runs of items that failed are kept when they fail: only those that are lost are asked for again.
    """
    if keep is None:
        return np.empty(0, dtype=np.int64)
    table = store.table()
    lost = store.lost_runs(table)
    wanted = table.numbers[table.states == State.DONE]
    if isinstance(keep, BestRuns):
        best = best_numbers(table, keep.of, keep.best, largest=keep.largest) if len(wanted) else []
        found = {*best} - (table.runs.keys() - lost)
    else:
        found = lost & table.causes.keys()
        found |= {*wanted.tolist()} - (table.runs.keys() - lost) if keep == "all" else set()
    chosen: Indices = np.array(sorted(found), dtype=np.int64)
    return chosen[np.isin(chosen, numbers)]


def repeat_warnings(sentences: Iterable[str]) -> None:
    """Repeats the warnings of runs, which workers collect, as warnings of the caller."""
    for sentence in sentences:
        warnings.warn(sentence, StudyWarning, stacklevel=users_level())


def _warn_of_failures(study: Study) -> None:
    if study.tally is not None and study.tally.failed:
        number, cause = next(iter(study.table.causes.items()))
        warnings.warn(
            f"study '{study.name}': {study.status.failed} of {counted(len(study), 'item')} failed. Item {number}: "
            f"{cause}",
            StudyWarning,
            stacklevel=users_level(),
        )
